use super::*;
use alloc::string::{String, ToString as _};
use proptest::prelude::*;

/// 2026-11-30T12:00:00Z.
const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

/// One line, one case. The instants were computed from year, month, day, time and offset as
/// numbers with Python's `datetime`, and again with `date -u -d 'YYYY-MM-DD hh:mm:ss +hh:mm'`.
const DATES: &str = "
# RM-031, XR-002, HT-011: the forms that the documents name
2020-09-21                        | 1600646400
25 Jun 2010 15:00:00 PST          | 1277506800
25-Aug-2007 15:00:00 EST          | 1188072000
Sun, 06 Nov 1994 08:49:37 GMT     | 784111777
Sunday, 06-Nov-94 08:49:37 GMT    | 784111777
Sun Nov  6 08:49:37 1994          | 784111777
# RFC 822, 1123, 2822; AM-50
06 Nov 1994 08:49:37 GMT          | 784111777
6 Nov 1994 08:49 GMT              | 784111740
Tue, 1 Jul 2003 10:52:37 +0200    | 1057049557
Fri, 21 Nov 1997 09:55:06 -0600   | 880127706
Thu, 13 Feb 1969 23:32 -0330      | -27723480
Fri, 21 Nov 1997 09:55:06 -0600 (CST) | 880127706
01 Jan 49 00:00:00 UT             | 2493072000
01 Jan 50 00:00:00 UT             | -631152000
01 Jan 00 00:00:00 GMT            | 946684800
31 Dec 99 23:59:59 GMT            | 946684799
Thu, 01 Jan 1970 00:00:00 GMT     | 0
# AM-49, AM-51: zones, and none
1 Mar 2027 12:00:00 EST           | 1803920400
1 Mar 2027 12:00:00 EDT           | 1803916800
1 Mar 2027 12:00:00 CST           | 1803924000
1 Mar 2027 12:00:00 CDT           | 1803920400
1 Mar 2027 12:00:00 MST           | 1803927600
1 Mar 2027 12:00:00 MDT           | 1803924000
1 Jul 2027 12:00:00 PST           | 1814472000
1 Jul 2027 12:00:00 pdt           | 1814468400
1 Mar 2027 12:00:00 UTC           | 1803902400
1 Mar 2027 12:00:00 Z             | 1803902400
1 Mar 2027 12:00:00 A             | 1803902400
1 Mar 2027 12:00:00 CEST          | 1803902400
1 Mar 2027 12:00:00 Pacific       | 1803902400
1 Mar 2027 12:00:00 Central Standard Time | 1803902400
1 Mar 2027 12:00Mountain          | 1803902400
Mon Mar 1 12:00:00 Eastern 2027   | 1803902400
5 Jan 2027 EST                    | 1799125200
1 Mar 2027 12:00:00               | 1803902400
1 Mar 2027                        | 1803859200
1 March 2027                      | 1803859200
# RFC 850 and its relatives, a wrong weekday; AM-50, AM-52
Monday, 01-Mar-27 00:00:00 GMT    | 1803859200
Thursday, 08-Jun-28 16:45:00 PDT  | 1844120700
Monday, 08-Jun-28 07:00:00 GMT    | 1844060400
Thu, 08-Jun-28 07:00:00 GMT       | 1844060400
14-Mar-2027 10:20:00 EST          | 1805037600
14-MAR-2027                       | 1804982400
30-Nov-76 12:00:00 GMT            | 3373963200
30-Nov-76 12:00:01 GMT            | 218203201
01-Dec-76                         | 218246400
01-Jan-77                         | 220924800
29-Feb-00                         | 951782400
# asctime, date(1), JavaScript, and the month in front
Sun Nov 6 1994                    | 784080000
Thu Jan  1 00:00:00 1970          | 0
Mon Nov 30 14:50:53 UTC 2026      | 1796050253
Fri Jan 01 2027 00:00:00 GMT+0100 (Central European Standard Time) | 1798758000
January 5, 2027                   | 1799107200
Tue, Jan 5, 2027 10:00 EST        | 1799161200
Sept. 1, 2027                     | 1819756800
January 5, 2027 3:00 PM           | 1799161200
January 5, 2027 12:30 am EST      | 1799127000
1/5/2027 12:30:00PM               | 1799152200
# ISO 8601 and RFC 3339
2027-01-01T00:00:00Z              | 1798761600
2027-01-01t10:30:00z              | 1798799400
2027-01-01T10:30Z                 | 1798799400
2027-01-01T10Z                    | 1798797600
2027-01-01T10:30:00               | 1798799400
2027-01-01T10:30:00.999Z          | 1798799400
2027-01-01T10:30:00+02:00         | 1798792200
2027-01-01T10:30:00-0500          | 1798817400
2027-01-01T10:30:00+05:45         | 1798778700
2027-01-01T10:30:00+14            | 1798749000
2027-01-01 10:30:00               | 1798799400
2027-01-01 10:30:00 +0100         | 1798795800
2027-09-10 06:15:00 +9            | 1820524500
2027-01-01 10:30 PST              | 1798828200
2027-01-01T24:00:00Z              | 1798848000
2016-12-31T23:59:60Z              | 1483228800
20270131                          | 1801353600
20270131T103000Z                  | 1801391400
20270131T1030+0100                | 1801387800
2027-02                           | 1801440000
2028-02-29                        | 1835395200
1900-01-01                        | -2208988800
# by digits: the earlier where day and month could change places
2027/01/31                        | 1801353600
31.12.2027 18:00                  | 1830276000
31/12/2027                        | 1830211200
12/31/2027                        | 1830211200
7/4/2027                          | 1807056000
4/7/2027                          | 1807056000
";

