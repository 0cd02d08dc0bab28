//! Random pages, from their bytes to results: no snippet holds a character that `data-nosnippet`
//! covers, none is longer than its limit, and highlights lie inside it.
//!
//! What is covered is for html5ever's tree to say. A page is made with a word in each place first;
//! the words that the tree has inside such an element are then written in letters that stand nowhere
//! else, so that one letter proves a leak.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use scraper::{ElementRef, Html, Node};

use super::*;

/// Linear B: letters to a tokenizer, and in no page of these.
const HIDDEN_LETTERS: [char; 3] = ['𐀀', '𐀁', '𐀂'];

/// What stands in for the `at`th text of a page until it is known who may see it.
fn slot(at: usize) -> String {
    format!("q{at}q")
}

/// A page before its texts are filled in: pieces of markup, and behind each the text that follows.
#[derive(Clone, Debug)]
struct Soup {
    lines: Vec<String>,
    pieces: Vec<String>,
    texts: Vec<String>,
}

impl Soup {
    fn html(&self, text: impl Fn(usize) -> String) -> String {
        let mut html = String::from("<!doctype html>");
        for (at, piece) in self.pieces.iter().enumerate() {
            html.push_str(piece);
            html.push(' ');
            html.push_str(&text(at));
            html.push(' ');
        }
        html
    }

    /// The page, the texts that the tree has under `data-nosnippet` in letters of their own.
    fn page(&self) -> Given {
        let covered = Tree::of(&self.html(slot)).covered;
        let html = self.html(|at| match covered.contains(&slot(at)) {
            true => hidden_word(at),
            false => self.texts[at % self.texts.len()].clone(),
        });
        Given { lines: self.lines.clone(), html }
    }
}

/// A word of hidden letters only, known by its number.
fn hidden_word(at: usize) -> String {
    let digit = |place: u32| HIDDEN_LETTERS[at / 3_usize.pow(place) % 3];
    (0..4).map(digit).collect()
}

/// What the tree says of a page.
#[derive(Debug, Default)]
struct Tree {
    /// Words under `data-nosnippet`.
    covered: Vec<String>,
    /// Words elsewhere.
    open: Vec<String>,
    /// Names and contents of meta tags that count.
    metas: Vec<(String, String)>,
}

impl Tree {
    fn of(html: &str) -> Self {
        let mut found = Self::default();
        for node in Html::parse_document(html).tree.nodes() {
            let mut around = node.ancestors().filter_map(ElementRef::wrap);
            if let Node::Text(text) = node.value() {
                let is_covered = around.any(|element| {
                    matches!(element.value().name(), "span" | "div" | "section")
                        && element.attr("data-nosnippet").is_some()
                });
                let words = if is_covered { &mut found.covered } else { &mut found.open };
                words.extend(text.split_whitespace().map(str::to_owned));
            } else if let Some(meta) = ElementRef::wrap(node)
                && meta.value().name() == "meta"
                && !around.any(|element| element.value().name() == "template")
                && let (Some(name), Some(content)) = (meta.attr("name"), meta.attr("content"))
            {
                found.metas.push((name.to_owned(), content.to_owned()));
            }
        }
        found
    }
}

/// Texts of many scripts, long words without a break, and the word that finds the page.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(WORD.to_owned()),
        4 => "[a-z]{1,12}( [a-z]{1,12}){0,30}",
        1 => "[a-z]{1,12}( lighthouse [a-zé. ]{1,60}){1,30}",
        1 => "[a-z]{300,600}",
        1 => "[да新宿区あいうمرحبا]{1,80}",
        1 => "(e\u{301}|👩\u{200d}🚀|ﬀ|İ|ß|&amp;|&#x1F600;|&nbsp;| ){1,60}",
        1 => "[\\PC&&[^<>&𐀀-𐀂]]{1,80}",
        1 => Just("\u{202e}lighthouse\u{202c}. Lighthouse! LIGHTHOUSES?\u{3000}lighthouse".to_owned()),
    ]
}

fn limit() -> impl Strategy<Value = String> {
    let number = prop_oneof![0..12_u32, 12..60_u32, 60..400_u32];
    prop_oneof![
        12 => number.prop_map(|n| format!("max-snippet:{n}")),
        1 => Just("max-snippet:-1".to_owned()),
        1 => Just("max-snippet:x".to_owned()),
        1 => Just("nosnippet".to_owned()),
    ]
}

fn scope() -> impl Strategy<Value = &'static str> {
    select(vec!["robots", "robots", "comitybot", "otherbot"])
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "</?(p|div|span|section|li|ul|b|i|a|em|h2|article|form|button|dd|x-y|mytag)>",
        3 => "</?(table|tr|td|th|tbody|caption|object|template|noscript|select|option|svg|math)>",
        1 => "</?(desc|foreignobject|head|body|html|ruby|rt|frameset|summary|details)/?>",
        4 => "<(div|span|section) data-nosnippet(=''|=\"false\"|)>",
        1 => "<(p|mytag|li|article|b) data-nosnippet>",
        1 => select(vec!["<br>", "<hr>", "<img>", "<!-- </div> -->", "<div data-nosnippet ", "</", "<"])
            .prop_map(str::to_owned),
        1 => select(vec!["<script>'</div>'</script>", "<style></style>", "<textarea></div></textarea>"])
            .prop_map(str::to_owned),
        1 => (scope(), limit()).prop_map(|(name, rule)| format!("<meta name={name} content='{rule}'>")),
    ]
}

