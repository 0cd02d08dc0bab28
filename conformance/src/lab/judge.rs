//! Reads a ledger and names every rule that it shows to be broken.
//!
//! The judge knows only arrivals and the lab's own expectations; it trusts
//! nothing that a crawler says of itself.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use super::expectations::{Expectations, Forbidden, Reach, SiteInfo};
use super::ledger::Request;
use super::report::{Report, SiteTally, Violation, ViolationKind};

/// Judges a ledger against what was expected.
///
/// `interval` is the least time from one arrival to the next at one site; a
/// site that asks for a longer crawl-delay gets that. The lab's own scheduling
/// may shorten a gap by [`Expectations::timing_allowance_ms`]. A page that
/// answered 429 or 5xx may be asked again.
#[must_use]
pub fn judge(ledger: &[Request], expectations: &Expectations, interval: Duration) -> Report {
    let mut requests: Vec<&Request> = ledger.iter().collect();
    requests.sort_by_key(|request| (request.at_us, request.seq));
    let mut court = Court::new(expectations, interval, &requests);
    for request in &requests {
        court.hear(request);
    }
    court.close(requests.len())
}

/// The state of one hearing.
struct Court<'a> {
    expectations: &'a Expectations,
    interval: Duration,
    listed: HashSet<&'a str>,
    robots: HashSet<&'a str>,
    /// When each URL was first answered in full.
    answered_us: HashMap<String, u64>,
    /// The status of the last answer for each URL so far.
    seen: HashMap<String, u16>,
    sites: BTreeMap<&'a str, SiteHearing<'a>>,
    unlisted: BTreeSet<String>,
    violations: Vec<Violation>,
}

struct SiteHearing<'a> {
    info: &'a SiteInfo,
    requests: u64,
    last_at_us: Option<u64>,
    smallest_gap_us: Option<u64>,
    most_at_once: u32,
}

impl<'a> Court<'a> {
    fn new(expectations: &'a Expectations, interval: Duration, requests: &[&Request]) -> Self {
        let sites: BTreeMap<_, _> = expectations
            .sites
            .iter()
            .map(|info| (info.name.as_str(), SiteHearing::new(info)))
            .collect();
        let mut answered_us = HashMap::new();
        for request in requests {
            let (Some(site), Some(done_us)) = (sites.get(request.site.as_str()), request.done_us)
            else {
                continue;
            };
            let first = answered_us.entry(site.url(request)).or_insert(done_us);
            *first = done_us.min(*first);
        }
        let fetchable = expectations
            .must_fetch
            .iter()
            .chain(&expectations.may_fetch);
        Self {
            expectations,
            interval,
            listed: fetchable.map(|expect| expect.url.as_str()).collect(),
            robots: robots_urls(&expectations.sites),
            answered_us,
            seen: HashMap::new(),
            sites,
            unlisted: BTreeSet::new(),
            violations: Vec::new(),
        }
    }

    fn hear(&mut self, request: &Request) {
        let Some(site) = self.sites.get_mut(request.site.as_str()) else {
            let detail = format!("the lab has no site named {:?}", request.site);
            self.accuse(
                ViolationKind::WrongHost,
                &request.path_and_query,
                request,
                detail,
                LAB,
            );
            return;
        };
        let url = site.url(request);
        let owed_us = site.owed_us(self.interval);
        let gap_us = site.arrive(request);
        self.hear_pace(&url, request, owed_us, gap_us);
        self.hear_head(&url, request);
        if request.status == MISDIRECTED {
            return;
        }
        if !self.robots.contains(url.as_str()) {
            self.hear_robots(&url, request);
            self.hear_repeat(&url, request);
        }
        self.hear_permission(&url, request);
        self.seen.insert(url, request.status);
    }

    fn hear_pace(&mut self, url: &str, request: &Request, owed_us: u64, gap_us: Option<u64>) {
        let allowance_us = self.expectations.timing_allowance_ms.saturating_mul(1_000);
        if let Some(gap_us) = gap_us
            && gap_us.saturating_add(allowance_us) < owed_us
        {
            let detail = format!(
                "{} ms after the site's last request, {} ms are owed",
                gap_us / 1_000,
                owed_us / 1_000
            );
            self.accuse(
                ViolationKind::TooSoon,
                url,
                request,
                detail,
                "RL-001, AM-36",
            );
        }
        if request.in_flight > 1 {
            let detail = format!("{} requests of the site were under way", request.in_flight);
            self.accuse(ViolationKind::Concurrent, url, request, detail, "RL-002");
        }
    }

    fn hear_head(&mut self, url: &str, request: &Request) {
        let agent = self.expectations.agent.to_ascii_lowercase();
        if !request.user_agent.to_ascii_lowercase().contains(&agent) {
            let detail = format!(
                "User-Agent {:?} does not name {agent:?}",
                request.user_agent
            );
            self.accuse(
                ViolationKind::UnknownAgent,
                url,
                request,
                detail,
                "RFC 9309 §2.2.1",
            );
        }
        if request.status == MISDIRECTED {
            let detail = format!("Host {:?} is not this site's", request.host);
            self.accuse(
                ViolationKind::WrongHost,
                url,
                request,
                detail,
                "RFC 9110 §7.2",
            );
        }
        if request.method != "GET" && request.method != "HEAD" {
            let detail = format!("method {:?}", request.method);
            self.accuse(ViolationKind::WrongMethod, url, request, detail, "RL-004");
        }
    }

