//! What came of a trial: for a terminal, as JSON, as JUnit XML, as one page.

use std::fmt::Write as _;

use serde::Serialize;

use super::child::End;
use super::judge::{Grade, Verdict, moment};
use super::ledger::Arrival;
use super::scenario::{Mode, Scenario};
use crate::grade::escape;
use crate::vectors::{Level, Policy};

/// How the page looks.
const STYLE: &str = include_str!("../grade/report.css");

/// Requests of a scenario that a page shows.
const SHOWN: usize = 100;

/// A whole trial.
#[derive(Debug, Serialize)]
pub struct TrialReport {
    /// The command line.
    pub crawler: String,
    /// How it reached the sites.
    pub mode: Mode,
    /// Its product token.
    pub agent: String,
    /// The interval that it was told.
    pub interval_s: f64,
    /// The policy that it was told.
    pub policy: Policy,
    /// One a scenario.
    pub results: Vec<Graded>,
    /// Scenarios that were not run, because they have a clock of their own and the crawler could not
    /// be told the time.
    pub without_time: Vec<String>,
    /// Scenarios that were not run, or not to their end, because the trial was interrupted.
    pub interrupted: Vec<String>,
}

/// One scenario's result.
#[derive(Debug, Serialize)]
pub struct Graded {
    /// The scenario.
    pub scenario: Scenario,
    /// What came of it.
    #[serde(flatten)]
    pub grade: Grade,
    /// All requests.
    pub arrivals: Vec<Arrival>,
    /// How each run ended.
    pub ends: Vec<End>,
    /// How the crawler ended, and what it said last; empty if the scenario is kept.
    pub said: String,
}

impl TrialReport {
    /// How many scenarios of a level, or of all, have this verdict.
    pub fn count(&self, verdict: Verdict, level: Option<Level>) -> usize {
        let of_level = |g: &&Graded| level.is_none_or(|level| g.scenario.level == level);
        self.results.iter().filter(of_level).filter(|g| g.grade.verdict == verdict).count()
    }

    /// Whether nothing is broken, and something was exercised.
    pub fn is_good(&self) -> bool {
        self.count(Verdict::Broken, None) == 0 && self.count(Verdict::Kept, None) > 0
    }

    /// What to say if no request had the product token in its User-Agent: then most likely another is
    /// meant.
    fn other_agent(&self) -> Option<String> {
        let arrivals = self.results.iter().flat_map(|graded| &graded.arrivals);
        let mut names = arrivals.map(|a| a.header("user-agent").unwrap_or_default()).peekable();
        let first: String = names.peek()?.chars().take(80).collect();
        let own = self.agent.to_ascii_lowercase();
        let none = names.all(|name| !name.to_ascii_lowercase().contains(&own));
        none.then(|| {
            format!(
                "No request had {own:?} in its User-Agent, the first had {first:?}: --agent has to be the \
                 crawler's product token.",
            )
        })
    }
}

impl Graded {
    /// Which runs the lab or a signal ended, or, if all is not kept, a program that failed.
    fn ended_badly(&self) -> Option<String> {
        let is_bad = |end: &End| match end {
            End::TimeLimit(_) | End::Signal(_) => true,
            End::Exit(status) => *status != 0 && self.grade.verdict != Verdict::Kept,
        };
        let bad: Vec<_> = self.ends.iter().enumerate().filter(|(_, end)| is_bad(end)).collect();
        let (first, end) = bad.first()?;
        Some(match (self.ends.len(), bad.len()) {
            (1, _) => format!("the crawler: {end}"),
            (all, 1) => format!("the crawler, run {} of {all}: {end}", first + 1),
            (all, bad) => {
                format!("the crawler, {bad} of {all} runs, first run {}: {end}", first + 1)
            }
        })
    }
}

