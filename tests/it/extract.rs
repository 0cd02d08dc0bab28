//! `comity extract`, and `comity crawl` with `[extract]`, as a person runs them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::command::{run, start, wait_until};
use crate::sites::Site;

const SETTINGS: &str = r#"
[politeness]
interval = "0s"
adaptive = false
address_per_second = 1000

[extract.books]
urls = ["/book/*"]
[extract.books.fields.title]
css = "h1"
required = true
[extract.books.fields.price]
css = ".price"
type = "number"
[extract.books.fields.author]
jsonld = "Book.author.name"
[extract.books.fields.next]
css = "a.next"
type = "url"
follow = true
"#;

const BOOK: &str = "<h1>Rye and\n salt</h1><p class=price>£1,204.50</p>\
    <script type=application/ld+json>{\"@type\":\"Book\",\"author\":{\"name\":\"E. Marrow\"}}</script>";

fn shop() -> Site {
    Site::start(|path| {
        let html = || "content-type: text/html\r\n".to_owned();
        match path {
            "/robots.txt" => (200, String::new(), "user-agent: *\ndisallow: /secret".into()),
            "/" => (
                200,
                html(),
                "<a href=/book/1>1</a> <a href=/book/2>2</a> <a href=/book/3>3</a>".into(),
            ),
            "/book/1" => (200, html(), BOOK.into()),
            "/book/2" => (200, html(), "<h1>Bare</h1>".into()),
            "/book/3" => (200, html(), "<p class=price>£3</p>".into()),
            "/moved" => (302, "location: /book/1\r\n".into(), String::new()),
            "/away" => (302, "location: /secret\r\n".into(), String::new()),
            _ => (404, html(), "none".into()),
        }
    })
}

fn dir(settings: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("comity.toml"), settings).unwrap();
    dir
}

