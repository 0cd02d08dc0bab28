//! What a process does until it is killed, or the power is cut: it pushes and visits, and tells
//! what was acknowledged.

use std::io::Write as _;
use std::time::Duration;

use comity_compliance::{LastmodTrust, SitePace, Timestamp};
use comity_storage::{
    AfterReport, Fetched, Found, Next, OpenOptions, Outcome, Plan, Review, Role, SiteReport, Store,
    StoreError, Via, Visit,
};
use url::Url;

/// How often the URL is repeated in a visit's payload.
pub(crate) const PAYLOAD: &str = "COMITY_CRASH_PAYLOAD";

/// Sites that are visited: `s0.example` and on.
pub(crate) const SITES: usize = 5;

const TTL: Duration = Duration::from_secs(600);

/// When a run of the process takes place.
pub(crate) fn time_of(run: u32) -> Timestamp {
    Timestamp::from_secs(1_800_000_000 + i64::from(run) * 3_600)
}

/// Small sizes and short waits.
pub(crate) fn options() -> OpenOptions {
    OpenOptions { window: Duration::from_millis(2), cache_bytes: 16 << 20, ..Default::default() }
}

/// A page to be fetched.
pub(crate) fn link(text: &str, at: Timestamp) -> Found {
    let plan = Plan::Queue { due: None, priority: 0, why: None };
    let url = Url::parse(text).unwrap();
    Found {
        url,
        depth: 0,
        hops: 0,
        role: Role::Page,
        via: Via::Link,
        from: None,
        anchor: None,
        at,
        plan,
    }
}

/// One line in one write, and not through the test harness.
pub(crate) fn tell(kind: char, url: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{kind} {url}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// What the child does until it is killed: pushes, visits, and tells what was acknowledged.
pub(crate) async fn work(store: &impl Store, run: u32, task: u32) -> Result<(), StoreError> {
    let now = time_of(run);
    let payload = std::env::var(PAYLOAD).map_or(50, |times| times.parse().unwrap());
    for step in 0..100_000 {
        let urls: Vec<_> =
            (0..SITES).map(|n| format!("https://s{n}.example/{run}/{task}/{step}")).collect();
        store.push(urls.iter().map(|url| link(url, now)).collect()).await?;
        urls.iter().for_each(|url| tell('P', url));
        for lease in store.lease(now, 1, 3, TTL).await? {
            let visits = lease.urls.iter().map(|page| Visit {
                url: page.url.clone(),
                at: now,
                outcome: Outcome::Fetched(Fetched { status: 200, ..Fetched::default() }),
                next: Next::Never,
                priority: 0,
                found: vec![link(&format!("{}/found", page.url), now)],
                sink: Some(page.url.as_str().as_bytes().repeat(payload)),
                stood_back: Vec::new(),
                index_review: Review::Unchanged,
            });
            let report = SiteReport {
                token: lease.token.clone(),
                visits: visits.collect(),
                put_off: Vec::new(),
                pace: SitePace::default(),
                trust: LastmodTrust::default(),
                next_at: Timestamp::EPOCH,
                then: AfterReport::Release,
            };
            store.commit(report, now).await?;
            for page in &lease.urls {
                tell('V', page.url.as_str());
                tell('P', &format!("{}/found", page.url));
            }
        }
    }
    Ok(())
}
