//! What the crawl hands on to others.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::units::{Bytes, Span};

/// `[output]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// The archive of all exchanges.
    pub warc: WarcConfig,
    /// The index elsewhere.
    pub bulk: BulkConfig,
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
