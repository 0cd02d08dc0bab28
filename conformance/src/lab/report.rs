//! What the judge found, for people and for programs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Violations of one kind that are listed for people; one fault repeated a
/// thousand times would hide the others.
const LISTED_PER_KIND: usize = 10;

/// The rules that a ledger can show to be broken.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// A URL was requested that must not be.
    Disallowed,
    /// Two requests of one site arrived closer together than asked.
    TooSoon,
    /// Two requests of one site were under way at once.
    Concurrent,
    /// A page was requested before its origin's robots.txt had been answered.
    BeforeRobots,
    /// A URL that must be requested was not.
    Missing,
    /// A URL was requested again although it had been answered.
    Repeated,
    /// The User-Agent header does not hold the crawler's product token.
    UnknownAgent,
    /// The Host header is not that of the site whose port was asked.
    WrongHost,
    /// The method is neither GET nor HEAD.
    WrongMethod,
}

impl ViolationKind {
    /// Every kind, so that a test can walk them all.
    pub const ALL: &[Self] = &[
        Self::Disallowed,
        Self::TooSoon,
        Self::Concurrent,
        Self::BeforeRobots,
        Self::Missing,
        Self::Repeated,
        Self::UnknownAgent,
        Self::WrongHost,
        Self::WrongMethod,
    ];

    /// The name used in reports; never changed.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Disallowed => "disallowed",
            Self::TooSoon => "too_soon",
            Self::Concurrent => "concurrent",
            Self::BeforeRobots => "before_robots",
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::UnknownAgent => "unknown_agent",
            Self::WrongHost => "wrong_host",
            Self::WrongMethod => "wrong_method",
        }
    }
}

/// One broken rule.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Violation {
    /// Which rule.
    pub kind: ViolationKind,
    /// The URL in question.
    pub url: String,
    /// The request that broke it; `None` for a request that was never made.
    pub seq: Option<u64>,
    /// What happened, for people.
    pub detail: String,
    /// The clause that was broken.
    pub clause: String,
}

/// One site's share of the ledger.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SiteTally {
    /// The site's name.
    pub site: String,
    /// Requests that reached it.
    pub requests: u64,
    /// The pause it was owed between two requests, in milliseconds.
    pub owed_gap_ms: u64,
    /// The shortest pause between two arrivals, in milliseconds rounded down;
    /// `None` below two requests.
    pub smallest_gap_ms: Option<u64>,
    /// The most requests under way at once.
    pub most_at_once: u32,
}

/// The judge's findings on one ledger.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Report {
    /// Requests in the ledger.
    pub requests: u64,
    /// URLs that had to be requested.
    pub required: u64,
    /// How many of them were.
    pub required_fetched: u64,
    /// One line per site.
    pub sites: Vec<SiteTally>,
    /// Every broken rule, in the order of [`ViolationKind`], then of arrival.
    pub violations: Vec<Violation>,
    /// Requested URLs of which the lab expects nothing: no fault by
    /// themselves, but no page links to them.
    pub unlisted: Vec<String>,
}

impl Report {
    /// Whether no rule was broken.
    #[must_use]
    pub fn kept(&self) -> bool {
        self.violations.is_empty()
    }

    fn list(&self, kind: ViolationKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut violations = self
            .violations
            .iter()
            .filter(|violation| violation.kind == kind);
        for violation in violations.by_ref().take(LISTED_PER_KIND) {
            writeln!(f, "{violation}")?;
        }
        match violations.count() {
            0 => Ok(()),
            more => writeln!(
                f,
                "{:<14} and {more} more; the JSON report has all",
                kind.code()
            ),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<12} {:>8}  {:>9}  {:>12}  {:>7}",
            "site", "requests", "owed gap", "smallest gap", "at once"
        )?;
        for site in &self.sites {
            let gap = site
                .smallest_gap_ms
                .map_or_else(|| "-".to_owned(), |gap| format!("{gap} ms"));
            let owed = format!("{} ms", site.owed_gap_ms);
            writeln!(
                f,
                "{:<12} {:>8}  {owed:>9}  {gap:>12}  {:>7}",
                site.site, site.requests, site.most_at_once
            )?;
        }
        for url in &self.unlisted {
            writeln!(f, "note: {url} was requested, though no page links to it")?;
        }
        for kind in ViolationKind::ALL {
            self.list(*kind, f)?;
        }
        let verdict = if self.kept() { "kept" } else { "broken" };
        write!(
            f,
            "{verdict}: {} requests, {} of {} required URLs requested, {} violations",
            self.requests,
            self.required_fetched,
            self.required,
            self.violations.len()
        )
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14} {}", self.kind.code(), self.url)?;
        if let Some(seq) = self.seq {
            write!(f, " (request {seq})")?;
        }
        write!(f, ": {} [{}]", self.detail, self.clause)
    }
}
