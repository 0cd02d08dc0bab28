//! `comity demo`: the lab's small web, crawled, and what was done with it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use comity_conformance::{DEMO_AGENT, Expectations, Lab, Report, judge};
use comity_storage::{EngineKind, Opening};

use super::args::DemoArgs;
use super::search::one_line;
use super::terminal::{Terminal, Tone, duration, plural};
use super::{Exit, crawl, open};
use crate::clock::Clock;
use crate::config::{Config, Span};
use crate::crawl::{Crawl, Event, Extractors, Parts, Reporter, save_config};
use crate::index::Searcher;
use crate::settings::Settings;

pub(super) async fn run(args: DemoArgs) -> anyhow::Result<Exit> {
    let terminal = Terminal::new();
    let lab = Lab::start().await.context("could not start the small web on 127.0.0.1")?;
    let data = fresh_data_dir(args.data.clone())?;
    let config = config(&lab, &args, data);
    let settings = Settings::new(&config)?;
    introduce(terminal, &lab, &settings);
    let events = crawl_lab(&settings, &config).await?;
    let expectations = lab.expectations();
    if let Some(path) = &args.ledger {
        lab.write_ledger(path)?;
    }
    let report = judge(&lab.stop().await, &expectations, args.interval.0);
    events.print(terminal);
    if settings.store.engine != EngineKind::Memory {
        show_searches(terminal, &settings, &expectations)?;
    }
    conclude(terminal, &report, &settings);
    if !report.kept() {
        bail!("the sites saw a rule broken: {report}");
    }
    Ok(Exit::Done)
}

/// A directory of its own for each demo: the ports, and so the URLs, are new each time.
fn fresh_data_dir(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let data = named.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("comity-demo-{}", std::process::id()))
    });
    if std::fs::read_dir(&data).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty: the demo needs a directory of its own", data.display());
    }
    Ok(data)
}

fn config(lab: &Lab, args: &DemoArgs, data: PathBuf) -> Config {
    let mut config = Config::default();
    config.crawl.seeds = vec![lab.seed().into()];
    config.crawl.scope = "any".into();
    config.crawl.patience = Span(Duration::from_secs(5).max(3 * args.interval.0));
    config.identity.agent = DEMO_AGENT.into();
    config.politeness.interval = args.interval;
    // All sites of the lab share one address.
    config.politeness.address_per_second = 100;
    config.network.allow = vec!["127.0.0.1/32".into()];
    config.network.connect_timeout = Span::secs(2);
    config.storage.data = data;
    config.storage.store.clone_from(&args.store);
    config
}

fn introduce(terminal: Terminal, lab: &Lab, settings: &Settings) {
    let sites = lab.sites();
    terminal.line(terminal.paint(
        Tone::Title,
        format_args!("A small web of {} sites runs on this machine:", sites.len()),
    ));
    for site in sites {
        terminal.line(format_args!("  {:<34} {}", site.base_url, site.about));
    }
    terminal.line(format_args!(
        "\nCrawling it from {} as {}, one request to a site every {}. About 15 seconds.",
        lab.seed(),
        settings.identity.token(),
        duration(settings.policy.interval),
    ));
}

async fn crawl_lab(settings: &Settings, config: &Config) -> anyhow::Result<Events> {
    let clock = Clock::real();
    let store = open::store(&settings.store, clock)?;
    let index = open::index(settings, &store).await?;
    save_config(&store, config).await?;
    let events = Events::default();
    let crawl = Crawl::new(Parts {
        recovered: store.opening() == Opening::Recovered,
        store,
        transport: crawl::transport(settings, clock)?,
        clock,
        reporter: Reporter::new(events.listener()),
        index,
        archive: None,
        bulk: None,
        scorer: None,
        filter: None,
        extractors: Extractors::default(),
        stop: crawl::stop_on_ctrl_c(),
        settings: settings.clone(),
    })?;
    let watch = crawl.watch();
    let (ended, _) = crawl::watched(crawl, &watch, settings, clock).await;
    ended?;
    Ok(events)
}

/// What happened, by kind, for the end.
#[derive(Clone, Debug, Default)]
struct Events(Arc<Mutex<Lists>>);

