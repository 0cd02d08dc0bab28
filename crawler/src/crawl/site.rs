//! One lease worked off: each URL to a verdict, each verdict to a visit, each visit to the store.
//!
//! A worker never sleeps. When a site must be left alone for a while, the worker gives the lease
//! back with the time, and the frontier remembers.

use std::sync::Arc;

use comity_compliance::{Facts, Origin, Refusal, Site, SitePace, Timestamp, Verdict, WaitCause, decide};
use comity_storage::{AfterReport, Lease, LeaseToken, Outcome, PageRecord, Receipt, SiteReport, Store, StoreError, Visit};
use url::Url;

use super::report::Event;
use super::{Context, visit};
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
            self.refuse(&page, "unsupported-scheme", None);
            return Ok(Next::More);
        };
        if let Some(blocked) = self.blocked(&page.url).await {
            self.refuse(&page, "blocked-address", Some(blocked));
            return Ok(Next::More);
        }
        loop {
            let now = context.clock.now();
            if context.stop.is_cancelled() || now.after(context.longest_request) >= self.deadline {
                return Ok(Next::NotBefore(Timestamp::EPOCH));
            }
            let robots = context.robots.record(&context.store, &origin).await?;
            let mut turn = context.gates.turn(&self.site, &self.pace).await;
            let facts = Facts {
                policy: &context.settings.policy,
                identity: &context.settings.identity,
                scope: &context.scope,
                robots: &robots,
                pace: &turn,
            };
            match decide(&page.url, facts, context.clock.now()) {
                Verdict::Refuse(Refusal { reason, evidence }) => {
                    self.refuse(&page, reason.code(), evidence.map(|line| line.to_string()));
                    return Ok(Next::More);
                }
                Verdict::Wait { until, cause: WaitCause::RobotsUnreachable } => {
                    let detail = robots.failing().map_or("", |run| run.cause.as_str());
                    let cause = WaitCause::RobotsUnreachable;
                    context.tell(&Event::Waits { url: &page.url, cause, detail, until });
                    self.postponed.push((page.url, until));
                    return Ok(Next::More);
                }
                Verdict::Wait { until, .. } => return Ok(Next::NotBefore(until)),
                Verdict::FetchRobots(errand, grounds) => {
                    context.fetch_robots(&origin, errand, grounds, turn).await?;
                }
                Verdict::Fetch(grounds) => {
                    let Some(place) = context.budget.take() else {
                        return Ok(Next::NotBefore(Timestamp::EPOCH));
                    };
                    let fetched = context.ask(grounds, context.page_terms.clone(), &mut turn).await;
                    self.pace.clone_from(&turn);
                    drop(turn);
                    let visit = visit::of(&context, page, fetched).await;
                    if matches!(visit.outcome, Outcome::Fetched(_)) {
                        place.keep();
                    }
                    self.visits.push(visit);
                    return self.commit(AfterReport::Keep, Timestamp::EPOCH).await;
                }
            }
        }
    }

    /// Why the address guard refuses the URL's host, if it does. Asked before robots.txt: a
    /// refused address is no outage of the site.
    async fn blocked(&self, url: &Url) -> Option<String> {
        let error = self.context.transport.address_of(url).await.err()?;
        matches!(error.kind, FetchErrorKind::BlockedAddress { .. }).then(|| error.in_words())
    }

    fn refuse(&mut self, page: &PageRecord, reason: &str, evidence: Option<String>) {
        let evidence_text = evidence.as_deref();
        self.context.tell(&Event::Refused { url: &page.url, reason, evidence: evidence_text });
        let outcome = Outcome::Refused { code: reason.into(), evidence };
        self.visits.push(visit::without_request(page, self.context.clock.now(), outcome));
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
