//! How a site fares, by its answers: the rate that it can bear, how long it takes to answer, and
//! whether it is generally available (RL-001, AM-66, AM-10).
//!
//! Every field is plain data of bounded size, for a store.

use core::time::Duration;

use crate::{Policy, Timestamp};

/// What a site's answers say of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Health {
    /// The last answers, good and bad.
    pub answers: LastAnswers,
    /// The rate of requests that the site is trusted with, in thousandths of the full rate;
    /// `None` before its first answer.
    pub rate_permille: Option<u16>,
    /// Smoothed time from the start of a request to the head of its response.
    pub first_byte: Option<Duration>,
    /// The fetches of the last day, those of a robots.txt and probes apart.
    pub day: DayTally,
    /// The last probe.
    pub probe: Option<Probe>,
}

impl Health {
    /// Takes account of an answer: the rate falls at once to what the share of bad answers leaves,
    /// and rises step by step, at good answers only (AM-66).
    pub(crate) fn answered(&mut self, sign: Sign, policy: &Policy) {
        self.answers.note(sign);
        let numbers = &policy.adaptive;
        let bearable = FULL_RATE - self.answers.bad_permille(numbers.share_of_at_least);
        let rate = self.rate(policy);
        let rate = match sign {
            Sign::Good => rate.saturating_add(numbers.recovery_permille).min(bearable),
            Sign::Bad => rate.min(bearable),
        };
        self.rate_permille = Some(rate.max(1));
    }

    /// Takes account of a time to first byte.
    pub(crate) fn answered_after(&mut self, first_byte: Duration) {
        self.first_byte = Some(match self.first_byte {
            Some(smoothed) => (smoothed.saturating_mul(7).saturating_add(first_byte)) / 8,
            None => first_byte,
        });
    }

    /// The interval `full`, stretched to the rate that the site is trusted with, up to the
    /// slowest that there is (AM-66).
    pub(crate) fn stretched(&self, full: Duration, policy: &Policy) -> Duration {
        let stretched = full.saturating_mul(u32::from(FULL_RATE)) / u32::from(self.rate(policy));
        stretched.min(policy.adaptive.slowest.max(full))
    }

    /// The interval that the site's time to answer asks for (RL-001).
    pub(crate) fn by_latency(&self, policy: &Policy) -> Duration {
        let numbers = &policy.adaptive;
        let asked = self.first_byte.unwrap_or_default().saturating_mul(numbers.latency_factor);
        asked.min(policy.interval.saturating_mul(numbers.latency_stretch))
    }

    /// Whether the site is generally available at `now` (RT-027, AM-10).
    pub(crate) fn availability(&self, policy: &Policy, now: Timestamp) -> Availability {
        let numbers = &policy.robots;
        let Some(probe) = self.probe else { return Availability::Unknown };
        let until = probe.at.after(numbers.probe_every);
        // One that is yet to come was made under a wrong clock.
        if until <= now || probe.at > now {
            return Availability::Unknown;
        }
        let (good, all) = self.day.counts(now);
        let mostly_good = all < numbers.available_fetches
            || u64::from(good) * 100 >= u64::from(all) * u64::from(numbers.available_percent);
        match probe.sign {
            Sign::Good if mostly_good => Availability::Available,
            Sign::Good | Sign::Bad => Availability::Unavailable { until },
        }
    }

    fn rate(&self, policy: &Policy) -> u16 {
        self.rate_permille.unwrap_or(policy.adaptive.start_permille).clamp(1, FULL_RATE)
    }
}

/// Thousandths.
const FULL_RATE: u16 = 1000;

/// What one answer says of the site.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sign {
    /// It works.
    Good,
    /// 429, 5xx, or no answer.
    Bad,
}

/// The last hundred answers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LastAnswers {
    /// A bit each, the newest lowest; set where the answer was bad.
    pub bad: u128,
    /// How many there are, up to 100.
    pub count: u8,
}

impl LastAnswers {
    const MOST: u8 = 100;

