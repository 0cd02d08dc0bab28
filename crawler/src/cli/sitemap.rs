//! `comity sitemap`: what a sitemap lists, which of it counts, and what is wrong with it.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context as _;
use comity_compliance::{
    CrossSubmission, NotListed, Origin, SitemapFault, Submission, Timestamp, may_list,
};
use serde_json::{Value, json};
use url::Url;

use super::args::{SitemapArgs, Submitted};
use super::terminal::{Terminal, Tone, grouped, plural};
use super::{Exit, Usage};
use crate::clock::Clock;
use crate::sitemap::{
    Listed, ListedPage, SitemapKind, SitemapLimits, SitemapReader, SitemapReport,
};
use crate::urls::normalise;

pub(super) fn run(args: &SitemapArgs) -> anyhow::Result<Exit> {
    let terminal = Terminal::new();
    let place = Place::of(args)?;
    let now = Clock::real().now();
    let reader = SitemapReader::new(SitemapLimits::default(), now);
    let mut uncounted = Vec::new();
    let mut shown = 0;
    let report = reader.read(open(&args.file)?, |listed| {
        let judged = place.as_ref().map_or(Ok(()), |place| place.judge(&listed));
        if let Err(reason) = judged {
            count(&mut uncounted, reason);
        }
        if args.json {
            terminal.line(entry_json(&listed, judged, now));
        } else if args.limit == 0 || shown < args.limit {
            print_entry(terminal, &listed, judged, now);
        }
        shown += 1;
        ControlFlow::Continue(())
    });
    if args.json {
        print_json(terminal, &report, &uncounted);
    } else {
        print_report(terminal, args, &report, &uncounted);
    }
    let is_fine = report.counts.is_empty() && uncounted.is_empty();
    Ok(if is_fine { Exit::Done } else { Exit::FoundErrors })
}

fn open(file: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let name = file.to_string_lossy();
    if name.contains("://") && !file.exists() {
        let how = format!("curl -s {name} | comity sitemap - --url {name}");
        return Err(Usage(format!("a file is read, and nothing fetched; try {how}")).into());
    }
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file).with_context(|| format!("could not read {}", file.display()))?;
    Ok(Box::new(BufReader::new(opened)))
}

/// Where the sitemap is from.
struct Place {
    url: Url,
    submission: Submission,
}

impl Place {
    fn of(args: &SitemapArgs) -> Result<Option<Self>, Usage> {
        let Some(url) = &args.url else { return Ok(None) };
        let parsed = Url::parse(url).map_err(|e| Usage(format!("--url \"{url}\": {e}")))?;
        let url = normalise(&parsed);
        let origin = Origin::of(&url).map_err(|e| Usage(format!("--url \"{url}\": {e}")))?;
        let submission = match args.submitted {
            Submitted::Robots => Submission::RobotsTxt(origin),
            Submitted::Operator => Submission::Operator,
            Submitted::No => Submission::Unsubmitted,
        };
        Ok(Some(Self { url, submission }))
    }

    /// No robots.txt of another site is read here.
    fn judge(&self, listed: &Listed) -> Result<(), NotListed> {
        may_list(&self.url, &self.submission, listed.url(), CrossSubmission::Unknown)
    }
}

fn count(uncounted: &mut Vec<(NotListed, u64)>, reason: NotListed) {
    match uncounted.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, count)) => *count += 1,
        None => uncounted.push((reason, 1)),
    }
}

/// Whether an entry says that it changes only later; such a date tells nothing.
fn is_ahead(listed: &Listed, now: Timestamp) -> bool {
    listed.lastmod().is_some_and(|date| date > now)
}

fn print_entry(terminal: Terminal, listed: &Listed, judged: Result<(), NotListed>, now: Timestamp) {
    let ahead = if is_ahead(listed, now) { " (in the future)" } else { "" };
    let lastmod = listed.lastmod().map_or(String::new(), |date| format!("  {date}{ahead}"));
    let more = match listed {
        Listed::Page(page) => extras(page),
        Listed::Sitemap(_) => String::new(),
    };
    let verdict = match judged {
        Ok(()) => String::new(),
        Err(reason) => format!("  {}", terminal.paint(Tone::Bad, reason)),
    };
    let facts = terminal.paint(Tone::Faint, format_args!("{lastmod}{more}"));
    terminal.line(format_args!("  {}{facts}{verdict}", listed.url()));
}

fn extras(page: &ListedPage) -> String {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let parts = [
        (page.images.len(), "image", "images"),
        (page.videos.len(), "video", "videos"),
        (page.alternates.len(), "language", "languages"),
    ];
    let parts = parts.iter().filter(|(count, ..)| *count > 0);
    let parts = parts.map(|(count, one, many)| format!("  {}", plural(number(*count), one, many)));
    let news = if page.news.is_some() { "  news" } else { "" };
    parts.collect::<String>() + news
}

