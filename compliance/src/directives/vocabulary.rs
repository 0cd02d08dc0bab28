//! Every word that robots meta tags and `X-Robots-Tag` lines may hold, as one table, and the
//! rules that the words become.

use core::fmt;
use core::mem::discriminant;

use crate::{DateReader, Timestamp, ZoneSource};

/// One rule for a page, as it was understood.
///
/// `none` becomes two rules; `index` and `follow` are the defaults and become none (RM-009).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rule {
    /// Nothing is restricted; no effect (RM-020).
    All,
    /// Not shown in results (RM-021).
    NoIndex,
    /// Links of the page are not followed (RM-022).
    NoFollow,
    /// No text snippet and no video preview (RM-024).
    NoSnippet,
    /// May be indexed where another page embeds it, despite `noindex` (RM-025).
    IndexIfEmbedded,
    /// Most characters of a text snippet (RM-026).
    MaxSnippet(Limit),
    /// Largest image preview (RM-027).
    MaxImagePreview(ImagePreview),
    /// Most seconds of a video preview (RM-028).
    MaxVideoPreview(Limit),
    /// No translation is offered (RM-029).
    NoTranslate,
    /// Images are not indexed as found on this page (RM-030).
    NoImageIndex,
    /// Not shown from this instant on; whole seconds (RM-031).
    UnavailableAfter(Timestamp),
    /// A rule of the past, kept for information only (RM-032, AM-53).
    Historic(HistoricRule),
}

/// A number that limits a preview; the more restrictive is the smaller.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Limit {
    /// At most so many characters or seconds.
    AtMost(u32),
    /// No limit, written `-1`.
    Unlimited,
}

/// How large an image preview may be; the more restrictive is the smaller.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ImagePreview {
    /// No image.
    None,
    /// The default size.
    Standard,
    /// Up to the width of the viewport.
    Large,
}

/// Rules that Google no longer uses (RM-032). They bind nobody here.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum HistoricRule {
    /// No link to a cached copy.
    NoArchive,
    /// The same by another name.
    NoCache,
    /// No search box in the result.
    NoSitelinksSearchBox,
}

/// A word of the vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The word in lower case; written in any case.
    pub name: &'static str,
    /// Whether a value follows, and which.
    pub form: Form,
    /// What it does, as a sentence.
    pub effect: &'static str,
    /// The requirement it comes from.
    pub clause: &'static str,
}

/// The form of a word, with the way from the text to the rule.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Stands alone and becomes these rules.
    Flag(&'static [Rule]),
    /// `word: number`, where -1 is no limit.
    Number(fn(Limit) -> Rule),
    /// `word: none`, `standard` or `large`.
    Setting(fn(ImagePreview) -> Rule),
    /// `word: date`.
    Date(fn(Timestamp) -> Rule),
}

/// The whole vocabulary (R8, RM-033). A rule that is not here does not exist.
pub const VOCABULARY: &[Word] = &[
    word("all", Form::Flag(&[Rule::All]), "No restriction; the default.", "RM-020"),
    word("index", Form::Flag(&[]), "The default; lifts nothing.", "RM-009, AM-45"),
    word("follow", Form::Flag(&[]), "The default; lifts nothing.", "RM-009, AM-45"),
    word("noindex", Form::Flag(&[Rule::NoIndex]), "Not shown in results.", "RM-021"),
    word("nofollow", Form::Flag(&[Rule::NoFollow]), "Links are not followed.", "RM-022, AM-62"),
    word(
        "none",
        Form::Flag(&[Rule::NoIndex, Rule::NoFollow]),
        "As noindex and nofollow.",
        "RM-023",
    ),
    word(
        "nosnippet",
        Form::Flag(&[Rule::NoSnippet]),
        "No text snippet and no video preview.",
        "RM-024",
    ),
    word(
        "indexifembedded",
        Form::Flag(&[Rule::IndexIfEmbedded]),
        "With noindex: may be indexed where it is embedded in another page.",
        "RM-025, AM-59",
    ),
    word(
        "max-snippet",
        Form::Number(Rule::MaxSnippet),
        "Most characters of a text snippet; 0 is nosnippet.",
        "RM-026, AM-46, AM-47",
    ),
    word(
        "max-image-preview",
        Form::Setting(Rule::MaxImagePreview),
        "Largest image preview.",
        "RM-027, AM-47",
    ),
    word(
        "max-video-preview",
        Form::Number(Rule::MaxVideoPreview),
        "Most seconds of a video preview; 0 is a still at most.",
        "RM-028, AM-46, AM-47",
    ),
    word("notranslate", Form::Flag(&[Rule::NoTranslate]), "Not translated.", "RM-029"),
    word("noimageindex", Form::Flag(&[Rule::NoImageIndex]), "Images are not indexed.", "RM-030"),
    word(
        "unavailable_after",
        Form::Date(Rule::UnavailableAfter),
        "Not shown from this instant on.",
        "RM-031, AM-48 to AM-52",
    ),
    word("noarchive", Form::Flag(&[Rule::Historic(HistoricRule::NoArchive)]), NO_EFFECT, HISTORIC),
    word("nocache", Form::Flag(&[Rule::Historic(HistoricRule::NoCache)]), NO_EFFECT, HISTORIC),
    word(
        "nositelinkssearchbox",
        Form::Flag(&[Rule::Historic(HistoricRule::NoSitelinksSearchBox)]),
        NO_EFFECT,
        HISTORIC,
    ),
];

