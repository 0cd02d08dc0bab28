//! A crawl: one driver loop that lends sites to workers, and what the workers share.
//!
//! The driver asks the store which sites are due, and starts a worker for each. A worker takes
//! its URLs through compliance to the network and back to the store (`site`). The driver ends
//! when nothing is due within the operator's patience, or when it is told to stop.

mod archive;
mod audit;
mod budget;
mod copies;
mod driver;
mod extraction;
mod filter;
mod gates;
mod indexing;
mod likeness;
mod links;
mod publish;
mod recall;
mod rejudge;
mod reply;
mod report;
mod revisit;
mod robots;
mod saved;
mod scorer;
mod sinks;
mod site;
mod sitemaps;
mod tell;
#[cfg(test)]
mod tests;
pub mod upkeep;
mod visit;
mod watch;

use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{
    Ended, Facts, Grounds, GroundsReason, Scope, ScopeKind, Site, SitePace, Timestamp,
};
use comity_storage::{Role, Store, StoreError};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use self::filter::UrlFilter;
pub(crate) use self::publish::publication_of;
pub use self::report::{Counts, Event, Progress, Reporter};
pub use self::robots::fetch_once;
pub use self::saved::{has_index, load_config, note_cut_off, note_index, save_config};
pub use self::scorer::{BreadthFirst, FoundLink, Keywords, OnPage, Score, Scorer};
pub use self::watch::Watch;

use self::audit::Audit;
use self::budget::Budget;
use self::extraction::Extraction;
use self::gates::{Gates, Turn};
use self::likeness::Likenesses;
use self::robots::RobotsBook;
use self::sinks::{Feeder, IndexFeed};
use crate::clock::Clock;
use crate::extract::{Erased, ErasedExtractor, Extractor, Sink, SinkError};
use crate::index::{IndexError, IndexWriter};
use crate::net::{Accept, Ceilings, FetchError, Limits, Reply, Terms, Transport};
use crate::output::OutputError;
use crate::output::bulk::Bulk;
use crate::output::warc::Archive;
use crate::page::ScanLimits;
use crate::settings::Settings;
use crate::urls::SiteBudgets;

/// A crawl that cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// The store failed; what it acknowledged is safe.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index failed; what it lacks waits in the outbox.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// An output failed; what it lacks is handed on by the next run.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The audit log cannot be opened.
    #[error("could not open the audit log, audit.jsonl in the data directory")]
    Audit(#[source] io::Error),
    /// Items could not be kept; their pages are fetched again by the next run.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A worker died: a fault of this program.
    #[error("a worker died, which is a fault of this program: {0}")]
    Worker(String),
}

/// How a crawl ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// Nothing is queued any more; pages that were had may be due again later.
    Done,
    /// What is queued is due later than the crawl was told to wait; the instant is the earliest.
    Waits(Timestamp),
    /// The limit on pages is reached.
    PageLimit,
    /// It was told to stop.
    Stopped,
}

/// A crawl, ready to run.
pub struct Crawl<S, T> {
    context: Arc<Context<S, T>>,
    feed: Option<IndexFeed>,
}

/// What all workers share.
struct Context<S, T> {
    settings: Settings,
    scope: Scope,
    page_terms: Terms,
    robots_terms: Terms,
    sitemap_terms: Terms,
    /// A sitemap may lie anywhere: whoever named it was asked.
    sitemap_scope: Scope,
    scan_limits: ScanLimits,
    site_budgets: Mutex<SiteBudgets>,
    likenesses: Likenesses,
    scorer: Arc<dyn Scorer>,
    filter: Option<Arc<dyn UrlFilter>>,
    extraction: Extraction,
    sitemaps_granted: sitemaps::Granted,
    sitemap_slots: Semaphore,
    /// A lease must have this much time left when a request starts.
    longest_request: Duration,
    store: S,
    transport: T,
    clock: Clock,
    /// Workers at work.
    active: AtomicUsize,
    /// When this process took over the store of one that died: a request of that one may have been
    /// under way until then.
    taken_over_at: Option<Timestamp>,
    /// When the run before this one cut off requests under way.
    cut_off_at: OnceLock<Timestamp>,
    ceilings: Ceilings,
    gates: Gates,
    robots: RobotsBook,
    budget: Budget,
    reporter: Reporter,
    audit: Option<Audit>,
    archive: Option<Archive>,
    /// When the index was begun: it has no page of before.
    index_since: OnceLock<Timestamp>,
    committed: Notify,
    outbox_fed: Notify,
    stop: CancellationToken,
}

/// What a request does where many wait for their turn at the same address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum InLine {
    /// It stands in line: it is half-way through an errand.
    Stands,
    /// Its site's lease is given back until its turn is near.
    ComesBack,
}

