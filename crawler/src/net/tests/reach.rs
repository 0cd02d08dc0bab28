//! Whom the transport reaches, what it sends, and which connections it keeps.

use hyper::header::HeaderValue;
use tokio::net::TcpListener;

use super::server::{Manner, Server};
use super::*;
use crate::net::{Accept, Completeness, Transport as _, Validators};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn a_request_says_who_asks_and_no_more() {
    let server = Server::start(Manner::Say(OK.to_vec())).await;
    let terms = Terms {
        accept: Accept::Robots,
        validators: Validators {
            etag: Some(HeaderValue::from_static("\"v1\"")),
            last_modified: Some(HeaderValue::from_static("Mon, 30 Nov 2026 14:00:00 GMT")),
        },
        ..patient()
    };
    let url = format!("http://me:secret@{}/a%20b?c=d{{}}#e", server.address);
    let reply = get(&url, &terms).await.unwrap();
    assert_eq!((&reply.body[..], reply.completeness), (&b"ok"[..], Completeness::Whole));
    assert_eq!(reply.address, Some(server.address));
    assert_eq!((reply.url.as_str(), reply.wire_bytes), (url.as_str(), 2));
    assert!(reply.first_byte <= reply.total);

    let request = server.requests.lock().unwrap().concat();
    let mut lines: Vec<_> = request.trim_end().split("\r\n").collect();
    lines[1..].sort_unstable();
    let expect = [
        "GET /a%20b?c=d{} HTTP/1.1",
        "accept-encoding: gzip, deflate, br, zstd",
        "accept: text/plain,*/*;q=0.8",
        &format!("host: {}", server.address),
        "if-modified-since: Mon, 30 Nov 2026 14:00:00 GMT",
        "if-none-match: \"v1\"",
        "user-agent: comitybot/0.1",
    ];
    assert_eq!(lines, expect);
}

#[tokio::test]
async fn limits_may_be_as_long_as_they_like() {
    let server = Server::start(Manner::Say(OK.to_vec())).await;
    let limits = Limits {
        connect: Duration::MAX,
        first_byte: Duration::MAX,
        whole: Duration::MAX,
        body_bytes: usize::MAX,
        expansion_ratio: u32::MAX,
    };
    let terms = Terms { limits, ..Terms::default() };
    assert_eq!(get(&server.url(), &terms).await.unwrap().body, "ok");
}

/// HT-013: a cookie is neither kept nor sent, and a redirect is for the crawl to judge.
#[tokio::test]
async fn redirects_and_cookies_are_left_to_others() {
    let moved =
        b"HTTP/1.1 302 Found\r\nLocation: /next\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n";
    let server = Server::start(Manner::Keep(moved.to_vec())).await;
    let transport = transport(config());
    let url = Url::parse(&server.url()).unwrap();
    for _ in 0..2 {
        assert_eq!(transport.get(&url, &patient()).await.unwrap().status, 302);
    }
    let requests = server.requests.lock().unwrap();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| !request.contains("cookie")));
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let server = Server::start(Manner::Keep(OK.to_vec())).await;
    let transport = transport(config());
    let url = Url::parse(&server.url()).unwrap();
    for _ in 0..3 {
        assert_eq!(transport.get(&url, &patient()).await.unwrap().body, "ok");
    }
    assert_eq!(*server.connections.lock().unwrap(), 1);
}

