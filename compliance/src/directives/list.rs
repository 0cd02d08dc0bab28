//! The comma list that meta content and `X-Robots-Tag` lines have in common.

use super::remarks::{Found, RemarkKind};
use super::vocabulary::{Form, Rule, Word};
use crate::{DateReader, ZoneSource};

/// Commas that a date may hold, as in `Thu, Jan 1, 2027` (AM-52).
const DATE_COMMAS: usize = 2;

/// Reads the first element of `text` and gives its rules to `keep`; returns the text after it.
///
/// Elements that say nothing known are passed over with a remark.
pub(super) fn read_element<'t>(
    text: &'t str,
    dates: DateReader,
    keep: &mut impl FnMut(Found<'t>),
) -> Option<&'t str> {
    let (element, rest) = split_element(text);
    let Some((name, value)) = element.split_once(':') else {
        match flags(element) {
            Some(rules) => rules.flatten().copied().map(Found::Rule).for_each(keep),
            None if element.trim().is_empty() => {}
            None if takes_value(element) => {
                keep(Found::Remark(RemarkKind::UnreadableValue, element));
            }
            None => keep(Found::Remark(RemarkKind::UnknownWord, element)),
        }
        return rest;
    };
    let Some(form) = Word::named(name).map(|word| word.form) else {
        keep(Found::Remark(RemarkKind::UnknownWord, element));
        return rest;
    };
    if let Form::Date(_) = form {
        return read_date(form, text, name.len() + 1, dates, keep);
    }
    keep(match form.rule(value, dates) {
        Some(rule) => Found::Rule(rule),
        None => Found::Remark(RemarkKind::UnreadableValue, element),
    });
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

/// Reads a date from `text` behind the name and colon that take `start` octets, with as few commas
/// as it needs; gives the text after it. If no date can be read, that is the text after the first
/// comma.
fn read_date<'t>(
    form: Form,
    text: &'t str,
    start: usize,
    dates: DateReader,
    keep: &mut impl FnMut(Found<'t>),
) -> Option<&'t str> {
    let (first, after_first) = split_element(text);
    let mut end = first.len();
    for _ in 0..=DATE_COMMAS {
        let rest = text.get(end + 1..);
        let read = text.get(start..end).and_then(|date| form.read(date, dates));
        if let Some((rule, zone)) = read {
            keep(Found::Rule(rule));
            if zone == Some(ZoneSource::Unknown) {
                let element = text.get(..end).unwrap_or_default();
                keep(Found::Remark(RemarkKind::UnknownZone, element));
            }
            return rest;
        }
        match rest {
            Some(rest) => end += 1 + split_element(rest).0.len(),
            None => break,
        }
    }
    keep(Found::Remark(RemarkKind::UnreadableValue, first));
    after_first
}
