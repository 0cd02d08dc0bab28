//! The examples, run as a reader would: against the lab, or a site of which the answers are known.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use comity_conformance::{Lab, ViolationKind, judge};
use serde_json::{Value, json};

use crate::command::{Ended, end, run_example, start_example, wait_until};
use crate::sites::Site;

/// Milliseconds between requests.
const INTERVAL: &str = "100";

fn site_of(lab: &Lab, name: &str) -> String {
    let sites = lab.sites();
    let site = sites.iter().find(|site| site.base_url.contains(name)).unwrap();
    format!("{}/", site.base_url.trim_end_matches('/'))
}

/// Runs an example beside the lab's own tasks.
async fn run(name: &'static str, args: Vec<String>) -> Ended {
    let run = move || run_example(name, &args.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn args(seed: &str, rest: &[&str]) -> Vec<String> {
    [seed, "", INTERVAL].iter().chain(rest).map(|argument| (*argument).to_owned()).collect()
}

/// What the lab's bakery says at the top of its pages, one item each; and no rule broken meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn custom_extractor() {
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "bakery");
    let ended = run("custom_extractor", args(&seed, &[])).await.well();
    let items: Vec<Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut headlines: Vec<_> =
        items.iter().map(|item| item["value"]["headline"].as_str().unwrap()).collect();
    headlines.sort_unstable();
    let expect =
        ["Cakes", "For friends", "Marrow Street Bakery", "Our bread", "The starter", "This season"];
    assert_eq!(headlines, expect);
    assert!(items.iter().all(|item| item["extractor"] == "articles"));
    assert!(items.iter().all(|item| item["value"]["words"].as_u64().unwrap() > 20));
    assert_no_rule_broken(lab).await;
}

/// Of the other sites nothing was asked, which is no fault here.
async fn assert_no_rule_broken(lab: Lab) {
    let expectations = lab.expectations();
    let report = judge(&lab.stop().await, &expectations, Duration::from_millis(100));
    let broken = report.violations.iter().any(|broken| broken.kind != ViolationKind::Missing);
    assert!(!broken, "{report}");
}

/// Links that speak of it are followed first, and seats are left by the filter.
#[tokio::test(flavor = "multi_thread")]
async fn focused_crawl() {
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "theatre");
    let ended = run("focused_crawl", args(&seed, &["tickets", "2"])).await.well();
    let paths: Vec<_> = ended.out.lines().map(|line| line.replace(&seed, "/")).collect();
    assert_eq!(paths[..1], ["200 /"]);
    assert!(ended.err.contains("PageLimit"), "{ended:?}");
    let asked: Vec<_> = lab.ledger().into_iter().map(|request| request.path_and_query).collect();
    assert_eq!(asked[..3], ["/robots.txt", "/", "/tickets"]);
}

/// Each change of a price is told once, whatever is asked how often.
#[test]
fn price_monitor() {
    let looks = AtomicUsize::new(0);
    let site = Site::start(move |path| {
        if path == "/robots.txt" {
            return (404, String::new(), String::new());
        }
        let price = ["£9.50", "£9.50", "£8", "£8", "£9.50"];
        let look = looks.fetch_add(1, Ordering::SeqCst).min(price.len() - 1);
        let body = format!("<p>Now <b class=price>{}</b>, <a href=/other>other</a>", price[look]);
        (200, "content-type: text/html\r\n".into(), body)
    });
    let args = args(&site.url("/p/1"), &[".price", "5"]);
    let ended = run_example("price_monitor", &args.iter().map(String::as_str).collect::<Vec<_>>());
    let ended = ended.well();
    let told: Vec<_> =
        ended.out.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
    assert_eq!(told, ["9.5 (before: null)", "8 (before: 9.5)", "9.5 (before: 8)"]);
    assert!(site.paths().iter().all(|path| path != "/other"));
    assert!(site.shortest_gap() >= Duration::from_millis(99));
}

