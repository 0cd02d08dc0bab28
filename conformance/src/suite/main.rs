//! `comity-conformance`: grades any engine for robots.txt and page rules by the vectors.

mod mutate;
mod reports;
mod signals;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, value_parser};
use comity_conformance::grade::{
    Engine, ExpectedFailures, Graded, Selection, Stop, Verdict, grade, peers, plain, table,
};
use comity_conformance::vectors::{Case, Level, Policy, vectors};

use self::mutate::{Mutate, Tried, mutate, try_faults};
use self::reports::Reports;

const BROKEN: u8 = 1;
const UNUSABLE: u8 = 2;
const NO_GRADE: u8 = 3;

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
  0    vectors kept, and every other skipped or failed as it was expected to
  1    a vector broken, or kept against expectation; with --mutate, a fault that no vector catches
  2    unusable input, an engine that cannot be started, a report that cannot be written
  3    no grade: the engine skipped everything, or failed so often that the run ended early; with
       --mutate, no fault that could be tried
  130  ended by Ctrl-C (129 by SIGHUP, 143 by SIGTERM); what was graded until then is reported";

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
    #[arg(long, value_name = "CMD")]
    engine: Option<String>,
    #[command(flatten)]
    choice: Choice,
    /// Vectors that are expected to fail, an id a line; one that is kept all the same fails too.
    #[arg(long, value_name = "FILE")]
    expect_failures: Option<PathBuf>,
    /// Print the vectors and ask nothing.
    #[arg(long)]
    list: bool,
    /// Put single faults into a copy of the engine's answers, and tell which vectors catch them: a
    /// fault's number or name, or all; list prints them.
    #[arg(long, value_name = "N|NAME|all|list", value_parser = mutate)]
    mutate: Option<Mutate>,
    /// How long an answer may take.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        allow_negative_numbers = true,
        value_parser = value_parser!(u32).range(1..=86_400)
    )]
    seconds: u32,
    #[command(flatten)]
    reports: Reports,
}

/// Which vectors are asked.
#[derive(Args, Debug)]
struct Choice {
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
}

impl Choice {
    fn selection(&self) -> Selection {
        Selection {
            subjects: self.subject.clone(),
            levels: self.level.clone(),
            clauses: self.clause.clone(),
            policies: self.policy.clone(),
        }
    }
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Run(args) => run(&args),
        Command::Table { runs } => print_table(&runs),
    };
    outcome.unwrap_or_else(|error| {
        // With standard error closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "comity-conformance: {}", plain(&format!("{error:#}")));
        ExitCode::from(UNUSABLE)
    })
}

fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    if matches!(args.mutate, Some(Mutate::List)) {
        print(&mutate::list())?;
        return Ok(ExitCode::SUCCESS);
    }
    let suite = vectors()?;
    let selection = args.choice.selection();
    if let Some(unknown) = selection.unknown(&suite) {
        anyhow::bail!(unknown);
    }
    let cases: Vec<Case> = suite.iter().filter(|case| selection.has(case)).cloned().collect();
    if cases.is_empty() {
        anyhow::bail!("no vector is of that subject, level, clause and policy together");
    }
    if args.list {
        return list(&cases);
    }
    let Some(engine) = &args.engine else {
        anyhow::bail!(
            "--engine CMD is needed; without it, --list and --mutate list print what there is"
        );
    };
    let expected = match &args.expect_failures {
        Some(path) => expected_failures(path, &suite)?.of(&cases),
        None => ExpectedFailures::default(),
    };
    args.reports.check()?;
    let stop = Stop::default();
    let signalled = signals::watch(stop.clone()).context("could not listen for signals")?;
    let limit = Duration::from_secs(args.seconds.into());
    let mut engine = Engine::new(engine, limit).stopped_by(stop);
    let graded = grade(cases, &mut engine, &expected)?;
    let code = tell(args, &graded, selection != Selection::default())?;
    Ok(ExitCode::from(signalled.exit_code().unwrap_or(code)))
}

/// Prints what came of the run, and writes its reports. Says with which status the program ends.
fn tell(args: &RunArgs, graded: &Graded, is_part: bool) -> anyhow::Result<u8> {
    let written = args.reports.write(graded);
    let mut text = table(graded, &args.reports.rest());
    let mut code = match graded.verdict() {
        Verdict::Good => 0,
        Verdict::Bad => BROKEN,
        Verdict::Empty | Verdict::Unfinished => NO_GRADE,
    };
    if let Some(Mutate::These(wanted)) = &args.mutate {
        let (Tried { caught, missed, .. }, told) = try_faults(graded, wanted, is_part);
        text.push_str(&told);
        code = match (code, missed, caught) {
            (0, 0, 0) => NO_GRADE,
            (0, 0, _) => 0,
            (0, _, _) => BROKEN,
            (code, _, _) => code,
        };
    }
    print(&text)?;
    for warning in &graded.warnings {
        let _ = writeln!(io::stderr(), "warning: {}", plain(warning));
    }
    written.map(|()| code)
}

fn expected_failures(path: &Path, suite: &[Case]) -> anyhow::Result<ExpectedFailures> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("could not read {}", path.display()))?;
    let expected = ExpectedFailures::read(&text);
    match expected.unknown(suite) {
        Some(unknown) => Err(anyhow::anyhow!(unknown).context(path.display().to_string())),
        None => Ok(expected),
    }
}

fn list(cases: &[Case]) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for case in cases {
        let _ = writeln!(text, "{}  {}  {}", case.id, case.level.name(), case.why);
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints. Whoever reads no further, as `head` does, has seen enough.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn print_table(runs: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("could not read {}", path.display()))?;
        let name = path.file_stem().unwrap_or(Path::new("run").as_os_str());
        Ok((name.to_string_lossy().into_owned(), text))
    };
    let runs = runs.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    print(&peers(&runs)?)?;
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
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }
}
