//! One batch in the making: reads what it needs from the engine, sees its own
//! changes, and ends as a batch of rows.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use comity_compliance::{Origin, Site, SitePace, Timestamp};
use url::Url;

use super::Shared;
use crate::engine::{Batch, Engine};
use crate::key::{self, PageKey, Place, due_second};
use crate::page::{Fate, Found, MAX_URL_BYTES, Next, Outcome, Plan, Review, Role, Visit};
use crate::record::{
    FromRow, Origins, OutboxRow, OutcomeRow, PageRow, RobotsRow, SiteRow, SpoolPlace, StateRow,
    cut_code, decode, encode,
};
use crate::store::{AfterReport, Receipt, SiteReport, StoreError};

/// Bytes of a robots.txt record in one row.
const ROBOTS_PART_BYTES: usize = 32 * 1024;

/// URLs that one report puts off at most.
const PUT_OFF_AT_ONCE: usize = 4096;

/// A sequence number has 40 bits in a key.
const SEQ_MASK: u64 = (1 << 40) - 1;

pub(super) struct Draft<'a, E> {
    shared: &'a Shared<E>,
    engine: &'a E,
    pub(super) state: StateRow,
    pages: HashMap<PageKey, Held<PageRow>>,
    sites: HashMap<u64, Held<SiteRow>>,
    /// Rows of the other kinds; none removes.
    rows: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    pub(super) effects: Effects,
}

/// A row that was read, and whether it must be written.
struct Held<T> {
    row: T,
    changed: bool,
}

/// What a batch does to the tables in memory, once it is durable.
#[derive(Default)]
pub(super) struct Effects {
    /// Sites with new queue rows, and the earliest due second of these.
    pub(super) wakes: BTreeMap<u64, u32>,
    pub(super) reports: Vec<ReportDone>,
    /// Fingerprints of pages that being found again cannot change.
    pub(super) settled: Vec<u64>,
    /// Fingerprints of pages of which that is no longer so.
    pub(super) unsettled: Vec<u64>,
    /// Whether spool files may have become free.
    pub(super) outbox_shrank: bool,
}

pub(super) struct ReportDone {
    pub(super) site: u64,
    pub(super) fence: u64,
    pub(super) next_at: i64,
    pub(super) then: AfterReport,
}

/// Where a URL's record stands, or would.
enum Slot {
    Taken(PageKey),
    Free(PageKey),
    /// Too many URLs have this hash.
    Crowded,
}

impl<'a, E: Engine> Draft<'a, E> {
    pub(super) fn new(shared: &'a Shared<E>, engine: &'a E, state: StateRow) -> Self {
        Self {
            shared,
            engine,
            state,
            pages: HashMap::new(),
            sites: HashMap::new(),
            rows: BTreeMap::new(),
            effects: Effects::default(),
        }
    }

    /// Sets a row of a kind that has no type here.
    pub(super) fn put(&mut self, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        self.rows.insert(key.into(), Some(value));
    }

    /// Removes a row of a kind that has no type here.
    pub(super) fn remove(&mut self, key: impl Into<Vec<u8>>) {
        self.rows.insert(key.into(), None);
    }

    /// Rows that the batch has so far, roughly.
    pub(super) fn rows(&self) -> usize {
        self.pages.len() + self.sites.len() + self.rows.len()
    }

    /// The rows to write, and what they do to the tables in memory.
    pub(super) fn finish(mut self) -> Result<(Batch, StateRow, Effects), StoreError> {
        let mut batch = Batch::default();
        for (page, held) in self.pages.drain().filter(|(_, held)| held.changed) {
            batch.put(page.bytes(), encode(&held.row)?);
        }
        for (site, held) in self.sites.drain().filter(|(_, held)| held.changed) {
            batch.put(key::site(site), encode(&held.row)?);
        }
        for (key, value) in self.rows {
            match value {
                Some(value) => batch.put(key, value),
                None => batch.remove(key),
            }
        }
        if !batch.is_empty() {
            batch.put(key::META_STATE, encode(&self.state)?);
        }
        Ok((batch, self.state, self.effects))
    }

