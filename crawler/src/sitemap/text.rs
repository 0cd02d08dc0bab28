//! Lists in plain text: one address a line (SM-002).

use std::io::BufRead;
use std::ops::ControlFlow;

use comity_compliance::SitemapFault;

use super::report::Sink;
use super::source::Source;
use super::{Listed, ListedPage, Position, SitemapKind};

/// Reads a list. The first line with anything on it tells whether it is one: it begins with
/// `http://` or `https://`.
pub(super) fn read(source: &mut Source<'_>, sink: &mut Sink<'_>) {
    // One more than an address may have tells that it is too long.
    let kept = sink.limits.url_bytes.saturating_add(1);
    let mut line = Vec::new();
    let mut at = source.position();
    loop {
        let Ok(available) = source.fill_buf() else { return };
        let is_end = available.is_empty();
        let stop = available.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let piece = available.get(..stop.unwrap_or(available.len())).unwrap_or_default();
        let room = kept.saturating_sub(line.len()).min(piece.len());
        // Blanks in front of an address do not count.
        let skip = if line.is_empty() { piece.len() - piece.trim_ascii_start().len() } else { 0 };
        let end = skip.saturating_add(room).min(piece.len());
        line.extend_from_slice(piece.get(skip..end).unwrap_or_default());
        let used = piece.len() + usize::from(stop.is_some());
        source.consume(used);
        // The last line of a text that was cut may be cut itself.
        let is_whole = stop.is_some() || (is_end && !source.is_cut());
        if is_whole && take_line(&line, at, sink).is_break() {
            return;
        }
        if is_end {
            return;
        }
        if stop.is_some() {
            line.clear();
            at = source.position();
        }
    }
}

fn take_line(line: &[u8], at: Position, sink: &mut Sink<'_>) -> ControlFlow<()> {
    // The end may be in the middle of a character where the line was too long to be kept.
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if line.is_empty() {
        return ControlFlow::Continue(());
    }
    if sink.report.kind.is_none() {
        let starts = |scheme: &str| {
            line.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        if !starts("http://") && !starts("https://") {
            return sink.end(at, SitemapFault::NotASitemap, line);
        }
        sink.report.kind = Some(SitemapKind::Text);
    }
    sink.begin_entry(at)?;
    if line.contains(char::is_whitespace) {
        sink.fault(at, SitemapFault::NotAUrl, line);
        return ControlFlow::Continue(());
    }
    let Some(url) = sink.address(at, line) else { return ControlFlow::Continue(()) };
    sink.emit(Listed::Page(Box::new(ListedPage {
        url,
        at,
        lastmod: None,
        alternates: Vec::new(),
        images: Vec::new(),
        videos: Vec::new(),
        news: None,
    })))
}
