//! Dates as sites write them: the dialects of `unavailable_after`, HTTP-date and `Retry-After`.

use core::time::Duration;

use jiff::civil::Date;

use crate::Timestamp;

#[cfg(test)]
mod tests;

/// Longest text that is read as a date, in bytes; JavaScript's with a long zone name is about 70.
const LONGEST: usize = 128;

/// Longest name that is taken for an unknown zone behind a bare date; behind a time any letters are.
const LONGEST_ZONE_BEHIND_DATE: usize = 5;

/// Zone names with a meaning, and their hours east of UTC (RFC 822 section 5; AM-49).
const ZONES: &[(&str, i64)] = &[
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
];

/// Reads a date, or a date and time, in any widely used form (RM-031); `None` if it is none.
///
/// RFC 822, 850, 1123 and 2822, asctime, ISO 8601 and RFC 3339, `25-Aug-2007 15:00:00 EST`,
/// `January 5, 2027`, JavaScript's and `31.12.2027`; a weekday is passed over, even a wrong one
/// (AM-52). Where the text leaves room, the earlier reading counts: no time is the start of the
/// day, no zone or an unknown one is UTC (AM-49, AM-51), `7/4/2027` is 7 April. A date without a
/// time but with a zone, `5 Jan 2026 EST`, is the day there: AM-51 gives UTC to what names no zone,
/// and takes none away. Fractions of a second are dropped. `now` tells the century of RFC 850's
/// two-digit years (AM-50).
pub fn parse_date(text: &str, now: Timestamp) -> Option<Timestamp> {
    DateReader::new(now).read(text).map(|date| date.instant)
}

/// How dates are read that leave room for more than one reading.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DateReader {
    now: Timestamp,
    untimed: UntimedDate,
}

/// Which instant a date without a time of day means (AM-51).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum UntimedDate {
    /// The first of the day.
    #[default]
    StartOfDay,
    /// The first after the day.
    EndOfDay,
}

/// A date as it was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DateReading {
    /// The instant; whole seconds.
    pub instant: Timestamp,
    /// Where its zone comes from.
    pub zone: ZoneSource,
}

/// Where the zone of a date comes from.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ZoneSource {
    /// The text names it.
    Told,
    /// The text names none; UTC is assumed (AM-51).
    Missing,
    /// The text has letters there that mean nothing here, military ones too; UTC is assumed
    /// (AM-49).
    Unknown,
}

impl DateReader {
    /// Reads as [`parse_date`] does.
    pub const fn new(now: Timestamp) -> Self {
        Self { now, untimed: UntimedDate::StartOfDay }
    }

    /// Takes a date without a time of day so.
    #[must_use]
    pub const fn with_untimed(mut self, untimed: UntimedDate) -> Self {
        self.untimed = untimed;
        self
    }

    /// Reads a date as [`parse_date`] does, and tells what it assumed.
    pub fn read(&self, text: &str) -> Option<DateReading> {
        let mut parts = Parts::read(text)?;
        if let (None, UntimedDate::EndOfDay) = (parts.second, self.untimed) {
            parts.second = Some(86_400);
        }
        let zone = match parts.zone {
            Some(Zone::Offset(_)) => ZoneSource::Told,
            Some(Zone::Unknown) => ZoneSource::Unknown,
            None => ZoneSource::Missing,
        };
        Some(DateReading { instant: parts.instant(self.now)?, zone })
    }
}

/// Reads an HTTP-date: IMF-fixdate, RFC 850 or asctime (HT-011), forgiving blanks and case.
///
/// A two-digit year more than 50 years after `now` is of the past century.
pub fn parse_http_date(text: &str, now: Timestamp) -> Option<Timestamp> {
    let mut parts = Parts::read(text)?;
    let first = text.split(is_gap).find(|word| !word.is_empty())?;
    // All three forms start with the weekday and have a time; nothing else is an HTTP-date.
    if !is_weekday(first) || parts.second.is_none() {
        return None;
    }
    if let Some(Year::OfRfc822(short)) = parts.year {
        parts.year = Some(Year::OfRfc850(short));
    }
    parts.instant(now)
}

