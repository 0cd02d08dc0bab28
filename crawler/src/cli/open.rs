//! Opening what a crawl left on disk.

use std::path::Path;

use anyhow::bail;
use comity_storage::{Engine, EngineKind, LocalStore, OpenOptions, Opening, Store as _};

use super::flags;
pub(super) use crate::builder::index_dir;
use crate::builder::open_index;
use crate::clock::Clock;
use crate::config::Config;
use crate::crawl::upkeep::Place;
use crate::crawl::{load_config, note_cut_off};
use crate::index::{IndexWriter, Searcher};
use crate::settings::{Settings, StoreSettings};

pub(super) type AnyStore = LocalStore<Box<dyn Engine>>;

/// Opens a store, making it if it is not there.
pub(super) fn store(settings: &StoreSettings, clock: Clock) -> anyhow::Result<AnyStore> {
    let options = OpenOptions { cache_bytes: settings.cache_bytes, ..OpenOptions::default() };
    let opened = comity_storage::open(
        &settings.data,
        settings.engine,
        settings.durability,
        clock.now(),
        options,
    );
    Ok(opened?)
}

/// Refuses while a crawl runs: its store can be read by one process only.
pub(super) fn not_in_use(data: &Path, command: &str) -> anyhow::Result<()> {
    if comity_storage::is_in_use(data)? {
        bail!(
            "the crawl in {0} is running, and its store can be read by one process only: `comity \
             {command}` answers once it has stopped (Ctrl-C; it goes on later). Meanwhile `comity \
             status --data {0}` tells how it stands, and {0}/audit.jsonl what was decided",
            data.display()
        );
    }
    Ok(())
}

/// Opens the store of an earlier crawl, with the settings of its last run.
pub(super) async fn earlier(data: &Path, clock: Clock) -> anyhow::Result<(AnyStore, Settings)> {
    let Some(engine) = comity_storage::engine_in(data)? else { bail!(no_crawl(data)) };
    let store = open_as(data, engine, clock).await?;
    let saved = load_config(&store).await?.unwrap_or_default();
    let settings = Settings::new(&saved);
    match settings {
        Ok(settings) => Ok((store, settings)),
        Err(error) => {
            store.close().await?;
            Err(error.into())
        }
    }
}

/// Opens a store that is looked at and closed again, as the last run had it open. A crawl that was killed before stays one for
/// the next: what it had under way is noted as cut off by now.
async fn open_as(data: &Path, engine: EngineKind, clock: Clock) -> anyhow::Result<AnyStore> {
    let defaults = Settings::new(&Config::default())?.store;
    let durability = comity_storage::durability_in(data)?.unwrap_or_default();
    let settings = StoreSettings { data: data.into(), engine, durability, ..defaults };
    let store = store(&settings, clock)?;
    if store.opening() == Opening::Recovered {
        note_cut_off(&store, clock.now()).await?;
    }
    Ok(store)
}

/// The settings of the last run in a data directory, if there was one, and which of them flags set.
pub(super) async fn saved_config(
    data: &Path,
    clock: Clock,
) -> anyhow::Result<Option<(Config, flags::Names)>> {
    let Some(engine) = comity_storage::engine_in(data)? else { return Ok(None) };
    let store = open_as(data, engine, clock).await?;
    let (config, flags) = (load_config(&store).await, flags::load(&store).await);
    store.close().await?;
    let flags = flags?;
    Ok(config?.map(|config| (config, flags)))
}

/// The index of a crawl, to be read. A rebuild that was broken off is ended before, unless a process
/// is at work in the data directory.
pub(super) fn index_to_read(data: &Path) -> anyhow::Result<Searcher> {
    /// An index is renamed and merged in less.
    const TRIES: u32 = 20;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);
    let place = Place::of(&index_dir(data));
    let mut tries = 0;
    loop {
        let is_in_use = comity_storage::is_in_use(data)?;
        if !is_in_use && let Err(error) = place.settle() {
            // Whoever may only read finds what is there.
            tracing::debug!(%error, "a rebuild that was broken off stays so");
        }
        match Searcher::open(place.to_read()) {
            Err(_) if is_in_use && tries < TRIES => tries += 1,
            opened => return Ok(opened?),
        }
        std::thread::sleep(PAUSE);
    }
}

/// The index of a crawl, if its pages are indexed. One that was begun must still be there.
pub(super) async fn index(
    settings: &Settings,
    store: &AnyStore,
) -> anyhow::Result<Option<IndexWriter>> {
    Ok(open_index(settings, store).await?)
}

pub(super) fn no_crawl(data: &Path) -> String {
    format!(
        "there is no crawl in {}; `comity crawl SEED --data {0}` starts one, or --data names another directory",
        data.display()
    )
}