#[test]
fn dates() {
    for case in DATES.lines().filter(|line| line.contains('|')) {
        let (text, expect) = case.split_once(" | ").unwrap();
        let expect = Timestamp::from_secs(expect.parse().unwrap());
        assert_eq!(parse_date(text, NOW), Some(expect), "{text} is {expect}");
        let shouted = text.to_ascii_uppercase();
        assert_eq!(parse_date(&shouted, NOW), Some(expect), "{shouted}");
    }
}

/// One line, one case: what is no date, or no day of the calendar.
const NO_DATES: &str = "
soon
XXXX
0
-1
2027
12:00
Monday
Jan 5
5 January
2027-13-01
2027-012
2027-012T10:00
2027-12-001
2027/001/02
001/02/2027
001.02.2027
01-012-27
1 Mar 2027 12:00:00 EST Pacific
1 Mar 2027 Pacific
2027-02-29
2027-00-10
30 Feb 2027
32 Jan 2027
2027-01-01T25:00:00Z
2027-01-01T24:00:01Z
2027-01-01T10:60:00Z
2027-01-01T10:30:61Z
2027-01-01T10:30:00+24:00
2027-01-01T10:30:00+01:60
2027-01-01T10:30:00Z+1
2027-01-01T
2027-01-01T1:2:3:4
2027-01-01 noindex
2027-01-01 2027-01-02
2027-01-01-01
1/2/27
123456
5 Jan 2027 13:00 PM
5 Jan 2027 0:30 AM
5 Jan 2027 PM PM
202701310
25 Foo 2027
\u{661}\u{662} Jan 2027
";

#[test]
fn no_dates() {
    for text in NO_DATES.lines() {
        assert_eq!(parse_date(text, NOW), None, "{text}");
    }
    let padded = alloc::format!("2027-01-01{}Z", " ".repeat(LONGEST));
    assert_eq!(parse_date(&padded, NOW), None);
}

/// The last days of the year 9999 are past what can be shown, so they are the last instant that
/// can.
#[test]
fn the_far_future_can_be_shown() {
    let last = parse_date("9999-12-31T23:59:59Z", NOW).unwrap();
    assert_eq!(last.to_string(), "9999-12-30T22:00:00Z");
    assert_eq!(parse_date(&last.to_string(), NOW), Some(last));
}

/// HT-011. The century of a two-digit year hangs on the present: one line, one case.
#[test]
fn http_dates() {
    let cases = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
        ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
        ("sun, 06 nov 1994 08:49:37 gmt", Some(784_111_777)),
        ("Monday, 30-Nov-76 12:00:00 GMT", Some(3_373_963_200)),
        ("Monday, 30-Nov-76 12:00:01 GMT", Some(218_203_201)),
        ("Mon, 30 Nov 76 12:00:01 GMT", Some(218_203_201)),
        ("06 Nov 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994", None),
        ("1994-11-06T08:49:37Z", None),
        ("tomorrow", None),
        ("", None),
    ];
    for (text, expect) in cases {
        let expect = expect.map(Timestamp::from_secs);
        assert_eq!(parse_http_date(text, NOW), expect, "{text}");
    }
    let text = "Sunday, 06-Nov-94 08:49:37 GMT";
    let year_2045 = Timestamp::from_secs(2_366_841_600);
    let year_2094 = Timestamp::from_secs(3_939_871_777);
    assert_eq!(parse_http_date(text, year_2045), Some(year_2094));
    let without_year = Timestamp::from_millis(i64::MAX);
    assert!(parse_http_date(text, without_year).is_some());
}

