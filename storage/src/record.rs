//! Records on disk: a version byte, then the fields as postcard writes them.
//!
//! These types are the store's own, apart from those that the crawler sees, so
//! that either may change without the other.

use comity_compliance::robots::{CopyParts, FailingParts, RobotsParts};
use comity_compliance::{Hold, Origin, SitePace, Timestamp, WaitCause};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::key::{PageKey, Place, due_moment};
use crate::page::{DirectiveNote, Fetched, Outcome, PageRecord, Via};
use crate::store::StoreError;
use crate::tally::Tally;

/// The version of every record that this build writes; it reads no other yet.
const VERSION: u8 = 1;

const MAX_CODE_BYTES: usize = 64;
const MAX_TEXT_BYTES: usize = 512;
const MAX_DIRECTIVES: usize = 64;

/// A record as bytes.
pub(crate) fn encode<T: Serialize>(row: &T) -> Result<Vec<u8>, StoreError> {
    postcard::to_extend(row, vec![VERSION])
        .map_err(|e| StoreError::Damaged { what: format!("a record cannot be written ({e})") })
}

/// A record from bytes; `what` names it in the error.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, StoreError> {
    let damaged = |why: &str| StoreError::Damaged { what: format!("{what} {why}") };
    match bytes.split_first() {
        Some((&VERSION, fields)) => {
            postcard::from_bytes(fields).map_err(|_| damaged("cannot be read"))
        }
        Some((version, _)) => {
            Err(damaged(&format!("has version {version}, newer than this build")))
        }
        None => Err(damaged("is empty")),
    }
}

/// `m|state`: what is counted and numbered over the whole store.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct StateRow {
    pub(crate) next_seq: u64,
    pub(crate) next_outbox: u64,
    pub(crate) tally: Tally,
}

/// `o|seq8`: where in the spool a payload stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct SpoolPlace {
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

