//! Sitemaps in a whole crawl: who may list what, and what has no end (SM-001 to SM-006).

use super::*;

const ROBOTS: &str = "https://a.example/robots.txt";

fn list(urls: &[&str]) -> Answer {
    let entries: String = urls.iter().map(|url| format!("<url><loc>{url}</loc></url>")).collect();
    (200, &[("content-type", "application/xml")], format!("<urlset>{entries}</urlset>"))
}

fn index(urls: &[&str]) -> Answer {
    let entries = urls.iter().map(|url| format!("<sitemap><loc>{url}</loc></sitemap>"));
    let entries: String = entries.collect();
    (200, &[("content-type", "application/xml")], format!("<sitemapindex>{entries}</sitemapindex>"))
}

/// SM-004, SM-006, AM-39, AM-55: one line, one case: a URL, and how often it is asked for.
#[tokio::test(start_paused = true)]
async fn who_may_list_what() {
    let noindex = &[("x-robots-tag", "noindex"), ("content-type", "application/xml")][..];
    let (_, _, listed) = list(&["https://a.example/by-noindex"]);
    let web = Web::new(
        Clock::starting_at(T0),
        [
            (
                ROBOTS,
                robots(
                    "sitemap: https://a.example/maps/index.xml\nsitemap: https://a.example/shut/s.xml\n\
                     sitemap: https://a.example/robots.txt\nsitemap: /relative.xml\n\
                     sitemap: https://cdn.example/a.xml\nsitemap: https://a.example/no.xml\n\
                     user-agent: *\ndisallow: /shut/\n",
                ),
            ),
            ("https://b.example/robots.txt", robots("sitemap: https://a.example/maps/index.xml\n")),
            ("https://c.example/robots.txt", robots("user-agent: *\ndisallow:\n")),
            ("https://a.example/", html("home <a href=/linked>x</a>")),
            ("https://a.example/maps/index.xml", index(&["https://a.example/maps/1.xml"])),
            (
                "https://a.example/maps/1.xml",
                list(&[
                    "https://a.example/maps/below",
                    "https://a.example/above",
                    "https://a.example/above#twice",
                    "https://a.example/shut/page",
                    "https://b.example/named",
                    "https://c.example/not-named",
                    "http://a.example/other-protocol",
                    "ftp://a.example/file",
                ]),
            ),
            (
                "https://cdn.example/a.xml",
                list(&["https://a.example/by-cdn", "https://cdn.example/own"]),
            ),
            ("https://a.example/no.xml", (200, noindex, listed)),
        ],
    );
    let mut config = config("https://a.example/");
    config.crawl.seeds.extend(["https://b.example/".into(), "https://c.example/".into()]);
    assert_eq!(Data::new().crawl(&web, &config).await.0, End::Done);
    let expect = [
        ("https://a.example/maps/index.xml", 1),
        ("https://a.example/maps/1.xml", 1),
        ("https://a.example/shut/s.xml", 0),
        (ROBOTS, 1),
        ("https://a.example/relative.xml", 0),
        ("https://a.example/linked", 1),
        ("https://a.example/maps/below", 1),
        ("https://a.example/above", 1),
        ("https://a.example/shut/page", 0),
        ("https://b.example/named", 1),
        ("https://c.example/not-named", 0),
        ("http://a.example/other-protocol", 0),
        ("https://cdn.example/a.xml", 1),
        ("https://a.example/by-cdn", 1),
        // It lies in the sitemap's own directory.
        ("https://cdn.example/own", 1),
        ("https://a.example/by-noindex", 1),
    ];
    for (url, times) in expect {
        assert_eq!(web.count(url), times, "{url}");
    }
    assert_polite(&web, Duration::from_secs(2));
}

/// A sitemap that the operator names speaks for the whole of its origin; one that is switched off
/// is not read. A limit on pages does not count them.
#[tokio::test(start_paused = true)]
async fn as_the_operator_wants() {
    let web = Web::new(
        Clock::starting_at(T0),
        [
            (ROBOTS, robots("sitemap: https://a.example/theirs.xml\n")),
            ("https://a.example/", html("home")),
            ("https://a.example/deep/mine.xml", list(&["https://a.example/1"])),
            ("https://a.example/theirs.xml", list(&["https://a.example/2"])),
            ("https://a.example/1", html("one")),
        ],
    );
    let mut config = config("https://a.example/");
    config.crawl.sitemaps = vec!["https://a.example/deep/mine.xml".into()];
    config.crawl.follow_sitemaps = false;
    config.crawl.max_pages = 2;
    let (end, stats) = Data::new().crawl(&web, &config).await;
    assert_eq!((end, stats.fetched, stats.sitemaps), (End::PageLimit, 2, 1));
    for (url, times) in [("1", 1), ("2", 0), ("theirs.xml", 0)] {
        assert_eq!(web.count(&format!("https://a.example/{url}")), times, "{url}");
    }
}

/// Indexes that name each other, also by way of redirects, and indexes of indexes, come to an end.
#[tokio::test(start_paused = true)]
async fn indexes_without_end() {
    let moved = &[("location", "/sitemap.xml")][..];
    let web = Web::new(
        Clock::starting_at(T0),
        [
            (
                ROBOTS,
                robots(
                    "sitemap: https://a.example/sitemap.xml\nsitemap: https://a.example/0.xml\n",
                ),
            ),
            ("https://a.example/", html("home")),
            ("https://a.example/sitemap.xml", index(&["https://a.example/2.xml"])),
            (
                "https://a.example/2.xml",
                index(&["https://a.example/old.xml", "https://a.example/sitemap.xml"]),
            ),
            ("https://a.example/old.xml", (301, moved, String::new())),
        ],
    );
    for n in 0..9 {
        web.set(
            &format!("https://a.example/{n}.xml"),
            index(&[&format!("https://a.example/{}.xml", n + 1)]),
        );
    }
    web.set(
        "https://a.example/2.xml",
        index(&["https://a.example/old.xml", "https://a.example/3.xml"]),
    );
    let (end, stats) = Data::new().crawl(&web, &config("https://a.example/")).await;
    assert_eq!(end, End::Done);
    let asked = ["sitemap.xml", "old.xml", "0.xml", "1.xml", "2.xml", "3.xml", "4.xml", "5.xml"];
    let counts = asked.map(|name| web.count(&format!("https://a.example/{name}")));
    // 2.xml is one below sitemap.xml, so that 4.xml is the third.
    assert_eq!(counts, [1, 1, 1, 1, 1, 1, 1, 0]);
    assert_eq!(stats.failed.len(), 0);
}
