//! What went wrong in the field, one case a line of the corpus, through the real engine.
//!
//! A case passes, or it stands in [`DIFFERENCES`]. One that is listed and passes fails, and so does
//! one that is listed and did not run: the list is the whole truth.

mod charset;
mod crawl;
mod links;
mod pages;
mod robots_fetch;
mod robots_text;
mod sitemap;
mod urls;
mod wire;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use base64::Engine as _;
use comity_compliance::{Identity, Policy, Preset, ProductToken, Timestamp};
use serde_json::{Value, json};

use crate::generated;

/// 2026-11-30T12:00:00Z: when the exchanges begin and the pages are read.
const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

/// How many cases the corpus has in each area.
const AREAS: &[(&str, usize)] = &[
    ("charset", 8),
    ("dates", 11),
    ("frontier/resume", 11),
    ("hostile", 15),
    ("links", 15),
    ("meta", 16),
    ("rate-limit", 8),
    ("redirect", 8),
    ("robots-fetch", 19),
    ("robots-parse", 55),
    ("sitemap", 19),
    ("snippet", 9),
    ("tls/dns", 8),
    ("url", 11),
    ("xrobots", 14),
];

/// Cases whose answer is not ours: id, the clause of docs/requirements.md that overrules it, or
/// `open` where the corpus itself leaves room, and why.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("RP-073", "AM-32", "an allow for index.html opens its directory under google only"),
    ("RF-003", "AM-3", "what a redirect brought is never kept for the host it came from"),
    ("RF-018", "AM-11", "after a 503 the next try is five minutes later; Retry-After is a minimum"),
    (
        "FR-006",
        "open",
        "sled refuses a damaged store whole; redb looks at its sums after a crash only",
    ),
    ("UR-002", "open", "the final dot of a host goes, from the address as from its key"),
    ("ME-006", "RM-005", "a tag named robot addresses nobody"),
    ("XR-019", "XR-007", "the draft's syntax is off, and stands in another header"),
];

/// What `expect` may hold that no answer can show: the area, or `any`, the key and why.
const NOT_ASKED: &[(&str, &str, &str)] = &[
    ("any", "crawl", "how often an expired page is asked for again is not decided by the engine"),
    ("any", "index_as_self", "a canonical address is a hint to the index"),
    ("any", "max_memory_mb", "tests/it/hostile.rs measures whole processes"),
    ("any", "max_ms", "speed is measured by the benchmarks"),
    ("any", "order", "any is right"),
    ("any", "panic", "a panic fails the test by itself"),
    ("tls/dns", "time_s_max", "a request that outlasts its limits fails the test by itself"),
    ("hostile", "time_s_max", "a request that outlasts its limits fails the test by itself"),
    ("robots-fetch", "report", "what the file looks like is for a lint to say"),
    ("sitemap", "report", "what the file looks like is for a lint to say"),
    ("any", "sitemaps_open", "either is right"),
    ("any", "urls_maybe", "either is right"),
    ("any", "urls_never_contains", "in words; nothing but the body is ever read"),
];

/// What a case wants and did not get, a line each; empty if it passes.
type Differences = Vec<String>;

#[test]
fn field_cases() {
    let mut ran = BTreeMap::<String, usize>::new();
    let mut wrong = Vec::new();
    let mut listed: BTreeMap<_, _> = DIFFERENCES.iter().map(|(id, ..)| (*id, false)).collect();
    let cases = corpus();
    for case in &cases {
        let differences = judge(case);
        *ran.entry(case.area.clone()).or_default() += 1;
        match (listed.get_mut(&*case.id), differences.is_empty()) {
            (Some(ran), false) => *ran = true,
            (Some(ran), true) => {
                *ran = true;
                wrong.push(format!("{} is listed and passes", case.id));
            }
            (None, true) => {}
            (None, false) => wrong.push(format!("{case}\n    {}", differences.join("\n    "))),
        }
    }
    let not_run = listed.iter().filter(|(_, ran)| !**ran);
    wrong.extend(not_run.map(|(id, _)| format!("{id} is listed and did not run")));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let areas: Vec<_> = ran.iter().map(|(area, count)| (area.as_str(), *count)).collect();
    assert_eq!(areas, AREAS);
}

