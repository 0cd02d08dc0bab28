//! The pass and the tree of html5ever, compared on the lab's pages, on real pages, and on pages that
//! were broken by chance (docs/reading.md lists what they differ on, and why).

mod difference;
#[path = "../../../../../compliance/tests/fuzz/driver.rs"]
mod driver;
mod tree;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::*;
use difference::{Tally, differences};
use driver::{Matter, Run};

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
        structured_bytes: 1 << 24,
        meta_tags: 1 << 20,
        meta_content_bytes: 1 << 20,
    }
}

/// Both readings of a page.
fn both(body: &[u8], url: &Url) -> (Reading, Reading) {
    let kind = Some("text/html");
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

fn compare(tally: &mut Tally, name: &str, body: &[u8]) {
    tally.compare(&both(body, &page_url()), |_| name.to_owned());
}

/// The least of a page that still differs so: what can be left out is.
fn least(body: &[u8], kind: &str) -> Vec<u8> {
    let differs = |body: &[u8]| {
        let (pass, tree) = both(body, &page_url());
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
    ("link only in the pass", 5),
    ("link that the tree has again", 100),
    ("more breaks in text", 150),
    ("order of links", 10),
    ("order of text", 30),
    ("refresh beyond the tree", 1),
    ("robots rule beyond the tree", 1),
    ("snippet shows less", 2),
    ("text only in the pass", 2),
    ("text only in the tree", 2),
    ("words run together", 2),
];

#[track_caller]
#[expect(clippy::print_stdout, reason = "the figures are for whoever asks for them")]
fn tell(tally: &Tally, explained: &[(&str, usize)]) {
    println!("{}", tally.report());
    let unexplained = tally.unexplained(explained);
    assert!(unexplained.is_empty(), "{unexplained:?}\n{}", tally.report());
}

/// All texts with markup in the conformance suite's scenarios and vectors.
fn of_the_suite() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let mut found = Vec::new();
    for file in files(&root, &["toml"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let Ok(value) = text.parse::<toml::Table>() else { continue };
        markup(&toml::Value::Table(value), &mut |html| found.push((name.clone(), html.to_owned())));
    }
    found
}

fn markup(value: &toml::Value, take: &mut impl FnMut(&str)) {
    match value {
        toml::Value::String(text) if text.contains('<') => take(text),
        toml::Value::Array(all) => all.iter().for_each(|value| markup(value, take)),
        toml::Value::Table(all) => all.values().for_each(|value| markup(value, take)),
        toml::Value::String(_)
        | toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_) => {}
    }
}

/// Files below a directory that end so, in order.
fn files(below: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![below.to_owned()]);
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let (entry, path) = {
                let e = entry.unwrap();
                (e.file_type().unwrap(), e.path())
            };
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() {
                left.push(path);
            } else if entry.is_file()
                && endings.iter().any(|ending| name.contains(&format!(".{ending}")))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn on_the_suites_pages() {
    let mut tally = Tally::default();
    for (name, html) in of_the_suite() {
        compare(&mut tally, &name, html.as_bytes());
    }
    tell(&tally, ON_PAGES);
}

/// Pages of a directory with one directory a package: so many of each, spread evenly.
fn real_pages() -> impl Iterator<Item = (String, Vec<u8>)> {
    let below = PathBuf::from(std::env::var_os("COMITY_REAL_PAGES").expect("a directory"));
    let most = std::env::var("COMITY_REAL_PAGES_MOST").map_or(usize::MAX, |n| n.parse().unwrap());
    let mut packages: Vec<_> =
        std::fs::read_dir(&below).unwrap().map(|e| e.unwrap().path()).collect();
    packages.sort();
    let pages = packages.into_iter().flat_map(move |package| {
        let pages = files(&package, &["html", "htm"]);
        let step = pages.len().div_ceil(most).max(1);
        pages.into_iter().step_by(step)
    });
    pages.map(move |page| {
        let name = page.strip_prefix(&below).unwrap().display().to_string();
        (name, std::fs::read(page).unwrap())
    })
}

#[test]
#[ignore = "needs a directory of pages, see tests/real-pages"]
fn on_real_pages() {
    let mut tally = Tally::default();
    for (name, page) in real_pages() {
        compare(&mut tally, &name, &page);
    }
    tell(&tally, ON_PAGES);
}

/// Octets of a real page that are broken: some of its head and some of its middle.
const HEAD: usize = 1_000;
const MIDDLE: usize = 2_000;

#[test]
#[ignore = "needs a directory of pages, see tests/real-pages"]
fn on_broken_real_pages() {
    let samples = real_pages().map(|(_, page)| {
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

#[test]
fn on_broken_pages() {
    broken(Run::of(2_000), of_the_suite().into_iter().map(|(_, html)| html.into_bytes()).collect());
}

/// NUL and CR octets are left out: attributes and scripts keep them as written.
fn broken(run: Run, samples: Vec<Vec<u8>>) {
    let tally = RefCell::new(Tally::default());
    run.go("agree", &Matter { samples, words: WORDS }, |input, _| {
        let is_text = |octet: &u8| !matches!(octet, 0 | b'\r');
        let input: Vec<u8> = input.iter().copied().filter(is_text).collect();
        let name = |kind| least(&input, kind).escape_ascii().to_string();
        tally.borrow_mut().compare(&both(&input, &page_url()), name);
    });
    tell(&tally.into_inner(), ON_BROKEN_PAGES);
}
