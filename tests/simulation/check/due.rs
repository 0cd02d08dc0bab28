//! Every page that may be fetched is: what was found or wanted, by when, and what became of it.

use std::collections::HashMap;

use super::errands::{REIGN, STOP, Standing, allows, errand_of};
use super::{Case, Judgement, Rule, clock, is_bad, is_lookup, retry_after};
use crate::ledger::{Entry, Record};
use crate::world::{DAY, HOUR, MINUTE, Ms, SECOND, Served, World, path_of};

/// A page that is to be fetched from a moment on.
pub(super) struct Due<'a> {
    url: &'a str,
    from: Ms,
    /// The first attempt since then, if there was one.
    attempt: Option<Ms>,
}

/// What a due page may wait for nothing visible.
const SLACK: Ms = 2 * HOUR;
/// A robots.txt that is due may wait for so long beside it: the longest back-off, and the slowest
/// rate.
const ROBOTS_SLACK: Ms = 80 * MINUTE;
/// Attempts in a row after which a page is given up.
const ATTEMPTS: usize = 3;

/// When each URL was first named: by the operator, by a link that may be followed, by a redirect.
pub(super) fn found<'a>(world: &'a World, record: &'a Record) -> HashMap<&'a str, Ms> {
    let mut found = HashMap::new();
    let mut name = |url: &'a str, at: Ms| {
        let first: &mut Ms = found.entry(url).or_insert(at);
        *first = at.min(*first);
    };
    world.seeds.iter().for_each(|url| name(url, 0));
    for (round, (began, _)) in world.rounds.iter().zip(record.processes.iter().skip(1)) {
        round.again.iter().for_each(|url| name(url, *began));
    }
    for entry in &record.entries {
        let Some(at) = entry.until else { continue };
        match &entry.served {
            Served::Page { version } => {
                let Some(content) = world.content(&entry.url, *version) else { continue };
                let links = content.links.iter().filter(|link| !content.nofollow && !link.nofollow);
                links.for_each(|link| name(&link.to, at));
            }
            Served::Redirect { to, .. } if errand_of(&entry.url).is_none() => name(to, at),
            Served::Redirect { .. }
            | Served::File { .. }
            | Served::Status { .. }
            | Served::Failed(_) => {}
        }
    }
    found
}

