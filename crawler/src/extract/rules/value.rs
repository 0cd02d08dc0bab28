//! A text as the value that it is meant to be.

use comity_compliance::{DateReader, Timestamp, ZoneSource};
use jiff::fmt::strtime;
use serde_json::{Number, Value};

use super::field::Miss;

/// What one value is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Scalar {
    Text,
    Number,
    Date,
    Url,
}

/// How a text is read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) scalar: Scalar,
    pub(super) decimal: Option<char>,
    pub(super) format: Option<String>,
}

impl Reading {
    /// `resolve` makes an address absolute; `now` tells the century of a two-digit year.
    pub(super) fn read(
        &self,
        text: &str,
        resolve: impl Fn(&str) -> Option<url::Url>,
        now: Timestamp,
    ) -> Result<Value, Miss> {
        if text.is_empty() {
            return Err(Miss::Empty);
        }
        match self.scalar {
            Scalar::Text => Ok(text.into()),
            Scalar::Number => {
                let number = number(text, self.decimal).map(Value::Number);
                number.ok_or_else(|| Miss::NoNumber(excerpt(text)))
            }
            Scalar::Date => date(text, self.format.as_deref(), now).map(Value::from),
            Scalar::Url => {
                let url = resolve(text).map(|url| Value::from(url.as_str()));
                url.ok_or_else(|| Miss::NoUrl(excerpt(text)))
            }
        }
    }
}

/// The beginning of a text, for people.
pub(super) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// An instant. Where a zone is written that is not known, hours are missing to it: that is none.
fn date(text: &str, format: Option<&str>, now: Timestamp) -> Result<String, Miss> {
    let found = match format {
        Some(format) => formatted(text, format),
        None => match DateReader::new(now).read(text) {
            Some(date) if date.zone == ZoneSource::Unknown => {
                return Err(Miss::UnknownZone(excerpt(text)));
            }
            date => date.map(|date| date.instant.to_string()),
        },
    };
    found.ok_or_else(|| Miss::NoDate(excerpt(text)))
}

fn formatted(text: &str, format: &str) -> Option<String> {
    let parts = strtime::parse(format, text).ok()?;
    let utc = |at: jiff::civil::DateTime| jiff::tz::Offset::UTC.to_timestamp(at).ok();
    let instant = parts.to_timestamp().ok();
    let of_day = || parts.to_datetime().or_else(|_| parts.to_date().map(Into::into)).ok();
    let instant = instant.or_else(|| utc(of_day()?))?;
    Some(instant.to_string())
}

/// Digits of a number that are looked at.
const MOST_DIGITS: usize = 40;

/// The first number in a text, such as 1234.5 in `from £1,234.50 a year`.
///
/// Where `decimal` does not say which sign stands before the decimals: of `.` and `,` together it is
/// the last; one that stands twice parts thousands; a single `,` before exactly three digits does
/// too, and a single `.` never does. Blanks and apostrophes part thousands.
fn number(text: &str, decimal: Option<char>) -> Option<Number> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let (before, from) = text.split_at(start);
    let point = decimal.unwrap_or('.');
    let (before, is_fraction) = match before.strip_suffix(point) {
        Some(earlier) if !earlier.ends_with(char::is_alphanumeric) => (earlier, true),
        Some(_) | None => (before, false),
    };
    let (digits, decimals) = parts(token(from), decimal)?;
    let (digits, decimals) = if is_fraction { (String::new(), digits) } else { (digits, decimals) };
    if digits.len() + decimals.len() > MOST_DIGITS {
        return None;
    }
    let sign = if is_negative(before) { "-" } else { "" };
    if decimals.is_empty()
        && let Ok(whole) = format!("{sign}{digits}").parse::<i64>()
    {
        return Some(whole.into());
    }
    Number::from_f64(format!("{sign}{digits}.{decimals}").parse().ok()?)
}

/// Whether what stands before a number makes it less than nothing: a minus that joins no words.
fn is_negative(before: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || !(c.is_alphanumeric() || "-−.,".contains(c));
    let before = before.trim_end_matches(is_mark);
    let minus = before.strip_suffix(['-', '−']);
    minus.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
}

fn parts_thousands(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’')
}

/// Digits with the signs between them. After a blank or an apostrophe come three digits, or
/// another number.
fn token(text: &str) -> &str {
    let mut end = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let run = after.bytes().take_while(u8::is_ascii_digit).count();
        let goes_on = c.is_ascii_digit()
            || (matches!(c, '.' | ',') && run > 0)
            || (parts_thousands(c) && run == 3);
        if !goes_on {
            break;
        }
        end += c.len_utf8();
        rest = after;
    }
    &text[..end]
}

