//! Settings that are checked, and mistakes in them.

use std::path::Path;

use comity_compliance::SitePace;

use super::*;

fn settings(text: &str) -> Result<Settings, String> {
    let config = Config::parse(text, Path::new("comity.toml")).unwrap();
    Settings::new(&config).map_err(|e| e.to_string())
}

/// Without a word of the operator's the numbers are the documented ones.
#[test]
fn silence_changes_nothing() {
    for preset in Preset::ALL {
        let told = settings(&format!("[politeness]\npolicy = \"{preset}\"")).unwrap();
        assert_eq!(told.policy, Policy::new(*preset));
        assert_eq!(told.page_rules, PageRules::default());
    }
    assert_eq!(settings("").unwrap().policy, Policy::default());
}

/// RL-001, AM-66: settings, and the milliseconds that a new site is left alone; it answered
/// after a second each time, and badly the last time.
#[test]
fn adaptive_pace() {
    use comity_compliance::{Answer, Ended, GroundsReason};
    for (text, expect) in [
        ("", [4000, 5000, 5000]),
        ("latency_factor = 0", [4000, 3333, 3333]),
        ("start_percent = 100", [2000, 5000, 5000]),
        ("start_percent = 10\nlatency_factor = 0", [20_000, 10_000, 10_000]),
        ("slowest = \"3s\"\nlatency_factor = 0", [3000, 3000, 3000]),
        ("adaptive = false", [2000, 2000, 2000]),
    ] {
        let policy = settings(&format!("[politeness]\n{text}")).unwrap().policy;
        let mut pace = SitePace { last_request: Some(Timestamp::EPOCH), ..SitePace::default() };
        let wait = |pace: &SitePace| {
            let pace = SitePace { hold: None, ..pace.clone() };
            pace.ready_at(&policy).unwrap().until.as_millis()
        };
        let mut waits = [wait(&pace), 0, 0];
        for (at, status) in [(1, 200), (2, 500)] {
            pace.request_ended(
                Ended {
                    reason: GroundsReason::RobotsNoRule,
                    answer: Answer::of(status, None),
                    first_byte: Some(Duration::from_secs(1)),
                    at: Timestamp::EPOCH,
                },
                &policy,
            );
            waits[at] = wait(&pace);
        }
        assert_eq!(waits, expect, "{text}");
    }
}

/// XR-007, AM-51: one line, one case: settings, the header's line, and what it comes to.
#[test]
fn page_rules() {
    let cases = [
        ("", "robots-tag", "*;noindex", ""),
        ("robots_tag = true", "robots-tag", "*;noindex", "Robots-Tag line 1: noindex"),
        ("", "x-robots-tag", "unavailable_after: 2027-01-01", "2027-01-01T00:00:00Z"),
        (
            "dates_without_time = \"end-of-day\"",
            "x-robots-tag",
            "unavailable_after: 2027-01-01",
            "2027-01-02T00:00:00Z",
        ),
    ];
    for (text, header, line, expect) in cases {
        let told = settings(&format!("[rules]\n{text}")).unwrap();
        let mut collector = told.page_rules.collector(&told.identity, Timestamp::EPOCH);
        match header {
            "robots-tag" => collector.robots_tag_line(line.as_bytes()),
            _ => collector.header_line(line.as_bytes()),
        }
        let kept: Vec<_> = collector.finish().iter().map(ToString::to_string).collect();
        assert!(kept.concat().ends_with(expect), "{text}: {kept:?}");
        assert_eq!(kept.is_empty(), expect.is_empty(), "{text}: {kept:?}");
    }
}

/// One line, one case: settings, and a part of the message.
#[test]
fn mistakes() {
    for (text, expect) in [
        ("[politeness]\nstart_percent = 0", "politeness.start_percent: must be 1 to 100"),
        ("[politeness]\nstart_percent = 101", "must be 1 to 100"),
        ("[rules]\ndates_without_time = \"noon\"", "rules.dates_without_time: \"noon\" is none"),
        ("[index]\nmemory = \"14MiB\"", "index.memory: 15 to 2048 MiB are possible"),
        ("[index]\nmemory = \"3GiB\"", "15 to 2048 MiB"),
        ("[politeness]\npolicy = \"rude\"", "none of courteous, google, rfc9309"),
    ] {
        let message = settings(text).unwrap_err();
        assert!(message.contains(expect), "{text}: {message}");
    }
}
