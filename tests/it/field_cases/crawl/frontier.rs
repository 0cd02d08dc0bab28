//! Area frontier/resume: what is known from one crawl to the next.

use std::time::Duration;

use comity_storage::Outcome;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::{Answers, Case, text};
use super::{Bench, Said, Web, held, in_words, killed, store, told};

pub(super) fn ask(case: &Case) -> Answers {
    match case.id.as_str() {
        "FR-001" => killed::silent_host(case),
        "FR-002" => store::empty_snapshot(),
        "FR-005" => held(retried_target(case)),
        "FR-006" => store::changed_byte(),
        "FR-007" => killed::same_directory(),
        "FR-009" => held(received_date(case)),
        "FR-010" => held(resumed_sitemap()),
        "FR-011" => held(unreadable_robots()),
        "FR-013" => killed::under_way(),
        "FR-014" => held(not_modified(case)),
        "FR-016" => killed::many(),
        id => panic!("{id} is asked nowhere"),
    }
}

const DAY: Duration = Duration::from_secs(86_400);

async fn retried_target(case: &Case) -> Answers {
    let web = Web::of_exchanges(&case.input["exchanges"]);
    let bench = Bench::new(["https://example.com/r"]).pacing(Duration::from_secs(1));
    bench.crawl(&web).await;
    let target = "https://example.com/t";
    let status = bench.outcome(&web, target).await;
    let retried = if web.count(target) == 2 { " after retry" } else { "" };
    told([
        ("final", json!({ target: format!("{status}{retried}") })),
        ("requests_max", json!(web.ledger().len())),
    ])
}

async fn received_date(case: &Case) -> Answers {
    let (url, date) = (text(&case.input, "request"), &case.input["stored"]["last_modified"]);
    let date = date.as_str().unwrap().to_owned();
    let web = Web::new(move |asked| match (asked.url.path(), &asked.validators.last_modified) {
        ("/a", None) => Said::html("well").with("last-modified", &date),
        ("/a", Some(_)) => Said::status(304),
        _ => Said::status(404),
    });
    let bench = Bench::new([url]);
    bench.crawl(&web).await;
    // A page that has stood for four years is fresh for as long as the crawler lets it be.
    tokio::time::advance(40 * DAY).await;
    bench.crawl(&web).await;
    let asked = web.pages().pop().unwrap();
    let sent = asked.validators.last_modified.map(|date| date.to_str().unwrap().to_owned());
    told([("header", json!(["If-Modified-Since", sent]))])
}

/// A site whose sitemap lists fifty pages, of which ten were had when the crawl was stopped.
async fn resumed_sitemap() -> Answers {
    let page = |number| format!("https://example.com/{number}");
    let list: String = (0..50).map(|number| page(number) + "\n").collect();
    let web = Web::new(move |asked| match asked.url.path() {
        "/robots.txt" => Said::text("sitemap: https://example.com/sitemap.txt\n"),
        "/sitemap.txt" => Said::text(&list),
        // Pages of the same words would be taken for a trap.
        path => Said::html(&format!("the page {path}")),
    });
    let (bench, stop) = (Bench::new([page(0)]), CancellationToken::new());
    let stopping = async {
        while web.pages().len() < 11 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        stop.cancel();
    };
    tokio::join!(bench.crawl_until(&web, stop.clone()), stopping);
    let early = web.pages().len();
    assert!((11..13).contains(&early), "{early}");
    tokio::time::advance(DAY + Duration::from_secs(3600)).await;
    let crawled = bench.crawl(&web).await;
    let refetched = format!("{} robots.txt", web.count("https://example.com/robots.txt") - 1);
    told([
        ("pages_total", json!(crawled.stats.fetched)),
        (
            "robots_refetch",
            in_words("allowed (needed if older than 24 h)", &["1 robots.txt"], &refetched),
        ),
    ])
}

async fn unreadable_robots() -> Answers {
    let web = Web::new(|asked| match asked.url.path() {
        "/robots.txt" => Said::status(503),
        _ => Said::html("there all the same"),
    });
    let bench = Bench::new(["https://example.com/"]).pacing(Duration::from_secs(1));
    bench.crawl_and_die(&web, Duration::from_secs(60)).await;
    let before = web.ledger().len();
    bench.crawl_and_die(&web, Duration::from_secs(3600)).await;
    told([
        ("pages_fetched", json!(web.pages().len())),
        ("robots_retried", json!(before > 0 && web.ledger().len() > before)),
    ])
}

/// The case as it stands, and with its rule in the page: a rule in a header may be lifted without
/// a word in a 304, so a page with one is asked for wholly.
async fn not_modified(case: &Case) -> Answers {
    let in_header = revisited(case, RuleIn::Header).await;
    let in_page = revisited(case, RuleIn::Page).await;
    assert_eq!(in_header, in_page);
    in_page
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum RuleIn {
    Header,
    Page,
}

async fn revisited(case: &Case, place: RuleIn) -> Answers {
    let stored = &case.input["stored"];
    let url = text(stored, "url");
    let (tag, body) = (text(stored, "etag").to_owned(), text(stored, "body"));
    let rule = stored["headers"][0][1].as_str().unwrap().to_owned();
    let body = match place {
        RuleIn::Header => format!("{body} lasting words"),
        RuleIn::Page => format!("<meta name=robots content={rule}>{body} lasting words"),
    };
    let status = u16::try_from(case.input["exchange"]["status"].as_u64().unwrap()).unwrap();
    let web = Web::new(move |asked| match (asked.url.path(), &asked.validators.etag) {
        ("/a", Some(known)) if known == tag.as_str() => Said::status(status).with("etag", &tag),
        ("/a", _) if place == RuleIn::Header => {
            Said::html(&body).with("etag", &tag).with("x-robots-tag", &rule)
        }
        ("/a", _) => Said::html(&body).with("etag", &tag),
        _ => Said::status(404),
    });
    let mut bench = Bench::new([url]);
    bench.config.index.enabled = true;
    bench.crawl(&web).await;
    tokio::time::advance(10 * DAY).await;
    bench.crawl(&web).await;
    assert_eq!(web.count(url), 2);
    let seen = web.ledger().into_iter().rfind(|seen| seen.url == url).unwrap();
    assert_eq!(seen.validators.etag.is_some(), place == RuleIn::Page);
    let page = bench.page(&web, url).await.unwrap();
    let rules = match &page.last {
        Some((_, Outcome::Fetched(fetched))) => fetched.directives.clone(),
        other => panic!("{other:?}"),
    };
    let kept = bench.found("words", web.clock.now()) == 1;
    let mut links = Vec::new();
    for link in web.pages().into_iter().map(|seen| seen.url).filter(|link| link != url) {
        if bench.page(&web, &link).await.is_some() && !links.contains(&link) {
            links.push(link);
        }
    }
    told([
        ("body", if kept { json!("kept") } else { Value::Null }),
        ("links", json!(links)),
        ("nosnippet", json!(rules.iter().any(|note| note.rule == "nosnippet"))),
    ])
}
