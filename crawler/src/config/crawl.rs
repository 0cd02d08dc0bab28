//! What to crawl, who crawls and how gently.

use comity_compliance::Policy;
use serde::{Deserialize, Serialize};

use super::units::Span;

/// `[crawl]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlConfig {
    /// Where to begin.
    pub seeds: Vec<String>,
    /// Sitemaps to read.
    pub sitemaps: Vec<String>,
    /// Whether sitemaps that robots.txt files name are read.
    pub follow_sitemaps: bool,
    /// `host`, `domain`, `prefix` or `any`.
    pub scope: String,
    /// Pages to fetch in all, over all runs on one data directory; there the crawl ends, whatever else
    /// is due. 0 for no limit.
    pub max_pages: u64,
    /// Words that links should speak of: those that do are followed first.
    pub focus: Vec<String>,
    /// Links to follow from a seed; 0 fetches the seeds alone. Absent: no limit.
    pub depth: Option<u16>,
    /// The crawl ends when nothing is due within this time.
    pub patience: Span,
    /// Sites that are asked at the same time.
    pub sites_at_once: usize,
}

impl Default for CrawlConfig {
    fn default() -> Self {
        Self {
            seeds: vec![],
            sitemaps: vec![],
            follow_sitemaps: true,
            scope: "host".into(),
            max_pages: 0,
            focus: vec![],
            depth: None,
            patience: Span::secs(120),
            sites_at_once: 256,
        }
    }
}

/// `[identity]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdentityConfig {
    /// The product token.
    pub agent: String,
    /// Tokens whose groups are obeyed where no group names the agent.
    pub fallbacks: Vec<String>,
    /// A page or a mail address that reaches the operator.
    pub contact: Option<String>,
    /// The whole User-Agent header, where the usual one will not do.
    pub user_agent: Option<String>,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self { agent: "comitybot".into(), fallbacks: vec![], contact: None, user_agent: None }
    }
}

/// `[politeness]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolitenessConfig {
    /// `courteous`, `google` or `rfc9309`.
    pub policy: String,
    /// Least time between two requests to one site.
    pub interval: Span,
    /// Requests a second to one IP address, all its sites together.
    pub address_per_second: u32,
    /// Requests a second of the whole crawl.
    pub whole_per_second: u32,
    /// Whether the pace follows a site's answers.
    pub adaptive: bool,
    /// The rate that a new site is asked at, per cent of the usual rate.
    pub start_percent: u16,
    /// Longest interval that bad answers, or a slow start, alone lead to.
    pub slowest: Span,
    /// The interval is at least so many times as long as the site takes to answer.
    pub latency_factor: u32,
}

impl Default for PolitenessConfig {
    fn default() -> Self {
        let policy = Policy::default();
        Self {
            policy: policy.preset.name().into(),
            interval: Span(policy.interval),
            address_per_second: policy.address_per_second.get(),
            whole_per_second: policy.whole_per_second.get(),
            adaptive: true,
            start_percent: policy.adaptive.start_permille / 10,
            slowest: Span(policy.adaptive.slowest),
            latency_factor: policy.adaptive.latency_factor,
        }
    }
}

/// `[rules]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RulesConfig {
    /// Whether `Robots-Tag` headers count, which no more than a draft knows yet.
    pub robots_tag: bool,
    /// `start-of-day` or `end-of-day`.
    pub dates_without_time: String,
}

impl Default for RulesConfig {
    fn default() -> Self {
        Self { robots_tag: false, dates_without_time: "start-of-day".into() }
    }
}

/// `[recrawl]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecrawlConfig {
    /// Whether the crawl stays, and looks at pages again when they are due.
    pub stay: bool,
    /// When a page is looked at again after the first visit.
    pub first: Span,
    /// The shortest time between two visits of a page.
    pub least: Span,
    /// The longest.
    pub most: Span,
}

impl Default for RecrawlConfig {
    fn default() -> Self {
        let numbers = Policy::default().revisit;
        let (first, least, most) = (Span(numbers.first), Span(numbers.least), Span(numbers.most));
        Self { stay: false, first, least, most }
    }
}
