//! What of a page's rules was not understood, or only by an assumption: for people who look for
//! their mistake, never for a verdict.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::vocabulary::Rule;
use super::{Directive, Directives, Source};
use crate::ProductToken;

/// Most remarks that are kept of one page; what a page sends beyond that is not worth a word.
pub const MOST_REMARKS: usize = 32;

/// Most characters of a remark's text.
const MOST_CHARS: usize = 100;

/// Something in a line or tag that binds us, and that has no effect or an assumed one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Remark {
    /// What is the matter.
    pub kind: RemarkKind,
    /// Where it stood.
    pub source: Source,
    /// The product token that it addresses; `None` for all crawlers.
    pub agent: Option<String>,
    /// The element as it was written, blanks around it dropped; its first 100 characters.
    pub text: String,
}

/// What can be the matter with an element of a line or tag.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum RemarkKind {
    /// No word of the vocabulary, such as `noindx`: it has no effect (RM-033).
    UnknownWord,
    /// A known word whose value is missing, out of place or cannot be read, such as
    /// `max-snippet:abc`: it has no effect (RM-026, RM-031, AM-46, AM-47).
    UnreadableValue,
    /// A date whose zone is not known: it is in force, and taken as UTC (AM-49).
    UnknownZone,
}

impl RemarkKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::UnknownWord, Self::UnreadableValue, Self::UnknownZone];

    /// The stable code: `unknown-word`, `unreadable-value` or `unknown-zone`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnknownWord => "unknown-word",
            Self::UnreadableValue => "unreadable-value",
            Self::UnknownZone => "unknown-zone",
        }
    }

    /// What it means, as a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::UnknownWord => "This is no known rule and has no effect.",
            Self::UnreadableValue => "This rule's value cannot be read, so it has no effect.",
            Self::UnknownZone => "The time zone is not known; the time is taken as UTC.",
        }
    }
}

/// As a person reads it: `X-Robots-Tag line 1: unknown-word: noindx`.
impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.source, self.kind.code(), self.text)
    }
}

/// What the readers find in one element.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'t> {
    Rule(Rule),
    Remark(RemarkKind, &'t str),
}

/// What was found so far, and what becomes of remarks.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    pub(super) directives: Directives,
    /// `None` if nobody asked for them.
    pub(super) remarks: Option<Vec<Remark>>,
}

impl Taken {
    pub(super) fn take(
        &mut self,
        found: Found<'_>,
        token: Option<&ProductToken>,
        source: impl FnOnce() -> Source,
    ) {
        let agent = || token.map(|token| token.as_str().to_owned());
        match found {
            Found::Rule(rule) => {
                self.directives.add(Directive { rule, source: source(), agent: agent() });
            }
            Found::Remark(kind, text) => {
                let wanted = self.remarks.as_mut().filter(|kept| kept.len() < MOST_REMARKS);
                let Some(remarks) = wanted else { return };
                let text = text.trim().chars().take(MOST_CHARS).collect();
                remarks.push(Remark { kind, source: source(), agent: agent(), text });
            }
        }
    }
}
