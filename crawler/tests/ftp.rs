//! A real FTP server, where there is one: `tests/ftp` starts it and names it in COMITY_TEST_FTP.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use comity::clock::Clock;
use comity::crawl::fetch_once;
use comity::net::{Completeness, HttpConfig, HttpTransport, Names, Reply, Terms, Transport as _};
use comity_compliance::robots::{RobotsOutcome, RobotsRecord};
use comity_compliance::{
    Facts, Identity, Origin, Policy, ProductToken, Protocols, Scope, ScopeKind, SitePace, Verdict,
    decide,
};
use url::Url;

/// What the script puts there.
const PAGE: &str = "<title>By FTP</title>";

fn transport() -> HttpTransport {
    let config = HttpConfig {
        allowed_networks: vec!["127.0.0.0/8".parse().unwrap()],
        names: Names::offline(),
        ..HttpConfig::new("comitybot/0.1 (+https://example.org/)")
    };
    HttpTransport::new(config, Clock::real()).unwrap()
}

/// RT-004, RT-011, AM-20: robots.txt first, then what it permits.
#[tokio::test]
async fn pages_of_a_real_server() {
    let Ok(server) = std::env::var("COMITY_TEST_FTP") else {
        eprintln!("no FTP server named in COMITY_TEST_FTP: nothing tested");
        return;
    };
    let (transport, clock) = (transport(), Clock::real());
    let mut policy = Policy::default();
    policy.protocols = Protocols::WebAndFtp;
    let origin = Origin::of(&Url::parse(&format!("ftp://{server}/")).unwrap()).unwrap();
    let terms = Terms::default();
    let outcome = fetch_once(&transport, clock, &policy, &terms, &origin).await;
    let RobotsOutcome::File { .. } = &outcome else { panic!("{outcome:?}") };
    let record = RobotsRecord::default().after(outcome, &policy, clock.now());

    let identity = Identity::new(ProductToken::new("comitybot").unwrap());
    let judge = |path: &str| {
        let url = Url::parse(&format!("ftp://{server}{path}")).unwrap();
        let facts = Facts {
            policy: &policy,
            identity: &identity,
            scope: &Scope::new(ScopeKind::Any, &[]),
            robots: &record,
            pace: &SitePace::default(),
        };
        decide(&url, facts, clock.now())
    };
    assert!(matches!(judge("/private/x.html"), Verdict::Refuse(_)));
    let get = async |path: &str| -> Reply {
        let Verdict::Fetch(grounds) = judge(path) else { panic!("{path}") };
        transport.fetch(grounds, terms.clone()).await.unwrap()
    };
    let page = get("/a%20page.html").await;
    assert_eq!((page.status.as_u16(), &page.body[..]), (200, PAGE.as_bytes()));
    let missing = get("/missing.html").await;
    assert_eq!((missing.status.as_u16(), missing.body.len()), (404, 0));
    let big = get("/big.bin").await;
    assert_eq!((big.completeness, big.body.len()), (Completeness::Truncated, 2 << 20));
}
