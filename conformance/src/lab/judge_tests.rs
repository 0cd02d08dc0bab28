//! The judge passes a good ledger and names each kind of fault in a bad one.

use std::collections::BTreeSet;
use std::time::Duration;

use super::content;
use super::expectations::{DEMO_AGENT, Expectations};
use super::judge::judge;
use super::ledger::{LedgerError, LedgerFile, Request};
use super::report::{Report, ViolationKind};
use super::site::Addresses;

const INTERVAL: Duration = Duration::from_secs(1);

/// Time from one request of a good ledger to the next. Longer than the
/// longest crawl-delay, so that sites need not be told apart.
const STEP_US: u64 = 3_000_000;
const SERVICE_US: u64 = 20_000;

fn expectations(agent: &str) -> Expectations {
    let sites = content::sites();
    let mut addresses = Addresses::default();
    for (port, site) in (8_001..).zip(&sites) {
        addresses.add(site.name, port);
    }
    Expectations::new(&sites, &addresses, agent)
}

fn request(expectations: &Expectations, url: &str, seq: u64) -> Request {
    let site = expectations
        .sites
        .iter()
        .find(|site| url.starts_with(&site.base_url))
        .unwrap();
    let at_us = seq * STEP_US;
    Request {
        seq,
        site: site.name.clone(),
        at_us,
        done_us: Some(at_us + SERVICE_US),
        in_flight: 1,
        method: "GET".to_owned(),
        host: site.base_url.trim_start_matches("http://").to_owned(),
        path_and_query: url.strip_prefix(&site.base_url).unwrap().to_owned(),
        user_agent: format!("Mozilla/5.0 (compatible; {}/1.0)", expectations.agent),
        status: 200,
    }
}

/// Every robots.txt with its hops, then every other required URL, one by one.
fn good_ledger(expectations: &Expectations) -> Vec<Request> {
    let mut urls: Vec<&str> = expectations
        .sites
        .iter()
        .flat_map(|site| &site.robots)
        .map(String::as_str)
        .collect();
    for expect in &expectations.must_fetch {
        if !urls.contains(&expect.url.as_str()) {
            urls.push(&expect.url);
        }
    }
    (0..)
        .zip(urls)
        .map(|(seq, url)| request(expectations, url, seq))
        .collect()
}

fn find<'a>(ledger: &'a mut [Request], site: &str, path: &str) -> &'a mut Request {
    ledger
        .iter_mut()
        .find(|request| request.site == site && request.path_and_query == path)
        .unwrap()
}

fn kinds(report: &Report) -> BTreeSet<ViolationKind> {
    report
        .violations
        .iter()
        .map(|violation| violation.kind)
        .collect()
}

fn append(ledger: &mut Vec<Request>, site: &str, path: &str) {
    let seq = ledger.len() as u64;
    let mut request = find(ledger, site, "/robots.txt").clone();
    request.seq = seq;
    request.at_us = seq * STEP_US;
    request.done_us = Some(seq * STEP_US + SERVICE_US);
    request.path_and_query = path.to_owned();
    ledger.push(request);
}

/// Puts a request `gap_us` after the one before it at the same site.
fn crowd(ledger: &mut [Request], site: &str, path: &str, gap_us: u64) {
    let at_us = find(ledger, site, path).at_us;
    let before_us = ledger
        .iter()
        .filter(|request| request.site == site && request.at_us < at_us)
        .map(|request| request.at_us)
        .max()
        .unwrap();
    find(ledger, site, path).at_us = before_us + gap_us;
}

const MUSEUM_ROBOTS: &str = "/shared/museum-robots.txt";

fn move_to(ledger: &mut [Request], site: &str, path: &str, at_us: u64) {
    let request = find(ledger, site, path);
    request.at_us = at_us;
    request.done_us = Some(at_us + SERVICE_US);
}

#[test]
fn a_good_ledger_is_kept() {
    for agent in [DEMO_AGENT, "ComityDemo", "otherbot", "someoneelse"] {
        let expectations = expectations(agent);
        let report = judge(&good_ledger(&expectations), &expectations, INTERVAL);
        assert!(report.kept(), "{agent}: {report}");
        assert_eq!(report.required_fetched, report.required);
        assert!(report.unlisted.is_empty());
    }
}

/// Site, path, and the rule that a request for it would break.
const DISALLOWED: &str = "
town | /office/minutes | a path under a disallow
town | /notices/draft-budget | a link of a nofollow page
town | /old-shop | a link in a comment
town | /ferry-cam | a link in a script
bakery | /kitchen/starter | the disallow of the agent's own group
bakery | /guestbook/sign | a nofollow link
library | /members/loans | a disallow in a redirected robots.txt
museum | /vault/umbrella | a redirect into a disallow
theatre | /calendar/2026/01 | the calendar trap
theatre | /calendar/today/ | more of the calendar than the allowed day
theatre | /plays/hamlet?seat=12 | a disallow with a wildcard
theatre | /backstage/door/door/ | the door trap
theatre | /hamlet | a link that ignores the base element
ferry | /crew/cabins | a path under a disallow
observatory | / | a site whose robots.txt fails
observatory | /telescope | a site whose robots.txt fails
";