    fn note(&mut self, sign: Sign) {
        let newest = match sign {
            Sign::Good => 0,
            Sign::Bad => 1,
        };
        self.bad = self.bad << 1 | newest;
        self.count = self.count.saturating_add(1).min(Self::MOST);
    }

    /// The share of bad ones in thousandths, rounded up. A few answers count as `at_least` many,
    /// so that the first failure alone is no share of all.
    fn bad_permille(&self, at_least: u8) -> u16 {
        let count = self.count.min(Self::MOST);
        let bad = (self.bad & ((1 << count) - 1)).count_ones();
        let share = (bad * 1000).div_ceil(u32::from(count.max(at_least).max(1)));
        u16::try_from(share).unwrap_or(FULL_RATE).min(FULL_RATE)
    }

    /// Whether none was bad.
    pub(crate) fn all_good(&self) -> bool {
        self.bad_permille(1) == 0
    }
}

/// The fetches of a day, counted by sevenths of it: the last seven whole ones and the one that
/// runs, so 24 hours at the least and 27½ at the most (AM-10).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DayTally {
    /// The seventh that was counted last, from 1970 on.
    pub seventh: i64,
    /// The counts, each at its seventh's number modulo 8.
    pub counts: [Tally; 8],
}

/// Fetches of one seventh of a day; saturating.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Those that brought a good answer.
    pub good: u16,
    /// The others.
    pub bad: u16,
}

/// A seventh of a day, rounded up: seven of them are no less than a day.
const SEVENTH_SECS: i64 = 12_343;

/// A count so many sevenths ahead, about five months, is of no clock that was ever right.
const WRONG_CLOCK: i64 = 1000;

impl DayTally {
    pub(crate) fn note(&mut self, sign: Sign, now: Timestamp) {
        self.turn_to(now);
        let place = usize::try_from(self.seventh.rem_euclid(8)).unwrap_or(0);
        let Some(tally) = self.counts.get_mut(place) else { return };
        let count = match sign {
            Sign::Good => &mut tally.good,
            Sign::Bad => &mut tally.bad,
        };
        *count = count.saturating_add(1);
    }

    /// Good ones and all, of the day before `now`.
    fn counts(mut self, now: Timestamp) -> (u32, u32) {
        self.turn_to(now);
        let sum = |of: fn(&Tally) -> u16| self.counts.iter().map(|one| u32::from(of(one))).sum();
        let (good, bad): (u32, u32) = (sum(|one| one.good), sum(|one| one.bad));
        (good, good + bad)
    }

    /// Forgets what is older than a day. A clock that was set back forgets nothing, unless it was
    /// wrong by months.
    fn turn_to(&mut self, now: Timestamp) {
        let seventh = now.as_secs().div_euclid(SEVENTH_SECS);
        let passed = seventh.saturating_sub(self.seventh);
        if passed < -WRONG_CLOCK {
            *self = Self { seventh, ..Self::default() };
            return;
        }
        for (at, tally) in (0..).zip(&mut self.counts) {
            // How long ago a seventh at this place was, seen from the new one.
            let age = (seventh - at).rem_euclid(8);
            if age < passed {
                *tally = Tally::default();
            }
        }
        self.seventh = self.seventh.max(seventh);
    }
}

/// A request that asked whether a site works at all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probe {
    /// When it ended.
    pub at: Timestamp,
    /// What it told.
    pub sign: Sign,
}

