//! Area rate-limit: when a host is asked next, by the ledger of the web.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use comity::config::Span;
use comity_compliance::{Policy, Timestamp};
use serde_json::{Value, json};
use url::Url;

use super::super::{Answers, Case, NOW, strings, text};
use super::bench::{Seen, gaps};
use super::{Bench, Said, Web, held, seconds, told};

pub(super) fn ask(case: &Case) -> Answers {
    match case.id.as_str() {
        "RL-001" => held(different_hosts(case)),
        "RL-005" => held(tiny_crawl_delay(case)),
        "RL-006" => held(one_retry_after(case)),
        "RL-009" => held(odd_retry_afters(case)),
        "RL-012" => held(hops(case)),
        "RL-013" => held(failures(case)),
        "RL-016" => held(spellings(case)),
        "RL-017" => held(neighbours(case)),
        id => panic!("{id} is asked nowhere"),
    }
}

fn delay(case: &Case, key: &str) -> Duration {
    Duration::from_secs(case.input[key].as_u64().unwrap())
}

fn shortest(seen: &[Seen]) -> Value {
    gaps(seen).into_iter().min().map_or(Value::Null, seconds)
}

/// The delay of one host is none of another.
async fn different_hosts(case: &Case) -> Answers {
    let urls: Vec<_> = strings(&case.input["urls"]).collect();
    let mut web = Web::new(|_| Said::status(404));
    for (number, url) in (1..).zip(&urls) {
        let host = Url::parse(url).unwrap().host_str().unwrap().to_owned();
        web.addresses.insert(host, [192, 0, 2, number].into());
    }
    Bench::new(urls.clone()).pacing(delay(case, "delay_s")).crawl(&web).await;
    let pages = web.pages();
    assert_eq!(pages.len(), urls.len());
    let last = pages.iter().map(|seen| seen.until).max().unwrap();
    told([("total_s_max", json!(last.since(pages[0].from).as_secs_f64()))])
}

async fn tiny_crawl_delay(case: &Case) -> Answers {
    let robots = text(&case.input, "robots").to_owned();
    let web = Web::new(move |asked| match asked.url.path() {
        "/robots.txt" => Said::text(&robots),
        _ => Said::status(404),
    });
    let seeds = (0..5).map(|number| format!("https://example.com/{number}"));
    Bench::new(seeds).pacing(delay(case, "own_delay_s")).crawl(&web).await;
    assert_eq!(web.pages().len(), 5);
    told([("delay_s", shortest(&web.ledger()))])
}

/// What a host's answer to its first page led to.
struct Wait {
    host: Duration,
    /// Whether another host had all its pages meanwhile.
    others_go_on: bool,
}

/// Lets a host answer so at `now`, to the millisecond: a first run tells when to start.
async fn wait_after(response: &Value, now: Timestamp) -> Wait {
    let early = answered(response, now).await.0;
    let start = now.as_millis() - i64::try_from(early.since(now).as_millis()).unwrap();
    let (at, wait) = answered(response, Timestamp::from_millis(start)).await;
    assert_eq!(at, now);
    wait
}

async fn answered(response: &Value, start: Timestamp) -> (Timestamp, Wait) {
    let (host, others) = ("https://example.com", "https://example.net");
    let (said, first) = (Said::of(response), AtomicUsize::new(0));
    let web = Web::at(start, move |asked| match (asked.url.host_str(), asked.url.path()) {
        (Some("example.com"), "/1" | "/2") if first.fetch_add(1, Ordering::Relaxed) == 0 => {
            said.clone()
        }
        _ => Said::status(404),
    });
    let seeds = (1..=2).map(|number| format!("{host}/{number}"));
    let seeds = seeds.chain((1..=5).map(|number| format!("{others}/{number}")));
    let mut bench = Bench::new(seeds).pacing(Policy::default().interval);
    bench.config.crawl.patience = Span::secs(3 * 86_400);
    bench.crawl(&web).await;
    let (own, other): (Vec<_>, Vec<_>) =
        web.pages().into_iter().partition(|seen| seen.host == "example.com");
    // Be it for a page, or for a robots.txt that has become old.
    let asks = |seen: &&Seen| seen.host == "example.com" && seen.from >= own[0].until;
    let next = web.ledger().iter().find(asks).unwrap().from;
    let others_go_on = other.iter().filter(|seen| seen.until < next).count() >= 5;
    (own[0].until, Wait { host: next.since(own[0].until), others_go_on })
}

fn start_of(case: &Case) -> Timestamp {
    comity_compliance::parse_date(text(&case.input, "now"), NOW).unwrap()
}