#[test]
fn each_ban_is_kept_watch_on() {
    let expectations = expectations(DEMO_AGENT);
    for line in DISALLOWED.trim().lines() {
        let mut cells = line.split(" | ");
        let mut ledger = good_ledger(&expectations);
        append(&mut ledger, cells.next().unwrap(), cells.next().unwrap());
        let report = judge(&ledger, &expectations, INTERVAL);
        assert_eq!(
            kinds(&report),
            BTreeSet::from([ViolationKind::Disallowed]),
            "{line}: {report}"
        );
        assert_eq!(
            report.violations[0].seq,
            Some(ledger.len() as u64 - 1),
            "{line}"
        );
    }
}

type Mutation = fn(&mut Vec<Request>);

#[test]
fn each_fault_is_named() {
    use ViolationKind as Kind;
    let cases: &[(Kind, Mutation)] = &[
        (Kind::Disallowed, |l| append(l, "town", "/office/")),
        (Kind::TooSoon, |l| crowd(l, "clinic", "/flu", 989_000)),
        (Kind::TooSoon, |l| {
            crowd(l, "ferry", "/timetable", 1_500_000)
        }),
        (Kind::Concurrent, |l| {
            find(l, "clinic", "/flu").in_flight = 2
        }),
        (Kind::BeforeRobots, |l| {
            move_to(l, "clinic", "/robots.txt", 900_000_000)
        }),
        (Kind::BeforeRobots, |l| {
            find(l, "ferry", "/robots.txt").done_us = None
        }),
        // The last hop of the museum's robots.txt.
        (Kind::BeforeRobots, |l| {
            find(l, "town", MUSEUM_ROBOTS).done_us = Some(900_000_000)
        }),
        (Kind::Missing, |l| {
            l.retain(|r| r.path_and_query != "/plays/tempest")
        }),
        (Kind::Missing, |l| {
            l.retain(|r| r.path_and_query != "/catalogue")
        }),
        (Kind::Repeated, |l| append(l, "bakery", "/bread")),
        (Kind::Repeated, |l| append(l, "museum", "/east-corridor")),
        (Kind::UnknownAgent, |l| {
            find(l, "clinic", "/flu").user_agent.clear()
        }),
        (Kind::UnknownAgent, |l| {
            find(l, "clinic", "/flu").user_agent = "Googlebot/2.1".into()
        }),
        (Kind::WrongHost, |l| {
            append(l, "clinic", "/flu");
            l.last_mut().unwrap().status = 421;
        }),
        (Kind::WrongMethod, |l| {
            find(l, "clinic", "/flu").method = "POST".into()
        }),
    ];
    let expectations = expectations(DEMO_AGENT);
    for (index, (kind, mutate)) in cases.iter().enumerate() {
        let mut ledger = good_ledger(&expectations);
        mutate(&mut ledger);
        let report = judge(&ledger, &expectations, INTERVAL);
        assert_eq!(
            kinds(&report),
            BTreeSet::from([*kind]),
            "case {index}: {report}"
        );
    }
    let tried: BTreeSet<_> = cases.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        tried,
        ViolationKind::ALL.iter().copied().collect(),
        "a kind has no case"
    );
}

#[test]
fn what_is_allowed_stays_unnamed() {
    let cases: &[(&str, Mutation)] = &[
        ("robots.txt again", |l| append(l, "bakery", "/robots.txt")),
        ("a hop of robots.txt again", |l| {
            append(l, "library", "/files/robots.txt")
        }),
        ("429 again", |l| {
            find(l, "theatre", "/tickets").status = 429;
            append(l, "theatre", "/tickets");
        }),
        ("500 again", |l| {
            find(l, "clinic", "/appointments").status = 500;
            append(l, "clinic", "/appointments");
        }),
        ("the sitemap", |l| append(l, "bakery", "/sitemap.xml")),
        ("a page in the sitemap", |l| {
            append(l, "bakery", "/seasonal")
        }),
        ("HEAD", |l| {
            find(l, "clinic", "/flu").method = "HEAD".to_owned()
        }),
        ("early by the allowance", |l| {
            crowd(l, "clinic", "/flu", 990_000)
        }),
        ("a ledger out of order", |l| l.reverse()),
    ];
    let expectations = expectations(DEMO_AGENT);
    for (name, mutate) in cases {
        let mut ledger = good_ledger(&expectations);
        mutate(&mut ledger);
        let report = judge(&ledger, &expectations, INTERVAL);
        assert!(report.kept(), "{name}: {report}");
    }
}

#[test]
fn another_agent_is_bound_by_the_general_group() {
    let expectations = expectations("someoneelse");
    let mut ledger = good_ledger(&expectations);
    append(&mut ledger, "bakery", "/wholesale/prices");
    let report = judge(&ledger, &expectations, INTERVAL);
    assert_eq!(
        kinds(&report),
        BTreeSet::from([ViolationKind::Disallowed]),
        "{report}"
    );
    assert!(
        ledger
            .iter()
            .any(|request| request.path_and_query == "/kitchen/starter")
    );
}

