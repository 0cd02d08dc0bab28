//! Runs a crawler, whatever it is, once a scenario, and judges what arrived.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use thiserror::Error;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::child::{End, Run};
use super::clock::wall_s;
use super::command::{self, CommandFault};
use super::judge::{Grade, Verdict};
use super::report::{Graded, TrialReport, visible};
use super::scenario::{Mode, Scenario};
use super::serve::{Web, WebConfig};
use crate::vectors::Policy;

/// Characters of what a crawler said that a report keeps.
const SAID: usize = 1_500;

/// How a crawler is tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The command line, with `{seed}` and others to be filled in.
    pub command: String,
    /// How it reaches the sites.
    pub mode: Mode,
    /// Its product token.
    pub agent: String,
    /// The least time between two requests of a site that it is told.
    pub interval: Duration,
    /// The policy that it is told.
    pub policy: Policy,
    /// The time limit of a run, in the place of the scenarios' own.
    pub seconds: Option<u64>,
    /// Scenarios that are tried at the same time.
    pub jobs: usize,
    /// Whether libfaketime gives the crawler the time of scenarios that have their own.
    pub faketime: bool,
}

impl Trial {
    /// Whether the crawler can be told the time: it is asked to, or it takes `{start}`.
    fn can_tell_time(&self) -> bool {
        self.faketime || self.command.contains("{start}")
    }
}

