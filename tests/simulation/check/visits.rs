//! When each page was to be visited again, by what its visits brought (RL-004, HT-003, AM-64).
//!
//! Where the servers cannot know what the crawler remembers, there is a span instead of an instant.

use std::collections::{BTreeMap, BTreeSet};

use super::errands::{Book, errand_of};
use super::{Case, Judgement, Rule, clock, is_bad, is_lookup, retry_after};
use crate::ledger::{Entry, Record};
use crate::world::{Body, DAY, HOUR, MINUTE, Ms, SECOND, Served, World, path_of};

/// Attempts in a row after which a page is given up until its next visit.
pub(super) const ATTEMPTS: usize = 3;
/// Due times and intervals are kept in seconds.
const ROUNDING: Ms = 5 * SECOND;
const FIRST: Ms = DAY;
const LEAST: Ms = HOUR;
const MOST: Ms = 30 * DAY;
const EXPIRED_FACTOR: Ms = 10;
/// Visits for claims that are wrong, until the dates of a sitemap are no longer believed: at most 32
/// checks count, and what is listed together is visited together.
const FORGIVEN: usize = 40;

/// A visit that was answered, or seen to fail.
#[derive(Clone, Debug)]
pub(super) struct Visit<'a> {
    pub(super) entry: &'a Entry,
    pub(super) over: Ms,
    /// There is no reason for another one earlier.
    pub(super) not_before: Ms,
    /// Another one is due, at the latest.
    pub(super) due: Ms,
    /// Whether it brought what the visit before it had brought.
    is_unchanged: bool,
    /// Whether it was one failure too many.
    pub(super) is_given_up: bool,
}

impl Visit<'_> {
    pub(super) fn is_bad(&self) -> bool {
        is_bad(&self.entry.served)
    }

    /// Whether a response was read.
    pub(super) fn was_read(&self) -> bool {
        !self.is_bad() && !matches!(self.entry.served, Served::Redirect { .. })
    }
}

/// All visits of pages and sitemaps, by URL.
pub(super) type Visits<'a> = BTreeMap<&'a str, Vec<Visit<'a>>>;

pub(super) fn visits<'a>(world: &World, record: &'a Record, book: &Book) -> Visits<'a> {
    let mut known: BTreeMap<&str, Memory<'_>> = BTreeMap::new();
    let mut visits = Visits::new();
    let seeds: BTreeSet<&str> = world.seeds.iter().map(String::as_str).collect();
    let pages = record.entries.iter().filter(|entry| is_visit(entry));
    for entry in pages {
        let Some(over) = entry.until else { continue };
        let memory = known.entry(&entry.url).or_default();
        let before = visits.get(entry.url.as_str()).and_then(|known: &Vec<Visit<'_>>| known.last());
        let since = before.map_or(0, |before| before.over);
        let restarted = || record.processes.iter().any(|(at, _)| since < *at && *at <= entry.from);
        if memory.failures >= ATTEMPTS && seeds.contains(entry.url.as_str()) && restarted() {
            memory.failures = 0;
        }
        // What was refused since is known as that.
        if matches!(memory.last, Last::Redirect(_))
            && book.forbade(world, &entry.url, since, entry.from)
        {
            memory.last = Last::Failure;
        }
        let visit = memory.visited(world, entry, over);
        visits.entry(&entry.url).or_default().push(visit);
    }
    visits
}

/// Not a robots.txt, nor a probe, which asks as for one.
fn is_visit(entry: &Entry) -> bool {
    errand_of(&entry.url).is_none() && !entry.wants_text
}

/// What the crawler remembers of a page.
#[derive(Default)]
struct Memory<'a> {
    /// The interval of its visits, at the least and at the most.
    every: Option<(Ms, Ms)>,
    read: Option<Read>,
    last: Last<'a>,
    failures: usize,
    /// Failures before those that may count or not: looks for a name that does not resolve.
    unsure: usize,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Read {
    Page(Body),
    Sitemap(i64),
    Status(u16),
}

