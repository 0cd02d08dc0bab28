//! How a frontier bears a million URLs: pages a second, memory, disk, and the time to open it
//! after its process was killed.
//!
//! ```console
//! $ cargo bench -p comity-storage --bench frontier -- [URLS] [sled|redb]
//! ```
//!
//! The workload of the project's storage study: 50,000 sites, 25 links a page, four in five of
//! them known, seven in ten on the same site. A child process fills a new store and kills itself;
//! this process opens it again. Figures are for comparing on one machine in one sitting.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may fail")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use comity_compliance::Timestamp;
use comity_storage::{
    AfterReport, Durability, Engine, EngineKind, Fetched, Found, Lease, LocalStore, Next,
    OpenOptions, Outcome, Plan, Review, Role, SiteReport, Store as _, Via, Visit, open,
};
use url::Url;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SITES: u64 = 50_000;
const LINKS: usize = 25;
const FILL: &str = "COMITY_BENCH_FILL";
const NOW: Timestamp = Timestamp::from_secs(1_796_000_000);

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let urls = arguments.first().map_or(1_000_000, |urls| urls.parse().unwrap());
    let kind = match arguments.get(1).map(String::as_str) {
        Some("redb") => EngineKind::Redb,
        Some(_) | None => EngineKind::Sled,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let Ok(dir) = std::env::var(FILL) {
        runtime.block_on(fill(Path::new(&dir), kind, urls));
        // As `kill -9` would end it: nothing is closed.
        std::process::abort();
    }
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(&arguments).env(FILL, dir.path()).status().unwrap();
    runtime.block_on(reopen(dir.path(), kind));
}

fn opened(dir: &Path, kind: EngineKind, now: Timestamp) -> LocalStore<Box<dyn Engine>> {
    let options = OpenOptions { cache_bytes: 256 << 20, ..OpenOptions::default() };
    open(dir, kind, Durability::Process, now, options).unwrap()
}

/// Leases and commits until so many URLs are known.
async fn fill(dir: &Path, kind: EngineKind, urls: u64) {
    let store = opened(dir, kind, NOW);
    let mut web = Web { state: 1 };
    let seeds = (0..SITES).map(|site| web.found(site, 0)).collect();
    store.push(seeds).await.unwrap();
    let started = Instant::now();
    let mut pages = 0_u64;
    while store.stats().known < urls {
        let leases = store.lease(NOW, 256, 4, Duration::from_secs(600)).await.unwrap();
        let reports = leases.into_iter().map(|lease| {
            pages += lease.urls.len() as u64;
            store.commit(web.report(lease), NOW)
        });
        for receipt in futures_util::future::join_all(reports).await {
            receipt.unwrap();
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let stats = store.stats();
    #[expect(clippy::cast_precision_loss, reason = "shown without decimals")]
    let rate = pages as f64 / seconds;
    println!(
        "{kind}: {} URLs known, {pages} pages in {seconds:.1} s, {rate:.0} pages/s, {} MiB resident, {} MiB estimated, {} MiB on disk",
        stats.known,
        resident_mib(),
        stats.memory_estimate_bytes >> 20,
        disk_mib(dir),
    );
}

/// Opens what the killed process left, until a URL is lent.
async fn reopen(dir: &Path, kind: EngineKind) {
    let started = Instant::now();
    let store = opened(dir, kind, NOW.after(Duration::from_secs(3600)));
    let open_s = started.elapsed().as_secs_f64();
    let now = NOW.after(Duration::from_secs(3600));
    let lease = store.lease(now, 1, 1, Duration::from_secs(60)).await.unwrap();
    let lease_s = started.elapsed().as_secs_f64();
    assert_eq!(lease.len(), 1);
    println!(
        "{kind}: opened after the kill in {open_s:.2} s, first URL lent after {lease_s:.2} s, {} URLs known, {} MiB resident",
        store.stats().known,
        resident_mib()
    );
}

/// An endless web, the same in every run.
struct Web {
    state: u64,
}

impl Web {
    /// xorshift64: fast, and the same everywhere.
    fn chance(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % below
    }

    fn found(&mut self, site: u64, page: u64) -> Found {
        let url = format!("https://site{site}.example/a-path-of-the-usual-length/section/{page}");
        Found {
            url: Url::parse(&url).unwrap(),
            depth: 1,
            hops: 0,
            role: Role::Page,
            via: Via::Link,
            from: None,
            anchor: None,
            at: NOW,
            plan: Plan::Queue { due: None, priority: 1, why: None },
        }
    }

    /// Seven links in ten stay on the site, and four in five lead to a page that is known.
    fn link(&mut self, site: u64) -> Found {
        let site = if self.chance(10) < 7 { site } else { self.chance(SITES) };
        let page = if self.chance(5) < 4 { self.chance(20) } else { self.chance(1 << 40) };
        self.found(site, page)
    }

    fn report(&mut self, lease: Lease) -> SiteReport {
        let host = lease.token.site.as_str();
        let site = host.trim_start_matches("site").trim_end_matches(".example").parse().unwrap();
        let visits = lease.urls.into_iter().map(|page| Visit {
            url: page.url,
            at: NOW,
            outcome: Outcome::Fetched(Fetched { status: 200, bytes: 30_000, ..Fetched::default() }),
            next: Next::Never,
            priority: 0,
            found: (0..LINKS).map(|_| self.link(site)).collect(),
            sink: None,
            stood_back: Vec::new(),
            index_review: Review::Unchanged,
        });
        SiteReport {
            visits: visits.collect(),
            put_off: vec![],
            pace: lease.pace,
            trust: lease.trust,
            next_at: Timestamp::EPOCH,
            token: lease.token,
            then: AfterReport::Release,
        }
    }
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

fn disk_mib(dir: &Path) -> u64 {
    let mut bytes = 0;
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let about = entry.metadata().unwrap();
            if about.is_dir() {
                folders.push(entry.path());
            }
            bytes += about.len();
        }
    }
    bytes >> 20
}
