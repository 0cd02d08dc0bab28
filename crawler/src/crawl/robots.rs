//! robots.txt at work: the records that are in use, and the errands that fetch them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_compliance::robots::{
    Body, RobotsErrand, RobotsOutcome, RobotsRecord, RobotsReply, RobotsResponse, Step, Trouble,
};
use comity_compliance::{Grounds, Hold, Origin, Site, SitePace, Timestamp, WaitCause};
use comity_storage::{Store, StoreError};

use super::archive::Decided;
use super::gates::Turn;
use super::{Context, CrawlError, InLine};
use crate::net::{Completeness, FetchError, FetchErrorKind, Reply, Terms, Transport};

use super::reply::{header_text, location, retry_after};

/// Records that were asked for lately; the others rest in the store.
#[derive(Debug, Default)]
pub(super) struct RobotsBook {
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    records: HashMap<Origin, Arc<RobotsRecord>>,
    bytes: usize,
}

/// Memory for records.
const SHELF_BYTES: usize = 64 << 20;
/// What a record takes beside its text: the key, the table's row, the copy's dates.
const RECORD_BYTES: usize = 512;

impl RobotsBook {
    /// What is known of an origin's robots.txt.
    pub(super) async fn record<S: Store>(
        &self,
        store: &S,
        origin: &Origin,
    ) -> Result<Arc<RobotsRecord>, StoreError> {
        if let Some(known) = self.locked().records.get(origin) {
            return Ok(Arc::clone(known));
        }
        // The site's lease keeps others away from this origin meanwhile.
        let record = Arc::new(store.robots(origin).await?.unwrap_or_default());
        self.keep(origin, Arc::clone(&record));
        Ok(record)
    }

    /// Records that are at hand, at most `max`.
    pub(super) fn at_hand(&self, max: usize) -> Vec<(Origin, Arc<RobotsRecord>)> {
        let shelf = self.locked();
        let records = shelf.records.iter().take(max);
        records.map(|(origin, record)| (origin.clone(), Arc::clone(record))).collect()
    }

    /// Keeps a record; when full, forgets some others: the store has them.
    fn keep(&self, origin: &Origin, record: Arc<RobotsRecord>) {
        let mut shelf = self.locked();
        shelf.take(origin);
        shelf.bytes += RECORD_BYTES + record.heap_bytes();
        while shelf.bytes > SHELF_BYTES
            && let Some(other) = shelf.records.keys().next().cloned()
        {
            shelf.take(&other);
        }
        shelf.records.insert(origin.clone(), record);
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn take(&mut self, origin: &Origin) {
        if let Some(record) = self.records.remove(origin) {
            self.bytes = self.bytes.saturating_sub(RECORD_BYTES + record.heap_bytes());
        }
    }
}

/// After a failure of the proxy, a robots.txt is asked for again.
const PROXY_PAUSE: Duration = Duration::from_secs(60);

/// An errand that was broken off before it brought anything: nothing is known that was not
/// before. It may set out again at the instant.
struct BrokenOff(Timestamp);

/// Why a redirect's next hop is not made.
enum NoHop {
    /// Its site's usual pace asks for more time than is waited for, or the crawl is stopping.
    NotNow(BrokenOff),
    /// Its site fails, and is left alone until then: so the robots.txt cannot be reached (RT-028).
    /// Errands that were broken off for this would be so for as long as the site fails.
    Failing(Hold),
}

impl<S: Store, T: Transport> Context<S, T> {
    /// Fetches an origin's robots.txt and keeps what comes of it. If the errand is broken off, it
    /// keeps nothing and says when to try again. `turn` is the turn at the origin's own site, which
    /// the verdict was made under; no request starts when `deadline` is near.
    pub(super) async fn fetch_robots(
        &self,
        origin: &Origin,
        errand: (RobotsErrand, Grounds),
        turn: Turn,
        deadline: Timestamp,
    ) -> Result<Option<Timestamp>, CrawlError> {
        let known = self.robots.record(&self.store, origin).await?;
        let outcome = match self.run_errand(origin, errand, turn, deadline).await? {
            Ok(outcome) => outcome,
            Err(BrokenOff(again_at)) => return Ok(Some(again_at)),
        };
        self.archive_is_durable().await?;
        let now = self.clock.now();
        let record = RobotsRecord::clone(&known).after(outcome, &self.settings.policy, now);
        self.tell_robots(origin, &record);
        self.rejudge(origin, &known, &record).await?;
        self.push_sitemaps(origin, &known, &record).await?;
        self.store.put_robots(origin, &record).await?;
        let mut turn = self.gates.turn(&origin.site(), &SitePace::default()).await;
        turn.heard_crawl_delay(self.crawl_delay(&record), self.crawl_delay(&known));
        self.robots.keep(origin, Arc::new(record));
        Ok(None)
    }

