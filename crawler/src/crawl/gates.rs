//! One request at a time to each site, whoever makes it.
//!
//! A site's worker holds the site's lease, but a robots.txt of another site may redirect here too.
//! Both pass the same gate, and both leave their mark on the same [`SitePace`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use comity_compliance::{Policy, Site, SitePace, Timestamp};
use tokio::sync::{Mutex as Turnstile, OwnedMutexGuard};

/// The gates of the sites that were asked lately.
#[derive(Debug, Default)]
pub(super) struct Gates {
    gates: Mutex<HashMap<Site, Arc<Turnstile<SitePace>>>>,
}

/// The one request that may be under way to a site, with the site's pace.
pub(super) type Turn = OwnedMutexGuard<SitePace>;

/// Gates that are kept before idle ones are looked for.
const KEPT: usize = 4096;

impl Gates {
    /// Waits for the turn at a site. `known` is what the store knows of its pace.
    pub(super) async fn turn(&self, site: &Site, known: &SitePace) -> Turn {
        let gate = self.gate(site);
        let mut turn = gate.lock_owned().await;
        if known.last_request > turn.last_request {
            turn.clone_from(known);
        }
        turn
    }

    /// The paces of sites that were asked lately, at most `max`; not of those being asked.
    pub(super) fn paces(&self, max: usize) -> Vec<(Site, SitePace)> {
        let gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = gates.iter().take(max).filter_map(|(site, gate)| {
            let pace = gate.try_lock().ok()?;
            Some((site.clone(), pace.clone()))
        });
        idle.collect()
    }

    fn gate(&self, site: &Site) -> Arc<Turnstile<SitePace>> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(site.clone()).or_default())
    }

    /// Forgets sites that may be asked at once: nothing about them needs remembering here.
    pub(super) fn forget_idle(&self, policy: &Policy, now: Timestamp) {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        if gates.len() < KEPT {
            return;
        }
        gates.retain(|_, gate| {
            let in_use = Arc::strong_count(gate) > 1;
            let waits =
                |pace: &SitePace| pace.ready_at(policy).is_some_and(|hold| hold.until > now);
            in_use || gate.try_lock().map_or(true, |pace| waits(&pace))
        });
    }
}
