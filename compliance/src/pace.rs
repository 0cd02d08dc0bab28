//! The law of politeness: when one site may be asked again (R12).

use core::time::Duration;

use crate::health::{Availability, Health, Probe, Sign};
use crate::{GroundsReason, Policy, Timestamp, WaitCause};

/// What one site feels of us, and what it told us: travels with the site, survives restarts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SitePace {
    /// When the last request ended: its response head arrived, or it failed. Counted from there,
    /// the site never sees two requests closer than the interval, however long either was under way.
    pub last_request: Option<Timestamp>,
    /// The site is left alone until then.
    pub hold: Option<Hold>,
    /// Requests in a row that brought an error of the site: 429, 5xx, or no answer.
    pub failures: u32,
    /// When the site last answered without such an error.
    pub last_served: Option<Timestamp>,
    /// The longest crawl-delay that a robots.txt of the site asks for: one of its origins may ask,
    /// and all of them share the site's pace (AM-36).
    pub crawl_delay: Option<Duration>,
    /// How the site fares by its answers.
    pub health: Health,
}

/// A request that ended, as far as politeness is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ended {
    /// What it was made for: the reason of its [`Grounds`](crate::Grounds).
    pub reason: GroundsReason,
    /// How the site answered.
    pub answer: Answer,
    /// From its start to the head of its response; `None` if there was none.
    pub first_byte: Option<Duration>,
    /// When the head arrived, or it failed.
    pub at: Timestamp,
}

/// A time before which a site is not asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hold {
    /// When it ends.
    pub until: Timestamp,
    /// Why.
    pub cause: WaitCause,
}

/// How a site answered one request, as far as politeness is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// A response that is no sign of trouble. 4xx other than 429 is none (RT-023).
    Served,
    /// 429 or 5xx, with the Retry-After that came along: a sign about the whole site (RL-003).
    Overloaded {
        /// The wait that the site asked for.
        retry_after: Option<Duration>,
    },
    /// No response: counts as an overload (HT-005).
    Unanswered,
    /// The connection was one kept open since an earlier response, and the server had closed it
    /// meanwhile: most likely the request was never read, which is no sign of trouble (RFC 9112
    /// section 9.3.1).
    Unheard,
}

impl Answer {
    /// What a status means for politeness (RT-023, RT-024, HT-004, HT-010).
    pub const fn of(status: u16, retry_after: Option<Duration>) -> Self {
        match status {
            429 | 500..=599 => Self::Overloaded { retry_after },
            _ => Self::Served,
        }
    }
}

impl SitePace {
    /// Takes account of a request that ended.
    pub fn request_ended(&mut self, ended: Ended, policy: &Policy) {
        let now = ended.at;
        self.last_request = self.last_request.max(Some(now));
        let (sign, retry_after) = match ended.answer {
            Answer::Unheard => return,
            Answer::Served => (Sign::Good, None),
            Answer::Overloaded { retry_after } => (Sign::Bad, retry_after),
            Answer::Unanswered => (Sign::Bad, None),
        };
        self.health.answered(sign, policy);
        self.note_availability(ended.reason, sign, now);
        match sign {
            Sign::Good => {
                self.failures = 0;
                self.hold = self.asked_hold(policy, now);
                self.last_served = Some(now);
                ended.first_byte.into_iter().for_each(|time| self.health.answered_after(time));
            }
            Sign::Bad => self.hold_back(ended.reason, retry_after, policy, now),
        }
    }

    fn hold_back(
        &mut self,
        reason: GroundsReason,
        retry_after: Option<Duration>,
        policy: &Policy,
        now: Timestamp,
    ) {
        // A robots.txt that fails time and again is one failure of the site: its retries have a
        // cadence of their own (AM-11), and if each held back the pages until the next one, a last
        // good copy would never be used (RT-026).
        if self.failures == 0 || reason != GroundsReason::RobotsFile {
            self.failures = self.failures.saturating_add(1);
        }
        let backoff = backoff(self.failures, policy);
        let asked = retry_after.unwrap_or_default().min(policy.retry_after_cap);
        let asked = (!asked.is_zero())
            .then(|| Hold { until: now.after(asked), cause: WaitCause::RetryAfter });
        let asked = later(asked, self.asked_hold(policy, now));
        // Retry-After is a minimum: a site that names a short time over and over is in trouble
        // still. The longer wait then has its cause, so that no good answer ends it too early.
        let cause = asked.map_or(WaitCause::Backoff, |hold| hold.cause);
        let backoff = Hold { until: now.after(backoff), cause };
        self.hold = later(asked, Some(backoff));
    }

