//! The spider crate: robots.txt on, a delay between requests, everything else as it comes. (With
//! `with_concurrency_limit(Some(1))` too, it left out some of a page's links.)

use spider::website::Website;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let interval: f64 = arguments[3].parse().unwrap();
    let mut website = Website::new(&arguments[1]);
    website
        .with_respect_robots_txt(true)
        .with_user_agent(Some(&arguments[2]))
        .with_delay((interval * 1000.0) as u64);
    if let Some(proxy) = arguments.get(4) {
        website.with_proxies(Some(vec![proxy.clone()]));
    }
    website.crawl().await;
}
