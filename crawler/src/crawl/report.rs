//! What a crawl has done so far: counted by the workers, read by whoever shows it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use comity_compliance::{Timestamp, WaitCause};
use serde::{Deserialize, Serialize};
use url::Url;

/// Counts of one run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Counts {
    /// Pages that were fetched, whatever their status.
    pub fetched: u64,
    /// Bytes that came over the wire for them.
    pub wire_bytes: u64,
    /// Redirects among them.
    pub redirected: u64,
    /// robots.txt requests, each hop of a redirect counted.
    pub robots_requests: u64,
    /// Pages handed to the index.
    pub indexed: u64,
    /// Documents that an index elsewhere took or gave up.
    pub delivered: u64,
    /// Documents that it does not take.
    pub rejected: u64,
    /// Fetched pages that were kept out of the index, by reason.
    pub withheld: BTreeMap<String, u64>,
    /// URLs that were not fetched, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Links that were not followed, by reason.
    pub dropped_links: BTreeMap<String, u64>,
    /// Requests that brought no usable answer, by reason.
    pub failed: BTreeMap<String, u64>,
    /// URLs put off, by what they wait for.
    pub waits: BTreeMap<String, u64>,
    /// New URLs found.
    pub found: u64,
    /// Sitemaps that were read.
    pub sitemaps: u64,
    /// Entries of them that count.
    pub listed: u64,
    /// Pages cut at the size limit.
    pub truncated: u64,
    /// Pages with the text of another page of their site.
    pub same_text: u64,
    /// Pages with nearly the text of another page of their site.
    pub near_text: u64,
    /// Replies that ask for a login, by kind.
    pub walls: BTreeMap<String, u64>,
    /// Items that were handed to the sink and taken, by extractor.
    pub items: BTreeMap<String, u64>,
    /// What extractors and sinks left out, by extractor and reason.
    pub items_left_out: BTreeMap<String, u64>,
    /// Pages on which an extractor failed, by extractor.
    pub extract_errors: BTreeMap<String, u64>,
}

/// A moment of a running crawl.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Progress {
    /// Counts since the run began.
    pub counts: Counts,
    /// URLs that wait in the frontier.
    pub queued: u64,
    /// URLs known in all.
    pub known: u64,
    /// Sites that are being asked now.
    pub sites_active: usize,
    /// When the next site is due, in milliseconds since 1970, if none is being asked.
    pub next_due_ms: Option<i64>,
    /// Seconds since the run began.
    pub seconds: f64,
}

/// An event that a person may want to see as it happens.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A page came.
    Fetched {
        /// Its URL.
        url: &'a Url,
        /// The status.
        status: u16,
        /// Why the index may not have it in full; `None` if it may.
        withheld: Option<&'a str>,
    },
    /// A URL may not be fetched.
    Refused {
        /// The URL.
        url: &'a Url,
        /// The reason's code.
        reason: &'a str,
        /// The line of robots.txt that decided, or other evidence.
        evidence: Option<&'a str>,
    },
    /// A URL could not be fetched.
    Failed {
        /// The URL.
        url: &'a Url,
        /// The reason's code.
        reason: &'a str,
        /// What happened, for people.
        detail: &'a str,
        /// When it is tried again.
        retry_at: Option<Timestamp>,
    },
    /// Items of a page were kept.
    Extracted {
        /// The page.
        url: &'a Url,
        /// How many.
        items: u64,
    },
    /// An extractor failed on a page; what it had yielded stands.
    ExtractFailed {
        /// The page.
        url: &'a Url,
        /// The extractor.
        extractor: &'a str,
        /// What happened, for people.
        detail: &'a str,
    },
    /// A site is put off for more than its usual interval.
    Waits {
        /// The URL that waits.
        url: &'a Url,
        /// What for.
        cause: WaitCause,
        /// What happened, for people.
        detail: &'a str,
        /// Until when.
        until: Timestamp,
    },
}

/// Where the workers report.
pub struct Reporter {
    counts: Mutex<Counts>,
    listener: Box<dyn Fn(&Event<'_>) + Send + Sync>,
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl Reporter {
    /// A reporter that tells `listener` of every event.
    pub fn new(listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        Self { counts: Mutex::default(), listener: Box::new(listener) }
    }

    /// The counts as they stand.
    pub fn counts(&self) -> Counts {
        self.locked().clone()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.locked());
    }

    /// Counts an event and passes it on.
    pub(super) fn tell(&self, event: &Event<'_>) {
        self.count(|counts| match event {
            Event::Fetched { withheld, .. } => {
                counts.fetched += 1;
                if let Some(reason) = withheld {
                    *counts.withheld.entry((*reason).into()).or_default() += 1;
                }
            }
            Event::Refused { reason, .. } => {
                *counts.refused.entry((*reason).into()).or_default() += 1;
            }
            Event::Failed { reason, .. } => {
                *counts.failed.entry((*reason).into()).or_default() += 1;
            }
            Event::Extracted { .. } => {}
            Event::ExtractFailed { extractor, .. } => {
                *counts.extract_errors.entry((*extractor).into()).or_default() += 1;
            }
            Event::Waits { cause, .. } => {
                *counts.waits.entry(cause.code().into()).or_default() += 1;
            }
        });
        (self.listener)(event);
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Reporter {
    fn default() -> Self {
        Self::new(|_| {})
    }
}
