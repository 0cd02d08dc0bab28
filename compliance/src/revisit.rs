//! How often a page that was fetched is fetched again (RL-004, HT-003, AM-64).

use core::time::Duration;

use crate::{Policy, Timestamp};

/// What a visit saw, compared with the visit before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sighting {
    /// There was no visit before it.
    First,
    /// It differs.
    Changed,
    /// It is the same.
    Unchanged,
    /// There is nothing: the URL answers with an error, or is given up.
    Gone,
}

/// The numbers of visits that keep pages fresh. Google's span is "from minutes to about a month"
/// (RL-004); where no document names a number, these are gentle.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RevisitNumbers {
    /// After the first visit.
    pub first: Duration,
    /// The shortest, however often a page changes.
    pub least: Duration,
    /// The longest, however long a page stays the same.
    pub most: Duration,
}

impl RevisitNumbers {
    /// A day at first, an hour to thirty days.
    pub const DOCUMENTED: Self = Self {
        first: Duration::from_secs(86_400),
        least: Duration::from_secs(3600),
        most: Duration::from_secs(30 * 86_400),
    };
}

/// The interval after a visit, from the interval before it: halved if the page changed, half as
/// long again if it did not, doubled if there is nothing (HT-003).
pub fn rhythm(policy: &Policy, before: Option<Duration>, sighting: Sighting) -> Duration {
    let RevisitNumbers { first, least, most } = policy.revisit;
    let before = before.unwrap_or(first);
    let next = match sighting {
        Sighting::First => first,
        Sighting::Changed => before / 2,
        Sighting::Unchanged => before.saturating_add(before / 2),
        Sighting::Gone => before.saturating_mul(2),
    };
    next.clamp(least.min(most), most)
}

/// How long after a visit a page is visited again, if `usual` is the interval for a page like it.
/// Once its `unavailable_after` is past, much more seldom (RM-031, AM-64).
///
/// `expires` is the instant that the page's rules name, such as
/// [`Directives::unavailable_after`](crate::Directives::unavailable_after).
pub fn revisit_after(
    policy: &Policy,
    usual: Duration,
    expires: Option<Timestamp>,
    now: Timestamp,
) -> Duration {
    match expires {
        Some(instant) if instant <= now => {
            usual.saturating_mul(policy.expired_revisit_factor).max(policy.expired_revisit_least)
        }
        Some(_) | None => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: u64 = 3600;
    const DAYS: u64 = 86_400;

    /// RL-004, HT-003: one line, one case: hours before, what was seen, hours after.
    #[test]
    fn a_page_that_changes_is_visited_more_often() {
        let cases = [
            (None, Sighting::First, 24),
            (Some(700), Sighting::First, 24),
            (None, Sighting::Changed, 12),
            (Some(24), Sighting::Changed, 12),
            (Some(1), Sighting::Changed, 1),
            (Some(24), Sighting::Unchanged, 36),
            (Some(720), Sighting::Unchanged, 720),
            (Some(24), Sighting::Gone, 48),
            (Some(500), Sighting::Gone, 720),
        ];
        for (before, sighting, expect) in cases {
            let before = before.map(|hours| Duration::from_secs(hours * HOURS));
            let got = rhythm(&Policy::default(), before, sighting);
            assert_eq!(got.as_secs(), expect * HOURS, "{before:?} {sighting:?}");
        }
    }

    /// AM-64: one line, one case: the usual days, days until it expires, and the days to wait.
    #[test]
    fn an_expired_page_is_visited_seldom() {
        let now = Timestamp::from_secs(1000);
        let cases =
            [(1, None, 1), (1, Some(1), 1), (1, Some(0), 30), (1, Some(-5), 30), (7, Some(-1), 70)];
        let days = |days: u64| Duration::from_secs(days * DAYS);
        for (usual, expires, expect) in cases {
            let expires =
                expires.map(|day: i64| Timestamp::from_secs(now.as_secs() + day * 86_400));
            let got = revisit_after(&Policy::default(), days(usual), expires, now);
            assert_eq!(got, days(expect), "{usual} {expires:?}");
        }
    }
}
