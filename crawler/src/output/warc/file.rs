//! One file of an archive while it is being written, and what a crash left of one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::cdxj::{self, Lies};
use super::exchange::Packed;
use super::reading;
use crate::output::{OutputError, sync_dir};

/// What a file's name ends in until it is complete.
const OPEN: &str = ".open";
const ENDING: &str = ".warc.gz";

/// Captures of one file: its index is sorted in memory.
const MOST_CAPTURES: usize = 50_000;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct OpenFile {
    dir: PathBuf,
    /// As it is named once it is complete.
    name: String,
    path: PathBuf,
    file: File,
    bytes: u64,
    synced: u64,
    lines: Vec<String>,
}

impl OpenFile {
    /// Begins a file. A name that is taken is passed over.
    pub(super) fn create(dir: &Path, stem: &str, serial: &mut u32) -> Result<Self, OutputError> {
        loop {
            let name = format!("{stem}-{serial:05}{ENDING}");
            *serial = serial.wrapping_add(1);
            if !is_free(dir, &name) {
                continue;
            }
            let path = dir.join(format!("{name}{OPEN}"));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(file) => {
                    let dir = dir.to_owned();
                    return Ok(Self { dir, name, path, file, bytes: 0, synced: 0, lines: vec![] });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(OutputError::file("create", &path)(error)),
            }
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Appends members; of what could not be appended wholly, nothing stays.
    pub(super) fn append(&mut self, members: &[u8]) -> Result<(), OutputError> {
        if let Err(error) = self.file.write_all(members) {
            // A torn tail would hide what another process appends; if even this fails, the next
            // opening cuts it.
            let _ = self.file.set_len(self.bytes);
            return Err(OutputError::file("write", &self.path)(error));
        }
        self.bytes += members.len() as u64;
        Ok(())
    }

    /// Appends an exchange.
    pub(super) fn append_exchange(&mut self, packed: &Packed) -> Result<(), OutputError> {
        let offset = self.bytes + packed.at.start;
        self.append(&packed.members)?;
        let length = packed.at.end - packed.at.start;
        self.lines.push(packed.capture.line(&Lies { offset, length, filename: &self.name }));
        Ok(())
    }

    /// Whether another file is to be begun before so many bytes more.
    pub(super) fn is_full(&self, more: u64, most: u64) -> bool {
        !self.lines.is_empty() && self.bytes + more > most || self.lines.len() >= MOST_CAPTURES
    }

    /// What must be synced, and up to where that syncs it; none if it is.
    pub(super) fn unsynced(&self) -> Option<(io::Result<File>, u64)> {
        (self.synced < self.bytes).then(|| (self.file.try_clone(), self.bytes))
    }

    pub(super) fn note_synced(&mut self, through: u64) {
        self.synced = self.synced.max(through);
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Completes the file: its index is written, and then it gets its name, or the next free one if
    /// a complete file has that.
    pub(super) fn finish(mut self) -> Result<(), OutputError> {
        self.file.sync_all().map_err(OutputError::file("sync", &self.path))?;
        if is_there(&self.dir.join(&self.name)) {
            self.step_aside()?;
        }
        let named = self.dir.join(&self.name);
        cdxj::write_sorted(&cdxj::path_of(&named), self.lines)?;
        std::fs::rename(&self.path, &named).map_err(OutputError::file("name", &named))?;
        sync_dir(&self.dir)
    }

    /// Gives the file the next free name. It ends in `.open` still, so that a crash leaves what
    /// [`repair`] completes.
    fn step_aside(&mut self) -> Result<(), OutputError> {
        let stem = self.name.strip_suffix(ENDING).unwrap_or(&self.name);
        let (stem, serial) = stem.rsplit_once('-').unwrap_or((stem, ""));
        let mut serial = serial.parse::<u32>().unwrap_or(0);
        let name = loop {
            serial = serial.wrapping_add(1);
            let name = format!("{stem}-{serial:05}{ENDING}");
            if is_free(&self.dir, &name) {
                break name;
            }
        };
        tracing::warn!(
            file = self.name,
            "there is a complete file of this name, which stays; what was being written under it is \
             named {name}"
        );
        let path = self.dir.join(format!("{name}{OPEN}"));
        std::fs::rename(&self.path, &path).map_err(OutputError::file("name", &path))?;
        self.lines = reading::read(&path, &name)?.lines;
        (self.name, self.path) = (name, path);
        Ok(())
    }
}

/// Whether a file of the archive can get a name: nothing has it, and nothing is indexed as such.
fn is_free(dir: &Path, name: &str) -> bool {
    let named = dir.join(name);
    let taken = [cdxj::path_of(&named), dir.join(format!("{name}{OPEN}")), named];
    !taken.iter().any(|path| is_there(path))
}

/// Whether anything has a name, be it a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Completes the files that processes which died left in `dir`: what comes after the last whole
/// record is cut off, and the index is written anew. A file that is damaged before its end keeps all,
/// and one whose name a complete file has gets another.
pub(super) fn repair(dir: &Path, prefix: &str) -> Result<(), OutputError> {
    for path in files_in(dir, &format!("{ENDING}{OPEN}"))? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(name) = name.strip_suffix(OPEN).filter(|name| is_of(name, prefix)) else {
            continue;
        };
        let contents = reading::read(&path, name)?;
        let torn = contents.bytes - contents.whole;
        let is_damaged = torn > 0 && reading::is_damaged(&path, &contents)?;
        if is_damaged {
            tracing::warn!(
                file = name,
                "after {} bytes it is damaged, by more than a crash leaves; all of it is kept, and its \
                 index ends there",
                contents.whole
            );
        } else if torn > 0 {
            tracing::warn!(
                file = name,
                "the last {torn} bytes, which a crash left incomplete, are cut off"
            );
        }
        let file = OpenOptions::new().append(true).open(&path);
        let kept = if is_damaged { contents.bytes } else { contents.whole };
        let file = file.and_then(|file| file.set_len(kept).map(|()| file));
        let file = file.map_err(OutputError::file("repair", &path))?;
        if kept == 0 {
            std::fs::remove_file(&path).map_err(OutputError::file("remove", &path))?;
            continue;
        }
        let (dir, name, bytes) = (dir.to_owned(), name.to_owned(), kept);
        let lines = contents.lines;
        OpenFile { dir, name, path: path.clone(), file, bytes, synced: 0, lines }.finish()?;
    }
    Ok(())
}

/// Whether a file was named by an archive with this prefix: `PREFIX-14 DIGITS-SERIAL.warc.gz`.
fn is_of(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
    let rest = rest.and_then(|rest| rest.strip_suffix(ENDING)).unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    rest.split_once('-').is_some_and(|(time, serial)| is_number(time) && is_number(serial))
}

/// Files of an archive in the order of their names: those that are complete.
pub(super) fn complete_files(dir: &Path) -> Result<Vec<PathBuf>, OutputError> {
    files_in(dir, ENDING)
}

/// Those that are being written, or that a crash left.
pub(super) fn open_files(dir: &Path) -> Result<Vec<PathBuf>, OutputError> {
    files_in(dir, &format!("{ENDING}{OPEN}"))
}

fn files_in(dir: &Path, ending: &str) -> Result<Vec<PathBuf>, OutputError> {
    let failed = |error| OutputError::file("read", dir)(error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.ends_with(ending))
        {
            // What is not there, as at the end of a link, is an error where it is read.
            if std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
                tracing::warn!(path = %path.display(), "it is no file, and is passed over");
                continue;
            }
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
