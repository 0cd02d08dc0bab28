//! `comity robots lint`: what of a robots.txt has no effect, or another than it says.

use std::path::Path;

use comity_compliance::RobotsNumbers;
use comity_compliance::robots::{
    FieldKind, Finding, Findings, ReportLine, RobotsOutcome, Severity, cut, lint, report,
};
use serde_json::{Value, json};

use super::super::Exit;
use super::super::args::LintArgs;
use super::super::terminal::{Terminal, Tone, plural};
use super::subject::{LOOKED_AT, Subject};

pub(super) async fn run(args: LintArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let subject = Subject::read(&args.subject, &args.ask, None, LOOKED_AT, config).await?;
    let body: &[u8] = match &subject.outcome {
        RobotsOutcome::File { body, .. } => body,
        RobotsOutcome::NoFile { .. } | RobotsOutcome::Unreachable { .. } => b"",
    };
    let max_bytes = RobotsNumbers::DOCUMENTED.max_bytes;
    let found = lint(body, max_bytes);
    let read = cut(body, max_bytes);
    let terminal = Terminal::new();
    if args.json {
        let mut told = as_json(&subject, read, &found);
        if args.lines {
            told["lines"] = report(read).map(|line| line_json(&line)).collect();
        }
        terminal.json(&told);
    } else {
        subject.headline(terminal);
        if args.lines {
            report(read).for_each(|line| print_line(terminal, &line));
        }
        print_findings(terminal, &found);
    }
    Ok(if found.errors > 0 { Exit::FoundErrors } else { subject.exit() })
}

fn print_line(terminal: Terminal, line: &ReportLine<'_>) {
    let text: String = text(line.raw).chars().filter(|c| !c.is_control()).collect();
    terminal.line(format_args!("  {:>4}  {:<10}  {text}", line.number, line.word()));
}

fn print_findings(terminal: Terminal, found: &Findings) {
    for Finding { line, lint, detail } in &found.shown {
        let (tone, severity) = match lint.severity() {
            Severity::Error => (Tone::Bad, "error  "),
            Severity::Warning => (Tone::Note, "warning"),
        };
        let place = format!("line {line}");
        terminal.line(format_args!(
            "  {place:<9} {}  {lint}{}{detail}",
            terminal.paint(tone, severity),
            if detail.is_empty() { "" } else { ": " },
        ));
        terminal.line(format_args!("            {} ({})", lint.advice(), lint.clause()));
    }
    let (errors, warnings) = (found.errors.into(), found.warnings.into());
    let hidden = errors + warnings - found.shown.len() as u64;
    if hidden > 0 {
        terminal.line(format_args!("  and {hidden} more"));
    }
    terminal.line(format_args!(
        "{}, {}",
        plural(errors, "error", "errors"),
        plural(warnings, "warning", "warnings"),
    ));
}

fn as_json(subject: &Subject, body: &[u8], found: &Findings) -> Value {
    let findings = found.shown.iter().map(|finding| {
        json!({
            "line": finding.line,
            "code": finding.lint.code(),
            "severity": finding.lint.severity().name(),
            "detail": finding.detail,
            "advice": finding.lint.advice(),
            "clause": finding.lint.clause(),
        })
    });
    let of_kind = |kind| {
        let fields = report(body).filter_map(|line| Some((line.number, *line.field()?)));
        let fields = fields.filter(move |(_, field)| field.kind == kind);
        fields.map(|(line, field)| {
            json!({ "line": line, "field": text(field.key), "value": text(field.value) })
        })
    };
    let unused = of_kind(FieldKind::Unused).chain(of_kind(FieldKind::Unknown));
    json!({
        "source": subject.name,
        "answer": subject.answer(),
        "size": subject.size_json(),
        "errors": found.errors,
        "warnings": found.warnings,
        "findings": findings.collect::<Vec<_>>(),
        "unused_fields": unused.collect::<Vec<_>>(),
        "sitemaps": of_kind(FieldKind::Sitemap).collect::<Vec<_>>(),
    })
}

fn line_json(line: &ReportLine<'_>) -> Value {
    let field = line.field();
    json!({
        "line": line.number,
        "what": line.word(),
        "field": field.map(|field| text(field.key)),
        "value": field.map(|field| text(field.value)),
        "typo": field.is_some_and(|field| field.is_typo()),
        "missing_colon": field.is_some_and(|field| field.lacks_colon()),
        "too_long": line.dropped > 0,
    })
}

fn text(octets: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(octets)
}
