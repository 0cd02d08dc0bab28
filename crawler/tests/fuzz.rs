//! Fuzzing of the pass over a page: a short run with the other tests, a long one when the
//! environment asks for it (docs/fuzzing.md).

#[path = "../../compliance/tests/fuzz/driver.rs"]
mod driver;

use comity::page::{Page, ScanLimits, header_links, parse_refresh, scan};
use url::Url;

use driver::{Chance, Matter, Run};

const SAMPLES: &[&str] = &[
    "<!doctype html><html lang=en><head><meta charset=utf-8><title>T</title><meta name=robots \
     content=noindex><link rel=canonical href=/c><base href=/b/></head><body><p>text <a href=a \
     rel=nofollow>link</a></body></html>",
    "<div data-nosnippet>hidden<span data-nosnippet>more</div>shown<script type='application/ld+json'>{}\
     </script><table><tr><td>a<td>b</table>",
    "<meta http-equiv=refresh content='0; url=/next'><noscript><a href=x>y</a></noscript>\
     <iframe src=f></iframe><template><a href=t></template><svg><title>s</title></svg>",
    "<p>a<b>b<i>c</b>d</i><ul><li>1<li>2<select><option>x</select><textarea></textarea><plaintext>z",
    "plain text, no markup\r\nat all",
];

const WORDS: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!doctype",
    "=",
    "\"",
    "'",
    "&amp;",
    "&#0;",
    "&#x110000;",
    "<a href=",
    "<a rel=ugc href='//x/y#z'>",
    "</a>",
    "<base href='http://",
    "<meta name=robots content=",
    "<title>",
    "</title>",
    "<script>",
    "</script>",
    "<style>",
    "<div data-nosnippet>",
    "<span data-nosnippet>",
    "</div>",
    "</span>",
    "<section data-nosnippet=''>",
    "<p>",
    "<b>",
    "</p>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<svg>",
    "<math>",
    "<foreignObject>",
    "<template>",
    "</template>",
    "<noscript>",
    "<frameset>",
    "<select>",
    "<option>",
    "<body>",
    "</html>",
    "<img alt=\"",
    "<source srcset=\"/a 1x,/b,",
    "<meta charset=utf-16>",
    "<meta http-equiv=refresh content=\"1;url=",
    "\0",
    "\u{feff}",
    "\u{e9}",
    " ",
    "\n",
];

const TYPES: &[&str] = &[
    "text/html",
    "text/html; charset=utf-8",
    "text/html; charset=shift_jis",
    "text/html; charset=utf-16le",
    "application/xhtml+xml",
    "text/plain",
    "text/plain; charset=iso-2022-jp",
    "image/png",
    "",
    ";;charset=\"",
];

fn limits(chance: &mut Chance) -> ScanLimits {
    if chance.one_in(2) {
        return ScanLimits::default();
    }
    ScanLimits {
        links: chance.below(4),
        images: chance.below(4),
        url_bytes: chance.below(64),
        anchor_chars: chance.below(8),
        title_chars: chance.below(8),
        text_bytes: chance.below(64),
        snippet_bytes: chance.below(64),
        structured_bytes: chance.below(16),
        meta_tags: chance.below(3),
        meta_content_bytes: chance.below(16),
        parser_bytes: 64 + chance.below(4096),
    }
}

/// Every limit holds, and every link is one that could be asked for.
fn judge(input: &[u8], chance: &mut Chance) {
    let limits = limits(chance);
    let content_type = (!chance.one_in(8)).then(|| chance.pick(TYPES));
    let base = Url::parse("https://example.com/a/b/page.html").expect("a URL");
    let page = scan(input, content_type, &base, &limits);
    keeps_limits(&page, &limits);
    for link in &page.links {
        assert!(matches!(link.url.scheme(), "http" | "https"), "{}", link.url);
        assert_eq!(link.url.fragment(), None);
    }
    assert_eq!(scan(input, content_type, &base, &limits), page);
    let text = String::from_utf8_lossy(input);
    let _ = parse_refresh(&text);
    let of_header = header_links(text.lines(), Some(&text), &base, &limits);
    assert!(of_header.links.len() <= limits.links);
}

fn keeps_limits(page: &Page, limits: &ScanLimits) {
    // The canonical address is a link beside those that are counted.
    let canonical = usize::from(page.canonical.is_some());
    assert!(page.links.len() <= limits.links + limits.images + canonical);
    assert!(page.text.len() <= limits.text_bytes);
    assert!(page.snippet_text.len() <= limits.snippet_bytes);
    assert!(page.robots_meta.len() <= limits.meta_tags);
    assert!(page.robots_meta.iter().all(|tag| tag.content.len() <= limits.meta_content_bytes));
    let structured: usize = page.structured_data.iter().map(String::len).sum();
    assert!(structured <= limits.structured_bytes);
    let title = page.title.as_ref().map_or(0, |title| title.chars().count());
    assert!(title <= limits.title_chars);
    assert!(page.links.iter().all(|link| link.anchor.chars().count() <= limits.anchor_chars));
}

#[test]
fn html() {
    let samples = SAMPLES.iter().map(|sample| sample.as_bytes().to_vec()).collect();
    Run::of(200).go("html", &Matter { samples, words: WORDS }, judge);
}
