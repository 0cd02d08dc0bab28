//! Names that mislead, and handshakes that fail.

use std::net::SocketAddr;
use std::time::Duration;

use comity::clock::Clock;
use comity::crawl::fetch_once;
use comity::net::{HttpConfig, HttpTransport, Names, Terms};
use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Facts, Origin, Scope, ScopeKind, SitePace, Verdict, decide};
use serde_json::json;
use url::Url;

use super::super::{Answers, Case, NOW, text};
use super::{at_most, fetch, in_words, outcome, short, told, transport};
use crate::name_server::{Data, NO_DATA, NO_NAME, NameServer, SERVER_FAILURE, Said};
use crate::peer::{Peer, Saying};

fn ok() -> Saying {
    Saying::Then(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".to_vec())
}

fn asking(server: &NameServer) -> HttpTransport {
    transport(Names::of_servers(&[server.address]))
}

/// The name has a public address at first, and a private one when it is looked up again.
pub(super) async fn rebinding() -> Answers {
    let peer = Peer::start("0.0.0.0", ok()).await;
    let names = NameServer::start(|name, is_v6, before| match (is_v6, before) {
        (true, _) => NO_DATA,
        (false, 0) => Said::address(name, 0, "127.0.2.5"),
        (false, _) => Said::address(name, 0, "127.0.0.1"),
    });
    let transport = asking(&names);
    let url = format!("http://r.example.net:{}/", peer.port);
    let first = fetch(&transport, &url, short()).await;
    assert_eq!(outcome(&first), "whole");
    let second = fetch(&transport, &url, short()).await;
    assert_eq!(outcome(&second), "blocked-address");
    let private = peer.reached.lock().unwrap().iter().any(|ip| ip.to_string() == "127.0.0.1");
    told([("connects_to_private", json!(private))])
}

/// A certificate that nobody vouches for: robots.txt is not had from there either.
pub(super) async fn self_signed(case: &Case) -> Answers {
    let peer = Peer::start_tls("127.0.2.1", "example.com", ok()).await;
    let names = Names::offline().with_static("example.com", vec![peer.at("127.0.2.1").ip()]);
    let transport = transport(names);
    let mut url = Url::parse(text(&case.input, "target")).unwrap();
    url.set_port(Some(peer.port)).unwrap();
    let terms = Terms { limits: short(), ..Terms::default() };
    let origin = Origin::of(&url).unwrap();
    let policy = &case.policy;
    let outcome = fetch_once(&transport, Clock::real(), policy, &terms, &origin).await;
    let record = RobotsRecord::default().after(outcome, policy, NOW);
    let facts = Facts {
        policy,
        identity: &case.identity(),
        scope: &Scope::new(ScopeKind::Any, &[]),
        robots: &record,
        pace: &SitePace::default(),
    };
    let allowed = matches!(decide(&url, facts, NOW), Verdict::Fetch(_));
    let state = if record.failing().is_some() { "unreachable" } else { "known" };
    told([("allowed", json!(allowed)), ("robots_state", json!(state))])
}

/// Sixty names, each standing for the next, over two zones.
pub(super) async fn endless_aliases() -> Answers {
    let names = NameServer::start(|name, is_v6, _| {
        let number = name[1..].split('.').next().unwrap().parse::<usize>().unwrap();
        match (number, is_v6) {
            (60.., false) => Said::address(name, 60, "127.0.2.9"),
            (60.., true) => NO_DATA,
            (_, _) => Said::alias(name, 60, &format!("c{}.example.net", number + 1)),
        }
    });
    let peer = Peer::start("127.0.2.9", ok()).await;
    let url = format!("http://c0.example.com:{}/", peer.port);
    let fetched = fetch(&asking(&names), &url, short()).await;
    let bounded = ["whole", "dns-server-failure", "dns-not-found", "dns-timeout"];
    let result = in_words("failure or success, but bounded", &bounded, outcome(&fetched));
    assert!(names.questions() <= 2 * 61, "{} questions", names.questions());
    told([("result", result)])
}

/// A server that takes the connection and says nothing of TLS.
pub(super) async fn no_handshake() -> Answers {
    let peer = Peer::start("127.0.2.1", Saying::Silence(vec![])).await;
    let names = Names::offline().with_static("tar.example.net", vec![peer.at("127.0.2.1").ip()]);
    let url = format!("https://tar.example.net:{}/", peer.port);
    let fetched = fetch(&transport(names), &url, short()).await;
    let result = in_words("timeout, host backed off", &["connect-timeout"], outcome(&fetched));
    told([("result", result)])
}

/// A hundred requests to a name that stands for another one, which has no IPv6.
pub(super) async fn remembered() -> Answers {
    let names = NameServer::start(|name, is_v6, _| {
        let mut said = Said::alias(name, 600, "b.example.com");
        match (name, is_v6) {
            ("b.example.com", true) => NO_DATA,
            ("b.example.com", false) => Said::address(name, 600, "127.0.2.1"),
            (_, true) => said,
            (_, false) => {
                let data = Data::Address("127.0.2.1".parse().unwrap());
                said.records.push(("b.example.com".into(), 600, data));
                said
            }
        }
    });
    let peer = Peer::start("127.0.2.1", ok()).await;
    let transport = asking(&names);
    let url = format!("http://a.example.com:{}/", peer.port);
    for _ in 0..100 {
        assert_eq!(outcome(&fetch(&transport, &url, short()).await), "whole");
    }
    told([("dns_queries_max", at_most(4, names.questions()))])
}

/// NXDOMAIN is an answer and remembered; SERVFAIL is none and asked again.
pub(super) async fn no_name_or_no_server() -> Answers {
    let gone = NameServer::start(|_, _, _| NO_NAME);
    let transport = asking(&gone);
    let ask = async || outcome(&fetch(&transport, "http://gone.example.net/", short()).await);
    let first = ask().await;
    let questions = gone.questions();
    for _ in 0..5 {
        assert_eq!(ask().await, first);
    }
    let asked_again = gone.questions() > questions || questions > 4;
    let kind = if asked_again { "asked again" } else { first };

    let flaky = NameServer::start(|name, is_v6, before| match (is_v6, before) {
        (_, 0 | 1) => SERVER_FAILURE,
        (false, _) => Said::address(name, 60, "127.0.2.7"),
        (true, _) => NO_DATA,
    });
    let peer = Peer::start("127.0.2.7", ok()).await;
    let transport = asking(&flaky);
    let url = format!("http://flaky.example.net:{}/", peer.port);
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        outcomes.push(outcome(&fetch(&transport, &url, short()).await));
    }
    // How long to wait in between is for the crawl to say.
    let failures = outcomes.iter().take_while(|code| **code == "dns-server-failure").count();
    let last = if failures > 2 { "dns-server-failure" } else { outcomes[failures] };
    told([
        (
            "gone.example.net",
            in_words("few or no retries, negative answer cached", &["dns-not-found"], kind),
        ),
        ("flaky.example.net", in_words("retried with back-off, then crawled", &["whole"], last)),
    ])
}

