//! The answers of `decide`: values that carry their evidence.

use alloc::string::String;
use core::fmt;

use url::Url;

use crate::Timestamp;
use crate::robots::RobotsErrand;

/// What the crawler may do with one URL at one moment.
///
/// There is no default and no `bool`: a URL is fetched only on [`Verdict::Fetch`],
/// [`Verdict::FetchRobots`] or [`Verdict::Probe`], and only this crate can make their [`Grounds`].
#[must_use]
#[derive(Debug)]
pub enum Verdict {
    /// Fetch it now.
    Fetch(Grounds),
    /// Fetch this origin's robots.txt first, on this errand, then ask again.
    FetchRobots(RobotsErrand, Grounds),
    /// Fetch this URL first, for no more than whether it is answered, then ask again: whether the
    /// site is generally available is not known (RT-027, AM-10). What came of it goes into the
    /// site's pace, as with every request.
    Probe(Grounds),
    /// Do not fetch it yet; ask again at `until`.
    Wait {
        /// When to ask again; always later than the `now` of the question.
        until: Timestamp,
        /// What it waits for.
        cause: WaitCause,
    },
    /// Do not fetch it while the facts stay as they are.
    Refuse(Refusal),
}

/// The right to make one request: the URL that was judged, and why it may be fetched.
///
/// Not `Clone`, and a transport takes it by value: one verdict, one request. Each hop of a
/// redirect is another URL and needs grounds of its own.
#[derive(Debug, Eq, PartialEq)]
pub struct Grounds {
    url: Url,
    reason: GroundsReason,
    evidence: Option<RobotsEvidence>,
    decided_at: Timestamp,
}

impl Grounds {
    /// Only the judges of this crate make grounds.
    pub(crate) fn new(
        url: Url,
        reason: GroundsReason,
        evidence: Option<RobotsEvidence>,
        decided_at: Timestamp,
    ) -> Self {
        Self { url, reason, evidence, decided_at }
    }

    /// The URL that may be requested, once, without its fragment.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Why it may be fetched.
    pub fn reason(&self) -> GroundsReason {
        self.reason
    }

    /// The robots.txt line that allowed it, where one did.
    pub fn evidence(&self) -> Option<&RobotsEvidence> {
        self.evidence.as_ref()
    }

    /// When it was decided.
    pub fn decided_at(&self) -> Timestamp {
        self.decided_at
    }
}

/// The robots.txt line behind a verdict.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RobotsEvidence {
    /// Line number, from 1.
    pub line: u32,
    /// The rule as it was understood, such as `disallow: /private`.
    pub rule: String,
    /// The group that it stands in: a product token, or `*`.
    pub group: String,
}

impl fmt::Display for RobotsEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "robots.txt line {}, group {}: {}", self.line, self.group, self.rule)
    }
}

/// Names, clauses and advice of a list of reasons: one row a reason, so that none is forgotten.
///
/// For the tables of this workspace; a crawler's own reasons have the same columns as these.
#[doc(hidden)]
#[macro_export]
macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($(#[doc = $meaning:literal])+ $variant:ident = $code:literal, $clause:literal, $advice:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum $name { $($(#[doc = $meaning])+ $variant),+ }

        impl $name {
            /// Every reason, so that a test can walk them all.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name used in logs, metrics and vectors; never changed.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }

            /// The requirement and the document it comes from.
            pub const fn clause(self) -> &'static str {
                match self { $(Self::$variant => $clause),+ }
            }

            /// What it means, as a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($meaning),+).trim_ascii()),+ }
            }

            /// What a site owner or an operator can do about it, as a sentence.
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice),+ }
            }

            /// The reason with this code, if there is one.
            pub fn from_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.code() == code)
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.code())
            }
        }
    };
}
pub(crate) use reasons;

