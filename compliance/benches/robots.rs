//! Speed of a robots.txt, beside two other crates in the same run: reading one, asking it, and what
//! a file made for it can cost. docs/speed.md tells how to read the numbers.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use comity_compliance::robots::{Access, RobotsTxt};
use comity_compliance::{Preset, ProductToken};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use robotstxt::{DefaultMatcher, RobotsParseHandler, parse_robotstxt};
use texting_robots::Robot;
use url::Url;

/// No group names it, so the rules for everyone apply.
const AGENT: &str = "strangerbot";

const FILES: [(&str, &str, &str); 3] = [
    ("1k", include_str!("data/robots-1k.txt"), include_str!("data/urls-1k.txt")),
    ("20k", include_str!("data/robots-20k.txt"), include_str!("data/urls-20k.txt")),
    ("490k", include_str!("data/robots-490k.txt"), include_str!("data/urls-490k.txt")),
];

/// Rules of the hostile file: 490 KB, with 20 to 59 stars in each.
const HOSTILE_RULES: usize = 5187;

/// Rules of the same kind in the file that the `robotstxt` crate is asked about as well: with all of
/// them it does not end in minutes.
const FEWER_RULES: usize = 3;

fn hostile_file(rules: usize) -> String {
    let mut text = String::from("User-agent: *\n");
    for at in 0..rules {
        writeln!(text, "Disallow: /{}*b{at}", "*a".repeat(20 + at % 40)).expect("a string grows");
    }
    text
}

/// URLs that no rule of [`hostile_file`] matches. The first has no `b` at all; the second has every
/// letter and digit of the rules before its last letters, so that only a search can tell.
fn hostile_urls() -> [(&'static str, String); 2] {
    let equal = "a".repeat(2000);
    [
        ("equal letters", format!("https://www.example.com/{equal}")),
        ("all letters", format!("https://www.example.com/b0123456789{equal}")),
    ]
}

fn tokens() -> [ProductToken; 1] {
    [ProductToken::new(AGENT).expect("a token")]
}

/// The peer that only reads lines: what it finds goes nowhere.
struct Nowhere;

impl RobotsParseHandler for Nowhere {
    fn handle_robots_start(&mut self) {}
    fn handle_robots_end(&mut self) {}
    fn handle_user_agent(&mut self, line: u32, name: &str) {
        black_box((line, name));
    }
    fn handle_allow(&mut self, line: u32, value: &str) {
        black_box((line, value));
    }
    fn handle_disallow(&mut self, line: u32, value: &str) {
        black_box((line, value));
    }
    fn handle_sitemap(&mut self, line: u32, value: &str) {
        black_box((line, value));
    }
    fn handle_unknown_action(&mut self, line: u32, action: &str, value: &str) {
        black_box((line, action, value));
    }
}

/// From text to something that answers. The `robotstxt` crate keeps nothing, so its lines only are
/// read; `texting_robots` keeps the rules of one agent, we those of all.
fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse");
    for (size, text, _) in FILES {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("comity", size), text, |b, text| {
            b.iter(|| RobotsTxt::parse(text.as_bytes()));
        });
        group.bench_with_input(BenchmarkId::new("robotstxt", size), text, |b, text| {
            b.iter(|| parse_robotstxt(text, &mut Nowhere));
        });
        group.bench_with_input(BenchmarkId::new("texting_robots", size), text, |b, text| {
            b.iter(|| Robot::new(AGENT, text.as_bytes()).expect("a file"));
        });
    }
    group.finish();
}

/// From text to the answer about one URL: what the `robotstxt` crate does for each.
fn parse_and_ask(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse and ask once");
    for (size, text, urls) in FILES {
        let given = urls.lines().next().expect("a URL");
        let url = Url::parse(given).expect("a URL");
        let tokens = tokens();
        group.bench_with_input(BenchmarkId::new("comity", size), text, |b, text| {
            b.iter(|| RobotsTxt::parse(text.as_bytes()).verdict(Preset::Google, &tokens, &url));
        });
        group.bench_with_input(BenchmarkId::new("robotstxt", size), text, |b, text| {
            b.iter(|| DefaultMatcher::default().one_agent_allowed_by_robots(text, AGENT, given));
        });
        group.bench_with_input(BenchmarkId::new("texting_robots", size), text, |b, text| {
            b.iter(|| Robot::new(AGENT, text.as_bytes()).expect("a file").allowed(given));
        });
    }
    group.finish();
}

/// 1,000 URLs of a compiled file.
fn ask(c: &mut Criterion) {
    let mut group = c.benchmark_group("ask 1000 URLs");
    for (size, text, urls) in FILES {
        let file = RobotsTxt::parse(text.as_bytes());
        let peer = Robot::new(AGENT, text.as_bytes()).expect("a file");
        let given: Vec<&str> = urls.lines().collect();
        let parsed: Vec<Url> = given.iter().map(|url| Url::parse(url).expect("a URL")).collect();
        let tokens = tokens();
        group.throughput(Throughput::Elements(given.len() as u64));
        for preset in Preset::ALL {
            group.bench_function(BenchmarkId::new(format!("comity {preset}"), size), |b| {
                let allowed =
                    |url: &&Url| file.verdict(*preset, &tokens, url).access == Access::Allow;
                b.iter(|| parsed.iter().filter(allowed).count());
            });
        }
        group.bench_function(BenchmarkId::new("texting_robots", size), |b| {
            b.iter(|| given.iter().filter(|url| peer.allowed(url)).count());
        });
    }
    group.finish();
}

/// Many stars against many equal letters.
fn hostile(c: &mut Criterion) {
    let mut group = c.benchmark_group("hostile");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    for rules in [HOSTILE_RULES, FEWER_RULES] {
        let text = hostile_file(rules);
        let file = RobotsTxt::parse(text.as_bytes());
        let peer = Robot::new(AGENT, text.as_bytes()).expect("a file");
        let tokens = tokens();
        let name = |who, what| BenchmarkId::new(format!("{who}, {what}"), rules);
        group.bench_function(name("comity", "parse"), |b| {
            b.iter(|| RobotsTxt::parse(text.as_bytes()));
        });
        group.bench_function(name("texting_robots", "parse"), |b| {
            b.iter(|| Robot::new(AGENT, text.as_bytes()).expect("a file"));
        });
        for (what, given) in hostile_urls() {
            let url = Url::parse(&given).expect("a URL");
            group.bench_function(name("comity", what), |b| {
                b.iter(|| file.verdict(Preset::Google, &tokens, &url));
            });
            group.bench_function(name("texting_robots", what), |b| {
                b.iter(|| peer.allowed(&given));
            });
            if rules == FEWER_RULES {
                let ask =
                    || DefaultMatcher::default().one_agent_allowed_by_robots(&text, AGENT, &given);
                group.bench_function(name("robotstxt", what), |b| b.iter(ask));
            }
        }
    }
    group.finish();
}

criterion_group! {
    name = robots;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20)
        .without_plots();
    targets = parse, parse_and_ask, ask, hostile
}
criterion_main!(robots);