/// Each difference has its reason: a clause that exists, or a case that the corpus leaves open.
#[test]
fn differences_have_reasons() {
    let requirements = generated::read("docs/requirements.md");
    let cases = corpus();
    for (id, clause, why) in DIFFERENCES {
        let case = cases.iter().find(|case| case.id == *id).unwrap();
        assert!(!why.is_empty(), "{id}");
        match clause.split_once('-') {
            None => assert!(*clause == "open" && case.open, "{id}: {clause}"),
            Some(("AM", row)) => assert!(requirements.contains(&format!("\n| {row} | ")), "{id}"),
            Some(_) => assert!(requirements.contains(&format!("\n- {clause} ")), "{id}"),
        }
    }
}

/// The test can fail: each expectation, turned into another, is found to differ.
#[test]
fn wrong_answers_are_found() {
    for mut case in corpus() {
        let listed = DIFFERENCES.iter().any(|(id, ..)| *id == case.id);
        let expect = case.expect.as_object().unwrap().clone();
        for (key, right) in expect {
            let asked = case.asks(&key);
            let wrong = match key.as_str() {
                // What must be absent: something that is there.
                "snippet_must_not_contain" => vec![json!([""])],
                "must_not_request" => vec![json!([case.input["exchanges"][0]["url"]])],
                "allowed_at" => questions_turned(&right),
                "urls_never" => vec![case.expect["urls"].clone()],
                // A bound: one that is too low.
                _ if key.ends_with("_max") && right.is_number() => vec![json!(0)],
                "small_done_within_requests" => vec![json!(0)],
                _ => others(&right),
            };
            for wrong in wrong {
                case.expect = json!({ &key: wrong });
                let missed = asked && !listed && judge(&case).is_empty();
                assert!(!missed, "{}: {key} may as well be {}", case.id, case.expect);
            }
        }
    }
}

/// One question with the other answer, for each that has one.
fn questions_turned(questions: &Value) -> Vec<Value> {
    let turned = questions.as_array().unwrap().iter().filter_map(|question| {
        let mut turned = question.clone();
        turned["allowed"] = json!(!question["allowed"].as_bool()?);
        Some(json!([turned]))
    });
    turned.collect()
}

/// Other values in place of a right one.
fn others(right: &Value) -> Vec<Value> {
    match right {
        Value::Null => vec![json!(1)],
        Value::Bool(right) => vec![json!(!right)],
        Value::Number(right) => vec![json!(right.as_f64().unwrap() + 1e6)],
        Value::String(open) if open == "open" => Vec::new(),
        Value::String(right) => vec![json!(format!("{right} or so"))],
        Value::Array(right) => vec![json!([&right[..], &[json!("more")]].concat())],
        Value::Object(right) => {
            let pairs = right.iter().flat_map(|(key, right)| {
                others(right).into_iter().map(move |other| json!({ key: other }))
            });
            pairs.collect()
        }
    }
}

/// One line of the corpus.
struct Case {
    id: String,
    area: String,
    open: bool,
    is_trap: bool,
    policy: Policy,
    agent: String,
    input: Value,
    expect: Value,
    right: String,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let open = if self.open { " (open)" } else { "" };
        write!(f, "{}{open}: {}", self.id, self.right)
    }
}

impl Case {
    fn token(&self) -> ProductToken {
        ProductToken::new(&self.agent).unwrap()
    }

    /// Whether an answer is wanted to this key of `expect`.
    fn asks(&self, key: &str) -> bool {
        let here = |area: &str| area == "any" || area == self.area;
        !NOT_ASKED.iter().any(|(area, not_asked, _)| here(area) && *not_asked == key)
    }

