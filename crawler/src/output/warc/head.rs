//! Heads of requests and responses as text again, so that they truthfully stand before the body
//! that is kept.

use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderName, TRANSFER_ENCODING};
use hyper::{StatusCode, Version};
use url::{Position, Url};

use crate::net::Reply;

/// What stands before the name of a header that told of the wire, as other crawlers write it: the
/// body that is kept is decoded.
const OF_THE_WIRE: &str = "X-Crawler-";

/// The request as it went out, in the words of HTTP/1.1.
pub(super) fn of_request(reply: &Reply) -> Vec<u8> {
    let path = &reply.url[Position::BeforePath..Position::AfterQuery];
    let host = &reply.url[Position::BeforeHost..Position::AfterPort];
    let mut head = format!("GET {path} {}\r\nhost: {host}\r\n", version(reply)).into_bytes();
    for (name, value) in &reply.request {
        line(&mut head, name.as_str(), value.as_bytes());
    }
    head.extend(b"\r\n");
    head
}

/// The response's head, true of the body that follows it: decoded, without transfer coding, and
/// perhaps cut.
pub(super) fn of_response(reply: &Reply) -> Vec<u8> {
    let status = reply.status;
    let reason = status.canonical_reason().unwrap_or_default();
    let mut head = format!("{} {} {reason}\r\n", version(reply), status.as_u16()).into_bytes();
    let length_is_true = states_length(&reply.headers, reply.body.len());
    let has_body = !(status == StatusCode::NOT_MODIFIED || status == StatusCode::NO_CONTENT);
    for (name, value) in &reply.headers {
        let wrong_length = *name == CONTENT_LENGTH && has_body && !length_is_true;
        let of_the_wire = tells_of_the_wire(name) || wrong_length;
        if of_the_wire {
            head.extend(OF_THE_WIRE.as_bytes());
        }
        line(&mut head, name.as_str(), value.as_bytes());
    }
    if has_body && !length_is_true {
        line(&mut head, CONTENT_LENGTH.as_str(), reply.body.len().to_string().as_bytes());
    }
    head.extend(b"\r\n");
    head
}

fn tells_of_the_wire(name: &HeaderName) -> bool {
    *name == CONTENT_ENCODING || *name == TRANSFER_ENCODING
}

fn states_length(headers: &HeaderMap, bytes: usize) -> bool {
    let mut stated = headers.get_all(CONTENT_LENGTH).iter();
    let first = stated.next().and_then(|value| value.to_str().ok());
    first == Some(bytes.to_string().as_str()) && stated.next().is_none()
}

fn line(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    head.extend(name.as_bytes());
    head.extend(b": ");
    head.extend(value);
    head.extend(b"\r\n");
}

/// A version whose heads are text. HTTP/2 has none; `WARC-Protocol` names it.
fn version(reply: &Reply) -> &'static str {
    if reply.version == Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" }
}

/// The protocol's name, for `WARC-Protocol`.
pub(super) fn protocol(version: Version) -> Option<&'static str> {
    if version == Version::HTTP_2 {
        Some("h2")
    } else if version == Version::HTTP_11 {
        Some("http/1.1")
    } else if version == Version::HTTP_10 {
        Some("http/1.0")
    } else {
        None
    }
}

/// The media type that a response's header names, without its parameters.
pub(super) fn mime(content_type: &str) -> Option<&str> {
    let mime = content_type.split([';', ' ', '\t']).next().unwrap_or_default().trim();
    (!mime.is_empty()).then_some(mime)
}

/// Whether a URL is fetched by another protocol than HTTP, which has no heads.
pub(super) fn is_without_heads(url: &Url) -> bool {
    !matches!(url.scheme(), "http" | "https")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::warc::tests::reply;

    /// One line, one case: status, headers, body, and the lines that must stand in the head.
    #[test]
    fn heads_are_true_of_the_body() {
        type Case<'a> = (u16, &'a [(&'static str, &'a str)], &'a str, &'a [&'a str]);
        let cases: [Case<'_>; 7] = [
            (200, &[("content-length", "2")], "ab", &["content-length: 2"]),
            (200, &[], "ab", &["content-length: 2"]),
            (
                200,
                &[("content-encoding", "gzip"), ("content-length", "9")],
                "ab",
                &[
                    "X-Crawler-content-encoding: gzip",
                    "X-Crawler-content-length: 9",
                    "content-length: 2",
                ],
            ),
            (
                200,
                &[("transfer-encoding", "chunked")],
                "ab",
                &["X-Crawler-transfer-encoding: chunked", "content-length: 2"],
            ),
            (
                200,
                &[("content-length", "2"), ("content-length", "2")],
                "ab",
                &[
                    "X-Crawler-content-length: 2",
                    "X-Crawler-content-length: 2",
                    "content-length: 2",
                ],
            ),
            (
                304,
                &[("content-length", "7"), ("etag", "\"x\"")],
                "",
                &["content-length: 7", "etag: \"x\""],
            ),
            (204, &[], "", &[]),
        ];
        for (status, headers, body, expect) in cases {
            let head = String::from_utf8(of_response(&reply(status, headers, body))).unwrap();
            let lines: Vec<_> = head.lines().skip(1).filter(|line| !line.is_empty()).collect();
            assert_eq!(lines, expect, "{status} {headers:?}");
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")) && head.ends_with("\r\n\r\n"));
        }
    }

    #[test]
    fn requests() {
        let mut reply = reply(200, &[], "");
        reply.url = Url::parse("https://example.org:8080/a?b=c#d").unwrap();
        reply.request.insert("user-agent", "comitybot/0.1".parse().unwrap());
        let head = String::from_utf8(of_request(&reply)).unwrap();
        let expect =
            "GET /a?b=c HTTP/1.1\r\nhost: example.org:8080\r\nuser-agent: comitybot/0.1\r\n\r\n";
        assert_eq!(head, expect);
    }

    #[test]
    fn media_types() {
        for (text, expect) in [
            ("text/html; charset=utf-8", Some("text/html")),
            ("text/html", Some("text/html")),
            ("", None),
            (" ; x", None),
        ] {
            assert_eq!(mime(text), expect, "{text}");
        }
    }
}
