//! What the examples share: the crawl that the command line describes.

use std::time::Duration;

use comity::Crawler;
use comity::builder::{CrawlerBuilder, Http};

/// A crawl from `SEED [CONTACT] [INTERVAL_MS]`. Seeds on this machine need no contact and are allowed
/// to be asked.
///
/// # Errors
/// If there is no seed, or the interval is no number.
pub fn crawl_of_arguments(
    arguments: &mut impl Iterator<Item = String>,
) -> Result<CrawlerBuilder<Http>, Box<dyn std::error::Error>> {
    let seed = arguments.next().ok_or("where should it begin? Say SEED [CONTACT] [INTERVAL_MS]")?;
    let is_local = seed.contains("localhost") || seed.contains("//127.0.0.1");
    let mut crawler = Crawler::builder().seed(seed).agent("examplebot");
    if let Some(contact) = arguments.next().filter(|contact| !contact.is_empty()) {
        crawler = crawler.contact(contact);
    }
    if let Some(interval) = arguments.next() {
        crawler = crawler.interval(Duration::from_millis(interval.parse()?));
    }
    Ok(if is_local { crawler.allow_network("127.0.0.0/8") } else { crawler })
}
