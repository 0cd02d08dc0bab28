//! Answers searches: the best documents that hold every word and may be shown now.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use comity_compliance::Timestamp;
use serde_json::Value;
use tantivy::collector::{Count, TopDocs};
use tantivy::directory::MmapDirectory;
use tantivy::query::BooleanQuery;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, Index, IndexReader, ReloadPolicy, TantivyDocument};

use super::analyzer::Common;
use super::language::Language;
use super::query::{Reading, Strictness, Wanted};
use super::ranking::{self, WEIGHED};
use super::schema::{self, Fields, StoredDocument};
use super::snippet::{Snippet, USUAL_CHARS};
use super::writer::META_FILE;
use super::{Form, IndexError, ShowLimits, analyzer, embedding};
use crate::structured;

/// Reads an index. A crawl may write it meanwhile: what it commits is found a moment later.
pub struct Searcher {
    pub(super) dir: PathBuf,
    pub(super) fields: Fields,
    pub(super) reader: IndexReader,
    analyzer: TextAnalyzer,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// How many documents there are in all.
    pub total: usize,
    /// Whether no document holds all of the words, so that these hold at least half of them.
    pub is_relaxed: bool,
    /// What was typed as a filter, makes no sense as one (`after:noon`), and was looked for as it
    /// stands.
    pub senseless: Vec<String>,
    /// Those asked for, best first.
    pub hits: Vec<Hit>,
}

/// A document that was found, with no more of it than may be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its address.
    pub url: String,
    /// Its title; empty if it has none. Of an address without content, what a link to it says.
    pub title: String,
    /// Whether it is shown with its content, or as an address alone.
    pub form: Form,
    /// The embedded page whose words were found, if it is not the page's own (RM-025).
    pub embedded: Option<String>,
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
    /// When it changed last, as it says.
    pub dated: Option<Timestamp>,
    /// Its structured data as far as it may be shown (SN-005).
    pub structured: Vec<Value>,
    /// What else may be shown or done; the snippet keeps to it already.
    pub limits: ShowLimits,
    /// How well it matches (docs/search.md); to be compared within one answer only.
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
    /// Whatever is typed is searched for as well as can be. Quotes keep words together, `-word`
    /// leaves pages out, `site:`, `language:`, `after:` and `before:` narrow the search
    /// (docs/search.md). Words as common as "the" need not be there; and if no document has all of
    /// the others, those with at least half of them are found, and the answer says so.
    ///
    /// Never found: what may not appear, and what expires at `now` or before (RM-021, RM-031). A
    /// page that may be indexed only where it is embedded finds the pages that embed it (RM-025).
    /// Snippets keep to the publisher's limit in characters (RM-026) and hold nothing marked
    /// `data-nosnippet`, though such words do find the page (SN-006).
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
        let limit = limit.min(LIMIT_MAX);
        let offset = offset.min(OFFSET_MAX);
        self.answer(words, now, offset..offset + limit)
            .map_err(|error| IndexError::engine(&self.dir, error))
    }

    fn answer(&self, words: &str, now: Timestamp, places: Range<usize>) -> tantivy::Result<Hits> {
        let mut search = Search {
            searcher: self.reader.searcher(),
            fields: &self.fields,
            analyzer: self.analyzer.clone(),
            now,
        };
        let languages = search.languages()?;
        let mut reading = Reading {
            analyzer: &mut search.analyzer,
            languages: &languages.all,
            common: &mut Common::of(languages.main),
        };
        let wanted = Wanted::parse(words, &mut reading);
        if wanted.is_empty() {
            return Ok(Hits::default());
        }
        let hits = search.run(&wanted, Strictness::All, places.clone())?;
        if hits.total == 0 && wanted.can_relax() {
            return search.run(&wanted, Strictness::Half, places);
        }
        Ok(hits)
    }
}

/// The languages of an index.
struct Languages {
    /// All whose words have forms of their own, and none for the others.
    all: Vec<Option<Language>>,
    /// That of most documents.
    main: Option<Language>,
}

/// One search at work.
pub(super) struct Search<'a> {
    pub(super) searcher: tantivy::Searcher,
    pub(super) fields: &'a Fields,
    analyzer: TextAnalyzer,
    pub(super) now: Timestamp,
}

/// A document at its place in the answer; if an embedded page led there, with that.
pub(super) struct Found {
    pub(super) score: f32,
    pub(super) at: DocAddress,
    pub(super) through: Option<Embedded>,
}

