//! The store as the crawler sees it: batch-first, at least once, one lease a site.

use std::collections::BTreeMap;
use std::time::Duration;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{LastmodTrust, Origin, Site, SitePace, Timestamp};
use url::Url;

use crate::engine::EngineError;
use crate::page::{Fate, Found, Likeness, PageRecord, Visit};

/// Everything that a crawl must remember.
///
/// An error means "not done": whoever gets one may repeat the call. What a call acknowledged
/// holds under the durability that the store was opened with. A site is the only unit of
/// atomicity. No method reads a clock.
pub trait Store: Send + Sync + 'static {
    /// Makes URLs known, and says of each what that did, in order. Each is one effect; many may be
    /// written in pieces.
    ///
    /// # Errors
    /// [`StoreError`]; some may be known.
    fn push(&self, found: Vec<Found>)
    -> impl Future<Output = Result<Vec<Fate>, StoreError>> + Send;

    /// Queues again every page that is not queued because of one of these reasons: its last visit
    /// was refused with that code, or it is noted for it. Says how many. Looks at every page.
    ///
    /// # Errors
    /// [`StoreError`]; some may be queued.
    fn requeue(&self, reasons: Vec<String>)
    -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Makes every page that waits to be looked at again due at once. Says how many. Looks at every
    /// page.
    ///
    /// # Errors
    /// [`StoreError`]; some may be due.
    fn look_now(&self) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Lends up to `sites` sites until `now + ttl`, each with up to `urls_per_site` of its due
    /// URLs. URLs that wait since a moment (retries, refreshes) and URLs to fetch at once both
    /// get a share. A site is lent to one holder at a time; an expired lease returns by itself.
    ///
    /// # Errors
    /// [`StoreError`]; no site is lent.
    fn lease(
        &self,
        now: Timestamp,
        sites: usize,
        urls_per_site: usize,
        ttl: Duration,
    ) -> impl Future<Output = Result<Vec<Lease>, StoreError>> + Send;

    /// Writes down all that a lease brought, as one effect: page records, found links, queue,
    /// pace, outbox, schedule.
    ///
    /// # Errors
    /// [`StoreError`]; nothing of the report is done. [`StoreError::Request`] if a visit belongs
    /// to another site than the lease.
    fn commit(
        &self,
        report: SiteReport,
        now: Timestamp,
    ) -> impl Future<Output = Result<Receipt, StoreError>> + Send;

    /// Prolongs a lease until `now + ttl`.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    fn renew(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        ttl: Duration,
    ) -> impl Future<Output = Result<Renewal, StoreError>> + Send;

    /// Gives a lease back without a report; its URLs stay queued. Whoever sent a request reports
    /// instead, or the site's pace would not be known. A lease that is over is no error.
    ///
    /// # Errors
    /// [`StoreError`].
    fn release(&self, token: LeaseToken) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The earliest moment at which [`Store::lease`] may bring something: a site is due or a
    /// lease runs out. None if nothing is queued and nothing is lent.
    fn next_ready(&self) -> Option<Timestamp>;

    /// What is known about an origin's robots.txt.
    ///
    /// # Errors
    /// [`StoreError`].
    fn robots(
        &self,
        origin: &Origin,
    ) -> impl Future<Output = Result<Option<RobotsRecord>, StoreError>> + Send;

    /// Keeps what is known about an origin's robots.txt.
    ///
    /// # Errors
    /// [`StoreError`].
    fn put_robots(
        &self,
        origin: &Origin,
        record: &RobotsRecord,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// What is known about a URL.
    ///
    /// # Errors
    /// [`StoreError`].
    fn page(
        &self,
        url: &Url,
    ) -> impl Future<Output = Result<Option<PageRecord>, StoreError>> + Send;

    /// What is known about the pages of a site, at most `max`, in no order that means anything:
    /// from the start, or from where an earlier call ended. No cursor means that there are no more.
    ///
    /// # Errors
    /// [`StoreError`].
    fn pages(
        &self,
        site: &Site,
        from: Option<PageCursor>,
        max: usize,
    ) -> impl Future<Output = Result<(Vec<PageRecord>, Option<PageCursor>), StoreError>> + Send;

    /// What is known about the pages of all sites, those of a site together; else as
    /// [`Store::pages`].
    ///
    /// # Errors
    /// [`StoreError`].
    fn all_pages(
        &self,
        from: Option<PageCursor>,
        max: usize,
    ) -> impl Future<Output = Result<(Vec<PageRecord>, Option<PageCursor>), StoreError>> + Send;

    /// Pages of a site that have something in common, for each likeness at most `max`, in no order
    /// that means anything. Two pages whose hashes are the same by chance pass for alike.
    ///
    /// # Errors
    /// [`StoreError`].
    fn alike(
        &self,
        site: &Site,
        likenesses: Vec<Likeness>,
        max: usize,
    ) -> impl Future<Output = Result<Vec<Vec<PageRecord>>, StoreError>> + Send;

    /// Whether finding a page again by a link changes nothing: it is known, and neither noted only
    /// nor of another role. Answered from memory; `false` may also mean that it is not known there.
    fn is_settled(&self, url: &Url) -> bool;

    /// What is known about a site.
    ///
    /// # Errors
    /// [`StoreError`].
    fn site(
        &self,
        site: &Site,
    ) -> impl Future<Output = Result<Option<SiteState>, StoreError>> + Send;

    /// Keeps what a request taught of a site's pace that no lease of the site will report, such as
    /// the hop of another site's robots.txt. Of two paces, reports included, the one with the later
    /// request stands.
    ///
    /// # Errors
    /// [`StoreError`].
    fn put_pace(
        &self,
        site: &Site,
        pace: &SitePace,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The oldest entries for the sinks from number `from` on: at most `max`, and a few megabytes at
    /// a time. They come again until [`Store::outbox_done`].
    ///
    /// # Errors
    /// [`StoreError`].
    fn outbox(
        &self,
        from: u64,
        max: usize,
    ) -> impl Future<Output = Result<Vec<OutboxEntry>, StoreError>> + Send;

    /// Forgets the entries up to and with this one.
    ///
    /// # Errors
    /// [`StoreError`].
    fn outbox_done(&self, through: u64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Pages that the index must look at again, the longest waiting first.
    ///
    /// # Errors
    /// [`StoreError`].
    fn due_reviews(
        &self,
        now: Timestamp,
        max: usize,
    ) -> impl Future<Output = Result<Vec<PageRecord>, StoreError>> + Send;

    /// The index has looked: sets the next review, or none, and feeds the sinks, as one effect.
    ///
    /// # Errors
    /// [`StoreError`].
    fn review_done(
        &self,
        url: &Url,
        next: Option<Timestamp>,
        sink: Option<Vec<u8>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// A small named value, such as the seeds and the scope of the crawl.
    ///
    /// # Errors
    /// [`StoreError`].
    fn meta(&self, name: &str) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> + Send;

    /// Keeps a small named value; at most [`MAX_META_BYTES`].
    ///
    /// # Errors
    /// [`StoreError`]; [`StoreError::Request`] if it is too long.
    fn put_meta(
        &self,
        name: &str,
        value: Vec<u8>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Figures of the whole crawl; they may be a moment old.
    fn stats(&self) -> Stats;

    /// Stops, and leaves the mark of a clean stop. Every later call fails.
    ///
    /// # Errors
    /// [`StoreError`]; the next opening will count as one after a crash.
    fn close(&self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// The longest value of [`Store::put_meta`], in bytes.
pub const MAX_META_BYTES: usize = 48 * 1024;

/// Where [`Store::pages`] goes on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageCursor(pub(crate) Vec<u8>);

/// A site on loan.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lease {
    /// Names the loan in every later call.
    pub token: LeaseToken,
    /// No request may start after this moment.
    pub deadline: Timestamp,
    /// The site's politeness state, as last reported.
    pub pace: SitePace,
    /// How far the dates of its sitemaps are trusted, as last reported.
    pub trust: LastmodTrust,
    /// Some of its due URLs.
    pub urls: Vec<PageRecord>,
}

/// Which loan of which site.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct LeaseToken {
    /// The site.
    pub site: Site,
    /// Rises with every loan, also over restarts, so that a late report is known as such.
    pub fence: u64,
}

/// What a lease brought.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SiteReport {
    /// The loan.
    pub token: LeaseToken,
    /// Visits, in the order in which they happened.
    pub visits: Vec<Visit>,
    /// Origins of the site whose due URLs cannot be visited, and when they are due instead. A report
    /// puts off a few thousand at most; the others come with the next lease.
    pub put_off: Vec<(Origin, Timestamp)>,
    /// The site's politeness state now.
    pub pace: SitePace,
    /// How far the dates of its sitemaps are trusted now.
    pub trust: LastmodTrust,
    /// The site is not lent before this moment.
    pub next_at: Timestamp,
    /// Whether the loan goes on.
    pub then: AfterReport,
}

/// Whether a loan goes on after a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AfterReport {
    /// It goes on, with the same deadline.
    Keep,
    /// It ends; URLs of the lease without a visit stay queued.
    Release,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Receipt {
    /// It is in the store.
    Accepted {
        /// URLs that were not known before.
        new_urls: usize,
    },
    /// The loan was over: nothing of it is in the store.
    Fenced,
}

/// What became of a wish to prolong a lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Renewal {
    /// It goes on until this moment.
    Renewed(Timestamp),
    /// It was over.
    Fenced,
}

/// What is known about a site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SiteState {
    /// Its politeness state, as last reported.
    pub pace: SitePace,
    /// How far the dates of its sitemaps are trusted.
    pub trust: LastmodTrust,
    /// It is not lent before this moment.
    pub next_at: Timestamp,
    /// URLs that wait; counted up to 10,000.
    pub queued: usize,
    /// Those of them that are to be had at once: neither retries nor pages to look at again.
    pub at_once: usize,
}

/// Something for the sinks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutboxEntry {
    /// Its number; rises, with gaps.
    pub seq: u64,
    /// The page that it is about; none if its row is damaged.
    pub url: Option<Url>,
    /// What to hand on.
    pub payload: Payload,
}

