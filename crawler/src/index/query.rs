//! What a person typed, as a query. Nothing that can be typed is an error.

use std::collections::HashSet;
use std::ops::Bound;

use comity_compliance::Timestamp;
use tantivy::Term;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::tokenizer::TextAnalyzer;

use super::Form;
use super::schema::Fields;

/// Characters of a query that are looked at.
const QUERY_CHARS_MAX: usize = 1_000;

/// Words of a query that are looked for.
const WORDS_MAX: usize = 32;

/// How much more a word counts in a title than in the text.
const TITLE_BOOST: f32 = 3.0;

/// What is looked for: every phrase must be there. A single word is a phrase of one.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    phrases: Vec<Vec<(usize, String)>>,
}

impl Wanted {
    /// Blanks part phrases, except inside double quotes; what gives several words without a
    /// blank, such as `os.path.join`, is looked for as it stands.
    pub(super) fn parse(typed: &str, analyzer: &mut TextAnalyzer) -> Self {
        let end = typed.char_indices().nth(QUERY_CHARS_MAX);
        let typed = end.and_then(|(end, _)| typed.get(..end)).unwrap_or(typed);
        let mut wanted = Self::default();
        let mut words = 0;
        for (part, quoted) in typed.split('"').zip([false, true].into_iter().cycle()) {
            let pieces: Vec<&str> = if quoted {
                vec![part]
            } else {
                part.split_whitespace().collect()
            };
            for piece in pieces {
                let mut phrase = Vec::new();
                let mut stream = analyzer.token_stream(piece);
                while words < WORDS_MAX && stream.advance() {
                    words += 1;
                    let token = stream.token();
                    phrase.push((token.position, token.text.clone()));
                }
                if !phrase.is_empty() {
                    wanted.phrases.push(phrase);
                }
            }
        }
        wanted
    }

    pub(super) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// All single words, for highlighting.
    pub(super) fn words(&self) -> HashSet<&str> {
        let words = self.phrases.iter().flatten();
        words.map(|(_, word)| word.as_str()).collect()
    }

    /// Documents with all of it that may be shown as results at `now`.
    pub(super) fn query(&self, fields: &Fields, now: Timestamp) -> BooleanQuery {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for phrase in &self.phrases {
            let in_title = BoostQuery::new(phrase_query(fields.title, phrase), TITLE_BOOST);
            let in_text = phrase_query(fields.text, phrase);
            let either = BooleanQuery::union(vec![Box::new(in_title), in_text]);
            clauses.push((Occur::Must, Box::new(either)));
        }
        let is_full = TermQuery::new(fields.form_term(Form::Full), IndexRecordOption::Basic);
        let expires_later = RangeQuery::new(
            Bound::Excluded(Term::from_field_i64(fields.expires_at_ms, now.as_millis())),
            Bound::Unbounded,
        );
        for permitted in [Box::new(is_full) as Box<dyn Query>, Box::new(expires_later)] {
            let without_score = ConstScoreQuery::new(permitted, 0.0);
            clauses.push((Occur::Must, Box::new(without_score)));
        }
        BooleanQuery::new(clauses)
    }
}

fn phrase_query(field: Field, phrase: &[(usize, String)]) -> Box<dyn Query> {
    let term = |word: &str| Term::from_field_text(field, word);
    match phrase {
        [(_, word)] => Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)),
        _ => {
            let first = phrase.first().map_or(0, |(position, _)| *position);
            let terms = phrase
                .iter()
                .map(|(position, word)| (position - first, term(word)));
            Box::new(PhraseQuery::new_with_offset(terms.collect()))
        }
    }
}
