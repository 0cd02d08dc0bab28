//! Faults of those who read the lines of a robots.txt, and choose a group.

use serde_json::{Map, Value};

use super::{Fault, say, text};
use crate::vectors::Case;

/// Where an engine with the fault says something else than is right.
pub(super) type Answer = Map<String, Value>;

pub(super) fn robots(case: &Case) -> &str {
    text(case, "robots")
}

fn robots_lower(case: &Case) -> String {
    robots(case).to_ascii_lowercase()
}

/// Path and query of the URL that is asked about.
pub(super) fn path(case: &Case) -> &str {
    let rest = text(case, "url").split_once("://").map_or("", |(_, rest)| rest);
    rest.find(['/', '?']).map_or("/", |at| &rest[at..])
}

/// The paths of the rules of one kind.
pub(super) fn paths<'a>(case: &'a Case, field: &'a str) -> impl Iterator<Item = &'a str> {
    robots(case).split(['\n', '\r']).filter_map(move |line| {
        let (name, value) = line.split('#').next()?.split_once(':')?;
        name.trim().eq_ignore_ascii_case(field).then_some(value.trim())
    })
}

pub(super) fn allow_if(answer: &mut Answer, is: bool) {
    if is {
        say(answer, "allowed", true);
    }
}

pub(super) fn disallow_if(answer: &mut Answer, is: bool) {
    if is {
        say(answer, "allowed", false);
    }
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "bare-cr-is-no-line-end",
        subject: "robots-syntax",
        what: "a CR alone does not end a line",
        answer: |case, answer| {
            let bare = robots(case).replace("\r\n", "").contains('\r');
            allow_if(answer, bare);
        },
    },
    Fault {
        name: "bom-kept",
        subject: "robots-syntax",
        what: "a byte order mark is a part of the first key",
        answer: |case, answer| {
            allow_if(answer, robots(case).starts_with('\u{feff}'));
        },
    },
    Fault {
        name: "html-refused",
        subject: "robots-syntax",
        what: "a page in place of the file has no rules",
        answer: |case, answer| {
            allow_if(answer, robots_lower(case).contains("<html"));
        },
    },
    Fault {
        name: "field-names-by-case",
        subject: "robots-syntax",
        what: "field names are compared with their case",
        answer: |case, answer| {
            allow_if(
                answer,
                robots(case).contains("DISALLOW") || robots(case).contains("Disallow"),
            );
        },
    },
    Fault {
        name: "paths-without-case",
        subject: "robots-",
        what: "paths are compared without their case",
        answer: |case, answer| {
            let path = path(case).to_ascii_lowercase();
            let hit = paths(case, "disallow").any(|rule| {
                rule.starts_with('/')
                    && !rule.contains(['*', '$'])
                    && path.starts_with(&rule.to_ascii_lowercase())
            });
            disallow_if(answer, hit && paths(case, "allow").next().is_none());
        },
    },
    Fault {
        name: "comments-kept",
        subject: "robots-syntax",
        what: "a # within a line is a part of the value",
        answer: |case, answer| {
            allow_if(
                answer,
                robots(case)
                    .lines()
                    .any(|line| line.trim_start().starts_with("disallow") && line.contains('#')),
            );
        },
    },
    Fault {
        name: "commented-rules-count",
        subject: "robots-syntax",
        what: "a rule behind a # counts",
        answer: |case, answer| {
            disallow_if(
                answer,
                robots(case).contains("#disallow") || robots(case).contains("# disallow"),
            );
        },
    },
    Fault {
        name: "empty-disallow-forbids",
        subject: "robots-",
        what: "a disallow without a path forbids everything",
        answer: |case, answer| {
            disallow_if(answer, paths(case, "disallow").any(str::is_empty));
        },
    },
    Fault {
        name: "slash-prepended",
        subject: "robots-syntax",
        what: "a path without its slash gets one",
        answer: |case, answer| {
            disallow_if(
                answer,
                paths(case, "disallow").any(|rule| path(case) == format!("/{rule}")),
            );
        },
    },
    Fault {
        name: "noindex-forbids",
        subject: "robots-syntax",
        what: "noindex lines forbid to fetch",
        answer: |case, answer| {
            disallow_if(answer, robots_lower(case).contains("\nnoindex:"));
        },
    },
    Fault {
        name: "sitemaps-of-own-host-only",
        subject: "robots-syntax",
        what: "sitemaps on other hosts are dropped",
        answer: |_, answer| {
            if let Some(Value::Array(sitemaps)) = answer.get_mut("sitemaps") {
                sitemaps
                    .retain(|url| url.as_str().is_some_and(|url| url.contains("//example.com/")));
            }
        },
    },
    Fault {
        name: "sitemaps-lower-cased",
        subject: "robots-syntax",
        what: "the value of a sitemap line loses its case",
        answer: |_, answer| {
            if let Some(Value::Array(sitemaps)) = answer.get_mut("sitemaps") {
                for url in sitemaps.iter_mut() {
                    *url = url.as_str().unwrap_or_default().to_ascii_lowercase().into();
                }
            }
        },
    },
    Fault {
        name: "typos-refused",
        subject: "robots-syntax",
        what: "misspelt keys are unknown",
        answer: |case, answer| {
            let robots = robots_lower(case);
            allow_if(
                answer,
                ["useragent", "user agent", "dissallow", "disalow"]
                    .iter()
                    .any(|typo| robots.contains(typo)),
            );
        },
    },
    Fault {
        name: "colon-required",
        subject: "robots-syntax",
        what: "a line without a colon has no effect",
        answer: |case, answer| {
            allow_if(
                answer,
                robots(case)
                    .lines()
                    .any(|line| line.starts_with("disallow") && !line.contains(':')),
            );
        },
    },
    Fault {
        name: "whole-file-read",
        subject: "robots-syntax",
        what: "what stands behind 500 KiB counts",
        answer: |case, answer| {
            disallow_if(answer, robots(case).len() > 512_000 && case.policy.is_some());
        },
    },
    Fault {
        name: "large-file-refused",
        subject: "robots-syntax",
        what: "a file of nearly 500 KiB is not read",
        answer: |case, answer| {
            allow_if(answer, robots(case).len() > 500_000);
        },
    },
    Fault {
        name: "blank-line-ends-a-group",
        subject: "robots-groups",
        what: "a blank line ends a group",
        answer: |case, answer| {
            allow_if(
                answer,
                robots(case).contains("\n\ndisallow")
                    || robots(case).contains("\n\nuser-agent: two"),
            );
        },
    },
    Fault {
        name: "unknown-line-ends-a-head",
        subject: "robots-groups",
        what: "an unknown or sitemap line ends a run of user-agent lines",
        answer: |case, answer| {
            let robots = robots_lower(case);
            allow_if(answer, robots.contains("sitemap:") || robots.contains("crawl-delay:"));
        },
    },
    Fault {
        name: "first-group-only",
        subject: "robots-groups",
        what: "of several groups for an agent the first counts",
        answer: |case, answer| {
            let twice = robots_lower(case).matches("user-agent: googlebot-news").count() > 1;
            allow_if(answer, twice && path(case) == "/shrimp");
        },
    },
    Fault {
        name: "last-group-only",
        subject: "robots-groups",
        what: "of several groups for an agent the last counts",
        answer: |case, answer| {
            let twice = robots_lower(case).matches("user-agent: googlebot-news").count() > 1;
            allow_if(answer, twice && path(case) == "/fish");
        },
    },
    Fault {
        name: "global-added",
        subject: "robots-groups",
        what: "the rules for everyone bind an agent with a group of its own too",
        answer: |case, answer| {
            disallow_if(
                answer,
                robots(case).contains("user-agent: *\ndisallow: /\n") || path(case) == "/carrots",
            );
        },
    },
    Fault {
        name: "token-by-prefix",
        subject: "robots-groups",
        what: "an agent obeys the group whose name its own begins with",
        answer: |case, answer| {
            let robots = robots_lower(case);
            let agents = case.input.get("agents").and_then(Value::as_array).into_iter().flatten();
            let hit = agents.filter_map(Value::as_str).any(|agent| {
                paths(case, "user-agent")
                    .any(|name| !name.is_empty() && agent.starts_with(&name.to_ascii_lowercase()))
            });
            disallow_if(answer, hit && robots.contains("disallow: /a"));
        },
    },
    Fault {
        name: "token-by-substring",
        subject: "robots-groups",
        what: "an agent obeys any group whose name contains its own",
        answer: |case, answer| {
            let agents = case.input.get("agents").and_then(Value::as_array).into_iter().flatten();
            let hit = agents.filter_map(Value::as_str).any(|agent| {
                paths(case, "user-agent").any(|name| name.to_ascii_lowercase().contains(agent))
            });
            disallow_if(answer, hit && path(case) == "/a");
        },
    },
    Fault {
        name: "agent-by-case",
        subject: "robots-syntax",
        what: "agents are compared with their case",
        answer: |case, answer| {
            let agents = case.input.get("agents").and_then(Value::as_array).into_iter().flatten();
            allow_if(
                answer,
                agents
                    .filter_map(Value::as_str)
                    .any(|agent| agent != "examplebot" && !robots(case).contains(agent)),
            );
        },
    },
    Fault {
        name: "version-not-cut",
        subject: "robots-groups",
        what: "googlebot/1.2 is another name than googlebot",
        answer: |case, answer| {
            allow_if(answer, robots(case).contains("googlebot/"));
        },
    },
    Fault {
        name: "orphans-count",
        subject: "robots-groups",
        what: "rules before any group bind everyone",
        answer: |case, answer| {
            disallow_if(answer, robots(case).starts_with("disallow"));
        },
    },
];
