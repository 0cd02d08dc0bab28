//! Queries whose documents are left out.
//!
//! The engine asks what is left out for documents in ascending order, also for one that lies before
//! the first it has. Its phrases do not bear that (tantivy 0.27); every document set bears it here, by
//! the engine's own default.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

/// Wraps a query so that it can be left out.
#[derive(Debug)]
pub(super) struct Excluded(pub(super) Box<dyn Query>);

impl Clone for Excluded {
    fn clone(&self) -> Self {
        Self(self.0.box_clone())
    }
}

impl Query for Excluded {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(ExcludedWeight(self.0.weight(scoring)?)))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.0.query_terms(visitor);
    }
}

struct ExcludedWeight(Box<dyn Weight>);

impl Weight for ExcludedWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(ExcludedDocs(self.0.scorer(segment, boost)?)))
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.0.explain(segment, doc)
    }
}

struct ExcludedDocs(Box<dyn Scorer>);

impl DocSet for ExcludedDocs {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.0.seek(target)
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }
}

impl Scorer for ExcludedDocs {
    fn score(&mut self) -> Score {
        self.0.score()
    }
}
