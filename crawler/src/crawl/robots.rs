//! robots.txt at work: the records that are in use, and the errands that fetch them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_compliance::robots::{
    Body, RobotsErrand, RobotsOutcome, RobotsRecord, RobotsReply, RobotsResponse, Step,
};
use comity_compliance::{Grounds, Origin, Site, SitePace, Timestamp};
use comity_storage::{Store, StoreError};

use super::Context;
use super::gates::Turn;
use crate::net::{Completeness, FetchError, FetchErrorKind, Reply, Terms, Transport};

use super::reply::{header_text, retry_after};

/// Records that were asked for lately; the others rest in the store.
#[derive(Debug, Default)]
pub(super) struct RobotsBook {
    records: Mutex<HashMap<Origin, Arc<RobotsRecord>>>,
}

/// Records that are kept in memory. One of 20 KB takes about 80 KB here.
const KEPT: usize = 2048;

impl RobotsBook {
    /// What is known of an origin's robots.txt.
    pub(super) async fn record<S: Store>(
        &self,
        store: &S,
        origin: &Origin,
    ) -> Result<Arc<RobotsRecord>, StoreError> {
        if let Some(known) = self.locked().get(origin) {
            return Ok(Arc::clone(known));
        }
        let record = Arc::new(store.robots(origin).await?.unwrap_or_default());
        self.keep(origin, Arc::clone(&record));
        Ok(record)
    }

    /// Keeps a record; when full, forgets some other: the store has it.
    fn keep(&self, origin: &Origin, record: Arc<RobotsRecord>) {
        let mut records = self.locked();
        if records.len() >= KEPT {
            let some = records.keys().find(|known| *known != origin).cloned();
            some.and_then(|other| records.remove(&other));
        }
        records.insert(origin.clone(), record);
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<Origin, Arc<RobotsRecord>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A host of a robots.txt redirect that wants to be left alone for longer than this fails the errand.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

impl<S: Store, T: Transport> Context<S, T> {
    /// Fetches an origin's robots.txt and keeps what comes of it. `turn` is the turn at the
    /// origin's own site, which the verdict was made under.
    pub(super) async fn fetch_robots(
        &self,
        origin: &Origin,
        errand: RobotsErrand,
        grounds: Grounds,
        turn: Turn,
    ) -> Result<(), StoreError> {
        let known = self.robots.record(&self.store, origin).await?;
        let outcome = self.run_errand(errand, grounds, turn).await?;
        let now = self.clock.now();
        let record = RobotsRecord::clone(&known).after(outcome, &self.settings.policy, now);
        self.store.put_robots(origin, &record).await?;
        self.robots.keep(origin, Arc::new(record));
        Ok(())
    }

    async fn run_errand(
        &self,
        errand: RobotsErrand,
        grounds: Grounds,
        turn: Turn,
    ) -> Result<RobotsOutcome, StoreError> {
        let policy = &self.settings.policy;
        let (mut errand, mut grounds, mut turn) = (errand, grounds, turn);
        loop {
            self.reporter.count(|counts| counts.robots_requests += 1);
            let fetched = self.ask(grounds, self.robots_terms.clone(), &mut turn).await;
            // Let go before another site's turn is waited for: two errands could wait for each other.
            drop(turn);
            let now = self.clock.now();
            let step = match &fetched {
                Ok(reply) => with_response(reply, now, |reply| errand.reply(reply, policy, now)),
                Err(error) => errand.reply(without_response(error), policy, now),
            };
            (errand, grounds) = match step {
                Step::Done(outcome) => return Ok(outcome),
                Step::Fetch(errand, grounds) => (errand, grounds),
            };
            turn = match self.turn_for_hop(&grounds).await? {
                Some(turn) => turn,
                None => {
                    let cause = format!("{} asks to be left alone", grounds.url());
                    return Ok(RobotsOutcome::Unreachable { cause, retry_after: None });
                }
            };
        }
    }

    /// The turn at the site of a redirect's next hop, once its interval has passed; `None` if
    /// that would take too long.
    async fn turn_for_hop(&self, grounds: &Grounds) -> Result<Option<Turn>, StoreError> {
        let Ok(site) = Site::of(grounds.url()) else { return Ok(None) };
        let known = self.store.site(&site).await?.map(|state| state.pace);
        let known = self.since_opening(known.unwrap_or_default());
        let patience_ends = self.clock.now().after(LONGEST_WAIT);
        loop {
            let turn = self.gates.turn(&site, &known).await;
            let ready = ready_at(&turn, self);
            if ready <= self.clock.now() {
                return Ok(Some(turn));
            }
            drop(turn);
            if ready > patience_ends || self.stop.is_cancelled() {
                return Ok(None);
            }
            self.clock.sleep_until(ready).await;
        }
    }
}

/// When a site's pace permits the next request; its crawl-delay is not known here.
fn ready_at<S, T>(pace: &SitePace, context: &Context<S, T>) -> Timestamp {
    pace.ready_at(&context.settings.policy, None).map_or(Timestamp::EPOCH, |hold| hold.until)
}

/// A reply in the words of compliance.
fn with_response<R>(reply: &Reply, now: Timestamp, judge: impl FnOnce(RobotsReply<'_>) -> R) -> R {
    let cache_control = header_text(&reply.headers, "cache-control");
    let location = header_text(&reply.headers, "location");
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
    match error.kind {
        FetchErrorKind::Stale => RobotsReply::Unheard,
        _ => RobotsReply::Failed(error.in_words()),
    }
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