/// The bytes of an outbox entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Payload {
    /// As they were committed.
    Bytes(Vec<u8>),
    /// Damaged or gone from the disk; only another visit brings them again.
    Lost {
        /// What was found in their place.
        why: String,
    },
}

/// Figures of the whole crawl: URLs by what is known of them now.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Stats {
    /// URLs ever found.
    pub known: u64,
    /// URLs that wait to be had: for a first visit, or for another after a failure.
    pub queued: u64,
    /// URLs that wait to be looked at again.
    pub revisits: u64,
    /// Pages whose last visit brought a response.
    pub fetched: u64,
    /// Sitemaps whose last visit brought a response.
    pub sitemaps: u64,
    /// URLs whose last visit was a redirect.
    pub redirected: u64,
    /// URLs whose last visit was refused, by code.
    pub refused: BTreeMap<String, u64>,
    /// URLs whose last visit failed, by code.
    pub failed: BTreeMap<String, u64>,
    /// URLs that are noted only, by reason.
    pub noted: BTreeMap<String, u64>,
    /// Sites ever found.
    pub sites: u64,
    /// Entries that the sinks have not confirmed.
    pub outbox_pending: u64,
    /// An upper estimate of the memory that the store takes.
    pub memory_estimate_bytes: u64,
    /// What the store takes on disk, as of the last look.
    pub disk_bytes: u64,
}

/// A call that was not done.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A write failed: it and every later one is refused.
    #[error(
        "nothing was stored, and nothing more will be until the store is opened again: {cause}"
    )]
    NotDone {
        /// What went wrong first.
        cause: String,
    },
    /// A read failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A record does not say what it must.
    #[error("the store is damaged: {what}; restore a backup of the data directory")]
    Damaged {
        /// Which record, and what is wrong with it.
        what: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The call cannot be carried out by any store.
    #[error("{0}")]
    Request(String),
}
