//! Lengths of time and numbers of bytes as people write them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A length of time, written as `2s`, `500ms`, `1m 30s`, `30d`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Span(pub Duration);

impl Span {
    /// So many seconds.
    pub const fn secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a length of time such as 2s, 500ms, 5m or 30d");
        let text = text.trim();
        // A span knows days, a duration more hours than there are days of.
        let with_days = || {
            let days = jiff::SpanRelativeTo::days_are_24_hours();
            text.parse::<jiff::Span>().ok()?.to_duration(days).ok()
        };
        let length = text.parse::<jiff::SignedDuration>().ok().or_else(with_days);
        length.and_then(|length| Duration::try_from(length).ok()).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::SignedDuration::try_from(self.0) {
            Ok(span) => write!(f, "{span:#}"),
            Err(_) => write!(f, "{:?}", self.0),
        }
    }
}

/// A number of bytes, written as `2MiB`, `64KiB`, `512000`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a number of bytes such as 2MiB, 64KiB or 512000");
        let text = text.trim();
        let unit = UNITS.iter().find_map(|(name, size)| Some((text.strip_suffix(name)?, *size)));
        let (number, size) = unit.unwrap_or((text, 1));
        let number: u64 = number.trim().parse().map_err(|_| wrong())?;
        number.checked_mul(size).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, size)| self.0 > 0 && self.0.is_multiple_of(*size));
        let (name, size) = whole.unwrap_or(&("B", 1));
        write!(f, "{}{name}", self.0 / size)
    }
}

/// Settings that TOML holds as text.
macro_rules! as_text {
    ($($name:ident),+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(de::Error::custom)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    )+};
}
as_text!(Span, Bytes);
