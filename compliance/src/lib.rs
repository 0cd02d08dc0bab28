//! Decides whether a crawler may fetch a URL, and when; what an index may then
//! do with the page; and which of its links may be followed.
//!
//! Compliance takes facts and returns verdicts. It opens no socket, reads no
//! clock, file or environment variable, and starts no task: the caller brings
//! every fact, the time included, as an argument. The same facts therefore
//! always give the same verdict, in a test as in a crawl.
//!
//! `no_std` is how the compiler keeps that promise; `alloc` is all that it needs.
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
//! # What an HTTP client brought
//!
//! A whole crawl does not parse bytes itself: it gives status and body to a [`robots::RobotsErrand`],
//! so that an error never passes for a permission, and keeps what comes of it in a
//! [`robots::RobotsRecord`], one for each [`Origin`].
//!
//! ```
//! use comity_compliance::robots::{
//!     Body, RobotsErrand, RobotsRecord, RobotsReply, RobotsResponse, Step,
//! };
//! use comity_compliance::{
//!     Facts, Identity, Origin, Policy, ProductToken, RefusalReason, Scope, ScopeKind, SitePace,
//!     Timestamp, Verdict, decide,
//! };
//! use url::Url;
//!
//! let url = Url::parse("https://example.com/private/page")?;
//! let (policy, now) = (Policy::default(), Timestamp::from_secs(1_796_000_000));
//!
//! let (errand, grounds) = RobotsErrand::start(&Origin::of(&url)?, now);
//! assert_eq!(grounds.url().as_str(), "https://example.com/robots.txt");
//! // Ask for that URL with the client of your choice, redirects switched off; it brings:
//! let (status, body) = (200, b"user-agent: *\ndisallow: /private\n");
//!
//! let response = RobotsResponse {
//!     status,
//!     location: None,
//!     cache_control: "max-age=3600",
//!     age: None,
//!     retry_after: None,
//!     body: Body::Read(body),
//! };
//! let outcome = match errand.reply(RobotsReply::Response(response), &policy, now) {
//!     Step::Done(outcome) => outcome,
//!     // A redirect: make the next request, whose grounds this has, and give the errand its reply.
//!     Step::Fetch(..) => panic!("a status 200 leads nowhere else"),
//! };
//! let record = RobotsRecord::default().after(outcome, &policy, now);
//! assert_eq!(record.next_refresh(), Some(Timestamp::from_secs(1_796_003_600)));
//!
//! let facts = Facts {
//!     policy: &policy,
//!     identity: &Identity::new(ProductToken::new("examplebot")?),
//!     scope: &Scope::new(ScopeKind::Any, &[]),
//!     robots: &record,
//!     pace: &SitePace::default(),
//! };
//! let Verdict::Refuse(refusal) = decide(&url, facts, now) else { panic!("it is forbidden") };
//! assert_eq!(refusal.reason, RefusalReason::RobotsDisallow);
//! assert_eq!(refusal.evidence.map(|rule| rule.line), Some(2));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # The life of a record by hand
//!
//! Time is an argument, so an outage of a month is a few lines. A robots.txt that worked, and then
//! answers 503: nothing is fetched for 12 hours, then the last good copy decides, and after 30 days
//! Google asks whether the site works at all (RT-025 to RT-027). The preset `courteous` goes on to
//! obey the last good copy (AM-8).
//!
//! ```
//! use core::time::Duration;
//!
//! use comity_compliance::robots::{Basis, RobotsOutcome, RobotsRecord, Standing, Trouble};
//! use comity_compliance::{Availability, Policy, Preset, Timestamp};
//!
//! let policy = Policy::new(Preset::Google);
//! let start = Timestamp::from_secs(1_796_000_000);
//! let hours = |hours: u64| start.after(Duration::from_secs(hours * 3600));
//! let standing = |record: &RobotsRecord, now| match record.standing(
//!     &policy,
//!     Availability::Unknown,
//!     now,
//! ) {
//!     Standing::Fetch => "fetch robots.txt first",
//!     Standing::Stop { .. } => "full stop",
//!     Standing::Rules(_, Basis::Fresh) => "fresh rules",
//!     Standing::Rules(_, Basis::LastGood | Basis::LongGone) => "the last good rules",
//!     Standing::NoRules(_) => "nothing is forbidden",
//!     Standing::Probe => "ask whether the site works at all",
//! };
//! let status_503 = || RobotsOutcome::Unreachable {
//!     cause: "status 503".into(),
//!     trouble: Trouble::Passing,
//!     retry_after: None,
//! };
//!
//! let mut record = RobotsRecord::default();
//! assert_eq!(standing(&record, start), "fetch robots.txt first");
//! let (body, fresh_for) = (b"user-agent: *\ndisallow: /a\n".to_vec(), policy.robots.fresh);
//! let good = RobotsOutcome::File { body, cause: "status 200".into(), fresh_for };
//! record = record.after(good, &policy, start);
//! assert_eq!(standing(&record, hours(23)), "fresh rules");
//! assert_eq!(standing(&record, hours(24)), "fetch robots.txt first");
//!
//! // The refresh fails, and is tried again after five minutes.
//! record = record.after(status_503(), &policy, hours(24));
//! assert_eq!(record.next_refresh(), Some(hours(24).after(Duration::from_secs(300))));
//! assert_eq!(standing(&record, hours(24)), "full stop");
//! // So it goes on; each row: hours after the first failure, and what is in force then.
//! for (after, expect) in [
//!     (11, "full stop"),
//!     (13, "the last good rules"),
//!     (29 * 24, "the last good rules"),
//!     (31 * 24, "ask whether the site works at all"),
//! ] {
//!     record = record.after(status_503(), &policy, hours(24 + after));
//!     assert_eq!(standing(&record, hours(24 + after)), expect);
//! }
//! ```
//!
//! # What may be done with a page
//!
//! [`Directives`] collects the rules that bind one crawler, from the response's header lines and
//! from meta tags that the caller's HTML parser found; [`Publication`] says what they come to.
//!
//! ```
//! use comity_compliance::{
//!     Directives, Follow, Identity, NoFollow, ProductToken, Publication, Timestamp, Withheld,
//!     judge_link,
//! };
//!
//! let me = Identity::new(ProductToken::new("examplebot")?);
//! let now = Timestamp::from_secs(1_796_000_000);
//! let mut page = Directives::for_identity(&me, now);
//! page.header_line(b"otherbot: noindex, examplebot: max-snippet:9");
//! page.meta("robots", "unavailable_after: 2027-01-01");
//! let page = page.finish();
//!
//! let publication = Publication::of(&page, now);
//! let terms = publication.terms().expect("noindex is for the other bot");
//! assert_eq!(terms.snippet.cut("In winter we close early."), "In winter");
//! assert_eq!(page.max_snippet().map(|(_, rule)| rule.to_string()).as_deref(), Some(
//!     "X-Robots-Tag line 1, examplebot: max-snippet:9"
//! ));
//! let new_year = Timestamp::from_secs(1_798_761_600);
//! assert_eq!(publication.until(), Some(new_year));
//! assert_eq!(publication.at(new_year), Publication::Nothing(Withheld::Expired));
//!
//! assert_eq!(judge_link(&page, ""), Follow::Yes);
//! assert_eq!(judge_link(&page, "noopener ugc"), Follow::No(NoFollow::RelUgc));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Should you use this crate?
//!
//! Yes, if you write a crawler, an archive or an index and want the whole of it decided in one
//! place, with the reason: robots.txt with its failures, redirects and ages, politeness, page
//! rules with their dates, link qualifiers. Or if you check what somebody else's crawler should
//! have done. It has no I/O and no executor of its own, so it fits beside any client, threaded or
//! async, and into WebAssembly or an embedded target that has an allocator.
//!
//! Rather not, if you only want to know whether a robots.txt in hand allows a URL.
//! [`robots::RobotsTxt`] does that, but smaller crates do too: `robotstxt` is a port of Google's own
//! parser, and `texting_robots` is made for matching and also tells crawl-delay. Nor if you look
//! for a crawler that runs by itself: that is the crate `comity`, which is built on this one.
//!
//! What it does not do, and leaves to the caller: requests, redirects of pages and caching; parsing
//! HTML (bring the name and content of a meta tag, and the `rel` of a link); rendering; keeping
//! records (they turn into plain parts and back); sitemaps beyond the URLs that a robots.txt names.
//! What Google's documents leave open was decided by this project: those decisions are numbered
//! AM-1 and so on, so that you can see whether you would decide alike.
//!
//! # The parts
//!
//! In the order in which a URL meets them:
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
//! - [`may_list`]: which entries of a sitemap count; [`LastmodTrust`]: while its dates are believed.
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
mod quoted;
mod revisit;
pub mod robots;
mod scope;
mod sitemaps;
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
    Collector, Directive, Directives, Form, HistoricRule, ImagePreview, Limit, MOST_REMARKS,
    Remark, RemarkKind, Rule, Source, VOCABULARY, Word,
};
pub use health::{Availability, DayTally, Health, LastAnswers, Probe, Sign, Tally};
pub use identity::{Contact, Identity, IdentityError, ProductToken};
pub use links::{Follow, NoFollow, judge_link, judge_target};
pub use origin::{Origin, OriginError, Scheme, Site};
pub use pace::{Answer, Ended, Hold, SitePace, retry_at};
pub use policy::{AdaptiveNumbers, Policy, Preset, Protocols, RobotsNumbers};
pub use publication::{
    Permission, Publication, SnippetBudget, StatusEffect, Terms, Withheld, hides_from_snippets,
};
pub use revisit::{RevisitNumbers, Sighting, revisit_after, rhythm};
pub use scope::{LeftOut, PathFilter, Scope, ScopeKind};
pub use sitemaps::{
    ClaimTally, CrossSubmission, LastmodTrust, NotListed, PageChange, SitemapFault, Submission,
    may_list,
};
pub use time::Timestamp;
pub use verdict::{
    Grounds, GroundsReason, Refusal, RefusalReason, RobotsEvidence, Verdict, WaitCause,
};
