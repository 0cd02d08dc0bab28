//! `comity-lab`: serves the lab for any crawler, and judges what it did.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand};
use comity_conformance::trial::{
    self, Choice, Client, ClientConfig, Mode, Record, Scenario, Trial, TrialReport, Web, WebConfig,
};
use comity_conformance::vectors::{Level, Policy};
use comity_conformance::{DEMO_AGENT, Lab, LedgerFile, judge};
use tokio::signal::unix::{Signal, SignalKind, signal};

const BROKEN: u8 = 1;
const UNUSABLE: u8 = 2;
/// What a shell says of a program that SIGPIPE ended.
const PIPE_CLOSED: u8 = 141;

/// A small web that shows whether a crawler keeps the rules.
///
/// Sites on loopback use robots.txt, robots meta tags, X-Robots-Tag, redirects,
/// errors and traps as real sites do. Every request goes into a ledger, and an
/// independent judge says which rules were broken.
#[derive(Debug, Parser)]
#[command(version, after_help = TEACHING)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const TEACHING: &str = "\
Grade a crawler, one scenario after the other:
  comity-lab grade --exec 'mycrawler {seed}' --agent mybot --html grade.html
Or watch it in one small web of eight sites:
  1. comity-lab serve --agent mybot --ledger ledger.jsonl
  2. crawl from the seed that it prints, all hosts in scope, one request per
     second and site; then press Ctrl-C in the first window
  3. comity-lab check --ledger ledger.jsonl

Exit status:
  0  served, or every rule kept
  1  a rule was broken, or nothing was exercised
  2  unusable input: wrong arguments, no such crawler, no readable ledger, no
     free port
  130, 143, 129  `grade` was ended by Ctrl-C, SIGTERM or SIGHUP; the reports
     have what was graded by then";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a crawler through the scenarios, and grade what it requests.
    Grade(Box<GradeArguments>),
    /// The reference client: crawl from a seed, with a fault or without.
    Client(ClientArguments),
    /// Start the web, print its sites, and wait for Ctrl-C.
    Serve {
        /// Serve the scenarios of `grade` in the place of the eight sites; a
        /// page explains each.
        #[arg(long)]
        scenarios: bool,
        /// How the scenarios are reached.
        #[command(flatten)]
        reach: Reach,
        /// Write the certificate of the lab's authority here.
        #[arg(long, value_name = "FILE")]
        ca_file: Option<PathBuf>,
        /// Stop by itself after this many seconds.
        #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
        seconds: Option<u64>,
        /// Product token of the crawler to be graded. The bakery's robots.txt
        /// has a group of its own for the default.
        #[arg(long, value_name = "TOKEN", default_value = DEMO_AGENT, value_parser = product_token)]
        agent: String,
        /// Write the ledger here at the end.
        #[arg(long, value_name = "FILE")]
        ledger: Option<PathBuf>,
    },
    /// Judge a ledger file.
    Check {
        /// The file that `serve --ledger` wrote, with --scenarios or without.
        #[arg(long, value_name = "FILE")]
        ledger: PathBuf,
        /// Least time between two requests of one site, in milliseconds. A
        /// site that asks for a longer crawl-delay is owed that.
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        interval_ms: u64,
        /// Of scenarios: whose reading of the rules the crawler keeps.
        #[arg(long, value_name = "POLICY", default_value = "google", value_parser = policy)]
        policy: Policy,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
    },
}

/// How sites are reached.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Reach {
    /// By host names, through the lab's HTTP proxy.
    #[arg(long)]
    proxy: bool,
    /// Over TLS, with the lab's own certificate authority.
    #[arg(long)]
    tls: bool,
}

impl Reach {
    const fn mode(self) -> Mode {
        match (self.proxy, self.tls) {
            (false, false) => Mode::Direct,
            (false, true) => Mode::Tls,
            (true, false) => Mode::Proxy,
            (true, true) => Mode::ProxyTls,
        }
    }
}