/// An embedded page.
pub(super) struct Embedded {
    pub(super) at: DocAddress,
    /// Whether `data-nosnippet` covers the place where it is embedded.
    pub(super) is_hidden: bool,
}

impl Search<'_> {
    fn languages(&self) -> tantivy::Result<Languages> {
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.language_code)?;
            let mut codes = index.terms().stream()?;
            while codes.advance() {
                let code = str::from_utf8(codes.key()).ok();
                if let Some(language) = code.and_then(Language::of_code) {
                    *counts.entry(language.place()).or_default() +=
                        u64::from(codes.value().doc_freq);
                }
            }
        }
        let main = counts.iter().max_by_key(|(_, count)| **count);
        let main = main.and_then(|(place, _)| Language::at(*place));
        let known = counts.keys().map(|place| Language::at(*place));
        Ok(Languages { all: std::iter::once(None).chain(known).collect(), main })
    }

    fn run(
        &mut self,
        wanted: &Wanted,
        strictness: Strictness,
        places: Range<usize>,
    ) -> tantivy::Result<Hits> {
        let own = wanted.query(self.fields, (&[Form::Full, Form::Bare], strictness), self.now);
        let within = wanted.query(self.fields, (&[Form::Embedded], strictness), self.now);
        let embedding = embedding::find(self, &own, &within)?;
        let total = self.searcher.search(&own, &Count)? + embedding.len();
        let is_relaxed = strictness == Strictness::Half && total > 0;
        let senseless = wanted.senseless();
        if places.is_empty() {
            return Ok(Hits { total, is_relaxed, senseless, hits: Vec::new() });
        }
        let found = self.best(&own, embedding, places)?;
        let words = wanted.words();
        let hits = found.iter().map(|found| self.hit(found, &words));
        Ok(Hits { total, is_relaxed, senseless, hits: hits.collect::<tantivy::Result<_>>()? })
    }

    /// What stands at these places of the answer.
    fn best(
        &self,
        own: &BooleanQuery,
        embedding: Vec<Found>,
        places: Range<usize>,
    ) -> tantivy::Result<Vec<Found>> {
        let top = TopDocs::with_limit(places.end.max(WEIGHED));
        let found = self.searcher.search(own, &top.order_by_score())?;
        let own = found.into_iter().map(|(score, at)| Found { score, at, through: None });
        let mut found: Vec<Found> = own.chain(embedding).collect();
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
        let weighed = found.len().min(WEIGHED);
        if let Some(best) = found.get_mut(..weighed) {
            ranking::weigh(self, best)?;
        }
        Ok(found.into_iter().skip(places.start).take(places.len()).collect())
    }

    fn stored(&self, at: DocAddress) -> tantivy::Result<StoredDocument> {
        let stored: TantivyDocument = self.searcher.doc(at)?;
        Ok(self.fields.read(&stored))
    }

    fn hit(&mut self, found: &Found, words: &HashSet<&str>) -> tantivy::Result<Hit> {
        let own = self.stored(found.at)?;
        let through = found.through.as_ref();
        let embedded = through.map(|embedded| self.stored(embedded.at)).transpose()?;
        let quoted = embedded.as_ref().filter(|_| through.is_some_and(|page| !page.is_hidden));
        let mut limits = own.limits;
        if let Some(quoted) = quoted {
            limits.snippet_chars = stricter(limits.snippet_chars, quoted.limits.snippet_chars);
        }
        let text = quoted.unwrap_or(&own);
        let permitted = limits
            .snippet_chars
            .map_or(USUAL_CHARS, |chars| usize::try_from(chars).unwrap_or(usize::MAX));
        let language = super::language::primary(&text.language);
        let language = language.as_deref().and_then(Language::of_code);
        let limit_chars = permitted.min(USUAL_CHARS);
        let snippet = Snippet::cut(
            (&own.title, &text.snippet_text),
            (words, language),
            &mut self.analyzer,
            limit_chars,
        );
        let structured = own.structured.iter();
        let structured =
            structured.filter_map(|json| structured::shown(json, own.limits.snippet_chars));
        Ok(Hit {
            structured: structured.collect(),
            url: own.url,
            title: own.title,
            form: own.form,
            embedded: embedded.map(|embedded| embedded.url),
            snippet,
            site: own.site,
            language: own.language,
            canonical: own.canonical,
            fetched_at: Timestamp::from_millis(own.fetched_at_ms),
            dated: own.dated_ms.map(Timestamp::from_millis),
            limits,
            score: found.score,
        })
    }
}

fn stricter(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}
