//! The conformance vectors: our engine keeps them, each has its clause, each requirement has some,
//! and no single fault goes unnoticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use comity_compliance::KnownCrawler;
use comity_compliance::robots::{Access, RobotsTxt};
use comity_conformance::grade::{
    Engine, ExpectedFailures, Graded, caught_by, faults, grade, html, junit, table,
};
use comity_conformance::vectors::{Case, KINDS, Level, PARITY, vectors};
use serde_json::{Value, json};

use crate::command::program;
use crate::coverage::{Number, numbers, required};
use crate::generated;

/// HOUSE vectors that our engine does not keep, and why.
const HOUSE_NOT_KEPT: &str = "";

fn all() -> &'static [Case] {
    static ALL: OnceLock<Vec<Case>> = OnceLock::new();
    ALL.get_or_init(|| vectors().unwrap_or_else(|error| panic!("{error}")))
}

/// Our own engine's run.
fn ours() -> &'static Graded {
    static OURS: OnceLock<Graded> = OnceLock::new();
    OURS.get_or_init(|| {
        let command = format!("'{}' engine", program().display());
        let mut engine = Engine::new(&command, Duration::from_secs(60));
        grade(all().to_vec(), &mut engine, &ExpectedFailures::read(HOUSE_NOT_KEPT)).unwrap()
    })
}

/// How many vectors show each requirement, those of the parity corpus apart.
pub(crate) fn by_requirement() -> BTreeMap<Number, usize> {
    let mut counts = BTreeMap::new();
    for case in all().iter().filter(|case| case.subject != PARITY) {
        let named: BTreeSet<Number> = std::iter::once(&case.clause)
            .chain(&case.also)
            .flat_map(|name| numbers(name))
            .collect();
        named.into_iter().for_each(|number| *counts.entry(number).or_default() += 1);
    }
    counts
}

#[test]
fn our_engine_keeps_every_vector() {
    let graded = ours();
    assert!(graded.is_good(), "{}", table(graded, ""));
    assert_eq!(graded.tally().skipped, 0, "an engine of ours answers all kinds");
    let expected = graded.results.iter().filter(|result| result.expected_failure);
    let house = expected.map(|result| result.case.level).all(|level| level == Level::House);
    assert!(house, "only HOUSE vectors may be listed");
}

#[test]
fn every_single_fault_is_caught() {
    let faults = faults();
    let names: BTreeSet<_> = faults.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), faults.len(), "a name is there twice");
    let uncaught: Vec<_> =
        faults.iter().filter(|fault| caught_by(fault, ours()).is_empty()).collect();
    assert!(faults.len() >= 60 && uncaught.is_empty(), "{uncaught:?}");
    // Each subject has one that it alone must catch.
    let subjects: BTreeSet<&str> = all().iter().map(|case| case.subject.as_str()).collect();
    for subject in subjects {
        let own = faults.iter().any(|fault| fault.subject == subject);
        assert!(own, "no fault is there for {subject}");
    }
}

/// Every vector names a requirement that exists, and says why.
#[test]
fn every_vector_has_its_clause() {
    let required = required(&generated::read("docs/requirements.md"));
    let mut undecided = Vec::new();
    for case in all() {
        for name in std::iter::once(&case.clause).chain(&case.also) {
            let [number] = numbers(name).into_iter().collect::<Vec<_>>()[..] else {
                panic!("{}: {name} is no number of a requirement", case.id);
            };
            assert!(required.contains(&number), "{}: there is no {name}", case.id);
        }
        assert!(!case.source.is_empty() && !case.why.is_empty(), "{}", case.id);
        // What no document says, a decision of the list does, or the requirement itself.
        let decided = case.also.iter().any(|name| name.starts_with("AM-"));
        let own = ["our", "decision", "draft"].iter().any(|word| case.source.contains(word));
        let is_house = case.level == Level::House;
        if is_house && !decided && !own {
            undecided.push(case.id.as_str());
        }
    }
    assert!(undecided.is_empty(), "HOUSE, by which decision? {undecided:#?}");
}

