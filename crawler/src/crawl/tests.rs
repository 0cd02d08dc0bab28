//! Whole crawls of a simulated web under a held clock: hours pass in milliseconds, and the web's
//! own ledger says who came when.

mod bare;
mod copies;
mod extract;
mod http;
mod leaving;
mod order;
mod pace;
mod revisits;
mod shown;
mod sitemaps;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use comity_compliance::robots::{CopyParts, RobotsParts, RobotsRecord};
use comity_compliance::{Grounds, Origin, Site, Timestamp};
use comity_storage::{
    Durability, Engine, EngineKind, Found, LocalStore, OpenOptions, Opening, PageRecord, Plan,
    Stats, Store, Via, Work, open,
};
use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode, Version};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Crawl, CrawlError, End, Extractors, Parts, Reporter, Scorer, UrlFilter, Watch};
use crate::clock::Clock;
use crate::config::{Config, CrawlConfig, Span};
use crate::index::{IndexWriter, Searcher};
use crate::net::{Completeness, FetchError, FetchErrorKind, PartialCause, Reply, Terms, Transport};
use crate::settings::Settings;

const T0: Timestamp = Timestamp::from_secs(1_796_000_000);
const LATENCY: Duration = Duration::from_millis(70);

/// One answer of the simulated web: status, header lines, body. With the status [`STALE`] the first
/// request finds its connection given up, and the second is served.
type Answer = (u16, &'static [(&'static str, &'static str)], String);

const STALE: u16 = 0;

/// A request as the web saw it.
#[derive(Clone, Debug)]
struct Seen {
    url: String,
    from: Timestamp,
    until: Timestamp,
    conditional: bool,
}

/// A web of which every URL is known; what is not listed answers 404.
#[derive(Clone)]
struct Web {
    clock: Clock,
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    ledger: Arc<Mutex<Vec<Seen>>>,
    /// How pages come; a robots.txt comes whole.
    completeness: Completeness,
}

impl Web {
    fn new(clock: Clock, answers: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        let answers = answers.into_iter().map(|(url, answer)| (url.to_owned(), answer));
        let (answers, ledger) = (Arc::new(Mutex::new(answers.collect())), Arc::default());
        Self { clock, answers, ledger, completeness: Completeness::Whole }
    }

    fn set(&self, url: &str, answer: Answer) {
        self.answers.lock().unwrap().insert(url.into(), answer);
    }

    fn ledger(&self) -> Vec<Seen> {
        self.ledger.lock().unwrap().clone()
    }

    fn count(&self, url: &str) -> usize {
        self.ledger().iter().filter(|seen| seen.url == url).count()
    }
}

impl Transport for Web {
    async fn fetch(&self, grounds: Grounds, terms: Terms) -> Result<Reply, FetchError> {
        let from = self.clock.now();
        tokio::time::sleep(LATENCY).await;
        let until = self.clock.now();
        let url = grounds.url().clone();
        let etag = terms.validators.etag;
        let conditional = etag.is_some();
        self.ledger.lock().unwrap().push(Seen { url: url.to_string(), from, until, conditional });
        let is_page = !url.path().ends_with("robots.txt");
        let completeness = if is_page { self.completeness } else { Completeness::Whole };
        let unknown = || (404, &[][..], String::new());
        let answer = self.answers.lock().unwrap().get(url.as_str()).cloned();
        let (mut status, lines, mut body) = answer.unwrap_or_else(unknown);
        if etag
            .is_some_and(|etag| lines.iter().any(|line| *line == ("etag", etag.to_str().unwrap())))
        {
            (status, body) = (304, String::new());
        }
        if status == STALE && self.count(url.as_str()) == 1 {
            return Err(FetchError { url: Box::new(url), kind: FetchErrorKind::Stale });
        }
        let status = if status == STALE { 200 } else { status };
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        Ok(Reply {
            url,
            status: StatusCode::from_u16(status).unwrap(),
            request: HeaderMap::new(),
            headers,
            body: Bytes::from(body),
            completeness,
            version: Version::HTTP_11,
            address: None,
            first_byte: LATENCY,
            total: LATENCY,
            wire_bytes: 0,
            head_at: until,
        })
    }

    /// All sites share an address, but one whose name says that it has its own.
    async fn address_of(&self, url: &Url) -> Result<IpAddr, FetchError> {
        let is_alone = url.host_str().is_some_and(|host| host.starts_with("alone"));
        Ok(Ipv4Addr::new(192, 0, 2, if is_alone { 2 } else { 1 }).into())
    }
}

fn html(body: &str) -> Answer {
    (200, &[("content-type", "text/html")], body.into())
}

fn robots(text: &str) -> Answer {
    (200, &[("content-type", "text/plain")], text.into())
}

fn redirect(to: &'static [(&'static str, &'static str)]) -> Answer {
    (302, to, String::new())
}

fn config(seed: &str) -> Config {
    let mut config = Config::default();
    config.crawl.seeds = vec![seed.into()];
    config.crawl.scope = "any".into();
    config.identity.contact = Some("me@example.org".into());
    config.politeness.address_per_second = 1000;
    config
}

/// What a caller may plug in.
#[derive(Default)]
struct Hooks {
    scorer: Option<Arc<dyn Scorer>>,
    filter: Option<Arc<dyn UrlFilter>>,
    extractors: Extractors,
}

/// A data directory that outlives a crawl, as on disk.
struct Data(tempfile::TempDir);

impl Data {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn index(&self) -> PathBuf {
        self.0.path().join("index")
    }

    /// Crawls `web`, going on with what is there; how it ended, and what the store then holds.
    async fn crawl(&self, web: &Web, config: &Config) -> (End, Stats) {
        self.crawl_until(web, config, CancellationToken::new()).await
    }

    async fn crawl_until(
        &self,
        web: &Web,
        config: &Config,
        stop: CancellationToken,
    ) -> (End, Stats) {
        self.crawl_by(web, config, stop, Hooks::default()).await
    }

    async fn crawl_by(
        &self,
        web: &Web,
        config: &Config,
        stop: CancellationToken,
        hooks: Hooks,
    ) -> (End, Stats) {
        let (end, watch) = self.crawl_watched(web, config, stop, hooks).await;
        (end, watch.stats())
    }

    async fn crawl_watched(
        &self,
        web: &Web,
        config: &Config,
        stop: CancellationToken,
        hooks: Hooks,
    ) -> (End, Watch<LocalStore<Box<dyn Engine>>, Web>) {
        let (ended, watch) = self.crawl_ended(web, config, stop, hooks).await;
        (ended.unwrap(), watch)
    }

    async fn crawl_ended(
        &self,
        web: &Web,
        config: &Config,
        stop: CancellationToken,
        hooks: Hooks,
    ) -> (Result<End, CrawlError>, Watch<LocalStore<Box<dyn Engine>>, Web>) {
        let mut config = config.clone();
        config.storage.data = self.0.path().join("data");
        let settings = Settings::new(&config).unwrap();
        // The writer works in the caller: a thread of its own would not see the held clock.
        let options = OpenOptions { work: Work::Caller, ..OpenOptions::default() };
        let (data, now) = (&settings.store.data, web.clock.now());
        let store = open(data, EngineKind::Redb, Durability::Process, now, options).unwrap();
        let crawl = Crawl::new(Parts {
            settings,
            recovered: store.opening() == Opening::Recovered,
            store,
            transport: web.clone(),
            clock: web.clock,
            reporter: Reporter::default(),
            index: Some(IndexWriter::open_or_create(&self.index()).unwrap()),
            scorer: hooks.scorer,
            filter: hooks.filter,
            extractors: hooks.extractors,
            archive: None,
            bulk: None,
            stop,
        });
        let crawl = crawl.unwrap();
        let watch = crawl.watch();
        (crawl.run().await, watch)
    }

    /// What the store has of a URL, once the crawl is over.
    async fn record(&self, url: &str, now: Timestamp) -> PageRecord {
        let options = OpenOptions { work: Work::Caller, ..OpenOptions::default() };
        let data = self.0.path().join("data");
        let store = open(&data, EngineKind::Redb, Durability::Process, now, options).unwrap();
        let page = store.page(&Url::parse(url).unwrap()).await.unwrap();
        store.close().await.unwrap();
        page.unwrap_or_else(|| panic!("{url} is not known"))
    }

    /// The addresses of what is found, in order.
    fn addresses(&self, words: &str, now: Timestamp) -> Vec<String> {
        let found = Searcher::open(&self.index()).unwrap().search(words, now, 100, 0).unwrap();
        let mut addresses: Vec<_> = found.hits.into_iter().map(|hit| hit.url).collect();
        addresses.sort();
        addresses
    }

    fn found(&self, words: &str, now: Timestamp) -> usize {
        Searcher::open(&self.index()).unwrap().search(words, now, 10, 0).unwrap().total
    }
}

/// The interval is kept between any two requests of a site, and none are under way at once.
#[track_caller]
fn assert_polite(web: &Web, interval: Duration) {
    let mut sites: BTreeMap<Site, Vec<Seen>> = BTreeMap::new();
    for seen in web.ledger() {
        sites.entry(Site::of(&Url::parse(&seen.url).unwrap()).unwrap()).or_default().push(seen);
    }
    for seen in sites.values_mut() {
        seen.sort_by_key(|seen| seen.from);
        for pair in seen.windows(2) {
            let gap = pair[1].from.since(pair[0].until);
            assert!(gap >= interval, "{gap:?} between {pair:?}");
        }
    }
}

/// Also AM-62: the page's nofollow stops its hyperlinks, not its redirect.
#[tokio::test(start_paused = true)]
async fn every_allowed_page_once_and_politely() {
    let clock = Clock::starting_at(T0);
    let web = Web::new(
        clock,
        [
            (
                "https://a.example/",
                html(
                    "<a href=/1>1</a> <a href=/2>2</a> <a href=/private>3</a> <a href=https://b.example/>b</a>",
                ),
            ),
            ("https://a.example/robots.txt", robots("user-agent: *\ndisallow: /private\n")),
            ("https://a.example/1", html("<a href=/2>2</a> <a href=/1#again>1</a>")),
            (
                "https://a.example/2",
                html("<a rel=nofollow href=/secret>x</a> <a href=http://a.example:81/>port</a>"),
            ),
            (
                "https://b.example/",
                html(
                    "<meta name=robots content=nofollow><meta http-equiv=refresh content='0;url=/moved'><a href=/hidden>x</a>",
                ),
            ),
            ("https://b.example/moved", html("the redirect's target")),
            ("http://a.example:81/", html("another port is the same site")),
        ],
    );
    let (end, _) = Data::new().crawl(&web, &config("https://a.example/")).await;
    assert_eq!(end, End::Done);
    let expect: &[(&str, usize)] = &[
        ("https://a.example/", 1),
        ("https://a.example/1", 1),
        ("https://a.example/2", 1),
        ("https://b.example/", 1),
        ("http://a.example:81/", 1),
        ("https://a.example/robots.txt", 1),
        ("https://b.example/robots.txt", 1),
        ("http://a.example:81/robots.txt", 1),
        ("https://a.example/private", 0),
        ("https://a.example/secret", 0),
        ("https://b.example/moved", 1),
        ("https://b.example/hidden", 0),
    ];
    for (url, times) in expect {
        assert_eq!(web.count(url), *times, "{url}");
    }
    assert_polite(&web, Duration::from_secs(2));
}

/// Spellings of one page are one request; what is excluded, without end or no page is none.
#[tokio::test(start_paused = true)]
async fn one_request_a_page_and_no_trap() {
    let links = "<a href=/p?utm_source=a>1</a> <a href=/p?gclid=b#c>2</a> <a href=/%70?>3</a>\
        <a href=/p;jsessionid=d>4</a> <a href=/a.pdf>5</a> <a href=/events/2099/01>6</a>\
        <a href=/n/1>7</a> <a href=/n/2>8</a> <a href=/n/3>9</a> <a href=/n/4>10</a>\
        <img src=/i.png> <form action=/search></form>";
    let web = Web::new(Clock::starting_at(T0), [("https://a.example/", html(links))]);
    let mut config = config("https://a.example/");
    config.urls.exclude = vec!["/*.pdf$".into()];
    config.urls.shape_urls = 3;
    let (end, stats) = Data::new().crawl(&web, &config).await;
    assert_eq!(end, End::Done);
    let mut asked: Vec<_> = web.ledger().into_iter().map(|seen| seen.url).collect();
    asked.sort();
    let expect = ["", "n/1", "n/2", "n/3", "p", "robots.txt"];
    assert_eq!(asked, expect.map(|path| format!("https://a.example/{path}")));
    assert_eq!(stats.noted, BTreeMap::from([("far-date".into(), 1)]), "of what ends by itself");
}

/// Each site's robots.txt lies on the other: both errands go on, in turn and politely.
#[tokio::test(start_paused = true)]
async fn two_sites_whose_robots_txt_lie_on_each_other() {
    let clock = Clock::starting_at(T0);
    let web = Web::new(
        clock,
        [
            ("https://a.example/robots.txt", redirect(&[("location", "https://b.example/rules")])),
            ("https://b.example/robots.txt", redirect(&[("location", "https://a.example/rules")])),
            ("https://a.example/rules", robots("user-agent: *\ndisallow: /b\n")),
            ("https://b.example/rules", robots("user-agent: *\ndisallow: /a\n")),
            ("https://a.example/", html("<a href=/a>1</a> <a href=/b>2</a>")),
            ("https://b.example/", html("<a href=/a>1</a> <a href=/b>2</a>")),
        ],
    );
    let mut config = config("https://a.example/");
    config.crawl.seeds.push("https://b.example/".into());
    assert_eq!(Data::new().crawl(&web, &config).await.0, End::Done);
    // The rules that a redirect leads to bind the origin that it began at (RT-022).
    for (url, times) in
        [("a.example/a", 0), ("a.example/b", 1), ("b.example/a", 1), ("b.example/b", 0)]
    {
        assert_eq!(web.count(&format!("https://{url}")), times, "{url}");
    }
    assert_polite(&web, Duration::from_secs(2));
}

/// A robots.txt that lies on a host that fails is itself unreachable: it is asked for as AM-11 says,
/// not once for each time that the other host may be asked (found by the simulation, seed 7).
#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_lies_on_a_failing_site() {
    let clock = Clock::starting_at(T0);
    let web = Web::new(
        clock,
        [
            ("https://a.example/robots.txt", redirect(&[("location", "https://b.example/rules")])),
            ("https://b.example/robots.txt", (500, &[][..], String::new())),
            ("https://b.example/rules", (500, &[][..], String::new())),
        ],
    );
    let mut config = config("https://a.example/");
    config.crawl.seeds.push("https://b.example/".into());
    config.crawl.patience = Span::secs(86_400);
    let days = Duration::from_secs(10 * 86_400);
    assert!(tokio::time::timeout(days, Data::new().crawl(&web, &config)).await.is_err());
    let tries = web.count("https://a.example/robots.txt");
    assert!((40..=46).contains(&tries), "{tries} in ten days: 15 min doubling to 6 h");
    assert_eq!(web.count("https://a.example/"), 0);
}

