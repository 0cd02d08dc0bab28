//! `comity crawl`

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use comity_compliance::{RefusalReason, ScopeKind, Timestamp};
use comity_storage::{EngineKind, Opening, Stats, Store as _};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::args::CrawlArgs;
use super::status::Survey;
use super::terminal::{Terminal, Tone, by_reason, duration, grouped, megabytes, plural};
use super::{Exit, Usage, config_file, flags, open, progress, status};
use crate::clock::Clock;
use crate::config::{Config, nearest};
use crate::crawl::{
    Counts, Crawl, End, Event, Extractors, Parts, Progress, Reporter, Watch, save_config,
};
use crate::extract::rules;
use crate::net::HttpTransport;
use crate::output::bulk::Bulk;
use crate::output::items::{ItemFiles, ItemFormat};
use crate::output::warc::Archive;
use crate::settings::Settings;

pub(super) async fn run(args: CrawlArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let clock = Clock::real();
    let (config, set_by_flags) = effective(&args, config_file(config)?, clock).await?;
    let settings = Settings::new(&config)?;
    let rules = rules::check(&config.extract)?;
    refuse_anonymous(&settings)?;
    let transport = transport(&settings, clock)?;
    let store = open::store(&settings.store, clock)?;
    let index = open::index(&settings, &store).await?;
    let archive = settings.warc.clone().map(Archive::open).transpose()?;
    let bulk = settings.bulk.clone().map(Bulk::new).transpose()?;
    let again = save_config(&store, &config).await?;
    flags::save(&store, &set_by_flags).await?;
    if again > 0 {
        progress::say(&format!(
            "{} that the last run's settings held back {} judged anew",
            plural(again, "page", "pages"),
            if again == 1 { "is" } else { "are" },
        ));
    }
    if args.look_now {
        let again = store.look_now().await?;
        progress::say(&format!("{} due now", plural(again, "page is", "pages are")));
    }
    let recovered = store.opening() == Opening::Recovered;
    let troubles = Troubles::default();
    let crawl = Crawl::new(Parts {
        store,
        recovered,
        transport,
        clock,
        reporter: Reporter::new(listener(troubles.clone(), args.verbose)),
        index,
        archive,
        bulk,
        scorer: None,
        filter: None,
        extractors: extractors(rules, &settings)?,
        stop: stop_on_ctrl_c(),
        settings: settings.clone(),
    })?;
    let watch = crawl.watch();
    let (ended, progress) = watched(crawl, &watch, &settings, clock).await;
    let ended = ended?;
    let stats = watch.stats();
    if args.json {
        Terminal::new().json(&as_json(ended, &progress, &stats));
    } else {
        Summary { settings: &settings, ended, progress: &progress, stats: &stats, clock }
            .print(&troubles);
    }
    let nothing = stats.fetched == 0 && ended != End::Stopped;
    Ok(if nothing { Exit::NothingFetched } else { Exit::Done })
}

/// What the settings take out of pages, and where it goes.
fn extractors(rules: Vec<rules::Rules>, settings: &Settings) -> anyhow::Result<Extractors> {
    let mut extractors = Extractors::default();
    if rules.is_empty() {
        return Ok(extractors);
    }
    let mut items = settings.items.clone().ok_or_else(|| {
        Usage(
            "items are kept in the data directory, and a store in memory has none: set \
             output.items.path or storage.store = \"sled\", or take [extract] out"
                .into(),
        )
    })?;
    if items.format == ItemFormat::Csv {
        let mut fields: Vec<String> = vec![];
        for name in rules.iter().flat_map(rules::Rules::field_names) {
            if !fields.iter().any(|field| field == name) {
                fields.push(name.into());
            }
        }
        if items.columns.is_empty() {
            items.columns = fields;
        } else if let Some(column) = items.columns.iter().find(|name| !fields.contains(name)) {
            return Err(Usage(no_such_field(column, &fields)).into());
        }
    }
    extractors.send_to(Arc::new(ItemFiles::open(items)?));
    rules.into_iter().for_each(|rules| extractors.add(rules));
    Ok(extractors)
}

fn no_such_field(column: &str, fields: &[String]) -> String {
    let nearest = nearest(column, fields.iter().map(String::as_str));
    let advice = match nearest {
        Some(field) => format!("did you mean \"{field}\"?"),
        None => format!("there are {}", fields.join(", ")),
    };
    format!("output.items.columns: no extractor has a field \"{column}\"; {advice}")
}

