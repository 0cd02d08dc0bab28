//! Judges a run by what the servers saw and what the world was, written from docs/requirements.md.
//! It asks the crawler nothing, and shares no rule with it.

mod due;
mod errands;
mod index;
mod mutations;
mod pace;
mod rules;
mod visits;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::ledger::{Entry, Record};
use crate::run::Scenario;
use crate::world::{Fault, Ms, Served, World, host_of};

use errands::Book;
use visits::Visits;

/// What a run may not do.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Rule {
    /// A page before its robots.txt (RT-001).
    BeforeRobots,
    /// A page that the rules in force forbid.
    Disallowed,
    /// A page by rules that are past their time (RT-030, AM-12).
    StaleRules,
    /// A page within 12 hours of the first failed refresh (RT-025, AM-6).
    FullStop,
    /// A page of a site that never had rules, within 30 days (AM-8).
    NoCopy,
    /// The same after 30 days, without a probe that went well (RT-027, AM-10).
    NotProbed,
    /// A robots.txt asked for again too early (AM-11, AM-12).
    RobotsEarly,
    /// A robots.txt not asked for again while pages waited for it (RT-026, AM-11).
    RobotsLate,
    /// A robots.txt's sixth redirect followed (AM-1).
    SixthHop,
    /// A page that no link that may be followed led to (RM-022, LK-002).
    Unlinked,
    /// A request while another was under way, or within the interval (RL-002, AM-36).
    Interval,
    /// A request before the end of a Retry-After (HT-010, AM-65).
    RetryAfter,
    /// A request sooner than the share of bad answers permits (AM-66).
    SlowDown,
    /// Requests to one address, or in all, more often than the operator's ceiling.
    Ceiling,
    /// A page that might be fetched and was not, or long after it might.
    NotFetched,
    /// A page visited before its time (RL-004, HT-003), above all one that has expired (AM-64).
    Early,
    /// A page visited again and again because of a sitemap's dates that are wrong (SM-003).
    Distrusted,
    /// Less than 95 % of the requests that the limits permit.
    Idle,
    /// A page in the index that must not be there.
    Shown,
    /// A page that the index lacks.
    Missing,
}

#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) rule: Rule,
    pub(crate) at: Ms,
    pub(crate) url: String,
    pub(crate) what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, at, url, what } = self;
        write!(f, "{rule:?} at {} of {url}: {what}", clock(*at))
    }
}

/// A moment as people read it: days, hours, minutes, seconds.
pub(crate) fn clock(at: Ms) -> String {
    let secs = at / 1000;
    let (days, rest) = (secs / 86_400, secs % 86_400);
    format!("{days}d {:02}:{:02}:{:02}.{:03}", rest / 3600, rest / 60 % 60, rest % 60, at % 1000)
}

/// What a run is judged to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) violations: Vec<Violation>,
    /// Time that the limits asked for between requests that were due, and time that was taken.
    pub(crate) permitted: Ms,
    pub(crate) taken: Ms,
    /// URLs that failed three times in a row at the last, and were wanted still.
    pub(crate) given_up: usize,
}

impl Judgement {
    /// Per cent of the permitted requests that were made.
    pub(crate) fn used_percent(&self) -> i64 {
        if self.taken == 0 { 100 } else { self.permitted * 100 / self.taken }
    }
}

/// What the checks have in common.
struct Case<'a> {
    world: &'a World,
    scenario: Scenario,
    record: &'a Record,
    book: Book,
    /// The entries of each host, in the order of arrival.
    by_host: BTreeMap<&'a str, Vec<&'a Entry>>,
    /// When each URL was found for the first time.
    found: &'a HashMap<String, Ms>,
    found_of: HashMap<&'a str, Vec<(&'a str, Ms)>>,
    /// What was visited, and when it was to be visited again.
    visits: Visits<'a>,
}

pub(crate) fn judge(world: &World, scenario: Scenario, record: &Record) -> Judgement {
    let mut by_host: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in &record.entries {
        by_host.entry(host_of(&entry.url)).or_default().push(entry);
    }
    let book = Book::new(world, record);
    let found = due::found(world, record);
    let visits = visits::visits(world, record, &book);
    let mut found_of: HashMap<_, Vec<_>> = HashMap::new();
    for (url, at) in &found {
        found_of.entry(host_of(url)).or_default().push((url.as_str(), *at));
    }
    let found = &found;
    let case = Case { world, scenario, record, book, by_host, found, found_of, visits };
    let mut judgement = Judgement::default();
    case.rules(&mut judgement);
    case.pace(&mut judgement);
    case.rhythm(&mut judgement);
    case.due(&mut judgement);
    case.index(&mut judgement);
    judgement.violations.sort_by_key(|one| one.at);
    judgement
}

impl Judgement {
    fn found(&mut self, rule: Rule, at: Ms, url: &str, what: impl Into<String>) {
        self.violations.push(Violation { rule, at, url: url.into(), what: what.into() });
    }
}

/// Whether an answer is a sign of trouble: 429, 5xx, or none.
fn is_bad(served: &Served) -> bool {
    match served {
        Served::Status { status, .. } => matches!(status, 429 | 500..=599),
        Served::Failed(_) => true,
        Served::File { .. }
        | Served::Page { .. }
        | Served::NotModified { .. }
        | Served::Sitemap { .. }
        | Served::Redirect { .. } => false,
    }
}

fn retry_after(served: &Served) -> Option<Ms> {
    match served {
        Served::Status { status: 429 | 503, retry_after_secs } => {
            retry_after_secs.map(|secs| (secs * 1000).min(crate::world::DAY))
        }
        Served::Status { .. }
        | Served::Failed(_)
        | Served::File { .. }
        | Served::Page { .. }
        | Served::NotModified { .. }
        | Served::Sitemap { .. }
        | Served::Redirect { .. } => None,
    }
}

fn is_lookup(entry: &Entry) -> bool {
    entry.served == Served::Failed(Fault::NoAddress)
}
