//! What the index shows: all that may be shown, nothing else, each change within its time.

use std::collections::{HashMap, HashSet};

use super::errands::{Standing, allows, errand_of};
use super::{Case, Judgement, Rule, clock, is_bad};
use crate::ledger::{Entry, Look};
use crate::world::{DAY, HOUR, MINUTE, Ms, Served, host_of, path_of};

/// From an answer to the index.
const LAG: Ms = 2 * MINUTE;
/// From a robots.txt to the index: the site has to be lent, and may have had a request.
const REFUSED_WITHIN: Ms = HOUR;

/// Whether a page was refused since its last answer.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Refused {
    No,
    Perhaps,
    Surely,
}

impl Case<'_> {
    pub(super) fn index(&self, judgement: &mut Judgement) {
        if !self.scenario.index {
            return;
        }
        let mut answers: HashMap<&str, Vec<&Entry>> = HashMap::new();
        let pages = self.record.entries.iter().filter(|e| errand_of(&e.url).is_none());
        for entry in pages.filter(|e| e.until.is_some() && !is_bad(&e.served)) {
            answers.entry(&entry.url).or_default().push(entry);
        }
        for look in &self.record.looks {
            self.look(look, &answers, judgement);
        }
    }

    fn look(&self, look: &Look, answers: &HashMap<&str, Vec<&Entry>>, judgement: &mut Judgement) {
        let shown: HashSet<&str> = look.shown.iter().map(String::as_str).collect();
        let kept: HashSet<&str> = look.kept.iter().map(String::as_str).collect();
        for (url, answers) in answers {
            let past = answers.partition_point(|entry| entry.over() <= look.at);
            let Some(last) = answers[..past].last() else { continue };
            if last.over() + LAG > look.at {
                continue;
            }
            let (may, may_be_kept) = self.may_be_shown(last, look.at);
            let refused = self.refused(url, last.over(), look.at);
            let said = format!("last answer {:?} at {}", last.served, clock(last.over()));
            let surely = refused == Refused::Surely;
            if shown.contains(url) && (!may || surely) || kept.contains(url) && !may_be_kept {
                let why = if surely { "disallowed since" } else { "" };
                judgement.found(Rule::Shown, look.at, url, format!("{said} {why}"));
            }
            if may && refused == Refused::No && !shown.contains(url) {
                judgement.found(Rule::Missing, look.at, url, said);
            }
        }
        let known: HashSet<&str> = answers.keys().copied().collect();
        for url in shown.difference(&known) {
            judgement.found(Rule::Shown, look.at, url, "it was never fetched");
        }
        for url in shown.iter().filter(|url| self.is_outdated(url, look.at)) {
            judgement.found(Rule::Shown, look.at, url, "it has been otherwise for too long");
        }
    }

    /// Whether a page may be shown by its last answer, and whether it may be in the index at all.
    fn may_be_shown(&self, last: &Entry, at: Ms) -> (bool, bool) {
        let (Served::Page { version, .. } | Served::NotModified { version, .. }) = last.served
        else {
            return (false, false);
        };
        let Some(content) = self.world.content(&last.url, version) else { return (false, false) };
        let expired = |lag: Ms| content.expires.is_some_and(|day| day + lag <= at);
        (!content.noindex && !expired(0), !content.noindex && !expired(5 * MINUTE))
    }

    /// Whether a file that was read since a page's last answer forbids it: what is disallowed is not
    /// shown with its content (RT-049), and is not shown again before it is fetched again.
    fn refused(&self, url: &str, since: Ms, at: Ms) -> Refused {
        let (mut refused, mut forbidden_from) = (Refused::No, None);
        let mut runs = Vec::new();
        for (from, _, standing) in self.book.after(host_of(url), since, at) {
            let Standing::Good { file, .. } = standing else { continue };
            if allows(self.world, file, path_of(url)) {
                runs.extend(forbidden_from.take().map(|began| (began, from)));
            } else {
                forbidden_from.get_or_insert(from);
            }
        }
        runs.extend(forbidden_from.map(|began| (began, at)));
        let troubles = self.world.site_of(url).map_or(&[][..], |site| site.troubles.as_slice());
        for (from, until) in runs {
            let held = troubles.iter().any(|one| one.from < until && one.until > from - 2 * DAY);
            if until - from > REFUSED_WITHIN && !held {
                return Refused::Surely;
            }
            refused = Refused::Perhaps;
        }
        refused
    }

    /// Whether a page ceased to be one that may be shown, and should have been seen to have ceased
    /// for a day. Counts only where the site would have let us see.
    fn is_outdated(&self, url: &str, at: Ms) -> bool {
        let (Some(visits), Some(site)) = (self.visits.get(url), self.world.site_of(url)) else {
            return false;
        };
        let past = visits.partition_point(|visit| visit.over <= at);
        let Some(last) = past.checked_sub(1).map(|last| &visits[last]) else { return false };
        if last.due + DAY > at || site.troubles.iter().any(|one| one.from < at) {
            return false;
        }
        let otherwise = |at: Ms| match self.world.serve(url, at) {
            Served::Page { version, .. } => {
                self.world.content(url, version).is_some_and(|content| content.noindex)
            }
            Served::Redirect { .. } | Served::Status { .. } => true,
            Served::NotModified { .. }
            | Served::Sitemap { .. }
            | Served::File { .. }
            | Served::Failed(_) => false,
        };
        otherwise(last.due) && otherwise(at)
    }
}
