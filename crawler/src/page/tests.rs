//! The pass against the requirement list's vectors and the cases of other crawlers' reports.

use proptest::prelude::*;
use url::Url;

use super::*;

fn page_url() -> Url {
    Url::parse("https://example.com/a/b/page.html").unwrap()
}

#[track_caller]
fn scan_html(html: &str) -> Page {
    let limits = ScanLimits::default();
    scan(
        html.as_bytes(),
        Some("text/html; charset=utf-8"),
        &page_url(),
        &limits,
    )
}

fn head(inside: &str) -> String {
    format!(
        "<!doctype html><html><head><title>t</title>{inside}</head><body><p>x</p></body></html>"
    )
}

#[test]
fn snippet_text_leaves_out_data_nosnippet() {
    // (body, snippet text, the clause or report that says so)
    let cases = [
        (
            "<p>a <span data-nosnippet>b</span> c</p>",
            "a c",
            "SN-003 span in p",
        ),
        (
            "a<span data-nosnippet>b</span>c",
            "a c",
            "two words stay two",
        ),
        ("<div data-nosnippet>b</div>c", "c", "SN-003 div"),
        (
            "<section data-nosnippet>b</section>c",
            "c",
            "SN-001 section",
        ),
        (
            "<mytag data-nosnippet>b</mytag>",
            "b",
            "SN-003 custom element",
        ),
        (
            "<p data-nosnippet>b</p>",
            "b",
            "SN-001 only span, div, section",
        ),
        (
            "<div data-nosnippet>b<p>c<ul><li>d</ul></div>e",
            "e",
            "SN-003 nested",
        ),
        (
            "<div data-nosnippet='true'>b</div>c",
            "c",
            "SN-001 any value",
        ),
        (
            "<div data-nosnippet=false>b</div><div DATA-NOSNIPPET>d</div>c",
            "c",
            "SN-001",
        ),
        ("a<div data-nosnippet>b<p>c", "a", "SN-002 unclosed"),
        (
            "<p>a</p><div data-nosnippet /><p>c</p>",
            "a",
            "a slash means nothing on div",
        ),
        (
            "<my-box>a</my-box><section data-nosnippet><my-box>b</my-box></section>",
            "a",
            "wrapped",
        ),
        (
            "<p>x1<div data-nosnippet>x2</div>x3</p><span data-nosnippet><b>x4</span>x5</b>",
            "x1\nx3\nx5",
            "p closed by div; misnested b",
        ),
        (
            "<p><span data-nosnippet>b</p>c",
            "c",
            "p closes what is open in it",
        ),
        (
            "<ul><li><span data-nosnippet>b<li>c</ul>",
            "c",
            "li closes li",
        ),
        (
            "<table><tr><td><div data-nosnippet>b<td>c</table>d",
            "c\nd",
            "td closes td",
        ),
        (
            "<section><div data-nosnippet>b</section>c",
            "c",
            "section closes div",
        ),
        (
            "<b><div data-nosnippet>b</b>c</div>d",
            "d",
            "b does not close div",
        ),
        (
            "<span><div data-nosnippet>b</span>c</div>d",
            "d",
            "span does not close div",
        ),
        (
            "<div><table><tr><td><span data-nosnippet>b</div>c</table>d",
            "d",
            "not through a cell",
        ),
        (
            "<form><div data-nosnippet>b</form>c</div>d",
            "d",
            "form does not close div",
        ),
        (
            "<div data-nosnippet>b<div>c</div>d</div>e",
            "e",
            "div in div",
        ),
        (
            "<div data-nosnippet><p><div>b</p></div></div>c",
            "c",
            "stray end tag of p",
        ),
        (
            "<div data-nosnippet>b<!-- </div> -->c</div>d",
            "d",
            "comment",
        ),
        (
            "<div data-nosnippet>b<script>'</div>'</script>c</div>d",
            "d",
            "script",
        ),
        (
            "<div data-nosnippet>b<textarea></div></textarea>c</div>d",
            "d",
            "textarea",
        ),
        (
            "<div data-nosnippet>b</body></html>c",
            "",
            "body is never closed",
        ),
        (
            "<div data-nosnippet>b</div title='</div>'>c",
            "c",
            "attributes of end tags",
        ),
        (
            "<div data-nosnippet><noscript><p>b</p></noscript>c</div>d",
            "d",
            "noscript",
        ),
        (
            "<noscript><div data-nosnippet>b</noscript>c",
            "",
            "the readings differ: hide",
        ),
        (
            "a<template><div data-nosnippet></template>b",
            "ab",
            "ends with its template",
        ),
    ];
    for (body, expect, clause) in cases {
        let page = scan_html(body);
        assert_eq!(page.snippet_text, expect, "{clause}: {body}");
    }
}

