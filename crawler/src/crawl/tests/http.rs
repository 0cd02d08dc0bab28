//! HTTP at work (R11): what each status leads to, and where redirects go.

use super::*;

type Lines = &'static [(&'static str, &'static str)];

const HOME: &str = "https://a.example/";
const HTML: Lines = &[("content-type", "text/html")];

/// A home page that leads to `/x`, which answers so; whether it is found then, and the stats.
async fn one_page(status: u16, lines: Lines, body: &str) -> (usize, Stats, Web, Data) {
    let web = Web::new(
        Clock::starting_at(T0),
        [(HOME, html("<a href=/x>x</a>")), ("https://a.example/x", (status, lines, body.into()))],
    );
    let data = Data::new();
    let (_, stats) = data.crawl(&web, &config(HOME)).await;
    (data.found("plums", T0), stats, web, data)
}

/// HT-001, HT-003, HT-004, AM-57: one line, one case: the status, whether its content and its links
/// count, and as what it does not.
#[tokio::test(start_paused = true)]
async fn what_a_status_makes_of_content() {
    let cases = [
        (200, Content::Counts),
        (201, Content::Counts),
        (202, Content::Counts),
        (203, Content::Counts),
        (204, Content::Withheld),
        (205, Content::Withheld),
        (300, Content::Withheld),
        (304, Content::Failed("odd-status")),
        (401, Content::Withheld),
        (403, Content::Withheld),
        (404, Content::Withheld),
        (410, Content::Withheld),
        (429, Content::Failed("too-many-requests")),
        (451, Content::Withheld),
        (500, Content::Failed("server-error")),
        (503, Content::Failed("server-error")),
        (999, Content::Failed("odd-status")),
    ];
    let body = "<title>X</title>plums and pears <a href=/next>next</a>";
    for (status, expect) in cases {
        let (found, stats, web, _) = one_page(status, HTML, body).await;
        let counts = usize::from(matches!(expect, Content::Counts));
        assert_eq!((found, web.count("https://a.example/next")), (counts, counts), "{status}");
        let failed: Vec<_> = stats.failed.keys().map(String::as_str).collect();
        match expect {
            Content::Counts | Content::Withheld => assert_eq!(failed, [""; 0], "{status}"),
            Content::Failed(code) => assert_eq!(failed, [code], "{status}"),
        }
    }
}

