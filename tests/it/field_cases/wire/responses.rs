//! Responses and pages that would exhaust memory, time or trust.

use std::time::Duration;

use comity::net::{Limits, Names};
use comity::page::{ScanLimits, scan};
use serde_json::{Value, json};
use url::Url;

use super::super::{Answers, Case, text};
use super::{fetch, in_words, outcome, short, told, transport};
use crate::bombs;
use crate::peer::{Peer, Saying};

const TOO_LARGE: &[&str] = &["expansion", "truncated"];

/// A name for the address that passes for public here.
fn one_host() -> Names {
    Names::offline().with_static("example.com", vec!["127.0.2.1".parse().unwrap()])
}

/// Fetches what a server says.
async fn ask(
    saying: Saying,
    limits: Limits,
) -> (Peer, Result<comity::net::Reply, comity::net::FetchError>) {
    let peer = Peer::start("127.0.2.1", saying).await;
    let url = format!("http://example.com:{}/", peer.port);
    let fetched = fetch(&transport(one_host()), &url, limits).await;
    (peer, fetched)
}

/// The response head of a case, with its header lines.
fn head(response: &Value) -> String {
    let lines =
        response["headers"].as_array().unwrap().iter().map(|line| {
            format!("{}: {}\r\n", line[0].as_str().unwrap(), line[1].as_str().unwrap())
        });
    format!("HTTP/1.1 200 OK\r\n{}\r\n", lines.collect::<String>())
}

pub(super) async fn bomb(case: &Case) -> Answers {
    let response = &case.input["response"];
    let once = bombs::gzip_of_zeros(1 << 30);
    let twice = response["headers"][0][1] == "gzip, gzip";
    let body = if twice { bombs::gzip_stored(&once) } else { once };
    let bytes = usize::try_from(case.input["max_body_bytes"].as_u64().unwrap()).unwrap();
    let saying = Saying::Then([head(response).as_bytes(), &body].concat());
    let limits = Limits { whole: Duration::from_secs(10), ..short() }.with_body_bytes(bytes);
    let (_, fetched) = ask(saying, limits).await;
    let kept = fetched.as_ref().map_or(0, |reply| reply.body.len());
    let words = match twice {
        true => "too large or unsupported coding",
        false => "too large or truncated, marked",
    };
    told([
        ("result", in_words(words, TOO_LARGE, outcome(&fetched))),
        ("body_bytes_max", super::at_most(5_242_880, kept)),
    ])
}

/// Lengths that contradict each other, or the body.
pub(super) async fn framing(case: &Case) -> Answers {
    let response = &case.input["response"];
    let said = head(response) + text(response, "body");
    let peer = Peer::start("127.0.2.1", Saying::Then(said.into())).await;
    let transport = transport(one_host());
    let url = format!("http://example.com:{}/", peer.port);
    let first = fetch(&transport, &url, short()).await;
    let second = fetch(&transport, &url, short()).await;
    assert_eq!(outcome(&first), outcome(&second));
    let result = match outcome(&first) {
        "protocol" => "error",
        "body-cut" => "incomplete",
        other => other,
    };
    told([
        ("result", json!(result)),
        ("connection_reused", json!(peer.connections() < 2)),
        ("stored_as_complete", json!(outcome(&first) == "whole")),
    ])
}

/// A head byte by byte; thirty seconds of the case are 900 ms here.
pub(super) async fn dripped_head() -> Answers {
    let saying = Saying::Drip(b"HTTP/1.1 200 OK\r\nX: y".to_vec(), Duration::from_millis(30));
    let (_, fetched) = ask(saying, short()).await;
    let timeouts = ["first-byte-timeout", "timeout"];
    told([("result", in_words("timeout", &timeouts, outcome(&fetched)))])
}

pub(super) async fn endless_head() -> Answers {
    let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-A: b\r\n".repeat(100_000));
    let (_, fetched) = ask(Saying::Then(head.into()), short()).await;
    told([("result", in_words("error", &["head-too-large"], outcome(&fetched)))])
}

pub(super) async fn silent_body() -> Answers {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    let (_, fetched) = ask(Saying::Silence(head.to_vec()), short()).await;
    told([("result", in_words("timeout", &["body-timeout"], outcome(&fetched)))])
}

/// A public page leads to an address inside: by itself, mapped, and in other spellings.
pub(super) async fn inward_redirect() -> Answers {
    let transport = transport(one_host());
    let inside = [
        "http://169.254.169.254/",
        "http://[::ffff:169.254.169.254]/",
        "http://0xa9fea9fe/",
        "http://2852039166/",
        "http://0251.0376.0251.0376/",
        "http://[64:ff9b::a9fe:a9fe]/",
    ];
    let mut refused = true;
    for url in inside {
        refused &= outcome(&fetch(&transport, url, short()).await) == "blocked-address";
    }
    let not_connected = if refused { json!(["169.254.169.254"]) } else { json!([]) };
    let result = if refused { "refused" } else { "connected" };
    told([("must_not_connect", not_connected), ("result", json!(result))])
}

/// What a crawl reads of a page of a million links: the part that the body's limit lets in.
pub(super) fn million_links(case: &Case) -> Answers {
    let generated = &case.input["html_gen"];
    let (link, count) = (text(generated, "repeat"), generated["count"].as_u64().unwrap());
    let most = Limits::default().body_bytes;
    let mut html = String::with_capacity(most);
    let mut numbers = 0..count;
    while let Some(number) = numbers.next().filter(|_| html.len() < most) {
        html.push_str(&link.replace('N', &number.to_string()));
    }
    let url = Url::parse("https://example.com/").unwrap();
    let limits = ScanLimits::default();
    let page = scan(html.as_bytes(), Some("text/html"), &url, &limits);
    let configured = page.links.len() == limits.links && page.dropped.links > 0;
    let links = if configured { json!("configured") } else { json!(page.links.len()) };
    told([("links_max", links)])
}

/// A hundred thousand elements in each other, on a thread with little stack.
pub(super) fn deep_page(case: &Case) -> Answers {
    let generated = &case.input["html_gen"];
    let count = usize::try_from(generated["count"].as_u64().unwrap()).unwrap();
    let html = text(generated, "repeat").repeat(count) + text(generated, "then");
    let stack = usize::try_from(case.input["stack_bytes"].as_u64().unwrap()).unwrap();
    let reading = move || {
        let url = Url::parse("https://example.com/").unwrap();
        scan(html.as_bytes(), Some("text/html"), &url, &ScanLimits::default())
    };
    let thread = std::thread::Builder::new().stack_size(stack).spawn(reading).unwrap();
    let page = thread.join().unwrap();
    let links: Vec<_> = page.links.iter().map(|link| link.url.as_str()).collect();
    told([("follow_maybe", json!(links))])
}