#[test]
fn hidden_text_is_still_text_and_its_links_are_links() {
    let page = scan_html("<p>a<div data-nosnippet>b <a href=/x>c</a></div>");
    assert_eq!(page.text, "a\nb c");
    assert_eq!(page.links.len(), 1, "SN-006");
}

#[test]
fn deep_nesting_never_shows_what_is_hidden() {
    let deep = "<div>".repeat(600);
    let closed = "</div>".repeat(600);
    let cases = [
        format!("<div data-nosnippet>{deep}b{closed}"),
        format!("{deep}<div data-nosnippet>b</div>"),
        format!(
            "<div data-nosnippet>{}b{}",
            "<p><div>".repeat(600),
            "</div>".repeat(600)
        ),
    ];
    for html in cases {
        let page = scan_html(&html);
        assert_eq!((page.text.as_str(), page.snippet_text.as_str()), ("b", ""));
    }
    let page = scan_html(&format!("<div data-nosnippet>{deep}b{closed}</div>c"));
    assert_eq!(page.snippet_text, "c");
}

#[test]
fn text_is_what_a_reader_sees() {
    let cases = [
        ("<p>a\n \t b</p>  <p>c</p>", "a b\nc"),
        ("a<b>b</b>c", "abc"),
        ("a<br>b", "a\nb"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a\nb\nc"),
        (
            "a&amp;b &eacute; &#x263a; &notit; &lt;p&gt;",
            "a&b é ☺ ¬it; <p>",
        ),
        ("a<style>p{}</style><script>x</script>b", "ab"),
        (
            "<svg><title>t</title><style>s</style><text>a</text></svg>b",
            "ab",
        ),
        (
            "a<textarea>x</textarea><iframe>y</iframe><noframes>z</noframes>b",
            "ab",
        ),
        ("a<noscript>Please enable JavaScript</noscript>b", "ab"),
        ("a<template>x</template>b", "ab"),
        ("a<!-- x -->b", "ab"),
        ("<title>t</title>a", "a"),
        ("<xmp><b></xmp>", "<b>"),
        ("a\0b\u{1}c", "a b c"),
        ("", ""),
        ("   ", ""),
    ];
    for (html, expect) in cases {
        assert_eq!(scan_html(html).text, expect, "{html}");
    }
}

#[test]
fn titles() {
    let cases = [
        ("<title> A &amp;\n B </title>", Some("A & B")),
        ("<title></title><title>b</title>", Some("b")),
        ("<title>a</title><title>b</title>", Some("a")),
        ("<svg><title>s</title></svg><title>b</title>", Some("b")),
        ("<template><title>x</title></template>", None),
        ("<title><b>a</title>", Some("<b>a")),
        ("<title>unfinished", Some("unfinished")),
        ("<p>none", None),
    ];
    for (html, expect) in cases {
        assert_eq!(scan_html(html).title.as_deref(), expect, "{html}");
    }
    let long = scan_html(&format!("<title>{}</title>", "é".repeat(2_000)));
    assert_eq!(
        long.title.unwrap().chars().count(),
        ScanLimits::default().title_chars
    );
}

#[test]
fn robots_meta_anywhere_but_in_what_is_not_the_document() {
    let cases: [(&str, &[(u32, &str, &str)]); 18] = [
        (
            "<meta name=robots content=noindex>",
            &[(0, "robots", "noindex")],
        ),
        (
            "<body><div><meta name=robots content=noindex></div>",
            &[(0, "robots", "noindex")],
        ),
        (
            "<META NAME=Robots CONTENT='NoIndex'>",
            &[(0, "Robots", "NoIndex")],
        ),
        (
            "<meta name='robots'content='noindex,follow'/>",
            &[(0, "robots", "noindex,follow")],
        ),
        (
            "<meta name=robots content=noindex content=index>",
            &[(0, "robots", "noindex")],
        ),
        (
            "<meta content=nofollow name=robots>",
            &[(0, "robots", "nofollow")],
        ),
        (
            "<meta name=' robots ' content='no&#105;ndex'>",
            &[(0, "robots", "noindex")],
        ),
        ("<meta name=robots value=noindex>", &[]),
        (
            "<meta charset=utf-8><meta name=ExampleBot content=noindex><meta name=viewport content=x>",
            &[(1, "ExampleBot", "noindex")],
        ),
        (
            "<meta name=twitter:card content=x><meta name=description content=noindex>",
            &[],
        ),
        (
            "<svg><meta name=robots content=noindex></svg>",
            &[(0, "robots", "noindex")],
        ),
        ("<!-- <meta name=robots content=noindex> -->", &[]),
        ("<script>'<meta name=robots content=noindex>'</script>", &[]),
        (
            "<template><meta name=robots content=noindex></template>",
            &[],
        ),
        (
            "<textarea><meta name=robots content=noindex></textarea>",
            &[],
        ),
        (
            "<iframe srcdoc='&lt;meta name=robots content=noindex>'></iframe>",
            &[],
        ),
        (
            "<noscript><meta name=robots content=noindex></noscript>",
            &[(0, "robots", "noindex")],
        ),
        (
            "<b><template></b></template><meta name=robots content=noindex>",
            &[(0, "robots", "noindex")],
        ),
    ];
    for (html, expect) in cases {
        let page = scan_html(html);
        let found: Vec<_> = page
            .robots_meta
            .iter()
            .map(|tag| (tag.ordinal, tag.name.as_str(), tag.content.as_str()))
            .collect();
        assert_eq!(found, expect, "{html}");
    }
}

#[test]
fn canonical_only_in_head_and_unqualified() {
    let link = "<link rel=canonical href=/c>";
    let found = Some("https://example.com/c");
    let cases = [
        (head(link), found),
        (
            head("<link rel='shortlink CANONICAL' href='/c#part'>"),
            found,
        ),
        (
            head("<link rel=canonical href=https://example.com/c><link rel=canonical href=/c>"),
            found,
        ),
        (
            head("<link rel=canonical href=/c><link rel=canonical href=/d>"),
            None,
        ),
        (head("<link rel=canonical hreflang=de href=/c>"), None),
        (head("<link rel=canonical lang=de href=/c>"), None),
        (head("<link rel=canonical media=print href=/c>"), None),
        (head("<link rel=canonical type=text/html href=/c>"), None),
        (
            head(&format!(
                "<base href=https://example.com/>{}",
                "<link rel=canonical href=c>"
            )),
            found,
        ),
        (head(&format!("<img>{link}")), None),
        (head(&format!("<iframe></iframe>{link}")), None),
        (head(&format!("words{link}")), None),
        (
            head(&format!(
                "<script>1</script><style>p</style><template><p></template>{link}"
            )),
            found,
        ),
        (
            head(&format!("<noscript><img src=/pixel></noscript>{link}")),
            found,
        ),
        (head(&format!("<template>{link}</template>")), None),
        (format!("<body>{link}"), None),
        (format!("</head>{link}"), found),
        (head("<link rel=canonical href='javascript:x'>"), None),
        (head("<a rel=canonical href=/c>"), None),
    ];
    for (html, expect) in cases {
        let page = scan_html(&html);
        assert_eq!(
            page.canonical.as_ref().map(Url::as_str),
            expect,
            "LK-004, LK-007: {html}"
        );
    }
}

#[track_caller]
fn links(html: &str) -> Vec<(LinkKind, String)> {
    let page = scan_html(html);
    page.links
        .into_iter()
        .map(|link| (link.kind, link.url.into()))
        .collect()
}

#[test]
fn links_resolve_as_in_a_browser() {
    use LinkKind::{Alternate, Frame, Hyperlink, Refresh};
    let cases: [(&str, &[(LinkKind, &str)]); 22] = [
        ("<a href=c>", &[(Hyperlink, "https://example.com/a/b/c")]),
        (
            "<map><area href=/c></map>",
            &[(Hyperlink, "https://example.com/c")],
        ),
        (
            "<base href=https://example.com/><a href=s/x>",
            &[(Hyperlink, "https://example.com/s/x")],
        ),
        (
            "<base href='../kit/'><a href=part></a><a href=/root>",
            &[
                (Hyperlink, "https://example.com/a/kit/part"),
                (Hyperlink, "https://example.com/root"),
            ],
        ),
        (
            "<base href='javascript:void(0)'><a href=x>",
            &[(Hyperlink, "https://example.com/a/b/x")],
        ),
        (
            "<base><base href=/1/><base href=/2/><a href=x>",
            &[(Hyperlink, "https://example.com/1/x")],
        ),
        (
            "<a href=x></a><base href=/late/>",
            &[(Hyperlink, "https://example.com/late/x")],
        ),
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
            &[
                (Hyperlink, "https://www.example.net/y"),
                (Hyperlink, "https://www.example.net/z"),
            ],
        ),
        (
            "<a href='?&amp;pg=2'>",
            &[(Hyperlink, "https://example.com/a/b/page.html?&pg=2")],
        ),
        (
            "<a href='/s?a=1&amp;copy=2'>",
            &[(Hyperlink, "https://example.com/s?a=1&copy=2")],
        ),
        (
            "<a href='/s?a=1&copy=2'>",
            &[(Hyperlink, "https://example.com/s?a=1&copy=2")],
        ),
        (
            "<a href='/x#part'>",
            &[(Hyperlink, "https://example.com/x")],
        ),
        (
            "<a href='#top'></a><a name=x></a><span href=/n></span>",
            &[],
        ),
        (
            "<a href='mailto:x@example.com'></a><a href='ftp://example.com/'></a><a href='http://['>",
            &[],
        ),
        (
            "<iframe src=/f></iframe><iframe src=about:blank></iframe>",
            &[(Frame, "https://example.com/f")],
        ),
        (
            "<link rel=alternate hreflang=de href=/de>",
            &[(Alternate, "https://example.com/de")],
        ),
        (
            "<link rel='alternate stylesheet' href=/css><link rel=icon href=/i>",
            &[],
        ),
        (
            "<meta http-equiv=refresh content='5;url=/r'>",
            &[(Refresh, "https://example.com/r")],
        ),
        ("<!-- <a href=/c> --><script>'<a href=/s>'</script>", &[]),
        (
            "<noscript><a href=/n>n</a></noscript>",
            &[(Hyperlink, "https://example.com/n")],
        ),
    ];
    for (html, expect) in cases {
        let found = links(html);
        let found: Vec<_> = found
            .iter()
            .map(|(kind, url)| (*kind, url.as_str()))
            .collect();
        assert_eq!(found, expect, "{html}");
    }
}

