//! What was found in a sitemap beside its entries: its kind, its faults and what ended the reading.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use comity_compliance::{SitemapFault, Timestamp};
use url::{ParseError, Url};

use super::{Listed, SitemapLimits};
use crate::urls::normalise;

/// Characters of a fault's detail.
const DETAIL_CHARS: usize = 80;

/// The formats (SM-002).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SitemapKind {
    /// XML with `urlset`.
    UrlSet,
    /// XML with `sitemapindex`.
    Index,
    /// RSS, with or without Media RSS.
    Rss,
    /// Atom.
    Atom,
    /// One address a line.
    Text,
}

impl SitemapKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::UrlSet, Self::Index, Self::Rss, Self::Atom, Self::Text];

    /// The name used in logs and JSON; never changed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UrlSet => "urlset",
            Self::Index => "sitemapindex",
            Self::Rss => "rss",
            Self::Atom => "atom",
            Self::Text => "text",
        }
    }
}

/// A place in a sitemap.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// Bytes in front of it, of the text in UTF-8.
    pub byte: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {}", self.line, self.byte)
    }
}

/// A fault and its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FaultAt {
    /// The place.
    pub at: Position,
    /// What is wrong.
    pub fault: SitemapFault,
    /// What stands there, cut and safe to print; often empty.
    pub detail: String,
}

/// What was read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SitemapReport {
    /// The format; none if it is no sitemap.
    pub kind: Option<SitemapKind>,
    /// Entries that were handed over.
    pub listed: u64,
    /// Entries that stand there, as far as it was read.
    pub entries: u64,
    /// Unpacked bytes that were read.
    pub bytes: u64,
    /// How often it was compressed: 0, 1 or 2 times.
    pub gzip_layers: u8,
    /// The encoding that it was decoded from, by its Encoding Standard name.
    pub charset: &'static str,
    /// What ended the reading before the end of the file: a limit, or what cannot be read on.
    pub ended_by: Option<SitemapFault>,
    /// The first faults, in document order.
    pub faults: Vec<FaultAt>,
    /// How often each fault was found.
    pub counts: BTreeMap<SitemapFault, u64>,
}

/// Where entries and faults go.
pub(super) struct Sink<'s> {
    pub(super) limits: &'s SitemapLimits,
    pub(super) now: Timestamp,
    pub(super) report: SitemapReport,
    /// Entries whose news tags counted.
    pub(super) news: u64,
    /// Whoever takes the entries wants no more.
    pub(super) is_stopped: bool,
    each: &'s mut dyn FnMut(Listed) -> ControlFlow<()>,
}

impl<'s> Sink<'s> {
    pub(super) fn new(
        limits: &'s SitemapLimits,
        now: Timestamp,
        each: &'s mut dyn FnMut(Listed) -> ControlFlow<()>,
    ) -> Self {
        let report = SitemapReport::default();
        Self { limits, now, report, news: 0, is_stopped: false, each }
    }

    pub(super) fn fault(&mut self, at: Position, fault: SitemapFault, detail: &str) {
        *self.report.counts.entry(fault).or_default() += 1;
        if self.report.faults.len() < self.limits.faults {
            self.report.faults.push(FaultAt { at, fault, detail: printable(detail) });
        }
    }

    /// A fault behind which nothing is read.
    pub(super) fn end(
        &mut self,
        at: Position,
        fault: SitemapFault,
        detail: &str,
    ) -> ControlFlow<()> {
        if self.report.ended_by.is_none() {
            self.report.ended_by = Some(fault);
            self.fault(at, fault, detail);
        }
        ControlFlow::Break(())
    }

    pub(super) fn emit(&mut self, listed: Listed) -> ControlFlow<()> {
        self.report.listed += 1;
        let next = (self.each)(listed);
        self.is_stopped |= next.is_break();
        next
    }

    /// Counts an entry that begins.
    pub(super) fn begin_entry(&mut self, at: Position) -> ControlFlow<()> {
        if self.report.entries >= self.limits.entries {
            return self.end(at, SitemapFault::TooManyEntries, "");
        }
        self.report.entries += 1;
        ControlFlow::Continue(())
    }

    /// The address that a text is, in its normal form; a fault if it is none.
    pub(super) fn address(&mut self, at: Position, text: &str) -> Option<Url> {
        let found = match text {
            _ if text.len() > self.limits.url_bytes => Err(SitemapFault::UrlTooLong),
            _ if text.contains(char::is_control) => Err(SitemapFault::NotAUrl),
            _ => match Url::parse(text) {
                Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(normalise(&url)),
                Ok(_) => Err(SitemapFault::NotHttp),
                Err(ParseError::RelativeUrlWithoutBase) => Err(SitemapFault::RelativeUrl),
                Err(_) => Err(SitemapFault::NotAUrl),
            },
        };
        found.map_err(|fault| self.fault(at, fault, text)).ok()
    }
}

/// The beginning of a text, on one line, without what a terminal would obey.
fn printable(text: &str) -> String {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = shown.take(DETAIL_CHARS).collect();
    if text.chars().nth(DETAIL_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
