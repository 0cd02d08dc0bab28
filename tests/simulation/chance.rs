//! Chance from one number: SplitMix64, the same on every machine.

/// A stream of numbers that one seed decides.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream of its own for part `tag`: what is drawn there moves nothing elsewhere.
    pub(crate) fn fork(&self, tag: u64) -> Self {
        let mut mixed = Self(self.0 ^ tag.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(mixed.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `least` to below `end`.
    pub(crate) fn between(&mut self, least: i64, end: i64) -> i64 {
        let width = u64::try_from(end - least).unwrap_or(0).max(1);
        least + i64::try_from(self.next() % width).unwrap()
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.between(0, i64::try_from(len).unwrap())).unwrap()
    }

    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())].clone()
    }

    pub(crate) fn percent(&mut self, share: i64) -> bool {
        self.between(0, 100) < share
    }
}