#[test]
fn an_unlinked_url_is_a_note() {
    let expectations = expectations(DEMO_AGENT);
    let mut ledger = good_ledger(&expectations);
    append(&mut ledger, "clinic", "/favicon.ico");
    let report = judge(&ledger, &expectations, INTERVAL);
    assert!(report.kept(), "{report}");
    assert_eq!(report.unlisted.len(), 1);
}

#[test]
fn an_empty_ledger_misses_everything() {
    let expectations = expectations(DEMO_AGENT);
    let report = judge(&[], &expectations, INTERVAL);
    assert_eq!(report.violations.len() as u64, report.required);
    assert_eq!(kinds(&report), BTreeSet::from([ViolationKind::Missing]));
}

#[test]
fn people_see_ten_of_a_kind_and_the_count() {
    let expectations = expectations(DEMO_AGENT);
    let report = judge(&[], &expectations, INTERVAL);
    let text = report.to_string();
    let listed = text
        .lines()
        .filter(|line| line.starts_with("missing"))
        .count();
    assert_eq!(listed, 11, "{text}");
    assert!(
        text.contains(&format!("and {} more", report.required - 10)),
        "{text}"
    );
}

#[test]
fn text_is_withheld_where_a_rule_says_so() {
    let expectations = expectations(DEMO_AGENT);
    for (site, path, withheld) in [
        ("bakery", "/bread", false),
        ("bakery", "/secret-menu", true),
        ("bakery", "/kitchen/starter", true),
        ("bakery", "/wholesale/prices", false),
        ("clinic", "/campaign", true),
        ("clinic", "/flu", false),
        ("clinic", "/staff", false),
        ("theatre", "/calendar/today", false),
        ("theatre", "/calendar/2026/01", true),
        ("observatory", "/telescope", true),
    ] {
        let base = &expectations
            .sites
            .iter()
            .find(|info| info.name == site)
            .unwrap()
            .base_url;
        assert_eq!(
            expectations.withholds(&format!("{base}{path}")),
            withheld,
            "{site}{path}"
        );
    }
}

#[test]
fn hostile_numbers_do_not_overflow() {
    let mut expectations = expectations(DEMO_AGENT);
    expectations.timing_allowance_ms = u64::MAX;
    for site in &mut expectations.sites {
        site.crawl_delay_ms = Some(u64::MAX);
    }
    let mut ledger = good_ledger(&expectations);
    ledger[0].at_us = u64::MAX;
    ledger[1].site = "nowhere".to_owned();
    let report = judge(&ledger, &expectations, Duration::MAX);
    assert!(
        kinds(&report).contains(&ViolationKind::WrongHost),
        "{report}"
    );
}

#[test]
fn the_longest_site_keeps_the_demo_short() {
    let expectations = expectations(DEMO_AGENT);
    for site in &expectations.sites {
        let requests = expectations
            .must_fetch
            .iter()
            .chain(&expectations.may_fetch)
            .filter(|expect| expect.url.starts_with(&site.base_url))
            .count() as u64;
        let seconds = requests * site.crawl_delay_ms.unwrap_or(1_000) / 1_000;
        assert!(seconds <= 14, "{}: {seconds} s", site.name);
    }
}

#[test]
fn a_ledger_file_keeps_what_it_was_given() {
    let expectations = expectations(DEMO_AGENT);
    let file = LedgerFile {
        requests: good_ledger(&expectations),
        expectations,
    };
    let path = std::env::temp_dir().join(format!("comity-lab-{}.jsonl", std::process::id()));
    file.write(&path).unwrap();
    let read = LedgerFile::read(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.unwrap(), file);
}

#[test]
fn unusable_ledgers_are_told_apart() {
    let expectations = serde_json::to_string(&expectations(DEMO_AGENT)).unwrap();
    let header = |version: u32| {
        format!(
            r#"{{"format":"comity-lab-ledger","version":{version},"expectations":{expectations}}}"#
        )
    };
    let header_is_wrong = |text: &str| {
        matches!(
            LedgerFile::parse(text.as_bytes()),
            Err(LedgerError::Header(_))
        )
    };
    assert!(header_is_wrong(""));
    assert!(header_is_wrong("{}"));
    assert!(header_is_wrong("not json"));
    assert!(header_is_wrong(&header(2)));
    let broken = format!("{}\n\n{{\"seq\":-1}}\n", header(1));
    let line = LedgerFile::parse(broken.as_bytes());
    assert!(
        matches!(line, Err(LedgerError::Line { line: 3, .. })),
        "{line:?}"
    );
    assert!(matches!(
        LedgerFile::parse(&b"\xff\xfe\n"[..]),
        Err(LedgerError::Io(_))
    ));
    assert!(
        LedgerFile::parse(header(1).as_bytes())
            .unwrap()
            .requests
            .is_empty()
    );
}
