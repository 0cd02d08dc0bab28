//! Page rules: from meta tags and `X-Robots-Tag` lines to the few that bind one crawler, each
//! with the place it came from.

mod header;
mod list;
mod meta;
mod remarks;
mod robots_tag;
mod vocabulary;

#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use meta::Addressee;
use remarks::Taken;

use crate::{DateReader, Identity, Timestamp, UntimedDate};

pub use remarks::{MOST_REMARKS, Remark, RemarkKind};
pub use vocabulary::{Form, HistoricRule, ImagePreview, Limit, Rule, VOCABULARY, Word};

/// A rule with the place that it came from.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Directive {
    /// What it says.
    pub rule: Rule,
    /// Where it stood.
    pub source: Source,
    /// The product token that it addresses; `None` for all crawlers.
    pub agent: Option<String>,
}

/// As a person reads it: `X-Robots-Tag line 1, examplebot: noindex`, `meta robots 2: noindex`.
impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, &self.agent) {
            (Source::Header { .. } | Source::RobotsTag { .. }, Some(agent)) => {
                write!(f, "{}, {agent}: {}", self.source, self.rule)
            }
            (Source::Header { .. } | Source::RobotsTag { .. } | Source::Meta { .. }, _) => {
                write!(f, "{}: {}", self.source, self.rule)
            }
        }
    }
}

/// Where a rule stood.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Source {
    /// In a field line of the response.
    Header {
        /// Which of the `X-Robots-Tag` lines, from 1.
        line: u16,
    },
    /// In a field line of the response by the name that a draft gives it (XR-007).
    RobotsTag {
        /// Which of the `Robots-Tag` lines, from 1.
        line: u16,
    },
    /// In a meta tag of the page.
    Meta {
        /// Which of the tags that bind this crawler, from 1.
        ordinal: u16,
        /// The tag's name in lower case: `robots` or a product token.
        name: String,
    },
}

impl Source {
    /// Whether it stood in a response header, and not on the page.
    pub const fn is_header(&self) -> bool {
        match self {
            Self::Header { .. } | Self::RobotsTag { .. } => true,
            Self::Meta { .. } => false,
        }
    }
}

/// `X-Robots-Tag line 1`, `Robots-Tag line 1` or `meta robots 2`; [`FromStr`] reads it back.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { line } => write!(f, "{HEADER_LINE}{line}"),
            Self::RobotsTag { line } => write!(f, "{ROBOTS_TAG_LINE}{line}"),
            Self::Meta { ordinal, name } => write!(f, "{META}{name} {ordinal}"),
        }
    }
}

const HEADER_LINE: &str = "X-Robots-Tag line ";
const ROBOTS_TAG_LINE: &str = "Robots-Tag line ";
const META: &str = "meta ";

impl FromStr for Source {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let header = || {
            let line = text.strip_prefix(HEADER_LINE)?.parse().ok()?;
            Some(Self::Header { line })
        };
        let robots_tag = || {
            let line = text.strip_prefix(ROBOTS_TAG_LINE)?.parse().ok()?;
            Some(Self::RobotsTag { line })
        };
        let meta = || {
            let (name, ordinal) = text.strip_prefix(META)?.rsplit_once(' ')?;
            Some(Self::Meta { ordinal: ordinal.parse().ok()?, name: name.to_owned() })
        };
        header().or_else(robots_tag).or_else(meta).ok_or(
            "a rule's source is \"X-Robots-Tag line N\", \"Robots-Tag line N\" or \"meta NAME N\"",
        )
    }
}

/// The page rules that bind one crawler.
///
/// Rules only add up: a rule for one crawler never lifts one for all, and `index` lifts nothing
/// (RM-041, RM-042, AM-45). Of several rules of one kind the most restrictive is kept, once from
/// the response's header and once from its page, so the size has a bound whatever a page sends.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Directives {
    kept: Vec<Directive>,
}

