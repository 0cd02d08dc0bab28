//! A scenario without sockets: whoever plays it carries requests and answers, and says what time it
//! is. So a crawler whose clock is held can be graded by the same files.

use std::time::Duration;

use url::Url;

use super::judge::Grade;
use super::ledger::Arrival;
use super::scenario::{Break, Scenario};
use super::serve::Shared;
use super::wire::Head;

/// A scenario that is played. Its sites have the names that the lab's proxy gives them
/// (`main.NAME.test`), over http.
#[derive(Debug)]
pub struct Play {
    shared: Shared,
}

/// What a request is answered.
#[derive(Clone, Debug)]
pub struct Said {
    /// The request's place in the ledger, for [`Play::done`].
    pub place: usize,
    /// The status.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// The body, not packed.
    pub body: Vec<u8>,
    /// How the answer ends badly.
    pub then: Option<Break>,
}

impl Play {
    /// Begins a scenario. `start_s` is when that is, in seconds since 1970: dates that its pages name
    /// are counted from there.
    pub fn new(scenario: Scenario, agent: &str, start_s: u64) -> Self {
        Self { shared: Shared::unreachable(scenario, agent, start_s) }
    }

    /// Where the crawl begins.
    pub fn seed(&self) -> String {
        self.shared.seed(0)
    }

    /// A GET, with header lines whose names are in small letters, `at_s` after the scenario's
    /// beginning. None for a host that the scenario does not have.
    pub fn ask(&self, url: &Url, headers: Vec<(String, String)>, at_s: f64) -> Option<Said> {
        let (index, site) = self.shared.site(url.host_str()?, url.port_or_known_default()?)?;
        let target = url[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
        let head = Head { method: "GET".into(), target, headers };
        let (place, filled) = self.shared.answer(index, site, &head, at_s)?;
        let (status, then) = (filled.status, filled.then);
        Some(Said { place, status, headers: filled.headers, body: filled.body, then })
    }

    /// The answer has been sent.
    pub fn done(&self, place: usize, at_s: f64) {
        self.shared.ledger().done(place, at_s);
    }

    /// What arrived.
    pub fn ledger(&self) -> Vec<Arrival> {
        self.shared.everything()
    }

    /// Judges what arrived.
    pub fn grade(&self, interval: Duration) -> Option<Grade> {
        self.shared.judge(0, interval)
    }
}