/// HT-010, AM-65: one line, one case.
#[test]
fn retry_after() {
    let cases = [
        ("120", Some(120)),
        (" 120 ", Some(120)),
        ("0", Some(0)),
        ("99999999999999999999999", Some(u64::MAX)),
        ("Mon, 30 Nov 2026 12:01:00 GMT", Some(60)),
        ("Monday, 30-Nov-26 12:01:00 GMT", Some(60)),
        ("Mon Nov 30 12:01:00 2026", Some(60)),
        ("Mon, 30 Nov 2026 12:00:00 GMT", Some(0)),
        ("Mon, 30 Nov 2026 11:59:59 GMT", None),
        ("Sun, 06 Nov 1994 08:49:37 GMT", None),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("120 s", None),
        ("120, 60", None),
        ("soon", None),
        ("2026-12-01", None),
    ];
    for (value, expect) in cases {
        let expect = expect.map(Duration::from_secs);
        assert_eq!(parse_retry_after(value, NOW), expect, "{value}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>(), now in any::<i64>()) {
        let now = Timestamp::from_millis(now);
        let _ = parse_date(&text, now);
        let _ = parse_retry_after(&text, now);
    }

    /// Text that is nearly a date reaches further in.
    #[test]
    fn any_near_date_is_read(
        text in "([0-9]{1,4}|[-/:.,+TZ() ]|Jan|Mon|GMT|EST|PM){0,12}",
        now in any::<i64>(),
    ) {
        let now = Timestamp::from_millis(now);
        if let Some(instant) = parse_date(&text, now) {
            prop_assert_eq!(parse_date(&instant.to_string(), now), Some(instant));
        }
        let _ = parse_retry_after(&text, now);
    }

    #[test]
    fn every_instant_is_read_back(second in -62_135_596_800i64..253_402_207_200) {
        let instant = Timestamp::from_secs(second);
        prop_assert_eq!(parse_date(&instant.to_string(), NOW), Some(instant));
    }
}

/// AM-49, AM-51: one line, one case: where the zone comes from, and what an untimed date becomes.
#[test]
fn what_a_date_leaves_open() {
    let cases = [
        ("1 Mar 2027 12:00:00 UTC", ZoneSource::Told, 1_803_902_400),
        ("1 Mar 2027 12:00:00 Z", ZoneSource::Told, 1_803_902_400),
        ("2027-03-01T12:00:00Z", ZoneSource::Told, 1_803_902_400),
        ("1 Mar 2027 12:00:00 +0000", ZoneSource::Told, 1_803_902_400),
        ("1 Mar 2027 12:00:00 EST", ZoneSource::Told, 1_803_920_400),
        ("1 Mar 2027 12:00:00", ZoneSource::Missing, 1_803_902_400),
        ("1 Mar 2027 12:00:00 A", ZoneSource::Unknown, 1_803_902_400),
        ("1 Mar 2027 12:00:00 CEST", ZoneSource::Unknown, 1_803_902_400),
        ("1 Mar 2027 12:00:00 Pacific", ZoneSource::Unknown, 1_803_902_400),
        ("1 Mar 2027 12:00:00 Pacific Time", ZoneSource::Unknown, 1_803_902_400),
        ("1 Mar 2027 00:00:00", ZoneSource::Missing, 1_803_859_200),
        ("1 Mar 2027", ZoneSource::Missing, 1_803_945_600),
        ("2027-03-01", ZoneSource::Missing, 1_803_945_600),
        ("2027-03-01 EST", ZoneSource::Told, 1_803_963_600),
    ];
    let reader = DateReader::new(NOW).with_untimed(UntimedDate::EndOfDay);
    for (text, zone, secs) in cases {
        let instant = Timestamp::from_secs(secs);
        assert_eq!(reader.read(text), Some(DateReading { instant, zone }), "{text}");
    }
}
