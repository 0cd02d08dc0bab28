//! What a person sees while a crawl runs: one living line on a terminal, a line now and then
//! elsewhere. Log lines pass above the living one.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::fmt::MakeWriter;

use super::terminal::{by_reason, duration, grouped};
use super::visible::visible;
use crate::crawl::Progress;

static LIVING_LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Shows how far a crawl is, on standard error.
#[derive(Debug)]
pub(super) struct Display {
    bar: Option<ProgressBar>,
    last_line_at: f64,
}

/// Where there is no terminal, a line is written this often.
const LINE_EVERY_SECONDS: f64 = 10.0;

impl Display {
    pub(super) fn new() -> Self {
        let bar = io::stderr().is_terminal().then(living_line);
        Self { bar, last_line_at: 0.0 }
    }

    pub(super) fn show(&mut self, progress: &Progress, now_ms: i64) {
        let text = in_words(progress, now_ms);
        match &self.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.tick();
            }
            None if progress.seconds - self.last_line_at >= LINE_EVERY_SECONDS => {
                self.last_line_at = progress.seconds;
                say(&text);
            }
            None => {}
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how much of a known amount of work is done, on a terminal.
#[derive(Debug)]
pub(super) struct Meter {
    what: &'static str,
    bar: Option<ProgressBar>,
}

impl Meter {
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, bar: io::stderr().is_terminal().then(living_line) }
    }

    pub(super) fn show(&mut self, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            let percent = done.saturating_mul(100).checked_div(of).unwrap_or(100);
            bar.set_message(format!("{}: {percent} %", self.what));
            bar.tick();
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn living_line() -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(5);
    let bar = LIVING_LINE.get_or_init(|| ProgressBar::with_draw_target(None, target)).clone();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

fn in_words(progress: &Progress, now_ms: i64) -> String {
    let counts = &progress.counts;
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let rate = counts.fetched as f64 / progress.seconds.max(0.001);
    let mut text = format!(
        "{} fetched, {rate:.1}/s, {} queued, {} active",
        grouped(counts.fetched),
        grouped(progress.queued),
        match progress.sites_active {
            1 => "1 site".into(),
            sites => format!("{} sites", grouped(sites as u64)),
        },
    );
    if let Some(due) = progress.next_due_ms {
        let wait = Duration::from_millis(due.saturating_sub(now_ms).try_into().unwrap_or(0));
        text.push_str(&format!(", next request in {}", duration(wait)));
    }
    if !counts.items.is_empty() {
        text.push_str(&format!(", items {}", by_reason(&counts.items)));
    }
    if !counts.extract_errors.is_empty() {
        text.push_str(&format!(", extract errors {}", by_reason(&counts.extract_errors)));
    }
    if !counts.refused.is_empty() {
        text.push_str(&format!(", refused {}", by_reason(&counts.refused)));
    }
    if !counts.failed.is_empty() {
        text.push_str(&format!(", failed {}", by_reason(&counts.failed)));
    }
    text
}

/// Writes a line on standard error, as far as it is visible, above the living line if there is one.
pub(super) fn say(text: &str) {
    let write = || {
        // Nobody to tell if standard error is closed.
        let _ = writeln!(io::stderr().lock(), "{}", visible(text));
    };
    match LIVING_LINE.get() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Log lines, written above the living line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogLines;

/// One log line.
#[derive(Debug, Default)]
pub(super) struct LogLine(Vec<u8>);

impl<'a> MakeWriter<'a> for LogLines {
    type Writer = LogLine;

    fn make_writer(&'a self) -> LogLine {
        LogLine::default()
    }
}

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        if !text.trim_end().is_empty() {
            say(text.trim_end());
        }
    }
}
