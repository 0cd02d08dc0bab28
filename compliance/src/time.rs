//! Instants as data: compliance never asks what time it is.

use core::fmt;
use core::time::Duration;

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
///
/// A plain number, so that records, vectors and simulated clocks can write it.
/// Arithmetic saturates: no date from the network can overflow it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// The instant so many milliseconds after the epoch (before it, if negative).
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The instant so many whole seconds after the epoch.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn as_secs(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This instant, `by` later.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long ago `earlier` was; zero if it is not in the past.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).try_into().unwrap_or(0))
    }
}

/// As RFC 3339 in UTC to the second, such as `2026-11-30T14:50:53Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.as_secs()) {
            Ok(instant) => write!(f, "{instant}"),
            Err(_) => write!(f, "{} s after 1970", self.as_secs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn arithmetic_saturates() {
        let last = Timestamp::from_millis(i64::MAX);
        assert_eq!(last.after(Duration::MAX), last);
        assert_eq!(Timestamp::EPOCH.since(last), Duration::ZERO);
        assert_eq!(last.since(Timestamp::from_millis(i64::MIN)).as_millis(), i64::MAX as u128);
    }

    #[test]
    fn shows_rfc_3339() {
        assert_eq!(Timestamp::from_secs(1_796_050_253).to_string(), "2026-11-30T14:50:53Z");
        assert!(Timestamp::from_millis(i64::MAX).to_string().contains("after 1970"));
    }
}
