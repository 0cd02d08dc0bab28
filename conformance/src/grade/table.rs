//! What came of a run, for a terminal.

use std::fmt::Write as _;

use super::{Graded, GradedCase, Outcome, Tally, Verdict, plain};
use crate::vectors::Level;

/// How many failures are shown in full.
const SHOWN: usize = 20;

/// A line a subject, then what was not kept, with the right answer and why it is right. Where there
/// is more to tell than a terminal bears, `rest` says where it stands.
pub fn table(graded: &Graded, rest: &str) -> String {
    let mut text = String::new();
    let width = graded.by_subject().keys().map(|name| name.len()).max().unwrap_or_default().max(8);
    let mut row = |name: &str, tally: Tally, levels: &str| {
        let Tally { kept, bad, expected, skipped, not_asked } = tally;
        let left =
            if not_asked > 0 { format!("  {not_asked:>5} not asked") } else { String::new() };
        let known = if expected > 0 { format!("  {expected} expected") } else { String::new() };
        let levels = if levels.is_empty() { String::new() } else { format!("  {levels}") };
        let _ = writeln!(
            text,
            "{name:<width$}  {kept:>5} kept  {bad:>5} broken  {skipped:>5} skipped{left}{known}{levels}"
        );
    };
    for (subject, results) in graded.by_subject() {
        row(subject, Tally::of(results.iter().copied()), &broken_levels(&results));
    }
    row("all", graded.tally(), "");
    let bad: Vec<_> = graded.bad().collect();
    for result in bad.iter().take(SHOWN) {
        text.push('\n');
        text.push_str(&failure(result));
    }
    if bad.len() > SHOWN {
        let _ = writeln!(
            text,
            "\nThese are {SHOWN} of {} that were not kept; the other {}: {rest}",
            bad.len(),
            bad.len() - SHOWN
        );
    }
    for line in &graded.unexpected {
        let _ = writeln!(text, "\n{}", plain(line));
    }
    if let Some(sentence) = no_grade(graded) {
        let _ = writeln!(text, "\n{}", plain(&sentence));
    }
    text
}

/// Why the run is no grade of the engine, if it is none.
pub(super) fn no_grade(graded: &Graded) -> Option<String> {
    let tally = graded.tally();
    match (graded.verdict(), &graded.ended_early) {
        (Verdict::Unfinished, why) => Some(format!(
            "The run ended early, and {} of {} vectors were not asked: {}",
            tally.not_asked,
            tally.all(),
            why.as_deref().unwrap_or_default()
        )),
        (Verdict::Empty, _) => Some(format!(
            "Nothing was graded: the engine skipped all of the {} vectors.",
            tally.all()
        )),
        (Verdict::Good | Verdict::Bad, _) => None,
    }
}

/// `MUST 2, HOUSE 1`: of what level that is which was not kept.
fn broken_levels(results: &[&GradedCase]) -> String {
    let count = |level: Level| {
        let bad = results.iter().filter(|result| result.outcome.is_bad());
        bad.filter(|result| result.case.level == level).count()
    };
    let counts = Level::ALL.iter().map(|level| (level.name(), count(*level)));
    let counts = counts.filter(|(_, count)| *count > 0);
    counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

/// One failure in full.
fn failure(result: &GradedCase) -> String {
    let case = &result.case;
    let mut text = format!("{}  {} {}\n", case.id, case.level.name(), case.clause);
    let right = serde_json::to_string(&case.expect).unwrap_or_default();
    let _ = writeln!(text, "    asked   {}", short(&case.question().to_string()));
    let _ = writeln!(text, "    right   {}", short(&right));
    let got = match &result.outcome {
        Outcome::Broken { answer } => answer.to_string(),
        Outcome::Failed { error } => error.clone(),
        Outcome::Kept | Outcome::Skipped { .. } | Outcome::NotAsked => String::new(),
    };
    let _ = writeln!(text, "    got     {}", short(&got));
    let _ = writeln!(text, "    because {} [{}]", case.why, case.source);
    text
}

/// A line that a terminal bears.
fn short(text: &str) -> String {
    const MOST: usize = 600;
    let text = plain(text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
