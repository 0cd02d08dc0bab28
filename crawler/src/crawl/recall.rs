//! What the store knows of a site's addresses, counted again: shapes that repeat themselves stay at
//! their end over a restart, and what waits of them is put aside all at once.

use std::collections::HashSet;
use std::sync::{MutexGuard, PoisonError};

use comity_compliance::{LeftOut, Site};
use comity_storage::{PageCursor, PageRecord, Role, Store, StoreError, Via};

use super::Context;
use crate::urls::{Saw, SiteBudgets};

/// Page records that are read at a time.
const READ_AT_ONCE: usize = 1000;

impl<S: Store, T> Context<S, T> {
    /// Counts the known addresses of a site, unless that was done and is not forgotten. Nothing
    /// more need be kept for the next run than the pages themselves.
    pub(super) async fn recall_addresses(&self, site: &Site) -> Result<(), StoreError> {
        if self.site_budgets().is_whole(site) {
            return Ok(());
        }
        let (mut texts, mut from) = (HashSet::new(), None);
        loop {
            let (pages, next) = self.store.pages(site, from, READ_AT_ONCE).await?;
            let mut budgets = self.site_budgets();
            for page in pages.iter().filter(|page| is_counted(page)) {
                budgets.recall(&page.url, saw(page, &mut texts));
            }
            if next.is_none() {
                budgets.recalled(site);
                return Ok(());
            }
            if self.stop.is_cancelled() {
                return Ok(());
            }
            from = next;
        }
    }

    /// Some of a site's waiting pages that are not worth a request any more, each with its reason,
    /// and where to go on.
    pub(super) async fn not_worth_fetching(
        &self,
        site: &Site,
        from: Option<PageCursor>,
    ) -> Result<(Vec<(PageRecord, LeftOut)>, Option<PageCursor>), StoreError> {
        let (pages, next) = self.store.pages(site, from, READ_AT_ONCE).await?;
        let waiting = pages.into_iter().filter(|page| page.due.is_some());
        let spent = waiting.filter_map(|page| {
            let reason = self.may_fetch(&page).err()?;
            Some((page, reason))
        });
        Ok((spent.collect(), next))
    }

    /// Whether a page that was never had is worth a request still: not if its shape has turned out
    /// to give the same over and over. A seed always is.
    pub(super) fn may_fetch(&self, page: &PageRecord) -> Result<(), LeftOut> {
        if page.role != Role::Page || page.last.is_some() || page.via == Via::Seed {
            return Ok(());
        }
        self.site_budgets().of(&page.url).map_or(Ok(()), |budget| budget.may_fetch(&page.url))
    }
}

impl<S, T> Context<S, T> {
    pub(super) fn site_budgets(&self) -> MutexGuard<'_, SiteBudgets> {
        self.site_budgets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an address was counted when it was found: not if something else kept it back.
fn is_counted(page: &PageRecord) -> bool {
    let is_budget = |noted: &str| LeftOut::from_code(noted).is_some_and(LeftOut::is_budget);
    page.role == Role::Page && page.noted.as_deref().is_none_or(is_budget)
}

/// What fetching a page taught: of several with one text, one counts as the original.
fn saw(page: &PageRecord, texts: &mut HashSet<u64>) -> Saw {
    match page.last_fetch() {
        None => Saw::Nothing,
        Some((_, fetched)) if fetched.text_hash.is_none_or(|hash| texts.insert(hash)) => {
            Saw::Original
        }
        Some(_) => Saw::Duplicate,
    }
}
