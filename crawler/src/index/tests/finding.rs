//! Languages, filters, the order of results, embedded pages and bare addresses.

use comity_compliance::parse_date;
use serde_json::json;

use super::*;

fn at(text: &str) -> Option<i64> {
    parse_date(text, NOW).map(Timestamp::as_millis)
}

fn address(key: u8) -> u64 {
    address_of(&[key; 16])
}

/// Keys in ascending order: what is found, in whatever order.
fn set(searcher: &Searcher, words: &str) -> Vec<u8> {
    let mut keys = found(searcher, words);
    keys.sort_unstable();
    keys
}

/// Stems are those of the Snowball stemmers for each language.
#[test]
fn words_have_the_forms_of_their_language() {
    let page = |key, language: &str, text| {
        let mut page = document(key, "", text);
        page.language = language.into();
        page
    };
    let (_dir, searcher) = index_of(vec![
        page(1, "de", "Die Häuser am See, Übungen für alle"),
        page(2, "en", "houses by the lake; running exercises"),
        page(3, "fr", "les maisons continuellement habitées"),
        page(4, "ru", "красивые дома"),
        page(5, "", "runnings and Häuser without a language"),
        page(6, "de-AT", "Ein Haus in Wien"),
        page(7, "xx", "running water"),
        page(8, "zh", "东京的地铁"),
    ]);
    for (words, expect) in [
        ("haus", &[1, 6][..]),
        ("Häuser", &[1, 5, 6]),
        ("hauser", &[1, 5, 6]),
        ("übung", &[1]),
        ("house", &[2]),
        ("run", &[2]),
        ("running", &[2, 7]),
        ("maison", &[3]),
        ("habitée", &[3]),
        ("дом", &[4]),
        ("красивый", &[4]),
        ("地铁", &[8]),
        ("language:de haus", &[1, 6]),
        ("lang:DE-at haus", &[1, 6]),
        ("lang:en haus", &[]),
    ] {
        assert_eq!(set(&searcher, words), expect, "{words}");
    }
}

#[test]
fn searches_are_narrowed() {
    let page = |key, site: &str, path: &str, date: Option<&str>| {
        let mut page = document(key, "word", "word of a page");
        page.url = format!("https://{site}{path}/{key}");
        page.site = site.into();
        page.dated_ms = date.and_then(at);
        page
    };
    let (_dir, searcher) = index_of(vec![
        page(1, "example.org", "/library", Some("2024-05-06")),
        page(2, "docs.example.org", "/tutorial", Some("2023-01-01")),
        page(3, "notexample.org", "", None),
        page(4, "example.com", "", Some("2024-12-31T23:59:59Z")),
        page(5, "192.0.2.7", "", None),
    ]);
    for (words, expect) in [
        ("word", &[1, 2, 3, 4, 5][..]),
        ("word site:example.org", &[1, 2]),
        ("site:docs.example.org word", &[2]),
        ("word site:EXAMPLE.com", &[4]),
        ("word site:example.com site:docs.example.org", &[2, 4]),
        ("word site:https://example.org/library/", &[1]),
        ("word site:org", &[1, 2, 3]),
        ("word site:192.0.2.7", &[5]),
        ("word site:0.2.7", &[]),
        ("word after:2024", &[1, 4]),
        ("word after:2024-05-06", &[1, 4]),
        ("word after:2024-05-07", &[4]),
        ("word before:2024", &[2]),
        ("word after:2023 before:2024-12-31", &[1, 2]),
        ("word after:2025", &[]),
        ("word -page", &[]),
        ("word -site", &[1, 2, 3, 4, 5]),
        ("\"site:example.com\"", &[]),
        ("site:example.com", &[4]),
        ("site:example.org:8080/library", &[1]),
        ("after:2024", &[1, 4]),
        ("site:example.org -page", &[]),
        ("word -\"word of\"", &[]),
        ("word - \"of a page\"", &[1, 2, 3, 4, 5]),
        ("word -\"page word\"", &[1, 2, 3, 4, 5]),
        ("word -site:example.org", &[3, 4, 5]),
        ("-site:example.org", &[3, 4, 5]),
        ("word -site:example.org/library", &[2, 3, 4, 5]),
        ("word -site:example.org -site:example.com", &[3, 5]),
        ("site:example.org -site:docs.example.org", &[1]),
        ("word -lang:en", &[]),
        ("word -lang:de", &[1, 2, 3, 4, 5]),
        ("word -after:2024", &[2, 3, 5]),
        ("\u{201c}word of\u{201d} site:example.com", &[4]),
        ("\u{201c}page word\u{201d}", &[]),
    ] {
        assert_eq!(set(&searcher, words), expect, "{words}");
    }
    for (words, senseless) in [
        ("word after:noon -lang:german site:example.org", &["after:noon", "-lang:german"][..]),
        ("word std::string \"after:noon\"", &[]),
    ] {
        let hits = searcher.search(words, NOW, 10, 0).unwrap();
        assert_eq!(hits.senseless, senseless, "{words}");
    }
}

