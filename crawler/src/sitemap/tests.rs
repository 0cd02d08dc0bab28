//! Sitemaps as they are found: formats, mistakes, damage, and limits. Field cases are judged in
//! tests/it/field_cases.

use std::io::{BufReader, Read as _, Write as _};
use std::ops::ControlFlow;
use std::time::Duration;

use comity_compliance::{SitemapFault, Timestamp};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::{Listed, ListedPage, SitemapKind, SitemapLimits, SitemapReader, SitemapReport};

/// 2026-11-30T12:00:00Z.
const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

fn read(body: &[u8]) -> (Vec<Listed>, SitemapReport) {
    read_within(body, SitemapLimits::default())
}

fn read_within(body: &[u8], limits: SitemapLimits) -> (Vec<Listed>, SitemapReport) {
    let mut listed = Vec::new();
    let report = SitemapReader::new(limits, NOW).read(body, |entry| {
        listed.push(entry);
        ControlFlow::Continue(())
    });
    (listed, report)
}

/// Addresses, then faults with their lines: `/a /b | 2 bare-ampersand`, host left out.
fn told(body: &[u8]) -> String {
    let (listed, report) = read(body);
    tell(&listed, &report)
}

fn tell(listed: &[Listed], report: &SitemapReport) -> String {
    let urls = listed.iter().map(|listed| {
        let url = listed.url().as_str();
        url.strip_prefix("https://e.example").unwrap_or(url).to_owned()
    });
    let faults = report.faults.iter().map(|fault| format!("{} {}", fault.at.line, fault.fault));
    let end = report.ended_by.map(|fault| format!("end {fault}"));
    let faults: Vec<_> = faults.chain(end).collect();
    let urls = urls.collect::<Vec<_>>().join(" ");
    if faults.is_empty() { urls } else { format!("{urls} | {}", faults.join(", ")) }
}

