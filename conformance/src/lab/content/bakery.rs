//! The bakery: rules by agent, a sitemap, noindex, and limits on snippets.

use super::{DISALLOW, LINKED, REL_NOFOLLOW, ROBOTS};
use crate::lab::DEMO_AGENT;
use crate::lab::site::{
    Duty, Page, Search, Site, Snippet, Whom, asked, never, never_below, only, optional, shown,
    withheld,
};

pub(super) fn site() -> Site {
    Site {
        name: "bakery",
        about: "Its robots.txt has one group for comitydemo and another for everybody else. A \
                staff code that no result may quote, a short snippet, and a page that stays out of results.",
        pages: pages(),
        traps: &[],
        duties: DUTIES,
        robots: &["{bakery}/robots.txt"],
        crawl_delay_ms: None,
        snippets: &[
            Snippet {
                path: "/bread",
                max_chars: None,
                never: &["staff discount code 4711", "4711"],
                clause: "data-nosnippet (SN-001)",
            },
            Snippet {
                path: "/cakes",
                max_chars: Some(60),
                never: &[],
                clause: "max-snippet (RM-026)",
            },
        ],
        searches: &[
            Search {
                query: "sourdough",
                finds: &["{bakery}/bread"],
                never: &[],
            },
            Search {
                query: "honey cake",
                finds: &["{bakery}/cakes"],
                never: &[],
            },
            Search {
                query: "the secret menu",
                finds: &[],
                never: &["{bakery}/secret-menu"],
            },
        ],
    }
}

fn pages() -> Vec<Page> {
    vec![
        Page::robots(ROBOTS_TXT),
        Page::html("/", "Marrow Street Bakery", HOME),
        Page::html("/bread", "Our bread", BREAD),
        Page::html("/cakes", "Cakes", CAKES)
            .head("<meta name=\"robots\" content=\"max-snippet:60\">"),
        Page::html("/secret-menu", "For friends", SECRET_MENU)
            .head("<META NAME=\"ROBOTS\" CONTENT=\"NOINDEX\">"),
        Page::html("/seasonal", "This season", SEASONAL),
        Page::html("/wholesale/prices", "Wholesale prices", WHOLESALE),
        Page::html("/kitchen/starter", "The starter", KITCHEN),
        Page::html(
            "/guestbook/sign",
            "Sign the guest book",
            "<p>Thank you for the kind words.</p>",
        ),
        Page::text("/sitemap.xml", "application/xml", SITEMAP),
    ]
}

const ROBOTS_TXT: &str = "\
# Flour everywhere. Please wipe your feet.
User-agent: *
Disallow: /wholesale/

User-agent: ComityDemo
Disallow: /kitchen/

Sitemap: {bakery}/sitemap.xml
";

const HOME: &str = r#"<p>The ovens are lit at three, the door opens at seven, and by noon the
cinnamon buns are gone. Eva and Tomas have baked in Marrow Street since 1988.</p>
<ul>
<li><a href="/bread">Bread</a></li>
<li><a href="/cakes">Cakes</a></li>
<li><a href="/secret-menu">For friends of the house</a></li>
<li><a href="/wholesale/prices">Wholesale prices</a></li>
<li><a href="/kitchen/starter">A look into the kitchen</a></li>
</ul>
<p><a href="/guestbook/sign" rel="nofollow">Sign the guest book</a>, and bring a loaf to the
<a href="{ferry}/">ferry</a>: the captain is always hungry.</p>"#;

const BREAD: &str = r#"<p>Our sourdough rests for twenty-four hours and is baked on stone until
the crust is nearly black. It keeps for a week, if you let it.</p>
<p>Rye comes on Tuesdays and Fridays. The seeded loaf has sunflower, flax and a little pumpkin.
<span data-nosnippet>Bakers: the staff discount code 4711 is valid until the end of the
month.</span> Rolls are made all morning.</p>
<p>See also the <a href="/cakes">cakes</a>.</p>"#;

const CAKES: &str = r#"<p>The honey cake has nine thin layers and takes two days. Order it before
Thursday and it will be ready on Saturday, in a box with a blue ribbon.</p>
<p>The plum cake is made only while there are plums. The publisher allows results to quote no more
than sixty characters of this page, which is about one line.</p>
<p>With coffee, try the <a href="/bread">bread</a> too.</p>"#;

const SECRET_MENU: &str = r#"<p>This is the secret menu: burnt butter croissants, quince tarts at
midnight, and whatever Tomas feels like. Ask for it in a whisper.</p>
<p>It is no secret to those who come to the <a href="/">shop</a>.</p>"#;

const SEASONAL: &str = r#"<p>Until the first frost there is pumpkin bread with walnuts. No page
links here; only the sitemap knows.</p>"#;

const WHOLESALE: &str = r#"<p>Cafés pay two coins less per dozen rolls, delivered by cargo bicycle
before six. Everyone's robots are asked to stay away from this list, save one.</p>"#;

const KITCHEN: &str = r#"<p>The sourdough starter is called Ferdinand. He lives in a stone jar and
is fed at nine.</p>"#;

const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{bakery}/bread</loc></url>
<url><loc>{bakery}/seasonal</loc></url>
</urlset>
"#;

const OWN_GROUP: &str = "RFC 9309 §2.2.1 (RT-062)";

const DUTIES: &[Duty] = &[
    asked("/robots.txt", "the rules come first", ROBOTS),
    shown("/", "the hub links to it", LINKED),
    shown(
        "/bread",
        "data-nosnippet limits snippets, not indexing",
        "data-nosnippet (SN-006)",
    ),
    shown(
        "/cakes",
        "max-snippet limits snippets, not indexing",
        "max-snippet (RM-026)",
    ),
    withheld(
        "/secret-menu",
        "meta robots noindex, in capitals",
        "noindex (RM-004, RM-021)",
    ),
    optional(
        "/sitemap.xml",
        "robots.txt names it as the sitemap",
        "sitemaps.org (RT-050)",
    ),
    optional(
        "/seasonal",
        "only the sitemap lists it",
        "sitemaps.org (RT-050)",
    ),
    only(
        Whom::Named(DEMO_AGENT),
        shown(
            "/wholesale/prices",
            "the * group does not bind an agent that has its own",
            OWN_GROUP,
        ),
    ),
    only(
        Whom::Named(DEMO_AGENT),
        never_below(
            "/kitchen/",
            "the group of comitydemo disallows it",
            OWN_GROUP,
        ),
    ),
    only(
        Whom::NotNamed(DEMO_AGENT),
        never_below("/wholesale/", "the * group disallows it", DISALLOW),
    ),
    only(
        Whom::NotNamed(DEMO_AGENT),
        shown(
            "/kitchen/starter",
            "only the group of another agent disallows it",
            OWN_GROUP,
        ),
    ),
    never(
        "/guestbook/sign",
        "every link to it has rel=nofollow",
        REL_NOFOLLOW,
    ),
];
