//! `comity robots`: what a robots.txt says, what is wrong with it, and how long it lasts.

mod check;
mod judged;
mod life;
mod lint;
mod subject;
mod timeline;
mod when;

use std::path::Path;

pub(super) use self::when::stage;

use serde_json::{Value, json};

use super::Exit;
use super::args::{RobotsArgs, RobotsCommand};

pub(super) async fn run(args: RobotsArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    match args.command {
        None => check::run(args.check, config).await,
        Some(RobotsCommand::Check(args)) => check::run(args, config).await,
        Some(RobotsCommand::Lint(args)) => lint::run(args, config).await,
        Some(RobotsCommand::When(args)) => when::run(args, config).await,
    }
}

/// Plays a life as the conformance vectors tell it: what may be fetched when, and when robots.txt is
/// asked for again after each event.
pub(super) fn life_of(mut question: Value) -> anyhow::Result<Value> {
    if let Value::Object(fields) = &mut question {
        fields.retain(|name, _| ["policy", "agents", "events", "ask"].contains(&name.as_str()));
    }
    let answered = life::answer(serde_json::from_value(question)?)?;
    let verdicts = answered["answers"].as_array().into_iter().flatten();
    let allowed: Vec<&Value> = verdicts.map(|verdict| &verdict["allowed"]).collect();
    Ok(json!({ "allowed": allowed, "refresh_at_s": answered["refresh_at_s"] }))
}
