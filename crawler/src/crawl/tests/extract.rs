//! Extractors in whole crawls: items and links, rules that they cannot loosen, sinks that fail.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::crawl::FoundLink;
use crate::decision::Decision;
use crate::extract::{
    Answering, ExtractError, Extractor, Item, Out, PageView, Receipt, Sink, SinkError,
};
use crate::output::items::{ItemFiles, ItemFormat, ItemSettings};

const HOME: &str = "https://a.example/";

/// Yields each page's title, and the addresses in its `data-to` words as links.
struct Titles;

impl Extractor for Titles {
    type Item = Value;

    fn name(&self) -> &str {
        "titles"
    }

    fn extract(&self, page: &PageView<'_>, out: &mut Out<'_, Value>) -> Result<(), ExtractError> {
        for word in page.content.text.split_whitespace() {
            if let Some(path) = word.strip_prefix("to:") {
                out.link(page.url.join(path)?);
            }
        }
        match page.content.title.as_deref() {
            Some("panic") => panic!("at this page"),
            Some(title) => out.item(json!({ "title": title })),
            None => Err("it has no title".into()),
        }
    }
}

/// Keeps items in memory; from the `fails_at`th on it fails.
#[derive(Clone, Default)]
struct Kept {
    items: Arc<Mutex<Vec<Item>>>,
    fails_at: Option<usize>,
    fails_to_sync: bool,
    pause: Duration,
    at_once: Arc<AtomicUsize>,
}

impl Sink for Kept {
    fn put<'a>(&'a self, items: &'a [Item]) -> Answering<'a, Receipt> {
        Box::pin(async move {
            self.at_once.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(self.pause).await;
            let mut kept = self.items.lock().unwrap();
            if self.fails_at.is_some_and(|n| kept.len() + items.len() >= n) {
                return Err(SinkError::new("the disk is full"));
            }
            kept.extend(items.iter().cloned());
            Ok(Receipt::all(items))
        })
    }

    fn sync(&self) -> Answering<'_, ()> {
        let is_full = self.fails_to_sync && !self.items.lock().unwrap().is_empty();
        let synced = if is_full { Err(SinkError::new("the disk is full")) } else { Ok(()) };
        Box::pin(async { synced })
    }
}