    /// Makes a URL known. `parent` is the page that was just visited.
    pub(super) fn found(
        &mut self,
        found: Found,
        parent: Option<(&Url, PageKey)>,
    ) -> Result<Fate, StoreError> {
        let print = self.shared.seen.print(found.url.as_str());
        let is_settled = found.role == Role::Page
            && matches!(found.plan, Plan::Queue { .. } | Plan::Note { .. });
        if is_settled && self.shared.seen.contains(print) {
            return Ok(Fate::Known);
        }
        if found.url.as_str().len() > MAX_URL_BYTES {
            return Ok(Fate::Unusable);
        }
        let Ok(site) = Site::of(&found.url) else { return Ok(Fate::Unusable) };
        let origins = origins(&found, parent);
        let (page, fate) = match self.slot(&found.url)? {
            Slot::Crowded => return Ok(Fate::Unusable),
            Slot::Taken(page) => (page, self.found_again(page, origins, &found.plan)),
            Slot::Free(page) => {
                if !self.shared.sites().knows(page.site) {
                    self.site(page.site, &site)?;
                }
                self.insert(page, PageRow::new(&found.url, origins));
                self.plan(page, &found.plan);
                (page, Fate::New)
            }
        };
        if self.page(page).is_some_and(|row| row.noted.is_none()) {
            self.effects.settled.push(print);
        }
        Ok(fate)
    }

    fn found_again(&mut self, page: PageKey, origins: Origins, plan: &Plan) -> Fate {
        let Some(row) = self.page(page) else { return Fate::Known };
        let queued = row.place.is_some() && !row.revisit;
        let now_a_sitemap = origins.role == Role::Sitemap && !row.is_sitemap();
        match plan {
            Plan::Queue { .. } | Plan::Changed { .. } if row.noted.is_some() || now_a_sitemap => {
                self.update(page, |row| row.set_origins(origins));
            }
            Plan::Again { .. } if !queued => self.update(page, PageRow::forget_copy),
            Plan::Changed { at, priority, believed, .. } => {
                let is_older = row.revisit && row.was_visited_before(*at);
                if row.claims_before(*at) {
                    self.update(page, |row| row.claim(*at));
                }
                if !(*believed && is_older) {
                    return Fate::Known;
                }
                self.enqueue(page, 0, *priority);
                self.update(page, |row| row.revisit = true);
                return Fate::Upgraded;
            }
            Plan::Queue { .. } | Plan::Again { .. } | Plan::Note { .. } => return Fate::Known,
        }
        self.plan(page, plan);
        Fate::Upgraded
    }

    fn plan(&mut self, page: PageKey, plan: &Plan) {
        match plan {
            Plan::Queue { due, priority, why } => {
                self.enqueue(page, due.map_or(0, due_second), *priority);
                self.update(page, |row| row.set_why(why.as_deref()));
            }
            Plan::Again { priority } => self.enqueue(page, 0, *priority),
            Plan::Changed { at, priority, why, .. } => {
                self.enqueue(page, 0, *priority);
                self.update(page, |row| {
                    row.claim(*at);
                    row.set_why(why.as_deref());
                });
            }
            Plan::Note { reason } => {
                let reason = cut_code(reason.clone());
                self.update(page, |row| row.noted = Some(reason));
            }
        }
    }

    /// Queues a page, in place of its old place if it has one.
    fn enqueue(&mut self, page: PageKey, due: u32, priority: u8) {
        self.dequeue(page);
        let place = Place { due, priority, seq: self.state.next_seq & SEQ_MASK };
        self.state.next_seq += 1;
        self.put(key::queue(page.site, place), page.slot.to_be_bytes().to_vec());
        self.update(page, |row| {
            row.place = Some(place);
            row.revisit = false;
            row.noted = None;
        });
        let wake = self.effects.wakes.entry(page.site).or_insert(due);
        *wake = due.min(*wake);
    }

    fn dequeue(&mut self, page: PageKey) {
        let place = self.page(page).and_then(|row| row.place);
        if let Some(place) = place {
            self.remove(key::queue(page.site, place));
            self.update(page, |row| row.place = None);
        }
    }

    fn set_review(&mut self, page: PageKey, due: Option<u32>) {
        if let Some(old) = self.page(page).and_then(|row| row.review) {
            self.remove(key::review(old, page));
        }
        if let Some(due) = due {
            self.put(key::review(due, page), Vec::new());
        }
        self.update(page, |row| row.review = due);
    }