    /// The wait that the site asked for, if it is not over: it binds the whole host, so neither a
    /// good answer to another request nor a shorter wait ends it (AM-65, AM-11). Never longer
    /// than the cap from now, even under a clock that was set back.
    fn asked_hold(&self, policy: &Policy, now: Timestamp) -> Option<Hold> {
        let hold = self.hold.filter(|hold| hold.cause == WaitCause::RetryAfter)?;
        let until = hold.until.min(now.after(policy.retry_after_cap));
        (until > now).then_some(Hold { until, ..hold })
    }

    /// AM-10 counts fetches other than the probe. Those of a robots.txt are what fails already.
    fn note_availability(&mut self, reason: GroundsReason, sign: Sign, now: Timestamp) {
        match reason {
            GroundsReason::AvailabilityProbe => self.health.probe = Some(Probe { at: now, sign }),
            GroundsReason::RobotsFile => {}
            GroundsReason::RobotsAllow
            | GroundsReason::RobotsNoRule
            | GroundsReason::RobotsNoFile
            | GroundsReason::RobotsLastGood
            | GroundsReason::RobotsLongGone => self.health.day.note(sign, now),
        }
    }

    /// Whether the site is generally available at `now` (RT-027, AM-10).
    pub fn availability(&self, policy: &Policy, now: Timestamp) -> Availability {
        self.health.availability(policy, now)
    }

    /// Takes account of the crawl-delay in a robots.txt of the site that was just read. `before`
    /// is what the same file asked for until now.
    pub fn heard_crawl_delay(&mut self, asked: Option<Duration>, before: Option<Duration>) {
        let others = self.crawl_delay.filter(|known| Some(*known) != before);
        self.crawl_delay = others.max(asked);
    }

    /// Assumes a request at `at`: after a restart, what was under way then is not known.
    pub fn assume_request(&mut self, at: Timestamp) {
        self.last_request = self.last_request.max(Some(at));
    }

    /// When the site may be asked next, and what that waits for; `None` if it never was asked.
    pub fn ready_at(&self, policy: &Policy) -> Option<Hold> {
        let (gap, cause) = self.gap(policy);
        let interval = self.last_request.map(|last| Hold { until: last.after(gap), cause });
        later(interval, self.hold)
    }

    /// The longest interval that a law asks for; of equal ones, that of the first.
    fn gap(&self, policy: &Policy) -> (Duration, WaitCause) {
        let delay = policy.crawl_delay(self.crawl_delay).unwrap_or_default();
        let stretched = self.health.stretched(policy.interval.max(delay), policy);
        let why_stretched =
            if self.health.answers.all_good() { WaitCause::SlowStart } else { WaitCause::Slowdown };
        let laws = [
            (policy.interval, WaitCause::Interval),
            (delay, WaitCause::CrawlDelay),
            (stretched, why_stretched),
            (self.health.by_latency(policy), WaitCause::Latency),
        ];
        laws.into_iter().fold((Duration::ZERO, WaitCause::Interval), |longest, law| {
            if law.0 > longest.0 { law } else { longest }
        })
    }
}

/// When a URL that failed is asked for again, `failures` times in a row by now; `None` if not by
/// itself. A Retry-After is a minimum.
pub fn retry_at(
    policy: &Policy,
    failures: u32,
    answer: Answer,
    now: Timestamp,
) -> Option<Timestamp> {
    if failures >= policy.url_attempts {
        return None;
    }
    // Four times as long after each failure: a mended fault is found soon, a lasting one costs little.
    let doublings = 4_u32.saturating_pow(failures.saturating_sub(1).min(8));
    let own = policy.url_retry_first.saturating_mul(doublings);
    let pause = match answer {
        Answer::Served => return None,
        // As soon as the site's pace permits: it may have felt a request.
        Answer::Unheard => Duration::ZERO,
        // A time that the site names is believed once; after that it is a minimum.
        Answer::Overloaded { retry_after: Some(wait) } if failures <= 1 => {
            wait.min(policy.retry_after_cap)
        }
        Answer::Overloaded { retry_after: Some(wait) } => wait.min(policy.retry_after_cap).max(own),
        Answer::Overloaded { retry_after: None } | Answer::Unanswered => own,
    };
    Some(now.after(pause))
}

