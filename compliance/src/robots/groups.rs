//! Which groups name which crawler (RT-060 to RT-068).
//!
//! The rules between two heads of user-agent lines are a block. Google's parser takes each block
//! for a group; RFC 9309's grammar, which knows fewer user-agent lines, may take several blocks in
//! a row for one. So both readings share the blocks, and each has its own [`Groups`].

use alloc::vec::Vec;
use core::ops::Range;

use super::lines::{Grammar, is_blank};

/// Where in the file's text something stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) len: u16,
}

impl Span {
    /// Appends what `write` writes to `text`.
    pub(super) fn append(text: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let start = text.len();
        write(text);
        let len = text.len() - start;
        Self {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            len: u16::try_from(len).unwrap_or(u16::MAX),
        }
    }

    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        let start = self.start as usize;
        text.get(start..start + usize::from(self.len)).unwrap_or_default()
    }
}

/// The global group's name; no token has a star.
pub(super) const GLOBAL: &str = "*";

/// The name that a user-agent value gives, if the grammar takes it for one (RT-063, RT-067).
///
/// The token may be empty: such a line names no crawler, yet it opens a group (AM-37).
pub(super) fn name(value: &[u8], grammar: Grammar) -> &[u8] {
    let global = match (value, grammar) {
        ([b'*'], _) => true,
        ([b'*', next, ..], Grammar::GoogleOnly) => is_blank(*next),
        _ => false,
    };
    if global {
        return GLOBAL.as_bytes();
    }
    let token = |b: &&u8| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_');
    let len = value.iter().take_while(token).count();
    value.get(..len).unwrap_or_default()
}

/// One name of one group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Naming {
    name: Span,
    pub(super) group: u32,
}

/// One reading's groups, found by name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Groups {
    /// Sorted by name, then group.
    namings: Vec<Naming>,
    /// The first block of each group; it ends where the next one's begins.
    first_block: Vec<u32>,
}

impl Groups {
    /// The groups with this name, ASCII case ignored.
    pub(super) fn named(&self, name: &str, text: &[u8]) -> &[Naming] {
        let asked = || name.bytes().map(|b| b.to_ascii_lowercase());
        let stored = |naming: &Naming| naming.name.of(text).iter().copied();
        let start = self.namings.partition_point(|n| stored(n).lt(asked()));
        let rest = self.namings.get(start..).unwrap_or_default();
        let len = rest.partition_point(|n| stored(n).eq(asked()));
        rest.get(..len).unwrap_or_default()
    }

    /// The blocks of a group, the last of which may lie past the file's last.
    pub(super) fn blocks(&self, group: u32) -> Range<u32> {
        let first = |at: usize| self.first_block.get(at).copied().unwrap_or(u32::MAX);
        first(group as usize)..first(group as usize + 1)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.namings.capacity() * size_of::<Naming>()
            + self.first_block.capacity() * size_of::<u32>()
    }
}

/// Where a reader stands in a file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Stage {
    /// Before any user-agent line.
    #[default]
    Outside,
    /// In the user-agent lines that open a group.
    Head,
    /// Past a rule of the group.
    Body,
}

/// Reads user-agent lines and rules into [`Groups`].
#[derive(Default)]
pub(super) struct GroupReader {
    groups: Groups,
    stage: Stage,
}

impl GroupReader {
    /// Whether the next user-agent line opens a group: a rule came since the last one (RT-060).
    pub(super) fn opens(&self) -> bool {
        match self.stage {
            Stage::Outside | Stage::Body => true,
            Stage::Head => false,
        }
    }

    /// Takes a user-agent line; `block` is where the rules that follow will be.
    pub(super) fn user_agent(&mut self, name: Span, block: u32) {
        if self.opens() {
            self.groups.first_block.push(block);
        }
        self.stage = Stage::Head;
        let group = self.group().unwrap_or_default();
        self.groups.namings.push(Naming { name, group });
    }

    /// Takes a rule; an empty one too ends the head (AM-31).
    pub(super) fn rule(&mut self) {
        self.stage = match self.stage {
            Stage::Outside => Stage::Outside,
            Stage::Head | Stage::Body => Stage::Body,
        };
    }

    /// The group that a line belongs to now.
    pub(super) fn group(&self) -> Option<u32> {
        u32::try_from(self.groups.first_block.len().checked_sub(1)?).ok()
    }

    /// The groups, ready to be asked.
    pub(super) fn finish(mut self, text: &[u8]) -> Groups {
        let key = |n: &Naming| (n.name.of(text), n.group);
        self.groups.namings.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        self.groups.namings.dedup_by(|a, b| key(a) == key(b));
        self.groups.namings.shrink_to_fit();
        self.groups.first_block.shrink_to_fit();
        self.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RT-063, RT-067: value, name by Google's parser, name by RFC 9309.
    #[test]
    fn names() {
        let cases = [
            ("*", "*", "*"),
            ("* foo", "*", ""),
            ("*foo", "", ""),
            ("**", "", ""),
            ("*/1.0", "", ""),
            ("googlebot/1.2", "googlebot", "googlebot"),
            ("googlebot*", "googlebot", "googlebot"),
            ("Googlebot News", "Googlebot", "Googlebot"),
            ("MJ12bot", "MJ", "MJ"),
            ("360bot", "", ""),
            ("", "", ""),
        ];
        for (value, google, rfc) in cases {
            let of = |grammar| name(value.as_bytes(), grammar);
            assert_eq!(of(Grammar::GoogleOnly), google.as_bytes(), "{value}");
            assert_eq!(of(Grammar::Rfc), rfc.as_bytes(), "{value}");
        }
    }
}
