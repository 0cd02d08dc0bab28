//! Items to files: JSON Lines and CSV, appended to, and whole again after a crash.

mod csv;
mod json_lines;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use comity_storage::Durability;

pub use self::csv::{Csv, csv_row};
pub use self::json_lines::JsonLines;
use super::{OutputError, Sink, blocking};

/// The sink for a file, by the ending of its name: `.jsonl` or `.ndjson`, `.csv`, and `.parquet` for a
/// folder of Parquet files, in a build with the feature `parquet`. A file that is
/// there is gone on with. `columns` are those of a CSV file; without them, those of its first batch.
///
/// # Errors
/// [`OutputError`] if the file cannot be written, is none of these, or has other columns.
pub fn open_sink(
    path: &Path,
    columns: Option<Vec<String>>,
    durability: Durability,
) -> Result<Box<dyn Sink>, OutputError> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("jsonl" | "ndjson") => Ok(Box::new(JsonLines::open(path, durability)?)),
        #[cfg(feature = "parquet")]
        Some("parquet") => Ok(Box::new(super::parquet::ParquetParts::open(path)?)),
        Some("csv") => Ok(Box::new(Csv::open(path, columns, durability)?)),
        Some(_) | None => Err(OutputError::Foreign {
            path: path.to_owned(),
            problem: "items go to files that end in .jsonl, .ndjson or .csv".into(),
        }),
    }
}

/// A file of records that is only appended to.
#[derive(Clone, Debug)]
struct Appended(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    durability: Durability,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    bytes: u64,
    has_failed: bool,
}

impl Appended {
    /// Opens a file, or begins it. `whole` says how many bytes of what is there are whole records;
    /// what a crash left after them is cut off. Returns the whole bytes too.
    fn open(
        path: &Path,
        durability: Durability,
        whole: fn(&[u8]) -> usize,
    ) -> Result<(Self, Vec<u8>), OutputError> {
        let mut options = OpenOptions::new();
        let opened = options.create(true).truncate(false).read(true).write(true).open(path);
        let mut file = opened.map_err(OutputError::file("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OutputError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(OutputError::file("lock", path)(error)),
        }
        let mut there = Vec::new();
        file.read_to_end(&mut there).map_err(OutputError::file("read", path))?;
        let bytes = whole(&there);
        if bytes < there.len() {
            let torn = there.len() - bytes;
            tracing::warn!(path = %path.display(), "the last {torn} bytes, which a crash left incomplete, are cut off");
            file.set_len(bytes as u64).map_err(OutputError::file("repair", path))?;
            there.truncate(bytes);
        }
        file.seek(SeekFrom::End(0)).map_err(OutputError::file("open", path))?;
        let state = Mutex::new(State { file, bytes: bytes as u64, has_failed: false });
        Ok((Self(Arc::new(Inner { path: path.to_owned(), durability, state })), there))
    }

    /// Appends records; of what could not be appended wholly, nothing stays.
    async fn append(&self, records: Vec<u8>) -> Result<(), OutputError> {
        let inner = Arc::clone(&self.0);
        blocking(move || {
            let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.has_failed {
                return Err(OutputError::Stopped("an earlier write failed".into()));
            }
            if let Err(error) = state.file.write_all(&records) {
                let whole = state.bytes;
                state.has_failed = true;
                let _ = state.file.set_len(whole);
                return Err(OutputError::file("write", &inner.path)(error));
            }
            state.bytes += records.len() as u64;
            Ok(())
        })
        .await
    }

    async fn sync(&self) -> Result<(), OutputError> {
        if self.0.durability == Durability::Process {
            return Ok(());
        }
        let inner = Arc::clone(&self.0);
        blocking(move || {
            let state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.file.sync_data().map_err(OutputError::file("sync", &inner.path))
        })
        .await
    }
}
