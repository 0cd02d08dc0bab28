//! The hub: introduces every site, and hides links where none may be followed.

use std::fmt::Write;

use super::{DISALLOW, LINKED, NOFOLLOW, ROBOTS};
use crate::lab::site::{Duty, Page, Search, Site, asked, never, never_below, shown};

pub(super) const PRIVATE: &str = "http://10.0.0.1/";
pub(super) const METADATA: &str = "http://169.254.169.254/";

pub(super) fn site(others: &[Site]) -> Site {
    Site {
        name: "town",
        about: "The hub. Links in comments and scripts, to private addresses, and on a nofollow \
                page: none of them may be followed.",
        pages: pages(others),
        traps: &[],
        duties: DUTIES,
        robots: &["{town}/robots.txt"],
        crawl_delay_ms: None,
        snippets: &[],
        searches: &[
            Search {
                query: "strongroom",
                finds: &["{town}/vault"],
                never: &["{museum}/vault/umbrella"],
            },
            Search {
                query: "guesthouse",
                finds: &["{town}/visitors"],
                never: &[],
            },
        ],
    }
}

fn pages(others: &[Site]) -> Vec<Page> {
    vec![
        Page::robots("User-agent: *\nDisallow: /office/\n"),
        Page::html("/", "Little Marrow", &welcome(others)),
        Page::html("/visitors", "Visiting Little Marrow", VISITORS),
        Page::html("/notices", "Public notices", NOTICES)
            .head("<meta name=\"robots\" content=\"nofollow\">"),
        Page::html("/vault", "The old bank vault", VAULT),
        Page::text("/shared/museum-robots.txt", "text/plain", MUSEUM_ROBOTS),
        Page::html(
            "/notices/draft-budget",
            "Draft budget",
            "<p>Not yet agreed.</p>",
        ),
        Page::html(
            "/office/minutes",
            "Minutes",
            "<p>For the councillors only.</p>",
        ),
        Page::redirect("/cloud-notes", 302, METADATA),
        Page::html(
            "/old-shop",
            "The old shop",
            "<p>This shop closed years ago.</p>",
        ),
        Page::html(
            "/ferry-cam",
            "Ferry camera",
            "<p>The camera is being repaired.</p>",
        ),
    ]
}

fn welcome(others: &[Site]) -> String {
    let mut page = WELCOME.to_owned();
    page.push_str("<dl>\n");
    for site in others {
        let (name, about) = (site.name, site.about);
        // Writing to a String cannot fail.
        let _ = writeln!(
            page,
            "<dt><a href=\"{{{name}}}/\">The {name}</a></dt><dd>{about}</dd>"
        );
    }
    page.push_str("</dl>\n");
    page
}

const WELCOME: &str = r#"<p>Little Marrow is a small town on the river Wend, made for crawlers to
practise on. Each of its sites uses the rules of the web in its own way, and the town keeps a
ledger of every visitor: who asked for what, and when.</p>
<p>A person may read anything here. A crawler may not: it asks each site for its robots.txt first,
takes its time, and leaves alone what it is asked to leave alone.</p>
<ul>
<li><a href="/visitors">Visiting the town</a></li>
<li><a href="/notices">Public notices</a></li>
<li><a href="/vault">The old bank vault</a></li>
<li><a href="/office/minutes">Minutes of the council</a> (robots.txt closes the office)</li>
</ul>
<!-- The shop has closed: <a href="/old-shop">The old shop</a> -->
<script>
  const camera = '<a href="/ferry-cam">Ferry camera</a>';
</script>
<h2>The sites</h2>
"#;

const VISITORS: &str = r#"<p>The guesthouse by the bridge has nine rooms and a parrot that says
good night. Trains stop twice an hour; the ferry is slower and prettier.</p>
<p>Buy a loaf at the <a href="{bakery}/">bakery</a> and eat it on the steps of the
<a href="{library}/">library</a>. For rainy days there is the
<a href="{museum}/collection">collection of the museum</a>.</p>
<p>Write to <a href="mailto:hello@town.localhost">the tourist office</a>, or
<a href="javascript:window.print()">print this page</a>.</p>
<p>Someone left two addresses of the town's own machines here by mistake:
<a href="http://10.0.0.1/">the router</a> and
<a href="http://169.254.169.254/">the cloud's notes</a>, and a
<a href="/cloud-notes">sign</a> that points to the second. No visitor can reach them, and no crawler
should try.</p>"#;

const NOTICES: &str = r#"<p>The bridge will be painted in May. It will be green again, after a
vote of forty to thirty-eight.</p>
<p>The council asks that no robot follow the links of this page, such as the one to the
<a href="/notices/draft-budget">draft budget</a>.</p>"#;

const VAULT: &str = r#"<p>Below the town hall lies the strongroom of a bank that failed in 1911.
The door weighs four tons and has not been shut since, because nobody knows the combination.</p>
<p>The museum has a vault too, and keeps it closed. What its robots.txt says of /vault/ holds for
the museum alone, although the file lies on this site.</p>"#;

const MUSEUM_ROBOTS: &str = "\
# The museum's robots.txt redirects here. Its rules bind the museum, not the town.
User-agent: *
Disallow: /vault
";

const DUTIES: &[Duty] = &[
    asked("/robots.txt", "the rules come first", ROBOTS),
    shown("/", "the seed", LINKED),
    shown("/visitors", "the home page links to it", LINKED),
    shown(
        "/notices",
        "nofollow says nothing against the page itself",
        NOFOLLOW,
    ),
    shown(
        "/vault",
        "only the museum's rules, kept here, name /vault",
        "RFC 9309 §2.3.1.2 (RT-022)",
    ),
    asked(
        "/shared/museum-robots.txt",
        "the museum's robots.txt redirects here",
        "RT-021",
    ),
    asked(
        "/cloud-notes",
        "the visitors page links to it; where it leads is refused",
        LINKED,
    ),
    never(
        "/notices/draft-budget",
        "linked from a nofollow page only",
        NOFOLLOW,
    ),
    never_below("/office/", "robots.txt disallows it", DISALLOW),
    never(
        "/old-shop",
        "linked in a comment only",
        "HTML Standard, comments (LK-001)",
    ),
    never(
        "/ferry-cam",
        "linked in a script only",
        "HTML Standard, script (LK-001)",
    ),
];
