//! Documents that are made from the code: compared with what is in the tree, or written anew.

use std::path::{Path, PathBuf};

/// The line that such a document carries.
pub(crate) const NOTE: &str =
    "Made from the code: `COMITY_BLESS=1 cargo test -p comity-tests` writes it anew.\n";

/// The workspace's folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().into()
}

/// The text of a file of the workspace.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Fails unless `path` holds `text`; with `COMITY_BLESS` set, writes it.
#[track_caller]
pub(crate) fn assert_current(path: &str, text: &str) {
    if std::env::var_os("COMITY_BLESS").is_some() {
        std::fs::write(root().join(path), text).unwrap();
    }
    let stale = read(path) != text;
    assert!(!stale, "{path} is stale: COMITY_BLESS=1 cargo test -p comity-tests writes it anew");
}
