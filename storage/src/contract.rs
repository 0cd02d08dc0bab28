//! The contract of [`Store`] as tests: every implementation passes all of them.
//!
//! Each case gets a fresh, empty store and panics where the store breaks its word.

#![expect(clippy::unwrap_used, reason = "a test suite fails by panicking")]

mod likeness;
mod revisits;

use std::collections::BTreeSet;
use std::time::Duration;

use comity_compliance::robots::{CopyParts, FailingParts, RobotsParts, RobotsRecord};
use comity_compliance::{
    ClaimTally, Hold, LastmodTrust, Origin, Site, SitePace, Timestamp, WaitCause,
};
use url::Url;

use crate::{
    AfterReport, Fate, Fetched, Found, Lease, MAX_URL_BYTES, Next, Outcome, PageRecord, Payload,
    Plan, Receipt, Renewal, Review, Role, SiteReport, Store, StoreError, Via, Visit,
};

/// The time at which the cases play.
pub const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

const TTL: Duration = Duration::from_secs(60);

/// Runs every case, each on a store that `fresh` makes for it.
///
/// # Panics
/// Where the store breaks its contract.
pub async fn all<S: Store>(fresh: impl AsyncFn() -> S) {
    found_once(&fresh().await).await;
    noted_then_queued(&fresh().await).await;
    queued_again(&fresh().await).await;
    order_of_the_queue(&fresh().await).await;
    nobody_starves(&fresh().await).await;
    one_holder_a_site(&fresh().await).await;
    late_reports_are_fenced(&fresh().await).await;
    leases_go_on_and_end(&fresh().await).await;
    a_report_is_one_effect(&fresh().await).await;
    failures_in_a_row(&fresh().await).await;
    only_pages_of_the_site(&fresh().await).await;
    pace_holds_a_site_back(&fresh().await).await;
    pace_from_elsewhere(&fresh().await).await;
    outbox_until_done(&fresh().await).await;
    reviews(&fresh().await).await;
    robots(&fresh().await).await;
    named_values(&fresh().await).await;
    many_at_once(&fresh().await).await;
    revisits::looked_at_again(&fresh().await).await;
    revisits::looked_at_now(&fresh().await).await;
    revisits::changed_or_fetched_anew(&fresh().await).await;
    revisits::put_off_by_origin(&fresh().await).await;
    revisits::pages_of_a_site(&fresh().await).await;
    revisits::claims(&fresh().await).await;
    revisits::a_page_that_is_a_sitemap(&fresh().await).await;
    likeness::alike(&fresh().await).await;
    closed(&fresh().await).await;
}

/// What a rule held back, and what was given up, is queued again on request; the rest stays.
async fn queued_again<S: Store>(store: &S) {
    let urls =
        ["refused", "failed", "fetched", "noted"].map(|name| format!("https://a.example/{name}"));
    let [refused, failed, read, held] = &urls;
    store.push(vec![link(refused), link(failed), link(read), noted(held)]).await.unwrap();
    let lease = store.lease(NOW, 1, 9, TTL).await.unwrap().remove(0);
    let code = String::from("robots-disallow");
    let outcomes = [
        visit(refused, Outcome::Refused { code: code.clone(), evidence: None }),
        visit(failed, Outcome::Failed { code: "timeout".into(), detail: String::new() }),
        visit(read, Outcome::Fetched(Fetched { sent: true, ..Fetched::default() })),
    ];
    store.commit(report(&lease, outcomes.to_vec()), NOW).await.unwrap();
    assert_eq!(store.stats().queued, 0);
    assert_eq!(store.requeue(vec!["another-code".into()]).await.unwrap(), 0);
    assert_eq!(store.requeue(vec![code.clone(), "rel-nofollow".into()]).await.unwrap(), 2);
    assert_eq!(store.requeue(vec![code]).await.unwrap(), 0, "it is queued by now");
    let again = |text: &str| Found { plan: Plan::Again { priority: 0 }, ..link(text) };
    let fates = store.push(vec![again(failed), again(refused)]).await.unwrap();
    assert_eq!(fates, [Fate::Upgraded, Fate::Known]);
    assert_eq!(store.page(&url(failed)).await.unwrap().unwrap().attempts, 0);
    // Whatever the sinks had of it, they are to get it once more.
    let sent = async || store.page(&url(read)).await.unwrap().unwrap().last_fetch().unwrap().1.sent;
    assert!(sent().await);
    assert_eq!(store.push(vec![again(read)]).await.unwrap(), [Fate::Upgraded]);
    assert!(!sent().await);
    let lease = store.lease(NOW, 1, 9, TTL).await.unwrap().remove(0);
    let lent: BTreeSet<_> = lease.urls.iter().map(|page| page.url.to_string()).collect();
    assert_eq!(lent, BTreeSet::from([refused, failed, read, held].map(String::clone)));
}

