//! What the index gets of a visit: the page, its address alone, or that it is withdrawn.

use std::sync::Arc;

use comity_compliance::{CanonicalReason, Publication, Timestamp};
use comity_storage::{Fetched, Outcome, PageRecord, Review, Store};
use url::Url;

use super::Context;
use super::publish::{self, Linked, Published};
use crate::extract::ReadPage;
use crate::net::Transport;
use crate::structured;

impl<S: Store, T: Transport> Context<S, T> {
    /// What the index is to get: the page, or that it is withdrawn; and that others are, for which
    /// it stands from now on.
    pub(super) async fn sink(
        &self,
        page: &PageRecord,
        read: &Arc<ReadPage>,
        (fetched, stood_back): (&Fetched, &[(Url, String)]),
        links: Linked,
    ) -> Option<Vec<u8>> {
        let publication = &read.publication;
        if publication.terms().is_none() || fetched.stand_in.is_some() {
            return self.withdraw_if_indexed(page);
        }
        if !self.settings.index {
            return None;
        }
        let mut changes: Vec<_> =
            stood_back.iter().map(|(other, _)| publish::withdraw(other)).collect();
        if !self.index_has_this(page, fetched) {
            if matches!(publication, Publication::Full(_)) {
                self.reporter.count(|counts| counts.indexed += 1);
            }
            let published = Published {
                url: &page.url,
                page: &read.content,
                canonical: shown_canonical(page, fetched),
                structured: structured_data(read).await,
                last_modified: fetched.last_modified.as_deref(),
                links,
                fetched_at: read.at,
            };
            changes.push(published.change(publication));
        }
        if changes.is_empty() { None } else { publish::to_bytes(&changes) }
    }

    /// Whether the index has this very page, by an earlier visit.
    fn index_has_this(&self, page: &PageRecord, fetched: &Fetched) -> bool {
        let Some((at, Outcome::Fetched(before))) = &page.last else { return false };
        let same = before.content_hash == fetched.content_hash
            && before.directives == fetched.directives
            && (&before.canonical, before.stand_in.as_ref()) == (&fetched.canonical, None)
            && before.publication == fetched.publication;
        same && self.index_has_all_of(before, *at)
    }

    /// The address alone, for whoever wants such addresses (RT-049). What was seen of a page before
    /// still counts: one that said noindex or whose date has passed is not shown in any way.
    /// It also says when that must be looked at again.
    pub(super) fn bare(&self, page: &PageRecord, now: Timestamp) -> Option<(Vec<u8>, Review)> {
        let is_wanted =
            self.settings.index && self.settings.bare_urls && publish::may_be_bare(page, now);
        let change = is_wanted.then(|| publish::bare(page, now))?;
        let review = publish::until(page, now).map_or(Review::Never, Review::At);
        Some((publish::to_bytes(&[change])?, review))
    }

    /// A page that was never visited before cannot be in the index.
    pub(super) fn withdraw_if_indexed(&self, page: &PageRecord) -> Option<Vec<u8>> {
        let may_be_there = self.settings.index && page.last.is_some();
        may_be_there.then(|| publish::to_bytes(&[publish::withdraw(&page.url)])).flatten()
    }
}

/// The structured data of a page. Where that needs its tree, it is read off the runtime's threads.
async fn structured_data(read: &Arc<ReadPage>) -> Vec<String> {
    if !structured::needs_tree(read) {
        return read.content.structured_data.clone();
    }
    let page = Arc::clone(read);
    let found = tokio::task::spawn_blocking(move || structured::of(&page)).await;
    found.unwrap_or_else(|_| read.content.structured_data.clone())
}

/// The address that a result names as the page's own: none if nothing names any.
pub(super) fn shown_canonical<'a>(page: &'a PageRecord, fetched: &'a Fetched) -> Option<&'a Url> {
    let is_named = CanonicalReason::from_code(&fetched.canonical_reason)
        .is_some_and(|because| because != CanonicalReason::Own);
    fetched.canonical.as_ref().or(is_named.then_some(&page.url))
}
