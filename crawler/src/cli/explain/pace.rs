//! A site's present pace, in words and as JSON: how often it is asked, and what that rests on.

use std::time::Duration;

use comity_compliance::{Policy, SitePace, Timestamp, WaitCause};
use serde_json::{Value, json};

use crate::cli::terminal::{duration, plural};

/// The pace of a site at one moment.
pub(in crate::cli) struct Pace<'a> {
    pub(in crate::cli) pace: &'a SitePace,
    pub(in crate::cli) policy: &'a Policy,
    pub(in crate::cli) now: Timestamp,
}

impl Pace<'_> {
    /// The interval between two requests, and the law that it comes from.
    fn interval(&self) -> (Duration, WaitCause) {
        // Asked of a site whose last request was at the epoch, the law tells its interval.
        let last_request = Some(Timestamp::EPOCH);
        let asked = SitePace { last_request, hold: None, ..self.pace.clone() };
        let hold = asked.ready_at(self.policy);
        hold.map_or((self.policy.interval, WaitCause::Interval), |hold| {
            (hold.until.since(Timestamp::EPOCH), hold.cause)
        })
    }

    /// The law that the interval comes from.
    pub(in crate::cli) fn cause(&self) -> WaitCause {
        self.interval().1
    }

    /// Why the site is left alone longer than that, if it is.
    pub(in crate::cli) fn left_alone_for(&self) -> Option<WaitCause> {
        self.hold().map(|(_, cause)| cause)
    }

    /// Thousandths of the usual rate.
    fn rate_permille(&self) -> u16 {
        self.pace.health.rate_permille.unwrap_or(self.policy.adaptive.start_permille)
    }

    /// Whether bad answers and a slow start lengthen the interval at all.
    fn is_adaptive(&self) -> bool {
        self.policy.adaptive.slowest > self.policy.interval
    }

    /// Bad answers and all, of the last hundred.
    fn answers(&self) -> (u32, u8) {
        let answers = self.pace.health.answers;
        let kept = 1_u128.checked_shl(answers.count.into()).map_or(u128::MAX, |bit| bit - 1);
        ((answers.bad & kept).count_ones(), answers.count)
    }

    /// The wait that is under way, beside the interval.
    fn hold(&self) -> Option<(Timestamp, WaitCause)> {
        let hold = self.pace.hold.filter(|hold| hold.until > self.now)?;
        Some((hold.until, hold.cause))
    }

    /// Each line, with the name that stands before it.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let (interval, cause) = self.interval();
        let rate = match (self.is_adaptive(), self.pace.health.rate_permille) {
            (false, _) => "the usual rate, whatever it answers".into(),
            (true, Some(permille)) => rate(permille),
            (true, None) => format!("{}, as a new site", rate(self.rate_permille())),
        };
        let every = match interval.as_millis() {
            millis @ 0..1000 => format!("{millis} ms"),
            _ => duration(interval),
        };
        let why = format!("{rate}: one request every {every} ({cause}; {})", cause.clause());
        let mut rows = vec![("pace", why)];
        let (bad, all) = self.answers();
        let errors = match (bad, all) {
            (_, 0) => "no answer yet".into(),
            (0, all) => format!("no error in the last {}", plural(all.into(), "answer", "answers")),
            (bad, all) => {
                format!("{bad} of the last {} were errors", plural(all.into(), "answer", "answers"))
            }
        };
        let in_a_row = match self.pace.failures {
            0 => String::new(),
            failures => format!(", the last {failures} in a row"),
        };
        let first_byte = self.pace.health.first_byte.map_or(String::new(), |time| {
            format!("; first byte after {} ms on average", time.as_millis())
        });
        rows.push(("answers", format!("{errors}{in_a_row}{first_byte}")));
        if let Some(asked) = self.pace.crawl_delay {
            let heeded = match self.policy.crawl_delay(Some(asked)) {
                None => format!(", which policy {} does not know", self.policy.preset),
                Some(heeded) if heeded < asked => format!(", which counts as {}", duration(heeded)),
                Some(_) => String::new(),
            };
            rows.push(("crawl-delay", format!("{}{heeded}", duration(asked))));
        }
        if let Some((until, cause)) = self.hold() {
            let ahead = duration(until.since(self.now));
            let clause = cause.clause();
            let text = format!("until {until}, {ahead} from now ({cause}; {clause})");
            rows.push(("left alone", text));
        }
        rows
    }

    pub(super) fn as_json(&self) -> Value {
        let (interval, cause) = self.interval();
        let (bad, all) = self.answers();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        json!({
            "interval_ms": millis(interval),
            "cause": cause.code(),
            "rate_permille": self.rate_permille(),
            "first_byte_ms": self.pace.health.first_byte.map(millis),
            "last_answers": { "bad": bad, "count": all },
            "failures_in_a_row": self.pace.failures,
            "crawl_delay_ms": self.pace.crawl_delay.map(millis),
            "crawl_delay_heeded_ms": self.policy.crawl_delay(self.pace.crawl_delay).map(millis),
            "hold": self.hold().map(|(until, cause)| {
                json!({ "until": until.to_string(), "cause": cause.code() })
            }),
        })
    }
}

