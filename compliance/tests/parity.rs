//! The engine against Google's parser (a corpus of its answers), and against its own promises.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use comity_compliance::robots::{Access, RobotsTxt, cut};
use comity_compliance::{Preset, ProductToken};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;
use url::Url;

const CORPUS: &str = include_str!("../../conformance/corpus/robots-parity.jsonl");
const CASES: usize = 4003;

#[derive(Deserialize)]
struct Case {
    id: String,
    robots_b64: String,
    agents: Vec<String>,
    url: String,
    allowed: bool,
    line: u32,
}

impl Case {
    fn robots(&self) -> RobotsTxt {
        RobotsTxt::parse(&STANDARD.decode(&self.robots_b64).expect("base64"))
    }
}

fn corpus() -> Vec<Case> {
    let case = |line| serde_json::from_str(line).expect("a case");
    CORPUS.lines().map(case).collect()
}

#[test]
fn same_verdict_and_line_as_googles_parser() {
    let cases = corpus();
    assert_eq!(cases.len(), CASES);
    let fails = |case: &&Case| {
        let agents: Vec<&str> = case.agents.iter().map(String::as_str).collect();
        let found = case.robots().google_parser(&agents, case.url.as_bytes());
        (found.access == Access::Allow, found.line.unwrap_or(0)) != (case.allowed, case.line)
    };
    let failing: Vec<&str> = cases.iter().filter(fails).map(|case| case.id.as_str()).collect();
    assert!(failing.is_empty(), "{} of {CASES}: {failing:?}", failing.len());
}

/// Courteous never allows what google forbids, and google is the parser but for a robots.txt.
fn keeps_promises(file: &RobotsTxt, tokens: &[ProductToken], url: &Url) -> bool {
    let access = |preset| file.verdict(preset, tokens, url).access;
    let google = access(Preset::Google);
    let own = tokens.first().map(ProductToken::as_str);
    let parser = file.google_parser(own.as_slice(), url.as_str().as_bytes());
    let is_robots_txt = url.path() == "/robots.txt" && url.query().is_none();
    (google == Access::Allow || access(Preset::Courteous) == Access::Disallow)
        && (tokens.len() != 1 || is_robots_txt || parser.access == google)
}

#[test]
fn presets_on_the_corpus() {
    let mut judged = 0;
    for case in corpus() {
        let tokens: Result<Vec<_>, _> = case.agents.iter().map(|a| ProductToken::new(a)).collect();
        if let (Ok(tokens), Ok(url)) = (tokens, Url::parse(&case.url)) {
            assert!(keeps_promises(&case.robots(), &tokens, &url), "{}", case.id);
            judged += 1;
        }
    }
    assert!(judged > 3000, "only {judged} cases have tokens and a URL");
}

/// Lines, keys and pieces of paths, so that random files and URLs meet.
const LINES: &[&str] = &[
    "user-agent: bot\n",
    "user-agent: *\n",
    "useragent: * x\n",
    "user-agent: other\n",
    "sitemap: https://example.com/\n",
    "crawl-delay: 1\n",
    "\r",
    "allow: /a/index.html\n",
];
const KEYS: &[&str] = &["allow:", "disallow:", "Disalow ", "disallow:/", "allow:/"];
const PIECES: &[&str] =
    &["a", "b", "/", "*", "$", "?", "%61", "%2f", "%2A", "%24", "\u{e9}", "%c3%a9", " ", "'", "{"];

fn paths() -> impl Strategy<Value = String> {
    vec(proptest::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

fn files() -> impl Strategy<Value = String> {
    let key = proptest::sample::select(KEYS);
    let rule = (key, paths()).prop_map(|(key, path)| format!("{key}{path}\n"));
    let line = proptest::sample::select(LINES).prop_map(String::from);
    vec(prop_oneof![3 => rule, 1 => line], 0..24).prop_map(|lines| lines.concat())
}

fn bot() -> ProductToken {
    ProductToken::new("bot").expect("a token")
}

/// Whether a pattern matches, written the slow and plain way.
fn plain_match(pattern: &[u8], path: &[u8]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((b'$', [])) => path.is_empty(),
        Some((b'*', rest)) => (0..=path.len()).any(|at| plain_match(rest, &path[at..])),
        Some((octet, rest)) => path.first() == Some(octet) && plain_match(rest, &path[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1024,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_octets_are_a_file(body in vec(any::<u8>(), 0..2000), max in 0usize..2000) {
        let part = cut(&body, max);
        prop_assert!(part.len() <= max && body.starts_with(part));
        for text in [&body[..], part] {
            let file = RobotsTxt::parse(text);
            let _ = file.google_parser(&["bot", ""], text);
            let _ = file.crawl_delay(&[bot()]);
            let _ = file.sitemaps().count();
        }
    }

    #[test]
    fn presets_on_random_files(file in files(), path in paths(), two in any::<bool>()) {
        let mut tokens = vec![bot()];
        if two {
            tokens.push(ProductToken::new("other").unwrap());
        }
        let url = Url::parse(&format!("https://example.com/{path}")).unwrap();
        prop_assert!(keeps_promises(&RobotsTxt::parse(file.as_bytes()), &tokens, &url));
    }

    #[test]
    fn many_rules_as_one_by_one(
        rules in vec((any::<bool>(), "/?[ab/*]{0,6}[$]?"), 0..60),
        path in "/[ab/]{0,8}",
    ) {
        let mut text = String::from("user-agent: bot\n");
        let mut best = (0, true, None);
        for (line, (allow, pattern)) in (2u32..).zip(&rules) {
            let key = if *allow { "allow" } else { "disallow" };
            writeln!(text, "{key}: {pattern}").unwrap();
            let better = best.2.is_none() || (pattern.len(), *allow) > (best.0, best.1);
            if better && plain_match(pattern.as_bytes(), path.as_bytes()) {
                best = (pattern.len(), *allow, Some(line));
            }
        }
        let url = format!("http://example.com{path}");
        let found = RobotsTxt::parse(text.as_bytes()).google_parser(&["bot"], url.as_bytes());
        prop_assert_eq!(found.line, best.2);
        prop_assert_eq!(found.access == Access::Allow, best.1 || best.0 == 0);
    }

    #[test]
    fn crawl_delays_are_finite(value in "[-+]?[0-9.eEinfa]{0,40}") {
        let text = format!("user-agent: *\ncrawl-delay: {value}\n");
        let delay = RobotsTxt::parse(text.as_bytes()).crawl_delay(&[bot()]);
        prop_assert!(delay.is_none_or(|delay| delay.as_secs() < 100 * 86_400));
    }
}

/// Each rule reads the path once, however many stars it has (RT-094): trying again would take years.
#[test]
fn hostile_stars() {
    let mut text = String::from("user-agent: *\n");
    for at in 0..5187 {
        writeln!(text, "disallow: /{}b{at}$", "*a".repeat(40)).unwrap();
    }
    let file = RobotsTxt::parse(text.as_bytes());
    let url = Url::parse(&format!("https://example.com/{}b0c", "a".repeat(2000))).unwrap();
    for preset in Preset::ALL {
        assert_eq!(file.verdict(*preset, &[bot()], &url).access, Access::Allow);
    }
}
