//! Instants, policies and product tokens as people and questions write them, and records as
//! machines read them.

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Preset, ProductToken, Timestamp, parse_date};
use serde_json::{Value, json};

use super::Usage;
use crate::config::Span;

/// A date in any format that page rules know, seconds since 1970, or a time from now such as `+13h`.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Usage> {
    let wrong = || {
        Usage(format!(
            "\"{text}\" is no date such as 2027-01-01T00:00:00Z, and no time from now such as +13h"
        ))
    };
    if let Some(span) = text.strip_prefix('+') {
        return span.parse::<Span>().map(|span| now.after(span.0)).map_err(|_| wrong());
    }
    let seconds = text.parse().ok().map(Timestamp::from_secs);
    seconds.or_else(|| parse_date(text, now)).ok_or_else(wrong)
}

/// An instant from seconds since 1970; too large ones saturate.
pub(super) fn instant(seconds: f64) -> Timestamp {
    let millis = (seconds * 1000.0).round() as i64;
    Timestamp::from_millis(millis)
}

/// A policy by its name; the default one if none is named.
pub(super) fn preset(name: Option<&str>) -> Result<Preset, Usage> {
    name.map_or(Ok(Preset::default()), |name| {
        name.parse().map_err(|e: &str| Usage(format!("policy {name}: {e}")))
    })
}

/// Product tokens; the program's own if none is named.
pub(super) fn tokens(names: &[String]) -> Result<Vec<ProductToken>, Usage> {
    let own = ["comitybot".to_owned()];
    let names = if names.is_empty() { &own } else { names };
    names.iter().map(|name| ProductToken::new(name).map_err(|e| Usage(e.to_string()))).collect()
}

/// What is kept of a robots.txt, for machines: the last good copy, and the failures since.
pub(super) fn record_json(record: &RobotsRecord) -> (Value, Value) {
    let parts = record.to_parts();
    let copy = parts.copy.map(|copy| {
        json!({
            "answer": copy.cause,
            "file": copy.body.is_some(),
            "fetched_at": copy.fetched_at.to_string(),
            "fresh_until": copy.fresh_until.to_string(),
        })
    });
    let failing = parts.failing.map(|run| {
        json!({
            "since": run.since.to_string(),
            "cause": run.cause,
            "attempts": run.attempts,
            "retry_at": run.retry_at.to_string(),
        })
    });
    (json!(copy), json!(failing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let now = Timestamp::from_secs(1000);
        for (text, secs) in [
            ("+13h", Some(47_800)),
            ("1798761600", Some(1_798_761_600)),
            ("2027-01-01T00:00:00Z", Some(1_798_761_600)),
            ("+", None),
            ("soon", None),
        ] {
            assert_eq!(moment(text, now).ok().map(Timestamp::as_secs), secs, "{text}");
        }
    }
}