#[derive(Debug, clap::Args)]
struct GradeArguments {
    /// The crawler's command line, run by sh once a scenario. Filled in are
    /// {seed}, {agent}, {interval} (seconds), {policy}, {proxy} (URL), {ca} (a
    /// PEM file to trust), {dir} (an empty directory for this scenario); and for
    /// a crawler that can be told the time, {start} (seconds since 1970 at which
    /// a run begins) and {scale} (seconds that pass for it in a real one).
    #[arg(long, value_name = "COMMAND", required_unless_present = "list")]
    exec: Option<String>,
    /// Print the scenarios that are chosen, and run nothing.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    reach: Reach,
    /// The crawler's product token: robots.txt files name it.
    #[arg(long, value_name = "TOKEN", default_value = "labbot", value_parser = product_token)]
    agent: String,
    /// Only scenarios whose names begin so, or that show this clause; may be
    /// repeated.
    #[arg(long, value_name = "NAME|CLAUSE")]
    only: Vec<String>,
    /// Only scenarios of this level: MUST, SHOULD, HOUSE; may be repeated.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Vec<Level>,
    /// Whose reading of the rules the crawler keeps: google, rfc9309, courteous.
    #[arg(long, value_name = "POLICY", default_value = "google", value_parser = policy)]
    policy: Policy,
    /// The least time between two requests of a site that the crawler is told,
    /// in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds, allow_hyphen_values = true)]
    interval: Duration,
    /// End each run after this many seconds, whatever its scenario says.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    seconds: Option<u64>,
    /// Scenarios that are run at the same time.
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one::<usize>)]
    jobs: usize,
    /// Run the crawler under libfaketime in scenarios that last hours or days.
    /// They are left out without this, unless the command takes {start}.
    #[arg(long)]
    faketime: bool,
    /// Write the result as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the result as one page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write everything as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ClientArguments {
    /// Where to begin.
    #[arg(required_unless_present = "list")]
    seed: Option<String>,
    /// Print the faults.
    #[arg(long)]
    list: bool,
    /// A fault to switch on.
    #[arg(long, value_name = "NAME", value_parser = fault)]
    fault: Option<String>,
    /// The product token.
    #[arg(long, default_value = "labbot", value_parser = product_token)]
    agent: String,
    /// The least time between two requests of a site, in seconds.
    #[arg(long, default_value = "0.5", value_parser = seconds, allow_hyphen_values = true)]
    interval: Duration,
    /// Whose reading of the rules it keeps: google, rfc9309, courteous.
    #[arg(long, value_name = "POLICY", default_value = "google", value_parser = policy)]
    policy: Policy,
    /// A proxy for all requests.
    #[arg(long)]
    proxy: Option<String>,
    /// Certificates to trust (PEM).
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Remember here what the next crawl has to know.
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// What its clock shows at the start, in seconds since 1970.
    #[arg(long, value_name = "SECONDS")]
    start: Option<u64>,
    /// How many seconds of its clock pass in a real one.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "start")]
    scale: u32,
}

/// A name of these, or what to take in its place.
fn one_of<'a>(text: &str, names: &[&'a str]) -> Result<&'a str, String> {
    let same = names.iter().find(|name| name.eq_ignore_ascii_case(text));
    same.copied().ok_or_else(|| match trial::nearest(text, names.iter().copied()) {
        Some(near) => format!("perhaps {near}; there are {}", names.join(", ")),
        None => format!("there are {}", names.join(", ")),
    })
}

fn level(text: &str) -> Result<Level, String> {
    let names: Vec<_> = Level::ALL.iter().map(|level| level.name()).collect();
    let name = one_of(text, &names)?;
    let level = Level::ALL.iter().find(|level| level.name() == name);
    level.copied().ok_or_else(|| names.join(", "))
}

fn policy(text: &str) -> Result<Policy, String> {
    let names: Vec<_> = Policy::ALL.iter().map(|policy| policy.name()).collect();
    let name = one_of(text, &names)?;
    let policy = Policy::ALL.iter().find(|policy| policy.name() == name);
    policy.copied().ok_or_else(|| names.join(", "))
}

