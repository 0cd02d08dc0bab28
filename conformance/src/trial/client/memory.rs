//! What the reference client keeps from crawl to crawl.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// All of it; times are seconds since 1970.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Memory {
    /// By URL: the validator of the last answer.
    pub(super) validators: BTreeMap<String, String>,
    /// By origin: its robots.txt.
    pub(super) files: BTreeMap<String, File>,
    /// By origin: when its front page was asked for to see whether the site is well, and whether it was.
    pub(super) probes: BTreeMap<String, (u64, bool)>,
    /// By host: when it may be asked again.
    pub(super) waits: BTreeMap<String, u64>,
    /// By URL: when it may be asked for again.
    pub(super) rests: BTreeMap<String, u64>,
}

/// A robots.txt, and how it goes with it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct File {
    pub(super) copy: Option<Copy>,
    /// Since when it cannot be had.
    pub(super) failing_since_s: Option<u64>,
    /// When it is asked for again.
    pub(super) ask_at_s: u64,
}

/// The last good answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Copy {
    /// The file; none, if there was none.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Memory {
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        match fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        fs::write(file, serde_json::to_vec(self).map_err(io::Error::other)?)
    }
}
