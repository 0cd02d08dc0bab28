//! What the page says about itself: rules for robots, canonical address, refresh.

use super::*;

/// Ordinal, name and content of a meta tag.
type FoundMeta = (u32, &'static str, &'static str);

const ROBOTS_META_ANYWHERE_BUT_IN_WHAT_IS_NOT_THE_DOCUMENT: &[(&str, &[FoundMeta])] = &[
    ("<meta name=robots content=noindex>", &[(0, "robots", "noindex")]),
    ("<body><div><meta name=robots content=noindex></div>", &[(0, "robots", "noindex")]),
    ("<META NAME=Robots CONTENT='NoIndex'>", &[(0, "Robots", "NoIndex")]),
    ("<meta name='robots'content='noindex,follow'/>", &[(0, "robots", "noindex,follow")]),
    ("<meta name=robots content=noindex content=index>", &[(0, "robots", "noindex")]),
    ("<meta content=nofollow name=robots>", &[(0, "robots", "nofollow")]),
    ("<meta name=' robots ' content='no&#105;ndex'>", &[(0, "robots", "noindex")]),
    ("<meta name=robots value=noindex>", &[]),
    (
        "<meta charset=utf-8><meta name=ExampleBot content=noindex><meta name=viewport content=x>",
        &[(1, "ExampleBot", "noindex")],
    ),
    ("<meta name=twitter:card content=x><meta name=description content=noindex>", &[]),
    ("<svg><meta name=robots content=noindex></svg>", &[(0, "robots", "noindex")]),
    ("<!-- <meta name=robots content=noindex> -->", &[]),
    ("<script>'<meta name=robots content=noindex>'</script>", &[]),
    ("<template><meta name=robots content=noindex></template>", &[]),
    ("<textarea><meta name=robots content=noindex></textarea>", &[]),
    ("<iframe srcdoc='&lt;meta name=robots content=noindex>'></iframe>", &[]),
    ("<noscript><meta name=robots content=noindex></noscript>", &[(0, "robots", "noindex")]),
    ("<b><template></b></template><meta name=robots content=noindex>", &[(0, "robots", "noindex")]),
];

/// AM-40: where MathML and SVG begin and end is what the HTML standard says (13.2.6), and so is what
/// is text there and what is markup.
#[test]
fn robots_meta_in_foreign_content() {
    let meta = "<meta name=robots content=noindex>";
    let before = [
        "<math><mtext><mglyph><style>",
        "<math><mi><malignmark><xmp>",
        "<svg><math><mi><style>",
        "<math><svg><desc><title>",
        "<math><annotation-xml><svg><title>",
    ];
    for before in before {
        let page = scan_html(&format!("{before}{meta}"));
        let is_there = scraper::Html::parse_document(&format!("{before}{meta}"))
            .select(&scraper::Selector::parse("meta").unwrap())
            .count();
        assert_eq!(page.robots_meta.len(), is_there, "{before}");
    }
}

/// AM-60: tags for crawlers that nobody knows do not crowd out those for all.
#[test]
fn rules_for_all_have_room() {
    let many = "<meta name=aaa content=x>".repeat(1_000);
    let page = scan_html(&format!("{many}{many}<meta name=robots content=noindex>"));
    assert_eq!(page.robots_meta.last().map(|tag| tag.content.as_str()), Some("noindex"));
    assert_eq!(page.dropped.meta_tags, 1_000);
}

/// RM-003, AM-40.
#[test]
fn robots_meta_anywhere_but_in_what_is_not_the_document() {
    for (html, expect) in ROBOTS_META_ANYWHERE_BUT_IN_WHAT_IS_NOT_THE_DOCUMENT.iter().copied() {
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
        (head("<link rel='shortlink CANONICAL' href='/c#part'>"), found),
        (
            head("<link rel=canonical href=https://example.com/c><link rel=canonical href=/c>"),
            found,
        ),
        (head("<link rel=canonical href=/c><link rel=canonical href=/d>"), None),
        (head("<link rel=canonical hreflang=de href=/c>"), None),
        (head("<link rel=canonical lang=de href=/c>"), None),
        (head("<link rel=canonical media=print href=/c>"), None),
        (head("<link rel=canonical type=text/html href=/c>"), None),
        (
            head(&format!("<base href=https://example.com/>{}", "<link rel=canonical href=c>")),
            found,
        ),
        (head(&format!("<img>{link}")), None),
        (head(&format!("<iframe></iframe>{link}")), None),
        (head(&format!("words{link}")), None),
        (head(&format!("<script>1</script><style>p</style><template><p></template>{link}")), found),
        (head(&format!("<noscript><img src=/pixel></noscript>{link}")), found),
        (head(&format!("<template>{link}</template>")), None),
        (format!("<body>{link}"), None),
        (format!("</head>{link}"), found),
        (head("<link rel=canonical href='javascript:x'>"), None),
        (head("<a rel=canonical href=/c>"), None),
    ];
    for (html, expect) in cases {
        let page = scan_html(&html);
        assert_eq!(page.canonical.as_ref().map(Url::as_str), expect, "LK-004, LK-007: {html}");
    }
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
        ("<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>", None),
        ("<!-- <meta http-equiv=refresh content='0;url=/c'> -->", None),
        ("<meta http-equiv=refresh content='0;url=javascript:x'>", None),
        (
            "<meta http-equiv=refresh content='1;/1'><meta http-equiv=refresh content='2;/2'>",
            Some((1, "https://example.com/1")),
        ),
    ];
    for (html, expect) in cases {
        let found = scan_html(html).meta_refresh;
        let found = found.as_ref().map(|refresh| (refresh.delay_s, refresh.url.as_str()));
        assert_eq!(found, expect, "{html}");
    }
}

#[test]
fn structured_data_is_kept_as_written() {
    let json = "{\"@type\":\"Recipe\",\"name\":\"Fish &amp; Soup\"}";
    let script = format!("<script type='Application/LD+JSON'>{json}</script>");
    let cases = [
        (format!("<div data-nosnippet><p>hidden</p>{script}</div>"), vec![json]),
        (format!("<script>{json}</script><script type=module>1</script>"), vec![]),
        (format!("{script}<script>1</script>{script}"), vec![json, json]),
        (format!("<template>{script}</template><!-- {script} -->"), vec![]),
        (script.replace(json, " \n"), vec![]),
        (script.replace(json, &"1".repeat(300_000)), vec![]),
    ];
    for (html, expect) in cases {
        let page = scan_html(&html);
        assert_eq!(page.structured_data, expect, "SN-005: {html}");
        assert!(!page.text.contains("Recipe"), "{html}");
    }
}
