//! Opening a store in a directory: takes the lock, compares the marker file
//! with what is there, and never puts an empty store in a full one's place.

use std::fmt;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_compliance::Timestamp;
use serde::{Deserialize, Serialize};

use crate::engine::{Batch, Engine, EngineError, MemoryEngine, RedbEngine, SledEngine};
use crate::key;
use crate::local::{LocalStore, OnDisk, Parts};
use crate::marker::{FORMAT, Marker, MarkerFile, Promise, Reading, Stop, sync_all_below, sync_dir};
use crate::record::{StateRow, decode, encode};
use crate::store::StoreError;

pub(crate) const LOCK: &str = "comity.lock";
pub(crate) const SPOOL: &str = "spool";

/// What a store stands on.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// sled: the default; up to about 20 million URLs.
    Sled,
    /// redb: memory bounded by the cache, whatever the number of URLs.
    Redb,
    /// Memory: nothing outlives the process.
    Memory,
}

impl EngineKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Sled, Self::Redb, Self::Memory];

    /// The name as the command line and the marker file write it, and that of the directory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sled => "sled",
            Self::Redb => "redb",
            Self::Memory => "memory",
        }
    }
}

impl Durability {
    /// Every level.
    pub const ALL: &[Self] = &[Self::Process, Self::Power];

    /// The name as the command line and the marker file write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Power => "power",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The death of the process at any instant.
    #[default]
    Process,
    /// Also a power cut.
    Power,
}

/// Where a store on disk does its work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// The writer in a thread of its own, reads in the runtime's blocking threads.
    Threads,
    /// All in the caller's thread, at once and in order: for tests under a paused clock, which
    /// would run on while a thread works.
    Caller,
}

/// Sizes and times of an opening.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenOptions {
    /// The engine's cache, in bytes. sled takes about twice as much.
    pub cache_bytes: u64,
    /// The most that the set of seen URLs may take, in bytes; beyond it the engine is asked.
    pub seen_bytes: u64,
    /// Where the work is done.
    pub work: Work,
    /// How long the writer's thread collects requests for one batch.
    pub window: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 256 << 20,
            seen_bytes: 256 << 20,
            work: Work::Threads,
            window: Duration::from_millis(20),
        }
    }
}

/// How a store was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Opening {
    /// There was none: it is new.
    Created,
    /// It had been closed.
    Clean,
    /// The last process died or was stopped without closing it; all that was acknowledged is there.
    Recovered,
}

/// A store that was not opened. The files are as they were found, as far as it lies with us.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has it.
    #[error(
        "the store in {dir} is in use by another process (pid {pid}): stop that one, or name another directory with --data"
    )]
    InUse {
        /// The store's directory.
        dir: String,
        /// The other process, as it wrote it down.
        pid: String,
    },
    /// The directory cannot be written.
    #[error("cannot write to {dir}: {cause}; mend that, or name another directory with --data")]
    Unwritable {
        /// The store's directory.
        dir: String,
        /// What the system said.
        cause: String,
    },
    /// Nothing is left of a store.
    #[error("the store in {dir} was emptied: {what}; it held {promised} URLs. {}", ADVICE)]
    Emptied {
        /// The store's directory.
        dir: String,
        /// What was found.
        what: String,
        /// URLs that it held at least.
        promised: u64,
    },
    /// Part of a store is missing or cannot be read.
    #[error("the store in {dir} is damaged: {what}. {}", ADVICE)]
    Damaged {
        /// The store's directory.
        dir: String,
        /// What was found.
        what: String,
    },
    /// The marker file and the engine are not of one store.
    #[error(
        "the marker file comity.json in {dir} belongs to store {marker}, but the data to store {data}: one of them was exchanged. {}",
        ADVICE
    )]
    Exchanged {
        /// The store's directory.
        dir: String,
        /// The store that the marker names.
        marker: String,
        /// The store that the engine names.
        data: String,
    },
    /// Data without a marker file.
    #[error("{dir} holds a store's data ({found}) but no marker file comity.json. {}", ADVICE)]
    NoMarker {
        /// The store's directory.
        dir: String,
        /// What was found.
        found: String,
    },
    /// The store stands on another engine.
    #[error(
        "the store in {dir} is kept with {found}, not with {asked}: choose {found}, copy the store to {asked}, or name another directory with --data"
    )]
    OtherEngine {
        /// The store's directory.
        dir: String,
        /// The engine of the store.
        found: EngineKind,
        /// The engine that was asked for.
        asked: EngineKind,
    },
    /// A newer build wrote it.
    #[error(
        "the store in {dir} has format {found}, newer than this build's ({FORMAT}): use the newer build, or name another directory with --data"
    )]
    NewerFormat {
        /// The store's directory.
        dir: String,
        /// Its format.
        found: u32,
    },
    /// [`Durability::Power`] cannot be given.
    #[error("{0}")]
    NotPowerSafe(EngineError),
    /// There is no store to copy.
    #[error("there is no store in {dir}: name the directory of one")]
    NoStore {
        /// The directory.
        dir: String,
    },
    /// A new store could not be made.
    #[error("no store could be made in {dir}: {cause}")]
    NotCreated {
        /// The directory.
        dir: String,
        /// What went wrong.
        cause: String,
    },
}

