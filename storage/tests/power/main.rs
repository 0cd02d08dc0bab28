//! Power cuts: at a random moment nothing more reaches the disk. What a child process was told is
//! stored is compared with what is there when the disk is mounted again.
//!
//! Needs root, loop devices and `mkfs.ext4`, so it runs on request only; docs/crash-contract.md
//! has the figures. `COMITY_POWER_CUTS` is the number of cuts of each kind, `COMITY_POWER_SEED`
//! repeats their moments:
//!
//! ```console
//! cargo test -p comity-storage --test power -- --ignored --nocapture --test-threads 1
//! ```

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "whoever runs it by hand reads the figures")]

mod chance;
mod check;
mod disk;
mod syncs;
#[path = "../work/mod.rs"]
mod work;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chance::Chance;
use check::{Found, Told, look};
use comity_storage::{Durability, EngineKind, open};
use disk::Disk;
use syncs::Syncs;
use work::{options, tell, time_of, work};

const DIR: &str = "COMITY_POWER_DIR";
const ENGINE: &str = "COMITY_POWER_ENGINE";
const DURABILITY: &str = "COMITY_POWER_DURABILITY";
const SYNCS: &str = "COMITY_POWER_SYNCS";
const RUN: &str = "COMITY_POWER_RUN";

/// Cuts of each kind, unless the environment says more.
const CUTS: u32 = 3;

/// Cuts that one store lives through.
const CUTS_OF_A_STORE: u32 = 8;

/// A store and what its process does.
#[derive(Clone, Copy, Debug)]
struct Kind {
    engine: EngineKind,
    durability: Durability,
    syncs: Syncs,
}

/// What came of the cuts.
#[derive(Debug, Default)]
struct Figures {
    cuts: u32,
    /// Pages and visits that the children were told are stored.
    acknowledged: usize,
    /// Cuts after which all of it was there.
    whole: u32,
    /// Cuts after which some was not.
    tail_lost: u32,
    /// The most pages, visits and payloads that one cut cost.
    most_lost: [usize; 3],
    /// Why a store was not opened, and how often.
    refused: BTreeMap<String, u32>,
    /// What the contract does not allow.
    broken: Vec<String>,
}

/// Not a test of its own: the process whose disk loses its power.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let variable = |name| std::env::var(name).ok();
    let (Some(dir), Some(run)) = (variable(DIR), variable(RUN)) else { return };
    let (engine, durability) = (variable(ENGINE).unwrap(), variable(DURABILITY).unwrap());
    let engine = *EngineKind::ALL.iter().find(|kind| kind.name() == engine).unwrap();
    let durability = *Durability::ALL.iter().find(|level| level.name() == durability).unwrap();
    let syncs = variable(SYNCS).unwrap();
    syncs::set(Syncs::ALL.into_iter().find(|kind| format!("{kind:?}") == syncs).unwrap());
    let run: u32 = run.parse().unwrap();
    let store = open(Path::new(&dir), engine, durability, time_of(run), options()).unwrap();
    tell('O', "opened");
    let _ = tokio::join!(work(&store, run, 0), work(&store, run, 1), work(&store, run, 2));
}

