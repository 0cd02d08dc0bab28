//! `grade` and `client`: crawlers run through the scenarios, others' and the reference client.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use comity_conformance::trial::{self, Choice, Client, ClientConfig, Scenario, Trial, TrialReport};

use super::arguments::{ClientArguments, GradeArguments};
use super::signals::Signals;
use super::{BROKEN, writable};

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
pub(super) async fn grade(arguments: &GradeArguments) -> anyhow::Result<ExitCode> {
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

#[tokio::main]
pub(super) async fn client(arguments: &ClientArguments) -> anyhow::Result<ExitCode> {
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
