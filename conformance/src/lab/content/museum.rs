//! The museum: a robots.txt on another host, redirects that lead nowhere or
//! where no robot may go, and one page under two addresses.

use super::{DISALLOW, HOP, LINKED, ROBOTS};
use crate::lab::site::{Duty, Page, Search, Site, asked, never_below, optional, shown};

pub(super) fn site() -> Site {
    Site {
        name: "museum",
        about: "Its robots.txt redirects to the town's site. A redirect into the closed vault, \
                two corridors that redirect to each other, and a canonical link.",
        pages: pages(),
        traps: &[],
        duties: DUTIES,
        robots: &["{museum}/robots.txt", "{town}/shared/museum-robots.txt"],
        crawl_delay_ms: None,
        snippets: &[],
        searches: &[Search {
            query: "walrus",
            finds: &["{museum}/collection"],
            never: &["{museum}/vault/umbrella"],
        }],
    }
}

fn pages() -> Vec<Page> {
    vec![
        Page::redirect("/robots.txt", 302, "{town}/shared/museum-robots.txt"),
        Page::html("/", "Museum of Lost Things", HOME),
        Page::html("/collection", "The collection", COLLECTION).head(CANONICAL),
        Page::html("/collection?sort=age", "The collection", COLLECTION).head(CANONICAL),
        Page::html("/garden", "The garden", GARDEN),
        Page::redirect("/lost-umbrella", 302, "/vault/umbrella"),
        Page::html(
            "/vault/umbrella",
            "A walrus umbrella",
            "<p>It may not be photographed.</p>",
        ),
        Page::redirect("/east-corridor", 302, "/west-corridor"),
        Page::redirect("/west-corridor", 302, "/east-corridor"),
    ]
}

const CANONICAL: &str = "<link rel=\"canonical\" href=\"{museum}/collection\">";

const HOME: &str = r#"<p>Everything here was lost by somebody and never claimed. If you recognise
something, tell the lady at the desk; she will be delighted and a little sad.</p>
<ul>
<li><a href="/collection">The collection</a></li>
<li><a href="/collection?sort=age">The collection by age</a></li>
<li><a href="/garden">The garden</a></li>
<li><a href="/lost-umbrella">The umbrella of the month</a></li>
<li><a href="/east-corridor">The east corridor</a></li>
</ul>"#;

const COLLECTION: &str = r#"<p>Eleven hundred gloves, none of them a pair. A stuffed walrus left on
the night train in 1932. A letter that begins with an apology and ends with a recipe.</p>
<p>When you have seen it all, sit down in the <a href="/garden">garden</a>.</p>"#;

const GARDEN: &str = r#"<p>Benches that were left behind by other parks, and roses nobody ordered.
From the gate you can see the <a href="{observatory}/">observatory</a> on its hill.</p>"#;

const DUTIES: &[Duty] = &[
    asked("/robots.txt", "the rules come first", ROBOTS),
    shown("/", "the hub links to it", LINKED),
    shown("/collection", "the home page links to it", LINKED),
    optional(
        "/collection?sort=age",
        "the same page; its canonical link names /collection",
        "rel=canonical (LK-004)",
    ),
    shown("/garden", "the home page links to it", LINKED),
    asked("/lost-umbrella", "the home page links to it", LINKED),
    never_below(
        "/vault",
        "the robots.txt on the town's site disallows it, and a redirect lifts no rule",
        DISALLOW,
    ),
    asked("/east-corridor", "the home page links to it", LINKED),
    asked(
        "/west-corridor",
        "the first turn of a loop of redirects",
        HOP,
    ),
];
