//! What the store knows about one URL: how it was found, what its last visit
//! taught, and when it is due again.

use std::time::Duration;

use comity_compliance::Timestamp;
use url::Url;

/// A URL that the crawl came upon, and what is to become of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The normalised URL; two URLs are the same page if and only if they are written the same.
    pub url: Url,
    /// Links from the nearest seed.
    pub depth: u16,
    /// Redirects in a row that led here; 0 if it was not found by a redirect.
    pub hops: u8,
    /// What it is fetched for.
    pub role: Role,
    /// How it was found.
    pub via: Via,
    /// The page or sitemap that named it; none for a seed.
    pub from: Option<Url>,
    /// What the link to it says, where that may be of use.
    pub anchor: Option<String>,
    /// When it was found.
    pub at: Timestamp,
    /// Whether it is to be fetched.
    pub plan: Plan,
}

/// What a URL is fetched for.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Role {
    /// To be read as a page.
    #[default]
    Page,
    /// To be read as a sitemap: a list of URLs.
    Sitemap,
}

/// How a URL was found.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Via {
    /// Given by the operator.
    Seed,
    /// A link on a page.
    Link,
    /// A redirect by status code.
    Redirect,
    /// A redirect by a refresh header or meta element.
    Refresh,
    /// A page that names this URL as its canonical one.
    Canonical,
    /// An entry of a sitemap.
    Sitemap,
}

/// What is to become of a found URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Plan {
    /// Fetch it.
    Queue {
        /// Not before this moment; none means at once.
        due: Option<Timestamp>,
        /// 0 goes first among URLs due in the same second.
        priority: u8,
        /// What the priority rests on, for people; none where the record says it otherwise, as it
        /// does of seeds and depth.
        why: Option<String>,
    },
    /// Fetch it at once and wholly, whatever an earlier visit of it brought: its failures, what
    /// made a request for it conditional and that the sinks have it are forgotten.
    Again {
        /// 0 goes first.
        priority: u8,
    },
    /// A sitemap says that it changed at this moment, which is remembered. If that is believed, a
    /// page that was last visited before is due at once. One that was not known is queued.
    Changed {
        /// When it changed.
        at: Timestamp,
        /// Whether the sitemap's dates are believed.
        believed: bool,
        /// 0 goes first.
        priority: u8,
        /// As in [`Plan::Queue`].
        why: Option<String>,
    },
    /// Only remember it. It becomes queued if it is found again with [`Plan::Queue`].
    Note {
        /// The stable code of the rule that keeps it out of the queue, such as `rel-nofollow`.
        reason: String,
    },
}

/// What pushing a URL did. A queued or visited URL is never made less by being found again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It was not known; now it is.
    New,
    /// It was known, and nothing changed.
    Known,
    /// It was known and not queued; now it is queued.
    Upgraded,
    /// It cannot be kept: not http(s), no host, longer than [`MAX_URL_BYTES`], or one of dozens of
    /// URLs made to have the same hash.
    Unusable,
}

/// The longest URL that is kept, in bytes.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// One attempt at one URL and all that it taught.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Visit {
    /// The URL that was visited; it belongs to the site of the report.
    pub url: Url,
    /// When.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// When it is visited again.
    pub next: Next,
    /// The priority with which it is queued again, 0 first.
    pub priority: u8,
    /// What it led to.
    pub found: Vec<Found>,
    /// What the sinks are to get: opaque bytes, handed out again by the outbox.
    pub sink: Option<Vec<u8>>,
    /// Pages of the same site that the sinks no longer have, because this one stands in for them,
    /// each with what that rests on: an opaque code.
    pub stood_back: Vec<(Url, String)>,
    /// When the index must look at this page again without a visit.
    pub index_review: Review,
}

/// When a URL is visited again.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Next {
    /// Not by itself.
    #[default]
    Never,
    /// At this moment: it could not be had.
    Retry(Timestamp),
    /// At this moment, to see whether it is still the same.
    Revisit {
        /// When.
        at: Timestamp,
        /// The interval of its visits, which the next one starts from; whole seconds.
        every: Duration,
    },
}

/// When the index must look at a page again, such as the day that `unavailable_after` names.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Review {
    /// As it was before this visit: the visit taught nothing about it, for instance it failed.
    #[default]
    Unchanged,
    /// At this moment.
    At(Timestamp),
    /// Never.
    Never,
}

