//! `comity status`: how a crawl stands, also while it runs.

mod survey;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use comity_compliance::Timestamp;
use comity_storage::{EngineKind, Stats, Store as _};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(super) use self::survey::Survey;
use super::args::StatusArgs;
use super::crawl::items_rows;
use super::terminal::{Terminal, Tone, by_reason, duration, grouped, megabytes, plural};
use super::{Exit, data_dir, open, reading};
use crate::clock::Clock;
use crate::crawl::{Counts, Progress};
use crate::settings::StoreSettings;

/// What a running crawl writes beside its store, several times a second: the store itself is open
/// to one process only.
#[derive(Debug, Deserialize, Serialize)]
struct Published {
    pid: u32,
    at_ms: i64,
    /// This run.
    run: Progress,
    /// The whole crawl, as [`stats_json`] words it.
    store: serde_json::Value,
    /// The sites that were asked lately.
    #[serde(default)]
    sites: Survey,
}

fn status_file(data: &Path) -> PathBuf {
    data.join("status.json")
}

/// Publishes how far a running crawl is. A failure is not worth a stop: the crawl's own errors
/// will tell of a full disk.
pub(super) fn publish(
    store: &StoreSettings,
    run: &Progress,
    (stats, sites): (&Stats, &Survey),
    now: Timestamp,
) {
    if store.engine == EngineKind::Memory {
        return;
    }
    let published = Published {
        pid: std::process::id(),
        at_ms: now.as_millis(),
        run: run.clone(),
        store: stats_json(stats),
        sites: sites.clone(),
    };
    let path = status_file(&store.data);
    let fresh = path.with_extension("json.new");
    let written = serde_json::to_vec(&published)
        .map_err(std::io::Error::from)
        .and_then(|text| std::fs::write(&fresh, text))
        .and_then(|()| std::fs::rename(&fresh, &path));
    if let Err(error) = written {
        tracing::debug!(%error, "the status file could not be written");
    }
}

pub(super) async fn run(args: StatusArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let data = data_dir(args.data.data, config)?;
    let clock = Clock::real();
    if comity_storage::is_in_use(&data)? {
        return running(&data, args.json, clock.now());
    }
    let (store, settings) = open::earlier(&data, clock).await?;
    let stats = store.stats();
    let next = store.next_ready();
    let survey = Survey::of(&store, &settings, clock.now()).await;
    store.close().await?;
    let survey = survey?;
    let terminal = Terminal::new();
    if args.json {
        let next = next.map(|at| at.to_string());
        terminal.json(&json!({
            "running": false, "data": data, "pid": null, "run": null,
            "last_run": last_run(&data).map(|published| published.run),
            "next_due": next, "store": stats_json(&stats), "sites": survey,
        }));
        return Ok(Exit::Done);
    }
    terminal
        .line(terminal.paint(Tone::Title, format_args!("A crawl of {}", seeds(&settings.seeds))));
    rows(terminal, &stats);
    let row = |name: &str, value: String| terminal.line(format_args!("  {name:<12} {value}"));
    survey.rows().into_iter().for_each(|(name, value)| row(name, value));
    if let Some(last) = last_run(&data).filter(|last| !last.run.counts.dropped_links.is_empty()) {
        row(
            "links left",
            format!("{}, by the last run", by_reason(&last.run.counts.dropped_links)),
        );
    }
    if let Some(last) = last_run(&data) {
        for (name, value) in items_rows(&last.run.counts) {
            row(name, format!("{value}, by the last run"));
        }
    }
    match next {
        Some(at) if at <= clock.now() => row("next due", "now".into()),
        Some(at) => row("next due", format!("{at}, in {}", duration(at.since(clock.now())))),
        None => row("next due", "nothing is queued".into()),
    }
    Ok(Exit::Done)
}

