//! The budgets of the sites that a crawl works on.

use std::collections::HashMap;

use comity_compliance::{LeftOut, Site};
use url::Url;

use super::{Saw, ShapeBudget, TrapLimits};

/// One [`ShapeBudget`] a site, within a bound on the memory of all. Beyond it, the sites that
/// gave no address for longest are forgotten, and counted anew when they give one.
#[derive(Debug)]
pub struct SiteBudgets {
    limits: TrapLimits,
    /// Memory for all sites together.
    capacity_bytes: usize,
    bytes: usize,
    /// How many questions were asked: the age of a site's last one.
    turn: u64,
    sites: HashMap<Site, Entry>,
}

#[derive(Debug)]
struct Entry {
    asked_at: u64,
    budget: ShapeBudget,
    /// Whether all that is known of the site was counted.
    is_whole: bool,
}

impl SiteBudgets {
    /// Memory for all sites together, unless another amount is given.
    pub const CAPACITY_BYTES: usize = 64 << 20;

    /// Budgets for all sites, none of which is known yet, in so much memory.
    pub fn new(limits: TrapLimits, capacity_bytes: usize) -> Self {
        Self { limits, capacity_bytes, bytes: 0, turn: 0, sites: HashMap::new() }
    }

    /// Counts an address in its site's budget, see [`ShapeBudget::admit`]. One without a site is
    /// not counted.
    ///
    /// # Errors
    /// The [`LeftOut`] that says which limit it would break.
    pub fn admit(&mut self, url: &Url) -> Result<(), LeftOut> {
        self.counting(url, |budget| budget.admit(url)).unwrap_or(Ok(()))
    }

    /// Counts an address that an earlier run admitted, see [`ShapeBudget::recall`].
    pub fn recall(&mut self, url: &Url, saw: Saw) {
        self.counting(url, |budget| budget.recall(url, saw));
    }

    /// All that is known of a site was counted.
    pub fn recalled(&mut self, site: &Site) {
        self.entry(site.clone()).is_whole = true;
    }

    /// Whether all that is known of a site was counted: since then nothing was forgotten.
    pub fn is_whole(&self, site: &Site) -> bool {
        self.sites.get(site).is_some_and(|entry| entry.is_whole)
    }

    /// Lets a site's budget count something, within the memory of all.
    fn counting<R>(&mut self, url: &Url, count: impl FnOnce(&mut ShapeBudget) -> R) -> Option<R> {
        let entry = self.entry(Site::of(url).ok()?);
        let before = entry.budget.bytes();
        let counted = count(&mut entry.budget);
        let after = entry.budget.bytes();
        self.bytes += after - before;
        if self.bytes > self.capacity_bytes {
            self.forget_oldest();
        }
        Some(counted)
    }

    fn entry(&mut self, site: Site) -> &mut Entry {
        self.turn += 1;
        let entry = self.sites.entry(site).or_insert_with(|| {
            let budget = ShapeBudget::new(self.limits.clone());
            self.bytes += budget.bytes();
            Entry { asked_at: 0, budget, is_whole: false }
        });
        entry.asked_at = self.turn;
        entry
    }

    /// The budget of an address's site, if it is known.
    pub fn of(&mut self, url: &Url) -> Option<&mut ShapeBudget> {
        let site = Site::of(url).ok()?;
        self.sites.get_mut(&site).map(|entry| &mut entry.budget)
    }

    /// Forgets sites until a quarter of the room is free, so that it is seldom done. The site
    /// asked last stays.
    fn forget_oldest(&mut self) {
        let mut ages: Vec<_> =
            self.sites.iter().map(|(site, e)| (e.asked_at, site.clone())).collect();
        ages.sort_unstable_by_key(|(asked_at, _)| *asked_at);
        ages.pop();
        for (_, site) in ages {
            if self.bytes <= self.capacity_bytes / 4 * 3 {
                return;
            }
            if let Some(entry) = self.sites.remove(&site) {
                self.bytes -= entry.budget.bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY_BYTES: usize = 20_000;

    /// What an earlier run saw counts as if this one had.
    #[test]
    fn what_was_seen_is_recalled() {
        let limits = TrapLimits { duplicates: 4, ..TrapLimits::default() };
        let mut budgets = SiteBudgets::new(limits, 1 << 20);
        let site = Site::from_host("a.example");
        let page = |n: u32| Url::parse(&format!("https://a.example/p?id={n}")).unwrap();
        assert!(!budgets.is_whole(&site));
        budgets.admit(&page(9)).unwrap();
        assert!(!budgets.is_whole(&site), "a link of another site counts, and is not all");
        budgets.recall(&page(0), Saw::Original);
        for n in 1..9 {
            budgets.recall(&page(n), if n < 6 { Saw::Duplicate } else { Saw::Nothing });
        }
        budgets.recalled(&site);
        assert!(budgets.is_whole(&site));
        let budget = budgets.of(&page(0)).unwrap();
        assert_eq!((budget.urls(), budget.may_fetch(&page(20))), (10, Err(LeftOut::SameContent)));
    }

    #[test]
    fn the_oldest_sites_are_forgotten() {
        let mut budgets = SiteBudgets::new(TrapLimits::default(), CAPACITY_BYTES);
        for n in 0..100 {
            let page = |path| Url::parse(&format!("https://s{n}.example/{path}")).unwrap();
            assert_eq!(budgets.admit(&page("a")), Ok(()));
            assert_eq!(budgets.admit(&page("b")), Ok(()));
            assert_eq!(budgets.admit(&page("a")), Ok(()), "known already");
            assert!(budgets.bytes <= CAPACITY_BYTES);
            assert_eq!(budgets.of(&page("")).unwrap().urls(), 2);
        }
        assert!(budgets.of(&Url::parse("https://s0.example/").unwrap()).is_none());
        let bytes: usize = budgets.sites.values().map(|entry| entry.budget.bytes()).sum();
        assert_eq!(bytes, budgets.bytes);
        assert!(budgets.sites.len() > 10);
    }
}
