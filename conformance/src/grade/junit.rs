//! What came of a run as JUnit XML, which continuous integration shows.

use std::fmt::Write as _;

use super::table::no_grade;
use super::{Graded, GradedCase, Outcome, Tally};

/// A test suite a subject, a test case a vector.
pub fn junit(graded: &Graded) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = |tally: Tally, beside: usize| {
        format!(
            "tests=\"{}\" failures=\"{}\" skipped=\"{}\"",
            tally.all() + beside,
            tally.bad + beside,
            tally.skipped + tally.expected + tally.not_asked
        )
    };
    let unexpected: Vec<&str> = graded.unexpected.iter().map(String::as_str).collect();
    let no_grade = no_grade(graded);
    let no_grade: Vec<&str> = no_grade.as_deref().into_iter().collect();
    let all = counts(graded.tally(), unexpected.len() + no_grade.len());
    let _ = writeln!(xml, "<testsuites name=\"comity-conformance\" {all}>");
    for (subject, results) in graded.by_subject() {
        let tally = Tally::of(results.iter().copied());
        let _ = writeln!(xml, "  <testsuite name=\"{}\" {}>", escape(subject), counts(tally, 0));
        results.iter().for_each(|result| xml.push_str(&test_case(result)));
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str(&failures("expected failures", &unexpected));
    xml.push_str(&failures("the run itself", &no_grade));
    xml.push_str("</testsuites>\n");
    xml
}

/// A suite of failures that are no vector's; nothing if there are none.
fn failures(suite: &str, lines: &[&str]) -> String {
    let count = lines.len();
    if count == 0 {
        return String::new();
    }
    let mut xml =
        format!("  <testsuite name=\"{suite}\" tests=\"{count}\" failures=\"{count}\">\n");
    for line in lines {
        let name = escape(line);
        let _ =
            writeln!(xml, "    <testcase name=\"{name}\"><failure message=\"{name}\"/></testcase>");
    }
    xml.push_str("  </testsuite>\n");
    xml
}

fn test_case(result: &GradedCase) -> String {
    let case = &result.case;
    let name = escape(&case.id);
    let class = escape(&format!("{}.{}", case.subject, case.clause));
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\"");
    let right = serde_json::to_string(&case.expect).unwrap_or_default();
    let got = match &result.outcome {
        Outcome::Kept => return format!("{head}/>\n"),
        Outcome::Skipped { reason } => {
            return format!("{head}><skipped message=\"{}\"/></testcase>\n", escape(reason));
        }
        Outcome::NotAsked => {
            return format!("{head}><skipped message=\"not asked\"/></testcase>\n");
        }
        Outcome::Broken { answer } => answer.to_string(),
        Outcome::Failed { error } => error.clone(),
    };
    if result.expected_failure {
        return format!("{head}><skipped message=\"expected to fail\"/></testcase>\n");
    }
    let (level, source) = (case.level.name(), escape(&case.source));
    let text = format!(
        "{level} {}: {}\nasked: {}\nright: {right}\ngot: {got}",
        case.clause,
        case.why,
        case.question()
    );
    let text = escape(&text);
    format!("{head}><failure type=\"{level}\" message=\"{source}\">{text}</failure></testcase>\n")
}

/// Text as XML has it; what XML cannot hold at all is left out.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
