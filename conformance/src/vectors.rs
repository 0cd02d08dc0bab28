//! Vectors: what is right, as data. Each is a question with exactly one right answer, the clause
//! that says so, and why.
//!
//! They are written in tables, one file a clause (`vectors/README.md` documents the format), and
//! asked one by one as [`Case`]s in the words of the protocol (`docs/conformance.md`).

mod corpus;
mod file;
mod protocol;
mod short;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::file::File;
pub use self::protocol::{KINDS, Kind};

/// The files of the vectors: path below `vectors/`, and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

/// The subject that holds the cases with Google's own parser's answers.
pub const PARITY: &str = "parity";

/// One question with its one right answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// `subject/clause/name`, with `/number` in a table and `@policy` where one decides.
    pub id: String,
    /// What it is about: the name of its folder.
    pub subject: String,
    /// The number of the requirement that it shows.
    pub clause: String,
    /// Further requirements and decisions that it shows.
    pub also: Vec<String>,
    /// Document and section that say so.
    pub source: String,
    /// How binding it is.
    pub level: Level,
    /// Under whose reading it is right; none if it is right whoever reads.
    pub policy: Option<Policy>,
    /// What is asked: one of [`KINDS`].
    pub kind: String,
    /// What is told beside the kind.
    pub input: Map<String, Value>,
    /// The right answer. An answer may hold more.
    pub expect: Map<String, Value>,
    /// Why that is right, as a sentence.
    pub why: String,
    /// The document that overrules Google's own parser, where that answers otherwise.
    pub overrules_parser: Option<String>,
}

/// How binding a vector is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// A document demands it.
    Must,
    /// A document recommends it, or tells it as what happens usually.
    Should,
    /// The documents are silent or contradict each other; this project decided (AM numbers).
    House,
}

impl Level {
    /// Every level, the most binding first.
    pub const ALL: &[Self] = &[Self::Must, Self::Should, Self::House];

    /// The name in vectors and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::House => "HOUSE",
        }
    }
}

/// Whose reading of the rules decides where they differ.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// As Google documents.
    Google,
    /// RFC 9309 and nothing else.
    Rfc9309,
    /// Never allows what Google forbids, and stricter where the documents leave room.
    Courteous,
}

impl Policy {
    /// Every policy.
    pub const ALL: &[Self] = &[Self::Google, Self::Rfc9309, Self::Courteous];

    /// The name in vectors and questions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Google => "google",
            Self::Rfc9309 => "rfc9309",
            Self::Courteous => "courteous",
        }
    }
}

impl Case {
    /// The question, as an engine is asked it.
    pub fn question(&self) -> Value {
        let mut question = self.input.clone();
        question.insert("id".into(), self.id.as_str().into());
        question.insert("subject".into(), self.subject.as_str().into());
        question.insert("kind".into(), self.kind.as_str().into());
        if let Some(policy) = self.policy {
            question.insert("policy".into(), policy.name().into());
        }
        let want = self.expect.keys().map(|key| Value::from(key.as_str()));
        question.insert("want".into(), want.collect());
        Value::Object(question)
    }

    /// Whether an answer is right: each value that is expected is there.
    pub fn accepts(&self, answer: &Value) -> bool {
        self.expect.iter().all(|(key, right)| answer.get(key) == Some(right))
    }
}

/// A vector file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("vectors/{file}: {fault}")]
pub struct VectorError {
    /// The file.
    pub file: String,
    /// What is wrong with it, and where.
    pub fault: String,
}

/// All vectors, those of the parity corpus last.
///
/// # Errors
/// The first file that does not keep to the format.
pub fn vectors() -> Result<Vec<Case>, VectorError> {
    let mut cases = Vec::new();
    for (path, text) in FILES {
        cases.extend(read(path, text)?);
    }
    cases.extend(corpus::cases()?);
    Ok(cases)
}