/// A line a scenario, with what is not kept; then how many of each level.
pub fn table(report: &TrialReport) -> String {
    let mut text = String::new();
    let width = report.results.iter().map(|g| g.scenario.name.len()).max().unwrap_or_default();
    for graded in &report.results {
        let Graded { scenario, grade, .. } = graded;
        let (name, level, verdict) = (&scenario.name, scenario.level.name(), grade.verdict.name());
        let clauses = scenario.clauses.join(" ");
        let _ = writeln!(text, "{name:<width$}  {verdict:<13}  {level:<6}  {clauses}");
        if let Some(ended) = graded.ended_badly() {
            let _ = writeln!(text, "    {ended}");
        }
        for finding in &grade.findings {
            let _ = writeln!(text, "    {finding}");
        }
        if grade.verdict == Verdict::Broken {
            let _ = writeln!(text, "    because {} [{}]", scenario.why, scenario.source);
        }
    }
    let silent = report.results.iter().find(|g| g.arrivals.is_empty() && !g.said.is_empty());
    if let Some(Graded { scenario, said, .. }) = silent {
        let _ = writeln!(text, "\nNothing arrived of {}; the crawler said:\n{said}", scenario.name);
    }
    if !report.without_time.is_empty() {
        let _ = writeln!(
            text,
            "\nNot run, as they last hours or days: {}. With --faketime they are, or where the command \
             takes {{start}} and {{scale}}.",
            report.without_time.len()
        );
    }
    if !report.interrupted.is_empty() {
        let (count, names) = (report.interrupted.len(), report.interrupted.join(", "));
        let _ = writeln!(text, "\nNot run, as the trial was interrupted: {count} ({names}).");
    }
    if let Some(hint) = report.other_agent() {
        let _ = writeln!(text, "\n{hint}");
    }
    text.push('\n');
    for level in Level::ALL {
        let _ = writeln!(text, "{:<6}  {}", level.name(), counts(report, Some(*level)));
    }
    let _ = writeln!(text, "all     {}", counts(report, None));
    visible(&text)
}

/// A text of strangers, as a terminal may have it: control characters in their Rust notation.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

fn counts(report: &TrialReport, level: Option<Level>) -> String {
    format!(
        "{:>3} kept  {:>3} broken  {:>3} not exercised",
        report.count(Verdict::Kept, level),
        report.count(Verdict::Broken, level),
        report.count(Verdict::NotExercised, level)
    )
}

/// All of it.
///
/// # Errors
///
/// None that a report can cause.
pub fn json(report: &TrialReport) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report)
}

