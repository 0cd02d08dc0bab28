//! One lease worked off: each URL to a verdict, each verdict to a visit, each visit to the store.
//!
//! A worker never sleeps. When a site must be left alone for a while, the worker gives the lease
//! back with the time, and the frontier remembers.

use std::pin::pin;
use std::sync::Arc;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{
    Grounds, LastmodTrust, LeftOut, Origin, Refusal, RefusalReason, Site, SitePace, Timestamp,
    Verdict, WaitCause, decide,
};
use comity_storage::{
    AfterReport, Lease, LeaseToken, Outcome, PageRecord, Receipt, Renewal, Role, SiteReport, Store,
    Visit,
};
use tokio::task::{JoinError, JoinHandle};
use url::Url;

use super::archive::Decided;
use super::budget::Place;
use super::gates::Turn;
use super::links::LINKS_AT_ONCE;
use super::report::Event;
use super::{Context, CrawlError, InLine, LEASE, sitemaps, visit};
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
    /// Whether what is not worth a request any more was put aside during this lease.
    has_left: bool,
    /// A report that is being written, while the next request is made.
    writing: Option<JoinHandle<Result<Next, CrawlError>>>,
}

/// Visits that may gather while a report is being written.
const GATHERED: usize = 32;

/// Pages that one report puts aside.
const LEFT_AT_ONCE: usize = 500;