#[test]
fn links_keep_rel_and_anchor() {
    let html = "<a rel='ugc,nofollow' href=/1> One <b>two</b><p>three</a>\
        <a href=/2>open<a href=/3>next</a> outside <a href=/4><img></a>";
    let page = scan_html(html);
    let found: Vec<_> = page
        .links
        .iter()
        .map(|link| (link.rel.as_str(), link.anchor.as_str()))
        .collect();
    let expect = [
        ("ugc,nofollow", "One two three"),
        ("", "open"),
        ("", "next"),
        ("", ""),
    ];
    assert_eq!(found, expect, "LK-002");
    let long = scan_html(&format!("<a href=/>{}", "é ".repeat(500)));
    let anchor_chars = ScanLimits::default().anchor_chars;
    assert!(long.links[0].anchor.chars().count() <= anchor_chars);
}

#[test]
fn meta_refresh_moves_the_page_unless_for_readers_without_scripts() {
    let cases = [
        (
            "<meta content='0;url=next.html' http-equiv=refresh>",
            Some((0, "https://example.com/a/b/next.html")),
        ),
        (
            "<base href='https://example.com/docs/v2/'>\
             <meta http-equiv=Refresh content=\"5; URL='intro/start.html'\">",
            Some((5, "https://example.com/docs/v2/intro/start.html")),
        ),
        (
            "<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>",
            None,
        ),
        (
            "<!-- <meta http-equiv=refresh content='0;url=/c'> -->",
            None,
        ),
        (
            "<meta http-equiv=refresh content='0;url=javascript:x'>",
            None,
        ),
        (
            "<meta http-equiv=refresh content='1;/1'><meta http-equiv=refresh content='2;/2'>",
            Some((1, "https://example.com/1")),
        ),
    ];
    for (html, expect) in cases {
        let found = scan_html(html).meta_refresh;
        let found = found
            .as_ref()
            .map(|refresh| (refresh.delay_s, refresh.url.as_str()));
        assert_eq!(found, expect, "{html}");
    }
}

