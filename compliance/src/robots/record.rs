//! The life of one origin's robots.txt: last good copy, failures, and what they mean now (R2).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::RobotsTxt;
use crate::{Availability, GroundsReason, Policy, Preset, Timestamp};

/// How an errand for a robots.txt ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RobotsOutcome {
    /// There is a file.
    File {
        /// Its decoded text, at most [`RobotsNumbers::max_bytes`](crate::RobotsNumbers::max_bytes).
        body: Vec<u8>,
        /// The answer, for people, such as `status 200`.
        cause: String,
        /// How long it counts as fresh.
        fresh_for: Duration,
    },
    /// There is none: nothing is forbidden (RT-023).
    NoFile {
        /// The answer, for people, such as `status 404`.
        cause: String,
        /// How long that counts as fresh.
        fresh_for: Duration,
    },
    /// Whether there is one cannot be known now (RT-024, RT-025, RT-028).
    Unreachable {
        /// What went wrong, for people.
        cause: String,
        /// How soon it may be over.
        trouble: Trouble,
        /// The least time that the server asked to be left alone.
        retry_after: Option<Duration>,
    },
}

/// How soon a robots.txt that cannot be read may be readable again (RT-026, AM-11).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// 503: the server says itself that it will pass. Asked again fairly soon.
    Passing,
    /// Anything else.
    Other,
}

/// What is known of one origin's robots.txt.
///
/// A new record knows nothing and stands at [`Standing::Fetch`].
#[derive(Clone, Debug, Default)]
pub struct RobotsRecord {
    copy: Option<GoodCopy>,
    failing: Option<FailingParts>,
}

/// The last answer that was no failure; a 404 is one too (AM-9).
#[derive(Clone, Debug)]
struct GoodCopy {
    file: Option<File>,
    cause: String,
    fetched_at: Timestamp,
    fresh_until: Timestamp,
}

#[derive(Clone, Debug)]
struct File {
    body: Vec<u8>,
    rules: RobotsTxt,
}

/// A record as plain data, for a store.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RobotsParts {
    /// The last good copy.
    pub copy: Option<CopyParts>,
    /// The failures since a refresh was due.
    pub failing: Option<FailingParts>,
}

/// The last good copy as plain data.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CopyParts {
    /// The text; `None` where there was no file.
    pub body: Option<Vec<u8>>,
    /// The answer that brought it, for people.
    pub cause: String,
    /// When it came.
    pub fetched_at: Timestamp,
    /// Until when it is fresh.
    pub fresh_until: Timestamp,
}

/// A run of failed refreshes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FailingParts {
    /// The first failed due refresh: the stages are counted from here (AM-7).
    pub since: Timestamp,
    /// The latest.
    pub last_at: Timestamp,
    /// What went wrong the last time, for people.
    pub cause: String,
    /// How many in a row.
    pub attempts: u32,
    /// When to try again.
    pub retry_at: Timestamp,
}

/// What a record says at one moment.
#[derive(Clone, Copy, Debug)]
pub enum Standing<'a> {
    /// Fetch robots.txt first.
    Fetch,
    /// These rules decide.
    Rules(&'a RobotsTxt, Basis),
    /// Nothing is forbidden.
    NoRules(Basis),
    /// Find out first whether the site is generally available (RT-027, AM-10).
    Probe,
    /// Leave the origin alone until then.
    Stop {
        /// When robots.txt is tried again.
        until: Timestamp,
    },
}

/// Why rules, or their absence, are in force.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Basis {
    /// A fresh answer.
    Fresh,
    /// The last good copy while refreshes fail (RT-026).
    LastGood,
    /// Refreshes failed for so long that nothing is forbidden (RT-026, RT-027, AM-8, AM-10).
    LongGone,
}

impl Basis {
    /// The reason that a fetch without a matching rule has.
    pub(crate) const fn without_rule(self) -> GroundsReason {
        match self {
            Self::Fresh => GroundsReason::RobotsNoFile,
            Self::LastGood => GroundsReason::RobotsLastGood,
            Self::LongGone => GroundsReason::RobotsLongGone,
        }
    }
}

impl RobotsRecord {
    /// A record from its parts; the text is parsed again.
    pub fn from_parts(parts: RobotsParts) -> Self {
        let copy = parts.copy.map(|copy| GoodCopy {
            file: copy.body.map(|body| File { rules: RobotsTxt::parse(&body), body }),
            cause: copy.cause,
            fetched_at: copy.fetched_at,
            fresh_until: copy.fresh_until,
        });
        Self { copy, failing: parts.failing }
    }

