//! Sequences of events in the life of one site: what its robots.txt and pages answer, and what
//! is decided between.

use std::time::Duration;

use comity_compliance::robots::{
    Body, RobotsErrand, RobotsRecord, RobotsReply, RobotsResponse, Standing, Step,
};
use comity_compliance::{
    Answer, Ended, Facts, Grounds, GroundsReason, Identity, Policy, Preset, ProductToken, Scope,
    ScopeKind, SitePace, Timestamp, Verdict, decide, parse_retry_after,
};
use url::Url;

use super::driver::{Chance, Matter, Run};

const SAMPLES: &[&[u8]] = &[
    b"\x02\x00\x08\x01\x05",
    b"\x00\x10\x00\x20\x00\x30\x04\x04",
    b"\x07\x06\x05\x04\x03\x02\x01\x00",
    b"",
];

/// Events are octets; these are runs of them.
const WORDS: &[&str] = &[
    "\0",
    "\x01",
    "\x02\x02",
    "\x03",
    "\x04",
    "\x05\x05\x05",
    "\x06",
    "\x07",
    "\x10\x20",
    "~",
    "@",
];

const STATUSES: &[u16] = &[
    0, 100, 199, 200, 204, 206, 226, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 410, 429,
    500, 502, 503, 599, 999,
];
const LOCATIONS: &[&str] = &[
    "/robots.txt",
    "/1",
    "/2?x",
    "//other.example/r",
    "http://example.com/robots.txt",
    "ftp://x/",
    "http://",
    "",
    "#f",
    "%",
    "https://[::1]:99999/",
    "mailto:x",
    "/3#x",
];
const CACHE: &[&str] = &[
    "",
    "no-store",
    "max-age=0",
    "max-age=99999999999999999999999",
    "max-age=\"300\", public",
    "max-age=-1",
    "=,=,max-age=3600",
];
const AGES: &[&str] = &["0", "100000", "x", "99999999999999999999999"];
const RETRY: &[&str] =
    &["0", "120", "99999999999999999999999", "Sun, 06 Nov 2094 08:49:37 GMT", "soon"];
const BODIES: &[&[u8]] = &[
    b"",
    b"user-agent: *\ndisallow: /\n",
    b"user-agent: bot\nallow: /\ncrawl-delay: 7\n",
    b"user-agent: *\ndisallow: /a\ncrawl-delay: 999999999\n",
    b"<html>",
    b"\xff\0",
];
const URLS: &[&str] = &[
    "https://example.com/",
    "https://example.com/a?b#c",
    "https://other.example/",
    "ftp://example.com/",
    "https://example.com/robots.txt",
];
/// Seconds; the stages of a robots.txt that fails end after 12 hours and 30 days.
const PAUSES: &[&u64] = &[&0, &1, &2, &60, &300, &3_600, &43_200, &86_400, &2_592_000, &u64::MAX];

/// A site, and what is known of it.
struct Site {
    policy: Policy,
    identity: Identity,
    scope: Scope,
    record: RobotsRecord,
    pace: SitePace,
    now: Timestamp,
}

impl Site {
    fn new(chance: &mut Chance) -> Self {
        let seed = Url::parse("https://example.com/").expect("a URL");
        let preset = Preset::ALL[chance.below(Preset::ALL.len())];
        Self {
            policy: Policy::new(preset),
            identity: Identity::new(ProductToken::new("bot").expect("a token")),
            scope: Scope::new(ScopeKind::Host, &[seed]),
            record: RobotsRecord::default(),
            pace: SitePace::default(),
            now: Timestamp::from_secs(1_796_040_000),
        }
    }

    fn event(&mut self, event: u8, chance: &mut Chance) {
        match event % 8 {
            0 | 1 => self.now = self.now.after(Duration::from_secs(*chance.pick(PAUSES))),
            2 | 3 => self.ask(chance),
            4 => self.answered(event, chance),
            5 => self.pace.assume_request(self.now),
            6 => self.restart(),
            _ => self.now = Timestamp::from_millis(chance.next() as i64 >> (event / 8)),
        }
    }

    fn answered(&mut self, event: u8, chance: &mut Chance) {
        let answer = match event / 8 % 4 {
            0 => Answer::Unanswered,
            1 => Answer::Unheard,
            _ => {
                let status = STATUSES[chance.below(STATUSES.len())];
                Answer::of(status, parse_retry_after(chance.pick(RETRY), self.now))
            }
        };
        self.ended(GroundsReason::RobotsNoRule, answer, chance);
        let hold = self.pace.ready_at(&self.policy);
        assert!(hold.is_some_and(|hold| self.pace.last_request.is_none_or(|at| hold.until >= at)));
    }

