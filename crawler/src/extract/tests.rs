//! Extractors on pages at hand: every value is known from the markup.

use std::path::Path;

use comity_compliance::Timestamp;
use serde_json::{Value, json};
use tokio::time::Duration;
use url::Url;

use super::dom::one_line;
use super::rules::{Rules, check};
use super::*;
use crate::config::Config;

const NOW: Timestamp = Timestamp::from_secs(1_796_000_000);

fn page_of(html: &str) -> ReadPage {
    let url = Url::parse("https://shop.example/p/1?x#y").unwrap();
    ReadPage::at_hand(url, "text/html; charset=utf-8", html.to_owned(), NOW)
}

fn rules_of(text: &str) -> Rules {
    let config = Config::parse(text, Path::new("comity.toml")).unwrap();
    check(&config.extract).unwrap().pop().unwrap()
}

/// The value of one field, or why there is none.
fn value_of(field: &str, html: &str) -> Result<Value, String> {
    let rules = rules_of(&format!("[extract.a.fields.x]\n{field}"));
    let page = page_of(html);
    let attempts = Trial::of(&page).attempts(&rules).unwrap();
    let trace = &attempts[0].fields[0];
    trace.miss.as_ref().map_or(Ok(trace.value.clone()), |miss| Err(miss.to_string()))
}

/// One line, one case: settings of a field, markup, its value.
#[test]
fn values() {
    let ld = |json: &str| format!("<script type=application/ld+json>{json}</script>");
    let offer = ld(
        r#"{"@type":"Product","name":" Rye\n bread ","offers":{"price":"4.50","url":"/buy"},"image":["/a.png","b.png"],"ok":true,"n":7}"#,
    );
    let cases: &[(&str, &str, Value)] = &[
        ("css = 'h1'", "<h1> A  <b>b</b>\n c<script>no</script></h1><h1>2</h1>", json!("A b c")),
        ("css = '#s'", "<script id=s>x = 1</script>", json!("x = 1")),
        ("css = 'h1, h2'", "<h2>two</h2><h1>one</h1>", json!("two")),
        ("css = 'p'", "<p></p><p> </p><p>third</p>", json!("third")),
        ("css = 'a'\nattr = 'Title'", "<a title=' t  u '>x</a>", json!("t u")),
        ("css = 'meta[property=\"og:title\"]'", "<meta property=og:title content=T>", json!("T")),
        ("css = 'p'\nregex = 'No\\. (\\d+)'", "<p>No. 17</p>", json!("17")),
        ("css = 'p'\nregex = '\\d+'", "<p>No. 17</p>", json!("17")),
        ("css = 'p'\nregex = '(\\d+)x'", "<p>17</p><p>18x</p>", json!("18")),
        ("css = 'p'\ntype = 'number'", "<p>£51.77 each", json!(51.77)),
        ("css = 'p'\ntype = 'number'", "<p>n/a</p><p>3", json!(3)),
        ("css = 'p'\ntype = 'number'\ndecimal = ','", "<p>1.234 €", json!(1234)),
        (
            "css = 'time'\ntype = 'date'",
            "<time datetime=2026-11-30>today</time>",
            json!("2026-11-30T00:00:00Z"),
        ),
        ("css = 'p'\ntype = 'date'", "<p>30 Nov 2026", json!("2026-11-30T00:00:00Z")),
        (
            "css = 'p'\ntype = 'date'\nformat = '%d/%m/%Y'",
            "<p>30/11/2026",
            json!("2026-11-30T00:00:00Z"),
        ),
        ("css = 'a'\ntype = 'url'", "<a href=' ../q#f '>x</a>", json!("https://shop.example/q")),
        (
            "css = 'a'\ntype = 'url'",
            "<base href=/deep/er/><a href=q>x</a>",
            json!("https://shop.example/deep/er/q"),
        ),
        (
            "css = 'img'\ntype = 'url'",
            "<img src=//cdn.example/i.png>",
            json!("https://cdn.example/i.png"),
        ),
        (
            "css = 'a'\ntype = 'url'",
            "<a href=javascript:x>n</a><a href=/y>y</a>",
            json!("https://shop.example/y"),
        ),
        ("css = 'li'\ntype = 'list'", "<li>a<li>b<li><li>c", json!(["a", "b", "c"])),
        ("css = 'li'\ntype = 'list'\nof = 'number'", "<li>1<li>x<li>2.5", json!([1, 2.5])),
        (
            "css = 'a'\ntype = 'list'\nof = 'url'",
            "<a href=/1><a href=/2>",
            json!(["https://shop.example/1", "https://shop.example/2"]),
        ),
        ("jsonld = 'Product.name'", &offer, json!("Rye bread")),
        ("jsonld = 'Product.offers.price'\ntype = 'number'", &offer, json!(4.5)),
        ("jsonld = 'n'\ntype = 'number'", &offer, json!(7)),
        ("jsonld = 'ok'", &offer, json!("true")),
        ("jsonld = 'offers.url'\ntype = 'url'", &offer, json!("https://shop.example/buy")),
        ("jsonld = 'image[1]'\ntype = 'url'", &offer, json!("https://shop.example/p/b.png")),
        ("jsonld = 'image'\ntype = 'list'", &offer, json!(["/a.png", "b.png"])),
    ];
    for (field, html, expect) in cases {
        assert_eq!(value_of(field, html).as_ref(), Ok(expect), "{field} on {html}");
    }
}

