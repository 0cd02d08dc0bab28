//! Page records.

use std::time::Duration;

use comity_compliance::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{VERSION, cut, cut_code, cut_text};
use crate::key::{self, PageKey, Place, due_moment, due_second};
use crate::page::{
    Alike, Archived, DirectiveNote, Fetched, MAX_URL_BYTES, Outcome, PageRecord, Role, Via,
};
use crate::store::StoreError;

const MAX_DIRECTIVES: usize = 64;

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
    role: RoleRow,
    /// Whether its place is for a visit that only keeps it fresh.
    pub(crate) revisit: bool,
    /// The interval of such visits, in seconds.
    every_s: Option<u32>,
    /// The second of the last change that a sitemap claimed.
    claimed: Option<u32>,
    /// What its priority rests on.
    why: Option<String>,
    /// What the link to it says.
    anchor: Option<String>,
}

impl PageRow {
    /// The code of the rule that keeps it from being fetched, if one does.
    pub(crate) fn held_back_by(&self) -> Option<&str> {
        match (&self.noted, &self.last) {
            (Some(reason), _) => Some(reason),
            (None, Some((_, OutcomeRow::Refused { code, .. }))) => Some(code),
            (None, Some(_) | None) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
enum RoleRow {
    Page,
    Sitemap,
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

#[expect(clippy::large_enum_variant, reason = "nearly every outcome is the large one")]
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
    sent: bool,
    text_hash: Option<u64>,
    text_print: Option<u64>,
    canonical: Option<String>,
    canonical_reason: String,
    alike: Option<(String, Option<u8>)>,
    stand_in: Option<String>,
    wall: Option<String>,
    archived: Option<(i64, [u8; 20])>,
}

/// Where and how a page was found; what a [`PageRow`] starts with.
pub(crate) struct Origins {
    pub(crate) depth: u16,
    pub(crate) hops: u8,
    pub(crate) role: Role,
    pub(crate) via: Via,
    pub(crate) from: FromRow,
    pub(crate) anchor: Option<String>,
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
            role: RoleRow::Page,
            revisit: false,
            every_s: None,
            claimed: None,
            why: None,
            anchor: None,
        };
        row.set_origins(origins);
        row
    }

    pub(crate) fn set_origins(&mut self, origins: Origins) {
        self.depth = origins.depth;
        self.hops = origins.hops;
        self.role = origins.role.into();
        self.via = ViaRow::from(origins.via);
        self.from = origins.from;
        self.anchor = origins.anchor.map(cut_text);
        self.found_at = origins.at.as_millis();
    }

    /// Whether its last visit was before this moment.
    pub(crate) fn was_visited_before(&self, at: Timestamp) -> bool {
        self.last.as_ref().is_some_and(|(last, _)| *last < at.as_millis())
    }

    pub(crate) fn is_sitemap(&self) -> bool {
        self.role == RoleRow::Sitemap
    }

    /// Whether what a sitemap claimed of it so far is earlier.
    pub(crate) fn claims_before(&self, changed_at: Timestamp) -> bool {
        self.claimed < Some(due_second(changed_at))
    }

    /// Keeps what a sitemap claims; the latest counts.
    pub(crate) fn claim(&mut self, changed_at: Timestamp) {
        self.claimed = self.claimed.max(Some(due_second(changed_at)));
    }

    /// Keeps what its priority rests on.
    pub(crate) fn set_why(&mut self, why: Option<&str>) {
        self.why = why.map(|why| cut_text(why.to_owned()));
    }

    /// Sets the interval of its visits.
    pub(crate) fn set_every(&mut self, every: Duration) {
        self.every_s = Some(u32::try_from(every.as_secs()).unwrap_or(u32::MAX));
    }

    /// Forgets what a conditional request could be made with, that the sinks have it, and failures.
    pub(crate) fn forget_copy(&mut self) {
        self.attempts = 0;
        let last = self.last.as_mut().and_then(|(_, outcome)| match outcome {
            OutcomeRow::Fetched(fetched) => Some(fetched),
            OutcomeRow::Redirected { .. }
            | OutcomeRow::Refused { .. }
            | OutcomeRow::Failed { .. } => None,
        });
        let earlier = self.earlier.as_mut().map(|(_, fetched)| fetched);
        for fetched in last.into_iter().chain(earlier) {
            (fetched.etag, fetched.last_modified) = (None, None);
            fetched.sent = false;
        }
    }

    /// The last response that was read, whatever came after it.
    fn last_fetch(&self) -> Option<&FetchedRow> {
        match &self.last {
            Some((_, OutcomeRow::Fetched(fetched))) => Some(fetched),
            Some(_) | None => self.earlier.as_ref().map(|(_, fetched)| fetched),
        }
    }

    /// What it may have in common with other pages: the kind of row, and what tells by which.
    pub(crate) fn likenesses(&self) -> Vec<(u8, u64)> {
        let Some(fetched) = self.last_fetch() else { return vec![] };
        let text = fetched.text_hash.map(|hash| (key::TEXT, hash));
        let canonical = fetched.canonical.as_ref();
        let canonical = canonical.map(|url| (key::CANONICAL, key::url_hash(url)));
        text.into_iter().chain(canonical).collect()
    }

    /// Another page stands in for it from now on.
    pub(crate) fn stand_back(&mut self, for_whom: &Url, reason: String) {
        let last = self.last.as_mut().and_then(|(_, outcome)| match outcome {
            OutcomeRow::Fetched(fetched) => Some(fetched),
            OutcomeRow::Redirected { .. }
            | OutcomeRow::Refused { .. }
            | OutcomeRow::Failed { .. } => None,
        });
        let earlier = self.earlier.as_mut().map(|(_, fetched)| fetched);
        if let Some(fetched) = last.or(earlier) {
            fetched.sent = false;
            fetched.stand_in = Some(for_whom.as_str().to_owned());
            // By this it is found once that page is gone.
            fetched.canonical = fetched.stand_in.clone();
            fetched.canonical_reason = cut_code(reason);
        }
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
            role: self.role.into(),
            via: self.via.into(),
            from: from.map(|url| parse_url(&url)).transpose()?,
            anchor: self.anchor,
            found_at: Timestamp::from_millis(self.found_at),
            attempts: self.attempts,
            fetches: self.fetches,
            last,
            earlier: self.earlier.map(|(at, row)| (Timestamp::from_millis(at), row.into())),
            due: self.place.map(|place| due_moment(place.due)),
            priority: self.place.map_or(0, |place| place.priority),
            revisit: self.revisit,
            every: self.every_s.map(|secs| Duration::from_secs(secs.into())),
            claimed: self.claimed.map(due_moment),
            why: self.why,
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
                Self::Redirected { status, to: cut(to.into(), MAX_URL_BYTES) }
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
            sent: fetched.sent,
            text_hash: fetched.text_hash,
            text_print: fetched.text_print,
            canonical: fetched.canonical.and_then(kept_url),
            canonical_reason: cut_code(fetched.canonical_reason),
            alike: fetched.alike.and_then(|alike| Some((kept_url(alike.url)?, alike.bits))),
            stand_in: fetched.stand_in.and_then(kept_url),
            wall: fetched.wall.map(cut_code),
            archived: fetched.archived.map(|there| (there.at.as_millis(), there.payload)),
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
            sent: row.sent,
            text_hash: row.text_hash,
            text_print: row.text_print,
            canonical: row.canonical.and_then(|url| Url::parse(&url).ok()),
            canonical_reason: row.canonical_reason,
            alike: row.alike.and_then(|(url, bits)| {
                let url = Url::parse(&url).ok()?;
                Some(Alike { url, bits })
            }),
            stand_in: row.stand_in.and_then(|url| Url::parse(&url).ok()),
            wall: row.wall,
            archived: row.archived.map(|(at, payload)| {
                let at = Timestamp::from_millis(at);
                Archived { at, payload }
            }),
        }
    }
}

/// A page's address; one that is too long belongs to no page.
fn kept_url(url: Url) -> Option<String> {
    (url.as_str().len() <= MAX_URL_BYTES).then(|| url.into())
}

impl From<Role> for RoleRow {
    fn from(role: Role) -> Self {
        match role {
            Role::Page => Self::Page,
            Role::Sitemap => Self::Sitemap,
        }
    }
}

impl From<RoleRow> for Role {
    fn from(role: RoleRow) -> Self {
        match role {
            RoleRow::Page => Self::Page,
            RoleRow::Sitemap => Self::Sitemap,
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
