//! Links, resolved as in a browser.

use super::LinkKind::{Alternate, Embed, Form, Frame, Hyperlink, Image, Media, Refresh, Sequence};
use super::*;

#[track_caller]
fn links(html: &str) -> Vec<(LinkKind, String)> {
    let page = scan_html(html);
    page.links.into_iter().map(|link| (link.kind, link.url.into())).collect()
}

const LINKS_RESOLVE_AS_IN_A_BROWSER: &[(&str, &[(LinkKind, &str)])] = &[
    ("<a href=c>", &[(Hyperlink, "https://example.com/a/b/c")]),
    ("<map><area href=/c></map>", &[(Hyperlink, "https://example.com/c")]),
    ("<base href=https://example.com/><a href=s/x>", &[(Hyperlink, "https://example.com/s/x")]),
    (
        "<base href='../kit/'><a href=part></a><a href=/root>",
        &[(Hyperlink, "https://example.com/a/kit/part"), (Hyperlink, "https://example.com/root")],
    ),
    ("<base href='javascript:void(0)'><a href=x>", &[(Hyperlink, "https://example.com/a/b/x")]),
    ("<base><base href=/1/><base href=/2/><a href=x>", &[(Hyperlink, "https://example.com/1/x")]),
    ("<a href=x></a><base href=/late/>", &[(Hyperlink, "https://example.com/late/x")]),
    (
        "<template><base href=/1/><a href=y></template><a href=x>",
        &[(Hyperlink, "https://example.com/a/b/x")],
    ),
    (
        "<a href=\"/long\n  /path\t/x\">1</a>",
        &[(Hyperlink, "https://example.com/long%20%20/path/x")],
    ),
    (
        "<a href=//www.example.net/y></a><a href='/\\www.example.net/z'></a>",
        &[(Hyperlink, "https://www.example.net/y"), (Hyperlink, "https://www.example.net/z")],
    ),
    ("<a href='?&amp;pg=2'>", &[(Hyperlink, "https://example.com/a/b/page.html?&pg=2")]),
    ("<a href='/s?a=1&amp;copy=2'>", &[(Hyperlink, "https://example.com/s?a=1&copy=2")]),
    ("<a href='/s?a=1&copy=2'>", &[(Hyperlink, "https://example.com/s?a=1&copy=2")]),
    ("<a href='/x#part'>", &[(Hyperlink, "https://example.com/x")]),
    ("<a href='#top'></a><a name=x></a><span href=/n></span>", &[]),
    (
        "<a href='mailto:x@example.com'></a><a href='ftp://example.com/'></a><a href='http://['>",
        &[],
    ),
    (
        "<iframe src=/f></iframe><iframe src=about:blank></iframe>",
        &[(Frame, "https://example.com/f")],
    ),
    ("<link rel=alternate hreflang=de href=/de>", &[(Alternate, "https://example.com/de")]),
    (
        "<link rel=next href=/3><link rel='PREV nofollow' href=/1>",
        &[(Sequence, "https://example.com/3"), (Sequence, "https://example.com/1")],
    ),
    (
        "<img src=/a.png srcset='/b.png 1x,/c,d.png 2x' alt=x><img src='data:image/png,x'>",
        &[
            (Image, "https://example.com/a.png"),
            (Image, "https://example.com/b.png"),
            (Image, "https://example.com/c,d.png"),
        ],
    ),
    (
        "<picture><source srcset='/w.webp 1x, /v.webp 2x'><img src=/p.png></picture>",
        &[
            (Image, "https://example.com/w.webp"),
            (Image, "https://example.com/v.webp"),
            (Image, "https://example.com/p.png"),
        ],
    ),
    (
        "<svg><image href=/s.png /></svg><image src=/i.png><input type=IMAGE src=/b.png>\
         <input type=text src=/no.png>",
        &[
            (Image, "https://example.com/s.png"),
            (Image, "https://example.com/i.png"),
            (Image, "https://example.com/b.png"),
        ],
    ),
    (
        "<video src=/v.mp4 poster=/v.png><source src=/v.webm><track src=/v.vtt></video>\
         <audio src=/a.ogg></audio>",
        &[
            (Media, "https://example.com/v.mp4"),
            (Image, "https://example.com/v.png"),
            (Media, "https://example.com/v.webm"),
            (Media, "https://example.com/v.vtt"),
            (Media, "https://example.com/a.ogg"),
        ],
    ),
    (
        "<object data=/o.swf></object><embed src=/e.swf>",
        &[(Embed, "https://example.com/o.swf"), (Embed, "https://example.com/e.swf")],
    ),
    (
        "<form action=/a><form action=/b></form><form action=/c></form>",
        &[(Form, "https://example.com/a"), (Form, "https://example.com/c")],
    ),
    (
        "<head><title>t</title></head><frameset><frame src=/1><a href=/no></a><template><title><frame src=/2></frameset>",
        &[(Frame, "https://example.com/1"), (Frame, "https://example.com/2")],
    ),
    (
        "<frame src=/no><x-y><frameset><frame src=/1></frameset><a href=/2></a>",
        &[(Frame, "https://example.com/1"), (Hyperlink, "https://example.com/2")],
    ),
    (
        "<svg><a xlink:href=/s>s</a><a href=/t xlink:href=/no>t</a></svg><a xlink:href=/no>n</a>",
        &[(Hyperlink, "https://example.com/s"), (Hyperlink, "https://example.com/t")],
    ),
    ("<form action=/search><input name=q></form>", &[(Form, "https://example.com/search")]),
    ("<form action=/send method=POST></form><form></form>", &[]),
    ("<link rel='alternate stylesheet' href=/css><link rel=icon href=/i>", &[]),
    ("<meta http-equiv=refresh content='5;url=/r'>", &[(Refresh, "https://example.com/r")]),
    ("<!-- <a href=/c> --><script>'<a href=/s>'</script>", &[]),
    ("<noscript><a href=/n>n</a></noscript>", &[(Hyperlink, "https://example.com/n")]),
];

