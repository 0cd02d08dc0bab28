//! A changed robots.txt, applied to what is known already.
//!
//! Every page whose verdict it turns goes back into the queue. There it takes the usual way: one
//! that is forbidden now is refused without a request and leaves the index, one that is allowed
//! now is fetched.

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Origin, RefusalReason, SitePace, Verdict, decide};
use comity_storage::{Found, Outcome, PageRecord, Plan, Store, StoreError};

use super::Context;

/// Pages that are looked at together.
const AT_ONCE: usize = 500;

impl<S: Store, T> Context<S, T> {
    /// Queues the pages of an origin that `new` judges otherwise than their last visit was.
    /// Repeating it does no harm, so it comes before the record is kept.
    pub(super) async fn rejudge(
        &self,
        origin: &Origin,
        known: &RobotsRecord,
        new: &RobotsRecord,
    ) -> Result<(), StoreError> {
        if known.same_rules(new) {
            return Ok(());
        }
        let (site, mut from) = (origin.site(), None);
        loop {
            let (pages, next) = self.store.pages(&site, from, AT_ONCE).await?;
            let turned = pages.into_iter().filter(|page| {
                Origin::of(&page.url).as_ref() == Ok(origin) && self.is_turned(page, new)
            });
            let found: Vec<_> = turned.map(|page| self.again(page)).collect();
            if !found.is_empty() {
                self.store.push(found).await?;
            }
            match next {
                Some(_) => from = next,
                None => return Ok(()),
            }
        }
    }

    /// Whether the record forbids a page that was had, or no longer forbids one that it kept away.
    fn is_turned(&self, page: &PageRecord, robots: &RobotsRecord) -> bool {
        let waits = page.due.is_some() && !page.revisit;
        let Some((_, last)) = page.last.as_ref().filter(|_| !waits) else { return false };
        let disallow = RefusalReason::RobotsDisallow;
        let kept_away = matches!(last, Outcome::Refused { code, .. } if code == disallow.code());
        // A pace without a past: it is only asked whether, not when.
        let pace = SitePace::default();
        let verdict = decide(&page.url, self.facts(page.role, robots, &pace), self.clock.now());
        let forbidden = matches!(verdict, Verdict::Refuse(refusal) if refusal.reason == disallow);
        forbidden != kept_away && (kept_away || page.fetches > 0)
    }

    fn again(&self, page: PageRecord) -> Found {
        let priority = u8::try_from(page.depth).unwrap_or(u8::MAX);
        let PageRecord { url, depth, hops, role, via, from, anchor, .. } = page;
        let (at, plan) = (self.clock.now(), Plan::Again { priority });
        Found { url, depth, hops, role, via, from, anchor, at, plan }
    }
}
