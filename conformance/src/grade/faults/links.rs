//! Faults of those who follow links, and choose an address among several.

use serde_json::Value;

use super::{Fault, add_url, follow_all, html, say, text};
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "rel-ignored",
        subject: "links",
        what: "qualified links are followed",
        answer: |_, answer| follow_all(answer),
    },
    Fault {
        name: "only-nofollow-known",
        subject: "links",
        what: "ugc and sponsored say nothing",
        answer: |case, answer| {
            if !html(case).contains("nofollow") {
                follow_all(answer);
            }
        },
    },
    Fault {
        name: "rel-blanks-only",
        subject: "links",
        what: "commas do not part the words of rel",
        answer: |case, answer| {
            if html(case).contains("ugc,nofollow") {
                follow_all(answer);
            }
        },
    },
    Fault {
        name: "nofollow-for-the-page",
        subject: "links",
        what: "one qualified link keeps from all",
        answer: |case, answer| {
            if html(case).contains("rel=nofollow") {
                say(answer, "follow", Value::Array(vec![]));
            }
        },
    },
    Fault {
        name: "links-by-text-search",
        subject: "links",
        what: "links in comments and scripts are followed",
        answer: |case, answer| {
            if html(case).contains("<!--") || html(case).contains("<script>var") {
                add_url(answer, "follow", "https://example.com/a");
            }
        },
    },
    Fault {
        name: "base-ignored",
        subject: "links",
        what: "the base element is not read",
        answer: |case, answer| {
            if html(case).contains("<base href=\"https") {
                say(answer, "follow", vec!["https://example.com/a"]);
            }
        },
    },
    Fault {
        name: "fragments-kept",
        subject: "links",
        what: "a fragment makes another page",
        answer: |case, answer| {
            if html(case).contains("#b") {
                say(answer, "follow", vec!["https://example.com/a#b"]);
            }
        },
    },
    Fault {
        name: "mailto-followed",
        subject: "links",
        what: "mailto is an address to fetch",
        answer: |case, answer| {
            if html(case).contains("mailto:") {
                add_url(answer, "follow", "mailto:a@example.com");
            }
        },
    },
    Fault {
        name: "canonical-in-body",
        subject: "links",
        what: "a canonical link in the body counts",
        answer: |case, answer| {
            if html(case).contains("rel=\"canonical\" href=\"/c\"") {
                say(answer, "canonical", "https://example.com/c");
            }
        },
    },
    Fault {
        name: "canonical-header-ignored",
        subject: "links",
        what: "the Link header is not read",
        answer: |case, answer| {
            if !html(case).contains("<link") {
                say(answer, "canonical", Value::Null);
                say(answer, "alternates", Value::Array(vec![]));
            }
        },
    },
    Fault {
        name: "sitemap-beats-canonical",
        subject: "links",
        what: "a sitemap is stronger than rel=canonical",
        answer: |case, answer| {
            if case.input.get("in_sitemap").is_some_and(|listed| listed[0].is_string()) {
                say(answer, "canonical", "https://example.com/s");
            }
        },
    },
    Fault {
        name: "http-preferred",
        subject: "links",
        what: "https is not preferred",
        answer: |case, answer| {
            if text(case, "url").starts_with("http:") {
                say(answer, "canonical", text(case, "url"));
            }
        },
    },
    Fault {
        name: "302-permanent",
        subject: "links",
        what: "every redirect is permanent",
        answer: |_, answer| {
            if answer.get("move").is_some_and(|moved| moved == "temporary") {
                say(answer, "move", "permanent");
            }
        },
    },
    Fault {
        name: "refresh-always-permanent",
        subject: "links",
        what: "a refresh after seconds is permanent",
        answer: |_, answer| {
            if let Some(Value::Object(refresh)) = answer.get_mut("refresh") {
                refresh.insert("permanent".into(), true.into());
            }
        },
    },
    Fault {
        name: "one-sided-versions",
        subject: "links",
        what: "language versions count that do not name the page",
        answer: |case, answer| {
            if case.kind == "alternates" {
                let pages =
                    case.input.get("pages").and_then(Value::as_object).into_iter().flatten();
                let all = pages.map(|(page, versions)| {
                    let names =
                        versions.as_array().into_iter().flatten().map(|version| version[0].clone());
                    (page.clone(), names.collect())
                });
                say(answer, "confirmed", Value::Object(all.collect()));
            }
        },
    },
];
