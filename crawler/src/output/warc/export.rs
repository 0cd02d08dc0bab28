//! `comity export cdxj`: one sorted index of a whole archive, made anew from its files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Lines, Write};
use std::path::{Path, PathBuf};

use super::cdxj::{path_of, write_sorted};
use super::{file, reading};
use crate::output::{OutputError, in_words};

/// Indexes that are merged at once: each is an open file.
const MERGED_AT_ONCE: usize = 128;

/// What an export came to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Exported {
    /// Files that were read.
    pub files: usize,
    /// Index lines that were written.
    pub captures: u64,
    /// Bytes at the end of files that are no whole record: a crash or a running crawl left them.
    pub torn_bytes: u64,
    /// Files that could not be read, each logged: the index is without them.
    pub unreadable: usize,
}

/// Reads every file of the archive in `dir` and writes the index of all, sorted, to `out`. The
/// indexes beside complete files are written anew too. A file that is being written counts as far
/// as it is whole.
///
/// # Errors
/// [`OutputError`]
pub fn export_cdxj(dir: &Path, out: &mut impl Write) -> Result<Exported, OutputError> {
    let mut exported = Exported::default();
    let scratch = scratch_in(dir)?;
    let done = index_all(dir, &scratch, &mut exported)
        .and_then(|sorted| merged(sorted, &scratch))
        .and_then(|sorted| {
            merge(&sorted, out).map_err(OutputError::file("write the index of", dir))
        });
    let removed = std::fs::remove_dir_all(&scratch);
    exported.captures = done?;
    removed.map_err(OutputError::file("remove", &scratch))?;
    Ok(exported)
}

/// A directory of this export's own: it is removed at the end.
fn scratch_in(dir: &Path) -> Result<PathBuf, OutputError> {
    let mut number = 0_u64;
    loop {
        let scratch = dir.join(format!(".cdxj-{}-{number}", std::process::id()));
        match std::fs::create_dir(&scratch) {
            Ok(()) => return Ok(scratch),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(OutputError::file("create", &scratch)(error)),
        }
    }
}

/// Makes the index of each file.
fn index_all(
    dir: &Path,
    scratch: &Path,
    exported: &mut Exported,
) -> Result<Vec<PathBuf>, OutputError> {
    let mut sorted = Vec::new();
    for path in file::complete_files(dir)? {
        let index = path_of(&path);
        if index_one(&path, &index, exported)? {
            sorted.push(index);
        }
    }
    for path in file::open_files(dir)? {
        let index = scratch.join(format!("open-{}", sorted.len()));
        if index_one(&path, &index, exported)? {
            sorted.push(index);
        }
    }
    Ok(sorted)
}

/// Makes the index of a file, if that can be read.
fn index_one(warc: &Path, index: &Path, exported: &mut Exported) -> Result<bool, OutputError> {
    let name = warc.file_name().unwrap_or_default().to_string_lossy();
    let contents = match reading::read(warc, name.strip_suffix(".open").unwrap_or(&name)) {
        Ok(contents) => contents,
        Err(error) => {
            tracing::warn!(error = in_words(&error), "a file is passed over");
            exported.unreadable += 1;
            return Ok(false);
        }
    };
    exported.files += 1;
    exported.torn_bytes += contents.bytes - contents.whole;
    write_sorted(index, contents.lines).map(|()| true)
}

/// Merges until no more are left than can be merged at once.
fn merged(mut sorted: Vec<PathBuf>, scratch: &Path) -> Result<Vec<PathBuf>, OutputError> {
    let mut round = 0;
    while sorted.len() > MERGED_AT_ONCE {
        round += 1;
        let mut larger = Vec::new();
        for (number, some) in sorted.chunks(MERGED_AT_ONCE).enumerate() {
            let path = scratch.join(format!("merged-{round}-{number}"));
            let written = File::create(&path).and_then(|file| {
                let mut file = io::BufWriter::new(file);
                merge(some, &mut file)?;
                file.flush()
            });
            written.map_err(OutputError::file("write", &path))?;
            larger.push(path);
        }
        sorted = larger;
    }
    Ok(sorted)
}

/// Merges sorted files; says how many lines came of it.
fn merge(sorted: &[PathBuf], out: &mut impl Write) -> io::Result<u64> {
    let mut files: Vec<Lines<BufReader<File>>> = Vec::new();
    for path in sorted {
        files.push(BufReader::new(File::open(path)?).lines());
    }
    let mut heads = BinaryHeap::new();
    for (number, file) in files.iter_mut().enumerate() {
        heads.extend(file.next().transpose()?.map(|line| Reverse((line, number))));
    }
    let mut lines = 0;
    while let Some(Reverse((line, number))) = heads.pop() {
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
        lines += 1;
        let next = files.get_mut(number).and_then(Iterator::next).transpose()?;
        heads.extend(next.map(|line| Reverse((line, number))));
    }
    out.flush()?;
    Ok(lines)
}
