//! A crawl in five lines, for programs: [`Crawler::builder`] takes what a crawl cannot guess, has the
//! command line's defaults for the rest, and hands over items as they come.
//!
//! ```no_run
//! # async fn run(my_extractor: impl comity::extract::Extractor) -> Result<(), Box<dyn std::error::Error>> {
//! let crawler = comity::Crawler::builder().seed("https://example.org/").contact("me@example.org");
//! let mut running = crawler.extractor(my_extractor).start().await?;
//! while let Some(item) = running.next().await {
//!     println!("{}: {}", item.url, item.value);
//! }
//! println!("{:?}", running.finish().await?.counts);
//! # Ok(())
//! # }
//! ```

mod reach;
mod running;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use comity_compliance::ScopeKind;
use comity_storage::{
    Engine, EngineKind, LocalStore, OpenError, OpenOptions, Opening, Store, StoreError,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use self::reach::{Http, Layered, Own, Reach};
use self::running::{Offer, spawned};
pub use self::running::{Report, Running};
use crate::clock::Clock;
use crate::config::{Config, Span};
use crate::crawl::upkeep::{Place, PlaceError};
use crate::crawl::{
    Crawl, CrawlError, Event, Extractors, Parts, Reporter, Scorer, UrlFilter, has_index,
    note_index, save_config,
};
use crate::extract::rules::{self, RuleFault};
use crate::extract::{Extractor, Item, Sink};
use crate::index::{IndexError, IndexWriter};
use crate::net::{HttpTransport, SetupError, Transport};
use crate::output::OutputError;
use crate::output::bulk::Bulk;
use crate::output::items::ItemFiles;
use crate::output::warc::Archive;
use crate::settings::{Settings, SettingsError};

/// Where programs begin.
#[derive(Clone, Copy, Debug)]
pub struct Crawler;

impl Crawler {
    /// A crawl to be described.
    pub fn builder() -> CrawlerBuilder<Http> {
        let mut config = Config::default();
        config.storage.store = EngineKind::Memory.name().into();
        config.index.enabled = false;
        CrawlerBuilder {
            config,
            extractors: Extractors::default(),
            has_sink: false,
            scorer: None,
            filter: None,
            reporter: Reporter::default(),
            clock: None,
            stop: CancellationToken::new(),
            transport: Http,
        }
    }
}

/// A crawl that cannot begin, or could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlerError {
    /// A setting that cannot be.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A setting of an extractor that cannot be.
    #[error(transparent)]
    Rules(#[from] RuleFault),
    /// A crawl of other people's sites needs a way for them to reach the operator.
    #[error(
        "no contact: say .contact(\"https://example.org/our-crawler\") or .contact(\"you@example.org\"), \
         so that a site owner can ask you before blocking you"
    )]
    NoContact,
    /// The network could not be set up.
    #[error(transparent)]
    Network(#[from] SetupError),
    /// The store could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The crawl failed.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// The index could not be opened.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Pages were put into an index that is not there any more.
    #[error(
        "the search index in {} is gone, though pages were put into it. Restore a backup of it; or \
         make it anew by `comity index rebuild` if the crawl kept an archive; or go on without it, by \
         --no-index",
        .0.display()
    )]
    IndexGone(PathBuf),
    /// A rebuild of the index was broken off, and could not be ended.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// An index beside a store in memory.
    #[error("an index needs a directory: say .data(\"crawl-data\")")]
    IndexWithoutData,
    /// An output could not be opened.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The task of the crawl died: a fault of this program.
    #[error("the crawl died, which is a fault of this program: {0}")]
    Died(String),
}

/// Describes a crawl. Without [`CrawlerBuilder::data`] it remembers nothing after its end; without
/// [`CrawlerBuilder::index`] no search index is made.
#[must_use]
pub struct CrawlerBuilder<R> {
    config: Config,
    extractors: Extractors,
    has_sink: bool,
    scorer: Option<Arc<dyn Scorer>>,
    filter: Option<Arc<dyn UrlFilter>>,
    reporter: Reporter,
    clock: Option<Clock>,
    stop: CancellationToken,
    transport: R,
}

impl<R: Reach> CrawlerBuilder<R> {
    /// Where to begin; may be said several times.
    pub fn seed(mut self, url: impl Into<String>) -> Self {
        self.config.crawl.seeds.push(url.into());
        self
    }

    /// A page or a mail address that reaches whoever runs the crawl.
    pub fn contact(mut self, contact: impl Into<String>) -> Self {
        self.config.identity.contact = Some(contact.into());
        self
    }

    /// The product token that robots.txt knows the crawler by.
    pub fn agent(mut self, token: impl Into<String>) -> Self {
        self.config.identity.agent = token.into();
        self
    }

    /// How far to go from the seeds; without it, their host names.
    pub fn scope(mut self, scope: ScopeKind) -> Self {
        self.config.crawl.scope = scope.name().into();
        self
    }

    /// Pages to fetch in all.
    pub fn max_pages(mut self, pages: u64) -> Self {
        self.config.crawl.max_pages = pages;
        self
    }