/// The hold that ends later.
fn later(one: Option<Hold>, two: Option<Hold>) -> Option<Hold> {
    [one, two].into_iter().flatten().max_by_key(|hold| hold.until)
}

/// The interval, doubled with each failure, up to the cap: the first one slows down already
/// (HT-004, HT-005).
fn backoff(failures: u32, policy: &Policy) -> Duration {
    let doublings = failures.min(20);
    policy.interval.saturating_mul(1 << doublings).min(policy.backoff_cap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    const T0: Timestamp = Timestamp::from_secs(1000);

    /// A site that is trusted with the full rate.
    fn trusted() -> SitePace {
        let health = Health { rate_permille: Some(1000), ..Health::default() };
        SitePace { health, ..SitePace::default() }
    }

    fn ended(answer: Answer, at: Timestamp) -> Ended {
        Ended { reason: GroundsReason::RobotsNoFile, answer, first_byte: None, at }
    }

    fn wait(pace: &SitePace, policy: &Policy) -> (u64, WaitCause) {
        let hold = pace.ready_at(policy).unwrap();
        (hold.until.since(T0).as_secs(), hold.cause)
    }

    /// RL-002, AM-36, HT-010, AM-65: one line, one case.
    #[test]
    fn waits() {
        let secs = Duration::from_secs;
        let retry = |s| Answer::Overloaded { retry_after: Some(secs(s)) };
        let plain = Answer::Overloaded { retry_after: None };
        let (courteous, google) = (Policy::default(), Policy::new(Preset::Google));
        let cases = [
            (&courteous, Answer::Served, None, (2, WaitCause::Interval)),
            (&courteous, Answer::Unheard, None, (2, WaitCause::Interval)),
            (&courteous, Answer::Served, Some(10), (10, WaitCause::CrawlDelay)),
            (&courteous, Answer::Served, Some(1), (2, WaitCause::Interval)),
            (&courteous, Answer::Served, Some(3600), (60, WaitCause::CrawlDelay)),
            (&google, Answer::Served, Some(10), (2, WaitCause::Interval)),
            (&courteous, retry(120), None, (120, WaitCause::RetryAfter)),
            (&courteous, retry(10_000_000), None, (86_400, WaitCause::RetryAfter)),
            (&courteous, retry(0), None, (4, WaitCause::Backoff)),
            (&courteous, plain, Some(30), (33, WaitCause::Slowdown)),
            (&courteous, Answer::of(404, Some(secs(900))), None, (2, WaitCause::Interval)),
            (&courteous, Answer::of(429, Some(secs(900))), None, (900, WaitCause::RetryAfter)),
            (&courteous, Answer::of(503, Some(secs(900))), None, (900, WaitCause::RetryAfter)),
        ];
        for (policy, answer, crawl_delay, expect) in cases {
            let mut pace = trusted();
            pace.heard_crawl_delay(crawl_delay.map(secs), None);
            pace.request_ended(ended(answer, T0), policy);
            assert_eq!(wait(&pace, policy), expect, "{answer:?} {crawl_delay:?}");
        }
    }

    #[test]
    fn failures_double_the_wait_and_an_answer_ends_it() {
        let policy = Policy::default();
        let mut pace = trusted();
        assert_eq!(pace.ready_at(&policy), None);
        let mut waits = alloc::vec![];
        for _ in 0..14 {
            pace.request_ended(ended(Answer::Unanswered, T0), &policy);
            waits.push(wait(&pace, &policy).0);
        }
        assert_eq!(waits[..6], [4, 8, 16, 32, 64, 128]);
        assert_eq!(waits[13], 3600);
        pace.request_ended(ended(Answer::Served, T0), &policy);
        // One good answer of fifteen: what failed so often is trusted with little (AM-66).
        assert_eq!(wait(&pace, &policy), (30, WaitCause::Slowdown));
    }

    /// RT-026, AM-11: an outage of robots.txt leaves time for pages between its retries.
    #[test]
    fn a_robots_txt_that_fails_again_does_not_double_the_wait() {
        let policy = Policy::default();
        let mut pace = trusted();
        let of_robots = Ended {
            reason: GroundsReason::RobotsFile,
            ..ended(Answer::Overloaded { retry_after: None }, T0)
        };
        (0..20).for_each(|_| pace.request_ended(of_robots, &policy));
        assert_eq!(pace.failures, 1);
        let until = pace.ready_at(&policy).unwrap().until;
        assert!(until.since(T0) <= policy.adaptive.slowest, "{until}");
        // Pages that fail beside it do.
        pace.request_ended(ended(Answer::Unanswered, T0), &policy);
        pace.request_ended(of_robots, &policy);
        assert_eq!(pace.failures, 2);
    }

    /// AM-65, AM-11: a Retry-After never shortens the wait that the failures ask for.
    #[test]
    fn a_short_retry_after_does_not_end_the_slow_down() {
        let policy = Policy::default();
        let mut pace = SitePace::default();
        let waits: [u64; 4] = core::array::from_fn(|_| {
            let retry_after = Some(Duration::from_secs(5));
            pace.request_ended(ended(Answer::Overloaded { retry_after }, T0), &policy);
            wait(&pace, &policy).0
        });
        assert_eq!(waits, [5, 8, 16, 32]);
    }

    /// AM-65, AM-11: one line, one case: answers with their second and Retry-After (0 for a plain
    /// 503, none for a good answer), and when the hold of the site's own choice ends.
    #[test]
    fn a_retry_after_holds_until_it_is_over() {
        let cases: &[(&[(u64, Option<u64>)], Option<u64>)] = &[
            (&[(0, Some(600)), (1, None)], Some(600)),
            (&[(0, Some(600)), (1, Some(10))], Some(600)),
            (&[(0, Some(600)), (1, Some(0))], Some(600)),
            (&[(0, Some(600)), (1, Some(900))], Some(901)),
            (&[(0, Some(600)), (1, Some(0)), (2, None)], Some(600)),
            (&[(0, Some(10_000_000)), (1, None)], Some(86_400)),
            (&[(0, Some(600)), (600, None)], None),
            (&[(0, Some(0)), (0, Some(0)), (0, Some(0)), (1, None)], None),
            (&[(0, Some(0)), (0, Some(0)), (0, Some(3)), (1, None)], Some(16)),
        ];
        let policy = Policy::default();
        for (answers, expect) in cases {
            let mut pace = trusted();
            for (secs, retry_after) in *answers {
                let answer = match *retry_after {
                    None => Answer::Served,
                    Some(0) => Answer::Overloaded { retry_after: None },
                    Some(wait) => {
                        Answer::Overloaded { retry_after: Some(Duration::from_secs(wait)) }
                    }
                };
                let at = T0.after(Duration::from_secs(*secs));
                pace.request_ended(ended(answer, at), &policy);
            }
            let expect = expect.map(|secs| Hold {
                until: T0.after(Duration::from_secs(secs)),
                cause: WaitCause::RetryAfter,
            });
            assert_eq!(pace.hold, expect, "{answers:?}");
        }
    }

    /// AM-36: the longest of a site's origins, until the file that asked for it asks for less.
    #[test]
    fn crawl_delays_of_one_site() {
        let secs = |secs| Some(Duration::from_secs(secs));
        let mut pace = SitePace::default();
        for (asked, before, expect) in [
            (secs(4), None, secs(4)),
            (None, None, secs(4)),
            (secs(9), None, secs(9)),
            (secs(4), secs(4), secs(9)),
            (secs(3), secs(9), secs(3)),
            (None, secs(3), None),
        ] {
            pace.heard_crawl_delay(asked, before);
            assert_eq!(pace.crawl_delay, expect, "{asked:?} {before:?}");
        }
    }

    /// HT-004, HT-010, AM-65: one line, one case.
    #[test]
    fn a_failed_url_is_asked_again_later_and_then_no_more() {
        let secs = Duration::from_secs;
        let retry = |s| Answer::Overloaded { retry_after: Some(secs(s)) };
        let cases = [
            (1, Answer::Unanswered, Some(300)),
            (2, Answer::Unanswered, Some(1200)),
            (3, Answer::Unanswered, None),
            (1, Answer::of(500, None), Some(300)),
            (1, retry(1), Some(1)),
            (1, retry(7200), Some(7200)),
            (2, retry(1), Some(1200)),
            (2, retry(10_000_000), Some(86_400)),
            (3, retry(1), None),
            (1, Answer::Served, None),
            (1, Answer::Unheard, Some(0)),
            (3, Answer::Unheard, None),
        ];
        for (failures, answer, expect) in cases {
            let at = retry_at(&Policy::default(), failures, answer, T0);
            assert_eq!(at.map(|at| at.since(T0).as_secs()), expect, "{failures} {answer:?}");
        }
    }

    /// It neither begins nor ends a series of failures.
    #[test]
    fn a_request_that_was_not_heard_says_nothing_of_the_site() {
        let policy = Policy::default();
        let mut pace = SitePace::default();
        pace.request_ended(ended(Answer::of(503, Some(Duration::from_secs(60))), T0), &policy);
        let before = pace.clone();
        pace.request_ended(ended(Answer::Unheard, T0.after(Duration::from_secs(1))), &policy);
        assert_eq!((pace.failures, pace.hold), (before.failures, before.hold));
        assert_eq!(pace.last_request, Some(T0.after(Duration::from_secs(1))));
    }

    #[test]
    fn a_restart_waits_a_whole_interval() {
        let policy = Policy::default();
        let mut pace = SitePace { last_request: Some(T0), ..trusted() };
        pace.assume_request(T0.after(Duration::from_secs(100)));
        assert_eq!(wait(&pace, &policy).0, 102);
        pace.assume_request(T0);
        assert_eq!(wait(&pace, &policy).0, 102);
    }

    /// RL-001, RL-002, AM-36, AM-66: the law that asks for the longest interval is the one named.
    /// One line, one case: rate, bad answers, crawl-delay, time to first byte, and the wait.
    #[test]
    fn the_law_that_decides() {
        let cases = [
            (None, 0, 0, 0, (4000, WaitCause::SlowStart)),
            (Some(1000), 0, 0, 0, (2000, WaitCause::Interval)),
            (Some(1000), 0, 0, 400, (2000, WaitCause::Interval)),
            (Some(1000), 0, 0, 401, (2005, WaitCause::Latency)),
            (Some(500), 1, 0, 400, (4000, WaitCause::Slowdown)),
            (Some(500), 1, 0, 900, (4500, WaitCause::Latency)),
            (Some(500), 1, 10_000, 900, (20_000, WaitCause::Slowdown)),
            (Some(1000), 0, 10_000, 900, (10_000, WaitCause::CrawlDelay)),
            (Some(1), 1, 0, 0, (600_000, WaitCause::Slowdown)),
        ];
        for (rate_permille, bad, delay, first_byte, expect) in cases {
            let mut pace = SitePace { last_request: Some(T0), ..SitePace::default() };
            pace.health.rate_permille = rate_permille;
            pace.health.answers.bad = bad;
            pace.health.answers.count = 100;
            pace.health.first_byte = Some(Duration::from_millis(first_byte));
            pace.crawl_delay = Some(Duration::from_millis(delay));
            let hold = pace.ready_at(&Policy::default()).unwrap();
            let got = (hold.until.since(T0).as_millis(), hold.cause);
            assert_eq!(got, expect, "{rate_permille:?} {bad} {delay} {first_byte}");
        }
    }

    /// AM-10: which requests tell of the availability.
    #[test]
    fn a_probe_is_told_apart_from_other_fetches() {
        let policy = Policy::default();
        let mut pace = SitePace::default();
        let mut ask = |reason, answer| {
            pace.request_ended(Ended { reason, ..ended(answer, T0) }, &policy);
            (pace.health.probe.map(|probe| probe.sign), pace.availability(&policy, T0))
        };
        let (probe, page) = (GroundsReason::AvailabilityProbe, GroundsReason::RobotsLongGone);
        let unavailable = Availability::Unavailable { until: T0.after(policy.robots.probe_every) };
        for _ in 0..20 {
            let got = ask(GroundsReason::RobotsFile, Answer::Unanswered);
            assert_eq!(got, (None, Availability::Unknown));
        }
        assert_eq!(ask(probe, Answer::Unheard), (None, Availability::Unknown));
        assert_eq!(ask(probe, Answer::of(503, None)), (Some(Sign::Bad), unavailable));
        assert_eq!(ask(probe, Answer::of(404, None)), (Some(Sign::Good), Availability::Available));
        for _ in 0..9 {
            assert_eq!(ask(page, Answer::Unanswered).1, Availability::Available);
        }
        assert_eq!(ask(page, Answer::Unanswered).1, unavailable);
    }
}
