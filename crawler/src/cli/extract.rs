//! `comity extract`: the extractors of the settings, tried on one page, field by field.

mod asking;

use std::path::Path;

use anyhow::Context as _;
use comity_compliance::Timestamp;
use serde_json::{Value, json};
use url::Url;

use self::asking::Asked;
use super::args::ExtractArgs;
use super::terminal::{Terminal, Tone, plural};
use super::{Exit, Usage, read_config, reading};
use crate::clock::Clock;
use crate::decision::Decision;
use crate::extract::rules::{Attempt, FieldTrace, Rules, check};
use crate::extract::{ReadPage, Trial};
use crate::settings::Settings;
use crate::urls;

/// Where a file is from if nothing is said.
const SOME_PAGE: &str = "https://example.com/";

pub(super) async fn run(args: ExtractArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let terminal = Terminal::new();
    let mut config = read_config(config)?;
    config.identity.contact = args.ask.contact.clone().or(config.identity.contact);
    config.network.allow.extend(args.ask.allow_network.iter().cloned());
    let rules = chosen(check(&config.extract)?, &args.names)?;
    let clock = Clock::real();
    let page = match source(&args.page)? {
        Source::File => of_file(&args, clock.now())?,
        Source::Web(url) => {
            let settings = Settings::new(&config)?;
            match asking::ask(&settings, clock, url).await? {
                Asked::Page(page) => *page,
                Asked::Not { url, why } => {
                    if args.json {
                        terminal.json(&json!({ "url": url.as_str(), "not_fetched": why }));
                    } else {
                        let text = format_args!("{url} was not fetched: {why}");
                        terminal.line(terminal.paint(Tone::Bad, text));
                    }
                    return Ok(Exit::NothingFetched);
                }
            }
        }
    };
    // What a file's address is nobody said: its extractors are tried whatever their patterns say.
    let any_url = args.url.is_none() && matches!(source(&args.page)?, Source::File);
    let trials = rules.iter().map(|rules| Tried::of(rules, &page, any_url)).collect::<Vec<_>>();
    if args.json {
        let trials: Vec<_> = trials.iter().map(Tried::as_json).collect();
        terminal.json(&json!({ "url": page.url.as_str(), "extractors": trials }));
    } else {
        trials.iter().for_each(|tried| tried.print(terminal, &page));
    }
    let found = trials.iter().any(|tried| tried.items() > 0);
    Ok(if found { Exit::Done } else { Exit::FoundErrors })
}

/// The extractors that are named, or all.
fn chosen(all: Vec<Rules>, names: &[String]) -> anyhow::Result<Vec<Rules>> {
    use crate::extract::Extractor as _;
    if all.is_empty() {
        let example = "[extract.NAME.fields.title] with css = \"h1\"";
        let problem = format!(
            "the settings have no extractor; add for example {example} to comity.toml, or name \
             another file by --config"
        );
        return Err(Usage(problem).into());
    }
    let known = all.iter().map(|rules| rules.name().to_owned()).collect::<Vec<_>>();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        let known = known.join(", ");
        return Err(Usage(format!("there is no extractor {name}; there are {known}")).into());
    }
    let wanted = |rules: &Rules| names.is_empty() || names.iter().any(|name| name == rules.name());
    Ok(all.into_iter().filter(wanted).collect())
}

enum Source {
    File,
    Web(Url),
}

/// A file that is there, or `-`; else a URL.
fn source(name: &str) -> anyhow::Result<Source> {
    if name == "-" || Path::new(name).exists() {
        return Ok(Source::File);
    }
    let is_web =
        name.contains("://") || urls::is_localhost(name.split([':', '/']).next().unwrap_or(""));
    if !is_web {
        anyhow::bail!("there is no file {name}; a URL begins with https:// or http://");
    }
    Ok(Source::Web(urls::parse_seed(name).map_err(|e| Usage(e.to_string()))?))
}

fn of_file(args: &ExtractArgs, now: Timestamp) -> anyhow::Result<ReadPage> {
    let body = reading::whole(Path::new(&args.page), reading::PAGE)?;
    let url = args.url.as_deref().unwrap_or(SOME_PAGE);
    let url = Url::parse(url).map_err(|e| Usage(format!("--url {url}: {e}")))?;
    Ok(ReadPage::at_hand(url, "text/html", body, now))
}