    fn ended(&mut self, reason: GroundsReason, answer: Answer, chance: &mut Chance) {
        let first_byte = chance.one_in(2).then(|| Duration::from_secs(*chance.pick(PAUSES)));
        let at = self.now;
        self.pace.request_ended(Ended { reason, answer, first_byte, at }, &self.policy);
    }

    /// What is stored comes back as it was.
    fn restart(&mut self) {
        let parts = self.record.to_parts();
        let again = RobotsRecord::from_parts(parts.clone());
        assert_eq!(again.to_parts(), parts);
        assert_eq!(again.next_refresh(), self.record.next_refresh());
        self.record = again;
    }

    /// Asks for a URL and does as the verdict says.
    fn ask(&mut self, chance: &mut Chance) {
        let url = Url::parse(chance.pick(URLS)).expect("a URL");
        let facts = Facts {
            policy: &self.policy,
            identity: &self.identity,
            scope: &self.scope,
            robots: &self.record,
            pace: &self.pace,
        };
        let may_ask_site =
            self.pace.ready_at(&self.policy).is_none_or(|hold| hold.until <= self.now);
        match decide(&url, facts, self.now) {
            Verdict::Wait { until, .. } => assert!(until > self.now),
            Verdict::Refuse(_) => {}
            Verdict::FetchRobots(errand, grounds) => {
                assert!(may_ask_site);
                self.run(errand, grounds, chance);
            }
            Verdict::Probe(grounds) => {
                assert!(may_ask_site);
                let status = STATUSES[chance.below(STATUSES.len())];
                self.ended(grounds.reason(), Answer::of(status, None), chance);
            }
            Verdict::Fetch(grounds) => {
                assert!(may_ask_site);
                assert_eq!(grounds.url().fragment(), None);
                // RT-016: its own robots.txt always may be.
                if grounds.reason() != GroundsReason::RobotsFile {
                    self.may_fetch();
                }
            }
        }
    }

    /// Nothing is fetched while robots.txt is unknown, due, or in its full stop.
    fn may_fetch(&self) {
        assert!(self.record.next_refresh().is_some_and(|due| due > self.now));
        let failing_for = self.record.failing().map(|run| self.now.since(run.since));
        assert!(failing_for.is_none_or(|time| time >= self.policy.robots.stop_for));
    }

    /// An errand ends, whatever is answered.
    fn run(&mut self, errand: RobotsErrand, grounds: Grounds, chance: &mut Chance) {
        let mut step = Step::Fetch(errand, grounds);
        for _ in 0..2 * (usize::from(self.policy.robots.redirect_hops) + 2) {
            step = match step {
                Step::Fetch(errand, _) => {
                    let reply = reply(chance, self.now);
                    errand.reply(reply, &self.policy, self.now)
                }
                Step::Done(outcome) => {
                    let record = std::mem::take(&mut self.record);
                    self.record = record.after(outcome, &self.policy, self.now);
                    self.learned(chance);
                    return;
                }
            };
        }
        panic!("the errand does not end");
    }

    fn learned(&mut self, chance: &mut Chance) {
        let before = self.pace.crawl_delay;
        let delay = self.record.rules().and_then(|rules| rules.crawl_delay(self.identity.tokens()));
        self.pace.heard_crawl_delay(delay, before);
        assert!(self.record.next_refresh().is_some());
        let later = self.now.after(Duration::from_secs(*chance.pick(PAUSES)));
        let availability = self.pace.availability(&self.policy, later);
        match self.record.standing(&self.policy, availability, later) {
            Standing::Stop { until } => assert!(until > later),
            Standing::Fetch | Standing::Probe | Standing::Rules(..) | Standing::NoRules(_) => {}
        }
    }
}

fn reply(chance: &mut Chance, now: Timestamp) -> RobotsReply<'static> {
    if chance.one_in(8) {
        return RobotsReply::Failed("no answer".into());
    }
    if chance.one_in(8) {
        return RobotsReply::Unheard;
    }
    let body = BODIES[chance.below(BODIES.len())];
    RobotsReply::Response(RobotsResponse {
        status: STATUSES[chance.below(STATUSES.len())],
        location: (!chance.one_in(4)).then(|| chance.pick(LOCATIONS)),
        cache_control: chance.pick(CACHE),
        age: chance.one_in(2).then(|| chance.pick(AGES)),
        retry_after: parse_retry_after(chance.pick(RETRY), now),
        body: if chance.one_in(6) { Body::Broken(body) } else { Body::Read(body) },
    })
}

fn judge(input: &[u8], chance: &mut Chance) {
    let mut site = Site::new(chance);
    for event in input {
        site.event(*event, chance);
    }
}

#[test]
fn life() {
    let samples = SAMPLES.iter().map(|sample| sample.to_vec()).collect();
    Run::of(1000).go("life", &Matter { samples, words: WORDS }, judge);
}
