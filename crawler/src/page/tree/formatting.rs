//! Formatting elements: how their end tags are carried out, and what is open again after another end
//! tag has closed it (HTML standard 13.2.4.3, 13.2.6.4.7). Of the latter only that there may be some is
//! known here, not where it is.

use super::{A, Name, OpenElements};

/// How many blocks the adoption agency goes through (HTML standard 13.2.6.4.7, outer loop).
const ADOPTIONS_MAX: usize = 8;

/// So many are told apart.
const KNOWN_MAX: usize = 16;

/// What may be open again.
#[derive(Default)]
pub(super) struct Reopening {
    /// Names, and how many elements were open around each.
    closed: Vec<(Name, usize)>,
    /// Set when there were more than can be told apart.
    are_many: bool,
}

impl Reopening {
    /// Whether there may be any.
    pub(super) fn is_possible(&self) -> bool {
        self.are_many || !self.closed.is_empty()
    }

    /// Takes an element that was closed, `around` others being open.
    pub(super) fn closed(&mut self, name: Name, around: usize) {
        if name.is_formatting() {
            self.are_many |= self.closed.len() >= KNOWN_MAX;
            if !self.are_many {
                self.closed.push((name, around));
            }
        } else if name.is_formatting_boundary() {
            // What was closed inside stays closed.
            self.closed.retain(|(_, depth)| *depth < around);
        }
    }

    /// Takes an end tag for which no element is known to be open: it is for the last of its name.
    pub(super) fn ended(&mut self, name: Name) {
        if let Some(at) = self.closed.iter().rposition(|(closed, _)| *closed == name) {
            self.closed.remove(at);
        }
    }
}

impl OpenElements {
    /// The adoption agency: blocks inside the formatting element stay open, what is open inside
    /// the innermost of them is closed. Elements between those blocks stay open here, though the
    /// standard moves the blocks out of them.
    pub(super) fn end_formatting(&mut self, name: Name) {
        if !self.has(name) {
            self.reopening.ended(name);
            return;
        }
        let Some(at) = self.find(|open| open == name, Name::is_scope_boundary) else {
            return;
        };
        let inside = self.open.iter().enumerate().skip(at + 1);
        let blocks = inside.filter(|(_, open)| open.name.is_special());
        let (count, innermost) =
            blocks.fold((0, None), |(count, _), (block, _)| (count + 1, Some(block)));
        match innermost {
            None => self.truncate(at + 1),
            Some(block) => {
                let between = self.open.iter().take(block).skip(at + 1);
                if count >= ADOPTIONS_MAX || between.into_iter().any(|open| !open.name.is_special())
                {
                    self.doubt();
                }
                self.truncate(block + 1);
            }
        }
        self.remove(at);
    }

    /// A link in a link closes it, even where a table lies between; not beyond a cell and the like.
    pub(super) fn close_link(&mut self) {
        self.end_formatting(A);
        if self.has(A)
            && let Some(at) = self.find(|open| open == A, Name::is_formatting_boundary)
        {
            self.remove(at);
        }
    }

    /// From here on an end tag may close others than are known.
    pub(super) fn doubt(&mut self) {
        self.in_doubt = true;
        self.hides_rest |= self.hiding > 0;
    }

    /// Formatting that is open again would be the innermost element, not the one that is known.
    pub(super) fn doubt_current(&mut self) {
        if self.reopening.is_possible() {
            self.doubt();
        }
    }
}