    /// The record as plain data.
    pub fn to_parts(&self) -> RobotsParts {
        let copy = self.copy.as_ref().map(|copy| CopyParts {
            body: copy.file.as_ref().map(|file| file.body.clone()),
            cause: copy.cause.clone(),
            fetched_at: copy.fetched_at,
            fresh_until: copy.fresh_until,
        });
        RobotsParts { copy, failing: self.failing.clone() }
    }

    /// The record after an errand that ended at `now`. A failure while the copy is still fresh
    /// changes nothing: only a refresh that was due starts the stages (AM-6, AM-7).
    #[must_use]
    pub fn after(self, outcome: RobotsOutcome, policy: &Policy, now: Timestamp) -> Self {
        match outcome {
            RobotsOutcome::File { body, cause, fresh_for } => {
                let rules = RobotsTxt::parse(&body);
                Self::good(Some(File { body, rules }), cause, now, fresh_for)
            }
            RobotsOutcome::NoFile { cause, fresh_for } => Self::good(None, cause, now, fresh_for),
            RobotsOutcome::Unreachable { .. } if self.is_fresh(now) => self,
            RobotsOutcome::Unreachable { cause, trouble, retry_after } => {
                let (since, attempts) = match &self.failing {
                    Some(run) => (run.since, run.attempts.saturating_add(1)),
                    None => (now, 1),
                };
                let asked = retry_after.unwrap_or_default().min(policy.retry_after_cap);
                let pause = retry_pause(trouble, attempts, now.since(since), policy).max(asked);
                let retry_at = now.after(pause);
                let run = FailingParts { since, last_at: now, cause, attempts, retry_at };
                Self { copy: self.copy, failing: Some(run) }
            }
        }
    }

    /// Whether the copy is in force and no fetch is due.
    fn is_fresh(&self, now: Timestamp) -> bool {
        let copy = self.copy.as_ref().filter(|_| self.failing.is_none());
        copy.is_some_and(|copy| copy.fresh_until > now)
    }

    fn good(file: Option<File>, cause: String, now: Timestamp, fresh_for: Duration) -> Self {
        let fresh_until = now.after(fresh_for);
        Self { copy: Some(GoodCopy { file, cause, fetched_at: now, fresh_until }), failing: None }
    }

    /// When robots.txt is to be fetched next; `None` if it never was.
    pub fn next_refresh(&self) -> Option<Timestamp> {
        match (&self.failing, &self.copy) {
            (Some(run), _) => Some(run.retry_at),
            (None, Some(copy)) => Some(copy.fresh_until),
            (None, None) => None,
        }
    }

    /// What the record says at `now`. The site's availability counts once robots.txt has failed
    /// for 30 days (AM-10).
    pub fn standing(
        &self,
        policy: &Policy,
        availability: Availability,
        now: Timestamp,
    ) -> Standing<'_> {
        let due = self.next_refresh().is_none_or(|due| due <= now);
        match (&self.failing, &self.copy) {
            _ if due => Standing::Fetch,
            (None, None) => Standing::Fetch,
            (None, Some(copy)) => copy.standing(Basis::Fresh),
            (Some(run), copy) => run.standing(copy.as_ref(), policy, availability, now),
        }
    }

    /// Bytes that the record takes in memory, about.
    pub fn heap_bytes(&self) -> usize {
        let file = self.copy.as_ref().and_then(|copy| copy.file.as_ref());
        file.map_or(0, |file| file.body.len() + file.rules.heap_bytes())
    }

    /// The failures since a refresh was due, if the last one failed.
    pub fn failing(&self) -> Option<&FailingParts> {
        self.failing.as_ref()
    }

    /// The rules of the last good copy, if it is a file.
    pub fn rules(&self) -> Option<&RobotsTxt> {
        self.file().map(|file| &file.rules)
    }

    /// Whether both hold the same text, or neither holds one: then every URL has the same verdict
    /// by the text of either.
    pub fn same_rules(&self, other: &Self) -> bool {
        self.file().map(|file| &file.body) == other.file().map(|file| &file.body)
    }

    fn file(&self) -> Option<&File> {
        self.copy.as_ref().and_then(|copy| copy.file.as_ref())
    }
}

