//! What a crawl hands on to others: an archive of its exchanges, items of extractors, documents for
//! an index elsewhere.
//!
//! All of it is at least once: what is handed on is durable before the store takes it as done, and
//! what was under way at a crash is handed on again.

pub mod bulk;
pub mod items;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod warc;

use std::io;
use std::path::{Path, PathBuf};

/// An output that could not be written. What was not written is handed on again by the next run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file failed.
    #[error(
        "could not {what} {}; when that is mended (by free space, if the disk is full) the same \
         command goes on, and what is missing is written",
        path.display()
    )]
    File {
        /// What was tried, such as `write`.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
    /// Another process writes there.
    #[error("{} is being written by another process; name another directory or prefix", .0.display())]
    InUse(PathBuf),
    /// An earlier call failed; nothing is written any more.
    #[error("nothing more is written, because: {0}")]
    Stopped(String),
    /// A service could not be used.
    #[error("{url}: {problem}")]
    Service {
        /// Its address.
        url: String,
        /// What is wrong, and what becomes of what was not sent.
        problem: String,
    },
    /// What lies there is not what this sink writes.
    #[error("{}: {problem}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A task of the writer died: a fault of this program.
    #[error("a writer died, which is a fault of this program: {0}")]
    Writer(String),
}

impl OutputError {
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::File { what, path, cause }
    }
}

/// An error with its causes.
fn in_words(error: &OutputError) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words.push_str(&format!(": {error}"));
        cause = error.source();
    }
    words
}

/// Makes a directory's entries durable, where the system can.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), OutputError> {
    if !cfg!(unix) {
        return Ok(());
    }
    let synced = std::fs::File::open(dir).and_then(|dir| dir.sync_all());
    synced.map_err(OutputError::file("sync", dir))
}

/// Runs what blocks on a thread for that, and waits for it.
pub(crate) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, OutputError> + Send + 'static,
) -> Result<R, OutputError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|panic| OutputError::Writer(panic.to_string()))?
}
