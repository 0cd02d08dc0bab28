//! The paths of one group's rules: which of them say the same, and which overrule others.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Lint;
use crate::robots::lines::RuleKind;

/// The rules so far, by the plainest path that matches what theirs matches.
#[derive(Default)]
pub(super) struct Paths<'a> {
    said: BTreeMap<Cow<'a, [u8]>, Said<'a>>,
}

/// The rule that counts of those that allow the same, and of those that disallow it.
#[derive(Default)]
struct Said<'a> {
    allow: Option<PathRule<'a>>,
    disallow: Option<PathRule<'a>>,
}

/// A rule with its path as it is written.
#[derive(Clone, Copy)]
pub(super) struct PathRule<'a> {
    pub(super) line: u32,
    pub(super) path: &'a [u8],
}

/// A rule that is of no use beside another one.
pub(super) struct Clash<'a> {
    pub(super) lint: Lint,
    pub(super) line: u32,
    pub(super) path: &'a [u8],
    pub(super) other: PathRule<'a>,
}

impl<'a> Paths<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// Notes a rule; what is of no use now, if anything is.
    pub(super) fn add(&mut self, kind: RuleKind, line: u32, path: &'a [u8]) -> Option<Clash<'a>> {
        let said = self.said.entry(plain(path)).or_default();
        let (same, opposite) = match kind {
            RuleKind::Allow => (&mut said.allow, said.disallow),
            RuleKind::Disallow => (&mut said.disallow, said.allow),
        };
        let new = PathRule { line, path };
        if let Some(other) = *same {
            if path.len() > other.path.len() {
                *same = Some(new);
            }
            return Some(Clash { lint: Lint::DuplicateRule, line, path, other });
        }
        *same = Some(new);
        let other = opposite?;
        // The longest path wins (RT-083), and these differ in needless wildcards only.
        let (lint, loser, winner) = match path.len().cmp(&other.path.len()) {
            core::cmp::Ordering::Less => (Lint::ShadowedRule, new, other),
            core::cmp::Ordering::Equal => (Lint::ContradictoryRules, new, other),
            core::cmp::Ordering::Greater => (Lint::ShadowedRule, other, new),
        };
        Some(Clash { lint, line: loser.line, path: loser.path, other: winner })
    }
}

/// The plainest path that matches the same: a `*` after another one or at the end, an anchor
/// after it too, matches nothing more (RT-085, RT-087). The work is linear in the path.
fn plain(path: &[u8]) -> Cow<'_, [u8]> {
    let mut rest = match path {
        [rest @ .., b'*', b'$'] => rest,
        whole => whole,
    };
    while let [shorter @ .., b'*'] = rest {
        rest = shorter;
    }
    if rest.is_empty() {
        return Cow::Borrowed(b"/");
    }
    if !rest.windows(2).any(|two| two == b"**") {
        return Cow::Borrowed(rest);
    }
    let mut plain = Vec::with_capacity(rest.len());
    for octet in rest {
        if !(*octet == b'*' && plain.last() == Some(&b'*')) {
            plain.push(*octet);
        }
    }
    Cow::Owned(plain)
}
