//! `comity sitemap`, as a person uses it.

use serde_json::Value;
use tempfile::TempDir;

use crate::command::run;

const FILE: &str = "<urlset>\n<url><loc>https://example.com/maps/a</loc><lastmod>2026-11</lastmod></url>\n\
    <url><loc>/b</loc></url>\n<url><loc>https://example.com/c</loc></url>\n</urlset>\n";

fn file() -> (TempDir, [&'static str; 2]) {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("s.xml"), FILE).unwrap();
    (dir, ["sitemap", "s.xml"])
}

#[test]
fn entries_faults_and_advice_for_people() {
    let (dir, args) = file();
    let parts = [
        "https://example.com/maps/a  2026-11-01T00:00:00Z",
        "line 3, byte 89  relative-url: /b",
        "write the whole URL with https:// and host. (SM-001, AM-38)",
        "urlset: 2 of 3 entries usable, 163 bytes, UTF-8",
    ];
    run(dir.path(), &args).badly(1, &parts);
    std::fs::write(dir.path().join("s.xml"), "https://example.com/a\n").unwrap();
    run(dir.path(), &args).well();
}

/// SM-004: where it is from tells what counts.
#[test]
fn what_counts_depends_on_where_it_is_from() {
    let (dir, args) = file();
    let from = ["--url", "https://example.com/maps/s.xml"];
    let parts = ["https://example.com/c  outside-directory", "outside-directory, 1 time"];
    run(dir.path(), &[&args[..], &from].concat()).badly(1, &parts);
    let submitted = [&args[..], &from, &["--submitted", "robots", "--json"]].concat();
    let ended = run(dir.path(), &submitted).badly(1, &[]);
    let lines: Vec<Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [first, second, fault, report] = &lines[..] else { panic!("{ended:#?}") };
    assert_eq!((&first["line"], &first["lastmod"]), (&2.into(), &"2026-11-01T00:00:00Z".into()));
    assert_eq!(second["not_listed"], Value::Null);
    assert_eq!((&fault["fault"], &fault["line"]), (&"relative-url".into(), &3.into()));
    assert_eq!(report["kind"], "urlset");
    assert_eq!((&report["listed"], &report["entries"]), (&2.into(), &3.into()));
}

#[test]
fn what_is_no_sitemap() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), &["sitemap", "none.xml"]).badly(1, &["could not read none.xml"]);
    std::fs::write(dir.path().join("s"), "<!doctype html><html>").unwrap();
    run(dir.path(), &["sitemap", "s"]).badly(1, &["no sitemap", "not-a-sitemap: html"]);
    run(dir.path(), &["sitemap", "s", "--url", "example.com"]).badly(2, &["--url \"example.com\""]);
    run(dir.path(), &["sitemap", "s", "--submitted", "robots"]).badly(2, &["--url"]);
}
