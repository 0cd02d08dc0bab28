//! Traps of area hostile: sites without end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use comity::crawl::End;
use serde_json::json;

use super::super::{Answers, Case};
use super::{Bench, Said, Web, held, in_words, told};

pub(super) fn ask(case: &Case) -> Answers {
    match case.id.as_str() {
        "HO-006" => held(growing_paths()),
        "HO-013" => held(fresh_sessions()),
        "HO-022" => held(calendar()),
        id => panic!("{id} is asked nowhere"),
    }
}

/// What a pattern may have here.
const SHAPE_URLS: usize = 60;

fn bench(seed: &str) -> Bench {
    let mut bench = Bench::new([seed]).pacing(Duration::from_secs(1));
    bench.config.urls.shape_urls = SHAPE_URLS;
    bench.config.urls.dated_urls = SHAPE_URLS;
    bench.config.urls.wordy_urls = SHAPE_URLS;
    bench
}

async fn growing_paths() -> Answers {
    let web = Web::new(|asked| match asked.url.path() {
        path if path.starts_with("/e/") => Said::html("<a href=\"www.example.net/p/\">p</a>"),
        _ => Said::status(404),
    });
    let crawled = bench("https://example.com/e/").crawl(&web).await;
    let fetched = web.pages().len();
    let noted = crawled.stats.noted.get("repeated-segment");
    let small = fetched <= 5 && noted == Some(&1);
    told([
        (
            "fetched_max",
            match small {
                true => json!("small (repeated-segment or depth limit)"),
                false => json!(format!("{fetched}, {noted:?}")),
            },
        ),
        ("crawl_ends", json!(crawled.end == End::Done)),
    ])
}

/// Ten pages, each of which gives every link a new number of a session.
fn ten_pages(session: impl Fn(u64) -> String + Send + Sync + 'static) -> Web {
    let number = AtomicU64::new(0x9e37_79b9_7f4a_7c15);
    Web::new(move |asked| match asked.url.path() {
        "/robots.txt" => Said::status(404),
        path => {
            let links = (0..10).map(|page| {
                let drawn = number.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
                format!("<a href=\"/p{page}?sid={}\">{page}</a>", session(drawn))
            });
            Said::html(&(links.collect::<String>() + path))
        }
    })
}

/// A number that looks drawn by lot goes, and each page comes once. One that could be anything
/// stays, and the pattern's addresses are bounded.
async fn fresh_sessions() -> Answers {
    let drawn = ten_pages(|drawn| format!("{drawn:016x}"));
    let plain = ten_pages(|drawn| (drawn % 100_000).to_string());
    let ends = [
        bench("https://example.com/p0").crawl(&drawn).await,
        bench("https://example.com/p0").crawl(&plain).await,
    ];
    let fetched = [drawn.pages().len(), plain.pages().len()];
    let bounded = fetched[0] == 10 && fetched[1] <= SHAPE_URLS + 1;
    let reason = ends[1].counts.dropped_links.keys().next().map_or("nothing", String::as_str);
    told([
        (
            "fetched_max",
            match bounded {
                true => json!("configured (e.g. 10 pages x few variants)"),
                false => json!(format!("{fetched:?}")),
            },
        ),
        ("crawl_ends", json!(ends.iter().all(|crawled| crawled.end == End::Done))),
        (
            "report",
            in_words("same content under many URLs", &["shape-urls", "same-content"], reason),
        ),
    ])
}

/// A calendar that goes on for ever beside fifty real pages.
async fn calendar() -> Answers {
    let web = Web::new(|asked| match asked.url.path() {
        "/cal" => {
            let year = asked.url.query().and_then(|query| query[2..].parse::<i64>().ok());
            let year = year.unwrap_or_default();
            Said::html(&format!(
                "<a href=/cal?y={}>-</a> <a href=/cal?y={}>+</a>",
                year - 1,
                year + 1
            ))
        }
        "/" => {
            let links = (0..50).map(|number| format!("<a href=/real/{number}>{number}</a>"));
            Said::html(&(links.collect::<String>() + "<a href=/cal?y=2026>calendar</a>"))
        }
        path if path.starts_with("/real/") => Said::html(&format!("the real page {path}")),
        _ => Said::status(404),
    });
    let crawled = bench("https://example.com/").crawl(&web).await;
    let under = |path: &str| web.pages().iter().filter(|seen| seen.url.contains(path)).count();
    let calendar = under("/cal");
    told([
        ("real_pages_fetched", json!(under("/real/"))),
        (
            "calendar_fetched_max",
            match calendar <= SHAPE_URLS {
                true => json!("configured per-pattern or per-host budget"),
                false => json!(calendar),
            },
        ),
        ("crawl_ends", json!(crawled.end == End::Done)),
    ])
}