fn page(body: &[u8]) -> ListedPage {
    match read(body) {
        (listed, report) if report.faults.is_empty() && listed.len() == 1 => {
            match listed.into_iter().next() {
                Some(Listed::Page(page)) => *page,
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(body).unwrap();
    packed.finish().unwrap()
}

fn urlset(entries: &str) -> Vec<u8> {
    format!("<urlset>{entries}</urlset>").into()
}

/// SM-002, one line, one case: a file, its kind, what it lists and what is wrong.
const FORMATS: &[(&str, &str, &str)] = &[
    ("<urlset><url><loc>https://e.example/a</loc></url></urlset>", "urlset", "/a"),
    (
        "<sitemapindex><sitemap><loc>https://e.example/1.xml</loc></sitemap></sitemapindex>",
        "sitemapindex",
        "/1.xml",
    ),
    (
        "<rss><channel><link>https://e.example/</link><item><title>t</title>\
         <link>https://e.example/n</link></item></channel></rss>",
        "rss",
        "/n",
    ),
    (
        "<rss><channel><item><guid>https://e.example/g</guid></item><item>\
         <guid isPermaLink='false'>https://e.example/not</guid></item></channel></rss>",
        "rss",
        "/g | 1 no-loc",
    ),
    (
        "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><item>\
         <atom:link href='https://e.example/self' rel='self'/><link>https://e.example/n</link>\
         </item></channel></rss>",
        "rss",
        "/n",
    ),
    ("<rdf:RDF xmlns:rdf='r'><item><link>https://e.example/n</link></item></rdf:RDF>", "rss", "/n"),
    (
        "<feed><link href='https://e.example/'/><entry><link rel='self' href='https://e.example/s'/>\
         <link rel='alternate' href='https://e.example/e?a=1&amp;b=2'/></entry></feed>",
        "atom",
        "/e?a=1&b=2",
    ),
    (
        "<a:feed xmlns:a='x'><a:entry><a:link href='https://e.example/e'/></a:entry></a:feed>",
        "atom",
        "/e",
    ),
    ("https://e.example/a\r\n\r\n  https://e.example/b  \rhttps://e.example/c", "text", "/a /b /c"),
    ("\u{feff}\n\u{feff} HTTPS://E.EXAMPLE/a\n", "text", "/a"),
    (
        "https://e.example/a\n/b\nnot one\nhttps://e.example/c d\nftp://e.example/",
        "text",
        "/a | 2 relative-url, 3 not-a-url, 4 not-a-url, 5 not-http-url",
    ),
    ("", "", " | 1 empty"),
    (" \n\t\u{feff}", "", " | 2 empty"),
    ("sitemap: https://e.example/s.xml\n", "", " | 1 not-a-sitemap, end not-a-sitemap"),
    ("{\"urls\":[]}", "", " | 1 not-a-sitemap, end not-a-sitemap"),
    (
        "<!doctype html><html><urlset><url/></urlset></html>",
        "",
        " | 1 not-a-sitemap, end not-a-sitemap",
    ),
    ("<!-- nothing -->", "", " | 1 not-a-sitemap, end not-a-sitemap"),
    ("<", "", " | 1 broken-xml, end broken-xml"),
];

#[test]
fn formats() {
    for (body, kind, expect) in FORMATS {
        for body in [body.as_bytes().to_vec(), gzip(body.as_bytes())] {
            let (listed, report) = read(&body);
            assert_eq!(report.kind.map_or("", SitemapKind::name), *kind, "{report:?}");
            assert_eq!(tell(&listed, &report), *expect, "{}", body.escape_ascii());
        }
    }
}

/// SM-001, SM-003, SM-004, AM-38: entries of a `urlset`, what it lists and what is wrong.
const ENTRIES: &[(&str, &str)] = &[
    // Addresses: escaped once, in their normal form, whole.
    ("<url><loc>\n https://e.example/a?x=1&amp;y=2 </loc></url>", "/a?x=1&y=2"),
    ("<url><loc>https://e.example/&amp;amp;</loc></url>", "/&amp;"),
    ("<url><loc>https://e.example/&#x61;&#98;</loc></url>", "/ab"),
    ("<url><loc><![CDATA[https://e.example/a?x=1&y=2]]></loc></url>", "/a?x=1&y=2"),
    ("<url><loc>https://e.example/a<!-- c -->b<?p?>c</loc></url>", "/abc"),
    ("<url><loc>https://E.example:443/%7ea#f</loc></url>", "/~a"),
    ("<url><loc>https://e.example/a b</loc></url>", "/a%20b"),
    ("<url><loc>/a</loc></url>", " | 1 relative-url"),
    ("<url><loc>e.example/a</loc></url>", " | 1 relative-url"),
    ("<url><loc>https://</loc></url>", " | 1 not-a-url"),
    ("<url><loc>https://e.example/a\nhttps://e.example/b</loc></url>", " | 1 not-a-url"),
    ("<url><loc>javascript:alert(1)</loc></url>", " | 1 not-http-url"),
    // Entries: one address each.
    ("<url/><url></url><url><loc/></url>", " | 1 no-loc, 1 no-loc, 1 no-loc"),
    ("<url><loc/><loc>https://e.example/a</loc></url>", "/a"),
    (
        "<url><loc>https://e.example/a</loc>\n<loc>https://e.example/b</loc></url>",
        "/a | 2 second-loc",
    ),
    ("<url><x><loc>https://e.example/a</loc></x></url>", " | 1 no-loc"),
    ("<sitemap><loc>https://e.example/a</loc></sitemap>", ""),
    ("<loc>https://e.example/a</loc>", ""),
    // What is ignored.
    (
        "<url><priority>x</priority><loc>https://e.example/a</loc><changefreq>y</changefreq></url>",
        "/a",
    ),
    // Namespaces: any prefix or none.
    (
        "<s:url xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'><s:loc>https://e.example/a\
         </s:loc></s:url>",
        "/a",
    ),
    ("<url><image:loc>https://e.example/i</image:loc><loc>https://e.example/a</loc></url>", "/a"),
    // Broken, and mended where it is plain how.
    ("<url><loc>https://e.example/a?x=1&y=2</loc></url>", "/a?x=1&y=2 | 1 bare-ampersand"),
    ("<url><loc>https://e.example/a?&</loc></url>", "/a?& | 1 bare-ampersand"),
    (
        "<url><loc>https://e.example/&nbsp;</loc></url><url><loc>https://e.example/b</loc></url>",
        "/b | 1 unknown-entity",
    ),
    ("<url><loc>https://e.example/&#0;</loc></url>", " | 1 unknown-entity"),
    ("<url><loc>https://e.example/a</url>", "/a | 1 misnested"),
    ("<url><loc>https://e.example/a</loc></b></url>", "/a | 1 misnested"),
    (
        "<url><loc>https://e.example/a</loc>\n<url><loc>https://e.example/b</loc></url>",
        "/a /b | 2 misnested",
    ),
    (
        "<url><loc>https://e.example/a</loc></url>\n<url><loc>https://e.example/b</loc",
        "/a | 2 misnested, 2 broken-xml, end broken-xml",
    ),
    (
        "<url><loc>https://e.example/a</loc></url>\n\n<!wrong><url/>",
        "/a | 3 broken-xml, end broken-xml",
    ),
    ("<url><loc>https://e.example/a</loc><lastmod>soon</lastmod></url>", "/a | 1 bad-date"),
    ("<url><loc>https://e.example/a</loc><lastmod/></url>", "/a"),
];

#[test]
fn entries() {
    for (entries, expect) in ENTRIES {
        assert_eq!(told(&urlset(entries)), *expect, "{entries}");
    }
}

/// SM-003: W3C Datetime in all its precisions, and what people write instead.
#[test]
fn dates() {
    let cases = [
        ("2025", Some("2025-01-01T00:00:00Z")),
        ("2025-03", Some("2025-03-01T00:00:00Z")),
        (" 2025-03-14\n", Some("2025-03-14T00:00:00Z")),
        ("2025-03-14T05:31Z", Some("2025-03-14T05:31:00Z")),
        ("2025-03-14T05:31+01:00", Some("2025-03-14T04:31:00Z")),
        ("2025-03-14T01:02:03.456789-08:00", Some("2025-03-14T09:02:03Z")),
        ("2025-03-14T05:31:00+0100", Some("2025-03-14T04:31:00Z")),
        ("2025-03-14 05:31:00", Some("2025-03-14T05:31:00Z")),
        ("2025-03-14T05:31:00", Some("2025-03-14T05:31:00Z")),
        ("2025-3-4", Some("2025-03-04T00:00:00Z")),
        ("20250314", Some("2025-03-14T00:00:00Z")),
        ("Fri, 14 Mar 2025 05:31:00 GMT", Some("2025-03-14T05:31:00Z")),
        ("0000-00-00", None),
        ("2025-13-01", None),
        ("2025-02-30", None),
        ("99999", None),
    ];
    for (text, expect) in cases {
        let date = super::parse_lastmod(text, NOW).map(|date| date.to_string());
        assert_eq!(date.as_deref(), expect, "{text}");
    }
    let updated = "<feed><entry><link href='https://e.example/a'/><published>2024</published>\
        <updated>2025</updated></entry></feed>";
    assert_eq!(page(updated.as_bytes()).lastmod, super::parse_lastmod("2025", NOW));
    let item = "<rss><channel><item><link>https://e.example/a</link>\
        <pubDate>Fri, 14 Mar 2025 05:31:00 GMT</pubDate></item></channel></rss>";
    assert_eq!(page(item.as_bytes()).lastmod, super::parse_lastmod("2025-03-14T05:31Z", NOW));
}

/// SM-005
#[test]
fn extensions() {
    let body = "<urlset xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'><url>\
        <loc>https://e.example/a</loc>\
        <xhtml:link rel='alternate' hreflang='de' href='https://e.example/de?a=1&amp;b'/>\
        <xhtml:link rel='alternate' hreflang='x-default' href='https://e.example/a'/>\
        <xhtml:link rel='amphtml' href='https://e.example/amp'/>\
        <i:image><i:loc>https://e.example/1.png</i:loc><i:caption>c</i:caption></i:image>\
        <i:image><i:loc>https://cdn.example/2.png</i:loc></i:image>\
        <video:video><video:thumbnail_loc>https://e.example/t.png</video:thumbnail_loc>\
        <video:title>A &amp; B</video:title><video:description><![CDATA[<p>d]]></video:description>\
        <video:content_loc>https://e.example/v.mp4</video:content_loc>\
        <video:player_loc>https://e.example/p</video:player_loc><video:duration>600</video:duration>\
        <video:publication_date>2026-01-01</video:publication_date>\
        <video:expiration_date>2027</video:expiration_date><video:tag>x</video:tag></video:video>\
        <news:news><news:publication><news:name>The Bee</news:name><news:language>en\
        </news:language></news:publication><news:publication_date>2026-11-30</news:publication_date>\
        <news:title>Honey</news:title></news:news></url></urlset>";
    let page = page(body.as_bytes());
    let alternates: Vec<_> =
        page.alternates.iter().map(|a| (a.language.as_str(), a.url.as_str())).collect();
    let expect = [("de", "https://e.example/de?a=1&b"), ("x-default", "https://e.example/a")];
    assert_eq!(alternates, expect);
    let images: Vec<_> = page.images.iter().map(url::Url::as_str).collect();
    assert_eq!(images, ["https://e.example/1.png", "https://cdn.example/2.png"]);
    let [video] = &page.videos[..] else { panic!("{:?}", page.videos) };
    assert_eq!((video.title.as_str(), video.description.as_str()), ("A & B", "<p>d"));
    assert_eq!(video.duration, Some(Duration::from_secs(600)));
    let urls = [&video.thumbnail, &video.content, &video.player];
    let urls = urls.map(|url| url.as_ref().map_or("", |url| url.path()));
    assert_eq!(urls, ["/t.png", "/v.mp4", "/p"]);
    assert_eq!(video.published, super::parse_lastmod("2026-01-01", NOW));
    assert_eq!(video.expires, super::parse_lastmod("2027", NOW));
    let news = page.news.unwrap();
    let texts = [&news.publication, &news.language, &news.title].map(String::as_str);
    assert_eq!(texts, ["The Bee", "en", "Honey"]);
    assert_eq!(news.published, super::parse_lastmod("2026-11-30", NOW));
}

/// SM-002: Media RSS tells of an item's video and images.
#[test]
fn media_rss() {
    let body = "<rss xmlns:m='http://search.yahoo.com/mrss/'><channel><item>\
        <link>https://e.example/a</link><m:group><m:content url='https://e.example/v.mp4' \
        type='video/mp4' duration='30'><m:title>T</m:title></m:content>\
        <m:thumbnail url='https://e.example/t.png'/><m:player url='https://e.example/p'/></m:group>\
        <m:content url='https://e.example/i.png' medium='image'/></item></channel></rss>";
    let page = page(body.as_bytes());
    assert_eq!(page.images[0].path(), "/i.png");
    let [video] = &page.videos[..] else { panic!("{:?}", page.videos) };
    assert_eq!((video.title.as_str(), video.duration), ("T", Some(Duration::from_secs(30))));
    let urls = [&video.thumbnail, &video.content, &video.player];
    let urls = urls.map(|url| url.as_ref().map_or("", |url| url.path()));
    assert_eq!(urls, ["/t.png", "/v.mp4", "/p"]);
}

/// SM-005: news is new for two days.
#[test]
fn old_news_is_told() {
    let news = |date: &str| {
        urlset(&format!(
            "<url><loc>https://e.example/a</loc><news:news><news:publication_date>{date}\
             </news:publication_date></news:news></url>"
        ))
    };
    assert_eq!(told(&news("2026-11-28T12:00:00Z")), "/a");
    assert_eq!(told(&news("2026-11-28T11:59:59Z")), "/a | 1 stale-news");
}

/// SM-001: other encodings are read, and told.
#[test]
fn encodings() {
    let xml = |label: &str| {
        format!(
            "<?xml version='1.0' encoding='{label}'?><urlset><url><loc>https://e.example/\u{e9}\
             </loc></url></urlset>"
        )
    };
    let utf16 = |text: &str, little: bool| -> Vec<u8> {
        let unit = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        text.encode_utf16().flat_map(unit).collect()
    };
    let latin1: Vec<u8> = xml("iso-8859-1").chars().map(|c| u8::try_from(c).unwrap()).collect();
    let cases = [
        (xml("utf-8").into_bytes(), "/%C3%A9"),
        (format!("\u{feff}{}", xml("utf-8")).into_bytes(), "/%C3%A9"),
        // Declared UTF-16, and plainly none.
        (xml("utf-16").into_bytes(), "/%C3%A9"),
        (latin1.clone(), "/%C3%A9 | 1 not-utf8"),
        (utf16(&xml("utf-16"), true), "/%C3%A9 | 1 not-utf8"),
        (utf16(&xml("utf-16"), false), "/%C3%A9 | 1 not-utf8"),
        (utf16(&format!("\u{feff}{}", xml("utf-16")), true), "/%C3%A9 | 1 not-utf8"),
        (utf16("\u{feff}https://e.example/\u{e9}\n", false), "/%C3%A9 | 1 not-utf8"),
        (b"https://e.example/\xff".to_vec(), "/%EF%BF%BD | 1 not-utf8"),
    ];
    for (body, expect) in cases {
        assert_eq!(told(&body), expect, "{}", body.escape_ascii());
    }
    // The header's word goes before the declaration, a byte order mark before both.
    let reader = SitemapReader::new(SitemapLimits::default(), NOW)
        .with_content_type("text/xml; charset=\"windows-1251\"");
    let report = reader.read(&latin1[..], |_| ControlFlow::Continue(()));
    assert_eq!(report.charset, "windows-1251");
    let marked = format!("\u{feff}{}", xml("utf-8"));
    let report = reader.read(marked.as_bytes(), |_| ControlFlow::Continue(()));
    assert_eq!((report.charset, report.faults.len()), ("UTF-8", 0));
}

/// SM-001: the bytes tell what is compressed, and what was unpacked is kept.
#[test]
fn gzip_in_all_conditions() {
    let list = b"https://e.example/a\nhttps://e.example/b\n";
    let (first, second) = list.split_at(10);
    let noise: String =
        (0..4_000).map(|n| format!("https://e.example/{}\n", n * n % 7919)).collect();
    let (noise, half) = (gzip(noise.as_bytes()), 4_000);
    let cases = [
        (gzip(list), "/a /b"),
        (gzip(&gzip(list)), "/a /b"),
        (gzip(&gzip(&gzip(list))), " | 1 not-a-sitemap, 1 not-utf8, end not-a-sitemap"),
        ([gzip(first), gzip(second)].concat(), "/a /b"),
        ([gzip(list), b"trailing".to_vec()].concat(), "/a /b | 3 gzip-damaged, end gzip-damaged"),
        (vec![0x1f, 0x8b], " | 1 empty, 1 gzip-damaged, end gzip-damaged"),
    ];
    for (body, expect) in cases {
        assert_eq!(told(&body), expect, "{}", body.escape_ascii());
    }
    let (listed, report) = read(&noise[..half]);
    assert!(listed.len() > 500 && listed.len() < 4_000, "{}", listed.len());
    assert_eq!(report.ended_by, Some(SitemapFault::GzipDamaged));
    assert!(listed.iter().all(|listed| listed.url().path().len() > 1), "no line is cut");
}

/// SM-001, SM-005: what a limit cuts is told, and what was read before is kept.
#[test]
fn limits() {
    let entry = |n: usize| format!("<url><loc>https://e.example/{n}</loc></url>\n");
    let three: String = (1..=3).map(entry).collect();
    let limits = SitemapLimits::default;
    let images = "<image:image><image:loc>https://e.example/i</image:loc></image:image>".repeat(3);
    let links = "<link hreflang='de' href='https://e.example/de'/>".repeat(3);
    let videos = "<video:video/>".repeat(3);
    let with = |parts: &str| urlset(&format!("<url><loc>https://e.example/1</loc>{parts}</url>"));
    let news = format!("{three}<x/>")
        .replace("</url>", "<news:news><news:title>t</news:title></news:news></url>");
    let cases = [
        (urlset(&three), SitemapLimits { entries: 3, ..limits() }, "/1 /2 /3"),
        (
            urlset(&three),
            SitemapLimits { entries: 2, ..limits() },
            "/1 /2 | 3 too-many-entries, end too-many-entries",
        ),
        (
            b"https://e.example/1\n\nhttps://e.example/2\n".to_vec(),
            SitemapLimits { entries: 1, ..limits() },
            "/1 | 3 too-many-entries, end too-many-entries",
        ),
        (
            urlset(&three),
            SitemapLimits { bytes: 60, ..limits() },
            "/1 | 2 too-many-bytes, end too-many-bytes",
        ),
        (
            b"https://e.example/1\nhttps://e.example/22222".to_vec(),
            SitemapLimits { bytes: 40, ..limits() },
            "/1 | 2 too-many-bytes, end too-many-bytes",
        ),
        (b"https://e.example/1".to_vec(), SitemapLimits { bytes: 19, ..limits() }, "/1"),
        (
            urlset("<url><loc>https://e.example/1</loc></url><a><a><a>"),
            SitemapLimits { nesting: 3, ..limits() },
            "/1 | 1 nested-too-deep, end nested-too-deep",
        ),
        (
            [urlset(&entry(1)), b" ".repeat(90), b"<urlset/>".to_vec()].concat(),
            SitemapLimits { token_bytes: 80, ..limits() },
            "/1 | 2 token-too-long, end token-too-long",
        ),
        (
            urlset(&three),
            SitemapLimits { url_bytes: 18, ..limits() },
            " | 1 url-too-long, 2 url-too-long, 3 url-too-long",
        ),
        (
            b"https://e.example/1\nhttps://e.example/long\nhttps://e.example/2".to_vec(),
            SitemapLimits { url_bytes: 19, ..limits() },
            "/1 /2 | 2 url-too-long",
        ),
        (
            with(&images),
            SitemapLimits { images: 1, ..limits() },
            "/1 | 1 too-many-images, 1 too-many-images",
        ),
        (with(&links), SitemapLimits { alternates: 2, ..limits() }, "/1 | 1 too-many-parts"),
        (with(&videos), SitemapLimits { videos: 2, ..limits() }, "/1 | 1 too-many-parts"),
        (urlset(&news), SitemapLimits { news: 2, ..limits() }, "/1 /2 /3 | 3 too-much-news"),
        (urlset("<url/><url/>"), SitemapLimits { faults: 1, ..limits() }, " | 1 no-loc"),
    ];
    for (body, limits, expect) in cases {
        let (listed, report) = read_within(&body, limits);
        assert_eq!(tell(&listed, &report), expect, "{}", body.escape_ascii());
    }
}

/// SM-001: 50,000 entries and 50 MiB, to the last.
#[test]
fn documented_limits() {
    let entry = "<url><loc>https://e.example/</loc></url>";
    let (listed, report) = read(&urlset(&entry.repeat(50_000)));
    assert_eq!((listed.len(), report.ended_by), (50_000, None));
    let (listed, report) = read(&urlset(&entry.repeat(50_001)));
    assert_eq!((listed.len(), report.ended_by), (50_000, Some(SitemapFault::TooManyEntries)));
    let long = format!("https://e.example/{}", "a".repeat(2_047 - 18));
    assert_eq!(read(long.as_bytes()).0.len(), 1);
    assert_eq!(told(format!("{long}a").as_bytes()), " | 1 url-too-long");
}

/// A gigabyte of hostile text that is never all there: read in constant memory, up to the limit.
#[test]
fn the_file_is_not_kept() {
    let head = &b"<urlset><url><loc>https://e.example/a</loc></url>"[..];
    let pieces: [&[u8]; 6] = [b"<!-- x -->", b"<x/>", b"</x>", b"&amp;", b"x\n", b"<url/>"];
    for piece in pieces {
        let flood = piece.repeat(4096 / piece.len());
        let flood = std::iter::repeat_n(flood, 256).flatten();
        let flood = BufReader::new(Flood(flood));
        let limits =
            SitemapLimits { bytes: 512 << 10, entries: u64::MAX, ..SitemapLimits::default() };
        let mut listed = 0;
        let report = SitemapReader::new(limits, NOW).read(head.chain(flood), |_| {
            listed += 1;
            ControlFlow::Continue(())
        });
        assert_eq!((listed, report.bytes), (1, 512 << 10), "{}", piece.escape_ascii());
        assert_eq!(report.ended_by, Some(SitemapFault::TooManyBytes));
        assert!(report.faults.len() <= 101);
    }
}

struct Flood<I>(I);

impl<I: Iterator<Item = u8>> std::io::Read for Flood<I> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        for (slot, byte) in out.iter_mut().zip(&mut self.0) {
            *slot = byte;
            filled += 1;
        }
        Ok(filled)
    }
}

/// A body that fails keeps what came.
#[test]
fn a_body_that_breaks_off() {
    struct Fails;
    impl std::io::Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("reset"))
        }
    }
    let body = &b"<urlset><url><loc>https://e.example/a</loc></url><url><loc>"[..];
    let mut listed = Vec::new();
    let body = BufReader::new(body.chain(Fails));
    let report = SitemapReader::new(SitemapLimits::default(), NOW).read(body, |entry| {
        listed.push(entry);
        ControlFlow::Continue(())
    });
    assert_eq!(tell(&listed, &report), "/a | 1 broken-off, end broken-off");

    // What ended the reading before that place is the cause.
    let body = BufReader::new((&b"<html>"[..]).chain(Fails));
    let reader = SitemapReader::new(SitemapLimits::default(), NOW);
    let report = reader.read(body, |_| ControlFlow::Continue(()));
    assert_eq!(report.ended_by, Some(SitemapFault::NotASitemap));
}

#[test]
fn whoever_takes_the_entries_can_stop() {
    for body in [
        &urlset(&"<url><loc>https://e.example/a</loc></url>".repeat(3))[..],
        b"https://e.example/a\nhttps://e.example/b",
    ] {
        let report = SitemapReader::new(SitemapLimits::default(), NOW)
            .read(body, |_| ControlFlow::Break(()));
        assert_eq!((report.listed, report.ended_by, report.faults.len()), (1, None, 0));
    }
}

proptest! {
    /// Whatever the pieces in which it comes, the same is read.
    #[test]
    fn pieces_change_nothing(size in 1_usize..40, at in 0..FORMATS.len()) {
        let body = FORMATS[at].0.as_bytes();
        let (listed, report) = read(body);
        let mut again = Vec::new();
        let reader = SitemapReader::new(SitemapLimits::default(), NOW);
        let pieces = BufReader::with_capacity(size, body);
        let report_again = reader.read(pieces, |entry| {
            again.push(entry);
            ControlFlow::Continue(())
        });
        prop_assert_eq!((again, report_again), (listed, report));
    }
}