    /// Tells the audit log how the errand ended, and when the next one sets out.
    fn tell_robots(&self, origin: &Origin, record: &RobotsRecord) {
        let parts = record.to_parts();
        let (why, evidence) = match (&parts.failing, &parts.copy) {
            (Some(run), Some(_)) => (&run.cause, "fails; the last good copy is kept"),
            (Some(run), None) => (&run.cause, "fails; there was no good answer yet"),
            (None, Some(copy)) if copy.body.is_some() => (&copy.cause, "a file of rules"),
            (None, Some(copy)) => (&copy.cause, "no file, no rules"),
            (None, None) => return,
        };
        self.log(&origin.robots_url(), "robots", why, Some(evidence), record.next_refresh());
    }

    pub(super) fn crawl_delay(&self, record: &RobotsRecord) -> Option<Duration> {
        record.rules().and_then(|rules| rules.crawl_delay(self.settings.identity.tokens()))
    }

    async fn run_errand(
        &self,
        origin: &Origin,
        errand: (RobotsErrand, Grounds),
        turn: Turn,
        deadline: Timestamp,
    ) -> Result<Result<RobotsOutcome, BrokenOff>, CrawlError> {
        let policy = &self.settings.policy;
        let ((mut errand, mut grounds), mut turn) = (errand, turn);
        let mut line = InLine::ComesBack;
        loop {
            let site = Site::of(grounds.url()).map_err(|e| StoreError::Request(e.to_string()))?;
            let decided = Decided::of(&grounds);
            let terms = self.robots_terms.clone();
            let asked = self.ask(grounds, terms, &mut turn, deadline, line).await;
            line = InLine::Stands;
            // No lease of the other site reports what the hop taught of it.
            if site != origin.site() {
                self.store.put_pace(&site, &turn).await?;
            }
            // Let go before another site's turn is waited for: two errands could wait for each other.
            drop(turn);
            let fetched = match asked {
                Ok(fetched) => fetched,
                Err(again_at) => return Ok(Err(BrokenOff(again_at))),
            };
            self.archive_errand("robots", &decided, &fetched).await?;
            self.reporter.count(|counts| counts.robots_requests += 1);
            let now = self.clock.now();
            let step = match &fetched {
                Ok(reply) => with_response(reply, now, |reply| errand.reply(reply, policy, now)),
                // Nothing was learnt of the site: its record stays as it is.
                Err(error) if matches!(error.kind, FetchErrorKind::Proxy(_)) => {
                    tracing::warn!("{}", error.in_words());
                    return Ok(Err(BrokenOff(now.after(PROXY_PAUSE))));
                }
                Err(error) => errand.reply(without_response(error), policy, now),
            };
            (errand, grounds) = match step {
                Step::Done(outcome) => return Ok(Ok(outcome)),
                Step::Fetch(errand, grounds) => (errand, grounds),
            };
            turn = match self.turn_for_hop(&grounds).await? {
                Ok(turn) => turn,
                Err(NoHop::NotNow(broken_off)) => return Ok(Err(broken_off)),
                Err(NoHop::Failing(hold)) => {
                    return Ok(Ok(RobotsOutcome::Unreachable {
                        cause: "a redirect to a host that fails".into(),
                        trouble: Trouble::Other,
                        retry_after: Some(hold.until.since(self.clock.now())),
                    }));
                }
            };
        }
    }