    fn identity(&self) -> Identity {
        Identity::new(self.token())
    }
}

fn corpus() -> Vec<Case> {
    generated::read("conformance/corpus/field-cases.jsonl").lines().map(case).collect()
}

fn case(line: &str) -> Case {
    let json: Value = serde_json::from_str(line).unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let preset = json["policy"].as_str().unwrap_or("courteous").parse::<Preset>().unwrap();
    Case {
        id: word(&json["id"]),
        area: word(&json["area"]),
        open: json["open"] == true,
        is_trap: json["kind"] == "trap",
        policy: Policy::new(preset),
        agent: json["input"]["agent"].as_str().unwrap_or("ExampleBot").to_owned(),
        input: json["input"].clone(),
        expect: json["expect"].clone(),
        right: word(&json["right"]),
    }
}

fn judge(case: &Case) -> Differences {
    let check = match case.area.as_str() {
        "robots-parse" => robots_text::judge,
        "robots-fetch" => robots_fetch::judge,
        "sitemap" => sitemap::judge,
        "links" => links::judge,
        "url" => urls::judge,
        "charset" => charset::judge,
        "redirect" | "rate-limit" | "frontier/resume" => crawl::judge,
        "hostile" if case.is_trap => crawl::judge,
        "tls/dns" | "hostile" => wire::judge,
        "meta" | "xrobots" | "snippet" | "dates" => pages::judge,
        area => panic!("{}: no such area: {area}", case.id),
    };
    let answers = check(case);
    let mut differences = Differences::new();
    for (key, expect) in case.expect.as_object().unwrap() {
        if !case.asks(key) {
            continue;
        }
        let answer = answers.get(key).unwrap_or_else(|| panic!("{}: who knows {key}?", case.id));
        if !agree(expect, answer) {
            differences.push(format!("{key}: {answer}, not {expect}"));
        }
    }
    differences
}

/// What the engine answers, by the keys of `expect`.
type Answers = serde_json::Map<String, Value>;

/// Answers that take a network, and do not depend on what is expected: each case is asked once.
fn once(case: &Case, ask: impl FnOnce(&Case) -> Answers) -> Answers {
    static KNOWN: LazyLock<Mutex<BTreeMap<String, Arc<OnceLock<Answers>>>>> =
        LazyLock::new(Mutex::default);
    let cell = Arc::clone(KNOWN.lock().unwrap().entry(case.id.clone()).or_default());
    cell.get_or_init(|| ask(case)).clone()
}

fn told<const N: usize>(pairs: [(&str, Value); N]) -> Answers {
    pairs.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// The corpus' words, if what happened is one of the outcomes that they mean here.
fn in_words(words: &str, meant: &[&str], happened: &str) -> Value {
    json!(if meant.contains(&happened) { words } else { happened })
}

/// Whether an answer is the expected one; `"open"` takes any.
fn agree(expect: &Value, answer: &Value) -> bool {
    match (expect, answer) {
        (Value::String(word), _) if word == "open" => true,
        (Value::Object(expect), Value::Object(answer)) => {
            expect.iter().all(|(key, expect)| answer.get(key).is_some_and(|a| agree(expect, a)))
        }
        (Value::Array(expect), Value::Array(answer)) => {
            expect.len() == answer.len() && expect.iter().zip(answer).all(|(e, a)| agree(e, a))
        }
        _ => expect == answer,
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().map(|item| item.as_str().unwrap())
}

fn bytes(base64: &Value) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(base64.as_str().unwrap()).unwrap()
}

/// The header lines of this name, in order.
fn header_lines<'a>(headers: &'a Value, name: &'a str) -> impl Iterator<Item = Vec<u8>> + 'a {
    let lines = headers.as_array().into_iter().flatten();
    let named = move |line: &&Value| line[0].as_str().unwrap().eq_ignore_ascii_case(name);
    lines.filter(named).map(|line| match line[1].as_str() {
        Some(text) => text.into(),
        None => bytes(&line[1]["b64"]),
    })
}
