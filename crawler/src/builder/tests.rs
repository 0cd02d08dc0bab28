//! The builder, on a simulated web.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use comity_compliance::{Grounds, Timestamp};
use hyper::{HeaderMap, StatusCode, Version};
use serde_json::{Value, json};
use url::Url;

use super::*;
use crate::crawl::End;
use crate::extract::{ExtractError, Out, PageView};
use crate::net::{Completeness, FetchError, Reply, Terms};

const T0: Timestamp = Timestamp::from_secs(1_796_000_000);

/// Twenty pages, each of which links to all.
#[derive(Clone)]
struct Twenty {
    clock: Clock,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Transport for Twenty {
    async fn fetch(&self, grounds: Grounds, _: Terms) -> Result<Reply, FetchError> {
        let url = grounds.url().clone();
        self.asked.lock().unwrap().push(url.path().to_owned());
        let links: String = (0..20).map(|n| format!("<a href=/{n}>{n}</a> ")).collect();
        let (status, body) = match url.path() {
            "/robots.txt" => (404, String::new()),
            path => (200, format!("<title>{path}</title>{links}")),
        };
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "text/html".parse().unwrap());
        Ok(Reply {
            url,
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            request: HeaderMap::new(),
            body: Bytes::from(body),
            completeness: Completeness::Whole,
            version: Version::HTTP_11,
            address: None,
            first_byte: Duration::ZERO,
            total: Duration::ZERO,
            wire_bytes: 0,
            head_at: self.clock.now(),
        })
    }

    async fn address_of(&self, _: &Url) -> Result<IpAddr, FetchError> {
        Ok(Ipv4Addr::LOCALHOST.into())
    }
}

struct Titles;

impl Extractor for Titles {
    type Item = Value;

    fn name(&self) -> &str {
        "titles"
    }

    fn extract(&self, page: &PageView<'_>, out: &mut Out<'_, Value>) -> Result<(), ExtractError> {
        out.item(json!(page.content.title))
    }
}

fn twenty() -> (Twenty, CrawlerBuilder<Own<Twenty>>) {
    let clock = Clock::starting_at(T0);
    let web = Twenty { clock, asked: Arc::default() };
    let builder = Crawler::builder().seed("https://a.example/").contact("me@example.org");
    (web.clone(), builder.transport(web).clock(clock).extractor(Titles))
}

/// Every page once, politely, with a report at the end.
#[tokio::test(start_paused = true)]
async fn to_the_end() {
    let (web, builder) = twenty();
    let mut titles = vec![];
    let report = builder.run(|item| titles.push(item.value)).await.unwrap();
    assert_eq!((titles.len(), report.end), (21, End::Done));
    assert_eq!(report.counts.items.get("titles"), Some(&21));
    assert_eq!(report.store.fetched, 21);
    assert_eq!(web.asked.lock().unwrap().len(), 22);
}

/// Who takes no items gets no pages: at most one page is fetched beyond the item that was taken.
#[tokio::test(start_paused = true)]
async fn back_pressure() {
    let (web, builder) = twenty();
    let mut running = builder.start().await.unwrap();
    let mut titles = vec![];
    for taken in 1..4 {
        titles.push(running.next().await.unwrap().value);
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(web.asked.lock().unwrap().len(), taken + 1, "robots.txt and the pages");
    }
    assert_eq!(titles, ["/", "/0", "/1"], "each page is noted as fetched once it was taken");
    let report = running.finish().await.unwrap();
    assert_eq!(report.end, End::Stopped);
    assert_eq!(report.counts.items.get("titles"), Some(&3));
}

/// What was not taken comes again with the next run; what was taken does not.
#[tokio::test]
async fn an_item_that_was_not_taken_comes_again() {
    let data = tempfile::tempdir().unwrap();
    let mut seen = vec![];
    let run = |limit: usize| {
        let builder = twenty().1.data(data.path()).settings(|config| {
            config.politeness.interval = Span(Duration::ZERO);
            config.politeness.adaptive = false;
            config.politeness.address_per_second = 1000;
        });
        async move {
            let (mut running, mut titles) = (builder.start().await.unwrap(), vec![]);
            while titles.len() < limit
                && let Some(item) = running.next().await
            {
                titles.push(item.value.as_str().unwrap().to_owned());
            }
            running.finish().await.unwrap();
            titles
        }
    };
    seen.extend(run(3).await);
    seen.extend(run(usize::MAX).await);
    seen.sort();
    let mut expect: Vec<_> = (0..20).map(|n| format!("/{n}")).chain(["/".to_owned()]).collect();
    expect.sort();
    assert_eq!(seen, expect);
}

/// One line, one case: what is said, and a part of the error.
#[tokio::test]
async fn what_cannot_begin() {
    let cases = [
        (Crawler::builder().seed("https://example.org/"), "no contact"),
        (Crawler::builder().seed("https://example.org/").contact("nobody"), "identity.contact"),
        (Crawler::builder().seed("ftp:"), "crawl.seeds"),
        (Crawler::builder().agent("a b"), "identity.agent"),
        (
            Crawler::builder().settings(|config| {
                config.extract.insert("empty".into(), rules::ExtractConfig::default());
            }),
            "extract.empty: it has no fields",
        ),
    ];
    for (builder, expect) in cases {
        let error = builder.start().await.unwrap_err().to_string();
        assert!(error.contains(expect), "{expect}: {error}");
    }
}

/// A program's index is fed while it crawls, and goes on with the next run.
#[tokio::test(start_paused = true)]
async fn an_index_of_its_own() {
    let data = tempfile::tempdir().unwrap();
    for run in 0..2 {
        let running = twenty().1.data(data.path()).index().max_pages(5 + run).start().await;
        let mut running = running.unwrap();
        let searcher = running.searcher().unwrap().unwrap();
        while running.next().await.is_some() {}
        running.finish().await.unwrap();
        searcher.refresh().unwrap();
        let found = searcher.search("19", T0.after(Duration::from_secs(60)), 10, 0).unwrap();
        assert!(found.total >= 5, "{found:?}");
    }
    std::fs::remove_dir_all(data.path().join("index")).unwrap();
    let error = twenty().1.data(data.path()).index().start().await.unwrap_err();
    assert!(matches!(error, CrawlerError::IndexGone(_)), "{error}");
    let error = twenty().1.index().start().await.unwrap_err();
    assert!(matches!(error, CrawlerError::IndexWithoutData), "{error}");
    let running = twenty().1.start().await.unwrap();
    assert!(running.searcher().unwrap().is_none());
}

/// Settings of outputs count for programs too.
#[tokio::test(start_paused = true)]
async fn outputs_of_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let items = dir.path().join("items.jsonl");
    let builder = twenty().1.settings(|config| {
        config.output.items.path = Some(items.clone());
        config.output.warc.dir = Some(dir.path().join("warc"));
    });
    let report = builder.run(|item| panic!("it goes to the file: {item:?}")).await.unwrap();
    assert_eq!(report.counts.items.get("titles"), Some(&21));
    assert_eq!(std::fs::read_to_string(items).unwrap().lines().count(), 21);
    let files = std::fs::read_dir(dir.path().join("warc")).unwrap();
    assert!(files.flatten().any(|file| file.path().to_string_lossy().ends_with(".warc.gz")));
}
