//! Sitemaps: bytes to entries, in one streaming pass that keeps nothing of the file, and the plan
//! of which sitemap comes next.
//!
//! XML with `urlset` or `sitemapindex`, RSS 2.0 with Media RSS, Atom 1.0, and text (SM-002); each
//! may be compressed. The bytes decide what a file is, its name and type do not. Nothing is fetched
//! here, and which entry counts is judged by [`comity_compliance::may_list`].
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use comity::sitemap::{Listed, SitemapLimits, SitemapReader};
//! use comity_compliance::Timestamp;
//!
//! let body = b"<urlset><url><loc>https://example.com/a</loc></url></urlset>";
//! let reader = SitemapReader::new(SitemapLimits::default(), Timestamp::from_secs(1_796_040_000));
//! let mut urls = Vec::new();
//! let report = reader.read(&body[..], |listed| {
//!     urls.push(listed.url().to_string());
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(urls, ["https://example.com/a"]);
//! assert_eq!(report.ended_by, None);
//! ```

mod draft;
mod entry;
mod report;
mod source;
mod text;
mod vocabulary;
mod walk;
mod xml;

#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::ops::ControlFlow;

use comity_compliance::{SitemapFault, Timestamp, parse_date};
use encoding_rs::Encoding;

pub use self::entry::{Alternate, Listed, ListedPage, ListedSitemap, News, Video};
pub use self::report::{FaultAt, Position, SitemapKind, SitemapReport};
pub use self::walk::{NotPlanned, PlannedSitemap, Walk, WalkLimits};

use self::report::Sink;
use self::source::Source;

/// How much of a sitemap is read and kept. What a limit cuts is reported, and is no error.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SitemapLimits {
    /// Unpacked bytes that are read (SM-001).
    pub bytes: u64,
    /// Entries that are read, those without a usable address too (SM-001).
    pub entries: u64,
    /// Bytes of an address; a longer one is left out (SM-001).
    pub url_bytes: usize,
    /// Bytes kept of a title, description or name.
    pub text_bytes: usize,
    /// Elements within elements.
    pub nesting: usize,
    /// Bytes of one tag, comment or piece of text. This bounds the memory of the whole pass.
    pub token_bytes: usize,
    /// Images of one page (SM-005).
    pub images: usize,
    /// Videos of one page.
    pub videos: usize,
    /// Other languages of one page.
    pub alternates: usize,
    /// Entries whose news tags count (SM-005).
    pub news: u64,
    /// Faults that are kept with their places; all are counted.
    pub faults: usize,
}

impl Default for SitemapLimits {
    fn default() -> Self {
        Self {
            bytes: 50 << 20,
            entries: 50_000,
            url_bytes: 2_047,
            text_bytes: 4_096,
            nesting: 64,
            token_bytes: 1 << 20,
            images: 1_000,
            videos: 100,
            alternates: 1_000,
            news: 1_000,
            faults: 100,
        }
    }
}

/// Reads sitemaps.
#[derive(Clone, Debug)]
pub struct SitemapReader {
    limits: SitemapLimits,
    now: Timestamp,
    charset: Option<&'static Encoding>,
}

impl SitemapReader {
    /// A reader with these limits. `now` is for dates with two-digit years and for news, which is
    /// new for two days.
    pub fn new(limits: SitemapLimits, now: Timestamp) -> Self {
        Self { limits, now, charset: None }
    }

    /// Takes note of a Content-Type header's value: its `charset`, which goes before the file's own
    /// declaration (RFC 7303 section 3.2). The type itself tells nothing.
    #[must_use]
    pub fn with_content_type(mut self, content_type: &str) -> Self {
        let parameters = content_type.split(';').skip(1).filter_map(|p| p.split_once('='));
        let mut labels = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        let label = labels.next().map(|(_, label)| label.trim().trim_matches('"'));
        self.charset = label.and_then(|label| Encoding::for_label(label.as_bytes()));
        self
    }

    /// Reads a body, and hands over each entry with a usable address as it comes, until `each`
    /// breaks off.
    ///
    /// Time is linear in the unpacked bytes, memory bounded by the limits. A body that is broken,
    /// too large or breaks off keeps what was read before; nothing is an error.
    pub fn read(
        &self,
        body: impl BufRead,
        mut each: impl FnMut(Listed) -> ControlFlow<()>,
    ) -> SitemapReport {
        let mut sink = Sink::new(&self.limits, self.now, &mut each);
        let mut source = Source::open(body, &self.limits, self.charset);
        let source = match source.first_visible() {
            None => {
                sink.fault(source.position(), SitemapFault::Empty, "");
                source
            }
            Some(b'<') => xml::read(source, &mut sink),
            Some(_) => {
                text::read(&mut source, &mut sink);
                source
            }
        };
        source.finish(&mut sink);
        sink.report
    }
}

/// Reads a `lastmod`: W3C Datetime in all its precisions, and what people write instead
/// ([`parse_date`]). A year or a month means its first instant, no zone is UTC, fractions of a
/// second are dropped. None if it is no date.
pub fn parse_lastmod(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()) {
        return parse_date(&format!("{text}-01-01"), now);
    }
    parse_date(text, now)
}
