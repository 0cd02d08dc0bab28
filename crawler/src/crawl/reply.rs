//! Headers of a reply, as the crawl reads them.

use std::time::Duration;

use comity_compliance::{Answer, Timestamp, parse_retry_after};
use hyper::HeaderMap;

use crate::net::{FetchError, FetchErrorKind};

/// All lines of a header joined by commas, as text; a byte that is no text is replaced.
pub(super) fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut lines =
        headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
    let first = lines.next()?.into_owned();
    Some(lines.fold(first, |joined, line| joined + ", " + &line))
}

/// The wait that a Retry-After header asks for.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    parse_retry_after(headers.get("retry-after")?.to_str().ok()?, now)
}

/// What a fetch without a response means for politeness.
pub(super) fn no_answer(error: &FetchError) -> Answer {
    if matches!(error.kind, FetchErrorKind::Stale) { Answer::Unheard } else { Answer::Unanswered }
}
