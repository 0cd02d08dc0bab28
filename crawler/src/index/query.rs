//! What a person typed, as a query. Nothing that can be typed is an error.

use std::collections::HashSet;
use std::ops::Bound;

use comity_compliance::Timestamp;
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, Occur, PhraseQuery,
    Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::tokenizer::TextAnalyzer;

use super::Form;
use super::analyzer::{self, Common};
use super::exclusion::Excluded;
use super::filter::{Filters, Taken};
use super::language::Language;
use super::ranking::{IN_ORDER_BOOSTS, WORD_BOOSTS};
use super::schema::Fields;

/// Characters of a query that are looked at.
const QUERY_CHARS_MAX: usize = 1_000;

/// What stands around a phrase: keyboards of phones write it curled.
const QUOTES: [char; 4] = ['"', '“', '”', '„'];

/// Words of a query that are looked for.
const WORDS_MAX: usize = 32;

/// Words with their places.
type Words = Vec<(usize, String)>;

/// What is read from the words typed: how words are made, and in which languages they may be meant.
pub(super) struct Reading<'a> {
    pub(super) analyzer: &'a mut TextAnalyzer,
    pub(super) languages: &'a [Option<Language>],
    pub(super) common: &'a mut Common,
}

/// Words that belong together: a single one, or several that stand side by side.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Phrase {
    /// As each language has them, where those differ.
    readings: Vec<Words>,
    /// Whether it is a word as common as "the", which a page need not have.
    is_common: bool,
    /// Whether it must stand in the address.
    in_address: bool,
}

/// How much of what is looked for must be there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Strictness {
    /// All but common words.
    All,
    /// At least half of the words.
    Half,
}

/// What is looked for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    phrases: Vec<Phrase>,
    /// The words of the search as one phrase, if they are several single words.
    in_order: Vec<Words>,
    excluded: Vec<Phrase>,
    filters: Filters,
    /// What a filter lets through is left out, if it has these words in its address too.
    left_out: Vec<(Filters, Option<Phrase>)>,
    /// What looks like a filter and is none.
    senseless: Vec<String>,
}

impl Wanted {
    /// Blanks part phrases, except inside double quotes; what gives several words without a
    /// blank, such as `os.path.join`, is looked for as it stands. Filters and `-word` count outside
    /// quotes only.
    pub(super) fn parse(typed: &str, reading: &mut Reading<'_>) -> Self {
        let end = typed.char_indices().nth(QUERY_CHARS_MAX);
        let typed = end.and_then(|(end, _)| typed.get(..end)).unwrap_or(typed);
        let mut wanted = Self::default();
        let mut single = Vec::new();
        let mut is_excluded = false;
        for (part, quoted) in typed.split(QUOTES).zip([false, true].into_iter().cycle()) {
            if quoted {
                let phrases = if is_excluded { &mut wanted.excluded } else { &mut wanted.phrases };
                phrases.extend(reading.phrase(part));
                continue;
            }
            is_excluded = part.split(char::is_whitespace).next_back() == Some("-");
            for piece in part.split_whitespace() {
                wanted.take(piece, reading, &mut single);
            }
        }
        wanted.phrases.truncate(WORDS_MAX);
        let are_all_common = wanted.phrases.iter().all(|phrase| phrase.is_common);
        for phrase in &mut wanted.phrases {
            phrase.is_common &= !are_all_common;
        }
        if single.len() > 1 && wanted.phrases.len() == single.len() {
            wanted.in_order = reading.phrase(&single.join(" ")).unwrap_or_default().readings;
        }
        wanted
    }