impl GoodCopy {
    fn standing(&self, basis: Basis) -> Standing<'_> {
        match &self.file {
            Some(file) => Standing::Rules(&file.rules, basis),
            None => Standing::NoRules(basis),
        }
    }
}

impl FailingParts {
    /// The stages of a failing robots.txt (RT-025 to RT-029, AM-6 to AM-10).
    fn standing<'a>(
        &self,
        copy: Option<&'a GoodCopy>,
        policy: &Policy,
        availability: Availability,
        now: Timestamp,
    ) -> Standing<'a> {
        let numbers = &policy.robots;
        let failing_for = now.since(self.since);
        // Asked again at the next retry, or where the next stage begins before it.
        let stages = [numbers.stop_for, numbers.last_good_for];
        let next_stage = stages.into_iter().find(|end| *end > failing_for);
        let until =
            next_stage.map_or(self.retry_at, |end| self.retry_at.min(self.since.after(end)));
        let stop = Standing::Stop { until };
        if failing_for < numbers.stop_for {
            return stop;
        }
        let in_reign = failing_for < numbers.last_good_for;
        match (policy.preset, copy) {
            (Preset::Google | Preset::Courteous, Some(copy)) if in_reign => {
                copy.standing(Basis::LastGood)
            }
            (Preset::Google, None) if in_reign => Standing::NoRules(Basis::LongGone),
            (Preset::Courteous | Preset::Rfc9309, Some(copy)) if !in_reign => {
                copy.standing(Basis::LastGood)
            }
            (Preset::Rfc9309, None) if !in_reign => Standing::NoRules(Basis::LongGone),
            (Preset::Google, Some(_) | None) | (Preset::Courteous, None) if !in_reign => {
                match availability {
                    Availability::Unknown => Standing::Probe,
                    Availability::Available => Standing::NoRules(Basis::LongGone),
                    Availability::Unavailable { until: next_probe } => {
                        Standing::Stop { until: until.min(next_probe) }
                    }
                }
            }
            (Preset::Google | Preset::Courteous | Preset::Rfc9309, _) => stop,
        }
    }
}