    /// The turn at the site of a redirect's next hop, once its pace permits, unless that would
    /// take too long or the crawl is stopping.
    async fn turn_for_hop(&self, grounds: &Grounds) -> Result<Result<Turn, NoHop>, StoreError> {
        let site = Site::of(grounds.url()).map_err(|e| StoreError::Request(e.to_string()))?;
        let policy = &self.settings.policy;
        let known = self.store.site(&site).await?.map(|state| state.pace);
        let known = self.since_opening(known.unwrap_or_default());
        let usual = policy.interval.max(policy.crawl_delay_cap);
        let patience = usual.saturating_add(policy.robots.hop_patience);
        let patience_ends = self.clock.now().after(patience);
        loop {
            let turn = self.gates.turn(&site, &known).await;
            let Some(hold) = turn.ready_at(policy).filter(|hold| hold.until > self.clock.now())
            else {
                return Ok(Ok(turn));
            };
            drop(turn);
            if hold.until > patience_ends {
                return Ok(Err(match hold.cause {
                    WaitCause::Backoff | WaitCause::RetryAfter => NoHop::Failing(hold),
                    WaitCause::Interval
                    | WaitCause::CrawlDelay
                    | WaitCause::SlowStart
                    | WaitCause::Slowdown
                    | WaitCause::Latency
                    | WaitCause::RobotsUnreachable => NoHop::NotNow(BrokenOff(hold.until)),
                }));
            }
            tokio::select! {
                () = self.clock.sleep_until(hold.until) => {}
                () = self.stop.cancelled() => {
                    return Ok(Err(NoHop::NotNow(BrokenOff(hold.until))));
                }
            }
        }
    }
}

/// A reply in the words of compliance.
fn with_response<R>(reply: &Reply, now: Timestamp, judge: impl FnOnce(RobotsReply<'_>) -> R) -> R {
    let cache_control = header_text(&reply.headers, "cache-control");
    let location = location(&reply.headers);
    let age = header_text(&reply.headers, "age");
    let body = match reply.completeness {
        Completeness::Whole | Completeness::Truncated => Body::Read(&reply.body),
        Completeness::Partial(_) => Body::Broken(&reply.body),
    };
    judge(RobotsReply::Response(RobotsResponse {
        status: reply.status.as_u16(),
        location: location.as_deref(),
        cache_control: cache_control.as_deref().unwrap_or_default(),
        age: age.as_deref(),
        retry_after: retry_after(&reply.headers, now),
        body,
    }))
}

fn without_response(error: &FetchError) -> RobotsReply<'static> {
    if matches!(error.kind, FetchErrorKind::Stale | FetchErrorKind::Misdirected) {
        return RobotsReply::Unheard;
    }
    RobotsReply::Failed(error.in_words())
}

/// Fetches a robots.txt outside a crawl, as `comity robots URL` does: the same errand and the
/// same law, each hop after the interval of the one before.
///
/// # Errors
/// Never by the network: that is an outcome.
pub async fn fetch_once<T: Transport>(
    transport: &T,
    clock: crate::clock::Clock,
    policy: &comity_compliance::Policy,
    terms: &Terms,
    origin: &Origin,
) -> RobotsOutcome {
    let (mut errand, mut grounds) = RobotsErrand::start(origin, clock.now());
    loop {
        let fetched = transport.fetch(grounds, terms.clone()).await;
        let now = clock.now();
        let step = match &fetched {
            Ok(reply) => with_response(reply, now, |reply| errand.reply(reply, policy, now)),
            Err(error) => errand.reply(without_response(error), policy, now),
        };
        (errand, grounds) = match step {
            Step::Done(outcome) => return outcome,
            Step::Fetch(errand, grounds) => (errand, grounds),
        };
        clock.sleep_until(now.after(policy.interval)).await;
    }
}