/// Runs that end sooner than the site may be asked again still go on, one after the other.
#[tokio::test(start_paused = true)]
async fn an_interval_longer_than_the_patience() {
    let web = Web::new(Clock::starting_at(T0), [("https://a.example/", html("home"))]);
    let mut config = config("https://a.example/");
    config.politeness.interval = Span::secs(150);
    let data = Data::new();
    let (end, _) = data.crawl(&web, &config).await;
    assert!(matches!(end, End::Waits(_)));
    tokio::time::advance(Duration::from_secs(300)).await;
    assert_eq!(data.crawl(&web, &config).await.0, End::Done);
    assert_eq!(web.count("https://a.example/"), 1);
    assert_polite(&web, Duration::from_secs(150));
}

/// Redirects: each hop is judged at its own origin, loops and long chains end (HT-002, HT-012).
#[tokio::test(start_paused = true)]
async fn redirects_are_judged_hop_by_hop() {
    let clock = Clock::starting_at(T0);
    let web = Web::new(
        clock,
        [
            (
                "https://a.example/",
                html("<a href=/go>1</a> <a href=/loop>2</a> <a href=/bad>3</a>"),
            ),
            ("https://a.example/go", redirect(&[("location", "https://b.example/shut")])),
            ("https://b.example/robots.txt", robots("user-agent: *\ndisallow: /shut\n")),
            ("https://a.example/loop", redirect(&[("location", "/loop2")])),
            ("https://a.example/loop2", redirect(&[("location", "/loop")])),
            ("https://a.example/bad", redirect(&[("location", "javascript:alert(1)")])),
        ],
    );
    let (end, stats) = Data::new().crawl(&web, &config("https://a.example/")).await;
    assert_eq!(end, End::Done);
    assert_eq!(web.count("https://b.example/shut"), 0);
    assert_eq!(web.count("https://b.example/robots.txt"), 1);
    assert_eq!((web.count("https://a.example/loop"), web.count("https://a.example/loop2")), (1, 1));
    assert_eq!(stats.refused.get("robots-disallow"), Some(&1));
    assert_eq!(stats.failed.get("bad-redirect"), Some(&1));
}

