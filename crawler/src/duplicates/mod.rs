//! Pages with the same text, or nearly the same, under several addresses.
//!
//! [`content_hash`] tells texts apart; [`SimHash`] is alike for texts that are alike; a
//! [`NearIndex`] finds, among the pages of one site, the one that is most like another. All three
//! depend on the text alone, so they are the same in every run and on every machine.

mod near;
mod simhash;
mod words;

pub use near::{IndexError, Near, NearIndex};
pub use simhash::{MIN_WORDS, NEAR_BITS, SimHash, content_hash};
pub use words::Words;