#[test]
fn languages() {
    let cases = [
        ("<html lang=de-CH><p>", Some("de-CH")),
        ("<html xml:lang=fr>", Some("fr")),
        ("<html lang=''>", None),
        ("<p lang=de>", None),
    ];
    for (html, expect) in cases {
        assert_eq!(scan_html(html).language.as_deref(), expect, "{html}");
    }
}

#[test]
fn character_sets() {
    let late = [
        b"<!doctype html><!--".as_slice(),
        &[b'x'; 900],
        b"--><meta charset=\"windows-1251\"><title>\xcc\xe8\xf0</title>",
    ]
    .concat();
    let beyond = [
        &[b' '; 1_024],
        b"<meta charset=windows-1251><title>e</title>".as_slice(),
    ]
    .concat();
    let utf16 = |bom: &[u8], encode: fn(u16) -> [u8; 2]| {
        let units = "<title>é✓</title>".encode_utf16().flat_map(encode);
        [bom, &units.collect::<Vec<_>>()].concat()
    };
    let utf16_le = utf16(b"\xff\xfe", u16::to_le_bytes);
    let utf16_be = utf16(b"\xfe\xff", u16::to_be_bytes);
    let cases: [(Option<&str>, &[u8], &str, &str); 19] = [
        (None, &late, "windows-1251", "Мир"),
        (Some("text/html"), &beyond, "UTF-8", "e"),
        (None, &utf16_le, "UTF-16LE", "é✓"),
        (Some("text/html; charset=utf-8"), &utf16_be, "UTF-16BE", "é✓"),
        (None, b"<meta charset=\"utf-16\"><title>\xc3\xa9</title>", "UTF-8", "é"),
        (
            Some("text/html; charset=utf-8"),
            b"<meta http-equiv=Content-Type content=\"text/html; charset=windows-1252\"><title>\xc3\xa9</title>",
            "UTF-8",
            "é",
        ),
        (
            None,
            b"<meta http-equiv=Content-Type content=\"text/html; charset='windows-1250'\"><title>\xb9</title>",
            "windows-1250",
            "ą",
        ),
        (None, b"<meta content='text/html; charset=gbk'><title>\xc3\xa9</title>", "UTF-8", "é"),
        (Some("text/html; charset=klingon-8"), b"<meta charset=utf-8><title>\xc3\xa9</title>", "UTF-8", "é"),
        (Some("text/html; charset=windows-1251"), b"\xef\xbb\xbf<title>\xd0\x9c</title>", "UTF-8", "М"),
        (Some("text/html; charset=latin1"), b"<title>\xe9\x80</title>", "windows-1252", "é€"),
        (Some("text/html;Charset=\"ISO-8859-1\""), b"<title>\xe9</title>", "windows-1252", "é"),
        (Some("text/html;charset=cp1252"), b"<title>\xe9</title>", "windows-1252", "é"),
        (Some("text/html; charset=shift_jis"), b"<title>\x83\x65</title>", "Shift_JIS", "テ"),
        (Some("text/html; charset=utf-16le"), b"<\0t\0i\0t\0l\0e\0>\0a\0<\0/\0t\0i\0t\0l\0e\0>\0", "UTF-16LE", "a"),
        (Some("text/html"), b"<!-- <meta charset=koi8-r> --><title>\xc3\xa9</title>", "UTF-8", "é"),
        (Some("text/html"), b"<p a='<meta charset=koi8-r>'><title>\xc3\xa9</title>", "UTF-8", "é"),
        (
            Some("application/xhtml+xml"),
            b"<?xml version='1.0' encoding='iso-8859-2'?><title>\xb1</title>",
            "ISO-8859-2",
            "ą",
        ),
        (Some("text/html"), b"<title>caf\xe9 d\xe9j\xe0 vu</title>", "windows-1252", "café déjà vu"),
    ];
    for (content_type, body, charset, title) in cases {
        let page = scan(body, content_type, &page_url(), &ScanLimits::default());
        let shown = String::from_utf8_lossy(body);
        assert_eq!(
            (page.charset, page.title.as_deref()),
            (charset, Some(title)),
            "{shown}"
        );
    }
}

