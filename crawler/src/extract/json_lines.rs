//! A file of JSON Lines: one item a line, at least once.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use comity_storage::Durability;

use super::item::{Item, Putting, Receipt, Sink, SinkError};

/// Appends items to a file. The items of a page are there when their visit is committed: in the
/// operating system's hands, or on the disk if the crawl must survive a power cut.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: Arc<Mutex<File>>,
    durability: Durability,
}

impl JsonLines {
    /// Opens a file, or begins it. A last line that a crash left half written is cut off: its page is
    /// fetched again.
    ///
    /// # Errors
    /// [`io::Error`] if it cannot be opened or cut.
    pub fn open(path: &Path, durability: Durability) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).create(true).append(true).open(path)?;
        let whole = whole_lines(&mut file)?;
        if whole < file.metadata()?.len() {
            tracing::warn!("{} ended in the middle of a line, which is cut off", path.display());
            file.set_len(whole)?;
        }
        Ok(Self { path: path.into(), file: Arc::new(Mutex::new(file)), durability })
    }

    fn failed(&self, error: impl std::fmt::Display) -> SinkError {
        SinkError::new(format!("{}: {error}", self.path.display()))
    }
}

/// Bytes of the file up to the end of its last whole line.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut piece = [0; 8192];
    while end > 0 {
        let start = end.saturating_sub(piece.len() as u64);
        let piece = &mut piece[..usize::try_from(end - start).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(piece)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Writes whole lines, or none: what a full disk left of them is taken back.
fn append(file: &mut File, lines: &[u8], durability: Durability) -> io::Result<()> {
    let before = file.metadata()?.len();
    let written = file.write_all(lines).and_then(|()| match durability {
        Durability::Power => file.sync_data(),
        Durability::Process => Ok(()),
    });
    if written.is_err() {
        file.set_len(before)?;
    }
    written
}

impl Sink for JsonLines {
    fn put<'a>(&'a self, items: &'a [Item]) -> Putting<'a> {
        Box::pin(async move {
            let mut lines = Vec::new();
            for item in items {
                serde_json::to_writer(&mut lines, item).map_err(|e| self.failed(e))?;
                lines.push(b'\n');
            }
            let (file, durability) = (Arc::clone(&self.file), self.durability);
            let written = tokio::task::spawn_blocking(move || {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                append(&mut file, &lines, durability)
            });
            written.await.map_err(|e| self.failed(e))?.map_err(|e| self.failed(e))?;
            Ok(Receipt::all(items))
        })
    }
}

#[cfg(test)]
mod tests {
    use comity_compliance::Timestamp;
    use serde_json::json;
    use url::Url;

    use super::*;

    fn item(n: u64) -> Item {
        Item {
            extractor: "books".into(),
            url: Url::parse("https://a.example/").unwrap(),
            at: Timestamp::from_secs(1_796_000_000),
            value: json!({ "n": n }),
        }
    }

    #[tokio::test]
    async fn a_torn_line_is_cut_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("items.jsonl");
        let sink = JsonLines::open(&path, Durability::Process).unwrap();
        assert_eq!(sink.put(&[item(1), item(2)]).await.unwrap().kept, 2);
        let whole = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            whole.lines().next().unwrap(),
            r#"{"extractor":"books","url":"https://a.example/","at":"2026-11-30T00:53:20Z","value":{"n":1}}"#
        );
        for torn in ["{", &"x".repeat(20_000)] {
            std::fs::write(&path, format!("{whole}{torn}")).unwrap();
            let sink = JsonLines::open(&path, Durability::Power).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
            sink.put(&[item(3)]).await.unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
        }
        std::fs::write(&path, "no line at all").unwrap();
        JsonLines::open(&path, Durability::Process).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
