//! `kill -9` at random moments, over crawls of the lab and of larger sites: nothing known is lost,
//! only what was not yet acknowledged is asked for again, and nothing is asked for early.
//!
//! `COMITY_KILLS` is the number of kills of each engine, `COMITY_KILLS_SEED` repeats a run's
//! moments. docs/crash-contract.md has the figures of long runs.

#![expect(clippy::print_stdout, reason = "whoever runs it by hand reads the figures")]

pub(crate) mod known;
mod served;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

use comity_storage::EngineKind;

use crate::command::{end, run, start, wait_until};
use crate::sites::Site;
use known::{Known, copied};
use served::{Asked, HOSTS, Served};

/// Kills of each engine, unless the environment says more.
const KILLS: usize = 6;

/// The crawler may live so long before a kill: shorter lives are likelier, so that many kills hit
/// the opening of the store and the first requests.
const LIVES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(4));

/// A page that was asked for longer than this before a kill is acknowledged, also while the
/// machine is busy with other tests.
const ACKNOWLEDGED_AFTER: Duration = Duration::from_millis(1_000);

/// The servers may note a request this much later than it was made.
const NOTED_LATE: Duration = Duration::from_millis(100);

/// Chance from one number: SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// How long the next process may live: its logarithm is spread evenly.
    fn life(&mut self) -> Duration {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let (least, most) = (LIVES.0.as_secs_f64(), LIVES.1.as_secs_f64());
        Duration::from_secs_f64(least * (most / least).powf(share))
    }
}

fn setting<T: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> Option<T> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// What came of all kills.
#[derive(Debug, Default)]
struct Figures {
    crawls: usize,
    kills: usize,
    requests: usize,
    /// Requests for what had been asked for before a kill.
    again: usize,
    /// The most of them to one site after one kill.
    most_again: usize,
    /// The longest time from the first request for such a page to the kill.
    oldest: Duration,
    known: usize,
}

/// Kills crawls until there were `kills` of them, each crawl run to its end.
#[track_caller]
fn killed_at_random(engine: EngineKind) {
    let kills = setting("COMITY_KILLS").unwrap_or(KILLS);
    let seed = setting("COMITY_KILLS_SEED").unwrap_or_else(|| RandomState::new().hash_one(kills));
    println!("{engine}: COMITY_KILLS={kills} COMITY_KILLS_SEED={seed}");
    let (mut chance, mut figures) = (Chance(seed), Figures::default());
    while figures.kills < kills {
        one_crawl(engine, kills - figures.kills, &mut chance, &mut figures);
    }
    println!("{engine}: {figures:?}");
}

/// One crawl from its beginning to its end, with as many kills as there is time for.
fn one_crawl(engine: EngineKind, most: usize, chance: &mut Chance, figures: &mut Figures) {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::start(dir.path(), most);
    let arguments = served.crawl(engine);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (mut kills, mut known) = (Vec::new(), Known::default());
    let mut done = false;
    while !done && kills.len() < most {
        match one_life(dir.path(), &arguments, chance.life()) {
            Some(killed) => kills.push(killed),
            None => done = true,
        }
        known = grown(dir.path(), engine, known, chance.next().is_multiple_of(4));
    }
    let last = run(dir.path(), &arguments).well();
    assert_eq!(last.json()["ended"], "waits", "only the observatory is put off: {}", last.out);
    known = grown(dir.path(), engine, known, true);
    let (asked, wrong) = served.end();
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", story(&asked, &kills));
    let again = asked_again(&asked, &kills);
    figures.crawls += 1;
    figures.kills += kills.len();
    figures.requests += asked.len();
    figures.known = known.len();
    figures.again += again.values().map(Vec::len).sum::<usize>();
    for ages in again.values() {
        figures.most_again = figures.most_again.max(ages.len());
        figures.oldest = figures.oldest.max(ages.iter().max().copied().unwrap_or_default());
    }
}

/// All requests and kills, in milliseconds since the first.
fn story(asked: &[Asked], kills: &[Instant]) -> String {
    let mut events: Vec<_> = kills.iter().map(|killed| (*killed, "kill -9")).collect();
    events.extend(asked.iter().map(|request| (request.at, request.url.as_str())));
    events.sort();
    let Some((first, _)) = events.first().copied() else { return String::new() };
    let line = |(at, what): &(Instant, &str)| format!("{:>8} {what}\n", (*at - first).as_millis());
    events.iter().map(line).collect()
}

/// Runs a crawl and kills it after `life`; when it was killed, unless it had ended by itself.
#[expect(clippy::disallowed_methods, reason = "a kill happens in real time")]
fn one_life(dir: &Path, arguments: &[&str], life: Duration) -> Option<Instant> {
    let mut crawl = start(dir, arguments);
    std::thread::sleep(life);
    if crawl.try_wait().unwrap().is_some() {
        end(crawl).well();
        return None;
    }
    crawl.kill().unwrap();
    let killed = Instant::now();
    let ended = end(crawl);
    assert!(!ended.err.contains("panicked"), "{ended:#?}");
    Some(killed)
}

