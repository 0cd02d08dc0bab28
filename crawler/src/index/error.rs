//! What can go wrong with an index directory, and what to do about it.

use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::LockError;
use thiserror::Error;

/// A search index that could not be opened, read or written.
#[derive(Debug, Error)]
pub enum IndexError {
    /// There is none.
    #[error(
        "no search index in {dir}; `comity crawl` makes one, or --data names the directory of an earlier crawl"
    )]
    Missing {
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// Another process writes it.
    #[error("the search index in {dir} is being written by another crawl; wait until that ends")]
    Locked {
        /// Where it is.
        dir: PathBuf,
    },
    /// Files are missing or unreadable.
    #[error(
        "the search index in {dir} is damaged; restore a backup of it; or make it anew by `comity \
         index rebuild` if the crawl kept an archive; or crawl without it by --no-index"
    )]
    Damaged {
        /// Where it is.
        dir: PathBuf,
        /// What was found.
        #[source]
        source: Option<TantivyError>,
    },
    /// Another version of this program wrote it.
    #[error(
        "the search index in {dir} was written by another version; use that one; or make it anew by \
         `comity index rebuild` if the crawl kept an archive; or crawl without it by --no-index"
    )]
    OtherVersion {
        /// Where it is.
        dir: PathBuf,
        /// What differs.
        #[source]
        source: TantivyError,
    },
    /// The disk refused.
    #[error("could not use the search index in {dir}; check free space and permissions")]
    Io {
        /// Where it is.
        dir: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The engine failed in a way that has no remedy of its own.
    #[error("the search index in {dir} failed")]
    Engine {
        /// Where it is.
        dir: PathBuf,
        /// What it said.
        #[source]
        source: TantivyError,
    },
}

impl IndexError {
    pub(super) fn io(dir: &Path, source: std::io::Error) -> Self {
        let dir = dir.to_owned();
        Self::Io { dir, source }
    }

    pub(super) fn engine(dir: &Path, source: TantivyError) -> Self {
        let dir = dir.to_owned();
        if let TantivyError::LockFailure(LockError::IoError(cause), _) = &source {
            let cause = std::io::Error::new(cause.kind(), cause.to_string());
            Self::Io { dir, source: cause }
        } else if matches!(source, TantivyError::LockFailure(..)) {
            Self::Locked { dir }
        } else if matches!(
            source,
            TantivyError::IncompatibleIndex(_) | TantivyError::SchemaError(_)
        ) {
            Self::OtherVersion { dir, source }
        } else if matches!(
            source,
            TantivyError::DataCorruption(_)
                | TantivyError::OpenReadError(_)
                | TantivyError::FieldNotFound(_)
        ) {
            let source = Some(source);
            Self::Damaged { dir, source }
        } else if let TantivyError::IoError(cause) = &source {
            let cause = std::io::Error::new(cause.kind(), source.to_string());
            Self::Io { dir, source: cause }
        } else {
            Self::Engine { dir, source }
        }
    }
}
