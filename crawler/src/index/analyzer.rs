//! Text to words: the same for what is indexed, asked, and highlighted.
//!
//! Words are runs of letters and digits, in small letters, in the stem of their language, without
//! accents. No word is too common to be looked for. Scripts that do not part their words get one
//! word for each character, which a query then looks for side by side; an identifier such as
//! `asyncio.gather` is found the same way.
//!
//! The engine gives a field one analyzer and tells it nothing of the document. So a text says its
//! language itself, by a mark before its first character ([`marked`]).

use hashbrown::HashMap;
use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, RawTokenizer, Stemmer, StopWordFilter, TextAnalyzer, Token,
    TokenStream, Tokenizer,
};

use super::language::Language;

/// The analyzer's name in the schema. Another way of making words needs another name.
pub(super) const NAME: &str = "comity_words_2";

/// Longer words, in bytes, are data and not language.
const WORD_BYTES_MAX: usize = 128;

/// The mark of a text without a language that is known; those of languages follow it. They are
/// private characters, and of a text only the first is taken for a mark.
const MARK: u32 = 0xF_0000;

/// A text that says its language to the analyzer.
pub(super) fn marked(text: &str, language: Option<Language>) -> String {
    let place = language.map_or(0, |language| language.place() + 1);
    let mark = u32::try_from(place).ok().and_then(|place| char::from_u32(MARK + place));
    let mut marked = String::with_capacity(text.len() + MARK_BYTES);
    marked.extend(mark);
    marked.push_str(text);
    marked
}

/// Bytes of a mark: what offsets into a marked text are too large by.
pub(super) const MARK_BYTES: usize = 4;

/// The language that a text is marked with, and where its words begin.
fn mark_of(text: &str) -> (Option<Language>, usize) {
    let place = text.chars().next().and_then(|mark| u32::from(mark).checked_sub(MARK));
    match place.and_then(|place| usize::try_from(place).ok()) {
        Some(0) => (None, MARK_BYTES),
        Some(place) if place <= Language::COUNT => (Language::at(place - 1), MARK_BYTES),
        Some(_) | None => (None, 0),
    }
}

pub(super) fn build() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default()).build()
}

#[derive(Clone, Default)]
struct Words {
    token: Token,
    forms: AllForms,
}

struct WordStream<'a> {
    text: &'a str,
    at: usize,
    token: &'a mut Token,
    forms: &'a mut Forms,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        let (language, at) = mark_of(text);
        let forms = self.forms.in_language(language);
        WordStream { text, at, token: &mut self.token, forms }
    }
}

/// The forms of words by language, each begun when it is needed.
#[derive(Default)]
struct AllForms(HashMap<Option<Language>, Forms>);

impl Clone for AllForms {
    /// What is known is soon known again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl AllForms {
    fn in_language(&mut self, language: Option<Language>) -> &mut Forms {
        self.0.entry(language).or_insert_with(|| Forms::new(language))
    }
}

/// The forms in which words of one language are indexed. Most words of a page are words of the page
/// before it, so what was worked out is kept.
struct Forms {
    make: TextAnalyzer,
    known: HashMap<String, Box<str>>,
}

/// Words that are kept of a language, a few megabytes; then it begins anew.
const FORMS_KEPT: usize = 30_000;

impl Forms {
    fn new(language: Option<Language>) -> Self {
        let words = TextAnalyzer::builder(RawTokenizer::default()).filter(LowerCaser);
        // Stemmers know the accents of their language; whoever searches may leave them out.
        let make = match language.and_then(Language::stemming) {
            Some(stemming) => {
                words.filter(Stemmer::new(stemming)).filter(AsciiFoldingFilter).build()
            }
            None => words.filter(AsciiFoldingFilter).build(),
        };
        Self { make, known: HashMap::new() }
    }

    fn of(&mut self, word: &str) -> &str {
        if self.known.len() >= FORMS_KEPT {
            self.known.clear();
        }
        let make = &mut self.make;
        self.known.entry_ref(word).or_insert_with(|| {
            let mut stream = make.token_stream(word);
            let form = if stream.advance() { stream.token().text.as_str() } else { "" };
            form.into()
        })
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        while self.next_word() {
            if self.token.offset_to - self.token.offset_from < WORD_BYTES_MAX {
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

impl WordStream<'_> {
    /// Takes the next word, of any length.
    fn next_word(&mut self) -> bool {
        let from = next_start(self.text, self.at);
        let rest = self.text.get(from..).unwrap_or_default();
        let Some(first) = rest.chars().next() else {
            return false;
        };
        let length = if is_word_alone(first) { first.len_utf8() } else { length_of_word(rest) };
        self.at = from + length;
        self.token.offset_from = from;
        self.token.offset_to = self.at;
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        if length < WORD_BYTES_MAX {
            self.token.text.push_str(self.forms.of(rest.get(..length).unwrap_or_default()));
        }
        true
    }
}

/// Where the first word from `at` on begins; the text's end if none does. Most text is ASCII.
fn next_start(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes().get(at..).unwrap_or_default();
    let gap = bytes.iter().take_while(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
    let at = at + gap.count();
    let rest = text.get(at..).unwrap_or_default();
    let is_plain = rest.bytes().next().is_none_or(|byte| byte.is_ascii());
    if is_plain { at } else { at + rest.find(char::is_alphanumeric).unwrap_or(rest.len()) }
}

/// Bytes of the word that a text begins with.
fn length_of_word(text: &str) -> usize {
    let plain = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if text.as_bytes().get(plain).is_none_or(u8::is_ascii) {
        return plain;
    }
    let is_end = |c: char| !c.is_alphanumeric() || is_word_alone(c);
    text.find(is_end).unwrap_or(text.len())
}

/// Characters of scripts that write words without a gap: Chinese, Japanese, Thai, Lao, Khmer,
/// Burmese.
fn is_word_alone(c: char) -> bool {
    matches!(
        u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF
            | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF | 0x2_0000..=0x3_134F
    )
}

/// Words as common as "the" in one language: a page need not have them to be what is looked for.
#[derive(Default)]
pub(super) struct Common(Option<TextAnalyzer>);

impl Common {
    /// The common words of a language; none where no list is known.
    pub(super) fn of(language: Option<Language>) -> Self {
        let words = language.and_then(Language::stemming).and_then(StopWordFilter::new);
        Self(words.map(|words| {
            TextAnalyzer::builder(RawTokenizer::default()).filter(LowerCaser).filter(words).build()
        }))
    }

    /// Whether a word is one of them.
    pub(super) fn has(&mut self, word: &str) -> bool {
        self.0.as_mut().is_some_and(|words| !words.token_stream(word).advance())
    }
}