/// The parts that a crawl is made of.
pub struct Parts<S, T> {
    /// What it is told.
    pub settings: Settings,
    /// Where it keeps what it knows.
    pub store: S,
    /// Whether the process that had the store before did not close it: a request of its may have
    /// been under way until now.
    pub recovered: bool,
    /// How it reaches the web.
    pub transport: T,
    /// What time it is.
    pub clock: Clock,
    /// Who hears of what it does.
    pub reporter: Reporter,
    /// The index, unless pages are not indexed.
    pub index: Option<IndexWriter>,
    /// The index elsewhere that gets the same documents, if there is one.
    pub bulk: Option<Bulk>,
    /// Where every exchange is kept as it was, if it is to be.
    pub archive: Option<Archive>,
    /// In what order links are followed; without it, as the settings say.
    pub scorer: Option<Arc<dyn Scorer>>,
    /// Which found links are wanted, beside what the settings say.
    pub filter: Option<Arc<dyn UrlFilter>>,
    /// What is taken out of pages.
    pub extractors: Extractors,
    /// Tells it to stop.
    pub stop: CancellationToken,
}

/// Extractors of any item types, and where their items go.
#[derive(Default)]
pub struct Extractors {
    all: Vec<Box<dyn ErasedExtractor>>,
    sink: Option<Arc<dyn Sink>>,
}

impl Extractors {
    /// Another extractor.
    pub fn add<E: Extractor>(&mut self, extractor: E) {
        self.all.push(Box::new(Erased(extractor)));
    }

    /// Where items go. Without a sink they are counted and nothing else.
    pub fn send_to(&mut self, sink: Arc<dyn Sink>) {
        self.sink = Some(sink);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Bytes of a sitemap that are fetched (SM-001); one more shows that there was more.
const SITEMAP_BYTES: usize = (50 << 20) + 1;
/// A lease lasts this long, or longer if requests may.
const LEASE: Duration = Duration::from_secs(900);
/// Requests that a lease has time for: a robots.txt behind five slow redirects, and a slow page.
const REQUESTS_PER_LEASE: u32 = 7;
/// No request is taken to be under way for longer, whatever the limits say.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

impl<S: Store, T: Transport> Crawl<S, T> {
    /// Makes a crawl of its parts.
    ///
    /// # Errors
    /// [`CrawlError::Audit`] if the audit log cannot be opened.
    pub fn new(parts: Parts<S, T>) -> Result<Self, CrawlError> {
        let Parts {
            mut settings,
            store,
            recovered,
            transport,
            clock,
            reporter,
            index,
            bulk,
            archive,
            scorer,
            filter,
            extractors,
            stop,
        } = parts;
        // Without an index nobody would empty the outbox.
        settings.index = index.is_some() || bulk.is_some();
        let now = clock.now();
        let keeps_files = settings.store.engine != comity_storage::EngineKind::Memory;
        let audit = keeps_files.then(|| Audit::open(&settings.store.data)).transpose();
        let limits = settings.net.limits;
        // One byte more than is used: it shows that there was more.
        let robots_limits = limits.with_body_bytes(settings.policy.robots.max_bytes + 1);
        let context = Context {
            scope: settings.scope(),
            page_terms: Terms { limits, ..Terms::default() },
            robots_terms: Terms {
                limits: robots_limits,
                accept: Accept::Robots,
                ..Terms::default()
            },
            sitemap_terms: Terms {
                limits: limits.with_body_bytes(SITEMAP_BYTES),
                accept: Accept::Sitemap,
                ..Terms::default()
            },
            sitemap_scope: Scope::new(ScopeKind::Any, &[]),
            sitemaps_granted: sitemaps::Granted::default(),
            sitemap_slots: Semaphore::new(sitemaps::AT_ONCE),
            scan_limits: ScanLimits::default(),
            site_budgets: Mutex::new(SiteBudgets::new(
                settings.urls.traps.clone(),
                SiteBudgets::CAPACITY_BYTES,
            )),
            likenesses: Likenesses::default(),
            scorer: scorer.unwrap_or_else(|| scorer::of_settings(&settings)),
            filter,
            extraction: Extraction::new(extractors),
            longest_request: longest_request(&limits),
            taken_over_at: recovered.then_some(now),
            cut_off_at: OnceLock::new(),
            ceilings: Ceilings::new(settings.ceilings),
            active: AtomicUsize::new(0),
            gates: Gates::default(),
            robots: RobotsBook::default(),
            budget: Budget::new(settings.max_pages, store.stats().fetched),
            audit: audit.map_err(CrawlError::Audit)?,
            archive,
            index_since: OnceLock::new(),
            committed: Notify::new(),
            outbox_fed: Notify::new(),
            settings,
            store,
            transport,
            clock,
            reporter,
            stop,
        };
        index.iter().for_each(|writer| tell_of_lost_index(writer, &context.store));
        let feed = IndexFeed::new(index, bulk, now);
        Ok(Self { context: Arc::new(context), feed })
    }

    /// What can be asked while it runs.
    pub fn watch(&self) -> Watch<S, T> {
        Watch::of(&self.context)
    }

    /// Crawls until nothing is due soon, or until it is told to stop; then closes the store.
    ///
    /// # Errors
    /// [`CrawlError`]; what was committed until then is safe, and running it again goes on.
    pub async fn run(self) -> Result<End, CrawlError> {
        let context = self.context;
        if let Some(at) = saved::cut_off_at(&context.store).await? {
            context.cut_off_at.get_or_init(|| at);
        }
        if let Some(feed) = &self.feed {
            let now = context.clock.now();
            let index = saved::index_since(&context.store, feed.index_is_new(), now).await?;
            let bulk = saved::bulk_since(&context.store, feed.bulk_target(), now).await?;
            let since = index.max(bulk);
            context.index_since.get_or_init(|| since);
        }
        let feeder = self.feed.map(|feed| Feeder::start(feed, Arc::clone(&context)));
        let mut workers = JoinSet::new();
        let ended = match context.push_seeds().await {
            Ok(()) => context.drive(&mut workers, feeder.as_ref()).await,
            Err(error) => Err(error),
        };
        let (all_ended, wound_down) = context.wind_down(workers).await;
        let noted = match all_ended {
            true => Ok(()),
            false => saved::note_cut_off(&context.store, context.clock.now()).await,
        };
        let fed = match feeder {
            Some(feeder) => feeder.finish().await,
            None => Ok(()),
        };
        let sunk = context.extraction.finish().await;
        context.flush_audit();
        let archived = match &context.archive {
            Some(archive) => archive.close().await,
            None => Ok(()),
        };
        let closed = context.store.close().await;
        // The first error is the cause; those after it are what it led to.
        let end = ended?;
        fed?;
        wound_down?;
        sunk?;
        archived?;
        noted?;
        closed?;
        Ok(end)
    }
}

/// A store that has fetched pages, with an index that was begun only now. The text of those pages
/// is kept nowhere else.
fn tell_of_lost_index<S: Store>(index: &IndexWriter, store: &S) {
    let fetched = store.stats().fetched;
    if index.is_new() && fetched > 0 {
        tracing::warn!(
            "the search index is new: {fetched} pages that were fetched before are not in it until \
             they are fetched again; to have them, crawl anew with another --data"
        );
    }
}

/// The longest that one request can be under way, the wait at the ceilings included.
fn longest_request(limits: &Limits) -> Duration {
    limits.whole.min(LONGEST) + Duration::from_secs(60)
}

impl<S, T> Context<S, T> {
    /// All that a verdict on a URL of this site depends on.
    fn facts<'a>(&'a self, role: Role, robots: &'a RobotsRecord, pace: &'a SitePace) -> Facts<'a> {
        let (policy, identity) = (&self.settings.policy, &self.settings.identity);
        let scope = match role {
            Role::Page => &self.scope,
            Role::Sitemap => &self.sitemap_scope,
        };
        Facts { policy, identity, scope, robots, pace }
    }

