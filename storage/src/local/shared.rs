//! What the writer and the readers of a local store have in common, and the
//! reads themselves.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Origin, Site, Timestamp};
use url::Url;

use super::draft::Effects;
use super::seen::Seen;
use super::sites::Sites;
use super::spool::Spool;
use crate::engine::Engine;
use crate::key::{self, PageKey};
use crate::page::Likeness;
use crate::page::PageRecord;
use crate::record::{OutboxRow, PageRow, RobotsRow, SiteRow, decode};
use crate::store::{
    AfterReport, Lease, LeaseToken, OutboxEntry, PageCursor, Payload, SiteState, Stats, StoreError,
};
use crate::tally::Tally;

/// URLs of a site that are counted for its state.
const MAX_COUNTED: usize = 10_000;

/// Payload bytes of one look into the outbox, roughly.
const MAX_OUTBOX_BYTES: usize = 8 << 20;

/// Rows that are read at a time to fill the seen set.
const FILL_ROWS: usize = 4_096;

/// As [`Shared::next_ready`] when nothing waits.
const NEVER: i64 = i64::MAX;

pub(super) struct Shared<E> {
    engine: RwLock<Option<Arc<E>>>,
    sites: Mutex<Sites>,
    pub(super) seen: Seen,
    pub(super) spool: Spool,
    /// As of the last durable batch.
    tally: Mutex<Tally>,
    next_ready: AtomicI64,
    disk_bytes: AtomicU64,
    stopping: AtomicBool,
    /// The lock on the directory; given back after the engine is.
    pub(super) lock: Mutex<Option<std::fs::File>>,
}

impl<E: Engine> Shared<E> {
    pub(super) fn new(
        engine: Arc<E>,
        sites: Sites,
        seen: Seen,
        spool: Spool,
        lock: Option<std::fs::File>,
    ) -> Self {
        Self {
            disk_bytes: engine.bytes_on_disk().into(),
            engine: RwLock::new(Some(engine)),
            sites: Mutex::new(sites),
            seen,
            spool,
            tally: Mutex::default(),
            next_ready: NEVER.into(),
            stopping: false.into(),
            lock: Mutex::new(lock),
        }
    }

    pub(super) fn engine(&self) -> Result<Arc<E>, StoreError> {
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        engine.clone().ok_or(StoreError::Closed)
    }

