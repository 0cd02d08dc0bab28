//! Runs the whole crawler through a world: process after process on one data directory, with the
//! clock held, until the world's time is over.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use comity::clock::Clock;
use comity::config::Config;
use comity::crawl::{Crawl, Extractors, Parts, Reporter};
use comity::index::{IndexWriter, Searcher};
use comity::settings::Settings;
use comity_compliance::Timestamp;
use comity_storage::{Durability, EngineKind, OpenOptions, Opening, Work, open};
use tokio_util::sync::CancellationToken;

use crate::ledger::{Look, Record};
use crate::web::{COMMON_WORD, Web};
use crate::world::{DAY, Ending, HOUR, MINUTE, Ms, Round, SECOND, START_SECS, World};

/// What is simulated, the world apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    pub(crate) sites: usize,
    pub(crate) days: i64,
    pub(crate) engine: EngineKind,
    /// Whether pages go into the search index, which is looked at again and again.
    pub(crate) index: bool,
    /// Sites that are asked at once. One that says nothing keeps its worker for half a minute.
    pub(crate) at_once: usize,
}

/// Least time between two requests to a site, by the default settings (RL-002).
pub(crate) const INTERVAL: Ms = 2 * SECOND;
/// Requests a second to one address, by the default settings.
pub(crate) const PER_ADDRESS: Ms = 5;

impl Scenario {
    /// The smaller world: 50 sites for 60 days.
    pub(crate) fn small(seed: u64) -> Self {
        let (engine, index, at_once) = (EngineKind::Sled, false, 1000);
        Self { seed, sites: 50, days: 60, engine, index, at_once }
    }

    /// Requests a second in all: a large world is not to wait for this limit.
    pub(crate) fn whole_per_second(self) -> u32 {
        if self.sites > 300 { 1000 } else { 200 }
    }
}

/// A store in memory is gone with its process: such a run has one process only.
fn rounds(world: &World, scenario: Scenario) -> Vec<Round> {
    let first = Round { at: 0, before: Ending::Stopped };
    match scenario.engine {
        EngineKind::Memory => vec![first],
        EngineKind::Sled | EngineKind::Redb => {
            std::iter::once(first).chain(world.rounds.iter().copied()).collect()
        }
    }
}

/// Runs a scenario to its end.
pub(crate) fn run(world: &Arc<World>, scenario: Scenario) -> Record {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(async {
        let dir = data_dir();
        let clock = Clock::starting_at(Timestamp::from_secs(START_SECS));
        let web = Web::new(Arc::clone(world), clock);
        let machine = Machine { dir: dir.path().to_owned(), scenario, clock, web };
        let mut record = Record::default();
        let rounds = rounds(world, scenario);
        for number in 0..rounds.len() {
            let next = rounds.get(number + 1);
            let ends = next.map_or(world.length, |next| next.at);
            let ending = next.map_or(Ending::Stopped, |next| next.before);
            let began = machine.web.now();
            machine.process(world, ends, ending, &mut record).await;
            record.processes.push((began, machine.web.now()));
            clock.sleep_until(moment(ends)).await;
        }
        record.entries = std::mem::take(&mut *machine.web.ledger());
        record
    })
}

/// In memory where the system has a place for that: no power fails here, so no disk need be waited
/// for.
fn data_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn moment(at: Ms) -> Timestamp {
    Timestamp::from_millis(START_SECS * SECOND + at)
}

/// The machine that the crawler runs on.
struct Machine {
    dir: PathBuf,
    scenario: Scenario,
    clock: Clock,
    web: Web,
}

impl Machine {
    fn config(&self, world: &World) -> Config {
        let mut config = Config::default();
        config.crawl.seeds.clone_from(&world.seeds);
        config.crawl.scope = "any".into();
        config.recrawl.stay = true;
        config.identity.contact = Some("me@example.org".into());
        config.storage.data = self.dir.join("data");
        config.storage.store = self.scenario.engine.name().into();
        config.crawl.sites_at_once = self.scenario.at_once;
        config.politeness.whole_per_second = self.scenario.whole_per_second();
        config
    }

    /// One process, from its start to its end.
    async fn process(&self, world: &World, ends: Ms, ending: Ending, record: &mut Record) {
        let settings = Settings::new(&self.config(world)).unwrap();
        let options = OpenOptions { work: Work::Caller, ..OpenOptions::default() };
        let (data, now) = (&settings.store.data, self.clock.now());
        let store = open(data, self.scenario.engine, Durability::Process, now, options).unwrap();
        let stop = CancellationToken::new();
        let crawl = Crawl::new(Parts {
            settings,
            recovered: store.opening() == Opening::Recovered,
            store,
            transport: self.web.clone(),
            clock: self.clock,
            reporter: Reporter::default(),
            index: self.scenario.index.then(|| IndexWriter::open_or_create(&self.index()).unwrap()),
            archive: None,
            bulk: None,
            scorer: None,
            filter: None,
            extractors: Extractors::default(),
            stop: stop.clone(),
        });
        let mut running = Box::pin(crawl.unwrap().run());
        // A stop takes its time; a death none.
        let leaves = match ending {
            Ending::Stopped => ends - MINUTE,
            Ending::Killed => ends,
        };
        loop {
            let until = leaves.min(self.next_look());
            tokio::select! {
                biased;
                end = &mut running => {
                    end.unwrap();
                    return;
                }
                () = self.clock.sleep_until(moment(until)) => {}
            }
            if until >= leaves {
                break;
            }
            self.look(record);
        }
        match ending {
            Ending::Stopped => {
                stop.cancel();
                running.await.unwrap();
            }
            Ending::Killed => {
                drop(running);
                // Its tasks are gone once they had a turn.
                tokio::time::sleep(Duration::from_millis(1)).await;
                // What came in at its last moment, it may not have heard.
                for entry in self.web.ledger().iter_mut().rev().take(1000) {
                    entry.until = entry.until.filter(|until| *until < ends);
                }
            }
        }
    }

    fn index(&self) -> PathBuf {
        self.dir.join("index")
    }

    /// Often in the first hours after a round, and every sixth hour.
    fn next_look(&self) -> Ms {
        let every = if self.web.now() < DAY { HOUR } else { 6 * HOUR };
        (self.web.now() / every + 1) * every
    }

    fn look(&self, record: &mut Record) {
        if self.scenario.index {
            let at = self.web.now();
            let shown = found(&self.index(), self.clock.now());
            let kept = found(&self.index(), moment(0));
            record.looks.push(Look { at, shown, kept });
        }
    }
}

/// The addresses of all pages that a search shows at a moment.
fn found(index: &Path, now: Timestamp) -> Vec<String> {
    let searcher = Searcher::open(index).unwrap();
    let mut urls = Vec::new();
    loop {
        let hits = searcher.search(COMMON_WORD, now, 1000, urls.len()).unwrap();
        urls.extend(hits.hits.into_iter().map(|hit| hit.url));
        if urls.len() >= hits.total {
            return urls;
        }
    }
}
