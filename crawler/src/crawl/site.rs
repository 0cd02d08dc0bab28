//! One lease worked off: each URL to a verdict, each verdict to a visit, each visit to the store.
//!
//! A worker never sleeps. When a site must be left alone for a while, the worker gives the lease
//! back with the time, and the frontier remembers.

use std::sync::Arc;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{
    Grounds, LastmodTrust, Origin, Refusal, RefusalReason, Site, SitePace, Timestamp, Verdict,
    WaitCause, decide,
};
use comity_storage::{
    AfterReport, Lease, LeaseToken, Outcome, PageRecord, Receipt, Role, SiteReport, Store,
    StoreError, Visit,
};
use tokio::task::{JoinError, JoinHandle};
use url::Url;

use super::budget::Place;
use super::gates::Turn;
use super::report::Event;
use super::{Context, sitemaps};
use crate::net::{FetchErrorKind, Terms, Transport};

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
    trust: LastmodTrust,
    /// Done, not yet committed: refusals cost no request and go along with the next commit.
    visits: Vec<Visit>,
    /// Whether this is the lease's last URL: it goes along with the report that ends the lease.
    is_last: bool,
    put_off: Vec<(Origin, Timestamp)>,
    /// A report that is being written, while the next request is made.
    writing: Option<JoinHandle<Result<Next, StoreError>>>,
}

/// Visits that may gather while a report is being written.
const GATHERED: usize = 32;

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
        trust: lease.trust,
        visits: vec![],
        is_last: false,
        put_off: vec![],
        writing: None,
    };
    let mut next_at = Timestamp::EPOCH;
    let mut urls = lease.urls.into_iter();
    while let Some(page) = urls.next() {
        worker.is_last = urls.len() == 0;
        match worker.one(page).await? {
            Next::More => {}
            Next::NotBefore(until) => {
                next_at = until;
                break;
            }
        }
    }
    worker.written().await?;
    worker.start_commit(AfterReport::Release, next_at).await;
    worker.written().await.map(drop)
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
            match decide(&page.url, context.facts(page.role, &robots, &turn), context.clock.now()) {
                Verdict::Refuse(Refusal { reason, evidence }) => {
                    let evidence = evidence.map(|line| line.to_string());
                    return Ok(self.refuse(&page, reason, evidence));
                }
                Verdict::Wait { until, cause: WaitCause::RobotsUnreachable } => {
                    return Ok(self.put_off(&page.url, origin, &robots, until));
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
        // The limit is on pages, each counted once.
        let counted =
            page.role == Role::Sitemap || matches!(page.last, Some((_, Outcome::Fetched(_))));
        let place = if counted { None } else { context.budget.take() };
        if place.is_none() && !counted {
            return Ok(Next::NotBefore(Timestamp::EPOCH));
        }
        let terms = match page.role {
            Role::Page => &context.page_terms,
            Role::Sitemap => &context.sitemap_terms,
        };
        let terms = Terms { validators: context.validators(page), ..terms.clone() };
        // Few at a time: each may be large. Nobody closes the slots.
        let _slot = match page.role {
            Role::Page => None,
            Role::Sitemap => context.sitemap_slots.acquire().await.ok(),
        };
        let asked = context.ask(grounds, terms, &mut turn, self.deadline).await;
        self.pace.clone_from(&turn);
        drop(turn);
        let Some(fetched) = asked else { return Ok(Next::NotBefore(Timestamp::EPOCH)) };
        let visit = context.visit(page, fetched, &self.trust).await?;
        if let Some((claim, truth)) = sitemaps::proof(page, &visit.outcome) {
            self.trust.told(claim, truth);
        }
        if matches!(visit.outcome, Outcome::Fetched(_)) {
            place.into_iter().for_each(Place::keep);
        }
        self.visits.push(visit);
        self.hand_over().await
    }

    /// Hands what is done to the store. While an earlier report is being written it gathers.
    async fn hand_over(&mut self) -> Result<Next, StoreError> {
        let busy = self.writing.as_ref().is_some_and(|task| !task.is_finished());
        if self.is_last || busy && self.visits.len() < GATHERED {
            return Ok(Next::More);
        }
        let next = self.written().await?;
        self.start_commit(AfterReport::Keep, Timestamp::EPOCH).await;
        Ok(next)
    }

    /// Waits for the report that is being written: what it held is durable then.
    async fn written(&mut self) -> Result<Next, StoreError> {
        let Some(task) = self.writing.take() else { return Ok(Next::More) };
        let panicked = |panic: JoinError| StoreError::NotDone { cause: panic.to_string() };
        task.await.map_err(panicked)?
    }

    /// Puts all due URLs of an origin off because its robots.txt cannot be read.
    fn put_off(
        &mut self,
        url: &Url,
        origin: Origin,
        robots: &RobotsRecord,
        until: Timestamp,
    ) -> Next {
        if !self.put_off.iter().any(|(known, _)| *known == origin) {
            let detail = robots.failing().map_or("", |run| run.cause.as_str());
            let cause = WaitCause::RobotsUnreachable;
            self.context.tell(&Event::Waits { url, cause, detail, until });
            self.put_off.push((origin, until));
        }
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

    /// Starts to write a report of what is done.
    async fn start_commit(&mut self, then: AfterReport, next_at: Timestamp) {
        let turn = self.context.gates.turn(&self.site, &self.pace).await;
        self.pace.clone_from(&turn);
        drop(turn);
        let report = SiteReport {
            token: self.token.clone(),
            visits: std::mem::take(&mut self.visits),
            put_off: std::mem::take(&mut self.put_off),
            pace: self.pace.clone(),
            trust: self.trust,
            next_at,
            then,
        };
        self.writing = Some(tokio::spawn(commit(Arc::clone(&self.context), report)));
    }
}

/// Commits a report; durable when it returns.
async fn commit<S: Store, T: Transport>(
    context: Arc<Context<S, T>>,
    report: SiteReport,
) -> Result<Next, StoreError> {
    let site = report.token.site.clone();
    let receipt = context.store.commit(report, context.clock.now()).await?;
    context.committed.notify_one();
    context.outbox_fed.notify_one();
    match receipt {
        Receipt::Accepted { new_urls } => {
            context.reporter.count(|counts| counts.found += new_urls as u64);
            Ok(Next::More)
        }
        Receipt::Fenced => {
            tracing::warn!(%site, "lease lost: its deadline passed before the commit");
            Ok(Next::NotBefore(Timestamp::EPOCH))
        }
    }
}