    /// Least time between two requests to one site.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.config.politeness.interval = Span(interval);
        self
    }

    /// A range that is not public and may be asked all the same, such as `127.0.0.0/8`.
    pub fn allow_network(mut self, range: impl Into<String>) -> Self {
        self.config.network.allow.push(range.into());
        self
    }

    /// Keeps the crawl's state in a directory: the same crawl again goes on where this one stopped.
    pub fn data(mut self, dir: impl Into<PathBuf>) -> Self {
        self.config.storage.data = dir.into();
        self.config.storage.store = EngineKind::Sled.name().into();
        self
    }

    /// Puts pages into a search index in the data directory, which [`Running::searcher`] reads.
    pub fn index(mut self) -> Self {
        self.config.index.enabled = true;
        self
    }

    /// Any other setting of `comity.toml`. Items go to files if `output.items.path` is set.
    pub fn settings(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// What is taken out of pages; may be said several times. `[extract]` of the settings counts too.
    pub fn extractor<E: Extractor>(mut self, extractor: E) -> Self {
        self.extractors.add(extractor);
        self
    }

    /// Which links are followed first.
    pub fn scorer(mut self, scorer: impl Scorer + 'static) -> Self {
        self.scorer = Some(Arc::new(scorer));
        self
    }

    /// Which links are wanted.
    pub fn url_filter(mut self, filter: impl UrlFilter) -> Self {
        self.filter = Some(Arc::new(filter));
        self
    }

    /// Where items go, in the place of [`Running::next`].
    pub fn sink(mut self, sink: impl Sink) -> Self {
        self.extractors.send_to(Arc::new(sink));
        self.has_sink = true;
        self
    }

    /// Who hears of what is done: fetches, refusals, failures.
    pub fn listener(mut self, listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.reporter = Reporter::new(listener);
        self
    }

    /// What time it is.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Tells the crawl to stop.
    pub fn stop(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }

    /// How the web is reached.
    pub fn transport<T: Transport>(self, transport: T) -> CrawlerBuilder<Own<T>> {
        self.reaching(Own(transport))
    }

    /// Puts a layer over the usual transport, which then sees each request and what it brought.
    pub fn layer<F, T>(self, layer: F) -> CrawlerBuilder<Layered<F>>
    where
        F: FnOnce(HttpTransport) -> T,
        T: Transport,
    {
        self.reaching(Layered(layer))
    }

    fn reaching<N>(self, transport: N) -> CrawlerBuilder<N> {
        CrawlerBuilder {
            config: self.config,
            extractors: self.extractors,
            has_sink: self.has_sink,
            scorer: self.scorer,
            filter: self.filter,
            reporter: self.reporter,
            clock: self.clock,
            stop: self.stop,
            transport,
        }
    }

    /// Crawls to the end, and calls `take` with each item. The page's site is not asked again until
    /// it has returned.
    ///
    /// # Errors
    /// [`CrawlerError`]
    pub async fn run(self, mut take: impl FnMut(Item)) -> Result<Report, CrawlerError> {
        let mut running = self.start().await?;
        while let Some(item) = running.next().await {
            take(item);
        }
        running.finish().await
    }

    /// Starts the crawl on tasks of its own.
    ///
    /// # Errors
    /// [`CrawlerError`] if it cannot begin.
    pub async fn start(mut self) -> Result<Running, CrawlerError> {
        let settings = Settings::new(&self.config)?;
        for rules in rules::check(&self.config.extract)? {
            self.extractors.add(rules);
        }
        if settings.lacks_contact() {
            return Err(CrawlerError::NoContact);
        }
        let clock = self.clock.unwrap_or_else(Clock::real);
        let transport = self.transport.reach(&settings, clock)?;
        if self.config.index.enabled && !settings.index {
            return Err(CrawlerError::IndexWithoutData);
        }
        let (items, offered) = mpsc::channel(1);
        let files = settings.items.clone().filter(|_| self.config.output.items.path.is_some());
        match files {
            _ if self.has_sink => {}
            Some(files) => self.extractors.send_to(Arc::new(ItemFiles::open(files)?)),
            None => self.extractors.send_to(Arc::new(Offer { items })),
        }
        let archive = settings.warc.clone().map(Archive::open).transpose()?;
        let bulk = settings.bulk.clone().map(Bulk::new).transpose()?;
        let store = open(&settings, clock)?;
        let index = open_index(&settings, &store).await?;
        let index_dir = index.is_some().then(|| index_dir(&settings.store.data));
        save_config(&store, &self.config).await?;
        let stop = self.stop;
        let crawl = Crawl::new(Parts {
            recovered: store.opening() == Opening::Recovered,
            store,
            transport,
            clock,
            reporter: self.reporter,
            index,
            archive,
            bulk,
            scorer: self.scorer,
            filter: self.filter,
            extractors: self.extractors,
            stop: stop.clone(),
            settings,
        })?;
        let task = Some(spawned(crawl, clock));
        Ok(Running { offered, last: None, task, stop, index_dir })
    }
}

fn open(settings: &Settings, clock: Clock) -> Result<LocalStore<Box<dyn Engine>>, OpenError> {
    let store = &settings.store;
    let options = OpenOptions { cache_bytes: store.cache_bytes, ..OpenOptions::default() };
    comity_storage::open(&store.data, store.engine, store.durability, clock.now(), options)
}

/// Where a data directory has its index.
pub(crate) fn index_dir(data: &Path) -> PathBuf {
    data.join("index")
}

/// The index of a crawl, if its pages are indexed. One that was begun must still be there.
pub(crate) async fn open_index<S: Store>(
    settings: &Settings,
    store: &S,
) -> Result<Option<IndexWriter>, CrawlerError> {
    if !settings.index {
        return Ok(None);
    }
    let dir = index_dir(&settings.store.data);
    Place::of(&dir).settle()?;
    let expected = has_index(store).await?;
    if expected && !dir.join("meta.json").is_file() {
        return Err(CrawlerError::IndexGone(dir));
    }
    let writer = IndexWriter::open_with(&dir, settings.index_memory)?;
    if !expected {
        note_index(store).await?;
    }
    Ok(Some(writer))
}
