//! The pass against the tree that html5ever builds: what is hidden there is never shown here, and
//! no rule for robots there is missed here.

use proptest::prelude::*;
use scraper::{ElementRef, Html, Node};

use super::*;

#[derive(Debug, Default)]
struct Seen {
    /// Words that may be shown in a snippet.
    shown: Vec<String>,
    /// Contents of robots meta tags.
    rules: Vec<String>,
}

fn in_dom(html: &str) -> Seen {
    let dom = Html::parse_document(html);
    let mut seen = Seen::default();
    for node in dom.tree.nodes() {
        let mut around = node.ancestors().filter_map(ElementRef::wrap);
        if let Node::Text(text) = node.value() {
            let is_hidden = around.any(|element| {
                matches!(element.value().name(), "span" | "div" | "section")
                    && element.value().attr("data-nosnippet").is_some()
            });
            if !is_hidden {
                seen.shown.extend(text.split_whitespace().map(str::to_owned));
            }
        } else if let Node::Element(element) = node.value()
            && element.name() == "meta"
            && !around.any(|element| element.value().name() == "template")
        {
            seen.rules.extend(element.attr("content").map(str::to_owned));
        }
    }
    seen
}

fn in_pass(html: &str) -> Seen {
    let page = scan_html(html);
    Seen {
        shown: page.snippet_text.split_whitespace().map(str::to_owned).collect(),
        rules: page.robots_meta.into_iter().map(|tag| tag.content).collect(),
    }
}

/// Titles are whole: one that begins in `noscript` and ends outside is a title to one reader and
/// a `noscript` to the other, and the tokeniser takes the first reading.
///
/// Every text is a word of its own and every rule has its own content, so that they can be told
/// apart.
fn tag_soup() -> impl Strategy<Value = String> {
    let tag = prop_oneof![
        6 => "</?(p|div|span|section|li|ul|b|i|a|h1|h2|article|form|button|dd|dt|x-y)>",
        2 => "</?(select|option|optgroup)>",
        2 => "</?(ruby|rb|rt|rp|rtc|colgroup|nobr|font|em|dialog|summary|marquee|center|pre|nav|ol|dl)>",
        1 => "<(textarea></textarea|input|hr|col|keygen|style></style|img)>",
        3 => "</?(table|tr|td|th|tbody|caption|object|template|noscript)>",
        2 => "</?(svg|math|mi|desc|foreignobject|annotation-xml|g|head|body|html)/?>",
        4 => "<(div|span|section) data-nosnippet>",
        1 => "<(br|hr|img|font color=red|frameset)>|</(br|font)>|<!-- </div> -->",
        1 => Just("<meta name=robots content=RULE>".to_owned()),
        1 => Just("<title>t</title>".to_owned()),
    ];
    proptest::collection::vec(tag, 1..32).prop_map(|tags| {
        let mut html = String::from("<!doctype html><body>w ");
        for (at, tag) in tags.iter().enumerate() {
            html.push_str(&format!("{} w{at} ", tag.replace("RULE", &at.to_string())));
        }
        html
    })
}

/// Where formatting that is open again keeps the innermost element from being closed, an end tag
/// meets that element in the tree, and must not meet the hidden one here.
#[test]
fn formatting_that_is_open_again_shows_nothing() {
    let cases = [
        "<select><option>a<span data-nosnippet><option><p><b></p>c<option>d</option></option>e",
        "<h1>a<span data-nosnippet><h2><p><b></p>c<h3>d</h3></h2>e",
        "<svg><foreignobject><div>a<span data-nosnippet><svg><desc><p><b></p>c</svg></div>e",
        "<h1>a<p><b></p><h2>b</h2><span data-nosnippet>c</h1>e",
        "<b>a<x-y><div></b></div><span data-nosnippet>c</x-y>e",
        "<p>a<select><option>a<hr><span data-nosnippet>c</option>e",
        "<div data-nosnippet>c<select><textarea></textarea><svg></div></svg></select>e",
        "<table><colgroup><div data-nosnippet>c</colgroup>e",
        "<table>a<x-y><col><span data-nosnippet>c</x-y>e",
        "<ruby>a<p><rt><span data-nosnippet>c</p>e",
        "<a>a<table><a>b</a></table><span data-nosnippet>c</a>e",
    ];
    for html in cases {
        let (dom, pass) = (in_dom(html), in_pass(html));
        let hides = |seen: &Seen| !seen.shown.iter().any(|word| word == "c" || word == "e");
        assert!(hides(&dom) && hides(&pass), "{html}: {dom:?} {pass:?}");
    }
}

proptest! {
    /// AM-63, SN-002: what lies inside what is for the tree of the HTML standard to say.
    #[test]
    fn nothing_is_shown_or_missed_against_the_tree(html in tag_soup()) {
        let (dom, pass) = (in_dom(&html), in_pass(&html));
        for word in &pass.shown {
            prop_assert!(dom.shown.contains(word), "{word} in {html}");
        }
        for rule in &dom.rules {
            prop_assert!(pass.rules.contains(rule), "{rule} in {html}");
        }
    }
}
