//! Every page answers as the duty tables say, seen through a raw connection.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_compression::tokio::bufread::GzipDecoder;
use tokio::io::AsyncReadExt;

use super::raw_client::{get, send, split};
use super::{Expectations, Lab, Request, judge};

fn base(expectations: &Expectations, site: &str) -> String {
    expectations
        .sites
        .iter()
        .find(|info| info.name == site)
        .unwrap()
        .base_url
        .clone()
}

/// Site, path, status, a piece of the head and a piece of the body, in which
/// `\n` means a line's end.
const ANSWERS: &str = r#"
town | /robots.txt | 200 | text/plain | Disallow: /office/
town | / | 200 | text/html; charset=utf-8 | <!-- The shop has closed: <a href="/old-shop"
town | /visitors | 200 | text/html | mailto:
town | /notices | 200 | text/html | name="robots" content="nofollow"
town | /vault | 200 | text/html | strongroom
town | /shared/museum-robots.txt | 200 | text/plain | Disallow: /vault
town | /office/minutes | 200 | text/html | councillors
town | /cloud-notes | 302 | location: http://169.254.169.254/ |
town | /nothing | 404 | text/html | Not found
bakery | /robots.txt | 200 | text/plain | User-agent: ComityDemo\nDisallow: /kitchen/
bakery | / | 200 | text/html | rel="nofollow"
bakery | /bread | 200 | text/html | <span data-nosnippet>Bakers: the staff discount code 4711
bakery | /cakes | 200 | text/html | content="max-snippet:60"
bakery | /secret-menu | 200 | text/html | <META NAME="ROBOTS" CONTENT="NOINDEX">
bakery | /secret-menu | 200 | text/html | the secret menu
bakery | /sitemap.xml | 200 | application/xml | /seasonal</loc>
bakery | /seasonal | 200 | text/html | pumpkin
bakery | /wholesale/prices | 200 | text/html | bicycle
bakery | /kitchen/starter | 200 | text/html | Ferdinand
library | /robots.txt | 301 | /files/robots.txt |
library | /files/robots.txt | 302 | location: /files/robots-current.txt |
library | /files/robots-current.txt | 200 | text/plain | Disallow: /members/
library | /hours | 200 | text/html; charset=iso-8859-1 | Opening hours
library | /cards | 301 | location: /catalogue-2009 |
library | /catalogue-2009 | 302 | /catalogue-2022 |
library | /catalogue-2022 | 308 | location: catalogue |
library | /catalogue | 200 | vary: accept-encoding | almanac
clinic | /robots.txt | 404 | text/html |
clinic | /flu | 200 | x-robots-tag: unavailable_after: 31 Dec 2099 23:59:59 GMT | Influenza
clinic | /campaign | 200 | text/html | content="unavailable_after: 2020-09-21"
clinic | /report.txt | 200 | x-robots-tag: noindex | Waiting times
clinic | /staff | 200 | x-robots-tag: otherbot: noindex, nofollow | cardiologist
clinic | /appointments | 500 | text/html | jammed
clinic | /night-pharmacy | 404 | text/html |
theatre | /robots.txt | 200 | text/plain | Disallow: /calendar/\nAllow: /calendar/today$
theatre | /programme | 200 | text/html | /plays/">
theatre | /plays/hamlet?seat=12 | 200 | text/html | taken
theatre | /calendar/9999/12 | 200 | text/html | /calendar/10000/01
theatre | /calendar/10000/01 | 404 | text/html |
theatre | /calendar/2026/13 | 404 | text/html |
theatre | /backstage/door/door/ | 200 | text/html | href="door/"
theatre | /backstage/window/ | 404 | text/html |
museum | /robots.txt | 302 | /shared/museum-robots.txt |
museum | /collection?sort=age | 200 | text/html | rel="canonical"
museum | /lost-umbrella | 302 | location: /vault/umbrella |
museum | /vault/umbrella | 200 | text/html | photographed
museum | /east-corridor | 302 | location: /west-corridor |
museum | /west-corridor | 302 | location: /east-corridor |
ferry | /robots.txt | 200 | text/plain | Crawl-delay: 2
ferry | /timetable | 200 | vary: accept-encoding | crossing
observatory | /robots.txt | 503 | text/plain |
observatory | /telescope | 200 | text/html | nebula
"#;

