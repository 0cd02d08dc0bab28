//! What an extractor yields on one page, bounded.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::marker::PhantomData;

use serde::Serialize;
use serde_json::Value;
use url::Url;

use super::ExtractError;
use crate::page::{Link, LinkKind};

/// How much one extractor may yield on one page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ItemLimits {
    /// Items.
    pub items: usize,
    /// Bytes of one item, as JSON.
    pub item_bytes: usize,
    /// Bytes of all of them.
    pub bytes: usize,
    /// Links.
    pub links: usize,
    /// Bytes of a link's address.
    pub url_bytes: usize,
}

impl Default for ItemLimits {
    fn default() -> Self {
        Self {
            items: 10_000,
            item_bytes: 1 << 20,
            bytes: 16 << 20,
            links: 10_000,
            url_bytes: 4_096,
        }
    }
}

/// What one extractor made of one page.
#[derive(Clone, Debug, Default)]
pub struct Yielded {
    /// The extractor.
    pub extractor: String,
    /// Items.
    pub items: Vec<Value>,
    /// Links that it would follow.
    pub links: Vec<Link>,
    /// What was left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// What stopped it, if it was stopped.
    pub error: Option<String>,
    bytes: usize,
}

impl Yielded {
    pub(super) fn of(extractor: &str) -> Self {
        Self { extractor: extractor.into(), ..Self::default() }
    }

    pub(super) fn leave(&mut self, reason: impl Into<String>) {
        *self.left_out.entry(reason.into()).or_default() += 1;
    }
}

/// Where an extractor puts what it finds.
#[derive(Debug)]
pub struct Out<'a, T> {
    yielded: &'a mut Yielded,
    limits: ItemLimits,
    of: PhantomData<fn(T)>,
}

impl<'a, T: Serialize> Out<'a, T> {
    pub(super) fn new(yielded: &'a mut Yielded, limits: ItemLimits) -> Self {
        Self { yielded, limits, of: PhantomData }
    }

    /// An item. One beyond the [`ItemLimits`] is left out and counted.
    ///
    /// # Errors
    /// If it cannot be put into JSON.
    pub fn item(&mut self, item: T) -> Result<(), ExtractError> {
        if self.yielded.items.len() >= self.limits.items {
            self.yielded.leave("more items than are kept of a page");
            return Ok(());
        }
        let mut counted = Counted { bytes: 0, most: self.limits.item_bytes };
        let sized = serde_json::to_writer(&mut counted, &item);
        if counted.bytes > counted.most || self.yielded.bytes + counted.bytes > self.limits.bytes {
            self.yielded.leave("larger than an item may be");
            return Ok(());
        }
        sized?;
        self.yielded.items.push(serde_json::to_value(item)?);
        self.yielded.bytes += counted.bytes;
        Ok(())
    }

    /// A link to follow, if the page's rules, robots.txt and the crawl's scope permit. If the page
    /// has a link to the same address, what that one says counts: `rel=nofollow` stays.
    pub fn link(&mut self, url: Url) {
        if self.yielded.links.len() >= self.limits.links {
            self.yielded.leave("more links than are kept of a page");
        } else if url.as_str().len() > self.limits.url_bytes {
            self.yielded.leave("a link longer than is kept");
        } else if !matches!(url.scheme(), "http" | "https") {
            self.yielded.leave("a link that is neither http nor https");
        } else {
            let (rel, hreflang, anchor) = (String::new(), String::new(), String::new());
            let kind = LinkKind::Hyperlink;
            self.yielded.links.push(Link { url, rel, hreflang, kind, anchor, is_hidden: false });
        }
    }

    /// Says that something on the page is no item, and why: it is counted by reason.
    pub fn leave(&mut self, reason: impl Into<String>) {
        self.yielded.leave(reason);
    }
}

/// Counts bytes, and refuses more than so many.
struct Counted {
    bytes: usize,
    most: usize,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.most {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            Ok(bytes.len())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
