//! The text of a robots.txt: read, asked under every preset, and by Google's parser's rules.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use comity_compliance::robots::{Access, RobotsTxt, cut};
use comity_compliance::{Preset, ProductToken};
use serde_json::Value;
use url::Url;

use super::driver::{Chance, Matter, Run};

const CORPUS: &str = include_str!("../../../conformance/corpus/robots-parity.jsonl");

const WORDS: &[&str] = &[
    "\n",
    "\r",
    "\r\n",
    "#",
    ":",
    " ",
    "\t",
    "\0",
    "*",
    "$",
    "**",
    "*$",
    "$$",
    "/",
    "?",
    "%",
    "%2",
    "%2F",
    "%2f",
    "%61",
    "%2A",
    "%24",
    "%C3%A9",
    "%00",
    "\u{e9}",
    "\u{feff}",
    "'",
    "\"",
    "{",
    "index.html",
    "/index.htm",
    "user-agent:",
    "\nuser-agent: *\n",
    "\nuser-agent: bot\n",
    "\nuser-agent: other\n",
    "\nUseragent: * x\n",
    "\nallow: /",
    "\ndisallow: /",
    "\nDisallow:",
    "\nallow:\n",
    "\ndisalow /",
    "\nsitemap: https://a/",
    "\ncrawl-delay: 1.5\n",
    "\ndisallow: *",
    "\ndisallow: /*a*b$",
    "a",
    "b",
    "bot",
    "*a*a*a*a*a*a*a*ab",
];

/// Every eighth file of the corpus, so that the samples stay few and differ.
fn samples() -> Vec<Vec<u8>> {
    let decode = |line| {
        let case: Value = serde_json::from_str(line).expect("a case");
        STANDARD.decode(case["robots_b64"].as_str().expect("a file")).expect("base64")
    };
    let files = CORPUS.lines().step_by(8).map(decode).filter(|file| file.len() < 2000);
    files.chain([Vec::new()]).collect()
}

/// A URL that may well meet a rule: pieces of the file behind a host.
fn url(input: &[u8], chance: &mut Chance) -> Url {
    let mut text = String::from("https://example.com");
    for _ in 0..1 + chance.below(3) {
        let at = input.len() * chance.below(1024) / 1024;
        let piece = &input[at..(at + chance.below(24)).min(input.len())];
        let line = piece.split(|octet| matches!(octet, b'\n' | b'\r')).next_back();
        let value = line.unwrap_or_default().trim_ascii();
        text.push_str(if chance.one_in(3) { "/" } else { "" });
        text.push_str(&String::from_utf8_lossy(value));
    }
    Url::parse(&text).unwrap_or_else(|_| Url::parse("https://example.com/a").expect("a URL"))
}

/// Courteous never allows what google forbids; google is the parser, a robots.txt apart; what is
/// told of a rule is in the file; and the compiled form is bounded by the text.
fn judge(input: &[u8], chance: &mut Chance) {
    let part = cut(input, input.len() * (1 + chance.below(8)) / 8);
    assert!(input.starts_with(part));
    let file = RobotsTxt::parse(part);
    assert!(file.heap_bytes() <= 3 * part.len() + 64, "{} of {}", file.heap_bytes(), part.len());
    let lines = 1 + part.iter().filter(|octet| matches!(octet, b'\n' | b'\r')).count();
    let token = |name| ProductToken::new(name).expect("a token");
    let tokens = match chance.below(3) {
        0 => vec![token("bot"), token("other")],
        _ => vec![token("bot")],
    };
    let url = url(part, chance);
    let ask = |preset| file.verdict(preset, &tokens, &url);
    for verdict in Preset::ALL.iter().map(|preset| ask(*preset)) {
        let rule = verdict.rule.as_ref();
        assert!(rule.is_none_or(|rule| (1..=lines).contains(&(rule.line as usize))));
        assert!(verdict.access == Access::Allow || rule.is_some());
    }
    let google = ask(Preset::Google).access;
    let courteous = ask(Preset::Courteous).access;
    assert!(google == Access::Allow || courteous == Access::Disallow, "{url}");
    let parser = file.google_parser(&["bot"], url.as_str().as_bytes());
    let is_robots_txt = url.path() == "/robots.txt" && url.query().is_none();
    assert!(tokens.len() > 1 || is_robots_txt || parser.access == google, "{url}");
    let _ = file.google_parser(&["bot", "", "*", "Other"], input);
    let _ = file.crawl_delay(&tokens);
    assert!(file.sitemaps().all(|(line, _)| line as usize <= lines));
}

#[test]
fn robots() {
    Run::of(1500).go("robots", &Matter { samples: samples(), words: WORDS }, judge);
}
