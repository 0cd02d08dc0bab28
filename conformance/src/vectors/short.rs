//! What vectors may write in short, written out: questions have the long form only.

use serde_json::{Map, Value};

use super::Kind;

/// The crawler that is judged for where none is named.
const AGENT: &str = "examplebot";

/// Where paths are taken to be.
const ORIGIN: &str = "https://example.com";

/// When it is, where no time is named: noon of a Monday.
const NOW: &str = "2026-11-30T12:00:00Z";

/// Texts that may be made of parts.
const TEXTS: &[&str] = &["robots", "html", "rendered", "body"];

/// Writes out what was written in short.
pub(super) fn long_form(
    kind: &Kind,
    mut input: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    if let Some(path) = input.remove("path") {
        input.insert("url".into(), Value::from(format!("{ORIGIN}{}", text(&path)?)));
    }
    if let Some(rules) = input.remove("rules") {
        let robots = format!("user-agent: *\n{}", text(&rules)?);
        input.insert("robots".into(), robots.into());
    }
    if let Some(date) = input.remove("date") {
        let tag = format!("unavailable_after: {}", text(&date)?);
        input.insert("tag".into(), tag.into());
    }
    if let Some(tag) = input.remove("tag") {
        let lines = if let Value::Array(lines) = tag { lines } else { vec![tag] };
        let headers = lines.into_iter().map(|line| vec![Value::from("X-Robots-Tag"), line]);
        input.insert("headers".into(), headers.collect());
    }
    if let Some(meta) = input.remove("meta") {
        let head = format!("<meta name=\"robots\" content=\"{}\">", text(&meta)?);
        input.insert("head".into(), head.into());
    }
    if let Some(head) = input.remove("head") {
        input.insert("html".into(), page(text(&head)?, "<p>Some text.</p>").into());
    }
    if let Some(content) = input.remove("content") {
        input.insert("html".into(), page("", text(&content)?).into());
    }
    for key in TEXTS {
        if let Some(made @ Value::Object(_)) = input.get(*key) {
            let made = made_of_parts(made)?;
            input.insert((*key).into(), made.into());
        }
    }
    for key in ["events", "ask"] {
        if let Some(Value::Array(moments)) = input.get_mut(key) {
            moments.iter_mut().try_for_each(moment)?;
        }
    }
    let takes = |field: &&str| kind.input.contains(field);
    if takes(&"agents") && !input.contains_key("agents") && !input.contains_key("crawler") {
        input.insert("agents".into(), vec![AGENT].into());
    }
    let defaults = [("now", NOW), ("url", "https://example.com/page")];
    for (key, value) in defaults.into_iter().filter(|(key, _)| takes(key)) {
        input.entry(key).or_insert_with(|| value.into());
    }
    Ok(input)
}

/// A whole page with this in its head and that in its body.
fn page(head: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html><head><title>A page</title>\n{head}\n</head>\n<body>\n{body}\n</body></html>\n"
    )
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("{value} is no text"))
}

/// `head`, then `item` so many `times` with `{n}` replaced by its number from 1, then `tail`.
fn made_of_parts(made: &Value) -> Result<String, String> {
    let part = |key: &str| made.get(key).and_then(Value::as_str).unwrap_or_default();
    let times = made.get("times").and_then(Value::as_u64).unwrap_or_default();
    let known = ["head", "item", "times", "tail"];
    if let Some(key) = made
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key)
        .find(|key| !known.contains(&key.as_str()))
    {
        return Err(format!("a text is made of head, item, times and tail, not of {key}"));
    }
    let item = part("item");
    let items: String = (1..=times).map(|n| item.replace("{n}", &n.to_string())).collect();
    Ok(format!("{}{items}{}", part("head"), part("tail")))
}

/// `t = "1d 12h"` is `t_s = 129600`; a `path` is a URL as above.
fn moment(moment: &mut Value) -> Result<(), String> {
    let Value::Object(fields) = moment else { return Err(format!("{moment} is no moment")) };
    if let Some(span) = fields.remove("t") {
        fields.insert("t_s".into(), seconds(text(&span)?)?.into());
    }
    if let Some(path) = fields.remove("path") {
        fields.insert("url".into(), Value::from(format!("{ORIGIN}{}", text(&path)?)));
    }
    if let Some(made @ Value::Object(_)) = fields.get("body") {
        let made = made_of_parts(made)?;
        fields.insert("body".into(), made.into());
    }
    Ok(())
}

fn seconds(span: &str) -> Result<u64, String> {
    let wrong = || format!("{span:?} is no time such as \"1d 12h 5m 3s\"");
    let part = |part: &str| {
        let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let unit = match unit {
            "d" => 86_400,
            "h" => 3_600,
            "m" => 60,
            "s" => 1,
            _ => return None,
        };
        number.parse::<u64>().ok().map(|number| number * unit)
    };
    span.split_whitespace().map(part).sum::<Option<u64>>().ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, expect) in [
            ("0s", Ok(0)),
            ("1d 12h", Ok(129_600)),
            ("5m 3s", Ok(303)),
            ("5", Err(())),
            ("x", Err(())),
        ] {
            assert_eq!(seconds(text).map_err(|_| ()), expect, "{text}");
        }
    }

    #[test]
    fn texts_are_made_of_parts() {
        let made = serde_json::json!({ "head": "a", "item": "{n},", "times": 3, "tail": "z" });
        assert_eq!(made_of_parts(&made).unwrap(), "a1,2,3,z");
        assert!(made_of_parts(&serde_json::json!({ "item": "x", "time": 3 })).is_err());
    }
}