/// The cases of one file; `path` is `subject/clause.toml`.
///
/// # Errors
/// What does not keep to the format.
pub fn read(path: &str, text: &str) -> Result<Vec<Case>, VectorError> {
    let wrong = |fault: String| VectorError { file: path.into(), fault };
    let (subject, clause) =
        path.strip_suffix(".toml").and_then(|path| path.split_once('/')).ok_or_else(|| {
            wrong("a file lies in a subject's folder and has its clause's name".into())
        })?;
    let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if file.clause != clause {
        return Err(wrong(format!("its clause is {}, unlike its name", file.clause)));
    }
    let cases = file.cases(subject).map_err(&wrong)?;
    let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    ids.sort_unstable();
    if let Some((twice, _)) = ids.iter().zip(ids.iter().skip(1)).find(|(one, next)| one == next) {
        return Err(wrong(format!("{twice} is there twice")));
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const GOOD: &str = r#"
clause = "RT-083"
source = "Google, robots.txt specification: order of precedence for rules"
level = "MUST"
policy = ["google", "rfc9309"]
kind = "robots"

[[vector]]
name = "one"
why = "The longer rule wins."
input = { rules = "disallow: /", path = "/a" }
expect = { allowed = false }

[[vector]]
name = "more"
why = "The same."
level = "HOUSE"
policy = "courteous"
also = ["AM-27"]
input = { robots = "user-agent: *\ndisallow: /a" }
columns = ["path"]
answers = ["allowed"]
cases = [["/a", false], ["/b", true]]
"#;

    #[test]
    fn a_file_becomes_cases() {
        let cases = read("robots-precedence/RT-083.toml", GOOD).unwrap();
        let ids: Vec<_> = cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "robots-precedence/RT-083/one@google",
                "robots-precedence/RT-083/one@rfc9309",
                "robots-precedence/RT-083/more/1@courteous",
                "robots-precedence/RT-083/more/2@courteous",
            ]
        );
        let question = serde_json::json!({
            "id": "robots-precedence/RT-083/one@google", "subject": "robots-precedence",
            "kind": "robots", "policy": "google", "want": ["allowed"],
            "robots": "user-agent: *\ndisallow: /", "agents": ["examplebot"],
            "url": "https://example.com/a",
        });
        assert_eq!(cases[0].question(), question);
        assert!(cases[0].accepts(&serde_json::json!({ "allowed": false, "line": 2 })));
        assert!(!cases[0].accepts(&serde_json::json!({ "line": 2 })));
        assert_eq!((cases[3].level, cases[3].also[0].as_str()), (Level::House, "AM-27"));
    }

    /// One line, one case: what stands in the file, what stands there instead, and the fault.
    #[test]
    fn what_is_no_vector_is_refused() {
        for (part, other, fault) in [
            ("clause = \"RT-083\"\n", "", "missing field `clause`"),
            ("clause = \"RT-083\"", "clause = \"RT-084\"", "unlike its name"),
            ("why = \"The same.\"", "why = \"\"", "says no why"),
            ("level = \"MUST\"", "level = \"MAY\"", "unknown variant `MAY`"),
            ("kind = \"robots\"", "kind = \"robot\"", "no kind"),
            ("path = \"/a\"", "pth = \"/a\"", "knows no input pth"),
            ("expect = { allowed = false }", "expect = {}", "no answer"),
            ("expect = { allowed = false }", "expect = { alowed = 1 }", "knows no answer alowed"),
            ("[\"/b\", true]", "[\"/b\"]", "has 1 values"),
            ("[\"/b\", true]", "[\"/a\", true]", "asked twice"),
            ("name = \"more\"", "name = \"One more\"", "a name is"),
        ] {
            let text = GOOD.replacen(part, other, 1);
            let error = read("robots-precedence/RT-083.toml", &text).unwrap_err();
            assert!(error.fault.contains(fault), "{fault}: {error}");
        }
    }

    /// Every file keeps to the format, and no question has two right answers.
    #[test]
    fn all_files_can_be_read() {
        let cases = vectors().unwrap_or_else(|error| panic!("{error}"));
        let parity = cases.iter().filter(|case| case.subject == PARITY).count();
        assert_eq!(parity, 4003);
        let mut right = BTreeMap::new();
        for case in &cases {
            for (key, value) in &case.expect {
                let asked =
                    (&case.kind, case.policy, Value::Object(case.input.clone()).to_string());
                let before = right.entry((asked, key)).or_insert((value, &case.id));
                assert_eq!(before.0, value, "{} and {}: {key}", before.1, case.id);
            }
        }
    }

    /// The courteous reading allows nothing that Google's forbids.
    #[test]
    fn courteous_is_never_looser() {
        let cases = vectors().unwrap_or_else(|error| panic!("{error}"));
        let mut forbidden = BTreeMap::new();
        for case in cases.iter().filter(|case| case.policy == Some(Policy::Google)) {
            if case.kind == "robots" && case.expect.get("allowed") == Some(&Value::Bool(false)) {
                forbidden.insert(Value::Object(case.input.clone()).to_string(), &case.id);
            }
        }
        let mut compared = 0;
        for case in cases.iter().filter(|case| case.policy == Some(Policy::Courteous)) {
            let Some(other) = forbidden.get(&Value::Object(case.input.clone()).to_string()) else {
                continue;
            };
            let looser = case.expect.get("allowed") == Some(&Value::Bool(true));
            assert!(!looser, "{} allows what {other} forbids", case.id);
            compared += 1;
        }
        assert!(compared > 100, "{compared}");
    }
}
