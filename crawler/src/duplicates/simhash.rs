//! Numbers that stand for a text.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::Words;

/// The least words of a text that can be nearly the same as another: in shorter ones, what all
/// pages of a site share outweighs what they say.
pub const MIN_WORDS: usize = 50;

/// Bits that nearly equal texts may differ in (Manku and others, WWW 2007: 3 of 64).
pub const NEAR_BITS: u32 = 3;

/// Words in one shingle.
const SHINGLE: usize = 3;

/// A hash of the words of several texts in a row: letter case, blanks and punctuation take no part.
/// Texts with equal hashes are the same content.
pub fn content_hash(texts: &[&Words]) -> u64 {
    let mut hash = Xxh3::new();
    texts.iter().for_each(|words| hash.update(words.listed()));
    hash.digest()
}

/// A number in which texts that are alike differ in few bits (Charikar, STOC 2002).
///
/// Each run of three words has a hash, and each bit of the number is what most of these hashes
/// have there; a run that comes twice counts twice.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SimHash(pub u64);

impl SimHash {
    /// The number of a text; none if it has fewer than [`MIN_WORDS`] words, which are never
    /// nearly the same as others.
    pub fn of(words: &Words) -> Option<Self> {
        let mut window = [0_u64; SHINGLE];
        let mut count = 0;
        let mut votes = Votes::default();
        for word in words.each() {
            window.rotate_left(1);
            if let Some(last) = window.last_mut() {
                *last = xxh3_64(word);
            }
            count += 1;
            if count >= SHINGLE {
                votes.take(shingle(window));
            }
        }
        (count >= MIN_WORDS).then(|| Self(votes.majority()))
    }

    /// Bits in which two numbers differ.
    pub const fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// Whether the texts are nearly the same: at most [`NEAR_BITS`] bits differ.
    pub const fn near(self, other: Self) -> bool {
        self.distance(other) <= NEAR_BITS
    }
}

/// One hash of the hashes of words that follow each other: a sum with odd factors, so that their
/// order counts, and the last step of splitmix64 (Steele and others, OOPSLA 2014) to mix its bits.
fn shingle(window: [u64; SHINGLE]) -> u64 {
    let sum = window
        .iter()
        .fold(0_u64, |sum, word| sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(*word));
    let mixed = (sum ^ sum >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// How often each bit was set in what was taken.
///
/// Each byte of a lane counts one bit, so that one hash is added to eight lanes and not to 64
/// counts: byte `b` of lane `l` counts bit `8 * b + l`.
struct Votes {
    lanes: [u64; 8],
    /// Hashes that the lanes count, at most [`Self::LANE_MAX`].
    in_lanes: u32,
    counts: [u64; 64],
    taken: u64,
}

impl Default for Votes {
    fn default() -> Self {
        Self { lanes: [0; 8], in_lanes: 0, counts: [0; 64], taken: 0 }
    }
}

impl Votes {
    const LANE_MAX: u32 = 255;
    const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;

    fn take(&mut self, hash: u64) {
        for (bit, lane) in self.lanes.iter_mut().enumerate() {
            *lane += hash >> bit & Self::LOWEST_BITS;
        }
        self.taken += 1;
        self.in_lanes += 1;
        if self.in_lanes == Self::LANE_MAX {
            self.empty_lanes();
        }
    }

    fn empty_lanes(&mut self) {
        for (bit, lane) in self.lanes.iter_mut().enumerate() {
            for (byte, count) in lane.to_le_bytes().into_iter().enumerate() {
                self.counts[8 * byte + bit] += u64::from(count);
            }
            *lane = 0;
        }
        self.in_lanes = 0;
    }

    /// The bits that more than half of the hashes have.
    fn majority(mut self) -> u64 {
        self.empty_lanes();
        let set = self.counts.iter().enumerate().filter(|(_, count)| **count * 2 > self.taken);
        set.fold(0, |hash, (bit, _)| hash | 1 << bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> u64 {
        content_hash(&[&Words::of(text)])
    }

    fn sim_hash(text: &str) -> Option<SimHash> {
        SimHash::of(&Words::of(text))
    }

    /// A text of so many made-up words, the same for the same seed.
    fn text(seed: usize, words: usize) -> String {
        let word = |n: usize| format!("w{} ", xxh3_64(format!("{seed} {n}").as_bytes()) % 5_000);
        (0..words).map(word).collect()
    }

    #[test]
    fn content() {
        let same = [("The boat.", "the  BOAT"), ("a-b", "a b"), ("", " \n"), ("Ä", "ä")];
        for (one, other) in same {
            assert_eq!(hash(one), hash(other), "{one:?} {other:?}");
        }
        let differ = [("a b", "ab"), ("a b", "b a"), ("a", "a a"), ("1", "2")];
        for (one, other) in differ {
            assert_ne!(hash(one), hash(other), "{one:?} {other:?}");
        }
        // Kept from run to run, so it may never change.
        assert_eq!(hash("The boat."), xxh3_64(b"the boat "));
    }

    #[test]
    fn like_texts_have_like_numbers() {
        let long = text(1, 2_000);
        let number = sim_hash(&long).unwrap();
        let cases = [
            (long.clone(), true),
            (long.to_uppercase(), true),
            (format!("{long} Page 7 of 9"), true),
            (text(2, 2_000), false),
            (text(1, 1_000), false),
        ];
        for (other, expect) in cases {
            let other = sim_hash(&other).unwrap();
            assert_eq!(number.near(other), expect, "{}", number.distance(other));
        }
    }

    /// The sums of the planes are those that one gets bit by bit.
    #[test]
    fn votes_are_counted() {
        for many in [1, 2, 254, 255, 256, 1_000] {
            let hashes: Vec<_> = (0..many).map(|n: u64| xxh3_64(&n.to_le_bytes())).collect();
            let mut votes = Votes::default();
            hashes.iter().for_each(|hash| votes.take(*hash));
            let set = |bit: u64| hashes.iter().filter(|hash| **hash >> bit & 1 == 1).count();
            let most = (0..64).filter(|bit| set(*bit) * 2 > hashes.len());
            assert_eq!(votes.majority(), most.fold(0, |all, bit| all | 1 << bit), "{many}");
        }
    }

    #[test]
    fn short_texts_are_never_near() {
        assert_eq!(sim_hash(&text(1, MIN_WORDS - 1)), None);
        assert!(sim_hash(&text(1, MIN_WORDS)).is_some());
        assert!(sim_hash(&"船".repeat(MIN_WORDS)).is_some());
        assert_eq!(sim_hash(""), None);
    }

    /// No two of many texts that have nothing in common pass for one.
    #[test]
    fn unlike_texts_have_unlike_numbers() {
        let numbers: Vec<_> = (0..300).filter_map(|seed| sim_hash(&text(seed, 100))).collect();
        for (at, one) in numbers.iter().enumerate() {
            assert!(numbers.iter().skip(at + 1).all(|other| !one.near(*other)));
        }
    }
}
