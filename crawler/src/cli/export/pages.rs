//! Page records as JSON Lines, CSV or Parquet, with the same fields.

use std::io::{self, Write};

use comity_storage::{Fetched, Outcome, PageRecord};
use serde_json::{Map, Value, json};

use crate::cli::args::ExportFormat;
use crate::output::items::csv_row;
#[cfg(feature = "parquet")]
use crate::output::parquet::{Column, Kind};

/// The fields of a page, in the order of the columns.
const FIELDS: [&str; 22] = [
    "url",
    "found_at",
    "found_on",
    "depth",
    "visited_at",
    "outcome",
    "status",
    "reason",
    "detail",
    "redirected_to",
    "title",
    "bytes",
    "truncated",
    "directives",
    "publication",
    "canonical",
    "canonical_reason",
    "stand_in",
    "etag",
    "last_modified",
    "due_at",
    "failures",
];

/// Where page records go.
pub(super) enum Pages<W: Write + Send> {
    Jsonl(W),
    Csv(W),
    #[cfg(feature = "parquet")]
    Parquet(crate::output::parquet::Table<W>),
}

impl<W: Write + Send> Pages<W> {
    /// Begins, with what stands before the first page.
    pub(super) fn begin(format: ExportFormat, mut out: W) -> io::Result<Self> {
        Ok(match format {
            ExportFormat::Jsonl => Self::Jsonl(out),
            ExportFormat::Csv => {
                out.write_all(csv_row(FIELDS.map(String::from)).as_bytes())?;
                Self::Csv(out)
            }
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet => {
                Self::Parquet(crate::output::parquet::Table::begin(out, COLUMNS)?)
            }
            #[cfg(not(feature = "parquet"))]
            ExportFormat::Parquet => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    pub(super) fn write(&mut self, pages: &[PageRecord]) -> io::Result<()> {
        let mut rows = pages.iter().map(fields);
        match self {
            Self::Jsonl(out) => rows.try_for_each(|row| writeln!(out, "{}", Value::Object(row))),
            Self::Csv(out) => rows.try_for_each(|row| {
                out.write_all(csv_row(FIELDS.map(|name| cell(row.get(name)))).as_bytes())
            }),
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => table.write(&rows.collect::<Vec<_>>()),
        }
    }

    pub(super) fn end(self) -> io::Result<()> {
        match self {
            Self::Jsonl(mut out) | Self::Csv(mut out) => out.flush(),
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => table.end(),
        }
    }
}

/// The same fields with what they hold.
#[cfg(feature = "parquet")]
const COLUMNS: &[Column] = &[
    ("url", Kind::Text),
    ("found_at", Kind::Text),
    ("found_on", Kind::Text),
    ("depth", Kind::Number),
    ("visited_at", Kind::Text),
    ("outcome", Kind::Text),
    ("status", Kind::Number),
    ("reason", Kind::Text),
    ("detail", Kind::Text),
    ("redirected_to", Kind::Text),
    ("title", Kind::Text),
    ("bytes", Kind::Number),
    ("truncated", Kind::Flag),
    ("directives", Kind::Text),
    ("publication", Kind::Text),
    ("canonical", Kind::Text),
    ("canonical_reason", Kind::Text),
    ("stand_in", Kind::Text),
    ("etag", Kind::Text),
    ("last_modified", Kind::Text),
    ("due_at", Kind::Text),
    ("failures", Kind::Number),
];

/// Lists in one cell are parted by semicolons.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let parts: Vec<_> = parts.iter().map(|part| cell(Some(part))).collect();
            parts.join("; ")
        }
        Some(other) => other.to_string(),
    }
}

fn fields(page: &PageRecord) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.into(), value);
        }
    };
    set("url", json!(page.url.as_str()));
    set("found_at", json!(page.found_at.to_string()));
    set("found_on", json!(page.from.as_ref().map(url::Url::as_str)));
    set("depth", json!(page.depth));
    set("due_at", json!(page.due.map(|due| due.to_string())));
    set("failures", json!(page.attempts));
    set("visited_at", json!(page.last.as_ref().map(|(at, _)| at.to_string())));
    if let Some(reason) = &page.noted {
        set("outcome", json!("noted"));
        set("reason", json!(reason));
    }
    match page.last.as_ref().map(|(_, outcome)| outcome) {
        Some(Outcome::Fetched(fetched)) => {
            set("outcome", json!("fetched"));
            of_response(fetched, &mut set);
        }
        Some(Outcome::Redirected { status, to }) => {
            set("outcome", json!("redirected"));
            set("status", json!(status));
            set("redirected_to", json!(to.as_str()));
        }
        Some(Outcome::Refused { code, evidence }) => {
            set("outcome", json!("refused"));
            set("reason", json!(code));
            set("detail", json!(evidence));
        }
        Some(Outcome::Failed { code, detail }) => {
            set("outcome", json!("failed"));
            set("reason", json!(code));
            set("detail", json!(detail));
        }
        Some(Outcome::Noted { .. }) | None => {}
    }
    fields
}

fn of_response(fetched: &Fetched, set: &mut impl FnMut(&str, Value)) {
    let directives = fetched.directives.iter().map(|note| match &note.agent {
        Some(agent) => format!("{}: {} ({})", agent, note.rule, note.source),
        None => format!("{} ({})", note.rule, note.source),
    });
    set("status", json!(fetched.status));
    set("title", json!(fetched.title));
    set("bytes", json!(fetched.bytes));
    set("truncated", json!(fetched.truncated));
    set("directives", json!(directives.collect::<Vec<_>>()));
    set("publication", json!(fetched.publication));
    set("canonical", json!(fetched.canonical.as_ref().map(url::Url::as_str)));
    set("canonical_reason", json!(fetched.canonical_reason));
    set("stand_in", json!(fetched.stand_in.as_ref().map(url::Url::as_str)));
    set("etag", json!(fetched.etag));
    set("last_modified", json!(fetched.last_modified));
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_fields() {
        assert_eq!(COLUMNS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), FIELDS);
    }
}
