//! What a start tag closes and opens though nobody wrote it: the items, cells and paragraphs whose end
//! tags may be left out, and the parts of tables (HTML standard 13.1.2.4, 13.2.6.4).

use super::{
    A, ADDRESS, BUTTON, CAPTION, COL, COLGROUP, DD, DIV, DT, HR, INPUT, LI, NOBR, Name, OPTGROUP,
    OPTION, Open, OpenElements, P, RB, RP, RT, RTC, SELECT, TABLE, TBODY, TD, TEMPLATE, TFOOT, TH,
    THEAD, TR, is_button_boundary,
};

impl OpenElements {
    /// Closes what a start tag of this name closes without an end tag.
    pub(super) fn close_implied(&mut self, name: Name) {
        match name {
            LI => self.close_item(|open| open == LI),
            DD | DT => self.close_item(|open| matches!(open, DD | DT)),
            TD | TH => self.close_to_table(|open| matches!(open, TR | TBODY | TFOOT | THEAD)),
            TR => self.close_to_table(|open| matches!(open, TBODY | TFOOT | THEAD)),
            TBODY | TFOOT | THEAD | CAPTION | COLGROUP => self.close_to_table(|_| false),
            COL => self.close_to_table(|open| open == COLGROUP),
            TABLE => {
                if self.is_standards_mode {
                    self.close_named(P, is_button_boundary);
                }
                if let Some(at) = self.table_outside_cell() {
                    self.truncate(at);
                }
            }
            OPTION | OPTGROUP => self.close_option(name),
            INPUT => self.close_named(SELECT, Name::is_scope_boundary),
            BUTTON => self.close_named(BUTTON, Name::is_scope_boundary),
            NOBR => self.end_formatting(NOBR),
            A => self.close_link(),
            RB | RTC if self.in_ruby() => self.close_implied_ends(|_| true),
            RP | RT if self.in_ruby() => self.close_implied_ends(|open| open != RTC),
            _ if name.closes_paragraph() => {
                self.close_named(P, is_button_boundary);
                if name.is_heading() {
                    self.close_current(Name::is_heading);
                } else if name == HR && self.in_select() {
                    self.close_implied_ends(|_| true);
                }
            }
            _ => {}
        }
    }

    /// Opens what a row, a cell or a column stands in, where the page leaves it out.
    pub(super) fn open_implied(&mut self, name: Name) {
        let needs_row = matches!(name, TD | TH);
        let current = self.current();
        let mut open = |name| {
            self.push(Open { name, is_math: false, hides_snippet: false });
        };
        match current {
            Some(TABLE) if needs_row => {
                open(TBODY);
                open(TR);
            }
            Some(TABLE) if name == TR => open(TBODY),
            Some(TABLE) if name == COL => open(COLGROUP),
            Some(TBODY | TFOOT | THEAD) if needs_row => open(TR),
            _ => {}
        }
    }

    /// A list item closes the one before it, but not beyond a block that holds it.
    fn close_item(&mut self, is_item: impl Fn(Name) -> bool) {
        let stops = |open: Name| open.is_special() && !matches!(open, ADDRESS | DIV | P);
        self.close_in_scope(is_item, stops);
        self.close_named(P, is_button_boundary);
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

    fn close_option(&mut self, name: Name) {
        if self.in_select() {
            self.close_implied_ends(|open| name != OPTION || open != OPTGROUP);
        } else {
            self.close_current(|open| open == OPTION);
        }
    }

    /// What may not stand in a group of columns ends it.
    pub(super) fn leave_columns(&mut self, name: Name) {
        if self.current() == Some(COLGROUP) && !matches!(name, COL | TEMPLATE) {
            self.truncate(self.open.len() - 1);
        }
    }
}
