//! Microdata, as the HTML standard reads it (section 5.2): `itemscope`, `itemtype`, `itemprop`.

use std::collections::HashMap;

use scraper::ElementRef;
use serde_json::{Map, Value};

use super::values::{DEPTH_MAX, Room, address_attribute, description_alone};
use crate::extract::Dom;

/// A page whose items are read.
struct Source<'d> {
    dom: &'d Dom,
    /// Elements by their `id`, for `itemref`.
    by_id: HashMap<&'d str, ElementRef<'d>>,
}

/// The items of a page that are no property of another.
pub(super) fn items(dom: &Dom, room: &mut Room) -> Vec<Value> {
    let named = |element: ElementRef<'_>| element.attr("id").is_some();
    let mut by_id = HashMap::new();
    for element in dom.root().descendent_elements().filter(|element| named(*element)) {
        by_id.entry(element.attr("id").unwrap_or_default()).or_insert(element);
    }
    let source = Source { dom, by_id };
    let mut items = Vec::new();
    for element in dom.root().descendent_elements() {
        if !room.look() {
            break;
        }
        let is_top = element.attr("itemscope").is_some() && element.attr("itemprop").is_none();
        if is_top {
            items.push(source.item(element, room, DEPTH_MAX));
        }
    }
    items.retain(|item| item.as_object().is_some_and(|item| !item.is_empty()));
    items
}

impl Source<'_> {
    fn item(&self, element: ElementRef<'_>, room: &mut Room, depth: usize) -> Value {
        let mut item = Map::new();
        for kind in room.names(element, "itemtype") {
            if let Some(kind) = room.text(kind) {
                room.add(&mut item, "@type", kind);
            }
        }
        if let Some(id) = element.attr("itemid").and_then(|id| room.address(self.dom, id)) {
            room.add(&mut item, "@id", id);
        }
        let referred = room.names(element, "itemref").into_iter();
        // Depth first, in document order; what another item holds is that item's.
        let mut open: Vec<_> =
            referred.filter_map(|id| self.by_id.get(id).copied()).rev().collect();
        open.extend(element.child_elements().collect::<Vec<_>>().into_iter().rev());
        while let Some(next) = open.pop() {
            if !room.look() {
                break;
            }
            let names = description_alone(room.names(next, "itemprop"));
            let value = if names.is_empty() { None } else { self.value(next, room, depth) };
            if let Some(value) = value {
                for name in names {
                    room.add(&mut item, name, value.clone());
                }
            }
            if next.attr("itemscope").is_none() {
                open.extend(next.child_elements().collect::<Vec<_>>().into_iter().rev());
            }
        }
        Value::Object(item)
    }

    fn value(&self, element: ElementRef<'_>, room: &mut Room, depth: usize) -> Option<Value> {
        if element.attr("itemscope").is_some() {
            return Some(self.item(element, room, depth.checked_sub(1)?));
        }
        // Beyond the standard, but in every example of schema.org, and what search engines read.
        if let Some(content) = element.attr("content") {
            return room.text(content);
        }
        let name = element.value().name();
        if let Some(attribute) = address_attribute(name) {
            return room.address(self.dom, element.attr(attribute).unwrap_or_default());
        }
        let written = match name {
            "meta" => Some(""),
            "data" | "meter" => Some(element.attr("value").unwrap_or_default()),
            "time" => element.attr("datetime"),
            _ => None,
        };
        match written {
            Some(written) => room.text(written),
            None => room.text_of(element),
        }
    }
}