/// Two addresses, of which one leads nowhere.
pub(super) async fn one_family_works() -> Answers {
    let peer = Peer::start("127.0.2.1", ok()).await;
    let mut result = "fetched over IPv4";
    // Whichever stands first.
    for addresses in [["2001:db8::1", "127.0.2.1"], ["127.0.2.1", "2001:db8::1"]] {
        let addresses = addresses.map(|ip| ip.parse().unwrap()).to_vec();
        let config = HttpConfig {
            allowed_networks: vec!["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()],
            names: Names::offline().with_static("example.com", addresses),
            ..HttpConfig::new("ExampleBot/1.0")
        };
        let transport = HttpTransport::new(config, Clock::real()).unwrap();
        let url = format!("http://example.com:{}/", peer.port);
        let mut limits = short();
        (limits.connect, limits.whole) = (Duration::from_secs(3), Duration::from_secs(4));
        let fetched = fetch(&transport, &url, limits).await;
        let over_v4 =
            fetched.as_ref().is_ok_and(|reply| reply.address.is_some_and(|at| at.is_ipv4()));
        if !over_v4 {
            result = outcome(&fetched);
        }
    }
    told([("result", json!(result))])
}

/// A redirect to a host with a certificate for another: that URL fails, and no other.
pub(super) async fn wrong_certificate() -> Answers {
    let moved = b"HTTP/1.1 301 Moved\r\nLocation: https://wrong.example.net/a\r\n\
        Content-Length: 0\r\nConnection: close\r\n\r\n";
    let good = Peer::start("127.0.2.1", Saying::Then(moved.to_vec())).await;
    let wrong = Peer::start_tls("127.0.2.2", "other.example.net", ok()).await;
    let ip = |at: SocketAddr| vec![at.ip()];
    let names = Names::offline()
        .with_static("example.com", ip(good.at("127.0.2.1")))
        .with_static("wrong.example.net", ip(wrong.at("127.0.2.2")));
    let transport = transport(names);
    let at_good = format!("http://example.com:{}/", good.port);
    let at_wrong = format!("https://wrong.example.net:{}/", wrong.port);
    assert_eq!(outcome(&fetch(&transport, &at_good, short()).await), "whole");
    let fetched = fetch(&transport, &at_wrong, short()).await;
    let goes_on = outcome(&fetch(&transport, &at_good, short()).await) == "whole";
    let refused = ["tls-wrong-name", "tls-unknown-issuer"];
    told([
        ("result", in_words("fetch error for that URL", &refused, outcome(&fetched))),
        ("crawl_continues", json!(goes_on)),
    ])
}