    /// Writes a payload to the spool and its pointer to the outbox.
    pub(super) fn send(&mut self, url: &Url, payload: Vec<u8>) -> Result<(), StoreError> {
        let place: SpoolPlace = self.shared.spool.append(payload).map_err(|e| {
            StoreError::NotDone { cause: format!("could not write to the spool: {e}") }
        })?;
        let row = OutboxRow { place, url: url.as_str().to_owned() };
        self.put(key::outbox(self.state.next_outbox), encode(&row)?);
        self.state.next_outbox += 1;
        self.state.tally.outbox_pending += 1;
        Ok(())
    }

    /// Takes in a report, if its lease still stands.
    pub(super) fn report(
        &mut self,
        report: SiteReport,
        now: Timestamp,
    ) -> Result<Receipt, StoreError> {
        let site = key::site_hash(&report.token.site);
        for url in report.visits.iter().map(|visit| &visit.url) {
            if PageKey::of(url).map(|page| page.site) != Ok(site) {
                let host = &report.token.site;
                return Err(StoreError::Request(format!("{url} is not a page of {host}")));
            }
        }
        if !self.shared.sites().begin_report(site, report.token.fence, now) {
            return Ok(Receipt::Fenced);
        }
        let known = self.state.tally.known;
        for visit in report.visits {
            self.visit(visit)?;
        }
        for (origin, due) in report.put_off {
            self.put_off(site, &origin, now, due)?;
        }
        self.site(site, &report.token.site)?;
        if let Some(held) = self.sites.get_mut(&site) {
            held.row.keep_pace(&report.pace);
            held.row.set_trust(report.trust);
            held.row.next_at = report.next_at.as_millis();
            held.changed = true;
        }
        self.effects.reports.push(ReportDone {
            site,
            fence: report.token.fence,
            next_at: report.next_at.as_millis(),
            then: report.then,
        });
        let new_urls = self.state.tally.known.saturating_sub(known);
        Ok(Receipt::Accepted { new_urls: usize::try_from(new_urls).unwrap_or(usize::MAX) })
    }

    fn visit(&mut self, visit: Visit) -> Result<(), StoreError> {
        let page = match self.slot(&visit.url)? {
            Slot::Taken(page) => page,
            Slot::Crowded => return Ok(()),
            // Such as the target of a redirect that was followed at once.
            Slot::Free(page) => {
                let (via, from) = (crate::page::Via::Redirect, FromRow::Nothing);
                let (role, at) = (Role::Page, visit.at);
                let origins = Origins { depth: 0, hops: 0, role, via, from, anchor: None, at };
                self.insert(page, PageRow::new(&visit.url, origins));
                page
            }
        };
        self.dequeue(page);
        let at = visit.at;
        let outcome = match visit.outcome {
            Outcome::Noted { reason } => Err(cut_code(reason)),
            Outcome::Fetched(_)
            | Outcome::Redirected { .. }
            | Outcome::Refused { .. }
            | Outcome::Failed { .. } => OutcomeRow::of(visit.outcome),
        };
        if outcome.is_err() {
            self.effects.unsettled.push(self.shared.seen.print(visit.url.as_str()));
        }
        self.update_likenesses(page, |row| match outcome {
            Ok(outcome) => row.visited(at, outcome),
            Err(reason) => row.noted = Some(reason),
        });
        match visit.next {
            Next::Never => {}
            Next::Retry(at) => self.enqueue(page, due_second(at), visit.priority),
            Next::Revisit { at, every } => {
                self.enqueue(page, due_second(at), visit.priority);
                self.update(page, |row| {
                    row.revisit = true;
                    row.set_every(every);
                });
            }
        }
        match visit.index_review {
            Review::Unchanged => {}
            Review::At(at) => self.set_review(page, Some(due_second(at))),
            Review::Never => self.set_review(page, None),
        }
        if let Some(payload) = visit.sink {
            self.send(&visit.url, payload)?;
        }
        for (other, reason) in visit.stood_back {
            if let Slot::Taken(other) = self.slot(&other)?
                && other.site == page.site
            {
                self.update_likenesses(other, |row| row.stand_back(&visit.url, reason));
            }
        }
        for found in visit.found {
            self.found(found, Some((&visit.url, page)))?;
        }
        Ok(())
    }

