//! Makes inputs out of samples and words, by chance that a seed repeats, runs a target on them,
//! and tells which input broke it.

use std::env;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Inputs grow no longer by mutation.
const LONGEST: usize = 4096;

/// A repeated piece is tried at this length, at twice that and at four times.
const LONG: usize = 32 << 10;

/// One input in so many is repeated, to see how the time grows.
const REPEAT_EVERY: u64 = 20_000;

/// Chance that the same seed repeats (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// What inputs are made of.
pub(crate) struct Matter {
    /// Whole inputs, to begin with.
    pub(crate) samples: Vec<Vec<u8>>,
    /// Pieces that mean something to the target.
    pub(crate) words: &'static [&'static str],
}

impl Matter {
    /// An input: a sample, or two that are joined, with some changes.
    pub(crate) fn input(&self, chance: &mut Chance) -> Vec<u8> {
        let mut input = self.sample(chance).to_vec();
        if chance.one_in(4) {
            input.truncate(chance.below(input.len() + 1));
            let other = self.sample(chance);
            input.extend_from_slice(&other[chance.below(other.len() + 1)..]);
        }
        input.truncate(LONGEST);
        for _ in 0..chance.below(9) {
            self.change(&mut input, chance);
        }
        input.truncate(LONGEST);
        input
    }

    fn sample(&self, chance: &mut Chance) -> &[u8] {
        &self.samples[chance.below(self.samples.len())]
    }

    fn change(&self, input: &mut Vec<u8>, chance: &mut Chance) {
        let at = chance.below(input.len() + 1);
        let end = (at + 1 + chance.below(16)).min(input.len());
        match chance.below(8) {
            0..=2 => drop(input.splice(at..at, chance.pick(self.words).bytes())),
            3 => drop(input.splice(at..end, chance.pick(self.words).bytes())),
            4 => drop(input.drain(at..end)),
            5 => {
                let times = 1 + chance.below(8);
                let again = input[at..end].repeat(times);
                input.splice(at..at, again);
            }
            6 => {
                if let Some(octet) = input.get_mut(at) {
                    *octet ^= 1 << chance.below(8);
                }
            }
            _ => {
                if let Some(octet) = input.get_mut(at) {
                    *octet = chance.next() as u8;
                }
            }
        }
    }
}

/// How much is run. `COMITY_FUZZ_EXECUTIONS` asks for a long run, `COMITY_FUZZ_SEED` for another
/// one than the last.
pub(crate) struct Run {
    seed: u64,
    executions: u64,
    is_long: bool,
}

impl Run {
    /// A short run, unless the environment asks for a long one.
    pub(crate) fn of(short: u64) -> Self {
        let number = |name| env::var(name).ok().map(|text| text.parse().expect("a number"));
        let asked = number("COMITY_FUZZ_EXECUTIONS");
        let seed = number("COMITY_FUZZ_SEED").unwrap_or(1);
        Self { seed, executions: asked.unwrap_or(short), is_long: asked.is_some() }
    }

    /// Runs `target` on inputs made of `matter`. The target gets chance of its own for what stands
    /// beside the input.
    ///
    /// # Panics
    /// If the target does, with the input; in a long run also if the time of a repeated piece keeps
    /// growing faster than its length.
    pub(crate) fn go(&self, name: &str, matter: &Matter, target: impl Fn(&[u8], &mut Chance)) {
        let start = now();
        let mut slowest = (Duration::ZERO, 0);
        for at in 0..self.executions {
            let mut chance = Chance::new(Chance::new(self.seed ^ (at << 20)).next());
            let input = matter.input(&mut chance);
            let began = self.is_long.then(now);
            let ran = catch_unwind(AssertUnwindSafe(|| target(&input, &mut chance)));
            if let Err(panic) = ran {
                let input = input.escape_ascii();
                tell(format_args!("{name} seed {} execution {at}: {input}", self.seed));
                std::panic::resume_unwind(panic);
            }
            if let Some(began) = began {
                slowest = slowest.max((began.elapsed(), input.len()));
                if at % REPEAT_EVERY == 0 {
                    growth(name, &input, &target, &mut chance);
                }
            }
        }
        if self.is_long {
            let (took, octets) = slowest;
            let all = start.elapsed().as_secs_f64();
            tell(format_args!(
                "{name}: {} executions of seed {} in {all:.1} s; the slowest took {took:?} for {octets} octets",
                self.executions, self.seed
            ));
        }
    }
}

/// Tells the person who asked what broke or what was run.
fn tell(what: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout();
    writeln!(out, "{what}").expect("standard output takes it");
}

/// Repeats a piece of the input, and compares the times at one length, at twice that and at four
/// times. They may jump once, where the piece leads into another state; they must not keep growing.
fn growth(name: &str, input: &[u8], target: impl Fn(&[u8], &mut Chance), chance: &mut Chance) {
    let at = chance.below(input.len());
    let end = (at + 1 + chance.below(64)).min(input.len());
    let (head, piece) = (&input[..at.min(200)], &input[at..end]);
    if piece.is_empty() {
        return;
    }
    let seed = chance.next();
    let inputs = [1, 2, 4].map(|by| [head, &piece.repeat(by * LONG / piece.len())].concat());
    let mut best = [Duration::MAX; 3];
    // Other work on the machine only ever adds time, so the least of several counts.
    for _ in 0..20 {
        for (input, best) in inputs.iter().zip(&mut best) {
            let began = now();
            target(input, &mut Chance::new(seed));
            *best = (*best).min(began.elapsed());
        }
        let [once, twice, four_times] = best;
        let is_short = four_times < Duration::from_millis(1);
        if is_short || twice < once * 3 || four_times < twice * 3 {
            return;
        }
    }
    panic!("{name}: {best:?} for {} again and again", piece.escape_ascii());
}

#[expect(clippy::disallowed_methods, reason = "how long a run takes is what is asked here")]
fn now() -> Instant {
    Instant::now()
}
