//! HT-008: conditional requests and what answers them (RFC 9110 sections 13 and 15.4.5).

use hyper::header::HeaderValue;

use super::server::{Manner, Server};
use super::*;
use crate::net::{Completeness, Validators};

/// Both validators go out as they came: a weak tag stays weak, and what is no tag at all is the
/// server's own affair.
#[tokio::test]
async fn validators_are_sent_verbatim() {
    let date = "Mon, 30 Nov 2026 14:00:00 GMT";
    for (etag, last_modified) in [
        (Some("\"v1\""), Some(date)),
        (Some("W/\"v1\""), None),
        (Some("W/\"a, b\""), Some(date)),
        (Some("unquoted"), None),
        (None, Some("yesterday")),
        (None, None),
    ] {
        let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        let server = Server::start(Manner::Say(ok.to_vec())).await;
        let value = |text: &str| HeaderValue::from_str(text).unwrap();
        let validators =
            Validators { etag: etag.map(value), last_modified: last_modified.map(value) };
        get(&server.url(), &Terms { validators, ..patient() }).await.unwrap();
        let request = server.requests.lock().unwrap().concat();
        let sent = |name: &str| {
            let mut lines = request.split("\r\n").filter_map(|line| line.split_once(": "));
            lines.find(|(found, _)| *found == name).map(|(_, value)| value)
        };
        assert_eq!(sent("if-none-match"), etag);
        assert_eq!(sent("if-modified-since"), last_modified);
    }
}

/// A 304 has headers and no body, whatever it announces, and its connection serves the next
/// request: what a broken server sends as its body is never taken for an answer.
#[tokio::test]
async fn not_modified_has_headers_and_no_body() {
    for (announced, sent) in [
        ("", ""),
        ("Content-Length: 5000\r\nContent-Encoding: gzip\r\n", ""),
        ("Transfer-Encoding: chunked\r\n", ""),
        ("Content-Length: 5\r\n", "hello"),
    ] {
        let head = format!(
            "HTTP/1.1 304 Not Modified\r\nETag: W/\"v2\"\r\nCache-Control: max-age=60\r\n\
             X-Robots-Tag: noindex\r\n{announced}\r\n{sent}"
        );
        let server = Server::start(Manner::Keep(head.into())).await;
        let transport = transport(config());
        let url = Url::parse(&server.url()).unwrap();
        for _ in 0..2 {
            let reply = transport.get(&url, &patient()).await.unwrap();
            assert_eq!((reply.status.as_u16(), reply.completeness), (304, Completeness::Whole));
            assert!(reply.body.is_empty(), "{announced}");
            assert_eq!(reply.headers["etag"], "W/\"v2\"");
            assert_eq!(reply.headers["cache-control"], "max-age=60");
            assert_eq!(reply.headers["x-robots-tag"], "noindex");
        }
    }
}
