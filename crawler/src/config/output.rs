//! What the crawl hands on to others.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::units::{Bytes, Span};
use crate::output::items::{ItemFormat, ItemSettings};

/// `[output]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// The archive of all exchanges.
    pub warc: WarcConfig,
    /// The index elsewhere.
    pub bulk: BulkConfig,
    /// What is taken out of pages.
    pub items: ItemsConfig,
}

/// `[output.warc]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WarcConfig {
    /// Where its files are; absent: there is none.
    pub dir: Option<PathBuf>,
    /// What the names of its files begin with.
    pub prefix: String,
    /// Bytes after which another file is begun.
    pub file_bytes: Bytes,
}

impl Default for WarcConfig {
    fn default() -> Self {
        Self { dir: None, prefix: "comity".into(), file_bytes: Bytes(1 << 30) }
    }
}

/// `[output.bulk]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BulkConfig {
    /// The service; absent: there is none.
    pub url: Option<String>,
    /// The index in it.
    pub index: String,
    /// Bytes of one request.
    pub request_bytes: Bytes,
    /// How long failures are borne with.
    pub patience: Span,
}

impl Default for BulkConfig {
    fn default() -> Self {
        let (request_bytes, patience) = (Bytes(5 << 20), Span::secs(600));
        Self { url: None, index: "pages".into(), request_bytes, patience }
    }
}

/// `[output.items]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ItemsConfig {
    /// `jsonl`, `csv` or `parquet`.
    pub format: ItemFormat,
    /// The file, or the directory of Parquet files; absent: `items` in the data directory, with the
    /// format as its ending.
    pub path: Option<PathBuf>,
    /// Of a CSV file: its columns. Empty: the fields that `[extract]` names.
    pub columns: Vec<String>,
    /// Bytes after which another file is begun.
    pub file_bytes: Bytes,
}

impl Default for ItemsConfig {
    fn default() -> Self {
        let (format, file_bytes) = (ItemFormat::default(), Bytes(ItemSettings::FILE_BYTES));
        Self { format, path: None, columns: vec![], file_bytes }
    }
}

impl ItemsConfig {
    /// The first of its settings that cannot be, and why.
    pub(crate) fn fault(&self) -> Option<(&'static str, String)> {
        let format = self.format;
        if !format.is_built() {
            let name = format.name();
            let why = format!("this build writes no {name}; build with --features {name}");
            return Some(("output.items.format", why));
        }
        let ending = self.path.as_ref().and_then(|path| path.extension()?.to_str());
        let other = ItemFormat::ALL.iter().find(|one| ending == Some(one.name()));
        if let Some(other) = other.filter(|other| **other != format) {
            let (other, name) = (other.name(), format.name());
            let why = format!("the ending says {other} and output.items.format says {name}");
            return Some(("output.items.path", why));
        }
        let dir = self.path.as_deref().filter(|path| path.is_dir());
        if let Some(dir) = dir.filter(|_| format != ItemFormat::Parquet) {
            let why = format!("{} is a directory; name a file in it", dir.display());
            return Some(("output.items.path", why));
        }
        if !self.columns.is_empty() && format != ItemFormat::Csv {
            let why = format!(
                "only a csv file has columns, and output.items.format says {}",
                format.name()
            );
            return Some(("output.items.columns", why));
        }
        let mut columns = self.columns.iter().enumerate();
        let twice = columns.find(|(n, name)| self.columns[..*n].contains(name));
        if let Some((_, name)) = twice {
            return Some(("output.items.columns", format!("\"{name}\" stands there twice")));
        }
        (self.file_bytes.0 == 0).then(|| ("output.items.file_bytes", "must be 1 or more".into()))
    }
}
