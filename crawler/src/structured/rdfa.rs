//! RDFa Lite (W3C, 2015): `vocab`, `typeof`, `property`, `resource`. Prefixed names stay as written, but
//! for one that `prefix` makes schema.org's `description`.

use scraper::ElementRef;
use serde_json::{Map, Value};

use super::shown::is_description;
use super::values::{DEPTH_MAX, Room, address_attribute, description_alone};
use crate::extract::Dom;

/// The items of a page that are no property of another.
pub(super) fn items(dom: &Dom, room: &mut Room) -> Vec<Value> {
    let Some(source) = Source::of(dom) else { return Vec::new() };
    let mut items = Vec::new();
    let mut open = vec![(dom.root(), "")];
    while let Some((element, vocab)) = open.pop() {
        if !room.look() {
            break;
        }
        let vocab = vocab_of(element, vocab);
        if element.attr("typeof").is_some() {
            items.push(source.item((element, vocab), room, DEPTH_MAX));
            continue;
        }
        open.extend(below(element, vocab));
    }
    items
}

fn vocab_of<'e>(element: ElementRef<'e>, around: &'e str) -> &'e str {
    element.value().attr("vocab").map_or(around, str::trim)
}

/// The name of a type or a property in its vocabulary.
fn in_vocab(name: &str, vocab: &str) -> String {
    let is_joined = vocab.is_empty() || vocab.ends_with(['/', '#']);
    match (name.contains(':'), is_joined) {
        (true, _) => name.to_owned(),
        (false, true) => format!("{vocab}{name}"),
        // As people write schema.org's.
        (false, false) => format!("{vocab}/{name}"),
    }
}

/// A page whose items are read.
struct Source<'d> {
    dom: &'d Dom,
    /// What `prefix` declares anywhere on the page, and for what.
    prefixes: Vec<(&'d str, &'d str)>,
}

/// A page that declares more prefixes is not read.
const PREFIXES_MAX: usize = 256;

impl<'d> Source<'d> {
    fn of(dom: &'d Dom) -> Option<Self> {
        let mut prefixes = Vec::new();
        for element in dom.root().descendent_elements() {
            let mut words = element.value().attr("prefix").unwrap_or_default().split_whitespace();
            while let (Some(prefix), Some(meaning)) = (words.next(), words.next()) {
                prefixes.push((prefix.trim_end_matches(':'), meaning));
            }
            if prefixes.len() > PREFIXES_MAX {
                return None;
            }
        }
        Some(Self { dom, prefixes })
    }

    /// A property's name: as written, unless what it means is a description, wherever on the page
    /// its prefix is declared.
    fn property<'e>(&self, name: &'e str, vocab: &str) -> &'e str {
        let is_meant = match name.split_once(':') {
            Some((prefix, rest)) => self.prefixes.iter().any(|(declared, meaning)| {
                declared.eq_ignore_ascii_case(prefix) && is_description(&format!("{meaning}{rest}"))
            }),
            None => is_description(&format!("{vocab}{name}")),
        };
        if is_meant { "description" } else { name }
    }

    fn item<'e>(
        &self,
        (element, vocab): (ElementRef<'e>, &'e str),
        room: &mut Room,
        depth: usize,
    ) -> Value {
        let mut item = Map::new();
        for kind in room.names(element, "typeof") {
            if let Some(kind) = room.text(&in_vocab(kind, vocab)) {
                room.add(&mut item, "@type", kind);
            }
        }
        if let Some(id) = element.attr("resource").and_then(|id| room.address(self.dom, id)) {
            room.add(&mut item, "@id", id);
        }
        let mut open = below(element, vocab);
        while let Some((next, around)) = open.pop() {
            if !room.look() {
                break;
            }
            let vocab = vocab_of(next, around);
            let names = room.names(next, "property").into_iter();
            let names = names.map(|name| self.property(name, vocab)).collect();
            let names = description_alone(names);
            let is_item = next.attr("typeof").is_some();
            let value = match (names.is_empty(), is_item) {
                (true, _) => None,
                (false, true) => {
                    depth.checked_sub(1).map(|depth| self.item((next, vocab), room, depth))
                }
                (false, false) => value(self.dom, next, room),
            };
            if let Some(value) = value {
                for name in names {
                    room.add(&mut item, name, value.clone());
                }
            }
            if !is_item {
                open.extend(below(next, vocab));
            }
        }
        Value::Object(item)
    }
}

/// The children of an element, the last first, each with the vocabulary around it.
fn below<'e>(element: ElementRef<'e>, vocab: &'e str) -> Vec<(ElementRef<'e>, &'e str)> {
    let children: Vec<_> = element.child_elements().collect();
    children.into_iter().rev().map(|child| (child, vocab)).collect()
}

fn value(dom: &Dom, element: ElementRef<'_>, room: &mut Room) -> Option<Value> {
    if let Some(content) = element.attr("content") {
        return room.text(content);
    }
    let address = element
        .attr("resource")
        .or_else(|| element.attr(address_attribute(element.value().name())?));
    if let Some(address) = address {
        return room.address(dom, address);
    }
    match element.attr("datetime") {
        Some(datetime) => room.text(datetime),
        None => room.text_of(element),
    }
}
