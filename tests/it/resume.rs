//! Stopping in the middle, politely or not, and going on with the same command.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use crate::command::{end, run, start, wait_until};
use crate::sites::Site;

const PAGES: usize = 60;

fn arguments<'a>(seed: &'a str, store: &'a str, interval: &'a str) -> Vec<&'a str> {
    vec![
        "crawl",
        seed,
        "--allow-network",
        "127.0.0.0/8",
        "--interval",
        interval,
        "--address-per-second",
        "10000",
        "--store",
        store,
        "--data",
        "data",
        "--json",
    ]
}

fn signal(child: &Child, signal: i32) {
    let pid = i32::try_from(child.id()).unwrap();
    #[expect(unsafe_code, reason = "std can only kill, not interrupt")]
    // SAFETY: a signal to a child of this process that has not been waited for.
    let sent = unsafe { libc::kill(pid, signal) };
    assert_eq!(sent, 0);
}

/// Every page came, and none that was acknowledged came again: at most `doubles` did.
#[track_caller]
fn assert_whole(site: &Site, doubles: usize) {
    let mut times = BTreeMap::new();
    for path in site.paths() {
        *times.entry(path).or_insert(0) += 1;
    }
    times.remove("/robots.txt");
    let missing: Vec<_> =
        (1..PAGES).map(|n| format!("/page{n}")).filter(|path| !times.contains_key(path)).collect();
    assert_eq!(missing, Vec::<String>::new());
    let again: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    assert!(again.len() <= doubles, "fetched again: {again:?}");
}

