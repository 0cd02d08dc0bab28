//! `comity engine`: answers the questions of the conformance vectors, of every subject, by the rules
//! and readers that a crawl uses. docs/conformance.md documents the protocol.

mod http;
mod page;
mod site;
mod texts;

use std::ops::Deref;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

use super::{Exit, json_lines, robots};

pub(super) fn run() -> anyhow::Result<Exit> {
    json_lines::serve(|question| Ok(answer_named(question)))
}

/// The answer with the `id` of its question, if that has one: nobody takes it for that of another.
fn answer_named(question: Value) -> Value {
    let id = question.get("id").cloned();
    let mut answer =
        answer(question).unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
    if let (Some(id), Value::Object(fields)) = (id, &mut answer) {
        fields.insert("id".into(), id);
    }
    answer
}

fn answer(question: Value) -> anyhow::Result<Value> {
    let kind = question.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind.as_str() {
        "robots" => texts::robots(read(question)?),
        "parser" => texts::parser(read(question)?),
        "scope" => texts::scope(read(question)?),
        "robots-url" => texts::robots_url(read(question)?),
        "token" => Ok(texts::token(&read(question)?)),
        "life" => robots::life_of(question),
        "rules" => page::rules(read(question)?),
        "quote" => page::quote(read(question)?),
        "structured" => page::structured(read(question)?),
        "links" => page::links(read(question)?),
        "canonical" => Ok(site::canonical(&read(question)?)),
        "alternates" => Ok(site::alternates(&read(question)?)),
        "sitemap" => site::sitemap(read(question)?),
        "pace" => site::pace(&read(question)?),
        "revisit" => Ok(site::revisit(&read(question)?)),
        "http-date" => http::date(&read(question)?),
        "retry-after" => http::retry_after(&read(question)?),
        "status" => Ok(http::status(&read(question)?)),
        "freshness" => http::freshness(&read(question)?),
        "redirect" => Ok(http::redirect(&read(question)?)),
        other => Ok(json!({ "skip": format!("no questions of kind {other:?} are known") })),
    }
}

fn read<T: DeserializeOwned>(question: Value) -> serde_json::Result<T> {
    serde_json::from_value(question)
}

/// A URL in a question.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(try_from = "String")]
struct Address(Url);

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Url::parse(&text).map(Self).map_err(|error| format!("{text:?} is no URL: {error}"))
    }
}

impl Deref for Address {
    type Target = Url;

    fn deref(&self) -> &Url {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: the question, and the answer whole.
    #[test]
    fn each_answer_has_the_id_of_its_question() {
        for (question, answer) in [
            (
                json!({ "id": "a/1", "kind": "token", "token": "me" }),
                json!({ "id": "a/1", "valid": true }),
            ),
            (json!({ "kind": "token", "token": "me" }), json!({ "valid": true })),
            (
                json!({ "id": 7, "kind": "weather" }),
                json!({ "id": 7, "skip": "no questions of kind \"weather\" are known" }),
            ),
            (
                json!({ "id": "b", "kind": "token" }),
                json!({ "id": "b", "error": "missing field `token`" }),
            ),
        ] {
            assert_eq!(answer_named(question), answer);
        }
    }
}
