//! CSV (RFC 4180): `extractor`, `url`, `at`, and a column for each field of the items.

use std::collections::BTreeSet;
use std::path::Path;

use comity_storage::Durability;
use serde_json::Value;

use super::Appended;
use crate::output::{Item, OutputError, Sink, Written};

/// Columns that every file has, before those of the items.
const OWN: [&str; 3] = ["extractor", "url", "at"];
/// The column of an item that is no object.
const BARE: &str = "value";

/// A CSV file. Its columns stand in its first line and stay: those that were asked for, or else the
/// fields of the items of the first batch, in the order in which they come.
#[derive(Debug)]
pub struct Csv {
    file: Appended,
    /// None before the first batch.
    columns: Option<Vec<String>>,
    /// Whether the first line is written.
    has_head: bool,
    /// Fields that have no column, told once.
    told: BTreeSet<String>,
}

impl Csv {
    /// Opens the file, or begins it. A last record without an end, which a crash left, is cut off.
    ///
    /// # Errors
    /// [`OutputError`]; [`OutputError::Foreign`] if the file has other columns than `columns`.
    pub fn open(
        path: &Path,
        columns: Option<Vec<String>>,
        durability: Durability,
    ) -> Result<Self, OutputError> {
        let (file, there) = Appended::open(path, durability, whole_records)?;
        let Some(head) = first_record(&there) else {
            return Ok(Self { file, columns, has_head: false, told: BTreeSet::new() });
        };
        let foreign = |problem: String| OutputError::Foreign { path: path.to_owned(), problem };
        let own = head.get(..OWN.len()).is_some_and(|start| start == OWN);
        if !own {
            return Err(foreign(
                "its first line is not that of a file of items; name another".into(),
            ));
        }
        let found: Vec<_> = head.into_iter().skip(OWN.len()).collect();
        if let Some(wanted) = columns.filter(|wanted| *wanted != found) {
            let problem = format!(
                "it has the columns {} and not {}; name another file, or the same columns",
                found.join(", "),
                wanted.join(", ")
            );
            return Err(foreign(problem));
        }
        Ok(Self { file, columns: Some(found), has_head: true, told: BTreeSet::new() })
    }

    fn rows(&mut self, batch: &[Item]) -> String {
        let columns = self.columns.get_or_insert_with(|| fields_of(batch));
        let mut text = String::new();
        if !self.has_head {
            let own = OWN.into_iter().map(String::from);
            text = csv_row(own.chain(columns.iter().cloned()));
        }
        for item in batch {
            let own = [item.extractor.clone(), item.url.to_string(), item.at.to_string()];
            let fields = columns.iter().map(|column| cell(field(&item.value, column)));
            text.push_str(&csv_row(own.into_iter().chain(fields)));
            for name in names(&item.value) {
                if !columns.contains(&name) && self.told.insert(name.clone()) {
                    tracing::warn!(
                        url = %item.url,
                        "the field \"{name}\" of an item has no column and is left out of the CSV file; \
                         name the columns in the settings, or write JSON Lines"
                    );
                }
            }
        }
        text
    }
}

fn fields_of(batch: &[Item]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for name in batch.iter().flat_map(|item| names(&item.value)) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    columns
}

fn names(value: &Value) -> Vec<String> {
    match value.as_object() {
        Some(fields) => fields.keys().cloned().collect(),
        None => vec![BARE.into()],
    }
}

fn field<'a>(value: &'a Value, column: &str) -> Option<&'a Value> {
    match value.as_object() {
        Some(fields) => fields.get(column),
        None => (column == BARE).then_some(value),
    }
}

/// A value as a cell: text as it is, lists and objects as JSON, nothing for null.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A record with its end, quoted where it must be.
pub fn csv_row(cells: impl IntoIterator<Item = String>) -> String {
    let quoted = |cell: String| {
        let must = cell.contains(['"', ',', '\r', '\n']);
        if must { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
    };
    let cells: Vec<_> = cells.into_iter().map(quoted).collect();
    cells.join(",") + "\r\n"
}

/// Bytes up to the end of the last record that has one: a line's end within quotes is none.
fn whole_records(bytes: &[u8]) -> usize {
    let (mut whole, mut quoted) = (0, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => whole = at + 1,
            _ => {}
        }
    }
    whole
}

/// The cells of the first record.
fn first_record(bytes: &[u8]) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(bytes);
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                cells.push(cell);
                return Some(cells);
            }
            other => cell.push(other),
        }
    }
    None
}

impl Sink for Csv {
    fn write<'a>(&'a mut self, batch: &'a [Item]) -> Written<'a> {
        Box::pin(async move {
            if batch.is_empty() {
                return Ok(());
            }
            let rows = self.rows(batch);
            self.file.append(rows.into_bytes()).await?;
            self.has_head = true;
            Ok(())
        })
    }

    fn sync(&mut self) -> Written<'_> {
        Box::pin(self.file.sync())
    }

    fn close(&mut self) -> Written<'_> {
        self.sync()
    }
}
