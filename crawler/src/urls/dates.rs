//! Days in addresses: what calendars count up without end.

use std::ops::RangeInclusive;

use url::Url;

use super::parameters::{name_and_value, pieces};

/// Segments before which a day or a year stands, whatever the year.
const CALENDARS: &[&str] = &[
    "agenda",
    "archive",
    "archives",
    "cal",
    "calendar",
    "calendrier",
    "date",
    "day",
    "diary",
    "event",
    "events",
    "kalender",
    "month",
    "schedule",
    "week",
    "year",
];

/// Parameters whose value is a year.
const YEARS: &[&str] = &["ano", "annee", "jahr", "y", "year", "yr"];

/// Parameters whose value is a day, or a part of a day's name holds the word.
const DAYS: &[&str] = &["date", "day", "month", "week"];

/// The years that are taken for one where nothing but their look says so. Elsewhere four digits
/// are a number like any other: a thread's, a part's.
const LIKELY: RangeInclusive<u16> = 1800..=2199;

/// The years of the first and last day that an address speaks of; none if it speaks of none.
///
/// A number is a year only where its place says so: behind a calendar's name (`/events/2026`), in
/// a parameter of that name (`?year=2026`), and, if it is a likely one, before a month
/// (`/2026/11/`) or in a whole date (`2026-11-30`, `2026-11`).
pub(super) fn years_of(url: &Url) -> Option<RangeInclusive<u16>> {
    let years = path_years(url.path()).chain(query_years(url.query()));
    years.fold(None, |span: Option<RangeInclusive<u16>>, year| {
        let (first, last) = span.map_or((year, year), RangeInclusive::into_inner);
        Some(first.min(year)..=last.max(year))
    })
}

fn path_years(path: &str) -> impl Iterator<Item = u16> {
    let followers = path.split('/').skip(1).map(Some).chain([None]);
    let mut before = "";
    path.split('/').zip(followers).filter_map(move |(segment, next)| {
        let in_calendar = is_one_of(before, CALENDARS);
        before = segment;
        let has_month = next.is_some_and(|next| next.len() == 2 && is_month(next));
        let found =
            whole_date(segment).or_else(|| year(segment).filter(|_| in_calendar || has_month));
        found.filter(|year| in_calendar || LIKELY.contains(year))
    })
}

fn query_years(query: Option<&str>) -> impl Iterator<Item = u16> {
    // On a map or a chart, x and y are places.
    let is_map = pieces(query).any(|piece| name_and_value(piece).0.eq_ignore_ascii_case("x"));
    pieces(query).filter_map(move |piece| {
        let (name, value) = name_and_value(piece);
        let is_y_of_map = is_map && name.eq_ignore_ascii_case("y");
        let is_year = is_one_of(name, YEARS) && !is_y_of_map;
        let is_day = DAYS.iter().any(|day| name.to_ascii_lowercase().contains(day));
        whole_date(value)
            .filter(|year| is_day || LIKELY.contains(year))
            .or_else(|| year(value).filter(|_| is_year))
            .or_else(|| compact_date(value).filter(|_| is_day))
    })
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// `2026-11-30` or `2026-11`, whatever follows a `T`.
fn whole_date(text: &str) -> Option<u16> {
    let day = text.split(['T', 't']).next()?;
    let mut parts = day.split('-');
    let (first, month) = (year(parts.next()?)?, parts.next()?);
    let is_day = parts.next().is_none_or(|day| number_up_to(day, 31));
    (is_month(month) && is_day && parts.next().is_none()).then_some(first)
}

/// `20261130` or `202611`.
fn compact_date(text: &str) -> Option<u16> {
    let (first, rest) = text.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    let is_day = day.is_empty() || (day.len() == 2 && number_up_to(day, 31));
    (is_month(month) && is_day).then(|| year(first)).flatten()
}

fn year(text: &str) -> Option<u16> {
    let is_year = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_year)
}

fn is_month(text: &str) -> bool {
    number_up_to(text, 12)
}

/// A number from 1 on, of one or two digits.
fn number_up_to(text: &str, most: u8) -> bool {
    let is_short = matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
    is_short && text.parse().is_ok_and(|number: u8| (1..=most).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: path and query, first and last year.
    #[test]
    fn years() {
        let cases = [
            ("/2026/11/30/title", Some((2026, 2026))),
            ("/2026/11", Some((2026, 2026))),
            ("/2026/13", None),
            ("/2026/1", None),
            ("/2026", None),
            ("/forum/4711/12", None),
            ("/parts/4711-12", None),
            ("/day/4711-12", Some((4711, 4711))),
            ("/list?id=4711-12", None),
            ("/list?date=4711-12", Some((4711, 4711))),
            ("/calendar/7749", Some((7749, 7749))),
            ("/Events/2026/", Some((2026, 2026))),
            ("/articles/7749", None),
            ("/day/2026-11-30", Some((2026, 2026))),
            ("/day/2026-11", Some((2026, 2026))),
            ("/day/2026-11-32", None),
            ("/1234-56", None),
            ("/cal?y=7749", Some((7749, 7749))),
            ("/cal?y=77", None),
            ("/tile?x=12&y=7749", None),
            ("/list?year=1999&to=2001-02-03", Some((1999, 2001))),
            ("/list?from=2026-11-30T10:00", Some((2026, 2026))),
            ("/list?date=20261130", Some((2026, 2026))),
            ("/list?tribe-bar-date=202611", Some((2026, 2026))),
            ("/list?id=20261130", None),
            ("/list?page=7749", None),
            ("/", None),
        ];
        for (path, expect) in cases {
            let url = Url::parse("https://example.com").unwrap().join(path).unwrap();
            assert_eq!(years_of(&url).map(RangeInclusive::into_inner), expect, "{path}");
        }
    }
}
