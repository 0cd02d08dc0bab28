//! The demo, judged by what its sites saw and by what a search then finds.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use comity_conformance::{Expectations, LedgerFile, judge};
use serde_json::Value;

use crate::command::run;

const INTERVAL: &str = "500ms";

#[test]
fn the_demo_keeps_every_rule_and_its_index_too() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["demo", "--interval", INTERVAL, "--data", "data", "--ledger", "ledger.jsonl"];
    let demo = run(dir.path(), &arguments).well();
    for part in ["Fetched and indexed", "Refused", "robots-disallow", "blocked-address", "Try next"]
    {
        assert!(demo.out.contains(part), "\"{part}\" is not in {}", demo.out);
    }
    let ledger = LedgerFile::read(&dir.path().join("ledger.jsonl")).unwrap();
    let expectations = &ledger.expectations;
    let report = judge(&ledger.requests, expectations, Duration::from_millis(500));
    assert!(report.kept(), "{report}");
    assert_eq!(report.required_fetched, report.required);
    let audit = std::fs::read_to_string(dir.path().join("data/audit.jsonl")).unwrap();
    for refused in &expectations.refused_addresses {
        let line = audit.lines().find(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["url"] == refused.url && line["why"] == "blocked-address"
        });
        assert!(line.is_some(), "{} is not in the audit log as refused", refused.url);
    }
    searches(dir.path(), expectations);
    snippets(dir.path(), expectations);
    explanations(dir.path(), expectations);
    first_hits(dir.path());
    let verified = run(dir.path(), &["index", "verify", "--data", "data", "--json"]).well().json();
    assert_eq!((&verified["forbidden"], &verified["missing"]), (&Value::Array(vec![]), &0.into()));
}

/// What a visitor of the town would look for, and the page that answers it. `tests/search` asks a
/// large real manual.
fn first_hits(dir: &Path) {
    for (words, site, path) in [
        ("bread", "bakery", "/bread"),
        ("opening hours", "library", "/hours"),
        ("clinic", "clinic", "/"),
        ("flu season", "clinic", "/flu"),
        ("library books", "library", "/"),
        ("reading room", "library", "/reading-room"),
        ("hamlet", "theatre", "/plays/hamlet"),
        ("tickets", "theatre", "/tickets"),
        ("ferry timetable", "ferry", "/timetable"),
        ("cake", "bakery", "/cakes"),
        ("visiting the town", "town", "/visitors"),
    ] {
        let hits = search(dir, words);
        let first = hits.first().and_then(|hit| hit["url"].as_str()).unwrap_or_default();
        let is_it =
            first.starts_with(&format!("http://{site}.localhost:")) && first.ends_with(path);
        assert!(is_it, "\"{words}\": {first}");
    }
}

fn search(dir: &Path, words: &str) -> Vec<Value> {
    let found = run(dir, &["search", "--data", "data", "--json", "-n", "50", "--", words]).well();
    found.json()["hits"].as_array().unwrap().clone()
}

/// A search finds what it must, and nothing that may not be shown.
fn searches(dir: &Path, expectations: &Expectations) {
    assert!(!expectations.searches.is_empty());
    for search_for in &expectations.searches {
        let hits = search(dir, &search_for.query);
        let urls: Vec<_> = hits.iter().filter_map(|hit| hit["url"].as_str()).collect();
        for url in &search_for.finds {
            assert!(
                urls.contains(&url.as_str()),
                "\"{}\": {url} not in {urls:?}",
                search_for.query
            );
        }
        for url in &search_for.never {
            assert!(!urls.contains(&url.as_str()), "\"{}\" shows {url}", search_for.query);
        }
        let withheld = urls.iter().find(|url| expectations.withholds(url));
        assert_eq!(withheld, None, "\"{}\"", search_for.query);
    }
}

/// No snippet is longer than the page permits, or quotes what the page hides; and each page with
/// such a limit was seen among the results.
fn snippets(dir: &Path, expectations: &Expectations) {
    let mut seen = BTreeSet::new();
    for search_for in &expectations.searches {
        for hit in search(dir, &search_for.query) {
            let snippet = hit["snippet"].as_str().unwrap_or_default();
            let limits = expectations.snippets.iter().filter(|limit| hit["url"] == limit.url);
            for limit in limits {
                seen.insert(&limit.url);
                let chars = snippet.chars().count();
                assert!(limit.max_chars.is_none_or(|max| chars <= max as usize), "{hit}");
                for phrase in &limit.never {
                    assert!(!snippet.contains(phrase.as_str()), "{hit}");
                }
            }
        }
    }
    let limited: BTreeSet<_> = expectations.snippets.iter().map(|limit| &limit.url).collect();
    assert_eq!(seen, limited);
}

/// What is known of URLs of each kind. One line, one case: the URL's end, where in the answer, and
/// what stands there.
fn explanations(dir: &Path, expectations: &Expectations) {
    let cases = [
        ("/secret-menu", "/known/last/publication", "noindex"),
        ("/secret-menu", "/known/last/directives/0/rule", "noindex"),
        ("/campaign", "/known/last/publication", "expired"),
        ("/night-pharmacy", "/known/last/publication", "not-successful"),
        ("/kitchen/", "/verdict/decision", "refuse"),
        ("/kitchen/", "/verdict/reason", "robots-disallow"),
        ("/appointments", "/known/last/reason", "server-error"),
        ("/bread", "/verdict/decision", "fetch"),
    ];
    let all = [&expectations.withheld, &expectations.indexed, &expectations.must_fetch];
    let banned = expectations.must_not_fetch.iter().map(|ban| &ban.expect.url);
    let urls: Vec<_> =
        all.iter().flat_map(|list| list.iter().map(|page| &page.url)).chain(banned).collect();
    for (end, place, expect) in cases {
        let url = urls.iter().find(|url| url.ends_with(end)).unwrap_or_else(|| panic!("no {end}"));
        let explained = run(dir, &["explain", url, "--data", "data", "--json"]).well().json();
        assert_eq!(explained.pointer(place), Some(&expect.into()), "{end}: {explained:#}");
    }
    let blocked = &expectations.refused_addresses[0].url;
    let explained = run(dir, &["explain", blocked, "--data", "data", "--json"]).well().json();
    assert_eq!(explained["verdict"]["reason"], "blocked-address", "{explained:#}");
}
