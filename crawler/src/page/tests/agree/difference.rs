//! Where two readings of a page differ, by kind.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Found, Reading};

/// Kinds of difference and an example of each; the counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) pages: usize,
    pub(super) links: usize,
    pub(super) text_bytes: usize,
    pub(super) robots: usize,
    kinds: BTreeMap<&'static str, (usize, Vec<String>)>,
}

/// So many pages may differ in a rare way however few there are.
const SPARE: usize = 3;

/// Examples kept of a kind.
const EXAMPLES: usize = 3;

impl Tally {
    /// Compares what the pass read with what the tree says. `name` says what the page is known by, if
    /// the two differ in something.
    pub(super) fn compare(
        &mut self,
        (pass, tree): &(Reading, Reading),
        name: impl Fn(&'static str) -> String,
    ) {
        self.pages += 1;
        self.links += tree.links.len();
        self.text_bytes += tree.text.len();
        self.robots += tree.robots.len();
        for (kind, detail) in differences(pass, tree) {
            let (count, examples) = self.kinds.entry(kind).or_default();
            *count += 1;
            if examples.len() < EXAMPLES {
                examples.push(format!("{detail:.300} in {:.400}", name(kind)));
            }
        }
    }

    /// Kinds that are not explained, or found on more pages in a thousand than is explained.
    pub(super) fn unexplained(&self, explained: &[(&str, usize)]) -> Vec<&'static str> {
        let is_explained = |kind: &str, count: usize| {
            let most = explained.iter().find(|(name, _)| *name == kind).map(|(_, most)| most);
            most.is_some_and(|most| count * 1_000 <= most * self.pages + SPARE * 1_000)
        };
        let kinds = self.kinds.iter().filter(|(kind, (count, _))| !is_explained(kind, *count));
        kinds.map(|(kind, _)| *kind).collect()
    }

    /// For people.
    pub(super) fn report(&self) -> String {
        let mut report = format!(
            "{} pages, {} links, {} rules for robots, {} bytes of text\n",
            self.pages, self.links, self.robots, self.text_bytes
        );
        for (kind, (count, examples)) in &self.kinds {
            let _ = writeln!(report, "{count:6} {kind}");
            for example in examples {
                let _ = writeln!(report, "         {example}");
            }
        }
        report
    }
}

/// In what they differ, and how.
pub(super) fn differences(pass: &Reading, tree: &Reading) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut say = |differs: bool, kind, detail: String| {
        if differs {
            found.push((kind, detail));
        }
    };
    say(pass.title != tree.title, "title", format!("{:?} | {:?}", pass.title, tree.title));
    say(
        pass.language != tree.language,
        "language",
        format!("{:?} | {:?}", pass.language, tree.language),
    );
    say(
        pass.canonical != tree.canonical,
        "canonical",
        format!("{:?} | {:?}", pass.canonical, tree.canonical),
    );
    let beyond = if tree.refresh.is_none() { "refresh beyond the tree" } else { "refresh" };
    say(pass.refresh != tree.refresh, beyond, format!("{:?} | {:?}", pass.refresh, tree.refresh));
    say(
        pass.structured != tree.structured,
        "structured data",
        format!("{:?} | {:?}", pass.structured, tree.structured),
    );
    let (more, less) = apart(&pass.robots, &tree.robots);
    say(!less.is_empty(), "robots rule missed", format!("{less:?}"));
    say(!more.is_empty(), "robots rule beyond the tree", format!("{more:?}"));
    found.extend(of_links(&pass.links, &tree.links));
    found.extend(of_texts(pass, tree));
    found
}

fn of_links(pass: &[Found], tree: &[Found]) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let (more, less) = apart(pass, tree);
    if !more.is_empty() {
        found.push(("link only in the pass", format!("{more:?}")));
    }
    // The adoption agency makes an element anew, attributes and all, in every block that it is in.
    let (again, less): (Vec<_>, Vec<_>) = less.into_iter().partition(|link| pass.contains(link));
    if !again.is_empty() {
        found.push(("link that the tree has again", format!("{again:?}")));
    }
    if !less.is_empty() {
        found.push(("link only in the tree", format!("{less:?}")));
    }
    if found.is_empty() && pass != tree {
        found.push(("order of links", String::new()));
    }
    found
}

fn of_texts(pass: &Reading, tree: &Reading) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if pass.text != tree.text {
        let (ours, theirs) = (solid(&pass.text), solid(&tree.text));
        let (mut sorted, mut wanted): (Vec<_>, Vec<_>) =
            (ours.chars().collect(), theirs.chars().collect());
        sorted.sort_unstable();
        wanted.sort_unstable();
        let kind = if ours == theirs && breaks(&pass.text).is_superset(&breaks(&tree.text)) {
            "more breaks in text"
        } else if ours == theirs {
            "words run together"
        } else if sorted == wanted {
            "order of text"
        } else if ours.len() > theirs.len() {
            "text only in the pass"
        } else {
            "text only in the tree"
        };
        found.push((kind, first_difference(&pass.text, &tree.text)));
    }
    let (more, less) = apart(&chars(&pass.snippet_text), &chars(&tree.snippet_text));
    if !more.is_empty() && !is_within(&more, &apart(&chars(&pass.text), &chars(&tree.text)).0) {
        found
            .push(("snippet shows more", first_difference(&pass.snippet_text, &tree.snippet_text)));
    }
    if !less.is_empty() && !is_within(&less, &apart(&chars(&pass.text), &chars(&tree.text)).1) {
        found
            .push(("snippet shows less", first_difference(&pass.snippet_text, &tree.snippet_text)));
    }
    found
}

/// Behind how many characters that are seen there is a break.
fn breaks(text: &str) -> BTreeSet<usize> {
    let mut seen = 0;
    let mut breaks = BTreeSet::new();
    for c in text.chars() {
        if c.is_whitespace() {
            breaks.insert(seen);
        } else {
            seen += 1;
        }
    }
    breaks
}

fn is_within(part: &[char], whole: &[char]) -> bool {
    apart(part, whole).0.is_empty()
}

fn chars(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn solid(text: &str) -> String {
    chars(text).into_iter().collect()
}

/// What only one has, and what only the other has, counted.
fn apart<T: Clone + Ord>(one: &[T], other: &[T]) -> (Vec<T>, Vec<T>) {
    let mut counts: BTreeMap<&T, i64> = BTreeMap::new();
    one.iter().for_each(|item| *counts.entry(item).or_default() += 1);
    other.iter().for_each(|item| *counts.entry(item).or_default() -= 1);
    let times = |item: &T, count: i64| {
        std::iter::repeat_n(item.clone(), usize::try_from(count).unwrap_or(0))
    };
    let more = counts.iter().flat_map(|(item, count)| times(item, *count)).collect();
    let less = counts.iter().flat_map(|(item, count)| times(item, -*count)).collect();
    (more, less)
}

/// A little of both texts from where they part.
fn first_difference(one: &str, other: &str) -> String {
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(40);
    let around = |text: &[char]| text.iter().skip(from).take(100).collect::<String>();
    format!("{:?} | {:?}", around(&one), around(&other))
}
