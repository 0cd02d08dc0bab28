//! The stack of open elements: what lies inside what, as the HTML standard's tree construction
//! (13.2.6) would have it, so far as that decides which text is hidden or inert.
//!
//! The DOM is not built, so misnested formatting is not moved about as the standard does. Where
//! that makes a difference, an element stays open here for longer: a hidden region hides more,
//! never less (AM-63).

use super::names::{
    A, APPLET, BUTTON, CAPTION, COLGROUP, DD, DT, FORM, LI, MARQUEE, NOBR, NOSCRIPT, Name, OBJECT,
    OL, OPTGROUP, OPTION, P, SELECT, TABLE, TBODY, TD, TEMPLATE, TFOOT, TH, THEAD, TR, UL,
};

/// How deep elements are told apart; browsers stop at the same depth.
const DEPTH_MAX: usize = 512;

/// A start tag, so far as nesting is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartTag {
    pub(super) name: Name,
    pub(super) namespace: Namespace,
    /// Whether an end tag is still to come: false for void elements.
    pub(super) stays_open: bool,
    /// Whether it carries `data-nosnippet` where that counts.
    pub(super) hides_snippet: bool,
}

/// HTML, or one of the languages that can stand in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Namespace {
    Html,
    Foreign,
}

#[derive(Clone, Copy)]
struct Open {
    name: Name,
    hides_snippet: bool,
}

/// The elements that are open at a point of the document.
#[derive(Default)]
pub(super) struct OpenElements {
    open: Vec<Open>,
    /// Elements open beyond [`DEPTH_MAX`], which are only counted.
    beyond: usize,
    hiding: usize,
    silent: usize,
    templates: usize,
    noscripts: usize,
    /// Set when the end of a hidden region can no longer be known.
    hides_rest: bool,
}

impl OpenElements {
    /// The innermost open element.
    pub(super) fn current(&self) -> Option<Name> {
        self.open.last().map(|open| open.name)
    }

    /// Whether text here may not be used in a snippet.
    pub(super) fn hides_snippet(&self) -> bool {
        self.hiding > 0 || self.hides_rest
    }

    /// Whether text here is none that a reader sees.
    pub(super) fn is_silent(&self) -> bool {
        self.silent > 0
    }

    pub(super) fn in_template(&self) -> bool {
        self.templates > 0
    }

    pub(super) fn in_noscript(&self) -> bool {
        self.noscripts > 0
    }

    /// Takes a start tag.
    pub(super) fn start(&mut self, tag: StartTag) {
        if tag.namespace == Namespace::Html {
            if tag.name.is_table_part() && self.table().is_none() {
                return;
            }
            self.close_implied(tag.name);
        }
        if !tag.stays_open || tag.name.is_unstacked() {
            return;
        }
        if self.open.len() >= DEPTH_MAX {
            self.beyond += 1;
            self.hides_rest |= tag.hides_snippet;
            return;
        }
        let open = Open {
            name: tag.name,
            hides_snippet: tag.hides_snippet,
        };
        self.open.push(open);
        self.hiding += usize::from(open.hides_snippet);
        self.silent += usize::from(open.name.is_silent());
        self.templates += usize::from(open.name == TEMPLATE);
        self.noscripts += usize::from(open.name == NOSCRIPT);
    }

    /// Takes an end tag.
    pub(super) fn end(&mut self, name: Name) {
        if self.beyond > 0 {
            // Which of the uncounted elements it closes is not known.
            self.beyond -= 1;
            return;
        }
        match name {
            _ if name.is_unstacked() => {}
            P => self.close_in_scope(|open| open == P, is_button_boundary),
            LI => self.close_in_scope(|open| open == LI, is_list_boundary),
            FORM => self.take_out(FORM),
            TEMPLATE => self.close_in_scope(|open| open == TEMPLATE, |_| false),
            NOSCRIPT => self.close_noscript(),
            TABLE => self.close_in_scope(|open| open == TABLE, is_table_boundary),
            DD | DT | BUTTON | SELECT | APPLET | MARQUEE | OBJECT => {
                self.close_in_scope(|open| open == name, Name::is_scope_boundary);
            }
            _ if name.is_table_part() => {
                self.close_in_scope(|open| open == name, is_table_boundary);
            }
            _ if name.is_block() => {
                self.close_in_scope(|open| open == name, Name::is_scope_boundary);
            }
            _ if name.is_heading() => {
                self.close_in_scope(Name::is_heading, Name::is_scope_boundary);
            }
            _ if name.is_formatting() => self.end_formatting(name),
            _ => self.close_in_scope(|open| open == name, Name::is_special),
        }
    }

