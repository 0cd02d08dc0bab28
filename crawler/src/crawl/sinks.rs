//! From the store's outbox to the index, at least once, and pages out of the index on their day.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_compliance::{Publication, Timestamp};
use comity_storage::{Found, OutboxEntry, PageRecord, Payload, Plan, Role, Store, Via};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Context, CrawlError, publish};
use crate::index::{IndexChange, IndexError, IndexWriter};
use crate::net::Transport;
use crate::output::bulk::Bulk;

/// The one who feeds the index.
pub(super) struct IndexFeed {
    writer: Option<Arc<Mutex<IndexWriter>>>,
    bulk: Option<Bulk>,
    /// The number of the first outbox entry that was not taken yet.
    next: u64,
    /// The last entry that was taken, and that the outbox still holds.
    taken: Option<u64>,
    last_commit: Timestamp,
    last_sweep: Option<Timestamp>,
}

/// Entries that are taken from the outbox at a time.
const BATCH: usize = 512;
/// What was taken waits no longer than this to be seen, and to be safe. Every commit makes files
/// that others are merged with later, so none is made for a few pages more.
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
        let feed = Self { writer, bulk, next: 0, taken: None, last_commit: now, last_sweep: None };
        feeds.then_some(feed)
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
                () = finish.cancelled() => {
                    self.take(&context, &finish).await?;
                    return self.commit(&context).await;
                }
                () = context.outbox_fed.notified(), if empty => {}
                () = tokio::time::sleep(nap) => {}
            }
        }
    }

    /// Takes what the outbox holds, and makes it seen if the first of it has waited for long.
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
        self.take(context, finish).await?;
        let has_waited = now.since(self.last_commit) >= COMMIT_EVERY;
        if self.taken.is_some() && (has_waited || self.writer.is_none()) {
            self.commit(context).await?;
        }
        Ok(())
    }

    /// Gives what the outbox holds to the index and the bulk service. The outbox keeps it until
    /// [`Self::commit`]: a crash before repeats work and loses none.
    async fn take<S: Store, T>(
        &mut self,
        context: &Context<S, T>,
        finish: &CancellationToken,
    ) -> Result<(), CrawlError> {
        loop {
            let entries = context.store.outbox(self.next, BATCH).await?;
            let Some(through) = entries.last().map(|entry| entry.seq) else { return Ok(()) };
            if self.taken.is_none() {
                self.last_commit = context.clock.now();
            }
            let (mut changes, mut lost) = (Vec::new(), Vec::new());
            for entry in entries {
                match changes_of(entry) {
                    Ok(some) => changes.extend(some),
                    Err(url) => lost.extend(url.map(|url| again(url, self.last_commit))),
                }
            }
            let changes = Arc::new(changes);
            if let Some(writer) = &self.writer {
                let changes = Arc::clone(&changes);
                write(writer, move |index| index.apply(&changes)).await?;
            }
            if let Some(bulk) = &self.bulk {
                let delivered = bulk.deliver(&changes, finish).await?;
                context.reporter.count(|counts| {
                    counts.delivered += delivered.done;
                    counts.rejected += delivered.rejected;
                });
            }
            context.store.push(lost).await?;
            (self.next, self.taken) = (through + 1, Some(through));
            if context.clock.now().since(self.last_commit) >= COMMIT_EVERY {
                self.commit(context).await?;
            }
        }
    }

    /// Makes what was taken seen and safe, and lets the outbox forget it.
    async fn commit<S: Store, T>(&mut self, context: &Context<S, T>) -> Result<(), CrawlError> {
        let Some(through) = self.taken.take() else { return Ok(()) };
        if let Some(writer) = &self.writer {
            write(writer, IndexWriter::commit).await?;
        }
        self.last_commit = context.clock.now();
        context.store.outbox_done(through).await?;
        Ok(())
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

/// Works on the index off the runtime's threads.
async fn write(
    writer: &Arc<Mutex<IndexWriter>>,
    work: impl FnOnce(&mut IndexWriter) -> Result<(), IndexError> + Send + 'static,
) -> Result<(), CrawlError> {
    let writer = Arc::clone(writer);
    let done = tokio::task::spawn_blocking(move || {
        work(&mut writer.lock().unwrap_or_else(PoisonError::into_inner))
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
    Found { url, depth: 0, hops: 0, role, via, from: None, anchor: None, at, plan }
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