/// A URL that must parse.
///
/// # Panics
/// If it does not.
pub fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// A link to queue at once.
pub fn link(text: &str) -> Found {
    queued(text, None, 0)
}

/// A link to queue.
pub fn queued(text: &str, due: Option<Timestamp>, priority: u8) -> Found {
    let plan = Plan::Queue { due, priority, why: None };
    let (url, role, via) = (url(text), Role::Page, Via::Link);
    Found { url, depth: 1, hops: 0, role, via, from: None, anchor: None, at: NOW, plan }
}

/// A link to note.
pub fn noted(text: &str) -> Found {
    Found { plan: Plan::Note { reason: "rel-nofollow".into() }, ..link(text) }
}

/// A visit that brought a page without links.
pub fn visit(text: &str, outcome: Outcome) -> Visit {
    Visit {
        url: url(text),
        at: NOW,
        outcome,
        next: Next::Never,
        priority: 0,
        found: Vec::new(),
        sink: None,
        stood_back: Vec::new(),
        index_review: Review::Unchanged,
    }
}

/// A response of status 200.
pub fn fetched() -> Outcome {
    Outcome::Fetched(Fetched { status: 200, publication: "full".into(), ..Fetched::default() })
}

/// A report that ends a lease.
pub fn report(lease: &Lease, visits: Vec<Visit>) -> SiteReport {
    SiteReport {
        token: lease.token.clone(),
        visits,
        put_off: Vec::new(),
        pace: SitePace::default(),
        trust: LastmodTrust::default(),
        next_at: Timestamp::EPOCH,
        then: AfterReport::Release,
    }
}

fn after(secs: u64) -> Timestamp {
    NOW.after(Duration::from_secs(secs))
}

fn urls(lease: &Lease) -> Vec<&str> {
    lease.urls.iter().map(|page| page.url.as_str()).collect()
}

async fn lease_one(store: &impl Store, now: Timestamp, places: usize) -> Lease {
    let mut leases = store.lease(now, 1, places, TTL).await.unwrap();
    assert_eq!(leases.len(), 1, "one site is ready");
    leases.remove(0)
}

async fn found_once(store: &impl Store) {
    let long = format!("https://a.example/{}", "x".repeat(MAX_URL_BYTES));
    let batch = vec![
        link("https://a.example/1"),
        link("https://a.example/2"),
        link("https://a.example/1"),
        link("mailto:me@a.example"),
        link(&long),
    ];
    let fates = store.push(batch).await.unwrap();
    use Fate::{Known, New, Unusable};
    assert_eq!(fates, [New, New, Known, Unusable, Unusable]);
    let again = vec![link("https://a.example/2"), noted("https://a.example/1")];
    assert_eq!(store.push(again).await.unwrap(), [Known, Known]);
    let stats = store.stats();
    assert_eq!((stats.known, stats.queued, stats.sites), (2, 2, 1));
    assert_eq!(urls(&lease_one(store, NOW, 9).await).len(), 2);
    let page = store.page(&url("https://a.example/1")).await.unwrap().unwrap();
    assert_eq!((page.depth, page.via, page.found_at), (1, Via::Link, NOW));
    assert_eq!(page.due, Some(Timestamp::EPOCH));
    assert_eq!(store.page(&url("https://a.example/3")).await.unwrap(), None);
    assert_eq!(store.page(&url("data:,x")).await.unwrap(), None);
}

