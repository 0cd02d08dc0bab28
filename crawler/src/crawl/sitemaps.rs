//! Sitemaps at work: those that a robots.txt or the operator names pass through the frontier as
//! pages do, and what they list goes into it, batch by batch, before the visit is committed.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{
    CrossSubmission, LastmodTrust, LeftOut, Origin, PageChange, Publication, Site, Submission,
    Timestamp, Withheld, may_list,
};
use comity_storage::{Fate, Found, Outcome, PageRecord, Plan, Role, Store, StoreError, Via, Visit};
use tokio::sync::mpsc;
use url::Url;

use super::Context;
use super::reply::header_text;
use super::revisit::is_same;
use super::scorer::FoundLink;
use super::visit::{fetched, plain};
use crate::net::{Reply, Transport};
use crate::sitemap::{Listed, SitemapLimits, SitemapReader, SitemapReport};
use crate::urls;

/// Indexes above a sitemap, as of the field's worst reports (SM-005).
const DEEPEST: u16 = 3;
/// Sitemaps of one site that one run makes known.
const MOST_OF_A_SITE: usize = 1000;
/// Redirects and indexes from a sitemap up to whoever named it.
const MOST_STEPS_UP: usize = 32;
/// Entries that go into the frontier together.
const BATCH: usize = 500;
/// Batches that wait for the frontier.
const BATCHES: usize = 2;
/// Sitemaps that are held in memory at once; one may have 50 MiB.
pub(super) const AT_ONCE: usize = 2;

/// How many sitemaps each site has been granted.
#[derive(Debug, Default)]
pub(super) struct Granted(Mutex<HashMap<Site, usize>>);

impl Granted {
    /// Whether the site may have one more.
    fn one_more(&self, url: &Url) -> bool {
        let Ok(site) = Site::of(url) else { return false };
        let mut granted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = granted.entry(site).or_default();
        *count += 1;
        *count <= MOST_OF_A_SITE
    }
}

/// A sitemap's way from whoever named it.
struct Standing {
    /// The address under which it was listed, before any redirect.
    listed_as: Url,
    submission: Submission,
    /// Itself, and what lies above it.
    line: Vec<Url>,
}

/// What became of the entries.
#[derive(Default)]
struct Tally {
    new: usize,
    known: usize,
    left_out: usize,
}

impl<S: Store, T: Transport> Context<S, T> {
    /// Reads a sitemap that was fetched; what it lists is in the frontier when this returns.
    pub(super) async fn read_sitemap(
        &self,
        page: &PageRecord,
        reply: &Reply,
        trust: &LastmodTrust,
        now: Timestamp,
    ) -> Result<Visit, StoreError> {
        let standing = self.standing(page).await?;
        let (sender, mut batches) = mpsc::channel(BATCHES);
        let reader = SitemapReader::new(SitemapLimits::default(), now);
        let reader = match header_text(&reply.headers, "content-type") {
            Some(content_type) => reader.with_content_type(&content_type),
            None => reader,
        };
        let body = reply.body.clone();
        let reading = tokio::task::spawn_blocking(move || in_batches(&reader, &body, &sender));
        let (mut tally, mut origins) = (Tally::default(), HashMap::new());
        while let Some(batch) = batches.recv().await {
            self.list(page, &standing, batch, trust, (&mut tally, &mut origins)).await?;
        }
        let publication = Publication::Nothing(Withheld::ContentType);
        let mut fetched = fetched(reply, &publication);
        match reading.await {
            Ok(report) => fetched.title = Some(self.tell_sitemap(&page.url, &report, &tally)),
            Err(panic) => tracing::error!(url = %page.url, %panic, "the sitemap could not be read"),
        }
        Ok(plain(page, now, Outcome::Fetched(fetched)))
    }