    /// Changes a page, and the rows by which pages like it are found.
    fn update_likenesses(&mut self, page: PageKey, change: impl FnOnce(&mut PageRow)) {
        let of = |draft: &mut Self| draft.page(page).map_or(vec![], PageRow::likenesses);
        let before = of(self);
        self.update(page, change);
        let after = of(self);
        for (kind, hash) in before.iter().filter(|one| !after.contains(one)) {
            self.remove(key::likeness(*kind, page, *hash));
        }
        for (kind, hash) in after.iter().filter(|one| !before.contains(one)) {
            self.put(key::likeness(*kind, page, *hash), Vec::new());
        }
    }

    /// Queues a known page again.
    pub(super) fn again(&mut self, url: &Url) -> Result<(), StoreError> {
        if let Slot::Taken(page) = self.slot(url)? {
            let depth = self.page(page).map_or(0, |row| row.depth);
            self.update(page, PageRow::forget_copy);
            self.enqueue(page, 0, u8::try_from(depth).unwrap_or(u8::MAX));
        }
        Ok(())
    }

    /// Looks at a page again at once, and not when it would be due.
    pub(super) fn look_now(&mut self, url: &Url) -> Result<(), StoreError> {
        if let Slot::Taken(page) = self.slot(url)?
            && let Some(place) = self.page(page).filter(|row| row.revisit).and_then(|row| row.place)
        {
            self.enqueue(page, 0, place.priority);
            self.update(page, |row| row.revisit = true);
        }
        Ok(())
    }