/// Reads the value of a `Retry-After` field: seconds, or an HTTP-date (HT-010).
///
/// Too large a number saturates. `None` if it is neither, or the date is past: then the
/// caller's own backoff decides (AM-65).
pub fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // Only digits are left, so the one way to fail is to be too large.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let instant = parse_http_date(value, now)?;
    (instant >= now).then(|| instant.since(now))
}

/// What a date's words have told so far. Each is told once.
#[derive(Default)]
struct Parts {
    year: Option<Year>,
    month: Option<i8>,
    day: Option<i8>,
    /// Seconds since midnight.
    second: Option<i64>,
    zone: Option<Zone>,
}

enum Zone {
    /// Seconds east of UTC.
    Offset(i64),
    /// Letters without a meaning.
    Unknown,
}

enum Year {
    Full(i16),
    /// Two digits after a hyphen, as RFC 850 writes them.
    OfRfc850(i16),
    /// Two digits after a blank, as RFC 822 writes them.
    OfRfc822(i16),
}

impl Parts {
    fn read(text: &str) -> Option<Self> {
        let text = without_comment(text.trim());
        if text.len() > LONGEST {
            return None;
        }
        let mut parts = Self::default();
        for word in text.split(is_gap).filter(|word| !word.is_empty()) {
            parts.take(word)?;
        }
        Some(parts)
    }

    /// Takes one word by its shape; `None` if it does not fit in.
    fn take(&mut self, word: &str) -> Option<()> {
        let starts_with = |of: fn(&u8) -> bool| word.as_bytes().first().is_some_and(of);
        if starts_with(u8::is_ascii_alphabetic) {
            let word = word.strip_suffix('.').unwrap_or(word);
            return match month(word) {
                Some(month) => set(&mut self.month, month),
                None if is_weekday(word) => Some(()),
                None => self.take_time_suffix(word),
            };
        }
        if !starts_with(u8::is_ascii_digit) {
            return self.take_zone(word);
        }
        if let Some((date, time)) = split_iso(word) {
            self.take_joined_date(date)?;
            return self.take_time(time);
        }
        if word.contains(':') {
            return self.take_time(word);
        }
        match word.len() {
            1 | 2 if self.day.is_none() => set(&mut self.day, number(word)?),
            2 => set(&mut self.year, Year::OfRfc822(number(word)?)),
            4 => set(&mut self.year, Year::Full(number(word)?)),
            _ => self.take_joined_date(word),
        }
    }

    /// Takes a date that is one word: `2027-01-31`, `20270131`, `2027-01`, `31-Jan-27`,
    /// `31.1.2027`, `1/31/2027`.
    fn take_joined_date(&mut self, word: &str) -> Option<()> {
        let Some(mark) = word.chars().find(|c| matches!(c, '-' | '/' | '.')) else {
            let (year, month_day) = word.split_at_checked(4)?;
            let (month, day) = month_day.split_at_checked(2)?;
            return match day.len() {
                2 => self.set_date(year, month, day),
                _ => None,
            };
        };
        let mut pieces = word.split(mark);
        let pieces = (pieces.next()?, pieces.next()?, pieces.next(), pieces.next());
        match pieces {
            (year, month, None, None) if mark == '-' && year.len() == 4 => {
                self.set_date(year, month, "1")
            }
            (year, month, Some(day), None) if year.len() == 4 => self.set_date(year, month, day),
            (day, named, Some(year), None) if month(named).is_some() => {
                self.set_date(year, named, day)
            }
            (day, month, Some(year), None) if year.len() == 4 && mark == '.' => {
                self.set_date(year, month, day)
            }
            (one, two, Some(year), None) if year.len() == 4 => {
                let (one, two) = (one_or_two_digits(one)?, one_or_two_digits(two)?);
                // Day first or month first: the earlier of the dates that exist.
                let (month, day) = match (one <= 12, two <= 12) {
                    (true, true) => (one.min(two), one.max(two)),
                    (true, false) => (one, two),
                    (false, _) => (two, one),
                };
                set(&mut self.year, Year::Full(number(year)?))?;
                set(&mut self.month, month)?;
                set(&mut self.day, day)
            }
            _ => None,
        }
    }

