//! An extractor of one's own with typed items: what stands at the top of each page.
//!
//! ```console
//! $ cargo run -p comity-examples --example custom_extractor -- https://example.org/ me@example.org
//! ```

use comity::extract::{ExtractError, Extractor, Needs, Out, PageView};
use comity_examples::crawl_of_arguments;
use serde::Serialize;

/// What is found on a page.
#[derive(Debug, Serialize)]
struct Article {
    headline: String,
    words: usize,
    links: usize,
}

/// Finds it.
struct Articles {
    headline: scraper::Selector,
}

impl Extractor for Articles {
    type Item = Article;

    fn name(&self) -> &str {
        "articles"
    }

    fn needs(&self) -> Needs {
        Needs::Dom
    }

    fn extract(&self, page: &PageView<'_>, out: &mut Out<'_, Article>) -> Result<(), ExtractError> {
        let dom = page.dom()?;
        // An error is counted and told with the page's URL, and the crawl goes on.
        let headline = dom.select(dom.root(), &self.headline, 1)?.pop().ok_or("no h1")?;
        out.item(Article {
            headline: dom.text(headline)?,
            words: page.content.text.split_whitespace().count(),
            links: page.content.links.len(),
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let crawler = crawl_of_arguments(&mut std::env::args().skip(1))?;
    let headline = scraper::Selector::parse("h1").map_err(|e| e.to_string())?;
    let mut running = crawler.extractor(Articles { headline }).start().await?;
    #[expect(clippy::print_stdout, reason = "the example's output")]
    while let Some(item) = running.next().await {
        println!("{}", serde_json::to_string(&item)?);
    }
    let report = running.finish().await?;
    #[expect(clippy::print_stderr, reason = "the example's output")]
    {
        eprintln!("{} pages, {:?}", report.counts.fetched, report.counts.items);
    }
    Ok(())
}
