//! Faults of those who match paths and weigh rules, or take a file for another origin's.

use super::robots::{allow_if, disallow_if, path, paths, robots};
use super::{Fault, say, text};
use crate::vectors::Case;

fn any_path(case: &Case, is: fn(&str) -> bool) -> bool {
    paths(case, "disallow").chain(paths(case, "allow")).any(is)
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "star-literal",
        subject: "robots-matching",
        what: "a star is a plain character",
        answer: |case, answer| {
            allow_if(answer, any_path(case, |rule| rule.trim_end_matches('*').contains('*')));
        },
    },
    Fault {
        name: "star-stops-at-slash",
        subject: "robots-matching",
        what: "a star does not match slashes",
        answer: |case, answer| {
            allow_if(
                answer,
                any_path(case, |rule| rule.contains('*')) && path(case).matches('/').count() > 2,
            );
        },
    },
    Fault {
        name: "end-ignored",
        subject: "robots-matching",
        what: "a $ at the end does nothing",
        answer: |case, answer| {
            let hit = paths(case, "disallow").any(|rule| {
                rule.strip_suffix('$')
                    .is_some_and(|rule| !rule.contains('*') && path(case).starts_with(rule))
            });
            disallow_if(answer, hit);
        },
    },
    Fault {
        name: "query-ignored",
        subject: "robots-matching",
        what: "the query takes no part",
        answer: |case, answer| {
            allow_if(answer, path(case).contains('?') && any_path(case, |rule| rule.contains('?')));
        },
    },
    Fault {
        name: "matches-anywhere",
        subject: "robots-matching",
        what: "a rule matches inside of a path too",
        answer: |case, answer| {
            let hit =
                paths(case, "disallow").any(|rule| rule.len() > 1 && path(case).contains(rule));
            disallow_if(answer, hit);
        },
    },
    Fault {
        name: "nothing-escaped",
        subject: "robots-matching",
        what: "characters outside ASCII are compared as they stand",
        answer: |case, answer| {
            allow_if(answer, !robots(case).is_ascii());
        },
    },
    Fault {
        name: "everything-decoded",
        subject: "robots-matching",
        what: "%2F is a slash",
        answer: |case, answer| {
            disallow_if(answer, robots(case).contains("%2F") != text(case, "url").contains("%2F"));
        },
    },
    Fault {
        name: "unreserved-not-decoded",
        subject: "robots-matching",
        what: "%62 is no b",
        answer: |case, answer| {
            allow_if(answer, robots(case).contains("%62") || text(case, "url").contains("%62"));
        },
    },
    Fault {
        name: "robots-txt-disallowed",
        subject: "robots-matching",
        what: "/robots.txt is judged like other URLs",
        answer: |case, answer| {
            disallow_if(answer, path(case) == "/robots.txt");
        },
    },
    Fault {
        name: "first-rule-wins",
        subject: "robots-precedence",
        what: "the first rule that matches decides",
        answer: |case, answer| {
            let first = robots(case).lines().nth(1).unwrap_or_default();
            if first == "disallow: /" || first == "disallow: /a" {
                say(answer, "allowed", false);
            }
        },
    },
    Fault {
        name: "allow-always-wins",
        subject: "robots-precedence",
        what: "any allow that matches decides",
        answer: |case, answer| {
            allow_if(
                answer,
                paths(case, "allow").any(|rule| rule.len() > 1 && path(case).starts_with(rule)),
            );
        },
    },
    Fault {
        name: "tie-disallows",
        subject: "robots-precedence",
        what: "of equally long rules the disallow decides",
        answer: |case, answer| {
            let fits = |rule: &&str| rule.contains('*') || path(case).starts_with(rule);
            let forbids = |length| {
                paths(case, "disallow").filter(fits).any(|rule: &str| rule.len() == length)
            };
            let tie = paths(case, "allow").filter(fits).any(|rule| forbids(rule.len()));
            disallow_if(answer, tie);
        },
    },
    Fault {
        name: "stars-do-not-count",
        subject: "robots-precedence",
        what: "wildcards do not count for the length of a rule",
        answer: |case, answer| {
            allow_if(answer, robots(case).contains("disallow: /fish*"));
        },
    },
    Fault {
        name: "scope-without-port",
        subject: "url-scope",
        what: "rules bind all ports of a host",
        answer: |case, answer| {
            let other = text(case, "url").contains(":8181") || text(case, "url").contains(":444");
            if other {
                say(answer, "applies", true);
            }
        },
    },
    Fault {
        name: "scope-without-protocol",
        subject: "url-scope",
        what: "rules of https bind http",
        answer: |case, answer| {
            if text(case, "url") == "http://example.com/" {
                say(answer, "applies", true);
            }
        },
    },
    Fault {
        name: "scope-with-subdomains",
        subject: "url-scope",
        what: "rules bind the subdomains",
        answer: |case, answer| {
            if text(case, "url").contains("other.example.com") {
                say(answer, "applies", true);
            }
        },
    },
    Fault {
        name: "scope-default-port-differs",
        subject: "url-scope",
        what: "the standard port makes another origin",
        answer: |case, answer| {
            if text(case, "url").contains(":443/") != text(case, "robots_url").contains(":443/") {
                say(answer, "applies", false);
            }
        },
    },
    Fault {
        name: "scope-idn-by-letters",
        subject: "url-scope",
        what: "a name and its punycode are two hosts",
        answer: |case, answer| {
            if text(case, "url").contains("xn--") {
                say(answer, "applies", false);
            }
        },
    },
    Fault {
        name: "robots-txt-in-folders",
        subject: "url-scope",
        what: "a robots.txt in a folder binds that folder",
        answer: |case, answer| {
            if text(case, "robots_url").contains("/folder/")
                && text(case, "url").contains("/folder/")
            {
                say(answer, "applies", true);
            }
        },
    },
    Fault {
        name: "parser-allows",
        subject: "parity",
        what: "everything is allowed",
        answer: |_, answer| {
            say(answer, "allowed", true);
        },
    },
    Fault {
        name: "parser-case",
        subject: "parity",
        what: "paths are compared without their case",
        answer: |case, answer| {
            if case.clause == "RT-048" {
                say(answer, "allowed", false);
            }
        },
    },
];