#[derive(Debug, Default)]
struct Lists {
    indexed: Vec<String>,
    withheld: Vec<String>,
    refused: Vec<String>,
    failed: Vec<String>,
    waits: Vec<String>,
}

impl Events {
    fn listener(&self) -> impl Fn(&Event<'_>) + Send + Sync + 'static {
        let lists = Arc::clone(&self.0);
        move |event| {
            let mut lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Event::Fetched { url, status: _, withheld: None } => {
                    lists.indexed.push(url.to_string())
                }
                Event::Fetched { url, status, withheld: Some(why) } => {
                    lists.withheld.push(format!("{url}  {why} (status {status})"));
                }
                Event::Refused { url, reason, evidence } => {
                    let evidence = evidence.map_or(String::new(), |text| format!(": {text}"));
                    lists.refused.push(format!("{url}  {reason}{evidence}"));
                }
                Event::Failed { url, reason, detail, .. } => {
                    lists.failed.push(format!("{url}  {reason}: {detail}"));
                }
                // The demo has no extractors.
                Event::Extracted { .. } | Event::ExtractFailed { .. } => {}
                Event::Waits { url, cause, detail, until } => {
                    lists.waits.push(format!("{url}  {} until {until}: {detail}", cause.code()));
                }
            }
        }
    }

    fn print(&self, terminal: Terminal) {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = [
            (Tone::Good, "Fetched and indexed", &lists.indexed),
            (Tone::Note, "Fetched, and kept out of the index", &lists.withheld),
            (Tone::Bad, "Refused: never requested", &lists.refused),
            (Tone::Note, "Put off: the site must be left alone", &lists.waits),
            (Tone::Note, "Failed, at least at first", &lists.failed),
        ];
        for (tone, title, rows) in groups {
            terminal.line("");
            terminal.line(terminal.paint(tone, format_args!("{title} ({})", rows.len())));
            for row in rows {
                terminal.line(format_args!("  {row}"));
            }
        }
    }
}

/// A few searches, so that limits on snippets can be seen at work.
fn show_searches(
    terminal: Terminal,
    settings: &Settings,
    expectations: &Expectations,
) -> anyhow::Result<()> {
    let searcher = Searcher::open(&open::index_dir(&settings.store.data))?;
    terminal.line("");
    terminal.line(terminal.paint(Tone::Title, "Searches"));
    for search in expectations.searches.iter().take(4) {
        let found = searcher.search(&search.query, Clock::real().now(), 3, 0)?;
        let results = plural(found.total as u64, "result", "results");
        terminal.line(format_args!("  \"{}\": {results}", search.query));
        for hit in found.hits {
            terminal.line(format_args!("      {}", hit.url));
            let snippet = hit.snippet.map(|snippet| one_line(&snippet.text));
            let snippet = snippet.unwrap_or("(no snippet: the page forbids it)".into());
            terminal.line(format_args!("        {}", terminal.paint(Tone::Faint, snippet)));
        }
    }
    Ok(())
}

fn conclude(terminal: Terminal, report: &Report, settings: &Settings) {
    terminal.line("");
    terminal.line(terminal.paint(Tone::Title, "What the sites saw, by their own ledgers"));
    terminal.line(
        "  (owed gap: the least time between two requests; at once: the most under way together)",
    );
    for line in report.to_string().lines() {
        terminal.line(format_args!("  {line}"));
    }
    if settings.store.engine == EngineKind::Memory {
        return;
    }
    // As it was started: through cargo, the program is in no folder of the shell's.
    let program = std::env::args().next().unwrap_or("comity".into());
    let data = settings.store.data.display();
    terminal.line("");
    terminal.line(terminal.paint(Tone::Title, "Try next"));
    terminal.line(format_args!("  {program} search sourdough --data {data}"));
    terminal.line(format_args!("  {program} explain {} --data {data}", example(settings)));
    terminal.line(format_args!("  {program} status --data {data}"));
    terminal.line(format_args!("  {program} crawl https://your.site/ --contact you@your.site"));
}

fn example(settings: &Settings) -> String {
    settings.seeds.first().map(ToString::to_string).unwrap_or_default()
}
