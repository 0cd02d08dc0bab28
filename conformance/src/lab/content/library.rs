//! The library: a robots.txt behind redirects, a chain of moved pages, gzip and
//! an old charset.

use super::{DISALLOW, HOP, LINKED, ROBOTS};
use crate::lab::site::{Duty, Page, Search, Site, asked, never_below, shown};

pub(super) fn site() -> Site {
    Site {
        name: "library",
        about: "Its robots.txt lies behind two redirects. The catalogue has moved three times \
                and comes compressed; the opening hours are written in ISO 8859-1.",
        pages: pages(),
        traps: &[],
        duties: DUTIES,
        robots: &[
            "{library}/robots.txt",
            "{library}/files/robots.txt",
            "{library}/files/robots-current.txt",
        ],
        crawl_delay_ms: None,
        snippets: &[],
        searches: &[
            Search {
                query: "bibliothèque",
                finds: &["{library}/hours"],
                never: &[],
            },
            Search {
                query: "almanac",
                finds: &["{library}/catalogue"],
                never: &[],
            },
        ],
    }
}

fn pages() -> Vec<Page> {
    vec![
        Page::redirect("/robots.txt", 301, "{library}/files/robots.txt"),
        Page::redirect("/files/robots.txt", 302, "/files/robots-current.txt"),
        Page::text("/files/robots-current.txt", "text/plain", ROBOTS_TXT),
        Page::html("/", "Little Marrow Library", HOME),
        Page::html("/hours", "Opening hours", HOURS).latin1(),
        Page::redirect("/cards", 301, "/catalogue-2009"),
        Page::redirect("/catalogue-2009", 302, "{library}/catalogue-2022"),
        Page::redirect("/catalogue-2022", 308, "catalogue"),
        Page::html("/catalogue", "Catalogue", CATALOGUE).gzip(),
        Page::html("/reading-room", "The reading room", READING_ROOM),
        Page::html("/members/loans", "Loans", "<p>Three books are overdue.</p>"),
    ]
}

const ROBOTS_TXT: &str = "\
User-agent: *
Disallow: /members/
";

const HOME: &str = r#"<p>Forty thousand books, two cats and one rule: put it back where you found
it. The building was a grain store until 1924, and on warm days the upper floor still smells of
oats.</p>
<ul>
<li><a href="/hours">Opening hours</a></li>
<li><a href="/cards">The card catalogue</a></li>
<li><a href="/reading-room">The reading room</a></li>
<li><a href="/members/loans">Your loans</a> (for members, not for robots)</li>
</ul>"#;

const HOURS: &str = r#"<p>Open from nine to six, and until eight on Thursdays. Closed on the day of
the fête.</p>
<p>Our French neighbours call us la bibliothèque d'à côté; the café in the hall serves crème
brûlée and strong tea.</p>
<p>Then come to the <a href="/reading-room">reading room</a>.</p>"#;

const CATALOGUE: &str = r#"<p>The oldest book is an almanac of 1688 that foretells a wet summer
for every year to come, and has seldom been wrong.</p>
<p>Also on the shelf: sea charts, cookery, seven novels about the same lighthouse keeper, and the
complete letters of a botanist who wrote mostly about soup.</p>
<p>Read them in the <a href="/reading-room">reading room</a>.</p>"#;

const READING_ROOM: &str = r##"<p>Twelve green lamps, one long oak table, and silence. Pencils
only. The chair by the window is Agatha's; she is the grey cat.</p>
<p>Bread from the <a href="{bakery}/bread#rye">bakery</a> stays outside.
<a href="#top">Back to the top</a></p>"##;

const ROBOTS_HOP: &str = "RFC 9309 §2.3.1.2 (RT-021)";

const DUTIES: &[Duty] = &[
    asked("/robots.txt", "the rules come first", ROBOTS),
    asked("/files/robots.txt", "robots.txt redirects here", ROBOTS_HOP),
    asked(
        "/files/robots-current.txt",
        "the redirected robots.txt redirects again",
        ROBOTS_HOP,
    ),
    shown("/", "the hub links to it", LINKED),
    shown(
        "/hours",
        "the charset stands in Content-Type",
        "RFC 9110 §8.3.2",
    ),
    asked("/cards", "the home page links to it", LINKED),
    asked("/catalogue-2009", "first hop of the moved catalogue", HOP),
    asked("/catalogue-2022", "second hop of the moved catalogue", HOP),
    shown("/catalogue", "where the redirects end", HOP),
    shown("/reading-room", "the home page links to it", LINKED),
    never_below(
        "/members/",
        "the redirected robots.txt disallows it",
        DISALLOW,
    ),
];
