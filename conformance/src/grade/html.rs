//! What came of a run as one page that needs nothing beside it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::junit::escape;
use super::table::no_grade;
use super::{Graded, GradedCase, Outcome, Tally, Verdict};
use crate::vectors::{Level, PARITY};

/// How the page looks.
const STYLE: &str = include_str!("report.css");

/// Octets of a question or an answer that are shown.
const SHOWN: usize = 4_000;

/// The page: a summary, a table of subjects, and each clause with its vectors.
pub fn html(graded: &Graded) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Conformance of {engine}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<p class=\"over\">comity-conformance</p>\n<h1>{verdict}</h1>\n\
         <p>Engine <code>{engine}</code></p>\n{tiles}</header>\n<main>\n",
        engine = escape(&graded.engine),
        verdict = verdict(graded),
        tiles = tiles(graded),
    );
    let own: Vec<String> = no_grade(graded).into_iter().chain(graded.warnings.clone()).collect();
    if !own.is_empty() {
        page.push_str("<section class=\"card bad\">\n<h2>The run itself</h2>\n<ul>\n");
        for line in &own {
            let _ = writeln!(page, "<li>{}</li>", escape(line));
        }
        page.push_str("</ul>\n</section>\n");
    }
    if !graded.unexpected.is_empty() {
        page.push_str("<section class=\"card bad\">\n<h2>Otherwise than expected</h2>\n<ul>\n");
        for line in &graded.unexpected {
            let _ = writeln!(page, "<li>{}</li>", escape(line));
        }
        page.push_str("</ul>\n</section>\n");
    }
    page.push_str(&subjects(graded));
    page.push_str("<h2>Clause by clause</h2>\n");
    page.push_str("<p class=\"faint\">Codes such as RT-083 are the numbered requirements. A clause that was not kept is open.</p>\n");
    let mut skipped = Vec::new();
    for (clause, results) in graded.by_clause() {
        match Tally::of(results.iter().copied()) {
            tally if tally.answered() == 0 => skipped.push(escape(clause)),
            _ => page.push_str(&clause_section(clause, &results)),
        }
    }
    if !skipped.is_empty() {
        let _ = writeln!(
            page,
            "<p class=\"faint\">Not asked of this engine: {}.</p>",
            skipped.join(", ")
        );
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn verdict(graded: &Graded) -> String {
    let Tally { kept, bad, skipped, not_asked, .. } = graded.tally();
    let not_kept = match bad {
        0 => "Not as expected".to_owned(),
        1 => "1 vector is not kept".to_owned(),
        bad => format!("{bad} vectors are not kept"),
    };
    match graded.verdict() {
        Verdict::Good if skipped == 0 => format!("All {kept} vectors are kept"),
        Verdict::Good => format!("{kept} vectors are kept, {skipped} skipped"),
        Verdict::Empty => "Nothing was graded".into(),
        Verdict::Bad => not_kept,
        Verdict::Unfinished if bad == 0 => format!("Ended early, {not_asked} vectors not asked"),
        Verdict::Unfinished => format!("Ended early: {not_kept}, {not_asked} not asked"),
    }
}

/// A number a level, with what it is made of.
fn tiles(graded: &Graded) -> String {
    let mut tiles = String::from("<div class=\"tiles\">\n");
    for level in Level::ALL {
        let of_level = graded.results.iter().filter(|result| result.case.level == *level);
        let tally = Tally::of(of_level);
        let asked = tally.answered();
        let class = if tally.bad > 0 { "bad" } else { "good" };
        let _ = writeln!(
            tiles,
            "<div class=\"tile {class}\"><span class=\"label\">{}</span><strong>{}</strong>\
             <span class=\"of\">of {asked} kept{}</span></div>",
            level.name(),
            tally.kept,
            if tally.skipped > 0 { format!(", {} skipped", tally.skipped) } else { String::new() },
        );
    }
    tiles.push_str("</div>\n");
    tiles
}

fn subjects(graded: &Graded) -> String {
    let mut table = String::from(
        "<section class=\"card\">\n<h2>Subjects</h2>\n<table>\n<thead><tr><th>subject</th>\
         <th class=\"wide\"></th><th>kept</th><th>broken</th><th>skipped</th></tr></thead>\n<tbody>\n",
    );
    for (subject, results) in graded.by_subject() {
        let tally = Tally::of(results.iter().copied());
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td{}>{}</td><td>{}</td></tr>",
            escape(subject),
            bar(tally),
            tally.kept,
            if tally.bad > 0 { " class=\"bad\"" } else { "" },
            tally.bad + tally.expected,
            tally.skipped,
        );
    }
    table.push_str("</tbody>\n</table>\n</section>\n");
    table
}