impl Kept {
    fn titles(&self) -> Vec<String> {
        let kept = self.items.lock().unwrap();
        let mut titles: Vec<_> =
            kept.iter().map(|item| item.value["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    }
}

fn hooks(sink: impl Sink) -> Hooks {
    let mut hooks = Hooks::default();
    hooks.extractors.add(Titles);
    hooks.extractors.send_to(Arc::new(sink));
    hooks
}

fn titled(title: &str, body: &str) -> Answer {
    html(&format!("<title>{title}</title>{body}"))
}

/// Items of every page, noindex too (R8, SN-005: what may be shown is no rule on reading); errors
/// and panics are counted, and the crawl goes on.
#[tokio::test(start_paused = true)]
async fn items_of_every_page_and_faults_counted() {
    let web = Web::new(
        Clock::starting_at(T0),
        [
            (
                HOME,
                titled("home", "<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><a href=/4>4</a>"),
            ),
            ("https://a.example/1", titled("hidden", "<meta name=robots content=noindex>")),
            ("https://a.example/2", html("no title")),
            ("https://a.example/3", titled("panic", "")),
            (
                "https://a.example/4",
                (404, &[("content-type", "text/html")], "<title>gone</title>".into()),
            ),
        ],
    );
    let sink = Kept::default();
    let (stop, data) = (CancellationToken::new(), Data::new());
    let (end, watch) = data.crawl_watched(&web, &config(HOME), stop, hooks(sink.clone())).await;
    assert_eq!(end, End::Done);
    assert_eq!(sink.titles(), ["hidden", "home"]);
    let counts = watch.progress(T0).counts;
    assert_eq!(counts.items.get("titles"), Some(&2));
    assert_eq!(counts.extract_errors.get("titles"), Some(&2));
    assert_eq!(counts.fetched, 5);
    let item = sink.items.lock().unwrap()[0].clone();
    assert_eq!((item.extractor.as_str(), item.url.as_str()), ("titles", HOME));
    assert!(item.at > T0 && item.at < T0.after(Duration::from_secs(60)));
    let audit = std::fs::read_to_string(data.0.path().join("data/audit.jsonl")).unwrap();
    assert!(
        audit.contains("\"what\":\"extract-failed\",\"why\":\"titles\",\"evidence\":\"it panicked")
    );
}

/// Links of an extractor go the way of the page's own: nofollow of page or link, robots.txt, scope
/// and depth hold (LK-002, RM-022).
#[tokio::test(start_paused = true)]
async fn links_of_an_extractor_loosen_nothing() {
    let home = "to:/free to:/said to:/forbidden to:https://b.example/ <a rel=nofollow href=/said?utm_source=x>s</a><a href=/quiet>q</a>";
    let web = Web::new(
        Clock::starting_at(T0),
        [
            ("https://a.example/robots.txt", robots("user-agent: *\ndisallow: /forbidden")),
            (HOME, titled("home", home)),
            ("https://a.example/free", titled("free", "")),
            ("https://a.example/said", titled("said", "")),
            ("https://a.example/forbidden", titled("forbidden", "")),
            (
                "https://a.example/quiet",
                titled("quiet", "<meta name=robots content=nofollow>to:/never"),
            ),
            ("https://a.example/never", titled("never", "")),
        ],
    );
    let mut config = config(HOME);
    config.crawl.scope = "host".into();
    let sink = Kept::default();
    Data::new().crawl_by(&web, &config, CancellationToken::new(), hooks(sink.clone())).await;
    assert_eq!(sink.titles(), ["free", "home", "quiet"]);
    assert!(web.ledger().iter().all(|seen| !seen.url.contains("b.example")));
    assert_polite(&web, Duration::from_secs(2));
}

fn three_pages() -> Web {
    let pages = [
        (HOME, titled("home", "<a href=/1>1</a> <a href=/2>2</a>")),
        ("https://a.example/1", titled("one", "")),
        ("https://a.example/2", titled("two", "")),
    ];
    Web::new(Clock::starting_at(T0), pages)
}

/// A sink that fails ends the crawl; the page is not noted as fetched, so the next run brings it
/// again, and nothing is lost.
#[tokio::test(start_paused = true)]
async fn a_sink_that_fails_loses_nothing() {
    let (web, data) = (three_pages(), Data::new());
    let full = Kept { fails_at: Some(2), ..Kept::default() };
    let (stop, config) = (CancellationToken::new(), config(HOME));
    let (ended, _) = data.crawl_ended(&web, &config, stop, hooks(full.clone())).await;
    let error = ended.unwrap_err();
    assert!(matches!(error, CrawlError::Sink(_)), "{error}");
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(format!("{error}: {cause}"), "items could not be kept: the disk is full");
    assert_eq!(full.titles(), ["home"]);
    let rest = Kept::default();
    let stop = CancellationToken::new();
    let (end, _) = data.crawl_by(&web, &config, stop, hooks(rest.clone())).await;
    assert_eq!(end, End::Done);
    assert_eq!(rest.titles(), ["one", "two"]);
}

/// Items that are not durable are as good as none: no visit is committed before they are.
#[tokio::test(start_paused = true)]
async fn no_visit_before_its_items_are_durable() {
    let (web, data) = (three_pages(), Data::new());
    let torn = Kept { fails_to_sync: true, ..Kept::default() };
    let (stop, config) = (CancellationToken::new(), config(HOME));
    let (ended, _) = data.crawl_ended(&web, &config, stop, hooks(torn.clone())).await;
    assert!(matches!(ended, Err(CrawlError::Sink(_))), "{ended:?}");
    assert!(torn.titles().contains(&"home".to_owned()));
    let rest = Kept::default();
    let stop = CancellationToken::new();
    data.crawl_by(&web, &config, stop, hooks(rest.clone())).await;
    assert_eq!(rest.titles(), ["home", "one", "two"]);
}

/// A slow sink makes a slow crawl: no page of the site is asked for before the items of the one
/// before were taken.
#[tokio::test(start_paused = true)]
async fn a_slow_sink_holds_the_fetcher() {
    let web = three_pages();
    let slow = Kept { pause: Duration::from_secs(50), ..Kept::default() };
    let stop = CancellationToken::new();
    Data::new().crawl_by(&web, &config(HOME), stop, hooks(slow.clone())).await;
    assert_eq!(slow.titles(), ["home", "one", "two"]);
    let pages: Vec<_> =
        web.ledger().into_iter().filter(|seen| !seen.url.ends_with(".txt")).collect();
    for pair in pages.windows(2) {
        assert!(pair[1].from.since(pair[0].until) >= Duration::from_secs(50), "{pair:?}");
    }
}

/// Items are on disk when the page is noted as fetched.
#[tokio::test(start_paused = true)]
async fn items_in_a_file() {
    let (web, data) = (three_pages(), Data::new());
    let path = data.0.path().join("items.jsonl");
    let settings = ItemSettings::new(&path, ItemFormat::Jsonl);
    let settings = ItemSettings { durability: Durability::Power, ..settings };
    let sink = ItemFiles::open(settings).unwrap();
    data.crawl_by(&web, &config(HOME), CancellationToken::new(), hooks(sink)).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let titles: Vec<_> = lines.map(|line| line["value"]["title"].clone()).collect();
    assert_eq!(titles, ["home", "one", "two"]);
}

/// A URL filter leaves links, each with its reason, and is not asked about seeds.
#[tokio::test(start_paused = true)]
async fn a_url_filter_leaves_links() {
    struct NoTwo;
    impl UrlFilter for NoTwo {
        fn judge(&self, link: &FoundLink<'_>) -> Decision {
            match link.url.path() {
                "/2" => Decision::leave("two is too many"),
                "/" => panic!("the seed is the operator's own"),
                _ => Decision::take("fine"),
            }
        }
    }
    let (web, data) = (three_pages(), Data::new());
    let hooks = Hooks { filter: Some(Arc::new(NoTwo)), ..Hooks::default() };
    let stop = CancellationToken::new();
    let (_, watch) = data.crawl_watched(&web, &config(HOME), stop, hooks).await;
    assert_eq!(web.count("https://a.example/2"), 0);
    assert_eq!(web.count("https://a.example/1"), 1);
    let counts = watch.progress(T0).counts;
    assert_eq!(counts.dropped_links.get("url-filter"), Some(&1));
    let audit = std::fs::read_to_string(data.0.path().join("data/audit.jsonl")).unwrap();
    assert!(audit.contains("two is too many"));
}