async fn noted_then_queued(store: &impl Store) {
    let page = "https://a.example/x";
    assert_eq!(store.push(vec![noted(page)]).await.unwrap(), [Fate::New]);
    assert_eq!(store.push(vec![noted(page)]).await.unwrap(), [Fate::Known]);
    assert_eq!(store.stats().noted["rel-nofollow"], 1);
    assert!(store.lease(NOW, 9, 9, TTL).await.unwrap().is_empty());
    assert_eq!(store.next_ready(), None);

    assert_eq!(store.push(vec![link(page)]).await.unwrap(), [Fate::Upgraded]);
    assert_eq!(store.push(vec![noted(page), link(page)]).await.unwrap(), [Fate::Known; 2]);
    assert!(store.stats().noted.is_empty());
    let lease = lease_one(store, NOW, 9).await;
    assert_eq!((urls(&lease), &lease.urls[0].noted), (vec![page], &None));

    let aside = visit(page, Outcome::Noted { reason: "budget".into() });
    store.commit(report(&lease, vec![aside]), NOW).await.unwrap();
    assert_eq!(store.stats().noted["budget"], 1);
    assert_eq!(store.next_ready(), None);
    assert_eq!(store.push(vec![link(page)]).await.unwrap(), [Fate::Upgraded]);

    let lease = lease_one(store, NOW, 9).await;
    store.commit(report(&lease, vec![visit(page, fetched())]), NOW).await.unwrap();
    assert_eq!(store.push(vec![link(page)]).await.unwrap(), [Fate::Known], "visited");
    assert_eq!(store.next_ready(), None);
}

async fn order_of_the_queue(store: &impl Store) {
    let found = vec![
        queued("https://a.example/later", Some(after(10)), 0),
        queued("https://a.example/third", None, 5),
        queued("https://a.example/first", None, 0),
        queued("https://a.example/second", None, 0),
    ];
    store.push(found).await.unwrap();
    assert_eq!(store.next_ready(), Some(Timestamp::EPOCH));
    let lease = lease_one(store, NOW, 9).await;
    let expect = ["https://a.example/first", "https://a.example/second", "https://a.example/third"];
    assert_eq!(urls(&lease), expect);
    let visits = expect.map(|page| visit(page, fetched())).to_vec();
    store.commit(report(&lease, visits), NOW).await.unwrap();

    assert_eq!(store.next_ready(), Some(after(10)));
    assert!(store.lease(after(9), 9, 9, TTL).await.unwrap().is_empty(), "not before it is due");
    let lease = lease_one(store, after(10), 9).await;
    assert_eq!(urls(&lease), ["https://a.example/later"]);
    assert_eq!(lease.urls[0].due, Some(after(10)));
}

async fn nobody_starves(store: &impl Store) {
    let fresh = (0..10).map(|n| link(&format!("https://a.example/fresh{n}")));
    let waiting = (0..10).map(|n| queued(&format!("https://a.example/retry{n}"), Some(NOW), 0));
    store.push(fresh.chain(waiting).collect()).await.unwrap();
    for (places, fresh, waiting) in [(4, 2, 2), (5, 3, 2), (16, 8, 8)] {
        let lease = lease_one(store, NOW, places).await;
        let retries = urls(&lease).iter().filter(|url| url.contains("retry")).count();
        assert_eq!((lease.urls.len() - retries, retries), (fresh, waiting), "{places} places");
        store.release(lease.token).await.unwrap();
    }
    // A site's pace may leave time for the first of a loan only.
    for places in [1, 16] {
        let (mut fresh, mut waiting) = (0, 0);
        for _ in 0..4 {
            let lease = lease_one(store, NOW, places).await;
            if urls(&lease)[0].contains("retry") {
                waiting += 1
            } else {
                fresh += 1
            }
            let done = visit(urls(&lease)[0], fetched());
            store.commit(report(&lease, vec![done]), NOW).await.unwrap();
        }
        assert!(fresh > 0 && waiting > 0, "{places} places: {fresh} fresh, {waiting} waiting");
    }
}

async fn one_holder_a_site(store: &impl Store) {
    let sites = (0..5).map(|n| link(&format!("https://s{n}.example/")));
    let same = ["http://s0.example:8080/", "https://s0.example/2"].map(link);
    store.push(sites.chain(same).collect()).await.unwrap();
    let first = store.lease(NOW, 3, 9, TTL).await.unwrap();
    let second = store.lease(NOW, 9, 9, TTL).await.unwrap();
    assert_eq!((first.len(), second.len()), (3, 2));
    let mut hosts: Vec<_> = first.iter().chain(&second).map(|l| l.token.site.clone()).collect();
    hosts.sort();
    hosts.dedup();
    assert_eq!(hosts.len(), 5, "no site twice");
    assert!(store.lease(NOW, 9, 9, TTL).await.unwrap().is_empty());
    assert_eq!(first[0].deadline, NOW.after(TTL));
    assert!(store.next_ready() > Some(NOW.after(TTL)), "when the first lease runs out");

    let now = NOW.after(TTL).after(Duration::from_millis(1));
    let again = store.lease(now, 9, 9, TTL).await.unwrap();
    assert_eq!(again.len(), 5, "leases that ran out return by themselves");
    let total: usize = again.iter().map(|lease| lease.urls.len()).sum();
    assert_eq!(total, 7, "with all of their URLs");
}