/// A server that closes after each answer costs a connection each, and no error.
#[tokio::test]
async fn a_closed_connection_is_replaced() {
    let server = Server::start(Manner::Say(OK.to_vec())).await;
    let transport = transport(config());
    let url = Url::parse(&server.url()).unwrap();
    for _ in 0..3 {
        assert_eq!(transport.get(&url, &patient()).await.unwrap().body, "ok");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.requests.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn names_lead_to_addresses() {
    let server = Server::start(Manner::Say(OK.to_vec())).await;
    let port = server.address.port();
    let names = Names::offline().with_static("site.example", vec!["127.0.0.1".parse().unwrap()]);
    let transport = transport(HttpConfig { names, ..config() });
    for host in ["site.example", "SITE.example.", "any.localhost", "localhost", "127.1"] {
        let url = Url::parse(&format!("http://{host}:{port}/")).unwrap();
        assert_eq!(transport.get(&url, &patient()).await.unwrap().body, "ok", "{host}");
        let address = transport.address_of(&url).await.unwrap();
        assert_eq!(address.to_string(), "127.0.0.1", "{host}");
    }
}

#[tokio::test]
async fn what_may_not_be_reached_is_not() {
    let server = Server::start(Manner::Say(OK.to_vec())).await;
    let port = server.address.port();
    let names = Names::offline().with_static(
        "inside.example",
        vec!["127.0.0.1".parse().unwrap(), "10.0.0.1".parse().unwrap()],
    );
    let transport = transport(HttpConfig { names, allowed_networks: vec![], ..config() });
    for (url, expect) in [
        (format!("http://127.0.0.1:{port}/"), "blocked-address"),
        (format!("http://2130706433:{port}/"), "blocked-address"),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), "blocked-address"),
        (format!("http://localhost:{port}/"), "blocked-address"),
        (format!("http://inside.example:{port}/"), "blocked-address"),
        ("http://169.254.169.254/latest/meta-data/".into(), "blocked-address"),
        ("https://[fe80::1]/".into(), "blocked-address"),
        ("http://nobody.invalid/".into(), "dns-not-found"),
        ("https://unknown.example/".into(), "dns-not-found"),
        #[cfg(not(feature = "ftp"))]
        ("ftp://site.example/".into(), "unsupported-url"),
        ("data:,x".into(), "unsupported-url"),
    ] {
        let url = Url::parse(&url).unwrap();
        let result = transport.get(&url, &patient()).await;
        assert_eq!(code(&result), expect, "{url}");
        if let "http" | "https" = url.scheme() {
            let error = transport.address_of(&url).await.unwrap_err();
            assert_eq!(error.kind.code(), expect, "{url}");
        }
    }
    assert_eq!(*server.connections.lock().unwrap(), 0);
}

/// One level a line: what, why, and what a person can do.
#[tokio::test]
async fn errors_help() {
    let transport = transport(HttpConfig { allowed_networks: vec![], ..config() });
    let url = Url::parse("http://localhost:1/").unwrap();
    let error = transport.get(&url, &patient()).await.unwrap_err();
    let told: Vec<_> = crate::net::error::chain(&error).map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "could not fetch http://localhost:1/",
            "the address may not be connected to",
            "127.0.0.1 is a loopback address, not one of the public internet; \
             if you mean to crawl it, permit it with --allow-network 127.0.0.1/32",
        ]
    );
}

#[tokio::test]
async fn a_refused_connection_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let result = get(&url, &patient()).await;
    assert_eq!(code(&result), "connect", "{result:?}");
    let io = std::error::Error::source(&result.unwrap_err().kind).unwrap().to_string();
    assert!(io.contains("refused"), "{io}");
}

#[tokio::test]
async fn a_user_agent_must_be_sendable() {
    let config = HttpConfig { user_agent: "a\nb".into(), ..config() };
    assert!(HttpTransport::new(config, Clock::real()).is_err());
}

/// A server that gives up a kept connection just when the next request is on its way: told apart
/// from one that closes a new connection, which is a failure.
#[tokio::test]
async fn a_connection_that_was_given_up_is_not_a_failure() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi".to_vec();
    let server = Server::start(Manner::Once(answer)).await;
    let (transport, url) = (transport(config()), Url::parse(&server.url()).unwrap());
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(code(&transport.get(&url, &patient()).await));
    }
    assert_eq!(codes, ["ok", "stale-connection", "ok", "stale-connection"]);
    let silent = Server::start(Manner::Say(vec![])).await;
    assert_eq!(code(&get(&silent.url(), &patient()).await), "closed");
}