#[test]
fn links_resolve_as_in_a_browser() {
    for (html, expect) in LINKS_RESOLVE_AS_IN_A_BROWSER.iter().copied() {
        let found = links(html);
        let found: Vec<_> = found.iter().map(|(kind, url)| (*kind, url.as_str())).collect();
        assert_eq!(found, expect, "{html}");
    }
}

#[test]
fn links_keep_rel_and_anchor() {
    let html = "<a rel='ugc,nofollow' href=/1> One <b>two</b><p>three</a>\
        <a href=/2>open<a href=/3>next</a> outside <a href=/4><img></a>";
    let page = scan_html(html);
    let found: Vec<_> =
        page.links.iter().map(|link| (link.rel.as_str(), link.anchor.as_str())).collect();
    let expect = [("ugc,nofollow", "One two three"), ("", "open"), ("", "next"), ("", "")];
    assert_eq!(found, expect, "LK-002");
    let long = scan_html(&format!("<a href=/>{}", "é ".repeat(500)));
    let anchor_chars = ScanLimits::default().anchor_chars;
    assert!(long.links[0].anchor.chars().count() <= anchor_chars);
}

#[test]
fn queries_are_encoded_as_the_document_is() {
    let body = b"<a href=\"/\xef?q=\xef\">x</a>";
    let html = Some("text/html; charset=windows-1251");
    let page = scan(body, html, &page_url(), &ScanLimits::default());
    assert_eq!(page.links[0].url.as_str(), "https://example.com/%D0%BF?q=%EF");
}

/// LK-001: what is no plain href is no link here.
#[test]
fn scripts_are_no_links() {
    let html = "<span href=/1></span><div routerLink=/2></div><a onclick='go(3)'>x</a>\
        <a href='javascript:go(4)'>x</a><a href=/5>x</a>";
    assert_eq!(links(html), [(Hyperlink, "https://example.com/5".into())]);
}

/// LK-007: the head ends at its first invalid element, and what it named before still counts.
#[test]
fn a_canonical_outside_the_head_does_not_count() {
    let canonical = "<link rel=canonical href=/c>";
    let cases = [
        ("<title>t</title><meta name=x><style></style><base href=/>", true),
        ("<script></script><noscript></noscript><template><img></template>", true),
        ("<img src=/i.png>", false),
        ("<iframe src=/f></iframe>", false),
        ("words", false),
    ];
    for (before, counts) in cases {
        let page = scan_html(&head(&format!("{before}{canonical}")));
        assert_eq!(page.canonical.is_some(), counts, "{before}");
        let page = scan_html(&head(&format!("{canonical}{before}")));
        assert!(page.canonical.is_some(), "{before}");
    }
}

/// LK-006: a language version keeps its language; LK-003: no link keeps a fragment.
#[test]
fn links_keep_their_language() {
    let page = scan_html("<link rel=alternate hreflang=x-default href=/#top>");
    let link = &page.links[0];
    assert_eq!((link.hreflang.as_str(), link.url.as_str()), ("x-default", "https://example.com/"));
    let page = scan_html("<img src=/a.png alt=' A  boat '>");
    assert_eq!(page.links[0].anchor, "A boat");
}

/// HO-015: a page with as many links as fit into what is read of a page by default.
#[test]
fn a_flood_of_links_ends() {
    const PAGE_BYTES: usize = 2 << 20;
    let link = "<a href=\"/N\">N</a>";
    let count = PAGE_BYTES / link.len();
    let page = scan_html(&link.repeat(count));
    let limit = ScanLimits::default().links;
    assert_eq!((page.links.len(), page.dropped.links as usize), (limit, count - limit));
}
