//! Single faults, put into a copy of an engine's answers: a suite that no fault disturbs would
//! prove nothing.

mod links;
mod lives;
mod matching;
mod pages;
mod robots;
mod sites;

use serde_json::{Map, Value};

use super::{Graded, Outcome};
use crate::vectors::Case;

/// A fault as engines have them: how it answers, where that is.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// The subject that must catch it, by name or the beginning of one.
    pub subject: &'static str,
    /// What the engine does, in words.
    pub what: &'static str,
    /// Turns a right answer into that of an engine with the fault.
    answer: fn(&Case, &mut Map<String, Value>),
}

/// Every fault.
pub fn faults() -> Vec<&'static Fault> {
    let tables = [
        robots::FAULTS,
        matching::FAULTS,
        lives::FAULTS,
        pages::FAULTS,
        links::FAULTS,
        sites::FAULTS,
    ];
    tables.into_iter().flatten().collect()
}

/// The vectors that an engine with this fault does not keep, of those that this one keeps.
pub fn caught_by<'a>(fault: &Fault, graded: &'a Graded) -> Vec<&'a str> {
    let kept = graded.results.iter().filter(|result| result.outcome == Outcome::Kept);
    let of_subject = kept.filter(|result| result.case.subject.starts_with(fault.subject));
    let caught = of_subject.filter(|result| shows(fault, &result.case));
    caught.map(|result| result.case.id.as_str()).collect()
}

/// Whether any of these vectors catches the fault, if the engine keeps that vector otherwise.
pub fn reaches<'a>(fault: &Fault, cases: impl IntoIterator<Item = &'a Case>) -> bool {
    cases
        .into_iter()
        .filter(|case| case.subject.starts_with(fault.subject))
        .any(|case| shows(fault, case))
}

/// Whether an engine that is right but for this fault does not keep the vector.
fn shows(fault: &Fault, case: &Case) -> bool {
    let mut answer = case.expect.clone();
    (fault.answer)(case, &mut answer);
    !case.accepts(&Value::Object(answer))
}

/// A text of the question; empty if there is none.
fn text<'a>(case: &'a Case, key: &str) -> &'a str {
    case.input.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Answers so, where that is asked.
fn say(answer: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    if let Some(old) = answer.get_mut(key) {
        *old = value.into();
    }
}

/// All answers about what may be fetched.
fn say_all(answer: &mut Map<String, Value>, value: bool) {
    if let Some(Value::Array(answers)) = answer.get_mut("allowed") {
        answers.iter_mut().for_each(|answer| *answer = value.into());
    }
}

/// The page, in lower case.
fn html(case: &Case) -> String {
    text(case, "html").to_ascii_lowercase()
}

/// Takes links that must be left, too.
fn follow_all(answer: &mut Map<String, Value>) {
    let left = answer.get("leave").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Array(follow)) = answer.get_mut("follow") {
        follow.extend(left);
    }
    say(answer, "leave", Value::Array(vec![]));
}

/// Takes one URL more.
fn add_url(answer: &mut Map<String, Value>, key: &str, url: &str) {
    if let Some(Value::Array(urls)) = answer.get_mut(key)
        && !urls.iter().any(|known| known == url)
    {
        urls.push(url.into());
    }
}
