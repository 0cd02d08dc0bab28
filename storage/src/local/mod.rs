//! The store on one machine: all of [`Store`]'s logic over any [`Engine`].
//!
//! One writer owns the batches; leases, fences and the ready list live in
//! memory; reads go to the engine directly.

mod draft;
mod seen;
mod shared;
mod sites;
mod spool;
mod survey;
mod writer;

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Origin, Site, SitePace, Timestamp};
use tokio::sync::{Semaphore, oneshot};
use url::Url;

use crate::engine::{Engine, MemoryEngine};
use crate::key;
use crate::marker::MarkerFile;
use crate::open::{Durability, OpenOptions, Opening, Work};
use crate::page::{Fate, Found, Likeness, PageRecord};
use crate::record::{PageRow, RobotsRow, StateRow, decode};
use crate::store::{
    Lease, LeaseToken, MAX_META_BYTES, OutboxEntry, PageCursor, Receipt, Renewal, SiteReport,
    SiteState, Stats, Store, StoreError,
};

use draft::Draft;
use seen::Seen;
use shared::Shared;
use sites::Sites;
use spool::Spool;
use writer::{Job, Planned, Writer};

/// Pages that one batch queues again.
const REQUEUED_AT_ONCE: usize = 1000;

/// URLs that one batch makes known for one call: see [`writer::MAX_ROWS`].
const PUSHED_AT_ONCE: usize = 500;

/// Requests that may wait for the writer; more wait outside.
const MAX_WAITING: usize = 128;

/// A crawl's store over an engine in this process.
///
/// Dropping it without [`Store::close`] counts as a crash, and loses nothing that was acknowledged.
pub struct LocalStore<E: Engine> {
    shared: Arc<Shared<E>>,
    line: Line<E>,
    opening: Opening,
    /// What the engine holds in memory.
    cache_bytes: u64,
}

/// How requests reach the writer.
enum Line<E: Engine> {
    /// In a thread of its own; reads are done by the runtime's blocking threads.
    Thread {
        jobs: Mutex<Option<Sender<Job<E>>>>,
        writer: Mutex<Option<JoinHandle<Writer<E>>>>,
        places: Arc<Semaphore>,
    },
    /// In the caller's, at once: nothing waits on a disk, and a paused clock stays paused.
    Inline(Box<Mutex<Option<Writer<E>>>>),
}

/// What a store is put together from.
pub(crate) struct Parts<E> {
    pub(crate) engine: E,
    pub(crate) opened: Timestamp,
    pub(crate) opening: Opening,
    pub(crate) options: OpenOptions,
    pub(crate) disk: Option<OnDisk>,
}

/// What a store on disk has beside its engine.
pub(crate) struct OnDisk {
    pub(crate) spool_dir: std::path::PathBuf,
    pub(crate) durability: Durability,
    pub(crate) marker: MarkerFile,
    pub(crate) lock: std::fs::File,
}

impl LocalStore<MemoryEngine> {
    /// An empty store in memory. Every call is done when it returns, without a thread: the same
    /// calls give the same answers, also under a paused clock.
    pub fn memory(now: Timestamp) -> Self {
        let engine = Arc::new(MemoryEngine::default());
        let sites = Sites::new(now);
        let seen = Seen::new(OpenOptions::default().seen_bytes);
        let shared = Arc::new(Shared::new(engine, sites, seen, Spool::memory(), None));
        let writer = Writer::new(Arc::clone(&shared), StateRow::default(), None, None);
        Self {
            shared,
            line: Line::Inline(Box::new(Mutex::new(Some(writer)))),
            opening: Opening::Created,
            cache_bytes: 0,
        }
    }
}

impl<E: Engine> LocalStore<E> {
    /// A store over an engine that the caller opened: payloads for the sinks stay in memory, and
    /// no marker file tells whether the engine was emptied. For a store to keep, use
    /// [`open`](crate::open()).
    ///
    /// # Errors
    /// [`StoreError`] if what is in the engine cannot be read.
    pub fn over(engine: E, now: Timestamp) -> Result<Self, StoreError> {
        let options = OpenOptions::default();
        Self::start(Parts { engine, opened: now, opening: Opening::Created, options, disk: None })
    }

