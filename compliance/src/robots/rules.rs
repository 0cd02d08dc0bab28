//! The rules of a file, laid out so that a path meets few of them.
//!
//! The rules of a block are sorted by their heads: the octets before the first star that Google's
//! form of the rule and RFC 9309's have in common, which is all of them in most rules. The heads
//! that begin a path are then all on one chain: from the last head that does not sort after the
//! path, by way of `parent`, the longest head that begins this one. Google's form alone is kept,
//! for the other follows from it. An allow of an index page stands there twice.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use memchr::memchr;

use super::groups::Span;
use super::lines::{Grammar, RuleKind};
use super::pattern::{self, Ending};

const NO_PARENT: u32 = u32::MAX;

/// A usual rule's line has about so many octets.
const OCTETS_OF_RULE: usize = 24;

/// What a rule's entry is; several may hold.
mod mark {
    /// RFC 9309's form differs from Google's, which is the one that is kept.
    pub(super) const TWO_FORMS: u32 = 1;
    /// Google's second try of an allow that ends in an index page.
    pub(super) const INDEX: u32 = 1 << 1;
    /// The line is in RFC 9309's grammar.
    pub(super) const GRAMMAR: u32 = 1 << 2;
    pub(super) const ANCHORED: u32 = 1 << 3;
    pub(super) const ALLOW: u32 = 1 << 4;
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
        match self {
            Self::Google => true,
            Self::GoogleWithoutIndex | Self::Rfc => !rule.is(mark::INDEX),
            Self::RfcGrammar => rule.is(mark::GRAMMAR) && !rule.is(mark::INDEX),
        }
    }

    fn in_rfc_form(self) -> bool {
        match self {
            Self::Google | Self::GoogleWithoutIndex => false,
            Self::Rfc | Self::RfcGrammar => true,
        }
    }
}

/// One entry: 20 octets, for a file of 500 KiB may have 70,000 rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Rule {
    start: u32,
    pub(super) line: u32,
    parent: u32,
    /// Marks, and the kinds of octets that a path must have.
    bits: u32,
    len: u16,
    head_len: u16,
}

impl Rule {
    fn is(&self, mark: u32) -> bool {
        self.bits & mark != 0
    }

