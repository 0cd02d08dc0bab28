//! Faults of those who read a page's rules, texts and links.

use serde_json::{Map, Value};

use super::{Fault, follow_all, html, say, text};
use crate::vectors::Case;

type Answer = Map<String, Value>;

/// All header lines of the page, as one text in lower case.
fn headers(case: &Case) -> String {
    case.input.get("headers").map(Value::to_string).unwrap_or_default().to_ascii_lowercase()
}

fn no_rules(answer: &mut Answer) {
    for flag in ["noindex", "nofollow", "nosnippet", "notranslate", "noimageindex"] {
        say(answer, flag, false);
    }
    for limit in ["max_snippet", "max_image_preview", "max_video_preview", "unavailable_after"] {
        say(answer, limit, Value::Null);
    }
    say(answer, "show", "full");
}

/// Every element of a list of answers.
fn say_each(answer: &mut Answer, key: &str, value: bool) {
    if let Some(Value::Array(answers)) = answer.get_mut(key) {
        answers.iter_mut().for_each(|answer| *answer = value.into());
    }
}

/// A date that is off by so many seconds comes out as another one.
fn other_date(answer: &mut Answer) {
    say(answer, "unavailable_after", "1970-01-01T00:00:00Z");
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "meta-ignored",
        subject: "meta",
        what: "meta tags are not read",
        answer: |_, answer| no_rules(answer),
    },
    Fault {
        name: "meta-in-head-only",
        subject: "meta",
        what: "tags in the body are not read",
        answer: |case, answer| {
            if html(case).split_once("<body>").is_some_and(|(_, body)| body.contains("<meta")) {
                say(answer, "noindex", false);
            }
        },
    },
    Fault {
        name: "meta-by-text-search",
        subject: "meta",
        what: "tags in comments and scripts count",
        answer: |case, answer| {
            if html(case).contains("content=\"noindex\"") {
                say(answer, "noindex", true);
            }
        },
    },
    Fault {
        name: "meta-by-case",
        subject: "meta",
        what: "name and content are compared with their case",
        answer: |case, answer| {
            if text(case, "html").contains("NOINDEX") || text(case, "html").contains("ROBOTS") {
                say(answer, "noindex", false);
            }
        },
    },
    Fault {
        name: "every-name-counts",
        subject: "meta",
        what: "tags for other crawlers bind",
        answer: |case, answer| {
            if html(case).contains("noindex") {
                say(answer, "noindex", true);
            }
        },
    },
    Fault {
        name: "own-name-ignored",
        subject: "meta",
        what: "only robots is read, not the own token",
        answer: |case, answer| {
            if !html(case).contains("\"robots\"") {
                no_rules(answer);
            }
        },
    },
    Fault {
        name: "robots-binds-adsbot",
        subject: "meta",
        what: "a robots tag binds crawlers that are none of search",
        answer: |case, answer| {
            if text(case, "crawler") == "AdsBot-Google" && html(case).contains("\"robots\"") {
                say(answer, "noindex", true);
            }
        },
    },
    Fault {
        name: "news-is-googlebot",
        subject: "meta",
        what: "googlebot-news binds web search",
        answer: |case, answer| {
            if html(case).contains("googlebot-news") {
                say(answer, "nosnippet", true);
            }
        },
    },
    Fault {
        name: "last-word-wins",
        subject: "meta",
        what: "of index and noindex the last counts",
        answer: |case, answer| {
            if html(case).contains("noindex, index") || html(case).contains("none, index") {
                say(answer, "noindex", false);
            }
        },
    },
    Fault {
        name: "header-ignored",
        subject: "x-robots-tag",
        what: "X-Robots-Tag is not read",
        answer: |_, answer| no_rules(answer),
    },
    Fault {
        name: "first-header-line-only",
        subject: "x-robots-tag",
        what: "of several lines the first counts",
        answer: |case, answer| {
            if headers(case).matches("x-robots-tag").count() > 1 {
                say(answer, "nofollow", false);
                say(answer, "unavailable_after", Value::Null);
            }
        },
    },
    Fault {
        name: "304-lifts-the-header",
        subject: "x-robots-tag",
        what: "a 304 without the header lifts what was stored of it",
        answer: |case, answer| {
            if case.input.contains_key("not_modified") {
                say(answer, "noindex", false);
            }
        },
    },
    Fault {
        name: "header-agent-ignored",
        subject: "x-robots-tag",
        what: "rules for other crawlers bind",
        answer: |case, answer| {
            if headers(case).contains("otherbot: noindex")
                || headers(case).contains("badbot: noindex")
            {
                say(answer, "noindex", true);
            }
        },
    },
    Fault {
        name: "header-scope-joined",
        subject: "x-robots-tag",
        what: "a crawler's name governs the next line too",
        answer: |case, answer| {
            if headers(case).contains("\"otherbot: noindex\"") {
                say(answer, "nofollow", false);
            }
        },
    },
    Fault {
        name: "header-scope-one-rule",
        subject: "x-robots-tag",
        what: "a crawler's name governs one rule only",
        answer: |case, answer| {
            if headers(case).contains("badbot: noindex, nofollow") {
                say(answer, "nofollow", true);
            }
        },
    },
    Fault {
        name: "date-comma-splits",
        subject: "x-robots-tag",
        what: "a date ends at its comma",
        answer: |case, answer| {
            if headers(case).contains("fri, 25") {
                say(answer, "unavailable_after", Value::Null);
            }
        },
    },
    Fault {
        name: "none-is-nothing",
        subject: "rules",
        what: "none is no rule",
        answer: |case, answer| {
            if html(case).contains("content=\"none\"") {
                no_rules(answer);
            }
        },
    },
    Fault {
        name: "indexifembedded-alone",
        subject: "rules",
        what: "indexifembedded works without noindex",
        answer: |case, answer| {
            if html(case).contains("content=\"indexifembedded\"") {
                say(answer, "show", "embedded-only");
            }
        },
    },
    Fault {
        name: "indexifembedded-shows-all",
        subject: "rules",
        what: "indexifembedded lifts noindex for the page itself",
        answer: |_, answer| {
            if answer.get("show").is_some_and(|show| show == "embedded-only") {
                say(answer, "show", "full");
            }
        },
    },
    Fault {
        name: "max-snippet-zero-unlimited",
        subject: "rules",
        what: "max-snippet:0 is no limit",
        answer: |_, answer| {
            if answer.get("max_snippet").is_some_and(|limit| *limit == 0) {
                say(answer, "max_snippet", -1);
            }
        },
    },
    Fault {
        name: "max-snippet-lenient",
        subject: "rules",
        what: "20px is a number",
        answer: |case, answer| {
            if html(case).contains("20px") {
                say(answer, "max_snippet", 20);
            }
        },
    },
    Fault {
        name: "image-setting-default",
        subject: "rules",
        what: "an unknown image size is the largest",
        answer: |case, answer| {
            if html(case).contains("huge") {
                say(answer, "max_image_preview", "large");
            }
        },
    },
    Fault {
        name: "noarchive-hides",
        subject: "rules",
        what: "noarchive keeps a page out",
        answer: |case, answer| {
            if html(case).contains("noarchive") {
                say(answer, "show", "nothing");
            }
        },
    },
    Fault {
        name: "nofollow-ignored",
        subject: "rules",
        what: "links of a nofollow page are followed",
        answer: |_, answer| follow_all(answer),
    },
    Fault {
        name: "nosnippet-quoted",
        subject: "rules",
        what: "a nosnippet page is quoted",
        answer: |_, answer| say_each(answer, "quotable", true),
    },
    Fault {
        name: "date-is-local-time",
        subject: "dates",
        what: "a zone is not read",
        answer: |case, answer| {
            let zones = ["est", "edt", "cst", "mst", "pst", "+0", "-0330"];
            if zones.iter().any(|zone| headers(case).contains(zone)) {
                other_date(answer);
            }
        },
    },
    Fault {
        name: "rfc-850-refused",
        subject: "dates",
        what: "Monday, 15-Mar-27 is no date",
        answer: |case, answer| {
            if headers(case).contains("monday, 15-mar-27") {
                say(answer, "unavailable_after", Value::Null);
            }
        },
    },
    Fault {
        name: "iso-only",
        subject: "dates",
        what: "only ISO 8601 is read",
        answer: |case, answer| {
            if headers(case).contains(" mar ") {
                say(answer, "unavailable_after", Value::Null);
            }
        },
    },
    Fault {
        name: "bad-date-expires",
        subject: "dates",
        what: "an invalid date hides the page",
        answer: |case, answer| {
            if headers(case).contains("soon") {
                say(answer, "show", "nothing");
            }
        },
    },
    Fault {
        name: "expiry-ignored",
        subject: "dates",
        what: "a page is shown after its date",
        answer: |_, answer| say(answer, "show", "full"),
    },
    Fault {
        name: "latest-date",
        subject: "dates",
        what: "of several dates the latest counts",
        answer: |case, answer| {
            if headers(case).matches("unavailable_after: 20").count() > 1 {
                say(answer, "unavailable_after", "2027-05-01T00:00:00Z");
            }
        },
    },
    Fault {
        name: "expired-crawled-as-before",
        subject: "dates",
        what: "an expired page is looked at as often as before",
        answer: |case, answer| {
            if case.input.get("expired") == Some(&Value::Bool(true)) {
                say(answer, "later", false);
            }
        },
    },
    Fault {
        name: "rendered-only",
        subject: "combination",
        what: "only the page as scripts left it is read",
        answer: |case, answer| {
            if text(case, "rendered") == "<p>a" {
                no_rules(answer);
            }
        },
    },
    Fault {
        name: "first-tag-only",
        subject: "combination",
        what: "of several tags the first counts",
        answer: |case, answer| {
            if html(case).matches("<meta").count() > 1 {
                say(answer, "nofollow", false);
            }
        },
    },
    Fault {
        name: "specific-tag-only",
        subject: "combination",
        what: "a tag for the crawler replaces that for all",
        answer: |case, answer| {
            if html(case).contains("\"googlebot\"") || html(case).contains("\"examplebot\"") {
                say(answer, "nofollow", false);
                say(answer, "noindex", false);
            }
        },
    },
    Fault {
        name: "length-lifts-nosnippet",
        subject: "combination",
        what: "max-snippet lifts nosnippet",
        answer: |case, answer| {
            if html(case).contains("max-snippet") {
                say(answer, "nosnippet", false);
            }
        },
    },
    Fault {
        name: "greatest-limit",
        subject: "combination",
        what: "of several limits the greatest counts",
        answer: |case, answer| {
            if html(case).matches("max-snippet").count() > 1 {
                say(answer, "max_snippet", 50);
            }
        },
    },
    Fault {
        name: "blocked-page-obeyed",
        subject: "combination",
        what: "rules of a page count that was never fetched",
        answer: |_, answer| {
            if answer.get("show").is_some_and(|show| show == "bare-url") {
                say(answer, "show", "nothing");
            }
        },
    },
    Fault {
        name: "robots-noindex-obeyed",
        subject: "combination",
        what: "noindex in robots.txt counts",
        answer: |case, answer| {
            if text(case, "robots").contains("noindex:") {
                say(answer, "noindex", true);
                say(answer, "allowed", false);
            }
        },
    },
    Fault {
        name: "data-nosnippet-ignored",
        subject: "data-nosnippet",
        what: "the attribute is not read",
        answer: |_, answer| say_each(answer, "quotable", true),
    },
    Fault {
        name: "data-nosnippet-false",
        subject: "data-nosnippet",
        what: "data-nosnippet=\"false\" shows the text",
        answer: |case, answer| {
            if html(case).contains("\"false\"") {
                say_each(answer, "quotable", true);
            }
        },
    },
    Fault {
        name: "data-nosnippet-anywhere",
        subject: "data-nosnippet",
        what: "the attribute works on any element",
        answer: |case, answer| {
            if html(case).contains("<mytag") || html(case).contains("<p data") {
                say_each(answer, "quotable", false);
            }
        },
    },
    Fault {
        name: "unclosed-div-closes",
        subject: "data-nosnippet",
        what: "an unclosed div hides its first text only",
        answer: |case, answer| {
            if html(case).contains("some text<p>later") {
                say(answer, "quotable", vec![true, false, true]);
            }
        },
    },
    Fault {
        name: "hidden-not-indexed",
        subject: "data-nosnippet",
        what: "what is not quoted is not found",
        answer: |_, answer| say_each(answer, "findable", false),
    },
    Fault {
        name: "nosnippet-hides-data",
        subject: "structured-data",
        what: "nosnippet forbids structured data",
        answer: |case, answer| {
            if html(case).contains("nosnippet") {
                say(answer, "blocks", 0);
            }
        },
    },
    Fault {
        name: "descriptions-not-cut",
        subject: "structured-data",
        what: "max-snippet does not cut descriptions",
        answer: |_, answer| say(answer, "description_limit", -1),
    },
];
