//! JSON Lines: one object a line, `extractor`, `url`, `at`, `value`.

use std::path::Path;

use comity_storage::Durability;
use serde_json::json;

use super::Appended;
use crate::output::{Item, OutputError, Sink, Written};

/// A file of JSON Lines.
#[derive(Debug)]
pub struct JsonLines(Appended);

impl JsonLines {
    /// Opens the file, or begins it. A last line without an end, which a crash left, is cut off.
    ///
    /// # Errors
    /// [`OutputError`]
    pub fn open(path: &Path, durability: Durability) -> Result<Self, OutputError> {
        Ok(Self(Appended::open(path, durability, whole_lines)?.0))
    }
}

/// Bytes up to the end of the last line that has one.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn line(item: &Item) -> String {
    let line = json!({
        "extractor": item.extractor,
        "url": item.url.as_str(),
        "at": item.at.to_string(),
        "value": item.value,
    });
    format!("{line}\n")
}

impl Sink for JsonLines {
    fn write<'a>(&'a mut self, batch: &'a [Item]) -> Written<'a> {
        Box::pin(async move {
            let lines: String = batch.iter().map(line).collect();
            self.0.append(lines.into_bytes()).await
        })
    }

    fn sync(&mut self) -> Written<'_> {
        Box::pin(self.0.sync())
    }

    fn close(&mut self) -> Written<'_> {
        self.sync()
    }
}