/// A page leaves the index on the day that it names, though nothing is fetched (RM-031).
#[tokio::test(start_paused = true)]
async fn an_expired_page_is_withdrawn_without_a_visit() {
    let data = Data::new();
    let clock = Clock::starting_at(T0);
    let until = "<meta name=robots content='unavailable_after: 2026-12-01'>";
    let web = Web::new(
        clock,
        [
            (
                "https://a.example/",
                html("<title>Home</title>lasting words <a href=/offer>offer</a>"),
            ),
            (
                "https://a.example/offer",
                html(&format!("{until}<title>Offer</title>fleeting words")),
            ),
        ],
    );
    let mut config = config("https://a.example/");
    config.recrawl.first = Span::secs(30 * 86_400);
    data.crawl(&web, &config).await;
    let found = |words: &str, now| data.found(words, now);
    assert_eq!((found("words", T0), found("fleeting", T0)), (2, 1));
    // 2026-12-01T00:00:00Z is 1,796,083,200; a query knows the date before any sweep.
    assert_eq!(found("fleeting", Timestamp::from_secs(1_796_083_199)), 1);
    assert_eq!(found("fleeting", Timestamp::from_secs(1_796_083_200)), 0);
    let requests = web.ledger().len();
    tokio::time::advance(Duration::from_secs(2 * 86_400)).await;
    data.crawl(&web, &config).await;
    assert_eq!(web.ledger().len(), requests, "nothing was fetched");
    // Gone from the index itself: not even a query in the past finds it.
    assert_eq!((found("words", T0), found("fleeting", T0)), (1, 0));
}

