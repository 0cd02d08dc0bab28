//! What can be asked of a crawl while it runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Origin, Site, SitePace, Timestamp};
use comity_storage::{Stats, Store};

use super::{Context, Progress};

/// A view of a running crawl.
pub struct Watch<S, T> {
    context: Arc<Context<S, T>>,
}

impl<S, T> Watch<S, T> {
    pub(super) fn of(context: &Arc<Context<S, T>>) -> Self {
        Self { context: Arc::clone(context) }
    }
}

impl<S: Store, T> Watch<S, T> {
    /// How far it is.
    pub fn progress(&self, started: Timestamp) -> Progress {
        let now = self.context.clock.now();
        let stats = self.context.store.stats();
        let sites_active = self.context.active.load(Ordering::Relaxed);
        // While a site is lent, the store's next event may be that the loan runs out.
        let next_due = self.context.store.next_ready().filter(|_| sites_active == 0);
        Progress {
            counts: self.context.reporter.counts(),
            queued: stats.queued,
            known: stats.known,
            sites_active,
            next_due_ms: next_due.map(Timestamp::as_millis),
            seconds: now.since(started).as_secs_f64(),
        }
    }

    /// The paces of sites that were asked lately, at most `max`; not of those being asked now.
    pub fn paces(&self, max: usize) -> Vec<(Site, SitePace)> {
        self.context.gates.paces(max)
    }

    /// What is known of robots.txt files that were needed lately, at most `max`.
    pub fn robots_records(&self, max: usize) -> Vec<(Origin, Arc<RobotsRecord>)> {
        self.context.robots.at_hand(max)
    }

    /// What the store holds.
    pub fn stats(&self) -> Stats {
        self.context.store.stats()
    }
}
