//! No request earlier than its site's or its address's interval (R12), and the permitted ones used.

use std::collections::HashMap;

use super::errands::{Standing, delay, hides};
use super::{Case, Judgement, Rule, is_bad, retry_after};
use crate::ledger::Entry;
use crate::run::{INTERVAL, PER_ADDRESS};
use crate::world::{MINUTE, Ms, SECOND};

/// Clocks here count whole milliseconds.
const ROUNDING: Ms = 1;
/// Requests that a site is asked more slowly for at first (RL-001).
const SLOW_START: usize = 6;
/// Sites that answer within this time are not slowed down for it (RL-001).
const QUICK: Ms = 420;

/// So many sites on one address are asked as often as each permits; more wait for its ceiling.
const CROWD: usize = 9;

impl Case<'_> {
    pub(super) fn pace(&self, judgement: &mut Judgement) {
        for (host, entries) in &self.by_host {
            let asked: Vec<&Entry> = entries.iter().filter(|e| e.is_request()).copied().collect();
            self.gaps(host, &asked, judgement);
            self.used(host, &asked, judgement);
        }
        self.ceilings(judgement);
        if judgement.taken > 10 * MINUTE && judgement.used_percent() < 95 {
            let what = format!("{} % of what is permitted", judgement.used_percent());
            judgement.found(Rule::Idle, self.world.length, "all sites", what);
        }
    }

    fn interval(&self, host: &str, at: Ms) -> (Ms, Standing) {
        let standing = self.book.standing(host, at);
        (INTERVAL.max(delay(self.world, standing)), standing)
    }

    fn gaps(&self, host: &str, asked: &[&Entry], judgement: &mut Judgement) {
        let mut answers: Vec<bool> = Vec::new();
        for pair in asked.windows(2) {
            let (before, next) = (pair[0], pair[1]);
            let gap = next.from - self.over(before);
            let (interval, _) = self.interval(host, next.from);
            if gap < interval - ROUNDING {
                let what = format!("{gap} ms after {}, not {interval}", before.url);
                judgement.found(Rule::Interval, next.from, &next.url, what);
            }
            if before.until.is_none() {
                continue;
            }
            if let Some(wait) = retry_after(&before.served)
                && gap < wait - ROUNDING
            {
                let what = format!("{gap} ms after {}, not {wait}", before.url);
                judgement.found(Rule::RetryAfter, next.from, &next.url, what);
            }
            answers.push(is_bad(&before.served));
            let least = slowed(interval, &answers);
            if gap < least - ROUNDING && !hides(self.world, host) {
                let what = format!("{gap} ms after {}, not {least}", before.url);
                judgement.found(Rule::SlowDown, next.from, &next.url, what);
            }
        }
    }

    /// When a request was over: one that was cut off, when its process was gone.
    fn over(&self, entry: &Entry) -> Ms {
        let gone = || self.record.processes.iter().map(|(_, end)| *end).find(|e| *e >= entry.from);
        entry.until.or_else(gone).unwrap_or(entry.from)
    }

    fn ceilings(&self, judgement: &mut Judgement) {
        let mut last: HashMap<_, Ms> = HashMap::new();
        for entry in self.record.entries.iter().filter(|entry| entry.is_request()) {
            let before = last.insert(entry.address, entry.from);
            let gap = before.map_or(Ms::MAX, |before| entry.from - before);
            if gap < SECOND / PER_ADDRESS - ROUNDING {
                let what = format!("{gap} ms after another one to its address");
                judgement.found(Rule::Ceiling, entry.from, &entry.url, what);
            }
        }
        let per_second = usize::try_from(self.scenario.whole_per_second()).unwrap();
        let asked: Vec<&Entry> = self.record.entries.iter().filter(|e| e.is_request()).collect();
        for burst in asked.windows(per_second + 1) {
            let (first, last) = (burst[0], burst[per_second]);
            if last.from - first.from < SECOND - ROUNDING {
                let what = format!("more than {per_second} in a second");
                judgement.found(Rule::Ceiling, last.from, &last.url, what);
            }
        }
    }

    /// Sums up what was permitted of sites in good health while they had pages due.
    fn used(&self, host: &str, asked: &[&Entry], judgement: &mut Judgement) {
        let Some(site) = self.world.site(host).filter(|site| site.latency <= QUICK * 5 / 6) else {
            return;
        };
        let sharing = self.world.sites.iter().filter(|other| other.address == site.address);
        if sharing.count() > CROWD {
            return;
        }
        let due = self.due_of(host);
        let healthy = asked.iter().position(|entry| is_bad(&entry.served) || entry.until.is_none());
        let healthy = &asked[..healthy.unwrap_or(asked.len())];
        for pair in healthy.windows(2).skip(SLOW_START) {
            let (over, next) = (self.over(pair[0]), pair[1].from);
            let same_process =
                self.record.processes.iter().any(|(from, until)| *from <= over && next <= *until);
            let (interval, standing) = self.interval(host, over);
            let fresh = match standing {
                Standing::Good { fresh_until, .. } => fresh_until > over + interval,
                Standing::Unknown | Standing::Failing { .. } => false,
            };
            let waits = due.iter().any(|due| self.waits(due, over));
            if same_process && fresh && waits && site.troubles.is_empty() {
                judgement.permitted += interval;
                judgement.taken += next - over;
            }
        }
    }
}

/// AM-66: the rate less the share of bad answers among the last hundred, at the least one request
/// in ten minutes. Of fewer than ten answers the first bad one is a tenth.
fn slowed(interval: Ms, answers: &[bool]) -> Ms {
    let last = &answers[answers.len().saturating_sub(100)..];
    let bad = last.iter().filter(|bad| **bad).count();
    let share = (bad * 1000).div_ceil(last.len().max(10));
    let rate = i64::try_from(1000_usize.saturating_sub(share).max(1)).unwrap();
    (interval * 1000 / rate).min(interval.max(10 * MINUTE))
}
