//! The ledger of scenarios that were served to be explored, as a file, and its grade.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::ledger::Arrival;
use super::report::{Graded, TrialReport};
use super::scenario::{Mode, scenarios};
use super::serve::judge;
use crate::vectors::Policy;

const FORMAT: &str = "comity-lab-scenarios";
const VERSION: u32 = 1;

/// What arrived, and where.
///
/// As a file: the first line says what was served, each further line is one [`Arrival`], all JSON.
#[derive(Clone, Debug)]
pub struct Record {
    /// The product token that the sites were served for.
    pub agent: String,
    /// How they were reached.
    pub mode: Mode,
    /// In order of arrival within each scenario.
    pub arrivals: Vec<Arrival>,
}

#[derive(Deserialize, Serialize)]
struct Header {
    format: String,
    version: u32,
    agent: String,
    mode: Mode,
}

/// A record that cannot be used.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file could not be read or written.
    #[error("could not read or write the ledger file")]
    Io(#[from] io::Error),
    /// A line is not what stands there.
    #[error("line {line} is not what `comity-lab serve --scenarios --ledger FILE` writes")]
    Line {
        /// Line number from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Written by another version.
    #[error("the ledger has version {0}, and this program reads {VERSION}")]
    Version(u32),
    /// The scenarios of this program cannot be read.
    #[error("{0}")]
    Scenarios(String),
}

impl Record {
    /// Whether a file begins as a record does.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn is_at(path: &Path) -> io::Result<bool> {
        let mut line = String::new();
        let mut file = io::BufReader::new(io::Read::take(fs::File::open(path)?, 4_096));
        // What is not text is no record.
        let _ = io::BufRead::read_line(&mut file, &mut line);
        let header: Result<Header, _> = serde_json::from_str(&line);
        Ok(header.is_ok_and(|header| header.format == FORMAT))
    }

    /// Writes the file, replacing what is there.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        let (agent, mode) = (self.agent.clone(), self.mode);
        let header = Header { format: FORMAT.into(), version: VERSION, agent, mode };
        let mut lines = vec![serde_json::to_string(&header)];
        lines.extend(self.arrivals.iter().map(serde_json::to_string));
        let lines: Result<Vec<_>, _> = lines.into_iter().collect();
        let lines = lines.map_err(io::Error::other)?;
        Ok(fs::write(path, lines.join("\n") + "\n")?)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let text = fs::read_to_string(path)?;
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let at = |line| move |source| RecordError::Line { line, source };
        let Header { version, agent, mode, .. } = serde_json::from_str(first).map_err(at(1))?;
        if version != VERSION {
            return Err(RecordError::Version(version));
        }
        let lines = rest.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let arrivals = lines.map(|(n, line)| serde_json::from_str(line).map_err(at(n + 2)));
        Ok(Self { agent, mode, arrivals: arrivals.collect::<Result<_, _>>()? })
    }

    /// Judges each scenario that was visited. Those that last hours or days are left out, as the
    /// clock of what is served is the real one.
    ///
    /// # Errors
    ///
    /// When the scenarios of this program cannot be read.
    pub fn grade(&self, interval: Duration, policy: Policy) -> Result<TrialReport, RecordError> {
        let mut report = TrialReport {
            crawler: "what was served".into(),
            mode: self.mode,
            agent: self.agent.clone(),
            interval_s: interval.as_secs_f64(),
            policy,
            results: Vec::new(),
            without_time: Vec::new(),
            interrupted: Vec::new(),
        };
        let of_policy = |names: &[Policy]| names.is_empty() || names.contains(&policy);
        for scenario in scenarios().map_err(RecordError::Scenarios)? {
            let own = self.arrivals.iter().filter(|a| a.scenario == scenario.name);
            let arrivals: Vec<_> = own.cloned().collect();
            if arrivals.is_empty() || !of_policy(&scenario.policy) {
                continue;
            }
            if scenario.clock.is_some() {
                report.without_time.push(scenario.name);
                continue;
            }
            let grade = judge(&scenario, &arrivals, &self.agent, interval);
            let (ends, said) = (Vec::new(), String::new());
            report.results.push(Graded { scenario, grade, arrivals, ends, said });
        }
        Ok(report)
    }
}
