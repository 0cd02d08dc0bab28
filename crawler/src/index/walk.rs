//! Every document of an index, one after the other.

use tantivy::{DocAddress, TantivyDocument};

use super::{Form, IndexError, Searcher, ShowLimits};

/// What the index holds of a page, as far as its publisher may mind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kept {
    /// Its address.
    pub url: String,
    /// As what it may appear.
    pub form: Form,
    /// How much of it may be shown.
    pub limits: ShowLimits,
    /// From when on it may not be shown: milliseconds since 1970; none for never.
    pub expires_at_ms: Option<i64>,
}

impl Searcher {
    /// All documents as they were when this was called, those that no search finds too.
    pub fn documents(&self) -> impl Iterator<Item = Result<Kept, IndexError>> + use<'_> {
        let searcher = self.reader.searcher();
        let segments = searcher.segment_readers().iter().enumerate();
        let addresses = segments.flat_map(|(segment, reader)| {
            let segment_ord = u32::try_from(segment).unwrap_or(u32::MAX);
            let documents = reader.doc_ids_alive();
            documents.map(move |doc_id| DocAddress { segment_ord, doc_id }).collect::<Vec<_>>()
        });
        let addresses: Vec<DocAddress> = addresses.collect();
        addresses.into_iter().map(move |at| {
            let stored = searcher.doc::<TantivyDocument>(at);
            let stored = stored.map_err(|error| IndexError::engine(&self.dir, error))?;
            let stored = self.fields.read(&stored);
            Ok(Kept {
                url: stored.url,
                form: stored.form,
                limits: stored.limits,
                expires_at_ms: stored.expires_at_ms,
            })
        })
    }
}
