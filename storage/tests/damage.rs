//! A store that was emptied, damaged or exchanged is recognised, and said so; nothing is made worse.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use comity_compliance::Timestamp;
use comity_storage::{
    Durability, Engine, EngineKind, Found, LocalStore, OpenError, OpenOptions, Opening, Plan, Role,
    Store, Via, open,
};
use url::Url;

const URLS: u64 = 1_000;

fn try_open(dir: &Path, kind: EngineKind) -> Result<LocalStore<Box<dyn Engine>>, OpenError> {
    let options = OpenOptions { cache_bytes: 16 << 20, ..OpenOptions::default() };
    open(dir, kind, Durability::Process, Timestamp::from_secs(1_800_000_000), options)
}

fn url(n: u64) -> Url {
    Url::parse(&format!("https://s{}.example/{n}/{}", n % 7, "x".repeat(300))).unwrap()
}

/// A closed store with URLs in it.
async fn full(dir: &Path, kind: EngineKind) {
    let store = try_open(dir, kind).unwrap();
    push(&store).await;
    store.close().await.unwrap();
}

async fn push(store: &LocalStore<Box<dyn Engine>>) {
    let found = (0..URLS).map(|n| Found {
        url: url(n),
        depth: 0,
        hops: 0,
        role: Role::Page,
        via: Via::Seed,
        from: None,
        anchor: None,
        at: Timestamp::EPOCH,
        plan: Plan::Queue { due: None, priority: 0, why: None },
    });
    store.push(found.collect()).await.unwrap();
}

