//! The demo, judged by what its sites saw and by what a search then finds.

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

/// No snippet is longer than the page permits, or quotes what the page hides.
fn snippets(dir: &Path, expectations: &Expectations) {
    assert!(!expectations.snippets.is_empty());
    for search_for in &expectations.searches {
        for hit in search(dir, &search_for.query) {
            let snippet = hit["snippet"].as_str().unwrap_or_default();
            let limits = expectations.snippets.iter().filter(|limit| hit["url"] == limit.url);
            for limit in limits {
                let chars = snippet.chars().count();
                assert!(limit.max_chars.is_none_or(|max| chars <= max as usize), "{hit}");
                for phrase in &limit.never {
                    assert!(!snippet.contains(phrase.as_str()), "{hit}");
                }
            }
        }
    }
}

/// Every page that is withheld, and every URL that was refused, is explained.
fn explanations(dir: &Path, expectations: &Expectations) {
    for page in expectations.withheld.iter().filter(|page| !page.url.ends_with('/')).take(6) {
        let explained = run(dir, &["explain", &page.url, "--data", "data", "--json"]).well().json();
        let known = &explained["known"];
        // Nothing leads there that may be followed, so it was never heard of.
        let unheard = known.is_null();
        let refused = explained["verdict"]["decision"] == "may not be fetched";
        let withheld = known["last"]["publication"].as_str().is_some_and(|p| p != "full");
        let elsewhere = known["last"]["what"] == "redirected" || known["last"]["what"] == "failed";
        let waits = explained["verdict"]["decision"] == "must wait" || known["due"].is_string();
        let noted = known["not_queued"].is_string();
        assert!(unheard || refused || withheld || elsewhere || waits || noted, "{explained:#}");
    }
}
