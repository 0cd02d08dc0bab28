//! A focused crawl: a scorer of one's own puts the links in order, a filter leaves some, and each
//! answer has its reason.
//!
//! ```console
//! $ cargo run -p comity-examples --example focused_crawl -- https://example.org/ me@example.org 2000 boat 20
//! ```

use comity::crawl::{Event, FoundLink, Score, Scorer, UrlFilter};
use comity::decision::Decision;
use comity_examples::crawl_of_arguments;

/// Links that speak of the word first; then those on pages that do.
struct SpeaksOf(String);

impl Scorer for SpeaksOf {
    fn score(&self, link: &FoundLink<'_>) -> Score {
        let speaks = |text: &str| text.to_lowercase().contains(&self.0);
        if speaks(link.anchor) || speaks(link.url.path()) {
            return Score { priority: 0, reason: "the link speaks of it".into() };
        }
        match link.on {
            Some(page) if speaks(page.title) || speaks(page.text) => {
                Score { priority: 100, reason: "its page speaks of it".into() }
            }
            _ => Score { priority: 200, reason: "nothing speaks of it".into() },
        }
    }
}

/// Leaves what is not read but searched.
struct NoQueries;

impl UrlFilter for NoQueries {
    fn judge(&self, link: &FoundLink<'_>) -> Decision {
        match link.url.query() {
            Some(query) => Decision::leave(format!("it has a query, ?{query}")),
            None => Decision::take("a page of its own"),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let crawler = crawl_of_arguments(&mut arguments)?;
    let word = arguments.next().unwrap_or("boat".into()).to_lowercase();
    let pages = arguments.next().map_or(Ok(20), |pages| pages.parse())?;
    #[expect(clippy::print_stdout, reason = "the example's output")]
    let listener = |event: &Event<'_>| {
        if let Event::Fetched { url, status, .. } = event {
            println!("{status} {url}");
        }
    };
    let crawler = crawler.scorer(SpeaksOf(word)).url_filter(NoQueries).max_pages(pages);
    let report = crawler.listener(listener).run(|_| {}).await?;
    #[expect(clippy::print_stderr, reason = "the example's output")]
    {
        eprintln!("{:?}; links not followed: {:?}", report.end, report.counts.dropped_links);
    }
    Ok(())
}
