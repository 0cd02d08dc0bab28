//! A file of vectors as it is written, and the cases that it comes to.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::short;
use super::{Case, Kind, Level, Policy};

/// What a file says of all that stands in it, and the vectors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) clause: String,
    source: String,
    level: Level,
    policy: Policies,
    kind: String,
    #[serde(default)]
    also: Vec<String>,
    vector: Vec<Vector>,
}

/// The policies under which a vector is right.
#[derive(Deserialize)]
#[serde(untagged, expecting = "policy is \"any\", a policy, or a list of them")]
enum Policies {
    Any(Any),
    One(Policy),
    Several(Vec<Policy>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Any {
    Any,
}

/// One question, or many that differ in a few columns. What it does not say, its file says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    why: String,
    level: Option<Level>,
    policy: Option<Policies>,
    kind: Option<String>,
    source: Option<String>,
    #[serde(default)]
    also: Vec<String>,
    overrules_parser: Option<String>,
    #[serde(default)]
    input: Map<String, Value>,
    #[serde(default)]
    expect: Map<String, Value>,
    #[serde(default)]
    columns: Vec<String>,
    #[serde(default)]
    answers: Vec<String>,
    #[serde(default)]
    cases: Vec<Vec<Value>>,
}

/// What is told, and the right answer to it.
struct Pair {
    name: String,
    input: Map<String, Value>,
    expect: Map<String, Value>,
}

impl File {
    pub(super) fn cases(&self, subject: &str) -> Result<Vec<Case>, String> {
        let mut cases = Vec::new();
        for vector in &self.vector {
            vector.check()?;
            for pair in vector.pairs()? {
                let name = pair.name.clone();
                let of_pair = self.of_pair(subject, vector, pair);
                cases.extend(of_pair.map_err(|fault| format!("{name}: {fault}"))?);
            }
        }
        Ok(cases)
    }

    /// The cases of one question, one a policy.
    fn of_pair(&self, subject: &str, vector: &Vector, pair: Pair) -> Result<Vec<Case>, String> {
        let kind = vector.kind.as_ref().unwrap_or(&self.kind);
        let known = Kind::named(kind).ok_or_else(|| format!("{kind} is no kind"))?;
        let input = short::long_form(known, pair.input)?;
        check_fields(known, &input, &pair.expect)?;
        let policies = match vector.policy.as_ref().unwrap_or(&self.policy) {
            Policies::Any(Any::Any) => vec![None],
            Policies::One(policy) => vec![Some(*policy)],
            Policies::Several(policies) => policies.iter().copied().map(Some).collect(),
        };
        let case = |policy: Option<Policy>| {
            let at = policy.map_or(String::new(), |policy| format!("@{}", policy.name()));
            Case {
                id: format!("{subject}/{}/{}{at}", self.clause, pair.name),
                subject: subject.into(),
                clause: self.clause.clone(),
                also: self.also.iter().chain(&vector.also).cloned().collect(),
                source: vector.source.as_ref().unwrap_or(&self.source).clone(),
                level: vector.level.unwrap_or(self.level),
                policy,
                kind: kind.clone(),
                input: input.clone(),
                expect: pair.expect.clone(),
                why: vector.why.clone(),
                overrules_parser: vector.overrules_parser.clone(),
            }
        };
        Ok(policies.into_iter().map(case).collect())
    }
}

impl Vector {
    fn check(&self) -> Result<(), String> {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = &self.name;
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("{name:?}: a name is lower-case letters, digits and hyphens"));
        }
        if self.why.trim().is_empty() {
            return Err(format!("{name} says no why"));
        }
        Ok(())
    }

    /// Its questions: itself, or one a row.
    fn pairs(&self) -> Result<Vec<Pair>, String> {
        let no_nulls = |map: &Map<String, Value>| -> Map<String, Value> {
            map.iter().map(|(key, value)| (key.clone(), null(value))).collect()
        };
        let (name, input, expect) = (self.name.clone(), &self.input, no_nulls(&self.expect));
        if self.cases.is_empty() {
            return Ok(vec![Pair { name, input: input.clone(), expect }]);
        }
        let width = self.columns.len() + self.answers.len();
        let mut asked: Vec<&[Value]> = Vec::new();
        let mut pairs = Vec::new();
        for (at, row) in self.cases.iter().enumerate() {
            let name = format!("{}/{}", self.name, at + 1);
            if row.len() != width {
                return Err(format!("{name} has {} values, not {width}", row.len()));
            }
            let (told, right) = row.split_at(self.columns.len());
            if asked.contains(&told) {
                return Err(format!("{name} is asked twice"));
            }
            asked.push(told);
            let mut pair = Pair { name, input: input.clone(), expect: expect.clone() };
            pair.input.extend(self.columns.iter().cloned().zip(told.iter().cloned()));
            pair.expect.extend(self.answers.iter().cloned().zip(right.iter().map(null)));
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

/// TOML has no null; a table with nothing in it stands for one.
fn null(value: &Value) -> Value {
    match value.as_object() {
        Some(map) if map.is_empty() => Value::Null,
        Some(_) | None => value.clone(),
    }
}

fn check_fields(
    kind: &Kind,
    input: &Map<String, Value>,
    expect: &Map<String, Value>,
) -> Result<(), String> {
    let name = kind.name;
    if let Some(key) = input.keys().find(|key| !kind.input.contains(&key.as_str())) {
        return Err(format!("{name} knows no input {key}"));
    }
    if let Some(key) = expect.keys().find(|key| !kind.answers.contains(&key.as_str())) {
        return Err(format!("{name} knows no answer {key}"));
    }
    if expect.is_empty() { Err("it has no answer".into()) } else { Ok(()) }
}