#[tokio::test]
async fn pages_answer_as_described() {
    let lab = Lab::start().await.unwrap();
    let expectations = lab.expectations();
    let mut asked = Vec::new();
    for line in ANSWERS.trim().lines() {
        let mut cells = line.split('|').map(str::trim);
        let [site, path, status, head, body] = [(); 5].map(|()| cells.next().unwrap_or_default());
        let (status, body) = (status.parse::<u16>().unwrap(), body.replace("\\n", "\n"));
        let answer = get(&format!("{}{path}", base(&expectations, site)), "").await;
        assert_eq!(answer.status, status, "{line}");
        assert!(answer.head.contains(head), "{line}: {}", answer.head);
        assert!(answer.text().contains(&body), "{line}: {}", answer.text());
        assert!(
            !answer.text().contains("{town}"),
            "{line}: an unfilled link"
        );
        asked.push((site.to_owned(), path.to_owned(), status));
    }
    let ledger = lab.stop().await;
    let noted = |request: &Request| {
        (
            request.site.clone(),
            request.path_and_query.clone(),
            request.status,
        )
    };
    assert_eq!(ledger.iter().map(noted).collect::<Vec<_>>(), asked);
    for request in &ledger {
        assert!(request.done_us.unwrap() >= request.at_us + 10_000);
        assert_eq!(request.in_flight, 1);
        assert_eq!(request.user_agent, "comitydemo/1.0");
    }
    assert!(ledger.is_sorted_by_key(|request| (request.at_us, request.seq)));
}

#[tokio::test]
async fn gzip_is_for_those_who_take_it() {
    let lab = Lab::start().await.unwrap();
    let url = format!("{}/catalogue", base(&lab.expectations(), "library"));
    for (accepts, coded) in [
        ("Accept-Encoding: gzip, br\r\n", true),
        ("Accept-Encoding: br;q=1, GZIP;q=0.5\r\n", true),
        ("Accept-Encoding: *\r\n", true),
        ("Accept-Encoding: gzip;q=0\r\n", false),
        ("Accept-Encoding: br\r\n", false),
        ("", false),
    ] {
        let answer = get(&url, accepts).await;
        assert_eq!(
            answer.header("content-encoding").is_some(),
            coded,
            "{accepts:?}"
        );
        let mut plain = answer.body.clone();
        if coded {
            plain.clear();
            GzipDecoder::new(&answer.body[..])
                .read_to_end(&mut plain)
                .await
                .unwrap();
        }
        assert!(
            String::from_utf8(plain)
                .unwrap()
                .contains("almanac of 1688"),
            "{accepts:?}"
        );
    }
}

#[tokio::test]
async fn the_old_charset_is_real() {
    let lab = Lab::start().await.unwrap();
    let answer = get(
        &format!("{}/hours", base(&lab.expectations(), "library")),
        "",
    )
    .await;
    assert!(String::from_utf8(answer.body.clone()).is_err());
    let word: &[u8] = b"biblioth\xE8que";
    assert!(answer.body.windows(word.len()).any(|window| window == word));
}

#[tokio::test]
async fn the_counter_is_busy_once() {
    let lab = Lab::start().await.unwrap();
    let url = format!("{}/tickets", base(&lab.expectations(), "theatre"));
    let first = get(&url, "").await;
    assert_eq!(
        (first.status, first.header("retry-after")),
        (429, Some("1"))
    );
    assert_eq!(get(&url, "").await.status, 200);
    assert_eq!(get(&url, "").await.status, 200);
}

