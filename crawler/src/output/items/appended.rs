//! One file of records that is only appended to. What a crash left of a last record is cut off when it
//! is opened, and nothing else.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use comity_storage::Durability;

use super::ending::{self, Ending, Records};
use crate::output::{OutputError, sync_dir};

/// The file. Locked as long as it is open.
#[derive(Debug)]
pub(super) struct Appended {
    path: PathBuf,
    file: File,
    bytes: u64,
    synced: u64,
}

impl Appended {
    /// Opens a file, or begins it, cutting off an incomplete last record. What ends otherwise is left
    /// as it is, and an error.
    pub(super) fn open(
        path: &Path,
        records: Records,
        durability: Durability,
    ) -> Result<Self, OutputError> {
        let opened = OpenOptions::new().create(true).read(true).append(true).open(path);
        let mut file = opened.map_err(OutputError::file("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OutputError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(OutputError::file("lock", path)(error)),
        }
        let failed = |error| OutputError::file("read", path)(error);
        let there = file.metadata().map_err(failed)?;
        // What is no regular file, such as a pipe, cannot be looked at or gone on with.
        if !there.is_file() || !begins(&mut file, records.start()).map_err(failed)? {
            let problem = "it is no file of items; name another in output.items.path";
            return Err(OutputError::Foreign { path: path.into(), problem: problem.into() });
        }
        let there = there.len();
        let bytes = mended(&mut file, path, there, records)?;
        if there == 0 && durability == Durability::Power {
            sync_dir(dir_of(path))?;
        }
        // What is there may never have been synced.
        Ok(Self { path: path.into(), file, bytes, synced: 0 })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of whole records.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first so many bytes.
    pub(super) fn first(&mut self, most: u64) -> Result<Vec<u8>, OutputError> {
        let mut first = Vec::new();
        let read = self.file.seek(SeekFrom::Start(0));
        let read = read.and_then(|_| (&mut self.file).take(most).read_to_end(&mut first));
        read.map_err(OutputError::file("read", &self.path))?;
        Ok(first)
    }

    /// Appends records; of what could not be appended wholly, nothing stays.
    pub(super) fn append(&mut self, records: &[u8]) -> Result<(), OutputError> {
        if let Err(error) = self.file.write_all(records) {
            // If even this fails, the next opening cuts it.
            let _ = self.file.set_len(self.bytes);
            return Err(OutputError::file("write", &self.path)(error));
        }
        self.bytes += records.len() as u64;
        Ok(())
    }

    /// What must be synced, and up to where that syncs it; none if it is.
    pub(super) fn unsynced(&self) -> Option<(io::Result<File>, u64)> {
        (self.synced < self.bytes).then(|| (self.file.try_clone(), self.bytes))
    }

    pub(super) fn note_synced(&mut self, through: u64) {
        self.synced = self.synced.max(through);
    }

    /// Syncs what it has.
    pub(super) fn sync(&mut self) -> Result<(), OutputError> {
        self.file.sync_all().map_err(OutputError::file("sync", &self.path))?;
        self.synced = self.bytes;
        Ok(())
    }
}

/// The directory that a path is in.
pub(super) fn dir_of(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if dir != Path::new("") => dir,
        Some(_) | None => Path::new("."),
    }
}

/// Whether the file begins so, as far as it goes.
fn begins(file: &mut File, start: &[u8]) -> io::Result<bool> {
    let mut there = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(start.len() as u64).read_to_end(&mut there)?;
    Ok(start.starts_with(&there))
}

/// Makes a file of so many bytes end with a whole record; says how many bytes it has then.
fn mended(file: &mut File, path: &Path, there: u64, records: Records) -> Result<u64, OutputError> {
    let ending = ending::of(file, there, records).map_err(OutputError::file("read", path))?;
    match ending {
        Ending::Whole => Ok(there),
        Ending::Unended => {
            file.write_all(b"\n").map_err(OutputError::file("repair", path))?;
            Ok(there + 1)
        }
        Ending::Torn(whole) => {
            let torn = there - whole;
            tracing::warn!(path = %path.display(), "the last {torn} bytes, a record that a crash left incomplete, are cut off");
            file.set_len(whole).map_err(OutputError::file("repair", path))?;
            Ok(whole)
        }
        Ending::Other(whole) => {
            let problem = format!(
                "its last {} bytes, after the first {whole}, are no items, and more or else than what a \
                 crash leaves of one, so it was left as it is; end it after a whole record, or move it \
                 away or name another in output.items.path: then a new one is begun",
                there - whole,
            );
            Err(OutputError::Foreign { path: path.into(), problem })
        }
    }
}
