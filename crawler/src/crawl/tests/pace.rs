//! When a site is asked again: waits that it asks for, errands, restarts and stops.

use super::*;

/// A page that says 429 with Retry-After is asked again after that, and once (HT-010).
#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for() {
    let clock = Clock::starting_at(T0);
    let busy: Answer = (429, &[("retry-after", "60")], String::new());
    let web = Web::new(clock, [("https://a.example/", busy)]);
    let mut config = config("https://a.example/");
    config.crawl.patience = Span::secs(3600);
    let (_, stats) = Data::new().crawl(&web, &config).await;
    let asked: Vec<_> =
        web.ledger().into_iter().filter(|seen| seen.url.ends_with(".example/")).collect();
    let gaps: Vec<_> =
        asked.windows(2).map(|pair| pair[1].from.since(pair[0].until).as_secs()).collect();
    // The site's own time at first; then at least the pause that failures ask for.
    assert_eq!(gaps, [60, 1200]);
    assert_eq!(stats.failed.get("too-many-requests"), Some(&1));
}

/// Servers give up kept connections just as the next request sets out: no page is lost by it, no
/// site held back, and the interval holds for the second request too.
#[tokio::test(start_paused = true)]
async fn a_connection_that_was_given_up_costs_one_more_request() {
    let clock = Clock::starting_at(T0);
    let stale = |body: &str| (STALE, &[("content-type", "text/html")][..], body.to_owned());
    let web = Web::new(
        clock,
        [
            (
                "https://a.example/robots.txt",
                (STALE, &[][..], "user-agent: *\ndisallow: /x".into()),
            ),
            ("https://a.example/", stale("<a href=/1>1</a> <a href=/x>x</a>")),
            ("https://a.example/1", stale("one")),
        ],
    );
    let (end, stats) = Data::new().crawl(&web, &config("https://a.example/")).await;
    assert_eq!((end, stats.fetched), (End::Done, 2));
    for (path, times) in [("robots.txt", 2), ("", 2), ("1", 2), ("x", 0)] {
        assert_eq!(web.count(&format!("https://a.example/{path}")), times, "{path}");
    }
    assert_polite(&web, Duration::from_secs(2));
    assert!(clock.now().since(T0) < Duration::from_secs(20), "nothing was put off");
}

/// A robots.txt that redirects within its site is read, however long the interval.
#[tokio::test(start_paused = true)]
async fn a_robots_txt_behind_redirects_and_long_intervals() {
    let clock = Clock::starting_at(T0);
    let hop = |to| redirect(to);
    let web = Web::new(
        clock,
        [
            ("http://a.example/robots.txt", hop(&[("location", "https://a.example/robots.txt")])),
            ("https://a.example/robots.txt", hop(&[("location", "/rules")])),
            ("https://a.example/rules", robots("user-agent: *\ndisallow: /x")),
            ("http://a.example/", html("home")),
        ],
    );
    let mut config = config("http://a.example/");
    config.politeness.interval = Span::secs(600);
    config.crawl.patience = Span::secs(3600);
    let (end, stats) = Data::new().crawl(&web, &config).await;
    assert_eq!((end, stats.fetched), (End::Done, 1));
    assert_polite(&web, Duration::from_secs(600));
}

/// A process dies with a request under way; the next one takes over at the same instant: it does
/// not know of that request, and keeps its distance all the same.
#[tokio::test(start_paused = true)]
async fn a_restart_asks_no_site_early() {
    for (robots_txt, least) in [("", 2), ("user-agent: *\ncrawl-delay: 7\n", 7)] {
        let clock = Clock::starting_at(T0);
        let web = Web::new(
            clock,
            [
                ("https://a.example/robots.txt", robots(robots_txt)),
                ("https://a.example/", html("<a href=/1>1</a> <a href=/2>2</a>")),
                ("https://a.example/1", html("one")),
                ("https://a.example/2", html("two")),
            ],
        );
        let (data, config) = (Data::new(), config("https://a.example/"));
        // robots.txt, its interval, the first page, its interval, and half of the second request.
        let until = LATENCY * 2 + Duration::from_secs(2 * least) + LATENCY / 2;
        let killed = tokio::time::timeout(until, data.crawl(&web, &config)).await;
        assert!(killed.is_err(), "it was to be killed in the middle");
        // Its tasks are gone once they had a turn.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let killed_at = clock.now();
        let before = web.ledger().len();
        data.crawl(&web, &config).await;
        let next = web.ledger()[before..].iter().map(|seen| seen.from).min().unwrap();
        let gap = next.since(killed_at);
        assert!(gap >= Duration::from_secs(least), "{gap:?} with {robots_txt:?}");
        assert_eq!(web.count("https://a.example/2"), 1);
    }
}

