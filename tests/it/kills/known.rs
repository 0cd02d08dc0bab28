//! What a crawl's store knows, read from a copy of its files.

use std::collections::BTreeMap;
use std::path::Path;

use comity_compliance::{Site, Timestamp};
use comity_storage::{Durability, EngineKind, OpenOptions, Store as _, engine_in, open};

/// Each known URL with the number of its visits that brought a response.
pub(crate) type Known = BTreeMap<String, u32>;

/// URLs that are read at once.
const PAGE: usize = 1_000;

/// What a copy of the store in `data` knows of `hosts`; nothing if there is none yet.
pub(crate) fn copied(data: &Path, engine: EngineKind, hosts: &[&str]) -> Known {
    if !matches!(engine_in(data), Ok(Some(_))) {
        let left = std::fs::read_dir(data).map_or(0, |entries| {
            entries.flatten().filter(|entry| entry.file_name() != "comity.lock").count()
        });
        assert!(left <= 1, "{left} files and no marker file but a half-written one");
        return Known::new();
    }
    let copy = tempfile::tempdir().unwrap();
    for part in ["comity.json", "spool", engine.name()] {
        copy_all(&data.join(part), &copy.path().join(part));
    }
    let options = OpenOptions { cache_bytes: 16 << 20, ..OpenOptions::default() };
    let now = Timestamp::from_secs(2_000_000_000);
    let store = open(copy.path(), engine, Durability::Process, now, options).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut known = Known::new();
    for host in hosts {
        let (site, mut from) = (Site::from_host(host), None);
        loop {
            let (pages, next) = runtime.block_on(store.pages(&site, from, PAGE)).unwrap();
            known.extend(pages.into_iter().map(|page| (page.url.to_string(), page.fetches)));
            match next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
    }
    known
}

fn copy_all(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            copy_all(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.is_file() {
        std::fs::copy(from, to).unwrap();
    }
}
