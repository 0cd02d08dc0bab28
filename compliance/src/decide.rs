//! The one entry: all facts about one URL to one verdict.

use alloc::borrow::ToOwned as _;
use alloc::format;
use url::Url;

use crate::pace::SitePace;
use crate::robots::{
    Access, Basis, GroupUsed, MatchedRule, RobotsErrand, RobotsRecord, RobotsTxt, RobotsVerdict,
    RuleKind, Standing, is_robots_txt,
};
use crate::{
    Grounds, GroundsReason, Identity, Origin, Policy, Refusal, RefusalReason, RobotsEvidence,
    Scope, Timestamp, Verdict, WaitCause,
};

/// Everything that a verdict depends on, the time apart.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The operator's choices.
    pub policy: &'a Policy,
    /// Who crawls.
    pub identity: &'a Identity,
    /// How far the crawl goes.
    pub scope: &'a Scope,
    /// What is known of the robots.txt of the URL's origin.
    pub robots: &'a RobotsRecord,
    /// What the URL's site feels of us.
    pub pace: &'a SitePace,
}

/// Decides what may be done with `url` at `now`.
///
/// The rules are asked in this order: scheme, scope, robots.txt, politeness. So a refusal never
/// waits, and a wait is only for what may then be fetched.
///
/// The origin's own `/robots.txt` is always allowed (RT-016, AM-18): while robots.txt cannot be read
/// and the site is left alone, it is the one page that may be asked for. Politeness still counts.
pub fn decide(url: &Url, facts: Facts<'_>, now: Timestamp) -> Verdict {
    let Ok(origin) = Origin::of(url) else {
        return refuse(RefusalReason::UnsupportedScheme, None);
    };
    if !facts.policy.protocols.include(origin.scheme()) {
        return refuse(RefusalReason::UnsupportedScheme, None);
    }
    if !facts.scope.contains(url) {
        return refuse(RefusalReason::OutOfScope, None);
    }
    let availability = facts.pace.availability(facts.policy, now);
    match facts.robots.standing(facts.policy, availability, now) {
        Standing::Stop { .. } | Standing::Probe | Standing::NoRules(_) | Standing::Rules(..)
            if is_robots_txt(url) =>
        {
            let reason = GroundsReason::RobotsFile;
            facts.pace_first(now, || Verdict::Fetch(Grounds::new(bare(url), reason, None, now)))
        }
        Standing::Stop { until } => Verdict::Wait { until, cause: WaitCause::RobotsUnreachable },
        Standing::Probe => facts.probe(url, &origin, now),
        Standing::Fetch => facts.pace_first(now, || {
            let (errand, grounds) = RobotsErrand::start(&origin, now);
            Verdict::FetchRobots(errand, grounds)
        }),
        Standing::NoRules(basis) => facts.pace_first(now, || {
            Verdict::Fetch(Grounds::new(bare(url), basis.without_rule(), None, now))
        }),
        Standing::Rules(rules, basis) => facts.by_rules(url, rules, basis, now),
    }
}

impl Facts<'_> {
    fn by_rules(self, url: &Url, rules: &RobotsTxt, basis: Basis, now: Timestamp) -> Verdict {
        let answer = rules.verdict(self.policy.preset, self.identity.tokens(), url);
        let evidence = evidence(&answer);
        if answer.access == Access::Disallow {
            return refuse(RefusalReason::RobotsDisallow, evidence);
        }
        let reason = match (basis, &evidence) {
            (Basis::Fresh, Some(_)) => GroundsReason::RobotsAllow,
            (Basis::Fresh, None) => GroundsReason::RobotsNoRule,
            (Basis::LastGood | Basis::LongGone, _) => basis.without_rule(),
        };
        self.pace_first(now, || Verdict::Fetch(Grounds::new(bare(url), reason, evidence, now)))
    }

    /// Asks for the front page, or for `url` where that one is out of scope or the last copy
    /// forbids it (AM-10). If both are forbidden, another URL may do.
    fn probe(self, url: &Url, origin: &Origin, now: Timestamp) -> Verdict {
        let may_be_asked = |page: &&Url| {
            let (preset, tokens) = (self.policy.preset, self.identity.tokens());
            let allows =
                |rules: &RobotsTxt| rules.verdict(preset, tokens, page).access == Access::Allow;
            self.scope.contains(page) && self.robots.rules().is_none_or(allows)
        };
        let front_page = origin.front_page();
        let Some(page) = [&front_page, url].into_iter().find(may_be_asked) else {
            let retry_at = self.robots.next_refresh().filter(|at| *at > now);
            let until = retry_at.unwrap_or(now.after(self.policy.robots.retry_late));
            return Verdict::Wait { until, cause: WaitCause::RobotsUnreachable };
        };
        self.pace_first(now, || {
            let reason = GroundsReason::AvailabilityProbe;
            Verdict::Probe(Grounds::new(bare(page), reason, None, now))
        })
    }

    /// `then`, unless the site must be left alone for a while first.
    fn pace_first(self, now: Timestamp, then: impl FnOnce() -> Verdict) -> Verdict {
        match self.pace.ready_at(self.policy) {
            Some(hold) if hold.until > now => {
                Verdict::Wait { until: hold.until, cause: hold.cause }
            }
            Some(_) | None => then(),
        }
    }
}