fn items(dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(dir.join("comity-data/items.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The whole way: settings, a crawl, its counts, its items; and again, with a line torn.
#[test]
fn a_crawl_with_extractors() {
    let (site, dir) = (shop(), dir(SETTINGS));
    let crawl = ["crawl", &site.url("/"), "--allow-network", "127.0.0.0/8", "--json"];
    let ended = run(dir.path(), &crawl).well();
    let counts = &ended.json()["run"];
    assert_eq!(counts["items"], json!({ "books": 2 }));
    assert_eq!(
        counts["items_left_out"],
        json!({ "books: title is required: no element matches": 1 })
    );
    let found = items(dir.path());
    let mut values: Vec<_> = found.iter().map(|item| item["value"].to_string()).collect();
    values.sort();
    assert_eq!(
        values,
        [
            json!({"author":"E. Marrow","next":null,"price":1204.5,"title":"Rye and salt"})
                .to_string(),
            json!({"author":null,"next":null,"price":null,"title":"Bare"}).to_string(),
        ]
    );
    let file = dir.path().join("comity-data/items.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{whole}{{\"extractor\":\"bo")).unwrap();
    let again = run(dir.path(), &crawl[..4]).well();
    assert!(again.err.contains("cut off"), "{again:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    let status = run(dir.path(), &["status", "--json"]).well();
    assert!(status.json()["last_run"]["counts"]["items"].is_object());
}

/// The report for people tells items and what was left out.
#[test]
fn the_report_tells_items() {
    let (site, dir) = (shop(), dir(SETTINGS));
    let ended =
        run(dir.path(), &["crawl", &site.url("/"), "--allow-network", "127.0.0.0/8"]).well();
    for part in ["items      2: books 2", "no item    1: books: title is required", "items.jsonl"] {
        assert!(ended.out.contains(part), "\"{part}\" is not in {}", ended.out);
    }
    let memory = ["crawl", &site.url("/"), "--allow-network", "127.0.0.0/8", "--store", "memory"];
    run(dir.path(), &memory).badly(2, &["items are kept in the data directory"]);
}

/// One page tried: what matched, and why not.
#[test]
fn one_page_tried() {
    let (site, dir) = (shop(), dir(SETTINGS));
    let ask = |url: String, json: bool| {
        let mut args = vec!["extract", &url, "--allow-network", "127.0.0.0/8"];
        args.extend(json.then_some("--json"));
        run(dir.path(), &args)
    };
    let tried = ask(site.url("/moved"), true).well().json();
    assert_eq!(tried["url"], site.url("/book/1"));
    let books = &tried["extractors"][0];
    assert_eq!((&books["extractor"], &books["items"]), (&json!("books"), &json!(1)));
    let fields = books["attempts"][0]["fields"].as_array().unwrap();
    assert_eq!(
        fields[2],
        json!({
            "field": "price", "matched": 1, "texts": ["£1,204.50"], "value": 1204.5, "why_not": null,
        })
    );
    assert_eq!(fields[1]["why_not"], "no element matches");
    let people = ask(site.url("/book/1"), false).well();
    for part in [
        "books: 1 item of",
        "title          \"Rye and salt\"",
        "no value: no element matches",
        "1 match: \"£1,204.50\"",
    ] {
        assert!(people.out.contains(part), "\"{part}\" is not in {}", people.out);
    }
    ask(site.url("/book/3"), false).badly(1, &["no item 1: title is required"]);
    ask(site.url("/"), false).badly(1, &["does not take", "matches none of urls"]);
    for url in ["/secret", "/away"] {
        ask(site.url(url), false)
            .badly(3, &["was not fetched: refused, robots-disallow", "line 2"]);
    }
    ask(site.url("/none"), true).badly(3, &["it answers with status 404"]);
    assert!(site.paths().iter().all(|path| path != "/secret"));
}

/// A file needs no network; without its address, `urls` do not count.
#[test]
fn a_file_tried() {
    let dir = dir(SETTINGS);
    fs::write(dir.path().join("page.html"), BOOK).unwrap();
    run(dir.path(), &["extract", "page.html"]).well();
    let here = ["extract", "page.html", "--url", "https://a.example/book/9", "--json"];
    assert_eq!(run(dir.path(), &here).well().json()["url"], "https://a.example/book/9");
    let elsewhere = ["extract", "page.html", "--url", "https://a.example/x"];
    run(dir.path(), &elsewhere).badly(1, &["matches none of urls"]);
    run(dir.path(), &["extract", "page.html", "--name", "films"]).badly(2, &["there are books"]);
    run(dir.path(), &["extract", "nothing.html"]).badly(1, &["there is no file nothing.html"]);
}

/// Mistakes are found at the start, with line and column, by both commands.
#[test]
fn mistakes() {
    let dir = dir("[extract.a.fields.x]\ncss = \"p[\"\n");
    for command in [&["extract", "page.html"][..], &["crawl", "http://127.0.0.1:1/"]] {
        run(dir.path(), command)
            .badly(2, &["line 2, column 7: extract.a.fields.x.css: \"p[\" is no CSS selector"]);
    }
    fs::write(dir.path().join("comity.toml"), "").unwrap();
    fs::write(dir.path().join("page.html"), "<p>x").unwrap();
    run(dir.path(), &["extract", "page.html"]).badly(2, &["the settings have no extractor"]);
}

/// Killed in the middle, and again: every page's item is there at least once, and each line is whole.
#[test]
fn killed_crawls_lose_no_item() {
    const PAGES: usize = 120;
    let site = Site::of_pages(PAGES);
    let politeness = SETTINGS.split("[extract").next().unwrap();
    let dir = dir(&format!("{politeness}[extract.pages.fields.title]\ncss = \"title\"\n"));
    let seed = site.url("/");
    let crawl = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "10ms"];
    let file = dir.path().join("comity-data/items.jsonl");
    let lines = || fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    for kill in 1..=3 {
        let mut child = start(dir.path(), &crawl);
        wait_until("some items", || lines() >= 25 * kill);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    run(dir.path(), &crawl).well();
    let found = items(dir.path());
    let urls: BTreeSet<_> = found.iter().map(|item| item["url"].as_str().unwrap()).collect();
    assert_eq!(urls.len(), PAGES, "{} items", found.len());
    assert!(found.len() >= urls.len() && found.len() < urls.len() + 100, "{} items", found.len());
}