    pub(crate) fn start(parts: Parts<E>) -> Result<Self, StoreError> {
        let Parts { engine, opened, opening, options, disk } = parts;
        let state: StateRow = match engine.read(key::META_STATE)? {
            Some(bytes) => decode(&bytes, "the state record")?,
            None => StateRow::default(),
        };
        let engine = Arc::new(engine);
        let cache_bytes = options.cache_bytes;
        let threads = disk.is_some() && options.work == Work::Threads;
        let (spool, lock, marker) = match disk {
            Some(disk) => {
                let spool = Spool::open(&disk.spool_dir, disk.durability).map_err(|e| {
                    StoreError::NotDone { cause: format!("could not open the spool: {e}") }
                })?;
                (spool, Some(disk.lock), Some(disk.marker))
            }
            None => (Spool::memory(), None, None),
        };
        let sites = Sites::new(opened);
        let seen = Seen::new(options.seen_bytes);
        let shared = Arc::new(Shared::new(Arc::clone(&engine), sites, seen, spool, lock));
        shared.fill_sites(&engine, &state.tally)?;
        shared.trim_spool(&engine)?;
        drop(engine);

        let filler = (state.tally.known > 0).then(|| fill_seen(&shared)).transpose()?;
        let writer = Writer::new(Arc::clone(&shared), state, marker, filler);
        let line = if threads {
            Line::thread(writer, options.window)?
        } else {
            Line::Inline(Box::new(Mutex::new(Some(writer))))
        };
        Ok(Self { shared, line, opening, cache_bytes })
    }

    /// How the store was found when it was opened.
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// Hands a change to the writer; its answer, once it is durable.
    async fn write<T: Send + 'static>(
        &self,
        plan: impl for<'d> FnOnce(&mut Draft<'d, E>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let place = match &self.line {
            Line::Thread { places, .. } => {
                Some(Arc::clone(places).acquire_owned().await.map_err(|_| StoreError::Closed)?)
            }
            Line::Inline(_) => None,
        };
        let job: Job<E> = Box::new(move |draft| {
            let planned = draft.map_or(Err(StoreError::Closed), plan);
            let fatal = match &planned {
                // Found before anything was changed.
                Ok(_) | Err(StoreError::Request(_)) => None,
                Err(error) => Some(error.clone()),
            };
            let ack = Box::new(move |outcome: Result<(), StoreError>| {
                // Nobody waits any more: the change is made all the same.
                let _ = answer.send(outcome.and(planned));
                drop(place);
            });
            Planned { fatal, ack }
        });
        self.line.send(job)?;
        let stopped = |_| StoreError::NotDone { cause: "the store's writer stopped".into() };
        answered.await.map_err(stopped)?
    }

    /// Reads a few rows. As long as the engine's cache holds the whole store they are there, and to
    /// wake a thread for them would cost more than they do.
    async fn read_few<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Shared<E>, &E) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.shared.disk_bytes() > self.cache_bytes {
            return self.read(read).await;
        }
        read(&self.shared, &*self.shared.engine()?)
    }

    /// Changes all pages of a kind, some at a time; how many there were.
    async fn change_pages(
        &self,
        is_wanted: impl Fn(&PageRow) -> bool + Clone + Send + 'static,
        change: impl for<'d> Fn(&mut Draft<'d, E>, &Url) -> Result<(), StoreError>
        + Copy
        + Send
        + 'static,
    ) -> Result<u64, StoreError> {
        let (mut count, mut from) = (0, vec![key::PAGE]);
        loop {
            let is_wanted = is_wanted.clone();
            let (urls, next) = self
                .read(move |shared, engine| {
                    shared.pages_that(engine, &from, REQUEUED_AT_ONCE, is_wanted)
                })
                .await?;
            count += urls.len() as u64;
            self.write(move |draft| urls.iter().try_for_each(|url| change(draft, url))).await?;
            match next {
                Some(key) => from = key,
                None => return Ok(count),
            }
        }
    }

    /// Reads, without holding up the runtime.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Shared<E>, &E) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let engine = self.shared.engine()?;
        match &self.line {
            Line::Inline(_) => read(&self.shared, &engine),
            Line::Thread { .. } => {
                let shared = Arc::clone(&self.shared);
                let run = move || {
                    let outcome = read(&shared, &engine);
                    // Before the answer, so that a close that follows it finds no reader.
                    drop((engine, shared));
                    outcome
                };
                // Only a runtime that is shut down drops it.
                tokio::task::spawn_blocking(run).await.map_err(|_| StoreError::Closed)?
            }
        }
    }
}