/// Every file but the lock, with its content.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(self::files(&path).into_iter().map(|(k, v)| (format!("{name}/{k}"), v)));
        } else if name != "comity.lock" {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

fn shorten(file: &Path, by: u64) {
    let length = fs::metadata(file).unwrap().len();
    fs::File::options().write(true).open(file).unwrap().set_len(length - by).unwrap();
}

/// Replaces text in the marker file.
fn edit_marker(dir: &Path, old: &str, new: &str) {
    let path = dir.join("comity.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(path, text.replace(old, new)).unwrap();
}

type Harm = fn(&Path);

/// Harm to a closed store is seen before anything is opened, so every file stays as it is.
#[tokio::test]
async fn closed_stores() {
    use EngineKind::{Redb, Sled};
    let cases: &[(&str, EngineKind, Harm, &str)] = &[
        ("sled db gone", Sled, |d| fs::remove_file(d.join("sled/db")).unwrap(), "file db is gone"),
        ("sled conf gone", Sled, |d| fs::remove_file(d.join("sled/conf")).unwrap(), "file conf is"),
        ("sled db cut", Sled, |d| shorten(&d.join("sled/db"), 1), "bytes long, not"),
        ("sled db empty", Sled, |d| fs::write(d.join("sled/db"), "").unwrap(), "0 bytes long"),
        ("sled gone", Sled, |d| fs::remove_dir_all(d.join("sled")).unwrap(), "was emptied"),
        ("redb gone", Redb, |d| fs::remove_dir_all(d.join("redb")).unwrap(), "held 1000 URLs"),
        (
            "redb file gone",
            Redb,
            |d| fs::remove_file(d.join("redb/store.redb")).unwrap(),
            "emptied",
        ),
        ("redb file cut", Redb, |d| shorten(&d.join("redb/store.redb"), 1), "bytes long, not"),
        ("no marker", Sled, |d| fs::remove_file(d.join("comity.json")).unwrap(), "no marker file"),
        ("torn marker", Redb, |d| shorten(&d.join("comity.json"), 30), "cannot be read"),
        ("empty marker", Redb, |d| fs::write(d.join("comity.json"), "").unwrap(), "cannot be read"),
        (
            "newer",
            Sled,
            |d| edit_marker(d, "\"format\": 1", "\"format\": 9"),
            "has format 9, newer",
        ),
        ("other engine", Sled, |d| edit_marker(d, "\"sled\"", "\"redb\""), "kept with redb, not"),
    ];
    for (name, kind, harm, sentence) in cases {
        let dir = tempfile::tempdir().unwrap();
        full(dir.path(), *kind).await;
        harm(dir.path());
        let before = files(dir.path());
        let error = try_open(dir.path(), *kind).err().unwrap_or_else(|| panic!("{name}: opened"));
        let error = error.to_string();
        assert!(error.contains(sentence), "{name}: {error}");
        assert!(error.contains(&*dir.path().to_string_lossy()), "{name}: {error}");
        assert!(error.contains("--data"), "{name} says what to do: {error}");
        assert!(before == files(dir.path()), "{name}: files were changed");
    }
}

/// Harm to a store whose process died: recognised, or all is there; never fewer URLs than promised.
#[tokio::test]
async fn crashed_stores() {
    use EngineKind::{Redb, Sled};
    let overwrite: fn(&Path, usize, usize) = |file, from, to| {
        let mut bytes = fs::read(file).unwrap();
        let length = bytes.len();
        bytes[length * from / 8..length * to / 8].fill(0xa5);
        fs::write(file, bytes).unwrap();
    };
    let half = |file: &Path| shorten(file, fs::metadata(file).unwrap().len() / 2);
    for kind in [Sled, Redb] {
        let file = if kind == Sled { "sled/db" } else { "redb/store.redb" };
        for harm in 0..12 {
            let dir = tempfile::tempdir().unwrap();
            full(dir.path(), kind).await;
            drop(try_open(dir.path(), kind).unwrap());
            let path = dir.path().join(file);
            match harm {
                0 => fs::remove_file(&path).unwrap(),
                1 => fs::write(&path, "").unwrap(),
                2 => half(&path),
                3 => shorten(&path, 700),
                part => overwrite(&path, part - 4, part - 3),
            }
            match try_open(dir.path(), kind) {
                Ok(store) => {
                    for n in 0..URLS {
                        // Unreadable is said so; gone without a word is not.
                        let page = store.page(&url(n)).await;
                        assert!(!matches!(page, Ok(None)), "{kind} {harm}: {n} is gone");
                    }
                    assert_eq!(store.opening(), Opening::Recovered);
                    assert!(store.stats().known >= URLS, "{kind} {harm}");
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("damaged") || text.contains("emptied"), "{text}");
                    assert!(text.contains("--data"), "{text}");
                }
            }
        }
    }
}

/// What was found at an opening is promised from then on, whatever becomes of the process.
#[tokio::test]
async fn an_older_state_is_not_taken_for_a_newer_one() {
    for kind in [EngineKind::Sled, EngineKind::Redb] {
        let (dir, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let engine = dir.path().join(kind.name());
        drop(try_open(dir.path(), kind).unwrap());
        copy(&engine, &old.path().join("engine"));
        // Never closed, and never open for long.
        let store = try_open(dir.path(), kind).unwrap();
        push(&store).await;
        drop(store);
        drop(try_open(dir.path(), kind).unwrap());
        fs::remove_dir_all(&engine).unwrap();
        copy(&old.path().join("engine"), &engine);
        let error = try_open(dir.path(), kind).err().unwrap_or_else(|| panic!("{kind}: opened"));
        assert!(error.to_string().contains("held 1000 URLs and now holds 0"), "{error}");
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// sled's blobs and snapshots.
#[tokio::test]
async fn sled_side_files() {
    for (name, vital) in [("blobs", true), ("snap.", false)] {
        let dir = tempfile::tempdir().unwrap();
        full(dir.path(), EngineKind::Sled).await;
        let mut removed = 0;
        for entry in fs::read_dir(dir.path().join("sled")).unwrap().map(Result::unwrap) {
            if !entry.file_name().to_string_lossy().starts_with(name) {
                continue;
            }
            if entry.path().is_dir() {
                removed += fs::read_dir(entry.path()).unwrap().count();
                fs::remove_dir_all(entry.path()).unwrap();
            } else {
                fs::remove_file(entry.path()).unwrap();
                removed += 1;
            }
        }
        match try_open(dir.path(), EngineKind::Sled) {
            Ok(store) => {
                assert!(!vital || removed == 0, "{removed} blobs are not missed");
                assert_eq!(store.stats().known, URLS);
            }
            Err(error) => assert!(vital && error.to_string().contains("is gone"), "{error}"),
        }
    }
}

/// A snapshot that a power cut left empty keeps no store shut: the log has all.
#[tokio::test]
async fn empty_snapshot() {
    for bytes in [&b""[..], b"twelve bytes"] {
        let dir = tempfile::tempdir().unwrap();
        full(dir.path(), EngineKind::Sled).await;
        fs::write(dir.path().join("sled/snap.0000000000080000"), bytes).unwrap();
        let store = try_open(dir.path(), EngineKind::Sled).unwrap();
        assert_eq!(store.stats().known, URLS);
    }
}

#[tokio::test]
async fn exchanged_marker() {
    for kind in [EngineKind::Sled, EngineKind::Redb] {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        full(one.path(), kind).await;
        full(two.path(), kind).await;
        // As after crashes: without a list of files.
        drop(try_open(one.path(), kind).unwrap());
        drop(try_open(two.path(), kind).unwrap());
        fs::copy(one.path().join("comity.json"), two.path().join("comity.json")).unwrap();
        let error = try_open(two.path(), kind).err().unwrap();
        assert!(matches!(error, OpenError::Exchanged { .. }), "{error}");
        assert!(error.to_string().contains("one of them was exchanged"), "{error}");
    }
}

#[tokio::test]
async fn one_process_a_directory() {
    for kind in [EngineKind::Sled, EngineKind::Redb] {
        let dir = tempfile::tempdir().unwrap();
        let store = try_open(dir.path(), kind).unwrap();
        let error = try_open(dir.path(), kind).err().unwrap().to_string();
        let pid = format!("in use by another process (pid {})", std::process::id());
        assert!(error.contains(&pid), "{error}");
        store.close().await.unwrap();
        try_open(dir.path(), kind).unwrap();
    }
}

#[test]
fn unwritable_directory() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = try_open(&file.path().join("data"), EngineKind::Sled).err().unwrap().to_string();
    assert!(error.starts_with("cannot write to "), "{error}");
}

/// A first opening that died half-way is begun anew.
#[tokio::test]
async fn half_made_store() {
    for kind in [EngineKind::Sled, EngineKind::Redb] {
        let dir = tempfile::tempdir().unwrap();
        drop(try_open(dir.path(), kind).unwrap());
        edit_marker(dir.path(), "\"running\"", "\"creating\"");
        fs::remove_dir_all(dir.path().join(kind.name())).unwrap();
        assert_eq!(try_open(dir.path(), kind).unwrap().opening(), Opening::Created);
        edit_marker(dir.path(), "\"running\"", "\"creating\"");
        assert_eq!(try_open(dir.path(), kind).unwrap().opening(), Opening::Created);
        // Also where the engine's files were only begun.
        for length in [0, 100, 1 << 20] {
            edit_marker(dir.path(), "\"running\"", "\"creating\"");
            for file in fs::read_dir(dir.path().join(kind.name())).unwrap().map(Result::unwrap) {
                if file.path().is_file() {
                    fs::write(file.path(), vec![0; length]).unwrap();
                }
            }
            let store = try_open(dir.path(), kind).unwrap_or_else(|e| panic!("{kind}: {e}"));
            assert_eq!(store.opening(), Opening::Created);
        }
    }
}
