//! The one entry: all facts about one URL to one verdict.

use alloc::borrow::ToOwned as _;
use alloc::format;
use core::time::Duration;

use url::Url;

use crate::pace::SitePace;
use crate::robots::{
    Access, Basis, GroupUsed, MatchedRule, RobotsErrand, RobotsRecord, RobotsTxt, RobotsVerdict,
    RuleKind, Standing,
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
pub fn decide(url: &Url, facts: Facts<'_>, now: Timestamp) -> Verdict {
    let Ok(origin) = Origin::of(url) else {
        return refuse(RefusalReason::UnsupportedScheme, None);
    };
    if !facts.scope.contains(url) {
        return refuse(RefusalReason::OutOfScope, None);
    }
    match facts.robots.standing(facts.policy, facts.pace.last_served, now) {
        Standing::Stop { until } => Verdict::Wait { until, cause: WaitCause::RobotsUnreachable },
        Standing::Fetch => {
            let known = facts.robots.rules();
            let crawl_delay = known.and_then(|rules| rules.crawl_delay(facts.identity.tokens()));
            facts.pace_first(crawl_delay, now, || {
                let (errand, grounds) = RobotsErrand::start(&origin, now);
                Verdict::FetchRobots(errand, grounds)
            })
        }
        Standing::NoRules(basis) => facts.pace_first(None, now, || {
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
        let crawl_delay = rules.crawl_delay(self.identity.tokens());
        self.pace_first(crawl_delay, now, || {
            Verdict::Fetch(Grounds::new(bare(url), reason, evidence, now))
        })
    }

    /// `then`, unless the site must be left alone for a while first.
    fn pace_first(
        self,
        crawl_delay: Option<Duration>,
        now: Timestamp,
        then: impl FnOnce() -> Verdict,
    ) -> Verdict {
        match self.pace.ready_at(self.policy, crawl_delay) {
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
