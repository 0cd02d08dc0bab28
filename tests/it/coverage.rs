//! Which tests show which requirement: docs/coverage.md, made from the numbers that the tests
//! themselves name in their documentation, names and tables.
//!
//! A number counts for a test if it stands in the test's documentation, name or body, or in a
//! constant that the test uses. Ranges such as `RT-085..091` and `AM-1 to AM-4` count whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::generated;

/// The chapters of docs/requirements.md that the engine owes.
const CHAPTERS: &[&str] = &[
    "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
    "R16",
];

/// Families of numbers.
const FAMILIES: &[&str] = &["RT", "RM", "XR", "SN", "HT", "RL", "LK", "SM", "UA", "WB", "AM"];

/// Requirements without a test, and why. One that has a test must not stand here.
const WITHOUT: &[(&str, &str)] = &[
    ("SN-004", "nothing is rendered; AM-58 shows the union of two readings"),
    ("LK-008", "nothing is rendered: what the initial HTML says is all that is read"),
    ("WB-001", "a draft: optional, off, not built"),
    ("WB-002", "a draft: optional, off, not built"),
    ("AM-67", "no verdict on soft 404s is made"),
];

/// Where tests live, below the workspace.
const ROOMS: &[&str] = &["compliance", "conformance", "crawler", "examples", "storage", "tests"];

/// Files whose numbers are not references: this one, the field cases, whose ids look alike, and
/// what grades by the vectors, which are counted by themselves.
const NOT_READ: &[&str] = &[
    "tests/it/coverage.rs",
    "tests/it/field_cases/",
    "tests/it/conformance.rs",
    "tests/it/runner.rs",
    "conformance/src/vectors",
    "conformance/src/grade",
];

#[test]
fn coverage() {
    let required = required(&generated::read("docs/requirements.md"));
    let mut tests: BTreeMap<Number, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        for test in tests_of(&path, &text) {
            let name = format!("`{path}` {}", test.name);
            for number in numbers(&test.text) {
                tests.entry(number).or_default().insert(name.clone());
            }
        }
    }
    let without: BTreeMap<_, _> =
        WITHOUT.iter().map(|(name, why)| (*numbers(name).first().unwrap(), *why)).collect();
    let mut wrong = Vec::new();
    for number in &required {
        match (tests.contains_key(number), without.contains_key(number)) {
            (false, false) => wrong.push(format!("{number} has no test")),
            (true, true) => wrong.push(format!("{number} is listed as without, and has a test")),
            (true, false) | (false, true) => {}
        }
    }
    let unknown = without.keys().filter(|number| !required.contains(number));
    wrong.extend(unknown.map(|number| format!("{number} is listed and no requirement")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let vectors = crate::conformance::by_requirement();
    generated::assert_current("docs/coverage.md", &page(&required, &tests, &without, &vectors));
}

fn page(
    required: &BTreeSet<Number>,
    tests: &BTreeMap<Number, BTreeSet<String>>,
    without: &BTreeMap<Number, &str>,
    vectors: &BTreeMap<Number, usize>,
) -> String {
    let mut page = format!(
        "# Which tests show which requirement\n\n{}\nThe numbers are those of \
         [requirements.md](requirements.md). The field cases come on top of these\n\
         ([corpus](../conformance/corpus/field-cases.md)), and so does the parity corpus. The vectors \
         are\nthose of [conformance/vectors](../conformance/vectors/README.md), each under every policy \
         that it is\nasked under.\n\n\
         {} requirements, {} with tests.\n\n| requirement | vectors | tests |\n|---|---|---|\n",
        generated::NOTE,
        required.len(),
        required.len() - without.len(),
    );
    for number in required {
        let shown = tests.get(number).into_iter().flatten().cloned().collect::<Vec<_>>();
        let shown = match without.get(number) {
            Some(why) => format!("none: {why}"),
            None => shown.join("<br>"),
        };
        let vectors = vectors.get(number).map_or(String::new(), usize::to_string);
        page.push_str(&format!("| {number} | {vectors} | {shown} |\n"));
    }
    page
}

/// A requirement's number.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Number {
    /// Which of [`FAMILIES`].
    family: usize,
    number: u16,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match FAMILIES[self.family] {
            "AM" => write!(f, "AM-{}", self.number),
            family => write!(f, "{family}-{:03}", self.number),
        }
    }
}

/// The numbers that lines of the chapters define.
pub(crate) fn required(text: &str) -> BTreeSet<Number> {
    let mut chapter = "";
    let mut required = BTreeSet::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            chapter = title.split(' ').next().unwrap();
        }
        if !CHAPTERS.contains(&chapter) {
            continue;
        }
        let defines = line.strip_prefix("- ").or_else(|| line.strip_prefix("| "));
        let word = defines.and_then(|rest| rest.split([' ', ':']).next()).unwrap_or_default();
        let row = word.parse::<u16>().ok().filter(|_| chapter == "R16");
        let name = row.map_or_else(|| word.to_owned(), |row| format!("AM-{row}"));
        required.extend(numbers(&name));
    }
    required
}

/// Every number that a text names, in capitals or as a part of a name: `RT-025`, `rt_025`.
pub(crate) fn numbers(text: &str) -> BTreeSet<Number> {
    let mut found = BTreeSet::new();
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if !last.is_ascii_alphanumeric() {
            for (family, name) in FAMILIES.iter().enumerate() {
                let Some((first, rest)) = number(&text[at..], name) else { continue };
                let end = range_end(rest, name).unwrap_or(first);
                found.extend((first..=end).map(|number| Number { family, number }));
            }
        }
        last = c;
    }
    found
}

