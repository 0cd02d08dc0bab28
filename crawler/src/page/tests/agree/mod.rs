//! The pass and the tree of html5ever, compared on the lab's pages, on real pages, and on pages that
//! were broken by chance (docs/reading.md lists what they differ on, and why).

mod difference;
#[path = "../../../../../compliance/tests/fuzz/driver.rs"]
mod driver;
mod pages;
mod tree;

use std::cell::RefCell;

use super::*;
use difference::{Tally, differences};
use driver::{Matter, Run};
use pages::{Given, of_the_lab, of_the_suite, real_pages};

const HTML: &str = "text/html";

/// What is compared of a page.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    title: Option<String>,
    language: Option<String>,
    canonical: Option<String>,
    refresh: Option<(u32, String)>,
    robots: Vec<(String, String)>,
    links: Vec<Found>,
    text: String,
    snippet_text: String,
    structured: Vec<String>,
}

/// A link: kind, address, `rel`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Found(&'static str, String, String);

/// Limits that no page here reaches, so that what is missing was not seen.
fn boundless() -> ScanLimits {
    ScanLimits {
        links: 1 << 20,
        images: 1 << 20,
        url_bytes: 1 << 20,
        anchor_chars: 10,
        title_chars: 1 << 20,
        text_bytes: 1 << 28,
        snippet_bytes: 1 << 28,
        heading_bytes: 1 << 28,
        structured_bytes: 1 << 24,
        meta_tags: 1 << 20,
        meta_content_bytes: 1 << 20,
    }
}

/// Both readings of a page.
fn both(body: &[u8], content_type: &str) -> (Reading, Reading) {
    let (kind, url) = (Some(content_type), &page_url());
    let page = scan(body, kind, url, &boundless());
    let found = |link: Link| Found(link.kind.name(), link.url.into(), link.rel);
    // The canonical address is compared by itself.
    let links = page.links.into_iter().filter(|link| link.kind != LinkKind::Canonical);
    let pass = Reading {
        title: page.title,
        language: page.language,
        canonical: page.canonical.map(Into::into),
        refresh: page.meta_refresh.map(|refresh| (refresh.delay_s, refresh.url.into())),
        robots: page.robots_meta.into_iter().map(|tag| (tag.name, tag.content)).collect(),
        links: links.map(found).collect(),
        text: page.text,
        snippet_text: page.snippet_text,
        structured: page.structured_data,
    };
    let (html, encoding) = decode_html(body, kind, url);
    (pass, tree::read(&html, encoding, url))
}

fn compare(tally: &mut Tally, page: &Given) {
    tally.compare(&both(&page.body, &page.content_type), |_| page.name.clone());
}

/// The least of a page that still differs so: what can be left out is.
fn least(body: &[u8], kind: &str) -> Vec<u8> {
    let differs = |body: &[u8]| {
        let (pass, tree) = both(body, HTML);
        differences(&pass, &tree).iter().any(|(found, _)| *found == kind)
    };
    let (mut least, mut size) = (body.to_vec(), body.len() / 2);
    while size > 0 {
        let mut at = 0;
        while at < least.len() {
            let end = (at + size).min(least.len());
            let without = [&least[..at], &least[end..]].concat();
            if differs(&without) { least = without } else { at = end }
        }
        size /= 2;
    }
    least
}

/// What a page that people wrote may differ in, and on how many pages in a thousand.
const ON_PAGES: &[(&str, usize)] =
    &[("link that the tree has again", 10), ("more breaks in text", 5)];

/// What a page that was broken by chance may differ in. Not among them: a rule for robots that is
/// missed, a link that is missed, a snippet that shows more.
const ON_BROKEN_PAGES: &[(&str, usize)] = &[
    ("canonical", 1),
    ("language", 1),
    ("link only in the pass", 5),
    ("link that the tree has again", 100),
    ("more breaks in text", 150),
    ("order of links", 10),
    ("order of text", 30),
    ("refresh", 1),
    ("refresh beyond the tree", 1),
    ("robots rule beyond the tree", 1),
    ("snippet shows less", 2),
    ("text only in the pass", 2),
    ("text only in the tree", 2),
    ("words run together", 2),
];