/// The engine under another client: a redirected robots.txt, page rules in header and tag, redirects,
/// a robots.txt that fails and one that is not there.
#[test]
fn another_client() {
    let site = Site::start(|path| {
        let html = "content-type: text/html\r\n";
        let page = |headers: &str, body: &str| (200, format!("{html}{headers}"), body.to_owned());
        match path {
            "/robots.txt" => (302, "location: /rules.txt\r\n".into(), String::new()),
            "/rules.txt" => (200, String::new(), "user-agent: *\ndisallow: /private\n".into()),
            "/short" => page("", "<meta name=robots content=max-snippet:60>"),
            "/hidden" => page("x-robots-tag: examplebot: noindex\r\n", ""),
            "/others" => page("x-robots-tag: otherbot: noindex\r\n", ""),
            "/moved" => (301, "location: /private/cellar\r\n".into(), String::new()),
            _ => (404, html.into(), String::new()),
        }
    });
    let down = Site::start(|_| (503, String::new(), String::new()));
    let free = Site::start(|path| match path {
        "/page" => (200, "content-type: text/plain\r\n".into(), "words".into()),
        _ => (404, String::new(), String::new()),
    });
    let urls = ["/short", "/hidden", "/others", "/private/cellar", "/moved", "/nothing"];
    let mut args = vec!["me@example.org".to_owned(), "50".into()];
    args.extend(urls.map(|path| site.url(path)));
    // Another name is another site, whose troubles do not hold up the first.
    args.extend([free.url("/page"), down.url_as("localhost", "/page")]);
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let ended = run_example("another_client", &args).well();
    let of = |url: &str| {
        let after = ended.out.split_once(&format!("{url}\n")).unwrap().1;
        after.lines().take_while(|line| line.starts_with("  ")).collect::<Vec<_>>().join("\n")
    };
    // One line, one case: the URL and what is said of it.
    for (url, expect) in [
        (site.url("/short"), "  robots.txt: status 200, rules\n  may be fetched: robots-no-rule"),
        (
            site.url("/short"),
            "  meta robots 1: max-snippet:60\n  may be shown as a result: title, 60",
        ),
        (site.url("/hidden"), "  X-Robots-Tag line 1, examplebot: noindex\n  nothing may be shown"),
        (site.url("/others"), "  may be shown as a result: title, text"),
        (site.url("/private/cellar"), "must not be fetched: robots-disallow, robots.txt line 2"),
        (site.url("/moved"), "  status 301"),
        (site.url("/nothing"), "  nothing may be shown: not-successful"),
        (free.url("/page"), "  robots.txt: status 404, so nothing is forbidden"),
        (
            down.url_as("localhost", "/page"),
            "status 503, so nothing is fetched\n  left alone until",
        ),
    ] {
        assert!(of(&url).contains(expect), "{url}: \"{expect}\" is not in {}", ended.out);
    }
    assert_eq!(ended.out.matches("robots.txt line 2, group *: disallow: /private").count(), 2);
    assert!(site.paths().iter().all(|path| !path.starts_with("/private")));
    assert!(site.shortest_gap() >= Duration::from_millis(49), "{:?}", site.shortest_gap());
    assert_eq!(down.paths(), ["/robots.txt"]);
    run_example("another_client", &["me@example.org"])
        .badly(1, &["CONTACT", "https://example.org/"]);
    run_example("another_client", &["nobody", "https://example.org/"])
        .badly(1, &["nobody", "CONTACT"]);
}

/// One line, one case: kind, path, and a part of what is said.
#[track_caller]
fn assert_found(ended: &Ended, seed: &str, expect: &[(&str, &str, &str)]) {
    let report = ended.json();
    let findings = report["findings"].as_array().unwrap();
    for (kind, path, what) in expect {
        let url = format!("{}{}", seed.trim_end_matches('/'), path);
        let is_it = |finding: &&Value| finding["kind"] == *kind && finding["url"] == url;
        let said = |finding: &Value| finding["what"].as_str().unwrap().contains(what);
        assert!(findings.iter().filter(is_it).any(said), "{kind} {path}: {what}\n{report:#}");
    }
    assert_eq!(findings.len(), expect.len(), "{report:#}");
}

