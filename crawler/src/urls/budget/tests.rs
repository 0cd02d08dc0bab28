//! Budgets, and whole walks through sites without end.

use std::collections::{HashSet, VecDeque};

use comity_compliance::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::urls::{DedupeRules, dedupe_form, looks_like_trap};

/// 2026-11-30.
const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

fn url(path: &str) -> Url {
    Url::parse(&format!("https://example.com{path}")).unwrap()
}

fn small() -> TrapLimits {
    TrapLimits {
        shape_urls: 5,
        dated_urls: 4,
        session_urls: 3,
        wordy_urls: 6,
        shapes: 10,
        facets: 4,
        duplicates: 4,
        site_urls: 100,
        ..TrapLimits::default()
    }
}

/// Asks for `{}` in the address from 0 on; how many were admitted, and what the others were told.
fn ask(budget: &mut ShapeBudget, address: &str, times: usize) -> (usize, Option<&'static str>) {
    let mut told = HashSet::new();
    let mut admitted = 0;
    for n in 0..times {
        match budget.admit(&url(&address.replace("{}", &n.to_string()))) {
            Ok(()) => admitted += 1,
            Err(reason) => {
                told.insert(reason.code());
            }
        }
    }
    assert!(told.len() <= 1, "{told:?}");
    (admitted, told.into_iter().next())
}

#[test]
fn each_shape_has_its_limit() {
    let cases = [
        ("/item/{}", 5, "shape-urls"),
        ("/p?page={}", 5, "shape-urls"),
        ("/cal?date=2026-11-{}&d={}", 4, "dated-urls"),
        ("/a;jsessionid=x{}", 3, "session-ids"),
        ("/a?PHPSESSID={}", 3, "session-ids"),
    ];
    for (address, admitted, reason) in cases {
        let mut budget = ShapeBudget::new(small());
        assert_eq!(ask(&mut budget, address, 20), (admitted, Some(reason)), "{address}");
        assert_eq!(ask(&mut budget, address, admitted), (admitted, None), "known ones stay");
        assert_eq!(budget.admit(&url("/another")), Ok(()), "{address}");
    }
}

#[test]
fn words_without_end_are_taken_together() {
    let mut budget = ShapeBudget::new(small());
    let word = |n: usize| {
        let letters =
            n.to_string().bytes().map(|b| char::from(b - b'0' + b'a')).collect::<String>();
        url(&format!("/{letters}/"))
    };
    let admitted = (0..100).filter(|n| budget.admit(&word(*n)).is_ok()).count();
    assert_eq!(admitted, 10 + 6, "ten shapes of their own, six together");
    assert_eq!(budget.admit(&word(100)), Err(LeftOut::WordyUrls));
    assert_eq!(budget.admit(&url("/deeper/than/that")), Ok(()), "another depth");
}

#[test]
fn combinations_of_filters_have_an_end() {
    let mut budget = ShapeBudget::new(TrapLimits { shapes: 1_000, ..small() });
    let combinations = ["a", "b", "a&b", "b&a", "a&b&c", "c"];
    let told: Vec<_> = combinations
        .map(|names| budget.admit(&url(&format!("/shop?{}=1", names.replace('&', "=1&")))).err())
        .into();
    assert_eq!(told, [None, None, None, None, Some(LeftOut::Facets), Some(LeftOut::Facets)]);
    assert_eq!(budget.admit(&url("/shop?b=2&a=1")), Ok(()), "a combination that is known");
    assert_eq!(budget.admit(&url("/other?c=1")), Ok(()), "another path");
}

#[test]
fn a_site_has_its_limit() {
    let mut budget = ShapeBudget::new(TrapLimits { site_urls: 2, ..small() });
    assert_eq!(ask(&mut budget, "/item/{}", 4), (2, Some("site-urls")));
}

/// HO-013: once most pages of a shape repeat others, the shape gets no more.
#[test]
fn same_content_lowers_the_limit() {
    let mut budget = ShapeBudget::new(TrapLimits { shape_urls: 1_000, ..small() });
    let page = |n: usize| url(&format!("/p?id={n}"));
    assert_eq!(ask(&mut budget, "/p?id={}", 50), (50, None));
    budget.saw_original(&page(0));
    for n in 1..4 {
        budget.saw_duplicate(&page(n));
    }
    // One original, three duplicates: 2 * 1 + 4 in all.
    assert_eq!(budget.admit(&page(50)), Err(LeftOut::SameContent));
    assert_eq!(budget.admit(&page(4)), Ok(()), "known already");
    assert_eq!(budget.may_fetch(&page(4)), Ok(()));
    budget.saw_duplicate(&page(4));
    budget.saw_duplicate(&page(5));
    assert_eq!(budget.may_fetch(&page(6)), Err(LeftOut::SameContent));
    for n in 6..20 {
        budget.saw_original(&page(n));
    }
    assert_eq!(budget.may_fetch(&page(20)), Ok(()), "originals count for it");
    assert_eq!(budget.admit(&page(50)), Ok(()));
    assert_eq!(budget.may_fetch(&url("/other")), Ok(()));
}

/// What a walk did.
#[derive(Debug, Default)]
struct Walk {
    fetched: Vec<Url>,
    reasons: HashSet<&'static str>,
}

impl Walk {
    fn under(&self, path: &str) -> usize {
        self.fetched.iter().filter(|url| url.path().starts_with(path)).count()
    }
}

