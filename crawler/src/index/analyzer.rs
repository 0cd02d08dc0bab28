//! Text to words: the same for what is indexed, asked, and highlighted.
//!
//! Words are runs of letters and digits, in small letters, without accents, in their English
//! stem, whatever the language: both sides are treated alike, so at worst two words of another
//! language fall together. No word is too common to be looked for. Scripts that do not part their
//! words get one word for each character, which a query then looks for side by side; an
//! identifier such as `asyncio.gather` is found the same way.

use hashbrown::HashMap;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, Stemmer, TextAnalyzer, Token,
    TokenStream, Tokenizer,
};

/// The analyzer's name in the schema. Another way of making words needs another name.
pub(super) const NAME: &str = "comity_words_1";

/// Longer words, in bytes, are data and not language.
const WORD_BYTES_MAX: usize = 128;

pub(super) fn build() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default()).build()
}

#[derive(Clone, Default)]
struct Words {
    token: Token,
    forms: Forms,
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
        WordStream { text, at: 0, token: &mut self.token, forms: &mut self.forms }
    }
}

/// The forms in which words are indexed. Most words of a page are words of the page before it, so
/// what was worked out is kept.
struct Forms {
    make: TextAnalyzer,
    known: HashMap<String, Box<str>>,
}

/// Words that are kept, a few megabytes; then it begins anew.
const FORMS_KEPT: usize = 30_000;

impl Default for Forms {
    fn default() -> Self {
        let make = TextAnalyzer::builder(RawTokenizer::default())
            .filter(LowerCaser)
            .filter(AsciiFoldingFilter)
            .filter(Stemmer::new(Language::English))
            .build();
        Self { make, known: HashMap::new() }
    }
}

impl Clone for Forms {
    /// What is known is soon known again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Forms {
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
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let Some(first) = word.chars().next() else {
            return false;
        };
        let end = if is_word_alone(first) {
            first.len_utf8()
        } else {
            let is_end = |c: char| !c.is_alphanumeric() || is_word_alone(c);
            word.find(is_end).unwrap_or(word.len())
        };
        let from = self.at + rest.len() - word.len();
        self.at = from + end;
        self.token.offset_from = from;
        self.token.offset_to = self.at;
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        if end < WORD_BYTES_MAX {
            self.token.text.push_str(self.forms.of(word.get(..end).unwrap_or_default()));
        }
        true
    }
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