fn refuse(reason: RefusalReason, evidence: Option<RobotsEvidence>) -> Verdict {
    Verdict::Refuse(Refusal { reason, evidence })
}

/// What is asked for: a fragment is never sent.
fn bare(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    url
}

fn evidence(answer: &RobotsVerdict) -> Option<RobotsEvidence> {
    let MatchedRule { line, kind, pattern } = answer.rule.as_ref()?;
    let kind = match kind {
        RuleKind::Allow => "allow",
        RuleKind::Disallow => "disallow",
    };
    let group = match &answer.group {
        GroupUsed::Own(token) | GroupUsed::Fallback(token) => token.as_str(),
        GroupUsed::Star | GroupUsed::None => "*",
    };
    Some(RobotsEvidence {
        line: *line,
        rule: format!("{kind}: {pattern}"),
        group: group.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::{RobotsOutcome, Trouble};
    use crate::{Answer, CrawlerClass, Ended, Health, Preset, ProductToken, Protocols, ScopeKind};
    use alloc::string::String;
    use core::time::Duration;

    const NOW: Timestamp = Timestamp::from_secs(1_796_000_000);

    /// One line of the table: what robots.txt brought, how the site answered a second ago, the
    /// URL, and the word and code of the verdict.
    #[track_caller]
    fn check(robots: &str, last: Option<Answer>, url: &str, expect: (&str, &str)) {
        let policy = Policy::default();
        let identity = Identity::new(ProductToken::new("comitybot").unwrap());
        let seed = Url::parse("https://example.com/").unwrap();
        let scope = Scope::new(ScopeKind::Host, core::slice::from_ref(&seed));
        let fresh_for = Duration::from_secs(3600);
        let outcome = match robots {
            "unknown" => None,
            "404" => Some(RobotsOutcome::NoFile { cause: "status 404".into(), fresh_for }),
            "503" => {
                let trouble = Trouble::Passing;
                let cause = "status 503".into();
                Some(RobotsOutcome::Unreachable { cause, trouble, retry_after: None })
            }
            text => Some(RobotsOutcome::File { body: text.into(), cause: "".into(), fresh_for }),
        };
        let record = RobotsRecord::default();
        let record = match outcome {
            Some(outcome) => record.after(outcome, &policy, NOW),
            None => record,
        };
        let health = Health { rate_permille: Some(1000), ..Health::default() };
        let mut pace = SitePace { health, ..SitePace::default() };
        let rules = record.rules();
        pace.heard_crawl_delay(rules.and_then(|rules| rules.crawl_delay(identity.tokens())), None);
        if let Some(answer) = last {
            let at = Timestamp::from_secs(NOW.as_secs() - 1);
            let reason = GroundsReason::RobotsNoRule;
            pace.request_ended(Ended { reason, answer, first_byte: None, at }, &policy);
        }
        let facts = Facts {
            policy: &policy,
            identity: &identity,
            scope: &scope,
            robots: &record,
            pace: &pace,
        };
        let url = Url::parse(url).unwrap();
        let got = match decide(&url, facts, NOW) {
            Verdict::Fetch(grounds) => {
                assert_eq!(grounds.url().fragment(), None);
                ("fetch", grounds.reason().code())
            }
            Verdict::FetchRobots(_, grounds) => {
                assert_eq!(grounds.url().as_str(), "https://example.com/robots.txt");
                ("robots", grounds.reason().code())
            }
            Verdict::Probe(grounds) => ("probe", grounds.reason().code()),
            Verdict::Wait { until, cause } => {
                assert!(until > NOW);
                ("wait", cause.code())
            }
            Verdict::Refuse(refusal) => ("refuse", refusal.reason.code()),
        };
        assert_eq!(got, expect, "{robots} {last:?} {url}");
    }

    const RULES: &str = "user-agent: comitybot\ndisallow: /private\nallow: /private/press\n";

    /// The order of the rules: scheme, scope, robots.txt, politeness.
    #[test]
    fn verdicts() {
        let asked = Some(Answer::Served);
        check(RULES, None, "https://example.com/a#part", ("fetch", "robots-no-rule"));
        check(RULES, None, "https://example.com/private/press/1", ("fetch", "robots-allow"));
        check(RULES, None, "https://example.com/private/1", ("refuse", "robots-disallow"));
        check(RULES, asked, "https://example.com/private/1", ("refuse", "robots-disallow"));
        check(RULES, asked, "https://example.com/a", ("wait", "interval"));
        check("404", None, "https://example.com/a", ("fetch", "robots-no-file"));
        check("unknown", None, "https://example.com/a", ("robots", "robots-file"));
        check("unknown", asked, "https://example.com/a", ("wait", "interval"));
        check("503", None, "https://example.com/a", ("wait", "robots-unreachable"));
        check("unknown", None, "https://other.example/a", ("refuse", "out-of-scope"));
        check("unknown", asked, "ftp://example.com/a", ("refuse", "unsupported-scheme"));
        check("unknown", None, "mailto:me@example.com", ("refuse", "unsupported-scheme"));
        let slow = "user-agent: *\ncrawl-delay: 10\n";
        check(slow, asked, "https://example.com/a", ("wait", "crawl-delay"));
        let later = Answer::Overloaded { retry_after: Some(Duration::from_secs(60)) };
        check(RULES, Some(later), "https://example.com/a", ("wait", "retry-after"));
    }

    /// RT-016, AM-18: one line, one case.
    #[test]
    fn the_robots_txt_itself_is_always_allowed() {
        let own = "https://example.com/robots.txt";
        let asked = Some(Answer::Served);
        let shut = "user-agent: *\ndisallow: /\n";
        check(shut, None, own, ("fetch", "robots-file"));
        check(RULES, None, "https://example.com/robots.txt#x", ("fetch", "robots-file"));
        check("404", None, own, ("fetch", "robots-file"));
        check("503", None, own, ("fetch", "robots-file"));
        check("unknown", None, own, ("robots", "robots-file"));
        check(shut, asked, own, ("wait", "interval"));
        check("503", asked, own, ("wait", "interval"));
        check(shut, None, "https://example.com/robots.txt?x", ("refuse", "robots-disallow"));
        check("503", None, "https://example.com/robots.txt?x", ("wait", "robots-unreachable"));
        check(shut, None, "https://example.com/a/robots.txt", ("refuse", "robots-disallow"));
        check(shut, None, "https://example.com/Robots.txt", ("refuse", "robots-disallow"));
        check(shut, None, "https://other.example/robots.txt", ("refuse", "out-of-scope"));
    }

    /// What is asked of a site whose robots.txt has failed for 31 days. `last_copy` is the last
    /// good copy, `answer` that of the probe; the verdict after it, if one is made.
    fn after_30_days(
        last_copy: &str,
        scope: (ScopeKind, &str),
        url: &str,
        answer: Answer,
    ) -> (String, &'static str) {
        let policy = Policy::new(Preset::Google);
        let day = |day: i64| Timestamp::from_secs(NOW.as_secs() + day * 86_400);
        let fresh_for = Duration::from_secs(60);
        let file = RobotsOutcome::File { body: last_copy.into(), cause: "".into(), fresh_for };
        let down = || RobotsOutcome::Unreachable {
            cause: "status 500".into(),
            trouble: Trouble::Other,
            retry_after: None,
        };
        let robots = RobotsRecord::default().after(file, &policy, day(-40));
        let robots = robots.after(down(), &policy, day(-31)).after(down(), &policy, NOW);
        let identity = Identity::new(ProductToken::new("comitybot").unwrap());
        let scope = Scope::new(scope.0, &[Url::parse(scope.1).unwrap()]);
        let (mut pace, url) = (SitePace::default(), Url::parse(url).unwrap());
        let unasked = pace.clone();
        let facts = Facts {
            policy: &policy,
            identity: &identity,
            scope: &scope,
            robots: &robots,
            pace: &unasked,
        };
        let probe = match decide(&url, facts, NOW) {
            Verdict::Probe(grounds) => grounds,
            Verdict::Wait { cause, .. } => return (String::new(), cause.code()),
            other @ (Verdict::Fetch(_) | Verdict::FetchRobots(..) | Verdict::Refuse(_)) => {
                panic!("{other:?}")
            }
        };
        let reason = probe.reason();
        pace.request_ended(Ended { reason, answer, first_byte: None, at: NOW }, &policy);
        let later = NOW.after(Duration::from_secs(3600));
        let then = match decide(&url, Facts { pace: &pace, ..facts }, later) {
            Verdict::Fetch(grounds) => grounds.reason().code(),
            Verdict::Wait { until, cause } => {
                assert_eq!(until, day(1), "the next retry and the next probe");
                cause.code()
            }
            other @ (Verdict::FetchRobots(..) | Verdict::Probe(_) | Verdict::Refuse(_)) => {
                panic!("{other:?}")
            }
        };
        (probe.url().as_str().into(), then)
    }

    /// RT-027, AM-10: one line, one case.
    #[test]
    fn general_availability_is_probed() {
        let host = (ScopeKind::Host, "https://example.com/");
        let prefix = (ScopeKind::Prefix, "https://example.com/a/");
        let (free, blocked) = ("user-agent: *\ndisallow: /x\n", "user-agent: *\ndisallow: /$\n");
        let (page, shut) = ("https://example.com/a/1", "user-agent: *\ndisallow: /\n");
        let root = "https://example.com/";
        let (up, down) = (Answer::of(404, None), Answer::of(500, None));
        let cases = [
            (free, host, page, up, (root, "robots-long-gone")),
            (free, host, page, down, (root, "robots-unreachable")),
            (free, host, page, Answer::of(429, None), (root, "robots-unreachable")),
            (free, host, page, Answer::Unanswered, (root, "robots-unreachable")),
            (free, host, "https://example.com/x", up, (root, "robots-long-gone")),
            (blocked, host, page, up, (page, "robots-long-gone")),
            (free, prefix, page, up, (page, "robots-long-gone")),
            (shut, host, page, up, ("", "robots-unreachable")),
        ];
        for (last_copy, scope, url, answer, (probe, then)) in cases {
            let got = after_30_days(last_copy, scope, url, answer);
            assert_eq!(got, (probe.into(), then), "{last_copy} {url} {answer:?}");
        }
    }

    /// AM-35: whatever class a crawl is of, it obeys the groups for everyone.
    #[test]
    fn every_crawl_obeys_the_groups_for_everyone() {
        let policy = Policy::default();
        let url = Url::parse("https://example.com/").unwrap();
        let scope = Scope::new(ScopeKind::Any, &[]);
        let fresh_for = Duration::from_secs(60);
        let body = b"user-agent: *\ndisallow: /\n".to_vec();
        let file = RobotsOutcome::File { body, cause: String::new(), fresh_for };
        let robots = RobotsRecord::default().after(file, &policy, NOW);
        for class in [
            CrawlerClass::Search,
            CrawlerClass::SpecialCase,
            CrawlerClass::UserTriggered,
            CrawlerClass::Safety,
        ] {
            let token = ProductToken::new("comitybot").unwrap();
            let identity = Identity::new(token).with_class(class);
            let (policy, scope, robots) = (&policy, &scope, &robots);
            let pace = &SitePace::default();
            let facts = Facts { policy, identity: &identity, scope, robots, pace };
            assert!(matches!(decide(&url, facts, NOW), Verdict::Refuse(_)), "{class:?}");
        }
    }

    /// RT-004, RT-011, AM-20: ftp is refused unless the transport can ask it.
    #[test]
    fn ftp_is_asked_on_request() {
        let mut policy = Policy::default();
        let identity = Identity::new(ProductToken::new("comitybot").unwrap());
        let url = Url::parse("ftp://example.com/a").unwrap();
        let scope = Scope::new(ScopeKind::Host, core::slice::from_ref(&url));
        let (robots, pace) = (RobotsRecord::default(), SitePace::default());
        for protocols in [Protocols::Web, Protocols::WebAndFtp] {
            policy.protocols = protocols;
            let (policy, identity, scope) = (&policy, &identity, &scope);
            let facts = Facts { policy, identity, scope, robots: &robots, pace: &pace };
            match (protocols, decide(&url, facts, NOW)) {
                (Protocols::Web, Verdict::Refuse(refusal)) => {
                    assert_eq!(refusal.reason, RefusalReason::UnsupportedScheme);
                }
                (Protocols::WebAndFtp, Verdict::FetchRobots(_, grounds)) => {
                    assert_eq!(grounds.url().as_str(), "ftp://example.com/robots.txt");
                }
                (_, verdict) => panic!("{protocols:?} {verdict:?}"),
            }
        }
    }
}
