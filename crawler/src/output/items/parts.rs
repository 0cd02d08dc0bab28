//! Items as the parts of a Parquet table. A Parquet file cannot be appended to, and one a commit
//! would be far too many: items wait as lines of JSON in a journal, which is durable, and a full
//! journal is made a part.
//!
//! `_part-00007.jsonl` becomes `part-00007.parquet`. Readers of tables pass over names that begin
//! with `_`. A journal beside its part is what a crash between the two left, and is removed.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::output::parquet::{Column, Kind, Table};
use crate::output::{OutputError, sync_dir};

/// The columns: what differs from extractor to extractor is JSON.
const ITEM: &[Column] =
    &[("extractor", Kind::Text), ("url", Kind::Text), ("at", Kind::Text), ("value", Kind::Text)];

/// Bytes of lines that make one group of rows.
const GROUP_BYTES: usize = 16 << 20;

/// The directory.
#[derive(Debug)]
pub(super) struct Parts {
    dir: PathBuf,
    /// The number of the part that the journal becomes.
    number: u32,
    _lock: File,
}

impl Parts {
    /// Opens the directory, or makes it.
    pub(super) fn open(dir: &Path) -> Result<Self, OutputError> {
        std::fs::create_dir_all(dir).map_err(OutputError::file("create", dir))?;
        let path = dir.join("_lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(OutputError::file("create", &path))?;
        lock.try_lock().map_err(|_| OutputError::InUse(dir.to_owned()))?;
        let mut number = 0;
        for entry in std::fs::read_dir(dir).map_err(OutputError::file("read", dir))? {
            let name = entry.map_err(OutputError::file("read", dir))?.file_name();
            let part = name.to_str().and_then(|name| name.strip_prefix("part-"));
            let part = part.and_then(|name| name.strip_suffix(".parquet"));
            if let Some(part) = part.and_then(|part| part.parse::<u32>().ok()) {
                number = number.max(part.saturating_add(1));
                remove(&journal(dir, part))?;
            }
        }
        Ok(Self { dir: dir.to_owned(), number, _lock: lock })
    }

    /// Where items wait.
    pub(super) fn journal(&self) -> PathBuf {
        journal(&self.dir, self.number)
    }

    /// Makes the journal a part, as a whole or not at all. It must be synced.
    pub(super) fn complete(&mut self) -> Result<(), OutputError> {
        let part = self.dir.join(format!("part-{:05}.parquet", self.number));
        // The next try writes it anew.
        let new = self.dir.join(format!("_part-{:05}.new", self.number));
        write_part(&self.journal(), &new).map_err(OutputError::file("write", &new))?;
        std::fs::rename(&new, &part).map_err(OutputError::file("name", &part))?;
        sync_dir(&self.dir)?;
        remove(&self.journal())?;
        self.number += 1;
        Ok(())
    }
}

fn journal(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("_part-{number:05}.jsonl"))
}

fn remove(path: &Path) -> Result<(), OutputError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(OutputError::file("remove", path)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn write_part(journal: &Path, new: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(File::open(journal)?);
    let file = File::create(new)?;
    let synced = file.try_clone()?;
    let mut table = Table::begin(BufWriter::new(file), ITEM)?;
    let (mut rows, mut bytes, mut line) = (vec![], 0, vec![]);
    loop {
        line.clear();
        let is_end = lines.read_until(b'\n', &mut line)? == 0;
        if is_end || bytes + line.len() > GROUP_BYTES {
            table.write(&rows)?;
            rows.clear();
            bytes = 0;
        }
        if is_end {
            break;
        }
        bytes += line.len();
        match row(&line) {
            Some(row) => rows.push(row),
            None => tracing::warn!(
                journal = %journal.display(),
                "a line is no item: a power cut damaged it, and it is left out"
            ),
        }
    }
    table.end()?;
    synced.sync_all()
}

/// An item's line as a row: its value is JSON there.
fn row(line: &[u8]) -> Option<Map<String, Value>> {
    let mut row: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let value = row.remove("value")?;
    row.insert("value".into(), value.to_string().into());
    Some(row)
}