#[tokio::test]
async fn the_doors_end_somewhere() {
    let lab = Lab::start().await.unwrap();
    let theatre = base(&lab.expectations(), "theatre");
    let near = format!("{theatre}/backstage/{}", "door/".repeat(190));
    let far = format!("{theatre}/backstage/{}", "door/".repeat(200));
    assert_eq!(get(&near, "").await.status, 200);
    assert_eq!(get(&far, "").await.status, 404);
}

#[tokio::test]
async fn other_hosts_and_methods_are_turned_away_and_noted() {
    let lab = Lab::start().await.unwrap();
    let expectations = lab.expectations();
    let (clinic, bakery) = (base(&expectations, "clinic"), base(&expectations, "bakery"));
    let (authority, _) = split(&clinic);
    let (other, _) = split(&bakery);
    let port = authority.rsplit_once(':').unwrap().1;
    let cases = [
        (format!("GET / HTTP/1.1\r\nHost: {other}\r\n\r\n"), 421),
        (
            format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
            421,
        ),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), 421),
        (
            format!(
                "GET / HTTP/1.1\r\nHost: {}\r\n\r\n",
                authority.to_uppercase()
            ),
            200,
        ),
        (
            format!("POST / HTTP/1.1\r\nHost: {authority}\r\nContent-Length: 0\r\n\r\n"),
            405,
        ),
        (format!("HEAD / HTTP/1.1\r\nHost: {authority}\r\n\r\n"), 200),
    ];
    for (head, status) in &cases {
        let answer = send(authority, head).await;
        assert_eq!(answer.status, *status, "{head}");
        assert!(!head.starts_with("HEAD") || answer.body.is_empty());
    }
    let noted: Vec<u16> = lab
        .stop()
        .await
        .iter()
        .map(|request| request.status)
        .collect();
    assert_eq!(noted, cases.map(|(_, status)| status));
}

#[tokio::test]
async fn overlapping_requests_show_in_the_ledger() {
    let lab = Lab::start().await.unwrap();
    let bread = format!("{}/bread", base(&lab.expectations(), "bakery"));
    let flu = format!("{}/flu", base(&lab.expectations(), "clinic"));
    let cakes = bread.replace("/bread", "/cakes");
    let _ = tokio::join!(get(&bread, ""), get(&cakes, ""), get(&flu, ""));
    let mut in_flight = BTreeMap::<String, u32>::new();
    for request in lab.stop().await {
        let most = in_flight.entry(request.site).or_default();
        *most = request.in_flight.max(*most);
    }
    assert_eq!(
        in_flight,
        BTreeMap::from([("bakery".to_owned(), 2), ("clinic".to_owned(), 1)])
    );
}

