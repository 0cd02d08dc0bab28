//! From the store's outbox to the index, at least once, and pages out of the index on their day.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_compliance::{Directive, Directives, Publication, Rule, Source, Timestamp};
use comity_storage::{Found, OutboxEntry, PageRecord, Payload, Plan, Store, Via};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Context, CrawlError, publish};
use crate::index::{IndexChange, IndexWriter};
use crate::net::Transport;

/// The one who feeds the index.
pub(super) struct IndexFeed {
    writer: Arc<Mutex<IndexWriter>>,
    last_commit: Timestamp,
    last_sweep: Option<Timestamp>,
}

/// Entries that are taken from the outbox at a time, each batch one commit of the index.
const BATCH: usize = 512;
/// Changes wait no longer than this for the index.
const COMMIT_EVERY: Duration = Duration::from_secs(3);
/// The outbox is looked at this often.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Pages whose day has come are looked for this often. Queries enforce it to the second.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

impl IndexFeed {
    pub(super) fn new(writer: IndexWriter, now: Timestamp) -> Self {
        Self { writer: Arc::new(Mutex::new(writer)), last_commit: now, last_sweep: None }
    }

    /// Feeds the index until it is told to finish, then empties the outbox.
    async fn run<S: Store, T>(
        mut self,
        context: Arc<Context<S, T>>,
        finish: CancellationToken,
    ) -> Result<(), CrawlError> {
        loop {
            self.turn(&context).await?;
            tokio::select! {
                () = finish.cancelled() => return self.drain(&context).await,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Takes what the outbox holds, if it is much or has waited for long.
    async fn turn<S: Store, T>(&mut self, context: &Context<S, T>) -> Result<(), CrawlError> {
        let now = context.clock.now();
        if self.last_sweep.is_none_or(|last| now.since(last) >= SWEEP_EVERY) {
            self.last_sweep = Some(now);
            self.sweep(context, now).await?;
        }
        let waiting = context.store.stats().outbox_pending;
        if waiting >= BATCH as u64 || now.since(self.last_commit) >= COMMIT_EVERY {
            self.drain(context).await?;
        }
        Ok(())
    }

    /// Empties the outbox into the index. The index is committed first, then the outbox is told:
    /// a crash between the two repeats work and loses none.
    async fn drain<S: Store, T>(&mut self, context: &Context<S, T>) -> Result<(), CrawlError> {
        self.last_commit = context.clock.now();
        loop {
            let entries = context.store.outbox(BATCH).await?;
            let Some(through) = entries.last().map(|entry| entry.seq) else { return Ok(()) };
            let (mut changes, mut lost) = (Vec::new(), Vec::new());
            for entry in entries {
                match change(entry, context.clock.now()) {
                    Ok(change) => changes.push(change),
                    Err(found) => lost.extend(found),
                }
            }
            self.with_writer(move |writer| writer.apply(&changes).and_then(|()| writer.commit()))
                .await?;
            context.store.push(lost).await?;
            context.store.outbox_done(through).await?;
        }
    }

    async fn with_writer<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut IndexWriter) -> Result<R, crate::index::IndexError> + Send + 'static,
    ) -> Result<R, CrawlError> {
        let writer = Arc::clone(&self.writer);
        let done = tokio::task::spawn_blocking(move || {
            work(&mut writer.lock().unwrap_or_else(PoisonError::into_inner))
        });
        done.await
            .map_err(|panic| CrawlError::Worker(panic.to_string()))?
            .map_err(CrawlError::Index)
    }

    /// Withdraws pages whose unavailable_after has passed (RM-031).
    async fn sweep<S: Store, T>(
        &self,
        context: &Context<S, T>,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        loop {
            let due = context.store.due_reviews(now, BATCH).await?;
            if due.is_empty() {
                return Ok(());
            }
            // Together, so that the store writes them as a few batches.
            let done = due.iter().map(|page| {
                let (sink, next) = review(page, now);
                context.store.review_done(&page.url, next, sink)
            });
            futures_util::future::try_join_all(done).await?;
        }
    }
}

/// The feed at work.
pub(super) struct Feeder {
    task: JoinHandle<Result<(), CrawlError>>,
    finish: CancellationToken,
}

impl Feeder {
    pub(super) fn start<S: Store, T: Transport>(
        feed: IndexFeed,
        context: Arc<Context<S, T>>,
    ) -> Self {
        let finish = CancellationToken::new();
        let task = tokio::spawn(feed.run(context, finish.clone()));
        Self { task, finish }
    }

    /// Whether it ended though nobody told it to.
    pub(super) fn has_failed(&self) -> bool {
        self.task.is_finished()
    }

    /// Lets it empty the outbox.
    pub(super) async fn finish(self) -> Result<(), CrawlError> {
        self.finish.cancel();
        self.task.await.map_err(|panic| CrawlError::Worker(panic.to_string()))?
    }
}

/// The change of an outbox entry. If it is lost, the page is to be fetched again.
fn change(entry: OutboxEntry, now: Timestamp) -> Result<IndexChange, Option<Found>> {
    let why = match entry.payload {
        Payload::Bytes(bytes) => match publish::from_bytes(&bytes) {
            Some(change) => return Ok(change),
            None => "it could not be read".into(),
        },
        Payload::Lost { why } => why,
    };
    let url = entry.url.as_ref().map_or("", Url::as_str);
    tracing::warn!(
        url,
        why,
        "a page's text was lost before it was indexed; the page is fetched again"
    );
    let plan = Plan::Again { priority: 0 };
    let found = |url| Found { url, depth: 0, hops: 0, via: Via::Link, from: None, at: now, plan };
    Err(entry.url.map(found))
}

/// What an indexed page's rules say now: a withdrawal, or the day to look again.
fn review(page: &PageRecord, now: Timestamp) -> (Option<Vec<u8>>, Option<Timestamp>) {
    match Publication::of(&directives_of(page), now) {
        Publication::BareUrl(_) | Publication::Nothing(_) => {
            (publish::to_bytes(&publish::withdraw(&page.url)), None)
        }
        publication @ (Publication::Full(_) | Publication::EmbeddedOnly(_)) => {
            (None, publication.until().filter(|until| *until > now))
        }
    }
}

/// The directives that a page record keeps, as compliance knows them.
fn directives_of(page: &PageRecord) -> Directives {
    let Some((_, fetched)) = page.last_fetch() else { return Directives::default() };
    let directives = fetched.directives.iter().filter_map(|kept| {
        Some(Directive {
            rule: Rule::from_stored(&kept.rule)?,
            source: kept.source.parse::<Source>().ok()?,
            agent: kept.agent.clone(),
        })
    });
    Directives::from_parts(directives)
}