    fn set_date(&mut self, year: &str, named_month: &str, day: &str) -> Option<()> {
        let year = match year.len() {
            4 => Year::Full(number(year)?),
            2 => Year::OfRfc850(number(year)?),
            _ => return None,
        };
        let month = month(named_month).or_else(|| one_or_two_digits(named_month))?;
        set(&mut self.year, year)?;
        set(&mut self.month, month)?;
        set(&mut self.day, one_or_two_digits(day)?)
    }

    /// Takes `hh:mm`, `hh:mm:ss.fff`, `hhmmss` and the like, with a zone behind it or without.
    fn take_time(&mut self, word: &str) -> Option<()> {
        let is_clock = |c: char| c.is_ascii_digit() || c == ':' || c == '.';
        let clock_end = word.find(|c| !is_clock(c)).unwrap_or(word.len());
        let (clock, zone) = word.split_at_checked(clock_end)?;
        let whole = match clock.split_once('.') {
            Some((whole, fraction)) if fraction.bytes().all(|b| b.is_ascii_digit()) => whole,
            Some(_) => return None,
            None => clock,
        };
        set(&mut self.second, second_of_day(whole)?)?;
        if zone.is_empty() {
            return Some(());
        }
        self.take_time_suffix(zone)
    }

    /// Takes `am` or `pm`, which move the hour, or else a zone.
    fn take_time_suffix(&mut self, word: &str) -> Option<()> {
        const HALF_DAY: i64 = 12 * 3600;
        let is = |half: &str| word.eq_ignore_ascii_case(half);
        let Some(second) = self.second.filter(|_| is("am") || is("pm")) else {
            return self.take_zone(word);
        };
        let on_the_dial = (3600..HALF_DAY + 3600).contains(&second);
        let since_twelve = second % HALF_DAY;
        self.second = Some(since_twelve + if is("pm") { HALF_DAY } else { 0 });
        on_the_dial.then_some(())
    }

    /// Takes `EST`, `+0100`, `+01:00`, `+1`, `GMT+0100`; letters without a meaning are UTC
    /// (AM-49), several words of them too, as in `10:00 Pacific Standard Time`. A zone stands behind
    /// a time or a year.
    fn take_zone(&mut self, word: &str) -> Option<()> {
        if self.second.is_none() && self.year.is_none() {
            return None;
        }
        let name_end = word.find(|c: char| !c.is_ascii_alphabetic());
        let (name, shift) = word.split_at_checked(name_end.unwrap_or(word.len()))?;
        let is_utc = ["", "GMT", "UTC", "UT"].iter().any(|utc| utc.eq_ignore_ascii_case(name));
        let zone = ZONES.iter().find(|(zone, _)| zone.eq_ignore_ascii_case(name));
        let zone = match (zone, shift) {
            (Some((_, hours)), "") => Zone::Offset(hours * 3600),
            (None, "") if is_utc || name.eq_ignore_ascii_case("Z") => Zone::Offset(0),
            (None, "") if self.second.is_some() || name.len() <= LONGEST_ZONE_BEHIND_DATE => {
                Zone::Unknown
            }
            (None, shift) if is_utc => Zone::Offset(numeric_offset(shift)?),
            _ => return None,
        };
        match (&self.zone, &zone) {
            (Some(Zone::Unknown), Zone::Unknown) if self.second.is_some() => Some(()),
            _ => set(&mut self.zone, zone),
        }
    }