/// Whether a site is generally available (RT-027, AM-10).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Availability {
    /// A probe must tell.
    Unknown,
    /// It is.
    Available,
    /// It is not, as far as is known until then.
    Unavailable {
        /// When the next probe is due.
        until: Timestamp,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Timestamp = Timestamp::from_secs(1_796_000_000);
    const HOUR: u64 = 3600;

    fn at(secs: u64) -> Timestamp {
        T0.after(Duration::from_secs(secs))
    }

    fn answered(health: &mut Health, sign: Sign, times: usize) -> u16 {
        for _ in 0..times {
            health.answered(sign, &Policy::default());
        }
        health.rate_permille.unwrap_or_default()
    }

    /// RL-001: half the rate at first, a tenth more with each good answer.
    #[test]
    fn a_site_starts_slowly() {
        let mut health = Health::default();
        let full = Duration::from_millis(3000);
        assert_eq!(health.stretched(full, &Policy::default()).as_millis(), 6000);
        let rates: [u16; 6] = core::array::from_fn(|_| answered(&mut health, Sign::Good, 1));
        assert_eq!(rates, [600, 700, 800, 900, 1000, 1000]);
        assert_eq!(health.stretched(full, &Policy::default()), full);
    }

    /// AM-66: rate x (1 - share of bad answers in the last 100), one line, one case: good answers,
    /// bad ones, good ones again, and the rate in thousandths.
    #[test]
    fn the_rate_is_what_the_share_leaves() {
        let cases = [
            (100, 0, 0, 1000),
            (90, 10, 0, 900),
            (50, 50, 0, 500),
            (200, 25, 0, 750),
            (0, 1, 0, 500),
            (9, 1, 0, 900),
            (0, 10, 0, 1),
            (0, 100, 0, 1),
            (0, 100, 1, 10),
            (0, 100, 50, 500),
            (0, 100, 100, 1000),
            (10, 10, 1, 523),
        ];
        for (good, bad, again, rate) in cases {
            let mut health = Health::default();
            for (sign, times) in [(Sign::Good, good), (Sign::Bad, bad), (Sign::Good, again)] {
                answered(&mut health, sign, times);
            }
            assert_eq!(health.rate_permille, Some(rate), "{good} {bad} {again}");
        }
    }

    /// AM-66: the recovery is additive where the share falls faster.
    #[test]
    fn the_rate_recovers_step_by_step() {
        let mut health = Health::default();
        answered(&mut health, Sign::Bad, 10);
        let rates: [u16; 3] = core::array::from_fn(|_| answered(&mut health, Sign::Good, 1));
        assert_eq!(rates, [90, 166, 230]);
        let mut short = Health { rate_permille: Some(1), ..Health::default() };
        let rates: [u16; 3] = core::array::from_fn(|_| answered(&mut short, Sign::Good, 1));
        assert_eq!(rates, [101, 201, 301]);
    }

    /// AM-66: one request in ten minutes at the least, unless the full rate is slower still.
    #[test]
    fn the_slowest_rate() {
        let policy = Policy::default();
        let health = Health { rate_permille: Some(1), ..Health::default() };
        for (full, expect) in [(2, 600), (0, 0), (60, 600), (600, 600), (900, 900)] {
            let stretched = health.stretched(Duration::from_secs(full), &policy);
            assert_eq!(stretched.as_secs(), expect, "{full}");
        }
    }

    /// RL-001: one line, one case: times to first byte, and the interval in milliseconds.
    #[test]
    fn a_slow_site_is_asked_less_often() {
        let cases: &[(&[u64], u128)] = &[
            (&[], 0),
            (&[100], 500),
            (&[400], 2000),
            (&[1000], 5000),
            (&[400, 4400], 4500),
            (&[1000, 200, 200], 4062),
            (&[60_000], 60_000),
            (&[u64::MAX, u64::MAX], 60_000),
        ];
        for (first_bytes, expect) in cases {
            let mut health = Health::default();
            for millis in *first_bytes {
                health.answered_after(Duration::from_millis(*millis));
            }
            let asked = health.by_latency(&Policy::default()).as_millis();
            assert_eq!(asked, *expect, "{first_bytes:?}");
            let own_site = Policy::default().with_interval(Duration::ZERO);
            assert_eq!(health.by_latency(&own_site), Duration::ZERO);
        }
    }

    /// AM-10: one line, one case: the probe, good and bad fetches since, hours since the probe.
    #[test]
    fn general_availability() {
        let cases = [
            (None, 0, 0, 0, "unknown"),
            (None, 100, 0, 0, "unknown"),
            (Some(Sign::Good), 0, 0, 0, "available"),
            (Some(Sign::Good), 0, 9, 0, "available"),
            (Some(Sign::Good), 0, 10, 0, "unavailable"),
            (Some(Sign::Good), 5, 5, 0, "available"),
            (Some(Sign::Good), 49, 51, 0, "unavailable"),
            (Some(Sign::Good), 4, 6, 20, "unavailable"),
            (Some(Sign::Good), 4, 6, 24, "unknown"),
            (Some(Sign::Bad), 0, 0, 0, "unavailable"),
            (Some(Sign::Bad), 100, 0, 23, "unavailable"),
            (Some(Sign::Bad), 100, 0, 24, "unknown"),
        ];
        for (sign, good, bad, hours, expect) in cases {
            let probe = sign.map(|sign| Probe { at: T0, sign });
            let mut health = Health { probe, ..Health::default() };
            (0..good).for_each(|_| health.day.note(Sign::Good, T0));
            (0..bad).for_each(|_| health.day.note(Sign::Bad, T0));
            let got = match health.availability(&Policy::default(), at(hours * HOUR)) {
                Availability::Unknown => "unknown",
                Availability::Available => "available",
                Availability::Unavailable { until } => {
                    assert_eq!(until, at(24 * HOUR));
                    "unavailable"
                }
            };
            assert_eq!(got, expect, "{sign:?} {good} {bad} {hours}");
        }
    }

    /// AM-10: what is less than 24 hours old counts, whenever in its seventh it came.
    #[test]
    fn a_day_counts_in_full() {
        for secs in (0..90_000).step_by(997) {
            let mut day = DayTally::default();
            day.note(Sign::Bad, at(secs));
            assert_eq!(day.counts(at(secs + 86_400)), (0, 1), "{secs}");
            assert_eq!(day.counts(at(secs + 28 * HOUR)), (0, 0), "{secs}");
        }
    }

    #[test]
    fn a_day_is_forgotten_by_sevenths() {
        let after = |sevenths: u64| at(sevenths * 12_343);
        let mut day = DayTally::default();
        for seventh in 0..20 {
            day.note(Sign::Good, after(seventh));
            let expect = u32::try_from(seventh + 1).unwrap().min(8);
            assert_eq!(day.counts(after(seventh)), (expect, expect), "{seventh}");
        }
        assert_eq!(day.counts(T0), (8, 8), "a clock that was set back");
        assert_eq!(day.counts(after(20)), (7, 7));
        assert_eq!(day.counts(after(27)), (0, 0));
        assert_eq!(day.counts(Timestamp::from_millis(i64::MAX)), (0, 0));
        day.note(Sign::Bad, Timestamp::from_millis(i64::MIN));
        assert_eq!(day.counts(Timestamp::from_millis(i64::MIN)), (0, 1), "wrong by ages");
    }

    proptest::proptest! {
        /// A store may hold any numbers: all arithmetic holds, and no wait is without end.
        #[test]
        fn any_health(
            numbers: (u128, u8, Option<u16>, Option<u64>),
            seventh: i64,
            tally: (u16, u16),
            probe: Option<i64>,
            now: i64,
        ) {
            let (bad, count, rate_permille, first_byte) = numbers;
            let mut health = Health {
                answers: LastAnswers { bad, count },
                rate_permille,
                first_byte: first_byte.map(Duration::from_millis),
                day: DayTally { seventh, counts: [Tally { good: tally.0, bad: tally.1 }; 8] },
                probe: probe.map(|at| Probe { at: Timestamp::from_millis(at), sign: Sign::Good }),
            };
            let (policy, now) = (Policy::default(), Timestamp::from_millis(now));
            for sign in [Sign::Bad, Sign::Good] {
                health.answered(sign, &policy);
                health.answered_after(Duration::from_millis(first_byte.unwrap_or(u64::MAX)));
                health.day.note(sign, now);
                proptest::prop_assert!(health.stretched(policy.interval, &policy).as_secs() <= 600);
                proptest::prop_assert!(health.by_latency(&policy).as_secs() <= 60);
                if let Availability::Unavailable { until } = health.availability(&policy, now) {
                    proptest::prop_assert!(until > now);
                }
            }
        }
    }
}