/// `p|site8|url8`
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct PageRow {
    /// First, so that it can be read without the rest.
    pub(crate) url: String,
    pub(crate) depth: u16,
    pub(crate) hops: u8,
    via: ViaRow,
    from: FromRow,
    found_at: i64,
    pub(crate) attempts: u32,
    pub(crate) fetches: u32,
    pub(crate) last: Option<(i64, OutcomeRow)>,
    pub(crate) earlier: Option<(i64, FetchedRow)>,
    pub(crate) place: Option<Place>,
    pub(crate) noted: Option<String>,
    /// The due second of its `i|` row.
    pub(crate) review: Option<u32>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
enum ViaRow {
    Seed,
    Link,
    Redirect,
    Refresh,
    Canonical,
    Sitemap,
}

/// What named a page. A page of the store is not written out again.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum FromRow {
    Nothing,
    Page { site: u64, slot: u64 },
    Url(String),
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum OutcomeRow {
    Fetched(FetchedRow),
    Redirected { status: u16, to: String },
    Refused { code: String, evidence: Option<String> },
    Failed { code: String, detail: String },
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct FetchedRow {
    status: u16,
    bytes: u64,
    truncated: bool,
    content_hash: u64,
    etag: Option<String>,
    last_modified: Option<String>,
    directives: Vec<(String, String, Option<String>)>,
    publication: String,
    title: Option<String>,
}

/// Where and how a page was found; what a [`PageRow`] starts with.
pub(crate) struct Origins {
    pub(crate) depth: u16,
    pub(crate) hops: u8,
    pub(crate) via: Via,
    pub(crate) from: FromRow,
    pub(crate) at: Timestamp,
}

impl PageRow {
    /// The URL of a record, without reading the rest.
    pub(crate) fn url_of(bytes: &[u8]) -> Option<&str> {
        let (&VERSION, fields) = bytes.split_first()? else { return None };
        postcard::take_from_bytes::<&str>(fields).ok().map(|(url, _)| url)
    }

    pub(crate) fn new(url: &Url, origins: Origins) -> Self {
        let mut row = Self {
            url: url.as_str().to_owned(),
            depth: 0,
            hops: 0,
            via: ViaRow::Seed,
            from: FromRow::Nothing,
            found_at: 0,
            attempts: 0,
            fetches: 0,
            last: None,
            earlier: None,
            place: None,
            noted: None,
            review: None,
        };
        row.set_origins(origins);
        row
    }

    pub(crate) fn set_origins(&mut self, origins: Origins) {
        self.depth = origins.depth;
        self.hops = origins.hops;
        self.via = ViaRow::from(origins.via);
        self.from = origins.from;
        self.found_at = origins.at.as_millis();
    }

    /// What named the page, if it is a page of the store.
    pub(crate) fn named_by(&self) -> Option<PageKey> {
        match self.from {
            FromRow::Page { site, slot } => Some(PageKey { site, slot }),
            FromRow::Nothing | FromRow::Url(_) => None,
        }
    }

    /// Takes in how a visit ended; [`Outcome::Noted`] is not one.
    pub(crate) fn visited(&mut self, at: Timestamp, outcome: OutcomeRow) {
        if let Some((at, OutcomeRow::Fetched(fetched))) = self.last.take() {
            self.earlier = Some((at, fetched));
        }
        match &outcome {
            OutcomeRow::Fetched(_) => {
                self.fetches = self.fetches.saturating_add(1);
                self.attempts = 0;
                self.earlier = None;
            }
            OutcomeRow::Failed { .. } => self.attempts = self.attempts.saturating_add(1),
            OutcomeRow::Redirected { .. } | OutcomeRow::Refused { .. } => self.attempts = 0,
        }
        self.last = Some((at.as_millis(), outcome));
        self.noted = None;
    }

    /// The record as the crawler sees it; `from` is the URL of [`PageRow::named_by`].
    pub(crate) fn into_record(self, from: Option<String>) -> Result<PageRecord, StoreError> {
        let from = match self.from {
            FromRow::Nothing => None,
            FromRow::Page { .. } => from,
            FromRow::Url(url) => Some(url),
        };
        let last = match self.last {
            Some((at, outcome)) => Some((Timestamp::from_millis(at), outcome.into_outcome()?)),
            None => None,
        };
        Ok(PageRecord {
            url: parse_url(&self.url)?,
            depth: self.depth,
            hops: self.hops,
            via: self.via.into(),
            from: from.map(|url| parse_url(&url)).transpose()?,
            found_at: Timestamp::from_millis(self.found_at),
            attempts: self.attempts,
            fetches: self.fetches,
            last,
            earlier: self.earlier.map(|(at, row)| (Timestamp::from_millis(at), row.into())),
            due: self.place.map(|place| due_moment(place.due)),
            priority: self.place.map_or(0, |place| place.priority),
            noted: self.noted,
            review: self.review.map(due_moment),
        })
    }
}

fn parse_url(url: &str) -> Result<Url, StoreError> {
    Url::parse(url).map_err(|_| StoreError::Damaged { what: format!("\"{url}\" stands for a URL") })
}

impl OutcomeRow {
    /// None for [`Outcome::Noted`].
    pub(crate) fn of(outcome: Outcome) -> Result<Self, String> {
        Ok(match outcome {
            Outcome::Fetched(fetched) => Self::Fetched(fetched.into()),
            Outcome::Redirected { status, to } => {
                Self::Redirected { status, to: cut(to.into(), crate::page::MAX_URL_BYTES) }
            }
            Outcome::Refused { code, evidence } => {
                Self::Refused { code: cut_code(code), evidence: evidence.map(cut_text) }
            }
            Outcome::Failed { code, detail } => {
                Self::Failed { code: cut_code(code), detail: cut_text(detail) }
            }
            Outcome::Noted { reason } => return Err(cut_code(reason)),
        })
    }

    fn into_outcome(self) -> Result<Outcome, StoreError> {
        Ok(match self {
            Self::Fetched(fetched) => Outcome::Fetched(fetched.into()),
            Self::Redirected { status, to } => Outcome::Redirected { status, to: parse_url(&to)? },
            Self::Refused { code, evidence } => Outcome::Refused { code, evidence },
            Self::Failed { code, detail } => Outcome::Failed { code, detail },
        })
    }
}

impl From<Fetched> for FetchedRow {
    fn from(fetched: Fetched) -> Self {
        let directives = fetched.directives.into_iter().take(MAX_DIRECTIVES);
        Self {
            status: fetched.status,
            bytes: fetched.bytes,
            truncated: fetched.truncated,
            content_hash: fetched.content_hash,
            etag: fetched.etag.map(cut_text),
            last_modified: fetched.last_modified.map(cut_text),
            directives: directives
                .map(|note| (cut_text(note.rule), cut_text(note.source), note.agent.map(cut_text)))
                .collect(),
            publication: cut_text(fetched.publication),
            title: fetched.title.map(cut_text),
        }
    }
}

impl From<FetchedRow> for Fetched {
    fn from(row: FetchedRow) -> Self {
        let directives = row.directives.into_iter();
        Self {
            status: row.status,
            bytes: row.bytes,
            truncated: row.truncated,
            content_hash: row.content_hash,
            etag: row.etag,
            last_modified: row.last_modified,
            directives: directives
                .map(|(rule, source, agent)| DirectiveNote { rule, source, agent })
                .collect(),
            publication: row.publication,
            title: row.title,
        }
    }
}

impl From<Via> for ViaRow {
    fn from(via: Via) -> Self {
        match via {
            Via::Seed => Self::Seed,
            Via::Link => Self::Link,
            Via::Redirect => Self::Redirect,
            Via::Refresh => Self::Refresh,
            Via::Canonical => Self::Canonical,
            Via::Sitemap => Self::Sitemap,
        }
    }
}

impl From<ViaRow> for Via {
    fn from(via: ViaRow) -> Self {
        match via {
            ViaRow::Seed => Self::Seed,
            ViaRow::Link => Self::Link,
            ViaRow::Redirect => Self::Redirect,
            ViaRow::Refresh => Self::Refresh,
            ViaRow::Canonical => Self::Canonical,
            ViaRow::Sitemap => Self::Sitemap,
        }
    }
}

/// `h|site8`
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct SiteRow {
    pub(crate) host: String,
    /// Milliseconds; the site is not lent before.
    pub(crate) next_at: i64,
    pace: PaceRow,
}

#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
struct PaceRow {
    last_request: Option<i64>,
    /// Until when, and the cause's code.
    hold: Option<(i64, String)>,
    failures: u32,
    last_served: Option<i64>,
}

impl SiteRow {
    pub(crate) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), next_at: 0, pace: PaceRow::default() }
    }

    pub(crate) fn set_pace(&mut self, pace: &SitePace) {
        self.pace = PaceRow {
            last_request: pace.last_request.map(Timestamp::as_millis),
            hold: pace.hold.map(|hold| (hold.until.as_millis(), hold.cause.code().to_owned())),
            failures: pace.failures,
            last_served: pace.last_served.map(Timestamp::as_millis),
        };
    }

    pub(crate) fn pace(&self) -> SitePace {
        SitePace {
            last_request: self.pace.last_request.map(Timestamp::from_millis),
            hold: self.pace.hold.as_ref().map(|(until, code)| Hold {
                until: Timestamp::from_millis(*until),
                // A code of a newer build still holds the site back.
                cause: WaitCause::from_code(code).unwrap_or(WaitCause::Backoff),
            }),
            failures: self.pace.failures,
            last_served: self.pace.last_served.map(Timestamp::from_millis),
        }
    }
}

