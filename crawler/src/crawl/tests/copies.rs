//! One page under several addresses, in whole crawls (LK-004, LK-005, HO-013).

use super::*;

const HOME: &str = "https://a.example/";
const DAY: Duration = Duration::from_secs(86_400);

type Lines = &'static [(&'static str, &'static str)];
const HTML: Lines = &[("content-type", "text/html")];

/// A home page that links to these, crawled.
async fn crawled(links: &str, pages: &[(&'static str, Answer)]) -> (Data, Web, Config) {
    let web = Web::new(Clock::starting_at(T0), pages.iter().cloned());
    web.set(HOME, html(links));
    let (data, mut config) = (Data::new(), config(HOME));
    config.crawl.scope = "host".into();
    data.crawl(&web, &config).await;
    (data, web, config)
}

async fn later(data: &Data, web: &Web, config: &Config, pause: Duration) -> Vec<String> {
    tokio::time::advance(pause).await;
    data.crawl(web, config).await;
    data.addresses("plums", T0)
}

async fn copy(data: &Data, web: &Web, url: &str) -> comity_storage::Fetched {
    data.record(url, web.clock.now()).await.last_fetch().unwrap().1.clone()
}

fn path_of(url: Option<&Url>) -> Option<&str> {
    url.map(Url::path)
}

const LONG: &str = "https://a.example/a-long-name";
const SHORT: &str = "https://a.example/b";
const PLUMS: &str = "<title>Plums</title>plums and pears";

/// The later copy points to the first, and the index has one of them: the shorter address, whether
/// it came first or not. Once that is gone, or says something else, the other takes its place.
#[tokio::test(start_paused = true)]
async fn the_index_has_one_of_two_copies() {
    for links in
        ["<a href=/a-long-name>x</a><a href=/b>y</a>", "<a href=/b>y</a><a href=/a-long-name>x</a>"]
    {
        for end in [
            (404, HTML, String::new()),
            html("apples"),
            html("<meta name=robots content=noindex>plums"),
        ] {
            let pages = [(LONG, html(PLUMS)), (SHORT, html(&format!("<!-- -->{PLUMS}")))];
            let (data, web, config) = crawled(links, &pages).await;
            assert_eq!(data.addresses("plums", T0), [SHORT], "{links}");
            let (long, short) = (copy(&data, &web, LONG).await, copy(&data, &web, SHORT).await);
            assert_eq!((path_of(long.stand_in.as_ref()), long.sent), (Some("/b"), false));
            assert_eq!((short.stand_in, short.sent), (None, true));
            let alike = long.alike.or(short.alike).unwrap();
            assert!(alike.bits.is_none() && [LONG, SHORT].contains(&alike.url.as_str()));
            assert_eq!((web.count(LONG), web.count(SHORT)), (1, 1));

            web.set(SHORT, end.clone());
            assert_eq!(later(&data, &web, &config, DAY + DAY).await, [LONG], "{links} {end:?}");
            web.set(SHORT, html(PLUMS));
            assert_eq!(later(&data, &web, &config, 9 * DAY).await, [SHORT], "back after {end:?}");
        }
    }
}

/// A copy that is found by another run is known as one, and conditional requests go on.
#[tokio::test(start_paused = true)]
async fn a_copy_is_known_after_a_restart() {
    const ETAG: Lines = &[("content-type", "text/html"), ("etag", "\"1\"")];
    let tagged = |text: &str| (200, ETAG, text.to_owned());
    let pages = [(SHORT, tagged(PLUMS)), (LONG, tagged(PLUMS))];
    let (data, web, config) = crawled("<a href=/b>y</a>", &pages).await;
    web.set(HOME, html("<a href=/b>y</a><a href=/a-long-name>new</a>"));
    assert_eq!(later(&data, &web, &config, DAY + DAY).await, [SHORT]);
    assert_eq!(path_of(copy(&data, &web, LONG).await.stand_in.as_ref()), Some("/b"));
    assert_eq!(later(&data, &web, &config, 3 * DAY).await, [SHORT]);
    let asked = web.ledger().into_iter().filter(|seen| seen.url == LONG);
    assert_eq!(asked.map(|seen| seen.conditional).collect::<Vec<_>>(), [false, true]);
    // The other is gone while nobody looks, and this one has not changed.
    web.set(SHORT, (410, HTML, String::new()));
    assert_eq!(later(&data, &web, &config, 9 * DAY).await, [LONG]);
}

/// Texts that are nearly the same are noted and both shown; short ones are not even noted.
#[tokio::test(start_paused = true)]
async fn near_copies_are_noted() {
    let long: String = (0..400).map(|n| format!("word{n} ")).collect();
    let pages = [
        (LONG, html(&format!("plums {long}"))),
        (SHORT, html(&format!("plums {long} page 2"))),
        ("https://a.example/c", html("plums and pears")),
        ("https://a.example/d", html("plums or pears")),
    ];
    let links = "<a href=/a-long-name>x</a><a href=/b>y</a><a href=/c>z</a><a href=/d>z</a>";
    let (data, web, _) = crawled(links, &pages).await;
    assert_eq!(data.addresses("plums", T0).len(), 4);
    let alike = copy(&data, &web, SHORT).await.alike.unwrap();
    assert_eq!((alike.url.as_str(), alike.bits.is_some()), (LONG, true));
    assert_eq!(copy(&data, &web, "https://a.example/d").await.alike, None);
}

/// LK-004, AM-62: one line, one case: what /x says, in its header and its head, what /c answers,
/// what the index has, the address that stands for /x, and why.
#[tokio::test(start_paused = true)]
async fn signals_are_hints() {
    const C: &str = "https://a.example/c";
    const X: &str = "https://a.example/x";
    const NO: Lines = &[("content-type", "text/html"), ("x-robots-tag", "noindex")];
    const BY_HEADER: Lines = &[("content-type", "text/html"), ("link", "</c>; rel=canonical")];
    const OTHER: Lines = &[("content-type", "text/html"), ("link", "</d>; rel=canonical")];
    let well = || html("plums of c");
    let cases: [(Lines, &str, Answer, &[&str], Option<&str>, &str); 12] = [
        (HTML, "", well(), &[X], None, "canonical-own"),
        (HTML, "<link rel=canonical href=/c>", well(), &[C], Some("/c"), "canonical-element"),
        (
            HTML,
            "<link rel=canonical href=/c?utm_source=x>",
            well(),
            &[C],
            Some("/c"),
            "canonical-element",
        ),
        (BY_HEADER, "", well(), &[C], Some("/c"), "canonical-header"),
        (
            BY_HEADER,
            "<meta name=robots content=nofollow>",
            well(),
            &[C],
            Some("/c"),
            "canonical-header",
        ),
        (OTHER, "<link rel=canonical href=/c>", well(), &[C, X], None, "canonical-conflict"),
        (HTML, "<link rel=canonical href=/x>", well(), &[X], None, "canonical-element"),
        (
            HTML,
            "<link rel=canonical href=/c>",
            (404, HTML, String::new()),
            &[X],
            Some("/c"),
            "canonical-element",
        ),
        (
            HTML,
            "<link rel=canonical href=/c>",
            (200, NO, "plums".into()),
            &[X],
            Some("/c"),
            "canonical-element",
        ),
        (HTML, "<link rel=canonical href=/shut>", well(), &[X], Some("/shut"), "canonical-element"),
        (
            HTML,
            "<link rel=canonical href=https://b.example/c>",
            well(),
            &[X],
            Some("/c"),
            "canonical-element",
        ),
        (HTML, "<p><link rel=canonical href=/c>", well(), &[X], None, "canonical-own"),
    ];
    for (lines, head, c, shown, canonical, why) in cases {
        let page = (200, lines, format!("{head}<p>plums of x"));
        let rules = robots("user-agent: *\ndisallow: /shut\n");
        let pages = [(X, page), (C, c), ("https://a.example/robots.txt", rules)];
        let (data, web, config) = crawled("<a href=/x>x</a>", &pages).await;
        assert_eq!(data.addresses("plums", T0), shown, "{lines:?} {head}");
        let x = copy(&data, &web, X).await;
        assert_eq!(
            (path_of(x.canonical.as_ref()), x.canonical_reason.as_str()),
            (canonical, why),
            "{head}"
        );
        // Looking again changes nothing.
        assert_eq!(later(&data, &web, &config, 5 * DAY).await, shown, "later: {lines:?} {head}");
    }
}

/// Two pages that name each other: one of them stays.
#[tokio::test(start_paused = true)]
async fn pages_that_name_each_other() {
    let page = |other: &str| html(&format!("<link rel=canonical href={other}>plums by {other}"));
    let pages = [(LONG, page("/b")), (SHORT, page("/a-long-name"))];
    let (data, web, config) = crawled("<a href=/b>x</a>", &pages).await;
    let first = data.addresses("plums", T0);
    assert_eq!(first.len(), 1);
    for _ in 0..3 {
        assert_eq!(later(&data, &web, &config, 4 * DAY).await, first);
    }
}

/// LK-005: through a permanent redirect the target stands for the page, before a temporary one the
/// address that has it. LK-004: https before http.
#[tokio::test(start_paused = true)]
async fn redirects_and_protocols() {
    let to_b: Lines = &[("location", "/b")];
    for (status, canonical, why) in [
        (301, None, "permanent-redirect"),
        (308, None, "permanent-redirect"),
        (302, Some("/a-long-name"), "temporary-redirect"),
        (307, Some("/a-long-name"), "temporary-redirect"),
    ] {
        let pages = [(LONG, (status, to_b, String::new())), (SHORT, html(PLUMS))];
        let (data, web, _) = crawled("<a href=/a-long-name>x</a>", &pages).await;
        let target = copy(&data, &web, SHORT).await;
        assert_eq!(path_of(target.canonical.as_ref()), canonical, "{status}");
        assert_eq!((target.canonical_reason.as_str(), target.sent), (why, true), "{status}");
        let hit = Searcher::open(&data.index()).unwrap().search("plums", T0, 9, 0).unwrap();
        let shown = hit.hits[0].canonical.clone();
        assert_eq!(shown.as_deref(), Some(canonical.map_or(SHORT, |_| LONG)), "{status}");
    }
    let plain = "http://a.example/same";
    let secure = "https://a.example/same";
    let pages = [(plain, html(PLUMS)), (secure, html(PLUMS))];
    let links = "<a href=http://a.example/same>x</a><a href=https://a.example/same>y</a>";
    let (data, web, _) = crawled(links, &pages).await;
    assert_eq!(data.addresses("plums", T0), [secure]);
    assert_eq!(copy(&data, &web, plain).await.stand_in.unwrap().as_str(), secure);
}

/// `Refresh` and language versions by header lead on, whatever the page says of hyperlinks (AM-62).
#[tokio::test(start_paused = true)]
async fn header_lines_lead_on() {
    const LINES: Lines = &[
        ("content-type", "text/html"),
        ("x-robots-tag", "nofollow"),
        ("link", "</de>; rel=alternate; hreflang=de, </feed>; rel=alternate, </2>; rel=next"),
        ("refresh", "5; url=/moved"),
    ];
    let page = (200, LINES, "<a href=/no>x</a>".to_owned());
    let (_, web, _) = crawled("<a href=/p>x</a>", &[("https://a.example/p", page)]).await;
    for (path, times) in [("de", 1), ("moved", 1), ("feed", 0), ("2", 0), ("no", 0)] {
        assert_eq!(web.count(&format!("{HOME}{path}")), times, "{path}");
    }
}

/// HO-013: the same text over and over ends a shape, also for addresses that wait already.
#[tokio::test(start_paused = true)]
async fn a_shape_that_repeats_itself_comes_to_an_end() {
    let links: String = (0..200).map(|n| format!("<a href=/show?item={n}>x</a>")).collect();
    let web = Web::new(Clock::starting_at(T0), [(HOME, html(&links))]);
    for n in 0..200 {
        web.set(&format!("{HOME}show?item={n}"), html(PLUMS));
    }
    let (data, config) = (Data::new(), config(HOME));
    let (end, stats) = data.crawl(&web, &config).await;
    let asked = web.ledger().iter().filter(|seen| seen.url.contains("show")).count();
    assert_eq!((end, asked), (End::Done, 22), "twice one original and twenty");
    assert_eq!(stats.noted, BTreeMap::from([("same-content".into(), 178)]));
    assert_eq!(data.addresses("plums", T0).len(), 1);
}

/// HO-013: a restart does not let it begin anew, and what waited comes to its end at once.
#[tokio::test(start_paused = true)]
async fn a_shape_at_its_end_stays_there_over_a_restart() {
    let links: String = (0..3000).map(|n| format!("<a href=/show?item={n}>x</a>")).collect();
    let web = Web::new(Clock::starting_at(T0), [(HOME, html(&links))]);
    for n in 0..3000 {
        web.set(&format!("{HOME}show?item={n}"), html(PLUMS));
    }
    let (data, config) = (Data::new(), config(HOME));
    for (max_pages, expect) in [(11, End::PageLimit), (18, End::PageLimit), (0, End::Done)] {
        let config =
            Config { crawl: CrawlConfig { max_pages, ..config.crawl.clone() }, ..config.clone() };
        let (end, _) = data.crawl(&web, &config).await;
        assert_eq!(end, expect, "{max_pages}");
    }
    let asked = web.ledger().iter().filter(|seen| seen.url.contains("show")).count();
    assert_eq!(asked, 22, "twice one original and twenty, as without a restart");
    let (_, stats) = data.crawl(&web, &config).await;
    assert_eq!(stats.noted, BTreeMap::from([("same-content".into(), 2978)]));
}

/// A full queue takes no more of its own site.
#[tokio::test(start_paused = true)]
async fn a_full_queue_takes_no_more() {
    let page = |n: u32| html(&format!("page {n} <a href=/more/{n}>x</a>"));
    let links: String = (0..5).map(|n| format!("<a href=/{n}>x</a>")).collect();
    let web = Web::new(Clock::starting_at(T0), [(HOME, html(&links))]);
    for n in 0..5 {
        web.set(&format!("{HOME}{n}"), page(n));
    }
    let mut config = config(HOME);
    config.urls.site_queue = 3;
    Data::new().crawl(&web, &config).await;
    let more = web.ledger().iter().filter(|seen| seen.url.contains("more")).count();
    assert!((1..=3).contains(&more), "{more} of the last pages, when few waited");
}