/// The settings file with the flags over it, and which settings the flags set. Without a seed in
/// either, the flags of the last run stay; and without a settings file, so do all its settings.
async fn effective(
    args: &CrawlArgs,
    file: Option<Config>,
    clock: Clock,
) -> anyhow::Result<(Config, flags::Names)> {
    let is_file = file.is_some();
    let file = file.unwrap_or_default();
    let mut config = file.clone();
    if let Some(data) = &args.data.data {
        config.storage.data.clone_from(data);
    }
    if args.seeds.is_empty() && config.crawl.seeds.is_empty() {
        let data = config.storage.data.clone();
        let saved = open::saved_config(&data, clock).await?;
        let saved = saved.filter(|(saved, _)| !saved.crawl.seeds.is_empty());
        let (saved, names) = saved.ok_or_else(|| {
            Usage(format!(
                "where should it begin? Name a seed, such as `comity crawl https://example.org/`, \
                 or set crawl.seeds in comity.toml ({} holds no earlier crawl to go on with)",
                data.display()
            ))
        })?;
        config = if is_file { flags::over(&file, &saved, &names)? } else { saved.clone() };
        if config.crawl.seeds.is_empty() {
            // They stood in the file.
            config.crawl.seeds = saved.crawl.seeds;
        }
        config.storage.data = data;
    }
    overlay(args, &mut config);
    let names = flags::set_by_flags(&file, &config);
    Ok((config, names))
}

fn overlay(args: &CrawlArgs, config: &mut Config) {
    fn set<T: Clone>(target: &mut T, flag: &Option<T>) {
        if let Some(value) = flag {
            target.clone_from(value);
        }
    }
    if !args.seeds.is_empty() {
        config.crawl.seeds.clone_from(&args.seeds);
    }
    config.crawl.sitemaps.extend(args.sitemaps.iter().cloned());
    config.crawl.sitemaps.dedup();
    if !args.focus.is_empty() {
        config.crawl.focus.clone_from(&args.focus);
    }
    config.crawl.follow_sitemaps &= !args.no_sitemaps;
    set(&mut config.crawl.scope, &args.scope);
    set(&mut config.crawl.max_pages, &args.max_pages);
    set(&mut config.crawl.patience, &args.patience);
    set(&mut config.politeness.policy, &args.policy);
    set(&mut config.politeness.interval, &args.interval);
    set(&mut config.politeness.address_per_second, &args.address_per_second);
    set(&mut config.politeness.whole_per_second, &args.whole_per_second);
    set(&mut config.identity.agent, &args.agent);
    set(&mut config.network.page_bytes, &args.page_bytes);
    set(&mut config.storage.store, &args.store);
    set(&mut config.storage.durability, &args.durability);
    config.crawl.depth = args.depth.or(config.crawl.depth);
    config.identity.contact = args.contact.clone().or(config.identity.contact.take());
    config.network.ca_file = args.ca_file.clone().or(config.network.ca_file.take());
    config.network.proxy = args.proxy.clone().or(config.network.proxy.take());
    config.network.allow.extend(args.allow_network.iter().cloned());
    config.network.allow.dedup();
    config.output.warc.dir = args.warc.clone().or(config.output.warc.dir.take());
    config.index.enabled &= !args.no_index;
    config.index.bare_urls |= args.bare_urls;
    config.recrawl.stay |= args.stay;
}

fn refuse_anonymous(settings: &Settings) -> Result<(), Usage> {
    if !settings.lacks_contact() {
        return Ok(());
    }
    let remedy =
        if settings.scope == ScopeKind::Any { " (also because the scope is any)" } else { "" };
    Err(Usage(format!(
        "a crawl of other people's sites needs a way for them to reach you{remedy}: give \
         --contact https://example.org/our-crawler or --contact you@example.org, or set \
         identity.contact in comity.toml. It is sent in the User-Agent header, so that a site \
         owner can ask you before blocking you"
    )))
}

pub(super) fn transport(settings: &Settings, clock: Clock) -> anyhow::Result<HttpTransport> {
    HttpTransport::new(settings.net.http_config(&settings.identity), clock)
        .context("could not set up the network")
}

/// The first Ctrl-C, or SIGTERM, ends the crawl cleanly; the second at once.
pub(super) fn stop_on_ctrl_c() -> CancellationToken {
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        stop_asked().await;
        progress::say(
            "stopping: requests under way are finished, then the crawl can go on later. Ctrl-C again stops at once",
        );
        token.cancel();
        stop_asked().await;
        std::process::exit(130);
    });
    stop
}

async fn stop_asked() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Looking over the sites takes longer than counting.
const SURVEYED_EVERY: Duration = Duration::from_secs(2);