/// What a hop of a robots.txt taught of the site that it led to outlives the process (found by the
/// simulation, seeds 2 and 3 of a thousand sites).
#[tokio::test(start_paused = true)]
async fn a_hop_is_remembered_over_a_restart() {
    let clock = Clock::starting_at(T0);
    let busy = (503, &[("retry-after", "300")][..], String::new());
    let web = Web::new(
        clock,
        [
            ("https://a.example/robots.txt", redirect(&[("location", "https://b.example/rules")])),
            ("https://b.example/rules", busy),
        ],
    );
    let (data, mut config) = (Data::new(), config("https://a.example/"));
    config.crawl.patience = Span::secs(400);
    let hop = async {
        while web.count("https://b.example/rules") == 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! { _ = data.crawl(&web, &config) => panic!("it waits"), () = hop => {} }
    // Its tasks are gone once they had a turn.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let hop_at = web.ledger().last().unwrap().until;
    config.crawl.seeds.push("https://b.example/".into());
    data.crawl(&web, &config).await;
    let ledger = web.ledger();
    let next = ledger.iter().find(|seen| seen.url == "https://b.example/robots.txt").unwrap();
    assert!(next.from.since(hop_at) >= Duration::from_secs(300), "{:?}", next.from.since(hop_at));
}

/// A crawl-delay binds the whole site: other ports, and hops of a robots.txt elsewhere (AM-36).
#[tokio::test(start_paused = true)]
async fn a_crawl_delay_is_the_sites() {
    let clock = Clock::starting_at(T0);
    let web = Web::new(
        clock,
        [
            ("https://a.example/robots.txt", robots("user-agent: *\ncrawl-delay: 9\n")),
            (
                "https://a.example/",
                html("<a href=http://a.example:81/>port</a> <a href=https://b.example/>b</a>"),
            ),
            ("http://a.example:81/", html("another port")),
            ("https://b.example/robots.txt", redirect(&[("location", "https://a.example/rules")])),
            ("https://a.example/rules", robots("")),
            ("https://b.example/", html("b")),
        ],
    );
    assert_eq!(Data::new().crawl(&web, &config("https://a.example/")).await.0, End::Done);
    assert_eq!(web.count("http://a.example:81/") + web.count("https://b.example/"), 2);
    let at = |url: &str| web.ledger().into_iter().find(|seen| seen.url == url).unwrap();
    let mut asked: Vec<_> =
        web.ledger().into_iter().filter(|seen| seen.url.contains("//a.example")).collect();
    asked.sort_by_key(|seen| seen.from);
    let heard = at("https://a.example/robots.txt").until;
    for pair in asked.windows(2).filter(|pair| pair[0].until >= heard) {
        let gap = pair[1].from.since(pair[0].until);
        assert!(gap >= Duration::from_secs(9), "{gap:?} between {pair:?}");
    }
}

/// A stop in the middle of a robots.txt redirect teaches nothing about the site.
#[tokio::test(start_paused = true)]
async fn a_stop_during_an_errand_is_no_outage() {
    let clock = Clock::starting_at(T0);
    let web = Web::new(
        clock,
        [
            ("https://a.example/robots.txt", redirect(&[("location", "/rules")])),
            ("https://a.example/rules", robots("")),
            ("https://a.example/", html("home")),
        ],
    );
    let (data, config) = (Data::new(), config("https://a.example/"));
    let stop = CancellationToken::new();
    let stopper = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    let ((end, _), ()) = tokio::join!(data.crawl_until(&web, &config, stop.clone()), stopper);
    assert_eq!(end, End::Stopped);
    assert_eq!(web.ledger().len(), 1, "no request after the stop");
    assert_eq!(data.crawl(&web, &config).await.0, End::Done);
    assert_eq!(web.count("https://a.example/"), 1);
}

/// A page that the server broke off may lack a rule: it is neither indexed nor called fetched.
/// One that our own limit cut is indexed and marked (HT-005, HT-007, AM-60).
#[tokio::test(start_paused = true)]
async fn a_broken_off_page_is_no_page() {
    let clock = Clock::starting_at(T0);
    let mut web = Web::new(clock, [("https://a.example/", html("<title>T</title>some words"))]);
    for (completeness, fetched, failed) in [
        (Completeness::Partial(PartialCause::Cut), 0, 1),
        (Completeness::Truncated, 1, 0),
        (Completeness::Whole, 1, 0),
    ] {
        web.completeness = completeness;
        let data = Data::new();
        let (_, stats) = data.crawl(&web, &config("https://a.example/")).await;
        let failures = stats.failed.get("body-cut").copied().unwrap_or(0);
        assert_eq!((stats.fetched, failures), (fetched, failed), "{completeness:?}");
        assert_eq!(data.found("words", T0), usize::try_from(fetched).unwrap());
    }
}

/// RL-017: sixty sites behind one address, which is asked once a second, do not keep all workers
/// from a site that lives elsewhere; and their address is asked as often as it may be.
#[tokio::test(start_paused = true)]
async fn a_crowded_address_keeps_no_worker_from_others() {
    let clock = Clock::starting_at(T0);
    let page = |n: u32| {
        let next = format!("<a href=/{}>on</a>", n + 1);
        html(&format!("page {n} {}", if n < 20 { &next } else { "" }))
    };
    let web = Web::new(clock, []);
    let mut config = config("https://alone.example/1");
    for n in 1..=20 {
        web.set(&format!("https://alone.example/{n}"), page(n));
    }
    for n in 0..60 {
        let url = format!("https://s{n}.example/");
        web.set(&url, html(&format!("site {n}")));
        config.crawl.seeds.insert(0, url);
    }
    config.crawl.sites_at_once = 8;
    config.politeness.address_per_second = 1;
    config.politeness.adaptive = false;
    let (end, stats) = Data::new().crawl(&web, &config).await;
    assert_eq!((end, stats.fetched), (End::Done, 80));
    let (alone, crowd): (Vec<_>, Vec<_>) =
        web.ledger().into_iter().partition(|seen| seen.url.contains("alone"));
    let last = |seen: &[Seen]| seen.iter().map(|seen| seen.from.since(T0)).max().unwrap();
    // A robots.txt and twenty pages, every two seconds and what an answer takes.
    assert!(last(&alone) < Duration::from_secs(21 * 21 / 10 + 3), "{:?}", last(&alone));
    // A robots.txt and a page each; 95 % of the requests that are permitted.
    assert_eq!(crowd.len(), 120);
    assert!(last(&crowd) < Duration::from_secs(126), "{:?}", last(&crowd));
    let mut starts: Vec<_> = crowd.iter().map(|seen| seen.from).collect();
    starts.sort_unstable();
    assert!(starts.windows(2).all(|pair| pair[1].since(pair[0]) >= Duration::from_secs(1)));
}
