//! Page rules: `X-Robots-Tag` lines, and names and contents of meta tags.

use comity_compliance::{
    Directive, Directives, Follow, Identity, Limit, ProductToken, Publication, Source, Terms,
    Timestamp, hides_from_snippets, judge_link,
};

use super::driver::{Chance, Matter, Run};

const SAMPLES: &[&str] = &[
    "noindex",
    "noindex, nofollow\nexamplebot: nosnippet",
    "googlebot: nofollow\notherbot: noindex, nofollow",
    "examplebot: noindex, otherbot: none, *: noarchive",
    "max-snippet:20, max-image-preview:large, max-video-preview:-1",
    "unavailable_after: 25 Jun 2010 15:00:00 PST",
    "otherbot: unavailable_after: Sunday, 06-Nov-94 08:49:37 GMT, noindex",
    "none\nall\nindexifembedded, noindex\nnotranslate, noimageindex",
    "max-snippet: 99999999999999999999, max-snippet: abc, max-snippet",
    "\u{ef}\u{bb}\u{bf}noindex; nofollow | nosnippet",
];

const WORDS: &[&str] = &[
    ",",
    ":",
    " ",
    "\n",
    ";",
    "=",
    "\"",
    "-1",
    "0",
    "1",
    "noindex",
    "nofollow",
    "none",
    "all",
    "index",
    "follow",
    "noarchive",
    "nosnippet",
    "max-snippet:",
    "max-image-preview:",
    "max-video-preview:",
    "standard",
    "large",
    "indexifembedded",
    "unavailable_after:",
    "notranslate",
    "noimageindex",
    "examplebot",
    "fallbackbot",
    "googlebot-news",
    "otherbot:",
    "*:",
    "robots:",
    "2027-01-01",
    "6 Nov 1994, 08:49",
    "GMT",
    "content",
    "\0",
    "\t",
    "\u{e9}",
    "\u{2028}",
    "nocache",
    "4294967296",
    "max-snippet",
    "unavailable_after",
];

const NAMES: &[&str] =
    &["robots", " ROBOTS ", "examplebot", "fallbackbot", "googlebot", "description", ""];

const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

fn identity() -> Identity {
    let token = |name| ProductToken::new(name).expect("a token");
    Identity::new(token("examplebot")).with_fallback(token("fallbackbot"))
}

/// Lines only ever add rules; each rule names its place; a budget cuts no character.
fn judge(input: &[u8], chance: &mut Chance) {
    let identity = identity();
    let mut collector = Directives::for_identity(&identity, NOW);
    let mut fewer = Directives::for_identity(&identity, NOW);
    let lines: Vec<&[u8]> = input.split(|octet| *octet == b'\n').collect();
    let shown = chance.below(lines.len() + 1);
    for (at, line) in lines.iter().enumerate() {
        if chance.one_in(2) {
            collector.header_line(line);
            if at < shown {
                fewer.header_line(line);
            }
        } else {
            let (name, content) = (chance.pick(NAMES), String::from_utf8_lossy(line));
            collector.meta(name, &content);
            if at < shown {
                fewer.meta(name, &content);
            }
        }
    }
    let (all, fewer) = (collector.finish(), fewer.finish());
    assert!(all.iter().count() < 64, "{all:?}");
    for directive in all.iter() {
        assert_eq!(directive.source.to_string().parse(), Ok::<Source, _>(directive.source.clone()));
        assert!(!directive.to_string().is_empty());
    }
    assert_eq!(Directives::from_parts(all.iter().map(Directive::clone)), all);
    more_binds_more(&fewer, &all);
    publishes(&all, &String::from_utf8_lossy(input));
}

fn more_binds_more(fewer: &Directives, all: &Directives) {
    assert!(fewer.noindex().is_none() || all.noindex().is_some());
    assert!(fewer.nofollow().is_none() || all.nofollow().is_some());
    let (less, more) = (Terms::of(fewer), Terms::of(all));
    let characters = |terms: &Terms| match terms.snippet.limit() {
        Limit::AtMost(characters) => characters,
        Limit::Unlimited => u32::MAX,
    };
    assert!(characters(&more) <= characters(&less));
    assert!(less.until.is_none_or(|until| more.until.is_some_and(|sooner| sooner <= until)));
    if judge_link(fewer, "") != Follow::Yes {
        assert_ne!(judge_link(all, ""), Follow::Yes);
    }
}

fn publishes(all: &Directives, text: &str) {
    let publication = Publication::of(all, NOW);
    assert!(all.noindex().is_none() || publication.code() != "full");
    if let Some(until) = publication.until() {
        assert!(until > NOW);
        assert_eq!(publication.at(until).code(), "nothing");
    }
    if let Some(terms) = publication.terms() {
        assert!(text.starts_with(terms.snippet.cut(text)));
    }
    let _ = judge_link(all, text);
    let _ = hides_from_snippets(text);
}

#[test]
fn pages() {
    let samples = SAMPLES.iter().map(|sample| sample.as_bytes().to_vec()).collect();
    Run::of(1500).go("pages", &Matter { samples, words: WORDS }, judge);
}
