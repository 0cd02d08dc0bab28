//! `serve` and `check`: a web to be looked at, and what arrived there judged later.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use comity_conformance::trial::{self, Mode, Record, Web, WebConfig};
use comity_conformance::vectors::Policy;
use comity_conformance::{Lab, LedgerFile, judge};

use super::signals::Signals;
use super::{BROKEN, writable};

#[tokio::main]
pub(super) async fn serve(
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

#[tokio::main]
pub(super) async fn serve_scenarios(
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

pub(super) fn check(
    path: &Path,
    interval: Duration,
    policy: Policy,
    json: bool,
) -> anyhow::Result<ExitCode> {
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