/// Starts to fill the seen set in the background.
fn fill_seen<E: Engine>(shared: &Arc<Shared<E>>) -> Result<JoinHandle<()>, StoreError> {
    shared.seen.begin_filling();
    let shared = Arc::clone(shared);
    let fill = move || {
        if let Err(error) = shared.fill_seen() {
            // The set only saves time; whoever needs these rows will say so.
            tracing::warn!(%error, "the set of seen URLs is incomplete");
        }
    };
    std::thread::Builder::new()
        .name("comity-seen".into())
        .spawn(fill)
        .map_err(|e| StoreError::NotDone { cause: format!("could not start a thread: {e}") })
}

impl<E: Engine> Line<E> {
    fn thread(writer: Writer<E>, window: Duration) -> Result<Self, StoreError> {
        let (jobs, inbox) = std::sync::mpsc::channel();
        let writer = std::thread::Builder::new()
            .name("comity-writer".into())
            .spawn(move || writer.run(&inbox, window))
            .map_err(|e| StoreError::NotDone { cause: format!("could not start a thread: {e}") })?;
        Ok(Self::Thread {
            jobs: Mutex::new(Some(jobs)),
            writer: Mutex::new(Some(writer)),
            places: Arc::new(Semaphore::new(MAX_WAITING)),
        })
    }

    fn send(&self, job: Job<E>) -> Result<(), StoreError> {
        match self {
            Self::Thread { jobs, .. } => match &*locked(jobs) {
                Some(jobs) => jobs.send(job).map_err(|_| StoreError::Closed),
                None => Err(StoreError::Closed),
            },
            Self::Inline(writer) => match &mut *locked(writer) {
                Some(writer) => {
                    writer.write(vec![job]);
                    Ok(())
                }
                None => Err(StoreError::Closed),
            },
        }
    }

