//! Links, resolved as in a browser.

use super::LinkKind::{Alternate, Frame, Hyperlink, Refresh};
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
