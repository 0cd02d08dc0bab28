//! What the index shows: all that may be shown, nothing else, each change within its time.

use std::collections::{HashMap, HashSet};

use super::errands::{Standing, allows, errand_of};
use super::{Case, Judgement, Rule, clock, is_bad};
use crate::ledger::{Entry, Look};
use crate::world::{Answer, HOUR, MINUTE, Ms, Served, host_of, in_force, path_of};

/// From an answer to the index.
const LAG: Ms = 2 * MINUTE;

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
            let refused = self.was_refused(url, last, look.at);
            let said = format!("last answer {:?} at {}", last.served, clock(last.over()));
            if shown.contains(url) && (!may || refused) || kept.contains(url) && !may_be_kept {
                let why = if refused { "disallowed since" } else { "" };
                judgement.found(Rule::Shown, look.at, url, format!("{said} {why}"));
            }
            if may && !refused && !shown.contains(url) {
                judgement.found(Rule::Missing, look.at, url, said);
            }
        }
        let known: HashSet<&str> = answers.keys().copied().collect();
        for url in shown.difference(&known) {
            judgement.found(Rule::Shown, look.at, url, "it was never fetched");
        }
        if let Some(within) = self.scenario.recrawl_within {
            for url in shown.iter().filter(|url| self.is_outdated(url, look.at, within)) {
                judgement.found(Rule::Shown, look.at, url, "it has been otherwise for too long");
            }
        }
    }

    /// Whether a page may be shown by its last answer, and whether it may be in the index at all.
    fn may_be_shown(&self, last: &Entry, at: Ms) -> (bool, bool) {
        let Served::Page { version } = last.served else { return (false, false) };
        let Some(content) = self.world.content(&last.url, version) else { return (false, false) };
        let expired = |lag: Ms| content.expires.is_some_and(|day| day + lag <= at);
        (!content.noindex && !expired(0), !content.noindex && !expired(5 * MINUTE))
    }

    /// Whether the operator wanted a page again after its last answer, and its rules forbade it
    /// all the time since: what is disallowed is not shown with its content (RT-049).
    fn was_refused(&self, url: &str, last: &Entry, at: Ms) -> bool {
        let begun = self.record.processes.iter().skip(1).map(|(began, _)| *began);
        let wanted = self.world.rounds.iter().zip(begun).filter(|(round, began)| {
            *began > last.over() && *began + HOUR < at && round.again.iter().any(|one| one == url)
        });
        wanted.into_iter().any(|(_, began)| {
            let mut good = false;
            let forbids = self.book.after(host_of(url), began, at).into_iter().all(|piece| {
                let (from, until, standing) = piece;
                match standing {
                    Standing::Good { file, fresh_until } => {
                        good |= from < fresh_until && until > began + HOUR;
                        !allows(self.world, file, path_of(url))
                    }
                    Standing::Unknown | Standing::Failing { .. } => false,
                }
            });
            forbids && good
        })
    }

    /// Whether a page that is well has not been what it was shown as for longer than a visit takes
    /// to come around. Counts only where the site and its rules would have let us see.
    fn is_outdated(&self, url: &str, at: Ms, within: Ms) -> bool {
        let (Some(page), Some(site)) = (self.world.page(url), self.world.site_of(url)) else {
            return true;
        };
        let since = at - within;
        if since < 0 || site.troubles.iter().any(|one| one.from < at && one.until > since) {
            return false;
        }
        let seen = page.answers[in_force(&page.answers, since)..].iter();
        let seen = seen.take_while(|(from, _)| *from < at);
        !seen.into_iter().any(|(_, answer)| match answer {
            Answer::Content(content) => !content.noindex,
            Answer::Redirect(..) | Answer::Status(_) => false,
        })
    }
}