    fn instant(&self, now: Timestamp) -> Option<Timestamp> {
        let (month, day) = (self.month?, self.day?);
        let second = self.second.unwrap_or(0);
        let year = match *self.year.as_ref()? {
            Year::Full(year) => year,
            Year::OfRfc822(short) if short < 50 => 2000 + short,
            Year::OfRfc822(short) => 1900 + short,
            Year::OfRfc850(short) => nearest_century(short, (month, day, second), now),
        };
        let date = Date::new(year, month, day).ok()?;
        let midnight = date.duration_since(Date::constant(1970, 1, 1)).as_secs();
        let offset = match self.zone {
            Some(Zone::Offset(seconds)) => seconds,
            Some(Zone::Unknown) | None => 0,
        };
        let instant = midnight + second - offset;
        // The last two days of the year 9999 are past what an instant can be shown as.
        let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
        let instant = instant.clamp(first.as_second(), last.as_second());
        Some(Timestamp::from_secs(instant))
    }
}

/// The year that ends in `short` and is at most 50 years after `now` to the second, the latest
/// such (HT-011).
fn nearest_century(short: i16, rest: (i8, i8, i64), now: Timestamp) -> i16 {
    let Ok(now) = jiff::Timestamp::from_second(now.as_secs()) else {
        return 2000 + short;
    };
    let now = jiff::tz::Offset::UTC.to_datetime(now);
    let clock = now.time();
    let second =
        i64::from(clock.hour()) * 3600 + i64::from(clock.minute()) * 60 + i64::from(clock.second());
    let limit = (now.year() + 50, (now.month(), now.day(), second));
    let mut year = limit.0 - limit.0.rem_euclid(100) + short;
    while (year, rest) > limit {
        year -= 100;
    }
    year
}

/// Seconds since midnight of `hh:mm`, `hh:mm:ss`, `hh`, `hhmm` or `hhmmss`. 24:00 is the end of
/// the day, and a leap second is let be.
fn second_of_day(clock: &str) -> Option<i64> {
    let (hour, minute, second) = if clock.contains(':') {
        let mut pieces = clock.split(':');
        let pieces = (pieces.next()?, pieces.next()?, pieces.next(), pieces.next());
        match pieces {
            (hour, minute, second, None) => (hour, minute, second.unwrap_or("0")),
            _ => return None,
        }
    } else {
        match clock.len() {
            2 => (clock, "0", "0"),
            4 => (clock.get(..2)?, clock.get(2..)?, "0"),
            6 => (clock.get(..2)?, clock.get(2..4)?, clock.get(4..)?),
            _ => return None,
        }
    };
    let (hour, minute, second): (i64, i64, i64) = (number(hour)?, number(minute)?, number(second)?);
    let in_day = hour < 24 && minute < 60 && second <= 60;
    let end_of_day = (hour, minute, second) == (24, 0, 0);
    (in_day || end_of_day).then_some(hour * 3600 + minute * 60 + second)
}

/// Seconds east of UTC of `+0100`, `-08:00`, `+9`.
fn numeric_offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let (hours, minutes): (i64, i64) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// A comment at the end, as RFC 2822 and JavaScript write zone names, tells nothing more.
fn without_comment(text: &str) -> &str {
    match text.split_once('(') {
        Some((date, comment)) if comment.ends_with(')') => date,
        Some(_) | None => text,
    }
}

/// Splits `2027-01-31T10:00` at the T, which needs a date of digits in front of it.
fn split_iso(word: &str) -> Option<(&str, &str)> {
    let (date, time) = word.split_once(['T', 't'])?;
    let is_date = date.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'/');
    is_date.then_some((date, time))
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let at = MONTHS.iter().position(|month| abbreviates(word, month))?;
    i8::try_from(at + 1).ok()
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    DAYS.iter().any(|day| abbreviates(word, day))
}

/// Whether `word` is the first three letters or more of `name`, in any case.
fn abbreviates(word: &str, name: &str) -> bool {
    word.len() >= 3 && name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// A number of one to four digits and nothing else.
fn number<N: TryFrom<i64>>(digits: &str) -> Option<N> {
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    N::try_from(digits.parse().ok()?).ok()
}

/// A month or a day; three digits are the day of a year (ISO 8601), which is not read.
fn one_or_two_digits(digits: &str) -> Option<i8> {
    number(digits).filter(|_| digits.len() <= 2)
}

/// Fills an empty slot; a thing told twice is no date.
fn set<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}
