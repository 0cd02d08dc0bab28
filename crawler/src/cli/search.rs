//! `comity search`

use std::path::Path;

use serde_json::json;

use super::args::SearchArgs;
use super::terminal::{Terminal, Tone, plural};
use super::visible::visible;
use super::{Exit, Usage, data_dir, open};
use crate::clock::Clock;
use crate::index::{Form, Hit, ImagePreview, Permission};

pub(super) fn run(args: &SearchArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let data = data_dir(args.data.data.clone(), config)?;
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        return Err(Usage("search for what? Give one or more words".into()).into());
    }
    let searcher = open::index_to_read(&data)?;
    let found = searcher.search(&words, Clock::real().now(), args.limit, args.skip)?;
    let terminal = Terminal::new();
    if args.json {
        let hits: Vec<_> = found.hits.iter().map(as_json).collect();
        terminal.json(&json!({
            "words": words,
            "total": found.total,
            "relaxed": found.is_relaxed,
            "senseless_filters": found.senseless,
            "hits": hits,
        }));
        return Ok(Exit::Done);
    }
    for typed in &found.senseless {
        let note = format!("\"{typed}\" makes no sense as a filter; it is looked for as it stands");
        terminal.line(terminal.paint(Tone::Note, &note));
    }
    if found.is_relaxed {
        let note = "no page has all of these words; these have at least half of them";
        terminal.line(terminal.paint(Tone::Note, note));
        terminal.line("");
    }
    for hit in &found.hits {
        let title = if hit.title.is_empty() { &hit.url } else { &hit.title };
        terminal.line(terminal.paint(Tone::Title, title));
        terminal.line(terminal.paint(Tone::Good, &hit.url));
        if let Some(embedded) = &hit.embedded {
            let note = format!("  (in {embedded}, which it embeds)");
            terminal.line(terminal.paint(Tone::Faint, &note));
        }
        let none = || terminal.paint(Tone::Faint, why_no_snippet(hit));
        terminal.line(snippet(hit, terminal).unwrap_or_else(none));
        terminal.line("");
    }
    terminal.line(match found.total {
        0 => format!("nothing was found for \"{words}\""),
        total => shown_of(found.hits.len(), args.skip, total),
    });
    Ok(Exit::Done)
}

/// Which of all results were shown.
fn shown_of(shown: usize, skipped: usize, total: usize) -> String {
    let all = plural(total as u64, "result", "results");
    match (shown, skipped) {
        (0, _) => format!("none of {all} beyond the first {skipped}"),
        (_, 0) => format!("{shown} of {all}"),
        (_, _) => format!("{} to {} of {all}", skipped + 1, skipped + shown),
    }
}

fn why_no_snippet(hit: &Hit) -> &'static str {
    match hit.form {
        Form::Bare => "  (an address alone: robots.txt forbids to read it)",
        Form::Full | Form::Embedded => "  (no snippet: the page permits none, or has no text)",
    }
}

/// The snippet with its highlights, on one line.
fn snippet(hit: &Hit, terminal: Terminal) -> Option<String> {
    let snippet = hit.snippet.as_ref()?;
    let mut text = String::new();
    let mut done = 0;
    for range in &snippet.highlights {
        text.push_str(&visible(snippet.text.get(done..range.start)?));
        text.push_str(&terminal.paint(Tone::Note, snippet.text.get(range.clone())?));
        done = range.end;
    }
    text.push_str(&visible(snippet.text.get(done..)?));
    Some(format!("  {}", one_line(&text)))
}

/// The lines of a text with a dot between them.
pub(super) fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// All that may be shown of a hit, and what may be done with it.
fn as_json(hit: &Hit) -> serde_json::Value {
    let limits = &hit.limits;
    let may = |permission| permission == Permission::Granted;
    let highlights = hit.snippet.iter().flat_map(|snippet| &snippet.highlights);
    let highlights: Vec<_> = highlights.map(|at| [at.start, at.end]).collect();
    json!({
        "url": hit.url,
        "title": hit.title,
        "site": hit.site,
        "form": match hit.form {
            Form::Full => "full",
            Form::Embedded => "embedded",
            Form::Bare => "bare",
        },
        "embedded": hit.embedded,
        "language": hit.language,
        "canonical": hit.canonical,
        "fetched_at": hit.fetched_at.to_string(),
        "dated": hit.dated.map(|dated| dated.to_string()),
        "score": hit.score,
        "snippet": hit.snippet.as_ref().map(|snippet| &snippet.text),
        // Bytes of the snippet.
        "highlights": highlights,
        "structured_data": hit.structured,
        "limits": {
            "max_snippet": limits.snippet_chars,
            "max_image_preview": match limits.image_preview {
                ImagePreview::None => "none",
                ImagePreview::Standard => "standard",
                ImagePreview::Large => "large",
            },
            "max_video_preview": limits.video_preview_s,
            "translation": may(limits.translation),
            "image_indexing": may(limits.image_indexing),
        },
    })
}
