//! The spider crate: robots.txt on, a delay between requests, one at a time, all hosts of the lab's
//! scenarios in scope, and everything else as it comes.

use spider::website::Website;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let interval: f64 = arguments[3].parse().unwrap();
    let mut website = Website::new(&arguments[1]);
    website
        .with_respect_robots_txt(true)
        .with_user_agent(Some(&arguments[2]))
        .with_delay((interval * 1000.0) as u64)
        .with_concurrency_limit(Some(1));
    if let Some(proxy) = arguments.get(4) {
        website.with_proxies(Some(vec![proxy.clone()]));
    }
    website.crawl().await;
}
