//! The compliance engine under another HTTP client, ureq: robots.txt with its redirects and failures,
//! the pace, page rules, and what a result may show. Of this project it uses comity-compliance alone.
//!
//! ```console
//! $ cargo run -p comity-examples --example another_client -- me@example.org https://example.org/ https://example.org/private
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::io::Read as _;
use std::time::Duration;

use comity_compliance::robots::{
    Body, RobotsErrand, RobotsOutcome, RobotsRecord, RobotsReply, RobotsResponse, Step,
};
use comity_compliance::{
    Answer, Contact, Directives, Ended, Facts, Grounds, Identity, Limit, Origin, Policy,
    ProductToken, Publication, Scope, ScopeKind, Site, SitePace, StatusEffect, Timestamp, Verdict,
    decide, parse_retry_after,
};
use ureq::http::HeaderMap;
use url::Url;

const USAGE: &str = "say CONTACT [INTERVAL_MS] URL..., such as: me@example.org https://example.org/\n\
    CONTACT is a mail address or a page that reaches you; site owners see it in the User-Agent header.";

/// A site that must be left alone for longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a page that are read.
const PAGE_BYTES: usize = 2 << 20;

/// What a robot knows and who it is. A crawl would keep records and paces on disk.
struct Robot {
    http: ureq::Agent,
    policy: Policy,
    identity: Identity,
    /// One robots.txt for each scheme, host and port.
    records: HashMap<Origin, RobotsRecord>,
    /// One pace for each host.
    paces: HashMap<Site, SitePace>,
}

/// What a request brought.
struct Reply {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
    is_whole: bool,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Robot {
    /// Fetches a URL when it may be fetched; a sentence if it may not.
    fn fetch(&mut self, url: &Url) -> Result<Reply, String> {
        let origin = Origin::of(url).map_err(|e| e.to_string())?;
        loop {
            let now = now();
            let facts = Facts {
                policy: &self.policy,
                identity: &self.identity,
                // Whoever named the URL wants it.
                scope: &Scope::new(ScopeKind::Any, &[]),
                robots: self.records.entry(origin.clone()).or_default(),
                pace: self.paces.entry(origin.site()).or_default(),
            };
            match decide(url, facts, now) {
                Verdict::Refuse(refusal) => {
                    let line = refusal.evidence.map_or(String::new(), |line| format!(", {line}"));
                    return Err(format!("must not be fetched: {}{line}", refusal.reason));
                }
                Verdict::Wait { until, cause } if until.since(now) > PATIENCE => {
                    return Err(format!("left alone until {until}: {cause}. {}", cause.advice()));
                }
                Verdict::Wait { until, .. } => std::thread::sleep(until.since(now)),
                Verdict::FetchRobots(errand, grounds) => self.read_robots(&origin, errand, grounds),
                // Whether the site answers at all; the reply counts for its pace only.
                Verdict::Probe(grounds) => drop(self.ask(grounds, PAGE_BYTES)),
                Verdict::Fetch(grounds) => {
                    let why = match grounds.evidence() {
                        Some(line) => format!("{}, {line}", grounds.reason()),
                        None => grounds.reason().to_string(),
                    };
                    say(&format!("  may be fetched: {why}"));
                    return self.ask(grounds, PAGE_BYTES);
                }
            }
        }
    }

    /// Makes the one request that the grounds permit, and notes what its site felt.
    fn ask(&mut self, grounds: Grounds, most: usize) -> Result<Reply, String> {
        let started = now();
        let asked = self.http.get(grounds.url().as_str()).call();
        let at = now();
        let answer = match &asked {
            Ok(response) => {
                let wait = response.headers().get("retry-after");
                let wait = wait.and_then(|wait| parse_retry_after(wait.to_str().ok()?, at));
                Answer::of(response.status().as_u16(), wait)
            }
            Err(_) => Answer::Unanswered,
        };
        if let Ok(site) = Site::of(grounds.url()) {
            let first_byte = asked.is_ok().then(|| at.since(started));
            let ended = Ended { reason: grounds.reason(), answer, first_byte, at };
            self.paces.entry(site).or_default().request_ended(ended, &self.policy);
        }
        let mut response = asked.map_err(|e| e.to_string())?;
        let mut body = Vec::new();
        let reader = response.body_mut().as_reader();
        let is_whole = reader.take(most as u64).read_to_end(&mut body).is_ok();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Reply { status, headers, body, is_whole })
    }

