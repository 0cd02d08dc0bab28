//! `comity-lab`: serves the lab for any crawler, and judges what it did.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand};
use comity_conformance::{DEMO_AGENT, Lab, LedgerFile, judge};

const BROKEN: u8 = 1;
const UNUSABLE: u8 = 2;

/// A small web that shows whether a crawler keeps the rules.
///
/// Eight sites on loopback use robots.txt, robots meta tags, X-Robots-Tag,
/// redirects, errors and traps as real sites do. Every request goes into a
/// ledger, and an independent judge says which rules were broken.
#[derive(Debug, Parser)]
#[command(version, after_help = TEACHING)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const TEACHING: &str = "\
Grade a crawler in three steps:
  1. comity-lab serve --agent mybot --ledger ledger.jsonl
  2. crawl from the seed that it prints, all hosts in scope, one request per
     second and site; then press Ctrl-C in the first window
  3. comity-lab check --ledger ledger.jsonl

Exit status:
  0  served, or every rule kept
  1  a rule was broken
  2  unusable input: wrong arguments, no readable ledger, no free port";

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the web, print its sites, and wait for Ctrl-C.
    Serve {
        /// Stop by itself after this many seconds.
        #[arg(long, value_name = "N")]
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
        /// The file that `serve --ledger` wrote.
        #[arg(long, value_name = "FILE")]
        ledger: PathBuf,
        /// Least time between two requests of one site, in milliseconds. A
        /// site that asks for a longer crawl-delay is owed that.
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        interval_ms: u64,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Serve {
            seconds,
            agent,
            ledger,
        } => serve(seconds, &agent, ledger.as_deref()),
        Command::Check {
            ledger,
            interval_ms,
            json,
        } => check(&ledger, interval_ms, json),
    };
    outcome.unwrap_or_else(|error| {
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
    let lab = Lab::start_for(agent)
        .await
        .context("could not start the lab on loopback")?;
    print_sites(&lab)?;
    wait(seconds).await?;
    let mut file = lab.ledger_file();
    file.requests = lab.stop().await;
    let mut output = io::stdout().lock();
    writeln!(output, "{} requests arrived", file.requests.len())?;
    if let Some(path) = ledger {
        file.write(path)?;
        let path = path.display();
        writeln!(
            output,
            "ledger: {path}  (judge it: comity-lab check --ledger {path})"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_sites(lab: &Lab) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "seed: {}", lab.seed())?;
    for site in lab.sites() {
        writeln!(
            output,
            "{:<12} {}/  {}",
            site.name, site.base_url, site.about
        )?;
    }
    writeln!(output, "Press Ctrl-C to stop.")?;
    output.flush()
}

async fn wait(seconds: Option<u64>) -> anyhow::Result<()> {
    let interrupted = tokio::signal::ctrl_c();
    match seconds {
        Some(seconds) => tokio::select! {
            result = interrupted => result.context("could not listen for Ctrl-C"),
            () = tokio::time::sleep(Duration::from_secs(seconds)) => Ok(()),
        },
        None => interrupted.await.context("could not listen for Ctrl-C"),
    }
}

fn check(path: &Path, interval_ms: u64, json: bool) -> anyhow::Result<ExitCode> {
    let file = LedgerFile::read(path)
        .with_context(|| format!("could not use the ledger {}", path.display()))?;
    let report = judge(
        &file.requests,
        &file.expectations,
        Duration::from_millis(interval_ms),
    );
    let mut output = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut output, &report)?;
        writeln!(output)?;
    } else {
        writeln!(output, "{report}")?;
    }
    Ok(if report.kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(BROKEN)
    })
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

    #[test]
    fn product_tokens_are_those_of_the_standard() {
        for (text, good) in [
            ("mybot", true),
            ("My_bot-x", true),
            ("", false),
            ("bot/1.0", false),
            ("b0t", false),
        ] {
            assert_eq!(product_token(text).is_ok(), good, "{text:?}");
        }
    }
}
