//! From the store's outbox to the index, at least once, and pages out of the index on their day.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_compliance::Timestamp;
use comity_compliance::directives::{Directive, Directives, Rule, Source};
use comity_compliance::publication::Publication;
use comity_storage::{Outcome, OutboxEntry, PageRecord, Payload, Store};

use super::{Context, CrawlError};
use crate::index::{IndexChange, IndexWriter, document_key};

/// The one who feeds the index.
pub(super) struct IndexFeed {
    writer: Arc<Mutex<IndexWriter>>,
    last_commit: Timestamp,
    last_sweep: Option<Timestamp>,
}

/// Entries that are taken from the outbox at a time, each batch one commit of the index.
const BATCH: usize = 512;
/// Changes wait no longer than this for the index.
const COMMIT_EVERY: Duration = Duration::from_secs(5);
/// Pages whose day has come are looked for this often. Queries enforce it to the second.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

impl IndexFeed {
    pub(super) fn new(writer: IndexWriter, now: Timestamp) -> Self {
        Self { writer: Arc::new(Mutex::new(writer)), last_commit: now, last_sweep: None }
    }

    /// Takes what the outbox holds, if it is much or has waited for long.
    pub(super) async fn turn<S: Store, T>(
        &mut self,
        context: &Context<S, T>,
    ) -> Result<(), CrawlError> {
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
    pub(super) async fn drain<S: Store, T>(
        &mut self,
        context: &Context<S, T>,
    ) -> Result<(), CrawlError> {
        self.last_commit = context.clock.now();
        loop {
            let entries = context.store.outbox(BATCH).await?;
            let Some(through) = entries.last().map(|entry| entry.seq) else { return Ok(()) };
            let changes: Vec<_> = entries.into_iter().filter_map(change).collect();
            self.with_writer(move |writer| writer.apply(&changes).and_then(|()| writer.commit()))
                .await?;
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
        done.await.map_err(|panic| CrawlError::Worker(panic.to_string()))?.map_err(CrawlError::Index)
    }

    /// Withdraws pages whose unavailable_after has passed (RM-031).
    async fn sweep<S: Store, T>(&self, context: &Context<S, T>, now: Timestamp) -> Result<(), CrawlError> {
        loop {
            let due = context.store.due_reviews(now, BATCH).await?;
            if due.is_empty() {
                return Ok(());
            }
            for page in due {
                let (sink, next) = review(&page, now);
                context.store.review_done(&page.url, next, sink).await?;
            }
        }
    }
}

fn change(entry: OutboxEntry) -> Option<IndexChange> {
    let seq = entry.seq;
    match entry.payload {
        Payload::Bytes(bytes) => {
            let change = IndexChange::from_bytes(&bytes);
            if change.is_none() {
                tracing::warn!(seq, "an outbox entry could not be read; it is dropped");
            }
            change
        }
        Payload::Lost { why } => {
            tracing::warn!(seq, why, "a page's text is gone; its next visit brings it again");
            None
        }
    }
}

/// What an indexed page's rules say now: a withdrawal, or the day to look again.
fn review(page: &PageRecord, now: Timestamp) -> (Option<Vec<u8>>, Option<Timestamp>) {
    match Publication::of(&directives_of(page), now) {
        Publication::BareUrl(_) | Publication::Nothing(_) => {
            (IndexChange::Withdraw { key: document_key(&page.url) }.to_bytes(), None)
        }
        publication @ (Publication::Full(_) | Publication::EmbeddedOnly(_)) => {
            (None, publication.until().filter(|until| *until > now))
        }
    }
}

/// The directives that a page record keeps, as compliance knows them.
pub(super) fn directives_of(page: &PageRecord) -> Directives {
    let Some((_, Outcome::Fetched(fetched))) = &page.last else { return Directives::default() };
    let directives = fetched.directives.iter().filter_map(|kept| {
        Some(Directive {
            rule: Rule::from_stored(&kept.rule)?,
            source: kept.source.parse::<Source>().ok()?,
            agent: kept.agent.clone(),
        })
    });
    Directives::from_parts(directives)
}