/// What to do about a store that is not as it was.
const ADVICE: &str = "Restore a backup of this directory, or name another with --data, or remove this one to begin anew";

/// Opens the store in `dir`, or makes one where there is none.
///
/// [`EngineKind::Memory`] takes no notice of `dir` and is always new. `now` is the time of the
/// opening: fences are made from it, and must rise from one opening to the next.
///
/// # Errors
/// [`OpenError`]; each says what was found and what to do.
pub fn open(
    dir: &Path,
    kind: EngineKind,
    durability: Durability,
    now: Timestamp,
    options: OpenOptions,
) -> Result<LocalStore<Box<dyn Engine>>, OpenError> {
    let place = Place { dir, kind, durability };
    if kind == EngineKind::Memory {
        let engine: Box<dyn Engine> = Box::new(MemoryEngine::default());
        let opening = Opening::Created;
        return LocalStore::start(Parts { engine, opened: now, opening, options, disk: None })
            .map_err(|e| place.not_created(e));
    }
    let lock = place.lock()?;
    let reading = MarkerFile::read(dir)
        .map_err(|e| place.damaged(format!("its marker file comity.json cannot be read ({e})")))?;
    let (marker, opening) = match reading {
        Reading::None => (place.found(now)?, Opening::Created),
        Reading::Newer(found) => return Err(OpenError::NewerFormat { dir: place.name(), found }),
        Reading::Some(marker) => {
            let opening = place.inspect(&marker)?;
            (marker, opening)
        }
    };
    let (engine, marker) = place.enter(&marker, &options)?;
    let spool_dir = dir.join(SPOOL);
    let disk = Some(OnDisk { spool_dir, durability, marker, lock });
    LocalStore::start(Parts { engine, opened: now, opening, options, disk })
        .map_err(|e| place.damaged(e.to_string()))
}

/// Where a store is to be opened, and how.
pub(crate) struct Place<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) kind: EngineKind,
    pub(crate) durability: Durability,
}