fn spawn(kind: Kind, dir: &Path, run: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .env(ENGINE, kind.engine.name())
        .env(DURABILITY, kind.durability.name())
        .env(SYNCS, format!("{:?}", kind.syncs))
        .env(RUN, run.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs a child and cuts the power: all that it told, and how the cut was made.
fn run_and_cut(kind: Kind, disk: &Disk, run: u32, chance: &mut Chance) -> (Vec<String>, String) {
    let mut child = spawn(kind, &disk.data(), run);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // The harness begins the line.
    assert!(lines.any(|line| line.ends_with("O opened")), "the child does not open the store");
    let told = Arc::new(Mutex::new(Vec::new()));
    let reader = std::thread::spawn({
        let told = Arc::clone(&told);
        move || lines.for_each(|line| told.lock().unwrap().push(line))
    });
    // 50 ms to 3.2 s, shorter times likelier.
    let most = 50 << (1 + chance.below(6));
    std::thread::sleep(Duration::from_millis(50 + chance.below(most)));
    // Half of the cuts find a process that stands still, half one that writes.
    let (stopped, scattered) = (chance.below(2) == 0, chance.below(2) == 0);
    if stopped {
        signal(&child, libc::SIGSTOP);
    }
    if scattered {
        disk.write_some(chance);
    }
    let before_the_cut = told.lock().unwrap().len();
    let journal = disk.cut(chance);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    let mut told = std::mem::take(&mut *told.lock().unwrap());
    if !stopped {
        // With the power the process would have ended. The system may still tell it that
        // something was synced that was under way at the cut.
        told.truncate(before_the_cut);
    }
    told.retain(|line| line.starts_with(['P', 'V']));
    (told, format!("run {run}, stopped: {stopped}, scattered: {scattered}, journal: {journal:?}"))
}

fn signal(child: &Child, signal: i32) {
    let pid = i32::try_from(child.id()).unwrap();
    #[expect(unsafe_code, reason = "std can only kill, not stop")]
    // SAFETY: a signal to a child of this process that has not been waited for.
    let sent = unsafe { libc::kill(pid, signal) };
    assert_eq!(sent, 0);
}

/// Cuts the power again and again.
async fn cut(kind: Kind) -> Figures {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let cuts = number("COMITY_POWER_CUTS").map_or(CUTS, |cuts| u32::try_from(cuts).unwrap());
    let seed = number("COMITY_POWER_SEED").unwrap_or_else(|| RandomState::new().hash_one(cuts));
    println!("{kind:?}: COMITY_POWER_CUTS={cuts} COMITY_POWER_SEED={seed}");
    let (mut chance, mut figures) = (Chance(seed), Figures::default());
    while figures.cuts < cuts {
        let most = CUTS_OF_A_STORE.min(cuts - figures.cuts);
        one_store(kind, most, &mut chance, &mut figures).await;
    }
    println!("{figures:#?}");
    figures
}

/// The life of one store.
async fn one_store(kind: Kind, most: u32, chance: &mut Chance, figures: &mut Figures) {
    let (mut disk, mut told) = (Disk::new(), Told::default());
    for run in 0..most {
        let (lines, how) = run_and_cut(kind, &disk, run, chance);
        figures.cuts += 1;
        figures.acknowledged += lines.len();
        told.add(&lines);
        disk.restart();
        match look(&disk.data(), kind, run, &mut told).await {
            Ok(Found::Whole) => figures.whole += 1,
            Ok(Found::TailLost(lost)) => {
                figures.tail_lost += 1;
                let most = figures.most_lost;
                figures.most_lost = std::array::from_fn(|part| most[part].max(lost[part]));
            }
            Ok(Found::Refused(why)) => {
                *figures.refused.entry(why).or_default() += 1;
                return;
            }
            Err(broken) => {
                figures.broken.push(format!("{broken} ({how})"));
                return;
            }
        }
    }
}

/// Whatever a new store consists of is synced before anything is acknowledged, names included.
#[tokio::test]
async fn a_new_store_is_synced_as_a_whole() {
    for engine in [EngineKind::Sled, EngineKind::Redb] {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let store = open(&data, engine, Durability::Power, time_of(0), options()).unwrap();
        // What it is found by, and what it is made of. A lock says nothing once its holder is dead.
        let mut parts = disk::files(&data);
        parts.retain(|path| !path.ends_with("comity.lock"));
        parts.extend([dir.path().into(), data.join(engine.name()), data]);
        assert!(parts.len() > 4, "{parts:?}");
        let unsynced: Vec<_> = parts.iter().filter(|path| !syncs::was_synced(path)).collect();
        assert!(unsynced.is_empty(), "{engine}: {unsynced:?}");
        drop(store);
    }
}

/// All of the contract is kept.
async fn keeps_the_contract(engine: EngineKind, durability: Durability, syncs: Syncs) -> Figures {
    let figures = cut(Kind { engine, durability, syncs }).await;
    assert_eq!(figures.broken, Vec::<String>::new());
    assert!(figures.acknowledged > 100, "too little was acknowledged to lose anything");
    figures
}

/// Nothing that was acknowledged is lost.
async fn loses_nothing(engine: EngineKind, durability: Durability) {
    let figures = keeps_the_contract(engine, durability, Syncs::Real).await;
    assert_eq!(figures.whole, figures.cuts);
}

#[tokio::test]
#[ignore = "needs root and loop devices"]
async fn redb_power_loses_nothing() {
    loses_nothing(EngineKind::Redb, Durability::Power).await;
}

#[tokio::test]
#[ignore = "needs root and loop devices"]
async fn sled_power_loses_nothing() {
    loses_nothing(EngineKind::Sled, Durability::Power).await;
}

/// What waits for the sinks is not synced under `process`, the rest is all the same.
async fn loses_payloads_at_most(engine: EngineKind) {
    let figures = keeps_the_contract(engine, Durability::Process, Syncs::Real).await;
    let [pages, visits, _payloads] = figures.most_lost;
    assert_eq!((pages, visits, figures.refused), (0, 0, BTreeMap::new()));
}

#[tokio::test]
#[ignore = "needs root and loop devices"]
async fn redb_process_loses_payloads_at_most() {
    loses_payloads_at_most(EngineKind::Redb).await;
}

#[tokio::test]
#[ignore = "needs root and loop devices"]
async fn sled_process_loses_payloads_at_most() {
    loses_payloads_at_most(EngineKind::Sled).await;
}

/// sled without our symbol: it loses much, and is never taken for an empty crawl.
#[tokio::test]
#[ignore = "needs root and loop devices"]
async fn sled_process_as_published_opens_or_refuses() {
    keeps_the_contract(EngineKind::Sled, Durability::Process, Syncs::SledAsPublished).await;
}

/// The test can fail: where nothing is synced, loss is found.
#[tokio::test]
#[ignore = "needs root and loop devices"]
async fn without_syncs_loss_is_found() {
    assert!(syncs::are_ours(), "syncs do not come through here");
    for engine in [EngineKind::Redb, EngineKind::Sled] {
        let kind = Kind { engine, durability: Durability::Power, syncs: Syncs::None };
        let figures = cut(kind).await;
        assert!(!figures.broken.is_empty(), "{engine}: nothing was found to be lost");
    }
}