#[derive(Default)]
enum Last<'a> {
    #[default]
    Nothing,
    Answer,
    Redirect(&'a str),
    Failure,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Sighting {
    First,
    Same,
    Other,
    Gone,
    /// Same or other.
    Either,
}

impl<'a> Memory<'a> {
    fn visited(&mut self, world: &World, entry: &'a Entry, over: Ms) -> Visit<'a> {
        if is_lookup(entry) {
            return self.looked_up(entry, over);
        }
        let sighting = match self.saw(&entry.served) {
            Ok(sighting) => sighting,
            Err((least, most)) => {
                let (not_before, due) = (over + least, over + most);
                return Visit {
                    entry,
                    over,
                    not_before,
                    due,
                    is_unchanged: false,
                    is_given_up: false,
                };
            }
        };
        let (least, most) = self.next(sighting);
        let (not_before, due) = if is_expired(world, entry, over) {
            let seldom = |usual: Ms| (usual * EXPIRED_FACTOR).max(30 * DAY);
            (over + seldom(least), over + seldom(most))
        } else {
            (over + least, over + most)
        };
        let is_unchanged = sighting == Sighting::Same;
        Visit { entry, over, not_before, due, is_unchanged, is_given_up: is_bad(&entry.served) }
    }

    /// A name that does not resolve: a failure, or no more than a look before a decision.
    fn looked_up(&mut self, entry: &'a Entry, over: Ms) -> Visit<'a> {
        self.may_be_given_up();
        self.unsure += self.failures + 1;
        (self.last, self.failures) = (Last::Failure, 0);
        Visit {
            entry,
            over,
            not_before: over,
            due: over + MOST,
            is_unchanged: false,
            is_given_up: false,
        }
    }

    /// The interval may have grown, or not.
    fn may_be_given_up(&mut self) {
        let (low, high) = self.every.unwrap_or((FIRST, FIRST));
        self.every = Some((low, (high * 2).min(MOST)));
    }

    /// What a visit saw; or how soon it is tried again.
    fn saw(&mut self, served: &'a Served) -> Result<Sighting, (Ms, Ms)> {
        if is_bad(served) {
            self.failures += 1;
            self.last = Last::Failure;
            if self.failures >= ATTEMPTS {
                self.unsure = 0;
                return Ok(Sighting::Gone);
            }
            let own = if self.failures == 1 { 5 * MINUTE } else { 20 * MINUTE };
            let asked = retry_after(served);
            // A time that the site names is believed once, also if it is shorter.
            let least = asked.filter(|_| self.failures == 1).unwrap_or(own.max(asked.unwrap_or(0)));
            if self.failures + self.unsure >= ATTEMPTS {
                self.may_be_given_up();
                return Err((least, MOST));
            }
            return Err((least, own.max(asked.unwrap_or(0))));
        }
        (self.failures, self.unsure) = (0, 0);
        let (sighting, read) = match served {
            Served::NotModified { .. } => (Sighting::Same, self.read),
            Served::Page { body, .. } => self.compared(Read::Page(*body)),
            Served::Sitemap { edition } => self.compared(Read::Sitemap(*edition)),
            Served::Redirect { to, .. } => {
                let sighting = match self.last {
                    Last::Nothing => Sighting::First,
                    Last::Redirect(before) if before == to => Sighting::Same,
                    Last::Redirect(_) | Last::Answer => Sighting::Other,
                    Last::Failure => Sighting::Either,
                };
                self.last = Last::Redirect(to);
                return Ok(sighting);
            }
            Served::Status { status, .. } => (Sighting::Gone, Some(Read::Status(*status))),
            Served::File { .. } | Served::Failed(_) => (Sighting::Either, self.read),
        };
        (self.read, self.last) = (read, Last::Answer);
        Ok(sighting)
    }

    fn compared(&self, now: Read) -> (Sighting, Option<Read>) {
        let sighting = match self.read {
            None => Sighting::First,
            Some(before) if before == now => Sighting::Same,
            Some(_) => Sighting::Other,
        };
        (sighting, Some(now))
    }

    /// The interval, at the least and at the most.
    fn next(&mut self, sighting: Sighting) -> (Ms, Ms) {
        let (low, high) = self.every.unwrap_or((FIRST, FIRST));
        let (low, high) = match sighting {
            Sighting::First => (FIRST, FIRST),
            Sighting::Other => (low / 2, high / 2),
            Sighting::Same => (low + low / 2, high + high / 2),
            Sighting::Gone => (low * 2, high * 2),
            Sighting::Either => (low / 2, high + high / 2),
        };
        // Kept in whole seconds.
        let kept = |every: Ms| every.clamp(LEAST, MOST) / SECOND * SECOND;
        *self.every.insert((kept(low), kept(high)))
    }
}

fn is_expired(world: &World, entry: &Entry, over: Ms) -> bool {
    match entry.served {
        Served::Page { version, .. } | Served::NotModified { version, .. } => {
            let content = world.content(&entry.url, version);
            content.and_then(|content| content.expires).is_some_and(|day| day <= over)
        }
        Served::File { .. }
        | Served::Sitemap { .. }
        | Served::Redirect { .. }
        | Served::Status { .. }
        | Served::Failed(_) => false,
    }
}

/// Why a visit came before its time.
enum Excuse {
    /// The operator named it anew, or its rules were lifted.
    Good,
    /// A sitemap said so, by a date that was true or not.
    Listed { lies: bool },
}

impl Case<'_> {
    /// No page is visited before its time (RL-004, HT-003, AM-64).
    pub(super) fn rhythm(&self, judgement: &mut Judgement) {
        for (host, entries) in &self.by_host {
            let mut listed = Vec::new();
            let mut next: BTreeMap<&str, usize> = BTreeMap::new();
            for entry in entries.iter().filter(|entry| is_visit(entry)) {
                let number = next.entry(&entry.url).or_default();
                let visits = self.visits.get(entry.url.as_str()).map_or(&[][..], Vec::as_slice);
                let before = number.checked_sub(1).and_then(|before| visits.get(before));
                let this = visits.get(*number).filter(|_| entry.until.is_some());
                *number += usize::from(entry.until.is_some());
                let Some(before) = before.filter(|one| entry.from < one.not_before - ROUNDING)
                else {
                    continue;
                };
                match self.excuse(host, before, entry) {
                    Some(Excuse::Good) => {}
                    Some(Excuse::Listed { lies }) => {
                        let wrong = lies && this.is_some_and(|visit| visit.is_unchanged);
                        listed.push((entry, wrong));
                    }
                    None => {
                        let what = format!("not before {}", clock(before.not_before));
                        judgement.found(Rule::Early, entry.from, &entry.url, what);
                    }
                }
            }
            let wrong: Vec<_> = listed.iter().filter(|(_, wrong)| *wrong).collect();
            // One in five is forgiven all the time.
            if let Some((entry, _)) = wrong.get(FORGIVEN + listed.len() / 4) {
                let what = format!("{} visits for dates that were wrong", wrong.len());
                judgement.found(Rule::Distrusted, entry.from, &entry.url, what);
            }
        }
    }

    fn excuse(&self, host: &str, before: &Visit<'_>, next: &Entry) -> Option<Excuse> {
        let url = next.url.as_str();
        let between = |at: Ms| before.over < at && at <= next.from;
        let named_anew = before.is_given_up
            && self.world.seeds.iter().any(|seed| seed == url)
            && self.record.processes.iter().any(|(began, _)| between(*began));
        if named_anew || self.book.forbade(self.world, url, before.over, next.from) {
            return Some(Excuse::Good);
        }
        let site = self.world.site(host)?;
        let sitemap = site.sitemap.as_ref()?;
        let claims = |entry: &&&Entry| {
            let lists =
                |(path, day): (&str, Ms)| path == path_of(url) && day + SECOND > before.over;
            matches!(entry.served, Served::Sitemap { .. })
                && entry.until.is_some_and(between)
                && site.listed(entry.from).any(lists)
        };
        let read = self.by_host.get(host)?.iter().rfind(claims)?;
        Some(Excuse::Listed { lies: read.from >= sitemap.lies_from })
    }
}
