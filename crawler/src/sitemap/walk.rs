//! Which sitemap of a site comes next: a plan that is bounded whatever indexes list. It fetches
//! nothing and judges no robots.txt rule.

use std::collections::{HashSet, VecDeque};

use comity_compliance::{CrossSubmission, GroundsReason, LeftOut, NotListed, Submission, may_list};
use url::Url;

use crate::reasons::FailureReason;

/// How far indexes are followed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WalkLimits {
    /// Indexes above a sitemap.
    pub depth: u8,
    /// Requests for sitemaps of one site, redirects included.
    pub requests: usize,
    /// Redirects in a row.
    pub redirects: u8,
}

impl Default for WalkLimits {
    fn default() -> Self {
        Self { depth: 3, requests: 1_000, redirects: 5 }
    }
}

/// A sitemap that is to be fetched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlannedSitemap {
    /// What to request.
    pub url: Url,
    /// The address that was submitted or listed: what lies below it counts. A redirect does not
    /// change it.
    pub listed_as: Url,
    /// How it, or the index at the top, became known.
    pub submission: Submission,
    /// Indexes above it.
    pub depth: u8,
    /// Redirects that led here.
    pub redirects: u8,
}

impl PlannedSitemap {
    /// Whether an entry of this sitemap counts (SM-004); `entrys_robots` is what the robots.txt of
    /// the entry's origin says of this sitemap or an index above it.
    ///
    /// # Errors
    /// Why it does not.
    pub fn may_list(&self, entry: &Url, entrys_robots: CrossSubmission) -> Result<(), NotListed> {
        may_list(&self.listed_as, &self.submission, entry, entrys_robots)
    }
}

/// Why a sitemap is not fetched.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum NotPlanned {
    /// It is a robots.txt.
    RobotsTxt,
    /// It was planned before.
    Seen,
    /// There are too many indexes above it.
    TooDeep,
    /// The site has had its share.
    TooMany,
    /// Too many redirects led to it.
    TooManyRedirects,
    /// The index may not list it.
    NotListed(NotListed),
}

impl NotPlanned {
    /// The name used in logs; never changed.
    pub const fn code(self) -> &'static str {
        match self {
            Self::RobotsTxt => GroundsReason::RobotsFile.code(),
            Self::Seen => "seen",
            Self::TooDeep => LeftOut::TooDeep.code(),
            Self::TooMany => "too-many",
            Self::TooManyRedirects => FailureReason::TooManyRedirects.code(),
            Self::NotListed(reason) => reason.code(),
        }
    }
}

/// The sitemaps of one site, in the order in which they became known.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    limits: WalkLimits,
    seen: HashSet<Url>,
    queue: VecDeque<PlannedSitemap>,
}

impl Walk {
    /// A plan without any sitemap yet.
    pub fn new(limits: WalkLimits) -> Self {
        Self { limits, seen: HashSet::new(), queue: VecDeque::new() }
    }

    /// Plans a sitemap that robots.txt or the operator names, or that is found by its usual name.
    /// Addresses are taken in their normal form.
    ///
    /// # Errors
    /// Why it is not fetched.
    pub fn submit(&mut self, url: &Url, submission: Submission) -> Result<(), NotPlanned> {
        let (listed_as, url) = (url.clone(), url.clone());
        self.plan(PlannedSitemap { url, listed_as, submission, depth: 0, redirects: 0 })
    }

    /// Plans a sitemap that an index lists. `its_robots` is what the robots.txt of its own origin
    /// says of the index.
    ///
    /// # Errors
    /// Why it is not fetched.
    pub fn list(
        &mut self,
        index: &PlannedSitemap,
        url: &Url,
        its_robots: CrossSubmission,
    ) -> Result<(), NotPlanned> {
        index.may_list(url, its_robots).map_err(NotPlanned::NotListed)?;
        if index.depth >= self.limits.depth {
            return Err(NotPlanned::TooDeep);
        }
        let (submission, depth) = (index.submission.clone(), index.depth + 1);
        let (listed_as, url) = (url.clone(), url.clone());
        self.plan(PlannedSitemap { url, listed_as, submission, depth, redirects: 0 })
    }

