//! Crawls through a proxy, and with one that is out of order.

use serde_json::json;

use crate::command::{Ended, comity, run};
use crate::sites::Site;

/// Answers for any site, as a proxy that is asked in absolute form; it wants no login.
fn proxy() -> Site {
    let html = || "content-type: text/html\r\n".to_owned();
    Site::start(move |url| match url {
        "http://site.example/robots.txt" => (200, String::new(), "user-agent: *\n".into()),
        "http://site.example/" => (200, html(), "<title>Home</title><a href=/next>next</a>".into()),
        "http://site.example/next" => (200, html(), "<title>Next</title>".into()),
        _ => (404, html(), String::new()),
    })
}

const CRAWL: &[&str] = &[
    "crawl",
    "http://site.example/",
    "--interval",
    "0s",
    "--patience",
    "1s",
    "--contact",
    "me@example.org",
    "--json",
];

fn crawl(dir: &tempfile::TempDir, more: &[&str]) -> Ended {
    run(dir.path(), &[CRAWL, more].concat())
}

#[test]
fn a_crawl_goes_through_a_proxy() {
    let (proxy, dir) = (proxy(), tempfile::tempdir().unwrap());
    crawl(&dir, &["--proxy", proxy.url("").trim_end_matches('/')]).well();
    let asked = ["robots.txt", "", "next"].map(|path| format!("http://site.example/{path}"));
    assert_eq!(proxy.paths(), asked);
}

/// The command line before the settings, the settings before the environment.
#[test]
fn who_names_the_proxy() {
    let (by_settings, by_environment) = (proxy(), proxy());
    let dir = tempfile::tempdir().unwrap();
    let environment = |data: &str| {
        let mut command = comity(dir.path(), CRAWL);
        command.args(["--data", data]).env("http_proxy", by_environment.url(""));
        assert!(command.output().unwrap().status.success());
    };
    environment("first");
    assert_eq!(by_environment.paths().len(), 3);
    let settings = format!("[network]\nproxy = \"{}\"\n", by_settings.url(""));
    std::fs::write(dir.path().join("comity.toml"), settings).unwrap();
    environment("second");
    assert_eq!((by_settings.paths().len(), by_environment.paths().len()), (3, 3));
    crawl(&dir, &["--data", "third", "--proxy", &by_environment.url("")]).well();
    assert_eq!((by_settings.paths().len(), by_environment.paths().len()), (3, 6));
    for (proxy, part) in [
        ("https://proxy.example", "https:// are not spoken to"),
        ("http://me:secret@:0:0", "is not the URL of a proxy"),
    ] {
        let ended = crawl(&dir, &["--data", "fourth", "--proxy", proxy]).badly(2, &[part]);
        assert!(!ended.err.contains("secret"), "{}", ended.err);
    }
}

/// A dead proxy is no sign of the site's: nothing is noted against it, and what its robots.txt
/// says is still unknown, not "unreachable".
#[test]
fn a_dead_proxy_leaves_sites_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let ended = crawl(&dir, &["--proxy", "http://127.0.0.1:1"]);
    assert_eq!(ended.code, Some(3), "{ended:#?}");
    assert!(ended.err.contains("127.0.0.1:1 cannot be reached"), "{}", ended.err);
    let explained = run(dir.path(), &["explain", "http://site.example/", "--json"]).well().json();
    assert_eq!(explained["robots"], json!({ "copy": null, "failing": null }));
    assert_eq!(explained["site"]["failures_in_a_row"], 0);
    assert_eq!(explained["verdict"]["decision"], "fetch-robots");
}