async fn late_reports_are_fenced(store: &impl Store) {
    store.push(vec![link("https://a.example/")]).await.unwrap();
    let zombie = lease_one(store, NOW, 9).await;
    let late = NOW.after(TTL).after(Duration::from_secs(1));
    let mut page = visit("https://a.example/", fetched());
    page.found = vec![link("https://b.example/")];
    page.sink = Some(vec![1]);
    let stale = report(&zombie, vec![page]);
    assert_eq!(store.commit(stale.clone(), late).await.unwrap(), Receipt::Fenced);
    let holder = lease_one(store, late, 9).await;
    assert!(holder.token.fence > zombie.token.fence);
    assert_eq!(store.commit(stale, late).await.unwrap(), Receipt::Fenced);
    assert_eq!(store.renew(&zombie.token, late, TTL).await.unwrap(), Renewal::Fenced);
    store.release(zombie.token).await.unwrap();
    assert!(store.lease(late, 9, 9, TTL).await.unwrap().is_empty(), "the holder keeps it");

    let stats = store.stats();
    assert_eq!((stats.known, stats.fetched, stats.outbox_pending), (1, 0, 0));
    let done = report(&holder, vec![visit("https://a.example/", fetched())]);
    assert_eq!(store.commit(done.clone(), late).await.unwrap(), Receipt::Accepted { new_urls: 0 });
    assert_eq!(store.commit(done, late).await.unwrap(), Receipt::Fenced, "it was released");
}

async fn leases_go_on_and_end(store: &impl Store) {
    let pages = ["https://a.example/1", "https://a.example/2", "https://a.example/3"];
    store.push(pages.map(link).to_vec()).await.unwrap();
    let lease = lease_one(store, NOW, 3).await;
    let almost = NOW.after(TTL);
    let until = almost.after(TTL);
    assert_eq!(store.renew(&lease.token, almost, TTL).await.unwrap(), Renewal::Renewed(until));
    let mut first = report(&lease, vec![visit(pages[0], fetched())]);
    first.then = AfterReport::Keep;
    assert!(matches!(store.commit(first, until).await.unwrap(), Receipt::Accepted { .. }));
    assert!(store.lease(until, 9, 9, TTL).await.unwrap().is_empty(), "still on loan");
    store.commit(report(&lease, Vec::new()), until).await.unwrap();
    assert_eq!(urls(&lease_one(store, until, 9).await), pages[1..], "not visited: still queued");
    assert_eq!(store.stats().queued, 2);
}