    fn pattern<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let (start, len) = (self.start, self.len);
        Span { start, len }.of(text)
    }

    fn head<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let (start, len) = (self.start, self.head_len);
        Span { start, len }.of(text)
    }

    fn ending(&self) -> Ending {
        if self.is(mark::ANCHORED) { Ending::Anchored } else { Ending::Open }
    }

    pub(super) fn kind(&self) -> RuleKind {
        if self.is(mark::ALLOW) { RuleKind::Allow } else { RuleKind::Disallow }
    }

    /// The length that counts: of Google's form, in whatever form it is compared (AM-28).
    fn score(&self) -> u32 {
        u32::from(self.len) + u32::from(self.is(mark::ANCHORED))
    }

    /// Whether the rule has no path, and so decides nothing (RT-045).
    pub(super) fn is_empty(&self) -> bool {
        self.score() == 0
    }

    /// The greater decides: the longer, then the allow, then the first (RT-083).
    fn rank(&self) -> impl Ord + use<> {
        (self.score(), self.is(mark::ALLOW), Reverse(self.line))
    }

    pub(super) fn outranks(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| self.rank() > other.rank())
    }

    fn matches(&self, question: &Question<'_>) -> bool {
        let (path, text) = (question.path, question.text);
        let needs = self.bits & pattern::KINDS;
        if needs & !question.path_has != 0 || !path.starts_with(self.head(text)) {
            return false;
        }
        let pattern = self.pattern(text);
        let matches =
            |form| pattern::matches(form, usize::from(self.head_len), self.ending(), path);
        if question.view.in_rfc_form() && self.is(mark::TWO_FORMS) {
            let mut normal = Vec::with_capacity(pattern.len() * 2);
            pattern::normalise(pattern, &mut normal);
            matches(&normal)
        } else {
            matches(pattern)
        }
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
    /// No rules yet, and room for those of a usual file of this size.
    pub(super) fn for_octets(octets: usize) -> Self {
        Self { rules: Vec::with_capacity(octets / OCTETS_OF_RULE), ..Self::default() }
    }

    /// Opens a block; rules are added to the last.
    pub(super) fn open_block(&mut self) {
        self.blocks.push(index(self.rules.len()));
    }

    /// The last block.
    pub(super) fn last_block(&self) -> u32 {
        index(self.blocks.len().saturating_sub(1))
    }

    /// Adds a rule as its one or two entries, and Google's form of it to `text`.
    pub(super) fn add(&mut self, source: Source<'_>, text: &mut Vec<u8>) {
        let (written, ending) = pattern::ending(source.value);
        let form = Form::append(written, text);
        if form.marks & mark::TWO_FORMS != 0 {
            self.two_forms = true;
        }
        let marks = source.marks(ending) | form.marks;
        self.rules.push(form.entry(source.line, marks));
        if source.kind == RuleKind::Allow
            && let Some(len) = pattern::directory_of_index(form.span.of(text))
        {
            let span = Span { len, ..form.span };
            let kinds = pattern::look(span.of(text)).kinds;
            let directory = Form { span, kinds, head_len: form.head_len.min(len), marks: 0 };
            let marks = mark::ALLOW | mark::ANCHORED | mark::INDEX;
            self.rules.push(directory.entry(source.line, marks));
        }
    }

    /// Whether Google's form of every rule is RFC 9309's too.
    pub(super) fn have_one_form(&self) -> bool {
        !self.two_forms
    }

    /// Sorts each block and chains its heads.
    pub(super) fn finish(&mut self, text: &[u8]) {
        let mut buffers = (Vec::new(), Vec::new());
        for block in 0..index(self.blocks.len()) {
            let range = self.range(block);
            let first = index(range.start);
            let rules = self.rules.get_mut(range).unwrap_or_default();
            sort_and_chain(rules, first, &mut buffers, text);
        }
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

    /// Octets on the heap that no rule fills.
    pub(super) fn spare_bytes(&self) -> usize {
        (self.rules.capacity() - self.rules.len()) * size_of::<Rule>()
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.rules.shrink_to_fit();
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
    fn marks(&self, ending: Ending) -> u32 {
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

/// A rule's path as it is kept.
#[derive(Clone, Copy)]
struct Form {
    span: Span,
    head_len: u16,
    /// The kinds of octets that a path must have, whichever form is compared.
    kinds: u32,
    /// [`mark::TWO_FORMS`] or none.
    marks: u32,
}

impl Form {
    /// Appends Google's form of a path.
    fn append(written: &[u8], text: &mut Vec<u8>) -> Self {
        let look = pattern::look(written);
        if look.has_one_form {
            let span = Span::append(text, |text| text.extend_from_slice(written));
            let head_len = if look.has_star { head_len(written) } else { span.len };
            return Self { span, head_len, kinds: look.kinds, marks: 0 };
        }
        let span = Span::append(text, |text| pattern::escape(written, text));
        let mut normal = Vec::with_capacity(usize::from(span.len) * 2);
        let google = span.of(text);
        pattern::normalise(google, &mut normal);
        if google == normal {
            let kinds = pattern::look(google).kinds;
            return Self { span, head_len: head_len(google), kinds, marks: 0 };
        }
        let shared = google.iter().zip(&normal).take_while(|(a, b)| a == b).count();
        let head_len = head_len(google.get(..shared).unwrap_or_default());
        Self { span, head_len, kinds: 0, marks: mark::TWO_FORMS }
    }

    fn entry(&self, line: u32, marks: u32) -> Rule {
        let Span { start, len } = self.span;
        let bits = self.kinds | marks;
        Rule { start, line, parent: NO_PARENT, bits, len, head_len: self.head_len }
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
        let path_has = pattern::look(path).kinds;
        Self { view, path, path_has, text }
    }
}

/// A rule's place in its block, after the first octets of its head: a number that sorts by them.
type Keyed = u128;

/// Octets of a head that are in its key.
const KEY_OCTETS: u32 = 12;

/// Sorts rules by head, then line, and gives each its parent; `first` is the place of the first.
///
/// Most heads differ in their first octets, so those are compared, as numbers, and the text is
/// seldom looked at.
fn sort_and_chain(
    rules: &mut [Rule],
    first: u32,
    (keyed, sorted): &mut (Vec<Keyed>, Vec<Rule>),
    text: &[u8],
) {
    let rule = |key: Keyed| rules.get(place(key) as usize);
    keyed.clear();
    keyed.extend((0u32..).zip(&*rules).map(|(at, rule)| key(rule, at, text)));
    keyed.sort_unstable();
    let alike = |a: &Keyed, b: &Keyed| shared_octets(*a, *b) == KEY_OCTETS;
    for same in keyed.chunk_by_mut(alike).filter(|same| same.len() > 1) {
        let head = |key: Keyed| rule(key).map(|rule| rule.head(text));
        if same.first().is_some_and(|key| fills(*key)) {
            same.sort_unstable_by(|a, b| head(*a).cmp(&head(*b)).then(a.cmp(b)));
        }
    }
    sorted.clear();
    let mut last = Keyed::default();
    for key in keyed.iter().copied() {
        let Some(rule) = rule(key) else {
            return;
        };
        let parent = parent(rule, shared_octets(last, key), sorted, first, text);
        sorted.push(Rule { parent, ..*rule });
        last = key;
    }
    rules.copy_from_slice(sorted);
}

/// A NUL, which ends a line and so is in no head, stands for each octet that a head lacks.
fn key(rule: &Rule, at: u32, text: &[u8]) -> Keyed {
    let from_head = text.get(rule.start as usize..).unwrap_or_default();
    let octets = from_head.first_chunk().copied().unwrap_or_else(|| {
        let mut octets = [0; 16];
        octets.iter_mut().zip(from_head).for_each(|(slot, octet)| *slot = *octet);
        octets
    });
    let kept = u32::from(rule.head_len).min(KEY_OCTETS);
    let mask = Keyed::MAX.checked_shl(8 * (16 - kept)).unwrap_or(0);
    u128::from_be_bytes(octets) & mask | Keyed::from(at)
}

/// Where in its block the rule of a key stands.
fn place(key: Keyed) -> u32 {
    (key & Keyed::from(u32::MAX)) as u32
}

/// Whether a key has an octet of the head for each of its own, so that the head may go on.
fn fills(key: Keyed) -> bool {
    key >> 32 & 0xFF != 0
}

/// How many octets two keys begin with alike.
fn shared_octets(a: Keyed, b: Keyed) -> u32 {
    ((a ^ b).leading_zeros() / 8).min(KEY_OCTETS)
}

/// The place of the longest head before a rule that begins the rule's head, where `before` are its
/// block's rules that sort before it, and the last of them begins with `shared` octets of it.
fn parent(rule: &Rule, shared: u32, before: &[Rule], first: u32, text: &[u8]) -> u32 {
    // Every head on the last one's chain begins the last one's.
    let begins = |candidate: &Rule| {
        let len = u32::from(candidate.head_len);
        len <= shared || shared == KEY_OCTETS && rule.head(text).starts_with(candidate.head(text))
    };
    let mut at = index(before.len().wrapping_sub(1));
    while let Some(candidate) = before.get(at as usize) {
        if begins(candidate) {
            return first + at;
        }
        // NO_PARENT stays out of reach.
        at = candidate.parent.saturating_sub(first);
    }
    NO_PARENT
}

fn head_len(pattern: &[u8]) -> u16 {
    let len = memchr(b'*', pattern).unwrap_or(pattern.len());
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// A place in a file's tables; the file is far too short for more.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