/// A count that has to be something.
fn at_least_one<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number != T::default());
    number.ok_or_else(|| "a whole number, 1 or more".to_owned())
}

/// The longest interval that makes sense: an hour.
const MOST_INTERVAL_S: f64 = 3_600.0;

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|s| (0.0..=MOST_INTERVAL_S).contains(s));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("seconds, from 0 to {MOST_INTERVAL_S}, as in 0.5"))
}

fn fault(text: &str) -> Result<String, String> {
    match trial::FAULTS.iter().any(|(name, _)| *name == text) {
        true => Ok(text.to_owned()),
        false => {
            let near = trial::nearest(text, trial::FAULTS.iter().map(|(name, _)| *name));
            let near = near.map(|near| format!(", perhaps {near}")).unwrap_or_default();
            Err(format!("no such fault{near}; `comity-lab client --list` prints them"))
        }
    }
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Grade(arguments) => grade(&arguments),
        Command::Client(arguments) => client(&arguments),
        Command::Serve { scenarios: true, reach, ca_file, seconds, agent, ledger } => {
            serve_scenarios(reach.mode(), seconds, agent, ledger.as_deref(), ca_file.as_deref())
        }
        Command::Serve { seconds, agent, ledger, .. } => serve(seconds, &agent, ledger.as_deref()),
        Command::Check { ledger, interval_ms, policy, json } => {
            check(&ledger, Duration::from_millis(interval_ms), policy, json)
        }
    };
    outcome.unwrap_or_else(|error| {
        // Who reads the output has enough of it, as `head` does.
        let is_pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
        if error.chain().filter_map(|cause| cause.downcast_ref()).any(is_pipe) {
            return ExitCode::from(PIPE_CLOSED);
        }
        // With standard error closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "comity-lab: {error:#}");
        ExitCode::from(UNUSABLE)
    })
}

#[tokio::main]
async fn serve(
    seconds: Option<u64>,
    agent: &str,
    ledger: Option<&Path>,
) -> anyhow::Result<ExitCode> {
    ledger.map_or(Ok(()), writable)?;
    let signals = Signals::listen()?;
    let lab = Lab::start_for(agent).await.context("could not start the lab on loopback")?;
    print_sites(&lab)?;
    wait(signals, seconds).await;
    let mut file = lab.ledger_file();
    file.requests = lab.stop().await;
    if let Some(path) = ledger {
        file.write(path)?;
    }
    arrived(file.requests.len(), ledger)
}

/// Those that the arguments choose.
fn chosen(arguments: &GradeArguments) -> anyhow::Result<Vec<Scenario>> {
    let all = trial::scenarios().map_err(anyhow::Error::msg)?;
    let choice = Choice {
        only: arguments.only.clone(),
        levels: arguments.level.clone(),
        policy: arguments.policy,
        mode: arguments.reach.mode(),
    };
    Ok(trial::choose(all, &choice)?)
}

