//! Runs a crawler, whatever it is, once a scenario, and judges what arrived.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use thiserror::Error;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::clock::wall_s;
use super::judge::{Grade, Verdict};
use super::report::{Graded, TrialReport};
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

/// Starts the lab, runs the crawler for each scenario, and grades it.
///
/// # Errors
///
/// When the lab or a shell cannot be started. A crawler that fails is graded all the same.
pub async fn grade(scenarios: Vec<Scenario>, trial: Trial) -> Result<TrialReport, RunError> {
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
    let mut results = Vec::new();
    while let Some(done) = tasks.join_next().await {
        results.push(done.map_err(|error| RunError::Shell(io::Error::other(error)))??);
    }
    results.sort_by_key(|(index, _)| *index);
    let results = results.into_iter().map(|(_, graded)| graded).collect();
    let Trial { command, mode, interval, policy, .. } = trial.as_ref().clone();
    let (crawler, interval_s) = (command, interval.as_secs_f64());
    Ok(TrialReport { crawler, mode, interval_s, policy, results, without_time })
}

async fn one(web: &Web, index: usize, trial: &Trial, dir: &Path) -> Result<Graded, RunError> {
    let scenario = web.scenarios()[index].clone();
    let place = dir.join(&scenario.name);
    fs::create_dir_all(&place).map_err(RunError::Files)?;
    let log = dir.join(format!("{}.log", scenario.name));
    let mut ended = String::new();
    for run in 0..scenario.run_count() {
        let start_s = web.begin(index, run);
        let command = fill(trial, web, index, start_s, dir);
        let time = trial.faketime.then_some(scenario.clock.as_ref()).flatten();
        let shell = match time.map(|clock| faketime(start_s, clock.scale)) {
            Some(time) => vec!["faketime".into(), "-f".into(), time, "sh".into()],
            None => vec!["sh".into()],
        };
        let limit = Duration::from_secs(trial.seconds.unwrap_or(scenario.seconds));
        ended = run_once(&shell, &command, web, dir, &log, limit).await?;
    }
    let said = fs::read(&log).map_err(RunError::Files)?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let tail: Vec<char> = said.trim().chars().rev().take(SAID).collect();
    let tail: String = tail.into_iter().rev().collect();
    let ended = format!("{ended}\n{tail}").trim().to_owned();
    let arrivals = web.ledger(&scenario.name);
    let nothing = || Grade { verdict: Verdict::NotExercised, findings: Vec::new() };
    let grade = web.judge(index, trial.interval).unwrap_or_else(nothing);
    let said = if grade.verdict == Verdict::Kept { String::new() } else { ended };
    Ok(Graded { scenario, grade, arrivals, said })
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

/// Runs it, and ends it with all that it has started. Says how it ended.
async fn run_once(
    shell: &[String],
    command: &str,
    web: &Web,
    dir: &Path,
    log: &Path,
    limit: Duration,
) -> Result<String, RunError> {
    let output =
        fs::File::options().create(true).append(true).open(log).map_err(RunError::Files)?;
    let errors = output.try_clone().map_err(RunError::Files)?;
    let [program, before @ ..] = shell else { return Ok(String::new()) };
    let mut shell = Command::new(program);
    shell.args(before).arg("-c").arg(command).stdin(Stdio::null()).stdout(output).stderr(errors);
    shell.process_group(0).kill_on_drop(true);
    for name in [
        "http_proxy",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
        "no_proxy",
        "NO_PROXY",
    ] {
        shell.env_remove(name);
    }
    if let Some(proxy) = web.proxy() {
        shell.env("http_proxy", proxy).env("https_proxy", proxy);
    }
    let ca = dir.join("lab-ca.pem");
    for name in ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"] {
        if web.seed(0).starts_with("https:") {
            shell.env(name, &ca);
        }
    }
    let mut child = shell.spawn().map_err(RunError::Shell)?;
    let group = child.id();
    let ended = match timeout(limit, child.wait()).await {
        Ok(status) => status.map_err(RunError::Shell)?.to_string(),
        Err(_) => format!("ended by the lab after {} s", limit.as_secs()),
    };
    if let Some(group) = group {
        // What the crawler has started and left behind; usually there is nothing left to end.
        let kill = format!("kill -KILL -{group}");
        let mut kill_group = Command::new("sh");
        kill_group.arg("-c").arg(kill).stderr(Stdio::null());
        let _ = kill_group.status().await;
        // What faketime keeps for its children, and removes only if it may end by itself.
        for kept in [format!("faketime_shm_{group}"), format!("sem.faketime_sem_{group}")] {
            let _ = fs::remove_file(Path::new("/dev/shm").join(kept));
        }
    }
    let _ = child.wait().await;
    Ok(ended)
}
