//! What is remembered of the texts of pages, beside the store: the newest visits of a site, which
//! may not be committed yet, and the pages that others may be nearly the same as.
//!
//! Both are bounded. What was forgotten stands in the page records: an exact copy is found there
//! by its hash, and the near ones of a site are read from there when they are first asked for, so
//! that nothing more must be kept for the next run.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use comity_compliance::Site;
use comity_storage::{Alike, PageRecord, Store, StoreError};
use url::Url;

use super::Context;
use crate::duplicates::{NearIndex, SimHash};

/// Pages of one site that others are compared with, the newest; about 300 bytes each.
const NEAR_PAGES: usize = 1000;
/// The same of all sites together; beyond it the sites that were asked for longest ago are
/// forgotten.
const NEAR_PAGES_IN_ALL: usize = 200_000;
/// Visits of a site that are remembered: more than can be on their way to the store.
const NEWEST: usize = 128;

/// What is remembered of all sites.
#[derive(Debug, Default)]
pub(super) struct Likenesses(Mutex<Sites>);

#[derive(Debug, Default)]
struct Sites {
    /// How many questions were asked: the age of a site's last one.
    turn: u64,
    sites: HashMap<Site, Remembered>,
}

#[derive(Debug)]
struct Remembered {
    asked_at: u64,
    /// The newest visits, and the hash of the text that each page stands for since.
    newest: VecDeque<(Url, Option<u64>)>,
    /// None before the records were read.
    near: Option<Near>,
}

#[derive(Debug)]
struct Near {
    index: NearIndex,
    /// The pages of the index, by their numbers.
    urls: VecDeque<Url>,
    /// The number of the oldest.
    first: u64,
}

impl Likenesses {
    fn locked(&self) -> MutexGuard<'_, Sites> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which text a page stands for since its visit, if it does for any.
    pub(super) fn visited(&self, url: &Url, stands_for: Option<u64>) {
        let Ok(site) = Site::of(url) else { return };
        let mut sites = self.locked();
        let newest = &mut sites.of(site).newest;
        newest.retain(|(other, _)| other != url);
        newest.push_back((url.clone(), stands_for));
        if newest.len() > NEWEST {
            newest.pop_front();
        }
    }

    /// The text that a page stands for since its last visit, if that visit is remembered.
    pub(super) fn newest(&self, url: &Url) -> Option<Option<u64>> {
        let site = Site::of(url).ok()?;
        let sites = self.locked();
        let newest = &sites.sites.get(&site)?.newest;
        newest.iter().find(|(other, _)| other == url).map(|(_, text)| *text)
    }

    /// A page other than this one that stands for a text since a visit that is remembered.
    pub(super) fn newest_with(&self, text: u64, but: &Url) -> Option<Url> {
        let site = Site::of(but).ok()?;
        let sites = self.locked();
        let mut newest = sites.sites.get(&site)?.newest.iter();
        let stands = newest.find(|(url, stands_for)| *stands_for == Some(text) && url != but);
        stands.map(|(url, _)| url.clone())
    }

    fn has_near(&self, site: &Site) -> bool {
        self.locked().sites.get(site).is_some_and(|remembered| remembered.near.is_some())
    }

    fn fill_near(&self, site: Site, pages: &[PageRecord]) {
        let mut near = Near { index: NearIndex::new(NEAR_PAGES), urls: VecDeque::new(), first: 0 };
        for page in pages {
            let print = page.last_fetch().and_then(|(_, fetched)| fetched.text_print);
            if let Some(print) = print {
                near.insert(SimHash(print), page.url.clone());
            }
        }
        let mut sites = self.locked();
        sites.of(site).near.get_or_insert(near);
        sites.forget_oldest();
    }

    /// The page that is most like this one; this one is remembered.
    fn near(&self, site: Site, print: SimHash, url: &Url) -> Option<Alike> {
        let mut sites = self.locked();
        let near = sites.of(site).near.as_mut()?;
        let found = near.find(print).filter(|alike| alike.url != *url);
        near.insert(print, url.clone());
        found
    }
}

impl Sites {
    fn of(&mut self, site: Site) -> &mut Remembered {
        self.turn += 1;
        let remembered = self.sites.entry(site).or_insert_with(|| Remembered {
            asked_at: 0,
            newest: VecDeque::new(),
            near: None,
        });
        remembered.asked_at = self.turn;
        remembered
    }