#[tokio::test]
async fn real_gaps_are_measured() {
    let lab = Lab::start().await.unwrap();
    let expectations = lab.expectations();
    let robots = format!("{}/robots.txt", base(&expectations, "bakery"));
    for _ in 0..3 {
        get(&robots, "").await;
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    let ledger = lab.stop().await;
    for (interval_ms, faults) in [(70, 0), (5_000, 2)] {
        let report = judge(&ledger, &expectations, Duration::from_millis(interval_ms));
        let early = |kind| kind == super::ViolationKind::TooSoon;
        let found = report.violations.iter().filter(|it| early(it.kind)).count();
        assert_eq!(found, faults, "{interval_ms} ms: {report}");
    }
}

#[tokio::test]
async fn a_stopped_lab_no_longer_listens() {
    let lab = Lab::start().await.unwrap();
    let seed = lab.seed().to_owned();
    lab.stop().await;
    let port: u16 = split(&seed).0.rsplit_once(':').unwrap().1.parse().unwrap();
    assert!(
        tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
    );
}

/// The links of a page as written, those in comments and scripts included.
fn hrefs(page: &str) -> impl Iterator<Item = &str> {
    page.split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
}

/// Resolves the few shapes of reference that the lab uses.
fn resolve(page_url: &str, base_href: Option<&str>, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap();
    let (authority, path) = split(base_href.unwrap_or(page_url));
    if reference.starts_with("http://") {
        reference.to_owned()
    } else if reference.is_empty() {
        page_url.to_owned()
    } else if reference.starts_with('/') {
        format!("http://{authority}{reference}")
    } else {
        format!(
            "http://{authority}{}{reference}",
            &path[..=path.rfind('/').unwrap()]
        )
    }
}

/// Follows the duty tables through the served pages: each required URL is
/// named by the seed, a robots.txt, a link or a redirect, each link leads to a
/// URL of which something is said, and the walk itself is judged as kept.
#[tokio::test]
async fn the_duty_tables_fit_the_links() {
    for agent in ["comitydemo", "OtherBot", "somebody"] {
        let lab = Lab::start_for(agent).await.unwrap();
        let mut expectations = lab.expectations();
        for site in &mut expectations.sites {
            // The walk goes as fast as it can; pace has tests of its own.
            site.crawl_delay_ms = None;
        }
        let mut named = BTreeSet::from([lab.seed().to_owned()]);
        let robots: Vec<&String> = expectations
            .sites
            .iter()
            .flat_map(|site| &site.robots)
            .collect();
        named.extend(robots.iter().map(|url| url.to_string()));
        let pages = expectations.must_fetch.iter().map(|expect| &expect.url);
        let pages = pages.filter(|url| !robots.contains(url));
        for url in robots.iter().copied().chain(pages) {
            let answer = get(url, "").await;
            named.extend(answer.header("location").map(|to| resolve(url, None, to)));
            let text = answer.text();
            let base = text
                .split("<base href=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next());
            let links = hrefs(&text)
                .filter(|link| !link.starts_with("mailto:") && !link.starts_with("javascript:"));
            named.extend(links.map(|link| resolve(url, base, link)));
        }
        for expect in &expectations.must_fetch {
            assert!(
                named.contains(&expect.url),
                "{agent}: nothing names {}",
                expect.url
            );
        }
        let said = |url: &str| {
            let listed = expectations
                .must_fetch
                .iter()
                .chain(&expectations.may_fetch);
            listed
                .chain(&expectations.refused_addresses)
                .any(|expect| expect.url == url)
                || expectations
                    .must_not_fetch
                    .iter()
                    .any(|ban| ban.covers(url))
        };
        for url in named.iter().filter(|url| !url.ends_with("/plays/")) {
            assert!(said(url), "{agent}: nothing is said of {url}");
        }
        let mut ledger = lab.stop().await;
        for request in &mut ledger {
            request.user_agent = agent.to_owned();
        }
        let report = judge(&ledger, &expectations, Duration::ZERO);
        assert!(report.kept(), "{agent}: {report}");
    }
}

#[tokio::test]
async fn searches_and_snippets_speak_of_real_pages() {
    let lab = Lab::start().await.unwrap();
    let expectations = lab.expectations();
    let indexed: BTreeSet<&str> = expectations
        .indexed
        .iter()
        .map(|it| it.url.as_str())
        .collect();
    for search in &expectations.searches {
        for url in &search.finds {
            assert!(indexed.contains(url.as_str()), "{url}");
            let answer = get(url, "").await;
            let page: String = answer.body.iter().copied().map(char::from).collect();
            let page = format!("{page}{}", answer.text()).to_lowercase();
            assert!(
                search.query.split(' ').all(|word| page.contains(word)),
                "{:?} finds {url}",
                search.query
            );
        }
        for url in &search.never {
            assert!(
                expectations.withholds(url),
                "{:?} must not find {url}",
                search.query
            );
        }
    }
    for snippet in &expectations.snippets {
        assert!(indexed.contains(snippet.url.as_str()), "{}", snippet.url);
        let page = get(&snippet.url, "").await.text();
        assert!(
            snippet.never.iter().all(|phrase| page.contains(phrase)),
            "{}",
            snippet.url
        );
    }
}