#[tokio::main]
async fn grade(arguments: &GradeArguments) -> anyhow::Result<ExitCode> {
    let scenarios = chosen(arguments)?;
    let mut output = io::stdout().lock();
    let Some(command) = arguments.exec.clone().filter(|_| !arguments.list) else {
        for scenario in scenarios {
            let (name, level) = (&scenario.name, scenario.level.name());
            writeln!(output, "{name:<32} {level:<6} {}", scenario.title)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let files = [&arguments.junit, &arguments.html, &arguments.json];
    for path in files.into_iter().flatten() {
        writable(path)?;
    }
    let trial = Trial {
        command,
        mode: arguments.reach.mode(),
        agent: arguments.agent.clone(),
        interval: arguments.interval,
        policy: arguments.policy,
        seconds: arguments.seconds,
        jobs: arguments.jobs,
        faketime: arguments.faketime,
    };
    let mut signals = Signals::listen()?;
    let mut interrupted = None;
    let stop = async { interrupted = Some(signals.next().await) };
    let report = trial::grade(scenarios, trial, stop).await?;
    // Before the terminal's, which may have no reader any more.
    write_reports(arguments, &report)?;
    write!(output, "{}", trial::table(&report))?;
    Ok(match interrupted {
        Some(status) => ExitCode::from(status),
        None if report.is_good() => ExitCode::SUCCESS,
        None => ExitCode::from(BROKEN),
    })
}

/// Whether a file can be written, before there is anything to write. One that is there stays as it is.
fn writable(path: &Path) -> anyhow::Result<()> {
    let is_new = !path.exists();
    let opened = fs::File::options().create(true).append(true).open(path);
    opened.with_context(|| format!("could not write {}", path.display()))?;
    if is_new {
        // It comes again with what is to be in it.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

fn write_reports(arguments: &GradeArguments, report: &TrialReport) -> anyhow::Result<()> {
    let write = |path: &Option<PathBuf>, text: String| match path {
        Some(path) => {
            fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
        }
        None => Ok(()),
    };
    write(&arguments.junit, trial::junit(report))?;
    write(&arguments.html, trial::html(report))?;
    write(&arguments.json, trial::json(report)?)
}

/// The signals that ask a program to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("could not listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for one; returns the exit status that shells give to a program that it ended.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
            _ = self.hang_up.recv() => 129,
        }
    }
}

#[tokio::main]
async fn client(arguments: &ClientArguments) -> anyhow::Result<ExitCode> {
    let Some(seed) = arguments.seed.as_deref().filter(|_| !arguments.list) else {
        let mut output = io::stdout().lock();
        for (name, what) in trial::FAULTS {
            writeln!(output, "{name:<24} {what}")?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let ca = arguments.ca.as_ref().map(fs::read_to_string).transpose();
    let mut client = Client::new(ClientConfig {
        agent: arguments.agent.clone(),
        interval: arguments.interval,
        policy: arguments.policy,
        proxy: arguments.proxy.clone(),
        ca: ca.context("could not read the certificates")?,
        fault: arguments.fault.clone(),
    })?;
    if let Some(start_s) = arguments.start {
        client.set_clock(start_s, arguments.scale);
    }
    if let Some(memory) = &arguments.memory {
        client.recall(memory).context("could not read the memory of an earlier crawl")?;
    }
    client.crawl(seed).await;
    if let Some(memory) = &arguments.memory {
        client.keep(memory).context("could not write what is to be remembered")?;
    }
    Ok(ExitCode::SUCCESS)
}

#[tokio::main]
async fn serve_scenarios(
    mode: Mode,
    seconds: Option<u64>,
    agent: String,
    ledger: Option<&Path>,
    ca_file: Option<&Path>,
) -> anyhow::Result<ExitCode> {
    let mut scenarios = trial::scenarios().map_err(anyhow::Error::msg)?;
    scenarios.retain(|s| (!s.needs_proxy || mode.is_proxy()) && (!s.needs_tls || mode.is_tls()));
    ledger.map_or(Ok(()), writable)?;
    let signals = Signals::listen()?;
    let web = Web::start(scenarios, WebConfig { mode, agent: agent.clone() }).await?;
    if let Some(path) = ca_file {
        let written = fs::write(path, web.authority());
        written.with_context(|| format!("could not write {}", path.display()))?;
    }
    let mut output = io::stdout().lock();
    writeln!(output, "what each site is: {}/", web.index())?;
    if let Some(proxy) = web.proxy() {
        writeln!(output, "proxy: {proxy}")?;
    }
    for (index, scenario) in web.scenarios().iter().enumerate() {
        writeln!(output, "{:<32} {}  {}", scenario.name, web.seed(index), scenario.title)?;
    }
    writeln!(output, "Press Ctrl-C to stop.")?;
    output.flush()?;
    drop(output);
    wait(signals, seconds).await;
    let arrivals: Vec<_> = web.scenarios().iter().flat_map(|s| web.ledger(&s.name)).collect();
    let count = arrivals.len();
    if let Some(path) = ledger {
        Record { agent, mode, arrivals }.write(path)?;
    }
    arrived(count, ledger)
}

/// The last lines, when the ledger is safe: they may have no reader any more.
fn arrived(count: usize, ledger: Option<&Path>) -> anyhow::Result<ExitCode> {
    let mut output = io::stdout().lock();
    writeln!(output, "{count} requests arrived")?;
    if let Some(path) = ledger.map(Path::display) {
        writeln!(output, "ledger: {path}  (judge it: comity-lab check --ledger {path})")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_sites(lab: &Lab) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "seed: {}", lab.seed())?;
    for site in lab.sites() {
        writeln!(output, "{:<12} {}/  {}", site.name, site.base_url, site.about)?;
    }
    writeln!(output, "Press Ctrl-C to stop.")?;
    output.flush()
}

/// Until a signal comes, or for so long.
async fn wait(mut signals: Signals, seconds: Option<u64>) {
    let limit = seconds.map_or(Duration::MAX, Duration::from_secs);
    let _ = tokio::time::timeout(limit, signals.next()).await;
}

fn check(path: &Path, interval: Duration, policy: Policy, json: bool) -> anyhow::Result<ExitCode> {
    let unusable = || format!("could not use the ledger {}", path.display());
    let mut output = io::stdout().lock();
    if Record::is_at(path).with_context(unusable)? {
        let report = Record::read(path).with_context(unusable)?.grade(interval, policy)?;
        match json {
            true => writeln!(output, "{}", trial::json(&report)?)?,
            false => write!(output, "{}", trial::table(&report))?,
        }
        return Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) });
    }
    let file = LedgerFile::read(path).with_context(unusable)?;
    let report = judge(&file.requests, &file.expectations, interval);
    if json {
        serde_json::to_writer_pretty(&mut output, &report)?;
        writeln!(output)?;
    } else {
        writeln!(output, "{}", trial::visible(&report.to_string()))?;
    }
    Ok(if report.kept() { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
}

/// RFC 9309 §2.2.1: a product token is letters, underscores and hyphens.
fn product_token(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    if !text.is_empty() && text.bytes().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("a product token is one or more of A-Z a-z _ -".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }

    /// One line, one case: what is written, and what is said of it; nothing where it is right.
    #[test]
    fn wrong_values_are_named_with_what_is_right() {
        let grade = ["comity-lab", "grade", "--exec", "bot {seed}"];
        for (option, value, said) in [
            ("--interval", "0", ""),
            ("--interval", "-1", "seconds, from 0 to 3600"),
            ("--interval", "1e300", "seconds, from 0 to 3600"),
            ("--interval", "NaN", "seconds, from 0 to 3600"),
            ("--jobs", "0", "1 or more"),
            ("--jobs", "few", "1 or more"),
            ("--seconds", "0", "1 or more"),
            ("--level", "should", ""),
            ("--level", "MUTS", "perhaps MUST; there are MUST, SHOULD, HOUSE"),
            ("--policy", "Google", ""),
            ("--policy", "gogle", "perhaps google; there are google, rfc9309, courteous"),
            ("--agent", "bot/1", "A-Z a-z _ -"),
        ] {
            let parsed = Arguments::try_parse_from(grade.iter().chain([&option, &value]));
            let error = parsed.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(
                error.contains(said) && error.is_empty() == said.is_empty(),
                "{option} {value}: {error}"
            );
        }
        assert!(fault("robots-5x-allows").unwrap_err().contains("perhaps robots-5xx-allows"));
    }

    #[test]
    fn product_tokens_are_those_of_the_standard() {
        for (text, good) in
            [("mybot", true), ("My_bot-x", true), ("", false), ("bot/1.0", false), ("b0t", false)]
        {
            assert_eq!(product_token(text).is_ok(), good, "{text:?}");
        }
    }
}