    /// Carries out the errand for a robots.txt: the engine says which requests to make and what the
    /// answers mean, so that no error passes for a permission.
    fn read_robots(&mut self, origin: &Origin, errand: RobotsErrand, grounds: Grounds) {
        let (mut errand, mut grounds) = (errand, grounds);
        let outcome = loop {
            match errand.reply(as_robots(&self.ask_in_turn(grounds)), &self.policy, now()) {
                Step::Fetch(next, next_grounds) => (errand, grounds) = (next, next_grounds),
                Step::Done(outcome) => break outcome,
            }
        };
        say(&format!("  robots.txt: {}", in_words(&outcome)));
        let known = self.records.remove(origin).unwrap_or_default();
        let record = known.after(outcome, &self.policy, now());
        let asked = record.rules().and_then(|rules| rules.crawl_delay(self.identity.tokens()));
        let pace = self.paces.entry(origin.site()).or_default();
        pace.heard_crawl_delay(self.policy.crawl_delay(asked), None);
        self.records.insert(origin.clone(), record);
    }

    /// A redirected robots.txt may lie on a site with a pace of its own.
    fn ask_in_turn(&mut self, grounds: Grounds) -> Result<Reply, String> {
        let site = Site::of(grounds.url()).map_err(|e| e.to_string())?;
        let ready = self.paces.entry(site).or_default().ready_at(&self.policy);
        let wait = ready.map_or(Duration::ZERO, |hold| hold.until.since(now()));
        if wait > PATIENCE {
            return Err("where it redirects to must be left alone".into());
        }
        std::thread::sleep(wait);
        // One byte more than counts shows nothing of interest here.
        self.ask(grounds, self.policy.robots.max_bytes)
    }

    /// The rules of a page that bind this robot: headers, then meta tags.
    fn rules_of(&self, reply: &Reply) -> Result<Directives, Box<dyn Error>> {
        let mut rules = Directives::for_identity(&self.identity, now());
        for line in reply.headers.get_all("x-robots-tag") {
            rules.header_line(line.as_bytes());
        }
        if reply.header("content-type").is_some_and(|kind| kind.contains("html")) {
            let page = scraper::Html::parse_document(&String::from_utf8_lossy(&reply.body));
            let tags =
                scraper::Selector::parse("meta[name][content]").map_err(|e| e.to_string())?;
            for tag in page.select(&tags) {
                let attribute = |name| tag.value().attr(name).unwrap_or_default();
                rules.meta(attribute("name"), attribute("content"));
            }
        }
        Ok(rules.finish())
    }

    /// Looks at a URL, and at where it redirects to: each hop is judged for itself.
    fn look_at(&mut self, mut url: Url) -> Result<(), Box<dyn Error>> {
        for _ in 0..=self.policy.redirect_hops {
            say(url.as_str());
            let reply = match self.fetch(&url) {
                Ok(reply) => reply,
                Err(why_not) => {
                    say(&format!("  {why_not}"));
                    return Ok(());
                }
            };
            say(&format!("  status {}", reply.status));
            match StatusEffect::of(reply.status) {
                StatusEffect::Redirect => url = url.join(reply.header("location").unwrap_or(""))?,
                StatusEffect::Read if reply.is_whole => {
                    let rules = self.rules_of(&reply)?;
                    rules.iter().for_each(|rule| say(&format!("  {rule}")));
                    say(&format!("  {}", shown(&Publication::of(&rules, now()))));
                    return Ok(());
                }
                StatusEffect::Withdraw(why) => {
                    say(&format!("  nothing may be shown: {why}. {}", why.advice()));
                    return Ok(());
                }
                StatusEffect::Read | StatusEffect::Stand | StatusEffect::Keep => {
                    say(
                        "  does not count: what was shown before stands, and it is asked again later",
                    );
                    return Ok(());
                }
            }
        }
        say("  too many redirects");
        Ok(())
    }
}