#[test]
fn bad_bytes_do_no_harm() {
    let body = b"<p>\xc3\xa9</p><p>\xe9\xe8</p><a href=\"/ok\">x</a>";
    let html = Some("text/html; charset=utf-8");
    let page = scan(body, html, &page_url(), &ScanLimits::default());
    assert_eq!(page.links[0].url.as_str(), "https://example.com/ok");
    assert_eq!(page.text, "é\n\u{fffd}\u{fffd}\nx");
}

#[test]
fn queries_are_encoded_as_the_document_is() {
    let body = b"<a href=\"/\xef?q=\xef\">x</a>";
    let html = Some("text/html; charset=windows-1251");
    let page = scan(body, html, &page_url(), &ScanLimits::default());
    assert_eq!(
        page.links[0].url.as_str(),
        "https://example.com/%D0%BF?q=%EF"
    );
}

#[test]
fn kinds_of_body() {
    let cases: [(Option<&str>, &[u8], PageKind, &str); 10] = [
        (Some("TEXT/HTML"), b"<p>a", PageKind::Html, "a"),
        (
            Some("application/xhtml+xml; charset=utf-8"),
            b"<p>a</p>",
            PageKind::Html,
            "a",
        ),
        (
            Some("text/plain"),
            b" <p>a \n\n b&amp;",
            PageKind::PlainText,
            "<p>a\nb&amp;",
        ),
        (Some("application/pdf"), b"%PDF <p>a", PageKind::Other, ""),
        (Some("application/json"), b"{}", PageKind::Other, ""),
        (None, b" <p>a", PageKind::Html, "a"),
        (Some("nonsense"), b"<p>a", PageKind::Html, "a"),
        (None, b"a", PageKind::PlainText, "a"),
        (None, b"\x89PNG\r\n\x1a\n\0", PageKind::Other, ""),
        (None, b"", PageKind::PlainText, ""),
    ];
    for (content_type, body, kind, text) in cases {
        let page = scan(body, content_type, &page_url(), &ScanLimits::default());
        assert_eq!(
            (page.kind, page.text.as_str()),
            (kind, text),
            "{content_type:?}"
        );
    }
}

