//! The search index: what was crawled, found by its words, shown only as its publisher permits.
//!
//! One [`IndexWriter`] keeps a directory up to date from [`IndexChange`]s; any number of
//! [`Searcher`]s read it meanwhile. Limits are stored with each document and applied when a
//! search is answered, so a date that passes hides a page though nobody sweeps the index.

mod analyzer;
mod date;
mod embedding;
mod error;
mod exclusion;
mod filter;
mod language;
mod query;
mod queue;
mod ranking;
mod schema;
mod searcher;
mod snippet;
mod walk;
mod writer;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use date::dated;
pub use error::IndexError;
pub(crate) use language::told as language_told;
pub use searcher::{Hit, Hits, Searcher};
pub use snippet::Snippet;
pub use walk::Kept;
pub use writer::{INDEX_MEMORY_BYTES, IndexWriter};

/// What a document is known by: the store's key of its page.
pub type DocumentKey = [u8; 16];

/// A change to the index. Making the same change twice is making it once.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum IndexChange {
    /// Adds the document, or replaces the one with its key.
    Put(Box<Document>),
    /// Takes the document with this key out, if there is one.
    Withdraw {
        /// Its key.
        key: DocumentKey,
    },
}

/// The number by which documents name the addresses they link to: the first half of the key that a
/// document of that address has.
pub fn address_of(key: &DocumentKey) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *key;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// A page as the index keeps it, with what its publisher permits.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Document {
    /// What it is known by.
    pub key: DocumentKey,
    /// Its address.
    pub url: String,
    /// Its site: the host name.
    pub site: String,
    /// Its title, or of an address without content what a link to it says; empty if it has none.
    pub title: String,
    /// Its headings and the terms that it defines, a line each.
    pub headings: String,
    /// The words that find it. Not kept as a text, so nothing of it can be shown.
    pub text: String,
    /// The text that snippets are made of, without parts marked `data-nosnippet`; none if that is
    /// all of [`Self::text`].
    pub snippet_text: Option<String>,
    /// The tag of its language, as the page states it or as its text seems to be; empty if neither.
    pub language: String,
    /// The address that stands for it, if it is another, or if the page names its own.
    pub canonical: Option<String>,
    /// When it was fetched: milliseconds since 1970.
    pub fetched_at_ms: i64,
    /// When it changed last, as it says: milliseconds since 1970.
    pub dated_ms: Option<i64>,
    /// From when on it may not be shown: milliseconds since 1970; none for never (RM-031).
    pub expires_at_ms: Option<i64>,
    /// As what it may appear.
    pub form: Form,
    /// How much of it may be shown.
    pub limits: ShowLimits,
    /// The addresses that it links to as one who may be followed, by [`address_of`].
    pub links: Vec<u64>,
    /// The addresses of pages that it embeds by `iframe` or `frame`, by [`address_of`].
    pub embeds: Vec<u64>,
    /// The same, of those that stand in a part of it that `data-nosnippet` covers: they are found
    /// through it and not quoted (SN-006).
    pub hidden_embeds: Vec<u64>,
    /// Its structured data, one JSON text each (SN-005).
    pub structured: Vec<String>,
}

/// As what a document may appear.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub enum Form {
    /// As a result of its own.
    Full,
    /// Only as a part of a page that embeds it: what it says finds that page (RM-025).
    Embedded,
    /// As an address without content, whose title is what a link to it says (RT-049).
    Bare,
}

/// How much of a document may be shown where it appears.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ShowLimits {
    /// Characters of text; none for no limit, 0 for no snippet (RM-024, RM-026).
    pub snippet_chars: Option<u32>,
    /// Size of an image preview (RM-027).
    pub image_preview: ImagePreview,
    /// Seconds of a video preview; none for no limit (RM-028).
    pub video_preview_s: Option<u32>,
    /// Whether a translation may be offered (RM-029).
    pub translation: Permission,
    /// Whether images on the page may be indexed through it (RM-030).
    pub image_indexing: Permission,
}

/// How large an image preview may be.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub enum ImagePreview {
    /// None at all.
    None,
    /// The usual size.
    Standard,
    /// As wide as the screen.
    #[default]
    Large,
}

/// Whether something may be done.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub enum Permission {
    /// It may.
    #[default]
    Granted,
    /// It may not.
    Withheld,
}
