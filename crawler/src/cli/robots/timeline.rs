//! `comity robots when --events`: a record's life as a file tells it, for people: each event, what
//! robots.txt is worth after it, and the answers at the times that were asked for.

use std::path::Path;

use comity_compliance::Timestamp;
use serde_json::{Value, json};

use super::super::args::WhenArgs;
use super::super::terminal::{Terminal, Tone};
use super::super::words::{moment, preset, tokens};
use super::super::{Exit, Usage, reading};
use super::life::{Moment, Question, Told, seconds};

/// Times before this one are shown as lengths from zero on: nobody means 1970.
const ABSOLUTE_FROM: Timestamp = Timestamp::from_secs(10 * 365 * 86_400);

pub(super) fn run(args: WhenArgs, path: &Path, now: Timestamp) -> anyhow::Result<Exit> {
    let mut question = read(path)?;
    if let Some(at) = &args.at {
        // As in the file itself: +13h is 13 hours after its zero.
        let zero = if at.starts_with('+') { Timestamp::EPOCH } else { now };
        question.ask_too(args.url, moment(at, zero)?);
    } else if args.url.is_some() {
        return Err(
            Usage("say when: a URL beside --events needs --at, such as --at +13h".into()).into()
        );
    }
    let policy = preset(question.policy.as_deref())?;
    let agents = tokens(&question.agents)?;
    let moments = question.play()?;
    let terminal = Terminal::new();
    if args.json {
        let timeline: Vec<_> = moments.into_iter().map(as_json).collect();
        terminal.json(&json!({ "policy": policy.name(), "timeline": timeline }));
        return Ok(Exit::Done);
    }
    let names: Vec<_> = agents.iter().map(|agent| agent.as_str()).collect();
    let title = format!("robots.txt for {}, policy {policy}", names.join(", then "));
    terminal.line(terminal.paint(Tone::Title, title));
    if moments.is_empty() {
        terminal.line("  no events and no questions; `comity robots when --help` shows a file");
    }
    moments.iter().for_each(|moment| print(terminal, moment));
    Ok(Exit::Done)
}

fn read(path: &Path) -> anyhow::Result<Question> {
    let text = reading::whole(path, reading::LIFE)?;
    serde_json::from_slice(&text).map_err(|error| {
        let name = path.to_string_lossy();
        let name = if name == "-" { "standard input" } else { &name };
        Usage(format!("{name}: {error}; `comity robots when --help` shows such a file")).into()
    })
}

fn print(terminal: Terminal, moment: &Moment) {
    let path = if moment.url.path() == "/robots.txt" { "robots.txt" } else { moment.url.as_str() };
    let (word, rest) = match &moment.told {
        Told::Event { brought, has_status: true } => {
            (terminal.paint(Tone::Title, path), format!("answered: {brought}"))
        }
        Told::Event { brought, has_status: false } => {
            (terminal.paint(Tone::Title, format_args!("{path}:")), format!("no answer ({brought})"))
        }
        Told::Answer { verdict, .. } => in_words(terminal, path, verdict),
    };
    let rest: String = rest.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    terminal.line(format_args!("  {:<22} {word} {rest}", time(moment.at)));
    let next = match moment.next_refresh {
        Some(next) if next > moment.at => format!("; next refresh {}", time(next)),
        Some(_) => "; a refresh is due".into(),
        None => String::new(),
    };
    let stage = format!("{}{next}", moment.stage);
    terminal.line(format_args!("  {:<22} {}", "", terminal.paint(Tone::Faint, stage)));
}

/// A URL and the verdict on it.
fn in_words(terminal: Terminal, path: &str, verdict: &Value) -> (String, String) {
    let (tone, may) = match verdict["allowed"].as_bool() {
        Some(true) => (Tone::Good, "may be fetched"),
        Some(false) | None => (Tone::Bad, "may not be fetched"),
    };
    let reason = verdict["reason"].as_str().unwrap_or_default();
    let rule = verdict["rule"].as_str().map_or(String::new(), |rule| format!(": {rule}"));
    (terminal.paint(tone, format_args!("{path} {may}")), format!("({reason}{rule})"))
}

/// `+1d 12h`, or a date where the file has dates.
fn time(at: Timestamp) -> String {
    if at >= ABSOLUTE_FROM {
        return at.to_string();
    }
    let since = at.since(Timestamp::EPOCH);
    let secs = since.as_secs();
    let units = [
        (secs / 86_400, "d"),
        (secs / 3600 % 24, "h"),
        (secs / 60 % 60, "m"),
        (secs % 60, "s"),
        (since.subsec_millis().into(), "ms"),
    ];
    let parts = units.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<_> = parts.map(|(number, unit)| format!("{number}{unit}")).collect();
    if parts.is_empty() { "+0s".into() } else { format!("+{}", parts.join(" ")) }
}

fn as_json(moment: Moment) -> Value {
    let Moment { at, url, stage, next_refresh, told } = moment;
    let (event, verdict) = match told {
        Told::Event { brought, .. } => (Some(brought), None),
        Told::Answer { verdict, .. } => (None, Some(verdict)),
    };
    json!({
        "t_s": seconds(at),
        "url": url.as_str(),
        "event": event,
        "verdict": verdict,
        "stage": stage,
        "next_refresh_s": next_refresh.map(seconds),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_a_file_writes_them() {
        for (millis, text) in [
            (0, "+0s"),
            (86_400_000, "+1d"),
            (133_503_250, "+1d 13h 5m 3s 250ms"),
            (1_796_000_000_000, "2026-11-30T00:53:20Z"),
        ] {
            assert_eq!(time(Timestamp::from_millis(millis)), text);
        }
    }
}