/// The number at the start of a text, and what follows it.
fn number<'a>(text: &'a str, family: &str) -> Option<(u16, &'a str)> {
    let rest = match text.strip_prefix(family) {
        Some(rest) => rest.strip_prefix('-')?,
        None => text.strip_prefix(&family.to_ascii_lowercase())?.strip_prefix('_')?,
    };
    digits(rest)
}

fn digits(text: &str) -> Option<(u16, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The end of a range whose start was just read.
fn range_end(rest: &str, family: &str) -> Option<u16> {
    let rest = rest.trim_start();
    let dash = ["..", "…", "–"].iter().find_map(|dash| rest.strip_prefix(dash));
    let end = match dash {
        Some(rest) => number(rest.trim_start(), family).or_else(|| digits(rest.trim_start())),
        None => number(rest.strip_prefix("to ")?.trim_start(), family),
    };
    end.map(|(number, _)| number)
}

/// One test, with all the text that may name what it shows.
struct Test {
    name: String,
    text: String,
}

/// The tests of a file: formatted code, so an item ends where its indentation comes back.
fn tests_of(path: &str, text: &str) -> Vec<Test> {
    let lines: Vec<&str> = test_code(path, text).lines().collect();
    let starts = |line: &str, words: &[&str]| {
        let line = line.trim_start();
        words.iter().any(|word| line.starts_with(word))
    };
    let (mut tests, mut tables) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        if starts(line, &["#[test]", "#[tokio::test"]) {
            let head = |line: &&&str| !starts(line, &["fn ", "async fn "]);
            let head = lines[at..].iter().take_while(head).count();
            let Some(item) = lines.get(at + head) else { continue };
            tests.push(item_at(&lines, at, at + head, name_of(item, "fn ")));
        } else if starts(line, &["const ", "static ", "pub(crate) const ", "pub(super) const "])
            && !line.contains(" fn ")
        {
            let word = if line.contains("static ") { "static " } else { "const " };
            tables.push(item_at(&lines, at, at, name_of(line, word)));
        }
    }
    for test in &mut tests {
        for table in tables.iter().filter(|table| !table.name.is_empty()) {
            if test.text.split(|c: char| !is_name(c)).any(|word| word == table.name) {
                test.text.push_str(&table.text);
            }
        }
    }
    tests
}

/// Of a file of the product, only the tests at its end.
fn test_code<'a>(path: &str, text: &'a str) -> &'a str {
    let folder = path.starts_with("tests/") || path.contains("/tests/");
    if folder || path.ends_with("tests.rs") || path.ends_with("/contract.rs") {
        return text;
    }
    text.find("\nmod tests {\n").map_or("", |at| &text[at..])
}

fn item_at(lines: &[&str], attribute: usize, item: usize, name: String) -> Test {
    let above = lines[..attribute].iter().rev();
    let above = above.take_while(|line| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("#[")
    });
    let indent = |line: &str| line.len() - line.trim_start().len();
    let depth = indent(lines[item]);
    let ends = |line: &&str| indent(line) == depth && line.ends_with(['}', ';']);
    let length = lines[item..].iter().position(ends).map_or(1, |last| last + 1);
    let text = &lines[attribute - above.count()..item + length];
    Test { name, text: text.join("\n") }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name_of(line: &str, word: &str) -> String {
    let rest = line.split_once(word).map_or("", |(_, rest)| rest);
    rest.chars().take_while(|c| is_name(*c)).collect()
}

/// Every Rust file of the workspace by its path, except those that are not read.
fn sources() -> Vec<(String, String)> {
    let root = generated::root();
    let mut folders: Vec<PathBuf> = ROOMS.iter().map(|room| root.join(room)).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push((below(&root, &path), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    sources.retain(|(path, _)| !NOT_READ.iter().any(|not_read| path.starts_with(not_read)));
    sources.sort();
    sources
}

fn below(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap().iter();
    parts.map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("/")
}

#[test]
fn numbers_are_found() {
    let cases = [
        ("RT-025, AM-1: x", "RT-025 AM-1"),
        ("RT-085..091", "RT-085 RT-086 RT-087 RT-088 RT-089 RT-090 RT-091"),
        ("RT-007…009", "RT-007 RT-008 RT-009"),
        ("AM-1 to AM-3", "AM-1 AM-2 AM-3"),
        ("RT-020 to a file", "RT-020"),
        ("fn rt_025_stops", "RT-025"),
        ("START-025 XRT-1 RT-", ""),
    ];
    for (text, expect) in cases {
        let found: Vec<_> = numbers(text).iter().map(ToString::to_string).collect();
        assert_eq!(found.join(" "), expect, "{text}");
    }
}

#[test]
fn tests_are_found() {
    let code = "/// RT-001\nfn product() {}\n\n#[cfg(test)]\nmod tests {\n    /// RT-002\n    \
        const CASES: &[u8] = &[\n        1, // RT-003\n    ];\n\n    /// RT-004\n    #[test]\n    \
        fn one() {\n        assert!(CASES.is_empty());\n    }\n\n    #[test]\n    \
        fn rt_005_two() {\n        let _ = \"RT-006\";\n    }\n}\n";
    let found = tests_of("a/src/b.rs", code);
    let shown = |test: &Test| {
        let numbers = numbers(&test.text);
        format!("{}: {}", test.name, numbers.iter().map(|n| format!("{n} ")).collect::<String>())
    };
    let shown: Vec<_> = found.iter().map(shown).collect();
    assert_eq!(shown, ["one: RT-002 RT-003 RT-004 ", "rt_005_two: RT-005 RT-006 "]);
}
