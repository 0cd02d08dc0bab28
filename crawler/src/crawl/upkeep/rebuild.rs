//! The index made anew, from the archive of the crawl and what the store knows of each page.

use std::collections::HashSet;
use std::path::Path;

use comity_compliance::Timestamp;
use comity_storage::{Found, PageRecord, Plan, Store};
use url::Url;

use super::Due;
use crate::crawl::indexing::shown_canonical;
use crate::crawl::publish::{self, Linked, Published};
use crate::crawl::reply::header_text;
use crate::crawl::{CrawlError, links};
use crate::extract::ReadPage;
use crate::index::{DocumentKey, IndexChange, IndexWriter, Searcher};
use crate::net::Completeness;
use crate::output::warc::{Response, Responses};
use crate::page::{ScanLimits, header_links, scan};
use crate::structured;
use crate::urls::DedupeRules;

/// What an index is made anew from, and by what rules.
pub struct Rebuilding<'a, S> {
    /// What the crawl knows; nothing of it is in use.
    pub store: &'a S,
    /// The directory of its WARC files.
    pub archive: &'a Path,
    /// How URLs are written that mean the same.
    pub dedupe: &'a DedupeRules,
    /// Whether addresses that robots.txt forbids are wanted.
    pub bare_urls: bool,
    /// The instant that all is judged at.
    pub now: Timestamp,
}

/// What came of it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rebuilt {
    /// Pages that are in the index again, with their content.
    pub pages: u64,
    /// Addresses that are there without content.
    pub bare: u64,
    /// Pages that may be shown and are not in the archive as the crawl had them last.
    pub missing: u64,
    /// Files of the archive that were read.
    pub files: u64,
    /// Of these, those that end in the middle of a record, or are no archive.
    pub torn: u64,
    /// Files of the archive that could not be read, each logged.
    pub unreadable: u64,
}

/// Responses that are read at a time, off the runtime's threads.
const PORTION: usize = 64;
/// Records that are read at a time.
const RECORDS: usize = 1_000;
/// Changes that are committed together at most.
const COMMIT_EVERY: u64 = 20_000;

/// Fills an empty index. `progress` is told bytes of the archive that were read, and of all of it.
///
/// # Errors
/// [`CrawlError`] if the store, the archive's directory or the index fails. The index is of no use then.
pub async fn rebuild<S: Store>(
    from: &Rebuilding<'_, S>,
    mut index: IndexWriter,
    mut progress: impl FnMut(u64, u64),
) -> Result<Rebuilt, CrawlError> {
    let mut rebuilt = Rebuilt::default();
    let mut done: HashSet<DocumentKey> = HashSet::new();
    let mut responses = Responses::of(from.archive).map_err(CrawlError::Output)?;
    loop {
        let (some, rest) = portion(responses).await?;
        responses = rest;
        progress(responses.taken(), responses.bytes());
        if some.is_empty() {
            break;
        }
        for response in some {
            let Some(change) = from.again(response).await? else { continue };
            if let IndexChange::Put(document) = &change {
                rebuilt.pages += u64::from(done.insert(document.key));
            }
            index.apply(&[change]).map_err(CrawlError::Index)?;
            if rebuilt.pages.is_multiple_of(COMMIT_EVERY) {
                index.commit().map_err(CrawlError::Index)?;
            }
        }
    }
    (rebuilt.files, rebuilt.torn, rebuilt.unreadable) = responses.files();
    from.what_is_left(&done, &mut index, &mut rebuilt).await?;
    index.commit().and_then(|()| index.close()).map_err(CrawlError::Index)?;
    Ok(rebuilt)
}

/// Queues every page that may be shown and is not in this index, to be fetched wholly; says how many.
///
/// # Errors
/// [`CrawlError`] if the store or the index fails.
pub async fn fetch_missing<S: Store>(
    from: &Rebuilding<'_, S>,
    index: &Searcher,
) -> Result<u64, CrawlError> {
    let mut held = HashSet::new();
    for kept in index.documents() {
        let url = Url::parse(&kept.map_err(CrawlError::Index)?.url).ok();
        held.extend(url.as_ref().map(publish::document_key));
    }
    let (mut cursor, mut queued) = (None, 0);
    loop {
        let (pages, next) = from.store.all_pages(cursor, RECORDS).await?;
        let is_missing = |page: &PageRecord| {
            let due = Due::of(page, from.bare_urls, from.now);
            matches!(due, Due::Full(_) | Due::Embedded(_))
                && !held.contains(&publish::document_key(&page.url))
        };
        let missing = pages.into_iter().filter(is_missing);
        let missing: Vec<_> = missing.map(|page| fetch_again(page, from.now)).collect();
        queued += missing.len() as u64;
        from.store.push(missing).await?;
        if next.is_none() {
            return Ok(queued);
        }
        cursor = next;
    }
}