/// Every requirement of R1 to R15 has a vector, or a reason why nobody outside can judge it.
#[test]
fn every_requirement_has_vectors() {
    let without = generated::read("conformance/vectors/without.toml");
    let without: BTreeMap<String, String> = toml::from_str(&without).unwrap();
    let without: BTreeMap<Number, &String> = without
        .iter()
        .flat_map(|(name, why)| numbers(name).into_iter().map(move |n| (n, why)))
        .collect();
    let shown = by_requirement();
    let mut wrong = Vec::new();
    for number in required(&generated::read("docs/requirements.md")) {
        if number.to_string().starts_with("AM-") {
            continue;
        }
        match (shown.contains_key(&number), without.contains_key(&number)) {
            (false, false) => wrong.push(format!("{number} has no vector and no reason")),
            (true, true) => wrong.push(format!("{number} is listed as without, and has vectors")),
            (true, false) | (false, true) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every example of the documents is asked by a vector.
#[test]
fn every_example_has_vectors() {
    let list = generated::read("conformance/vectors/examples.toml");
    let list: Value = toml::from_str(&list).unwrap();
    let examples = list["example"].as_array().unwrap();
    let mut wrong = Vec::new();
    for example in examples {
        let list = |key: &str| {
            example[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
        };
        let (vectors, holds): (Vec<&str>, Vec<&str>) = (list("vectors"), list("holds"));
        let (source, what) = (&example["source"], &example["what"]);
        let asks = |case: &&Case| vectors.iter().any(|name| case.id.starts_with(name));
        let texts: Vec<&str> = all().iter().filter(asks).flat_map(|c| texts(&c.input)).collect();
        for name in vectors.iter().copied() {
            if !all().iter().any(|case| case.id.starts_with(name)) {
                wrong.push(format!("{source} {what}: no vector begins {name}"));
            }
        }
        for part in holds {
            let small = part.to_ascii_lowercase();
            // An address is a whole value: one is the beginning of many.
            let held = match part.split(' ').next().is_some_and(|word| word.contains("://")) {
                true => texts.contains(&part),
                false => texts.iter().any(|text| text.to_ascii_lowercase().contains(&small)),
            };
            if !held {
                wrong.push(format!("{source} {what}: its vectors do not hold {part:?}"));
            }
        }
    }
    assert!(examples.len() >= 50 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All texts in a question.
fn texts(input: &serde_json::Map<String, Value>) -> Vec<&str> {
    let mut open: Vec<&Value> = input.values().collect();
    let mut texts = Vec::new();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(values) => open.extend(values),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts
}

/// Where Google's own parser would answer otherwise, the document that overrules it is named; where
/// one is named, it does answer otherwise.
#[test]
fn where_googles_parser_is_overruled() {
    let mut differs: BTreeMap<String, bool> = BTreeMap::new();
    let mut unmarked = Vec::new();
    for case in all().iter().filter(|case| case.kind == "robots") {
        let Some(right) = case.expect.get("allowed").and_then(Value::as_bool) else { continue };
        // The rows of a table are marked as one.
        let name: Vec<&str> = case.id.split(['/', '@']).take(3).collect();
        let other = parser_allows(case) != right;
        if other && case.overrules_parser.is_none() {
            unmarked.push(case.id.as_str());
        }
        if case.overrules_parser.is_some() {
            *differs.entry(name.join("/")).or_default() |= other;
        }
    }
    let idle: Vec<_> = differs.iter().filter(|(_, differs)| !**differs).collect();
    assert!(unmarked.is_empty(), "these need overrules_parser: {unmarked:#?}");
    assert!(idle.is_empty(), "the parser agrees with {idle:?}");
    assert!(!differs.is_empty());
}

/// As the parity corpus has it: the URL as it is, all agents at once; of a crawler that Google
/// documents, the first of its tokens that the file names.
fn parser_allows(case: &Case) -> bool {
    let text = |key: &str| case.input.get(key).and_then(Value::as_str);
    let body = match (text("robots"), text("robots_b64")) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, coded) => BASE64.decode(coded.unwrap()).unwrap(),
    };
    let file = RobotsTxt::parse(&body);
    let agents = case.input.get("agents").and_then(Value::as_array);
    let mut agents: Vec<&str> = agents.into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(crawler) = text("crawler") {
        let known = KnownCrawler::named(crawler).unwrap();
        let tokens = std::iter::once(known.token).chain(known.fallbacks.iter().copied());
        let named = tokens.clone().find(|token| !file.named(&[*token]).is_empty());
        agents = vec![named.unwrap_or(known.token)];
    }
    file.google_parser(&agents, text("url").unwrap().as_bytes()).access == Access::Allow
}

#[test]
fn reports_hold_what_came_of_the_run() {
    let graded = ours();
    let count = graded.results.len();
    let xml = junit(graded);
    assert_eq!(xml.matches("<testcase ").count(), count);
    let mut reader = xml.split("<testsuite ").skip(1);
    assert!(reader.all(|suite| suite.contains("failures=\"0\"")));
    let page = html(graded);
    for clause in graded.by_clause().keys() {
        assert!(page.contains(&format!("<b>{clause}</b>")), "{clause}");
    }
    assert!(page.contains(&format!("All {count} vectors are kept")));
    let loads = ["<script", "<img", "<link", "<iframe", "@import", "url("];
    assert!(loads.iter().all(|tag| !page.contains(tag)), "one page, nothing beside it");
    assert!(graded.by_subject().contains_key(PARITY));
}

/// Our engine goes on after a line that is no question, and says what it does not do.
#[test]
fn our_engine_bears_anything() {
    let question = json!({ "kind": "token", "token": "me", "want": ["valid"] });
    let mut engine =
        Engine::new(&format!("'{}' engine", program().display()), Duration::from_secs(60));
    // One line, one case: the question, the field of the answer, and a part of its value.
    for (question, field, part) in [
        (json!({ "kind": "weather" }), "skip", "weather"),
        (json!({}), "skip", "of kind"),
        (json!([]), "skip", "of kind"),
        (json!({ "kind": "robots" }), "error", "url"),
        (json!({ "kind": "robots", "url": "/", "robots": "" }), "error", "relative URL"),
        (
            json!({ "kind": "robots", "url": "http://h/", "crawler": "nobody", "robots": "" }),
            "error",
            "nobody",
        ),
        (json!({ "kind": "robots", "url": "http://h/", "robots_b64": "?" }), "error", "Base64"),
        (json!({ "kind": "life", "events": [{ "t_s": 0 }] }), "error", "neither a status"),
        (json!({ "kind": "scope", "url": "http://h/", "robots_url": "h" }), "error", "no URL"),
        (question, "valid", "true"),
    ] {
        let answer = engine.ask(&question).unwrap().unwrap();
        assert!(answer[field].to_string().contains(part), "{question}: {answer}");
    }
}

/// The format's schema knows every field and every kind.
#[test]
fn the_schema_knows_the_kinds() {
    let schema =
        fs::read_to_string(Path::new(&generated::root()).join("conformance/vectors/schema.json"));
    let schema: Value = serde_json::from_str(&schema.unwrap()).unwrap();
    let kinds: BTreeSet<&str> = schema["$defs"]["kind"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k.as_str().unwrap())
        .collect();
    let known: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(kinds, known);
    let document = generated::read("docs/conformance.md");
    for kind in KINDS {
        assert!(document.contains(&format!("### {}\n", kind.name)), "docs: no {}", kind.name);
        for field in kind.input.iter().chain(kind.answers) {
            assert!(document.contains(&format!("`{field}`")), "docs: no {field} of {}", kind.name);
        }
    }
}