/// A process that was killed after it kept a robots.txt, and before it kept the pace, owes the
/// crawl-delay all the same (AM-36; found by kills of real processes).
#[tokio::test(start_paused = true)]
async fn a_crawl_delay_outlives_a_kill() {
    let (data, clock) = (Data::new(), Clock::starting_at(T0));
    let text = "user-agent: *\ncrawl-delay: 30\n";
    let home = html("<a href=/1>1</a> <a href=/2>2</a>");
    let web = Web::new(
        clock,
        [
            ("https://a.example/robots.txt", robots(text)),
            ("https://a.example/", home),
            ("https://a.example/1", html("1")),
            ("https://a.example/2", html("2")),
        ],
    );
    let options = OpenOptions { work: Work::Caller, ..OpenOptions::default() };
    let (dir, now) = (data.0.path().join("data"), clock.now());
    let store = open(&dir, EngineKind::Redb, Durability::Process, now, options).unwrap();
    let copy = CopyParts {
        body: Some(text.into()),
        cause: "status 200".into(),
        fetched_at: now,
        fresh_until: now.after(Duration::from_secs(86_400)),
    };
    let record = RobotsRecord::from_parts(RobotsParts { copy: Some(copy), failing: None });
    let origin = Origin::of(&Url::parse("https://a.example/").unwrap()).unwrap();
    store.put_robots(&origin, &record).await.unwrap();
    drop(store);
    data.crawl(&web, &config("https://a.example/")).await;
    assert_eq!(web.ledger().len(), 3);
    assert_polite(&web, Duration::from_secs(30));
}

