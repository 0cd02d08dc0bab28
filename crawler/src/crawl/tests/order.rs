//! In what order the links of a site are followed.

use super::*;
use crate::crawl::{FoundLink, Score};

const HOME: &str = "https://a.example/";

/// A home page with thirty links; some speak of boats.
fn web() -> Web {
    let link = |n: u32| match n {
        11 => "<a href=/11>a boat</a>".to_owned(),
        17 => "<a href=/boat-17>more</a>".to_owned(),
        23 => "<a href=/boat-23>the boat</a>".to_owned(),
        _ => format!("<a href=/{n}>page {n}</a>"),
    };
    let links: String = (0..30).map(link).collect();
    let web = Web::new(Clock::starting_at(T0), [(HOME, html(&links))]);
    for n in 0..30 {
        web.set(&format!("{HOME}{n}"), html(&format!("number {n}")));
        web.set(&format!("{HOME}boat-{n}"), html(&format!("number {n} <a href=/deep/{n}>x</a>")));
        web.set(&format!("{HOME}deep/{n}"), html(&format!("deep {n}")));
    }
    web
}

fn paths(web: &Web) -> Vec<String> {
    let seen = web.ledger().into_iter().map(|seen| seen.url.replace(HOME, "/"));
    seen.filter(|path| path != "/" && path != "/robots.txt").collect()
}

#[tokio::test(start_paused = true)]
async fn breadth_first_is_the_usual_order() {
    let web = web();
    Data::new().crawl(&web, &config(HOME)).await;
    let paths = paths(&web);
    assert_eq!(paths.len(), 32);
    assert_eq!(paths[..3], ["/0", "/1", "/2"]);
    assert_eq!(paths[30..], ["/deep/17", "/deep/23"], "each depth in the order of its links");
}

/// Text before address before neither, and both before each; what is found on the way comes as its
/// own words have it.
#[tokio::test(start_paused = true)]
async fn a_focused_crawl_goes_there_first() {
    let (web, mut config) = (web(), config(HOME));
    config.crawl.focus = vec!["Boat".into()];
    let data = Data::new();
    data.crawl(&web, &config).await;
    // Both the log and the page's record tell why.
    let why = "\"boat\" in the text, \"boat\" in the address";
    let log = std::fs::read_to_string(data.0.path().join("data/audit.jsonl")).unwrap();
    let taken = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let taken: Vec<_> = taken.filter(|line| line["what"] == "taken").collect();
    let first = taken.iter().find(|line| line["url"] == "https://a.example/boat-23").unwrap();
    assert_eq!(first["evidence"], format!("priority 116: {why}"));
    assert_eq!(taken.len(), 32, "every link that was ordered");
    let page = data.record("https://a.example/boat-23", web.clock.now()).await;
    assert_eq!(page.why.as_deref(), Some(why));
    let paths = paths(&web);
    assert_eq!(paths[..5], ["/boat-23", "/11", "/boat-17", "/0", "/1"]);
    assert_eq!(paths.len(), 32, "nothing is left out");
    assert_polite(&web, Duration::from_secs(2));
}

/// A scorer of the caller's own: the last link first.
#[tokio::test(start_paused = true)]
async fn any_scorer_decides() {
    struct LastFirst;
    impl Scorer for LastFirst {
        fn score(&self, link: &FoundLink<'_>) -> Score {
            assert!(link.on.is_some_and(|page| page.url.as_str().starts_with(HOME)));
            let number: u8 =
                link.url.path().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
            Score { priority: 100 - number, reason: "its number".into() }
        }
    }
    let web = web();
    let hooks = Hooks { scorer: Some(Arc::new(LastFirst)), ..Hooks::default() };
    let stop = CancellationToken::new();
    Data::new().crawl_by(&web, &config(HOME), stop, hooks).await;
    assert_eq!(paths(&web)[..3], ["/29", "/28", "/27"]);
}
