//! Extractors: what is taken out of pages as typed items, by code (the trait [`Extractor`]) or by
//! settings ([`rules`]), and the sinks that items go to.
//!
//! Extractors run off the runtime's threads, after the page's rules were read and before its visit is
//! committed. They may yield links; those take the way of the page's own links and loosen no rule.
//! An error or a panic is counted and told, and the crawl goes on.
//!
//! A page that says `noindex` is extracted too: R6 to R10 are about what a result shows, and limits
//! there do not touch structured data (SN-005); what may be read at all is for robots.txt to say.
//! The extractor sees the page's rules, and an operator may leave such pages out.

mod dom;
mod erased;
mod gathered;
mod item;
pub mod rules;
mod view;

use serde::Serialize;

pub use self::dom::{Dom, DomLimits, TooCostly};
pub(crate) use self::erased::{Erased, ErasedExtractor, run_all};
pub use self::gathered::{ItemLimits, Out, Yielded};
pub use self::item::{Answering, Item, Receipt, Sink, SinkError};
pub use self::view::{PageView, ReadPage};
use crate::decision::Decision;

/// Why an extractor could not do its work on a page: any error, or a sentence.
pub type ExtractError = Box<dyn std::error::Error + Send + Sync>;

/// What an extractor must be given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Needs {
    /// The page as the streaming pass read it: no tree is built. Called for pages of every type.
    Page,
    /// Its tree too. Called for HTML only.
    Dom,
}

/// Takes typed items out of pages. Called from many threads at once.
pub trait Extractor: Send + Sync + 'static {
    /// What it finds.
    type Item: Serialize;

    /// Its name: items, counts and log lines carry it.
    fn name(&self) -> &str;

    /// What it must be given.
    fn needs(&self) -> Needs {
        Needs::Page
    }

    /// Whether it wants a page. Asked before a tree is built, so that pages without interest are
    /// cheap.
    fn takes(&self, page: &ReadPage) -> Decision {
        let _ = page;
        Decision::take("every page")
    }

    /// Reads a page. Each item and link that is put `out` stands, also if an error follows.
    ///
    /// # Errors
    /// Whatever stopped it; counted by the extractor's name and told with the page's URL.
    fn extract(
        &self,
        page: &PageView<'_>,
        out: &mut Out<'_, Self::Item>,
    ) -> Result<(), ExtractError>;
}

/// A page with its tree, at hand for tries.
#[derive(Debug)]
pub struct Trial<'a> {
    page: &'a ReadPage,
    dom: Option<Dom>,
}

impl<'a> Trial<'a> {
    /// Builds the tree of a page, if it is HTML.
    pub fn of(page: &'a ReadPage) -> Self {
        let is_html = page.content.kind == crate::page::PageKind::Html;
        let dom = is_html.then(|| Dom::of(page, DomLimits::default()));
        Self { page, dom }
    }

    /// What the settings' extractor finds, item by item and field by field.
    ///
    /// # Errors
    /// [`TooCostly`]
    pub fn attempts(&self, rules: &rules::Rules) -> Result<Vec<rules::Attempt>, TooCostly> {
        if let Some(dom) = &self.dom {
            dom.wind_up();
        }
        rules.attempts(&PageView::new(self.page, self.dom.as_ref()))
    }
}

/// Runs one extractor on a page that is at hand, as a crawl would: for tries and tests.
pub fn run_on<E: Extractor>(extractor: E, page: &ReadPage) -> Yielded {
    let extractor: Box<dyn ErasedExtractor> = Box::new(Erased(extractor));
    let mut all = run_all(std::slice::from_ref(&extractor), page);
    all.pop().unwrap_or_else(|| Yielded::of(extractor.name()))
}

#[cfg(test)]
mod tests;