/// A page that robots.txt forbids since leaves the index once that is noticed (RT-049; found by the
/// simulation, seed 1 with an index).
#[tokio::test(start_paused = true)]
async fn a_page_that_is_disallowed_since_is_withdrawn() {
    let (data, clock) = (Data::new(), Clock::starting_at(T0));
    let page = || ("https://a.example/", html("<title>Home</title>lasting words"));
    let config = config("https://a.example/");
    data.crawl(&Web::new(clock, [page()]), &config).await;
    assert_eq!(data.found("words", T0), 1);
    tokio::time::advance(Duration::from_secs(2 * 86_400)).await;
    let options = OpenOptions { work: Work::Caller, ..OpenOptions::default() };
    let (dir, now) = (data.0.path().join("data"), clock.now());
    let store = open(&dir, EngineKind::Redb, Durability::Process, now, options).unwrap();
    let (url, plan) = (Url::parse("https://a.example/").unwrap(), Plan::Again { priority: 0 });
    let wanted = Found {
        url,
        depth: 0,
        hops: 0,
        role: comity_storage::Role::Page,
        via: Via::Seed,
        from: None,
        anchor: None,
        at: now,
        plan,
    };
    store.push(vec![wanted]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let shut = ("https://a.example/robots.txt", robots("user-agent: *\ndisallow: /\n"));
    data.crawl(&Web::new(clock, [page(), shut]), &config).await;
    assert_eq!(data.found("words", T0), 0);
}

/// A robots.txt that cannot be read stops the site; the crawl tells so and ends (RT-025).
#[tokio::test(start_paused = true)]
async fn an_unreadable_robots_txt_is_a_full_stop() {
    let clock = Clock::starting_at(T0);
    let web = Web::new(
        clock,
        [
            ("https://a.example/robots.txt", (503, &[][..], String::new())),
            ("https://a.example/", html("there all the same")),
        ],
    );
    let mut config = config("https://a.example/");
    let data = Data::new();
    let (end, _) = data.crawl(&web, &config).await;
    assert!(
        matches!(end, End::Waits(until) if until.since(T0) >= Duration::from_secs(300)),
        "{end:?}"
    );
    assert_eq!(
        (web.count("https://a.example/robots.txt"), web.count("https://a.example/")),
        (1, 0)
    );
    // With patience for a day, it asks again and again, ever more rarely, and fetches no page
    // before the full stop of 12 hours and, under courteous, before day 30 (AM-8).
    config.crawl.patience = Span(Duration::from_secs(7200));
    let day = Duration::from_secs(86_400);
    assert!(tokio::time::timeout(day, data.crawl(&web, &config)).await.is_err(), "it waits on");
    let tries = web.count("https://a.example/robots.txt");
    assert!((24..=32).contains(&tries), "{tries} in a day: 5 min doubling to 1 h");
    assert_eq!(web.count("https://a.example/"), 0);
}
