//! The clinic: no robots.txt, rules in headers, dates, and pages that fail.

use super::ROBOTS;
use crate::lab::site::{Duty, Page, Search, Site, Whom, asked, never, only, shown, withheld};

pub(super) fn site() -> Site {
    Site {
        name: "clinic",
        about: "It has no robots.txt, so all may be fetched. Headers keep some pages out of \
                results, one page has expired, one is gone and one is broken.",
        pages: pages(),
        traps: &[],
        duties: DUTIES,
        robots: &["{clinic}/robots.txt"],
        crawl_delay_ms: None,
        snippets: &[],
        searches: &[
            Search {
                query: "influenza",
                finds: &["{clinic}/flu"],
                never: &[],
            },
            Search {
                query: "measles campaign",
                finds: &[],
                never: &["{clinic}/campaign"],
            },
            Search {
                query: "waiting times",
                finds: &[],
                never: &["{clinic}/report.txt"],
            },
        ],
    }
}

fn pages() -> Vec<Page> {
    vec![
        Page::html("/", "Riverside Clinic", HOME),
        Page::html("/flu", "Flu season", FLU).header(
            "x-robots-tag",
            "unavailable_after: 31 Dec 2099 23:59:59 GMT",
        ),
        Page::html("/campaign", "Measles campaign", CAMPAIGN)
            .head("<meta name=\"robots\" content=\"unavailable_after: 2020-09-21\">"),
        Page::text("/report.txt", "text/plain", REPORT).header("x-robots-tag", "noindex"),
        Page::html("/staff", "Our doctors", STAFF)
            .header("x-robots-tag", "otherbot: noindex, nofollow"),
        Page::html("/staff/herbs", "The herb garden", HERBS),
        Page::html(
            "/appointments",
            "Out of order",
            "<p>The appointment book has jammed.</p>",
        )
        .status(500),
    ]
}

const HOME: &str = r#"<p>Walk in between eight and noon, or ring the bell with the painted hand.
Nobody is turned away, and the tea is free.</p>
<ul>
<li><a href="/flu">Flu season</a></li>
<li><a href="/campaign">The measles campaign</a></li>
<li><a href="/staff">Our doctors</a></li>
<li><a href="/report.txt">Report for the council</a></li>
<li><a href="/appointments">Appointments</a></li>
<li><a href="/night-pharmacy">Night pharmacy</a></li>
</ul>"#;

const FLU: &str = r#"<p>Influenza comes with the November fog. The vaccine takes two weeks to
work, so come before the clocks change. Sleep, soup and an open window do the rest.</p>
<p>Ask <a href="/staff">one of our doctors</a>.</p>"#;

const CAMPAIGN: &str = r#"<p>The measles campaign in the school hall ended in September 2020. The
publisher asked that this page not be shown after that.</p>
<p>Back to the <a href="/">clinic</a>.</p>"#;

const REPORT: &str = "\
Waiting times fell from forty minutes to twenty-five. The second examination
room has a new lamp. This report is for the council and not for search engines;
its header says so, for a text file cannot hold a meta tag.
";

const STAFF: &str = r#"<p>Dr Okafor is a cardiologist and plays the cello. Dr Lind sets bones and
mends clocks. Nurse Pell knows everyone's grandmother.</p>
<p>Behind the house they keep a <a href="/staff/herbs">herb garden</a>.</p>"#;

const HERBS: &str = r#"<p>Chamomile for the nerves, sage for the throat, and mint because it cannot
be stopped. Take some home.</p>"#;

const FAILED: &str = "RFC 9110 §15.5, §15.6 (HT-003, HT-004)";

const SCOPED: &str = "X-Robots-Tag (XR-003)";

/// The crawler that the doctors' page speaks to.
const OTHER: &str = "otherbot";

const DUTIES: &[Duty] = &[
    asked(
        "/robots.txt",
        "only asking shows that there is none",
        ROBOTS,
    ),
    shown(
        "/",
        "without robots.txt there are no limits",
        "RFC 9309 §2.3.1.3 (RT-023)",
    ),
    shown(
        "/flu",
        "its unavailable_after lies far ahead",
        "unavailable_after (RM-031)",
    ),
    withheld(
        "/campaign",
        "its unavailable_after has passed",
        "unavailable_after (RM-031)",
    ),
    withheld(
        "/report.txt",
        "X-Robots-Tag noindex on a text file",
        "X-Robots-Tag (XR-001)",
    ),
    only(
        Whom::NotNamed(OTHER),
        shown("/staff", "its X-Robots-Tag speaks to otherbot only", SCOPED),
    ),
    only(
        Whom::NotNamed(OTHER),
        shown(
            "/staff/herbs",
            "the nofollow speaks to otherbot only",
            SCOPED,
        ),
    ),
    only(
        Whom::Named(OTHER),
        withheld(
            "/staff",
            "its X-Robots-Tag says noindex to otherbot",
            SCOPED,
        ),
    ),
    only(
        Whom::Named(OTHER),
        never("/staff/herbs", "linked from a nofollow page only", SCOPED),
    ),
    withheld(
        "/appointments",
        "it answers 500, and an error page is no content",
        FAILED,
    ),
    withheld(
        "/night-pharmacy",
        "it answers 404, and an error page is no content",
        FAILED,
    ),
];