    /// Forgets sites until a quarter of the room is free, so that it is seldom done.
    fn forget_oldest(&mut self) {
        let pages = |one: &Remembered| {
            one.newest.len() + one.near.as_ref().map_or(0, |near| near.urls.len())
        };
        let mut in_all: usize = self.sites.values().map(pages).sum();
        if in_all <= NEAR_PAGES_IN_ALL {
            return;
        }
        let mut ages: Vec<_> =
            self.sites.iter().map(|(site, one)| (one.asked_at, site.clone())).collect();
        ages.sort_unstable_by_key(|(asked_at, _)| *asked_at);
        // The site asked last stays.
        ages.pop();
        for (_, site) in ages {
            if in_all <= NEAR_PAGES_IN_ALL / 4 * 3 {
                return;
            }
            in_all -= self.sites.remove(&site).as_ref().map_or(0, pages);
        }
    }
}

impl Near {
    fn insert(&mut self, print: SimHash, url: Url) {
        if self.urls.len() >= NEAR_PAGES {
            self.urls.pop_front();
            self.first += 1;
        }
        self.index.insert(print, self.first + self.urls.len() as u64);
        self.urls.push_back(url);
    }

    fn find(&self, print: SimHash) -> Option<Alike> {
        let near = self.index.find(print)?;
        let at = usize::try_from(near.page.checked_sub(self.first)?).ok()?;
        let url = self.urls.get(at)?.clone();
        Some(Alike { url, bits: u8::try_from(near.distance).ok() })
    }
}

impl<S: Store, T> Context<S, T> {
    /// The page of the site whose text is nearly that of this one.
    pub(super) async fn nearly_same(
        &self,
        page: &PageRecord,
        print: Option<u64>,
    ) -> Result<Option<Alike>, StoreError> {
        let (Some(print), Ok(site)) = (print, Site::of(&page.url)) else { return Ok(None) };
        if let Some((_, before)) = page.last_fetch()
            && before.text_print == Some(print)
        {
            return Ok(before.alike.clone().filter(|alike| alike.bits.is_some()));
        }
        if !self.likenesses.has_near(&site) {
            let (pages, _) = self.store.pages(&site, None, NEAR_PAGES).await?;
            self.likenesses.fill_near(site.clone(), &pages);
        }
        Ok(self.likenesses.near(site, SimHash(print), &page.url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(&format!("https://{text}")).unwrap()
    }

    #[test]
    fn the_newest_visit_of_a_page_counts() {
        let known = Likenesses::default();
        known.visited(&url("a.x/1"), Some(7));
        known.visited(&url("a.x/2"), Some(7));
        assert_eq!(known.newest_with(7, &url("a.x/1")), Some(url("a.x/2")));
        known.visited(&url("a.x/2"), None);
        assert_eq!(known.newest_with(7, &url("a.x/1")), None);
        assert_eq!(known.newest(&url("a.x/2")), Some(None));
        assert_eq!(known.newest(&url("a.x/3")), None);
        assert_eq!(known.newest_with(7, &url("b.x/1")), None, "another site");
        for n in 0..1000 {
            known.visited(&url(&format!("a.x/n{n}")), Some(n));
        }
        assert_eq!(known.newest(&url("a.x/1")), None);
        assert_eq!(known.locked().sites.len(), 1);
    }

    #[test]
    fn near_pages_keep_their_addresses() {
        let (known, site) = (Likenesses::default(), Site::from_host("a.x"));
        known.fill_near(site.clone(), &[]);
        for n in 0..3000_u64 {
            let print = SimHash(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let _ = known.near(site.clone(), print, &url(&format!("a.x/{n}")));
        }
        let print = SimHash(2999_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 1);
        let found = known.near(site.clone(), print, &url("a.x/other"));
        assert_eq!(found, Some(Alike { url: url("a.x/2999"), bits: Some(1) }));
        assert_eq!(known.near(site, print, &url("a.x/other")), None, "itself");
    }

    #[test]
    fn memory_is_bounded() {
        let known = Likenesses::default();
        let pages = NEAR_PAGES_IN_ALL / NEAR_PAGES;
        for n in 0..pages + 9 {
            let site = Site::from_host(&format!("s{n}.x"));
            known.fill_near(site.clone(), &[]);
            for page in 0..NEAR_PAGES as u64 {
                let _ = known.near(site.clone(), SimHash(page << 40), &url("s.x/"));
            }
        }
        known.fill_near(Site::from_host("last.x"), &[]);
        assert!(known.locked().sites.len() < pages);
        assert!(known.has_near(&Site::from_host("last.x")));
    }
}
