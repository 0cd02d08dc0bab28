//! `comity search`

use std::path::Path;

use serde_json::json;

use super::args::SearchArgs;
use super::terminal::{Terminal, Tone, plural};
use super::{Exit, Usage, data_dir, open};
use crate::clock::Clock;
use crate::index::{Hit, Searcher};

pub(super) fn run(args: &SearchArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let data = data_dir(args.data.data.clone(), config)?;
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        return Err(Usage("search for what? Give one or more words".into()).into());
    }
    let searcher = Searcher::open(&open::index_dir(&data))?;
    let found = searcher.search(&words, Clock::real().now(), args.limit, 0)?;
    let terminal = Terminal::new();
    if args.json {
        let hits: Vec<_> = found.hits.iter().map(as_json).collect();
        terminal.json(&json!({ "words": words, "total": found.total, "hits": hits }));
        return Ok(Exit::Done);
    }
    for hit in &found.hits {
        let title = if hit.title.is_empty() { &hit.url } else { &hit.title };
        terminal.line(terminal.paint(Tone::Title, title));
        terminal.line(terminal.paint(Tone::Good, &hit.url));
        let none =
            || terminal.paint(Tone::Faint, "  (no snippet: the page permits none, or has no text)");
        terminal.line(snippet(hit, terminal).unwrap_or_else(none));
        terminal.line("");
    }
    terminal.line(match found.total {
        0 => format!("no page has all of the words \"{words}\""),
        total => format!("{} of {}", found.hits.len(), plural(total as u64, "result", "results")),
    });
    Ok(Exit::Done)
}

/// The snippet with its highlights, on one line.
fn snippet(hit: &Hit, terminal: Terminal) -> Option<String> {
    let snippet = hit.snippet.as_ref()?;
    let mut text = String::new();
    let mut done = 0;
    for range in &snippet.highlights {
        text.push_str(snippet.text.get(done..range.start)?);
        text.push_str(&terminal.paint(Tone::Note, snippet.text.get(range.clone())?));
        done = range.end;
    }
    text.push_str(snippet.text.get(done..)?);
    Some(format!("  {}", one_line(&text)))
}

/// The lines of a text with a dot between them.
pub(super) fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn as_json(hit: &Hit) -> serde_json::Value {
    json!({
        "url": hit.url,
        "title": hit.title,
        "site": hit.site,
        "score": hit.score,
        "snippet": hit.snippet.as_ref().map(|snippet| &snippet.text),
    })
}
