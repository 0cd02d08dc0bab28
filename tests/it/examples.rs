//! The examples, run as a reader would: against the lab, or a site of which the answers are known.

use std::sync::atomic::{AtomicUsize, Ordering};

use comity_conformance::{Lab, ViolationKind, judge};
use serde_json::Value;

use crate::command::{Ended, run_example};
use crate::sites::Site;

/// Milliseconds between requests.
const INTERVAL: &str = "100";

fn site_of(lab: &Lab, name: &str) -> String {
    let sites = lab.sites();
    let site = sites.iter().find(|site| site.base_url.contains(name)).unwrap();
    format!("{}/", site.base_url.trim_end_matches('/'))
}

/// Runs an example beside the lab's own tasks.
async fn run(name: &'static str, args: Vec<String>) -> Ended {
    let run = move || run_example(name, &args.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn args(seed: &str, rest: &[&str]) -> Vec<String> {
    [seed, "", INTERVAL].iter().chain(rest).map(|argument| (*argument).to_owned()).collect()
}

/// What the lab's bakery says at the top of its pages, one item each; and no rule broken meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn custom_extractor() {
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "bakery");
    let ended = run("custom_extractor", args(&seed, &[])).await.well();
    let items: Vec<Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut headlines: Vec<_> =
        items.iter().map(|item| item["value"]["headline"].as_str().unwrap()).collect();
    headlines.sort_unstable();
    let expect =
        ["Cakes", "For friends", "Marrow Street Bakery", "Our bread", "The starter", "This season"];
    assert_eq!(headlines, expect);
    assert!(items.iter().all(|item| item["extractor"] == "articles"));
    assert!(items.iter().all(|item| item["value"]["words"].as_u64().unwrap() > 20));
    let expectations = lab.expectations();
    let report = judge(&lab.stop().await, &expectations, std::time::Duration::from_millis(100));
    // Of the other sites nothing was asked.
    let broken = report.violations.iter().any(|broken| broken.kind != ViolationKind::Missing);
    assert!(!broken, "{report}");
}

/// Links that speak of it are followed first, and seats are left by the filter.
#[tokio::test(flavor = "multi_thread")]
async fn focused_crawl() {
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "theatre");
    let ended = run("focused_crawl", args(&seed, &["tickets", "2"])).await.well();
    let paths: Vec<_> = ended.out.lines().map(|line| line.replace(&seed, "/")).collect();
    assert_eq!(paths[..1], ["200 /"]);
    assert!(ended.err.contains("PageLimit"), "{ended:?}");
    let asked: Vec<_> = lab.ledger().into_iter().map(|request| request.path_and_query).collect();
    assert_eq!(asked[..3], ["/robots.txt", "/", "/tickets"]);
}

/// Each change of a price is told once, whatever is asked how often.
#[test]
fn price_monitor() {
    let looks = AtomicUsize::new(0);
    let site = Site::start(move |path| {
        if path == "/robots.txt" {
            return (404, String::new(), String::new());
        }
        let price = ["£9.50", "£9.50", "£8", "£8", "£9.50"];
        let look = looks.fetch_add(1, Ordering::SeqCst).min(price.len() - 1);
        let body = format!("<p>Now <b class=price>{}</b>, <a href=/other>other</a>", price[look]);
        (200, "content-type: text/html\r\n".into(), body)
    });
    let args = args(&site.url("/p/1"), &[".price", "5"]);
    let ended = run_example("price_monitor", &args.iter().map(String::as_str).collect::<Vec<_>>());
    let ended = ended.well();
    let told: Vec<_> =
        ended.out.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
    assert_eq!(told, ["9.5 (before: null)", "8 (before: 9.5)", "9.5 (before: 8)"]);
    assert!(site.paths().iter().all(|path| path != "/other"));
    assert!(site.shortest_gap() >= std::time::Duration::from_millis(99));
}