fn print_report(
    terminal: Terminal,
    args: &SitemapArgs,
    report: &SitemapReport,
    uncounted: &[(NotListed, u64)],
) {
    let hidden = match args.limit {
        0 => 0,
        limit => report.listed.saturating_sub(limit),
    };
    if hidden > 0 {
        terminal.line(format_args!("  and {} more (--limit 0 prints all)", grouped(hidden)));
    }
    for fault in &report.faults {
        let detail = &fault.detail;
        let colon = if detail.is_empty() { "" } else { ": " };
        terminal.line(format_args!(
            "  {}  {}{colon}{detail}",
            fault.at,
            terminal.paint(Tone::Bad, fault.fault)
        ));
    }
    for (fault, count) in &report.counts {
        print_advice(terminal, fault.code(), *count, (fault.advice(), fault.clause()));
    }
    for (reason, count) in uncounted {
        print_advice(terminal, reason.code(), *count, (reason.advice(), reason.clause()));
    }
    let kind = report.kind.map_or("no sitemap", SitemapKind::name);
    let not_listed: u64 = uncounted.iter().map(|(_, count)| count).sum();
    let counting = match (args.url.is_some(), report.listed.saturating_sub(not_listed)) {
        (false, _) => String::new(),
        (true, 1) => ", 1 of them counts".into(),
        (true, counting) => format!(", {} of them count", grouped(counting)),
    };
    let packed = if report.gzip_layers > 0 { ", gzip" } else { "" };
    terminal.line(format_args!(
        "{}: {} of {} usable{counting}, {}{packed}, {}",
        terminal.paint(Tone::Title, kind),
        grouped(report.listed),
        plural(report.entries, "entry", "entries"),
        plural(report.bytes, "byte", "bytes"),
        report.charset,
    ));
    if let Some(fault) = report.ended_by {
        let end = terminal.paint(Tone::Bad, "not read to its end");
        terminal.line(format_args!("{end}: {}", meaning(fault)));
    }
}

fn meaning(fault: SitemapFault) -> String {
    format!("{fault}: {}", fault.meaning())
}

fn print_advice(terminal: Terminal, code: &str, count: u64, (advice, clause): (&str, &str)) {
    let times = plural(count, "time", "times");
    terminal.line(format_args!("{}, {times}", terminal.paint(Tone::Note, code)));
    terminal.line(format_args!("      {advice} ({clause})"));
}

fn entry_json(listed: &Listed, judged: Result<(), NotListed>, now: Timestamp) -> Value {
    let date = |date: Option<Timestamp>| date.map(|date| date.to_string());
    let mut told = json!({
        "url": listed.url().as_str(), "line": listed.at().line, "byte": listed.at().byte,
        "lastmod": date(listed.lastmod()), "lastmod_in_the_future": is_ahead(listed, now),
        "not_listed": judged.err().map(NotListed::code),
    });
    let Listed::Page(page) = listed else {
        told["what"] = "sitemap".into();
        return told;
    };
    told["what"] = "page".into();
    let text = |url: &Url| url.as_str().to_owned();
    told["images"] = page.images.iter().map(text).collect();
    told["alternates"] =
        page.alternates.iter().map(|a| json!([a.language, a.url.as_str()])).collect();
    told["videos"] = page
        .videos
        .iter()
        .map(|video| {
            json!({
                "title": video.title, "description": video.description,
                "thumbnail": video.thumbnail.as_ref().map(text),
                "content": video.content.as_ref().map(text),
                "player": video.player.as_ref().map(text),
                "duration_s": video.duration.map(|duration| duration.as_secs()),
                "published": date(video.published), "expires": date(video.expires),
            })
        })
        .collect();
    told["news"] = json!(page.news.as_ref().map(|news| {
        json!({
            "publication": news.publication, "language": news.language, "title": news.title,
            "published": date(news.published),
        })
    }));
    told
}

fn print_json(terminal: Terminal, report: &SitemapReport, uncounted: &[(NotListed, u64)]) {
    for fault in &report.faults {
        terminal.line(json!({
            "fault": fault.fault.code(), "line": fault.at.line, "byte": fault.at.byte,
            "detail": fault.detail, "advice": fault.fault.advice(), "clause": fault.fault.clause(),
        }));
    }
    let faults = report.counts.iter().map(|(fault, count)| (fault.code().into(), json!(count)));
    let not_listed = uncounted.iter().map(|(reason, count)| (reason.code().into(), json!(count)));
    terminal.line(json!({
        "kind": report.kind.map(SitemapKind::name), "listed": report.listed,
        "entries": report.entries, "bytes": report.bytes, "gzip_layers": report.gzip_layers,
        "count": report.listed.saturating_sub(uncounted.iter().map(|(_, count)| count).sum()),
        "charset": report.charset, "ended_by": report.ended_by.map(SitemapFault::code),
        "faults": faults.collect::<serde_json::Map<_, _>>(),
        "not_listed": not_listed.collect::<serde_json::Map<_, _>>(),
    }));
}