/// Runs a crawl and shows how far it is.
pub(super) async fn watched(
    crawl: Crawl<open::AnyStore, HttpTransport>,
    watch: &Watch<open::AnyStore, HttpTransport>,
    settings: &Settings,
    clock: Clock,
) -> (Result<End, crate::crawl::CrawlError>, Progress) {
    let started = clock.now();
    let mut display = progress::Display::new();
    let mut tick = tokio::time::interval(Duration::from_millis(250));
    let mut resurvey = tokio::time::interval(SURVEYED_EVERY);
    let mut sites = Survey::default();
    let run = crawl.run();
    tokio::pin!(run);
    let ended = loop {
        tokio::select! {
            ended = &mut run => break ended,
            _ = tick.tick() => {
                let progress = watch.progress(started);
                display.show(&progress, clock.now().as_millis());
                let known = (&watch.stats(), &sites);
                status::publish(&settings.store, &progress, known, clock.now());
            }
            _ = resurvey.tick() => sites = Survey::of_running(watch, settings, clock.now()),
        }
    };
    display.end();
    let progress = watch.progress(started);
    let known = (&watch.stats(), &Survey::of_running(watch, settings, clock.now()));
    status::publish(&settings.store, &progress, known, clock.now());
    (ended, progress)
}

/// What went wrong, for the end: the first few of it.
#[derive(Clone, Debug, Default)]
struct Troubles(Arc<Mutex<Vec<String>>>);

const TROUBLES_SHOWN: usize = 8;

impl Troubles {
    fn add(&self, text: String) {
        let mut troubles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if troubles.len() < TROUBLES_SHOWN {
            troubles.push(text);
        }
    }
}

fn listener(troubles: Troubles, verbose: bool) -> impl Fn(&Event<'_>) + Send + Sync + 'static {
    move |event| {
        let (text, trouble) = in_words(event);
        if verbose {
            progress::say(&text);
        }
        if trouble {
            troubles.add(text);
        }
    }
}

/// An event as a line, and whether it is a trouble that the end must tell.
pub(super) fn in_words(event: &Event<'_>) -> (String, bool) {
    match event {
        Event::Fetched { url, status, withheld: None } => (format!("{status} {url}"), false),
        Event::Fetched { url, status, withheld: Some(why) } => {
            (format!("{status} {url}, not indexed: {why}"), false)
        }
        Event::Refused { url, reason, evidence } => {
            let evidence = evidence.map_or(String::new(), |evidence| format!(" ({evidence})"));
            let is_loud = *reason == RefusalReason::BlockedAddress.code();
            (format!("refused {url}: {reason}{evidence}"), is_loud)
        }
        Event::Failed { url, reason, detail, .. } => {
            (format!("failed {url}: {reason}: {detail}"), true)
        }
        Event::Extracted { url, items } => {
            (format!("{} of {url}", plural(*items, "item", "items")), false)
        }
        Event::ExtractFailed { url, extractor, detail } => {
            (format!("extractor {extractor} failed on {url}: {detail}"), true)
        }
        Event::Waits { url, cause, detail, until } => {
            (format!("waits {url}: {}: {detail}; asked again after {until}", cause.code()), true)
        }
    }
}

fn as_json(ended: End, progress: &Progress, stats: &Stats) -> serde_json::Value {
    json!({
        "ended": match ended {
            End::Done => "done",
            End::Waits(_) => "waits",
            End::PageLimit => "page-limit",
            End::Stopped => "stopped",
        },
        "waits_until": match ended {
            End::Waits(until) => Some(until.to_string()),
            End::Done | End::PageLimit | End::Stopped => None,
        },
        "run": progress.counts,
        "seconds": progress.seconds,
        "store": status::stats_json(stats),
    })
}

/// What was extracted, where there is something to tell.
pub(super) fn items_rows(counts: &Counts) -> Vec<(&'static str, String)> {
    let rows = [
        ("items", &counts.items),
        ("no item", &counts.items_left_out),
        ("extract", &counts.extract_errors),
    ];
    let rows = rows.into_iter().filter(|(_, by_name)| !by_name.is_empty());
    let words = |(name, by_name): (&'static str, _)| match name {
        "extract" => (name, format!("failed on {}", by_reason(by_name))),
        _ => (name, by_reason(by_name)),
    };
    rows.map(words).collect()
}

struct Summary<'a> {
    settings: &'a Settings,
    ended: End,
    progress: &'a Progress,
    stats: &'a Stats,
    clock: Clock,
}