    fn hear_robots(&mut self, url: &str, request: &Request) {
        let Some(site) = self.sites.get(request.site.as_str()) else {
            return;
        };
        let unanswered = site.info.robots.iter().find(|robots| {
            self.answered_us
                .get(robots.as_str())
                .is_none_or(|done_us| *done_us > request.at_us)
        });
        if let Some(robots) = unanswered {
            let detail = format!("{robots} had not been answered");
            self.accuse(ViolationKind::BeforeRobots, url, request, detail, "RT-001");
        }
    }

    fn hear_repeat(&mut self, url: &str, request: &Request) {
        if let Some(status) = self.seen.get(url)
            && *status != 429
            && *status < 500
        {
            let detail = format!("it had been answered {status} before");
            self.accuse(ViolationKind::Repeated, url, request, detail, LAB);
        }
    }

    fn hear_permission(&mut self, url: &str, request: &Request) {
        if self.listed.contains(url) || self.robots.contains(url) {
            return;
        }
        let bans = &self.expectations.must_not_fetch;
        match bans.iter().find(|ban| ban.covers(url)) {
            Some(ban) => {
                let (why, clause) = (ban.expect.why.clone(), ban.expect.clause.clone());
                self.accuse(ViolationKind::Disallowed, url, request, why, &clause);
            }
            None => {
                self.unlisted.insert(url.to_owned());
            }
        }
    }

    fn accuse(
        &mut self,
        kind: ViolationKind,
        url: &str,
        request: &Request,
        detail: String,
        clause: &str,
    ) {
        self.violations.push(Violation {
            kind,
            url: url.to_owned(),
            seq: Some(request.seq),
            detail,
            clause: clause.to_owned(),
        });
    }

    fn close(mut self, requests: usize) -> Report {
        let mut required_fetched = 0;
        for expect in &self.expectations.must_fetch {
            if self.seen.contains_key(&expect.url) {
                required_fetched += 1;
                continue;
            }
            self.violations.push(Violation {
                kind: ViolationKind::Missing,
                url: expect.url.clone(),
                seq: None,
                detail: expect.why.clone(),
                clause: expect.clause.clone(),
            });
        }
        self.violations
            .sort_by_key(|violation| (violation.kind, violation.seq));
        let sites = &self.expectations.sites;
        Report {
            requests: requests as u64,
            required: self.expectations.must_fetch.len() as u64,
            required_fetched,
            sites: sites
                .iter()
                .filter_map(|info| self.sites.get(info.name.as_str()))
                .map(|site| site.tally(self.interval))
                .collect(),
            violations: self.violations,
            unlisted: self.unlisted.into_iter().collect(),
        }
    }
}

impl<'a> SiteHearing<'a> {
    fn new(info: &'a SiteInfo) -> Self {
        Self {
            info,
            requests: 0,
            last_at_us: None,
            smallest_gap_us: None,
            most_at_once: 0,
        }
    }

    fn url(&self, request: &Request) -> String {
        format!("{}{}", self.info.base_url, request.path_and_query)
    }

    fn owed_us(&self, interval: Duration) -> u64 {
        let interval_us = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX);
        let asked_us = self.info.crawl_delay_ms.unwrap_or(0).saturating_mul(1_000);
        interval_us.max(asked_us)
    }

    /// Notes an arrival and returns the time since the one before it.
    fn arrive(&mut self, request: &Request) -> Option<u64> {
        let gap_us = self
            .last_at_us
            .map(|last_us| request.at_us.saturating_sub(last_us));
        self.requests += 1;
        self.last_at_us = Some(request.at_us);
        self.most_at_once = self.most_at_once.max(request.in_flight);
        self.smallest_gap_us = match (self.smallest_gap_us, gap_us) {
            (Some(smallest), Some(gap)) => Some(smallest.min(gap)),
            (smallest, gap) => smallest.or(gap),
        };
        gap_us
    }

    fn tally(&self, interval: Duration) -> SiteTally {
        SiteTally {
            site: self.info.name.clone(),
            requests: self.requests,
            owed_gap_ms: self.owed_us(interval) / 1_000,
            smallest_gap_ms: self.smallest_gap_us.map(|gap_us| gap_us / 1_000),
            most_at_once: self.most_at_once,
        }
    }
}

impl Forbidden {
    /// Whether the ban reaches `url`.
    #[must_use]
    pub fn covers(&self, url: &str) -> bool {
        match self.reach {
            Reach::Exact => url == self.expect.url,
            Reach::Below => url.starts_with(&self.expect.url),
        }
    }
}

/// URLs that are asked for as part of fetching a robots.txt, the first of each
/// chain and its hops. No rule can be known before them, and a robots.txt may
/// be fetched again at any time.
fn robots_urls(sites: &[SiteInfo]) -> HashSet<&str> {
    sites
        .iter()
        .flat_map(|site| &site.robots)
        .map(String::as_str)
        .collect()
}

/// A rule of the lab itself rather than of a document.
const LAB: &str = "lab";

/// What the lab answers under a wrong Host header (RFC 9110 §15.5.20).
const MISDIRECTED: u16 = 421;
