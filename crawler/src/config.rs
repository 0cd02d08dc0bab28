//! `comity.toml`: every setting of a crawl, with its default.
//!
//! A key that does not exist is an error that names the nearest one that does: a misspelt
//! politeness setting must not pass for the default.

pub(crate) mod clash;
mod crawl;
mod file;
mod network;
mod output;
mod place;
mod storage;
#[cfg(test)]
mod tests;
mod units;

use serde::{Deserialize, Serialize};

pub use self::crawl::{CrawlConfig, IdentityConfig, PolitenessConfig, RecrawlConfig, RulesConfig};
pub use self::file::ConfigError;
pub(crate) use self::file::nearest;
pub use self::network::NetworkConfig;
pub use self::output::{BulkConfig, ItemsConfig, OutputConfig, WarcConfig};
pub use self::storage::{IndexConfig, StorageConfig};
pub use self::units::{Bytes, Span};
use crate::extract::rules::ExtractSections;
use crate::urls::UrlsConfig;

/// The text that `comity init` writes: every key with its default, and what it does.
pub const TEMPLATE: &str = include_str!("comity.toml");

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What to crawl.
    pub crawl: CrawlConfig,
    /// Who crawls.
    pub identity: IdentityConfig,
    /// How gently.
    pub politeness: PolitenessConfig,
    /// How page rules are read where there is a choice.
    pub rules: RulesConfig,
    /// Connections and limits.
    pub network: NetworkConfig,
    /// State on disk.
    pub storage: StorageConfig,
    /// The search index.
    pub index: IndexConfig,
    /// Looking at pages again.
    pub recrawl: RecrawlConfig,
    /// Which addresses.
    pub urls: UrlsConfig,
    /// What is taken out of pages, by extractor.
    pub extract: ExtractSections,
    /// What is handed on to others.
    pub output: OutputConfig,
}
