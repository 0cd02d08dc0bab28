//! A price monitor: looks at a page again and again, politely, and tells when its price changes. What
//! is the price is said by settings, as in `comity.toml`.
//!
//! ```console
//! $ cargo run -p comity-examples --example price_monitor -- https://shop.example/p/1 me@example.org 60000 .price
//! ```

use std::time::Duration;

use comity::config::Span;
use comity::extract::rules::{ExtractConfig, FieldConfig, Type};
use comity_examples::crawl_of_arguments;
use serde_json::Value;

fn price(css: String) -> ExtractConfig {
    let price = FieldConfig {
        css: Some(css),
        kind: Type::Number,
        required: true,
        ..FieldConfig::default()
    };
    ExtractConfig { fields: [("price".into(), price)].into(), ..ExtractConfig::default() }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let crawler = crawl_of_arguments(&mut arguments)?;
    let css = arguments.next().unwrap_or(".price".into());
    // So many looks; without it, without end.
    let looks = arguments.next().map_or(Ok(usize::MAX), |looks| looks.parse())?;
    let crawler = crawler.settings(|config| {
        config.extract.insert("price".into(), price(css));
        // The page alone, not what it links to.
        config.crawl.depth = Some(0);
        config.recrawl.stay = true;
        let often = Span(config.politeness.interval.0.max(Duration::from_millis(100)));
        (config.recrawl.first, config.recrawl.least) = (often, often);
        config.recrawl.most = Span(often.0 * 2);
    });
    let mut running = crawler.start().await?;
    let mut last = Value::Null;
    for _ in 0..looks {
        let Some(item) = running.next().await else { break };
        let price = item.value["price"].clone();
        #[expect(clippy::print_stdout, reason = "the example's output")]
        if price != last {
            println!("{} {price} (before: {last})", item.at);
        }
        last = price;
    }
    running.finish().await?;
    Ok(())
}
