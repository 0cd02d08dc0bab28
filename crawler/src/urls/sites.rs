//! The budgets of the sites that a crawl works on.

use std::collections::HashMap;

use comity_compliance::{LeftOut, Site};
use url::Url;

use super::{ShapeBudget, TrapLimits};

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
        let Ok(site) = Site::of(url) else { return Ok(()) };
        self.turn += 1;
        let entry = self.sites.entry(site).or_insert_with(|| {
            let budget = ShapeBudget::new(self.limits.clone());
            self.bytes += budget.bytes();
            Entry { asked_at: 0, budget }
        });
        entry.asked_at = self.turn;
        let before = entry.budget.bytes();
        let admitted = entry.budget.admit(url);
        self.bytes += entry.budget.bytes() - before;
        if self.bytes > self.capacity_bytes {
            self.forget_oldest();
        }
        admitted
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
