//! Faults of those who fetch robots.txt, and live with its absence.

use serde_json::{Map, Value};

use super::{Fault, say_all};
use crate::vectors::Case;

/// Where an engine with the fault says something else than is right.
type Answer = Map<String, Value>;

/// The events of a life, or of a site's answers.
fn events(case: &Case) -> impl Iterator<Item = &Value> {
    case.input.get("events").and_then(Value::as_array).into_iter().flatten()
}

fn has_status(case: &Case, is: fn(u64) -> bool) -> bool {
    events(case).filter_map(|event| event["status"].as_u64()).any(is)
}

/// The answers to questions that are asked between these times, in seconds.
fn say_between(case: &Case, answer: &mut Answer, from: u64, to: u64, value: bool) {
    let asked = case.input.get("ask").and_then(Value::as_array).into_iter().flatten();
    let Some(Value::Array(answers)) = answer.get_mut("allowed") else { return };
    for (ask, answer) in asked.zip(answers) {
        let at = ask["t_s"].as_u64().unwrap_or_default();
        if (from..to).contains(&at) {
            *answer = value.into();
        }
    }
}

fn scale_refreshes(answer: &mut Answer, scale: fn(u64) -> u64) {
    if let Some(Value::Array(times)) = answer.get_mut("refresh_at_s") {
        for time in times.iter_mut() {
            if let Some(at) = time.as_u64() {
                *time = scale(at).into();
            }
        }
    }
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "403-forbids",
        subject: "status",
        what: "a 403 for robots.txt forbids the site",
        answer: |case, answer| {
            if has_status(case, |status| status == 403) {
                say_all(answer, false);
            }
        },
    },
    Fault {
        name: "404-forbids",
        subject: "status",
        what: "a missing robots.txt forbids the site",
        answer: |case, answer| {
            if has_status(case, |status| status == 404) {
                say_all(answer, false);
            }
        },
    },
    Fault {
        name: "429-is-no-file",
        subject: "status",
        what: "a 429 is a client error like others",
        answer: |case, answer| {
            if has_status(case, |status| status == 429) {
                say_all(answer, true);
            }
        },
    },
    Fault {
        name: "5xx-allows",
        subject: "status",
        what: "a server error means that there are no rules",
        answer: |case, answer| {
            if has_status(case, |status| status >= 500) {
                say_all(answer, true);
            }
        },
    },
    Fault {
        name: "network-error-allows",
        subject: "status",
        what: "a fetch that fails means that there are no rules",
        answer: |case, answer| {
            if events(case).any(|event| event["error"].is_string()) {
                say_all(answer, true);
            }
        },
    },
    Fault {
        name: "redirects-not-followed",
        subject: "status",
        what: "a redirected robots.txt is none",
        answer: |case, answer| {
            if has_status(case, |status| (301..=308).contains(&status)) {
                say_all(answer, true);
            }
        },
    },
    Fault {
        name: "three-hops-only",
        subject: "status",
        what: "the fourth redirect is not followed",
        answer: |case, answer| {
            if events(case).filter(|event| event["location"].is_string()).count() > 3 {
                say_all(answer, true);
            }
        },
    },
    Fault {
        name: "redirects-without-end",
        subject: "status",
        what: "a sixth redirect is followed",
        answer: |case, answer| {
            if events(case).filter(|event| event["location"].is_string()).count() > 5 {
                say_all(answer, false);
            }
        },
    },
    Fault {
        name: "fetches-before-robots",
        subject: "status",
        what: "pages are fetched before robots.txt",
        answer: |case, answer| {
            if events(case).next().is_none() {
                say_all(answer, true);
            }
        },
    },
    Fault {
        name: "no-full-stop",
        subject: "outage",
        what: "the old copy decides from the first failure on",
        answer: |case, answer| {
            say_between(case, answer, 86_400, 86_400 + 12 * 3600, true);
        },
    },
    Fault {
        name: "full-stop-too-long",
        subject: "outage",
        what: "the full stop lasts a day",
        answer: |case, answer| {
            say_between(case, answer, 36 * 3600, 48 * 3600, false);
        },
    },
    Fault {
        name: "last-good-forgotten",
        subject: "outage",
        what: "after the full stop there are no rules",
        answer: |case, answer| {
            say_between(case, answer, 36 * 3600, 30 * 86_400, true);
        },
    },
    Fault {
        name: "last-good-for-ever",
        subject: "outage",
        what: "the last good copy decides after 30 days too",
        answer: |case, answer| {
            say_between(case, answer, 31 * 86_400, u64::MAX, false);
        },
    },
    Fault {
        name: "unavailable-site-crawled",
        subject: "outage",
        what: "after 30 days a site is crawled that does not work",
        answer: |case, answer| {
            say_between(case, answer, 31 * 86_400, u64::MAX, true);
        },
    },
    Fault {
        name: "no-backoff",
        subject: "outage",
        what: "every retry comes after five minutes",
        answer: |_, answer| {
            scale_refreshes(answer, |at| at.min(300));
        },
    },
    Fault {
        name: "cached-for-a-week",
        subject: "caching",
        what: "a copy is used for a week",
        answer: |_, answer| {
            scale_refreshes(answer, |at| if at == 86_400 { 604_800 } else { at });
        },
    },
    Fault {
        name: "max-age-ignored",
        subject: "caching",
        what: "Cache-Control says nothing",
        answer: |case, answer| {
            if events(case).count() == 1 {
                scale_refreshes(answer, |_| 86_400);
            }
        },
    },
    Fault {
        name: "age-ignored",
        subject: "caching",
        what: "Age is not subtracted",
        answer: |_, answer| {
            scale_refreshes(answer, |at| if at == 3000 { 3600 } else { at });
        },
    },
    Fault {
        name: "one-agents-copy",
        subject: "caching",
        what: "the copy answers for the first agent only",
        answer: |case, answer| {
            if case.input.get("agents").is_some_and(|agents| agents[0] != "examplebot") {
                say_all(answer, true);
            }
        },
    },
];
