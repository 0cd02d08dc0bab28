//! `comity-conformance`: grades any engine for robots.txt and page rules by the vectors.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use comity_conformance::grade::{
    Engine, ExpectedFailures, Fault, Graded, Selection, caught_by, faults, grade, html, junit,
    peers, table,
};
use comity_conformance::vectors::{Case, Level, Policy, vectors};

const BROKEN: u8 = 1;
const UNUSABLE: u8 = 2;

/// Grades any engine for robots.txt and page rules, in any language.
///
/// An engine is a program that reads a question a line, as JSON, and answers by a line.
#[derive(Debug, Parser)]
#[command(name = "comity-conformance", version, after_help = TEACHING)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const TEACHING: &str = "\
Examples:
  comity-conformance run --engine 'comity engine'
  comity-conformance run --engine 'python3 my_engine.py' --subject robots --policy google --html report.html
  comity-conformance run --list --clause RT-083

docs/conformance.md has the protocol, and an engine of ten lines.

Exit status:
  0  every vector kept or skipped, or failed as it was expected to
  1  a vector broken, or kept against expectation; with --mutate, a fault that no vector catches
  2  unusable input, or an engine that cannot be asked";

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask an engine, and tell what it keeps.
    Run(Box<RunArgs>),
    /// Make a table of several runs' JSON, in Markdown.
    Table {
        /// What each run wrote by --json; its name is the engine's.
        #[arg(required = true, value_name = "FILE")]
        runs: Vec<PathBuf>,
    },
}

#[derive(Args, Debug)]
struct RunArgs {
    /// The engine's command, as a shell reads it.
    #[arg(long, value_name = "CMD", required_unless_present = "list")]
    engine: Option<String>,
    /// Only subjects that begin so; may be repeated.
    #[arg(long, value_name = "NAME")]
    subject: Vec<String>,
    /// Only MUST, SHOULD or HOUSE; may be repeated.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Vec<Level>,
    /// Only this requirement, such as RT-083; may be repeated.
    #[arg(long, value_name = "NUMBER")]
    clause: Vec<String>,
    /// Only what is right under this policy, or under any: google, rfc9309, courteous; may be repeated.
    #[arg(long, value_name = "POLICY", value_parser = policy)]
    policy: Vec<Policy>,
    /// Vectors that are expected to fail, an id a line; one that is kept all the same fails too.
    #[arg(long, value_name = "FILE")]
    expect_failures: Option<PathBuf>,
    /// Print the vectors and ask nothing.
    #[arg(long)]
    list: bool,
    /// Put single faults into a copy of the engine's answers, and tell which vectors catch them: a
    /// fault's number or name, or all; list prints them.
    #[arg(long, value_name = "N|all|list")]
    mutate: Option<String>,
    /// How long an answer may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the results as one HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Run(args) => run(&args),
        Command::Table { runs } => print_table(&runs),
    };
    outcome.unwrap_or_else(|error| {
        // With standard error closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "comity-conformance: {error:#}");
        ExitCode::from(UNUSABLE)
    })
}

fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    if args.mutate.as_deref() == Some("list") {
        return list_faults();
    }
    let wanted = match args.mutate.as_deref() {
        Some(name) => some_faults(name)?,
        None => Vec::new(),
    };
    let selection = Selection {
        subjects: args.subject.clone(),
        levels: args.level.clone(),
        clauses: args.clause.clone(),
        policies: args.policy.clone(),
    };
    let cases: Vec<Case> = vectors()?.into_iter().filter(|case| selection.has(case)).collect();
    if cases.is_empty() {
        anyhow::bail!("no vector is of that subject, level, clause and policy");
    }
    let (false, Some(engine)) = (args.list, &args.engine) else { return list(&cases) };
    let mut expected = ExpectedFailures::default();
    if let Some(path) = &args.expect_failures {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("could not read {}", path.display()))?;
        expected = ExpectedFailures::read(&text);
        if selection != Selection::default() {
            expected = expected.of(&cases);
        }
    }
    let mut engine = Engine::new(engine, Duration::from_secs(args.seconds));
    let graded = grade(cases, &mut engine, &expected)?;
    write_reports(args, &graded)?;
    write!(io::stdout().lock(), "{}", table(&graded))?;
    let mut is_good = graded.is_good();
    if !wanted.is_empty() {
        is_good &= print_mutations(&graded, &wanted)?;
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
}

fn list(cases: &[Case]) -> anyhow::Result<ExitCode> {
    let mut output = io::stdout().lock();
    for case in cases {
        let written = writeln!(output, "{}  {}  {}", case.id, case.level.name(), case.why);
        if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            break;
        }
        written?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list_faults() -> anyhow::Result<ExitCode> {
    let mut output = io::stdout().lock();
    for (at, fault) in faults().iter().enumerate() {
        writeln!(output, "{:>3}  {:<18} {:<34} {}", at + 1, fault.subject, fault.name, fault.what)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// By number from 1, or name, or all.
fn some_faults(name: &str) -> anyhow::Result<Vec<&'static Fault>> {
    let all = faults();
    if name == "all" {
        return Ok(all);
    }
    let by_number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let found = match by_number {
        Some(at) => all.get(at).copied(),
        None => all.iter().copied().find(|fault| fault.name == name),
    };
    let found = found.with_context(|| {
        format!("there is no fault {name}; --mutate list prints all {}", all.len())
    })?;
    Ok(vec![found])
}

/// Whether every fault is caught.
fn print_mutations(graded: &Graded, wanted: &[&'static Fault]) -> anyhow::Result<bool> {
    let mut output = io::stdout().lock();
    let mut caught = 0;
    writeln!(output)?;
    for fault in wanted {
        let by = caught_by(fault, graded);
        caught += usize::from(!by.is_empty());
        let told = match by.as_slice() {
            [] => "NOT CAUGHT".to_owned(),
            [one] => format!("caught by {one}"),
            [first, rest @ ..] => format!("caught by {first} and {} more", rest.len()),
        };
        writeln!(output, "{:<34} {told}", fault.name)?;
    }
    writeln!(output, "{caught} of {} faults caught", wanted.len())?;
    Ok(caught == wanted.len())
}

fn write_reports(args: &RunArgs, graded: &Graded) -> anyhow::Result<()> {
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> serde_json::Result<String>| {
        let Some(path) = path else { return Ok(()) };
        fs::write(path, text()?).with_context(|| format!("could not write {}", path.display()))
    };
    write(&args.json, &|| serde_json::to_string_pretty(graded))?;
    write(&args.junit, &|| Ok(junit(graded)))?;
    write(&args.html, &|| Ok(html(graded)))
}

fn print_table(runs: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("could not read {}", path.display()))?;
        let name = path.file_stem().unwrap_or(Path::new("run").as_os_str());
        Ok((name.to_string_lossy().into_owned(), text))
    };
    let runs = runs.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    write!(io::stdout().lock(), "{}", peers(&runs)?)?;
    Ok(ExitCode::SUCCESS)
}

fn level(name: &str) -> Result<Level, String> {
    let found = Level::ALL.iter().find(|level| level.name().eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| "a level is MUST, SHOULD or HOUSE".into())
}

fn policy(name: &str) -> Result<Policy, String> {
    let found = Policy::ALL.iter().find(|policy| policy.name().eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| "a policy is google, rfc9309 or courteous".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }
}
