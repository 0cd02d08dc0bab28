//! Connections and their limits.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::units::{Bytes, Span};

/// `[network]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// Ranges that are not public and may be asked all the same.
    pub allow: Vec<String>,
    /// A file with further certificate authorities, PEM.
    pub ca_file: Option<PathBuf>,
    /// A proxy for all requests, or `direct`; absent: what the environment says.
    pub proxy: Option<String>,
    /// Hosts that are asked without that proxy.
    pub no_proxy: Vec<String>,
    /// Time to connect.
    pub connect_timeout: Span,
    /// Time to the first byte of an answer.
    pub first_byte_timeout: Span,
    /// Time for a whole request.
    pub request_timeout: Span,
    /// Decoded bytes of a page that are read; the rest is cut off and the page marked truncated.
    pub page_bytes: Bytes,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            allow: vec![],
            ca_file: None,
            proxy: None,
            no_proxy: vec![],
            connect_timeout: Span::secs(10),
            first_byte_timeout: Span::secs(30),
            request_timeout: Span::secs(60),
            page_bytes: Bytes(2 << 20),
        }
    }
}
