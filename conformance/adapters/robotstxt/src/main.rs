//! The crate robotstxt, a port of Google's parser, as an engine.

use std::io::{self, BufRead, Write};

use robotstxt::DefaultMatcher;
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let mut answer = answer(&question);
        answer["id"] = question["id"].clone();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(question: &Value) -> Value {
    let is_text = matches!(question["kind"].as_str(), Some("robots" | "parser"));
    let agents = question["agents"].as_array().into_iter().flatten();
    let agents: Vec<&str> = agents.filter_map(Value::as_str).collect();
    let (Some(robots), Some(url)) = (question["robots"].as_str(), question["url"].as_str()) else {
        return json!({ "skip": "texts only" });
    };
    if !is_text || agents.is_empty() || question["want"] != json!(["allowed"]) {
        return json!({ "skip": "whether agents may fetch: nothing else" });
    }
    // A fall-back is the caller's part: this parser merges all that it is given.
    if question["kind"] == "robots" && agents.len() > 1 {
        return json!({ "skip": "no fall-backs" });
    }
    let mut matcher = DefaultMatcher::default();
    json!({ "allowed": matcher.allowed_by_robots(robots, agents, url) })
}
