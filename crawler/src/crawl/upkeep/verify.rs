//! Whether the index holds anything that it may not.

use std::collections::HashMap;

use comity_compliance::{RefusalReason, Timestamp, Withheld};
use comity_storage::{Payload, Store, StoreError};
use url::Url;

use super::Due;
use crate::crawl::{CrawlError, publish};
use crate::index::{
    DocumentKey, Form, ImagePreview, IndexChange, IndexWriter, Kept, Permission, Searcher,
    ShowLimits,
};
use crate::reasons::IndexFault;

/// Records that are read at a time.
const PORTION: usize = 1_000;

/// What was found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verified {
    /// Documents that were looked at.
    pub documents: u64,
    /// Addresses that the index may not hold, or not so, each with the code of the reason.
    pub forbidden: Vec<(String, String)>,
    /// Addresses without content that the publisher permits and the operator no more asks for.
    pub unwanted: Vec<String>,
    /// Documents that have expired since: no search finds them, and the next crawl takes them out.
    pub expired: u64,
    /// Pages of which something may be shown and that the index does not hold.
    pub missing: u64,
    /// Changes that the crawl made and the index has not taken yet, as after a crash. Documents that
    /// they change are judged as they are now; pages that they bring are not missing.
    pub waiting: u64,
}

/// Compares every document with what the store knows of its page, and every page with the index.
///
/// # Errors
/// [`CrawlError`] if either cannot be read.
pub async fn verify<S: Store>(
    store: &S,
    index: &Searcher,
    bare_urls: bool,
    now: Timestamp,
) -> Result<Verified, CrawlError> {
    let waiting = waiting(store).await?;
    let mut found = Verified { waiting: waiting.len() as u64, ..Verified::default() };
    let mut held = HashMap::new();
    for kept in index.documents() {
        let kept = kept.map_err(CrawlError::Index)?;
        found.documents += 1;
        let Ok(url) = Url::parse(&kept.url) else {
            found.forbidden.push((kept.url, IndexFault::NeverRead.code().into()));
            continue;
        };
        let key = publish::document_key(&url);
        held.insert(key, ());
        if kept.expires_at_ms.is_some_and(|at| at <= now.as_millis()) {
            found.expired += 1;
            continue;
        }
        let page = store.page(&url).await?;
        let due = page.as_ref().map_or(Due::Nothing(IndexFault::NeverRead.code()), |page| {
            Due::of(page, bare_urls, now)
        });
        let may_be_bare =
            || page.as_ref().is_some_and(|page| matches!(Due::of(page, true, now), Due::Bare));
        if kept.form == Form::Bare && !bare_urls && may_be_bare() {
            found.unwanted.push(kept.url);
        } else if let Err(why) = judge(&kept, &due) {
            found.forbidden.push((kept.url, why.into()));
        }
    }
    let mut from = None;
    loop {
        let (pages, next) = store.all_pages(from, PORTION).await?;
        for page in pages {
            let is_there = |key| held.contains_key(key) || waiting.contains_key(key);
            let may_be = matches!(Due::of(&page, false, now), Due::Full(_) | Due::Embedded(_));
            found.missing += u64::from(may_be && !is_there(&publish::document_key(&page.url)));
        }
        if next.is_none() {
            return Ok(found);
        }
        from = next;
    }
}

/// Takes addresses out of the index.
///
/// # Errors
/// [`CrawlError`] if the index cannot be written.
pub fn withdraw(index: &mut IndexWriter, urls: &[&str]) -> Result<(), CrawlError> {
    let urls = urls.iter().filter_map(|url| Url::parse(url).ok());
    let changes: Vec<_> = urls.map(|url| publish::withdraw(&url)).collect();
    index.apply(&changes).and_then(|()| index.commit()).map_err(CrawlError::Index)
}

/// The documents that the outbox has changes for.
async fn waiting<S: Store>(store: &S) -> Result<HashMap<DocumentKey, ()>, StoreError> {
    let (mut waiting, mut from) = (HashMap::new(), 0);
    loop {
        let entries = store.outbox(from, PORTION).await?;
        let Some(last) = entries.last() else { return Ok(waiting) };
        from = last.seq + 1;
        for entry in entries {
            let changes = match entry.payload {
                Payload::Bytes(bytes) => publish::from_bytes(&bytes).unwrap_or_default(),
                Payload::Lost { .. } => Vec::new(),
            };
            waiting.extend(changes.iter().map(|change| (key_of(change), ())));
        }
    }
}

fn key_of(change: &IndexChange) -> DocumentKey {
    match change {
        IndexChange::Put(document) => document.key,
        IndexChange::Withdraw { key } => *key,
    }
}

/// Whether a document shows no more than is due; else the code of the reason.
fn judge(kept: &Kept, due: &Due) -> Result<(), &'static str> {
    let (terms, least) = match due {
        Due::Nothing(why) => return Err(why),
        Due::Bare => {
            return if kept.form == Form::Bare {
                Ok(())
            } else {
                Err(RefusalReason::RobotsDisallow.code())
            };
        }
        Due::Full(terms) => (terms, Form::Full),
        Due::Embedded(terms) => (terms, Form::Embedded),
    };
    if kept.form == Form::Full && least == Form::Embedded {
        return Err(Withheld::NoIndex.code());
    }
    let until = terms.until.map(Timestamp::as_millis);
    if until.is_some_and(|until| kept.expires_at_ms.is_none_or(|at| at > until)) {
        return Err(IndexFault::LateExpiry.code());
    }
    let is_bare = kept.form == Form::Bare;
    if !is_bare && !is_within(&kept.limits, &publish::show_limits(terms)) {
        return Err(IndexFault::LooseLimits.code());
    }
    Ok(())
}

/// Whether limits let no more be shown than others.
fn is_within(limits: &ShowLimits, most: &ShowLimits) -> bool {
    let number = |limit: Option<u32>| limit.unwrap_or(u32::MAX);
    let size = |preview| match preview {
        ImagePreview::None => 0,
        ImagePreview::Standard => 1,
        ImagePreview::Large => 2,
    };
    let withheld = |one: Permission, most: Permission| {
        most == Permission::Granted || one == Permission::Withheld
    };
    number(limits.snippet_chars) <= number(most.snippet_chars)
        && number(limits.video_preview_s) <= number(most.video_preview_s)
        && size(limits.image_preview) <= size(most.image_preview)
        && withheld(limits.translation, most.translation)
        && withheld(limits.image_indexing, most.image_indexing)
}
