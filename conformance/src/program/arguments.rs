//! What can be asked of `comity-lab`, and what is said of what makes no sense.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Parser, Subcommand};
use comity_conformance::DEMO_AGENT;
use comity_conformance::trial::{self, Mode};
use comity_conformance::vectors::{Level, Policy};

/// A small web that shows whether a crawler keeps the rules.
///
/// Sites on loopback use robots.txt, robots meta tags, X-Robots-Tag, redirects,
/// errors and traps as real sites do. Every request goes into a ledger, and an
/// independent judge says which rules were broken.
#[derive(Debug, Parser)]
#[command(version, after_help = TEACHING)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
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
pub(super) enum Command {
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
pub(super) struct Reach {
    /// By host names, through the lab's HTTP proxy.
    #[arg(long)]
    pub(super) proxy: bool,
    /// Over TLS, with the lab's own certificate authority.
    #[arg(long)]
    pub(super) tls: bool,
}

impl Reach {
    pub(super) const fn mode(self) -> Mode {
        match (self.proxy, self.tls) {
            (false, false) => Mode::Direct,
            (false, true) => Mode::Tls,
            (true, false) => Mode::Proxy,
            (true, true) => Mode::ProxyTls,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct GradeArguments {
    /// The crawler's command line, run by sh once a scenario. Filled in are
    /// {seed}, {agent}, {interval} (seconds), {policy}, {proxy} (URL), {ca} (a
    /// PEM file to trust), {dir} (an empty directory for this scenario); and for
    /// a crawler that can be told the time, {start} (seconds since 1970 at which
    /// a run begins) and {scale} (seconds that pass for it in a real one).
    #[arg(long, value_name = "COMMAND", required_unless_present = "list")]
    pub(super) exec: Option<String>,
    /// Print the scenarios that are chosen, and run nothing.
    #[arg(long)]
    pub(super) list: bool,
    #[command(flatten)]
    pub(super) reach: Reach,
    /// The crawler's product token: robots.txt files name it.
    #[arg(long, value_name = "TOKEN", default_value = "labbot", value_parser = product_token)]
    pub(super) agent: String,
    /// Only scenarios whose names begin so, or that show this clause; may be
    /// repeated.
    #[arg(long, value_name = "NAME|CLAUSE")]
    pub(super) only: Vec<String>,
    /// Only scenarios of this level: MUST, SHOULD, HOUSE; may be repeated.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub(super) level: Vec<Level>,
    /// Whose reading of the rules the crawler keeps: google, rfc9309, courteous.
    #[arg(long, value_name = "POLICY", default_value = "google", value_parser = policy)]
    pub(super) policy: Policy,
    /// The least time between two requests of a site that the crawler is told,
    /// in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds, allow_hyphen_values = true)]
    pub(super) interval: Duration,
    /// End each run after this many seconds, whatever its scenario says.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub(super) seconds: Option<u64>,
    /// Scenarios that are run at the same time.
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one::<usize>)]
    pub(super) jobs: usize,
    /// Run the crawler under libfaketime in scenarios that last hours or days.
    /// They are left out without this, unless the command takes {start}.
    #[arg(long)]
    pub(super) faketime: bool,
    /// Write the result as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Write the result as one page.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Write everything as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ClientArguments {
    /// Where to begin.
    #[arg(required_unless_present = "list")]
    pub(super) seed: Option<String>,
    /// Print the faults.
    #[arg(long)]
    pub(super) list: bool,
    /// A fault to switch on.
    #[arg(long, value_name = "NAME", value_parser = fault)]
    pub(super) fault: Option<String>,
    /// The product token.
    #[arg(long, default_value = "labbot", value_parser = product_token)]
    pub(super) agent: String,
    /// The least time between two requests of a site, in seconds.
    #[arg(long, default_value = "0.5", value_parser = seconds, allow_hyphen_values = true)]
    pub(super) interval: Duration,
    /// Whose reading of the rules it keeps: google, rfc9309, courteous.
    #[arg(long, value_name = "POLICY", default_value = "google", value_parser = policy)]
    pub(super) policy: Policy,
    /// A proxy for all requests.
    #[arg(long)]
    pub(super) proxy: Option<String>,
    /// Certificates to trust (PEM).
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,
    /// Remember here what the next crawl has to know.
    #[arg(long, value_name = "FILE")]
    pub(super) memory: Option<PathBuf>,
    /// What its clock shows at the start, in seconds since 1970.
    #[arg(long, value_name = "SECONDS")]
    pub(super) start: Option<u64>,
    /// How many seconds of its clock pass in a real one.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "start")]
    pub(super) scale: u32,
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
