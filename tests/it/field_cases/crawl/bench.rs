//! A small simulated web behind the crawler's transport, and a data directory on which crawl after
//! crawl of it goes on.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use comity::clock::Clock;
use comity::config::{Config, Span};
use comity::crawl::{Counts, Crawl, End, Extractors, Parts, Reporter};
use comity::index::{IndexWriter, Searcher};
use comity::net::{Completeness, FetchError, FetchErrorKind, Reply, Terms, Transport, Validators};
use comity::settings::Settings;
use comity_compliance::{Grounds, Timestamp};
use comity_storage::{
    Durability, Engine, EngineKind, LocalStore, OpenOptions, Opening, Outcome, PageRecord, Stats,
    Store as _, Work, open,
};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{StatusCode, Version};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::super::{NOW, bytes, text};

/// How long the web takes to answer.
const LATENCY: Duration = Duration::from_millis(10);

/// What a server says.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// A response.
    Answer { status: u16, headers: Vec<(String, Vec<u8>)>, body: String },
    /// The connection is reset.
    Reset,
}

impl Said {
    pub(super) fn status(status: u16) -> Self {
        Self::Answer { status, headers: vec![], body: String::new() }
    }

    pub(super) fn text(body: &str) -> Self {
        Self::status(200).with("content-type", "text/plain").body(body)
    }

    pub(super) fn html(body: &str) -> Self {
        Self::status(200).with("content-type", "text/html").body(body)
    }

    pub(super) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.into(), value.as_ref().into()));
        }
        self
    }

    fn body(mut self, text: &str) -> Self {
        if let Self::Answer { body, .. } = &mut self {
            *body = text.into();
        }
        self
    }

    /// One of a case's `exchanges`.
    pub(super) fn of(exchange: &Value) -> Self {
        let status = u16::try_from(exchange["status"].as_u64().unwrap()).unwrap();
        let mut said = Self::status(status).body(text(exchange, "body"));
        for line in exchange["headers"].as_array().into_iter().flatten() {
            let value = match line[1].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => bytes(&line[1]["b64"]),
            };
            said = said.with(line[0].as_str().unwrap(), value);
        }
        match exchange["location"].as_str() {
            Some(to) => said.with("location", to),
            None if text(exchange, "url").ends_with("/robots.txt") => said,
            None => said.with("content-type", "text/html"),
        }
    }
}

/// A request as its server sees it.
pub(super) struct Asked<'a> {
    pub(super) url: &'a Url,
    /// How often this URL was asked for before.
    pub(super) before: usize,
    pub(super) validators: &'a Validators,
}

/// A request that was made.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) url: String,
    pub(super) host: String,
    pub(super) from: Timestamp,
    /// When it was answered; later than anything if it was not.
    pub(super) until: Timestamp,
    pub(super) validators: Validators,
}