    /// Puts a batch of entries into the frontier.
    async fn list(
        &self,
        page: &PageRecord,
        standing: &Standing,
        batch: Vec<Listed>,
        trust: &LastmodTrust,
        (tally, origins): (&mut Tally, &mut HashMap<Origin, CrossSubmission>),
    ) -> Result<(), StoreError> {
        let mut found = Vec::with_capacity(batch.len());
        for listed in batch {
            let named = self.named_there(listed.url(), standing, origins).await?;
            let may = may_list(&standing.listed_as, &standing.submission, listed.url(), named);
            let entry = match may {
                Ok(()) => self.entry(page, &listed, trust),
                Err(reason) => Err(reason.code()),
            };
            match entry {
                Ok(entry) => found.push(entry),
                Err(reason) => {
                    tally.left_out += 1;
                    self.drop_link(&page.url, listed.url(), reason);
                }
            }
        }
        let fates = self.store.push(found).await?;
        let new = fates.iter().filter(|fate| **fate == Fate::New).count();
        self.reporter.count(|counts| {
            counts.found += new as u64;
            counts.listed += fates.len() as u64;
        });
        tally.new += new;
        tally.known += fates.len() - new;
        Ok(())
    }

    /// What goes into the frontier for an entry, or why nothing does.
    fn entry(
        &self,
        sitemap: &PageRecord,
        listed: &Listed,
        trust: &LastmodTrust,
    ) -> Result<Found, &'static str> {
        let (url, role, depth, plan) = match listed {
            Listed::Page(page) => {
                let url = urls::dedupe_form(&page.url, &self.settings.urls.dedupe);
                let plan = self.plan(&FoundLink { url: &url, depth: 1, anchor: "", on: None })?;
                (url, Role::Page, 1, plan)
            }
            Listed::Sitemap(child) => {
                let depth = sitemap.depth.saturating_add(1);
                if depth > DEEPEST || is_robots_txt(&child.url) {
                    return Err(LeftOut::TooDeep.code());
                }
                if !self.sitemaps_granted.one_more(&child.url) {
                    return Err(LeftOut::SiteUrls.code());
                }
                (
                    child.url.clone(),
                    Role::Sitemap,
                    depth,
                    Plan::Queue { due: None, priority: 0, why: None },
                )
            }
        };
        let plan = match (plan, listed.lastmod()) {
            (Plan::Queue { priority, why, .. }, Some(at)) => {
                Plan::Changed { at, believed: trust.believes(PageChange::Changed), priority, why }
            }
            (plan, _) => plan,
        };
        let (from, at) = (Some(sitemap.url.clone()), self.clock.now());
        Ok(Found { url, depth, hops: 0, role, via: Via::Sitemap, from, anchor: None, at, plan })
    }

    /// What the robots.txt of an entry's own origin says of the sitemap (SM-004).
    async fn named_there(
        &self,
        entry: &Url,
        standing: &Standing,
        origins: &mut HashMap<Origin, CrossSubmission>,
    ) -> Result<CrossSubmission, StoreError> {
        let Ok(origin) = Origin::of(entry) else { return Ok(CrossSubmission::Unknown) };
        if let Some(known) = origins.get(&origin) {
            return Ok(*known);
        }
        let record = self.robots.record(&self.store, &origin).await?;
        let named = match record.rules() {
            None => CrossSubmission::Unknown,
            Some(_) => match named_by(&record).any(|url| standing.line.contains(&url)) {
                true => CrossSubmission::Named,
                false => CrossSubmission::NotNamed,
            },
        };
        origins.insert(origin, named);
        Ok(named)
    }

    /// Follows a sitemap up to whoever named it.
    async fn standing(&self, page: &PageRecord) -> Result<Standing, StoreError> {
        let (mut listed_as, mut line) = (page.url.clone(), vec![page.url.clone()]);
        let (mut via, mut from) = (page.via, page.from.clone());
        let mut redirected = true;
        let mut submission = Submission::Unsubmitted;
        for _ in 0..MOST_STEPS_UP {
            let Some(above) = from else {
                submission = Submission::Operator;
                break;
            };
            if is_robots_txt(&above) {
                submission = Origin::of(&above).map_or(submission, Submission::RobotsTxt);
                break;
            }
            let Some(record) = self.store.page(&above).await? else { break };
            redirected &= via == Via::Redirect;
            if redirected {
                listed_as = above.clone();
            }
            line.push(above);
            (via, from) = (record.via, record.from);
        }
        Ok(Standing { listed_as, submission, line })
    }

    /// Tells the audit log, and sums up in words.
    fn tell_sitemap(&self, url: &Url, report: &SitemapReport, tally: &Tally) -> String {
        let kind = report.kind.map_or("no sitemap", |kind| kind.name());
        let Tally { new, known, left_out } = tally;
        let mut words = format!("{kind}: {new} new, {known} known, {left_out} left out");
        for (fault, count) in &report.counts {
            words.push_str(&format!("; {} {count}", fault.code()));
        }
        self.reporter.count(|counts| counts.sitemaps += 1);
        self.log(url, "sitemap", kind, Some(&words), None);
        words
    }

    /// Puts the sitemaps that a new robots.txt names into the frontier (SM-006: they are asked for
    /// as its rules permit).
    pub(super) async fn push_sitemaps(
        &self,
        origin: &Origin,
        known: &RobotsRecord,
        new: &RobotsRecord,
    ) -> Result<(), StoreError> {
        if !self.settings.follow_sitemaps || known.same_rules(new) {
            return Ok(());
        }
        let (from, at) = (origin.robots_url(), self.clock.now());
        let named = named_by(new).filter(|url| !is_robots_txt(url));
        let granted = named.filter(|url| self.sitemaps_granted.one_more(url));
        let found = granted.map(|url| sitemap_to_read(url, Some(from.clone()), at));
        let found: Vec<_> = found.take(MOST_OF_A_SITE).collect();
        if !found.is_empty() {
            self.store.push(found).await?;
        }
        Ok(())
    }
}