    /// Moves a site's due URLs of one origin to a later moment, at most [`PUT_OFF_AT_ONCE`].
    fn put_off(
        &mut self,
        site: u64,
        origin: &Origin,
        now: Timestamp,
        due: Timestamp,
    ) -> Result<(), StoreError> {
        let (now, prefix) = (due_second(now), key::queue_of(site));
        let mut slots = Vec::new();
        self.engine.scan(&prefix, &prefix, PUT_OFF_AT_ONCE, &mut |key, value| {
            match (key::queue_parts(key), <[u8; 8]>::try_from(value)) {
                (Some((_, due)), Ok(slot)) if due <= now => slots.push(u64::from_be_bytes(slot)),
                (Some(_) | None, _) => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        })?;
        for slot in slots {
            let page = PageKey { site, slot };
            if !self.read_page(page)? {
                continue;
            }
            let Some(row) = self.page(page) else { continue };
            let of_origin =
                Url::parse(&row.url).is_ok_and(|url| Origin::of(&url).as_ref() == Ok(origin));
            // One that this report visited has another place by now.
            let place = row.place.filter(|place| of_origin && place.due <= now);
            if let Some(place) = place {
                let revisit = row.revisit;
                self.enqueue(page, due_second(due), place.priority);
                self.update(page, |row| row.revisit = revisit);
            }
        }
        Ok(())
    }

    /// The index has looked at a page.
    pub(super) fn reviewed(
        &mut self,
        url: &Url,
        next: Option<Timestamp>,
        sink: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        match self.slot(url)? {
            Slot::Taken(page) => self.set_review(page, next.map(due_second)),
            Slot::Free(_) | Slot::Crowded => {
                return Err(StoreError::Request(format!("{url} is not known")));
            }
        }
        sink.map_or(Ok(()), |payload| self.send(url, payload))
    }

    /// Forgets outbox entries up to and with `through`.
    pub(super) fn outbox_done(&mut self, through: u64) -> Result<(), StoreError> {
        let mut done = Vec::new();
        self.engine.scan(&key::outbox(0), &[key::OUTBOX], usize::MAX, &mut |key, _| {
            match key::outbox_seq(key) {
                Some(seq) if seq <= through => done.push(key.to_vec()),
                Some(_) | None => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        })?;
        for key in done {
            // Another call of the same batch may have done it.
            if self.rows.insert(key, None) != Some(None) {
                self.state.tally.outbox_pending = self.state.tally.outbox_pending.saturating_sub(1);
            }
        }
        self.effects.outbox_shrank = true;
        Ok(())
    }

    /// Keeps a site's pace, unless a later one is known.
    pub(super) fn put_pace(&mut self, site: &Site, pace: &SitePace) -> Result<(), StoreError> {
        let hash = key::site_hash(site);
        self.site(hash, site)?;
        if let Some(held) = self.sites.get_mut(&hash) {
            held.row.keep_pace(pace);
            held.changed = true;
        }
        Ok(())
    }

    /// Keeps an origin's robots.txt, cut into rows of a size that engines like.
    pub(super) fn put_robots(
        &mut self,
        origin: &Origin,
        record: &RobotsRow,
    ) -> Result<(), StoreError> {
        let prefix = key::robots(origin);
        let mut old = Vec::new();
        self.engine.scan(&prefix, &prefix, usize::MAX, &mut |key, _| {
            old.push(key.to_vec());
            ControlFlow::Continue(())
        })?;
        old.extend(
            self.rows
                .range(prefix.to_vec()..)
                .map_while(|(key, _)| key.starts_with(&prefix).then(|| key.clone())),
        );
        for key in old {
            self.remove(key);
        }
        for (part, bytes) in (0_u16..).zip(encode(record)?.chunks(ROBOTS_PART_BYTES)) {
            self.put(key::robots_part(origin, part), bytes.to_vec());
        }
        Ok(())
    }

    /// Looks for a URL's record; the stored URL is compared, not only its hash.
    fn slot(&mut self, url: &Url) -> Result<Slot, StoreError> {
        let mut page = PageKey::of(url).map_err(|e| StoreError::Request(e.to_string()))?;
        for _ in 0..key::MAX_PROBES {
            if !self.read_page(page)? {
                return Ok(Slot::Free(page));
            }
            if self.page(page).is_some_and(|row| row.url == url.as_str()) {
                return Ok(Slot::Taken(page));
            }
            page = page.next();
        }
        Ok(Slot::Crowded)
    }

    /// Reads a page's record, unless that was done; whether there is one.
    fn read_page(&mut self, page: PageKey) -> Result<bool, StoreError> {
        if let Entry::Vacant(gap) = self.pages.entry(page) {
            let Some(bytes) = self.engine.read(&page.bytes())? else { return Ok(false) };
            gap.insert(Held { row: decode(&bytes, "a page record")?, changed: false });
        }
        Ok(true)
    }

    fn page(&self, page: PageKey) -> Option<&PageRow> {
        self.pages.get(&page).map(|held| &held.row)
    }

    fn insert(&mut self, page: PageKey, row: PageRow) {
        self.state.tally.add(&row);
        self.pages.insert(page, Held { row, changed: true });
    }

    /// Changes a page that was looked up, and the counters with it.
    fn update(&mut self, page: PageKey, change: impl FnOnce(&mut PageRow)) {
        if let Some(held) = self.pages.get_mut(&page) {
            self.state.tally.remove(&held.row);
            change(&mut held.row);
            self.state.tally.add(&held.row);
            held.changed = true;
        }
    }

    /// Reads a site's row, or makes it.
    fn site(&mut self, hash: u64, site: &Site) -> Result<(), StoreError> {
        if let Entry::Vacant(gap) = self.sites.entry(hash) {
            match self.engine.read(&key::site(hash))? {
                Some(bytes) => {
                    gap.insert(Held { row: decode(&bytes, "a site record")?, changed: false });
                }
                None => {
                    gap.insert(Held { row: SiteRow::new(site.as_str()), changed: true });
                    self.state.tally.sites += 1;
                }
            }
        }
        Ok(())
    }
}

fn origins(found: &Found, parent: Option<(&Url, PageKey)>) -> Origins {
    let from = match (&found.from, parent) {
        (Some(from), Some((url, page))) if from == url => {
            FromRow::Page { site: page.site, slot: page.slot }
        }
        (Some(from), _) if from.as_str().len() <= MAX_URL_BYTES => FromRow::Url(from.to_string()),
        (Some(_) | None, _) => FromRow::Nothing,
    };
    let Found { depth, hops, role, via, at, .. } = *found;
    let anchor = found.anchor.clone();
    Origins { depth, hops, role, via, from, anchor, at }
}