    /// Plans what a sitemap redirects to.
    ///
    /// # Errors
    /// Why it is not fetched.
    pub fn redirect(&mut self, from: PlannedSitemap, to: &Url) -> Result<(), NotPlanned> {
        if from.redirects >= self.limits.redirects {
            return Err(NotPlanned::TooManyRedirects);
        }
        let redirects = from.redirects + 1;
        self.plan(PlannedSitemap { url: to.clone(), redirects, ..from })
    }

    /// The next one to fetch. It may still be forbidden by the robots.txt of its own host (SM-006).
    pub fn take_next(&mut self) -> Option<PlannedSitemap> {
        self.queue.pop_front()
    }

    /// How many have been planned in all.
    pub fn planned(&self) -> usize {
        self.seen.len()
    }

    fn plan(&mut self, sitemap: PlannedSitemap) -> Result<(), NotPlanned> {
        if sitemap.url.path() == "/robots.txt" {
            return Err(NotPlanned::RobotsTxt);
        }
        if self.seen.contains(&sitemap.url) {
            return Err(NotPlanned::Seen);
        }
        if self.seen.len() >= self.limits.requests {
            return Err(NotPlanned::TooMany);
        }
        self.seen.insert(sitemap.url.clone());
        self.queue.push_back(sitemap);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// SM-005: each index lists ten more, without end.
    #[test]
    fn indexes_without_end_come_to_an_end() {
        let mut walk = Walk::new(WalkLimits::default());
        walk.submit(&url("https://example.com/0.xml"), Submission::Unsubmitted).unwrap();
        let (mut requests, mut deepest, mut refused) = (0, 0, HashSet::new());
        while let Some(index) = walk.take_next() {
            requests += 1;
            deepest = deepest.max(index.depth);
            for n in 0..10 {
                let below = url(&format!("https://example.com/{requests}-{n}.xml"));
                let listed = walk.list(&index, &below, CrossSubmission::Unknown);
                refused.extend(listed.err().map(NotPlanned::code));
            }
        }
        assert_eq!((requests, deepest, walk.planned()), (1_000, 3, 1_000));
        assert_eq!(refused, HashSet::from(["too-deep", "too-many"]));
    }

    #[test]
    fn what_is_not_fetched() {
        let mut walk = Walk::new(WalkLimits { redirects: 1, ..WalkLimits::default() });
        let submit = |walk: &mut Walk, text: &str| {
            walk.submit(&url(text), Submission::Unsubmitted).map_err(NotPlanned::code)
        };
        assert_eq!(submit(&mut walk, "https://example.com/m/i.xml"), Ok(()));
        assert_eq!(submit(&mut walk, "https://example.com/m/i.xml"), Err("seen"));
        assert_eq!(submit(&mut walk, "https://example.com/robots.txt"), Err("robots-file"));
        let index = walk.take_next().unwrap();
        let list = |walk: &mut Walk, text: &str, robots: CrossSubmission| {
            walk.list(&index, &url(text), robots).map_err(NotPlanned::code)
        };
        let unread = CrossSubmission::Unknown;
        assert_eq!(list(&mut walk, "https://example.com/m/1.xml", unread), Ok(()));
        assert_eq!(list(&mut walk, "https://example.com/m/i.xml", unread), Err("seen"));
        let above = list(&mut walk, "https://example.com/1.xml", unread);
        assert_eq!(above, Err("outside-directory"));
        let elsewhere = "https://example.net/1.xml";
        assert_eq!(list(&mut walk, elsewhere, unread), Err("origin-not-asked"));
        assert_eq!(list(&mut walk, elsewhere, CrossSubmission::NotNamed), Err("other-host"));
        assert_eq!(list(&mut walk, elsewhere, CrossSubmission::Named), Ok(()));

        // A redirect leads to another address, and lends no other directory.
        walk.redirect(index, &url("https://example.com/moved.xml")).unwrap();
        let moved = std::iter::from_fn(|| walk.take_next()).last().unwrap();
        let outside = moved.may_list(&url("https://example.com/a"), unread);
        assert_eq!(outside, Err(NotListed::OutsideDirectory));
        assert_eq!(moved.may_list(&url("https://example.com/m/a"), unread), Ok(()));
        let again = walk.redirect(moved, &url("https://example.com/x.xml"));
        assert_eq!(again.map_err(NotPlanned::code), Err("too-many-redirects"));
    }
}
