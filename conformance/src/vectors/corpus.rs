//! The parity corpus as vectors: robots.txt files with the answers of Google's own parser.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Case, Level, PARITY, Policy, VectorError};

const CORPUS: &str = include_str!("../../corpus/robots-parity.jsonl");

/// A line of the corpus.
#[derive(Deserialize)]
struct Line {
    id: String,
    family: String,
    robots_b64: String,
    agents: Vec<String>,
    url: String,
    allowed: bool,
}

pub(super) fn cases() -> Result<Vec<Case>, VectorError> {
    let wrong = |fault: String| VectorError { file: "../corpus/robots-parity.jsonl".into(), fault };
    let case = |line: &str| {
        let line = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        case(line).map_err(|error| wrong(error.to_string()))
    };
    CORPUS.lines().map(case).collect()
}

/// The requirement that a family of the corpus is about.
fn clause(family: &str) -> &'static str {
    match family {
        "eol-mixed" | "eol-exotic" | "eol-final" => "RT-040",
        "bom" | "html-page" => "RT-041",
        "other-charset" => "RT-042",
        "comment" | "key-case" | "separator" => "RT-043",
        "unknown-field" | "sitemap-line" => "RT-044",
        "empty-value" => "RT-045",
        "no-slash" => "RT-046",
        "ua-case" => "RT-047",
        "path-case" => "RT-048",
        "key-typo" | "key-prefix" | "key-space" | "missing-colon" => "RT-051",
        "long-line" | "nul-byte" => "RT-052",
        "group-head" | "group-end" | "star-in-head" => "RT-060",
        "ua-token" | "ua-related" | "caller-agent" => "RT-063",
        "group-merge" | "multi-agent" => "RT-064",
        "ua-global" | "orphan-rule" => "RT-067",
        "specific-over-global" => "RT-068",
        "fragment" | "query" | "url-form" | "unnormalised-path" => "RT-080",
        "utf8-pattern" => "RT-081",
        "star" | "dollar" => "RT-082",
        "percent-case" | "percent-decode" | "percent-malformed" | "space-in-value" => "RT-084",
        "robots-url" => "RT-016",
        _ => "RT-083",
    }
}

fn case(line: Line) -> Result<Case, base64::DecodeError> {
    let octets = BASE64.decode(&line.robots_b64)?;
    let mut input = Map::new();
    match String::from_utf8(octets) {
        Ok(text) => input.insert("robots".into(), text.into()),
        Err(_) => input.insert("robots_b64".into(), line.robots_b64.into()),
    };
    input.insert("agents".into(), line.agents.into());
    input.insert("url".into(), line.url.into());
    let clause = clause(&line.family);
    Ok(Case {
        id: format!("{PARITY}/{clause}/{}", line.id),
        subject: PARITY.into(),
        clause: clause.into(),
        also: Vec::new(),
        source: "google/robotstxt at 22b355f".into(),
        level: Level::Must,
        policy: Some(Policy::Google),
        kind: "parser".into(),
        input,
        expect: Map::from_iter([("allowed".into(), Value::from(line.allowed))]),
        why: format!("Google's own parser answers so (family {}).", line.family),
        overrules_parser: None,
    })
}
