//! What the simulated servers and their name servers saw: the only witness that the checks hear.

use std::net::IpAddr;

use crate::world::{Ms, Served};

/// One request, or one look-up of a name that failed.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) url: String,
    /// Whether it asked for plain text, as for a robots.txt.
    pub(crate) wants_text: bool,
    pub(crate) address: Option<IpAddr>,
    /// When it arrived.
    pub(crate) from: Ms,
    /// When it was answered; none if the crawler was gone by then.
    pub(crate) until: Option<Ms>,
    pub(crate) served: Served,
}

/// All that a run left behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// In the order of arrival.
    pub(crate) entries: Vec<Entry>,
    /// When a process began and when it was gone.
    pub(crate) processes: Vec<(Ms, Ms)>,
    /// What the index showed, looked at from time to time.
    pub(crate) looks: Vec<Look>,
}

/// What a search that fits every page brought.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) at: Ms,
    pub(crate) shown: Vec<String>,
    /// What is in the index though no search shows it today: its day is past.
    pub(crate) kept: Vec<String>,
}

impl Entry {
    pub(crate) fn is_request(&self) -> bool {
        self.address.is_some()
    }

    /// When it was over for the server, at the latest.
    pub(crate) fn over(&self) -> Ms {
        self.until.unwrap_or(self.from)
    }
}
