//! The time of scenarios: the real one for most, and one that jumps from run to run, or goes faster,
//! for those that ask for it. And dates, as headers and pages name them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::scenario::ScenarioClock;

const DAY_S: u64 = 86_400;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// 1970-01-01 was a Thursday.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// The clock of a scenario, or of a whole web.
#[derive(Debug)]
pub(super) struct Clock {
    /// Seconds since 1970 at the beginning of its scenario, whatever the real clock shows by now.
    start_s: u64,
    beat: Mutex<Beat>,
}

/// From a moment on, so fast. It goes on as it was, where the clock has jumped meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    from_s: f64,
    since: Instant,
    scale: f64,
}

impl Clock {
    /// One that goes with the real time.
    pub(super) fn real() -> Self {
        Self::starting_at(wall_s())
    }

    pub(super) fn starting_at(start_s: u64) -> Self {
        let beat = Beat { from_s: 0.0, since: Instant::now(), scale: 1.0 };
        Self { start_s, beat: Mutex::new(beat) }
    }

    /// Jumps to the beginning of a run.
    pub(super) fn begin(&self, clock: &ScenarioClock, run: usize) {
        let from_s = clock.runs_at_s.get(run).copied().unwrap_or_default() as f64;
        *self.lock() = Beat { from_s, since: Instant::now(), scale: f64::from(clock.scale) };
    }

    /// How it goes now.
    pub(super) fn beat(&self) -> Beat {
        *self.lock()
    }

    /// Seconds since its scenario's beginning.
    pub(super) fn now_s(&self) -> f64 {
        self.beat().now_s()
    }

    /// Seconds since 1970, so long after the beginning.
    pub(super) fn unix_s(&self, after_s: u64) -> u64 {
        self.start_s.saturating_add(after_s)
    }

    fn lock(&self) -> MutexGuard<'_, Beat> {
        self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Beat {
    pub(super) fn now_s(self) -> f64 {
        self.from_s + self.since.elapsed().as_secs_f64() * self.scale
    }
}

/// What the real clock shows, in seconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the lab's dates are as real as its crawlers' clocks"
)]
pub(super) fn wall_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

/// Puts dates into a text: `{date+N}` (RFC 3339) and `{http-date+N}` (RFC 9110 §5.6.7), N seconds
/// after a scenario's beginning.
pub(super) fn with_dates(text: &str, clock: &Clock) -> String {
    let mut filled = text.to_owned();
    for (start, write) in [("{http-date+", http_date as fn(u64) -> String), ("{date+", rfc_3339)] {
        while let Some(at) = filled.find(start) {
            let rest = filled.get(at + start.len()..).unwrap_or_default();
            let Some((number, _)) = rest.split_once('}') else { break };
            let Ok(after_s) = number.parse() else { break };
            let whole = format!("{start}{number}}}");
            filled = filled.replace(&whole, &write(clock.unix_s(after_s)));
        }
    }
    filled
}

/// Seconds since 1970 as RFC 3339 has it, in UTC.
pub(super) fn rfc_3339(unix_s: u64) -> String {
    let (year, month, day) = civil(unix_s / DAY_S);
    let (hour, minute, second) = of_day(unix_s);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The same as an IMF-fixdate.
pub(super) fn http_date(unix_s: u64) -> String {
    let (year, month, day) = civil(unix_s / DAY_S);
    let (hour, minute, second) = of_day(unix_s);
    let index = |number: u64| usize::try_from(number).unwrap_or_default();
    let weekday = WEEKDAYS.get(index(unix_s / DAY_S % 7)).copied().unwrap_or_default();
    let month = MONTHS.get(index(month - 1)).copied().unwrap_or_default();
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Seconds since 1970 of an IMF-fixdate.
pub(super) fn read_http_date(text: &str) -> Option<u64> {
    let mut words = text.split(' ').skip(1);
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // The civil calendar backwards: few steps, and one rule for both ways.
    let near = (year - 1970) * 365 + (month - 1) * 28;
    let days = (near..near + 60 * 366).find(|days| civil(*days) == (year, month, day))?;
    Some(days * DAY_S + hour * 3600 + minute * 60 + second)
}

fn of_day(unix_s: u64) -> (u64, u64, u64) {
    (unix_s / 3600 % 24, unix_s / 60 % 60, unix_s % 60)
}

/// Year, month and day of a day since 1970, by the algorithm that counts years from March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `date -u -d @N`.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (unix_s, rfc, http) in [
            (0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "2000-02-29T00:00:00Z", "Tue, 29 Feb 2000 00:00:00 GMT"),
            (784_111_777, "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_796_083_199, "2026-11-30T23:59:59Z", "Mon, 30 Nov 2026 23:59:59 GMT"),
        ] {
            assert_eq!(rfc_3339(unix_s), rfc);
            assert_eq!(http_date(unix_s), http);
            assert_eq!(read_http_date(http), Some(unix_s), "{http}");
        }
        assert_eq!(read_http_date("soon"), None);
    }

    #[tokio::test]
    async fn a_scenario_has_a_clock_of_its_own() {
        let clock = Clock::starting_at(1_000);
        assert!(clock.now_s() < 60.0);
        let own = ScenarioClock { runs_at_s: vec![0, 86_400], scale: 60_000 };
        clock.begin(&own, 1);
        assert!((86_400.0..90_000.0).contains(&clock.now_s()), "{}", clock.now_s());
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert!(clock.now_s() >= 90_000.0, "{}", clock.now_s());
        let text = with_dates("{date+0} {http-date+60} {date+x}", &clock);
        assert_eq!(text, "1970-01-01T00:16:40Z Thu, 01 Jan 1970 00:17:40 GMT {date+x}");
    }
}