/// What one extractor made of the page.
struct Tried<'r> {
    rules: &'r Rules,
    takes: Decision,
    attempts: Result<Vec<Attempt>, String>,
}

/// Items that are shown to people.
const ITEMS_SHOWN: usize = 20;

impl<'r> Tried<'r> {
    fn of(rules: &'r Rules, page: &ReadPage, any_url: bool) -> Self {
        use crate::extract::Extractor as _;
        let takes = match rules.takes(page) {
            Decision { .. } if any_url => Decision::take("no --url was given"),
            decision => decision,
        };
        let trial = Trial::of(page);
        let attempts = match takes.left() {
            None => trial.attempts(rules).map_err(|e| e.to_string()),
            Some(_) => Ok(vec![]),
        };
        Self { rules, takes, attempts }
    }

    fn name(&self) -> &str {
        use crate::extract::Extractor as _;
        self.rules.name()
    }

    fn attempts(&self) -> &[Attempt] {
        self.attempts.as_deref().unwrap_or_default()
    }

    fn items(&self) -> usize {
        self.attempts().iter().filter(|attempt| attempt.item.is_ok()).count()
    }

    fn as_json(&self) -> Value {
        let field = |trace: &FieldTrace| {
            json!({
                "field": trace.field, "matched": trace.matched, "texts": trace.texts,
                "value": trace.value, "why_not": trace.miss.as_ref().map(ToString::to_string),
            })
        };
        let attempt = |attempt: &Attempt| {
            json!({
                "item": attempt.item.as_ref().ok(), "why_not": attempt.item.as_ref().err(),
                "fields": attempt.fields.iter().map(field).collect::<Vec<_>>(),
            })
        };
        json!({
            "extractor": self.name(), "takes": self.takes.left().is_none(),
            "reason": self.takes.reason, "error": self.attempts.as_ref().err(),
            "items": self.items(),
            "attempts": self.attempts().iter().map(attempt).collect::<Vec<_>>(),
        })
    }

    fn print(&self, terminal: Terminal, page: &ReadPage) {
        let (name, url, reason) = (self.name(), &page.url, &self.takes.reason);
        if self.takes.left().is_some() {
            let text = format_args!("{name} does not take {url}: {reason}");
            return terminal.line(terminal.paint(Tone::Note, text));
        }
        if let Err(error) = &self.attempts {
            let text = format_args!("{name} failed on {url}: {error}");
            return terminal.line(terminal.paint(Tone::Bad, text));
        }
        let items = plural(self.items() as u64, "item", "items");
        let title = format_args!("{name}: {items} of {url}");
        terminal.line(terminal.paint(Tone::Title, title));
        if self.attempts().is_empty() {
            terminal.line("  nothing on the page matches `each`");
        }
        for (n, attempt) in self.attempts().iter().take(ITEMS_SHOWN).enumerate() {
            match &attempt.item {
                Ok(_) => terminal.line(format_args!("  item {}", n + 1)),
                Err(why) => {
                    let text = format_args!("  no item {}: {why}", n + 1);
                    terminal.line(terminal.paint(Tone::Bad, text));
                }
            }
            attempt.fields.iter().for_each(|trace| print_field(terminal, trace));
        }
        if let Some(more) = self.attempts().len().checked_sub(ITEMS_SHOWN).filter(|more| *more > 0)
        {
            terminal.line(format_args!("  and {more} more; --json shows them all"));
        }
    }
}

fn print_field(terminal: Terminal, trace: &FieldTrace) {
    let name = &trace.field;
    match &trace.miss {
        None => terminal.line(format_args!("    {name:<14} {}", short(&trace.value))),
        Some(miss) => {
            let text = format_args!("    {name:<14} no value: {miss}");
            terminal.line(terminal.paint(Tone::Note, text));
        }
    }
    let matches = plural(trace.matched as u64, "match", "matches");
    let texts = trace.texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
    let text = format_args!("    {:<14} {matches}: {texts}", "");
    if trace.matched > 0 {
        terminal.line(terminal.paint(Tone::Faint, text));
    }
}

/// A value on one line.
fn short(value: &Value) -> String {
    const SHOWN: usize = 200;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Errors of the runtime's threads, in words.
async fn off_thread<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> anyhow::Result<R> {
    tokio::task::spawn_blocking(work).await.context("the page's reader panicked")
}
