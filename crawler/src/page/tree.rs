//! The stack of open elements: what lies inside what, as the HTML standard's tree construction
//! (13.2.6) would have it, so far as that decides which text is hidden or inert.
//!
//! The DOM is not built, so misnested formatting is neither moved about nor opened again as the
//! standard does. From where that makes a difference on, a hidden region does not end (AM-63). The
//! tests compare with html5ever's tree on random markup.

mod formatting;
mod implied;

use super::names::{
    A, ADDRESS, APPLET, BR, BUTTON, CAPTION, COL, COLGROUP, DD, DIV, DT, FORM, HR, INPUT, LI,
    MALIGNMARK, MARQUEE, MATH, MGLYPH, NOBR, NOSCRIPT, NOTHING, Name, OBJECT, OL, OPTGROUP, OPTION,
    ORDINARY_FOREIGN, P, PLAIN_ANNOTATION, RB, RP, RT, RTC, RUBY, SELECT, SVG, TABLE, TBODY, TD,
    TEMPLATE, TFOOT, TH, THEAD, TR, UL,
};
use formatting::Reopening;

/// How deep elements are told apart; browsers stop at the same depth.
const DEPTH_MAX: usize = 512;

/// A start tag, so far as nesting is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartTag {
    pub(super) name: Name,
    /// Whether it is written with a slash at its end; means something in foreign content only.
    pub(super) is_self_closing: bool,
    /// Whether it is a `font` with an attribute that SVG does not have.
    pub(super) is_styled_font: bool,
    /// Whether it is an `annotation-xml` that says it holds HTML.
    pub(super) is_html_annotation: bool,
    /// Whether it carries `data-nosnippet` where that counts.
    pub(super) hides_snippet: bool,
}

#[derive(Clone, Copy)]
struct Open {
    name: Name,
    /// Of foreign elements, whether it is MathML.
    is_math: bool,
    hides_snippet: bool,
}

/// The elements that are open at a point of the document.
#[derive(Default)]
pub(super) struct OpenElements {
    open: Vec<Open>,
    /// Elements open beyond [`DEPTH_MAX`], which are only counted.
    beyond: usize,
    /// Of these, those that are silent, and templates: what ends them is the next end tag of such
    /// a name.
    silent_beyond: usize,
    templates_beyond: usize,
    hiding: usize,
    silent: usize,
    templates: usize,
    noscripts: usize,
    /// Whether a table closes a `p`: not so in quirks mode.
    is_standards_mode: bool,
    /// Whether a form has begun and its end tag not come.
    has_form: bool,
    /// Set when markup in `noscript` has closed what is outside it.
    readings_differ: bool,
    reopening: Reopening,
    /// Set when other elements may be open than are known here, so that an end tag may close others.
    in_doubt: bool,
    /// Set when the end of a hidden region can no longer be known.
    hides_rest: bool,
}

