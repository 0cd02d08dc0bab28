//! The rules of a file, laid out so that a path meets few of them.
//!
//! The rules of a block are sorted by their heads, the octets before the first star. The heads
//! that begin a path are then all on one chain: from the last head that does not sort after the
//! path, by way of `parent`, the longest head that begins this one. A rule whose two forms differ
//! stands there twice, and so does an allow of an index page.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};
use core::ops::Range;

use memchr::memchr;

use super::groups::Span;
use super::lines::{Grammar, RuleKind};
use super::pattern::{self, Ending};

const NO_PARENT: u32 = u32::MAX;

/// What a rule's entry is; several may hold.
mod mark {
    /// Google's form of the rule.
    pub(super) const GOOGLE: u8 = 1;
    /// RFC 9309's form of it.
    pub(super) const RFC: u8 = 1 << 1;
    /// Google's second try of an allow that ends in an index page.
    pub(super) const INDEX: u8 = 1 << 2;
    /// The line is in RFC 9309's grammar.
    pub(super) const GRAMMAR: u8 = 1 << 3;
    pub(super) const ANCHORED: u8 = 1 << 4;
    pub(super) const ALLOW: u8 = 1 << 5;
}

/// Which entries a reader sees.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum View {
    /// As Google's parser.
    Google,
    /// The same without its index pages (AM-32).
    GoogleWithoutIndex,
    /// The same rules in RFC 9309's form.
    Rfc,
    /// RFC 9309's form of the lines in its grammar.
    RfcGrammar,
}

impl View {
    fn sees(self, rule: &Rule) -> bool {
        let is = |marks| rule.marks & marks != 0;
        match self {
            Self::Google => is(mark::GOOGLE | mark::INDEX),
            Self::GoogleWithoutIndex => is(mark::GOOGLE),
            Self::Rfc => is(mark::RFC),
            Self::RfcGrammar => is(mark::RFC) && is(mark::GRAMMAR),
        }
    }
}

/// One entry: 24 octets, for a file of 500 KiB may have 70,000 rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Rule {
    start: u32,
    pub(super) line: u32,
    parent: u32,
    /// The kinds of octets that a path must have.
    needs: u32,
    len: u16,
    head_len: u16,
    score: u16,
    marks: u8,
}

impl Rule {
    fn pattern<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let (start, len) = (self.start, self.len);
        Span { start, len }.of(text)
    }

    fn head<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let (start, len) = (self.start, self.head_len);
        Span { start, len }.of(text)
    }

    fn ending(&self) -> Ending {
        if self.marks & mark::ANCHORED == 0 { Ending::Open } else { Ending::Anchored }
    }

    pub(super) fn kind(&self) -> RuleKind {
        if self.marks & mark::ALLOW == 0 { RuleKind::Disallow } else { RuleKind::Allow }
    }

    /// Whether the rule has no path, and so decides nothing (RT-045).
    pub(super) fn is_empty(&self) -> bool {
        self.score == 0
    }

    /// The greater decides: the longer, then the allow, then the first (RT-083).
    fn rank(&self) -> impl Ord + use<> {
        let allow = self.marks & mark::ALLOW;
        (self.score, allow, Reverse(self.line))
    }

    pub(super) fn outranks(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| self.rank() > other.rank())
    }

    fn matches(&self, question: &Question<'_>) -> bool {
        let (path, text) = (question.path, question.text);
        let head_len = usize::from(self.head_len);
        self.needs & !question.path_has == 0
            && path.starts_with(self.head(text))
            && pattern::matches(self.pattern(text), head_len, self.ending(), path)
    }
}

/// The rules of every block.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    /// The first rule of each block.
    blocks: Vec<u32>,
    two_forms: bool,
}

impl Rules {
    /// Opens a block; rules are added to the last.
    pub(super) fn open_block(&mut self) {
        self.blocks.push(index(self.rules.len()));
    }

    /// The last block.
    pub(super) fn last_block(&self) -> u32 {
        index(self.blocks.len().saturating_sub(1))
    }

    /// Adds a rule as its one to three entries, and its forms to `text`.
    ///
    /// Both forms count with the length of Google's (AM-28).
    pub(super) fn add(&mut self, source: Source<'_>, text: &mut Vec<u8>) {
        let (written, ending) = pattern::ending(source.value);
        let google = Span::append(text, |text| pattern::escape(written, text));
        let rfc = Span::append(text, |text| pattern::normalise(written, text));
        let score = google.len + u16::from(ending == Ending::Anchored);
        let marks = source.marks(ending);
        let entry = |span: Span, score, marks, text: &[u8]| Rule {
            start: span.start,
            line: source.line,
            parent: NO_PARENT,
            needs: pattern::octet_kinds(span.of(text)),
            len: span.len,
            head_len: head_len(span.of(text)),
            score,
            marks,
        };
        if source.kind == RuleKind::Allow
            && let Some(len) = pattern::directory_of_index(google.of(text))
        {
            let span = Span { len, ..google };
            let marks = mark::ALLOW | mark::ANCHORED | mark::INDEX;
            self.rules.push(entry(span, len + 1, marks, text));
        }
        if google.of(text) == rfc.of(text) {
            text.truncate(rfc.start as usize);
            let both = marks | mark::GOOGLE | mark::RFC;
            self.rules.push(entry(google, score, both, text));
        } else {
            self.two_forms = true;
            self.rules.push(entry(google, score, marks | mark::GOOGLE, text));
            self.rules.push(entry(rfc, score, marks | mark::RFC, text));
        }
    }

