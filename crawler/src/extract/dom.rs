//! The tree of a page, for extractors that ask for it. A page cannot make it large, deep or slow:
//! what lies beyond the limits is cut.

use std::cell::Cell;

use html5ever::driver::ParseOpts;
use html5ever::tendril::{StrTendril, TendrilSink as _};
use scraper::{ElementRef, Html, HtmlTreeSink, Node, Selector};
use tokio::time::{Duration, Instant};
use url::Url;

use super::view::ReadPage;
use crate::page;

/// What one tree may hold, and what its reading may cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DomLimits {
    /// Bytes of decoded HTML.
    pub bytes: usize,
    /// Nodes, checked once a KiB of the page.
    pub nodes: usize,
    /// Elements inside each other, checked as often. Parsing takes time with the depth for each tag.
    pub depth: usize,
    /// Elements that the selectors of one extractor look at.
    pub looks: u32,
    /// Time for the selectors of one extractor.
    pub time: Duration,
}

impl Default for DomLimits {
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            nodes: 250_000,
            depth: 400,
            looks: 20_000_000,
            time: Duration::from_secs(5),
        }
    }
}

/// HTML is given to the parser in pieces of so many bytes, and the tree is measured in between.
const PIECE: usize = 1024;
/// The time is asked once in so many looks.
const LOOKS_BETWEEN: u32 = 64;

/// A page's tree, as the HTML standard builds it.
#[derive(Debug)]
pub struct Dom {
    html: Html,
    base: page::Resolver,
    is_cut: bool,
    looks_left: Cell<u32>,
    until: Cell<Instant>,
    limits: DomLimits,
}

/// A page on which the selectors of an extractor would take too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("its selectors look at too many elements of this page; simpler ones, or `each`, cost less")]
pub struct TooCostly;

impl Dom {
    /// Builds the tree of a page.
    pub fn of(page: &ReadPage, limits: DomLimits) -> Self {
        let (text, encoding) = page::decode_html(&page.body, page.content_type(), &page.url);
        let (html, is_cut) = parse(&text, &limits);
        let plain = page::Resolver::new(None, encoding, &page.url);
        let mut dom = Self {
            html,
            base: plain,
            is_cut,
            looks_left: Cell::new(0),
            until: Cell::new(Instant::now()),
            limits,
        };
        let base = dom.elements().find(|element| element.value().name() == "base");
        let base = base.and_then(|base| base.attr("href")).map(str::to_owned);
        dom.base = page::Resolver::new(base.as_deref(), encoding, &page.url);
        dom
    }

    /// Gives the next extractor its own looks and time.
    pub(super) fn wind_up(&self) {
        self.looks_left.set(self.limits.looks);
        self.until.set(Instant::now() + self.limits.time);
    }

    /// The tree itself, as the crate `scraper` has it. Searches in it are not bounded; those by
    /// [`Dom::select`] are.
    pub fn html(&self) -> &Html {
        &self.html
    }

    /// Whether the page was larger or deeper than a tree may be, so that its end is missing.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The http or https address that an attribute means, without fragment.
    pub fn resolve(&self, address: &str) -> Option<Url> {
        self.base.resolve(address.trim())
    }

    /// The document's element.
    pub fn root(&self) -> ElementRef<'_> {
        self.html.root_element()
    }

    /// The elements below `within` that a selector matches, in document order, `most` at most.
    ///
    /// # Errors
    /// [`TooCostly`] once the extractor has looked at more elements, or longer, than it may.
    pub fn select<'d>(
        &'d self,
        within: ElementRef<'d>,
        selector: &Selector,
        most: usize,
    ) -> Result<Vec<ElementRef<'d>>, TooCostly> {
        let mut found = Vec::new();
        for element in within.descendent_elements().filter(|element| *element != within) {
            self.look()?;
            if found.len() == most {
                break;
            }
            if selector.matches_with_scope(&element, Some(within)) {
                found.push(element);
            }
        }
        Ok(found)
    }

    /// The text that lies in an element, in lines of one blank between words; scripts and style
    /// sheets are no text.
    ///
    /// # Errors
    /// As [`Dom::select`].
    pub fn text(&self, of: ElementRef<'_>) -> Result<String, TooCostly> {
        let mut text = String::new();
        for node in of.descendants() {
            self.look()?;
            let Node::Text(piece) = node.value() else { continue };
            let is_hidden =
                node.ancestors().filter_map(ElementRef::wrap).next().is_some_and(|around| {
                    around != of && matches!(around.value().name(), "script" | "style" | "noscript")
                });
            if !is_hidden {
                text.push_str(piece);
            }
        }
        Ok(one_line(&text))
    }

    fn elements(&self) -> impl Iterator<Item = ElementRef<'_>> {
        self.html.tree.nodes().filter_map(ElementRef::wrap)
    }

    fn look(&self) -> Result<(), TooCostly> {
        let left = self.looks_left.get().checked_sub(1).ok_or(TooCostly)?;
        self.looks_left.set(left);
        if left.is_multiple_of(LOOKS_BETWEEN) && Instant::now() > self.until.get() {
            self.looks_left.set(0);
            return Err(TooCostly);
        }
        Ok(())
    }
}

/// Words with one blank between them.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(1 << 16));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The nearest end of a character at `at` or before it. No character is as long as a piece, so a piece
/// is never empty.
fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The tree, and whether a limit cut it.
fn parse(text: &str, limits: &DomLimits) -> (Html, bool) {
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = html5ever::driver::parse_document(sink, ParseOpts::default());
    let mut rest = &text[..boundary(text, limits.bytes)];
    let mut is_cut = rest.len() < text.len();
    let mut seen = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(boundary(rest, PIECE));
        rest = after;
        parser.process(StrTendril::from_slice(piece));
        let html = parser.tokenizer.sink.sink.0.borrow();
        let nodes = html.tree.nodes();
        let (all, new) = (nodes.len(), nodes.len().saturating_sub(seen));
        seen = all;
        let is_deep =
            nodes.rev().take(new).any(|node| node.ancestors().nth(limits.depth).is_some());
        if all > limits.nodes || is_deep {
            is_cut = true;
            break;
        }
    }
    (parser.finish(), is_cut)
}
