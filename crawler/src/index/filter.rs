//! What a search is narrowed to: `site:`, `language:`, `after:` and `before:` among its words.

use std::ops::Bound;

use comity_compliance::{Timestamp, parse_date};
use tantivy::Term;
use tantivy::query::{ConstScoreQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::IndexRecordOption;

use super::language;
use super::schema::Fields;

/// The filters of one search. Of one kind, the last counts; sites are alternatives.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Filters {
    sites: Vec<String>,
    pub(super) language: Option<String>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

/// What a word of a search turned out to be.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Taken<'a> {
    /// A filter, and words that it asks for beside.
    Filter(Option<&'a str>),
    /// No filter: it is to be looked for as it stands.
    Word,
    /// It looks like a filter, but its value makes no sense: it is looked for as it stands too.
    Senseless,
}

impl Filters {
    /// Takes a word, if it is a filter with a value that makes sense.
    pub(super) fn take<'a>(&mut self, word: &'a str) -> Taken<'a> {
        let Some((name, value)) = word.split_once(':') else { return Taken::Word };
        match name.to_ascii_lowercase().as_str() {
            "site" => self.take_site(value),
            "lang" | "language" => match language::primary(value) {
                Some(code) => {
                    self.language = Some(code);
                    Taken::Filter(None)
                }
                None => Taken::Senseless,
            },
            "after" => take_date(&mut self.after, value),
            "before" => take_date(&mut self.before, value),
            _ => Taken::Word,
        }
    }

    /// The words of a path narrow the search further: a path is no name that the index has.
    fn take_site<'a>(&mut self, value: &'a str) -> Taken<'a> {
        let value = value.split_once("://").map_or(value, |(_, rest)| rest);
        let at = value.find('/').unwrap_or(value.len());
        let (host, path) = value.split_at_checked(at).unwrap_or((value, ""));
        let host = without_port(host);
        if host.is_empty() {
            return Taken::Senseless;
        }
        self.sites.push(host.to_lowercase());
        Taken::Filter(Some(path).filter(|path| path.len() > 1))
    }

    /// Whether nothing is narrowed.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The clauses that a document must meet, none of which counts for its place.
    pub(super) fn clauses(&self, fields: &Fields) -> Vec<(Occur, Box<dyn Query>)> {
        let mut queries: Vec<Box<dyn Query>> = Vec::new();
        let is = |field, name: &str| -> Box<dyn Query> {
            let term = Term::from_field_text(field, name);
            Box::new(TermQuery::new(term, IndexRecordOption::Basic))
        };
        if !self.sites.is_empty() {
            let sites = self.sites.iter().map(|site| is(fields.site_scope, site)).collect();
            queries.push(Box::new(tantivy::query::BooleanQuery::union(sites)));
        }
        if let Some(code) = &self.language {
            queries.push(is(fields.language_code, code));
        }
        if self.after.is_some() || self.before.is_some() {
            let term = |at: Timestamp| Term::from_field_i64(fields.dated_ms, at.as_millis());
            let from = self.after.map_or(Bound::Unbounded, |at| Bound::Included(term(at)));
            let to = self.before.map_or(Bound::Unbounded, |at| Bound::Excluded(term(at)));
            queries.push(Box::new(RangeQuery::new(from, to)));
        }
        let must = |query| -> (Occur, Box<dyn Query>) {
            (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)))
        };
        queries.into_iter().map(must).collect()
    }
}

/// The index knows hosts; an address as results show it may have a port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.contains(':') => {
            name
        }
        Some((name, port)) if name.ends_with(']') && port.bytes().all(|b| b.is_ascii_digit()) => {
            name
        }
        Some(_) | None => host,
    }
}

fn take_date<'a>(bound: &mut Option<Timestamp>, value: &str) -> Taken<'a> {
    match day(value) {
        Some(at) => {
            *bound = Some(at);
            Taken::Filter(None)
        }
        None => Taken::Senseless,
    }
}

/// The first instant of a day, a month or a year.
fn day(text: &str) -> Option<Timestamp> {
    let is_digits = |part: &str, len| part.len() == len && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    let whole = match parts.as_slice() {
        [year] if is_digits(year, 4) => format!("{text}-01-01"),
        [year, month] if is_digits(year, 4) && is_digits(month, 2) => format!("{text}-01"),
        _ => text.to_owned(),
    };
    parse_date(&whole, Timestamp::EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<Timestamp> {
        parse_date(text, Timestamp::EPOCH)
    }

    /// One line, one case: what was typed, what it is taken for, and the filters then.
    #[test]
    fn words_that_are_filters() {
        let none = Filters::default;
        let site = |name: &str| Filters { sites: vec![name.into()], ..none() };
        for (word, taken, filters) in [
            ("site:example.org", Taken::Filter(None), site("example.org")),
            ("SITE:Example.ORG", Taken::Filter(None), site("example.org")),
            (
                "site:https://example.org/docs/a",
                Taken::Filter(Some("/docs/a")),
                site("example.org"),
            ),
            ("site:example.org/", Taken::Filter(None), site("example.org")),
            ("site:", Taken::Senseless, none()),
            ("site:127.0.0.1:8000", Taken::Filter(None), site("127.0.0.1")),
            ("site:http://[::1]:8000/", Taken::Filter(None), site("[::1]")),
            ("site:[::1]", Taken::Filter(None), site("[::1]")),
            ("lang:de-AT", Taken::Filter(None), Filters { language: Some("de".into()), ..none() }),
            ("language:en", Taken::Filter(None), Filters { language: Some("en".into()), ..none() }),
            ("lang:german", Taken::Senseless, none()),
            ("after:2024", Taken::Filter(None), Filters { after: at("2024-01-01"), ..none() }),
            ("before:2024-05", Taken::Filter(None), Filters { before: at("2024-05-01"), ..none() }),
            (
                "after:2024-05-06",
                Taken::Filter(None),
                Filters { after: at("2024-05-06"), ..none() },
            ),
            ("after:noon", Taken::Senseless, none()),
            ("after:2024-02-30", Taken::Senseless, none()),
            ("std::string", Taken::Word, none()),
            ("word", Taken::Word, none()),
        ] {
            let mut found = Filters::default();
            assert_eq!((found.take(word), found), (taken, filters), "{word}");
        }
    }
}
