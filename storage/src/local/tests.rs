//! What the contract cannot see: counters against a scan, reopening, broken engines.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::contract::{NOW, fetched, link, noted, report, url, visit};
use crate::engine::{Batch, EachRow, EngineError};
use crate::key::PageKey;
use crate::open::{Durability, EngineKind, open};
use crate::page::{Next, Outcome, Review, Visit};
use crate::record::{FromRow, Origins, PageRow, encode};
use crate::store::Payload;
use crate::tally::Tally;

const DISK: [EngineKind; 2] = [EngineKind::Sled, EngineKind::Redb];
const TTL: Duration = Duration::from_secs(60);

fn options() -> OpenOptions {
    OpenOptions { window: Duration::from_millis(2), cache_bytes: 16 << 20, ..Default::default() }
}

fn opened(dir: &Path, kind: EngineKind) -> LocalStore<Box<dyn Engine>> {
    open(dir, kind, Durability::Process, NOW, options()).unwrap()
}

/// A store in a directory that goes with it.
struct Kept<S> {
    store: S,
    _dir: tempfile::TempDir,
}

#[tokio::test]
async fn contract_memory() {
    crate::contract::all(async || LocalStore::memory(NOW)).await;
    crate::contract::all(async || {
        open(Path::new(""), EngineKind::Memory, Durability::Power, NOW, options()).unwrap()
    })
    .await;
}

async fn contract_on_disk(kind: EngineKind, durability: Durability, work: Work) {
    let root = tempfile::tempdir().unwrap();
    let number = std::sync::atomic::AtomicU32::new(0);
    crate::contract::all(async || {
        let dir = root.path().join(number.fetch_add(1, Ordering::Relaxed).to_string());
        open(&dir, kind, durability, NOW, OpenOptions { work, ..options() }).unwrap()
    })
    .await;
}

#[tokio::test]
async fn contract_sled() {
    contract_on_disk(EngineKind::Sled, Durability::Process, Work::Threads).await;
}

#[tokio::test]
async fn contract_sled_power() {
    contract_on_disk(EngineKind::Sled, Durability::Power, Work::Caller).await;
}

#[tokio::test]
async fn contract_redb() {
    contract_on_disk(EngineKind::Redb, Durability::Power, Work::Threads).await;
}

/// A crawl of a little web, with every outcome.
async fn crawl(store: &impl Store, rounds: u64) {
    let seeds = (0..8).map(|n| link(&format!("https://s{n}.example/")));
    store.push(seeds.collect()).await.unwrap();
    for round in 0..rounds {
        let now = NOW.after(Duration::from_secs(round));
        for lease in store.lease(now, 6, 3, TTL).await.unwrap() {
            let visits = lease.urls.iter().enumerate().map(|(n, page)| {
                let kind = (round + n as u64) % 5;
                let at = |path: &str| page.url.join(path).unwrap().to_string();
                let outcome = match kind {
                    0 => Outcome::Refused { code: "robots-disallow".into(), evidence: None },
                    1 => Outcome::Failed { code: "timeout".into(), detail: String::new() },
                    2 => Outcome::Redirected { status: 301, to: url(&at("moved")) },
                    3 => Outcome::Noted { reason: "budget".into() },
                    _ => fetched(),
                };
                Visit {
                    found: vec![
                        link(&at(&format!("{round}/{n}"))),
                        link(&format!("https://s{}.example/{n}", round % 11)),
                        noted(&at(&format!("noted{}", round % 7))),
                    ],
                    next: if kind == 1 { Next::Retry(now.after(TTL)) } else { Next::Never },
                    sink: (kind == 4).then(|| page.url.to_string().into_bytes()),
                    stood_back: Vec::new(),
                    index_review: if kind == 4 { Review::At(now) } else { Review::Unchanged },
                    ..visit(page.url.as_str(), outcome)
                }
            });
            let done = report(&lease, visits.collect());
            store.commit(done, now).await.unwrap();
        }
    }
}

