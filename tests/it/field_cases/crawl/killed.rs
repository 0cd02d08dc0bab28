//! Area frontier/resume with real processes: silent servers, `kill -9`, and the same command again.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{Answers, Case};
use super::{in_words, told};
use crate::command::{end, run, start, wait_until};
use crate::sites::Site;

/// Sites that are asked at once, and so workers.
const WORKERS: usize = 2;

const SETTINGS: &str = "[crawl]\nsites_at_once = 2\npatience = \"5s\"\n\
    [network]\nallow = [\"127.0.0.0/8\"]\nfirst_byte_timeout = \"FIRST\"\nrequest_timeout = \"WHOLE\"\n\
    [politeness]\ninterval = \"20ms\"\naddress_per_second = 10000\n\
    [index]\nenabled = false\n";

/// The command, with its settings in a file of `dir`. A request has so many seconds for its first
/// byte, and twice as many in all.
fn arguments(dir: &Path, secs: u32, seeds: impl IntoIterator<Item = String>) -> Vec<String> {
    let settings = SETTINGS.replace("FIRST", &format!("{secs}s"));
    let settings = settings.replace("WHOLE", &format!("{}s", 2 * secs));
    std::fs::write(dir.join("comity.toml"), settings).unwrap();
    let options = ["--data", "data", "--json"].map(String::from);
    [String::from("crawl")].into_iter().chain(seeds).chain(options).collect()
}

/// The same command twice, killed when the site has got so far, and then to its end.
fn killed_when(
    site: &Site,
    seeds: Vec<String>,
    so_far: impl Fn(&[String]) -> bool,
) -> (bool, Value) {
    let dir = tempfile::tempdir().unwrap();
    // Time enough that what is under way is so until the kill.
    let arguments = arguments(dir.path(), 20, seeds);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut crawl = start(dir.path(), &arguments);
    wait_until("the moment of the kill", || so_far(&site.paths()));
    crawl.kill().unwrap();
    let killed = end(crawl);
    assert_eq!(killed.code, None, "{killed:?}");
    let rest = run(dir.path(), &arguments);
    (rest.code == Some(0), rest.well().json())
}

fn site_of(pages: usize) -> (Site, Vec<String>) {
    let site = Site::start(|path| match path {
        "/robots.txt" => (404, String::new(), String::new()),
        _ => (200, "content-type: text/html\r\n".into(), format!("the page {path}")),
    });
    let seeds = (1..=pages).map(|number| site.url(&format!("/{number}"))).collect();
    (site, seeds)
}

fn times(site: &Site) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for path in site.paths().into_iter().filter(|path| path != "/robots.txt") {
        *times.entry(path[1..].to_owned()).or_insert(0) += 1;
    }
    times
}

/// Takes connections and says nothing.
fn tarpit() -> String {
    let listener = TcpListener::bind("127.0.0.9:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().flatten() {
            held.push(stream);
        }
    });
    url
}

#[expect(clippy::disallowed_methods, reason = "a real process takes real time")]
pub(super) fn silent_host(case: &Case) -> Answers {
    let pages = usize::try_from(case.input["urls"]["example.com"].as_u64().unwrap()).unwrap();
    let ((site, seeds), silent) = (site_of(pages), tarpit());
    let dir = tempfile::tempdir().unwrap();
    let arguments = arguments(dir.path(), 1, [silent.clone()].into_iter().chain(seeds));
    crate::command::program();
    let started = Instant::now();
    let ended = run(dir.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let took = started.elapsed();
    let all = times(&site).len() == pages;
    let known = run(dir.path(), &["explain", &silent, "--data", "data", "--json"]).well().json();
    let cause = known["robots"]["failing"]["cause"].as_str().unwrap_or("nothing");
    // Two seconds a request, the patience at the end, and what a busy machine takes.
    let bound = Duration::from_secs(20);
    told([
        ("crawl_ends", json!(ended.code == Some(0) && all)),
        (
            "time_s_max",
            match took < bound {
                true => json!("one request timeout plus retries"),
                false => json!(took.as_secs_f64()),
            },
        ),
        ("report", in_words("timeout", &["connected, but no response head within 1 s"], cause)),
    ])
}

pub(super) fn same_directory() -> Answers {
    let (site, seeds) = site_of(10);
    let (starts, ended) = killed_when(&site, seeds, |paths| paths.len() > 3);
    told([("starts", json!(starts && ended["ended"] == "done"))])
}

/// The second page's answer does not come before the process dies.
pub(super) fn under_way() -> Answers {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let site = Site::start(move |path| {
        if path == "/robots.txt" {
            return (404, String::new(), String::new());
        }
        if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            std::thread::sleep(Duration::from_secs(30));
        }
        (200, "content-type: text/html\r\n".into(), "well".into())
    });
    let seeds = (1..=3).map(|number| site.url(&format!("/{number}"))).collect();
    let (_, ended) = killed_when(&site, seeds, |paths| {
        // The first one's answer is stored meanwhile.
        std::thread::sleep(Duration::from_secs(1));
        paths.len() >= 3
    });
    told([
        ("fetches", json!(times(&site))),
        ("all_done", json!(ended["ended"] == "done" && ended["store"]["fetched"] == 3)),
    ])
}

/// Dead at some byte of some write: storage/tests/crash.rs is about those; here the whole crawler.
pub(super) fn many() -> Answers {
    let (site, seeds) = site_of(200);
    let (_, ended) = killed_when(&site, seeds, |paths| paths.len() > 120);
    let times = times(&site);
    let again = times.values().filter(|times| **times > 1).count();
    let fetched = ended["store"]["fetched"].as_u64().unwrap();
    let words = format!("{again} again");
    let few = if again <= WORKERS { "few" } else { words.as_str() };
    told([
        ("lost", json!(200 - fetched.min(times.len() as u64))),
        ("refetched_max", in_words("number of workers", &["few"], few)),
    ])
}
