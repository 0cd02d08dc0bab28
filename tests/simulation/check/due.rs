//! Every page that may be fetched is: what was found or wanted, by when, and what became of it.

use std::collections::HashMap;

use super::errands::{REIGN, STOP, Standing, allows, errand_of};
use super::visits::{ATTEMPTS, Visit};
use super::{Case, Judgement, Rule, clock, is_bad, is_lookup, retry_after};
use crate::ledger::{Entry, Record};
use crate::world::{DAY, HOUR, MINUTE, Ms, SECOND, SITEMAP, Served, World, path_of};

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

/// When each URL was first named: by the operator, by a link that may be followed, by a redirect,
/// by a robots.txt, by a sitemap.
pub(super) fn found(world: &World, record: &Record) -> HashMap<String, Ms> {
    let mut found = HashMap::new();
    let mut name = |url: &str, at: Ms| match found.get_mut(url) {
        Some(first) => *first = at.min(*first),
        None => drop(found.insert(url.to_owned(), at)),
    };
    world.seeds.iter().for_each(|url| name(url, 0));
    for entry in &record.entries {
        let Some(at) = entry.until else { continue };
        match &entry.served {
            Served::Page { version, .. } => {
                let Some(content) = world.content(&entry.url, *version) else { continue };
                let links = content.links.iter().filter(|link| !content.nofollow && !link.nofollow);
                links.for_each(|link| name(&link.to, at));
            }
            Served::Redirect { to, .. } if errand_of(&entry.url).is_none() => name(to, at),
            Served::File { site, .. } if world.sites[*site].sitemap.is_some() => {
                name(&world.sites[*site].url(SITEMAP), at);
            }
            Served::Sitemap { .. } => {
                let Some(site) = world.site_of(&entry.url) else { continue };
                site.listed(entry.from).for_each(|(path, _)| name(&site.url(path), at));
            }
            Served::Redirect { .. }
            | Served::File { .. }
            | Served::NotModified { .. }
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
        let mut due: Vec<(&str, Ms)> = Vec::new();
        let files = self.files(host);
        for (url, found) in self.found_of.get(host).map_or(&[][..], Vec::as_slice) {
            due.push((url, *found));
            let visits = self.visits.get(url).map_or(&[][..], Vec::as_slice);
            let next = visits.iter().skip(1).map(|next| next.entry.from).chain([Ms::MAX]);
            let again = visits.iter().zip(next).filter(|(visit, next)| *next >= visit.due);
            due.extend(again.map(|(visit, _)| (*url, visit.due)));
            due.extend(self.lifted(url, *found, visits, &files).into_iter().map(|at| (*url, at)));
            if self.world.seeds.iter().any(|seed| seed == url) {
                due.extend(self.named_anew(visits).into_iter().map(|at| (*url, at)));
            }
        }
        let attempt = |url: &str, from: Ms| {
            let attempts = attempts.get(url)?;
            attempts.iter().find(|e| e.from >= from && e.until.is_some()).map(|e| e.from)
        };
        due.into_iter().map(|(url, from)| Due { url, from, attempt: attempt(url, from) }).collect()
    }

    /// The files in force of a host, one after another, from when on.
    fn files(&self, host: &str) -> Vec<(Ms, Option<(usize, usize)>)> {
        let mut files = Vec::new();
        for (from, _, standing) in self.book.after(host, 0, self.world.length) {
            if let Standing::Good { file, .. } = standing
                && files.last().is_none_or(|(_, last)| *last != file)
            {
                files.push((from, file));
            }
        }
        files
    }

    /// When a page that was refused is permitted again: it is due then.
    fn lifted(
        &self,
        url: &str,
        found: Ms,
        visits: &[Visit<'_>],
        files: &[(Ms, Option<(usize, usize)>)],
    ) -> Vec<Ms> {
        let allows = |file| allows(self.world, file, path_of(url));
        let lifts = files.windows(2).filter(|pair| !allows(pair[0].1) && allows(pair[1].1));
        let lifts = lifts.map(|pair| pair[1].0).filter(|at| *at > found);
        let was_refused = |at: &Ms| {
            let past = &visits[..visits.partition_point(|visit| visit.over <= *at)];
            // One that never brought a page was refused when it was due.
            past.iter().any(Visit::was_read) || past.last().is_none_or(|last| last.due < *at)
        };
        lifts.filter(was_refused).collect()
    }

    /// When the operator's start names a seed anew that had failed.
    fn named_anew(&self, visits: &[Visit<'_>]) -> Vec<Ms> {
        let began = self.record.processes.iter().skip(1).map(|(began, _)| *began);
        let has_failed = |at: &Ms| {
            let past = visits.partition_point(|visit| visit.over <= *at);
            past > 0 && visits[past - 1].is_given_up
        };
        began.filter(has_failed).collect()
    }

    /// Whether a due page waits at a moment, and might be fetched.
    pub(super) fn waits(&self, due: &Due<'_>, at: Ms) -> bool {
        if due.from > at || due.attempt.is_none_or(|attempt| attempt <= at) {
            return false;
        }
        match self.book.standing(crate::world::host_of(due.url), at) {
            Standing::Good { file, .. } => allows(self.world, file, path_of(due.url)),
            Standing::Unknown | Standing::Failing { .. } => false,
        }
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
