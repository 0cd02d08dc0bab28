//! A robots.txt that fails for two months, lived through day by day: what a crawl asks of the site
//! meanwhile (RT-025 to RT-027, AM-6 to AM-11).

use std::time::Duration;

use comity_compliance::robots::{RobotsRecord, RobotsReply, RobotsResponse, Step};
use comity_compliance::{
    Answer, Ended, Facts, Grounds, GroundsReason, Identity, Policy, Preset, ProductToken, Scope,
    ScopeKind, SitePace, Timestamp, Verdict, decide,
};
use url::Url;

const DAY: u64 = 86_400;
const START: Timestamp = Timestamp::from_secs(1_796_000_000);

/// Requests of one kind, and the days on which they were made.
#[derive(Debug, Default)]
struct Asked {
    robots: Vec<u64>,
    probes: Vec<u64>,
    pages: Vec<u64>,
}

struct Life {
    policy: Policy,
    identity: Identity,
    scope: Scope,
    robots: RobotsRecord,
    pace: SitePace,
    now: Timestamp,
    asked: Asked,
}

impl Life {
    fn new(preset: Preset) -> Self {
        Self {
            policy: Policy::new(preset),
            identity: Identity::new(ProductToken::new("examplebot").expect("a token")),
            scope: Scope::new(ScopeKind::Any, &[]),
            robots: RobotsRecord::default(),
            pace: SitePace::default(),
            now: START,
            asked: Asked::default(),
        }
    }

    fn day(&self) -> u64 {
        self.now.since(START).as_secs() / DAY
    }

    fn ended(&mut self, reason: GroundsReason, status: u16) {
        let (answer, at) = (Answer::of(status, None), self.now);
        let first_byte = Some(Duration::from_millis(80));
        self.pace.request_ended(Ended { reason, answer, first_byte, at }, &self.policy);
    }

    fn pass(&mut self, pause: Duration) {
        self.now = self.now.after(pause);
    }

    /// Wants a page every two hours for 60 days. robots.txt answers 500 throughout; everything
    /// else answers what `site` says for the day.
    fn live(mut self, site: fn(u64) -> u16) -> Asked {
        let url = Url::parse("https://example.com/page").expect("a URL");
        while self.day() < 60 {
            let facts = Facts {
                policy: &self.policy,
                identity: &self.identity,
                scope: &self.scope,
                robots: &self.robots,
                pace: &self.pace,
            };
            match decide(&url, facts, self.now) {
                Verdict::FetchRobots(errand, grounds) => {
                    self.asked.robots.push(self.day());
                    self.ended(grounds.reason(), 500);
                    let response = RobotsResponse {
                        status: 500,
                        location: None,
                        cache_control: "",
                        age: None,
                        retry_after: None,
                        body: comity_compliance::robots::Body::Read(b""),
                    };
                    let reply = RobotsReply::Response(response);
                    let Step::Done(outcome) = errand.reply(reply, &self.policy, self.now) else {
                        panic!("a 500 leads nowhere");
                    };
                    self.robots = self.robots.after(outcome, &self.policy, self.now);
                }
                Verdict::Probe(grounds) => {
                    assert_eq!(grounds.url().as_str(), "https://example.com/");
                    self.asked.probes.push(self.day());
                    self.ended(grounds.reason(), site(self.day()));
                }
                Verdict::Fetch(grounds) => self.page(grounds, site),
                Verdict::Wait { until, .. } => {
                    assert!(until > self.now, "a wait passes time");
                    self.now = until;
                }
                Verdict::Refuse(refusal) => panic!("{refusal:?}"),
            }
        }
        self.asked
    }

    fn page(&mut self, grounds: Grounds, site: fn(u64) -> u16) {
        assert_eq!(grounds.reason(), GroundsReason::RobotsLongGone);
        self.asked.pages.push(self.day());
        self.ended(grounds.reason(), site(self.day()));
        self.pass(Duration::from_secs(2 * 3600));
    }
}

/// How many of them were made on days of a range.
fn within(days: &[u64], range: std::ops::Range<u64>) -> usize {
    days.iter().filter(|day| range.contains(day)).count()
}

fn most_in_a_day(days: &[u64]) -> usize {
    days.iter().map(|day| within(days, *day..day + 1)).max().unwrap_or(0)
}

#[test]
fn a_site_that_works_is_probed_daily_and_crawled() {
    for preset in [Preset::Courteous, Preset::Google] {
        let asked = Life::new(preset).live(|_| 200);
        assert_eq!(within(&asked.probes, 0..30), 0, "{preset}");
        assert!((29..=30).contains(&within(&asked.probes, 30..60)), "{preset} {asked:?}");
        assert_eq!(most_in_a_day(&asked.probes), 1, "{preset}");
        assert!(within(&asked.pages, 30..60) > 300, "{preset} {asked:?}");
        assert!((29..=31).contains(&within(&asked.robots, 30..60)), "{preset} {asked:?}");
        let early = within(&asked.pages, 0..30);
        assert_eq!(early > 0, preset == Preset::Google, "{preset}: AM-8");
    }
}

#[test]
fn a_site_that_is_down_is_left_alone() {
    for preset in [Preset::Courteous, Preset::Google] {
        let asked = Life::new(preset).live(|_| 503);
        assert_eq!(within(&asked.pages, 30..60), 0, "{preset}");
        assert!((29..=30).contains(&asked.probes.len()), "{preset} {asked:?}");
        assert_eq!(most_in_a_day(&asked.probes), 1, "{preset}");
    }
}

#[test]
fn a_site_that_breaks_and_mends_is_left_alone_meanwhile() {
    let broken = |day| if (35..45).contains(&day) { 500 } else { 200 };
    let asked = Life::new(Preset::Courteous).live(broken);
    assert_eq!(within(&asked.pages, 37..45), 0, "{asked:?}");
    assert!(within(&asked.pages, 46..60) > 100, "{asked:?}");
}

/// RT-023: 404 is no sign of trouble.
#[test]
fn a_site_without_pages_is_available() {
    let asked = Life::new(Preset::Courteous).live(|_| 404);
    assert!(within(&asked.pages, 30..60) > 300, "{asked:?}");
}

/// RFC 9309 and a last good copy need no probe.
#[test]
fn the_rfc_preset_does_not_probe() {
    let asked = Life::new(Preset::Rfc9309).live(|_| 200);
    assert!(asked.probes.is_empty());
    assert_eq!(within(&asked.pages, 0..30), 0);
    assert!(within(&asked.pages, 30..60) > 300);
}