/// The digits before and after the decimal sign; none if the sign that it is stands there twice.
fn parts(token: &str, decimal: Option<char>) -> Option<(String, String)> {
    if decimal.is_some_and(|sign| token.matches(sign).count() > 1) {
        return None;
    }
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (dots, commas) = (token.matches('.').count(), token.matches(',').count());
    let last = token.rfind(['.', ',']);
    let is_decimal = |at: usize| match decimal {
        Some(sign) => token[at..].starts_with(sign),
        None if dots > 0 && commas > 0 => {
            let is_dot = token[at..].starts_with('.');
            (is_dot && dots == 1) || (!is_dot && commas == 1)
        }
        None if dots == 1 => true,
        None if commas == 1 => {
            let (whole, after) = (&token[..at], &token[at + 1..]);
            after.len() != 3 || whole.len() > 3 || whole.starts_with('0')
        }
        None => false,
    };
    Some(match last.filter(|at| is_decimal(*at)) {
        Some(at) => (digits(&token[..at]), digits(&token[at + 1..])),
        None => (digits(token), String::new()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: text, decimal sign, the number as JSON.
    #[test]
    fn numbers() {
        for (text, decimal, expect) in [
            ("12", None, "12"),
            ("£51.77", None, "51.77"),
            ("from £1,234.50 a year", None, "1234.5"),
            ("1.234,50 €", None, "1234.5"),
            ("1,234", None, "1234"),
            ("1,23", None, "1.23"),
            ("0,125", None, "0.125"),
            ("1.234", None, "1.234"),
            ("1.234", Some(','), "1234"),
            ("1,234", Some(','), "1.234"),
            ("1,234", Some('.'), "1234"),
            ("12,345,678", None, "12345678"),
            ("1.234.567", None, "1234567"),
            ("1 234 567,89", None, "1234567.89"),
            ("1\u{a0}234", None, "1234"),
            ("10 2000", None, "10"),
            ("CHF 1'234.–", None, "1234"),
            ("-5", None, "-5"),
            ("−5.5 °C", None, "-5.5"),
            ("USD -£3", None, "-3"),
            ("A-5", None, "5"),
            ("10-20", None, "10"),
            (".5", None, "0.5"),
            ("v.5", None, "5"),
            ("3.", None, "3"),
            ("In stock (22 available)", None, "22"),
            ("99999999999999999999", None, "1e20"),
            ("007", None, "7"),
        ] {
            let found = number(text, decimal).map(|found| found.as_f64().unwrap());
            assert_eq!(found, Some(expect.parse().unwrap()), "{text}");
        }
        assert_eq!(number("12", None).unwrap().to_string(), "12", "whole numbers stay whole");
        for text in ["", "none", "½", "٣", &"9".repeat(41)] {
            assert_eq!(number(text, None), None, "{text}");
        }
        assert_eq!(number("1,234,567", Some(',')), None, "two decimal signs");
    }

    /// One line, one case: text, format, the instant.
    #[test]
    fn dates() {
        let now = Timestamp::from_secs(1_796_000_000);
        for (text, format, expect) in [
            ("2026-11-30", None, Some("2026-11-30T00:00:00Z")),
            ("2026-11-30T10:00:00+02:00", None, Some("2026-11-30T08:00:00Z")),
            ("30.11.2026", None, Some("2026-11-30T00:00:00Z")),
            ("7/4/2027", None, Some("2027-04-07T00:00:00Z")),
            ("7/4/2027", Some("%m/%d/%Y"), Some("2027-07-04T00:00:00Z")),
            ("30.11.26 14:05", Some("%d.%m.%y %H:%M"), Some("2026-11-30T14:05:00Z")),
            ("1796000000", Some("%s"), Some("2026-11-30T00:53:20Z")),
            ("soon", None, None),
            ("30.11.2026", Some("%Y-%m-%d"), None),
        ] {
            assert_eq!(date(text, format, now).ok().as_deref(), expect, "{text} {format:?}");
        }
        for text in ["5 May 2024 10:00 CET", "2024-05-05 10:00 JST", "5 May 2024 10:00 foo bar"] {
            let miss = date(text, None, now).unwrap_err();
            assert_eq!(miss.to_string(), format!("a time zone that is not known: \"{text}\""));
        }
        let known = date("5 May 2024 10:00 EST", None, now).unwrap();
        assert_eq!(known, "2024-05-05T15:00:00Z");
    }
}
