//! Decides whether a crawler may fetch a URL, and when; what an index may then
//! do with the page; and which of its links may be followed.
//!
//! Compliance takes facts and returns verdicts. It opens no socket, reads no
//! clock, file or environment variable, and starts no task: the caller brings
//! every fact, the time included, as an argument. The same facts therefore
//! always give the same verdict, in a test as in a crawl.
//!
//! `no_std` is how the compiler keeps that promise.
//!
//! Start here: a robots.txt in hand, and a URL to judge.
//!
//! ```
//! use comity_compliance::robots::{Access, RobotsTxt};
//! use comity_compliance::{Preset, ProductToken};
//! use url::Url;
//!
//! let rules = RobotsTxt::parse(b"user-agent: *\ndisallow: /private\n");
//! let me = [ProductToken::new("examplebot")?];
//! let url = Url::parse("https://example.com/private/page")?;
//! let verdict = rules.verdict(Preset::Courteous, &me, &url);
//! assert_eq!(verdict.access, Access::Disallow);
//! assert_eq!(verdict.rule.map(|rule| rule.line), Some(2));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! A whole crawl asks [`decide`], with what it knows of the site: it says whether to fetch, to
//! fetch robots.txt first, to wait, or not to fetch at all, and why.
//!
//! ```
//! use comity_compliance::robots::RobotsRecord;
//! use comity_compliance::{
//!     Facts, Identity, Policy, ProductToken, Scope, ScopeKind, SitePace, Timestamp, Verdict, decide,
//! };
//! use url::Url;
//!
//! let seed = Url::parse("https://example.com/")?;
//! let facts = Facts {
//!     policy: &Policy::default(),
//!     identity: &Identity::new(ProductToken::new("examplebot")?),
//!     scope: &Scope::new(ScopeKind::Host, &[seed.clone()]),
//!     robots: &RobotsRecord::default(),
//!     pace: &SitePace::default(),
//! };
//! let now = Timestamp::from_secs(1_796_000_000);
//! // Nothing is known of the site yet, so its robots.txt comes first.
//! assert!(matches!(decide(&seed, facts, now), Verdict::FetchRobots(..)));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The parts, in the order in which a URL meets them:
//!
//! - [`Identity`], [`Policy`], [`Scope`]: who crawls, by which rules, how far.
//! - [`Origin`], [`Site`]: what one robots.txt speaks for; what politeness counts on.
//! - [`robots`]: the text of a robots.txt, and the life of one origin's copy.
//! - [`SitePace`]: when a site may be asked again.
//! - [`google_crawlers`]: what Google's own crawlers answer to, for whoever asks about them.
//! - [`decide`]: all of these to one [`Verdict`]. Only a verdict makes [`Grounds`],
//!   and a fetch without grounds does not compile.
//! - Robots meta tags and `X-Robots-Tag` lines to [`Directives`].
//! - [`Publication`]: what an index may show, and until when.
//! - [`judge_link`]: which links may be followed, with the reason for each that may not.
//! - [`canonical`]: which of several addresses of one page stands for it.
//!
//! Requirement numbers such as RT-025 or AM-43 name the project's list of rules,
//! docs/requirements.md, where each has its source document.

#![no_std]

extern crate alloc;

mod alternates;
mod canonical;
mod crawlers;
mod dates;
mod decide;
mod directives;
mod health;
mod identity;
mod links;
mod origin;
mod pace;
mod policy;
mod publication;
pub mod robots;
mod scope;
mod time;
mod verdict;

pub use alternates::{Alternate, confirmed_alternates};
pub use canonical::{
    Canonical, CanonicalReason, Hop, HttpsTwin, Move, Signals, Strength, canonical,
};
pub use crawlers::{CrawlerClass, KnownCrawler, google_crawlers};
pub use dates::{
    DateReader, DateReading, UntimedDate, ZoneSource, parse_date, parse_http_date,
    parse_retry_after,
};
pub use decide::{Facts, decide};
pub use directives::{
    Collector, Directive, Directives, Form, HistoricRule, ImagePreview, Limit, Rule, Source,
    VOCABULARY, Word,
};
pub use health::{Availability, DayTally, Health, LastAnswers, Probe, Sign, Tally};
pub use identity::{Contact, Identity, IdentityError, ProductToken};
pub use links::{Follow, NoFollow, judge_link, judge_target};
pub use origin::{Origin, OriginError, Scheme, Site};
pub use pace::{Answer, Ended, Hold, SitePace, retry_at, revisit_after};
pub use policy::{AdaptiveNumbers, Policy, Preset, Protocols, RobotsNumbers};
pub use publication::{
    Permission, Publication, SnippetBudget, StatusEffect, Terms, Withheld, hides_from_snippets,
};
pub use scope::{LeftOut, PathFilter, Scope, ScopeKind};
pub use time::Timestamp;
pub use verdict::{
    Grounds, GroundsReason, Refusal, RefusalReason, RobotsEvidence, Verdict, WaitCause,
};
