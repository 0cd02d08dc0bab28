//! A page as an extractor is told it.

use std::ops::Deref;

use bytes::Bytes;
use comity_compliance::{Directives, Publication, Timestamp};
use hyper::HeaderMap;
use url::Url;

use super::ExtractError;
use super::dom::Dom;
use crate::net::Completeness;
use crate::page::{Page, ScanLimits, scan};

/// What one visit brought.
#[derive(Clone, Debug)]
pub struct ReadPage {
    /// Its address.
    pub url: Url,
    /// When it came.
    pub at: Timestamp,
    /// Its status: always one of success.
    pub status: u16,
    /// The headers as they came.
    pub headers: HeaderMap,
    /// The decoded body.
    pub body: Bytes,
    /// Whether the body is all that there is, or was cut at our own limit.
    pub completeness: Completeness,
    /// Title, text, links and structured data.
    pub content: Page,
    /// The page rules that bind this crawler.
    pub directives: Directives,
    /// What an index may do with the page. Extracting is reading, and robots.txt is the rule on
    /// that; whoever shows what was extracted looks here.
    pub publication: Publication,
}

impl ReadPage {
    /// A page that is at hand, with status 200, this type and no rules: for tries and tests.
    pub fn at_hand(url: Url, content_type: &str, body: impl Into<Bytes>, at: Timestamp) -> Self {
        let body = body.into();
        let content = scan(&body, Some(content_type), &url, &ScanLimits::default());
        let mut headers = HeaderMap::new();
        if let Ok(value) = content_type.parse() {
            headers.insert("content-type", value);
        }
        let directives = Directives::default();
        let publication = Publication::of(&directives, at);
        let completeness = Completeness::Whole;
        Self { url, at, status: 200, headers, body, completeness, content, directives, publication }
    }

    /// The content-type header.
    pub(crate) fn content_type(&self) -> Option<&str> {
        self.headers.get("content-type").and_then(|value| value.to_str().ok())
    }
}

/// A page as an extractor sees it: all of [`ReadPage`], and the tree where it was asked for.
#[derive(Debug)]
pub struct PageView<'a> {
    read: &'a ReadPage,
    dom: Option<&'a Dom>,
}

impl<'a> PageView<'a> {
    pub(super) fn new(read: &'a ReadPage, dom: Option<&'a Dom>) -> Self {
        Self { read, dom }
    }

    /// The tree.
    ///
    /// # Errors
    /// [`ExtractError`] if the extractor's `needs` did not ask for it.
    pub fn dom(&self) -> Result<&'a Dom, ExtractError> {
        self.dom.ok_or_else(|| "no tree was built: let needs() answer Needs::Dom".into())
    }
}

impl Deref for PageView<'_> {
    type Target = ReadPage;

    fn deref(&self) -> &ReadPage {
        self.read
    }
}
