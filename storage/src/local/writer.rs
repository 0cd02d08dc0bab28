//! The one place that writes: collects requests for a moment, makes one batch
//! of them, makes it durable, and only then answers.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::time::Instant;

use super::Shared;
use super::draft::Draft;
use crate::engine::Engine;
use crate::marker::{MarkerFile, Promise, Stop};
use crate::record::StateRow;
use crate::store::StoreError;

/// Requests that are answered together at most.
const MAX_JOBS: usize = 50;

/// Rows of a batch that takes no further request. sled copies a node of several kilobytes for each
/// row, and frees none of them before the batch is applied.
pub(super) const MAX_ROWS: usize = 2_000;

/// How often the marker file is brought up to date while the crawl runs.
const MARK_EVERY: Duration = Duration::from_secs(10);

/// How long a close waits for reads that are under way.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);

/// Answers a request: with what was planned, or with why the batch failed.
pub(super) type Ack = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A planned request: an error that breaks the batch, and how to answer.
pub(super) struct Planned {
    pub(super) fatal: Option<StoreError>,
    pub(super) ack: Ack,
}

/// A request: puts its changes into the draft; without one it is refused.
pub(super) type Job<E> =
    Box<dyn for<'d, 's> FnOnce(Option<&'d mut Draft<'s, E>>) -> Planned + Send>;

pub(super) struct Writer<E> {
    shared: Arc<Shared<E>>,
    state: StateRow,
    /// The first error: nothing more is written after it.
    broken: Option<StoreError>,
    marker: Option<MarkerFile>,
    marked_at: Instant,
    /// Fills the seen set after an opening.
    filler: Option<JoinHandle<()>>,
}

impl<E: Engine> Writer<E> {
    pub(super) fn new(
        shared: Arc<Shared<E>>,
        state: StateRow,
        marker: Option<MarkerFile>,
        filler: Option<JoinHandle<()>>,
    ) -> Self {
        Self { shared, state, broken: None, marker, marked_at: Instant::now(), filler }
    }

    /// Serves requests until nobody can send one any more.
    pub(super) fn run(mut self, jobs: &Receiver<Job<E>>, window: Duration) -> Self {
        while let Ok(first) = jobs.recv() {
            let mut batch = vec![first];
            batch.extend(jobs.try_iter().take(MAX_JOBS - batch.len()));
            if batch.len() < MAX_JOBS {
                // To be woken once costs less than to be woken by each of them.
                std::thread::sleep(window);
                batch.extend(jobs.try_iter().take(MAX_JOBS - batch.len()));
            }
            self.write(batch);
        }
        self
    }

    /// Carries out requests, as one batch unless they are large, and answers them.
    pub(super) fn write(&mut self, jobs: Vec<Job<E>>) {
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            self.write_some(&mut jobs);
        }
    }

    fn write_some(&mut self, jobs: &mut impl Iterator<Item = Job<E>>) {
        let mut acks = Vec::new();
        let outcome = self.batch(jobs, &mut acks);
        if let Err(error) = &outcome {
            self.broken.get_or_insert_with(|| error.clone());
        }
        for ack in acks {
            ack(outcome.clone());
        }
        if outcome.is_ok() && self.marked_at.elapsed() >= MARK_EVERY {
            self.marked_at = Instant::now();
            self.mark(Stop::Running);
        }
    }

    /// Makes a batch of the next requests and applies it.
    fn batch(
        &mut self,
        jobs: &mut impl Iterator<Item = Job<E>>,
        acks: &mut Vec<Ack>,
    ) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let engine = self.broken.clone().map_or_else(|| shared.engine(), Err);
        let engine = match engine {
            Ok(engine) => engine,
            Err(error) => {
                acks.extend(jobs.map(|job| job(None).ack));
                return Err(error);
            }
        };
        let mut draft = Draft::new(&shared, &engine, self.state.clone());
        let mut fatal = None;
        for job in jobs {
            let planned = job(fatal.is_none().then_some(&mut draft));
            acks.push(planned.ack);
            fatal = fatal.or(planned.fatal);
            // After a fault the others are refused with it.
            if fatal.is_none() && draft.rows() >= MAX_ROWS {
                break;
            }
        }
        fatal.map_or(Ok(()), Err).map_err(not_done)?;
        let (batch, state, effects) = draft.finish().map_err(not_done)?;
        if !batch.is_empty() {
            let unsynced =
                |e| StoreError::NotDone { cause: format!("could not sync the spool: {e}") };
            shared.spool.sync().map_err(unsynced)?;
            engine.apply(batch).map_err(not_done)?;
            engine.barrier().map_err(not_done)?;
        }
        self.state = state;
        shared.settle(&*engine, &self.state.tally, effects).map_err(not_done)
    }

    /// Writes down beside the store what must be in it. Not vital: the last mark still holds.
    fn mark(&mut self, stop: Stop) {
        if let Ok(engine) = self.shared.engine() {
            self.shared.note_disk_bytes(engine.bytes_on_disk());
        }
        let promise = Promise { known: self.state.tally.known, fetched: self.state.tally.fetched };
        if let Some(marker) = &mut self.marker
            && let Err(error) = marker.update(promise, stop)
        {
            tracing::warn!(%error, "the store's marker file could not be written");
        }
    }

    /// Ends what runs in the background, so that nobody but readers has the engine.
    pub(super) fn stop_filling(&mut self) {
        self.shared.stop();
        if let Some(filler) = self.filler.take() {
            // It only reads: whatever became of it is no loss.
            let _ = filler.join();
        }
    }

    /// Closes the engine and leaves the mark of a clean stop.
    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        self.stop_filling();
        let engine = self.shared.engine()?;
        if let Some(error) = self.broken.take() {
            self.shared.take_engine();
            return Err(error);
        }
        engine.barrier().map_err(not_done)?;
        drop(engine);
        let whole = self.shared.take_engine().is_none_or(drop_alone);
        self.mark(if whole { Stop::Clean } else { Stop::Running });
        *self.shared.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

/// Drops an engine once its last reader is done, so that its files are as they stay.
fn drop_alone<E>(mut engine: Arc<E>) -> bool {
    let until = Instant::now() + CLOSE_PATIENCE;
    loop {
        match Arc::try_unwrap(engine) {
            Ok(_) => return true,
            Err(_) if Instant::now() >= until => return false,
            Err(shared) => engine = shared,
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn not_done(error: impl Into<StoreError>) -> StoreError {
    match error.into() {
        StoreError::Closed => StoreError::Closed,
        StoreError::NotDone { cause } => StoreError::NotDone { cause },
        other @ (StoreError::Engine(_) | StoreError::Damaged { .. } | StoreError::Request(_)) => {
            StoreError::NotDone { cause: other.to_string() }
        }
    }
}