/// What is known now; it is all that was known before, and no visit is forgotten.
///
/// It is read from a copy, so that the next process finds the store as the kill left it; or, by
/// `told`, also as `comity status` has it, which opens and closes the store.
fn grown(dir: &Path, engine: EngineKind, before: Known, told: bool) -> Known {
    let now = copied(&dir.join("data"), engine, &HOSTS);
    for (url, visits) in before {
        let kept = now.get(&url).unwrap_or_else(|| panic!("{engine}: {url} is lost"));
        assert!(*kept >= visits, "{engine}: a visit of {url} is lost");
    }
    if told && !now.is_empty() {
        let status = run(dir, &["status", "--data", "data", "--json"]).well().json();
        let known = status["store"]["known"].as_u64().unwrap();
        assert!(known >= now.len() as u64, "{status:#}");
    }
    now
}

/// The requests for what had been asked for before, by kill and site: how long before the kill.
///
/// # Panics
/// If there was no kill between, or the page was acknowledged at the kill.
fn asked_again(asked: &[Asked], kills: &[Instant]) -> BTreeMap<(Instant, String), Vec<Duration>> {
    let mut again = BTreeMap::<_, Vec<Duration>>::new();
    let mut last = BTreeMap::new();
    for request in asked {
        let Some(before) = last.insert(&request.url, request) else { continue };
        if before.may_repeat {
            continue;
        }
        let before = before.at;
        let killed = kills.iter().find(|killed| **killed + NOTED_LATE > before);
        let killed = killed.filter(|killed| **killed < request.at);
        let killed = killed.unwrap_or_else(|| {
            panic!("{} came twice in one life\n{}", request.url, story(asked, kills))
        });
        let age = killed.saturating_duration_since(before);
        assert!(age < ACKNOWLEDGED_AFTER, "{} came again after {age:?}", request.url);
        again.entry((*killed, request.site.clone())).or_default().push(age);
    }
    again
}

#[test]
fn sled_loses_nothing_known_and_asks_nothing_early() {
    killed_at_random(EngineKind::Sled);
}

#[test]
fn redb_loses_nothing_known_and_asks_nothing_early() {
    killed_at_random(EngineKind::Redb);
}

/// A look at the store between a kill and the next start is no clean stop: what was under way at
/// the kill is not known.
#[test]
fn a_look_at_the_store_is_no_clean_stop() {
    const DELAY: Duration = Duration::from_secs(3);
    let site = Site::start(|path| match path {
        "/robots.txt" => (200, String::new(), "user-agent: *\ncrawl-delay: 3\n".into()),
        _ => {
            std::thread::sleep(DELAY);
            (200, "content-type: text/html\r\n".into(), String::new())
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let seed = site.url("/");
    let arguments = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--data", "data"];
    let mut crawl = start(dir.path(), &arguments);
    wait_until("the page's request", || site.paths().len() == 2);
    crawl.kill().unwrap();
    crawl.wait().unwrap();
    run(dir.path(), &["status", "--data", "data"]).well();
    run(dir.path(), &arguments).well();
    assert_eq!(site.paths(), ["/robots.txt", "/", "/"]);
    assert!(site.shortest_gap() + NOTED_LATE >= DELAY, "{:?}", site.shortest_gap());
}

/// Without an interval pages gather while a report is written. They are not left waiting for a
/// slow server's next answer.
#[test]
fn a_slow_answer_does_not_hold_up_what_came_before_it() {
    const PAGES: usize = 20;
    let last = format!("/page{PAGES}");
    let site = Site::start(move |path| {
        if path == last {
            std::thread::sleep(Duration::from_secs(4));
        }
        let links = (1..=PAGES).map(|number| format!("<a href=/page{number}>x</a>"));
        match path {
            "/robots.txt" => (404, String::new(), String::new()),
            _ => (200, "content-type: text/html\r\n".into(), links.collect()),
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let seed = site.url_as("mill.localhost", "/");
    let arguments = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "0s"];
    let rest = ["--address-per-second", "10000", "--data", "data", "--json"];
    let mut crawl = start(dir.path(), &[&arguments[..], &rest[..]].concat());
    wait_until("the slow page's request", || site.paths().len() == PAGES + 2);
    std::thread::sleep(ACKNOWLEDGED_AFTER);
    crawl.kill().unwrap();
    crawl.wait().unwrap();
    assert_eq!(site.paths().last(), Some(&format!("/page{PAGES}")), "the slow page is the last");
    let known = copied(&dir.path().join("data"), EngineKind::Sled, &["mill.localhost"]);
    let fetched = known.values().filter(|visits| **visits > 0).count();
    assert_eq!(fetched, PAGES, "all pages that came before the slow one are acknowledged");
}