impl Summary<'_> {
    fn print(&self, troubles: &Troubles) {
        let terminal = Terminal::new();
        let counts = &self.progress.counts;
        let row = |name: &str, value: String| terminal.line(format_args!("  {name:<10} {value}"));
        terminal.line(terminal.paint(Tone::Title, self.ending()));
        row("fetched", self.fetched());
        if self.settings.index {
            row(
                "indexed",
                format!(
                    "{}; withheld {}",
                    plural(counts.indexed, "page", "pages"),
                    by_reason(&counts.withheld)
                ),
            );
        }
        items_rows(counts).into_iter().for_each(|(name, value)| row(name, value));
        if counts.sitemaps > 0 {
            let listed = plural(counts.listed, "entry", "entries");
            row("sitemaps", format!("{}, {listed}", grouped(counts.sitemaps)));
        }
        row("refused", by_reason(&counts.refused));
        if !counts.failed.is_empty() {
            row("failed", by_reason(&counts.failed));
        }
        if !counts.waits.is_empty() {
            row("put off", by_reason(&counts.waits));
        }
        if counts.same_text > 0 {
            row("copies", format!("{} with the text of another page", grouped(counts.same_text)));
        }
        if !counts.walls.is_empty() {
            row("logins", by_reason(&counts.walls));
        }
        if !counts.dropped_links.is_empty() {
            row("links", format!("not followed {}", by_reason(&counts.dropped_links)));
        }
        row(
            "known",
            format!(
                "{}, {} queued, {} to be looked at again",
                plural(self.stats.known, "URL", "URLs"),
                grouped(self.stats.queued),
                grouped(self.stats.revisits)
            ),
        );
        for trouble in troubles.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            terminal.line(format_args!("  {}", terminal.paint(Tone::Bad, trouble)));
        }
        self.advice(terminal);
    }

    fn fetched(&self) -> String {
        let counts = &self.progress.counts;
        let mut text = plural(counts.fetched, "page", "pages");
        text.push_str(&format!(
            " ({}, {}), {} in {}",
            plural(counts.redirected, "redirect", "redirects"),
            plural(counts.robots_requests, "robots.txt request", "robots.txt requests"),
            megabytes(counts.wire_bytes),
            duration(Duration::from_secs_f64(self.progress.seconds)),
        ));
        if counts.truncated > 0 {
            text.push_str(&format!(", {} cut at the size limit", grouped(counts.truncated)));
        }
        text
    }

    fn ending(&self) -> String {
        let now = self.clock.now();
        match self.ended {
            End::Done if self.stats.fetched == 0 => "Ended: nothing could be fetched.".into(),
            End::Done if self.progress.counts.fetched == 0 => {
                format!("Finished: all that is known was fetched before.{}", self.due_again())
            }
            End::Done => format!("Finished: nothing is queued any more.{}", self.due_again()),
            End::Waits(until) => format!(
                "Ended: what is queued is due later than the patience of {}; the first in {}. Run the same command again then.",
                duration(self.settings.patience),
                duration(until.since(now)),
            ),
            End::PageLimit => format!(
                "Ended: the limit of {} is reached. A higher --max-pages goes on.",
                plural(self.settings.max_pages.unwrap_or(0), "page", "pages")
            ),
            End::Stopped => "Stopped. The same command again goes on where it stopped.".into(),
        }
    }

    /// When the first of the pages that were had is looked at again.
    fn due_again(&self) -> String {
        let Some(due) = self.progress.next_due_ms.map(Timestamp::from_millis) else {
            return String::new();
        };
        let pause = duration(due.since(self.clock.now()));
        format!(
            " The same command looks at pages again when they are due, the first in {pause}; --stay waits for it."
        )
    }

    fn advice(&self, terminal: Terminal) {
        let items = self.settings.items.as_ref();
        if let Some(items) = items.filter(|_| !self.progress.counts.items.is_empty()) {
            terminal.line(format_args!("Items:     {}", items.path.display()));
        }
        if self.settings.store.engine == EngineKind::Memory {
            terminal.line("What is known is not kept: the store was in memory.");
            return;
        }
        let data = self.settings.store.data.display();
        let flag = if self.settings.store.data == Path::new("comity-data") {
            String::new()
        } else {
            format!(" --data {data}")
        };
        if self.progress.counts.indexed > 0 {
            terminal.line(format_args!("Search it: comity search WORDS{flag}"));
        }
        terminal.line(format_args!(
            "Ask why:   comity explain URL{flag}   (all decisions: {data}/audit.jsonl)"
        ));
    }
}
