//! The one loop of a crawl: it lends due sites to workers until nothing is due, or it is told to stop.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use comity_compliance::Timestamp;
use comity_storage::{Found, Outcome, Plan, Role, Store, Via};
use tokio::task::JoinSet;

use super::sinks::Feeder;
use super::{Context, CrawlError, End, site, sitemaps};
use crate::net::Transport;

/// URLs that a worker takes along: several, as what a rule forbids takes no time.
const URLS_PER_LEASE: usize = 8;
/// The same where a site may be asked almost without a pause.
const URLS_PER_FAST_LEASE: usize = 64;
/// A pause between requests that is almost none.
const FAST: Duration = Duration::from_millis(100);
/// The index, the audit log and the gates are looked after this often.
const HOUSEKEEPING: Duration = Duration::from_millis(500);
/// A crawl that is told to stop waits this long for requests under way.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// Sites are not lent while the index is this many pages behind.
const OUTBOX_FULL: u64 = 4096;

impl<S: Store, T: Transport> Context<S, T> {
    /// A seed that was refused or given up is judged anew: the operator names it again.
    pub(super) async fn push_seeds(&self) -> Result<(), CrawlError> {
        let at = self.clock.now();
        let mut seeds = Vec::new();
        for url in &self.settings.seeds {
            let page = self.store.page(url).await?;
            let given_up = page.is_some_and(|page| {
                matches!(page.last, Some((_, Outcome::Refused { .. } | Outcome::Failed { .. })))
            });
            let plan = if given_up {
                Plan::Again { priority: 0 }
            } else {
                Plan::Queue { due: None, priority: 0, why: None }
            };
            let (url, via, from) = (url.clone(), Via::Seed, None);
            seeds.push(Found {
                url,
                depth: 0,
                hops: 0,
                role: Role::Page,
                via,
                from,
                anchor: None,
                at,
                plan,
            });
        }
        let sitemaps = self.settings.sitemaps.iter().cloned();
        seeds.extend(sitemaps.map(|url| sitemaps::sitemap_to_read(url, None, at)));
        self.store.push(seeds).await?;
        Ok(())
    }

    /// The one loop. While anybody is at work, it wakes to keep house.
    pub(super) async fn drive(
        self: &Arc<Self>,
        workers: &mut JoinSet<Result<(), CrawlError>>,
        feeder: Option<&Feeder>,
    ) -> Result<End, CrawlError> {
        loop {
            self.flush_audit();
            self.gates.forget_idle(&self.settings.policy, self.clock.now());
            // A feeder that ended by itself has failed; its error is told at the end.
            if self.stop.is_cancelled() || feeder.is_some_and(Feeder::has_failed) {
                return Ok(End::Stopped);
            }
            self.start_workers(workers, feeder).await?;
            self.active.store(workers.len(), Ordering::Relaxed);
            if workers.is_empty()
                && let Some(end) = self.end()
            {
                return Ok(end);
            }
            let wake_at = self.wake_at(workers.is_empty());
            tokio::select! {
                Some(ended) = workers.join_next() => ended_well(ended)?,
                () = self.stop.cancelled() => {}
                () = feeder_ended(feeder) => {}
                () = self.committed.notified() => {}
                () = self.clock.sleep_until(wake_at) => {}
            }
            while let Some(ended) = workers.try_join_next() {
                ended_well(ended)?;
            }
        }
    }

    /// Lends due sites to new workers, as many as may be at work at once.
    async fn start_workers(
        self: &Arc<Self>,
        workers: &mut JoinSet<Result<(), CrawlError>>,
        feeder: Option<&Feeder>,
    ) -> Result<(), CrawlError> {
        let free = self.settings.sites_at_once.saturating_sub(workers.len());
        let behind = feeder.is_some() && self.store.stats().outbox_pending > OUTBOX_FULL;
        if free == 0 || behind || self.budget.is_spent() {
            return Ok(());
        }
        let now = self.clock.now();
        let fast = self.settings.policy.interval < FAST;
        let urls = if fast { URLS_PER_FAST_LEASE } else { URLS_PER_LEASE };
        for lease in self.store.lease(now, free, urls, self.lease()).await? {
            workers.spawn(site::work(Arc::clone(self), lease));
        }
        Ok(())
    }

    /// Waits for the requests under way, within bounds; whether all came to their end, and the first
    /// failure. What is cut off was not acknowledged, so it is fetched again.
    pub(super) async fn wind_down(
        &self,
        mut workers: JoinSet<Result<(), CrawlError>>,
    ) -> (bool, Result<(), CrawlError>) {
        self.stop.cancel();
        let mut first = Ok(());
        let all = async {
            while let Some(ended) = workers.join_next().await {
                match (ended_well(ended), &first) {
                    (Err(error), Err(_)) => {
                        tracing::error!(%error, "a worker failed while the crawl was ending");
                    }
                    (Err(error), Ok(())) => first = Err(error),
                    (Ok(()), _) => {}
                }
            }
        };
        let all_ended = tokio::time::timeout(STOP_WITHIN, all).await.is_ok();
        if !all_ended {
            tracing::warn!("requests were still under way; their pages are fetched again");
        }
        workers.shutdown().await;
        (all_ended, first)
    }
}

impl<S: Store, T> Context<S, T> {
    /// Why the crawl ends now that nobody is at work, if it does.
    fn end(&self) -> Option<End> {
        let now = self.clock.now();
        match self.store.next_ready() {
            None => Some(End::Done),
            Some(_) if self.budget.is_spent() => Some(End::PageLimit),
            // Pages that were had, and are looked at again some day, are nothing to wait for.
            Some(at) if at > now.after(self.settings.patience) => {
                Some(if self.store.stats().queued == 0 { End::Done } else { End::Waits(at) })
            }
            Some(_) => None,
        }
    }

    /// With nobody at work there is no house to keep: a crawl that waits for days sleeps for days.
    fn wake_at(&self, idle: bool) -> Timestamp {
        let now = self.clock.now();
        let soon = now.after(HOUSEKEEPING);
        match self.store.next_ready() {
            Some(at) if at > now && idle => at,
            Some(at) if at > now => at.min(soon),
            Some(_) | None => soon,
        }
    }
}

/// Waits until the feeder has ended, which it does by itself only when it fails.
async fn feeder_ended(feeder: Option<&Feeder>) {
    match feeder {
        Some(feeder) => feeder.ended().await,
        None => std::future::pending().await,
    }
}

fn ended_well(
    ended: Result<Result<(), CrawlError>, tokio::task::JoinError>,
) -> Result<(), CrawlError> {
    match ended {
        Ok(done) => done,
        Err(error) if error.is_cancelled() => Ok(()),
        Err(panic) => Err(CrawlError::Worker(panic.to_string())),
    }
}