/// One line, one case: settings of a field, markup, why there is no value.
#[test]
fn misses() {
    let ld = |json: &str| format!("<script type=application/ld+json>{json}</script>");
    let cases: &[(&str, &str, &str)] = &[
        ("css = 'h1'", "<h2>x</h2>", "no element matches"),
        ("css = 'a'\nattr = 'title'", "<a>x</a>", "no such attribute: title"),
        ("css = 'p'", "<p> <br> </p>", "no text"),
        ("css = 'p'\nregex = 'z'", "<p>abc</p><p>d</p>", "regex does not match: \"abc\""),
        ("css = 'p'\ntype = 'number'", "<p>none</p>", "no number: \"none\""),
        ("css = 'p'\ntype = 'date'", "<p>soon</p>", "no date: \"soon\""),
        ("css = 'a'\ntype = 'url'", "<a href='mailto:a@b'>", "no address: \"mailto:a@b\""),
        ("css = 'li'\ntype = 'list'\nof = 'number'", "<li>a<li>b", "no number: \"a\""),
        ("jsonld = 'a'", "<p>x", "no JSON-LD"),
        ("jsonld = 'a'", &ld("{x"), "no JSON-LD; 1 scripts are no JSON"),
        ("jsonld = 'a.b'", &ld("{\"a\":1}"), "nothing at this path"),
        (
            "jsonld = 'a'",
            &ld("{\"a\":{\"b\":1,\"c\":2}}"),
            "an object, not a value; go on in the path, to one of b, c",
        ),
    ];
    for (field, html, expect) in cases {
        assert_eq!(value_of(field, html), Err((*expect).to_owned()), "{field} on {html}");
    }
    let long = format!("<p>{}</p>", "x".repeat(300_000));
    assert_eq!(value_of("css = 'p'", &long), Err("too long".into()));
}

const SHELF: &str = r#"
[extract.books]
urls = ["/p/*"]
each = "article"
[extract.books.fields.title]
css = "h3 a"
attr = "title"
required = true
[extract.books.fields.link]
css = "h3 a"
type = "url"
follow = true
[extract.books.fields.price]
css = ".price"
type = "number"
[extract.books.fields.class]
attr = "class"
"#;

/// Several items a page; what is required and missing makes none, what is not is null.
#[test]
fn an_item_for_each() {
    let html = "<article class=new><h3><a href=/a title=A>a</a></h3><p class=price>£1.50</article>\
                <article><h3><a href=/b title=B>b</a></h3></article>\
                <article><p class=price>£3</article>\
                <h3><a title=outside>x</a></h3>";
    let yielded = run_on(rules_of(SHELF), &page_of(html));
    assert_eq!(yielded.error, None);
    assert_eq!(
        yielded.items,
        [
            json!({"class":"new","link":"https://shop.example/a","price":1.5,"title":"A"}),
            json!({"class":null,"link":"https://shop.example/b","price":null,"title":"B"}),
        ]
    );
    let links: Vec<_> = yielded.links.iter().map(|link| link.url.path()).collect();
    assert_eq!(links, ["/a", "/b"]);
    let left: Vec<_> = yielded.left_out.into_iter().collect();
    assert_eq!(left, [("title is required: no element matches".to_owned(), 1)]);
}

