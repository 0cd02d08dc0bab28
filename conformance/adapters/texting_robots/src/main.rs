//! The crate texting_robots as an engine.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use texting_robots::Robot;

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
    let agents = question["agents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (Some(robots), Some(url), [agent]) =
        (question["robots"].as_str(), question["url"].as_str(), agents)
    else {
        return json!({ "skip": "one agent and a text: nothing else" });
    };
    if !is_text {
        return json!({ "skip": "texts only" });
    }
    if question["want"].as_array().is_some_and(|want| want.contains(&json!("crawl_delay_s"))) {
        return json!({ "skip": "it tells a crawl-delay, and not whether a policy keeps it" });
    }
    match Robot::new(agent.as_str().unwrap_or_default(), robots.as_bytes()) {
        Ok(robot) => json!({
            "allowed": robot.allowed(url),
            "sitemaps": robot.sitemaps,
        }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}
