//! What the crawl keeps: its state on disk, and the search index.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::units::Bytes;

/// `[storage]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageConfig {
    /// The data directory.
    pub data: PathBuf,
    /// `sled`, `redb` or `memory`.
    pub store: String,
    /// `process`: nothing acknowledged is lost when the process dies; `power`: nor when the power does.
    pub durability: String,
    /// Memory for the store's cache.
    pub cache: Bytes,
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            data: "comity-data".into(),
            store: "sled".into(),
            durability: "process".into(),
            cache: Bytes(64 << 20),
        }
    }
}

/// `[index]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexConfig {
    /// Whether pages are indexed.
    pub enabled: bool,
    /// Memory for what is collected before it is written, 15 MiB to 2 GiB.
    pub memory: Bytes,
    /// Whether addresses that robots.txt forbids are found by what a link says.
    pub bare_urls: bool,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self { enabled: true, memory: Bytes(48 << 20), bare_urls: false }
    }
}