/// One line, one case: settings of the section, the page's rules, the address, whether it is taken.
#[test]
fn which_pages() {
    let section = |rest: &str| format!("[extract.a]\n{rest}\nfields.x.css = 'p'");
    for (rest, meta, url, expect) in [
        ("", "", "https://shop.example/", true),
        ("", "noindex", "https://shop.example/", true),
        ("pages = 'indexable'", "noindex", "https://shop.example/", false),
        ("pages = 'indexable'", "none", "https://shop.example/", false),
        ("pages = 'indexable'", "unavailable_after: 2026-01-01", "https://shop.example/", false),
        ("pages = 'indexable'", "nosnippet, nofollow", "https://shop.example/", true),
        ("urls = ['/a', '/b$']", "", "https://shop.example/b", true),
        ("urls = ['/a', '/b$']", "", "https://shop.example/bc", false),
        ("urls = ['https://shop.example/']", "", "https://other.example/", false),
    ] {
        let mut page = page_of("<p>x");
        page.url = Url::parse(url).unwrap();
        let token = comity_compliance::ProductToken::new("comitybot").unwrap();
        let identity = comity_compliance::Identity::new(token);
        let mut collector = comity_compliance::Directives::for_identity(&identity, NOW);
        collector.meta("robots", meta);
        page.directives = collector.finish();
        page.publication = comity_compliance::Publication::of(&page.directives, NOW);
        let decision = rules_of(&section(rest)).takes(&page);
        assert_eq!(decision.left().is_none(), expect, "{rest} {meta} {url}: {}", decision.reason);
    }
}

/// JSON-LD alone needs no tree, and so works on what is no HTML.
#[test]
fn what_is_needed() {
    for (text, needs) in [
        ("[extract.a.fields.x]\njsonld = 'name'", Needs::Page),
        ("[extract.a.fields.x]\ncss = 'p'", Needs::Dom),
    ] {
        assert_eq!(rules_of(text).needs(), needs);
    }
    let url = Url::parse("https://a.example/x.json").unwrap();
    let json = ReadPage::at_hand(url, "application/json", "{}", NOW);
    let rules = rules_of("[extract.a.fields.x]\ncss = 'p'");
    let yielded = run_on(rules, &json);
    assert!(yielded.items.is_empty() && yielded.left_out.is_empty() && yielded.error.is_none());
}

