//! Pages of a site that have something in common.

use std::collections::BTreeSet;

use super::*;
use crate::page::Likeness;

const ONE: &str = "https://a.example/1";
const TWO: &str = "https://a.example/2";
const THREE: &str = "https://a.example/3";

fn read(page: &str, text: u64, canonical: Option<&str>) -> Visit {
    let fetched = Fetched {
        text_hash: Some(text),
        canonical: canonical.map(url),
        sent: true,
        ..Fetched::default()
    };
    visit(page, Outcome::Fetched(fetched))
}

async fn found(store: &impl Store, likeness: Likeness) -> BTreeSet<String> {
    let site = Site::from_host("a.example");
    let pages = store.alike(&site, vec![likeness], 9).await.unwrap();
    pages.into_iter().flatten().map(|page| page.url.to_string()).collect()
}

/// Pages are found by their text and by the address that stands for them, as of their last
/// response; one that stands back for another is found by that one's address.
pub(super) async fn alike(store: &impl Store) {
    let set = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<BTreeSet<_>>();
    store.push([ONE, TWO, THREE].map(link).to_vec()).await.unwrap();
    let lease = lease_one(store, NOW, 9).await;
    let visits = vec![read(ONE, 7, None), read(TWO, 7, Some(ONE)), read(THREE, 8, Some(ONE))];
    let done = SiteReport { then: AfterReport::Keep, ..report(&lease, visits) };
    store.commit(done, NOW).await.unwrap();
    assert_eq!(found(store, Likeness::Text(7)).await, set(&[ONE, TWO]));
    assert_eq!(found(store, Likeness::Canonical(url(ONE))).await, set(&[TWO, THREE]));
    assert_eq!(found(store, Likeness::Text(9)).await, set(&[]));
    let other = Site::from_host("b.example");
    let none = store.alike(&other, vec![Likeness::Text(7), Likeness::Text(8)], 9).await.unwrap();
    assert_eq!(none, [vec![], vec![]]);

    let failed = Outcome::Failed { code: "timeout".into(), detail: String::new() };
    let mut third = read(THREE, 7, None);
    third.stood_back = vec![(url(ONE), "same".into())];
    store.commit(report(&lease, vec![visit(ONE, failed), third]), NOW).await.unwrap();
    assert_eq!(found(store, Likeness::Text(7)).await, set(&[ONE, TWO, THREE]));
    assert_eq!(found(store, Likeness::Text(8)).await, set(&[]));
    assert_eq!(found(store, Likeness::Canonical(url(ONE))).await, set(&[TWO]));
    assert_eq!(found(store, Likeness::Canonical(url(THREE))).await, set(&[ONE]));
    let one = store.page(&url(ONE)).await.unwrap().unwrap();
    let (_, one) = one.last_fetch().unwrap();
    assert_eq!((one.sent, one.canonical_reason.as_str()), (false, "same"));
    assert_eq!(one.stand_in, Some(url(THREE)));
    let site = Site::from_host("a.example");
    let two = store.alike(&site, vec![Likeness::Text(7)], 2).await.unwrap();
    assert_eq!(two.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
}
