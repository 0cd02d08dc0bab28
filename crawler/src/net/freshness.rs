//! How long a reply may be taken for current: RFC 9111 section 4.2, for when to ask again.

use std::time::Duration;

use comity_compliance::{Timestamp, parse_http_date};
use hyper::HeaderMap;
use hyper::header::{AGE, CACHE_CONTROL, DATE, EXPIRES, LAST_MODIFIED, VARY};

/// Larger numbers of seconds count as this one (RFC 9111 section 1.2.2).
const MOST_SECONDS: u64 = 1 << 31;

/// The heuristic's part of the time since a page was last changed (RFC 9111 section 4.2.2).
const HEURISTIC_PART: u32 = 10;

/// Until when a reply is fresh, for a private cache (HT-009): `max-age`, else `Expires`, else a
/// tenth of its age since `Last-Modified`, each less its `Age`; an instant not after `request_at`
/// says that it is stale at once. `None` if the headers say nothing.
///
/// `no-store`, `no-cache` and `Vary: *` make it stale at once, and so does an answer that cannot
/// be read: an old copy must not stand for long by mistake. The time that the answer took counts
/// as age, which `request_at` and not the answer's arrival therefore is counted from.
pub fn fresh_until(headers: &HeaderMap, request_at: Timestamp) -> Option<Timestamp> {
    let control = CacheControl::of(headers);
    let varies = texts(headers, VARY.as_str()).any(|line| list(&line).any(|name| name == "*"));
    if control.never || varies {
        return Some(request_at);
    }
    let lifetime = control
        .max_age
        .or_else(|| expires_in(headers, request_at))
        .or_else(|| heuristic(headers, request_at))?;
    Some(request_at.after(lifetime.saturating_sub(age(headers, request_at))))
}

/// What of Cache-Control bears on a private cache.
#[derive(Default)]
struct CacheControl {
    never: bool,
    max_age: Option<Duration>,
}

impl CacheControl {
    /// Of two `max-age`, the first counts; one that is no number is zero (RFC 9111 section 4.2.1).
    fn of(headers: &HeaderMap) -> Self {
        let mut control = Self::default();
        for line in texts(headers, CACHE_CONTROL.as_str()) {
            for directive in list(&line) {
                let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
                let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
                match name.as_str() {
                    // With a value, `no-cache` is about the headers that it names.
                    "no-cache" if value.is_empty() => control.never = true,
                    "no-store" => control.never = true,
                    "max-age" if control.max_age.is_none() => {
                        control.max_age = Some(seconds(value).unwrap_or_default());
                    }
                    _ => {}
                }
            }
        }
        control
    }
}

/// `Expires`, as a time from the answer's own date; what is no date has passed.
fn expires_in(headers: &HeaderMap, request_at: Timestamp) -> Option<Duration> {
    let text = texts(headers, EXPIRES.as_str()).next()?;
    let expires = parse_http_date(&text, request_at);
    Some(expires.map_or(Duration::ZERO, |expires| expires.since(date(headers, request_at))))
}

fn heuristic(headers: &HeaderMap, request_at: Timestamp) -> Option<Duration> {
    let text = texts(headers, LAST_MODIFIED.as_str()).next()?;
    let changed = parse_http_date(&text, request_at)?;
    Some(date(headers, request_at).since(changed) / HEURISTIC_PART)
}

/// How old the reply was when it was asked for: what the caches on the way say, or what their
/// date shows, whichever is more.
fn age(headers: &HeaderMap, request_at: Timestamp) -> Duration {
    let told = texts(headers, AGE.as_str()).next();
    let told = told.and_then(|text| seconds(text.split(',').next()?.trim())).unwrap_or_default();
    told.max(request_at.since(date(headers, request_at)))
}

fn date(headers: &HeaderMap, request_at: Timestamp) -> Timestamp {
    let text = texts(headers, DATE.as_str()).next();
    text.and_then(|text| parse_http_date(&text, request_at)).unwrap_or(request_at)
}