/// Some more responses, none at the end.
async fn portion(mut responses: Responses) -> Result<(Vec<Response>, Responses), CrawlError> {
    let read = tokio::task::spawn_blocking(move || {
        let mut some = Vec::new();
        while some.len() < PORTION {
            let Some(response) = responses.next() else { break };
            some.push(response);
        }
        (some, responses)
    });
    read.await.map_err(|panic| CrawlError::Worker(panic.to_string()))
}

impl<S: Store> Rebuilding<'_, S> {
    /// What the index gets of an archived response: nothing unless it is what the crawl had last of
    /// a page that may be shown.
    async fn again(&self, response: Response) -> Result<Option<IndexChange>, CrawlError> {
        let Ok(url) = Url::parse(&response.url) else { return Ok(None) };
        let Some(page) = self.store.page(&url).await? else { return Ok(None) };
        let Some((_, fetched)) = page.last_fetch() else { return Ok(None) };
        let is_last = fetched.archived.is_some_and(|archived| response.is(&archived));
        let is_due =
            matches!(Due::of(&page, self.bare_urls, self.now), Due::Full(_) | Due::Embedded(_));
        if !(is_last && is_due) {
            return Ok(None);
        }
        let dedupe = self.dedupe.clone();
        let made = tokio::task::spawn_blocking(move || document(&page, response, &dedupe));
        made.await.map_err(|panic| CrawlError::Worker(panic.to_string()))
    }

    /// Addresses without content, and the number of pages that must be fetched again.
    async fn what_is_left(
        &self,
        done: &HashSet<DocumentKey>,
        index: &mut IndexWriter,
        rebuilt: &mut Rebuilt,
    ) -> Result<(), CrawlError> {
        let mut from = None;
        loop {
            let (pages, next) = self.store.all_pages(from, RECORDS).await?;
            let mut bare = Vec::new();
            for page in pages {
                let is_done = done.contains(&publish::document_key(&page.url));
                match Due::of(&page, self.bare_urls, self.now) {
                    Due::Bare => bare.push(publish::bare(&page, self.now)),
                    Due::Full(_) | Due::Embedded(_) => rebuilt.missing += u64::from(!is_done),
                    Due::Nothing(_) => {}
                }
            }
            rebuilt.bare += bare.len() as u64;
            index.apply(&bare).map_err(CrawlError::Index)?;
            if next.is_none() {
                return Ok(());
            }
            from = next;
        }
    }
}

/// The document of a page, from its response and what the store knows of it.
fn document(page: &PageRecord, response: Response, dedupe: &DedupeRules) -> Option<IndexChange> {
    let (at, fetched) = page.last_fetch()?;
    let headers = response.headers;
    let content_type = header_text(&headers, "content-type");
    let limits = ScanLimits::default();
    let content = scan(&response.body, content_type.as_deref(), &page.url, &limits);
    let lines = headers.get_all("link").iter().filter_map(|line| line.to_str().ok());
    let refresh = header_text(&headers, "refresh");
    let header = header_links(lines, refresh.as_deref(), &page.url, &limits);
    let directives = publish::directives_of(fetched);
    let linked: Linked = links::linked(page, (&content, &header), &directives, dedupe);
    let read = ReadPage {
        url: page.url.clone(),
        at,
        status: fetched.status,
        publication: publish::publication_of(fetched, at),
        headers,
        body: response.body,
        completeness: Completeness::Whole,
        content,
        directives,
    };
    let published = Published {
        url: &page.url,
        page: &read.content,
        canonical: shown_canonical(page, fetched),
        structured: structured::of(&read),
        last_modified: fetched.last_modified.as_deref(),
        links: linked,
        fetched_at: at,
    };
    Some(published.change(&read.publication))
}

fn fetch_again(page: PageRecord, at: Timestamp) -> Found {
    let plan = Plan::Again { priority: u8::try_from(page.depth).unwrap_or(u8::MAX) };
    let PageRecord { url, depth, hops, role, via, from, anchor, .. } = page;
    Found { url, depth, hops, role, via, from, anchor, at, plan }
}