#[test]
fn limits_hold_and_show() {
    let limits = ScanLimits {
        links: 2,
        url_bytes: 60,
        text_bytes: 10,
        snippet_bytes: 5,
        meta_tags: 1,
        meta_content_bytes: 4,
        ..ScanLimits::default()
    };
    let html = format!(
        "<meta name=robots content=noindex><meta name=robots content=x>éé éé éé éé \
         <a href=/{}></a><a href=1></a><a href=2></a><a href=3></a><a href=4>",
        "x".repeat(100)
    );
    let page = scan(html.as_bytes(), Some("text/html"), &page_url(), &limits);
    let expect = Dropped {
        links: 2,
        long_links: 1,
        meta_tags: 2,
        text: true,
        rest: false,
    };
    assert_eq!(page.dropped, expect);
    assert_eq!(
        (page.text.as_str(), page.snippet_text.as_str()),
        ("éé éé", "éé")
    );
    assert_eq!(page.robots_meta[0].content, "noin");
}

#[test]
fn nesting_beyond_the_parsers_memory_is_cut_and_said() {
    let limits = ScanLimits {
        parser_bytes: 100_000,
        ..ScanLimits::default()
    };
    let html = format!("<p>a{}", "<b>".repeat(1_000_000));
    let page = scan(html.as_bytes(), Some("text/html"), &page_url(), &limits);
    assert!(page.dropped.rest);
    assert_eq!(page.text, "a");
}

proptest! {
    #[test]
    fn any_bytes_give_a_bounded_page(
        body in proptest::collection::vec(any::<u8>(), 0..2_000),
        content_type in proptest::option::of("text/(html|plain)(; ?charset=[a-z0-9\"-]{0,12})?"),
    ) {
        let limits = ScanLimits { links: 3, text_bytes: 50, snippet_bytes: 20, ..ScanLimits::default() };
        let page = scan(&body, content_type.as_deref(), &page_url(), &limits);
        prop_assert!(page.links.len() <= 3 && page.text.len() <= 50 && page.snippet_text.len() <= 20);
    }

    #[test]
    fn any_markup_gives_a_bounded_page(
        parts in proptest::collection::vec(
            prop_oneof![
                "</?(a|p|b|div|span|template|noscript|title|table|tr|td|li|svg|math|mi|script|select|form)( href=x| data-nosnippet|/)?>",
                "<!--|-->|<!\\[CDATA\\[|\\]\\]>|&amp|&#x?[0-9]{0,9};?|<|>|\"|é|\0| ",
                "<meta (name=robots|http-equiv=refresh|charset=[a-z0-9-]{3,8}) content='[0-9;url=/ ]{0,9}'>",
            ],
            0..80,
        ),
    ) {
        let limits = ScanLimits { links: 3, text_bytes: 50, ..ScanLimits::default() };
        let page = scan(parts.concat().as_bytes(), Some("text/html"), &page_url(), &limits);
        prop_assert!(page.links.len() <= 4 && page.text.len() <= 50);
        prop_assert!(!page.dropped.rest);
    }
}