/// One line, one case: what the better page has, all else alike.
#[test]
fn better_pages_come_first() {
    type Makes = fn(&mut Document);
    let cases: [(&str, Makes, Makes); 8] = [
        ("the word in the title", |page| page.title = "gather".into(), |_| {}),
        ("the word in a heading", |page| page.headings = "gather".into(), |_| {}),
        (
            "the word in the address",
            |page| page.url = "https://example.org/gather/1".into(),
            |_| {},
        ),
        (
            "title before heading",
            |page| page.title = "gather".into(),
            |page| page.headings = "gather".into(),
        ),
        (
            "changed lately",
            |page| page.dated_ms = at("2026-12-01"),
            |page| page.dated_ms = at("2016-01-01"),
        ),
        ("a date at all", |page| page.dated_ms = at("2026-12-01"), |_| {}),
        ("not an address alone", |_| {}, |page| page.form = Form::Bare),
        (
            "words in order",
            |page| page.text = "gather them and others too".into(),
            |page| page.text = "others gather and too them".into(),
        ),
    ];
    for (what, make_better, make_other) in cases {
        let page = |key| document(key, "a page", "gather them and others too");
        let (mut better, mut other) = (page(1), page(2));
        make_better(&mut better);
        make_other(&mut other);
        let filler = (10..20).map(|key| document(key, "filler", "of other words"));
        let documents = [other, better].into_iter().chain(filler);
        let (_dir, searcher) = index_of(documents.collect());
        let hits = searcher.search("gather them", NOW, 10, 0).unwrap();
        let first = hits.hits.first().map(|hit| hit.url.ends_with('1'));
        assert_eq!((hits.total, first), (2, Some(true)), "{what}");
    }
}

#[test]
fn pages_that_others_link_to_come_first() {
    let mut documents: Vec<_> =
        (1..=20).map(|key| document(key, "same title", "the same words")).collect();
    for page in &mut documents[10..] {
        page.links = vec![address(7)];
    }
    let (_dir, searcher) = index_of(documents);
    let first = searcher.search("words", NOW, 1, 0).unwrap();
    assert_eq!(first.hits[0].url, "https://example.org/7");
}

/// RM-025, AM-59: what is embedded is found as its embedder and never as itself.
#[test]
fn embedded_pages_find_those_that_embed_them() {
    let now = NOW.as_millis();
    let mut widget = document(1, "Widget", "prices of tulips and roses");
    widget.form = Form::Embedded;
    widget.limits.snippet_chars = Some(12);
    let mut expired = document(2, "Old widget", "prices of daisies");
    expired.form = Form::Embedded;
    expired.expires_at_ms = Some(now);
    let mut shop = document(3, "Flower shop", "opening hours");
    shop.embeds = vec![address(1), address(2)];
    let mut both = document(4, "Tulips", "tulips here too");
    both.embeds = vec![address(1)];
    let mut gone = document(5, "Gone", "was a shop");
    gone.embeds = vec![address(1)];
    gone.expires_at_ms = Some(now);
    let mut orphan = document(6, "Orphan", "prices of orchids");
    orphan.form = Form::Embedded;
    let (_dir, searcher) = index_of(vec![widget, expired, shop, both, gone, orphan]);
    for (words, expect) in [
        ("roses", &[3, 4][..]),
        ("tulips", &[3, 4]),
        ("daisies", &[]),
        ("orchids", &[]),
        ("hours", &[3]),
        ("widget", &[3, 4]),
    ] {
        assert_eq!(set(&searcher, words), expect, "{words}");
    }
    let hits = searcher.search("roses", NOW, 10, 0).unwrap();
    let hit = hits.hits.iter().find(|hit| hit.title == "Flower shop").unwrap();
    assert_eq!(hit.embedded.as_deref(), Some("https://example.org/1"));
    let snippet = hit.snippet.as_ref().unwrap();
    assert!(snippet.text.chars().count() <= 12, "{snippet:?}");
    let own = searcher.search("tulips", NOW, 10, 0).unwrap();
    assert_eq!(own.hits[0].url, "https://example.org/4", "found by its own words");
    assert_eq!(own.hits[0].embedded, None);
}

