//! sled 0.34.7: a log-structured B-tree. One `Db`, one tree, so that one batch
//! is atomic over all kinds of row.
//!
//! Traps that were reproduced, and are avoided here: `flush_async` deadlocks
//! when several await it; garbage is collected by the background flusher only;
//! several trees in one transaction cost a third more; a flush does not sync
//! (`sled_fsync` mends it).

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Batch, EachRow, Engine, EngineError, guarded, sled_fsync};

const NAME: &str = "sled";

/// Garbage is collected only while the background flusher runs.
const FLUSH_EVERY_MS: u64 = 500;

/// How long sled may take to let go of its files: five seconds.
const RELEASE_TRIES: u32 = 5_000;
const RELEASE_PAUSE: Duration = Duration::from_millis(1);

/// sled panics when it gets less than 256 bytes, and crawls with little more.
const LEAST_CACHE_BYTES: u64 = 64 * 1024;

/// A snapshot ends in its length and a checksum; one that is no longer has nothing else.
const SNAPSHOT_TRAILER: u64 = 12;

/// Memory of 0.34.7, measured: so many bytes a known URL, twice the cache, and a base.
const MEMORY_PER_PAGE: u64 = 90;
const BASE_MEMORY: u64 = 40 << 20;

/// A store in a sled directory.
pub struct SledEngine {
    /// Dropped first; then it is waited for.
    db: sled::Db,
    cache_bytes: u64,
    _release: Release,
}

/// Waits, when it is dropped, until sled has let go of its files: tasks of its thread pool keep
/// them, and the lock, for a moment longer than the `Db` lives.
struct Release {
    file: PathBuf,
}

impl Drop for Release {
    fn drop(&mut self) {
        for _ in 0..RELEASE_TRIES {
            match File::open(&self.file).map(|file| file.try_lock()) {
                Ok(Err(TryLockError::WouldBlock)) => std::thread::sleep(RELEASE_PAUSE),
                Ok(Ok(()) | Err(TryLockError::Error(_))) | Err(_) => return,
            }
        }
        tracing::warn!("sled still holds {}", self.file.display());
    }
}

impl SledEngine {
    /// Opens the database in `dir`, or makes it.
    ///
    /// # Errors
    /// [`EngineError`] if it cannot be opened or is damaged.
    pub fn open(dir: &Path, cache_bytes: u64) -> Result<Self, EngineError> {
        let cache_bytes = cache_bytes.max(LEAST_CACHE_BYTES);
        guarded(NAME, "open the store", || {
            remove_unfinished_snapshots(dir)
                .map_err(|e| EngineError::io(NAME, "open the store", &e))?;
            let db = sled::Config::new()
                .path(dir)
                .cache_capacity(cache_bytes)
                .flush_every_ms(Some(FLUSH_EVERY_MS))
                .use_compression(false)
                .open()
                .map_err(|e| failed("open the store", &e))?;
            Ok(Self { db, cache_bytes, _release: Release { file: dir.join("db") } })
        })
    }

    /// Proves that what [`Engine::barrier`] promises also survives a power cut.
    ///
    /// # Errors
    /// [`EngineError`] if this build does not sync.
    pub fn prove_power(&self) -> Result<(), EngineError> {
        guarded(NAME, "flush", || sled_fsync::check(&self.db))
    }
}

/// A snapshot spares sled a part of its log, and holds nothing that is not there; but one that a
/// power cut left empty makes it refuse the whole store (spacejam/sled#1533).
fn remove_unfinished_snapshots(dir: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let is_snapshot = entry.file_name().as_encoded_bytes().starts_with(b"snap.");
        if is_snapshot && entry.metadata()?.len() <= SNAPSHOT_TRAILER {
            tracing::warn!("sled's snapshot {} is empty; its log is read", entry.path().display());
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn failed(action: &'static str, error: &sled::Error) -> EngineError {
    if let sled::Error::Io(io) = error {
        return EngineError::io(NAME, action, io);
    }
    EngineError::new(NAME, action, error)
}

impl Engine for SledEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        guarded(NAME, "read", || match self.db.get(key) {
            Ok(value) => Ok(value.map(|value| value.to_vec())),
            Err(e) => Err(failed("read", &e)),
        })
    }

    fn scan(
        &self,
        from: &[u8],
        prefix: &[u8],
        limit: usize,
        each: &mut EachRow<'_>,
    ) -> Result<(), EngineError> {
        let start = from.max(prefix);
        guarded(NAME, "read", || {
            for row in self.db.range(start..).take(limit) {
                let (key, value) = row.map_err(|e| failed("read", &e))?;
                if !key.starts_with(prefix) || each(&key, &value).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn apply(&self, batch: Batch) -> Result<(), EngineError> {
        let mut changes = sled::Batch::default();
        for (key, value) in batch.into_changes() {
            match value {
                Some(value) => changes.insert(key, value),
                None => changes.remove(key),
            }
        }
        guarded(NAME, "write", || self.db.apply_batch(changes).map_err(|e| failed("write", &e)))
    }

    fn barrier(&self) -> Result<(), EngineError> {
        guarded(NAME, "flush", || match self.db.flush() {
            Ok(_) => Ok(()),
            Err(e) => Err(failed("flush", &e)),
        })
    }

    fn bytes_on_disk(&self) -> u64 {
        self.db.size_on_disk().unwrap_or(0)
    }

    fn memory_estimate(&self, known: u64) -> u64 {
        known * MEMORY_PER_PAGE + 2 * self.cache_bytes + BASE_MEMORY
    }
}
