//! Records of sites and of origins' robots.txt.

use std::time::Duration;

use comity_compliance::robots::{CopyParts, FailingParts, RobotsParts};
use comity_compliance::{
    ClaimTally, DayTally, Health, Hold, LastAnswers, LastmodTrust, Origin, Probe, Sign, SitePace,
    Tally, Timestamp, WaitCause,
};
use serde::{Deserialize, Serialize};

use super::cut_text;

/// `h|site8`
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct SiteRow {
    pub(crate) host: String,
    /// Milliseconds; the site is not lent before.
    pub(crate) next_at: i64,
    pace: PaceRow,
    /// Right and wrong claims of a change, and of none.
    trust: [u8; 4],
}

#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
struct PaceRow {
    last_request: Option<i64>,
    /// Until when, and the cause's code.
    hold: Option<(i64, String)>,
    failures: u32,
    last_served: Option<i64>,
    /// Milliseconds.
    crawl_delay: Option<u64>,
    health: HealthRow,
}

#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
struct HealthRow {
    bad_answers: u128,
    answers: u8,
    rate_permille: Option<u16>,
    /// Milliseconds.
    first_byte: Option<u64>,
    day_seventh: i64,
    /// Good and bad.
    day: [(u16, u16); 8],
    /// When, and whether it was answered well.
    probe: Option<(i64, bool)>,
}

impl HealthRow {
    fn new(health: &Health) -> Self {
        Self {
            bad_answers: health.answers.bad,
            answers: health.answers.count,
            rate_permille: health.rate_permille,
            first_byte: health.first_byte.and_then(|time| time.as_millis().try_into().ok()),
            day_seventh: health.day.seventh,
            day: health.day.counts.map(|tally| (tally.good, tally.bad)),
            probe: health.probe.map(|probe| (probe.at.as_millis(), probe.sign == Sign::Good)),
        }
    }

    fn health(&self) -> Health {
        let sign = |good: bool| if good { Sign::Good } else { Sign::Bad };
        let probe = |(at, good)| Probe { at: Timestamp::from_millis(at), sign: sign(good) };
        Health {
            answers: LastAnswers { bad: self.bad_answers, count: self.answers },
            rate_permille: self.rate_permille,
            first_byte: self.first_byte.map(Duration::from_millis),
            day: DayTally {
                seventh: self.day_seventh,
                counts: self.day.map(|(good, bad)| Tally { good, bad }),
            },
            probe: self.probe.map(probe),
        }
    }
}

impl SiteRow {
    pub(crate) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), next_at: 0, pace: PaceRow::default(), trust: [0; 4] }
    }

    pub(crate) fn set_trust(&mut self, trust: LastmodTrust) {
        let LastmodTrust { changed, unchanged } = trust;
        self.trust = [changed.right, changed.wrong, unchanged.right, unchanged.wrong];
    }

    pub(crate) fn trust(&self) -> LastmodTrust {
        let [changed_right, changed_wrong, unchanged_right, unchanged_wrong] = self.trust;
        LastmodTrust {
            changed: ClaimTally { right: changed_right, wrong: changed_wrong },
            unchanged: ClaimTally { right: unchanged_right, wrong: unchanged_wrong },
        }
    }

    /// Keeps a pace, unless one with a later request is known.
    pub(crate) fn keep_pace(&mut self, pace: &SitePace) {
        if self.pace.last_request <= pace.last_request.map(Timestamp::as_millis) {
            self.set_pace(pace);
        }
    }

    fn set_pace(&mut self, pace: &SitePace) {
        self.pace = PaceRow {
            last_request: pace.last_request.map(Timestamp::as_millis),
            hold: pace.hold.map(|hold| (hold.until.as_millis(), hold.cause.code().to_owned())),
            failures: pace.failures,
            last_served: pace.last_served.map(Timestamp::as_millis),
            crawl_delay: pace.crawl_delay.and_then(|delay| delay.as_millis().try_into().ok()),
            health: HealthRow::new(&pace.health),
        };
    }

    pub(crate) fn pace(&self) -> SitePace {
        SitePace {
            last_request: self.pace.last_request.map(Timestamp::from_millis),
            hold: self.pace.hold.as_ref().map(|(until, code)| Hold {
                until: Timestamp::from_millis(*until),
                // A code of a newer build still holds the site back.
                cause: WaitCause::from_code(code).unwrap_or(WaitCause::Backoff),
            }),
            failures: self.pace.failures,
            last_served: self.pace.last_served.map(Timestamp::from_millis),
            crawl_delay: self.pace.crawl_delay.map(Duration::from_millis),
            health: self.pace.health.health(),
        }
    }
}

/// `r|origin8|part2`, cut into parts: a robots.txt may be larger than a value should be.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct RobotsRow {
    origin: String,
    copy: Option<CopyRow>,
    failing: Option<FailingRow>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct CopyRow {
    body: Option<Vec<u8>>,
    cause: String,
    fetched_at: i64,
    fresh_until: i64,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct FailingRow {
    since: i64,
    last_at: i64,
    cause: String,
    attempts: u32,
    retry_at: i64,
}

impl RobotsRow {
    pub(crate) fn new(origin: &Origin, parts: RobotsParts) -> Self {
        Self {
            origin: origin.to_string(),
            copy: parts.copy.map(|copy| CopyRow {
                body: copy.body,
                cause: cut_text(copy.cause),
                fetched_at: copy.fetched_at.as_millis(),
                fresh_until: copy.fresh_until.as_millis(),
            }),
            failing: parts.failing.map(|run| FailingRow {
                since: run.since.as_millis(),
                last_at: run.last_at.as_millis(),
                cause: cut_text(run.cause),
                attempts: run.attempts,
                retry_at: run.retry_at.as_millis(),
            }),
        }
    }

    /// The origin, as it writes itself.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The parts, unless the record is another origin's with the same hash.
    pub(crate) fn into_parts(self, origin: &Origin) -> Option<RobotsParts> {
        if self.origin != origin.to_string() {
            return None;
        }
        let at = Timestamp::from_millis;
        Some(RobotsParts {
            copy: self.copy.map(|copy| CopyParts {
                body: copy.body,
                cause: copy.cause,
                fetched_at: at(copy.fetched_at),
                fresh_until: at(copy.fresh_until),
            }),
            failing: self.failing.map(|run| FailingParts {
                since: at(run.since),
                last_at: at(run.last_at),
                cause: run.cause,
                attempts: run.attempts,
                retry_at: at(run.retry_at),
            }),
        })
    }
}
