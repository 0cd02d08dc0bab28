//! The observatory: its robots.txt fails, so the whole site is closed.

use super::ROBOTS;
use crate::lab::site::{Duty, Page, Search, Site, asked, never_below};

pub(super) fn site() -> Site {
    Site {
        name: "observatory",
        about: "Its robots.txt answers 503. While its rules cannot be read, none of its pages \
                may be fetched, though they are there.",
        pages: vec![
            Page::robots("The file is being polished.\n").status(503),
            Page::html("/", "Hill Observatory", HOME),
            Page::html("/telescope", "The telescope", TELESCOPE),
        ],
        traps: &[],
        duties: DUTIES,
        robots: &["{observatory}/robots.txt"],
        crawl_delay_ms: None,
        snippets: &[],
        searches: &[Search {
            query: "nebula telescope",
            finds: &[],
            never: &["{observatory}/", "{observatory}/telescope"],
        }],
    }
}

const HOME: &str = r#"<p>On clear nights the dome is open to everyone who can climb the hill
quietly.</p>
<p><a href="/telescope">About the telescope</a></p>"#;

const TELESCOPE: &str = r#"<p>The great refractor shows the rings of Saturn and, on the best nights
of the year, the faint green nebula in the Swan.</p>"#;

const DUTIES: &[Duty] = &[
    asked("/robots.txt", "only asking shows that it fails", ROBOTS),
    never_below(
        "/",
        "robots.txt cannot be read, so everything counts as disallowed",
        "RFC 9309 §2.3.1.4 (RT-025, RT-029)",
    ),
];
