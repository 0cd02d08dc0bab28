//! What extractors yield, and where it goes.

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
    /// Items that it has, as safely as it promises.
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
#[error("items could not be kept: {0}")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

impl SinkError {
    /// Of a cause, or of a sentence.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

/// What a sink is at work on.
pub type Putting<'a> = Pin<Box<dyn Future<Output = Result<Receipt, SinkError>> + Send + 'a>>;

/// Takes items, from many pages at once.
///
/// At least once: the visit of a page is committed after its items were taken, so a crash between
/// the two repeats the page and its items. Until a sink has answered, the page's site is not asked
/// for another page: a slow sink makes a slow crawl and loses nothing.
pub trait Sink: Send + Sync + 'static {
    /// Takes the items of one page. What it answers as kept must be as safe as the crawl's store.
    fn put<'a>(&'a self, items: &'a [Item]) -> Putting<'a>;

    /// Called once, at the end of a crawl.
    fn finish<'a>(&'a self) -> Putting<'a> {
        Box::pin(async { Ok(Receipt::default()) })
    }
}
