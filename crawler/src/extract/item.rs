//! What extractors yield, and where it goes. The files that `comity crawl` writes are in
//! [`crate::output::items`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use comity_compliance::Timestamp;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::Value;
use url::Url;

/// One thing that an extractor found on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The extractor's name.
    pub extractor: String,
    /// The page.
    pub url: Url,
    /// When the page was fetched.
    pub at: Timestamp,
    /// What was found.
    pub value: Value,
}

/// As a line of `items.jsonl`.
impl Serialize for Item {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut item = to.serialize_struct("Item", 4)?;
        item.serialize_field("extractor", &self.extractor)?;
        item.serialize_field("url", self.url.as_str())?;
        item.serialize_field("at", &self.at.to_string())?;
        item.serialize_field("value", &self.value)?;
        item.end()
    }
}

/// What a sink made of the items that it was given.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Receipt {
    /// Items that it took.
    pub kept: u64,
    /// Items that it did not want, by reason.
    pub left_out: BTreeMap<Cow<'static, str>, u64>,
}

impl Receipt {
    /// For a sink that keeps everything.
    pub fn all(items: &[Item]) -> Self {
        Self { kept: items.len() as u64, left_out: BTreeMap::new() }
    }
}

/// Items that could not be kept. It ends the crawl: the page is not noted as fetched, so the next
/// run fetches it again, and nothing is lost.
#[derive(Debug, thiserror::Error)]
#[error("items could not be kept")]
pub struct SinkError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl SinkError {
    /// Of a cause, or of a sentence.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

/// A sink's answer on its way.
pub type Answering<'a, R> = Pin<Box<dyn Future<Output = Result<R, SinkError>> + Send + 'a>>;

/// Takes items, from many pages at once.
///
/// At least once: a page's visit is committed after its items were taken and synced, so a crash
/// before that repeats the page and its items. Until a sink has answered, the page's site is not
/// asked for another page: a slow sink makes a slow crawl and loses nothing.
pub trait Sink: Send + Sync + 'static {
    /// Takes the items of one page. They may be gone after a crash until [`Sink::sync`] has
    /// returned. Items of a call that failed count as not taken, and come again.
    fn put<'a>(&'a self, items: &'a [Item]) -> Answering<'a, Receipt>;

    /// Returns once all that was taken before the call is as safe as the crawl's store. Called
    /// before every commit, from many tasks at once, so it must be cheap where nothing is new.
    /// A sink whose `put` does that already needs none.
    fn sync(&self) -> Answering<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Called once, at the end of a crawl; no call follows.
    fn finish(&self) -> Answering<'_, ()> {
        self.sync()
    }
}
