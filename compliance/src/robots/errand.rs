//! One fetch of a robots.txt, redirects included, to one outcome (R2).
//!
//! The caller makes the requests; the errand says which, and what the answers mean. Every status
//! and every kind of failure has its row here: an error never passes for a permission.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use url::Url;

use super::record::{RobotsOutcome, Trouble};
use crate::{
    Grounds, GroundsReason, Origin, Policy, RobotsNumbers, Scheme, StatusEffect, Timestamp, quoted,
};

/// The fetch of one origin's robots.txt: follows redirects, across hosts too, and binds what it
/// finds to the origin it started from (RT-021, RT-022, AM-1 to AM-4).
#[derive(Debug)]
pub struct RobotsErrand {
    /// The URLs of the chain, the one to ask now last; never empty.
    chain: Vec<Url>,
    /// The last request was not heard once already.
    unheard: bool,
}

/// What one request of the errand brought.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RobotsReply<'a> {
    /// A response with a readable status line.
    Response(RobotsResponse<'a>),
    /// None: the name did not resolve, the connection failed or was cut, the certificate was
    /// wrong, time ran out, the answer was no HTTP, or its content coding could not be read
    /// (RT-028, AM-15, AM-21, AM-22). The text says what, for people.
    Failed(String),
    /// What an FTP server said to an anonymous login and RETR (RT-004, AM-20). A connection that
    /// failed is [`RobotsReply::Failed`].
    Ftp(FtpReply<'a>),
    /// None, because the server had closed the connection that was kept open for it, see
    /// [`Answer::Unheard`](crate::Answer::Unheard): the same request is made once more.
    Unheard,
}

/// What an FTP server said.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FtpReply<'a> {
    /// It sent the file.
    File(Body<'a>),
    /// It refused with this code, to whichever command.
    Refused(u16),
}

/// The parts of a response that matter to robots.txt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RobotsResponse<'a> {
    /// Status code.
    pub status: u16,
    /// The Location header.
    pub location: Option<&'a str>,
    /// All Cache-Control header lines, joined by commas.
    pub cache_control: &'a str,
    /// All Age header lines, joined by commas.
    pub age: Option<&'a str>,
    /// Retry-After, already reduced to a wait.
    pub retry_after: Option<Duration>,
    /// The content, decoded.
    pub body: Body<'a>,
}