/// What share was kept, broken and skipped.
fn bar(tally: Tally) -> String {
    let share = |count: usize| count as f64 * 100.0 / tally.all().max(1) as f64;
    let parts = [
        ("kept", tally.kept),
        ("broken", tally.bad),
        ("expected", tally.expected),
        ("skipped", tally.skipped),
        ("not-asked", tally.not_asked),
    ];
    let mut bar = String::from("<span class=\"bar\" role=\"img\" aria-label=\"");
    let told: Vec<_> = parts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let _ = write!(bar, "{}\">", told.join(", "));
    for (name, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
        let _ = write!(bar, "<i class=\"{name}\" style=\"width:{:.2}%\"></i>", share(count));
    }
    bar.push_str("</span>");
    bar
}

/// One clause: its sources, and a row a vector.
fn clause_section(clause: &str, results: &[&GradedCase]) -> String {
    let tally = Tally::of(results.iter().copied());
    let sources: BTreeSet<&str> = results.iter().map(|r| r.case.source.as_str()).collect();
    let open = if tally.bad > 0 { " open" } else { "" };
    let mut section = format!(
        "<details class=\"card\" id=\"{clause}\"{open}>\n<summary><b>{clause}</b>{}\
         <span class=\"count\">{} of {}</span></summary>\n",
        bar(tally),
        tally.kept,
        tally.answered(),
        clause = escape(clause),
    );
    let sources: Vec<_> = sources.into_iter().map(escape).collect();
    let _ = writeln!(section, "<p class=\"faint\">{}</p>\n<table>\n<tbody>", sources.join("<br>"));
    // Of thousands that are kept, their number says enough.
    let (mut shown, left): (Vec<&GradedCase>, Vec<_>) =
        results.iter().partition(|r| r.outcome.is_bad() || r.case.subject != PARITY);
    shown.sort_by_key(|r| !r.outcome.is_bad());
    shown.iter().for_each(|result| section.push_str(&row(result)));
    section.push_str("</tbody>\n</table>\n");
    if !left.is_empty() {
        let _ = writeln!(section, "<p class=\"faint\">and {} of the parity corpus</p>", left.len());
    }
    section.push_str("</details>\n");
    section
}

fn row(result: &GradedCase) -> String {
    let case = &result.case;
    let class = if result.expected_failure { "expected" } else { result.outcome.name() };
    let mut row = format!(
        "<tr class=\"{class}\"><td><span class=\"pill\">{class}</span></td><td>{}</td><td>\
         <details><summary><code>{}</code></summary>\n<p class=\"why\">{}</p>\n",
        case.level.name(),
        escape(&case.id),
        escape(&case.why),
    );
    if let Some(document) = &case.overrules_parser {
        let document = escape(document);
        let _ = writeln!(
            row,
            "<p class=\"faint\">Google's own parser answers otherwise; overruled by {document}.</p>"
        );
    }
    let mut block = |name: &str, text: &str| {
        let _ = writeln!(row, "<p class=\"label\">{name}</p><pre>{}</pre>", escape(&short(text)));
    };
    // Texts of several lines are read more easily as such.
    let is_text = |value: &Value| value.as_str().is_some_and(|text| text.contains(['\n', '\r']));
    let (texts, rest): (Map<_, _>, Map<_, _>) =
        case.input.clone().into_iter().partition(|(_, value)| is_text(value));
    for (key, text) in &texts {
        block(key, text.as_str().unwrap_or_default());
    }
    block("asked", &serde_json::to_string(&rest).unwrap_or_default());
    block("right", &serde_json::to_string(&case.expect).unwrap_or_default());
    match &result.outcome {
        Outcome::Kept | Outcome::NotAsked => {}
        Outcome::Broken { answer } => block("answered", &answer.to_string()),
        Outcome::Failed { error } => block("instead", error),
        Outcome::Skipped { reason } => block("skipped", reason),
    }
    row.push_str("</details></td></tr>\n");
    row
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
