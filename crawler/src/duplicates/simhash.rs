//! Numbers that stand for a text.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::words::for_each_word;

/// The least words of a text that can be nearly the same as another: in shorter ones, what all
/// pages of a site share outweighs what they say.
pub const MIN_WORDS: usize = 50;

/// Bits that nearly equal texts may differ in (Manku and others, WWW 2007: 3 of 64).
pub const NEAR_BITS: u32 = 3;

/// Words in one shingle.
const SHINGLE: usize = 3;

/// A hash of the text's words: letter case, blanks and punctuation take no part. Texts with equal
/// hashes are the same content.
pub fn content_hash(text: &str) -> u64 {
    let mut hash = Xxh3::new();
    for_each_word(text, |word| {
        hash.update(word.as_bytes());
        // No word holds a blank, so two words are never one.
        hash.update(b" ");
    });
    hash.digest()
}

/// A number in which texts that are alike differ in few bits (Charikar, STOC 2002).
///
/// Each run of three words is hashed by xxh3, and each bit of the number is what most of these
/// hashes have there; a run that comes twice counts twice.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SimHash(pub u64);

impl SimHash {
    /// The number of a text; none if it has fewer than [`MIN_WORDS`] words, which are never
    /// nearly the same as others.
    pub fn of(text: &str) -> Option<Self> {
        let mut window = [0_u64; SHINGLE];
        let mut words = 0;
        let mut votes = [0_i64; 64];
        for_each_word(text, |word| {
            window.rotate_left(1);
            if let Some(last) = window.last_mut() {
                *last = xxh3_64(word.as_bytes());
            }
            words += 1;
            if words >= SHINGLE {
                vote(shingle(&window), &mut votes);
            }
        });
        if words < MIN_WORDS {
            return None;
        }
        let bits = votes.iter().enumerate().filter(|(_, votes)| **votes > 0);
        Some(Self(bits.fold(0, |hash, (bit, _)| hash | 1 << bit)))
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

fn shingle(window: &[u64; SHINGLE]) -> u64 {
    let mut hash = Xxh3::new();
    for word in window {
        hash.update(&word.to_le_bytes());
    }
    hash.digest()
}

fn vote(hash: u64, votes: &mut [i64; 64]) {
    for (bit, votes) in votes.iter_mut().enumerate() {
        *votes += if hash >> bit & 1 == 1 { 1 } else { -1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of so many made-up words, the same for the same seed.
    fn text(seed: usize, words: usize) -> String {
        let word = |n: usize| format!("w{} ", xxh3_64(format!("{seed} {n}").as_bytes()) % 5_000);
        (0..words).map(word).collect()
    }

    #[test]
    fn content() {
        let same = [("The boat.", "the  BOAT"), ("a-b", "a b"), ("", " \n"), ("Ä", "ä")];
        for (one, other) in same {
            assert_eq!(content_hash(one), content_hash(other), "{one:?} {other:?}");
        }
        let differ = [("a b", "ab"), ("a b", "b a"), ("a", "a a"), ("1", "2")];
        for (one, other) in differ {
            assert_ne!(content_hash(one), content_hash(other), "{one:?} {other:?}");
        }
        // Kept from run to run, so it may never change.
        assert_eq!(content_hash("The boat."), xxh3_64(b"the boat "));
    }

    #[test]
    fn like_texts_have_like_numbers() {
        let long = text(1, 2_000);
        let number = SimHash::of(&long).unwrap();
        let cases = [
            (long.clone(), true),
            (long.to_uppercase(), true),
            (format!("{long} Page 7 of 9"), true),
            (text(2, 2_000), false),
            (text(1, 1_000), false),
        ];
        for (other, expect) in cases {
            let other = SimHash::of(&other).unwrap();
            assert_eq!(number.near(other), expect, "{}", number.distance(other));
        }
    }

    #[test]
    fn short_texts_are_never_near() {
        assert_eq!(SimHash::of(&text(1, MIN_WORDS - 1)), None);
        assert!(SimHash::of(&text(1, MIN_WORDS)).is_some());
        assert!(SimHash::of(&"船".repeat(MIN_WORDS)).is_some());
        assert_eq!(SimHash::of(""), None);
    }

    /// No two of many texts that have nothing in common pass for one.
    #[test]
    fn unlike_texts_have_unlike_numbers() {
        let numbers: Vec<_> = (0..300).filter_map(|seed| SimHash::of(&text(seed, 100))).collect();
        for (at, one) in numbers.iter().enumerate() {
            assert!(numbers.iter().skip(at + 1).all(|other| !one.near(*other)));
        }
    }
}