/// Works off one lease and gives it back.
pub(super) async fn work<S: Store, T: Transport>(
    context: Arc<Context<S, T>>,
    lease: Lease,
) -> Result<(), CrawlError> {
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
        has_left: false,
        writing: None,
    };
    worker.context.recall_addresses(&worker.site).await?;
    let mut next_at = Timestamp::EPOCH;
    let mut failed = None;
    let mut urls = lease.urls.into_iter();
    while let Some(page) = urls.next() {
        worker.is_last = urls.len() == 0;
        match worker.one(page).await {
            Ok(Next::More) => {}
            Ok(Next::NotBefore(until)) => {
                next_at = until;
                break;
            }
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    // What was done before a failure is handed over all the same; the failure is the cause.
    let written = worker.hand_back(next_at).await;
    failed.map_or(written, Err)
}

impl<S: Store, T: Transport> Worker<S, T> {
    async fn hand_back(&mut self, next_at: Timestamp) -> Result<(), CrawlError> {
        self.written().await?;
        self.start_commit(AfterReport::Release, next_at).await;
        self.written().await.map(drop)
    }

    async fn one(&mut self, page: PageRecord) -> Result<Next, CrawlError> {
        let context = Arc::clone(&self.context);
        let Ok(origin) = Origin::of(&page.url) else {
            return self.refuse(&page, RefusalReason::UnsupportedScheme, None).await;
        };
        if context.may_fetch(&page).is_err() {
            return self.leave_all().await;
        }
        if let Some(blocked) = self.blocked(&page.url).await {
            return self.refuse(&page, RefusalReason::BlockedAddress, Some(blocked)).await;
        }
        loop {
            let now = context.clock.now();
            if context.stop.is_cancelled() || now.after(context.longest_request) >= self.deadline {
                return Ok(Next::NotBefore(Timestamp::EPOCH));
            }
            let robots = context.robots.record(&context.store, &origin).await?;
            let mut turn = context.gates.turn(&self.site, &self.pace).await;
            // A kill may have come between the robots.txt and the pace that it asks for.
            let asked = context.crawl_delay(&robots);
            turn.heard_crawl_delay(asked, asked);
            match decide(&page.url, context.facts(page.role, &robots, &turn), context.clock.now()) {
                Verdict::Refuse(Refusal { reason, evidence }) => {
                    let evidence = evidence.map(|line| line.to_string());
                    drop(turn);
                    return self.refuse(&page, reason, evidence).await;
                }
                Verdict::Wait { until, cause: WaitCause::RobotsUnreachable } => {
                    return Ok(self.put_off(&page.url, origin, &robots, until));
                }
                Verdict::Wait { until, .. } => return Ok(Next::NotBefore(until)),
                Verdict::FetchRobots(errand, grounds) => {
                    let errand = (errand, grounds);
                    let asking = context.fetch_robots(&origin, errand, turn, self.deadline);
                    let broken_off = self.meanwhile(asking).await??;
                    if let Some(again_at) = broken_off {
                        return Ok(Next::NotBefore(again_at));
                    }
                }
                Verdict::Probe(grounds) => {
                    let decided = Decided::of(&grounds);
                    let (terms, mut turn) = (context.robots_terms.clone(), turn);
                    let line = InLine::ComesBack;
                    let asking = context.ask(grounds, terms, &mut turn, self.deadline, line);
                    let asked = match self.meanwhile(asking).await? {
                        Ok(asked) => asked,
                        Err(again_at) => return Ok(Next::NotBefore(again_at)),
                    };
                    context.archive_errand("probe", &decided, &asked).await?;
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
    ) -> Result<Next, CrawlError> {
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
        let (deadline, decided) = (self.deadline, Decided::of(&grounds));
        // Few sitemaps at a time: each may be large. Nobody closes the slots.
        let asking = async {
            let slot = match page.role {
                Role::Page => None,
                Role::Sitemap => context.sitemap_slots.acquire().await.ok(),
            };
            let line = InLine::ComesBack;
            (context.ask(grounds, terms, &mut turn, deadline, line).await, slot)
        };
        let (asked, _slot) = self.meanwhile(asking).await?;
        self.pace.clone_from(&turn);
        drop(turn);
        let fetched = match asked {
            Ok(fetched) => fetched,
            Err(again_at) => return Ok(Next::NotBefore(again_at)),
        };
        context.tell_order(page);
        let trust = self.trust;
        let mut visit = self.on_loan(context.visit(page, &fetched, &trust)).await?;
        context.release_copies(page, &mut visit).await?;
        context.archive_page(page, &decided, &fetched, &mut visit).await?;
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
    async fn hand_over(&mut self) -> Result<Next, CrawlError> {
        let busy = self.writing.as_ref().is_some_and(|task| !task.is_finished());
        let links: usize = self.visits.iter().map(|visit| visit.found.len()).sum();
        let is_large = self.visits.len() >= GATHERED || links >= LINKS_AT_ONCE;
        if self.is_last || busy && !is_large {
            return Ok(Next::More);
        }
        let next = self.written().await?;
        self.start_commit(AfterReport::Keep, Timestamp::EPOCH).await;
        Ok(next)
    }

    /// Waits for an answer. What gathered while a report was being written is handed to the store
    /// as soon as that is done: a slow answer does not keep it from being durable.
    async fn meanwhile<R>(&mut self, asking: impl Future<Output = R>) -> Result<R, CrawlError> {
        let mut asking = pin!(asking);
        while !self.visits.is_empty() && self.writing.is_some() {
            tokio::select! {
                answer = &mut asking => return Ok(answer),
                // A lost lease fences the next report too, and that one tells.
                written = self.written() => written.map(drop)?,
            }
            // The turn is taken by the request under way, which the store need not know of:
            // whoever takes over after a crash counts one as made.
            self.write(AfterReport::Keep, Timestamp::EPOCH);
        }
        Ok(asking.await)
    }

    /// Waits for what may take long, as a sink does that is full. The lease is renewed meanwhile: if
    /// it ran out, the page would be fetched and its items yielded once more.
    async fn on_loan<R, E: Into<CrawlError>>(
        &mut self,
        reading: impl Future<Output = Result<R, E>>,
    ) -> Result<R, CrawlError> {
        let mut reading = pin!(reading);
        loop {
            tokio::select! {
                read = &mut reading => return read.map_err(Into::into),
                () = tokio::time::sleep(LEASE / 3) => {}
            }
            let (now, lease) = (self.context.clock.now(), self.context.lease());
            if let Renewal::Renewed(deadline) =
                self.context.store.renew(&self.token, now, lease).await?
            {
                self.deadline = deadline;
            }
        }
    }

    /// Waits for the report that is being written: what it held is durable then.
    async fn written(&mut self) -> Result<Next, CrawlError> {
        let Some(task) = &mut self.writing else { return Ok(Next::More) };
        let panicked = |panic: JoinError| CrawlError::Worker(panic.to_string());
        let written = task.await.map_err(panicked);
        self.writing = None;
        written?
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

    async fn refuse(
        &mut self,
        page: &PageRecord,
        reason: RefusalReason,
        evidence: Option<String>,
    ) -> Result<Next, CrawlError> {
        let now = self.context.clock.now();
        let mut visit = self.context.refused(page, reason, evidence, now);
        self.context.release_copies(page, &mut visit).await?;
        self.visits.push(visit);
        Ok(Next::More)
    }

    /// Puts all of the site's pages aside that are not worth a request any more: where one is, there
    /// may be thousands. Those that come to be so during this lease wait for the next.
    async fn leave_all(&mut self) -> Result<Next, CrawlError> {
        if std::mem::replace(&mut self.has_left, true) {
            return Ok(Next::More);
        }
        // Until then, what was fetched looks as if it waited still.
        self.flush().await?;
        let (context, mut from) = (Arc::clone(&self.context), None);
        loop {
            let (spent, next) = context.not_worth_fetching(&self.site, from).await?;
            for (page, reason) in spent {
                self.leave(&page, reason);
                if self.visits.len() >= LEFT_AT_ONCE {
                    self.flush().await?;
                }
            }
            if next.is_none() || context.stop.is_cancelled() {
                return Ok(Next::More);
            }
            from = next;
        }
    }

    fn leave(&mut self, page: &PageRecord, reason: LeftOut) {
        let (now, reason) = (self.context.clock.now(), reason.code());
        let from = page.from.as_ref().unwrap_or(&page.url);
        self.context.drop_link(from, &page.url, reason);
        self.visits.push(visit::plain(page, now, Outcome::Noted { reason: reason.into() }));
    }

    /// Waits until all that is done is durable.
    async fn flush(&mut self) -> Result<(), CrawlError> {
        self.written().await?;
        self.start_commit(AfterReport::Keep, Timestamp::EPOCH).await;
        self.written().await.map(drop)
    }

    /// Starts to write a report of what is done.
    async fn start_commit(&mut self, then: AfterReport, next_at: Timestamp) {
        let turn = self.context.gates.turn(&self.site, &self.pace).await;
        self.pace.clone_from(&turn);
        drop(turn);
        self.write(then, next_at);
    }

    fn write(&mut self, then: AfterReport, next_at: Timestamp) {
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
) -> Result<Next, CrawlError> {
    let site = report.token.site.clone();
    context.archive_is_durable().await?;
    context.items_are_durable().await?;
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