    /// Takes no more requests, waits for those that are under way, and gives the writer back.
    fn stop(&self) -> Option<Writer<E>> {
        match self {
            Self::Thread { jobs, writer, .. } => {
                locked(jobs).take();
                locked(writer).take().and_then(|thread| thread.join().ok())
            }
            Self::Inline(writer) => locked(writer).take(),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E: Engine> Drop for LocalStore<E> {
    fn drop(&mut self) {
        if let Some(mut writer) = self.line.stop() {
            writer.stop_filling();
        }
    }
}

impl<E: Engine> Store for LocalStore<E> {
    async fn push(&self, found: Vec<Found>) -> Result<Vec<Fate>, StoreError> {
        let mut fates = Vec::with_capacity(found.len());
        let mut found = found.into_iter();
        while found.len() > 0 {
            let piece: Vec<_> = found.by_ref().take(PUSHED_AT_ONCE).collect();
            let made_known = self.write(move |draft| {
                piece.into_iter().map(|found| draft.found(found, None)).collect::<Result<_, _>>()
            });
            fates.extend::<Vec<_>>(made_known.await?);
        }
        Ok(fates)
    }

    async fn requeue(&self, reasons: Vec<String>) -> Result<u64, StoreError> {
        let is_held = move |row: &PageRow| {
            // One that is put off, to be judged again some day, waits no longer either.
            let waits = row.place.is_none_or(|place| place.due > 0);
            let reason = row.held_back_by().filter(|_| waits);
            reason.is_some_and(|reason| reasons.iter().any(|known| known == reason))
        };
        self.change_pages(is_held, |draft, url| draft.again(url)).await
    }

    async fn look_now(&self) -> Result<u64, StoreError> {
        let waits = |row: &PageRow| row.revisit && row.place.is_some_and(|place| place.due > 0);
        self.change_pages(waits, |draft, url| draft.look_now(url)).await
    }

    async fn lease(
        &self,
        now: Timestamp,
        sites: usize,
        urls_per_site: usize,
        ttl: Duration,
    ) -> Result<Vec<Lease>, StoreError> {
        self.read(move |shared, engine| shared.lease(engine, now, (sites, urls_per_site), ttl))
            .await
    }

    async fn commit(&self, report: SiteReport, now: Timestamp) -> Result<Receipt, StoreError> {
        self.write(move |draft| draft.report(report, now)).await
    }

    async fn renew(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Renewal, StoreError> {
        self.shared.engine()?;
        Ok(match self.shared.renew(token, now, ttl) {
            Some(until) => Renewal::Renewed(until),
            None => Renewal::Fenced,
        })
    }

    async fn release(&self, token: LeaseToken) -> Result<(), StoreError> {
        self.read(move |shared, engine| shared.release(engine, &token)).await
    }

    fn next_ready(&self) -> Option<Timestamp> {
        self.shared.next_ready()
    }

    async fn robots(&self, origin: &Origin) -> Result<Option<RobotsRecord>, StoreError> {
        let origin = origin.clone();
        self.read_few(move |shared, engine| shared.robots(engine, &origin)).await
    }

    async fn put_robots(&self, origin: &Origin, record: &RobotsRecord) -> Result<(), StoreError> {
        let (origin, row) = (origin.clone(), RobotsRow::new(origin, record.to_parts()));
        self.write(move |draft| draft.put_robots(&origin, &row)).await
    }

    async fn page(&self, url: &Url) -> Result<Option<PageRecord>, StoreError> {
        let url = url.clone();
        self.read_few(move |shared, engine| shared.page(engine, &url)).await
    }

    async fn pages(
        &self,
        site: &Site,
        from: Option<PageCursor>,
        max: usize,
    ) -> Result<(Vec<PageRecord>, Option<PageCursor>), StoreError> {
        let prefix = key::pages_of(key::site_hash(site));
        self.read(move |shared, engine| shared.pages(engine, &prefix, from, max)).await
    }

    async fn all_pages(
        &self,
        from: Option<PageCursor>,
        max: usize,
    ) -> Result<(Vec<PageRecord>, Option<PageCursor>), StoreError> {
        self.read(move |shared, engine| shared.pages(engine, &[key::PAGE], from, max)).await
    }

    async fn alike(
        &self,
        site: &Site,
        likenesses: Vec<Likeness>,
        max: usize,
    ) -> Result<Vec<Vec<PageRecord>>, StoreError> {
        let site = site.clone();
        self.read_few(move |shared, engine| {
            likenesses.iter().map(|likeness| shared.alike(engine, &site, likeness, max)).collect()
        })
        .await
    }

    fn is_settled(&self, url: &Url) -> bool {
        self.shared.seen.contains(self.shared.seen.print(url.as_str()))
    }

    async fn site(&self, site: &Site) -> Result<Option<SiteState>, StoreError> {
        let site = site.clone();
        self.read(move |shared, engine| shared.site(engine, &site)).await
    }

    async fn put_pace(&self, site: &Site, pace: &SitePace) -> Result<(), StoreError> {
        let (site, pace) = (site.clone(), pace.clone());
        self.write(move |draft| draft.put_pace(&site, &pace)).await
    }

    async fn outbox(&self, from: u64, max: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        self.read(move |shared, engine| shared.outbox(engine, from, max)).await
    }

    async fn outbox_done(&self, through: u64) -> Result<(), StoreError> {
        self.write(move |draft| draft.outbox_done(through)).await
    }

    async fn due_reviews(&self, now: Timestamp, max: usize) -> Result<Vec<PageRecord>, StoreError> {
        self.read(move |shared, engine| shared.due_reviews(engine, now, max)).await
    }

    async fn review_done(
        &self,
        url: &Url,
        next: Option<Timestamp>,
        sink: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        let url = url.clone();
        self.write(move |draft| draft.reviewed(&url, next, sink)).await
    }

    async fn meta(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let key = key::meta(name);
        self.read_few(move |_, engine| Ok(engine.read(&key)?)).await
    }

    async fn put_meta(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let key = key::meta(name);
        if key.len() + value.len() > MAX_META_BYTES {
            let bytes = value.len();
            return Err(StoreError::Request(format!(
                "the value \"{name}\" is too long for the store: {bytes} of {MAX_META_BYTES} bytes"
            )));
        }
        self.write(move |draft| {
            draft.put(key, value);
            Ok(())
        })
        .await
    }

    fn stats(&self) -> Stats {
        self.shared.stats()
    }

    async fn close(&self) -> Result<(), StoreError> {
        match &self.line {
            Line::Inline(_) => self.line.stop().ok_or(StoreError::Closed)?.finish(),
            Line::Thread { jobs, writer, .. } => {
                locked(jobs).take();
                let thread = locked(writer).take().ok_or(StoreError::Closed)?;
                let stopped =
                    |_| StoreError::NotDone { cause: "the store's writer stopped".into() };
                let finish = move || thread.join().map_err(stopped)?.finish();
                tokio::task::spawn_blocking(finish).await.map_err(|_| StoreError::Closed)?
            }
        }
    }
}

#[cfg(test)]
mod tests;