/// A sitemap for the frontier, as whoever named it wants.
pub(super) fn sitemap_to_read(url: Url, from: Option<Url>, at: Timestamp) -> Found {
    let plan = Plan::Queue { due: None, priority: 0, why: None };
    Found {
        url,
        depth: 0,
        hops: 0,
        role: Role::Sitemap,
        via: Via::Sitemap,
        from,
        anchor: None,
        at,
        plan,
    }
}

/// What a visit shows about the dates of sitemaps: claim and truth, if there was a claim.
pub(super) fn proof(page: &PageRecord, outcome: &Outcome) -> Option<(PageChange, PageChange)> {
    let Outcome::Fetched(now) = outcome else { return None };
    let ((before_at, before), claimed) = (page.last_fetch()?, page.claimed?);
    let change = |changed| if changed { PageChange::Changed } else { PageChange::Unchanged };
    let claim = change(claimed > before_at);
    (now.status == 200).then(|| (claim, change(!is_same(before, now))))
}

/// The sitemaps that a robots.txt names, in their normal form.
fn named_by(record: &RobotsRecord) -> impl Iterator<Item = Url> {
    let lines = record.rules().into_iter().flat_map(|rules| rules.sitemaps());
    lines.filter_map(|(_, url)| Url::parse(url).ok()).map(|url| urls::normalise(&url))
}

/// A robots.txt is no sitemap, whoever says so.
fn is_robots_txt(url: &Url) -> bool {
    url.path() == "/robots.txt"
}

/// Reads a sitemap and sends its entries on as they come, until nobody listens.
fn in_batches(
    reader: &SitemapReader,
    body: &[u8],
    sender: &mpsc::Sender<Vec<Listed>>,
) -> SitemapReport {
    let mut batch = Vec::new();
    let report = reader.read(body, |listed| {
        batch.push(listed);
        if batch.len() < BATCH || sender.blocking_send(std::mem::take(&mut batch)).is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    if !batch.is_empty() {
        // Nobody listens if the frontier failed, and that is told elsewhere.
        let _ = sender.blocking_send(batch);
    }
    report
}