type Answering = dyn Fn(&Asked<'_>) -> Said + Send + Sync;

/// A web of one address unless told otherwise, which writes down who came.
#[derive(Clone)]
pub(super) struct Web {
    pub(super) clock: Clock,
    answering: Arc<Answering>,
    ledger: Arc<Mutex<Vec<Seen>>>,
    /// Hosts with addresses of their own.
    pub(super) addresses: BTreeMap<String, IpAddr>,
}

impl Web {
    pub(super) fn new(answering: impl Fn(&Asked<'_>) -> Said + Send + Sync + 'static) -> Self {
        Self::at(NOW, answering)
    }

    /// The same, with another time at its start.
    pub(super) fn at(
        start: Timestamp,
        answering: impl Fn(&Asked<'_>) -> Said + Send + Sync + 'static,
    ) -> Self {
        let (clock, answering) = (Clock::starting_at(start), Arc::new(answering));
        Self { clock, answering, ledger: Arc::default(), addresses: BTreeMap::new() }
    }

    /// What a case's `exchanges` say, those of one URL in their order and the last again and again.
    /// What they do not know is not there.
    pub(super) fn of_exchanges(exchanges: &Value) -> Self {
        let mut script: BTreeMap<String, Vec<Said>> = BTreeMap::new();
        for exchange in exchanges.as_array().into_iter().flatten() {
            // This crawler keeps no cookies.
            if exchange["when_cookie"].is_null() {
                script.entry(text(exchange, "url").into()).or_default().push(Said::of(exchange));
            }
        }
        Self::new(move |asked| {
            let said = script.get(asked.url.as_str());
            let said = said.and_then(|said| said.get(asked.before).or(said.last()));
            said.cloned().unwrap_or(Said::status(404))
        })
    }

    pub(super) fn ledger(&self) -> Vec<Seen> {
        self.ledger.lock().unwrap().clone()
    }

    /// The same without the robots.txt files.
    pub(super) fn pages(&self) -> Vec<Seen> {
        self.ledger().into_iter().filter(|seen| !seen.url.ends_with("/robots.txt")).collect()
    }

    pub(super) fn count(&self, url: &str) -> usize {
        self.ledger().iter().filter(|seen| seen.url == url).count()
    }

    /// How often each page was asked for.
    pub(super) fn counts(&self) -> Value {
        let counts = self.pages().into_iter().map(|seen| {
            let count = self.count(&seen.url);
            (seen.url, count.into())
        });
        Value::Object(counts.collect())
    }
}

/// The pauses between requests, each from an answer to the next request.
pub(super) fn gaps(seen: &[Seen]) -> Vec<Duration> {
    seen.windows(2).map(|pair| pair[1].from.since(pair[0].until)).collect()
}

impl Transport for Web {
    async fn fetch(&self, grounds: Grounds, terms: Terms) -> Result<Reply, FetchError> {
        let (url, from) = (grounds.url().clone(), self.clock.now());
        let validators = terms.validators;
        let host = url.host_str().unwrap_or_default().into();
        let never = Timestamp::from_secs(1 << 40);
        let before = self.count(url.as_str());
        let said = (self.answering)(&Asked { url: &url, before, validators: &validators });
        let entry = Seen { url: url.to_string(), host, from, until: never, validators };
        let number = {
            let mut ledger = self.ledger.lock().unwrap();
            ledger.push(entry);
            ledger.len() - 1
        };
        tokio::time::sleep(LATENCY).await;
        self.ledger.lock().unwrap()[number].until = self.clock.now();
        let failure = |kind| Err(FetchError { url: Box::new(url.clone()), kind });
        let (status, lines, body) = match said {
            Said::Answer { status, headers, body } => (status, headers, body),
            Said::Reset => {
                let reset = io::ErrorKind::ConnectionReset;
                return failure(FetchErrorKind::Interrupted(reset.into()));
            }
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_bytes(&value).unwrap());
        }
        Ok(Reply {
            url,
            status: StatusCode::from_u16(status).unwrap(),
            request: HeaderMap::new(),
            headers,
            wire_bytes: body.len() as u64,
            body: Bytes::from(body),
            completeness: Completeness::Whole,
            version: Version::HTTP_11,
            address: None,
            first_byte: LATENCY,
            total: LATENCY,
            head_at: self.clock.now(),
        })
    }

    async fn address_of(&self, url: &Url) -> Result<IpAddr, FetchError> {
        let own = self.addresses.get(url.host_str().unwrap_or_default());
        Ok(own.copied().unwrap_or(Ipv4Addr::new(192, 0, 2, 1).into()))
    }
}

/// A data directory and the settings of its crawls.
pub(super) struct Bench {
    dir: tempfile::TempDir,
    pub(super) config: Config,
}

impl Bench {
    /// From these seeds to wherever they lead. Sites are trusted at once, and may share an address.
    pub(super) fn new<S: Into<String>>(seeds: impl IntoIterator<Item = S>) -> Self {
        let mut config = Config::default();
        config.crawl.seeds = seeds.into_iter().map(Into::into).collect();
        config.crawl.scope = "any".into();
        config.identity.agent = "ExampleBot".into();
        config.identity.contact = Some("me@example.org".into());
        config.index.enabled = false;
        config.politeness.address_per_second = 10_000;
        config.politeness.start_percent = 100;
        let dir = tempfile::tempdir().unwrap();
        config.storage.data = dir.path().join("data");
        Self { dir, config }
    }

    /// With this interval, and patience for waits of hours.
    pub(super) fn pacing(mut self, interval: Duration) -> Self {
        self.config.politeness.interval = Span(interval);
        self.config.crawl.patience = Span::secs(6 * 3600);
        self
    }

    fn open(&self, now: Timestamp) -> LocalStore<Box<dyn Engine>> {
        let options = OpenOptions { work: Work::Caller, ..OpenOptions::default() };
        let data = &self.config.storage.data;
        open(data, EngineKind::Redb, Durability::Process, now, options).unwrap()
    }

    /// Crawls to the end, going on with what is there.
    pub(super) async fn crawl(&self, web: &Web) -> Crawled {
        self.crawl_until(web, CancellationToken::new()).await
    }

    /// The same, until it is told to stop.
    pub(super) async fn crawl_until(&self, web: &Web, stop: CancellationToken) -> Crawled {
        let (settings, store) = (Settings::new(&self.config).unwrap(), self.open(web.clock.now()));
        let index = self.config.index.enabled;
        let crawl = Crawl::new(Parts {
            settings,
            recovered: store.opening() == Opening::Recovered,
            archive: None,
            bulk: None,
            scorer: None,
            filter: None,
            extractors: Extractors::default(),
            store,
            transport: web.clone(),
            clock: web.clock,
            reporter: Reporter::default(),
            index: index.then(|| IndexWriter::open_or_create(&self.index()).unwrap()),
            stop,
        });
        let crawl = crawl.unwrap();
        let (watch, start) = (crawl.watch(), web.clock.now());
        let longest = Duration::from_secs(400 * 86_400);
        let end = tokio::time::timeout(longest, crawl.run()).await.expect("it ends").unwrap();
        Crawled { end, stats: watch.stats(), counts: watch.progress(start).counts }
    }

    /// The process dies after so long, if the crawl does not end before.
    pub(super) async fn crawl_and_die(&self, web: &Web, after: Duration) {
        let _ = tokio::time::timeout(after, self.crawl(web)).await;
        // Its tasks are gone once they had a turn.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    fn index(&self) -> std::path::PathBuf {
        self.dir.path().join("index")
    }

    /// Pages that a search for these words shows.
    pub(super) fn found(&self, words: &str, now: Timestamp) -> usize {
        Searcher::open(&self.index()).unwrap().search(words, now, 10, 0).unwrap().total
    }

    /// What the store knows of a URL.
    pub(super) async fn page(&self, web: &Web, url: &str) -> Option<PageRecord> {
        let store = self.open(web.clock.now());
        let page = store.page(&Url::parse(url).unwrap()).await.unwrap();
        store.close().await.unwrap();
        page
    }

    /// How the last visit of a URL ended, in words.
    pub(super) async fn outcome(&self, web: &Web, url: &str) -> String {
        match self.page(web, url).await.and_then(|page| page.last) {
            None => "not visited".into(),
            Some((_, Outcome::Fetched(fetched))) => fetched.status.to_string(),
            Some((_, Outcome::Redirected { to, .. })) => format!("to {to}"),
            Some((_, Outcome::Refused { code, .. })) => code,
            Some((_, Outcome::Failed { code, detail })) => format!("{code}: {detail}"),
            Some((_, Outcome::Noted { reason })) => reason,
        }
    }
}

/// How a crawl ended.
pub(super) struct Crawled {
    pub(super) end: End,
    pub(super) stats: Stats,
    pub(super) counts: Counts,
}
