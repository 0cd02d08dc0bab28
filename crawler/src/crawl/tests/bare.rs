//! Addresses that robots.txt forbids, as searches may find them (RT-049).

use super::*;

const HOME: &str = "https://a.example/";
const ROBOTS: &str = "https://a.example/robots.txt";
const LINKING: &str = "https://a.example/linking";
const DAY: Duration = Duration::from_secs(86_400);

fn bare_config() -> Config {
    let mut config = config(HOME);
    config.index.bare_urls = true;
    config
}

/// A link's text is quoted in the name of where it leads only as far as its page lets it be. One
/// line, one case: the page's rules, the link, and the title.
#[tokio::test(start_paused = true)]
async fn titles_keep_to_the_rules_of_the_linking_page() {
    let link = "<a href=/shut>hippos inside</a>";
    for (rules, link, title) in [
        ("all", link.to_owned(), "hippos inside"),
        ("noindex", link.to_owned(), ""),
        ("nosnippet", link.to_owned(), ""),
        ("max-snippet:6", link.to_owned(), "hippos"),
        ("unavailable_after:2020-01-01", link.to_owned(), ""),
        ("noindex, indexifembedded", link.to_owned(), ""),
        ("all", format!("<div data-nosnippet>{link}</div>"), ""),
        ("all", "<a href=/shut>a <span data-nosnippet>hippo</span></a>".into(), ""),
    ] {
        let web = Web::new(
            Clock::starting_at(T0),
            [
                (ROBOTS, robots("user-agent: *\ndisallow: /shut\n")),
                (HOME, html("<a href=/linking>on</a>")),
                (LINKING, html(&format!("<meta name=robots content='{rules}'>{link}"))),
            ],
        );
        let data = Data::new();
        data.crawl(&web, &bare_config()).await;
        let searcher = Searcher::open(&data.index()).unwrap();
        let hits = searcher.search("site:a.example/shut", T0, 10, 0).unwrap().hits;
        assert_eq!(hits.len(), 1, "{rules} {link}");
        assert_eq!(hits[0].title, title, "{rules} {link}");
    }
}

/// RM-031: the day that a page named before it was forbidden holds for its bare address too.
#[tokio::test(start_paused = true)]
async fn an_address_leaves_on_its_pages_day() {
    let page = "<meta name=robots content='unavailable_after: 2026-12-06'>hippos";
    let web = Web::new(
        Clock::starting_at(T0),
        [(HOME, html("<a href=/shut>inside</a>")), ("https://a.example/shut", html(page))],
    );
    let (data, config) = (Data::new(), bare_config());
    data.crawl(&web, &config).await;
    web.set(ROBOTS, robots("user-agent: *\ndisallow: /shut\n"));
    tokio::time::advance(2 * DAY).await;
    data.crawl(&web, &config).await;
    let day = |days: u32| T0.after(DAY * days);
    assert_eq!(data.found("site:a.example/shut", day(2)), 1, "it is forbidden");
    assert_eq!(data.found("site:a.example/shut", day(7)), 0, "its day has come");
    tokio::time::advance(5 * DAY).await;
    web.set(ROBOTS, (503, &[], String::new()));
    data.crawl(&web, &config).await;
    assert_eq!(data.found("site:a.example/shut", day(2)), 0, "it is withdrawn");
}

/// An address that may be fetched again is judged by what it says, whatever the settings are then.
#[tokio::test(start_paused = true)]
async fn what_turns_out_to_say_noindex_leaves() {
    for still_wanted in [true, false] {
        let link = html("<a href=/shut>hippos inside</a>");
        let web = Web::new(
            Clock::starting_at(T0),
            [
                (ROBOTS, robots("user-agent: *\ndisallow: /shut\n")),
                (HOME, link),
                ("https://a.example/shut", html("<meta name=robots content=noindex>hippos")),
            ],
        );
        let (data, mut config) = (Data::new(), bare_config());
        data.crawl(&web, &config).await;
        assert_eq!(data.found("site:a.example/shut", T0), 1);
        web.set(ROBOTS, robots(""));
        config.index.bare_urls = still_wanted;
        for _ in 0..3 {
            tokio::time::advance(2 * DAY).await;
            data.crawl(&web, &config).await;
        }
        assert!(web.count("https://a.example/shut") > 0);
        assert_eq!(data.found("site:a.example/shut", T0), 0, "{still_wanted}");
    }
}