/// An extractor by code, with a fault of each kind.
struct Odd(&'static str);

#[derive(serde::Serialize)]
struct Line {
    n: usize,
    text: String,
}

impl Extractor for Odd {
    type Item = Line;

    fn name(&self) -> &str {
        "odd"
    }

    fn extract(&self, page: &PageView<'_>, out: &mut Out<'_, Line>) -> Result<(), ExtractError> {
        out.item(Line { n: 1, text: page.content.text.clone() })?;
        out.link(Url::parse("ftp://a.example/")?);
        match self.0 {
            "error" => return Err("no luck".into()),
            "panic" => panic!("a fault"),
            "tree" => drop(page.dom()?),
            "many" => {
                for n in 0..10_005 {
                    out.item(Line { n, text: String::new() })?;
                }
            }
            "large" => out.item(Line { n: 2, text: "x".repeat(2 << 20) })?,
            _ => {}
        }
        Ok(())
    }
}

/// One line, one case: the fault, items that stand, the error, what was left out.
#[test]
fn faults_stay_with_their_extractor() {
    for (fault, items, error, left) in [
        ("", 1, None, ""),
        ("error", 1, Some("no luck"), ""),
        ("panic", 1, Some("it panicked: a fault"), ""),
        ("tree", 1, Some("no tree was built: let needs() answer Needs::Dom"), ""),
        ("many", 10_000, None, "more items than are kept of a page"),
        ("large", 1, None, "larger than an item may be"),
    ] {
        let yielded = run_on(Odd(fault), &page_of("<p>a<p>b"));
        assert_eq!(yielded.items.len(), items, "{fault}");
        assert_eq!(yielded.items[0], json!({"n":1,"text":"a\nb"}));
        assert_eq!(yielded.error.as_deref(), error, "{fault}");
        let reasons = yielded.left_out.keys().map(String::as_str);
        let reasons: Vec<_> = reasons.filter(|why| !why.contains("neither http")).collect();
        assert_eq!(reasons.join(", "), left, "{fault}");
        assert!(yielded.links.is_empty());
    }
}

/// Pages that are made to cost: each is read within bounds, whatever it holds.
#[test]
fn hostile_pages() {
    let limits = DomLimits::default();
    let formats: String = (0..350).map(|n| format!("<b a={n}>")).collect();
    let cases = [
        ("deep", "<div>".repeat(300_000), true),
        ("deep in spans", "<span>".repeat(300_000), true),
        ("formatting", format!("<p>{formats}{}", "<p>x".repeat(2_000)), true),
        ("nested tables", "<table><tr><td>".repeat(100_000), true),
        ("foster", format!("<table>{}", "<a>x<tr>".repeat(20_000)), false),
        ("wide", "<i></i>".repeat(100_000), false),
        ("wider", "<i></i>".repeat(251_000), true),
        ("long", "x".repeat(5 << 20), true),
        ("one tag", format!("<p {}>", "a=b ".repeat(200_000)), false),
        ("nothing", String::new(), false),
    ];
    for (name, html, is_cut) in cases {
        let page = page_of(&html);
        let dom = Dom::of(&page, limits);
        assert!(dom.is_cut() == is_cut || name == "foster", "{name}: {}", dom.is_cut());
        assert!(dom.html().tree.nodes().len() < limits.nodes + 250_000, "{name}");
        dom.wind_up();
        let all = scraper::Selector::parse("*").unwrap();
        assert!(dom.select(dom.root(), &all, 7).unwrap().len() <= 7, "{name}");
    }
}

/// A selector that looks back over all siblings ends, and says why.
#[test]
fn costly_selectors_end() {
    let page = page_of(&"<i></i>".repeat(100_000));
    let limits = DomLimits { time: Duration::from_millis(200), ..DomLimits::default() };
    let dom = Dom::of(&page, limits);
    dom.wind_up();
    let selector = scraper::Selector::parse("b ~ i").unwrap();
    assert_eq!(dom.select(dom.root(), &selector, 10), Err(TooCostly));
    assert_eq!(dom.select(dom.root(), &selector, 10), Err(TooCostly), "its time is spent");
    let few = DomLimits { looks: 1_000, ..DomLimits::default() };
    let dom = Dom::of(&page, few);
    dom.wind_up();
    assert_eq!(dom.text(dom.root()), Err(TooCostly));
}

/// A page whose end was not read is told as such.
#[test]
fn a_cut_tree_is_an_error() {
    let html = format!("<h1>T</h1>{}", "<div>".repeat(100_000));
    let yielded = run_on(rules_of("[extract.a.fields.x]\ncss = 'h1'"), &page_of(&html));
    assert_eq!(yielded.items, [json!({"x":"T"})]);
    assert!(yielded.error.unwrap().contains("its end was not read"));
}

#[test]
fn lines() {
    assert_eq!(one_line(" a\n\tb\u{a0}c  "), "a b c");
}

/// The order of names is that of the columns, and empty items are none.
#[test]
fn an_item_without_values_is_none() {
    let rules = rules_of("[extract.a]\nfields.b.css = 'p'\nfields.a.css = 'i'");
    assert_eq!(rules.field_names().collect::<Vec<_>>(), ["a", "b"]);
    let yielded = run_on(rules, &page_of("<h1>x</h1>"));
    assert!(yielded.items.is_empty());
    assert_eq!(yielded.left_out.get("no field has a value"), Some(&1));
}
