//! The ferry: a slow site that asks for two seconds between requests.

use super::{DISALLOW, LINKED, ROBOTS};
use crate::lab::site::{Duty, Page, Search, Site, asked, never_below, shown};

pub(super) fn site() -> Site {
    Site {
        name: "ferry",
        about: "It asks for two seconds between requests (Crawl-delay: 2), and for none at all \
                to the crew's cabins.",
        pages: vec![
            Page::robots(ROBOTS_TXT),
            Page::html("/", "The Wend Ferry", HOME),
            Page::html("/timetable", "Timetable", TIMETABLE).gzip(),
            Page::html("/harbour", "The harbour", HARBOUR),
            Page::html("/crew/cabins", "Cabins", "<p>The captain snores.</p>"),
        ],
        traps: &[],
        duties: DUTIES,
        robots: &["{ferry}/robots.txt"],
        crawl_delay_ms: Some(2_000),
        snippets: &[],
        searches: &[
            Search {
                query: "lighthouse",
                finds: &["{ferry}/harbour"],
                never: &[],
            },
            Search {
                query: "crossing timetable",
                finds: &["{ferry}/timetable"],
                never: &[],
            },
        ],
    }
}

const ROBOTS_TXT: &str = "\
# One deckhand answers everything here. Please go slowly.
User-agent: *
Crawl-delay: 2
Disallow: /crew/
";

const HOME: &str = r#"<p>The Wend ferry has crossed since 1790, under oars, sail, steam and now a
quiet electric motor that the captain does not trust.</p>
<ul>
<li><a href="/timetable">Timetable</a></li>
<li><a href="/harbour">The harbour</a></li>
<li><a href="/crew/cabins">Crew</a></li>
</ul>"#;

const TIMETABLE: &str = r#"<p>The first crossing is at six, then one every forty minutes until the
<a href="{theatre}/">theatre</a> has emptied. In fog there is no timetable; listen for the
bell.</p>"#;

const HARBOUR: &str = r#"<p>The lighthouse at the harbour mouth is painted in red and white bands
and has been for sale since 1974. Herons stand on the wall and judge the boats.</p>
<p>Two streets up, the <a href="{bakery}/cakes">bakery</a> sells honey cake.</p>"#;

const DUTIES: &[Duty] = &[
    asked("/robots.txt", "the rules come first", ROBOTS),
    shown("/", "the hub links to it", LINKED),
    shown(
        "/timetable",
        "compressed as Content-Encoding says",
        "RFC 9110 §8.4 (HT-006)",
    ),
    shown("/harbour", "the home page links to it", LINKED),
    never_below("/crew/", "robots.txt disallows it", DISALLOW),
];
