//! A crawl at work: items as they come, its index, its end.

use std::path::PathBuf;

use comity_storage::{Stats, Store};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::CrawlerError;
use crate::clock::Clock;
use crate::crawl::{Counts, Crawl, CrawlError, End};
use crate::extract::{Answering, Item, Receipt, Sink, SinkError};
use crate::index::{IndexError, Searcher};
use crate::net::Transport;

/// How a crawl ended, and what it had done by then.
pub(super) type Ended = (Result<End, CrawlError>, Counts, Stats);

pub(super) fn spawned<S: Store, T: Transport>(
    crawl: Crawl<S, T>,
    clock: Clock,
) -> JoinHandle<Ended> {
    let started = clock.now();
    tokio::spawn(async move {
        let watch = crawl.watch();
        let ended = crawl.run().await;
        (ended, watch.progress(started).counts, watch.stats())
    })
}

/// How a crawl went.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why it ended.
    pub end: End,
    /// What it did.
    pub counts: Counts,
    /// What the store then held.
    pub store: Stats,
}

/// A crawl at work. Dropped, it stops.
#[derive(Debug)]
pub struct Running {
    pub(super) offered: mpsc::Receiver<Offered>,
    /// Told when the item that was taken last is done with.
    pub(super) last: Option<oneshot::Sender<()>>,
    pub(super) task: Option<JoinHandle<Ended>>,
    pub(super) stop: CancellationToken,
    pub(super) index_dir: Option<PathBuf>,
}

impl Running {
    /// Tells the crawl to stop; [`Running::finish`] waits until it has.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// A reader of the crawl's index, which may be asked while it runs; none without
    /// [`CrawlerBuilder::index`](super::CrawlerBuilder::index).
    ///
    /// # Errors
    /// [`IndexError`]
    pub fn searcher(&self) -> Result<Option<Searcher>, IndexError> {
        self.index_dir.as_deref().map(Searcher::open).transpose()
    }

    /// The next item; `None` at the end of the crawl, and at once if items go to a sink.
    ///
    /// An item counts as taken when the next one is asked for: only then is its page noted as
    /// fetched. A program that dies between the two gets it again from the next run.
    pub async fn next(&mut self) -> Option<Item> {
        self.taken();
        let Offered { item, taken } = self.offered.recv().await?;
        self.last = Some(taken);
        Some(item)
    }

    /// Waits for the end, and says how it went. Items that were not taken stop the crawl: their pages
    /// are fetched again by the next run.
    ///
    /// # Errors
    /// [`CrawlerError`]
    pub async fn finish(mut self) -> Result<Report, CrawlerError> {
        self.taken();
        let Some(mut task) = self.task.take() else {
            return Err(CrawlerError::Died("it has ended before".into()));
        };
        let (ended, is_left) = tokio::select! {
            ended = &mut task => (ended, false),
            Some(untaken) = self.offered.recv() => {
                self.stop.cancel();
                // Its page waits for it.
                drop(untaken);
                self.offered.close();
                // What is on its way is not taken either.
                while self.offered.recv().await.is_some() {}
                (task.await, true)
            }
        };
        let (ended, counts, store) =
            ended.map_err(|panic| CrawlerError::Died(panic.to_string()))?;
        let end = match ended {
            Err(CrawlError::Sink(_)) if is_left => End::Stopped,
            ended => ended?,
        };
        Ok(Report { end, counts, store })
    }

    fn taken(&mut self) {
        if let Some(last) = self.last.take() {
            // Nobody waits for it if the crawl was stopped meanwhile.
            let _ = last.send(());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// An item on its way to the caller.
#[derive(Debug)]
pub(super) struct Offered {
    item: Item,
    taken: oneshot::Sender<()>,
}

/// Offers items to whoever calls [`Running::next`], and waits until each was taken.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) items: mpsc::Sender<Offered>,
}

impl Sink for Offer {
    fn put<'a>(&'a self, items: &'a [Item]) -> Answering<'a, Receipt> {
        let gone = || SinkError::new("nobody takes them any more");
        Box::pin(async move {
            for item in items {
                let (taken, told) = oneshot::channel();
                let offered = Offered { item: item.clone(), taken };
                self.items.send(offered).await.map_err(|_| gone())?;
                told.await.map_err(|_| gone())?;
            }
            Ok(Receipt::all(items))
        })
    }
}
