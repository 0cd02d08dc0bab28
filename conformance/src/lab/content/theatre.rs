//! The theatre: traps without end, a base element, and a busy ticket counter.

use super::{DISALLOW, LINKED, REL_NOFOLLOW, ROBOTS};
use crate::lab::site::{Duty, Page, Search, Site, Trap, asked, never, never_below, shown};

pub(super) fn site() -> Site {
    Site {
        name: "theatre",
        about: "An endless calendar behind robots.txt, endless doors behind a nofollow link, a \
                page whose base element moves its links, and a counter that is busy at first.",
        pages: pages(),
        traps: &[
            Trap {
                prefix: "/calendar/",
                page: calendar,
            },
            Trap {
                prefix: "/backstage/",
                page: backstage,
            },
        ],
        duties: DUTIES,
        robots: &["{theatre}/robots.txt"],
        crawl_delay_ms: None,
        snippets: &[],
        searches: &[
            Search {
                query: "hamlet",
                finds: &["{theatre}/plays/hamlet"],
                never: &[],
            },
            Search {
                query: "matinee",
                finds: &["{theatre}/calendar/today"],
                never: &[],
            },
        ],
    }
}

fn pages() -> Vec<Page> {
    vec![
        Page::robots(ROBOTS_TXT),
        Page::html("/", "Theatre on the Wend", HOME),
        Page::html("/programme", "Programme", PROGRAMME).head("<base href=\"{theatre}/plays/\">"),
        Page::html("/plays/hamlet", "Hamlet", HAMLET),
        Page::html("/plays/tempest", "The Tempest", TEMPEST),
        Page::html(
            "/plays/hamlet?seat=12",
            "Seat 12",
            "<p>Seat 12 is taken.</p>",
        ),
        Page::html("/calendar/today", "Today", TODAY),
        Page::html("/tickets", "Tickets", TICKETS).busy_at_first(),
    ]
}

const ROBOTS_TXT: &str = "\
User-agent: *
Disallow: /calendar/
Allow: /calendar/today$
Disallow: /*?seat=
";

const HOME: &str = r#"<p>Ninety-nine seats and a ghost. The curtain rises at half past seven, give
or take the tide, since half the company comes by <a href="{ferry}/">ferry</a>.</p>
<ul>
<li><a href="/programme">Programme</a></li>
<li><a href="/calendar/today">Today</a></li>
<li><a href="/calendar/2026/01">Calendar</a></li>
<li><a href="/tickets">Tickets</a></li>
<li><a rel="noopener nofollow" href="/backstage/door/">Stage door</a></li>
</ul>"#;

const PROGRAMME: &str = r#"<p>Two plays this season, both with real water.</p>
<ul>
<li><a href="hamlet">Hamlet</a></li>
<li><a href="tempest">The Tempest</a></li>
</ul>"#;

const HAMLET: &str = r#"<p>Our Hamlet is set on a barge. The prince of Denmark dithers for three
hours, and on most evenings somebody falls in.</p>
<p><a href="/plays/hamlet?seat=12">Is seat 12 free?</a> ·
<a href="/plays/tempest">The other play</a></p>"#;

const TEMPEST: &str = r#"<p>Prospero breaks his staff, the fire brigade makes the rain, and
everyone is forgiven. Bring a coat.</p>
<p><a href="/plays/hamlet">The other play</a></p>"#;

const TODAY: &str = r#"<p>A matinee at two for the school, then the evening performance. The
calendar as a whole is closed to robots, and this one day is open to them.</p>
<p><a href="/calendar/2026/02">The month to come</a></p>"#;

const TICKETS: &str = r#"<p>Stalls eight, gallery five, standing free. Mabel sells them one at a
time and will not be hurried.</p>"#;

/// A month, with a link to the next, up to the year 9999.
fn calendar(path: &str) -> Option<(String, String)> {
    let (year, month) = path.strip_prefix("/calendar/")?.split_once('/')?;
    let year: u16 = year
        .parse()
        .ok()
        .filter(|year| (1..=9_999).contains(year))?;
    let month: u16 = month
        .parse()
        .ok()
        .filter(|month| (1..=12).contains(month))?;
    let (next_year, next_month) = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    let body = format!(
        "<p>Nothing is planned yet.</p>\n\
         <p><a href=\"/calendar/{next_year:04}/{next_month:02}\">Next month</a></p>"
    );
    Some((format!("Calendar {year:04}-{month:02}"), body))
}

/// Longest path behind the stage door; beyond it there is a wall.
const MAX_BACKSTAGE_PATH: usize = 1_000;

/// A door that leads to a door.
fn backstage(path: &str) -> Option<(String, String)> {
    let doors = path.strip_prefix("/backstage/")?;
    let is_door = doors.split_terminator('/').all(|part| part == "door") && doors.ends_with('/');
    if !is_door || path.len() > MAX_BACKSTAGE_PATH {
        return None;
    }
    let body = "<p>Behind this door there is <a href=\"door/\">a door</a>.</p>".to_owned();
    Some(("Stage door".to_owned(), body))
}

const BASE: &str = "HTML Standard, the base element";

const DUTIES: &[Duty] = &[
    asked("/robots.txt", "the rules come first", ROBOTS),
    shown("/", "the hub links to it", LINKED),
    shown("/programme", "the home page links to it", LINKED),
    shown(
        "/plays/hamlet",
        "a relative link, resolved against the base element",
        BASE,
    ),
    shown(
        "/plays/tempest",
        "a relative link, resolved against the base element",
        BASE,
    ),
    never(
        "/hamlet",
        "the base element moves this link under /plays/",
        BASE,
    ),
    never(
        "/tempest",
        "the base element moves this link under /plays/",
        BASE,
    ),
    shown(
        "/calendar/today",
        "the longer allow beats the shorter disallow",
        LINKED,
    ),
    never_below(
        "/calendar/",
        "robots.txt disallows it; it has no end",
        DISALLOW,
    ),
    never_below(
        "/plays/hamlet?seat=",
        "robots.txt disallows it with *",
        "RFC 9309 §2.2.3 (RT-082)",
    ),
    asked(
        "/tickets",
        "busy at first, and worth asking again",
        "RFC 6585 §4 (HT-010)",
    ),
    never_below(
        "/backstage/",
        "every link to it has rel=nofollow; it has no end",
        REL_NOFOLLOW,
    ),
];
