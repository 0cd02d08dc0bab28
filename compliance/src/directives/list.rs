//! The comma list that meta content and `X-Robots-Tag` lines have in common.

use super::vocabulary::{Form, Rule, Word};
use crate::DateReader;

/// Commas that a date may hold, as in `Thu, Jan 1, 2027` (AM-52).
const DATE_COMMAS: usize = 2;

/// Reads the first element of `text` and gives its rules to `keep`; returns the text after it.
///
/// Elements that say nothing known are passed over.
pub(super) fn read_element<'t>(
    text: &'t str,
    dates: DateReader,
    keep: &mut impl FnMut(Rule),
) -> Option<&'t str> {
    let (element, rest) = split_element(text);
    let Some((name, value)) = element.split_once(':') else {
        let rules = flags(element).into_iter().flatten();
        rules.flatten().copied().for_each(keep);
        return rest;
    };
    let (rule, rest) = match Word::named(name).map(|word| word.form) {
        Some(form @ Form::Date(_)) => read_date(form, text.get(name.len() + 1..)?, dates),
        Some(form) => (form.rule(value, dates), rest),
        None => (None, rest),
    };
    rule.into_iter().for_each(keep);
    rest
}

/// The text up to the first comma, and the text after it.
pub(super) fn split_element(text: &str) -> (&str, Option<&str>) {
    match text.split_once(',') {
        Some((element, rest)) => (element, Some(rest)),
        None => (text, None),
    }
}

/// Whether a whole element is a rule of the vocabulary, its value readable or not.
pub(super) fn is_known_rule(element: &str) -> bool {
    match element.split_once(':') {
        Some((name, _)) => takes_value(name),
        None => flags(element).is_some(),
    }
}

/// Whether a word is one that a value follows.
pub(super) fn takes_value(name: &str) -> bool {
    match Word::named(name).map(|word| word.form) {
        Some(Form::Number(_) | Form::Setting(_) | Form::Date(_)) => true,
        Some(Form::Flag(_)) | None => false,
    }
}

/// The rules of an element of flags: one, or several between blanks or semicolons if all are
/// known (AM-61).
fn flags(element: &str) -> Option<impl Iterator<Item = &'static [Rule]>> {
    let words =
        || element.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
    let flag = |word| match Word::named(word).map(|word| word.form) {
        Some(Form::Flag(rules)) => Some(rules),
        Some(Form::Number(_) | Form::Setting(_) | Form::Date(_)) | None => None,
    };
    let known = words().next().is_some() && words().all(|word| flag(word).is_some());
    known.then(|| words().filter_map(flag))
}

/// Reads a date from the start of `tail`, with as few commas as it needs; gives the text after
/// it. If no date can be read, that is the text after the first comma.
fn read_date(form: Form, tail: &str, dates: DateReader) -> (Option<Rule>, Option<&str>) {
    let (first, after_first) = split_element(tail);
    let mut end = first.len();
    for _ in 0..=DATE_COMMAS {
        let rest = tail.get(end + 1..);
        let rule = tail.get(..end).and_then(|date| form.rule(date, dates));
        if rule.is_some() {
            return (rule, rest);
        }
        match rest {
            Some(rest) => end += 1 + split_element(rest).0.len(),
            None => break,
        }
    }
    (None, after_first)
}