/// A rate in words.
fn rate(permille: u16) -> String {
    match permille {
        1000.. => "the usual rate".into(),
        500 => "half the usual rate".into(),
        250 => "a quarter of the usual rate".into(),
        _ if permille.is_multiple_of(10) => format!("{} % of the usual rate", permille / 10),
        _ => format!("{}.{} % of the usual rate", permille / 10, permille % 10),
    }
}

#[cfg(test)]
mod tests {
    use comity_compliance::{Answer, Ended, GroundsReason, Preset};

    use super::*;

    fn told(preset: Preset, statuses: &[u16], delay: Option<u64>) -> String {
        let policy = Policy::new(preset);
        let mut pace = SitePace::default();
        pace.heard_crawl_delay(delay.map(Duration::from_secs), None);
        for status in statuses {
            let (reason, answer) = (GroundsReason::RobotsNoRule, Answer::of(*status, None));
            let first_byte = Some(Duration::from_millis(120));
            pace.request_ended(Ended { reason, answer, first_byte, at: Timestamp::EPOCH }, &policy);
        }
        let rows = Pace { pace: &pace, policy: &policy, now: Timestamp::EPOCH }.rows();
        rows.into_iter().map(|(name, text)| format!("{name} {text}\n")).collect()
    }

    /// RL-001, AM-36, AM-66: policy, answers, crawl-delay, and what is told.
    #[test]
    fn words() {
        use Preset::{Courteous, Google};
        let cases: [(Preset, &[u16], Option<u64>, &[&str]); 7] = [
            (
                Courteous,
                &[],
                None,
                &["half the usual rate, as a new site", "every 4 s (slow-start; RL-001)"],
            ),
            (Courteous, &[200], None, &["60 % of the usual rate", "after 120 ms", "last 1 answer"]),
            (
                Courteous,
                &[200; 5],
                None,
                &["pace the usual rate: one request every 2 s (interval; RL-002)"],
            ),
            (
                Courteous,
                &[200, 503, 503],
                None,
                &["2 of the last 3 answers", "the last 2 in a row"],
            ),
            (Courteous, &[503], None, &["left alone until", "(backoff; "]),
            (
                Courteous,
                &[200; 5],
                Some(90),
                &["crawl-delay 1 min 30 s, which counts as 1 min 0 s"],
            ),
            (Google, &[200; 5], Some(9), &["crawl-delay 9 s, which policy google does not know"]),
        ];
        for (preset, statuses, delay, parts) in cases {
            let told = told(preset, statuses, delay);
            for part in parts {
                assert!(told.contains(part), "\"{part}\" is not in {told}");
            }
        }
        assert_eq!(rate(355), "35.5 % of the usual rate");
        assert_eq!(rate(250), "a quarter of the usual rate");
    }
}
