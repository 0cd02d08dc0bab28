//! The marker file beside a store: says which store must be there and what it
//! holds at least, so that an emptied one is never taken for a new one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::open::{Durability, EngineKind};

/// The format of a store's directory that this build writes.
pub(crate) const FORMAT: u32 = 1;

const NAME: &str = "comity.json";

/// sled writes a snapshot anew when it likes; it is no part of the data.
const SNAPSHOT: &str = "snap.";

/// What the marker file says.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Marker {
    pub(crate) format: u32,
    pub(crate) engine: EngineKind,
    /// The same as in the engine, unless one of them was exchanged.
    pub(crate) store: String,
    /// RFC 3339, for people.
    pub(crate) created: String,
    pub(crate) durability: Durability,
    pub(crate) stop: Stop,
    #[serde(flatten)]
    pub(crate) promise: Promise,
    /// The engine's files and their lengths, after a clean stop.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, u64>,
}

/// What the engine holds at least.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Promise {
    pub(crate) known: u64,
    /// For people.
    pub(crate) fetched: u64,
}

/// Where in its life a store was left.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stop {
    /// Nothing was acknowledged yet.
    Creating,
    /// A process has it open, or died.
    Running,
    /// Closed.
    Clean,
}

/// Only the version, which every format has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// A marker file that could be read.
pub(crate) enum Reading {
    None,
    Newer(u32),
    Some(Marker),
}

/// The marker file of an open store.
#[derive(Debug)]
pub(crate) struct MarkerFile {
    dir: PathBuf,
    marker: Marker,
}

impl MarkerFile {
    /// Reads the marker in a store's directory.
    pub(crate) fn read(dir: &Path) -> io::Result<Reading> {
        let text = match std::fs::read(dir.join(NAME)) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Reading::None),
            Err(e) => return Err(e),
        };
        let version: Version = serde_json::from_slice(&text)?;
        if version.format > FORMAT {
            return Ok(Reading::Newer(version.format));
        }
        Ok(Reading::Some(serde_json::from_slice(&text)?))
    }

    /// Writes a marker and keeps it at hand.
    pub(crate) fn write(dir: &Path, marker: Marker) -> io::Result<Self> {
        let file = Self { dir: dir.to_owned(), marker };
        file.save()?;
        Ok(file)
    }

    /// Says what the store holds now, and how it was left.
    pub(crate) fn update(&mut self, promise: Promise, stop: Stop) -> io::Result<()> {
        self.marker.promise = promise;
        self.marker.stop = stop;
        self.marker.files = match stop {
            Stop::Clean => files_of(&self.dir.join(self.marker.engine.name()))?,
            Stop::Creating | Stop::Running => BTreeMap::new(),
        };
        self.save()
    }

    /// Replaces the file as a whole, also over a power cut.
    fn save(&self) -> io::Result<()> {
        let new = self.dir.join("comity.json.new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec_pretty(&self.marker)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&new, self.dir.join(NAME))?;
        sync_dir(&self.dir)
    }
}

/// Makes a directory's entries durable, where the system can.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Makes durable all that is below a directory, names and content: not every engine does so with
/// what it writes once only.
pub(crate) fn sync_all_below(dir: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_all_below(&path)?;
        } else {
            File::options().write(true).open(path)?.sync_all()?;
        }
    }
    sync_dir(dir)
}

/// The files of an engine, by their path in its directory.
fn files_of(dir: &Path) -> io::Result<BTreeMap<String, u64>> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in std::fs::read_dir(&next)? {
            let entry = entry?;
            let (path, meta) = (entry.path(), entry.metadata()?);
            let name = path.strip_prefix(dir).unwrap_or(&path).to_string_lossy().into_owned();
            if meta.is_dir() {
                dirs.push(path);
            } else if !name.starts_with(SNAPSHOT) {
                files.insert(name, meta.len());
            }
        }
    }
    Ok(files)
}

impl Marker {
    /// What is missing of the engine's files, seen from outside: nothing is opened or changed.
    pub(crate) fn missing(&self, engine_dir: &Path) -> Option<String> {
        let length = |name: &str| std::fs::metadata(engine_dir.join(name)).map(|meta| meta.len());
        let vital = match self.engine {
            EngineKind::Memory => &[][..],
            EngineKind::Sled => &["conf", "db"][..],
            EngineKind::Redb => &[crate::engine::RedbEngine::FILE][..],
        };
        let vital = vital.iter().map(|name| (*name, 1));
        let listed = self.files.iter().map(|(name, bytes)| (name.as_str(), *bytes));
        vital.chain(listed).find_map(|(name, least)| match length(name) {
            Ok(bytes) if bytes >= least => None,
            Ok(bytes) => Some(format!("its file {name} is {bytes} bytes long, not {least}")),
            Err(_) => Some(format!("its file {name} is gone")),
        })
    }
}
