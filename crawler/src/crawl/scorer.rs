//! Which of the links that wait goes first: the pluggable part of the order of a crawl.
//!
//! Of the URLs of a site that are due at once, the frontier hands out those with the least priority
//! first. Between sites it is politeness alone that decides, so a scorer never makes a crawl rude.

use std::borrow::Cow;
use std::sync::Arc;

use url::Url;

use crate::settings::Settings;

/// A link as it was found.
#[derive(Clone, Copy, Debug)]
pub struct FoundLink<'a> {
    /// Where it leads.
    pub url: &'a Url,
    /// Links from the nearest seed to there.
    pub depth: u16,
    /// The text that it stands on; empty where it stands on none, as in a sitemap.
    pub anchor: &'a str,
    /// The page that it stands on, if it stands on a page.
    pub on: Option<OnPage<'a>>,
}

/// The page that a link stands on.
#[derive(Clone, Copy, Debug)]
pub struct OnPage<'a> {
    /// Its address.
    pub url: &'a Url,
    /// Its title; empty if it has none.
    pub title: &'a str,
    /// What a reader sees of it.
    pub text: &'a str,
    /// Links from the nearest seed to it.
    pub depth: u16,
}

/// When a link is followed, compared with others of its site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Score {
    /// 0 goes first.
    pub priority: u8,
    /// What that rests on, for people.
    pub reason: Cow<'static, str>,
}

/// Puts links in order. It is asked once for each link that is queued, from many threads, and its
/// answer holds until the link was followed.
pub trait Scorer: Send + Sync {
    /// When this link is followed.
    fn score(&self, link: &FoundLink<'_>) -> Score;
}

/// The reason of the usual order.
pub(super) const DEPTH: &str = "depth";

/// Links nearer to a seed go first; the usual order.
#[derive(Clone, Copy, Debug, Default)]
pub struct BreadthFirst;

impl Scorer for BreadthFirst {
    fn score(&self, link: &FoundLink<'_>) -> Score {
        let priority = u8::try_from(link.depth).unwrap_or(u8::MAX);
        Score { priority, reason: DEPTH.into() }
    }
}

/// Links that speak of given words go first: a focused crawl.
///
/// A word in a link's own text counts three, in its address two, in the title of the page that it
/// stands on one. Among links with equal counts those nearer to a seed go first. Nothing is left
/// out: a link without any of the words waits until the others were followed.
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    words: Vec<String>,
}

/// More points make no difference.
const MOST_POINTS: u8 = 10;
const STEP: u8 = 23;
/// More links from a seed make no difference among equals.
const MOST_DEPTH: u16 = 24;

impl Keywords {
    /// Of words, or several words that stand together. Letter case plays no part.
    pub fn new<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(|word| in_words(word.as_ref()));
        Self { words: words.filter(|word| !word.trim().is_empty()).collect() }
    }

    /// The words that stand in a text.
    fn found_in<'k>(&'k self, text: &str) -> impl Iterator<Item = &'k str> {
        let text = in_words(text);
        let words = self.words.iter().map(String::as_str);
        words.filter(move |word| {
            // A script without blanks has its words in the middle of others.
            if word.is_ascii() { text.contains(word) } else { text.contains(word.trim()) }
        })
    }
}

impl Scorer for Keywords {
    fn score(&self, link: &FoundLink<'_>) -> Score {
        let title = link.on.map_or("", |page| page.title);
        let address = decoded(link.url);
        let places = [(link.anchor, "text", 3), (&*address, "address", 2), (title, "title", 1)];
        let (mut points, mut reasons) = (0_u8, Vec::new());
        for (text, place, worth) in places {
            for word in self.found_in(text) {
                points = points.saturating_add(worth);
                reasons.push(format!("\"{}\" in the {place}", word.trim()));
            }
        }
        let depth = u8::try_from(link.depth.min(MOST_DEPTH)).unwrap_or(u8::MAX);
        let priority = (MOST_POINTS - points.min(MOST_POINTS)) * STEP + depth;
        let reason = match reasons.is_empty() {
            true => "none of the words".into(),
            false => reasons.join(", ").into(),
        };
        Score { priority, reason }
    }
}

/// An address without its escapes; what is between the words of it does not matter.
fn decoded(url: &Url) -> String {
    let pieces = url::form_urlencoded::parse(url.as_str().as_bytes());
    pieces.map(|(name, value)| format!("{name} {value} ")).collect()
}

/// A text as words in small letters, with a blank around each.
fn in_words(text: &str) -> String {
    let mut words = String::from(" ");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

/// The order that the settings ask for.
pub(super) fn of_settings(settings: &Settings) -> Arc<dyn Scorer> {
    if settings.focus.is_empty() {
        Arc::new(BreadthFirst)
    } else {
        Arc::new(Keywords::new(&settings.focus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link<'a>(url: &'a Url, anchor: &'a str, title: &'a str, depth: u16) -> FoundLink<'a> {
        let on = Some(OnPage { url, title, text: "", depth: depth.saturating_sub(1) });
        FoundLink { url, depth, anchor, on }
    }

    /// One line, one case: path, text of the link, title of the page, depth, and the priority.
    #[test]
    fn keywords() {
        let cases = [
            ("/", "", "", 0, 230),
            ("/x", "a boat", "", 1, 162),
            ("/boat", "", "", 1, 185),
            ("/x", "", "The Boat", 1, 208),
            ("/boat/2", "Boat", "BOATS and a boat", 3, 95),
            ("/boats", "boathouse", "", 1, 231),
            ("/x", "the night train", "", 1, 162),
            ("/x", "the train at night", "", 1, 231),
            ("/night-train", "", "", 1, 185),
            ("/%E8%88%B9", "大船", "", 1, 116),
            ("/boat-night-train", "boat night train", "boat", 2, 2),
            ("/deep", "", "", u16::MAX, 254),
        ];
        let keywords = Keywords::new(["Boat", "night train", "船", " "]);
        for (path, anchor, title, depth, expect) in cases {
            let url = Url::parse("https://a.example").unwrap().join(path).unwrap();
            let score = keywords.score(&link(&url, anchor, title, depth));
            assert_eq!(score.priority, expect, "{path} {anchor} {title}: {}", score.reason);
        }
        let url = Url::parse("https://a.example/boat").unwrap();
        let reason = keywords.score(&link(&url, "Boat", "", 1)).reason;
        assert_eq!(reason, "\"boat\" in the text, \"boat\" in the address");
    }

    #[test]
    fn breadth_first() {
        let url = Url::parse("https://a.example/").unwrap();
        for (depth, expect) in [(0, 0), (7, 7), (255, 255), (300, 255)] {
            assert_eq!(BreadthFirst.score(&link(&url, "", "", depth)).priority, expect);
        }
    }
}
