//! Areas tls/dns and hostile: servers and name servers on loopback that do what the case tells in
//! words, asked by the real transport. 192.0.2.0/24 of the corpus is 127.0.2.0/24 here.

mod names;
mod responses;

use std::future::Future;
use std::time::Duration;

use comity::clock::Clock;
use comity::net::{
    Completeness, FetchError, HttpConfig, HttpTransport, Limits, Names, Reply, Terms,
    Transport as _,
};
use comity_compliance::Origin;
use comity_compliance::robots::RobotsErrand;
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, in_words, once, robots_text, told};

pub(super) fn judge(case: &Case) -> Answers {
    once(case, ask)
}

fn ask(case: &Case) -> Answers {
    let answers = match case.id.as_str() {
        "TD-002" => on_network(names::rebinding()),
        "TD-003" => on_network(names::self_signed(case)),
        "TD-004" => on_network(names::endless_aliases()),
        "TD-006" => on_network(names::no_handshake()),
        "TD-007" => on_network(names::remembered()),
        "TD-011" => on_network(names::no_name_or_no_server()),
        "TD-012" => on_network(names::one_family_works()),
        "TD-013" => on_network(names::wrong_certificate()),
        "HO-001" | "HO-002" => on_network(responses::bomb(case)),
        "HO-005" | "HO-007" => on_network(responses::framing(case)),
        "HO-008" | "HO-016" => robots_text::judge(case),
        "HO-011" => on_network(responses::dripped_head()),
        "HO-015" => responses::million_links(case),
        "HO-017" => on_network(responses::endless_head()),
        "HO-018" => on_network(responses::silent_body()),
        "HO-021" => responses::deep_page(case),
        "HO-025" => on_network(responses::inward_redirect()),
        id => panic!("{id} is asked nowhere"),
    };
    let mut answers = answers;
    // A panic would have failed the test by itself.
    answers.insert("panic".into(), false.into());
    answers
}

fn on_network(asking: impl Future<Output = Answers>) -> Answers {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let longest = Duration::from_secs(30);
    runtime.block_on(async { tokio::time::timeout(longest, asking).await.expect("it ends") })
}

fn at_most(bound: usize, number: usize) -> Value {
    json!(if number <= bound { bound } else { number })
}

/// Asks under these names; of this machine's addresses, only 127.0.2.0/24 passes for public.
fn transport(names: Names) -> HttpTransport {
    let config = HttpConfig {
        allowed_networks: vec!["127.0.2.0/24".parse().unwrap()],
        names,
        ..HttpConfig::new("ExampleBot/1.0")
    };
    HttpTransport::new(config, Clock::real()).unwrap()
}

fn short() -> Limits {
    Limits {
        connect: Duration::from_millis(600),
        first_byte: Duration::from_millis(600),
        whole: Duration::from_millis(900),
        ..Limits::default()
    }
}

/// Fetches the robots.txt of an origin: the one request whose grounds need no other before.
async fn fetch(transport: &HttpTransport, url: &str, limits: Limits) -> Result<Reply, FetchError> {
    let origin = Origin::of(&Url::parse(url).unwrap()).unwrap();
    let (_, grounds) = RobotsErrand::start(&origin, super::NOW);
    let terms = Terms { limits, ..Terms::default() };
    let start = tokio::time::Instant::now();
    let fetched = transport.fetch(grounds, terms).await;
    let spare = Duration::from_secs(2);
    assert!(start.elapsed() < limits.whole + spare, "{url}: the limits did not hold");
    fetched
}

/// An error's code, or how complete the body came.
fn outcome(fetched: &Result<Reply, FetchError>) -> &'static str {
    match fetched {
        Err(error) => error.kind.code(),
        Ok(reply) => match reply.completeness {
            Completeness::Whole => "whole",
            Completeness::Truncated => "truncated",
            Completeness::Partial(cause) => cause.reason().code(),
        },
    }
}
