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

/// HT-002, AM-56: a 304 with rules that allow less counts at once, whatever becomes of the request
/// for the whole page that follows. One line, one case: the rules.
#[tokio::test(start_paused = true)]
async fn a_304_that_allows_less() {
    let cases: [Lines; 4] = [
        &[("etag", "\"1\""), ("x-robots-tag", "nosnippet")],
        &[("etag", "\"1\""), ("x-robots-tag", "max-snippet: 5")],
        &[("etag", "\"1\""), ("x-robots-tag", "noindex, indexifembedded")],
        &[("etag", "\"1\""), ("x-robots-tag", "notranslate")],
    ];
    for lines in cases {
        let rules = lines[1].1;
        let (data, web, config) = crawled().await;
        // Whoever asks without a condition gets no answer.
        web.set(PAGE, (503, lines, String::new()));
        tokio::time::advance(DAY + DAY).await;
        data.crawl(&web, &config).await;
        assert_eq!(requests(&web, PAGE)[..3], [false, true, false], "{rules}");
        assert_eq!(data.found("plums", T0), 0, "{rules}");
        web.set(PAGE, (200, FIRST, "<title>Page</title>plums and pears".into()));
        later(&data, &web, &config, 60 * DAY).await;
        assert_eq!(data.found("plums", T0), 1, "back after {rules}");
    }
}

/// RFC 9110 section 15.4.5: a 304 that no condition asked for says nothing of the page, and is not
/// asked for again at once.
#[tokio::test(start_paused = true)]
async fn a_304_that_nobody_asked_for() {
    let (data, web, config) = crawled().await;
    let rules: [Lines; 2] = [
        &[("etag", "\"1\""), ("x-robots-tag", "max-snippet: 5")],
        &[("etag", "\"1\""), ("x-robots-tag", "max-snippet: 4")],
    ];
    for (lines, expect) in rules.into_iter().zip([3, 4]) {
        web.set(PAGE, (304, lines, String::new()));
        tokio::time::advance(DAY + DAY).await;
        data.crawl(&web, &config).await;
        assert_eq!(requests(&web, PAGE).len(), expect);
        assert_eq!(data.found("plums", T0), 0);
    }
    web.set(PAGE, (200, FIRST, "<title>Page</title>plums and pears".into()));
    later(&data, &web, &config, 60 * DAY).await;
    assert_eq!(data.found("plums", T0), 1);
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

/// RT-030: a robots.txt that forbids all of a site is asked for again by itself, not only when the
/// operator names the site anew.
#[tokio::test(start_paused = true)]
async fn a_site_that_forbade_all_is_judged_again() {
    let (data, web, config) = crawled().await;
    web.set(ROBOTS, robots("user-agent: *\ndisallow: /\n"));
    let stats = later(&data, &web, &config, DAY + DAY).await;
    assert_eq!((stats.refused.get("robots-disallow"), stats.revisits), (Some(&2), 2));
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

/// HT-009: a copy that is fresh is as good as the page, up to the longest interval. One line, one
/// case: the header, days until it is asked for again.
#[tokio::test(start_paused = true)]
async fn a_fresh_copy_is_not_asked_for() {
    let cases: [(Lines, u32); 6] = [
        (&[("content-type", "text/html")], 1),
        (&[("content-type", "text/html"), ("cache-control", "max-age=60")], 1),
        (&[("content-type", "text/html"), ("cache-control", "max-age=432000")], 5),
        (&[("content-type", "text/html"), ("cache-control", "no-store, max-age=432000")], 1),
        (&[("content-type", "text/html"), ("cache-control", "max-age=99999999")], 30),
        (&[("content-type", "text/html"), ("last-modified", "Sun, 11 Oct 2026 00:00:00 GMT")], 5),
    ];
    for (lines, days) in cases {
        let web = Web::new(Clock::starting_at(T0), [(HOME, (200, lines, "plums".into()))]);
        let (data, config) = (Data::new(), config(HOME));
        data.crawl(&web, &config).await;
        let hour = Duration::from_secs(3600);
        later(&data, &web, &config, days * DAY - hour).await;
        assert_eq!(requests(&web, HOME).len(), 1, "{lines:?}");
        later(&data, &web, &config, 3 * hour).await;
        assert_eq!(requests(&web, HOME).len(), 2, "{lines:?}");
    }
}

/// RL-004: what lies behind a login is looked at seldom. One line, one case: status and headers,
/// what the record says.
#[tokio::test(start_paused = true)]
async fn behind_a_login() {
    let cases: [(u16, Lines, Option<&str>); 5] = [
        (401, &[("www-authenticate", "Basic")], Some("wall-login")),
        (403, &[("www-authenticate", "Negotiate")], Some("wall-login")),
        (407, &[("proxy-authenticate", "Basic")], Some("wall-network")),
        (403, &[], None),
        (302, &[("location", "/wp-login.php")], None),
    ];
    for (status, lines, expect) in cases {
        let web = Web::new(Clock::starting_at(T0), [(HOME, (status, lines, String::new()))]);
        let (data, config) = (Data::new(), config(HOME));
        data.crawl(&web, &config).await;
        let record = data.record(HOME, web.clock.now()).await;
        let wall = record.last_fetch().and_then(|(_, fetched)| fetched.wall.clone());
        assert_eq!(wall.as_deref(), expect, "{status} {lines:?}");
        let is_wall = expect.is_some() || status == 302;
        let days = if is_wall { 30 } else { 2 };
        assert_eq!(record.every, Some(days * DAY), "{status} {lines:?}");
        assert!(record.due.is_some_and(|due| due.since(T0) >= days * DAY));
    }
}

/// HT-003, RL-004: what counts as a change is what a reader reads. One line, one case: the page
/// then, and whether it changed.
#[tokio::test(start_paused = true)]
async fn what_counts_as_a_change() {
    let cases = [
        ("<title>Page</title><!-- 12:31 --><p>plums and pears", false),
        ("<title>Page</title><p id=ad-7>plums, and Pears!<script>x()</script>", false),
        ("<title>Page</title>plums and pears <a href=/other></a>", false),
        ("<title>Pages</title>plums and pears", true),
        ("<title>Page</title>plums and apples", true),
        ("", true),
    ];
    for (body, changed) in cases {
        let first = html("<title>Page</title>plums and pears");
        let web = Web::new(Clock::starting_at(T0), [(HOME, first)]);
        let (data, config) = (Data::new(), config(HOME));
        data.crawl(&web, &config).await;
        web.set(HOME, html(body));
        later(&data, &web, &config, DAY + DAY).await;
        let every = data.record(HOME, web.clock.now()).await.every;
        let hours = if changed { 12 } else { 36 };
        assert_eq!(every, Some(Duration::from_secs(hours * 3600)), "{body}");
    }
}
