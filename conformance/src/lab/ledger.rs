//! The ledger: one entry per request, in memory while the lab runs and as
//! JSON lines in a file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::time::Instant;

use super::expectations::Expectations;

/// Requests that the lab remembers; later ones are answered 503.
const MAX_REQUESTS: usize = 1_000_000;

/// Bytes of a ledger file that are read.
const MAX_FILE_BYTES: u64 = 512 * 1024 * 1024;

const FORMAT: &str = "comity-lab-ledger";
const VERSION: u32 = 1;

/// One request that reached the lab.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Request {
    /// Place in the order of arrival over all sites, from 0.
    pub seq: u64,
    /// Name of the site whose port was asked.
    pub site: String,
    /// When the request head had been read, in microseconds since the lab
    /// started. Never falls from one entry to the next.
    pub at_us: u64,
    /// When the answer was handed to the connection, or the client left;
    /// `None` while under way. Same clock as `at_us`.
    pub done_us: Option<u64>,
    /// Requests under way on the site at that moment, this one included.
    pub in_flight: u32,
    /// Request method.
    pub method: String,
    /// The Host header as sent, empty if there was none.
    pub host: String,
    /// Path and query as sent.
    pub path_and_query: String,
    /// The User-Agent header as sent, empty if there was none.
    pub user_agent: String,
    /// Status of the answer.
    pub status: u16,
}

/// What the lab notes of a request when its head has been read.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) site: &'static str,
    pub(crate) method: String,
    pub(crate) host: String,
    pub(crate) path_and_query: String,
    pub(crate) user_agent: String,
    pub(crate) status: u16,
}

/// The ledger of a running lab.
#[derive(Debug)]
pub(crate) struct Ledger {
    started: Instant,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    requests: Vec<Request>,
    in_flight: HashMap<&'static str, u32>,
}

/// A request under way; dropping it notes its end.
#[derive(Debug)]
pub(crate) struct Underway {
    ledger: Arc<Ledger>,
    index: usize,
    site: &'static str,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            entries: Mutex::default(),
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Notes a request, or returns `None` when the ledger is full.
    pub(crate) fn enter(self: &Arc<Self>, arrival: Arrival) -> Option<Underway> {
        let mut entries = self.lock();
        let index = entries.requests.len();
        if index >= MAX_REQUESTS {
            return None;
        }
        let in_flight = entries.in_flight.entry(arrival.site).or_insert(0);
        *in_flight += 1;
        let in_flight = *in_flight;
        // Read under the lock, so that order of entry is order of time.
        let at_us = self.elapsed_us();
        entries.requests.push(Request {
            seq: index as u64,
            site: arrival.site.to_owned(),
            at_us,
            done_us: None,
            in_flight,
            method: arrival.method,
            host: arrival.host,
            path_and_query: arrival.path_and_query,
            user_agent: arrival.user_agent,
            status: arrival.status,
        });
        Some(Underway {
            ledger: Arc::clone(self),
            index,
            site: arrival.site,
        })
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// A panic elsewhere leaves whole entries behind, so the lock stays usable.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let mut entries = self.ledger.lock();
        let now_us = self.ledger.elapsed_us();
        if let Some(request) = entries.requests.get_mut(self.index) {
            request.done_us = Some(now_us);
        }
        if let Some(in_flight) = entries.in_flight.get_mut(self.site) {
            *in_flight = in_flight.saturating_sub(1);
        }
    }
}

/// A ledger with all that is needed to judge it.
///
/// As a file: the first line describes the lab, each further line is one
/// [`Request`], all JSON.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LedgerFile {
    /// What was expected of the crawl.
    pub expectations: Expectations,
    /// What arrived.
    pub requests: Vec<Request>,
}

/// The first line of a ledger file.
#[derive(Deserialize, Serialize)]
struct Header {
    format: String,
    version: u32,
    expectations: Expectations,
}

/// A ledger file that could not be used.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The file could not be read or written.
    #[error("could not read or write the ledger file")]
    Io(#[from] io::Error),
    /// The first line does not describe a lab.
    #[error("line 1 does not describe a lab ({0}); `comity-lab serve --ledger FILE` writes one")]
    Header(String),
    /// A later line is not a request.
    #[error("line {line} is not a request of a lab ledger")]
    Line {
        /// Line number from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file is longer than a lab's ledger can be.
    #[error("the ledger file is longer than {MAX_FILE_BYTES} bytes; no lab writes that much")]
    TooLong,
}

impl LedgerFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is not a ledger.
    pub fn read(path: &Path) -> Result<Self, LedgerError> {
        let file = File::open(path)?;
        if file.metadata()?.len() > MAX_FILE_BYTES {
            return Err(LedgerError::TooLong);
        }
        Self::parse(BufReader::new(file.take(MAX_FILE_BYTES)))
    }

    /// Reads a ledger from its lines. Blank lines are skipped.
    ///
    /// # Errors
    ///
    /// When a line is not what a ledger holds at that place.
    pub fn parse(input: impl BufRead) -> Result<Self, LedgerError> {
        let mut lines = input.lines();
        let first = lines
            .next()
            .ok_or_else(|| LedgerError::Header("no lines".to_owned()))??;
        let header: Header =
            serde_json::from_str(&first).map_err(|error| LedgerError::Header(error.to_string()))?;
        if header.format != FORMAT || header.version != VERSION {
            let found = format!("format {:?}, version {}", header.format, header.version);
            return Err(LedgerError::Header(found));
        }
        let mut requests = Vec::new();
        for (index, line) in lines.enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            requests.push(
                serde_json::from_str(&line).map_err(|source| LedgerError::Line {
                    line: index + 2,
                    source,
                })?,
            );
        }
        Ok(Self {
            expectations: header.expectations,
            requests,
        })
    }

    /// Writes the file at `path`, replacing what is there.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LedgerError> {
        let mut output = BufWriter::new(File::create(path)?);
        self.write_lines(&mut output)?;
        output.flush()?;
        Ok(())
    }

    fn write_lines(&self, output: &mut impl Write) -> io::Result<()> {
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            expectations: self.expectations.clone(),
        };
        serde_json::to_writer(&mut *output, &header)?;
        output.write_all(b"\n")?;
        for request in &self.requests {
            serde_json::to_writer(&mut *output, request)?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }
}
