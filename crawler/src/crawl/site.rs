//! One lease worked off: each URL to a verdict, each verdict to a visit, each visit to the store.
//!
//! A worker never sleeps. When a site must be left alone for a while, the worker gives the lease
//! back with the time, and the frontier remembers.

use std::sync::Arc;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{
    Grounds, Origin, Refusal, RefusalReason, Site, SitePace, Timestamp, Verdict, WaitCause, decide,
};
use comity_storage::{
    AfterReport, Lease, LeaseToken, Outcome, PageRecord, Receipt, SiteReport, Store, StoreError,
    Visit,
};
use url::Url;

use super::Context;
use super::gates::Turn;
use super::report::Event;
use crate::net::{FetchErrorKind, Transport};

/// What comes after one URL.
enum Next {
    /// The next URL of the lease.
    More,
    /// Nothing of this site before then.
    NotBefore(Timestamp),
}

/// A lease at work.
struct Worker<S, T> {
    context: Arc<Context<S, T>>,
    site: Site,
    token: LeaseToken,
    deadline: Timestamp,
    pace: SitePace,
    /// Done, not yet committed: refusals cost no request and go along with the next commit.
    visits: Vec<Visit>,
    postponed: Vec<(Url, Timestamp)>,
}

/// Works off one lease and gives it back.
pub(super) async fn work<S: Store, T: Transport>(
    context: Arc<Context<S, T>>,
    lease: Lease,
) -> Result<(), StoreError> {
    let site = lease.token.site.clone();
    let pace = context.since_opening(lease.pace);
    let mut worker = Worker {
        context,
        site,
        token: lease.token,
        deadline: lease.deadline,
        pace,
        visits: vec![],
        postponed: vec![],
    };
    let mut next_at = Timestamp::EPOCH;
    for page in lease.urls {
        match worker.one(page).await? {
            Next::More => {}
            Next::NotBefore(until) => {
                next_at = until;
                break;
            }
        }
    }
    worker.commit(AfterReport::Release, next_at).await.map(drop)
}

impl<S: Store, T: Transport> Worker<S, T> {
    async fn one(&mut self, page: PageRecord) -> Result<Next, StoreError> {
        let context = Arc::clone(&self.context);
        let Ok(origin) = Origin::of(&page.url) else {
            return Ok(self.refuse(&page, RefusalReason::UnsupportedScheme, None));
        };
        if let Some(blocked) = self.blocked(&page.url).await {
            return Ok(self.refuse(&page, RefusalReason::BlockedAddress, Some(blocked)));
        }
        loop {
            let now = context.clock.now();
            if context.stop.is_cancelled() || now.after(context.longest_request) >= self.deadline {
                return Ok(Next::NotBefore(Timestamp::EPOCH));
            }
            let robots = context.robots.record(&context.store, &origin).await?;
            let turn = context.gates.turn(&self.site, &self.pace).await;
            match decide(&page.url, context.facts(&robots, &turn), context.clock.now()) {
                Verdict::Refuse(Refusal { reason, evidence }) => {
                    let evidence = evidence.map(|line| line.to_string());
                    return Ok(self.refuse(&page, reason, evidence));
                }
                Verdict::Wait { until, cause: WaitCause::RobotsUnreachable } => {
                    return Ok(self.postpone(page, &robots, until));
                }
                Verdict::Wait { until, .. } => return Ok(Next::NotBefore(until)),
                Verdict::FetchRobots(errand, grounds) => {
                    let errand = (errand, grounds);
                    let broken_off =
                        context.fetch_robots(&origin, errand, turn, self.deadline).await?;
                    if let Some(again_at) = broken_off {
                        return Ok(Next::NotBefore(again_at));
                    }
                }
                Verdict::Probe(grounds) => {
                    let (terms, mut turn) = (context.robots_terms.clone(), turn);
                    let asked = context.ask(grounds, terms, &mut turn, self.deadline).await;
                    if asked.is_none() {
                        return Ok(Next::NotBefore(Timestamp::EPOCH));
                    }
                }
                Verdict::Fetch(grounds) => return self.fetch(&page, grounds, turn).await,
            }
        }
    }

    async fn fetch(
        &mut self,
        page: &PageRecord,
        grounds: Grounds,
        mut turn: Turn,
    ) -> Result<Next, StoreError> {
        let context = Arc::clone(&self.context);
        let Some(place) = context.budget.take() else {
            return Ok(Next::NotBefore(Timestamp::EPOCH));
        };
        let terms = context.page_terms.clone();
        let asked = context.ask(grounds, terms, &mut turn, self.deadline).await;
        self.pace.clone_from(&turn);
        drop(turn);
        let Some(fetched) = asked else { return Ok(Next::NotBefore(Timestamp::EPOCH)) };
        let visit = context.visit(page, fetched).await;
        if matches!(visit.outcome, Outcome::Fetched(_)) {
            place.keep();
        }
        self.visits.push(visit);
        self.commit(AfterReport::Keep, Timestamp::EPOCH).await
    }

    /// Puts a URL off because its origin's robots.txt cannot be read. Told once a lease: a site
    /// may have a million of them.
    fn postpone(&mut self, page: PageRecord, robots: &RobotsRecord, until: Timestamp) -> Next {
        if self.postponed.is_empty() {
            let detail = robots.failing().map_or("", |run| run.cause.as_str());
            let cause = WaitCause::RobotsUnreachable;
            self.context.tell(&Event::Waits { url: &page.url, cause, detail, until });
        }
        self.postponed.push((page.url, until));
        Next::More
    }

    /// Why the address guard refuses the URL's host, if it does. Asked before robots.txt: a
    /// refused address is no outage of the site.
    async fn blocked(&self, url: &Url) -> Option<String> {
        let error = self.context.transport.address_of(url).await.err()?;
        matches!(error.kind, FetchErrorKind::BlockedAddress { .. }).then(|| error.in_words())
    }

    fn refuse(
        &mut self,
        page: &PageRecord,
        reason: RefusalReason,
        evidence: Option<String>,
    ) -> Next {
        let now = self.context.clock.now();
        let visit = self.context.refused(page, reason, evidence, now);
        self.visits.push(visit);
        Next::More
    }

    /// Commits what is done; durable when it returns.
    async fn commit(&mut self, then: AfterReport, next_at: Timestamp) -> Result<Next, StoreError> {
        let turn = self.context.gates.turn(&self.site, &self.pace).await;
        self.pace.clone_from(&turn);
        drop(turn);
        let report = SiteReport {
            token: self.token.clone(),
            visits: std::mem::take(&mut self.visits),
            postponed: std::mem::take(&mut self.postponed),
            pace: self.pace.clone(),
            next_at,
            then,
        };
        let receipt = self.context.store.commit(report, self.context.clock.now()).await?;
        self.context.committed.notify_one();
        self.context.outbox_fed.notify_one();
        match receipt {
            Receipt::Accepted { new_urls } => {
                self.context.reporter.count(|counts| counts.found += new_urls as u64);
                Ok(Next::More)
            }
            Receipt::Fenced => {
                tracing::warn!(site = %self.site, "lease lost: its deadline passed before the commit");
                Ok(Next::NotBefore(Timestamp::EPOCH))
            }
        }
    }
}
