//! Every result is bounded, whatever the bytes.

use proptest::prelude::*;

use super::*;

#[test]
fn limits_hold_and_show() {
    let limits = ScanLimits {
        links: 2,
        images: 1,
        url_bytes: 60,
        text_bytes: 10,
        snippet_bytes: 5,
        meta_tags: 1,
        meta_content_bytes: 4,
        ..ScanLimits::default()
    };
    let html = format!(
        "<meta name=robots content=noindex><meta name=robots content=x>éé éé éé éé \
         <a href=/{}></a><a href=1></a><a href=2></a><a href=3></a><a href=4>\
         <img src=5><img src=6 srcset='7 2x'>",
        "x".repeat(100)
    );
    let page = scan(html.as_bytes(), Some("text/html"), &page_url(), &limits);
    let expect = Dropped {
        links: 2,
        images: 2,
        long_links: 1,
        meta_tags: 2,
        structured_data: 0,
        text: true,
    };
    assert_eq!(page.dropped, expect);
    assert_eq!((page.text.as_str(), page.snippet_text.as_str()), ("éé éé", "éé"));
    assert_eq!(page.robots_meta[0].content, "noin");
}

/// AM-60: rules that stand within the limits of the body count, however deep they are.
#[test]
fn rules_behind_deep_nesting_are_read() {
    let html = format!("<p>a{}<meta name=robots content=noindex>b", "<b>".repeat(1_000_000));
    let page = scan_html(&html);
    assert_eq!((page.robots_meta.len(), page.text.as_str()), (1, "ab"));
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
    }
}

/// Found by an attack: at each `<` behind `<script><!--` the rest of the page was read. Two
/// megabytes of each piece would take minutes if any of them took more than linear time.
#[test]
fn what_is_repeated_takes_linear_time() {
    let starts =
        ["", "<script>", "<script><!--", "<script><!--<script ", "<title>", "<!--", "<a ", "<svg>"];
    let pieces = [
        "<", "</", "<a", "</s", "<script", "</script", "-", "--", "-->", "a=", "\"", "&", "]]>",
        "/",
    ];
    for start in starts {
        for piece in pieces {
            let html = format!("{start}{}", piece.repeat(200_000 / piece.len()));
            let page = scan_html(&html);
            assert!(page.links.is_empty(), "{start} {piece}");
        }
    }
}
