//! How often, at the wire: a second lock that no mistake of the politeness law can open.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::ops::Add;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use comity_compliance::Site;
use governor::clock::{Clock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

/// Keys that have had no request for a while are forgotten once in so many passes.
const PASSES_BETWEEN_SWEEPS: u32 = 1024;
/// A longer period is counted as this one: governor panics from 584 years on, and the law of
/// politeness keeps the rest of it.
const LONGEST_PERIOD: Duration = Duration::from_secs(365 * 86_400);

/// The ceilings; `None` is no ceiling.
///
/// They have no defaults: whoever owns the policy says the numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CeilingNumbers {
    /// For one host name.
    pub per_site: Option<Quota>,
    /// For one IP address, whatever the names that live there.
    pub per_address: Option<Quota>,
    /// For all requests together.
    pub whole: Option<Quota>,
}

impl CeilingNumbers {
    /// A ceiling of one request in `period`, `burst` at once after a pause; `None`, which is no
    /// ceiling, for a period of zero.
    pub fn one_in(period: Duration, burst: NonZeroU32) -> Option<Quota> {
        Quota::with_period(period.min(LONGEST_PERIOD)).map(|quota| quota.allow_burst(burst))
    }
}

/// Lets requests pass no more often than the numbers say.
pub struct Ceilings {
    sites: Option<Limiter<Site>>,
    addresses: Option<Limiter<IpAddr>>,
    whole: Option<Limiter<()>>,
    passes: AtomicU32,
}

impl Ceilings {
    /// Fresh ceilings: nothing has been asked yet.
    pub fn new(numbers: CeilingNumbers) -> Self {
        Self {
            sites: numbers.per_site.map(Limiter::new),
            addresses: numbers.per_address.map(Limiter::new),
            whole: numbers.whole.map(Limiter::new),
            passes: AtomicU32::new(0),
        }
    }

    /// Waits until a request to `site` at `address` is under all three ceilings, and counts it.
    ///
    /// The whole crawl's comes last, so that a site that waits holds up no other.
    pub async fn pass(&self, site: &Site, address: IpAddr) {
        if let Some(sites) = &self.sites {
            sites.pass(site).await;
        }
        if let Some(addresses) = &self.addresses {
            addresses.pass(&address.to_canonical()).await;
        }
        if let Some(whole) = &self.whole {
            whole.pass(&()).await;
        }
        let passes = self.passes.fetch_add(1, Ordering::Relaxed);
        if passes % PASSES_BETWEEN_SWEEPS == PASSES_BETWEEN_SWEEPS - 1 {
            self.sweep();
        }
    }

    /// Forgets the keys that could pass at once: forgotten or not, they are answered the same.
    fn sweep(&self) {
        if let Some(sites) = &self.sites {
            sites.sweep();
        }
        if let Some(addresses) = &self.addresses {
            addresses.sweep();
        }
    }
}

struct Limiter<K: Hash + Eq + Clone> {
    rate: RateLimiter<K, DashMapStateStore<K>, WireClock, NoOpMiddleware<SinceStart>>,
    clock: WireClock,
}

impl<K: Hash + Eq + Clone> Limiter<K> {
    fn new(quota: Quota) -> Self {
        let clock = WireClock(Instant::now());
        Self { rate: RateLimiter::new(quota, DashMapStateStore::default(), clock), clock }
    }

    async fn pass(&self, key: &K) {
        while let Err(not_yet) = self.rate.check_key(key) {
            let wait = not_yet.wait_time_from(self.clock.now());
            tokio::time::sleep(wait).await;
        }
    }

    fn sweep(&self) {
        self.rate.retain_recent();
        self.rate.shrink_to_fit();
    }
}

/// Tokio's pausable clock, counted from a start.
#[derive(Clone, Copy, Debug)]
struct WireClock(Instant);

impl Clock for WireClock {
    type Instant = SinceStart;

    fn now(&self) -> SinceStart {
        SinceStart(self.0.elapsed())
    }
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct SinceStart(Duration);

impl Add<Nanos> for SinceStart {
    type Output = Self;

    fn add(self, more: Nanos) -> Self {
        Self(self.0.saturating_add(more.into()))
    }
}

impl Reference for SinceStart {
    fn duration_since(&self, earlier: Self) -> Nanos {
        self.0.saturating_sub(earlier.0).into()
    }

    fn saturating_sub(&self, duration: Nanos) -> Self {
        Self(self.0.checked_sub(duration.into()).unwrap_or(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(seconds: u64) -> Option<Quota> {
        CeilingNumbers::one_in(Duration::from_secs(seconds), NonZeroU32::MIN)
    }

    async fn time_of(ceilings: &Ceilings, requests: &[(&str, &str)]) -> Duration {
        let start = Instant::now();
        for (site, address) in requests {
            ceilings.pass(&Site::from_host(site), address.parse().unwrap()).await;
        }
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn each_ceiling_holds() {
        let none = CeilingNumbers::default();
        let site = CeilingNumbers { per_site: every(2), ..none };
        let address = CeilingNumbers { per_address: every(3), ..none };
        let whole = CeilingNumbers { whole: every(5), ..none };
        let same = [("a", "192.0.2.1"), ("a", "192.0.2.1"), ("a", "192.0.2.1")];
        let sites = [("a", "192.0.2.1"), ("b", "192.0.2.1"), ("c", "::ffff:192.0.2.1")];
        let others = [("a", "192.0.2.1"), ("b", "192.0.2.2"), ("c", "192.0.2.3")];
        for (numbers, requests, seconds) in [
            (none, &same, 0),
            (site, &same, 4),
            (site, &sites, 0),
            (address, &same, 6),
            (address, &sites, 6),
            (address, &others, 0),
            (whole, &others, 10),
        ] {
            let took = time_of(&Ceilings::new(numbers), requests).await;
            let expect = Duration::from_secs(seconds);
            assert!(took >= expect, "{took:?} < {expect:?}");
            assert!(took < expect + Duration::from_millis(20), "{took:?} > {expect:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_period_beyond_all_bounds_holds() {
        let per_site = CeilingNumbers::one_in(Duration::MAX, NonZeroU32::MIN);
        let ceilings = Ceilings::new(CeilingNumbers { per_site, ..Default::default() });
        let took = time_of(&ceilings, &[("a", "192.0.2.1"), ("a", "192.0.2.1")]).await;
        assert!(took >= LONGEST_PERIOD, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_forgotten() {
        let ceilings = Ceilings::new(CeilingNumbers { per_site: every(1), ..Default::default() });
        for n in 0..PASSES_BETWEEN_SWEEPS - 1 {
            ceilings.pass(&Site::from_host(&n.to_string()), [192, 0, 2, 1].into()).await;
        }
        tokio::time::advance(Duration::from_secs(5)).await;
        ceilings.pass(&Site::from_host("last"), [192, 0, 2, 1].into()).await;
        assert!(ceilings.sites.as_ref().unwrap().rate.len() <= 1);
    }
}
