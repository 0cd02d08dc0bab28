//! Faults of those who read sitemaps, speak HTTP and keep a pace.

use serde_json::{Map, Value};

use super::{Fault, add_url, say, text};
use crate::vectors::Case;

type Answer = Map<String, Value>;

fn drop_urls(answer: &mut Answer, key: &str, is_dropped: fn(&str) -> bool) {
    if let Some(Value::Array(urls)) = answer.get_mut(key) {
        urls.retain(|url| !url.as_str().is_some_and(is_dropped));
    }
}

fn is_status(case: &Case, statuses: &[u64]) -> bool {
    case.input
        .get("status")
        .and_then(Value::as_u64)
        .is_some_and(|status| statuses.contains(&status))
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "sitemap-unescaped",
        subject: "sitemaps",
        what: "&amp; is not resolved",
        answer: |case, answer| {
            if text(case, "body").contains("&amp;") {
                say(answer, "urls", vec!["https://example.com/a?b=1&amp;c=2"]);
            }
        },
    },
    Fault {
        name: "sitemap-relative",
        subject: "sitemaps",
        what: "relative addresses count",
        answer: |case, answer| {
            if text(case, "body").contains("<loc>/a") {
                add_url(answer, "urls", "https://example.com/a");
            }
        },
    },
    Fault {
        name: "sitemap-xml-only",
        subject: "sitemaps",
        what: "text, RSS and Atom are no sitemaps",
        answer: |case, answer| {
            if !text(case, "body").contains("<urlset") {
                say(answer, "urls", Value::Array(vec![]));
            }
        },
    },
    Fault {
        name: "sitemap-no-gzip",
        subject: "sitemaps",
        what: "a compressed sitemap is not read",
        answer: |case, answer| {
            if case.input.contains_key("body_b64") {
                say(answer, "urls", Value::Array(vec![]));
            }
        },
    },
    Fault {
        name: "sitemap-without-limit",
        subject: "sitemaps",
        what: "more than 50,000 URLs count",
        answer: |case, answer| {
            if text(case, "body").lines().count() > 50_000 {
                say(answer, "count", 50_001);
            }
        },
    },
    Fault {
        name: "sitemap-covers-all",
        subject: "sitemaps",
        what: "a sitemap that nobody submitted covers the whole site",
        answer: |case, answer| {
            if text(case, "submitted") == "nobody" {
                add_url(answer, "urls", "https://example.com/other");
            }
        },
    },
    Fault {
        name: "sitemap-of-strangers",
        subject: "sitemaps",
        what: "a sitemap may list other sites",
        answer: |case, answer| {
            if text(case, "body").contains("other.example") {
                add_url(answer, "urls", "https://other.example/a");
            }
        },
    },
    Fault {
        name: "cross-submission-refused",
        subject: "sitemaps",
        what: "a sitemap may never list other sites",
        answer: |_, answer| {
            drop_urls(answer, "urls", |url| url.contains("other.example"));
        },
    },
    Fault {
        name: "lastmod-zone-ignored",
        subject: "sitemaps",
        what: "the zone of lastmod is not read",
        answer: |_, answer| {
            if let Some(Value::Object(dates)) = answer.get_mut("lastmod") {
                dates.insert("https://example.com/b".into(), "2026-10-01T12:30:00Z".into());
            }
        },
    },
    Fault {
        name: "stale-news",
        subject: "sitemaps",
        what: "news never grow old",
        answer: |_, answer| add_url(answer, "news", "https://example.com/old"),
    },
    Fault {
        name: "disallowed-sitemap-read",
        subject: "sitemaps",
        what: "sitemaps are fetched whatever robots.txt says",
        answer: |_, answer| say(answer, "allowed", true),
    },
    Fault {
        name: "204-read",
        subject: "http",
        what: "a 204 is a page",
        answer: |case, answer| {
            if is_status(case, &[204]) {
                say(answer, "index", "read");
            }
        },
    },
    Fault {
        name: "304-withdraws",
        subject: "http",
        what: "a 304 takes a page out",
        answer: |case, answer| {
            if is_status(case, &[304]) {
                say(answer, "index", "withdraw");
            }
        },
    },
    Fault {
        name: "404-kept",
        subject: "http",
        what: "a page that is gone stays",
        answer: |case, answer| {
            if is_status(case, &[404, 410]) {
                say(answer, "index", "keep");
            }
        },
    },
    Fault {
        name: "503-withdraws",
        subject: "http",
        what: "an outage takes pages out",
        answer: |case, answer| {
            if is_status(case, &[429, 503]) {
                say(answer, "index", "withdraw");
            }
        },
    },
    Fault {
        name: "retry-after-dates-refused",
        subject: "http",
        what: "Retry-After is a number only",
        answer: |case, answer| {
            if text(case, "text").contains("Nov") {
                say(answer, "wait_s", Value::Null);
            }
        },
    },
    Fault {
        name: "retry-after-ignored",
        subject: "http",
        what: "the site is asked before the time that it named",
        answer: |_, answer| {
            if let Some(Value::Array(times)) = answer.get_mut("ready") {
                times.iter_mut().for_each(|ready| *ready = true.into());
            }
        },
    },
    Fault {
        name: "asctime-refused",
        subject: "http",
        what: "asctime's form is no date",
        answer: |case, answer| {
            if !text(case, "text").contains("GMT") {
                say(answer, "instant", Value::Null);
            }
        },
    },
    Fault {
        name: "century-by-19",
        subject: "http",
        what: "two-digit years are of the 20th century",
        answer: |case, answer| {
            if text(case, "text").contains("Dec-26") {
                say(answer, "instant", "1926-12-01T00:00:00Z");
            }
        },
    },
    Fault {
        name: "expires-before-max-age",
        subject: "http",
        what: "Expires goes before max-age",
        answer: |case, answer| {
            if case
                .input
                .get("headers")
                .is_some_and(|headers| headers.to_string().contains("14:00:00"))
            {
                say(answer, "fresh_s", 7200);
            }
        },
    },
    Fault {
        name: "age-not-subtracted",
        subject: "http",
        what: "Age does not count",
        answer: |case, answer| {
            if case
                .input
                .get("headers")
                .is_some_and(|headers| headers.to_string().contains("\"Age\""))
            {
                say(answer, "fresh_s", 600);
            }
        },
    },
    Fault {
        name: "location-not-resolved",
        subject: "http",
        what: "a relative Location leads nowhere",
        answer: |case, answer| {
            if !text(case, "location").contains("://") {
                say(answer, "target", Value::Null);
            }
        },
    },
    Fault {
        name: "errors-do-not-slow",
        subject: "politeness",
        what: "errors of a server change nothing",
        answer: |_, answer| say(answer, "slower", false),
    },
    Fault {
        name: "never-recovers",
        subject: "politeness",
        what: "a slow-down never ends",
        answer: |case, answer| {
            if case.input.get("events").is_some_and(|events| events[0]["status"] != 200) {
                say(answer, "slower", true);
            }
        },
    },
    Fault {
        name: "no-pause",
        subject: "politeness",
        what: "the next request comes at once",
        answer: |_, answer| {
            if let Some(Value::Array(times)) = answer.get_mut("ready") {
                times.iter_mut().for_each(|ready| *ready = true.into());
            }
        },
    },
    Fault {
        name: "crawl-delay-without-cap",
        subject: "politeness",
        what: "an hour of crawl-delay is kept",
        answer: |case, answer| {
            if text(case, "robots").contains("crawl-delay: 3600") {
                say(answer, "crawl_delay_s", 3600);
            }
        },
    },
    Fault {
        name: "crawl-delay-of-google",
        subject: "politeness",
        what: "Google's policy knows crawl-delay",
        answer: |case, answer| {
            if text(case, "robots").contains("crawl-delay: 10") {
                say(answer, "crawl_delay_s", 10);
            }
        },
    },
    Fault {
        name: "fall-back-unknown",
        subject: "identity",
        what: "a crawler obeys its own token only",
        answer: |case, answer| {
            if text(case, "robots").contains("parentbot")
                || text(case, "crawler").starts_with("Googlebot-")
            {
                say(answer, "allowed", true);
            }
        },
    },
    Fault {
        name: "tokens-merged",
        subject: "identity",
        what: "groups of own token and fall-back are one",
        answer: |case, answer| {
            if text(case, "robots").contains("photobot") && text(case, "url").ends_with("/b") {
                say(answer, "allowed", false);
            }
        },
    },
    Fault {
        name: "adsbot-obeys-everyones",
        subject: "identity",
        what: "special-case crawlers obey the group for everyone",
        answer: |case, answer| {
            if text(case, "crawler").contains("AdsBot") {
                say(answer, "allowed", false);
            }
        },
    },
    Fault {
        name: "feedfetcher-bound",
        subject: "identity",
        what: "fetchers that users trigger are bound",
        answer: |case, answer| {
            if text(case, "crawler") == "Feedfetcher" {
                say(answer, "allowed", false);
            }
        },
    },
    Fault {
        name: "any-token",
        subject: "identity",
        what: "a token may have digits and blanks",
        answer: |case, answer| {
            if !text(case, "token").is_empty() {
                say(answer, "valid", true);
            }
        },
    },
];
