//! The pass against the tree that html5ever builds: what is hidden there is never shown here.

use super::*;
use proptest::prelude::*;
use scraper::{ElementRef, Html, Node};

/// The words outside `data-nosnippet`, by the tree.
fn shown_in_dom(html: &str) -> Vec<String> {
    let dom = Html::parse_document(html);
    let text_nodes = dom.tree.nodes().filter_map(|node| {
        let Node::Text(text) = node.value() else {
            return None;
        };
        let hides = node
            .ancestors()
            .filter_map(ElementRef::wrap)
            .any(|element| {
                let name = element.value().name();
                matches!(name, "span" | "div" | "section")
                    && element.value().attr("data-nosnippet").is_some()
            });
        (!hides).then(|| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
    });
    text_nodes.flatten().collect()
}

fn shown_in_pass(html: &str) -> Vec<String> {
    let url = Url::parse("https://example.com/").unwrap();
    let page = scan(
        html.as_bytes(),
        Some("text/html"),
        &url,
        &ScanLimits::default(),
    );
    page.snippet_text
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Every text is a word of its own, so that words can be told apart.
fn tag_soup() -> impl Strategy<Value = String> {
    let tag = prop_oneof![
        6 => "</?(p|div|span|section|li|ul|b|i|a|h1|h2|article|form|button|dd|dt|x-y)>",
        2 => "</?(table|tr|td|th|tbody|caption|select|option|object|template|svg|math|mi|desc)>",
        4 => "<(div|span|section) data-nosnippet>",
        1 => Just("<br><hr><img>".to_owned()),
    ];
    proptest::collection::vec(tag, 1..24).prop_map(|tags| {
        let mut html = String::from("<!doctype html><body>w ");
        for (at, tag) in tags.iter().enumerate() {
            html.push_str(&format!("{tag} w{at} "));
        }
        html
    })
}

proptest! {
    #[test]
    fn nothing_hidden_in_the_tree_is_shown(html in tag_soup()) {
        let dom = shown_in_dom(&html);
        for word in shown_in_pass(&html) {
            prop_assert!(dom.contains(&word), "{word} in {html}");
        }
    }
}