impl Place<'_> {
    pub(crate) fn name(&self) -> String {
        self.dir.display().to_string()
    }

    fn engine_dir(&self) -> PathBuf {
        self.dir.join(self.kind.name())
    }

    pub(crate) fn damaged(&self, what: String) -> OpenError {
        OpenError::Damaged { dir: self.name(), what }
    }

    fn emptied(&self, marker: &Marker, what: String) -> OpenError {
        OpenError::Emptied { dir: self.name(), what, promised: marker.promise.known }
    }

    fn unwritable(&self, error: &io::Error) -> OpenError {
        OpenError::Unwritable { dir: self.name(), cause: error.to_string() }
    }

    pub(crate) fn not_created(&self, error: impl ToString) -> OpenError {
        OpenError::NotCreated { dir: self.name(), cause: error.to_string() }
    }

    /// Takes the directory for this process.
    pub(crate) fn lock(&self) -> Result<File, OpenError> {
        std::fs::create_dir_all(self.dir).map_err(|e| self.unwritable(&e))?;
        let path = self.dir.join(LOCK);
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|e| self.unwritable(&e))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = std::fs::read_to_string(&path).unwrap_or_default();
                let pid = pid.trim();
                let pid = if pid.is_empty() { "unknown" } else { pid };
                return Err(OpenError::InUse { dir: self.name(), pid: pid.to_owned() });
            }
            Err(TryLockError::Error(e)) => return Err(self.unwritable(&e)),
        }
        lock.set_len(0)
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(|e| self.unwritable(&e))?;
        Ok(lock)
    }

    /// Writes the marker of a new store, if nothing of an old one is there.
    pub(crate) fn found(&self, now: Timestamp) -> Result<Marker, OpenError> {
        for name in [EngineKind::Sled.name(), EngineKind::Redb.name(), SPOOL] {
            let full = std::fs::read_dir(self.dir.join(name))
                .is_ok_and(|mut entries| entries.next().is_some());
            if full {
                return Err(OpenError::NoMarker { dir: self.name(), found: name.to_owned() });
            }
        }
        let chance = RandomState::new().hash_one(now.as_millis());
        let marker = Marker {
            format: FORMAT,
            engine: self.kind,
            store: format!("{chance:016x}"),
            created: now.to_string(),
            durability: self.durability,
            stop: Stop::Creating,
            promise: Promise::default(),
            files: std::collections::BTreeMap::new(),
        };
        MarkerFile::write(self.dir, marker.clone()).map_err(|e| self.unwritable(&e))?;
        Ok(marker)
    }

    /// Compares a marker with the files, before anything is opened.
    pub(crate) fn inspect(&self, marker: &Marker) -> Result<Opening, OpenError> {
        if marker.engine != self.kind {
            let (found, asked) = (marker.engine, self.kind);
            return Err(OpenError::OtherEngine { dir: self.name(), found, asked });
        }
        let opening = match marker.stop {
            Stop::Creating => return Ok(Opening::Created),
            Stop::Running => Opening::Recovered,
            Stop::Clean => Opening::Clean,
        };
        let engine_dir = self.engine_dir();
        let gone = std::fs::read_dir(&engine_dir).map_or(true, |mut files| files.next().is_none());
        if gone {
            let what = format!("its directory {} is gone or empty", self.kind.name());
            return Err(self.emptied(marker, what));
        }
        match marker.missing(&engine_dir) {
            Some(what) => Err(self.damaged(what)),
            None => Ok(opening),
        }
    }

    /// Opens the engine that a marker promises.
    ///
    /// An engine may change its files when it is opened, so the marker no longer vouches for them
    /// from before that moment on; if nothing comes of it, the marker is put back.
    pub(crate) fn enter(
        &self,
        marker: &Marker,
        options: &OpenOptions,
    ) -> Result<(Box<dyn Engine>, MarkerFile), OpenError> {
        let mut open = marker.clone();
        open.durability = self.durability;
        open.files.clear();
        if marker.stop == Stop::Clean {
            open.stop = Stop::Running;
        }
        let mut file = MarkerFile::write(self.dir, open).map_err(|e| self.unwritable(&e))?;
        let engine = self.engine(marker, options);
        match engine.and_then(|engine| Ok((self.compare(&engine, marker)?, engine))) {
            Ok((promise, engine)) => {
                file.update(promise, Stop::Running).map_err(|e| self.unwritable(&e))?;
                Ok((engine, file))
            }
            Err(error) => {
                if let Err(error) = MarkerFile::write(self.dir, marker.clone()) {
                    tracing::warn!(%error, "the store's marker file could not be put back");
                }
                Err(error)
            }
        }
    }

    fn engine(&self, marker: &Marker, options: &OpenOptions) -> Result<Box<dyn Engine>, OpenError> {
        let dir = self.engine_dir();
        if marker.stop == Stop::Creating {
            // What was begun may be cut off in the middle. Nothing in it was acknowledged.
            match std::fs::remove_dir_all(&dir) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(self.unwritable(&e)),
                Ok(()) | Err(_) => {}
            }
        }
        let failed = |e: EngineError| match marker.stop {
            _ if e.is_no_room() => OpenError::Unwritable { dir: self.name(), cause: e.to_string() },
            Stop::Creating => self.not_created(e),
            Stop::Running | Stop::Clean => self.damaged(e.to_string()),
        };
        let engine: Box<dyn Engine> = match self.kind {
            EngineKind::Memory => Box::new(MemoryEngine::default()),
            EngineKind::Redb => {
                Box::new(RedbEngine::open(&dir, options.cache_bytes).map_err(failed)?)
            }
            EngineKind::Sled => {
                let sled = SledEngine::open(&dir, options.cache_bytes).map_err(failed)?;
                if self.durability == Durability::Power {
                    sled.prove_power().map_err(OpenError::NotPowerSafe)?;
                }
                Box::new(sled)
            }
        };
        if marker.stop == Stop::Creating {
            self.sign(&engine, marker).map_err(|e| self.not_created(e))?;
        }
        Ok(engine)
    }

    /// Writes the store's name into a new engine.
    fn sign(&self, engine: &dyn Engine, marker: &Marker) -> Result<(), StoreError> {
        if engine.read(key::META_ID)?.is_none() {
            let mut batch = Batch::default();
            batch.put(key::META_ID, marker.store.clone().into_bytes());
            batch.put(key::META_STATE, encode(&StateRow::default())?);
            engine.apply(batch)?;
        }
        engine.barrier()?;
        let unsynced = |e: io::Error| StoreError::NotDone { cause: e.to_string() };
        sync_all_below(&self.engine_dir()).map_err(unsynced)?;
        sync_dir(self.dir).map_err(unsynced)?;
        // The directory's own name. Above it may be what this process cannot read.
        match self.dir.canonicalize().map(|dir| dir.parent().map(sync_dir)) {
            Ok(Some(Err(e))) if e.kind() != io::ErrorKind::PermissionDenied => Err(unsynced(e)),
            Ok(Some(_) | None) | Err(_) => Ok(()),
        }
    }

    /// Compares a marker with what is in the engine, which is promised from then on.
    fn compare(&self, engine: &dyn Engine, marker: &Marker) -> Result<Promise, OpenError> {
        let read = |key| engine.read(key).map_err(|e| self.damaged(e.to_string()));
        let Some(store) = read(key::META_ID)? else {
            return Err(self.emptied(marker, "its engine holds nothing".into()));
        };
        if store != marker.store.as_bytes() {
            return Err(OpenError::Exchanged {
                dir: self.name(),
                marker: marker.store.clone(),
                data: String::from_utf8_lossy(&store).into_owned(),
            });
        }
        let Some(state) = read(key::META_STATE)? else {
            return Err(self.damaged("its counters are gone".into()));
        };
        let state: StateRow =
            decode(&state, "the state record").map_err(|e| self.damaged(e.to_string()))?;
        let (promised, known) = (marker.promise.known, state.tally.known);
        if known < promised {
            return Err(self.damaged(format!("it held {promised} URLs and now holds {known}")));
        }
        Ok(Promise { known, fetched: state.tally.fetched })
    }
}