fn soup() -> impl Strategy<Value = Soup> {
    let line = ("|comitybot: |otherbot: ", limit()).prop_map(|(agent, rule)| agent + &rule);
    let lines = proptest::collection::vec(line, 0..2);
    let pieces = proptest::collection::vec(piece(), 1..40);
    let texts = proptest::collection::vec(text(), 1..40);
    let head = (scope(), proptest::option::of(limit())).prop_map(|(name, rule)| {
        let meta = rule.map(|rule| format!("<meta name={name} content='{rule}'>"));
        format!("<title>t</title>{}<body>{WORD}", meta.unwrap_or_default())
    });
    (lines, head, pieces, texts).prop_map(|(lines, head, mut pieces, texts)| {
        pieces.insert(0, head);
        Soup { lines, pieces, texts }
    })
}

/// The most characters that the page's rules permit, read off its tree and its header lines.
fn limit_of(page: &Given, tree: &Tree) -> Option<usize> {
    let is_ours = |name: &str| name != "otherbot";
    let of_tags =
        tree.metas.iter().filter(|(name, _)| is_ours(name)).map(|(_, rule)| rule.as_str());
    let of_lines = page.lines.iter().filter_map(|line| match line.split_once(": ") {
        Some((agent, rule)) => is_ours(agent).then_some(rule),
        None => Some(line.as_str()),
    });
    let limits = of_tags.chain(of_lines).filter_map(|rule| match rule {
        "nosnippet" => Some(0),
        rule => rule.strip_prefix("max-snippet:")?.parse().ok(),
    });
    limits.min()
}

/// Fails if a result shows what it may not.
#[track_caller]
fn judge(page: &Given, tree: &Tree, hit: &Hit) {
    let limit = limit_of(page, tree);
    let Some(snippet) = &hit.snippet else { return };
    let text = &snippet.text;
    assert!(!text.contains(HIDDEN_LETTERS), "SN-001: {text:?} of {page:?}");
    let chars = text.chars().count();
    assert!(chars > 0 && limit.is_none_or(|most| chars <= most), "RM-026: {chars}: {page:?}");
    for range in &snippet.highlights {
        let is_word = text.get(range.clone()).is_some_and(|word| !word.is_empty());
        assert!(is_word, "{snippet:?} of {page:?}");
    }
    let in_order = snippet.highlights.windows(2).all(|pair| pair[0].end <= pair[1].start);
    assert!(in_order, "{snippet:?} of {page:?}");
}

/// Pages are crawled so many at once: a crawl has a store and an index of its own.
const AT_ONCE: usize = 40;
const CRAWLS: usize = 3;

/// So many random soups; others in every run, unless the runner is the deterministic one.
fn soups(runner: &mut TestRunner, count: usize) -> Vec<Soup> {
    (0..count).map(|_| soup().new_tree(runner).unwrap().current()).collect()
}

#[tokio::test(start_paused = true)]
async fn no_snippet_shows_what_it_may_not() {
    let mut runner = TestRunner::default();
    for _ in 0..CRAWLS {
        let pages: Vec<_> = soups(&mut runner, AT_ONCE).iter().map(Soup::page).collect();
        let trees: Vec<_> = pages.iter().map(|page| Tree::of(&page.html)).collect();
        let shown = Shown::of(&pages).await;
        // Words that are covered find the page (SN-006), and it shows none of them.
        let covered = trees.iter().flat_map(|tree| tree.covered.iter().take(2)).take(20);
        for word in covered.map(String::as_str).chain([WORD]) {
            for (at, hit) in &shown.results(word, T0) {
                judge(&pages[*at], &trees[*at], hit);
            }
        }
    }
}

/// The property is about something: most pages are found, with covered text and with snippets.
#[test]
fn the_soup_is_rich() {
    let mut runner = TestRunner::deterministic();
    let pages: Vec<_> = soups(&mut runner, 200).iter().map(Soup::page).collect();
    let trees: Vec<_> = pages.iter().map(|page| Tree::of(&page.html)).collect();
    let is_hidden = |word: &String| word.contains(HIDDEN_LETTERS);
    assert!(trees.iter().all(|tree| !tree.open.iter().any(is_hidden)), "filling moves nothing");
    let covering = trees.iter().filter(|tree| tree.covered.iter().any(is_hidden)).count();
    let limited = pages.iter().zip(&trees).filter(|(page, tree)| limit_of(page, tree) > Some(0));
    assert!(covering > 50 && limited.count() > 50, "{covering}");
}