/// SN-006: where `data-nosnippet` covers the place, the page is found and quotes nothing of it.
#[test]
fn what_is_embedded_in_a_hidden_place_is_not_quoted() {
    let mut widget = document(1, "Widget", "prices of tulips");
    widget.form = Form::Embedded;
    let mut hiding = document(2, "Hiding", "opening hours");
    hiding.hidden_embeds = vec![address(1)];
    let mut open = document(3, "Open", "closing hours");
    (open.embeds, open.hidden_embeds) = (vec![address(1)], vec![address(1)]);
    let (_dir, searcher) = index_of(vec![widget, hiding, open]);
    let hits = searcher.search("tulips", NOW, 10, 0).unwrap().hits;
    for (title, quoted) in [("Hiding", "opening hours"), ("Open", "prices of tulips")] {
        let hit = hits.iter().find(|hit| hit.title == title).unwrap();
        assert_eq!(hit.embedded.as_deref(), Some("https://example.org/1"));
        assert_eq!(hit.snippet.as_ref().unwrap().text, quoted);
    }
    assert_eq!(hits.len(), 2);
}

/// RT-049, SN-005.
#[test]
fn what_comes_with_a_hit() {
    let mut bare = document(1, "What the link says", "");
    bare.form = Form::Bare;
    bare.url = "https://example.org/private/report".into();
    let mut recipe = document(2, "Pie", "a pie");
    recipe.limits.snippet_chars = Some(3);
    recipe.dated_ms = at("2025-01-02");
    recipe.structured =
        vec![json!({ "@type": "Recipe", "name": "Pie", "description": "sweet" }).to_string()];
    let (_dir, searcher) = index_of(vec![bare, recipe]);
    for words in ["link says", "private report"] {
        let hits = searcher.search(words, NOW, 10, 0).unwrap();
        let hit = &hits.hits[0];
        assert_eq!((hit.form, hit.title.as_str()), (Form::Bare, "What the link says"), "{words}");
        assert_eq!(hit.snippet, None);
    }
    let hits = searcher.search("pie", NOW, 10, 0).unwrap();
    let hit = &hits.hits[0];
    assert_eq!(hit.structured, [json!({ "@type": "Recipe", "name": "Pie", "description": "swe" })]);
    assert_eq!(hit.dated.map(Timestamp::as_millis), at("2025-01-02"));
}

/// Words as common as "the" need not be there, and a search that asks for too much is answered all
/// the same, and says so.
#[test]
fn searches_that_ask_for_too_much() {
    let (_dir, searcher) = index_of(vec![
        document(1, "", "reading a csv file"),
        document(2, "", "writing csv"),
        document(3, "", "something else"),
    ]);
    for (words, expect, relaxed) in [
        ("the csv file", &[1][..], false),
        ("reading of csv", &[1], false),
        ("csv", &[1, 2], false),
        ("csv parrot", &[1, 2], true),
        ("csv parrot cheese", &[], false),
        ("reading csv parrot cheese", &[1], true),
        ("parrot", &[], false),
    ] {
        assert_eq!(set(&searcher, words), expect, "{words}");
        let hits = searcher.search(words, NOW, 10, 0).unwrap();
        assert_eq!(hits.is_relaxed, relaxed, "{words}");
    }
}
