//! Items in files: JSON Lines, CSV or Parquet, appended to, parted by size, and whole again after a
//! crash.
//!
//! All three are records appended to one open file. What becomes of it when it is full is where
//! they differ: JSON Lines and CSV get a number, and for Parquet, which cannot be appended to, lines
//! of JSON are made a part of the table.

mod appended;
mod csv;
mod ending;
#[cfg(feature = "parquet")]
mod parts;
mod shelf;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use comity_storage::Durability;
use serde::{Deserialize, Serialize};

use self::appended::Appended;
use self::csv::Columns;
pub use self::csv::csv_row;
use self::ending::Records;
use self::shelf::Shelf;
use super::{OutputError, blocking, in_words};
use crate::extract::{Answering, Item, Receipt, Sink, SinkError};

/// How items are written.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemFormat {
    /// An object a line.
    #[default]
    Jsonl,
    /// CSV (RFC 4180), with the names of the columns in the first line.
    Csv,
    /// A directory of Parquet files that readers take for one table; in builds with the feature
    /// `parquet`.
    Parquet,
}

impl ItemFormat {
    /// All that there are.
    pub const ALL: &[Self] = &[Self::Jsonl, Self::Csv, Self::Parquet];

    /// Its name, which is also the ending of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Whether this build writes it.
    pub const fn is_built(self) -> bool {
        match self {
            Self::Jsonl | Self::Csv => true,
            Self::Parquet => cfg!(feature = "parquet"),
        }
    }

    fn records(self) -> Records {
        match self {
            Self::Jsonl | Self::Parquet => Records::Lines,
            Self::Csv => Records::Rows,
        }
    }
}

/// Where and how items are kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ItemSettings {
    /// The file; of Parquet, the directory.
    pub path: PathBuf,
    /// How they are written.
    pub format: ItemFormat,
    /// Of a CSV file: its columns after `extractor`, `url` and `at`. Empty: the fields of the items
    /// that come first.
    pub columns: Vec<String>,
    /// Bytes after which another file is begun.
    pub file_bytes: u64,
    /// What items outlive once they are synced: the process, or also the power.
    pub durability: Durability,
}

impl ItemSettings {
    /// Bytes of a file, without another wish.
    pub const FILE_BYTES: u64 = 256 << 20;

    /// Items at a path, with the defaults for the rest.
    pub fn new(path: impl Into<PathBuf>, format: ItemFormat) -> Self {
        let (columns, durability) = (vec![], Durability::Process);
        Self { path: path.into(), format, columns, file_bytes: Self::FILE_BYTES, durability }
    }
}

/// The sink that writes files. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ItemFiles(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    format: ItemFormat,
    file_bytes: u64,
    durability: Durability,
    /// Of a CSV file; not known before the first items if nobody named them.
    columns: OnceLock<Columns>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Appended,
    shelf: Shelf,
    /// How many files were begun.
    begun: u32,
    health: Health,
}

/// Whether more can be written.
#[derive(Debug)]
enum Health {
    Well,
    /// A write failed, and why. What was taken before stands.
    Full(String),
    /// A sync failed, and why. What stands is not known.
    Unsure(String),
}