fn seconds(text: &str) -> Option<Duration> {
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number too long for a u64 is a large one.
    is_number.then(|| Duration::from_secs(digits.parse().unwrap_or(u64::MAX).min(MOST_SECONDS)))
}

fn texts<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let lines = headers.get_all(name).iter();
    lines.map(|line| String::from_utf8_lossy(line.as_bytes()).trim().to_owned())
}

/// The members of a comma-separated list; a quoted string may have commas of its own.
fn list(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
    .map(str::trim)
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    /// Mon, 30 Nov 2026 12:00:00 GMT.
    const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

    fn seconds_fresh(lines: &str) -> Option<i64> {
        let mut headers = HeaderMap::new();
        for line in lines.split(" | ").filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap();
            headers
                .append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        Some(fresh_until(&headers, NOW)?.as_secs() - NOW.as_secs())
    }

    /// HT-009: RFC 9111 sections 4.2, 5.2.2 and 5.3.
    #[test]
    fn freshness() {
        for (lines, expect) in [
            ("", None),
            ("Cache-Control: max-age=600", Some(600)),
            ("Cache-Control: public, MAX-AGE=\"600\"", Some(600)),
            ("Cache-Control: private | Cache-Control: max-age=600", Some(600)),
            ("Cache-Control: max-age=600, max-age=9", Some(600)),
            ("Cache-Control: max-age=600 | Age: 100", Some(500)),
            ("Cache-Control: max-age=600 | Age: 900", Some(0)),
            ("Cache-Control: max-age=600 | Age: soon", Some(600)),
            ("Cache-Control: max-age=600 | Date: Mon, 30 Nov 2026 11:55:00 GMT", Some(300)),
            (
                "Cache-Control: max-age=600 | Age: 500 | Date: Mon, 30 Nov 2026 11:55:00 GMT",
                Some(100),
            ),
            ("Cache-Control: max-age=99999999999999999999", Some(1 << 31)),
            ("Cache-Control: max-age=-1", Some(0)),
            ("Cache-Control: max-age", Some(0)),
            ("Cache-Control: s-maxage=600", None),
            ("Cache-Control: no-store, max-age=600", Some(0)),
            ("Cache-Control: no-cache | Expires: Mon, 30 Nov 2026 13:00:00 GMT", Some(0)),
            ("Cache-Control: no-cache=\"set-cookie, x\", max-age=600", Some(600)),
            ("Cache-Control: x=\"no-store, no-cache\", max-age=600", Some(600)),
            ("Cache-Control: max-age=600 | Vary: *", Some(0)),
            ("Cache-Control: max-age=600 | Vary: Accept-Encoding", Some(600)),
            ("Expires: Mon, 30 Nov 2026 13:00:00 GMT", Some(3600)),
            ("Expires: Monday, 30-Nov-26 13:00:00 GMT", Some(3600)),
            ("Expires: Mon, 30 Nov 2026 11:00:00 GMT", Some(0)),
            ("Expires: 0", Some(0)),
            ("Expires: Mon, 30 Nov 2026 13:00:00 GMT | Age: 600", Some(3000)),
            ("Expires: Mon, 30 Nov 2026 13:00:00 GMT | Cache-Control: max-age=60", Some(60)),
            // A clock an hour ahead says how long all the same.
            (
                "Expires: Mon, 30 Nov 2026 14:00:00 GMT | Date: Mon, 30 Nov 2026 13:00:00 GMT",
                Some(3600),
            ),
            ("Last-Modified: Fri, 20 Nov 2026 12:00:00 GMT", Some(86_400)),
            ("Last-Modified: Fri, 20 Nov 2026 12:00:00 GMT | Age: 400", Some(86_000)),
            ("Last-Modified: Fri, 20 Nov 2026 12:00:00 GMT | Expires: -1", Some(0)),
            ("Last-Modified: Tue, 01 Dec 2026 12:00:00 GMT", Some(0)),
            ("Last-Modified: yesterday", None),
        ] {
            assert_eq!(seconds_fresh(lines), expect, "{lines}");
        }
    }
}
