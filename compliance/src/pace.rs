//! The law of politeness: when one site may be asked again (R12).

use core::time::Duration;

use crate::{Policy, Timestamp, WaitCause};

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
    /// 429 or 5xx, with the Retry-After that came along: a word about the whole site (RL-003).
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
    /// Takes account of a request that ended at `now`.
    pub fn request_ended(&mut self, answer: Answer, policy: &Policy, now: Timestamp) {
        self.last_request = self.last_request.max(Some(now));
        let retry_after = match answer {
            Answer::Unheard => return,
            Answer::Served => {
                self.failures = 0;
                self.hold = None;
                self.last_served = Some(now);
                return;
            }
            Answer::Overloaded { retry_after } => retry_after,
            Answer::Unanswered => None,
        };
        self.failures = self.failures.saturating_add(1);
        let backoff = backoff(self.failures, policy);
        let asked = retry_after.unwrap_or_default().min(policy.retry_after_cap);
        // Retry-After is a minimum: a site that names a short time over and over is in trouble still.
        self.hold = Some(if asked > backoff {
            Hold { until: now.after(asked), cause: WaitCause::RetryAfter }
        } else {
            Hold { until: now.after(backoff), cause: WaitCause::Backoff }
        });
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
        let delay = policy.crawl_delay(self.crawl_delay);
        let (gap, cause) = match delay {
            Some(delay) if delay > policy.interval => (delay, WaitCause::CrawlDelay),
            Some(_) | None => (policy.interval, WaitCause::Interval),
        };
        let interval = self.last_request.map(|last| Hold { until: last.after(gap), cause });
        [interval, self.hold].into_iter().flatten().max_by_key(|hold| hold.until)
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

/// The interval, doubled with each failure after the first, up to the cap (HT-004, HT-005).
fn backoff(failures: u32, policy: &Policy) -> Duration {
    let doublings = failures.saturating_sub(1).min(20);
    policy.interval.saturating_mul(1 << doublings).min(policy.backoff_cap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    const T0: Timestamp = Timestamp::from_secs(1000);

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
            (&courteous, retry(0), None, (2, WaitCause::Backoff)),
            (&courteous, plain, Some(30), (30, WaitCause::CrawlDelay)),
            (&courteous, Answer::of(404, Some(secs(900))), None, (2, WaitCause::Interval)),
            (&courteous, Answer::of(429, Some(secs(900))), None, (900, WaitCause::RetryAfter)),
            (&courteous, Answer::of(503, Some(secs(900))), None, (900, WaitCause::RetryAfter)),
        ];
        for (policy, answer, crawl_delay, expect) in cases {
            let mut pace = SitePace::default();
            pace.heard_crawl_delay(crawl_delay.map(secs), None);
            pace.request_ended(answer, policy, T0);
            assert_eq!(wait(&pace, policy), expect, "{answer:?} {crawl_delay:?}");
        }
    }

    #[test]
    fn failures_double_the_wait_and_an_answer_ends_it() {
        let policy = Policy::default();
        let mut pace = SitePace::default();
        assert_eq!(pace.ready_at(&policy), None);
        let mut waits = alloc::vec![];
        for _ in 0..14 {
            pace.request_ended(Answer::Unanswered, &policy, T0);
            waits.push(wait(&pace, &policy).0);
        }
        assert_eq!(waits[..6], [2, 4, 8, 16, 32, 64]);
        assert_eq!(waits[13], 3600);
        pace.request_ended(Answer::Served, &policy, T0);
        assert_eq!(wait(&pace, &policy), (2, WaitCause::Interval));
    }

    /// AM-65, AM-11: a Retry-After never shortens the wait that the failures ask for.
    #[test]
    fn a_short_retry_after_does_not_end_the_slow_down() {
        let policy = Policy::default();
        let mut pace = SitePace::default();
        let waits: [u64; 4] = core::array::from_fn(|_| {
            let retry_after = Some(Duration::from_secs(5));
            pace.request_ended(Answer::Overloaded { retry_after }, &policy, T0);
            wait(&pace, &policy).0
        });
        assert_eq!(waits, [5, 5, 8, 16]);
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
        pace.request_ended(Answer::of(503, Some(Duration::from_secs(60))), &policy, T0);
        let before = pace.clone();
        pace.request_ended(Answer::Unheard, &policy, T0.after(Duration::from_secs(1)));
        assert_eq!((pace.failures, pace.hold), (before.failures, before.hold));
        assert_eq!(pace.last_request, Some(T0.after(Duration::from_secs(1))));
    }

    #[test]
    fn a_restart_waits_a_whole_interval() {
        let policy = Policy::default();
        let mut pace = SitePace { last_request: Some(T0), ..SitePace::default() };
        pace.assume_request(T0.after(Duration::from_secs(100)));
        assert_eq!(wait(&pace, &policy).0, 102);
        pace.assume_request(T0);
        assert_eq!(wait(&pace, &policy).0, 102);
    }
}