/// What Googlebot would be refused and would not show of the lab's bakery; the audit's own crawl
/// keeps to the rules for its own name.
#[tokio::test(flavor = "multi_thread")]
async fn site_audit_of_the_bakery() {
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "bakery");
    let ended = run("site_audit", args(&seed, &["100", "--json"])).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let expect = [
        ("refused", "/wholesale/prices", "line 3, group *: disallow: /wholesale/"),
        ("not-indexed", "/secret-menu", "meta robots 1: noindex"),
        ("limited", "/cakes", "at most 60 characters"),
    ];
    assert_found(&ended, &seed, &expect);
    let unseen = format!("{seed}wholesale/prices");
    assert!(ended.json()["not_looked_at"][unseen].is_string());
    assert_no_rule_broken(lab).await;
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "bakery");
    let table = run("site_audit", args(&seed, &[])).await.badly(
        1,
        &[
            "Must not be fetched (1)\n  /wholesale/prices  robots.txt line 3, group *: disallow",
            "(linked on /)",
            "Not looked at, because the rules for our own name forbid it (1)",
            "3 findings",
        ],
    );
    assert!(table.out.starts_with(&format!("{seed} as Googlebot would see it")), "{}", table.out);
}

/// Headers, dates and pages that fail, in the lab's clinic; redirects and another address in its
/// museum, whose robots.txt lies elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn site_audit_of_clinic_and_museum() {
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "clinic");
    let ended = run("site_audit", args(&seed, &["100", "--json"])).await;
    let expect = [
        ("not-indexed", "/campaign", "meta robots 1: unavailable_after"),
        ("not-indexed", "/report.txt", "X-Robots-Tag line 1: noindex"),
        ("limited", "/flu", "until 2099-12-31T23:59:59Z"),
        ("broken", "/appointments", "status 500"),
        ("broken", "/night-pharmacy", "status 404"),
    ];
    assert_found(&ended, &seed, &expect);
    let seed = site_of(&lab, "museum");
    let ended = run("site_audit", args(&seed, &["100", "--json"])).await;
    let expect = [
        ("refused", "/vault/umbrella", "line 3, group *: disallow: /vault"),
        ("canonical-elsewhere", "/collection?sort=age", "/collection"),
        ("redirected", "/lost-umbrella", "where robots.txt line 3, group *: disallow: /vault"),
        ("redirected", "/east-corridor", "/west-corridor"),
        ("redirected", "/west-corridor", "/east-corridor"),
    ];
    assert_no_rule_broken(lab).await;
    assert_found(&ended, &seed, &expect);
}

/// A site whose sitemap lists five pages.
fn listing(is_sound: bool) -> Site {
    let base = Arc::new(OnceLock::new());
    let own = Arc::clone(&base);
    let site = Site::start(move |path| {
        let own: &String = own.get().unwrap();
        let page = |body: &str| (200, "content-type: text/html\r\n".into(), body.to_owned());
        match path {
            "/robots.txt" if is_sound => {
                (200, String::new(), format!("sitemap: {own}/sitemap.txt\n"))
            }
            "/robots.txt" => {
                let rules = "user-agent: googlebot\ndisallow: /closed\n";
                (200, String::new(), format!("{rules}sitemap: {own}/sitemap.txt\n"))
            }
            "/sitemap.txt" => {
                let lines = ["open", "closed", "quiet", "gone", "moved"];
                let lines = lines.map(|page| format!("{own}/{page}\n")).concat();
                (200, "content-type: text/plain\r\n".into(), lines)
            }
            "/quiet" if !is_sound => page("<meta name=googlebot content=noindex>"),
            "/gone" if !is_sound => (410, String::new(), String::new()),
            "/moved" if !is_sound => (301, "location: /open\r\n".into(), String::new()),
            path => page(&format!("<title>{path}</title><a href=/open>{path}</a>")),
        }
    });
    base.set(site.url("")).unwrap();
    site
}

