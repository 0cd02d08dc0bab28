//! Answers searches: the best documents that hold every word and may be shown now.

use std::path::{Path, PathBuf};

use comity_compliance::Timestamp;
use tantivy::collector::{Count, TopDocs};
use tantivy::directory::MmapDirectory;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexReader, ReloadPolicy, TantivyDocument};

use super::query::Wanted;
use super::schema::{self, Fields};
use super::snippet::{Snippet, USUAL_CHARS};
use super::writer::META_FILE;
use super::{IndexError, ShowLimits, analyzer};

/// Reads an index. A crawl may write it meanwhile: what it commits is found a moment later.
pub struct Searcher {
    dir: PathBuf,
    fields: Fields,
    reader: IndexReader,
    analyzer: TextAnalyzer,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    /// How many documents there are in all.
    pub total: usize,
    /// Those asked for, best first.
    pub hits: Vec<Hit>,
}

/// A document that was found, with no more of it than may be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its address.
    pub url: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// A part of its text; none if the publisher permits none, or there is no text.
    pub snippet: Option<Snippet>,
    /// Its site.
    pub site: String,
    /// Its language as the page states it; empty if it does not.
    pub language: String,
    /// The address that stands for it, if it is another, or if the page names its own.
    pub canonical: Option<String>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// What else may be shown or done; the snippet keeps to it already.
    pub limits: ShowLimits,
    /// How well it matches (BM25); to be compared within one answer only.
    pub score: f32,
}

/// Most results in one answer, and how far an answer can begin.
const LIMIT_MAX: usize = 1_000;
const OFFSET_MAX: usize = 100_000;

impl Searcher {
    /// Opens the index in `dir` for reading.
    ///
    /// # Errors
    /// [`IndexError`]: there is none, it is damaged, or another version wrote it.
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
        let engine = |error| IndexError::engine(dir, error);
        let meta = dir.join(META_FILE);
        if !meta.try_exists().map_err(|error| IndexError::io(dir, error))? {
            let dir = dir.to_owned();
            return Err(IndexError::Missing { dir });
        }
        let directory = MmapDirectory::open(dir).map_err(|error| engine(error.into()))?;
        let index = Index::open(directory).map_err(engine)?;
        let fields = schema::adopt(&index, dir)?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::OnCommitWithDelay)
            .try_into()
            .map_err(engine)?;
        Ok(Self { dir: dir.to_owned(), fields, reader, analyzer: analyzer::build() })
    }

    /// Takes notice of all commits up to now, without waiting for that to happen by itself.
    ///
    /// # Errors
    /// [`IndexError`] if the index can no longer be read.
    pub fn refresh(&self) -> Result<(), IndexError> {
        let reloaded = self.reader.reload();
        reloaded.map_err(|error| IndexError::engine(&self.dir, error))
    }

    /// The documents that hold all of `words`, best first: results `offset` to `offset + limit`.
    ///
    /// Whatever is typed is searched for as well as can be; quotes keep words together. Never
    /// found: what may not appear as a result of its own, and what expires at `now` or before
    /// (RM-021, RM-031). Snippets keep to the publisher's limit in characters (RM-026) and hold
    /// nothing marked `data-nosnippet`, though such words do find the page (SN-006).
    ///
    /// # Errors
    /// [`IndexError`] if the index can no longer be read.
    pub fn search(
        &self,
        words: &str,
        now: Timestamp,
        limit: usize,
        offset: usize,
    ) -> Result<Hits, IndexError> {
        let mut analyzer = self.analyzer.clone();
        let wanted = Wanted::parse(words, &mut analyzer);
        if wanted.is_empty() {
            return Ok(Hits { total: 0, hits: Vec::new() });
        }
        self.run(&wanted, now, limit, offset, &mut analyzer)
            .map_err(|error| IndexError::engine(&self.dir, error))
    }

    fn run(
        &self,
        wanted: &Wanted,
        now: Timestamp,
        limit: usize,
        offset: usize,
        analyzer: &mut TextAnalyzer,
    ) -> tantivy::Result<Hits> {
        let searcher = self.reader.searcher();
        let query = wanted.query(&self.fields, now);
        if limit == 0 {
            let total = searcher.search(&query, &Count)?;
            let hits = Vec::new();
            return Ok(Hits { total, hits });
        }
        let top = TopDocs::with_limit(limit.min(LIMIT_MAX)).and_offset(offset.min(OFFSET_MAX));
        let (total, found) = searcher.search(&query, &(Count, top.order_by_score()))?;
        let words = wanted.words();
        let mut hits = Vec::with_capacity(found.len());
        for (score, address) in found {
            let stored: TantivyDocument = searcher.doc(address)?;
            let stored = self.fields.read(&stored);
            let permitted = stored
                .limits
                .snippet_chars
                .map_or(USUAL_CHARS, |chars| usize::try_from(chars).unwrap_or(usize::MAX));
            let limit_chars = permitted.min(USUAL_CHARS);
            let snippet = Snippet::cut(&stored.snippet_text, &words, analyzer, limit_chars);
            hits.push(Hit {
                url: stored.url,
                title: stored.title,
                snippet,
                site: stored.site,
                language: stored.language,
                canonical: stored.canonical,
                fetched_at: Timestamp::from_millis(stored.fetched_at_ms),
                limits: stored.limits,
                score,
            });
        }
        Ok(Hits { total, hits })
    }
}