/// `r|origin8|part2`, cut into parts: a robots.txt may be larger than a value should be.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct RobotsRow {
    origin: String,
    copy: Option<CopyRow>,
    failing: Option<FailingRow>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct CopyRow {
    body: Option<Vec<u8>>,
    cause: String,
    fetched_at: i64,
    fresh_until: i64,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct FailingRow {
    since: i64,
    last_at: i64,
    cause: String,
    attempts: u32,
    retry_at: i64,
}

impl RobotsRow {
    pub(crate) fn new(origin: &Origin, parts: RobotsParts) -> Self {
        Self {
            origin: origin.to_string(),
            copy: parts.copy.map(|copy| CopyRow {
                body: copy.body,
                cause: cut_text(copy.cause),
                fetched_at: copy.fetched_at.as_millis(),
                fresh_until: copy.fresh_until.as_millis(),
            }),
            failing: parts.failing.map(|run| FailingRow {
                since: run.since.as_millis(),
                last_at: run.last_at.as_millis(),
                cause: cut_text(run.cause),
                attempts: run.attempts,
                retry_at: run.retry_at.as_millis(),
            }),
        }
    }

    /// The parts, unless the record is another origin's with the same hash.
    pub(crate) fn into_parts(self, origin: &Origin) -> Option<RobotsParts> {
        if self.origin != origin.to_string() {
            return None;
        }
        let at = Timestamp::from_millis;
        Some(RobotsParts {
            copy: self.copy.map(|copy| CopyParts {
                body: copy.body,
                cause: copy.cause,
                fetched_at: at(copy.fetched_at),
                fresh_until: at(copy.fresh_until),
            }),
            failing: self.failing.map(|run| FailingParts {
                since: at(run.since),
                last_at: at(run.last_at),
                cause: run.cause,
                attempts: run.attempts,
                retry_at: at(run.retry_at),
            }),
        })
    }
}

/// A code or reason within its bound.
pub(crate) fn cut_code(text: String) -> String {
    cut(text, MAX_CODE_BYTES)
}

fn cut_text(text: String) -> String {
    cut(text, MAX_TEXT_BYTES)
}

fn cut(mut text: String, max: usize) -> String {
    let end = (0..=max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> PageRow {
        let origins = Origins {
            depth: 2,
            hops: 1,
            via: Via::Canonical,
            from: FromRow::Url("https://example.com/from".into()),
            at: Timestamp::from_millis(5),
        };
        PageRow::new(&Url::parse("https://example.com/a?b").unwrap(), origins)
    }

    #[test]
    fn page_there_and_back() {
        let mut row = page();
        let fetched = Fetched { status: 200, title: Some("é".repeat(600)), ..Fetched::default() };
        let outcome = OutcomeRow::of(Outcome::Fetched(fetched)).unwrap();
        row.visited(Timestamp::from_millis(7), outcome);
        let bytes = encode(&row).unwrap();
        assert_eq!(PageRow::url_of(&bytes), Some("https://example.com/a?b"));
        assert_eq!(decode::<PageRow>(&bytes, "page").unwrap(), row);
        let record = row.into_record(None).unwrap();
        assert_eq!(record.via, Via::Canonical);
        assert_eq!(record.fetches, 1);
        let title = record.last_fetch().unwrap().1.title.clone().unwrap();
        assert_eq!(title.len(), MAX_TEXT_BYTES);
    }

    #[test]
    fn a_failure_keeps_the_earlier_response() {
        let mut row = page();
        let fetched = Fetched { content_hash: 9, ..Fetched::default() };
        row.visited(Timestamp::EPOCH, OutcomeRow::Fetched(fetched.into()));
        for attempts in 1..3 {
            let failed = OutcomeRow::Failed { code: "timeout".into(), detail: String::new() };
            row.visited(Timestamp::from_secs(1), failed);
            assert_eq!(row.attempts, attempts);
        }
        let record = row.into_record(None).unwrap();
        assert_eq!(record.last_fetch().unwrap().1.content_hash, 9);
        assert!(matches!(record.last, Some((_, Outcome::Failed { .. }))));
    }

    #[test]
    fn site_there_and_back() {
        for cause in WaitCause::ALL {
            let pace = SitePace {
                last_request: Some(Timestamp::from_millis(3)),
                hold: Some(Hold { until: Timestamp::from_millis(4), cause: *cause }),
                failures: 5,
                last_served: None,
            };
            let mut row = SiteRow::new("example.com");
            row.set_pace(&pace);
            let back: SiteRow = decode(&encode(&row).unwrap(), "site").unwrap();
            assert_eq!(back.pace(), pace);
        }
    }

    proptest::proptest! {
        /// Whatever stands on the disk gives a record or an error.
        #[test]
        fn damaged_records_never_panic(mut bytes: Vec<u8>) {
            bytes.insert(0, VERSION);
            let _ = decode::<PageRow>(&bytes, "page").map(|row| row.into_record(None));
            let _ = decode::<SiteRow>(&bytes, "site").map(|row| row.pace());
            let _ = decode::<RobotsRow>(&bytes, "robots");
            let _ = decode::<StateRow>(&bytes, "state");
            let _ = PageRow::url_of(&bytes);
        }
    }
}
