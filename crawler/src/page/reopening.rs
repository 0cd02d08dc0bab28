//! Formatting that an end tag other than its own has closed: the HTML standard opens it again where
//! text follows (13.2.4.3, the list of active formatting elements). Only whether there may be any is
//! known here, not where it is.

use super::names::Name;

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
