//! How far several engines agree with the vectors: a table for a document.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Deserialize;

/// What is needed of a run's JSON.
#[derive(Deserialize)]
struct Run {
    results: Vec<Row>,
    ended_early: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    subject: String,
    outcome: String,
}

impl Row {
    fn is_answered(&self) -> bool {
        !matches!(self.outcome.as_str(), "skipped" | "not-asked")
    }
}

/// One engine's counts.
#[derive(Clone, Copy, Default)]
struct Count {
    kept: usize,
    asked: usize,
}

/// A Markdown table of runs, each a name and the JSON that the run wrote: a row a subject, a
/// column an engine, `kept of asked` in each; then what each does otherwise, a line a clause.
///
/// # Errors
/// Text that is no such JSON.
pub fn peers(runs: &[(String, String)]) -> serde_json::Result<String> {
    let mut columns = Vec::new();
    for (name, json) in runs {
        let run: Run = serde_json::from_str(json)?;
        let is_part = if run.ended_early.is_some() { " (ended early)" } else { "" };
        columns.push((format!("{name}{is_part}"), run.results));
    }
    let count = |rows: &[Row], subject: Option<&str>| {
        let mut count = Count::default();
        for row in rows.iter().filter(|row| subject.is_none_or(|subject| row.subject == subject)) {
            count.kept += usize::from(row.outcome == "kept");
            count.asked += usize::from(row.is_answered());
        }
        count
    };
    let subjects: BTreeSet<&str> = columns
        .iter()
        .flat_map(|(_, rows)| rows.iter())
        .filter(|row| row.is_answered())
        .map(|row| row.subject.as_str())
        .collect();
    let mut text = String::from("| subject |");
    columns.iter().for_each(|(name, _)| text.push_str(&format!(" {name} |")));
    text.push_str("\n|---|");
    columns.iter().for_each(|_| text.push_str("---|"));
    text.push('\n');
    for subject in subjects.iter().map(|subject| Some(*subject)).chain([None]) {
        let _ = write!(text, "| {} |", subject.unwrap_or("all"));
        for (_, rows) in &columns {
            let Count { kept, asked } = count(rows, subject);
            let cell = if asked == 0 { "–".into() } else { format!("{kept} of {asked}") };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    for (name, rows) in &columns {
        text.push_str(&differences(name, rows));
    }
    Ok(text)
}

/// Which clauses an engine does not keep, and one vector of each that shows it.
fn differences(name: &str, rows: &[Row]) -> String {
    let mut clauses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_answered() && row.outcome != "kept") {
        let clause = row.id.split('/').nth(1).unwrap_or_default();
        clauses.entry(clause).or_default().push(&row.id);
    }
    if clauses.is_empty() {
        return format!("\n{name} differs from no vector.\n");
    }
    let mut text = format!("\n{name} differs:\n\n| clause | vectors | such as |\n|---|---|---|\n");
    for (clause, ids) in clauses {
        // A vector of a subject tells more than a case of the corpus.
        let shown = ids.iter().find(|id| !id.starts_with("parity/")).or(ids.first());
        let _ = writeln!(text, "| {clause} | {} | `{}` |", ids.len(), shown.unwrap_or(&""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_is_not_counted() {
        let row = |number: u32, outcome: &str| {
            format!(r#"{{"id":"meta/RM-001/{number}","subject":"meta","outcome":"{outcome}"}}"#)
        };
        let rows = [row(1, "kept"), row(2, "failed"), row(3, "skipped"), row(4, "not-asked")];
        let json = format!(r#"{{"ended_early":"died","results":[{}]}}"#, rows.join(","));
        let text = peers(&[("one".into(), json)]).unwrap();
        assert!(text.contains("| subject | one (ended early) |"), "{text}");
        assert!(text.contains("| meta | 1 of 2 |"), "{text}");
        assert!(text.contains("| RM-001 | 1 | `meta/RM-001/2` |"), "{text}");
    }
}