impl Directives {
    /// Starts to collect the rules that bind `identity`: those for all crawlers, and those for
    /// any of its tokens (AM-42). `now` is when the response came; it tells the century of dates
    /// with a two-digit year (HT-011).
    pub fn for_identity(identity: &Identity, now: Timestamp) -> Collector<'_> {
        Collector {
            identity,
            dates: DateReader::new(now),
            header_lines: 0,
            robots_tag: RobotsTag::PassOver,
            meta_tags: 0,
            taken: Taken::default(),
        }
    }

    /// The rules that a store kept.
    pub fn from_parts(parts: impl IntoIterator<Item = Directive>) -> Self {
        let mut directives = Self::default();
        parts.into_iter().for_each(|part| directives.add(part));
        directives
    }

    /// Every rule kept, in the order in which it was first seen.
    pub fn iter(&self) -> impl Iterator<Item = &Directive> {
        self.kept.iter()
    }

    /// Whether no rule binds us.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Adds the rules of another reading of the same page, such as its rendered form (AM-58).
    pub fn merge(&mut self, other: Self) {
        other.kept.into_iter().for_each(|rule| self.add(rule));
    }

    /// The rules after a 304: the header's are replaced if the 304 carried an `X-Robots-Tag`
    /// line, binding or not, and stand otherwise; the page's stand (AM-56).
    ///
    /// `answer` is what the lines of the 304 say; `None` if it had none.
    #[must_use]
    pub fn after_not_modified(mut self, answer: Option<Self>) -> Self {
        if let Some(answer) = answer {
            self.kept.retain(|kept| !kept.source.is_header());
            self.merge(answer);
        }
        self
    }

    /// The rule that keeps the page out of results (RM-021).
    pub fn noindex(&self) -> Option<&Directive> {
        self.flag(Rule::NoIndex)
    }

    /// The rule that keeps every link of the page from being followed (RM-022).
    pub fn nofollow(&self) -> Option<&Directive> {
        self.flag(Rule::NoFollow)
    }

    /// The rule that forbids snippets: `nosnippet`, or `max-snippet:0`, which is the same
    /// (RM-024, RM-026).
    pub fn nosnippet(&self) -> Option<&Directive> {
        self.flag(Rule::NoSnippet).or_else(|| self.flag(Rule::MaxSnippet(Limit::AtMost(0))))
    }

    /// The rule that allows embedded use despite noindex (RM-025).
    pub fn index_if_embedded(&self) -> Option<&Directive> {
        self.flag(Rule::IndexIfEmbedded)
    }

    /// The rule that forbids to offer a translation (RM-029).
    pub fn no_translate(&self) -> Option<&Directive> {
        self.flag(Rule::NoTranslate)
    }

    /// The rule that keeps the page's images out of the index (RM-030).
    pub fn no_image_index(&self) -> Option<&Directive> {
        self.flag(Rule::NoImageIndex)
    }

    /// Most characters of a snippet, without regard to `nosnippet` (RM-026).
    pub fn max_snippet(&self) -> Option<(Limit, &Directive)> {
        self.strictest(|rule| if let Rule::MaxSnippet(limit) = rule { Some(limit) } else { None })
    }

    /// Largest image preview (RM-027).
    pub fn max_image_preview(&self) -> Option<(ImagePreview, &Directive)> {
        self.strictest(
            |rule| {
                if let Rule::MaxImagePreview(size) = rule { Some(size) } else { None }
            },
        )
    }

    /// Most seconds of a video preview, without regard to `nosnippet` (RM-028).
    pub fn max_video_preview(&self) -> Option<(Limit, &Directive)> {
        self.strictest(
            |rule| {
                if let Rule::MaxVideoPreview(limit) = rule { Some(limit) } else { None }
            },
        )
    }

    /// The earliest instant from which the page may not be shown (RM-031, AM-48).
    pub fn unavailable_after(&self) -> Option<(Timestamp, &Directive)> {
        self.strictest(|rule| {
            if let Rule::UnavailableAfter(instant) = rule { Some(instant) } else { None }
        })
    }

    fn flag(&self, rule: Rule) -> Option<&Directive> {
        self.kept.iter().find(|kept| kept.rule == rule)
    }

    fn strictest<T: Ord + Copy>(&self, of: fn(Rule) -> Option<T>) -> Option<(T, &Directive)> {
        self.kept
            .iter()
            .filter_map(|kept| of(kept.rule).map(|value| (value, kept)))
            .min_by_key(|(value, _)| *value)
    }

    fn add(&mut self, new: Directive) {
        let rival = self.kept.iter_mut().find(|kept| {
            kept.rule.same_kind(new.rule) && kept.source.is_header() == new.source.is_header()
        });
        match rival {
            Some(kept) if new.rule.is_stricter_than(kept.rule) => *kept = new,
            Some(_) => {}
            None => self.kept.push(new),
        }
    }
}