async fn one_retry_after(case: &Case) -> Answers {
    let wait = wait_after(&case.input["response"], start_of(case)).await;
    told([("host_wait_s", seconds(wait.host))])
}

/// A date that is past says nothing; an old form of dates says as much as the new; and a year is
/// waited for as long as the policy waits at most.
async fn odd_retry_afters(case: &Case) -> Answers {
    let (now, mut waits) = (start_of(case), Vec::new());
    for response in case.input["responses"].as_array().unwrap() {
        let silent = json!({ "status": response["status"] });
        let own = wait_after(&silent, now).await.host;
        let wait = wait_after(response, now).await;
        let capped = wait.host == Policy::default().retry_after_cap && wait.others_go_on;
        waits.push(match wait.host {
            host if host == own => json!("own back-off"),
            _ if capped => json!("cap by configuration, host parked, crawl of other hosts goes on"),
            host => seconds(host),
        });
    }
    told([("host_wait_s", Value::Array(waits))])
}

async fn hops(case: &Case) -> Answers {
    let web = Web::of_exchanges(&case.input["exchanges"]);
    Bench::new(["https://example.com/a"]).pacing(delay(case, "delay_s")).crawl(&web).await;
    let seen = web.ledger();
    told([("requests", json!(seen.len())), ("min_gap_s", shortest(&seen))])
}

/// The first pages of a host fail as the case says, one after another; the later ones come.
async fn failures(case: &Case) -> Answers {
    let failures: Vec<Said> = (case.input["responses"].as_array().unwrap().iter())
        .map(|status| match status.as_u64() {
            Some(status) => Said::status(u16::try_from(status).unwrap()),
            None => Said::Reset,
        })
        .collect();
    let (bad, number) = (failures.len(), AtomicUsize::new(0));
    let web = Web::new(move |asked| match asked.url.path() {
        "/robots.txt" => Said::status(404),
        _ => failures
            .get(number.fetch_add(1, Ordering::Relaxed))
            .cloned()
            .unwrap_or_else(|| Said::html("well")),
    });
    let pages = 40;
    let seeds = (0..pages).map(|number| format!("https://example.com/{number}"));
    let base = delay(case, "base_delay_s");
    Bench::new(seeds).pacing(base).crawl(&web).await;
    let gaps = gaps(&web.ledger());
    // Before the first failure, after each of them, and after each success.
    let (before, rest) = gaps[..pages].split_first().unwrap();
    let (delays, recovering) = rest.split_at(bad);
    let grows = delays.iter().try_fold(*before, |last, next| (*next >= last * 2).then_some(*next));
    let recovers = recovering.is_sorted_by(|a, b| a >= b)
        && recovering[0] > base
        && recovering[0] < delays[bad - 1]
        && recovering.last() < recovering.first();
    told([
        (
            "delays_s",
            match grows {
                Some(_) => json!("strictly growing, at least doubling to a cap"),
                None => json!(format!("{before:?}, {delays:?}")),
            },
        ),
        (
            "recovers",
            match recovers {
                true => json!("slowly after successes"),
                false => json!(format!("{recovering:?}")),
            },
        ),
    ])
}

async fn spellings(case: &Case) -> Answers {
    let web = Web::new(|_| Said::status(404));
    let bench = Bench::new(strings(&case.input["urls"])).pacing(delay(case, "delay_s"));
    let crawled = bench.crawl(&web).await;
    assert_eq!(web.pages().len(), 5, "{:?}", web.counts());
    told([("queues", json!(crawled.stats.sites)), ("min_gap_s", shortest(&web.ledger()))])
}

/// Two sites on one address, which permits a request a second; one of them is large.
async fn neighbours(case: &Case) -> Answers {
    let pages = |host: &str| case.input["urls"][host].as_u64().unwrap();
    let seeds = ["big.example.com", "small.example.com"]
        .into_iter()
        .flat_map(|host| (0..pages(host)).map(move |number| format!("https://{host}/{number}")));
    let web = Web::new(|_| Said::status(404));
    let interval = delay(case, "delay_s");
    let mut bench = Bench::new(seeds).pacing(interval);
    bench.config.politeness.address_per_second = 1;
    bench.config.crawl.max_pages = 20;
    bench.crawl(&web).await;
    let seen = web.ledger();
    assert!(gaps(&seen).iter().all(|gap| *gap + Duration::from_millis(20) >= interval));
    let small = seen.iter().rposition(|seen| seen.host == "small.example.com").unwrap();
    let asked = web.pages().iter().filter(|seen| seen.host == "small.example.com").count();
    assert_eq!(asked, 2);
    told([("small_done_within_requests", json!(small + 1))])
}
