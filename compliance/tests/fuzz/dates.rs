//! Dates of page rules, of HTTP, and Retry-After.

use comity_compliance::{Timestamp, parse_date, parse_http_date, parse_retry_after};

use super::driver::{Chance, Matter, Run};

const SAMPLES: &[&str] = &[
    "2027-03-01",
    "2027-03-01T12:00:00.5+01:00",
    "2027-03-01 12:00:00 PST",
    "20270301T120000Z",
    "25 Jun 2010 15:00:00 PST",
    "25-Aug-2007 15:00:00 EST",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Fri, 21 Nov 1997 09:55:06 -0600 (CST)",
    "01 Jan 49 00:00:00 UT",
    "January 5, 2027",
    "Tue Mar 02 2027 00:00:00 GMT+0100 (Central European Standard Time)",
    "31.12.2027",
    "7/4/2027",
    "12:00 1 Mar 2027",
    "120",
    "0",
    "18446744073709551616",
    "-1",
    "",
];

const WORDS: &[&str] = &[
    "-",
    ":",
    ".",
    ",",
    "/",
    " ",
    "T",
    "Z",
    "+",
    "(",
    ")",
    "\t",
    "0",
    "00",
    "9",
    "99",
    "24:00",
    "23:59:60",
    "+14:00",
    "-0000",
    "+9999",
    "GMT",
    "UTC",
    "EST",
    "CET",
    "AM",
    "pm",
    "Mon",
    "Sunday",
    "Feb",
    "february",
    "29 Feb",
    "31",
    "1970",
    "9999",
    "10000",
    "0000",
    "2027",
    "st",
    "\u{e9}",
    "\u{a0}",
    "\0",
    "18446744073709551615",
];

/// Instants of a second in years of four digits can be written down and read again.
fn judge(input: &[u8], chance: &mut Chance) {
    let text = String::from_utf8_lossy(input);
    let now = match chance.below(4) {
        0 => Timestamp::from_millis(chance.next() as i64),
        1 => Timestamp::EPOCH,
        _ => Timestamp::from_secs(1_796_040_000),
    };
    for instant in [parse_date(&text, now), parse_http_date(&text, now)].into_iter().flatten() {
        let written = instant.to_string();
        if !written.starts_with('-') && instant.as_secs() > -62_000_000_000 {
            assert_eq!(parse_date(&written, now), Some(instant), "{written}");
        }
    }
    if let Some(wait) = parse_retry_after(&text, now) {
        assert!(now.after(wait) >= now);
    }
}

#[test]
fn dates() {
    let samples = SAMPLES.iter().map(|sample| sample.as_bytes().to_vec()).collect();
    Run::of(3000).go("dates", &Matter { samples, words: WORDS }, judge);
}
