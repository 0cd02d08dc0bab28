//! Area frontier/resume: damaged files of a store.

use std::fs;
use std::path::Path;

use comity_compliance::Timestamp;
use comity_storage::{
    Durability, Engine, EngineKind, Found, LocalStore, OpenError, OpenOptions, Plan, Role,
    Store as _, Via, open,
};
use serde_json::json;
use url::Url;

use super::super::{Answers, NOW};
use super::told;

const RECORDS: usize = 1_000;

fn opened(dir: &Path, kind: EngineKind) -> Result<LocalStore<Box<dyn Engine>>, OpenError> {
    open(dir, kind, Durability::Process, NOW, OpenOptions::default())
}

fn url(number: usize) -> Url {
    Url::parse(&format!("https://example.com/record-{number:04}-of-the-store")).unwrap()
}

/// A store with its records.
async fn full(dir: &Path, kind: EngineKind) {
    let store = opened(dir, kind).unwrap();
    let plan = Plan::Queue { due: None, priority: 0, why: None };
    let found = (0..RECORDS).map(|number| Found {
        url: url(number),
        depth: 0,
        hops: 0,
        role: Role::Page,
        via: Via::Seed,
        from: None,
        anchor: None,
        at: Timestamp::EPOCH,
        plan: plan.clone(),
    });
    store.push(found.collect()).await.unwrap();
    store.close().await.unwrap();
}

/// How many records can be read, and whether one is said to be damaged.
async fn read(dir: &Path, kind: EngineKind) -> (usize, bool) {
    let store = match opened(dir, kind) {
        Ok(store) => store,
        Err(error) => {
            assert!(error.to_string().contains("is damaged"), "{error}");
            return (0, true);
        }
    };
    let (mut good, mut damaged) = (0, false);
    for number in 0..RECORDS {
        match store.page(&url(number)).await {
            Ok(page) => good += usize::from(page.is_some()),
            Err(_) => damaged = true,
        }
    }
    (good, damaged)
}

fn on_disk<R>(work: impl Future<Output = R>) -> R {
    tokio::runtime::Runtime::new().unwrap().block_on(work)
}

/// sled rebuilds what a snapshot would have told from its log.
pub(super) fn empty_snapshot() -> Answers {
    on_disk(async {
        let dir = tempfile::tempdir().unwrap();
        full(dir.path(), EngineKind::Sled).await;
        // Our settings let sled write none: this is one that it began and did not finish.
        let snapshot = dir.path().join("sled/snap.0000000000080000");
        fs::write(snapshot, "").unwrap();
        let (good, damaged) = read(dir.path(), EngineKind::Sled).await;
        let log = dir.path().join("sled/db");
        told([
            (
                "recovered",
                match (good, damaged) {
                    (RECORDS, false) => json!("all records of the log"),
                    other => json!(format!("{other:?}")),
                },
            ),
            ("deleted", json!(!log.exists())),
            ("panic", json!(false)),
        ])
    })
}

/// The byte is of the record's own text, wherever that stands first.
pub(super) fn changed_byte() -> Answers {
    on_disk(async {
        let mut least = RECORDS;
        let mut detected = true;
        for (kind, file) in [(EngineKind::Sled, "sled/db"), (EngineKind::Redb, "redb/store.redb")] {
            let dir = tempfile::tempdir().unwrap();
            full(dir.path(), kind).await;
            let file = dir.path().join(file);
            let mut bytes = fs::read(&file).unwrap();
            let text = "record-0500-of";
            let place = bytes.windows(text.len()).position(|part| part == text.as_bytes()).unwrap();
            bytes[place + 8] ^= 1;
            fs::write(&file, &bytes).unwrap();
            let (good, damaged) = read(dir.path(), kind).await;
            (least, detected) = (least.min(good), detected & damaged);
        }
        told([
            ("detected", json!(detected)),
            ("records_ok_min", json!(least)),
            ("panic", json!(false)),
        ])
    })
}
