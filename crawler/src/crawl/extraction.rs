//! Extractors at work in a crawl: off the runtime's threads, before the visit is committed, their
//! items to the sink and their links to the page's own.

use std::sync::Arc;

use comity_storage::Store;

use super::report::Event;
use super::{Context, CrawlError, Extractors};
use crate::extract::{ErasedExtractor, Item, ReadPage, Receipt, Sink, SinkError, Yielded, run_all};
use crate::net::Transport;
use crate::page::Link;

/// The extractors of a crawl, and where their items go.
pub(super) struct Extraction {
    extractors: Arc<[Box<dyn ErasedExtractor>]>,
    sink: Option<Arc<dyn Sink>>,
}

impl Extraction {
    pub(super) fn new(extractors: Extractors) -> Self {
        let Extractors { all, sink } = extractors;
        Self { extractors: all.into(), sink }
    }

    /// Lets the sink finish.
    pub(super) async fn finish(&self) -> Result<(), SinkError> {
        match &self.sink {
            Some(sink) => sink.finish().await,
            None => Ok(()),
        }
    }
}

impl<S: Store, T: Transport> Context<S, T> {
    /// Runs the extractors on a page, and waits until the sink has what they yielded; their links.
    pub(super) async fn extract(&self, page: &Arc<ReadPage>) -> Result<Vec<Link>, CrawlError> {
        if self.extraction.extractors.is_empty() {
            return Ok(vec![]);
        }
        let (extractors, read) = (Arc::clone(&self.extraction.extractors), Arc::clone(page));
        // Each extractor stands behind a wall: a panic outside them is a fault of this program.
        let ran = tokio::task::spawn_blocking(move || run_all(&extractors, &read)).await;
        let all = ran.map_err(|panic| CrawlError::Worker(panic.to_string()))?;
        let (mut items, mut links) = (Vec::new(), Vec::new());
        for yielded in all {
            self.tell_yielded(page, &yielded);
            let item = |value| Item {
                extractor: yielded.extractor.clone(),
                url: page.url.clone(),
                at: page.at,
                value,
            };
            items.extend(yielded.items.into_iter().map(item));
            links.extend(yielded.links);
        }
        self.put(page, &items).await?;
        Ok(links)
    }

    /// An extractor's error is the extractor's; the crawl goes on.
    fn tell_yielded(&self, page: &ReadPage, yielded: &Yielded) {
        let extractor = yielded.extractor.as_str();
        if let Some(detail) = &yielded.error {
            tracing::info!(url = %page.url, extractor, detail, "an extractor failed on a page");
            self.tell(&Event::ExtractFailed { url: &page.url, extractor, detail });
        }
        self.reporter.count(|counts| {
            for (reason, left) in &yielded.left_out {
                let row = format!("{extractor}: {reason}");
                *counts.items_left_out.entry(row).or_default() += left;
            }
        });
    }

    /// Makes items durable, before the store is told of the pages that they are from.
    pub(super) async fn items_are_durable(&self) -> Result<(), SinkError> {
        match &self.extraction.sink {
            Some(sink) => sink.sync().await,
            None => Ok(()),
        }
    }

    async fn put(&self, page: &ReadPage, items: &[Item]) -> Result<(), SinkError> {
        if items.is_empty() {
            return Ok(());
        }
        let receipt = match &self.extraction.sink {
            Some(sink) => sink.put(items).await?,
            None => Receipt::all(items),
        };
        let left: u64 = receipt.left_out.values().sum();
        self.reporter.count(|counts| {
            // Which of them a sink left it does not say; they are counted under its own reasons.
            for item in items {
                *counts.items.entry(item.extractor.clone()).or_default() += 1;
            }
            for (reason, left) in &receipt.left_out {
                *counts.items_left_out.entry(format!("sink: {reason}")).or_default() += left;
            }
        });
        let kept = (items.len() as u64).saturating_sub(left);
        self.tell(&Event::Extracted { url: &page.url, items: kept });
        Ok(())
    }
}