impl OpenElements {
    /// Takes a doctype that asks for the standard's own rules.
    pub(super) fn leave_quirks_mode(&mut self) {
        self.is_standards_mode = true;
    }

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
        self.silent + self.silent_beyond > 0
    }

    /// Whether the point is inert; never said where a reader with scripts sees no template.
    pub(super) fn in_template(&self) -> bool {
        self.templates + self.templates_beyond > 0 && !self.readings_differ
    }

    /// Whether the innermost open element is SVG or MathML.
    pub(super) fn in_foreign(&self) -> bool {
        self.current().is_some_and(Name::is_foreign)
    }

    pub(super) fn in_noscript(&self) -> bool {
        self.noscripts > 0
    }

    /// Takes a start tag; says which element it makes, [`NOTHING`] if none.
    pub(super) fn start(&mut self, tag: StartTag) -> Name {
        let (name, is_math) = self.place(tag);
        let stays_open = if name.is_foreign() {
            !tag.is_self_closing
        } else {
            self.leave_columns(name);
            if name.is_table_part() && self.table().is_none() {
                return name;
            }
            if name == FORM && !self.in_template() {
                // A form in a form, or after one that never ended, makes no element; one between a
                // table's cells holds nothing.
                let has_form = std::mem::replace(&mut self.has_form, true);
                if has_form {
                    return NOTHING;
                }
                if self.table_outside_cell().is_some() {
                    return name;
                }
            }
            if name == SELECT && self.in_select() {
                // A second one closes the first and makes no element.
                self.end(SELECT);
                return NOTHING;
            }
            self.close_implied(name);
            self.open_implied(name);
            !name.is_void() && !name.is_unstacked()
        };
        if stays_open {
            self.push(Open { name, is_math, hides_snippet: tag.hides_snippet });
        }
        name
    }

    /// Whether the element is HTML or foreign, and then whether it is MathML (HTML standard
    /// 13.2.6, 13.2.6.5).
    fn place(&mut self, tag: StartTag) -> (Name, bool) {
        let current = self.open.last().copied();
        if let (MGLYPH | MALIGNMARK, Some(open)) = (tag.name, current)
            && open.name.is_math_point()
        {
            return (ORDINARY_FOREIGN, true);
        }
        let parent = current.filter(|open| is_foreign_proper(open.name));
        let begins_svg =
            tag.name == SVG && parent.is_some_and(|open| open.name == PLAIN_ANNOTATION);
        let Some(parent) = parent.filter(|_| !begins_svg) else {
            return match tag.name {
                SVG => (SVG.in_foreign(), false),
                MATH => (MATH.in_foreign(), true),
                name => (name, false),
            };
        };
        if tag.name.leaves_foreign() || tag.is_styled_font {
            self.leave_foreign();
            return (tag.name, false);
        }
        let (name, is_math) = (tag.name.in_foreign(), parent.is_math);
        let placed = match (is_math, name.is_annotation()) {
            (true, true) if !tag.is_html_annotation => PLAIN_ANNOTATION,
            (true, false) if name.is_svg_point() => ORDINARY_FOREIGN,
            (false, _) if name.is_math_point() || name.is_annotation() => ORDINARY_FOREIGN,
            (true | false, _) => name,
        };
        (placed, is_math)
    }

    fn push(&mut self, open: Open) {
        if self.open.len() >= DEPTH_MAX {
            self.beyond += 1;
            self.silent_beyond += usize::from(open.name.is_silent());
            self.templates_beyond += usize::from(open.name == TEMPLATE);
            self.hides_rest |= open.hides_snippet;
            return;
        }
        self.hides_rest |= open.hides_snippet && self.in_doubt;
        self.open.push(open);
        self.hiding += usize::from(open.hides_snippet);
        self.silent += usize::from(open.name.is_silent());
        self.templates += usize::from(open.name == TEMPLATE);
        self.noscripts += usize::from(open.name == NOSCRIPT);
    }

    /// Takes an end tag.
    pub(super) fn end(&mut self, name: Name) {
        if self.beyond > 0 {
            // Which of the uncounted elements it closes is not known, nor whether it closes any.
            self.beyond -= 1;
            self.hides_rest |= self.hiding > 0;
            if name == TEMPLATE {
                self.templates_beyond = self.templates_beyond.saturating_sub(1);
            }
            if name.is_silent() {
                self.silent_beyond = self.silent_beyond.saturating_sub(1);
            }
            return;
        }
        if matches!(name, P | BR) {
            self.leave_foreign();
        } else if self.end_foreign(name.in_foreign()) {
            return;
        }
        self.leave_columns(name);
        match name {
            _ if name.is_unstacked() => {}
            // It ended above, if it was open.
            COLGROUP => {}
            P => self.close_named(P, is_button_boundary),
            LI => self.close_named(LI, is_list_boundary),
            FORM => self.end_form(),
            TEMPLATE => self.close_named(TEMPLATE, |_| false),
            NOSCRIPT => self.close_noscript(),
            TABLE => self.close_named(TABLE, is_table_boundary),
            DD | DT | BUTTON | SELECT | APPLET | MARQUEE | OBJECT => {
                self.close_named(name, Name::is_scope_boundary);
            }
            _ if name.is_table_part() => {
                self.close_named(name, is_table_boundary);
            }
            _ if name.is_block() => {
                self.close_named(name, Name::is_scope_boundary);
            }
            _ if name.is_heading() => {
                self.close_in_scope(Name::is_heading, Name::is_scope_boundary);
            }
            _ if name.is_formatting() => self.end_formatting(name),
            _ => self.close_named(name, Name::is_special),
        }
    }

    /// HTML that may not stand in foreign content ends it.
    fn leave_foreign(&mut self) {
        self.close_current_while(is_foreign_proper);
    }

    /// In foreign content an end tag closes the foreign element of its name, however deep.
    fn end_foreign(&mut self, name: Name) -> bool {
        if !self.in_foreign() {
            return false;
        }
        let found = self.find(|open| open == name, |open| !open.is_foreign());
        if let Some(at) = found {
            // Formatting that is open again inside would make this end tag mean nothing.
            if self.reopening.is_possible() && !self.current().is_some_and(is_foreign_proper) {
                self.doubt();
            }
            self.truncate(at);
        }
        found.is_some()
    }

    fn in_ruby(&self) -> bool {
        self.find(|open| open == RUBY, Name::is_scope_boundary).is_some()
    }

    fn in_select(&self) -> bool {
        let found = self.find(|open| open == SELECT, Name::is_scope_boundary);
        found.is_some()
    }

    /// The innermost table, if the point is in none of its cells. A table that begins there closes
    /// it, and a form is nothing there.
    fn table_outside_cell(&self) -> Option<usize> {
        let holds = |open: Name| is_table_boundary(open) || matches!(open, TD | TH | CAPTION);
        let found = self.open.iter().rposition(|open| holds(open.name))?;
        self.open.get(found).filter(|open| open.name == TABLE)?;
        Some(found)
    }

    /// Where the innermost table stands, if the point is inside one.
    fn table(&self) -> Option<usize> {
        let found = self.open.iter().rposition(|open| is_table_boundary(open.name))?;
        self.open.get(found).filter(|open| open.name == TABLE)?;
        Some(found)
    }

    /// A reader with scripts takes all up to here for text, one without for markup. The two agree
    /// on what is hidden if that markup closes nothing outside and leaves nothing hidden open;
    /// else the rest of the page is hidden.
    fn close_noscript(&mut self) {
        if let Some(at) = self.find(|open| open == NOSCRIPT, |_| false) {
            self.hides_rest |= self.open.iter().skip(at).any(|open| open.hides_snippet);
            self.pop_to(at);
        }
    }

    fn close_current(&mut self, is_wanted: impl Fn(Name) -> bool) {
        if self.current().is_some_and(is_wanted) {
            self.doubt_current();
            self.truncate(self.open.len() - 1);
        }
    }

    /// Closes the innermost elements whose end may be left out, so far as they are wanted.
    fn close_implied_ends(&mut self, is_wanted: impl Fn(Name) -> bool) {
        let is_wanted = |open: Name| open.is_implied_end() && is_wanted(open);
        if self.current().is_some_and(is_wanted) {
            self.doubt_current();
        }
        self.close_current_while(is_wanted);
    }

    fn close_current_while(&mut self, is_wanted: impl Fn(Name) -> bool) {
        while self.current().is_some_and(&is_wanted) {
            self.truncate(self.open.len() - 1);
        }
    }

    /// Closes the innermost element of this name and all inside it, unless a boundary lies between.
    fn close_named(&mut self, name: Name, is_boundary: impl Fn(Name) -> bool) {
        if self.has(name) {
            self.close_in_scope(|open| open == name, is_boundary);
        }
    }

    /// Whether such an element is open at all: most end tags of hostile pages close nothing, and
    /// this is the cheap way to know.
    fn has(&self, name: Name) -> bool {
        self.open.iter().any(|open| open.name == name)
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

    /// Closes all but the outermost `len` elements. Closing a `noscript` so, which only a reader
    /// without scripts does, may not end what is hidden.
    fn truncate(&mut self, len: usize) {
        if self.noscripts > 0 {
            let mut closed = self.open.iter().skip(len);
            if closed.any(|open| open.name == NOSCRIPT) {
                self.readings_differ = true;
                self.hides_rest |= self.hiding > 0;
            }
        }
        self.pop_to(len);
    }

    fn pop_to(&mut self, len: usize) {
        while self.open.len() > len {
            match self.open.pop() {
                Some(closed) => {
                    self.reopening.closed(closed.name, self.open.len());
                    self.forget(closed);
                }
                None => return,
            }
        }
    }

    /// `form` is taken out of the stack; what is open inside it stays.
    fn end_form(&mut self) {
        self.has_form = false;
        if self.find(|open| open == FORM, Name::is_scope_boundary).is_some() {
            self.close_implied_ends(|_| true);
        }
        if let Some(at) = self.find(|open| open == FORM, Name::is_scope_boundary) {
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

fn is_foreign_proper(name: Name) -> bool {
    name.is_foreign() && !name.is_integration_point()
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