    /// Closes what a start tag of this name closes without an end tag.
    fn close_implied(&mut self, name: Name) {
        match name {
            LI => self.close_item(|open| open == LI),
            DD | DT => self.close_item(|open| matches!(open, DD | DT)),
            TD | TH => self.close_to_table(|open| matches!(open, TR | TBODY | TFOOT | THEAD)),
            TR => self.close_to_table(|open| matches!(open, TBODY | TFOOT | THEAD)),
            TBODY | TFOOT | THEAD | CAPTION | COLGROUP => self.close_to_table(|_| false),
            OPTION => self.close_current(|open| open == OPTION),
            OPTGROUP => {
                self.close_current(|open| open == OPTION);
                self.close_current(|open| open == OPTGROUP);
            }
            BUTTON => self.close_in_scope(|open| open == BUTTON, Name::is_scope_boundary),
            A | NOBR => self.end_formatting(name),
            _ if name.closes_paragraph() => {
                self.close_in_scope(|open| open == P, is_button_boundary);
                if name.is_heading() {
                    self.close_current(Name::is_heading);
                }
            }
            _ => {}
        }
    }

    /// A list item closes the one before it, but not beyond a block that holds it.
    fn close_item(&mut self, is_item: impl Fn(Name) -> bool) {
        let stops = |open: Name| {
            open.is_special() && !matches!(open, super::names::ADDRESS | super::names::DIV | P)
        };
        self.close_in_scope(is_item, stops);
        self.close_in_scope(|open| open == P, is_button_boundary);
    }

    /// Closes all that is open inside the innermost table, or inside its innermost part of the
    /// wanted kind.
    fn close_to_table(&mut self, is_context: impl Fn(Name) -> bool) {
        let Some(table) = self.table() else {
            return;
        };
        let inside = self.open.iter().skip(table + 1);
        let context = inside.take_while(|open| is_context(open.name)).count();
        self.truncate(table + 1 + context);
    }

    /// Where the innermost table stands, if the point is inside one.
    fn table(&self) -> Option<usize> {
        self.find(|open| open == TABLE, |open| open == TEMPLATE)
    }

    /// The adoption agency: a block inside the formatting element stays open, and so does all
    /// that the standard would move out with it.
    fn end_formatting(&mut self, name: Name) {
        let Some(at) = self.find(|open| open == name, Name::is_scope_boundary) else {
            return;
        };
        let holds_block = self
            .open
            .iter()
            .skip(at + 1)
            .any(|open| open.name.is_special());
        if holds_block {
            self.remove(at);
        } else {
            self.truncate(at);
        }
    }

    /// A reader with scripts ends `noscript` here whatever is open in it, one without goes by the
    /// tree: if the two differ on what is hidden, the rest of the page is.
    fn close_noscript(&mut self) {
        if let Some(at) = self.find(|open| open == NOSCRIPT, |open| open == TEMPLATE) {
            self.hides_rest |= self.open.iter().skip(at).any(|open| open.hides_snippet);
            self.truncate(at);
        }
    }

    fn close_current(&mut self, is_wanted: impl Fn(Name) -> bool) {
        if self.current().is_some_and(is_wanted) {
            self.truncate(self.open.len() - 1);
        }
    }

    /// Closes the innermost wanted element and all inside it, unless a boundary lies between.
    fn close_in_scope(
        &mut self,
        is_wanted: impl Fn(Name) -> bool,
        is_boundary: impl Fn(Name) -> bool,
    ) {
        if let Some(at) = self.find(is_wanted, is_boundary) {
            self.truncate(at);
        }
    }

    fn find(
        &self,
        is_wanted: impl Fn(Name) -> bool,
        is_boundary: impl Fn(Name) -> bool,
    ) -> Option<usize> {
        for (at, open) in self.open.iter().enumerate().rev() {
            if is_wanted(open.name) {
                return Some(at);
            }
            if is_boundary(open.name) {
                return None;
            }
        }
        None
    }

    fn truncate(&mut self, len: usize) {
        while self.open.len() > len {
            match self.open.pop() {
                Some(closed) => self.forget(closed),
                None => return,
            }
        }
    }

    /// `form` is taken out of the stack; what is open inside it stays.
    fn take_out(&mut self, name: Name) {
        if let Some(at) = self.find(|open| open == name, Name::is_scope_boundary) {
            self.remove(at);
        }
    }

    fn remove(&mut self, at: usize) {
        let removed = self.open.remove(at);
        self.forget(removed);
    }

    fn forget(&mut self, closed: Open) {
        self.hiding -= usize::from(closed.hides_snippet);
        self.silent -= usize::from(closed.name.is_silent());
        self.templates -= usize::from(closed.name == TEMPLATE);
        self.noscripts -= usize::from(closed.name == NOSCRIPT);
    }
}

fn is_button_boundary(name: Name) -> bool {
    name == BUTTON || name.is_scope_boundary()
}

fn is_list_boundary(name: Name) -> bool {
    matches!(name, OL | UL) || name.is_scope_boundary()
}

fn is_table_boundary(name: Name) -> bool {
    matches!(name, TABLE | TEMPLATE)
}