fn seeds(seeds: &[url::Url]) -> String {
    let shown: Vec<_> = seeds.iter().take(3).map(url::Url::as_str).collect();
    match seeds.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn running(data: &Path, as_json: bool, now: Timestamp) -> anyhow::Result<Exit> {
    let path = status_file(data);
    let text = reading::whole(&path, reading::STATUS).with_context(|| {
        format!("{} is in use, and what it does could not be read", data.display())
    })?;
    let published: Published =
        serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))?;
    let terminal = Terminal::new();
    let progress = &published.run;
    let next = progress.next_due_ms.map(Timestamp::from_millis);
    if as_json {
        terminal.json(&json!({
            "running": true, "data": data, "pid": published.pid, "run": progress,
            "next_due": next.map(|at| at.to_string()), "store": published.store,
            "sites": published.sites,
        }));
        return Ok(Exit::Done);
    }
    let counts = &progress.counts;
    let row = |name: &str, value: String| terminal.line(format_args!("  {name:<12} {value}"));
    let title = format!(
        "Running as process {}, for {}",
        published.pid,
        duration(std::time::Duration::from_secs_f64(progress.seconds.max(0.0)))
    );
    terminal.line(terminal.paint(Tone::Title, title));
    row("fetched", grouped(counts.fetched));
    row(
        "indexed",
        format!(
            "{} by this run; withheld {}",
            plural(counts.indexed, "page", "pages"),
            by_reason(&counts.withheld)
        ),
    );
    row("refused", by_reason(&counts.refused));
    row("failed", by_reason(&counts.failed));
    counts_rows(counts).into_iter().for_each(|(name, value)| row(name, value));
    row("queued", grouped(progress.queued));
    row("known", grouped(progress.known));
    row("sites active", grouped(progress.sites_active as u64));
    published.sites.rows().into_iter().for_each(|(name, value)| row(name, value));
    if let Some(due) = next {
        row("next request", format!("in {}", duration(due.since(now))));
    }
    Ok(Exit::Done)
}

/// What the last run published, if it can be read.
fn last_run(data: &Path) -> Option<Published> {
    serde_json::from_slice(&std::fs::read(status_file(data)).ok()?).ok()
}

/// What a run met by the way, where there is something to tell.
fn counts_rows(counts: &Counts) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    for (name, reasons) in [
        ("links left", &counts.dropped_links),
        ("put off", &counts.waits),
        ("logins", &counts.walls),
    ] {
        if !reasons.is_empty() {
            rows.push((name, by_reason(reasons)));
        }
    }
    rows.extend(items_rows(counts));
    if counts.sitemaps > 0 {
        let listed = plural(counts.listed, "entry", "entries");
        rows.push(("sitemaps", format!("{}, {listed}", grouped(counts.sitemaps))));
    }
    if counts.same_text + counts.near_text > 0 {
        let (same, near) = (grouped(counts.same_text), grouped(counts.near_text));
        rows.push(("copies", format!("{same} with the same text, {near} with nearly the same")));
    }
    rows
}

fn rows(terminal: Terminal, stats: &Stats) {
    let row = |name: &str, value: String| terminal.line(format_args!("  {name:<12} {value}"));
    let sites = plural(stats.sites, "site", "sites");
    row("known", format!("{} on {sites}", plural(stats.known, "URL", "URLs")));
    row("queued", grouped(stats.queued));
    row("look again", grouped(stats.revisits));
    row("fetched", grouped(stats.fetched));
    row("sitemaps", grouped(stats.sitemaps));
    row("redirected", grouped(stats.redirected));
    row("refused", by_reason(&stats.refused));
    row("failed", by_reason(&stats.failed));
    row("noted only", by_reason(&stats.noted));
    if stats.outbox_pending > 0 {
        row("to index", plural(stats.outbox_pending, "page", "pages"));
    }
    row("memory", format!("{} while it runs, by estimate", megabytes(stats.memory_estimate_bytes)));
    row("disk", megabytes(stats.disk_bytes));
}

/// The store's figures for machines.
pub(super) fn stats_json(stats: &Stats) -> serde_json::Value {
    json!({
        "known": stats.known,
        "queued": stats.queued,
        "revisits": stats.revisits,
        "fetched": stats.fetched,
        "sitemaps": stats.sitemaps,
        "redirected": stats.redirected,
        "refused": stats.refused,
        "failed": stats.failed,
        "noted": stats.noted,
        "sites": stats.sites,
        "outbox_pending": stats.outbox_pending,
        "memory_estimate_bytes": stats.memory_estimate_bytes,
        "disk_bytes": stats.disk_bytes,
    })
}