#[track_caller]
fn tell(tally: &Tally, explained: &[(&str, usize)]) {
    println!("{}", tally.report());
    let unexplained = tally.unexplained(explained);
    assert!(unexplained.is_empty(), "{unexplained:?}\n{}", tally.report());
}

#[tokio::test]
async fn on_the_labs_pages() {
    let mut tally = Tally::default();
    let pages = of_the_lab().await;
    assert!(pages.len() > 50, "{}", pages.len());
    for page in pages {
        compare(&mut tally, &page);
    }
    tell(&tally, ON_PAGES);
}

#[test]
fn on_the_suites_pages() {
    let mut tally = Tally::default();
    for page in of_the_suite() {
        compare(&mut tally, &page);
    }
    tell(&tally, ON_PAGES);
}

#[test]
#[ignore = "needs a directory of pages, see tests/real-pages"]
fn on_real_pages() {
    let mut tally = Tally::default();
    for page in real_pages() {
        compare(&mut tally, &page);
    }
    tell(&tally, ON_PAGES);
}

/// Octets of a real page that are broken: some of its head and some of its middle.
const HEAD: usize = 1_000;
const MIDDLE: usize = 2_000;

#[test]
#[ignore = "needs a directory of pages, see tests/real-pages"]
fn on_broken_real_pages() {
    let samples = real_pages().map(|Given { body: page, .. }| {
        let middle = (page.len() / 2).max(HEAD.min(page.len()));
        let middle = &page[middle..page.len().min(middle + MIDDLE)];
        [&page[..page.len().min(HEAD)], middle].concat()
    });
    broken(Run::of(10_000), samples.collect());
}

const WORDS: &[&str] = &[
    "<div data-nosnippet>",
    "<span data-nosnippet>",
    "<section data-nosnippet>",
    "</div>",
    "</span>",
    "</section>",
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<a href=/x>",
    "</a>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<ul>",
    "<li>",
    "</ul>",
    "<h2>",
    "</h2>",
    "<form action=/f>",
    "</form>",
    "<select>",
    "<option>",
    "</select>",
    "<svg>",
    "</svg>",
    "<title>",
    "</title>",
    "<style>",
    "</style>",
    "<script>",
    "</script>",
    "<textarea>",
    "</textarea>",
    "<template>",
    "</template>",
    "<noscript>",
    "</noscript>",
    "<iframe src=/i>",
    "<math>",
    "<mi>",
    "<desc>",
    "<foreignObject>",
    "<!--",
    "-->",
    "<base href=/b/>",
    "<meta name=robots content=noindex>",
    "<meta http-equiv=refresh content='0;url=/r'>",
    "<link rel=canonical href=/c>",
    "<link rel=alternate href=/l>",
    "<img src=/i.png srcset='/j 1x,/k'>",
    "<html lang=de>",
    "<body>",
    "</body>",
    "</html>",
    "<head>",
    "</head>",
    "<frameset>",
    "<br>",
    "<",
    ">",
    "\"",
    "'",
    "=",
    "/",
    "&",
    "&amp;",
    "&lt",
    "<![CDATA[",
    "]]>",
    " ",
    "\n",
    "w",
];

#[tokio::test]
async fn on_broken_pages() {
    let pages = of_the_lab().await.into_iter().chain(of_the_suite());
    broken(Run::of(2_000), pages.map(|page| page.body).collect());
}

/// The driver makes no longer pages but to see how time grows.
const LONGEST: usize = 4_096;

/// NUL and CR octets are left out: attributes and scripts keep them as written.
fn broken(run: Run, samples: Vec<Vec<u8>>) {
    let tally = RefCell::new(Tally::default());
    run.go("agree", &Matter { samples, words: WORDS }, |input, _| {
        // How time grows with length is asked in docs/fuzzing.md, of the pass alone.
        if input.len() > LONGEST {
            return;
        }
        let is_text = |octet: &u8| !matches!(octet, 0 | b'\r');
        let input: Vec<u8> = input.iter().copied().filter(is_text).collect();
        let name = |kind| least(&input, kind).escape_ascii().to_string();
        tally.borrow_mut().compare(&both(&input, HTML), name);
    });
    tell(&tally.into_inner(), ON_BROKEN_PAGES);
}