impl Case<'_> {
    pub(super) fn due(&self, judgement: &mut Judgement) {
        for host in self.world.sites.iter().map(|site| site.host.as_str()) {
            let costs = self.costs(host);
            for due in self.due_of(host) {
                if let Some((rule, at, what)) = self.neglect(host, &due, &costs) {
                    judgement.found(rule, at, due.url, what);
                }
            }
        }
        judgement.given_up = self.given_up();
    }

    /// All that was due of a host, and when it was attempted.
    pub(super) fn due_of(&self, host: &str) -> Vec<Due<'_>> {
        let mut attempts: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in self.by_host.get(host).map_or(&[][..], Vec::as_slice) {
            attempts.entry(entry.url.as_str()).or_default().push(entry);
        }
        let of_host = |url: &&str| crate::world::host_of(url) == host;
        let mut due: Vec<(&str, Ms)> = Vec::new();
        let named = self.found.iter().map(|(url, at)| (*url, *at));
        due.extend(named.filter(|(url, _)| of_host(url)));
        for (round, (began, _)) in
            self.world.rounds.iter().zip(self.record.processes.iter().skip(1))
        {
            let again = round.again.iter().map(String::as_str).filter(of_host);
            due.extend(again.map(|url| (url, *began)));
        }
        for (url, attempts) in &attempts {
            due.extend(retries(attempts).into_iter().map(|at| (*url, at)));
        }
        let attempt = |url: &str, from: Ms| {
            let attempts = attempts.get(url)?;
            attempts.iter().find(|e| e.from >= from && e.until.is_some()).map(|e| e.from)
        };
        due.into_iter().map(|(url, from)| Due { url, from, attempt: attempt(url, from) }).collect()
    }

    /// Whether a due page waits at a moment, and might be fetched.
    pub(super) fn waits(&self, due: &Due<'_>, at: Ms) -> bool {
        let allowed = match self.book.standing(crate::world::host_of(due.url), at) {
            Standing::Good { file, .. } => allows(self.world, file, path_of(due.url)),
            Standing::Unknown | Standing::Failing { .. } => false,
        };
        allowed && due.from <= at && due.attempt.is_some_and(|attempt| attempt > at)
    }

    /// What each request to a host costs at most in waiting, summed up in order.
    fn costs(&self, host: &str) -> Vec<(Ms, Ms)> {
        let mut sum = 0;
        let entries = self.by_host.get(host).map_or(&[][..], Vec::as_slice);
        let cost = |entry: &Entry| {
            let asked = retry_after(&entry.served).unwrap_or(0);
            if is_bad(&entry.served) { asked.max(HOUR + 10 * MINUTE) } else { 80 * SECOND }
        };
        let mut add = |entry: &&Entry| {
            sum += cost(entry);
            (entry.from, sum)
        };
        entries.iter().map(&mut add).collect()
    }

    /// Follows a due page until it was attempted, or need not be.
    fn neglect(&self, host: &str, due: &Due<'_>, costs: &[(Ms, Ms)]) -> Option<(Rule, Ms, String)> {
        let path = path_of(due.url);
        let end = due.attempt.unwrap_or(self.world.length);
        let spent = |at: Ms| match costs.partition_point(|(from, _)| *from < at) {
            0 => 0,
            some => costs[some - 1].1,
        };
        // What the last request before asked for may last still.
        let before = costs.partition_point(|(from, _)| *from < due.from);
        let pending = match before {
            0 => 0,
            1 => costs[0].1,
            some => costs[some - 1].1 - costs[some - 2].1,
        };
        let (mut idle, mut slack) = (0, SLACK);
        for (from, until, standing) in self.book.after(host, due.from, end.max(due.from)) {
            let waited = spent(until) - spent(from);
            match standing {
                Standing::Unknown => idle += until - from,
                Standing::Good { file, .. } => {
                    if !allows(self.world, file, path) {
                        return None;
                    }
                    idle += until - from;
                }
                Standing::Failing { since, retry_at, copy } => {
                    let forbids = |file| !allows(self.world, file, path);
                    if until > since + STOP && copy.is_some_and(forbids) {
                        return None;
                    }
                    let overdue = until - retry_at.max(from);
                    if overdue > ROBOTS_SLACK + waited + pending {
                        let what = format!("robots.txt was due at {}", clock(retry_at));
                        return Some((Rule::RobotsLate, until, what));
                    }
                    match copy {
                        Some(_) if until > since + STOP => {
                            idle += until - from.max(since + STOP);
                        }
                        None if until > since + REIGN => {
                            let probes_well = !is_bad(
                                &self
                                    .world
                                    .serve(&format!("https://{host}/"), from.max(since + REIGN)),
                            );
                            if probes_well {
                                slack = SLACK + DAY + HOUR;
                                idle += until - from.max(since + REIGN);
                            }
                        }
                        Some(_) | None => {}
                    }
                }
            }
            if idle > slack + spent(until) - spent(due.from) + pending {
                let late = due.attempt.map_or("never".into(), clock);
                let what = format!("due at {}, fetched {late}", clock(due.from));
                return Some((Rule::NotFetched, until, what));
            }
        }
        None
    }

    fn given_up(&self) -> usize {
        let mut runs: HashMap<&str, usize> = HashMap::new();
        let pages = self.record.entries.iter().filter(|e| errand_of(&e.url).is_none());
        for entry in pages.filter(|entry| !is_lookup(entry)) {
            let run = runs.entry(entry.url.as_str()).or_default();
            *run = if is_bad(&entry.served) { *run + 1 } else { 0 };
        }
        runs.values().filter(|run| **run >= ATTEMPTS).count()
    }
}

/// When a page that failed is due again, twice at the most in a row.
fn retries(attempts: &[&Entry]) -> Vec<Ms> {
    let mut due = Vec::new();
    let mut failures = 0;
    let pages = attempts.iter().filter(|e| errand_of(&e.url).is_none() && !is_lookup(e));
    let pages: Vec<_> = pages.collect();
    for (number, entry) in pages.iter().enumerate() {
        let Some(until) = entry.until else { continue };
        failures = if is_bad(&entry.served) { failures + 1 } else { 0 };
        if (1..ATTEMPTS).contains(&failures) {
            let own = if failures == 1 { 5 * MINUTE } else { 20 * MINUTE };
            let at = until + own.max(retry_after(&entry.served).unwrap_or(0));
            // A Retry-After that is shorter is believed once, and the operator may want it sooner.
            if pages.get(number + 1).is_none_or(|next| next.from >= at) {
                due.push(at);
            }
        }
    }
    due
}
