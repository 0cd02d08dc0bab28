//! Where files of items are, and where they go when they are full.

use std::path::{Path, PathBuf};

use comity_storage::Durability;

use super::ItemFormat;
use super::appended::{Appended, dir_of};
use super::ending::Records;
#[cfg(feature = "parquet")]
use super::parts::Parts;
use crate::output::{OutputError, sync_dir};

/// A place for files of items.
#[derive(Debug)]
pub(super) enum Shelf {
    /// One file that is appended to, and full ones beside it: `items.jsonl`, `items-00000.jsonl`.
    Numbered { path: PathBuf, next: u32 },
    /// Parts of a table.
    #[cfg(feature = "parquet")]
    Parts(Parts),
}

impl Shelf {
    /// Makes the directory if it is not there, and looks which numbers are taken.
    pub(super) fn open(path: &Path, format: ItemFormat) -> Result<Self, OutputError> {
        match format {
            ItemFormat::Jsonl | ItemFormat::Csv => {
                let dir = dir_of(path);
                std::fs::create_dir_all(dir).map_err(OutputError::file("create", dir))?;
                Ok(Self::Numbered { path: path.into(), next: 0 })
            }
            #[cfg(feature = "parquet")]
            ItemFormat::Parquet => Parts::open(path).map(Self::Parts),
            #[cfg(not(feature = "parquet"))]
            ItemFormat::Parquet => Err(OutputError::Foreign {
                path: path.into(),
                problem: "this build writes no Parquet; build with --features parquet".into(),
            }),
        }
    }

    /// Opens the file that is appended to.
    pub(super) fn begin(
        &self,
        records: Records,
        durability: Durability,
    ) -> Result<Appended, OutputError> {
        match self {
            Self::Numbered { path, .. } => Appended::open(path, records, durability),
            #[cfg(feature = "parquet")]
            Self::Parts(parts) => Appended::open(&parts.journal(), records, durability),
        }
    }

    /// Puts a file aside, durable, and begins another.
    pub(super) fn replace(
        &mut self,
        full: &mut Appended,
        records: Records,
        durability: Durability,
    ) -> Result<Appended, OutputError> {
        full.sync()?;
        match self {
            Self::Numbered { path, next } => {
                let free = free_name(path, next);
                std::fs::rename(&*path, &free).map_err(OutputError::file("name", &free))?;
                sync_dir(dir_of(path))?;
            }
            #[cfg(feature = "parquet")]
            Self::Parts(parts) => parts.complete()?,
        }
        self.begin(records, durability)
    }

    /// Ends with a file.
    pub(super) fn finish(&mut self, last: &mut Appended) -> Result<(), OutputError> {
        last.sync()?;
        match self {
            Self::Numbered { .. } => Ok(()),
            #[cfg(feature = "parquet")]
            Self::Parts(_) if last.bytes() == 0 => Ok(()),
            #[cfg(feature = "parquet")]
            Self::Parts(parts) => parts.complete(),
        }
    }
}

/// The next name that is not taken, such as `items-00000.jsonl`.
fn free_name(path: &Path, next: &mut u32) -> PathBuf {
    let text =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = (text(path.file_stem()), text(path.extension()));
    loop {
        let mut name = format!("{stem}-{next:05}");
        if !ending.is_empty() {
            name.push_str(&format!(".{ending}"));
        }
        let free = path.with_file_name(name);
        *next = next.wrapping_add(1);
        if !free.exists() {
            return free;
        }
    }
}
