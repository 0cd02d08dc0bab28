//! Fuzzing of the passes over pages and sitemaps: a short run with the other tests, a long one when the
//! environment asks for it (docs/fuzzing.md).

#[path = "../../compliance/tests/fuzz/driver.rs"]
mod driver;

use std::io::{BufReader, Read as _, Write as _};
use std::ops::ControlFlow;

use comity::page::{Page, ScanLimits, header_links, parse_refresh, scan};
use comity::sitemap::{Listed, SitemapLimits, SitemapReader, SitemapReport};
use comity_compliance::Timestamp;
use flate2::Compression;
use flate2::write::GzEncoder;
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
    "<script><!--<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
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
        heading_bytes: 300,
        structured_bytes: chance.below(16),
        meta_tags: chance.below(3),
        meta_content_bytes: chance.below(16),
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

const SITEMAPS: &[&str] = &[
    "<?xml version='1.0' encoding='utf-8'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
     xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'><url><loc>https://example.com/a?b=1&amp;c\
     </loc><lastmod>2026-11-30T12:00:00+01:00</lastmod><i:image><i:loc>https://example.com/1.png</i:loc>\
     </i:image><xhtml:link rel='alternate' hreflang='de' href='https://example.com/de'/></url></urlset>",
    "<urlset><url><loc><![CDATA[https://example.com/v]]></loc><video:video><video:title>t</video:title>\
     <video:content_loc>https://example.com/v.mp4</video:content_loc><video:duration>9</video:duration>\
     </video:video><news:news><news:publication><news:name>n</news:name></news:publication>\
     <news:publication_date>2026</news:publication_date></news:news></url></urlset>",
    "<sitemapindex><sitemap><loc>https://example.com/1.xml</loc><lastmod>2026</lastmod></sitemap>\
     </sitemapindex>",
    "<rss xmlns:media='http://search.yahoo.com/mrss/'><channel><item><link>https://example.com/n</link>\
     <guid isPermaLink='false'>1</guid><pubDate>Mon, 30 Nov 2026 12:00:00 GMT</pubDate><media:group>\
     <media:content url='https://example.com/v' type='video/mp4'/></media:group></item></channel></rss>",
    "<feed><entry><link rel='alternate' href='https://example.com/e'/><updated>2026-11-30</updated>\
     </entry></feed>",
    "https://example.com/a\r\nhttps://example.com/b\n",
    "\u{feff}https://example.com/a",
];

const SITEMAP_WORDS: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE u [",
    "<!ENTITY a '&a;'>",
    "]>",
    "<?",
    "?>",
    "&",
    "&amp;",
    "&#0;",
    "&#x110000;",
    "&a;",
    ";",
    "=",
    "\"",
    "'",
    "<urlset>",
    "</urlset>",
    "<url>",
    "</url>",
    "<url/>",
    "<loc>",
    "</loc>",
    "https://example.com/",
    "ftp://",
    "//",
    "<lastmod>",
    "</lastmod>",
    "<sitemap>",
    "<item>",
    "</item>",
    "<link>",
    "<link href='",
    "<entry>",
    "<guid>",
    "<image:image>",
    "<image:loc>",
    "<video:video>",
    "</video:video>",
    "<news:news>",
    "<media:content url='",
    " xmlns:a='http://www.sitemaps.org/schemas/sitemap/0.9'",
    "<a:url>",
    "\0",
    "\u{feff}",
    "\n",
    " ",
];

fn sitemap_limits(chance: &mut Chance) -> SitemapLimits {
    if chance.one_in(2) {
        return SitemapLimits::default();
    }
    SitemapLimits {
        bytes: chance.below(512) as u64,
        entries: chance.below(4) as u64,
        url_bytes: chance.below(64),
        text_bytes: chance.below(8),
        nesting: chance.below(6),
        token_bytes: chance.below(128),
        images: chance.below(2),
        videos: chance.below(2),
        alternates: chance.below(2),
        news: chance.below(2) as u64,
        faults: chance.below(3),
    }
}

fn read_sitemap(
    input: &[u8],
    limits: &SitemapLimits,
    at_once: usize,
) -> (Vec<Listed>, SitemapReport) {
    let mut listed = Vec::new();
    let reader = SitemapReader::new(limits.clone(), Timestamp::from_secs(1_796_040_000));
    let report = reader.read(BufReader::with_capacity(at_once, input.chain(&b""[..])), |entry| {
        listed.push(entry);
        ControlFlow::Continue(())
    });
    (listed, report)
}

/// Every limit holds, every address can be asked for, and the pieces in which it comes change
/// nothing.
fn judge_sitemap(input: &[u8], chance: &mut Chance) {
    let limits = sitemap_limits(chance);
    let (listed, report) = read_sitemap(input, &limits, 4096);
    assert!(report.bytes <= limits.bytes && report.entries <= limits.entries, "{report:?}");
    assert!(report.listed <= report.entries && report.listed == listed.len() as u64, "{report:?}");
    assert!(report.faults.len() <= limits.faults, "{report:?}");
    assert!(report.ended_by.is_none_or(|fault| report.counts.contains_key(&fault)), "{report:?}");
    for entry in &listed {
        assert!(matches!(entry.url().scheme(), "http" | "https"), "{}", entry.url());
        assert_eq!(entry.url().fragment(), None);
        if let Listed::Page(page) = entry {
            assert!(page.images.len() <= limits.images && page.videos.len() <= limits.videos);
            assert!(page.alternates.len() <= limits.alternates);
            let texts = page.videos.iter().flat_map(|video| [&video.title, &video.description]);
            let texts = texts.chain(page.news.iter().map(|news| &news.title));
            assert!(texts.into_iter().all(|text| text.len() <= limits.text_bytes));
        }
    }
    assert_eq!(read_sitemap(input, &limits, 1 + chance.below(7)), (listed, report));
}

#[test]
fn sitemaps() {
    let gzip = |text: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).and_then(|()| packed.finish()).expect("memory takes everything")
    };
    let plain = SITEMAPS.iter().map(|sample| sample.as_bytes().to_vec());
    let samples = plain.clone().chain(plain.map(|sample| gzip(&sample))).collect();
    Run::of(400).go("sitemaps", &Matter { samples, words: SITEMAP_WORDS }, judge_sitemap);
}
