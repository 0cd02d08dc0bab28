//! CSV (RFC 4180): `extractor`, `url`, `at`, and a column for each field of the items; a field that is
//! called as one of those three has `item.` before its name.
//!
//! A line's end within a cell is one line feed, whatever it was: so a carriage return before a line
//! feed ends a record wherever it stands, and the last whole one is found from the file's end.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::appended::Appended;
use crate::extract::Item;
use crate::output::OutputError;

/// Columns that every file has, before those of the items.
const OWN: [&str; 3] = ["extractor", "url", "at"];
/// What stands before a field's name whose column would have one of these.
const OF_ITEM: &str = "item.";
/// The column of an item that is no object.
const BARE: &str = "value";

/// Bytes of a file's first line: as many are read of a file.
pub(super) const HEAD_BYTES: usize = 64 << 10;
/// Fields without a column that are told of.
const MOST_TOLD: usize = 100;

/// The columns of a file. They stand in its first line and stay.
#[derive(Debug)]
pub(super) struct Columns {
    names: Vec<String>,
    /// Fields that have none, each told once.
    told: Mutex<BTreeSet<String>>,
}

impl Columns {
    /// Those with these names.
    ///
    /// # Errors
    /// A sentence if they are more than fit into a first line.
    pub(super) fn named(names: Vec<String>) -> Result<Self, String> {
        let names = names.iter().map(|name| column(name)).collect();
        let columns = Self { names, told: Mutex::default() };
        match columns.head().len() {
            ..=HEAD_BYTES => Ok(columns),
            bytes => {
                Err(format!("the names of its columns take {bytes} bytes; at most {HEAD_BYTES}"))
            }
        }
    }

    /// Those of these items, in the order in which they come, as many as fit.
    pub(super) fn of_items(items: &[Item]) -> Self {
        let (mut seen, mut columns) = (BTreeSet::new(), vec![]);
        let mut bytes = csv_row(OWN.map(String::from)).len();
        for name in items.iter().flat_map(|item| fields(&item.value)) {
            if !seen.insert(name) {
                continue;
            }
            let name = column(name);
            bytes += csv_row([name.clone()]).len();
            if bytes > HEAD_BYTES {
                break;
            }
            columns.push(name);
        }
        Self { names: columns, told: Mutex::default() }
    }

    /// Those of a file; none if it is empty.
    ///
    /// # Errors
    /// [`OutputError::Foreign`] if its first line is none of items.
    pub(super) fn of_file(file: &mut Appended) -> Result<Option<Self>, OutputError> {
        if file.bytes() == 0 {
            return Ok(None);
        }
        let first = file.first(HEAD_BYTES as u64)?;
        let head = first_record(&first).filter(|head| head.starts_with(&OWN.map(String::from)));
        let names = head.map(|head| head.into_iter().skip(OWN.len()).collect());
        let foreign = || OutputError::Foreign {
            path: file.path().into(),
            problem: "its first line is not that of a file of items; name another".into(),
        };
        Ok(Some(Self { names: names.ok_or_else(foreign)?, told: Mutex::default() }))
    }

    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.names == other.names
    }

    /// The first line.
    pub(super) fn head(&self) -> String {
        csv_row(OWN.into_iter().map(String::from).chain(self.names.iter().cloned()))
    }

    /// Items as records.
    pub(super) fn rows(&self, items: &[Item]) -> String {
        let mut text = String::new();
        for item in items {
            let own = [item.extractor.clone(), item.url.to_string(), item.at.to_string()];
            let cells = self.names.iter().map(|name| cell(field(&item.value, name)));
            text.push_str(&csv_row(own.into_iter().chain(cells)));
            self.tell_without_column(item);
        }
        text
    }

    fn tell_without_column(&self, item: &Item) {
        for name in fields(&item.value) {
            if self.names.iter().any(|known| field_of(known) == name) {
                continue;
            }
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < MOST_TOLD && told.insert(name.to_owned()) {
                tracing::warn!(
                    url = %item.url,
                    "the field \"{name}\" of an item has no column and is left out of the CSV file; \
                     name it in output.items.columns, or write JSON Lines"
                );
            }
        }
    }
}

/// The column of a field: its name, unless the item's own columns have that.
fn column(field: &str) -> String {
    if OWN.contains(&field) { format!("{OF_ITEM}{field}") } else { field.to_owned() }
}

/// The field that a column is of.
fn field_of(column: &str) -> &str {
    column.strip_prefix(OF_ITEM).filter(|field| OWN.contains(field)).unwrap_or(column)
}

fn fields(value: &Value) -> Vec<&str> {
    match value.as_object() {
        Some(fields) => fields.keys().map(String::as_str).collect(),
        None => vec![BARE],
    }
}

fn field<'a>(value: &'a Value, column: &str) -> Option<&'a Value> {
    match value.as_object() {
        Some(fields) => fields.get(field_of(column)),
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

/// A record with its end, its cells quoted where they must be.
pub fn csv_row(cells: impl IntoIterator<Item = String>) -> String {
    let quoted = |cell: String| {
        let must = cell.contains(['"', ',', '\r', '\n']);
        if must { format!("\"{}\"", one_line_feed(&cell).replace('"', "\"\"")) } else { cell }
    };
    let cells: Vec<_> = cells.into_iter().map(quoted).collect();
    cells.join(",") + "\r\n"
}

/// The text without carriage returns before a line feed.
fn one_line_feed(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for next in text.chars() {
        if next == '\n' {
            plain.truncate(plain.trim_end_matches('\r').len());
        }
        plain.push(next);
    }
    plain
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
