//! From the store's outbox to the index, at least once, and pages out of the index on their day.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_compliance::{Publication, Timestamp};
use comity_storage::{Found, OutboxEntry, PageRecord, Payload, Plan, Role, Store, Via};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Context, CrawlError, publish};
use crate::index::{IndexChange, IndexWriter};
use crate::net::Transport;
use crate::output::bulk::Bulk;

/// The one who feeds the index.
pub(super) struct IndexFeed {
    writer: Option<Arc<Mutex<IndexWriter>>>,
    bulk: Option<Bulk>,
    last_commit: Timestamp,
    last_sweep: Option<Timestamp>,
}

/// Entries that are taken from the outbox at a time, each batch one commit of the index.
const BATCH: usize = 512;
/// Changes wait no longer than this for the index.
const COMMIT_EVERY: Duration = Duration::from_secs(3);
/// The outbox is looked at this often while anything is in it.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Pages whose day has come are looked for this often. Queries enforce it to the second.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

impl IndexFeed {
    /// None if there is nobody to feed.
    pub(super) fn new(
        writer: Option<IndexWriter>,
        bulk: Option<Bulk>,
        now: Timestamp,
    ) -> Option<Self> {
        let writer = writer.map(|writer| Arc::new(Mutex::new(writer)));
        let feeds = writer.is_some() || bulk.is_some();
        feeds.then_some(Self { writer, bulk, last_commit: now, last_sweep: None })
    }

    /// Whether the index was begun by this run; none if there is no index.
    pub(super) fn index_is_new(&self) -> Option<bool> {
        let writer = self.writer.as_ref()?;
        Some(writer.lock().unwrap_or_else(PoisonError::into_inner).is_new())
    }

    /// Which index elsewhere is fed.
    pub(super) fn bulk_target(&self) -> Option<String> {
        self.bulk.as_ref().map(Bulk::target)
    }

    /// Feeds the index until it is told to finish, then empties the outbox.
    async fn run<S: Store, T>(
        mut self,
        context: Arc<Context<S, T>>,
        finish: CancellationToken,
    ) -> Result<(), CrawlError> {
        loop {
            self.turn(&context, &finish).await?;
            let empty = context.store.stats().outbox_pending == 0;
            let nap = if empty { SWEEP_EVERY } else { LOOK_EVERY };
            tokio::select! {
                () = finish.cancelled() => return self.drain(&context, &finish).await,
                () = context.outbox_fed.notified(), if empty => {}
                () = tokio::time::sleep(nap) => {}
            }
        }
    }

    /// Takes what the outbox holds, if it is much or has waited for long.
    async fn turn<S: Store, T>(
        &mut self,
        context: &Context<S, T>,
        finish: &CancellationToken,
    ) -> Result<(), CrawlError> {
        let now = context.clock.now();
        if self.last_sweep.is_none_or(|last| now.since(last) >= SWEEP_EVERY) {
            self.last_sweep = Some(now);
            self.sweep(context, now).await?;
        }
        let waiting = context.store.stats().outbox_pending;
        if waiting >= BATCH as u64 || now.since(self.last_commit) >= COMMIT_EVERY {
            self.drain(context, finish).await?;
        }
        Ok(())
    }

    /// Empties the outbox into the index and the bulk service. Both have what it held before the
    /// outbox is told: a crash between repeats work and loses none.
    async fn drain<S: Store, T>(
        &mut self,
        context: &Context<S, T>,
        finish: &CancellationToken,
    ) -> Result<(), CrawlError> {
        self.last_commit = context.clock.now();
        loop {
            let entries = context.store.outbox(BATCH).await?;
            let Some(through) = entries.last().map(|entry| entry.seq) else { return Ok(()) };
            let (mut changes, mut lost) = (Vec::new(), Vec::new());
            for entry in entries {
                match changes_of(entry) {
                    Ok(some) => changes.extend(some),
                    Err(url) => lost.extend(url.map(|url| again(url, self.last_commit))),
                }
            }
            let changes = Arc::new(changes);
            if let Some(writer) = &self.writer {
                commit_to(Arc::clone(writer), Arc::clone(&changes)).await?;
            }
            if let Some(bulk) = &self.bulk {
                let delivered = bulk.deliver(&changes, finish).await?;
                context.reporter.count(|counts| {
                    counts.delivered += delivered.done;
                    counts.rejected += delivered.rejected;
                });
            }
            context.store.push(lost).await?;
            context.store.outbox_done(through).await?;
        }
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

async fn commit_to(
    writer: Arc<Mutex<IndexWriter>>,
    changes: Arc<Vec<IndexChange>>,
) -> Result<(), CrawlError> {
    let done = tokio::task::spawn_blocking(move || {
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.apply(&changes).and_then(|()| writer.commit())
    });
    done.await.map_err(|panic| CrawlError::Worker(panic.to_string()))?.map_err(CrawlError::Index)
}

/// The feed at work.
pub(super) struct Feeder {
    task: JoinHandle<Result<(), CrawlError>>,
    finish: CancellationToken,
    ended: CancellationToken,
}

impl Feeder {
    pub(super) fn start<S: Store, T: Transport>(
        feed: IndexFeed,
        context: Arc<Context<S, T>>,
    ) -> Self {
        let (finish, ended) = (CancellationToken::new(), CancellationToken::new());
        let (told, tells) = (finish.clone(), ended.clone().drop_guard());
        let task = tokio::spawn(async move {
            let _tells = tells;
            feed.run(context, told).await
        });
        Self { task, finish, ended }
    }

    /// Whether it ended though nobody told it to.
    pub(super) fn has_failed(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits until it has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Lets it empty the outbox.
    pub(super) async fn finish(mut self) -> Result<(), CrawlError> {
        self.finish.cancel();
        (&mut self.task).await.map_err(|panic| CrawlError::Worker(panic.to_string()))?
    }
}

/// A crawl that is dropped in the middle leaves nobody behind who holds its store.
impl Drop for Feeder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The changes of an outbox entry; if it is lost, the URL of the page that must be fetched again.
fn changes_of(entry: OutboxEntry) -> Result<Vec<IndexChange>, Option<Url>> {
    let why = match entry.payload {
        Payload::Bytes(bytes) => match publish::from_bytes(&bytes) {
            Some(changes) => return Ok(changes),
            None => "it could not be read".into(),
        },
        Payload::Lost { why } => why,
    };
    let url = entry.url.as_ref().map_or("", Url::as_str);
    tracing::warn!(url, why, "a page's text was lost before it was indexed; it is fetched again");
    Err(entry.url)
}

/// A page to fetch once more.
fn again(url: Url, at: Timestamp) -> Found {
    let plan = Plan::Again { priority: 0 };
    let (role, via) = (Role::Page, Via::Link);
    Found { url, depth: 0, hops: 0, role, via, from: None, at, plan }
}

/// What an indexed page's rules say now: a withdrawal, or the day to look again.
fn review(page: &PageRecord, now: Timestamp) -> (Option<Vec<u8>>, Option<Timestamp>) {
    let directives = page.last_fetch().map(|(_, fetched)| publish::directives_of(fetched));
    match Publication::of(&directives.unwrap_or_default(), now) {
        Publication::BareUrl(_) | Publication::Nothing(_) => {
            (publish::to_bytes(&[publish::withdraw(&page.url)]), None)
        }
        publication @ (Publication::Full(_) | Publication::EmbeddedOnly(_)) => {
            (None, publication.until().filter(|until| *until > now))
        }
    }
}
