//! Headers of a reply, as the crawl reads them.

use std::time::Duration;

use comity_compliance::{Answer, Timestamp, parse_retry_after};
use hyper::HeaderMap;

use crate::net::{Completeness, FetchError, FetchErrorKind, Reply};

/// All lines of a header joined by commas, as text; a byte that is no text is replaced.
pub(super) fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut lines =
        headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
    let first = lines.next()?.into_owned();
    Some(lines.fold(first, |joined, line| joined + ", " + &line))
}

/// The first Location header as text. It should be ASCII; other bytes are escaped as they stand,
/// whatever encoding they are of, as browsers do (RFC 9110 section 10.2.2).
pub(super) fn location(headers: &HeaderMap) -> Option<String> {
    let bytes = headers.get("location")?.as_bytes();
    Some(bytes.iter().fold(String::with_capacity(bytes.len()), |mut text, byte| {
        match byte {
            byte if byte.is_ascii() => text.push(char::from(*byte)),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
        text
    }))
}

/// The wait that a Retry-After header asks for.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    parse_retry_after(headers.get("retry-after")?.to_str().ok()?, now)
}

/// What a fetch means for politeness (R12, HT-004, HT-005).
pub(super) fn answer(fetched: &Result<Reply, FetchError>, now: Timestamp) -> Answer {
    match fetched {
        Ok(reply) if matches!(reply.completeness, Completeness::Partial(_)) => Answer::Unanswered,
        Ok(reply) => Answer::of(reply.status.as_u16(), retry_after(&reply.headers, now)),
        Err(error) => no_answer(error),
    }
}

/// What a fetch without a usable response means for politeness.
pub(super) fn no_answer(error: &FetchError) -> Answer {
    match &error.kind {
        // The site had no part in a failure of the proxy.
        FetchErrorKind::Stale | FetchErrorKind::Misdirected | FetchErrorKind::Proxy(_) => {
            Answer::Unheard
        }
        // It did answer; what it sent cannot be read.
        FetchErrorKind::Coding(_) | FetchErrorKind::Expansion { .. } => Answer::Served,
        FetchErrorKind::UnsupportedUrl(_)
        | FetchErrorKind::Dns(_)
        | FetchErrorKind::BlockedAddress(_)
        | FetchErrorKind::ConnectTimeout(_)
        | FetchErrorKind::BeyondProxy(_)
        | FetchErrorKind::Connect(_)
        | FetchErrorKind::Tls(_)
        | FetchErrorKind::FirstByteTimeout(_)
        | FetchErrorKind::Timeout(_)
        | FetchErrorKind::Closed
        | FetchErrorKind::Interrupted(_)
        | FetchErrorKind::HeadTooLarge { .. }
        | FetchErrorKind::Protocol(_)
        | FetchErrorKind::Ftp { .. } => Answer::Unanswered,
    }
}