    /// A pace as it must be taken after a restart that was not clean: an earlier process may have
    /// had a request under way.
    fn since_opening(&self, mut pace: SitePace) -> SitePace {
        for at in self.taken_over_at.iter().chain(self.cut_off_at.get()) {
            pace.assume_request(*at);
        }
        pace
    }

    /// How long a site is lent. With less time than one request may take, none would be made.
    fn lease(&self) -> Duration {
        let turn = self.longest_request.saturating_add(self.settings.policy.interval);
        LEASE.max(turn.saturating_mul(REQUESTS_PER_LEASE))
    }

    /// When the index was begun.
    fn index_since(&self) -> Timestamp {
        self.index_since.get().copied().unwrap_or(Timestamp::EPOCH)
    }
}

impl<S, T: Transport> Context<S, T> {
    /// Makes one request, in turn, under the ceilings, and notes what the site felt. If it makes none,
    /// it says when to try again: the deadline of the lease had come too near, or the line at the
    /// address is long and the asker need not stand in it.
    async fn ask(
        &self,
        grounds: Grounds,
        terms: Terms,
        turn: &mut Turn,
        deadline: Timestamp,
        line: InLine,
    ) -> Result<Result<Reply, FetchError>, Timestamp> {
        let reason = grounds.reason();
        let address = match self.transport.address_of(grounds.url()).await {
            Ok(address) => address,
            Err(error) => return Ok(self.noted(Err(error), reason, self.clock.now(), turn)),
        };
        if let Ok(site) = Site::of(grounds.url()) {
            if line == InLine::ComesBack
                && let Some(pause) = self.ceilings.come_back_in(&site, address)
            {
                return Err(self.clock.now().after(pause));
            }
            self.ceilings.pass(&site, address).await;
        }
        if self.clock.now().after(self.longest_request) >= deadline {
            return Err(Timestamp::EPOCH);
        }
        let asked_at = self.clock.now();
        let fetched = self.transport.fetch(grounds, terms).await;
        Ok(self.noted(fetched, reason, asked_at, turn))
    }

    fn noted(
        &self,
        fetched: Result<Reply, FetchError>,
        reason: GroundsReason,
        asked_at: Timestamp,
        turn: &mut Turn,
    ) -> Result<Reply, FetchError> {
        let now = self.clock.now();
        let head_at = fetched.as_ref().ok().map(|reply| reply.head_at);
        let ended = Ended {
            reason,
            answer: reply::answer(&fetched, now),
            first_byte: head_at.map(|at| at.since(asked_at)),
            at: head_at.unwrap_or(now),
        };
        turn.request_ended(ended, &self.settings.policy);
        fetched
    }
}