/// Takes a response's lines and tags as they come.
#[derive(Clone, Debug)]
pub struct Collector<'i> {
    identity: &'i Identity,
    dates: DateReader,
    header_lines: u16,
    robots_tag: RobotsTag,
    meta_tags: u16,
    taken: Taken,
}

/// What becomes of `Robots-Tag` lines.
#[derive(Clone, Copy, Debug)]
enum RobotsTag {
    PassOver,
    Read { lines: u16 },
}

impl Collector<'_> {
    /// Also heeds `Robots-Tag` lines, which no more than a draft knows yet (XR-007).
    #[must_use]
    pub fn with_robots_tag(mut self) -> Self {
        self.robots_tag = RobotsTag::Read { lines: 0 };
        self
    }

    /// Also keeps what was not understood, see [`Collector::remarks`].
    #[must_use]
    pub fn with_remarks(mut self) -> Self {
        self.taken.remarks = Some(Vec::new());
        self
    }

    /// Takes a date without a time of day so (AM-51).
    #[must_use]
    pub fn with_untimed_dates(mut self, untimed: UntimedDate) -> Self {
        self.dates = self.dates.with_untimed(untimed);
        self
    }

    /// Takes the value of one `Robots-Tag` field line, in the order of the response; passed over
    /// without [`Collector::with_robots_tag`].
    pub fn robots_tag_line(&mut self, value: &[u8]) {
        let RobotsTag::Read { lines } = &mut self.robots_tag else { return };
        *lines = lines.saturating_add(1);
        let line = *lines;
        robots_tag::read_line(value, self.identity, self.dates, |found, token| {
            self.taken.take(found, token, || Source::RobotsTag { line });
        });
    }

    /// Takes the value of one `X-Robots-Tag` field line, in the order of the response.
    pub fn header_line(&mut self, value: &[u8]) {
        self.header_lines = self.header_lines.saturating_add(1);
        let line = self.header_lines;
        header::read_line(value, self.identity, self.dates, |found, token| {
            self.taken.take(found, token, || Source::Header { line });
        });
    }

    /// Takes a meta tag's name and content, character references resolved; a tag that does not
    /// bind us is passed over. Only tags of the page's own tree count, in head or body: none of
    /// a comment, script, template or embedded document (AM-40).
    pub fn meta(&mut self, name: &str, content: &str) {
        let Some(addressee) = meta::addressee(name, self.identity) else {
            return;
        };
        let token = match addressee {
            Addressee::AllCrawlers => None,
            Addressee::Us(token) => Some(token),
        };
        self.meta_tags = self.meta_tags.saturating_add(1);
        let ordinal = self.meta_tags;
        let name = token.map_or("robots", |token| token.as_str());
        meta::read_content(content, self.dates, |found| {
            let source = || Source::Meta { ordinal, name: name.to_ascii_lowercase() };
            self.taken.take(found, token, source);
        });
    }

    /// What of the lines and tags so far was not understood, in their order: at most
    /// [`MOST_REMARKS`], and none without [`Collector::with_remarks`]. What is addressed to other
    /// crawlers is not looked at.
    pub fn remarks(&self) -> &[Remark] {
        self.taken.remarks.as_deref().unwrap_or_default()
    }

    /// The rules that bind.
    pub fn finish(self) -> Directives {
        self.taken.directives
    }
}
