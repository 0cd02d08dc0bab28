//! What a hook of the caller's own answers: take it or leave it, and why. Never a bare bool, so that
//! every page, link and item that was left can be explained.

use std::borrow::Cow;

/// An answer with its reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    /// What is done.
    pub choice: Choice,
    /// What that rests on, for people.
    pub reason: Cow<'static, str>,
}

/// What is done with what a hook was asked about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Choice {
    /// It is wanted.
    Take,
    /// It is not.
    Leave,
}

impl Decision {
    /// It is wanted.
    pub fn take(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { choice: Choice::Take, reason: reason.into() }
    }

    /// It is not wanted.
    pub fn leave(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { choice: Choice::Leave, reason: reason.into() }
    }

    /// Why it is left, if it is.
    pub fn left(&self) -> Option<&str> {
        match self.choice {
            Choice::Take => None,
            Choice::Leave => Some(&self.reason),
        }
    }
}
