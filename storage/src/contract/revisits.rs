//! Pages that were had, and are looked at again; and what is asked of many pages of a site.

use std::collections::BTreeSet;

use super::*;

const PAGE: &str = "https://a.example/page";
const DAY: Duration = Duration::from_secs(86_400);

fn seen(etag: &str, every: Duration) -> Visit {
    let etag = Some(etag.to_owned());
    let outcome = Outcome::Fetched(Fetched { status: 200, etag, sent: true, ..Fetched::default() });
    Visit { next: Next::Revisit { at: NOW.after(every), every }, ..visit(PAGE, outcome) }
}

/// A page that waits to be looked at again is not counted as one that is still to be had.
pub(super) async fn looked_at_again(store: &impl Store) {
    store.push(vec![link(PAGE)]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    assert!(!lease.urls[0].revisit && lease.urls[0].every.is_none());
    store.commit(report(&lease, vec![seen("\"1\"", DAY)]), NOW).await.unwrap();
    let stats = store.stats();
    assert_eq!((stats.queued, stats.revisits, stats.fetched), (0, 1, 1));
    assert_eq!(store.next_ready(), Some(NOW.after(DAY)));
    assert!(store.lease(NOW, 9, 9, TTL).await.unwrap().is_empty());

    let lease = lease_one(store, NOW.after(DAY), 9).await;
    let page = &lease.urls[0];
    assert_eq!((page.revisit, page.every, page.fetches), (true, Some(DAY), 1));
    assert!(page.last_fetch().is_some_and(|(_, fetched)| fetched.sent));
    let failed = Outcome::Failed { code: "timeout".into(), detail: String::new() };
    let retry = Next::Retry(NOW.after(DAY + DAY));
    let visits = vec![Visit { next: retry, ..visit(PAGE, failed) }];
    store.commit(report(&lease, visits), NOW.after(DAY)).await.unwrap();
    assert_eq!((store.stats().queued, store.stats().revisits), (1, 0));
    let page = store.page(&url(PAGE)).await.unwrap().unwrap();
    assert_eq!((page.revisit, page.every), (false, Some(DAY)));
}

/// All that was had can be looked at now; what was put off for another reason stays so.
pub(super) async fn looked_at_now(store: &impl Store) {
    let later = queued("https://b.example/later", Some(NOW.after(DAY)), 0);
    store.push(vec![link(PAGE), later]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    store.commit(report(&lease, vec![seen("\"1\"", DAY)]), NOW).await.unwrap();
    assert!(store.lease(NOW, 9, 9, TTL).await.unwrap().is_empty());
    assert_eq!(store.look_now().await.unwrap(), 1);
    assert_eq!(store.look_now().await.unwrap(), 0, "it is due already");
    let lease = lease_one(store, NOW, 9).await;
    let page = &lease.urls[0];
    assert_eq!((page.url.as_str(), page.revisit, page.every), (PAGE, true, Some(DAY)));
    assert!(page.last_fetch().is_some_and(|(_, copy)| copy.etag.is_some()), "conditionally");
    assert_eq!(store.stats().revisits, 1);
}

/// News of a change makes an older copy due, and nothing else; a page that is fetched anew is
/// asked for as if it had never been had.
pub(super) async fn changed_or_fetched_anew(store: &impl Store) {
    let plan = |plan| Found { plan, ..link(PAGE) };
    let changed = |secs| {
        let at = Timestamp::from_secs(secs);
        plan(Plan::Changed { at, believed: true, priority: 3, why: Some("a word".into()) })
    };
    let before = NOW.as_secs() - 1;
    assert_eq!(store.push(vec![changed(before)]).await.unwrap(), [Fate::New]);
    assert_eq!(store.push(vec![changed(before + 9)]).await.unwrap(), [Fate::Known]);
    let lease = lease_one(store, NOW, 9).await;
    assert_eq!((lease.urls[0].priority, lease.urls[0].role), (3, Role::Page));
    assert_eq!(lease.urls[0].why.as_deref(), Some("a word"));
    store.commit(report(&lease, vec![seen("\"1\"", DAY)]), NOW).await.unwrap();

    assert_eq!(store.push(vec![changed(before)]).await.unwrap(), [Fate::Known]);
    assert!(store.lease(NOW, 9, 9, TTL).await.unwrap().is_empty());
    assert_eq!(store.push(vec![changed(before + 2)]).await.unwrap(), [Fate::Upgraded]);
    let etag = |page: &PageRecord| page.last_fetch().and_then(|(_, copy)| copy.etag.clone());
    let lease = lease_one(store, NOW, 9).await;
    assert_eq!(etag(&lease.urls[0]), Some("\"1\"".into()));
    assert!(lease.urls[0].revisit);
    store.commit(report(&lease, vec![seen("\"2\"", DAY)]), NOW).await.unwrap();

    let again = plan(Plan::Again { priority: 0 });
    assert_eq!(store.push(vec![again]).await.unwrap(), [Fate::Upgraded]);
    let lease = lease_one(store, NOW, 9).await;
    assert_eq!((etag(&lease.urls[0]), lease.urls[0].revisit), (None, false));
}

/// What one origin of a site cannot give is put off together; the other origin's URLs are not.
pub(super) async fn put_off_by_origin(store: &impl Store) {
    let plain: Vec<_> = (0..20).map(|n| format!("http://a.example/{n}")).collect();
    let secure = "https://a.example/0";
    store.push(plain.iter().map(|text| link(text)).collect()).await.unwrap();
    store
        .push(vec![link(secure), queued("http://a.example/later", Some(after(999)), 0)])
        .await
        .unwrap();
    let lease = lease_one(store, NOW, 2).await;
    let mut done = report(&lease, vec![]);
    let origin = Origin::of(&url(&plain[0])).unwrap();
    done.put_off = vec![(origin, after(100))];
    store.commit(done, NOW).await.unwrap();
    let lease = lease_one(store, NOW, 99).await;
    assert_eq!(urls(&lease), [secure]);
    store.release(lease.token).await.unwrap();
    let lease = lease_one(store, after(100), 99).await;
    assert_eq!(lease.urls.len(), 21);
    let later = store.page(&url("http://a.example/later")).await.unwrap().unwrap();
    assert_eq!(later.due, Some(after(999)), "it was not due");
}

/// All pages of a site, in pieces, and none of another site.
pub(super) async fn pages_of_a_site(store: &impl Store) {
    let mine: BTreeSet<_> = (0..7).map(|n| format!("https://a.example/{n}")).collect();
    store.push(mine.iter().map(|text| link(text)).collect()).await.unwrap();
    store.push(vec![link("https://b.example/")]).await.unwrap();
    let (mut got, mut from) = (Vec::new(), None);
    for _ in 0..4 {
        let (pages, next) = store.pages(&Site::from_host("a.example"), from, 3).await.unwrap();
        got.extend(pages.into_iter().map(|page| page.url.to_string()));
        from = next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(from, None);
    assert_eq!(got.len(), 7);
    assert_eq!(got.into_iter().collect::<BTreeSet<_>>(), mine);
    let (all, next) = store.all_pages(None, 9).await.unwrap();
    assert_eq!((all.len(), next), (8, None), "of all sites");
    let none = store.pages(&Site::from_host("z.example"), None, 3).await.unwrap();
    assert_eq!(none, (vec![], None));
}

/// What a sitemap claims is remembered, the latest of it, also while its dates are not believed.
pub(super) async fn claims(store: &impl Store) {
    store.push(vec![link(PAGE)]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    let trust = LastmodTrust { changed: ClaimTally { right: 5, wrong: 1 }, ..lease.trust };
    let mut done = report(&lease, vec![seen("\"1\"", DAY)]);
    done.trust = trust;
    store.commit(done, NOW).await.unwrap();
    for (claim, latest) in [(20, 20), (10, 20), (30, 30)] {
        let plan = Plan::Changed { at: after(claim), believed: false, priority: 0, why: None };
        let fates = store.push(vec![Found { plan, ..link(PAGE) }]).await.unwrap();
        assert_eq!(fates, [Fate::Known]);
        let page = store.page(&url(PAGE)).await.unwrap().unwrap();
        assert_eq!((page.claimed, page.due), (Some(after(latest)), Some(NOW.after(DAY))));
    }
    let lease = lease_one(store, NOW.after(DAY), 9).await;
    assert_eq!((lease.trust, lease.urls[0].claimed), (trust, Some(after(30))));
    let site = store.site(&Site::from_host("a.example")).await.unwrap().unwrap();
    assert_eq!(site.trust, trust);
}

/// A URL that is fetched as a page, and then named as a sitemap, is read as one.
pub(super) async fn a_page_that_is_a_sitemap(store: &impl Store) {
    store.push(vec![link(PAGE)]).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    store.commit(report(&lease, vec![seen("\"1\"", DAY)]), NOW).await.unwrap();
    let sitemap = || Found { role: Role::Sitemap, via: Via::Sitemap, ..link(PAGE) };
    assert_eq!(
        store.push(vec![sitemap(), link(PAGE)]).await.unwrap(),
        [Fate::Upgraded, Fate::Known]
    );
    let lease = lease_one(store, NOW, 9).await;
    assert_eq!((lease.urls[0].role, lease.urls[0].via), (Role::Sitemap, Via::Sitemap));
    store.commit(report(&lease, vec![seen("\"1\"", DAY)]), NOW).await.unwrap();
    assert_eq!(store.push(vec![sitemap()]).await.unwrap(), [Fate::Known]);
    assert_eq!((store.stats().fetched, store.stats().sitemaps), (0, 1));
}