    fn take<'a>(&mut self, piece: &'a str, reading: &mut Reading<'_>, single: &mut Vec<&'a str>) {
        let (word, is_excluded) = match piece.strip_prefix('-') {
            Some(word) => (word, true),
            None => (piece, false),
        };
        let mut left_out = Filters::default();
        let filters = if is_excluded { &mut left_out } else { &mut self.filters };
        match filters.take(word) {
            Taken::Filter(words) => {
                let phrase = words.and_then(|words| reading.phrase(words));
                let phrase = phrase.map(|phrase| Phrase { in_address: true, ..phrase });
                if is_excluded {
                    self.left_out.push((left_out, phrase));
                } else {
                    self.phrases.extend(phrase);
                }
                return;
            }
            Taken::Senseless => self.senseless.push(piece.to_owned()),
            Taken::Word => {}
        }
        let phrase = reading.phrase(word);
        if is_excluded {
            self.excluded.extend(phrase);
        } else {
            single.extend(phrase.is_some().then_some(piece));
            self.phrases.extend(phrase);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let leaves_nothing_out = self.excluded.is_empty() && self.left_out.is_empty();
        self.phrases.is_empty() && leaves_nothing_out && self.filters.is_empty()
    }

    /// What was typed as a filter, makes no sense as one, and is looked for as it stands.
    pub(super) fn senseless(&self) -> Vec<String> {
        self.senseless.clone()
    }

    /// Whether fewer words could be asked for.
    pub(super) fn can_relax(&self) -> bool {
        self.phrases.iter().filter(|phrase| !phrase.is_common).count() > 1
    }

    /// All single words in all forms, for highlighting.
    pub(super) fn words(&self) -> HashSet<&str> {
        let phrases = self.phrases.iter().filter(|phrase| !phrase.in_address);
        let words = phrases.flat_map(|phrase| &phrase.readings).flatten();
        words.map(|(_, word)| word.as_str()).collect()
    }

    /// Documents of these forms with what is looked for that may be shown at `now`.
    pub(super) fn query(
        &self,
        fields: &Fields,
        (forms, strictness): (&[Form], Strictness),
        now: Timestamp,
    ) -> BooleanQuery {
        let mut clauses = self.filters.clauses(fields);
        let boosts = WORD_BOOSTS.map(|(field, boost)| (field(fields), boost));
        let mut most = 0;
        for phrase in &self.phrases {
            let occur = match (phrase.is_common, strictness) {
                (false, Strictness::All) => Occur::Must,
                (true, _) | (false, Strictness::Half) => Occur::Should,
            };
            most += usize::from(strictness == Strictness::Half);
            let places = if phrase.in_address { &in_address(fields)[..] } else { &boosts[..] };
            clauses.push((occur, anywhere(&phrase.readings, places)));
        }
        if self.phrases.is_empty() {
            // Filters or what is left out alone: then all that counts is what is known of the page itself.
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(Box::new(AllQuery), 1.0))));
        }
        if strictness == Strictness::All && !self.in_order.is_empty() {
            let boosts = IN_ORDER_BOOSTS.map(|(field, boost)| (field(fields), boost));
            clauses.push((Occur::Should, anywhere(&self.in_order, &boosts)));
        }
        for phrase in &self.excluded {
            let left_out = Excluded(anywhere(&phrase.readings, &boosts));
            clauses.push((Occur::MustNot, Box::new(left_out)));
        }
        for (filters, phrase) in &self.left_out {
            let mut met = filters.clauses(fields);
            let words = phrase.iter().map(|phrase| anywhere(&phrase.readings, &in_address(fields)));
            met.extend(words.map(|words| (Occur::Must, words)));
            let left_out = Excluded(Box::new(BooleanQuery::new(met)));
            clauses.push((Occur::MustNot, Box::new(left_out)));
        }
        clauses.extend(permitted(fields, forms, now));
        BooleanQuery::with_minimum_required_clauses(clauses, most.div_ceil(2))
    }
}

impl Reading<'_> {
    /// The words of a piece, as each language has them.
    fn phrase(&mut self, piece: &str) -> Option<Phrase> {
        let mut phrase = Phrase::default();
        for language in self.languages {
            let marked = analyzer::marked(piece, *language);
            let mut words = Words::new();
            let mut stream = self.analyzer.token_stream(&marked);
            while words.len() < WORDS_MAX && stream.advance() {
                let token = stream.token();
                words.push((token.position, token.text.clone()));
            }
            if !words.is_empty() && !phrase.readings.contains(&words) {
                phrase.readings.push(words);
            }
        }
        phrase.is_common = self.common.has(piece);
        Some(phrase).filter(|phrase| !phrase.readings.is_empty())
    }
}

/// What may be shown as a result at `now`; none of it counts for its place.
pub(super) fn permitted(
    fields: &Fields,
    forms: &[Form],
    now: Timestamp,
) -> impl Iterator<Item = (Occur, Box<dyn Query>)> {
    let is_form = |form: &Form| -> Box<dyn Query> {
        Box::new(TermQuery::new(fields.form_term(*form), IndexRecordOption::Basic))
    };
    let is_one = BooleanQuery::union(forms.iter().map(is_form).collect());
    let expires_later = RangeQuery::new(
        Bound::Excluded(Term::from_field_i64(fields.expires_at_ms, now.as_millis())),
        Bound::Unbounded,
    );
    [Box::new(is_one) as Box<dyn Query>, Box::new(expires_later)]
        .into_iter()
        .map(|query| (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn Query>))
}

/// Where the words of a filter's path stand.
fn in_address(fields: &Fields) -> [(Field, f32); 1] {
    [(fields.url_words, 1.0)]
}

/// Words in any of these fields, each with its weight, in any reading.
fn anywhere(readings: &[Words], boosts: &[(Field, f32)]) -> Box<dyn Query> {
    let in_field = |(field, boost): &(Field, f32)| -> Box<dyn Query> {
        let readings = readings.iter().map(|words| phrase_query(*field, words)).collect();
        Box::new(BoostQuery::new(one_of(readings), *boost))
    };
    Box::new(BooleanQuery::union(boosts.iter().map(in_field).collect()))
}

/// The best of several counts, not their sum: they are one word.
fn one_of(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match queries.pop() {
        Some(only) if queries.is_empty() => only,
        last => {
            queries.extend(last);
            Box::new(DisjunctionMaxQuery::new(queries))
        }
    }
}

fn phrase_query(field: Field, words: &[(usize, String)]) -> Box<dyn Query> {
    let term = |word: &str| Term::from_field_text(field, word);
    match words {
        [(_, word)] => Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)),
        _ => {
            let first = words.first().map_or(0, |(position, _)| *position);
            let terms = words.iter().map(|(position, word)| (position - first, term(word)));
            Box::new(PhraseQuery::new_with_offset(terms.collect()))
        }
    }
}