/// Content of a response, decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Body<'a> {
    /// All of it, or as much as the reader's own limit let in.
    Read(&'a [u8]),
    /// The peer stopped in the middle: timeout, short length, broken chunk.
    Broken(&'a [u8]),
}

/// What to do next on the errand.
#[derive(Debug)]
pub enum Step {
    /// Make this request and come back with the reply.
    Fetch(RobotsErrand, Grounds),
    /// The errand is done.
    Done(RobotsOutcome),
}

impl RobotsErrand {
    /// Sets out for an origin's robots.txt.
    pub fn start(origin: &Origin, now: Timestamp) -> (Self, Grounds) {
        Self::ask(vec![origin.robots_url()], now)
    }

    /// Takes what the last request brought.
    pub fn reply(self, reply: RobotsReply<'_>, policy: &Policy, now: Timestamp) -> Step {
        let numbers = &policy.robots;
        let response = match reply {
            RobotsReply::Failed(cause) => return unreachable(cause),
            RobotsReply::Unheard => return self.ask_again(now),
            RobotsReply::Ftp(reply) => return of_ftp(reply, numbers),
            RobotsReply::Response(response) => response,
        };
        if StatusEffect::of(response.status) == StatusEffect::Redirect {
            return self.follow(&response, numbers, now);
        }
        match response.status {
            204 | 205 => Step::Done(file(&[], &response, numbers)),
            206 => unreachable("status 206: only a part".into()),
            200..=299 => received(&response, numbers),
            429 | 500..=599 => {
                let trouble = match response.status {
                    503 => Trouble::Passing,
                    _ => Trouble::Other,
                };
                Step::Done(RobotsOutcome::Unreachable {
                    cause: format!("status {}", response.status),
                    trouble,
                    retry_after: response.retry_after,
                })
            }
            400..=499 => no_file(format!("status {}", response.status), &response, numbers),
            status => unreachable(format!("status {status}: no answer to a request")),
        }
    }

    fn ask_again(self, now: Timestamp) -> Step {
        if self.unheard {
            return unreachable("the server closed the connection twice".into());
        }
        let (errand, grounds) = Self::ask(self.chain, now);
        Step::Fetch(Self { unheard: true, ..errand }, grounds)
    }

    /// Hops are followed whatever rules their hosts have: no rules are fetched yet (AM-2).
    fn follow(
        mut self,
        response: &RobotsResponse<'_>,
        numbers: &RobotsNumbers,
        now: Timestamp,
    ) -> Step {
        let from = self.chain.last();
        // An empty one would lead to where it stands, and so to no file: it is a bad one (AM-4).
        let location = response.location.filter(|to| !to.trim().is_empty());
        let target = from.zip(location).and_then(|(from, to)| from.join(to).ok());
        let Some(mut target) = target else {
            return unreachable("a redirect without a usable Location".into());
        };
        // AM-4: a redirect leads nowhere but to http and https.
        match Origin::of(&target).map(|origin| origin.scheme()) {
            Ok(Scheme::Http | Scheme::Https) => {}
            Ok(Scheme::Ftp) | Err(_) => {
                return unreachable(format!("a redirect to {}", shown(&target)));
            }
        }
        target.set_fragment(None);
        if self.chain.contains(&target) {
            return no_file("a redirect loop".into(), response, numbers);
        }
        if self.chain.len() > usize::from(numbers.redirect_hops) {
            return no_file("too many redirects".into(), response, numbers);
        }
        self.chain.push(target);
        let (errand, grounds) = Self::ask(self.chain, now);
        Step::Fetch(errand, grounds)
    }

    fn ask(chain: Vec<Url>, now: Timestamp) -> (Self, Grounds) {
        let url = chain[chain.len() - 1].clone();
        (Self { chain, unheard: false }, Grounds::new(url, GroundsReason::RobotsFile, None, now))
    }
}

/// A URL short enough for a message.
fn shown(url: &Url) -> String {
    url.as_str().chars().take(100).collect()
}

fn received(response: &RobotsResponse<'_>, numbers: &RobotsNumbers) -> Step {
    match enough_of(response.body, numbers) {
        Some(body) => Step::Done(file(body, response, numbers)),
        None => unreachable("the answer broke off".into()),
    }
}

/// What can be used of a body: all, or as much as the limit lets in (AM-16).
fn enough_of<'a>(body: Body<'a>, numbers: &RobotsNumbers) -> Option<&'a [u8]> {
    match body {
        Body::Read(body) => Some(body),
        Body::Broken(body) => (body.len() >= numbers.max_bytes).then_some(body),
    }
}

/// AM-20: 550 is as a 404; any other refusal, such as to log in, may be passing.
fn of_ftp(reply: FtpReply<'_>, numbers: &RobotsNumbers) -> Step {
    let fresh_for = numbers.fresh;
    match reply {
        FtpReply::File(body) => match enough_of(body, numbers) {
            Some(body) => {
                let body = super::cut(body, numbers.max_bytes).to_owned();
                Step::Done(RobotsOutcome::File { body, cause: "sent over FTP".into(), fresh_for })
            }
            None => unreachable("the transfer broke off".into()),
        },
        FtpReply::Refused(550) => {
            Step::Done(RobotsOutcome::NoFile { cause: "FTP code 550".into(), fresh_for })
        }
        FtpReply::Refused(code) => unreachable(format!("FTP code {code}")),
    }
}

fn file(body: &[u8], response: &RobotsResponse<'_>, numbers: &RobotsNumbers) -> RobotsOutcome {
    RobotsOutcome::File {
        body: super::cut(body, numbers.max_bytes).to_owned(),
        cause: format!("status {}", response.status),
        fresh_for: freshness(response, numbers),
    }
}

fn no_file(cause: String, response: &RobotsResponse<'_>, numbers: &RobotsNumbers) -> Step {
    Step::Done(RobotsOutcome::NoFile { cause, fresh_for: freshness(response, numbers) })
}

fn unreachable(cause: String) -> Step {
    Step::Done(RobotsOutcome::Unreachable { cause, trouble: Trouble::Other, retry_after: None })
}

