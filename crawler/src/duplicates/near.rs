//! The page that is most like another.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{NEAR_BITS, SimHash};

/// Parts of a number that are looked up: one more than [`NEAR_BITS`], so that of two numbers
/// that are near, one part at least is the same.
const BANDS: usize = 4;
const BAND_BITS: usize = 64 / BANDS;
const _: () = assert!(BANDS == NEAR_BITS as usize + 1);

/// Pages looked at in one band. More have the same part only where a site makes them so, or all
/// of its pages are alike: then the newest are enough.
const LOOKED_AT: usize = 64;

/// The pages of one site by their [`SimHash`], the newest so many. Finding takes a bounded time.
#[derive(Clone, Debug)]
pub struct NearIndex {
    capacity: usize,
    /// The oldest first.
    pages: VecDeque<Entry>,
    /// The number of the oldest page; the next ones follow.
    first: u64,
    /// For each band, pages by its bits, the oldest first.
    bands: [HashMap<u16, VecDeque<u64>>; BANDS],
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Entry {
    hash: u64,
    page: u64,
}

/// A page that is nearly the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Near {
    /// What the page was put in as.
    pub page: u64,
    /// Bits that differ, at most [`NEAR_BITS`].
    pub distance: u32,
}

/// Kept bytes that are no index.
#[derive(Debug, thiserror::Error)]
#[error("the kept likenesses of a site's pages cannot be read; without them they are noted anew")]
pub struct IndexError(#[from] postcard::Error);

impl NearIndex {
    /// An empty index that keeps the newest `capacity` pages, about 50 bytes each.
    pub fn new(capacity: usize) -> Self {
        let bands = std::array::from_fn(|_| HashMap::new());
        Self { capacity, pages: VecDeque::new(), first: 0, bands }
    }

    /// Puts a page in, by a number that the caller knows it by. The oldest goes if there is no room.
    pub fn insert(&mut self, hash: SimHash, page: u64) {
        if self.capacity == 0 {
            return;
        }
        if self.pages.len() >= self.capacity {
            self.forget_oldest();
        }
        let number = self.first + self.pages.len() as u64;
        self.pages.push_back(Entry { hash: hash.0, page });
        for (band, bits) in self.bands.iter_mut().zip(bands_of(hash)) {
            band.entry(bits).or_default().push_back(number);
        }
    }

    /// The page that is most like this one, of several the oldest; none if none is near.
    pub fn find(&self, hash: SimHash) -> Option<Near> {
        let candidates = self.bands.iter().zip(bands_of(hash)).flat_map(|(band, bits)| {
            let newest = band.get(&bits).into_iter().flat_map(|numbers| numbers.iter().rev());
            newest.take(LOOKED_AT).copied()
        });
        let near = candidates.filter_map(|number| {
            let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
            let entry = self.pages.get(at)?;
            let distance = hash.distance(SimHash(entry.hash));
            (distance <= NEAR_BITS).then_some((distance, number, entry.page))
        });
        near.min().map(|(distance, _, page)| Near { page, distance })
    }

    /// Pages that are kept.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether no page is kept.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// What must be kept for the next run.
    ///
    /// # Errors
    /// [`IndexError`] if there is no memory for it.
    pub fn to_bytes(&self) -> Result<Vec<u8>, IndexError> {
        Ok(postcard::to_allocvec(&self.pages)?)
    }

    /// What [`Self::to_bytes`] kept; of more than `capacity` pages the newest.
    ///
    /// # Errors
    /// [`IndexError`] if the bytes are no index.
    pub fn from_bytes(bytes: &[u8], capacity: usize) -> Result<Self, IndexError> {
        let pages: VecDeque<Entry> = postcard::from_bytes(bytes)?;
        let mut index = Self::new(capacity);
        for entry in pages.iter().skip(pages.len().saturating_sub(capacity)) {
            index.insert(SimHash(entry.hash), entry.page);
        }
        Ok(index)
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.pages.pop_front() else { return };
        self.first += 1;
        for (band, bits) in self.bands.iter_mut().zip(bands_of(SimHash(oldest.hash))) {
            // The oldest page is the first of its bits.
            if let Some(numbers) = band.get_mut(&bits) {
                numbers.pop_front();
                if numbers.is_empty() {
                    band.remove(&bits);
                }
            }
        }
    }
}

fn bands_of(hash: SimHash) -> impl Iterator<Item = u16> {
    (0..BANDS).map(move |band| {
        let bits = hash.0 >> (band * BAND_BITS) & u64::from(u16::MAX);
        u16::try_from(bits).unwrap_or(u16::MAX)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_nearest_is_found() {
        let mut index = NearIndex::new(10);
        index.insert(SimHash(0), 1);
        index.insert(SimHash(0b11), 2);
        index.insert(SimHash(u64::MAX), 3);
        let find = |hash| index.find(SimHash(hash)).map(|near| (near.page, near.distance));
        let cases = [
            (0, Some((1, 0))),
            (0b1, Some((1, 1))),
            (0b111, Some((2, 1))),
            (0b1111_0000, None),
            (u64::MAX << 3, Some((3, 3))),
            (u64::MAX << 4, None),
        ];
        for (hash, expect) in cases {
            assert_eq!(find(hash), expect, "{hash:b}");
        }
    }

    #[test]
    fn the_oldest_goes() {
        let mut index = NearIndex::new(2);
        for page in 0..5 {
            index.insert(SimHash(page << 40), page);
        }
        assert_eq!(index.len(), 2);
        assert_eq!(index.find(SimHash(2 << 40)).map(|near| near.page), Some(3), "10 is near 11");
        assert!(
            index.bands.iter().all(|band| band.values().map(VecDeque::len).sum::<usize>() == 2)
        );
        let again = NearIndex::from_bytes(&index.to_bytes().unwrap(), 1).unwrap();
        assert_eq!((again.len(), again.find(SimHash(4 << 40)).unwrap().page), (1, 4));
        assert!(NearIndex::from_bytes(b"\xff", 1).is_err());
        let mut none = NearIndex::new(0);
        none.insert(SimHash(0), 1);
        assert!(none.is_empty());
    }

    proptest! {
        /// Four bands miss none of up to three bits.
        #[test]
        fn every_near_page_is_found(hash: u64, flips in proptest::collection::vec(0_u32..64, 0..=3), others: [u64; 8]) {
            let mut index = NearIndex::new(100);
            for (page, other) in others.into_iter().enumerate() {
                index.insert(SimHash(other), page as u64);
            }
            index.insert(SimHash(hash), 99);
            let other = flips.iter().fold(hash, |hash, bit| hash ^ 1 << bit);
            prop_assert!(index.find(SimHash(other)).is_some());
        }
    }
}