/// A sitemap that contradicts the rules, which are read for Googlebot while the crawl itself may
/// fetch all; and a site about which there is nothing to say.
#[test]
fn site_audit_of_sitemaps() {
    let audited = |site: &Site| {
        let args = args(&site.url("/"), &["100", "--json"]);
        run_example("site_audit", &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let site = listing(false);
    let ended = audited(&site);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let expect = [
        ("refused", "/closed", "line 2, group Googlebot: disallow: /closed"),
        ("not-indexed", "/quiet", "meta googlebot 1: noindex"),
        ("broken", "/gone", "status 410"),
        ("redirected", "/moved", "status 301 to"),
        ("sitemap", "/closed", "refused: robots.txt line 2"),
        ("sitemap", "/quiet", "not-indexed: meta"),
        ("sitemap", "/gone", "broken: status 410 (in http://127.0.0.1:"),
        ("sitemap", "/moved", "redirected: status 301"),
    ];
    assert_found(&ended, &site.url("/"), &expect);
    assert!(site.paths().iter().any(|path| path == "/closed"), "our own name may fetch it");
    let down = Site::start(|_| (503, String::new(), String::new()));
    let expect = [("refused", "/", "robots-unreachable: The site's robots.txt answers")];
    assert_found(&audited(&down), &down.url("/"), &expect);
    let closed = Site::start(|path| match path {
        "/robots.txt" => (200, String::new(), "user-agent: examplebot\ndisallow: /".into()),
        _ => (404, String::new(), String::new()),
    });
    audited(&closed).badly(2, &["could be looked at: robots.txt line 2, group examplebot"]);
    assert_eq!(audited(&listing(true)).well().json()["findings"], json!([]));
    run_example("site_audit", &[]).badly(2, &["SEED [CONTACT]"]);
    run_example("site_audit", &["example"]).badly(2, &["\"example\"", "https://example.org/"]);
}

/// A running example that ends with its test.
struct Service(std::process::Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks the service; status and body.
fn asked(base: &str, path: &str) -> (String, String) {
    let address = base.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

/// The service answers while its crawl of the lab's bakery goes on, and shows no more than it may.
#[tokio::test(flavor = "multi_thread")]
async fn search_service() {
    let lab = Lab::start_for("examplebot").await.unwrap();
    let seed = site_of(&lab, "bakery");
    let dir = tempfile::tempdir().unwrap();
    let mut args = args(&seed, &[]);
    args.extend([dir.path().join("data").to_str().unwrap().to_owned(), "0".into()]);
    let ask_all = move || {
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let mut service = Service(start_example("search_service", &args));
        let mut lines = BufReader::new(service.0.stdout.take().unwrap()).lines();
        let base = lines.next().unwrap().unwrap();
        let found = |words: &str| {
            let (status, body) = asked(&base, &format!("/search?q={words}"));
            assert!(status.contains("200"), "{status}: {body}");
            serde_json::from_str::<Value>(&body).unwrap()
        };
        wait_until("pages are found", || {
            found("sourdough+rye")["total"] == 1 && found("honey+cake")["total"] == 1
        });
        let bread = &found("sourdough+rye")["hits"][0];
        assert_eq!(bread["url"], format!("{seed}bread"));
        assert_eq!(bread["title"], "Our bread");
        // What must not be quoted finds the page, and is not shown (SN-001, SN-006).
        assert!(!found("4711").to_string().contains("staff discount"));
        let cakes = found("honey+cake");
        let snippet = cakes["hits"][0]["snippet"].as_str().unwrap();
        assert!(snippet.chars().count() <= 60, "{snippet}");
        assert_eq!(found("quince")["hits"], json!([]));
        let (status, page) = asked(&base, "/?q=sourdough");
        assert!(status.contains("200") && page.contains(">Our bread</a>"), "{page}");
        assert!(asked(&base, "/?q=%3Cb%3E").1.contains("&lt;b&gt;"));
        assert!(asked(&base, "/else").0.contains("404"));
    };
    tokio::task::spawn_blocking(ask_all).await.unwrap();
    assert_no_rule_broken(lab).await;
}

/// The line that decides, for each URL.
#[test]
fn may_i_fetch() {
    let urls = ["https://example.com/private", "https://example.com/"];
    let mut example = start_example("may_i_fetch", &urls);
    let rules = b"user-agent: *\ndisallow: /private\n";
    example.stdin.take().unwrap().write_all(rules).unwrap();
    let told = end(example).well().out;
    let expect = "may not fetch https://example.com/private: line 2, /private\n\
                  may fetch     https://example.com/: no rule matches\n";
    assert_eq!(told, expect);
}
