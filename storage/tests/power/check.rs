//! Compares what a store holds after a cut with what was told before it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use comity_compliance::Site;
use comity_storage::{
    Durability, Engine, Fate, LocalStore, OpenError, Opening, PageRecord, Payload, Store, open,
};
use url::Url;

use super::Kind;
use super::work::{SITES, link, options, time_of};

/// Pages that are read at once.
const PAGE: usize = 1_000;

/// What the children were told is stored.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pushed: BTreeSet<String>,
    visited: BTreeSet<String>,
    /// Visits whose payloads were not yet taken from the outbox.
    payloads: BTreeSet<String>,
}

impl Told {
    pub(crate) fn add(&mut self, lines: &[String]) {
        for line in lines {
            let url = line[2..].to_owned();
            if line.starts_with('V') {
                self.payloads.insert(url.clone());
                self.visited.insert(url);
            } else {
                self.pushed.insert(url);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.pushed.is_empty()
    }
}

/// What a cut left.
#[derive(Debug)]
pub(crate) enum Found {
    /// All that was acknowledged.
    Whole,
    /// So many pages, visits, payloads are gone, as the durability allows.
    TailLost([usize; 3]),
    /// It is not opened, and says so, as the durability allows.
    Refused(String),
}

/// Opens the store and looks; what breaks the contract is an error.
pub(crate) async fn look(
    dir: &Path,
    kind: Kind,
    run: u32,
    told: &mut Told,
) -> Result<Found, String> {
    let now = time_of(run).after(Duration::from_secs(1_800));
    let store = match open(dir, kind.engine, kind.durability, now, options()) {
        Ok(store) => store,
        Err(error) => return refused(dir, kind, &error),
    };
    if store.opening() != Opening::Recovered && !told.is_empty() {
        return Err(format!("an empty crawl in place of one of {} URLs", told.pushed.len()));
    }
    let parts = compare(&store, told).await?;
    goes_on(&store, run).await?;
    let lost: usize = parts.iter().sum();
    match (lost, kind.durability) {
        (0, _) => {}
        (_, Durability::Power) => {
            return Err(format!("acknowledged pages, visits and payloads are lost: {parts:?}"));
        }
        // All of it is no tail.
        (lost, Durability::Process) if told.is_empty() && run > 0 => {
            return Err(format!("all of {lost} records are lost without a word"));
        }
        (_, Durability::Process) => {}
    }
    if run.is_multiple_of(2) {
        store.close().await.map_err(|e| format!("it does not close: {e}"))?;
    }
    Ok(if lost == 0 { Found::Whole } else { Found::TailLost(parts) })
}

fn refused(dir: &Path, kind: Kind, error: &OpenError) -> Result<Found, String> {
    let documented = matches!(error, OpenError::Damaged { .. } | OpenError::Emptied { .. });
    let text = error.to_string();
    let whole = text.contains(&*dir.to_string_lossy()) && text.contains("--data");
    if kind.durability == Durability::Power || !documented || !whole {
        return Err(format!("not opened: {text}"));
    }
    // Without what differs from time to time.
    let text = text.replace(&*dir.to_string_lossy(), "DIR");
    Ok(Found::Refused(text.chars().filter(|letter| !letter.is_ascii_digit()).collect()))
}

/// Counts the pages, visits and payloads that are gone, and forgets it. What is left must fit together.
async fn compare(
    store: &LocalStore<Box<dyn Engine>>,
    told: &mut Told,
) -> Result<[usize; 3], String> {
    let pages = pages(store).await?;
    let entries = store.outbox(0, usize::MAX).await.map_err(|e| format!("no outbox: {e}"))?;
    let payloads: BTreeSet<_> = entries
        .iter()
        .filter(|entry| matches!(entry.payload, Payload::Bytes(_)))
        .filter_map(|entry| entry.url.as_ref().map(Url::to_string))
        .collect();
    let count = |told: &Told| [told.pushed.len(), told.visited.len(), told.payloads.len()];
    let before = count(told);
    told.pushed.retain(|url| pages.contains_key(url));
    told.visited.retain(|url| pages.get(url).is_some_and(|page| page.fetches > 0));
    told.payloads.retain(|url| payloads.contains(url));
    let after = count(told);
    let lost = std::array::from_fn(|part| before[part] - after[part]);
    let stats = store.stats();
    let queued = pages.values().filter(|page| page.due.is_some()).count() as u64;
    let fetched = pages.values().filter(|page| page.fetches > 0).count() as u64;
    if (stats.known, stats.queued, stats.fetched) != (pages.len() as u64, queued, fetched) {
        return Err(format!(
            "{} pages, {queued} queued, {fetched} fetched: {stats:?}",
            pages.len()
        ));
    }
    if queued + fetched != pages.len() as u64 {
        return Err("a page is neither fetched nor queued".into());
    }
    if let Some(last) = entries.last() {
        store.outbox_done(last.seq).await.map_err(|e| format!("the outbox is stuck: {e}"))?;
        told.payloads.clear();
    }
    Ok(lost)
}

async fn pages(
    store: &LocalStore<Box<dyn Engine>>,
) -> Result<BTreeMap<String, PageRecord>, String> {
    let mut all = BTreeMap::new();
    for number in 0..SITES {
        let (site, mut from) = (Site::from_host(&format!("s{number}.example")), None);
        loop {
            let read = store.pages(&site, from, PAGE).await;
            let (pages, next) = read.map_err(|e| format!("opened, and unreadable: {e}"))?;
            all.extend(pages.into_iter().map(|page| (page.url.to_string(), page)));
            match next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
    }
    Ok(all)
}

/// The crawl can go on: it takes a new page, and knows it then.
async fn goes_on(store: &LocalStore<Box<dyn Engine>>, run: u32) -> Result<(), String> {
    let text = format!("https://s0.example/more/{run}");
    let fates = store.push(vec![link(&text, time_of(run))]).await;
    if !matches!(fates.as_deref(), Ok([Fate::New])) {
        return Err(format!("the crawl does not go on: {fates:?}"));
    }
    let page = store.page(&Url::parse(&text).unwrap()).await;
    match page {
        Ok(Some(_)) => Ok(()),
        other => Err(format!("a new page is not there: {other:?}")),
    }
}