/// A test case a scenario.
pub fn junit(report: &TrialReport) -> String {
    let not_run = report.without_time.len() + report.interrupted.len();
    let (tests, failures) = (report.results.len() + not_run, report.count(Verdict::Broken, None));
    let skipped = report.count(Verdict::NotExercised, None) + not_run;
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\"");
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"comity-lab\" {counts}>\n  \
         <testsuite name=\"scenarios\" {counts}>\n"
    );
    for graded in &report.results {
        let Graded { scenario, grade, .. } = graded;
        let ended = graded.ended_badly().map(|ended| format!("\n{ended}")).unwrap_or_default();
        let class = escape(&format!("{}.{}", scenario.level.name(), scenario.clauses.join("+")));
        let _ =
            write!(xml, "    <testcase classname=\"{class}\" name=\"{}\"", escape(&scenario.name));
        let _ = match grade.verdict {
            Verdict::Kept => writeln!(xml, "/>"),
            Verdict::NotExercised => {
                let ended = escape(&ended.replace('\n', "; "));
                writeln!(xml, "><skipped message=\"not exercised{ended}\"/></testcase>")
            }
            Verdict::Broken => writeln!(
                xml,
                "><failure type=\"{}\" message=\"{}\">{}</failure></testcase>",
                scenario.level.name(),
                escape(&scenario.source),
                escape(&format!("{}\n{}{ended}", scenario.why, grade.findings.join("\n")))
            ),
        };
    }
    let untold = report.without_time.iter().map(|name| (name, "the crawler was not told the time"));
    let interrupted = report.interrupted.iter().map(|name| (name, "interrupted"));
    for (name, why) in untold.chain(interrupted) {
        let _ = writeln!(
            xml,
            "    <testcase name=\"{}\"><skipped message=\"not run: {why}\"/></testcase>",
            escape(name)
        );
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// One page that needs nothing beside it.
pub fn html(report: &TrialReport) -> String {
    let crawler = escape(&report.crawler);
    let broken = report.count(Verdict::Broken, None);
    let verdict = match broken {
        0 if report.is_good() && !report.interrupted.is_empty() => {
            "Interrupted; no scenario is broken so far".to_owned()
        }
        0 if report.is_good() => "No scenario is broken".to_owned(),
        0 => "Nothing was exercised".to_owned(),
        1 => "1 scenario is broken".to_owned(),
        broken => format!("{broken} scenarios are broken"),
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>Grade of {crawler}</title>\n<style>\n\
         {STYLE}</style>\n</head>\n<body>\n<header>\n<p class=\"over\">comity-lab</p>\n<h1>{verdict}</h1>\n\
         <p><code>{crawler}</code></p>\n<div class=\"tiles\">\n"
    );
    for level in Level::ALL {
        let count = |verdict| report.count(verdict, Some(*level));
        let (kept, bad) = (count(Verdict::Kept), count(Verdict::Broken));
        let class = if bad > 0 { "bad" } else { "good" };
        let _ = writeln!(
            page,
            "<div class=\"tile {class}\"><span class=\"label\">{}</span><strong>{kept}</strong>\
             <span class=\"of\">of {} kept, {} not exercised</span></div>",
            level.name(),
            kept + bad,
            count(Verdict::NotExercised)
        );
    }
    page.push_str("</div>\n</header>\n<main>\n<section class=\"card\">\n<table>\n<tbody>\n");
    report.results.iter().for_each(|graded| page.push_str(&row(graded)));
    page.push_str("</tbody>\n</table>\n");
    if !report.without_time.is_empty() {
        let names = report.without_time.join(", ");
        let _ = writeln!(
            page,
            "<p class=\"faint\">Not run, because they last hours or days and the crawler was not told the \
             time: {}.</p>",
            escape(&names)
        );
    }
    if !report.interrupted.is_empty() {
        let names = escape(&report.interrupted.join(", "));
        let _ = writeln!(
            page,
            "<p class=\"faint\">Not run, because the trial was interrupted: {names}.</p>"
        );
    }
    page.push_str("</section>\n</main>\n</body>\n</html>\n");
    page
}

fn row(graded: &Graded) -> String {
    let Graded { scenario, grade, arrivals, said, .. } = graded;
    let class = match grade.verdict {
        Verdict::Kept => "kept",
        Verdict::Broken => "broken",
        Verdict::NotExercised => "skipped",
    };
    let open = if grade.verdict == Verdict::Broken { " open" } else { "" };
    let mut row = format!(
        "<tr class=\"{class}\" id=\"{name}\"><td><span class=\"pill\">{verdict}</span></td><td>{level}</td>\
         <td><details{open}><summary><code>{name}</code> {title}</summary>\n<p class=\"why\">{why}</p>\n\
         <p class=\"faint\">{clauses}: {source}</p>\n",
        name = escape(&scenario.name),
        verdict = grade.verdict.name(),
        level = scenario.level.name(),
        title = escape(&scenario.title),
        why = escape(&scenario.why),
        clauses = scenario.clauses.join(", "),
        source = escape(&scenario.source),
    );
    let mut block = |name: &str, text: &str| {
        if !text.is_empty() {
            let text = escape(text);
            let _ = writeln!(row, "<p class=\"label\">{name}</p><pre>{text}</pre>");
        }
    };
    block("not kept", &grade.findings.join("\n"));
    let lines = arrivals.iter().take(SHOWN).map(|a| {
        format!("{:>14}  {:<4} {:<8} {}  {}", moment(a.at_s), a.method, a.site, a.path, a.answer)
    });
    block("requests", &lines.collect::<Vec<_>>().join("\n"));
    let ended = graded.ended_badly().unwrap_or_default();
    block("the crawler", if said.is_empty() { &ended } else { said });
    row.push_str("</details></td></tr>\n");
    row
}
