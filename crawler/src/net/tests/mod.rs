//! The transport against real sockets on loopback.

mod coding;
mod conditional;
mod hostile;
mod kept;
mod proxy;
mod reach;
mod secure;
mod server;

use std::time::Duration;

use url::Url;

use super::{FetchError, HttpConfig, HttpTransport, Limits, Names, Reply, Terms};
use crate::clock::Clock;

/// Loopback permitted, no name but `localhost` known.
fn config() -> HttpConfig {
    HttpConfig {
        allowed_networks: vec!["127.0.0.0/8".parse().unwrap()],
        names: Names::offline(),
        ..HttpConfig::new("comitybot/0.1")
    }
}

fn transport(config: HttpConfig) -> HttpTransport {
    HttpTransport::new(config, Clock::real()).unwrap()
}

/// Limits that a test can wait for.
fn short() -> Terms {
    Terms {
        limits: Limits {
            connect: Duration::from_millis(400),
            first_byte: Duration::from_millis(400),
            whole: Duration::from_millis(700),
            body_bytes: 100_000,
            ..Limits::default()
        },
        ..Terms::default()
    }
}

/// The same with all the time in the world, for what ends by itself.
fn patient() -> Terms {
    let mut terms = short();
    let long = Duration::from_secs(30);
    (terms.limits.connect, terms.limits.first_byte, terms.limits.whole) = (long, long, long);
    terms
}

async fn get(url: &str, terms: &Terms) -> Result<Reply, FetchError> {
    transport(config()).get(&Url::parse(url).unwrap(), terms).await
}

fn code(result: &Result<Reply, FetchError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(error) => error.kind.code(),
    }
}
