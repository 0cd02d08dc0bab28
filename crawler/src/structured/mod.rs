//! Structured data of pages: JSON-LD, microdata and RDFa Lite, all as JSON, kept under their own
//! rule (SN-005): `data-nosnippet` does not touch them, and of the limits on snippets only the
//! description of creative works knows anything.

mod microdata;
mod rdfa;
mod shown;
mod values;

#[cfg(test)]
mod tests;

use memchr::memmem;
use serde_json::Value;

use crate::extract::{Dom, DomLimits, ReadPage};
use crate::page::PageKind;
use values::Room;

pub use shown::shown;

/// Bytes of JSON that are kept of a page beside its JSON-LD.
const BYTES_MAX: usize = 256 << 10;

/// Whether [`of`] must build the page's tree: whether any element may carry structured data.
pub fn needs_tree(page: &ReadPage) -> bool {
    page.content.kind == PageKind::Html
        && [&b"itemscope"[..], b"typeof="]
            .iter()
            .any(|name| memmem::find(&page.body, name).is_some())
}

/// The structured data of a page, one JSON text each: its JSON-LD as written, then its microdata and
/// its RDFa Lite as objects with `@type`, `@id` and a value, or a list of them, for each property.
/// What is beyond a quarter of a megabyte is left out.
pub fn of(page: &ReadPage) -> Vec<String> {
    let mut found = page.content.structured_data.clone();
    if needs_tree(page) {
        let dom = Dom::of(page, DomLimits::default());
        let mut room = Room::new(BYTES_MAX);
        let mut items = microdata::items(&dom, &mut room);
        items.extend(rdfa::items(&dom, &mut room));
        found.extend(items.iter().map(Value::to_string));
    }
    found
}