impl ItemFiles {
    /// Opens the file, or begins it; one that is there is gone on with. One last record that a crash
    /// left half written is cut off, and nothing else: its page is fetched again. A CSV file with other columns than
    /// `columns` is put aside, as one that is full.
    ///
    /// # Errors
    /// [`OutputError`] if it cannot be written, another process writes it, or it is no file of items.
    pub fn open(settings: ItemSettings) -> Result<Self, OutputError> {
        let ItemSettings { path, format, columns: wanted, file_bytes, durability } = settings;
        let mut shelf = Shelf::open(&path, format)?;
        let mut file = shelf.begin(format.records(), durability)?;
        let columns = OnceLock::new();
        if format == ItemFormat::Csv {
            let found = Columns::of_file(&mut file)?;
            let wanted = (!wanted.is_empty()).then(|| Columns::named(wanted)).transpose();
            let wanted =
                wanted.map_err(|problem| OutputError::Foreign { path: path.clone(), problem })?;
            if let (Some(found), Some(wanted)) = (&found, &wanted)
                && !found.is_as(wanted)
            {
                tracing::info!(path = %path.display(), "it has other columns; it is put aside and another begun");
                file = shelf.replace(&mut file, format.records(), durability)?;
            }
            if let Some(known) = wanted.or(found) {
                columns.get_or_init(|| known);
            }
        }
        let state = Mutex::new(State { file, shelf, begun: 1, health: Health::Well });
        Ok(Self(Arc::new(Shared { format, file_bytes, durability, columns, state })))
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn records(&self, items: &[Item]) -> Result<Vec<u8>, SinkError> {
        match self.format {
            ItemFormat::Jsonl | ItemFormat::Parquet => {
                let mut lines = Vec::new();
                for item in items {
                    serde_json::to_writer(&mut lines, item).map_err(SinkError::new)?;
                    lines.push(b'\n');
                }
                Ok(lines)
            }
            ItemFormat::Csv => {
                let columns = self.columns.get_or_init(|| Columns::of_items(items));
                Ok(columns.rows(items).into_bytes())
            }
        }
    }

    /// Appends whole records, or none of them.
    fn append(&self, records: &[u8]) -> Result<(), OutputError> {
        let mut state = self.locked();
        if let Health::Full(why) | Health::Unsure(why) = &state.health {
            return Err(OutputError::Stopped(why.clone()));
        }
        let written = self.append_to(&mut state, records);
        if let Err(error) = &written {
            state.health = Health::Full(in_words(error));
        }
        written
    }

    fn append_to(&self, state: &mut State, records: &[u8]) -> Result<(), OutputError> {
        let bytes = state.file.bytes();
        if bytes > 0 && bytes + records.len() as u64 > self.file_bytes {
            let State { file, shelf, .. } = state;
            state.file = shelf.replace(file, self.format.records(), self.durability)?;
            state.begun += 1;
        }
        match self.columns.get().filter(|_| state.file.bytes() == 0) {
            Some(columns) => {
                let mut with_head = columns.head().into_bytes();
                with_head.extend_from_slice(records);
                state.file.append(&with_head)
            }
            None => state.file.append(records),
        }
    }

    /// Syncs without keeping others from appending. A file that was put aside meanwhile was synced
    /// when it was.
    fn sync(&self) -> Result<(), OutputError> {
        let (handle, through, begun) = {
            let state = self.locked();
            if let Health::Unsure(why) = &state.health {
                return Err(OutputError::Stopped(why.clone()));
            }
            let Some((handle, through)) = state.file.unsynced() else { return Ok(()) };
            (handle, through, state.begun)
        };
        let synced = handle.and_then(|file| file.sync_data());
        let mut state = self.locked();
        match synced {
            Ok(()) if state.begun == begun => state.file.note_synced(through),
            Ok(()) => {}
            Err(error) => {
                // What a failed sync leaves behind is not known: nothing may follow it.
                let error = OutputError::file("sync", state.file.path())(error);
                state.health = Health::Unsure(in_words(&error));
                return Err(error);
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), OutputError> {
        let mut state = self.locked();
        let State { file, shelf, health, .. } = &mut *state;
        match health {
            Health::Well => shelf.finish(file),
            // Told by the call that failed.
            Health::Full(_) | Health::Unsure(_) => Ok(()),
        }
    }
}

impl Sink for ItemFiles {
    fn put<'a>(&'a self, items: &'a [Item]) -> Answering<'a, Receipt> {
        Box::pin(async move {
            if !items.is_empty() {
                let records = self.0.records(items)?;
                let shared = Arc::clone(&self.0);
                let appended = blocking(move || shared.append(&records)).await;
                appended.map_err(SinkError::new)?;
            }
            Ok(Receipt::all(items))
        })
    }

    fn sync(&self) -> Answering<'_, ()> {
        Box::pin(async move {
            if self.0.durability == Durability::Process {
                return Ok(());
            }
            let shared = Arc::clone(&self.0);
            blocking(move || shared.sync()).await.map_err(SinkError::new)
        })
    }

    fn finish(&self) -> Answering<'_, ()> {
        Box::pin(async move {
            let shared = Arc::clone(&self.0);
            blocking(move || shared.finish()).await.map_err(SinkError::new)
        })
    }
}
