//! What the readers of a tree have in common: values of properties, and bounds on all of it.

use scraper::{ElementRef, Node};
use serde_json::{Map, Value};

use super::shown::is_description;
use crate::extract::Dom;

/// Characters of one text.
const TEXT_CHARS: usize = 5_000;
/// Nodes that are looked at on one page: texts may lie inside each other.
const LOOKS: usize = 1_000_000;
/// Items inside items.
pub(super) const DEPTH_MAX: usize = 32;

/// How much more of a page is read.
pub(super) struct Room {
    bytes: usize,
    looks: usize,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes, looks: LOOKS }
    }

    /// Takes a look at one more node, if that is still possible.
    pub(super) fn look(&mut self) -> bool {
        self.looks = self.looks.saturating_sub(1);
        self.looks > 0 && self.bytes > 0
    }

    fn take(&mut self, text: String) -> Option<String> {
        self.bytes = self.bytes.saturating_sub(text.len() + 1);
        (self.bytes > 0).then_some(text)
    }

    /// Adds a value to a property; several make a list.
    pub(super) fn add(&mut self, item: &mut Map<String, Value>, name: &str, value: Value) {
        let Some(name) = self.take(name.to_owned()) else { return };
        match item.get_mut(&name) {
            None => {
                item.insert(name, value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(one) => *one = Value::Array(vec![one.take(), value]),
        }
    }

    /// The names in an attribute that lists some.
    pub(super) fn names<'e>(&self, of: ElementRef<'e>, attribute: &str) -> Vec<&'e str> {
        const NAMES_MAX: usize = 16;
        of.attr(attribute).unwrap_or_default().split_whitespace().take(NAMES_MAX).collect()
    }

    /// A text as a value.
    pub(super) fn text(&mut self, text: &str) -> Option<Value> {
        let text: String = text.chars().take(TEXT_CHARS).collect();
        self.take(text).map(Value::String)
    }

    /// An address as a value: resolved, or as it stands where it is none of the web.
    pub(super) fn address(&mut self, dom: &Dom, written: &str) -> Option<Value> {
        match dom.resolve(written) {
            Some(url) => self.text(url.as_str()),
            None => self.text(written.trim()),
        }
    }

    /// The text in an element, in words.
    pub(super) fn text_of(&mut self, of: ElementRef<'_>) -> Option<Value> {
        let mut text = String::new();
        for node in of.descendants() {
            if !self.look() || text.len() > 4 * TEXT_CHARS {
                break;
            }
            if let Node::Text(piece) = node.value() {
                text.push_str(piece);
            }
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        self.text(&words.join(" "))
    }
}

/// What is a description among other things is nothing else: under another name its words would go
/// beyond the limit on it (SN-005).
pub(super) fn description_alone(mut names: Vec<&str>) -> Vec<&str> {
    if names.iter().any(|name| is_description(name)) {
        names.retain(|name| is_description(name));
    }
    names
}

/// The attribute in which an element has its address, if it is one that has.
pub(super) fn address_attribute(element: &str) -> Option<&'static str> {
    match element {
        "a" | "area" | "link" => Some("href"),
        "audio" | "embed" | "iframe" | "img" | "source" | "track" | "video" => Some("src"),
        "object" => Some("data"),
        _ => None,
    }
}