async fn a_report_is_one_effect(store: &impl Store) {
    let (page, target) = ("https://a.example/", "https://b.example/new");
    store.push(vec![link(page), link("https://a.example/moved")]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    let mut first = visit(page, fetched());
    let from = Some(url(page));
    first.found = vec![
        Found { from: from.clone(), depth: 2, via: Via::Canonical, ..link(target) },
        link(page),
        noted("https://c.example/"),
        link("tel:1"),
    ];
    first.sink = Some(b"text".to_vec());
    first.next = Next::Retry(after(100));
    first.priority = 7;
    first.index_review = Review::At(after(50));
    let to = url("https://b.example/");
    let second = visit("https://a.example/moved", Outcome::Redirected { status: 301, to });
    let mut done = report(&lease, vec![first, second]);
    let hold = Some(Hold { until: after(3), cause: WaitCause::RetryAfter });
    done.pace = SitePace { last_request: Some(NOW), hold, failures: 2, ..SitePace::default() };
    done.next_at = after(5);
    let receipt = store.commit(done.clone(), NOW).await.unwrap();
    assert_eq!(receipt, Receipt::Accepted { new_urls: 2 });

    let record = store.page(&url(page)).await.unwrap().unwrap();
    assert_eq!(record.last, Some((NOW, fetched())));
    assert_eq!((record.due, record.priority, record.fetches), (Some(after(100)), 7, 1));
    assert_eq!(record.review, Some(after(50)));
    let record = store.page(&url(target)).await.unwrap().unwrap();
    assert_eq!((record.from, record.depth, record.via), (from, 2, Via::Canonical));
    let site = store.site(&Site::from_host("a.example")).await.unwrap().unwrap();
    assert_eq!((site.pace, site.next_at, site.queued), (done.pace, after(5), 1));
    assert_eq!(store.site(&Site::from_host("z.example")).await.unwrap(), None);
    let stats = store.stats();
    assert_eq!((stats.known, stats.queued, stats.sites), (4, 2, 3));
    assert_eq!((stats.fetched, stats.redirected, stats.outbox_pending), (1, 1, 1));
    assert!(stats.memory_estimate_bytes > 0);
}

async fn failures_in_a_row(store: &impl Store) {
    let page = "https://a.example/";
    store.push(vec![link(page)]).await.unwrap();
    let fail = || Outcome::Failed { code: "timeout".into(), detail: "é".repeat(10_000) };
    let refuse = Outcome::Refused { code: "robots-disallow".into(), evidence: None };
    for (step, outcome, attempts) in
        [(0, fail(), 1), (1, fail(), 2), (2, refuse, 0), (3, fail(), 1), (4, fetched(), 0)]
    {
        let lease = lease_one(store, after(step), 1).await;
        let mut visit = visit(page, outcome);
        visit.next = Next::Retry(after(step + 1));
        store.commit(report(&lease, vec![visit]), after(step)).await.unwrap();
        let record = store.page(&url(page)).await.unwrap().unwrap();
        assert_eq!(record.attempts, attempts, "step {step}");
        let stats = store.stats();
        assert_eq!(stats.failed.contains_key("timeout"), attempts > 0, "step {step}");
        assert_eq!(stats.refused.contains_key("robots-disallow"), step == 2);
    }
}

async fn only_pages_of_the_site(store: &impl Store) {
    store.push(vec![link("https://a.example/"), link("https://b.example/")]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    let visits = ["https://a.example/", "https://b.example/"].map(|page| visit(page, fetched()));
    let refused = store.commit(report(&lease, visits.to_vec()), NOW).await;
    assert!(matches!(refused, Err(StoreError::Request(_))), "{refused:?}");
    assert_eq!(store.stats().fetched, 0, "nothing of it is done");
    let page = urls(&lease)[0];
    let done = report(&lease, vec![visit(page, fetched())]);
    assert_eq!(store.commit(done, NOW).await.unwrap(), Receipt::Accepted { new_urls: 0 });
}

async fn pace_holds_a_site_back(store: &impl Store) {
    store.push(vec![link("https://a.example/1")]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    let mut done = report(&lease, vec![visit("https://a.example/1", fetched())]);
    done.next_at = NOW.after(Duration::from_millis(1_500));
    done.pace.last_request = Some(NOW);
    store.commit(done.clone(), NOW).await.unwrap();
    assert_eq!(store.next_ready(), None, "nothing is queued");

    store.push(vec![link("https://a.example/2")]).await.unwrap();
    assert_eq!(store.next_ready(), Some(done.next_at), "though the queue was empty meanwhile");
    assert!(store.lease(after(1), 9, 9, TTL).await.unwrap().is_empty());
    let lease = lease_one(store, done.next_at, 9).await;
    assert_eq!(lease.pace, done.pace, "politeness travels with the site");
}

/// What another site's errand taught of a site's pace, beside the site's own reports.
async fn pace_from_elsewhere(store: &impl Store) {
    let (site, page) = (Site::from_host("a.example"), "https://a.example/1");
    let pace = |secs, failures| SitePace {
        last_request: Some(after(secs)),
        failures,
        ..SitePace::default()
    };
    store.put_pace(&site, &pace(5, 1)).await.unwrap();
    assert_eq!(store.site(&site).await.unwrap().unwrap().pace, pace(5, 1), "no page is known yet");
    store.push(vec![link(page)]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    assert_eq!(lease.pace, pace(5, 1));
    store.put_pace(&site, &pace(20, 2)).await.unwrap();
    for (reported, stands) in [(pace(10, 0), pace(20, 2)), (pace(20, 3), pace(20, 3))] {
        let mut done = report(&lease, vec![]);
        (done.pace, done.then) = (reported, AfterReport::Keep);
        store.commit(done, NOW).await.unwrap();
        assert_eq!(store.site(&site).await.unwrap().unwrap().pace, stands);
    }
    store.put_pace(&site, &pace(19, 9)).await.unwrap();
    assert_eq!(store.site(&site).await.unwrap().unwrap().pace, pace(20, 3));
}

async fn outbox_until_done(store: &impl Store) {
    let pages: Vec<_> = (0..4).map(|n| format!("https://a.example/{n}")).collect();
    store.push(pages.iter().map(|page| link(page)).collect()).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    let visits = pages.iter().zip(0..).map(|(page, n)| {
        let sink = Some(vec![n; 300_000 * usize::from(n)]);
        Visit { sink, ..visit(page, fetched()) }
    });
    store.commit(report(&lease, visits.collect()), NOW).await.unwrap();
    for _ in 0..2 {
        let entries = store.outbox(0, 9).await.unwrap();
        let sizes: Vec<_> = entries
            .iter()
            .map(|entry| match &entry.payload {
                Payload::Bytes(bytes) => bytes.len(),
                Payload::Lost { why } => panic!("{why}"),
            })
            .collect();
        assert_eq!(sizes, [0, 300_000, 600_000, 900_000], "again until it is done");
    }
    let first = store.outbox(0, 2).await.unwrap();
    assert_eq!(first.len(), 2);
    store.outbox_done(first[1].seq).await.unwrap();
    store.outbox_done(first[1].seq).await.unwrap();
    assert_eq!(store.stats().outbox_pending, 2);
    let rest = store.outbox(0, 9).await.unwrap();
    assert!(rest.iter().all(|entry| entry.seq > first[1].seq));
    assert_eq!(rest[1].payload, Payload::Bytes(vec![3; 900_000]));
    store.outbox_done(rest[1].seq).await.unwrap();
    assert!(store.outbox(0, 9).await.unwrap().is_empty());
    assert_eq!(store.stats().outbox_pending, 0);
}

async fn reviews(store: &impl Store) {
    let pages = ["https://a.example/1", "https://a.example/2", "https://b.example/3"];
    store.push(pages.map(link).to_vec()).await.unwrap();
    for lease in store.lease(NOW, 9, 9, TTL).await.unwrap() {
        let at = |page: &str| Review::At(after(10 * page.as_bytes()[18] as u64));
        let visits = urls(&lease).into_iter().map(|page| Visit {
            index_review: at(page),
            next: Next::Retry(NOW),
            ..visit(page, fetched())
        });
        store.commit(report(&lease, visits.collect()), NOW).await.unwrap();
    }
    let due = async |now| {
        let records = store.due_reviews(now, 9).await.unwrap();
        records.iter().map(|record| record.url.to_string()).collect::<Vec<_>>()
    };
    let (one, two, all) = (after(490), after(500), after(9_999));
    assert!(due(after(489)).await.is_empty());
    assert_eq!(due(one).await, [pages[0]]);
    assert_eq!(due(two).await, pages[..2]);
    assert_eq!(store.due_reviews(all, 1).await.unwrap().len(), 1);

    for lease in store.lease(NOW, 9, 9, TTL).await.unwrap() {
        let kept = |page: &str| if page == pages[1] { Review::Never } else { Review::Unchanged };
        let visits = urls(&lease)
            .into_iter()
            .map(|page| Visit { index_review: kept(page), ..visit(page, fetched()) });
        store.commit(report(&lease, visits.collect()), NOW).await.unwrap();
    }
    assert_eq!(due(all).await, [pages[0], pages[2]], "a visit may leave it or end it");
    store.review_done(&url(pages[0]), None, Some(b"withdraw".to_vec())).await.unwrap();
    store.review_done(&url(pages[2]), Some(all), None).await.unwrap();
    assert_eq!(due(all).await, [pages[2]]);
    assert_eq!(store.outbox(0, 9).await.unwrap()[0].payload, Payload::Bytes(b"withdraw".to_vec()));
    let unknown = store.review_done(&url("https://z.example/"), None, None).await;
    assert!(matches!(unknown, Err(StoreError::Request(_))));
}

async fn robots(store: &impl Store) {
    let [one, two] =
        ["https://a.example/", "http://a.example/"].map(|text| Origin::of(&url(text)).unwrap());
    assert!(store.robots(&one).await.unwrap().is_none());
    let parts = |body: Option<Vec<u8>>| RobotsParts {
        copy: Some(CopyParts { body, cause: "200".into(), fetched_at: NOW, fresh_until: after(9) }),
        failing: Some(FailingParts {
            since: NOW,
            last_at: after(1),
            cause: "503".into(),
            attempts: 3,
            retry_at: after(2),
        }),
    };
    let large = b"user-agent: *\ndisallow: /x\n".repeat(20_000);
    for body in [Some(large), Some(b"user-agent: *".to_vec()), None] {
        let record = RobotsRecord::from_parts(parts(body.clone()));
        store.put_robots(&one, &record).await.unwrap();
        let back = store.robots(&one).await.unwrap().unwrap().to_parts();
        assert_eq!(back, parts(body));
    }
    store.put_robots(&two, &RobotsRecord::default()).await.unwrap();
    assert_eq!(store.robots(&two).await.unwrap().unwrap().to_parts(), RobotsParts::default());
    assert_eq!(store.robots(&one).await.unwrap().unwrap().to_parts(), parts(None));
}

async fn named_values(store: &impl Store) {
    assert_eq!(store.meta("scope").await.unwrap(), None);
    for value in [b"domain".to_vec(), b"any".to_vec(), Vec::new()] {
        store.put_meta("scope", value.clone()).await.unwrap();
        assert_eq!(store.meta("scope").await.unwrap(), Some(value));
    }
    let long = store.put_meta("scope", vec![0; crate::MAX_META_BYTES]).await;
    assert!(matches!(long, Err(StoreError::Request(_))));
    assert_eq!(store.meta("state").await.unwrap(), None, "names of the store's own are apart");
}

/// Many calls under way at once: each is answered, none is mixed up.
async fn many_at_once(store: &impl Store) {
    let push = async |n: usize| {
        let batch = (0..10).map(|m| link(&format!("https://s{}.example/{m}", n % 20)));
        store.push(batch.collect()).await.unwrap()
    };
    let fates = join((0..40).map(push)).await;
    let new = fates.iter().flatten().filter(|fate| **fate == Fate::New).count();
    assert_eq!(new, 200);

    let leases = store.lease(NOW, 99, 99, TTL).await.unwrap();
    assert_eq!(leases.len(), 20);
    let commit = async |lease: &Lease| {
        let visits = urls(lease).into_iter().map(|page| Visit {
            found: vec![link(&format!("{page}/next")), link("https://shared.example/")],
            ..visit(page, fetched())
        });
        store.commit(report(lease, visits.collect()), NOW).await.unwrap()
    };
    let receipts = join(leases.iter().map(commit)).await;
    let new: usize = receipts
        .iter()
        .map(|receipt| match receipt {
            Receipt::Accepted { new_urls } => *new_urls,
            Receipt::Fenced => panic!("a lease was lost"),
        })
        .sum();
    assert_eq!(new, 201);
    let stats = store.stats();
    assert_eq!((stats.known, stats.fetched, stats.queued), (401, 200, 201));
}

/// All futures of a list, polled together.
async fn join<T>(futures: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut running: Vec<_> = futures.into_iter().map(|future| Some(Box::pin(future))).collect();
    let mut done: Vec<Option<T>> = running.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (slot, answer) in running.iter_mut().zip(&mut done) {
            if let Some(future) = slot
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *answer = Some(value);
                *slot = None;
            }
        }
        match running.iter().all(Option::is_none) {
            true => std::task::Poll::Ready(done.iter_mut().filter_map(Option::take).collect()),
            false => std::task::Poll::Pending,
        }
    })
    .await
}

async fn closed(store: &impl Store) {
    store.push(vec![link("https://a.example/")]).await.unwrap();
    store.close().await.unwrap();
    let push = store.push(vec![link("https://a.example/2")]).await;
    assert!(matches!(push, Err(StoreError::Closed)), "{push:?}");
    let lease = store.lease(NOW, 1, 1, TTL).await;
    assert!(matches!(lease, Err(StoreError::Closed)), "{lease:?}");
    assert!(matches!(store.close().await, Err(StoreError::Closed)));
}
