//! `kill -9` at a random moment, and a full disk: whatever a child process was told is stored is
//! there afterwards.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod work;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use comity_storage::{
    Durability, Engine, EngineKind, Fate, LocalStore, Opening, Payload, Store, open,
};
use url::Url;
use work::{PAYLOAD, link, options, tell, time_of, work};

const DIR: &str = "COMITY_CRASH_DIR";
const ENGINE: &str = "COMITY_CRASH_ENGINE";
const RUN: &str = "COMITY_CRASH_RUN";

const KILLS: u32 = 6;

/// Not a test of its own: the process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let (Ok(dir), Ok(engine), Ok(run)) =
        (std::env::var(DIR), std::env::var(ENGINE), std::env::var(RUN))
    else {
        return;
    };
    let run: u32 = run.parse().unwrap();
    let kind = *EngineKind::ALL.iter().find(|kind| kind.name() == engine).unwrap();
    let store = open(Path::new(&dir), kind, Durability::Process, time_of(run), options()).unwrap();
    let ends = tokio::join!(work(&store, run, 0), work(&store, run, 1), work(&store, run, 2));
    // Only a write that fails ends the work.
    for end in [ends.0, ends.1, ends.2] {
        tell('E', &end.unwrap_err().to_string());
    }
    tell('E', &store.close().await.unwrap_err().to_string());
    drop(store);
    tell('D', "dropped");
}

/// A child with its output in a pipe.
fn spawn(command: &mut Command, dir: &Path, kind: EngineKind, run: u32) -> Child {
    command
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .env(ENGINE, kind.name())
        .env(RUN, run.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a child, kills it after so many lines, and gives all that it told.
fn run_and_kill(dir: &Path, kind: EngineKind, run: u32) -> Vec<String> {
    let mut child = spawn(&mut Command::new(std::env::current_exe().unwrap()), dir, kind, run);
    let mut told = Vec::new();
    let wanted = 150 + 170 * run as usize;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // What was in the pipe when it died counts too: it had been acknowledged.
        told.extend(line.ok().filter(|line| line.starts_with(['P', 'V'])));
        if told.len() == wanted {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(told.len() >= wanted, "the child stopped by itself after {} lines", told.len());
    told
}

/// Opens a store after a crash and compares it with what was told.
async fn check(
    dir: &Path,
    kind: EngineKind,
    run: u32,
    told: &[String],
) -> LocalStore<Box<dyn Engine>> {
    let now = time_of(run).after(Duration::from_secs(1_800));
    let store = open(dir, kind, Durability::Process, now, options()).unwrap();
    assert_eq!(store.opening(), Opening::Recovered);
    let mut fetched = 0;
    for line in told {
        let url = Url::parse(&line[2..]).unwrap();
        let page = store.page(&url).await.unwrap();
        let page = page.unwrap_or_else(|| panic!("{kind}, run {run}: {url} is lost"));
        if line.starts_with('V') {
            fetched += 1;
            assert_eq!(page.fetches, 1, "{kind}, run {run}: the visit of {url} is lost");
            assert_eq!(page.due, None);
        } else if page.fetches == 0 {
            assert!(page.due.is_some(), "{url} is neither fetched nor queued");
        }
    }
    let stats = store.stats();
    assert!(stats.fetched >= fetched && stats.known == stats.fetched + stats.queued);
    assert_eq!(stats.outbox_pending, stats.fetched, "a payload with every visit");
    let entries = store.outbox(0, usize::MAX).await.unwrap();
    assert!(entries.iter().all(|entry| matches!(&entry.payload, Payload::Bytes(_))));
    store
}

async fn survives(kind: EngineKind) {
    let dir = tempfile::tempdir().unwrap();
    let mut told = Vec::new();
    for run in 0..KILLS {
        told.extend(run_and_kill(dir.path(), kind, run));
        let store = check(dir.path(), kind, run, &told).await;
        if run % 2 == 0 {
            store.close().await.unwrap();
        }
    }
}

/// A limit on the size of files stands for the full disk: a write past it fails as one would there.
#[cfg(unix)]
async fn stops_on_a_full_disk(kind: EngineKind, payload: u32, said: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg("trap '' XFSZ; ulimit -f 4096; exec \"$0\" \"$@\"");
    shell.arg(std::env::current_exe().unwrap()).env(PAYLOAD, payload.to_string());
    let mut child = spawn(&mut shell, dir.path(), kind, 0);
    let lines: Vec<_> =
        BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
    child.wait().unwrap();
    let of = |kind| lines.iter().filter(move |line| line.starts_with(kind)).cloned();
    let told: Vec<_> = of('P').chain(of('V')).collect();
    assert!(told.len() > 100, "{} lines", told.len());
    let errors: Vec<_> = of('E').collect();
    assert_eq!(errors.len(), 4, "each task and the close are told: {errors:?}");
    for error in &errors {
        assert!(error.starts_with("E nothing was stored, and nothing more will be"), "{error}");
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(of('D').count(), 1, "it ends by itself");
    let store = check(dir.path(), kind, 1, &told).await;
    let more = store.push(vec![link("https://more.example/", time_of(1))]).await.unwrap();
    assert_eq!(more, [Fate::New], "with room again the crawl goes on");
}

#[cfg(unix)]
#[tokio::test]
async fn sled_stops_on_a_full_disk() {
    stops_on_a_full_disk(EngineKind::Sled, 0, "sled could not").await;
    stops_on_a_full_disk(EngineKind::Sled, 500, "could not write to the spool").await;
}

#[cfg(unix)]
#[tokio::test]
async fn redb_stops_on_a_full_disk() {
    stops_on_a_full_disk(EngineKind::Redb, 0, "redb could not").await;
    stops_on_a_full_disk(EngineKind::Redb, 500, "could not write to the spool").await;
}

#[tokio::test]
async fn sled_survives_kills() {
    survives(EngineKind::Sled).await;
}

#[tokio::test]
async fn redb_survives_kills() {
    survives(EngineKind::Redb).await;
}