/// The parts of a reply that matter to a robots.txt.
fn as_robots(asked: &Result<Reply, String>) -> RobotsReply<'_> {
    match asked {
        Err(error) => RobotsReply::Failed(error.clone()),
        Ok(reply) => RobotsReply::Response(RobotsResponse {
            status: reply.status,
            location: reply.header("location"),
            cache_control: reply.header("cache-control").unwrap_or(""),
            age: reply.header("age"),
            retry_after: reply
                .header("retry-after")
                .and_then(|wait| parse_retry_after(wait, now())),
            body: match reply.is_whole {
                true => Body::Read(&reply.body),
                false => Body::Broken(&reply.body),
            },
        }),
    }
}

fn in_words(outcome: &RobotsOutcome) -> String {
    match outcome {
        RobotsOutcome::File { cause, .. } => format!("{cause}, rules"),
        RobotsOutcome::NoFile { cause, .. } => format!("{cause}, so nothing is forbidden"),
        RobotsOutcome::Unreachable { cause, .. } => format!("{cause}, so nothing is fetched"),
    }
}

/// What a result may show of a page.
fn shown(publication: &Publication) -> String {
    let terms = match publication {
        Publication::Nothing(why) | Publication::BareUrl(why) => {
            return format!("nothing may be shown: {why}. {}", why.advice());
        }
        Publication::Full(terms) | Publication::EmbeddedOnly(terms) => terms,
    };
    let text = match terms.snippet.limit() {
        Limit::Unlimited => "text".into(),
        Limit::AtMost(0) => "no text".into(),
        Limit::AtMost(characters) => format!("{characters} characters of text"),
    };
    let until = terms.until.map_or(String::new(), |until| format!(", until {until}"));
    let place = match publication {
        Publication::EmbeddedOnly(_) => "in pages that embed it",
        Publication::Full(_) | Publication::BareUrl(_) | Publication::Nothing(_) => "as a result",
    };
    format!("may be shown {place}: title, {text}{until}")
}

#[expect(clippy::disallowed_methods, reason = "the engine reads no clock, so its caller does")]
fn now() -> Timestamp {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since_1970.map_or(0, |since| since.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

#[expect(clippy::print_stdout, reason = "the example's output")]
fn say(line: &str) {
    println!("{line}");
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let contact =
        Contact::parse(&arguments.next().ok_or(USAGE)?).map_err(|e| format!("{e}\n{USAGE}"))?;
    let (mut interval, mut urls) = (2_000, vec![]);
    for argument in arguments {
        match argument.parse() {
            Ok(millis) => interval = millis,
            Err(_) => {
                urls.push(Url::parse(&argument).map_err(|e| format!("{argument}: {e}\n{USAGE}"))?)
            }
        }
    }
    if urls.is_empty() {
        return Err(USAGE.into());
    }
    let identity = Identity::new(ProductToken::new("examplebot")?).with_contact(contact);
    // Redirects and error statuses are for the engine to judge.
    let http = ureq::Agent::config_builder()
        .user_agent(identity.user_agent())
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(30)))
        .build();
    let policy = Policy::default().with_interval(Duration::from_millis(interval));
    let (records, paces) = (HashMap::new(), HashMap::new());
    let mut robot = Robot { http: http.into(), policy, identity, records, paces };
    urls.into_iter().try_for_each(|url| robot.look_at(url))
}