/// What becomes of a page's content.
enum Content {
    Counts,
    Withheld,
    Failed(&'static str),
}

/// HT-001: an empty page is no result.
#[tokio::test(start_paused = true)]
async fn nothing_is_found_of_an_empty_page() {
    let (found, stats, ..) = one_page(200, HTML, "").await;
    assert_eq!((found, stats.fetched), (0, 2));
}

/// HT-002, HT-012, LK-005: the body and the rules of what redirects are nobody's; its target is
/// judged for itself. One line, one case: the status.
#[tokio::test(start_paused = true)]
async fn a_redirect_has_no_content() {
    let rules: Lines =
        &[("location", "/there"), ("content-type", "text/html"), ("x-robots-tag", "none")];
    for status in [301, 302, 303, 307, 308] {
        let (found, _, web, data) =
            one_page(status, rules, "<title>X</title>plums <a href=/hidden>hidden</a>").await;
        assert_eq!(found, 0, "{status}");
        assert_eq!(web.count("https://a.example/there"), 1, "{status}");
        assert_eq!(web.count("https://a.example/hidden"), 0, "{status}");
        web.set("https://a.example/there", html("<title>There</title>pears <a href=/on>on</a>"));
        tokio::time::advance(Duration::from_secs(60 * 86_400)).await;
        data.crawl(&web, &config(HOME)).await;
        assert_eq!(data.found("pears", T0), 1, "{status}");
        assert_eq!(web.count("https://a.example/on"), 1, "{status}");
    }
}

/// HT-012: one line, one case: a Location, and what is asked for then.
#[tokio::test(start_paused = true)]
async fn where_a_location_leads() {
    let cases: [(&'static str, &str); 9] = [
        ("there", "https://a.example/there"),
        ("/there", "https://a.example/there"),
        ("?q=1", "https://a.example/x?q=1"),
        ("//b.example/there", "https://b.example/there"),
        ("http://b.example/there", "http://b.example/there"),
        ("/there#part", "https://a.example/there"),
        ("/a b", "https://a.example/a%20b"),
        ("/m\u{fc}sli", "https://a.example/m%C3%BCsli"),
        ("https://b\u{fc}cher.example/", "https://xn--bcher-kva.example/"),
    ];
    for (location, expect) in cases {
        let lines: Lines = Vec::leak(vec![("location", location)]);
        let (_, _, web, _) = one_page(302, lines, "").await;
        let asked: Vec<_> = web.ledger().into_iter().map(|seen| seen.url).collect();
        assert_eq!(web.count(expect), 1, "{location}: {asked:?}");
    }
}

/// HT-012, AM-4: chains without an end, and Locations that are none. One line, one case: the
/// Location, and why the page failed.
#[tokio::test(start_paused = true)]
async fn redirects_that_lead_nowhere() {
    let cases: [(&'static str, &str); 8] = [
        ("/x", "redirect-loop"),
        ("#part", "redirect-loop"),
        ("", "bad-redirect"),
        ("https://", "bad-redirect"),
        ("file:///etc/passwd", "bad-redirect"),
        ("data:text/html,x", "bad-redirect"),
        ("mailto:me@example.org", "bad-redirect"),
        ("ftp://a.example/x", "bad-redirect"),
    ];
    for (location, code) in cases {
        let lines: Lines = Vec::leak(vec![("location", location)]);
        let (_, stats, web, _) = one_page(301, lines, "").await;
        assert_eq!(stats.failed, BTreeMap::from([(code.into(), 1)]), "{location}");
        assert_eq!(web.count("https://a.example/x"), 1, "{location}");
    }
}

/// A redirect to a page that is known already asks for it no second time, from a link or from a
/// seed, before or after that page was fetched.
#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_known_page() {
    let to_home: Lines = &[("location", "/")];
    let web = Web::new(
        Clock::starting_at(T0),
        [
            (HOME, html("<a href=/late>1</a> <a href=/page>2</a>")),
            ("https://a.example/late", (301, to_home, String::new())),
            ("https://a.example/early", (301, &[("location", "/page")], String::new())),
            ("https://a.example/page", html("a page")),
        ],
    );
    let mut config = config("https://a.example/early");
    config.crawl.seeds.push(HOME.into());
    let (end, stats) = Data::new().crawl(&web, &config).await;
    assert_eq!((end, stats.fetched, stats.redirected), (End::Done, 2, 2));
    for path in ["", "late", "early", "page"] {
        assert_eq!(web.count(&format!("https://a.example/{path}")), 1, "/{path}");
    }
}

/// HT-010: with a redirect, Retry-After is about the request that follows it. One line, one case:
/// the header, and the least pause in seconds.
#[tokio::test(start_paused = true)]
async fn a_redirect_that_asks_for_time() {
    for (wait, least, most) in [("90", 90, 91), ("1", 2, 5), ("soon", 2, 5)] {
        let lines: Lines = Vec::leak(vec![("location", "/there"), ("retry-after", wait)]);
        let (_, _, web, _) = one_page(302, lines, "").await;
        let at = |url: &str| web.ledger().into_iter().find(|seen| seen.url == url).unwrap();
        let gap = at("https://a.example/there").from.since(at("https://a.example/x").until);
        let (least, most) = (Duration::from_secs(least), Duration::from_secs(most));
        assert!(gap >= least && gap <= most, "{gap:?} after {wait}");
    }
}

/// Bytes that are of no encoding are escaped as they stand.
#[test]
fn raw_bytes_in_a_location() {
    let cases: [(&[u8], &str); 4] = [
        (b"/plain", "/plain"),
        (b"/m\xc3\xbcsli", "/m%C3%BCsli"),
        (b"/m\xfcsli", "/m%FCsli"),
        (b"/%C3%BC\xff", "/%C3%BC%FF"),
    ];
    for (bytes, expect) in cases {
        let mut headers = HeaderMap::new();
        headers.append("location", HeaderValue::from_bytes(bytes).unwrap());
        headers.append("location", HeaderValue::from_static("/second"));
        let location = super::super::reply::location(&headers);
        assert_eq!(location.as_deref(), Some(expect));
    }
}