/// How long to wait before robots.txt is tried again (AM-11).
fn retry_pause(
    trouble: Trouble,
    attempts: u32,
    failing_for: Duration,
    policy: &Policy,
) -> Duration {
    let numbers = &policy.robots;
    if failing_for >= numbers.last_good_for {
        return numbers.retry_late;
    }
    let (first, cap) = match trouble {
        Trouble::Passing => (numbers.retry_503, numbers.retry_503_cap),
        Trouble::Other => (numbers.retry_other, numbers.retry_other_cap),
    };
    let doublings = attempts.saturating_sub(1).min(16);
    first.saturating_mul(1 << doublings).min(cap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const T0: Timestamp = Timestamp::from_secs(1_796_000_000);
    const MINUTE: u64 = 60;
    const HOUR: u64 = 3600;
    const DAY: u64 = 86_400;

    fn at(secs: u64) -> Timestamp {
        T0.after(Duration::from_secs(secs))
    }

    fn file() -> RobotsOutcome {
        RobotsOutcome::File {
            body: b"user-agent: *\ndisallow: /x\n".to_vec(),
            cause: "status 200".into(),
            fresh_for: Duration::from_secs(DAY),
        }
    }

    fn no_file() -> RobotsOutcome {
        RobotsOutcome::NoFile { cause: "status 404".into(), fresh_for: Duration::from_secs(DAY) }
    }

    fn down(cause: &str) -> RobotsOutcome {
        let trouble = if cause == "status 503" { Trouble::Passing } else { Trouble::Other };
        RobotsOutcome::Unreachable { cause: cause.into(), trouble, retry_after: None }
    }

    fn word(standing: Standing<'_>) -> &'static str {
        match standing {
            Standing::Fetch => "fetch",
            Standing::Rules(_, Basis::Fresh) => "rules",
            Standing::Rules(_, Basis::LastGood) => "last good",
            Standing::Rules(_, Basis::LongGone) => "never",
            Standing::NoRules(Basis::Fresh) => "none",
            Standing::NoRules(Basis::LastGood) => "last good none",
            Standing::NoRules(Basis::LongGone) => "free",
            Standing::Probe => "probe",
            Standing::Stop { .. } => "stop",
        }
    }

    /// What a record says between retries, `since_t0` seconds after the first failed refresh.
    fn failing_since(
        record: RobotsRecord,
        policy: &Policy,
        since_t0: u64,
        site: &str,
    ) -> &'static str {
        let record = record.after(down("status 500"), policy, T0);
        let record = record.after(down("status 500"), policy, at(since_t0));
        let now = at(since_t0 + 1);
        let availability = match site {
            "up" => Availability::Available,
            "down" => Availability::Unavailable { until: at(since_t0 + HOUR) },
            _ => Availability::Unknown,
        };
        word(record.standing(policy, availability, now))
    }

    #[test]
    fn knows_nothing_at_first_and_keeps_a_copy_while_it_is_fresh() {
        let policy = Policy::default();
        assert_eq!(
            word(RobotsRecord::default().standing(&policy, Availability::Unknown, T0)),
            "fetch"
        );
        for (outcome, fresh) in [(file(), "rules"), (no_file(), "none")] {
            let record = RobotsRecord::default().after(outcome, &policy, T0);
            for (secs, expect) in
                [(0, fresh), (DAY - 1, fresh), (DAY, "fetch"), (40 * DAY, "fetch")]
            {
                assert_eq!(
                    word(record.standing(&policy, Availability::Unknown, at(secs))),
                    expect,
                    "{secs}"
                );
            }
            assert_eq!(record.next_refresh(), Some(at(DAY)));
        }
    }

    /// AM-6, AM-7: the stages are counted from the first failed refresh that was due. One line, one
    /// case: when requests failed, when it is asked, what is in force.
    #[test]
    fn only_a_failed_due_refresh_starts_the_stop() {
        let cases: &[(&[u64], u64, &str)] = &[
            (&[100], 200, "rules"),
            (&[100, 5000], DAY - 1, "rules"),
            (&[100], DAY, "fetch"),
            (&[DAY], DAY + 1, "stop"),
            (&[100, DAY], DAY + 12 * HOUR - 1, "fetch"),
            (&[DAY - 1, DAY, DAY + 12 * HOUR - 1], DAY + 12 * HOUR - 1, "stop"),
            (&[DAY - 1, DAY, DAY + 12 * HOUR - 1], DAY + 12 * HOUR, "last good"),
        ];
        let policy = Policy::default();
        for (failed, asked, expect) in cases {
            let record = RobotsRecord::default().after(file(), &policy, T0);
            let record = failed
                .iter()
                .fold(record, |record, secs| record.after(down("status 500"), &policy, at(*secs)));
            let standing = record.standing(&policy, Availability::Unknown, at(*asked));
            assert_eq!(word(standing), *expect, "{failed:?} {asked}");
        }
    }

    /// RT-025 to RT-029, AM-6 to AM-10: stage by policy, with and without a copy.
    /// One line, one case: policy, last good copy, seconds since the first failure, the site, answer.
    #[test]
    fn stages() {
        let rows: &[(Preset, &str, u64, &str, &str)] = &[
            (Preset::Google, "file", 0, "down", "stop"),
            (Preset::Google, "file", 12 * HOUR - 2, "up", "stop"),
            (Preset::Google, "file", 12 * HOUR, "down", "last good"),
            (Preset::Google, "none", 12 * HOUR, "down", "last good none"),
            (Preset::Google, "file", 30 * DAY - 2, "down", "last good"),
            (Preset::Google, "file", 30 * DAY, "up", "free"),
            (Preset::Google, "file", 30 * DAY, "down", "stop"),
            (Preset::Google, "never", 0, "up", "stop"),
            (Preset::Google, "never", 12 * HOUR, "down", "free"),
            (Preset::Google, "never", 30 * DAY, "up", "free"),
            (Preset::Google, "never", 30 * DAY, "down", "stop"),
            (Preset::Courteous, "file", 12 * HOUR - 2, "up", "stop"),
            (Preset::Courteous, "file", 12 * HOUR, "up", "last good"),
            (Preset::Courteous, "file", 60 * DAY, "up", "last good"),
            (Preset::Courteous, "never", 12 * HOUR, "up", "stop"),
            (Preset::Courteous, "never", 30 * DAY - 2, "up", "stop"),
            (Preset::Courteous, "never", 30 * DAY, "up", "free"),
            (Preset::Courteous, "never", 30 * DAY, "down", "stop"),
            (Preset::Rfc9309, "file", 12 * HOUR, "up", "stop"),
            (Preset::Rfc9309, "file", 30 * DAY, "down", "last good"),
            (Preset::Rfc9309, "never", 12 * HOUR, "up", "stop"),
            (Preset::Rfc9309, "never", 30 * DAY, "down", "free"),
            (Preset::Google, "file", 30 * DAY, "unknown", "probe"),
            (Preset::Google, "none", 31 * DAY, "unknown", "probe"),
            (Preset::Google, "never", 30 * DAY, "unknown", "probe"),
            (Preset::Google, "file", 30 * DAY - 2, "unknown", "last good"),
            (Preset::Courteous, "never", 30 * DAY, "unknown", "probe"),
            (Preset::Courteous, "never", 30 * DAY - 2, "unknown", "stop"),
            (Preset::Courteous, "file", 60 * DAY, "unknown", "last good"),
            (Preset::Rfc9309, "never", 30 * DAY, "unknown", "free"),
        ];
        for (preset, copy, secs, site, expect) in rows {
            let policy = Policy::new(*preset);
            let before = Timestamp::from_secs(T0.as_secs() - 86_400);
            let record = RobotsRecord::default();
            let record = match *copy {
                "file" => record.after(file(), &policy, before),
                "none" => record.after(no_file(), &policy, before),
                _ => record,
            };
            let got = failing_since(record, &policy, *secs, site);
            assert_eq!(got, *expect, "{preset} {copy} {secs} {site}");
        }
    }

    /// AM-11: one line, one case.
    #[test]
    fn retry_cadence() {
        let policy = Policy::default();
        let cases: &[(&str, &[u64])] = &[
            ("status 503", &[5, 10, 20, 40, 60, 60]),
            ("status 500", &[15, 30, 60, 120, 240, 360, 360]),
            ("status 429", &[15, 30]),
            ("connection refused", &[15, 30]),
        ];
        for (cause, minutes) in cases {
            let mut record = RobotsRecord::default();
            for expect in *minutes {
                record = record.after(down(cause), &policy, T0);
                assert_eq!(record.next_refresh(), Some(at(expect * MINUTE)), "{cause}");
            }
        }
        let late = RobotsRecord::default().after(down("status 503"), &policy, T0);
        let late = late.after(down("status 503"), &policy, at(31 * DAY));
        assert_eq!(late.next_refresh(), Some(at(32 * DAY)));
    }

    /// AM-11, AM-65: Retry-After is a minimum, at most a day.
    #[test]
    fn retry_after_is_a_minimum() {
        for (asked, expect) in [(60, 15 * MINUTE), (2 * HOUR, 2 * HOUR), (90 * DAY, DAY)] {
            let outcome = RobotsOutcome::Unreachable {
                cause: "status 429".into(),
                trouble: Trouble::Other,
                retry_after: Some(Duration::from_secs(asked)),
            };
            let record = RobotsRecord::default().after(outcome, &Policy::default(), T0);
            assert_eq!(record.next_refresh(), Some(at(expect)), "{asked}");
        }
    }

    /// A long Retry-After does not outlast the full stop.
    #[test]
    fn a_stop_ends_with_its_stage() {
        let policy = Policy::default();
        let outcome = RobotsOutcome::Unreachable {
            cause: "status 503".into(),
            trouble: Trouble::Passing,
            retry_after: Some(Duration::from_secs(DAY)),
        };
        let record = RobotsRecord::default().after(outcome, &policy, T0);
        let Standing::Stop { until } = record.standing(&policy, Availability::Unknown, at(HOUR))
        else {
            panic!()
        };
        assert_eq!(until, at(12 * HOUR));
    }

    /// AM-7: any answer that is no failure begins anew.
    #[test]
    fn an_answer_ends_the_run_of_failures() {
        let policy = Policy::default();
        let record = RobotsRecord::default().after(down("status 500"), &policy, T0);
        let record = record.after(no_file(), &policy, at(HOUR));
        assert_eq!(word(record.standing(&policy, Availability::Unknown, at(HOUR))), "none");
        assert_eq!(record.to_parts().failing, None);
    }

    #[test]
    fn parts_give_the_same_record() {
        let policy = Policy::default();
        let record = RobotsRecord::default().after(file(), &policy, T0);
        let record = record.after(down("status 500"), &policy, at(DAY));
        let again = RobotsRecord::from_parts(record.to_parts());
        assert_eq!(again.to_parts(), record.to_parts());
        assert_eq!(format!("{:?}", again.rules()), format!("{:?}", record.rules()));
    }
}