    pub(super) fn take_engine(&self) -> Option<Arc<E>> {
        self.engine.write().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn sites(&self) -> MutexGuard<'_, Sites> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn disk_bytes(&self) -> u64 {
        self.disk_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn note_disk_bytes(&self, bytes: u64) {
        self.disk_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Stops what runs in the background.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Sets the tables from the store, at opening.
    pub(super) fn fill_sites(&self, engine: &E, tally: &Tally) -> Result<(), StoreError> {
        *self.tally() = tally.clone();
        let mut sites = self.sites();
        let mut from = vec![key::QUEUE];
        // One look a site: from its first row on to the first of the next.
        while let Some((site, due)) = first_queued(engine, &from, &[key::QUEUE])? {
            sites.put(site, next_at(engine, site)?, Some(due));
            match site.checked_add(1) {
                Some(next) => from = key::queue_of(next).to_vec(),
                None => break,
            }
        }
        self.publish(&sites);
        Ok(())
    }

    fn publish(&self, sites: &Sites) {
        self.next_ready.store(sites.next_ready().unwrap_or(NEVER), Ordering::Relaxed);
    }

    pub(super) fn next_ready(&self) -> Option<Timestamp> {
        let at = self.next_ready.load(Ordering::Relaxed);
        (at != NEVER).then(|| Timestamp::from_millis(at))
    }

    /// Brings the tables in memory up to a batch that is durable.
    pub(super) fn settle(
        &self,
        engine: &E,
        tally: &Tally,
        effects: Effects,
    ) -> Result<(), StoreError> {
        *self.tally() = tally.clone();
        self.seen.extend(effects.settled);
        self.seen.remove(effects.unsettled);
        let mut sites = self.sites();
        for (site, due) in effects.wakes {
            // Asked now and not when the batch was made: the site may have left the tables since.
            let at = if sites.knows(site) { 0 } else { next_at(engine, site)? };
            sites.wake(site, due, at);
        }
        for report in effects.reports {
            sites.end_report(report.site, report.fence, report.next_at);
            match report.then {
                AfterReport::Release if sites.holds(report.site, report.fence) => {
                    end_loan(engine, &mut sites, report.site)?;
                }
                AfterReport::Release | AfterReport::Keep => {}
            }
        }
        self.publish(&sites);
        drop(sites);
        if effects.outbox_shrank {
            self.trim_spool(engine)?;
        }
        Ok(())
    }

    /// Deletes spool files that no outbox row needs.
    pub(super) fn trim_spool(&self, engine: &E) -> Result<(), StoreError> {
        let mut first = None;
        engine.scan(&[key::OUTBOX], &[key::OUTBOX], 1, &mut |_, value| {
            first = Some(decode::<OutboxRow>(value, "an outbox row").map(|row| row.place));
            ControlFlow::Break(())
        })?;
        if let Err(error) = self.spool.trim(first.transpose()?) {
            tracing::warn!(%error, "old spool files could not be deleted");
        }
        Ok(())
    }

    pub(super) fn lease(
        &self,
        engine: &E,
        now: Timestamp,
        (sites_wanted, urls_per_site): (usize, usize),
        ttl: Duration,
    ) -> Result<Vec<Lease>, StoreError> {
        let mut sites = self.sites();
        for site in sites.run_out(now) {
            end_loan(engine, &mut sites, site)?;
        }
        let ready: Vec<u64> = sites.ready(now).take(sites_wanted).collect();
        let mut picked = Vec::new();
        for site in ready {
            let urls = pick(engine, site, now, urls_per_site.max(1), sites.turn())?;
            if urls.is_empty() {
                end_loan(engine, &mut sites, site)?;
            } else {
                picked.push((site, site_row(engine, site)?, urls));
            }
        }
        // Only now that nothing can fail any more.
        let deadline = now.after(ttl);
        let lend = |(site, row, urls): (u64, SiteRow, Vec<PageRecord>)| Lease {
            token: LeaseToken {
                site: Site::from_host(&row.host),
                fence: sites.lend(site, deadline),
            },
            deadline,
            pace: row.pace(),
            trust: row.trust(),
            urls,
        };
        let leases = picked.into_iter().map(lend).collect();
        self.publish(&sites);
        Ok(leases)
    }

    pub(super) fn renew(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        ttl: Duration,
    ) -> Option<Timestamp> {
        let mut sites = self.sites();
        let until = sites.renew(key::site_hash(&token.site), token.fence, now, ttl);
        self.publish(&sites);
        until
    }

    pub(super) fn release(&self, engine: &E, token: &LeaseToken) -> Result<(), StoreError> {
        let site = key::site_hash(&token.site);
        let mut sites = self.sites();
        if sites.holds(site, token.fence) {
            end_loan(engine, &mut sites, site)?;
        }
        self.publish(&sites);
        Ok(())
    }

    pub(super) fn robots(
        &self,
        engine: &E,
        origin: &Origin,
    ) -> Result<Option<RobotsRecord>, StoreError> {
        let prefix = key::robots(origin);
        let mut bytes = Vec::new();
        engine.scan(&prefix, &prefix, usize::MAX, &mut |_, part| {
            bytes.extend_from_slice(part);
            ControlFlow::Continue(())
        })?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let row: RobotsRow = decode(&bytes, "a robots.txt record")?;
        Ok(row.into_parts(origin).map(RobotsRecord::from_parts))
    }

    pub(super) fn page(&self, engine: &E, url: &Url) -> Result<Option<PageRecord>, StoreError> {
        let Ok(mut page) = PageKey::of(url) else { return Ok(None) };
        for _ in 0..key::MAX_PROBES {
            let Some(bytes) = engine.read(&page.bytes())? else { return Ok(None) };
            if PageRow::url_of(&bytes) == Some(url.as_str()) {
                return record(engine, &bytes).map(Some);
            }
            page = page.next();
        }
        Ok(None)
    }

    pub(super) fn alike(
        &self,
        engine: &E,
        site: &Site,
        likeness: &Likeness,
        max: usize,
    ) -> Result<Vec<PageRecord>, StoreError> {
        let site = key::site_hash(site);
        let prefix = match likeness {
            Likeness::Text(hash) => key::likeness_of(key::TEXT, site, *hash),
            Likeness::Canonical(url) => {
                key::likeness_of(key::CANONICAL, site, key::url_hash(url.as_str()))
            }
        };
        let mut keys = Vec::new();
        engine.scan(&prefix, &prefix, max, &mut |key, _| {
            keys.extend(key::likeness_page(key));
            ControlFlow::Continue(())
        })?;
        let mut pages = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(bytes) = engine.read(&key.bytes())? {
                pages.push(record(engine, &bytes)?);
            }
        }
        Ok(pages)
    }

    pub(super) fn site(&self, engine: &E, site: &Site) -> Result<Option<SiteState>, StoreError> {
        let hash = key::site_hash(site);
        let Some(bytes) = engine.read(&key::site(hash))? else { return Ok(None) };
        let row: SiteRow = decode(&bytes, "a site record")?;
        let (mut queued, mut at_once) = (0, 0);
        let prefix = key::queue_of(hash);
        engine.scan(&prefix, &prefix, MAX_COUNTED, &mut |key, _| {
            queued += 1;
            at_once += usize::from(key::queue_parts(key).is_some_and(|(_, due)| due == 0));
            ControlFlow::Continue(())
        })?;
        let next_at = Timestamp::from_millis(row.next_at);
        Ok(Some(SiteState { pace: row.pace(), trust: row.trust(), next_at, queued, at_once }))
    }

    pub(super) fn outbox(
        &self,
        engine: &E,
        from: u64,
        max: usize,
    ) -> Result<Vec<OutboxEntry>, StoreError> {
        let mut rows = Vec::new();
        let mut bytes = 0;
        engine.scan(&key::outbox(from), &[key::OUTBOX], max, &mut |key, value| {
            let row = decode::<OutboxRow>(value, "an outbox row");
            bytes += row.as_ref().map_or(0, |row| row.place.length as usize);
            rows.push((key::outbox_seq(key).unwrap_or(0), row));
            if bytes < MAX_OUTBOX_BYTES {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let entry = |(seq, row): (u64, Result<OutboxRow, StoreError>)| match row {
            Ok(row) => {
                let url = Url::parse(&row.url).ok();
                OutboxEntry { seq, url, payload: self.spool.read(row.place) }
            }
            Err(error) => {
                OutboxEntry { seq, url: None, payload: Payload::Lost { why: error.to_string() } }
            }
        };
        Ok(rows.into_iter().map(entry).collect())
    }

    pub(super) fn pages(
        &self,
        engine: &E,
        prefix: &[u8],
        from: Option<PageCursor>,
        max: usize,
    ) -> Result<(Vec<PageRecord>, Option<PageCursor>), StoreError> {
        let from = from.map_or(prefix.to_vec(), |cursor| cursor.0);
        let (mut rows, mut next) = (Vec::new(), None);
        engine.scan(&from, prefix, max.saturating_add(1), &mut |key, value| {
            if rows.len() == max {
                next = Some(PageCursor(key.to_vec()));
                return ControlFlow::Break(());
            }
            rows.push(value.to_vec());
            ControlFlow::Continue(())
        })?;
        let pages = rows.iter().map(|bytes| record(engine, bytes)).collect::<Result<_, _>>()?;
        Ok((pages, next))
    }

    /// Pages of this kind, at most `max`, from the key `from` on; and where to go on, if there may
    /// be more.
    pub(super) fn pages_that(
        &self,
        engine: &E,
        from: &[u8],
        max: usize,
        is_wanted: impl Fn(&PageRow) -> bool,
    ) -> Result<(Vec<Url>, Option<Vec<u8>>), StoreError> {
        let (mut found, mut next) = (Vec::new(), None);
        engine.scan(from, &[key::PAGE], usize::MAX, &mut |key, value| {
            if found.len() == max {
                next = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            let row = decode::<PageRow>(value, "a page record").ok();
            found.extend(row.filter(&is_wanted).and_then(|row| Url::parse(&row.url).ok()));
            ControlFlow::Continue(())
        })?;
        Ok((found, next))
    }

    pub(super) fn due_reviews(
        &self,
        engine: &E,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<PageRecord>, StoreError> {
        let mut pages = Vec::new();
        engine.scan(
            &[key::REVIEW],
            &[key::REVIEW],
            max,
            &mut |key, _| match key::review_parts(key) {
                Some((due, page)) if key::due_moment(due) <= now => {
                    pages.push(page);
                    ControlFlow::Continue(())
                }
                Some(_) | None => ControlFlow::Break(()),
            },
        )?;
        let mut records = Vec::with_capacity(pages.len());
        for page in pages {
            // The review may have been done since.
            if let Some(bytes) = engine.read(&page.bytes())? {
                records.push(record(engine, &bytes)?);
            }
        }
        Ok(records)
    }

    pub(super) fn stats(&self) -> Stats {
        let tally = self.tally().clone();
        let engine = self.engine().map_or(0, |engine| engine.memory_estimate(tally.known));
        Stats {
            memory_estimate_bytes: engine + self.seen.memory_bytes() + self.sites().memory_bytes(),
            disk_bytes: self.disk_bytes(),
            known: tally.known,
            queued: tally.queued,
            revisits: tally.revisits,
            fetched: tally.fetched,
            sitemaps: tally.sitemaps,
            redirected: tally.redirected,
            refused: tally.refused,
            failed: tally.failed,
            noted: tally.noted,
            sites: tally.sites,
            outbox_pending: tally.outbox_pending,
        }
    }

    /// Fills the seen set from the store, until told to stop.
    pub(super) fn fill_seen(&self) -> Result<(), StoreError> {
        let mut from = vec![key::PAGE];
        while !self.stopping.load(Ordering::Relaxed) {
            let mut urls = Vec::with_capacity(FILL_ROWS);
            let mut last = None;
            self.engine()?.scan(&from, &[key::PAGE], FILL_ROWS, &mut |key, value| {
                let row = decode::<PageRow>(value, "a page record");
                urls.extend(row.ok().filter(|row| row.noted.is_none()).map(|row| row.url));
                last = Some(key.to_vec());
                ControlFlow::Continue(())
            })?;
            self.seen.extend(urls.iter().map(|url| self.seen.print(url)));
            match last {
                Some(mut next) => {
                    next.push(0);
                    from = next;
                }
                None => break,
            }
        }
        self.seen.end_filling();
        Ok(())
    }
}

/// Takes a site back: what is due next is looked up, for reports have changed its queue.
fn end_loan<E: Engine>(engine: &E, sites: &mut Sites, site: u64) -> Result<(), StoreError> {
    let prefix = key::queue_of(site);
    let due = first_queued(engine, &prefix, &prefix)?.map(|(_, due)| due);
    let at = match sites.next_at(site) {
        Some(at) => at,
        None => next_at(engine, site)?,
    };
    sites.put(site, at, due);
    Ok(())
}

/// The site and the due second of the first queue row.
fn first_queued<E: Engine>(
    engine: &E,
    from: &[u8],
    prefix: &[u8],
) -> Result<Option<(u64, u32)>, StoreError> {
    let mut first = None;
    engine.scan(from, prefix, 1, &mut |key, _| {
        first = Some(key::queue_parts(key));
        ControlFlow::Break(())
    })?;
    match first {
        Some(None) => Err(StoreError::Damaged { what: "a queue key has the wrong length".into() }),
        Some(parts) => Ok(parts),
        None => Ok(None),
    }
}

fn site_row<E: Engine>(engine: &E, site: u64) -> Result<SiteRow, StoreError> {
    match engine.read(&key::site(site))? {
        Some(bytes) => decode(&bytes, "a site record"),
        None => Err(StoreError::Damaged { what: format!("site {site:016x} has no record") }),
    }
}

fn next_at<E: Engine>(engine: &E, site: u64) -> Result<i64, StoreError> {
    site_row(engine, site).map(|row| row.next_at)
}

fn record<E: Engine>(engine: &E, bytes: &[u8]) -> Result<PageRecord, StoreError> {
    let row: PageRow = decode(bytes, "a page record")?;
    let from = match row.named_by() {
        Some(page) => engine.read(&page.bytes())?,
        None => None,
    };
    let from = from.as_deref().and_then(PageRow::url_of).map(str::to_owned);
    row.into_record(from)
}

/// Due URLs of a site. Those that wait since a moment get half of the places if both kinds are
/// there, one after another, and which kind is first changes with every loan: most loans end before
/// all of their URLs were asked for, and neither kind may starve.
fn pick<E: Engine>(
    engine: &E,
    site: u64,
    now: Timestamp,
    places: usize,
    turn: u64,
) -> Result<Vec<PageRecord>, StoreError> {
    let second = u32::try_from(now.as_secs().clamp(0, u32::MAX.into())).unwrap_or(u32::MAX);
    let fresh = queued(engine, site, 0..=0, places)?;
    let waiting = queued(engine, site, 1..=second, places)?;
    let waiting_first = turn.is_multiple_of(2);
    let half = if places == 1 { usize::from(waiting_first) } else { places / 2 };
    let of_waiting = waiting.len().min(half.max(places - fresh.len()));
    let (first, second) = {
        let (waiting, fresh) = (waiting.into_iter().take(of_waiting), fresh.into_iter());
        let fresh = fresh.take(places - of_waiting);
        let (waiting, fresh): (Vec<u64>, Vec<u64>) = (waiting.collect(), fresh.collect());
        if waiting_first { (waiting, fresh) } else { (fresh, waiting) }
    };
    let slots = one_by_one(first, second);
    let mut records = Vec::with_capacity(places.min(64));
    for slot in slots {
        let key = PageKey { site, slot }.bytes();
        let Some(bytes) = engine.read(&key)? else {
            return Err(StoreError::Damaged {
                what: format!("queued page {slot:016x} has no record"),
            });
        };
        records.push(record(engine, &bytes)?);
    }
    Ok(records)
}

/// One of each in turn, and what is left of the longer.
fn one_by_one(first: Vec<u64>, second: Vec<u64>) -> impl Iterator<Item = u64> {
    let both = first.len().min(second.len());
    let pairs: Vec<_> = first.iter().zip(&second).flat_map(|(one, two)| [*one, *two]).collect();
    pairs.into_iter().chain(first.into_iter().skip(both)).chain(second.into_iter().skip(both))
}

/// Slots of the URLs that are due in these seconds, in the order of the queue.
fn queued<E: Engine>(
    engine: &E,
    site: u64,
    seconds: std::ops::RangeInclusive<u32>,
    limit: usize,
) -> Result<Vec<u64>, StoreError> {
    let mut slots = Vec::new();
    let mut damaged = false;
    let from = key::queue_from(site, *seconds.start());
    engine.scan(&from, &key::queue_of(site), limit, &mut |key, value| {
        match (key::queue_parts(key), <[u8; 8]>::try_from(value)) {
            (Some((_, due)), _) if due > *seconds.end() => return ControlFlow::Break(()),
            (Some(_), Ok(slot)) => slots.push(u64::from_be_bytes(slot)),
            (None, _) | (_, Err(_)) => {
                damaged = true;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    if damaged {
        return Err(StoreError::Damaged { what: "a queue row has the wrong length".into() });
    }
    Ok(slots)
}
