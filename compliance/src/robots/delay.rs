//! Crawl-delay values: seconds, as no document defines them and many files write them (AM-36).

use core::time::Duration;

/// Longest delay that is told apart from longer ones.
const LONGEST: Duration = Duration::from_millis(u32::MAX as u64);

/// Reads `digits[.digits]` seconds, rounded up to a millisecond; anything else is no delay.
pub(super) fn parse(value: &[u8]) -> Option<Duration> {
    let dot = value.iter().position(|b| *b == b'.');
    let (whole, fraction) = match dot {
        Some(at) => (value.get(..at)?, value.get(at + 1..)?),
        None => (value, &[][..]),
    };
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let seconds = whole
        .iter()
        .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    let millis = thousandths(fraction);
    Some(Duration::from_millis(seconds.saturating_mul(1000).saturating_add(millis)).min(LONGEST))
}

fn thousandths(fraction: &[u8]) -> u64 {
    let digit = |at: usize| fraction.get(at).map_or(0, |digit| u64::from(digit - b'0'));
    let more = fraction.iter().skip(3).any(|digit| *digit != b'0');
    digit(0) * 100 + digit(1) * 10 + digit(2) + u64::from(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds() {
        let cases = [
            ("0", Some(0)),
            ("10", Some(10_000)),
            ("1.5", Some(1500)),
            (".25", Some(250)),
            ("2.", Some(2000)),
            ("0.0001", Some(1)),
            ("999999999999999999999999999", Some(u64::from(u32::MAX))),
            ("", None),
            (".", None),
            ("-1", None),
            ("+1", None),
            ("1e400", None),
            ("nan", None),
            ("inf", None),
            ("1,5", None),
            ("10 s", None),
            ("1.2.3", None),
            ("\u{b2}", None),
            ("0x10", None),
        ];
        for (value, millis) in cases {
            let expect = millis.map(Duration::from_millis);
            assert_eq!(parse(value.as_bytes()), expect, "{value}");
        }
    }
}