/// How a visit ended. Strings longer than the store's bounds are cut.
#[expect(clippy::large_enum_variant, reason = "nearly every outcome is the large one")]
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// A response came and was read.
    Fetched(Fetched),
    /// The response sent us elsewhere.
    Redirected {
        /// The status code.
        status: u16,
        /// Where to.
        to: Url,
    },
    /// Not asked for: a rule forbade it.
    Refused {
        /// The stable code of the rule.
        code: String,
        /// What decided, such as a robots.txt line.
        evidence: Option<String>,
    },
    /// Asked for in vain; counts as a failure in a row.
    Failed {
        /// The stable code of the kind of failure.
        code: String,
        /// What happened, for people.
        detail: String,
    },
    /// Put aside without a visit: noted as by [`Plan::Note`]. The last outcome stays.
    Noted {
        /// The stable code of the reason.
        reason: String,
    },
}

/// What is kept of a response.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Fetched {
    /// The status code.
    pub status: u16,
    /// Bytes of the decoded body that were read.
    pub bytes: u64,
    /// Whether the body went on past the limit.
    pub truncated: bool,
    /// A hash of the body, to see whether a page changed.
    pub content_hash: u64,
    /// The `ETag` header, for conditional requests.
    pub etag: Option<String>,
    /// The `Last-Modified` header, for conditional requests.
    pub last_modified: Option<String>,
    /// The page rules that were found.
    pub directives: Vec<DirectiveNote>,
    /// What an index may do with the page: an opaque code.
    pub publication: String,
    /// The page's title.
    pub title: Option<String>,
    /// Whether the sinks were given the page as it is in this response.
    pub sent: bool,
    /// A hash of its text: pages with the same are found by [`Likeness::Text`].
    pub text_hash: Option<u64>,
    /// A number that is alike for texts that are alike.
    pub text_print: Option<u64>,
    /// The address that stands for the page, if it is another: see [`Likeness::Canonical`].
    pub canonical: Option<Url>,
    /// What the choice of that address rests on: an opaque code.
    pub canonical_reason: String,
    /// A page of the site with the same text, or nearly the same.
    pub alike: Option<Alike>,
    /// The page that the sinks have in its place.
    pub stand_in: Option<Url>,
    /// Who asks for a login: an opaque code.
    pub wall: Option<String>,
    /// What an archive of the crawl holds of it.
    pub archived: Option<Archived>,
}

/// A response in an archive of the crawl: later ones that are the same refer to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Archived {
    /// When it was captured, as the archive says.
    pub at: Timestamp,
    /// SHA-1 of its payload.
    pub payload: [u8; 20],
}

/// A page with the same text as another, or nearly the same.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Alike {
    /// That page.
    pub url: Url,
    /// Bits in which [`Fetched::text_print`] differs; none if the text is the same.
    pub bits: Option<u8>,
}

/// What pages of a site have in common, by the last response of each.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Likeness {
    /// Their text has this hash.
    Text(u64),
    /// This address stands for them.
    Canonical(Url),
}

/// One page rule and where it stood.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DirectiveNote {
    /// The rule, such as `noindex`.
    pub rule: String,
    /// Where it stood, such as `meta` or `header`.
    pub source: String,
    /// The crawler it was addressed to; none means all.
    pub agent: Option<String>,
}

/// All that the store knows about one URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageRecord {
    /// The URL.
    pub url: Url,
    /// Links from the nearest seed, as first found.
    pub depth: u16,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// What it is fetched for.
    pub role: Role,
    /// How it was found.
    pub via: Via,
    /// What named it.
    pub from: Option<Url>,
    /// What the link that named it says, where that was kept.
    pub anchor: Option<String>,
    /// When it was found.
    pub found_at: Timestamp,
    /// Failures in a row.
    pub attempts: u32,
    /// Responses read so far.
    pub fetches: u32,
    /// How the last visit ended, and when.
    pub last: Option<(Timestamp, Outcome)>,
    /// The last response, if the last visit brought none.
    pub earlier: Option<(Timestamp, Fetched)>,
    /// When it is due; [`Timestamp::EPOCH`] means at once, none means that it is not queued.
    pub due: Option<Timestamp>,
    /// Its priority in the queue, 0 first.
    pub priority: u8,
    /// What the priority rested on when it was queued, unless it was depth.
    pub why: Option<String>,
    /// Whether it is due only to see that it is still the same.
    pub revisit: bool,
    /// The interval of its visits.
    pub every: Option<Duration>,
    /// When it changed last, as a sitemap claims.
    pub claimed: Option<Timestamp>,
    /// Why it is noted only.
    pub noted: Option<String>,
    /// When the index must look at it again.
    pub review: Option<Timestamp>,
}

impl PageRecord {
    /// The last response that was read, whatever came after it.
    pub fn last_fetch(&self) -> Option<(Timestamp, &Fetched)> {
        match &self.last {
            Some((at, Outcome::Fetched(fetched))) => Some((*at, fetched)),
            Some(_) | None => self.earlier.as_ref().map(|(at, fetched)| (*at, fetched)),
        }
    }
}
