//! The audit log: one JSON line for each decision, so that any of them can be explained later.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use comity_compliance::Timestamp;
use serde::Serialize;

/// `audit.jsonl` in the data directory; at a size limit it becomes `audit.1.jsonl`.
#[derive(Debug)]
pub(super) struct Audit {
    path: PathBuf,
    log: Mutex<Log>,
    has_failed: AtomicBool,
}

#[derive(Debug)]
struct Log {
    file: BufWriter<File>,
    bytes: u64,
}

/// One decision.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    pub(super) at: String,
    pub(super) url: &'a str,
    /// `fetched`, `refused`, `failed`, `waits`, `link-dropped`, `link-left`, `links-dropped`,
    /// `rules-dropped`, `redirected`, `sitemap`, `alike`, `stands-back`, `wall`, `taken`, `robots`,
    /// `extracted`, `extract-failed`.
    pub(super) what: &'static str,
    /// The stable reason code, or the status of a fetch.
    pub(super) why: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<String>,
}

/// Two files of this size are kept at most.
const ROTATE_AT_BYTES: u64 = 256 << 20;

impl Audit {
    pub(super) fn open(data: &Path) -> io::Result<Self> {
        let path = data.join("audit.jsonl");
        let log = Mutex::new(Log::append(&path)?);
        Ok(Self { path, log, has_failed: AtomicBool::new(false) })
    }

    /// Writes a line. The log is evidence, not state: if it cannot be written, the crawl goes on
    /// and says so.
    pub(super) fn write(&self, line: &Line<'_>) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let written = log.write(line).and_then(|()| log.rotate(&self.path));
        self.complain(written);
    }

    /// Hands all lines to the operating system.
    pub(super) fn flush(&self) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let flushed = log.file.flush();
        self.complain(flushed);
    }

    /// Once is enough: what cannot be written now could not be written a line later.
    fn complain(&self, written: io::Result<()>) {
        if let Err(error) = written
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            let path = self.path.display();
            tracing::warn!(%error, "the audit log {path} cannot be written; the crawl goes on without it");
        }
    }
}

impl Log {
    fn append(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { file: BufWriter::new(file), bytes })
    }

    fn write(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.bytes += text.len() as u64;
        self.file.write_all(&text)
    }

    fn rotate(&mut self, path: &Path) -> io::Result<()> {
        if self.bytes < ROTATE_AT_BYTES {
            return Ok(());
        }
        self.file.flush()?;
        std::fs::rename(path, path.with_extension("1.jsonl"))?;
        *self = Self::append(path)?;
        Ok(())
    }
}

/// An instant as the log writes it.
pub(super) fn instant(at: Timestamp) -> String {
    at.to_string()
}
