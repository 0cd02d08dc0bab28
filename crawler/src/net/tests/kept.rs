//! Which connections are kept for the next request, and how many; and TLS sessions beyond them.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::secure::{Authority, OnHttp2, params, serve};
use super::server::{Manner, Server};
use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Names of one server under each of which a connection of its own is made.
fn hosts(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("h{number}.good.example"))
}

fn many_hosts(config: HttpConfig) -> HttpTransport {
    let loopback = || vec!["127.0.0.1".parse().unwrap()];
    let names =
        hosts(20).fold(Names::offline(), |names, host| names.with_static(&host, loopback()));
    transport(HttpConfig { names, ..config })
}

/// Waits until a number is what it should be, for two seconds at most.
async fn assert_becomes(number: &AtomicUsize, expect: usize, what: &str) {
    for _ in 0..200 {
        if number.load(Ordering::Relaxed) == expect {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(number.load(Ordering::Relaxed), expect, "{what}");
}

#[tokio::test]
async fn idle_connections_are_bounded_in_number_and_time() {
    let server = Server::start(Manner::Keep(OK.to_vec())).await;
    let idle_for = Duration::from_millis(400);
    let transport = many_hosts(HttpConfig { idle_in_all: 3, idle_for, ..config() });
    let port = server.address.port();
    let ask = async |host: &str| {
        let url = Url::parse(&format!("http://{host}:{port}/")).unwrap();
        assert_eq!(transport.get(&url, &patient()).await.unwrap().body, "ok");
    };
    for host in hosts(20) {
        ask(&host).await;
    }
    assert_becomes(&server.open, 3, "kept").await;
    // The first are those that were kept; the last were closed after their answers.
    let before = *server.connections.lock().unwrap();
    for host in hosts(3) {
        ask(&host).await;
    }
    assert_eq!(*server.connections.lock().unwrap(), before);
    assert_becomes(&server.open, 0, "kept for too long").await;
}

/// The bound holds for TLS and HTTP/2, where hyper keeps a connection that is still in use.
#[tokio::test]
async fn idle_connections_are_bounded_over_tls() {
    let authority = Authority::new("trusted");
    for alpn in ["h2", "http/1.1"] {
        let identity = authority.issue(&params("*.good.example"));
        let (at, seen) = serve(identity, &[alpn], OnHttp2::Answer).await;
        let extra_ca = Some(authority.file.path().to_owned());
        let transport = many_hosts(HttpConfig { idle_in_all: 3, extra_ca, ..config() });
        for _ in 0..2 {
            for host in hosts(12) {
                let url = Url::parse(&format!("https://{host}:{}/", at.port())).unwrap();
                assert_eq!(transport.get(&url, &patient()).await.unwrap().body, "ok");
            }
        }
        assert_becomes(&seen.open, 3, alpn).await;
        let handshakes = seen.full.load(Ordering::Relaxed) + seen.resumed.load(Ordering::Relaxed);
        assert_eq!(handshakes, 12 + 9, "{alpn}: three of the second round found theirs open");
        assert_eq!(seen.resumed.load(Ordering::Relaxed), 9, "{alpn}: sessions are taken up again");
    }
}

/// HT-006: over HTTP/2 too, requests one after another share a connection.
#[tokio::test]
async fn http2_connections_are_shared() {
    let authority = Authority::new("trusted");
    let identity = authority.issue(&params("*.good.example"));
    let (at, seen) = serve(identity, &["h2"], OnHttp2::Answer).await;
    let extra_ca = Some(authority.file.path().to_owned());
    let transport = many_hosts(HttpConfig { extra_ca, ..config() });
    let url = Url::parse(&format!("https://h0.good.example:{}/", at.port())).unwrap();
    for _ in 0..5 {
        assert_eq!(transport.get(&url, &patient()).await.unwrap().body, "ok");
    }
    assert_eq!(seen.requests.load(Ordering::Relaxed), 5);
    assert_eq!(seen.full.load(Ordering::Relaxed), 1);
}
