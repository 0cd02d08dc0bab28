//! Servers that misbehave: each fetch ends within its limits, as an error or with what came.

use std::time::Duration;

use super::server::{Manner, Server};
use super::*;
use crate::net::{Completeness, PartialCause};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";

fn say(text: &str) -> Manner {
    Manner::Say(text.as_bytes().to_vec())
}

fn repeat(first: &str, again: &str, millis: u64) -> Manner {
    Manner::Repeat(first.into(), again.into(), Duration::from_millis(millis))
}

/// The outcome in a word: an error's code, or how complete a body of what length came.
fn outcome(result: &Result<Reply, FetchError>) -> String {
    match result {
        Err(error) => error.kind.code().to_owned(),
        Ok(reply) => {
            let how = match reply.completeness {
                Completeness::Whole => "whole",
                Completeness::Truncated => "truncated",
                Completeness::Partial(cause) => cause.reason().code(),
            };
            format!("{how} {}", reply.body.len())
        }
    }
}

async fn assert_outcomes(cases: Vec<(&str, Manner, &str)>) {
    let running = cases.into_iter().map(|(name, manner, expect)| async move {
        let server = Server::start(manner).await;
        // What ends by itself has time: a busy machine is no server's fault.
        let limits = if expect.contains("timeout") { short() } else { patient() };
        let result = get(&server.url(), &limits).await;
        assert_eq!(outcome(&result), expect, "{name}");
    });
    futures_util::future::join_all(running).await;
}

#[tokio::test]
async fn heads() {
    let many = format!("{HEAD}{}\r\n", "X-A: b\r\n".repeat(1000));
    let long = format!("{HEAD}X-A: {}\r\n\r\n", "a".repeat(80_000));
    assert_outcomes(vec![
        ("nothing, closed", say(""), "closed"),
        ("half a head, closed", say("HTTP/1.1 200 OK\r\nA: b\r\n"), "closed"),
        ("silence", Manner::Stall(vec![]), "first-byte-timeout"),
        ("half a head, silence", Manner::Stall(HEAD.into()), "first-byte-timeout"),
        ("garbage", say("\x00\x01\x02 what is this\r\n\r\n"), "protocol"),
        ("no status", say("HTTP/1.1 OK\r\n\r\n"), "protocol"),
        ("status out of range", say("HTTP/1.1 99 No\r\n\r\n"), "protocol"),
        ("SSH", say("SSH-2.0-OpenSSH_9.6\r\n"), "protocol"),
        ("too many lines", say(&many), "head-too-large"),
        ("a line too long", say(&long), "head-too-large"),
        ("endless lines", repeat(HEAD, &"X-A: b\r\n".repeat(100), 0), "head-too-large"),
        ("a line a moment", repeat(HEAD, "X-A: b\r\n", 20), "first-byte-timeout"),
        ("endless 1xx", repeat("", "HTTP/1.1 103 Early Hints\r\n\r\n", 5), "first-byte-timeout"),
        (
            "lengths that differ",
            say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"),
            "protocol",
        ),
        ("a negative length", say("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc"), "protocol"),
    ])
    .await;
}

/// HT-007: what is cut is marked so, whoever cut it.
#[tokio::test]
async fn bodies() {
    let ok = |rest: &str| say(&format!("{HEAD}{rest}"));
    let head = format!("{HEAD}\r\n");
    let hello = format!("{head}hello");
    let block = "x".repeat(16 * 1024);
    let absurd = "Content-Length: 18446744073709551613\r\n\r\nhello";
    let status = |rest: &str| say(&format!("HTTP/1.1 {rest}\r\n\r\n"));
    assert_outcomes(vec![
        ("whole", ok("Content-Length: 5\r\n\r\nhello"), "whole 5"),
        ("until closed", ok("\r\nhello"), "whole 5"),
        ("empty", ok("Content-Length: 0\r\n\r\n"), "whole 0"),
        ("too short", ok("Content-Length: 9\r\n\r\nhello"), "body-cut 5"),
        ("too long", ok("Content-Length: 5\r\n\r\nhello you"), "whole 5"),
        ("absurd length", ok(absurd), "body-cut 5"),
        ("endless", repeat(&head, &block, 0), "truncated 100000"),
        ("none", Manner::Stall(head.clone().into()), "body-timeout 0"),
        ("silence", Manner::Stall(hello.into()), "body-timeout 5"),
        ("204", status("204 No Content\r\nContent-Encoding: gzip"), "whole 0"),
        ("304", status("304 Same\r\nContent-Encoding: br\r\nContent-Length: 9"), "whole 0"),
    ])
    .await;
}

#[tokio::test]
async fn chunks() {
    let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    let hello = format!("{head}5\r\nhello\r\n");
    let then = |rest: &str| say(&format!("{hello}{rest}"));
    let block = format!("4000\r\n{}\r\n", "x".repeat(16 * 1024));
    let trailers = format!("{hello}0\r\n");
    let extension = format!("{hello}5;");
    assert_outcomes(vec![
        ("whole", then("0\r\n\r\n"), "whole 5"),
        ("no last one", then(""), "body-cut 5"),
        ("half a one", then("9\r\nhe"), "body-cut 7"),
        ("size that is none", then("zz\r\n"), "body-framing 5"),
        ("size too large", then("fffffffffffffffff\r\n"), "body-framing 5"),
        ("no end of one", then("2\r\nhello\r\n"), "body-framing 7"),
        ("endless", repeat(&head, &block, 0), "truncated 100000"),
        ("endless extension", repeat(&extension, &"x".repeat(4096), 0), "body-framing 5"),
        ("endless trailers", repeat(&trailers, &"A: b\r\n".repeat(99), 0), "body-framing 5"),
    ])
    .await;
}

#[tokio::test]
async fn a_slow_body_keeps_what_came() {
    let head = format!("{HEAD}Content-Length: 1000\r\n\r\n");
    let server = Server::start(repeat(&head, "z", 50)).await;
    let reply = get(&server.url(), &short()).await.unwrap();
    assert_eq!(reply.completeness, Completeness::Partial(PartialCause::Timeout));
    assert!((1..=14).contains(&reply.body.len()), "{}", reply.body.len());
    assert_eq!(reply.wire_bytes, reply.body.len() as u64);
}

/// Outside 2xx the status is what counts: a large or broken body is no error.
#[tokio::test]
async fn other_bodies_are_bounded_and_never_an_error() {
    for (status, rest, expect) in [
        ("404 Not Found", format!("\r\n{}", "e".repeat(90_000)), "truncated 65536"),
        ("500 Oops", "Content-Encoding: gzip\r\n\r\nnot gzip".into(), "body-coding 0"),
        ("301 Moved", "Content-Encoding: what\r\nLocation: /\r\n\r\nx".into(), "body-coding 0"),
        ("503 Busy", "Content-Length: 4\r\nRetry-After: 7\r\n\r\nwait".into(), "whole 4"),
    ] {
        let server = Server::start(say(&format!("HTTP/1.1 {status}\r\n{rest}"))).await;
        let result = get(&server.url(), &patient()).await;
        assert_eq!(outcome(&result), expect, "{status}");
        assert_eq!(result.unwrap().status.as_str(), status.split_once(' ').unwrap().0);
    }
}