/// Counts all pages by looking at them.
fn scanned<E: Engine>(engine: &E) -> Tally {
    let mut tally = Tally::default();
    let everything = |key: &[u8], value: &[u8]| {
        match key[0] {
            key::PAGE => tally.add(&decode::<PageRow>(value, "page").unwrap()),
            key::SITE => tally.sites += 1,
            key::OUTBOX => tally.outbox_pending += 1,
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let mut everything = everything;
    engine.scan(&[], &[], usize::MAX, &mut everything).unwrap();
    tally
}

fn rows<E: Engine>(engine: &E, kind: u8) -> usize {
    let mut rows = 0;
    let mut count = |_: &[u8], _: &[u8]| {
        rows += 1;
        ControlFlow::Continue(())
    };
    engine.scan(&[kind], &[kind], usize::MAX, &mut count).unwrap();
    rows
}

#[tokio::test]
async fn counters_equal_a_scan() {
    let store = LocalStore::memory(NOW);
    crawl(&store, 60).await;
    let done = store.outbox(0, 3).await.unwrap()[2].seq;
    store.outbox_done(done).await.unwrap();
    let engine = store.shared.engine().unwrap();
    let state: StateRow = decode(&engine.read(key::META_STATE).unwrap().unwrap(), "").unwrap();
    assert_eq!(state.tally, scanned(&*engine));
    assert!(state.tally.known > 100 && state.tally.noted.len() > 1 && state.tally.fetched > 5);
    assert_eq!(state.tally.queued as usize, rows(&*engine, key::QUEUE));
    let stats = store.stats();
    assert_eq!((stats.known, stats.queued), (state.tally.known, state.tally.queued));
    assert_eq!((stats.failed, stats.noted), (state.tally.failed, state.tally.noted));
}

#[tokio::test]
async fn the_same_calls_give_the_same_store() {
    let dump = async || {
        let store = LocalStore::memory(NOW);
        crawl(&store, 30).await;
        let copy = MemoryEngine::default();
        crate::copy(&*store.shared.engine().unwrap(), &copy).unwrap();
        let mut all = Vec::new();
        copy.scan(&[], &[], usize::MAX, &mut |key, value| {
            all.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        all
    };
    assert!(dump().await == dump().await);
}

#[tokio::test]
async fn reopening_keeps_everything() {
    for kind in DISK {
        let dir = tempfile::tempdir().unwrap();
        let store = opened(dir.path(), kind);
        assert_eq!(store.opening(), Opening::Created);
        crawl(&store, 12).await;
        store.put_meta("seeds", b"s".to_vec()).await.unwrap();
        let before = store.stats();
        let outbox = store.outbox(0, 99).await.unwrap();
        let token = store.lease(NOW, 1, 1, TTL).await.unwrap()[0].token.clone();
        store.close().await.unwrap();

        for expect in [Opening::Clean, Opening::Recovered, Opening::Recovered] {
            let store = open(dir.path(), kind, Durability::Process, NOW.after(TTL), options());
            let store = store.unwrap();
            assert_eq!(store.opening(), expect, "{kind}");
            let after = store.stats();
            assert_eq!(
                (before.known, before.queued, &before.failed, &before.noted, before.sites),
                (after.known, after.queued, &after.failed, &after.noted, after.sites),
            );
            assert_eq!(store.outbox(0, 99).await.unwrap(), outbox);
            assert!(outbox.iter().all(|entry| matches!(entry.payload, Payload::Bytes(_))));
            assert_eq!(store.meta("seeds").await.unwrap().unwrap(), b"s");
            let fates = store.push(vec![link("https://s0.example/")]).await.unwrap();
            assert_eq!(fates, [Fate::Known]);
            let leases = store.lease(NOW.after(TTL), 99, 99, TTL).await.unwrap();
            assert!(!leases.is_empty());
            assert!(leases.iter().all(|lease| lease.token.fence > token.fence));
            // Dropped without close: a crash, as far as the next opening can tell.
        }
    }
}

#[tokio::test]
async fn pace_survives_a_crash() {
    for kind in DISK {
        let dir = tempfile::tempdir().unwrap();
        let store = opened(dir.path(), kind);
        store.push(["https://a.example/", "https://b.example/"].map(link).to_vec()).await.unwrap();
        let lease = store.lease(NOW, 1, 1, TTL).await.unwrap().remove(0);
        let mut done = report(&lease, vec![]);
        done.next_at = NOW.after(TTL * 3);
        store.commit(done.clone(), NOW).await.unwrap();
        drop(store);

        let now = NOW.after(TTL);
        let store = open(dir.path(), kind, Durability::Process, now, options()).unwrap();
        assert_eq!(store.lease(now, 9, 9, TTL).await.unwrap().len(), 1, "the other site");
        let lease = store.lease(done.next_at, 9, 9, TTL).await.unwrap();
        assert!(lease.iter().any(|other| other.token.site == done.token.site));
    }
}

/// From sled to redb and back: the same crawl goes on.
#[tokio::test]
async fn a_copy_is_the_same_store() {
    let root = tempfile::tempdir().unwrap();
    let dir = |name: &str| root.path().join(name);
    let store = opened(&dir("one"), EngineKind::Sled);
    crawl(&store, 12).await;
    let before = store.stats();
    let outbox = store.outbox(0, 99).await.unwrap();
    assert!(before.outbox_pending > 0);
    store.close().await.unwrap();
    let copy = |from, to, kind| crate::copy_store(&dir(from), &dir(to), kind, NOW, &options());
    let rows = copy("one", "two", EngineKind::Redb).unwrap();
    assert_eq!(copy("two", "three", EngineKind::Sled).unwrap(), rows);
    for (name, kind) in
        [("one", EngineKind::Sled), ("two", EngineKind::Redb), ("three", EngineKind::Sled)]
    {
        let store = opened(&dir(name), kind);
        assert_eq!(store.opening(), Opening::Clean, "{name}");
        let after = store.stats();
        assert_eq!(
            (after.known, after.queued, after.noted),
            (before.known, before.queued, before.noted.clone())
        );
        assert_eq!(store.outbox(0, 99).await.unwrap(), outbox);
        assert_eq!(store.push(vec![link("https://s0.example/")]).await.unwrap(), [Fate::Known]);
    }
    let error = copy("one", "two", EngineKind::Redb).unwrap_err().to_string();
    assert!(error.contains("there is a store already"), "{error}");
    let error = copy("none", "four", EngineKind::Redb).unwrap_err().to_string();
    assert!(error.contains("there is no store in"), "{error}");
}

/// A noted page that was visited after all is no longer noted.
#[tokio::test]
async fn a_visit_ends_a_note() {
    let store = LocalStore::memory(NOW);
    let pages = vec![link("https://a.example/"), noted("https://a.example/noted")];
    store.push(pages).await.unwrap();
    let lease = store.lease(NOW, 1, 1, TTL).await.unwrap().remove(0);
    let visits = ["https://a.example/", "https://a.example/noted", "https://a.example/unknown"];
    let visits = visits.map(|page| visit(page, fetched())).to_vec();
    store.commit(report(&lease, visits), NOW).await.unwrap();
    let stats = store.stats();
    assert_eq!((stats.known, stats.fetched, stats.noted.len(), stats.queued), (3, 3, 0, 0));
    let again = vec![link("https://a.example/noted")];
    assert_eq!(store.push(again).await.unwrap(), [Fate::Known]);
}

/// Two URLs with one hash are two pages.
#[tokio::test]
async fn colliding_hashes() {
    let engine = MemoryEngine::default();
    let page = PageKey::of(&url("https://a.example/wanted")).unwrap();
    let origins = Origins {
        depth: 0,
        hops: 0,
        role: crate::Role::Page,
        via: crate::Via::Link,
        from: FromRow::Nothing,
        anchor: None,
        at: NOW,
    };
    let other = PageRow::new(&url("https://a.example/other"), origins);
    let mut batch = Batch::default();
    batch.put(page.bytes(), encode(&other).unwrap());
    engine.apply(batch).unwrap();
    let store = LocalStore::over(engine, NOW).unwrap();
    let wanted = link("https://a.example/wanted");
    assert_eq!(store.page(&wanted.url).await.unwrap(), None);
    assert_eq!(store.push(vec![wanted.clone()]).await.unwrap(), [Fate::New]);
    assert_eq!(store.push(vec![wanted.clone()]).await.unwrap(), [Fate::Known]);
    let lease = store.lease(NOW, 1, 9, TTL).await.unwrap().remove(0);
    assert_eq!(lease.urls[0].url, wanted.url);
    let found = store.page(&wanted.url).await.unwrap().unwrap();
    assert_eq!(found.url, wanted.url);
    let first = store.shared.engine().unwrap().read(&page.bytes()).unwrap().unwrap();
    assert_eq!(PageRow::url_of(&first), Some("https://a.example/other"), "it stays");
}

/// An engine that can be told to fail, as on a full disk, and that knows its largest batch.
#[derive(Default)]
struct Failing {
    inner: MemoryEngine,
    full: Arc<AtomicBool>,
    largest: Arc<AtomicUsize>,
}

impl Engine for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        self.inner.read(key)
    }
    fn scan(
        &self,
        from: &[u8],
        prefix: &[u8],
        limit: usize,
        each: &mut EachRow<'_>,
    ) -> Result<(), EngineError> {
        self.inner.scan(from, prefix, limit, each)
    }
    fn apply(&self, batch: Batch) -> Result<(), EngineError> {
        if self.full.load(Ordering::Relaxed) {
            return Err(EngineError::new("failing", "write", "no space left on device"));
        }
        self.largest.fetch_max(batch.len(), Ordering::Relaxed);
        self.inner.apply(batch)
    }
    fn barrier(&self) -> Result<(), EngineError> {
        self.inner.barrier()
    }
    fn bytes_on_disk(&self) -> u64 {
        0
    }
    fn memory_estimate(&self, _known: u64) -> u64 {
        0
    }
}

#[tokio::test]
async fn a_full_disk_stops_the_crawl() {
    let full = Arc::new(AtomicBool::new(false));
    let engine = Failing { full: Arc::clone(&full), ..Failing::default() };
    let store = LocalStore::over(engine, NOW).unwrap();
    store.push(vec![link("https://a.example/")]).await.unwrap();
    let lease = store.lease(NOW, 1, 1, TTL).await.unwrap().remove(0);
    full.store(true, Ordering::Relaxed);
    let done = report(&lease, vec![visit("https://a.example/", fetched())]);
    let error = store.commit(done.clone(), NOW).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "nothing was stored, and nothing more will be until the store is opened again: \
         failing could not write: no space left on device"
    );
    full.store(false, Ordering::Relaxed);
    let again = store.commit(done, NOW).await.unwrap_err().to_string();
    assert_eq!(again, error, "also when there is room again: what the engine did is not known");
    assert_eq!(store.stats().fetched, 0);
    assert_eq!(store.page(&url("https://a.example/")).await.unwrap().unwrap().fetches, 0);
    assert_eq!(store.close().await.unwrap_err().to_string(), error, "and the stop is not clean");
}

/// HO-015: an engine holds a batch in memory, so none is large, whatever a page or a list holds.
#[tokio::test]
async fn batches_are_bounded() {
    let largest = Arc::new(AtomicUsize::new(0));
    let engine = Failing { largest: Arc::clone(&largest), ..Failing::default() };
    let store = LocalStore::over(engine, NOW).unwrap();
    let many = (0..5_000).map(|n| link(&format!("https://a.example/{n}"))).collect();
    let fates = store.push(many).await.unwrap();
    assert_eq!(fates, vec![Fate::New; 5_000]);
    // Jobs that wait for the writer together.
    let writes = (0..40).map(|k| {
        let some = (0..200).map(|n| link(&format!("https://b.example/{k}/{n}"))).collect();
        store.push(some)
    });
    for fates in futures_util::future::join_all(writes).await {
        assert_eq!(fates.unwrap(), vec![Fate::New; 200]);
    }
    assert_eq!(store.stats().known, 13_000);
    let (largest, most) = (largest.load(Ordering::Relaxed), super::writer::MAX_ROWS + 1_100);
    assert!(largest <= most, "{largest} rows at once");
}

/// A torn or missing spool frame is an entry that says so.
#[tokio::test]
async fn a_damaged_spool_loses_one_payload() {
    let dir = tempfile::tempdir().unwrap();
    let kept = Kept { store: opened(dir.path(), EngineKind::Redb), _dir: dir };
    kept.store
        .push(["https://a.example/1", "https://a.example/2"].map(link).to_vec())
        .await
        .unwrap();
    let lease = kept.store.lease(NOW, 1, 9, TTL).await.unwrap().remove(0);
    let visits = lease.urls.iter().map(|page| Visit {
        sink: Some(page.url.to_string().into_bytes()),
        stood_back: Vec::new(),
        ..visit(page.url.as_str(), fetched())
    });
    kept.store.commit(report(&lease, visits.collect()), NOW).await.unwrap();
    let file = kept._dir.path().join("spool/00000001");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.truncate(bytes.len() - 1);
    std::fs::write(&file, bytes).unwrap();
    let entries = kept.store.outbox(0, 9).await.unwrap();
    assert_eq!(entries[0].payload, Payload::Bytes(b"https://a.example/1".to_vec()));
    assert!(matches!(&entries[1].payload, Payload::Lost { why } if why.contains("ends before")));
    kept.store.outbox_done(entries[1].seq).await.unwrap();
    assert_eq!(kept.store.stats().outbox_pending, 0);
}
