//! A set of fingerprints in front of the store: most links lead to pages that
//! are known, and those are answered from memory.
//!
//! Only pages that being found again cannot change stand in it, so "not here"
//! always means "ask the store". The set may therefore be incomplete: while it
//! is filled after an opening, and for ever once its budget is spent.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes a place in the table: a fingerprint and a control byte.
const BYTES_PER_PLACE: u64 = 9;

/// 64-bit fingerprints of settled pages.
///
/// The seed is secret and new in every process, so that nobody can make URLs that collide; by
/// chance one look-up in 10^12 does, with ten million pages.
pub(super) struct Seen {
    seed: u64,
    max_places: usize,
    prints: RwLock<Prints>,
}

struct Prints {
    set: HashSet<u64, Identity>,
    /// While the set is filled from the store: what was taken out meanwhile, so that an older
    /// reading does not put it back.
    barred: Option<HashSet<u64, Identity>>,
}

impl Seen {
    pub(super) fn new(budget_bytes: u64) -> Self {
        let places = usize::try_from(budget_bytes / BYTES_PER_PLACE).unwrap_or(usize::MAX);
        Self {
            seed: RandomState::new().hash_one("comity"),
            max_places: places,
            prints: RwLock::new(Prints { set: HashSet::with_hasher(Identity), barred: None }),
        }
    }

    pub(super) fn print(&self, url: &str) -> u64 {
        xxh3_64_with_seed(url.as_bytes(), self.seed)
    }

    pub(super) fn contains(&self, print: u64) -> bool {
        self.prints.read().unwrap_or_else(PoisonError::into_inner).set.contains(&print)
    }

    fn prints(&self) -> RwLockWriteGuard<'_, Prints> {
        self.prints.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts in what still fits the budget.
    pub(super) fn extend(&self, new: impl IntoIterator<Item = u64>) {
        let Prints { set, barred } = &mut *self.prints();
        for print in new {
            // The table doubles when it is seven eighths full.
            let full = set.len() >= set.capacity();
            if full && set.capacity().saturating_mul(5) / 2 > self.max_places {
                return;
            }
            if barred.as_ref().is_none_or(|barred| !barred.contains(&print)) {
                set.insert(print);
            }
        }
    }

    /// Takes pages out that being found again can change.
    pub(super) fn remove(&self, old: impl IntoIterator<Item = u64>) {
        let Prints { set, barred } = &mut *self.prints();
        for print in old {
            set.remove(&print);
            if let Some(barred) = barred {
                barred.insert(print);
            }
        }
    }

    /// From here on the set is filled from the store, in parallel to what the crawl adds.
    pub(super) fn begin_filling(&self) {
        self.prints().barred = Some(HashSet::with_hasher(Identity));
    }

    /// The set is as full as it gets.
    pub(super) fn end_filling(&self) {
        self.prints().barred = None;
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let prints = self.prints.read().unwrap_or_else(PoisonError::into_inner);
        prints.set.capacity() as u64 * 8 / 7 * BYTES_PER_PLACE
    }
}

/// A fingerprint is a hash already.
#[derive(Clone, Copy)]
struct Identity;

struct IdentityHasher(u64);

impl std::hash::BuildHasher for Identity {
    type Hasher = IdentityHasher;

    fn build_hasher(&self) -> IdentityHasher {
        IdentityHasher(0)
    }
}

impl std::hash::Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, print: u64) {
        self.0 = print;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_within_its_budget() {
        let seen = Seen::new(100_000);
        for number in 0..100_000 {
            seen.extend([seen.print(&number.to_string())]);
        }
        assert!(seen.memory_bytes() <= 100_000, "{}", seen.memory_bytes());
        assert!(seen.contains(seen.print("1")));
        assert!(!seen.contains(seen.print("99999")), "not taken in, so ask the store");
    }

    #[test]
    fn what_was_taken_out_stays_out_while_filling() {
        let seen = Seen::new(100_000);
        seen.begin_filling();
        seen.remove([1]);
        seen.extend([1, 2]);
        assert_eq!((seen.contains(1), seen.contains(2)), (false, true));
        seen.end_filling();
        seen.extend([1]);
        assert!(seen.contains(1));
    }
}