reasons! {
    /// Why a URL may be fetched.
    GroundsReason {
        /// A rule of the robots.txt allows it.
        RobotsAllow = "robots-allow", "RT-083, RFC 9309 section 2.2.2",
            "The site owner allows this URL by a rule; nothing to do.";
        /// No rule of the robots.txt matches it.
        RobotsNoRule = "robots-no-rule", "RT-083, RFC 9309 section 2.2.2",
            "No rule of the site's robots.txt matches this URL; nothing to do.";
        /// The site has no robots.txt (an answer 4xx other than 429, or too many redirects).
        RobotsNoFile = "robots-no-file", "RT-023, RFC 9309 section 2.3.1.3",
            "The site has no robots.txt, so nothing is forbidden; a site owner who wants rules puts a file there.";
        /// robots.txt cannot be refreshed; the last good copy allows it.
        RobotsLastGood = "robots-last-good", "RT-026, AM-7",
            "The site's robots.txt fails for more than 12 hours, so the last good copy decides; the site owner can mend the error.";
        /// robots.txt has failed for long, and no copy forbids it.
        RobotsLongGone = "robots-long-gone", "RT-026, RT-027, AM-8, AM-10",
            "The site's robots.txt has failed for longer than the documents let it forbid; the site owner can mend the error.";
        /// It is a robots.txt: never forbidden.
        RobotsFile = "robots-file", "RT-016, RFC 9309 section 2.2.2, AM-18",
            "robots.txt itself may always be fetched; nothing to do.";
        /// Once a day, whether a site whose robots.txt has long failed works at all.
        AvailabilityProbe = "availability-probe", "RT-027, AM-10",
            "The site's robots.txt has failed for more than 30 days; one request a day finds out whether the site works without it. The site owner can mend the error.";
    }
}

reasons! {
    /// Why a URL is refused, in the order in which the rules are asked.
    RefusalReason {
        /// Of a protocol that the crawl cannot ask: other than http and https, unless the policy
        /// says otherwise.
        UnsupportedScheme = "unsupported-scheme", "RT-004",
            "Only http and https URLs are crawled.";
        /// Its address is not on the public internet.
        BlockedAddress = "blocked-address", "operator's guard",
            "The host has an address that is private, loopback, link-local or of another special range; the operator can permit the range (--allow-network).";
        /// Outside the crawl's scope.
        OutOfScope = "out-of-scope", "operator's scope",
            "The operator can widen the scope (--scope domain, --scope any) or add a seed; links are judged when their page is fetched.";
        /// A robots.txt rule forbids it.
        RobotsDisallow = "robots-disallow", "RT-048, RT-083, RFC 9309 section 2.2.2",
            "The site owner forbids this URL in robots.txt; only the site owner can change that.";
    }
}

reasons! {
    /// What a URL waits for.
    WaitCause {
        /// The interval between requests to one site.
        Interval = "interval", "RL-002",
            "The site was asked a moment ago; the operator's interval (politeness.interval) decides how long to wait.";
        /// The interval that robots.txt asks for.
        CrawlDelay = "crawl-delay", "AM-36",
            "The site's robots.txt asks for this crawl-delay.";
        /// The site is new: it is asked less often at first.
        SlowStart = "slow-start", "RL-001",
            "The site has answered only a few requests; the rate rises with each good answer up to the usual interval.";
        /// Some of the site's last answers were errors.
        Slowdown = "slowdown", "AM-66, HT-004, RL-003",
            "Some of the site's last answers were errors, so it is asked less often, the more of them the less; the rate rises again with good answers.";
        /// The site takes long to answer.
        Latency = "latency", "RL-001",
            "The site takes long to answer, so it is asked less often; a quicker server is asked at the usual interval.";
        /// A Retry-After header.
        RetryAfter = "retry-after", "HT-010, AM-65",
            "The site asked to be left alone until then (Retry-After).";
        /// Errors or overload of the site.
        Backoff = "backoff", "RL-003, HT-004, HT-005",
            "The site answered with errors or not at all; it is asked again later, each time later still.";
        /// robots.txt cannot be reached: the site is left alone.
        RobotsUnreachable = "robots-unreachable", "RT-025, RT-028, RFC 9309 section 2.3.1.4",
            "The site's robots.txt answers with a server error or not at all, which counts as a full stop; the site owner can serve it, or a 404 if there are no rules.";
    }
}

/// A refusal with its evidence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// The rule that refused.
    pub reason: RefusalReason,
    /// The robots.txt line that decided, where one did.
    pub evidence: Option<RobotsEvidence>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_complete() {
        let mut seen = alloc::collections::BTreeSet::new();
        let codes = (GroundsReason::ALL
            .iter()
            .map(|r| (r.code(), r.clause(), r.meaning(), r.advice())))
        .chain(RefusalReason::ALL.iter().map(|r| (r.code(), r.clause(), r.meaning(), r.advice())))
        .chain(WaitCause::ALL.iter().map(|r| (r.code(), r.clause(), r.meaning(), r.advice())));
        for (code, clause, meaning, advice) in codes {
            assert!(seen.insert(code), "{code} twice");
            assert!(!clause.is_empty() && advice.ends_with('.'), "{code}");
            assert!(meaning.ends_with('.') && meaning == meaning.trim(), "{code}");
        }
        for reason in RefusalReason::ALL {
            assert_eq!(RefusalReason::from_code(reason.code()), Some(*reason));
        }
    }
}