const NO_EFFECT: &str = "Historic; no effect.";
const HISTORIC: &str = "RM-032, AM-53";

impl Rule {
    /// The word that it is written with.
    pub fn name(self) -> &'static str {
        let word = VOCABULARY.iter().find(|word| word.form.makes(self));
        word.map_or("", |word| word.name)
    }

    /// Reads what [`Display`](fmt::Display) wrote, such as `max-snippet:20`.
    pub fn from_stored(text: &str) -> Option<Self> {
        match text.split_once(':') {
            // What is stored has a four-digit year, so the present does not matter.
            Some((name, value)) => {
                Word::named(name)?.form.rule(value, DateReader::new(Timestamp::EPOCH))
            }
            None => match Word::named(text)?.form {
                Form::Flag([rule]) => Some(*rule),
                Form::Flag(_) | Form::Number(_) | Form::Setting(_) | Form::Date(_) => None,
            },
        }
    }

    /// Whether both say the same thing, be it with other values.
    pub(super) fn same_kind(self, other: Self) -> bool {
        match (self, other) {
            (Self::Historic(one), Self::Historic(two)) => one == two,
            _ => discriminant(&self) == discriminant(&other),
        }
    }

    /// Whether it restricts more than `other`, a rule of the same kind (RM-042, AM-47, AM-48).
    pub(super) fn is_stricter_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::MaxSnippet(one), Self::MaxSnippet(two))
            | (Self::MaxVideoPreview(one), Self::MaxVideoPreview(two)) => one < two,
            (Self::MaxImagePreview(one), Self::MaxImagePreview(two)) => one < two,
            (Self::UnavailableAfter(one), Self::UnavailableAfter(two)) => one < two,
            _ => false,
        }
    }
}

/// As [`Rule::from_stored`] reads it: `noindex`, `max-snippet:-1`, `max-image-preview:large`,
/// `unavailable_after: 2027-01-01T00:00:00Z`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::MaxSnippet(limit) | Self::MaxVideoPreview(limit) => write!(f, ":{limit}"),
            Self::MaxImagePreview(size) => write!(f, ":{size}"),
            Self::UnavailableAfter(instant) => write!(f, ": {instant}"),
            Self::All
            | Self::NoIndex
            | Self::NoFollow
            | Self::NoSnippet
            | Self::IndexIfEmbedded
            | Self::NoTranslate
            | Self::NoImageIndex
            | Self::Historic(_) => Ok(()),
        }
    }
}

impl Limit {
    /// Reads a number: blanks around it are dropped, too large ones saturate, -1 is no limit.
    /// Anything else, such as a unit or a fraction, is none (AM-46).
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // Only digits are left, so the one way to fail is to be too large.
        match (negative, digits.parse().unwrap_or(u32::MAX)) {
            (false, number) => Some(Self::AtMost(number)),
            (true, 0) => Some(Self::AtMost(0)),
            (true, 1) => Some(Self::Unlimited),
            (true, _) => None,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(number) => write!(f, "{number}"),
            Self::Unlimited => f.write_str("-1"),
        }
    }
}

impl ImagePreview {
    /// Every size, the most restrictive first.
    pub const ALL: &[Self] = &[Self::None, Self::Standard, Self::Large];

    /// The setting as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Standard => "standard",
            Self::Large => "large",
        }
    }

    /// The size with this name, blanks around it and case ignored.
    pub fn from_name(name: &str) -> Option<Self> {
        let named = |size: &&Self| size.name().eq_ignore_ascii_case(name.trim());
        Self::ALL.iter().find(named).copied()
    }
}

impl fmt::Display for ImagePreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Word {
    /// The word with this name, blanks around it and case ignored.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.trim();
        VOCABULARY.iter().find(|word| word.name.eq_ignore_ascii_case(name))
    }
}

impl Form {
    /// The name of the form: `flag`, `number`, `setting` or `date`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flag(_) => "flag",
            Self::Number(_) => "number",
            Self::Setting(_) => "setting",
            Self::Date(_) => "date",
        }
    }

    /// The rule that a value makes; none if the word takes no value or cannot read this one.
    pub(super) fn rule(self, value: &str, dates: DateReader) -> Option<Rule> {
        self.read(value, dates).map(|(rule, _)| rule)
    }

    /// The rule that a value makes, and where the zone of its date comes from if it has one.
    pub(super) fn read(self, value: &str, dates: DateReader) -> Option<(Rule, Option<ZoneSource>)> {
        match self {
            Self::Flag(_) => None,
            Self::Number(make) => Limit::parse(value).map(|limit| (make(limit), None)),
            Self::Setting(make) => ImagePreview::from_name(value).map(|size| (make(size), None)),
            Self::Date(make) => dates.read(value).map(|date| (make(date.instant), Some(date.zone))),
        }
    }

    /// Whether this is the form that alone gives this rule, whatever its value.
    fn makes(self, rule: Rule) -> bool {
        match self {
            Self::Flag(rules) => matches!(rules, [only] if *only == rule),
            Self::Number(make) => make(Limit::Unlimited).same_kind(rule),
            Self::Setting(make) => make(ImagePreview::None).same_kind(rule),
            Self::Date(make) => make(Timestamp::EPOCH).same_kind(rule),
        }
    }
}

const fn word(name: &'static str, form: Form, effect: &'static str, clause: &'static str) -> Word {
    Word { name, form, effect, clause }
}