/// Why there is no grade.
#[derive(Debug, Error)]
pub enum RunError {
    /// The command line cannot be filled in.
    #[error(transparent)]
    Command(#[from] CommandFault),
    /// The shell found no program.
    #[error("the command could not be run ({end}, and no request came); the shell said:\n{said}")]
    NoProgram {
        /// How the shell ended.
        end: End,
        /// What it said, to be shown as it is.
        said: String,
    },
    /// A trial ended in the middle.
    #[error("a scenario could not be tried to its end")]
    Broken(#[source] io::Error),
    /// The lab did not start.
    #[error(
        "could not start the lab's sites on loopback (some systems have no 127.0.1.1 until it is set up; --proxy does without)"
    )]
    Lab(#[source] io::Error),
    /// Files for the crawler could not be written.
    #[error("could not write to a temporary directory")]
    Files(#[source] io::Error),
    /// The command could not be run at all.
    #[error("could not run sh")]
    Shell(#[source] io::Error),
    /// There is no such program.
    #[error("could not run faketime (it comes with libfaketime; Debian's package is faketime)")]
    Faketime(#[source] io::Error),
}

/// Starts the lab, runs the crawler for each scenario, and grades it. When `stop` is there, what runs
/// is ended, and the report has the scenarios that were through by then.
///
/// # Errors
///
/// When the lab or the command cannot be started. A crawler that fails is graded all the same.
pub async fn grade(
    scenarios: Vec<Scenario>,
    trial: Trial,
    stop: impl Future<Output = ()>,
) -> Result<TrialReport, RunError> {
    command::check(&trial.command, trial.mode)?;
    if trial.faketime {
        let mut asked = Command::new("faketime");
        asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        asked.status().await.map_err(RunError::Faketime)?;
    }
    let (scenarios, without_time): (Vec<_>, Vec<_>) = scenarios
        .into_iter()
        .partition(|scenario| scenario.clock.is_none() || trial.can_tell_time());
    let without_time = without_time.into_iter().map(|scenario| scenario.name).collect();
    let config = WebConfig { mode: trial.mode, agent: trial.agent.clone() };
    let web = Arc::new(Web::start(scenarios, config).await.map_err(RunError::Lab)?);
    let dir = tempfile::tempdir().map_err(RunError::Files)?;
    let ca = dir.path().join("lab-ca.pem");
    fs::write(&ca, web.authority()).map_err(RunError::Files)?;
    let seats = Arc::new(Semaphore::new(trial.jobs.max(1)));
    let trial = Arc::new(trial);
    let mut tasks = JoinSet::new();
    for index in 0..web.scenarios().len() {
        let (web, seats, trial) = (Arc::clone(&web), Arc::clone(&seats), Arc::clone(&trial));
        let place = dir.path().to_owned();
        tasks.spawn(async move {
            let _seat = seats.acquire_owned().await;
            one(&web, index, &trial, &place).await.map(|graded| (index, graded))
        });
    }
    let results = collect(&mut tasks, stop).await;
    // Each ends its crawler when it is dropped, and that is waited for.
    tasks.shutdown().await;
    let results = results?;
    let all = web.scenarios().iter().enumerate();
    let interrupted = all.filter(|(index, _)| !results.contains_key(index));
    let interrupted = interrupted.map(|(_, scenario)| scenario.name.clone()).collect();
    let results = results.into_values().collect();
    let Trial { command, mode, agent, interval, policy, .. } = trial.as_ref().clone();
    let (crawler, interval_s) = (command, interval.as_secs_f64());
    Ok(TrialReport { crawler, mode, agent, interval_s, policy, results, without_time, interrupted })
}

/// What is through until `stop`, by index.
async fn collect(
    tasks: &mut JoinSet<Result<(usize, Graded), RunError>>,
    stop: impl Future<Output = ()>,
) -> Result<BTreeMap<usize, Graded>, RunError> {
    let mut stop = pin!(stop);
    let mut results = BTreeMap::new();
    loop {
        let done = tokio::select! {
            done = tasks.join_next() => done,
            () = &mut stop => return Ok(results),
        };
        match done {
            None => return Ok(results),
            Some(Ok(result)) => {
                let (index, graded) = result?;
                results.insert(index, graded);
            }
            Some(Err(error)) => return Err(RunError::Broken(io::Error::other(error))),
        }
    }
}

async fn one(web: &Web, index: usize, trial: &Trial, dir: &Path) -> Result<Graded, RunError> {
    let scenario = web.scenarios()[index].clone();
    let place = dir.join(&scenario.name);
    fs::create_dir_all(&place).map_err(RunError::Files)?;
    let log = dir.join(format!("{}.log", scenario.name));
    let ca = dir.join("lab-ca.pem");
    let mut ends = Vec::new();
    for run in 0..scenario.run_count() {
        let start_s = web.begin(index, run);
        let command = fill(trial, web, index, start_s, dir);
        let time = trial.faketime.then_some(scenario.clock.as_ref()).flatten();
        let shell = match time.map(|clock| faketime(start_s, clock.scale)) {
            Some(time) => vec!["faketime".into(), "-f".into(), time, "sh".into()],
            None => vec!["sh".into()],
        };
        let run = Run {
            shell: &shell,
            command: &command,
            proxy: web.proxy(),
            ca: trial.mode.is_tls().then_some(ca.as_path()),
            log: &log,
            limit: Duration::from_secs(trial.seconds.unwrap_or(scenario.seconds)),
        };
        let end = run.to_its_end().await.map_err(RunError::Shell)?;
        if end.is_without_program() && web.ledger(&scenario.name).is_empty() {
            return Err(RunError::NoProgram { end, said: said(&log)? });
        }
        ends.push(end);
    }
    let arrivals = web.ledger(&scenario.name);
    let nothing = || Grade { verdict: Verdict::NotExercised, findings: Vec::new() };
    let grade = web.judge(index, trial.interval).unwrap_or_else(nothing);
    let said = match (grade.verdict, ends.last()) {
        (Verdict::Kept, _) | (_, None) => String::new(),
        (Verdict::Broken | Verdict::NotExercised, Some(end)) => {
            format!("{end}\n{}", said(&log)?).trim().to_owned()
        }
    };
    Ok(Graded { scenario, grade, arrivals, ends, said })
}

/// What the crawler said last, fit for a terminal.
fn said(log: &Path) -> Result<String, RunError> {
    let said = fs::read(log).map_err(RunError::Files)?;
    let said = String::from_utf8_lossy(&said);
    let tail: Vec<char> = said.trim().chars().rev().take(SAID).collect();
    Ok(visible(&tail.into_iter().rev().collect::<String>()))
}

/// Puts the values into the command line.
fn fill(trial: &Trial, web: &Web, index: usize, start_s: u64, dir: &Path) -> String {
    let scenario = web.scenarios().get(index);
    let (name, scale) = scenario.map_or(("", 1), |s| (s.name.as_str(), s.scale()));
    trial
        .command
        .replace("{seed}", &web.seed(index))
        .replace("{proxy}", web.proxy().unwrap_or_default())
        .replace("{ca}", &dir.join("lab-ca.pem").to_string_lossy())
        .replace("{dir}", &dir.join(name).to_string_lossy())
        .replace("{agent}", &trial.agent)
        .replace("{interval}", &trial.interval.as_secs_f64().to_string())
        .replace("{policy}", trial.policy.name())
        .replace("{start}", &start_s.to_string())
        .replace("{scale}", &scale.to_string())
}

/// What libfaketime is told: how far its time is from the real one, and how fast it goes.
fn faketime(start_s: u64, scale: u32) -> String {
    let now_s = wall_s();
    let (sign, far_s) =
        if start_s < now_s { ('-', now_s - start_s) } else { ('+', start_s - now_s) };
    format!("{sign}{far_s} x{scale}")
}