/// How long a copy counts as fresh (RT-030, AM-12): max-age less Age, within bounds; `no-store`
/// and `no-cache` ask for the shortest time; without a word of it a day.
fn freshness(response: &RobotsResponse<'_>, numbers: &RobotsNumbers) -> Duration {
    let mut max_age = None;
    for directive in quoted::split(response.cache_control, ',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let name = name.trim();
        if name.eq_ignore_ascii_case("no-store") || name.eq_ignore_ascii_case("no-cache") {
            return numbers.fresh_min;
        }
        if name.eq_ignore_ascii_case("max-age") {
            // The smallest of several; a value that is no number is as none.
            let secs = seconds(value.trim().trim_matches('"'));
            max_age =
                secs.map(|secs| max_age.map_or(secs, |known: u64| known.min(secs))).or(max_age);
        }
    }
    let Some(max_age) = max_age else {
        return numbers.fresh;
    };
    // The oldest of several is taken: the file is then read again sooner.
    let ages = response.age.unwrap_or_default().split(',');
    let age = ages.filter_map(|age| seconds(age.trim())).max().unwrap_or(0);
    Duration::from_secs(max_age.saturating_sub(age)).clamp(numbers.fresh_min, numbers.fresh_max)
}

/// Delta-seconds (RFC 9111 §1.2.2), saturating.
fn seconds(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_796_000_000);

    fn response(status: u16) -> RobotsResponse<'static> {
        RobotsResponse {
            status,
            location: None,
            cache_control: "",
            age: None,
            retry_after: None,
            body: Body::Read(b"user-agent: *\ndisallow: /x\n"),
        }
    }

    fn errand() -> RobotsErrand {
        let origin = Origin::of(&Url::parse("https://example.com/").unwrap()).unwrap();
        RobotsErrand::start(&origin, NOW).0
    }

    fn outcome(reply: RobotsResponse<'_>) -> &'static str {
        outcome_of(RobotsReply::Response(reply))
    }

    fn outcome_of(reply: RobotsReply<'_>) -> &'static str {
        match errand().reply(reply, &Policy::default(), NOW) {
            Step::Fetch(..) => "follow",
            Step::Done(RobotsOutcome::File { .. }) => "file",
            Step::Done(RobotsOutcome::NoFile { .. }) => "no file",
            Step::Done(RobotsOutcome::Unreachable { .. }) => "unreachable",
        }
    }

    /// RT-020 to RT-028, AM-4, AM-5, AM-13, AM-22: one line, one case.
    #[test]
    fn statuses() {
        let cases: &[(&str, &[u16])] = &[
            ("file", &[200, 201, 202, 203, 204, 205, 226, 299]),
            ("no file", &[400, 401, 403, 404, 410, 418, 451, 499]),
            ("unreachable", &[429, 500, 502, 503, 504, 599]),
            ("unreachable", &[206, 300, 304, 305, 306, 399, 0, 100, 199, 600, 999]),
            ("unreachable", &[301, 302, 303, 307, 308]),
        ];
        for (expect, statuses) in cases {
            for status in *statuses {
                assert_eq!(outcome(response(*status)), *expect, "{status}");
            }
        }
    }

    /// Answers what a chain of Locations leads to, the last answer being a file.
    fn chain(locations: &[&str]) -> &'static str {
        let mut errand = errand();
        for location in locations {
            let reply = RobotsResponse { location: Some(location), ..response(301) };
            match errand.reply(RobotsReply::Response(reply), &Policy::default(), NOW) {
                Step::Fetch(next, grounds) => {
                    assert_eq!(Some(grounds.url()), next.chain.last());
                    errand = next;
                }
                Step::Done(RobotsOutcome::NoFile { .. }) => return "no file",
                Step::Done(RobotsOutcome::Unreachable { .. }) => return "unreachable",
                Step::Done(RobotsOutcome::File { .. }) => return "file at once",
            }
        }
        match errand.reply(RobotsReply::Response(response(200)), &Policy::default(), NOW) {
            Step::Done(RobotsOutcome::File { .. }) => "file",
            Step::Fetch(..) | Step::Done(_) => "other",
        }
    }

    /// RT-021, RT-022, AM-1 to AM-4.
    #[test]
    fn redirects() {
        assert_eq!(chain(&["/1", "/2", "/3", "/4", "/5"]), "file");
        assert_eq!(chain(&["/1", "/2", "/3", "/4", "/5", "/6"]), "no file");
        assert_eq!(chain(&["http://other.example/r", "https://third.example/robots.txt"]), "file");
        assert_eq!(chain(&["/1", "/robots.txt"]), "no file");
        assert_eq!(chain(&["/robots.txt#again"]), "no file");
        assert_eq!(chain(&["ftp://example.com/robots.txt"]), "unreachable");
        assert_eq!(chain(&["http://"]), "unreachable");
        assert_eq!(chain(&[""]), "unreachable");
        assert_eq!(chain(&[" \t "]), "unreachable");
        assert_eq!(chain(&["/1", ""]), "unreachable");
        assert_eq!(chain(&["#"]), "no file");
    }

    /// The same request once more, and no third time.
    #[test]
    fn a_request_that_was_not_heard_is_repeated_once() {
        let policy = Policy::default();
        let Step::Fetch(again, grounds) = errand().reply(RobotsReply::Unheard, &policy, NOW) else {
            panic!("given up at once");
        };
        assert_eq!(grounds.url().path(), "/robots.txt");
        let ended = again.reply(RobotsReply::Unheard, &policy, NOW);
        assert!(matches!(ended, Step::Done(RobotsOutcome::Unreachable { .. })));
    }

    /// AM-16.
    #[test]
    fn broken_bodies() {
        let long = vec![b'#'; 512_000];
        let case = |body| outcome(RobotsResponse { body, ..response(200) });
        assert_eq!(case(Body::Broken(b"user-agent: *\n")), "unreachable");
        assert_eq!(case(Body::Broken(&long)), "file");
        assert_eq!(case(Body::Broken(&long[1..])), "unreachable");
    }

    /// RT-004, AM-20: one line, one case.
    #[test]
    fn ftp() {
        let long = vec![b'#'; 512_000];
        let mut cases = vec![
            (RobotsReply::Ftp(FtpReply::File(Body::Read(b"user-agent: *\n"))), "file"),
            (RobotsReply::Ftp(FtpReply::File(Body::Read(b""))), "file"),
            (RobotsReply::Ftp(FtpReply::File(Body::Broken(b"user-agent: *\n"))), "unreachable"),
            (RobotsReply::Ftp(FtpReply::File(Body::Broken(&long))), "file"),
            (RobotsReply::Ftp(FtpReply::Refused(550)), "no file"),
            (RobotsReply::Failed("connection refused".into()), "unreachable"),
        ];
        let passing = (400..500).chain([0, 120, 226, 331, 500, 502, 530, 551, 553, 999]);
        cases
            .extend(passing.map(|code| (RobotsReply::Ftp(FtpReply::Refused(code)), "unreachable")));
        for (reply, expect) in cases {
            assert_eq!(outcome_of(reply.clone()), expect, "{reply:?}");
        }
    }

    /// AM-12: one line, one case.
    #[test]
    fn freshness_follows_max_age() {
        let cases = [
            ("", None, 86_400),
            ("public", None, 86_400),
            ("max-age=3600", None, 3600),
            ("public, MAX-AGE=\"7200\"", None, 7200),
            ("max-age=3600", Some("600"), 3000),
            ("max-age=3600", Some("nonsense"), 3600),
            ("max-age=1", None, 300),
            ("max-age=0", None, 300),
            ("max-age=600", Some("601"), 300),
            ("max-age=99999999999999999999", None, 86_400),
            ("no-cache", None, 300),
            ("max-age=3600, no-store", None, 300),
            ("max-age=abc", None, 86_400),
            ("max-age=-5", None, 86_400),
            ("s-maxage=60", None, 86_400),
            ("max-age=7200, max-age=600", None, 600),
            ("foo=\"a, max-age=10\"", None, 86_400),
            ("foo=\"a\\\", no-store\", max-age=600", None, 600),
            ("private=\"set-cookie, x\", max-age=600", None, 600),
            ("max-age=3600", Some("600, 1200"), 2400),
            ("max-age=3600", Some("1200,600"), 2400),
            ("max-age=3600", Some("x, 600"), 3000),
        ];
        for (cache_control, age, expect) in cases {
            let reply = RobotsResponse { cache_control, age, ..response(200) };
            let fresh = freshness(&reply, &RobotsNumbers::DOCUMENTED);
            assert_eq!(fresh.as_secs(), expect, "{cache_control} {age:?}");
        }
    }
}
