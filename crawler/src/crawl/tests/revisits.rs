//! Pages looked at again: what makes it cheap, and what a change leads to.

use super::*;

const HOME: &str = "https://a.example/";
const PAGE: &str = "https://a.example/page";
const ROBOTS: &str = "https://a.example/robots.txt";
const DAY: Duration = Duration::from_secs(86_400);

type Lines = &'static [(&'static str, &'static str)];
const FIRST: Lines = &[("content-type", "text/html"), ("etag", "\"1\"")];

/// A home page that leads to one page with an entity tag, crawled once.
async fn crawled() -> (Data, Web, Config) {
    let web = Web::new(
        Clock::starting_at(T0),
        [
            (HOME, html("<a href=/page>the page</a>")),
            (PAGE, (200, FIRST, "<title>Page</title>plums and pears".into())),
        ],
    );
    let (data, config) = (Data::new(), config(HOME));
    let (end, stats) = data.crawl(&web, &config).await;
    assert_eq!((end, stats.queued, stats.revisits), (End::Done, 0, 2));
    assert_eq!(data.found("plums", T0), 1);
    (data, web, config)
}

async fn later(data: &Data, web: &Web, config: &Config, pause: Duration) -> Stats {
    tokio::time::advance(pause).await;
    let (end, stats) = data.crawl(web, config).await;
    assert_eq!(end, End::Done);
    stats
}

fn requests(web: &Web, url: &str) -> Vec<bool> {
    web.ledger().iter().filter(|seen| seen.url == url).map(|seen| seen.conditional).collect()
}

/// HT-008, RL-004: after a day, then a day and a half, then two and a quarter, each time asked
/// whether it changed.
#[tokio::test(start_paused = true)]
async fn an_unchanged_page_is_asked_for_more_and_more_seldom() {
    let (data, web, config) = crawled().await;
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    for (pause, expect) in [
        (hours(23), 1),
        (hours(2), 2),
        (hours(34), 2),
        (hours(3), 3),
        (hours(53), 3),
        (hours(3), 4),
    ] {
        later(&data, &web, &config, pause).await;
        assert_eq!(requests(&web, PAGE).len(), expect, "{pause:?}");
    }
    assert_eq!(requests(&web, PAGE), [false, true, true, true]);
    assert_eq!(data.found("plums", T0), 1);
    assert_polite(&web, Duration::from_secs(2));
}

/// A page that turned leaves the index when it is looked at again, and comes back (RM-021, RL-005,
/// HT-003, HT-004, AM-56). One line, one case: what it answers then, whether it is found after that.
#[tokio::test(start_paused = true)]
async fn a_page_that_turned() {
    let page = |meta: &str| format!("<meta name=robots content='{meta}'>plums and pears");
    let cases: [(Answer, usize); 8] = [
        ((200, &[("content-type", "text/html")], page("all")), 1),
        ((200, &[("content-type", "text/html")], page("noindex")), 0),
        ((200, &[("etag", "\"1\""), ("x-robots-tag", "noindex")], String::new()), 0),
        ((200, &[("etag", "\"1\""), ("x-robots-tag", "max-snippet: 5")], page("all")), 1),
        ((404, &[], String::new()), 0),
        ((410, &[], String::new()), 0),
        ((301, &[("location", "/")], String::new()), 0),
        ((503, &[], String::new()), 1),
    ];
    for (answer, expect) in cases {
        let (data, web, config) = crawled().await;
        let told = format!("{} {:?} {}", answer.0, answer.1, answer.2);
        web.set(PAGE, answer);
        tokio::time::advance(DAY + DAY).await;
        data.crawl(&web, &config).await;
        assert_eq!(data.found("plums", T0), expect, "{told}");
        web.set(PAGE, (200, FIRST, "<title>Page</title>plums and pears".into()));
        later(&data, &web, &config, 60 * DAY).await;
        assert_eq!(data.found("plums", T0), 1, "back after {told}");
    }
}

/// A robots.txt that forbids what is in the index takes it out without a request; one that allows
/// it again brings it back, by a request that no earlier copy cuts short (RT-049).
#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_changed() {
    let (data, web, config) = crawled().await;
    web.set(ROBOTS, robots("user-agent: *\ndisallow: /page\n"));
    let stats = later(&data, &web, &config, DAY + DAY).await;
    assert_eq!(stats.refused.get("robots-disallow"), Some(&1));
    assert_eq!((data.found("plums", T0), requests(&web, PAGE)), (0, vec![false]));
    web.set(ROBOTS, robots("user-agent: *\ndisallow: /other\n"));
    let stats = later(&data, &web, &config, DAY + DAY).await;
    assert_eq!((stats.refused.len(), stats.fetched), (0, 2));
    assert_eq!((data.found("plums", T0), requests(&web, PAGE)), (1, vec![false, false]));
}

/// A robots.txt that cannot be read takes nothing out of the index (HT-004, RT-025).
#[tokio::test(start_paused = true)]
async fn an_outage_leaves_the_index_alone() {
    let (data, web, config) = crawled().await;
    web.set(ROBOTS, (503, &[], String::new()));
    tokio::time::advance(DAY + DAY).await;
    let (end, _) = data.crawl(&web, &config).await;
    assert!(matches!(end, End::Done | End::Waits(_)));
    assert_eq!((data.found("plums", T0), requests(&web, PAGE).len()), (1, 1));
}

/// An index that was lost gets its pages back: nothing that it lacks is asked for conditionally.
#[tokio::test(start_paused = true)]
async fn a_new_index_is_filled_again() {
    let (data, web, config) = crawled().await;
    std::fs::remove_dir_all(data.index()).unwrap();
    later(&data, &web, &config, DAY + DAY).await;
    assert_eq!((data.found("plums", T0), requests(&web, PAGE)), (1, vec![false, false]));
    later(&data, &web, &config, DAY + DAY).await;
    assert_eq!(requests(&web, PAGE), [false, false, true]);
}

/// AM-64: once its day is past, at least thirty days apart.
#[tokio::test(start_paused = true)]
async fn an_expired_page_is_looked_at_seldom() {
    let meta = "<meta name=robots content='unavailable_after: 2026-12-02'>plums";
    let web = Web::new(Clock::starting_at(T0), [(HOME, html(meta))]);
    let (data, config) = (Data::new(), config(HOME));
    data.crawl(&web, &config).await;
    // T0 is in the evening of 30 November: after a day the page is not expired, then it is.
    for (pause, expect) in [(DAY, 2), (2 * DAY, 3), (29 * DAY, 3), (2 * DAY, 4), (29 * DAY, 4)] {
        later(&data, &web, &config, pause).await;
        assert_eq!(requests(&web, HOME).len(), expect, "{pause:?}");
    }
    assert_eq!(data.found("plums", web.clock.now()), 0);
}