#[test]
fn ctrl_c_stops_cleanly_and_the_same_command_goes_on() {
    let (site, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let arguments = arguments(&seed, "sled", "50ms");
    let crawl = start(dir.path(), &arguments);
    wait_until("the tenth page", || site.paths().len() > 10);
    signal(&crawl, libc::SIGINT);
    let stopped = end(crawl).well();
    assert_eq!(stopped.json()["ended"], "stopped");
    let fetched = stopped.json()["run"]["fetched"].as_u64().unwrap();
    assert!(fetched >= 10 && fetched < PAGES as u64, "{fetched}");
    let rest = run(dir.path(), &arguments).well();
    assert_eq!(rest.json()["ended"], "done");
    assert_whole(&site, 0);
    assert!(site.shortest_gap() >= Duration::from_millis(45), "{:?}", site.shortest_gap());
}

/// A server that does not answer holds a clean stop up for some seconds; a second Ctrl-C does not
/// wait.
#[test]
fn a_second_ctrl_c_stops_at_once() {
    let site = Site::start(|path| {
        if path != "/robots.txt" {
            std::thread::sleep(Duration::from_secs(30));
        }
        (404, String::new(), String::new())
    });
    let dir = tempfile::tempdir().unwrap();
    let seed = site.url("/");
    let crawl = start(dir.path(), &arguments(&seed, "sled", "0s"));
    wait_until("the page's request", || site.paths().len() > 1);
    signal(&crawl, libc::SIGINT);
    std::thread::sleep(Duration::from_millis(300));
    signal(&crawl, libc::SIGINT);
    let ended = end(crawl);
    assert_eq!(ended.code, Some(130), "{ended:?}");
}

/// `kill -9` again and again: nothing known is lost, at most the page under way comes twice each
/// time, and the site never sees two requests closer than the interval.
#[track_caller]
fn killed_again_and_again(store: &str) {
    let (site, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let arguments = arguments(&seed, store, "40ms");
    for kill in 1..=4 {
        let mut crawl = start(dir.path(), &arguments);
        wait_until("some more pages", || site.paths().len() > kill * 9);
        crawl.kill().unwrap();
        crawl.wait().unwrap();
    }
    let rest = run(dir.path(), &arguments).well();
    assert_eq!(rest.json()["store"]["fetched"], PAGES as u64);
    assert_whole(&site, 4 + 1);
    assert!(site.shortest_gap() >= Duration::from_millis(35), "{:?}", site.shortest_gap());
    search_finds_every_page(dir.path());
}

/// What was indexed before a kill, and what waited for the index then, is found.
fn search_finds_every_page(dir: &Path) {
    for number in (1..PAGES).step_by(7) {
        let word = format!("number{number}");
        let found = run(dir, &["search", &word, "--data", "data", "--json"]).well();
        assert_eq!(found.json()["total"], 1, "{word}");
    }
}

#[test]
fn kill_minus_nine_loses_nothing_on_sled() {
    killed_again_and_again("sled");
}

#[test]
fn kill_minus_nine_loses_nothing_on_redb() {
    killed_again_and_again("redb");
}

#[test]
fn a_page_limit_holds_over_runs_and_a_higher_one_goes_on() {
    let (site, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    for (limit, expect) in [("7", 7), ("7", 7), ("20", 20)] {
        let mut arguments = arguments(&seed, "sled", "0s");
        arguments.extend(["--max-pages", limit]);
        let ended = run(dir.path(), &arguments).well();
        assert_eq!(ended.json()["ended"], "page-limit");
        assert_eq!(ended.json()["store"]["fetched"], expect);
    }
    let pages = site.paths().into_iter().filter(|path| path != "/robots.txt").count();
    assert_eq!(pages, 20);
}

/// Without arguments a crawl goes on with those of its last run.
#[test]
fn no_seed_means_the_last_runs() {
    let (site, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let mut first = arguments(&seed, "redb", "0s");
    first.extend(["--max-pages", "3"]);
    run(dir.path(), &first).well();
    let again = ["crawl", "--data", "data", "--max-pages", "9", "--json"];
    let ended = run(dir.path(), &again).well();
    assert_eq!(ended.json()["store"]["fetched"], 9);
}

/// Without a seed, the settings file counts as it is now, and the flags of the last run stay.
#[test]
fn a_settings_file_counts_without_a_seed() {
    let (site, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
    let (seed, file) = (site.url("/"), dir.path().join("comity.toml"));
    std::fs::write(&file, "[crawl]\nmax_pages = 3\n").unwrap();
    let fetched = |arguments: &[&str]| {
        run(dir.path(), arguments).well().json()["store"]["fetched"].as_u64().unwrap()
    };
    assert_eq!(fetched(&arguments(&seed, "sled", "0s")), 3);
    std::fs::write(&file, "[crawl]\nmax_pages = 7\n").unwrap();
    let again = ["crawl", "--data", "data", "--json"];
    assert_eq!(fetched(&again), 7);
    assert_eq!(fetched(&[&again[..], &["--max-pages", "9"]].concat()), 9);
    std::fs::write(&file, "[crawl]\nmax_pages = 20\n").unwrap();
    assert_eq!(fetched(&again), 9, "a flag stays over the file");
    std::fs::write(&file, "[politeness]\npolicy = \"gugle\"\n").unwrap();
    run(dir.path(), &again).badly(2, &["gugle"]);
}

/// A look at a crawl leaves it as it is: also what its writes survive.
#[test]
fn a_look_changes_nothing() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let marker = || {
        let text = std::fs::read(dir.path().join("data/comity.json")).unwrap();
        let mut marker: serde_json::Value = serde_json::from_slice(&text).unwrap();
        // The lengths of sled's files: it goes on with its log when it is opened.
        marker.as_object_mut().unwrap().remove("files");
        marker
    };
    for durability in ["power", "process"] {
        let mut arguments = arguments(&seed, "sled", "0s");
        arguments.extend(["--durability", durability]);
        run(dir.path(), &arguments).well();
        let before = marker();
        assert_eq!((&before["durability"], &before["stop"]), (&durability.into(), &"clean".into()));
        for look in [&["status"][..], &["explain", &seed]] {
            run(dir.path(), &[look, &["--data", "data"]].concat()).well();
            assert_eq!(marker(), before, "{look:?}");
        }
    }
}
