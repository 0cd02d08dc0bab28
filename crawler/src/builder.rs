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

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use comity_compliance::ScopeKind;
use comity_storage::{
    Engine, EngineKind, LocalStore, OpenError, OpenOptions, Opening, Stats, Store, StoreError,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::config::{Config, Span};
use crate::crawl::{
    Counts, Crawl, CrawlError, End, Event, Extractors, Parts, Reporter, Scorer, UrlFilter,
    save_config,
};
use crate::extract::rules::{self, RuleFault};
use crate::extract::{Answering, Extractor, Item, Receipt, Sink, SinkError};
use crate::net::{HttpTransport, SetupError, Transport};
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
    /// The task of the crawl died: a fault of this program.
    #[error("the crawl died, which is a fault of this program: {0}")]
    Died(String),
}

/// How the builder comes by its transport.
pub trait Reach {
    /// The transport.
    type Transport: Transport;

    /// Makes it.
    ///
    /// # Errors
    /// [`SetupError`]
    fn reach(self, settings: &Settings, clock: Clock) -> Result<Self::Transport, SetupError>;
}

/// The usual way: HTTP over the network, as the settings say.
#[derive(Clone, Copy, Debug)]
pub struct Http;

impl Reach for Http {
    type Transport = HttpTransport;

    fn reach(self, settings: &Settings, clock: Clock) -> Result<HttpTransport, SetupError> {
        HttpTransport::new(settings.net.http_config(&settings.identity), clock)
    }
}

/// A transport of the caller's own.
#[derive(Debug)]
pub struct Own<T>(T);

impl<T: Transport> Reach for Own<T> {
    type Transport = T;

    fn reach(self, _: &Settings, _: Clock) -> Result<T, SetupError> {
        Ok(self.0)
    }
}

/// Describes a crawl. Without [`CrawlerBuilder::data`] it remembers nothing after its end, and no
/// search index is made; `comity crawl` has one.
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

    /// Any other setting of `comity.toml`.
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
        CrawlerBuilder {
            config: self.config,
            extractors: self.extractors,
            has_sink: self.has_sink,
            scorer: self.scorer,
            filter: self.filter,
            reporter: self.reporter,
            clock: self.clock,
            stop: self.stop,
            transport: Own(transport),
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
        let (items, offered) = mpsc::channel(1);
        if !self.has_sink {
            self.extractors.send_to(Arc::new(Offer { items }));
        }
        let store = open(&settings, clock)?;
        save_config(&store, &self.config).await?;
        let stop = self.stop;
        let crawl = Crawl::new(Parts {
            recovered: store.opening() == Opening::Recovered,
            store,
            transport,
            clock,
            reporter: self.reporter,
            index: None,
            archive: None,
            bulk: None,
            scorer: self.scorer,
            filter: self.filter,
            extractors: self.extractors,
            stop: stop.clone(),
            settings,
        })?;
        Ok(Running { offered, last: None, task: Some(spawned(crawl, clock)), stop })
    }
}

/// How a crawl ended, and what it had done by then.
type Ended = (Result<End, CrawlError>, Counts, Stats);

fn spawned<S: Store, T: Transport>(crawl: Crawl<S, T>, clock: Clock) -> JoinHandle<Ended> {
    let started = clock.now();
    tokio::spawn(async move {
        let watch = crawl.watch();
        let ended = crawl.run().await;
        (ended, watch.progress(started).counts, watch.stats())
    })
}

fn open(settings: &Settings, clock: Clock) -> Result<LocalStore<Box<dyn Engine>>, OpenError> {
    let store = &settings.store;
    let options = OpenOptions { cache_bytes: store.cache_bytes, ..OpenOptions::default() };
    comity_storage::open(&store.data, store.engine, store.durability, clock.now(), options)
}

/// How a crawl went.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why it ended.
    pub end: End,
    /// What it did.
    pub counts: Counts,
    /// What the store then held.
    pub store: Stats,
}

/// A crawl at work. Dropped, it stops.
#[derive(Debug)]
pub struct Running {
    offered: mpsc::Receiver<Offered>,
    /// Told when the item that was taken last is done with.
    last: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<Ended>>,
    stop: CancellationToken,
}

impl Running {
    /// The next item; `None` at the end of the crawl, and at once if items go to a sink.
    ///
    /// An item counts as taken when the next one is asked for: only then is its page noted as
    /// fetched. A program that dies between the two gets it again from the next run.
    pub async fn next(&mut self) -> Option<Item> {
        self.taken();
        let Offered { item, taken } = self.offered.recv().await?;
        self.last = Some(taken);
        Some(item)
    }

    /// Waits for the end, and says how it went. Items that were not taken stop the crawl: their pages
    /// are fetched again by the next run.
    ///
    /// # Errors
    /// [`CrawlerError`]
    pub async fn finish(mut self) -> Result<Report, CrawlerError> {
        self.taken();
        let Some(mut task) = self.task.take() else {
            return Err(CrawlerError::Died("it has ended before".into()));
        };
        let (ended, is_left) = tokio::select! {
            ended = &mut task => (ended, false),
            Some(untaken) = self.offered.recv() => {
                self.stop.cancel();
                // Its page waits for it.
                drop(untaken);
                self.offered.close();
                // What is on its way is not taken either.
                while self.offered.recv().await.is_some() {}
                (task.await, true)
            }
        };
        let (ended, counts, store) =
            ended.map_err(|panic| CrawlerError::Died(panic.to_string()))?;
        let end = match ended {
            Err(CrawlError::Sink(_)) if is_left => End::Stopped,
            ended => ended?,
        };
        Ok(Report { end, counts, store })
    }

    fn taken(&mut self) {
        if let Some(last) = self.last.take() {
            // Nobody waits for it if the crawl was stopped meanwhile.
            let _ = last.send(());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// An item on its way to the caller.
#[derive(Debug)]
struct Offered {
    item: Item,
    taken: oneshot::Sender<()>,
}

/// Offers items to whoever calls [`Running::next`], and waits until each was taken.
#[derive(Debug)]
struct Offer {
    items: mpsc::Sender<Offered>,
}

impl Sink for Offer {
    fn put<'a>(&'a self, items: &'a [Item]) -> Answering<'a, Receipt> {
        let gone = || SinkError::new("nobody takes them any more");
        Box::pin(async move {
            for item in items {
                let (taken, told) = oneshot::channel();
                let offered = Offered { item: item.clone(), taken };
                self.items.send(offered).await.map_err(|_| gone())?;
                told.await.map_err(|_| gone())?;
            }
            Ok(Receipt::all(items))
        })
    }
}

#[cfg(test)]
mod tests;