/// Walks through a made-up site as a crawl does: links in their dedupe form, each judged by
/// itself and by its site's budget. `page` gives a page's links and its text.
fn walk(
    start: &str,
    limits: &TrapLimits,
    rules: &DedupeRules,
    mut page: impl FnMut(&Url) -> (Vec<String>, String),
) -> Walk {
    let mut budget = ShapeBudget::new(limits.clone());
    let start = url(start);
    budget.admit(&start).unwrap();
    let (mut known, mut texts) = (HashSet::from([start.clone()]), HashSet::new());
    let mut queue = VecDeque::from([start]);
    let mut walk = Walk::default();
    while let Some(at) = queue.pop_front() {
        if let Err(reason) = budget.may_fetch(&at) {
            walk.reasons.insert(reason.code());
            continue;
        }
        let (links, text) = page(&at);
        if texts.insert(text) {
            budget.saw_original(&at)
        } else {
            budget.saw_duplicate(&at)
        }
        for link in links {
            let link = dedupe_form(&at.join(&link).unwrap(), rules);
            let trap = looks_like_trap(&link, limits, NOW);
            match trap.map_or_else(|| budget.admit(&link), Err) {
                Err(reason) => {
                    walk.reasons.insert(reason.code());
                }
                Ok(()) if known.insert(link.clone()) => queue.push_back(link),
                Ok(()) => {}
            }
        }
        walk.fetched.push(at);
        assert!(walk.fetched.len() < 50_000, "the walk does not end");
    }
    walk
}

/// HO-006: a broken relative link grows the path with each page.
#[test]
fn a_growing_path_ends() {
    let walk = walk("/e/", &TrapLimits::default(), &DedupeRules::default(), |at| {
        (vec!["www.example.net/p/".into()], at.to_string())
    });
    assert_eq!(walk.fetched.len(), 4);
    assert_eq!(walk.reasons, HashSet::from(["repeated-segment"]));
}

/// HO-022: a calendar without end beside fifty pages.
#[test]
fn a_calendar_ends_and_pages_are_fetched() {
    let site = |at: &Url| {
        let year = at.query().and_then(|query| query.strip_prefix("y=")?.parse::<i32>().ok());
        let links = match year {
            Some(year) => vec![format!("/cal?y={}", year - 1), format!("/cal?y={}", year + 1)],
            None => (0..50).map(|n| format!("/page/{n}")).chain(["/cal?y=2026".into()]).collect(),
        };
        (links, at.to_string())
    };
    let limits = TrapLimits::default();
    let walk = walk("/", &limits, &DedupeRules::default(), site);
    assert_eq!(walk.under("/page/"), 50);
    assert_eq!(walk.under("/cal"), 103, "a hundred years back, this one, two ahead");
    assert_eq!(walk.reasons, HashSet::from(["far-date"]));
}

/// HO-022, without a word that says year: the shape's own limit ends it.
#[test]
fn running_numbers_end() {
    let next = |at: &Url| {
        let page: u64 =
            at.query().and_then(|query| query.strip_prefix("n=")?.parse().ok()).unwrap();
        (vec![format!("/cal?n={}", page + 1)], at.to_string())
    };
    let limits = TrapLimits { shape_urls: 500, ..TrapLimits::default() };
    let walk = walk("/cal?n=0", &limits, &DedupeRules::default(), next);
    assert_eq!(walk.fetched.len(), 500);
    assert_eq!(walk.reasons, HashSet::from(["shape-urls"]));
}

/// Ten pages that link to each other, each time with another number.
fn ten_pages(at: &Url, name: &str, number: &mut u64) -> (Vec<String>, String) {
    let links = (0..10).map(|n| {
        *number += 1;
        format!("/p{n}?{name}={number:x}0a1b2c3d4e5f607")
    });
    (links.collect(), at.path().to_owned())
}

/// HO-013: a fresh session number in all links. Known names are taken out; of unknown ones, the
/// same content under many addresses is noticed.
#[test]
fn fresh_session_numbers_end() {
    let limits = TrapLimits::default();
    let mut number = 0;
    let stripped =
        walk("/p0", &limits, &DedupeRules::default(), |at| ten_pages(at, "sid", &mut number));
    assert_eq!(stripped.fetched.len(), 10);
    for (name, rules, most) in
        [("sid", DedupeRules::keep_all(), 45), ("visit", DedupeRules::default(), 45)]
    {
        let mut number = 0;
        let walk = walk("/p0", &limits, &rules, |at| ten_pages(at, name, &mut number));
        assert!((10..=most).contains(&walk.fetched.len()), "{name}: {}", walk.fetched.len());
        assert!(walk.reasons.contains("same-content"), "{:?}", walk.reasons);
    }
}

proptest! {
    /// Whatever a site gives, no limit is broken and what was admitted stays so.
    #[test]
    fn limits_hold(
        paths in proptest::collection::vec(
            "/[a-c0-2]{1,2}(/[a-c0-2]{1,2})?(\\?[a-d]=[0-9](&[a-d]=1)?)?",
            0..80,
        ),
    ) {
        let mut budget = ShapeBudget::new(TrapLimits { site_urls: 30, ..small() });
        let mut admitted = HashSet::new();
        for path in &paths {
            if budget.admit(&url(path)).is_ok() {
                admitted.insert(path);
            }
        }
        prop_assert!(budget.urls() <= 30 && budget.urls() == admitted.len());
        prop_assert!(admitted.iter().all(|path| budget.admit(&url(path)).is_ok()));
        // Ten of their own, and one for each depth and number of parameters.
        prop_assert!(budget.seen.shapes.len() <= 10 + 6 && budget.seen.facets.len() <= 10);
    }
}