    /// Whether Google's form of every rule is RFC 9309's too.
    pub(super) fn have_one_form(&self) -> bool {
        !self.two_forms
    }

    /// Sorts each block and chains its heads.
    pub(super) fn finish(&mut self, text: &[u8]) {
        for block in 0..index(self.blocks.len()) {
            let range = self.range(block);
            let first = index(range.start);
            let rules = self.rules.get_mut(range).unwrap_or_default();
            rules.sort_unstable_by(|a, b| by_head(a, b, text));
            chain(rules, first, text);
        }
        self.rules.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    /// The rule that decides about `path` in some blocks, or else `best`.
    pub(super) fn best<'a>(
        &'a self,
        blocks: Range<u32>,
        question: &Question<'_>,
        mut best: Option<&'a Rule>,
    ) -> Option<&'a Rule> {
        let (path, text) = (question.path, question.text);
        for block in blocks.start..blocks.end.min(index(self.blocks.len())) {
            let range = self.range(block);
            let first = range.start;
            let rules = self.rules.get(range).unwrap_or_default();
            let not_after = rules.partition_point(|rule| rule.head(text) <= path);
            let mut next = not_after.checked_sub(1).map(|last| first + last);
            while let Some(rule) = next.and_then(|at| self.rules.get(at)) {
                if question.view.sees(rule) && rule.outranks(best) && rule.matches(question) {
                    best = Some(rule);
                }
                next = Some(rule.parent as usize);
            }
        }
        best
    }

    /// The rule of a line, as Google's parser has it.
    pub(super) fn of_line(&self, line: u32) -> Option<&Rule> {
        let is_there = |rule: &&Rule| rule.line == line && View::GoogleWithoutIndex.sees(rule);
        self.rules.iter().find(is_there)
    }

    /// The pattern of the line that an entry came from, for people.
    pub(super) fn pattern_as_written(&self, rule: &Rule, text: &[u8]) -> String {
        let twin = |other: &&Rule| other.line == rule.line && View::GoogleWithoutIndex.sees(other);
        let shown = if twin(&rule) { rule } else { self.rules.iter().find(twin).unwrap_or(rule) };
        pattern::readable(shown.pattern(text), shown.ending())
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.rules.capacity() * size_of::<Rule>() + self.blocks.capacity() * size_of::<u32>()
    }

    fn range(&self, block: u32) -> Range<usize> {
        let first = |at: usize| self.blocks.get(at).map(|first| *first as usize);
        let start = first(block as usize).unwrap_or(self.rules.len());
        start..first(block as usize + 1).unwrap_or(self.rules.len())
    }
}

/// A rule as its line gives it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) line: u32,
    pub(super) kind: RuleKind,
    pub(super) value: &'a [u8],
    pub(super) grammar: Grammar,
}

impl Source<'_> {
    fn marks(&self, ending: Ending) -> u8 {
        let kind = match self.kind {
            RuleKind::Allow => mark::ALLOW,
            RuleKind::Disallow => 0,
        };
        let anchored = match ending {
            Ending::Anchored => mark::ANCHORED,
            Ending::Open => 0,
        };
        let grammar = match self.grammar {
            Grammar::Rfc => mark::GRAMMAR,
            Grammar::GoogleOnly => 0,
        };
        kind | anchored | grammar
    }
}

/// What is asked of the rules, and the text that they stand in.
pub(super) struct Question<'a> {
    view: View,
    path: &'a [u8],
    path_has: u32,
    text: &'a [u8],
}

impl<'a> Question<'a> {
    /// Asks about a path what one view sees in rules whose patterns stand in `text`.
    pub(super) fn new(view: View, path: &'a [u8], text: &'a [u8]) -> Self {
        let path_has = pattern::octet_kinds(path);
        Self { view, path, path_has, text }
    }
}

/// By head, and the one that decides last, so that a chain meets it first.
fn by_head(a: &Rule, b: &Rule, text: &[u8]) -> Ordering {
    let heads = a.head(text).cmp(b.head(text));
    heads.then_with(|| a.rank().cmp(&b.rank()))
}

/// Gives each rule its parent; `first` is the place of the first of them.
fn chain(rules: &mut [Rule], first: u32, text: &[u8]) {
    for at in 1..rules.len() {
        let (done, rest) = rules.split_at_mut(at);
        let Some(rule) = rest.first_mut() else {
            return;
        };
        let mut parent = index(at - 1);
        while let Some(candidate) = done.get(parent as usize) {
            if rule.head(text).starts_with(candidate.head(text)) {
                rule.parent = first + parent;
                break;
            }
            // NO_PARENT stays out of reach.
            parent = candidate.parent.saturating_sub(first);
        }
    }
}

fn head_len(pattern: &[u8]) -> u16 {
    let len = memchr(b'*', pattern).unwrap_or(pattern.len());
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// A place in a file's tables; the file is far too short for more.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
