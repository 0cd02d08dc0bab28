//! Items as the HTML standard and RDFa Lite have them, from pages like their examples.

use comity_compliance::Timestamp;
use serde_json::{Value, json};
use url::Url;

use super::of;
use crate::extract::ReadPage;

fn found(html: &str) -> Vec<Value> {
    let url = Url::parse("https://example.org/dir/page").unwrap();
    let page = ReadPage::at_hand(url, "text/html", html.to_owned(), Timestamp::EPOCH);
    of(&page).iter().map(|json| serde_json::from_str(json).unwrap()).collect()
}

/// One line, one case: markup, and what it says.
#[test]
fn items() {
    for (html, expect) in [
        ("<p>nothing", json!([])),
        (
            r#"<script type="application/ld+json">{"@type":"Book"}</script>"#,
            json!([{ "@type": "Book" }]),
        ),
        (
            r#"<div itemscope><p>My name is <span itemprop="name">Neil</span>.</p><p>My band is <span itemprop="band">Four Parts Water</span>.</p></div>"#,
            json!([{ "name": "Neil", "band": "Four Parts Water" }]),
        ),
        (
            r#"<div itemscope itemtype="https://schema.org/Product"><img itemprop="image" src="a.png"><a itemprop="url" href="/x">x</a><data itemprop="id" value="9">nine</data><time itemprop="made" datetime="2020-01-01">then</time><meta itemprop="sku" content="7"></div>"#,
            json!([{ "@type": "https://schema.org/Product", "image": "https://example.org/dir/a.png", "url": "https://example.org/x", "id": "9", "made": "2020-01-01", "sku": "7" }]),
        ),
        (
            r#"<div itemscope><span itemprop="price" content="19.90">19,90</span></div>"#,
            json!([{ "price": "19.90" }]),
        ),
        (
            r#"<div itemscope><p itemprop="flavor">Lemon</p><p itemprop="flavor">Apricot</p><span itemprop="a b">both</span></div>"#,
            json!([{ "flavor": ["Lemon", "Apricot"], "a": "both", "b": "both" }]),
        ),
        (
            r#"<div itemscope><p itemprop="band" itemscope><span itemprop="name">Jazz</span></p><span itemprop="name">Amanda</span></div>"#,
            json!([{ "band": { "name": "Jazz" }, "name": "Amanda" }]),
        ),
        (
            r#"<div itemscope><p itemprop="about description">text</p></div>"#,
            json!([{ "description": "text" }]),
        ),
        (
            r#"<div prefix="z: http://schema.org/desc" typeof="Article"><p property="z:ription">text</p></div>"#,
            json!([{ "@type": "Article", "description": "text" }]),
        ),
        (
            r#"<div vocab="http://schema.org/desc" typeof="Article"><p property="ription name">text</p></div>"#,
            json!([{ "@type": "http://schema.org/desc/Article", "description": "text" }]),
        ),
        (
            r#"<p prefix="og: http://ogp.me/ns#" typeof="Article"><b property="og:title">title</b></p>"#,
            json!([{ "@type": "Article", "og:title": "title" }]),
        ),
        (
            r#"<div itemscope itemref="a"></div><p id="a">Name: <span itemprop="name">Amanda</span></p>"#,
            json!([{ "name": "Amanda" }]),
        ),
        (
            r#"<p vocab="https://schema.org/" typeof="Person">My name is <span property="name">Manu</span> <a property="url" href="/me">me</a></p>"#,
            json!([{ "@type": "https://schema.org/Person", "name": "Manu", "url": "https://example.org/me" }]),
        ),
        (
            r#"<div vocab="https://schema.org/" typeof="Book" resource="/b"><span property="author" typeof="Person"><b property="name">Ada</b></span><meta property="pages" content="9"></div>"#,
            json!([{ "@type": "https://schema.org/Book", "@id": "https://example.org/b", "author": { "@type": "https://schema.org/Person", "name": "Ada" }, "pages": "9" }]),
        ),
        (
            r#"<p vocab="https://schema.org" typeof="Person"></p>"#,
            json!([{ "@type": "https://schema.org/Person" }]),
        ),
        (r#"<meta property="og:title" content="t"><p typeof="">"#, json!([{}])),
        // SN-005: what data-nosnippet covers stays usable.
        (
            r#"<div data-nosnippet><div itemscope><span itemprop="name">Pie</span></div></div>"#,
            json!([{ "name": "Pie" }]),
        ),
    ] {
        assert_eq!(Value::Array(found(html)), expect, "{html}");
    }
}

/// Nothing of this takes long or grows: references in circles, items in items, texts in texts.
#[test]
fn hostile_markup_is_bounded() {
    let circle = r#"<div itemscope itemref="a a b" id="b" itemprop="x"><p id="a" itemprop="y" itemscope itemref="b"></p></div>"#;
    let top = r#"<div itemscope itemref="b"></div>"#;
    let nested = "<div itemscope itemprop=a>".repeat(300);
    let texts = "<p itemprop=a>words ".repeat(300);
    let many = r#"<div itemscope><i itemprop="a b c d e f g h i j k l m n o p q">x</i></div>"#;
    for html in [
        format!("{top}{circle}"),
        format!("<div itemscope>{nested}"),
        format!("<div itemscope>{texts}"),
        many.repeat(20_000),
        "<div typeof=x property=y vocab=https://v/>".repeat(300),
    ] {
        let bytes: usize = found(&html).iter().map(|item| item.to_string().len()).sum();
        assert!(bytes < 2 << 20, "{bytes} of {}", html.get(..60).unwrap());
    }
}
