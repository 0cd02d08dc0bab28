//! No request that was forbidden when it was made: robots.txt in all its stages, links that may not
//! be followed.

use std::collections::HashMap;

use super::errands::{REIGN, STOP, Standing, Taught, allows, errand_of};
use super::{Case, Judgement, Rule, clock, is_bad, is_lookup};
use crate::ledger::Entry;
use crate::world::{DAY, MINUTE, Ms, SECOND, host_of, path_of};

/// From a decision to its request some time may pass at the ceilings.
const DECIDED_BEFORE: Ms = 10 * SECOND;

/// The last probe of a host's availability: when, and whether it went well.
type Probes<'a> = HashMap<&'a str, (Ms, bool)>;

impl Case<'_> {
    pub(super) fn rules(&self, judgement: &mut Judgement) {
        let mut probes = Probes::new();
        for entry in &self.record.entries {
            if errand_of(&entry.url).is_some() || is_lookup(entry) {
                continue;
            }
            if let Some((rule, what)) = self.fault(entry, &mut probes) {
                judgement.found(rule, entry.from, &entry.url, what);
            }
            if self.found.get(entry.url.as_str()).is_none_or(|at| *at > entry.from) {
                judgement.found(Rule::Unlinked, entry.from, &entry.url, "nothing led here");
            }
        }
        for (at, url) in &self.book.sixth_hops {
            judgement.found(Rule::SixthHop, *at, url, "five are followed");
        }
        self.cadence(judgement);
    }

    fn fault<'a>(&self, entry: &'a Entry, probes: &mut Probes<'a>) -> Option<(Rule, String)> {
        let (host, path, at) = (host_of(&entry.url), path_of(&entry.url), entry.from);
        let by_file = |file| (!allows(self.world, file, path)).then_some(Rule::Disallowed);
        match self.book.standing(host, at) {
            Standing::Unknown => Some((Rule::BeforeRobots, "no robots.txt was read".into())),
            Standing::Good { fresh_until, .. } if at > fresh_until + DECIDED_BEFORE => {
                Some((Rule::StaleRules, format!("fresh until {}", clock(fresh_until))))
            }
            Standing::Good { file, .. } => by_file(file).map(|rule| (rule, "by the file".into())),
            Standing::Failing { since, .. } if at < since + STOP => {
                Some((Rule::FullStop, format!("failing since {}", clock(since))))
            }
            Standing::Failing { retry_at, .. } if at > retry_at + DECIDED_BEFORE => {
                Some((Rule::RobotsLate, format!("due since {}", clock(retry_at))))
            }
            Standing::Failing { copy: Some(file), .. } => {
                by_file(file).map(|rule| (rule, "by the last copy".into()))
            }
            Standing::Failing { since, .. } if at < since + REIGN => {
                Some((Rule::NoCopy, format!("failing since {}", clock(since))))
            }
            Standing::Failing { .. } => probed(entry, probes),
        }
    }

    /// How soon a robots.txt is asked for again.
    fn cadence(&self, judgement: &mut Judgement) {
        for (host, errands) in &self.book.errands {
            // How often it tried is not seen where a hop's host failed.
            if errands.iter().any(|errand| errand.is_inferred) {
                continue;
            }
            for pair in errands.windows(2) {
                let earliest = match (&pair[0].taught, self.book.standing(host, pair[0].ended)) {
                    (Taught::Good { .. }, _) => pair[0].ended + 5 * MINUTE,
                    (Taught::Failed { .. }, Standing::Failing { retry_at, .. }) => retry_at,
                    (Taught::Failed { .. }, _) => pair[0].ended,
                };
                // Due times are kept in seconds.
                if pair[1].began < earliest - SECOND {
                    let what = format!("not before {}", clock(earliest));
                    judgement.found(Rule::RobotsEarly, pair[1].began, host, what);
                }
            }
        }
    }
}

/// AM-10: the front page once a day tells whether the others may be asked.
fn probed<'a>(entry: &'a Entry, probes: &mut Probes<'a>) -> Option<(Rule, String)> {
    let (host, at) = (host_of(&entry.url), entry.from);
    let known = probes.get(host).copied().filter(|(probed, _)| at < probed + DAY);
    match known {
        Some((_, true)) => None,
        None if path_of(&entry.url) == "/" => {
            let well = entry.until.is_some() && !is_bad(&entry.served);
            probes.insert(host, (entry.over(), well));
            None
        }
        Some((probed, false)) => {
            Some((Rule::NotProbed, format!("the probe at {} failed", clock(probed))))
        }
        None => Some((Rule::NotProbed, "no probe within a day".into())),
    }
}
