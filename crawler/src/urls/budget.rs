//! How many addresses of each shape one site has given.

use std::collections::{BTreeMap, BTreeSet};

use comity_compliance::LeftOut;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::TrapLimits;
use super::dates::years_of;
use super::shape::{Shape, facet, has_session};

/// What one site has given so far, by shape, and whether it may give one more.
///
/// Addresses are kept as 32-bit fingerprints, so that one that comes again costs nothing; in
/// 10,000 addresses, one new one in 400,000 passes for known. Memory is bounded by
/// [`TrapLimits::site_urls`], [`TrapLimits::shapes`] and [`TrapLimits::facets`]; see
/// [`Self::bytes`]. The same addresses in the same order always give the same answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShapeBudget {
    limits: TrapLimits,
    seen: Seen,
    /// Addresses that were admitted, all shapes together.
    urls: usize,
    /// Combinations of parameters, all paths together.
    combinations: usize,
}

/// What a budget takes in memory, measured generously: by itself, for each shape and for each
/// path that comes with parameters, and for each fingerprint.
const OWN_BYTES: usize = 512;
const SHAPE_BYTES: usize = 160;
const FINGERPRINT_BYTES: usize = 10;

/// What a page taught that was fetched earlier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Saw {
    /// It was not fetched.
    Nothing,
    /// Its content was new.
    Original,
    /// It had the content of another page.
    Duplicate,
}

/// What was given so far.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Seen {
    shapes: BTreeMap<u64, Counted>,
    /// For a path's shape, the combinations of parameter names with which it came.
    facets: BTreeMap<u64, BTreeSet<u32>>,
}

/// What is known of one shape.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Counted {
    /// Fingerprints of the addresses that were admitted.
    urls: BTreeSet<u32>,
    /// Pages whose content was new.
    originals: u32,
    /// Pages whose content was known.
    duplicates: u32,
}

impl ShapeBudget {
    /// For a site of which nothing is known.
    pub fn new(limits: TrapLimits) -> Self {
        Self { limits, seen: Seen::default(), urls: 0, combinations: 0 }
    }

    /// Counts an address, unless one more is too many. One that was counted before is admitted
    /// again and not counted.
    ///
    /// # Errors
    /// The [`LeftOut`] that says which limit it would break.
    pub fn admit(&mut self, url: &Url) -> Result<(), LeftOut> {
        let shape = self.shape(url);
        let fingerprint = fingerprint(url);
        let counted = self.seen.shapes.get(&shape.0);
        if counted.is_some_and(|counted| counted.urls.contains(&fingerprint)) {
            return Ok(());
        }
        if self.urls >= self.limits.site_urls {
            return Err(LeftOut::SiteUrls);
        }
        let (limit, reason) = self.limit(url, shape);
        if counted.map_or(0, |counted| counted.urls.len()) >= limit {
            return Err(reason);
        }
        self.admit_facet(url)?;
        self.seen.shapes.entry(shape.0).or_default().urls.insert(fingerprint);
        self.urls += 1;
        Ok(())
    }

    /// Counts an address that an earlier run admitted, and what came of it. Whether these limits
    /// would admit it is not asked.
    pub fn recall(&mut self, url: &Url, saw: Saw) {
        let shape = self.shape(url);
        let counted = self.seen.shapes.entry(shape.0).or_default();
        self.urls += usize::from(counted.urls.insert(fingerprint(url)));
        match saw {
            Saw::Nothing => {}
            Saw::Original => counted.originals = counted.originals.saturating_add(1),
            Saw::Duplicate => counted.duplicates = counted.duplicates.saturating_add(1),
        }
        // One combination too many is no more than that.
        let _ = self.admit_facet(url);
    }

    /// Whether an address that was admitted is still worth fetching: not if its shape has since
    /// turned out to give the same content over and over.
    ///
    /// # Errors
    /// [`LeftOut::SameContent`].
    pub fn may_fetch(&self, url: &Url) -> Result<(), LeftOut> {
        let counted = self.seen.shapes.get(&self.shape(url).0);
        let is_spent = counted.is_some_and(|counted| {
            let limit = counted.limit_by_content(&self.limits);
            limit.is_some_and(|limit| counted.fetched() >= limit)
        });
        if is_spent { Err(LeftOut::SameContent) } else { Ok(()) }
    }

    /// Notes that a page was new.
    pub fn saw_original(&mut self, url: &Url) {
        if let Some(counted) = self.counted(url) {
            counted.originals = counted.originals.saturating_add(1);
        }
    }

    /// Notes that a page had the content of another one. Once most pages of a shape do, it may
    /// have twice as many addresses as it has had originals, and [`TrapLimits::duplicates`] more.
    pub fn saw_duplicate(&mut self, url: &Url) {
        if let Some(counted) = self.counted(url) {
            counted.duplicates = counted.duplicates.saturating_add(1);
        }
    }

    /// Addresses that were admitted.
    pub fn urls(&self) -> usize {
        self.urls
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let maps = self.seen.shapes.len() + self.seen.facets.len();
        OWN_BYTES + maps * SHAPE_BYTES + (self.urls + self.combinations) * FINGERPRINT_BYTES
    }

    /// The shape under which an address is counted.
    fn shape(&self, url: &Url) -> Shape {
        let shape = Shape::of(url);
        let is_known = self.seen.shapes.contains_key(&shape.0);
        if is_known || self.seen.shapes.len() < self.limits.shapes {
            return shape;
        }
        Shape::coarse(url)
    }

    fn counted(&mut self, url: &Url) -> Option<&mut Counted> {
        let shape = self.shape(url);
        self.seen.shapes.get_mut(&shape.0)
    }

    /// How many addresses the shape may have, and why no more.
    fn limit(&self, url: &Url, shape: Shape) -> (usize, LeftOut) {
        let limits = &self.limits;
        let counted = self.seen.shapes.get(&shape.0);
        let by_content = counted.and_then(|counted| counted.limit_by_content(limits));
        let by_shape = if shape == Shape::coarse(url) {
            (limits.wordy_urls, LeftOut::WordyUrls)
        } else {
            (limits.shape_urls, LeftOut::ShapeUrls)
        };
        let kinds = [
            by_content.map(|limit| (limit, LeftOut::SameContent)),
            has_session(url).then_some((limits.session_urls, LeftOut::SessionIds)),
            years_of(url).is_some().then_some((limits.dated_urls, LeftOut::DatedUrls)),
        ];
        let least = kinds.into_iter().flatten().min_by_key(|(limit, _)| *limit);
        least.filter(|(limit, _)| *limit <= by_shape.0).unwrap_or(by_shape)
    }

    /// Counts the combination of parameters with which a path comes.
    fn admit_facet(&mut self, url: &Url) -> Result<(), LeftOut> {
        let Some((path, names)) = facet(url) else { return Ok(()) };
        let has_room = self.seen.facets.len() < self.limits.shapes;
        if !has_room && !self.seen.facets.contains_key(&path) {
            return Ok(());
        }
        let combinations = self.seen.facets.entry(path).or_default();
        if combinations.len() >= self.limits.facets && !combinations.contains(&names) {
            return Err(LeftOut::Facets);
        }
        self.combinations += usize::from(combinations.insert(names));
        Ok(())
    }
}

impl Counted {
    fn fetched(&self) -> usize {
        (self.originals as usize).saturating_add(self.duplicates as usize)
    }

    /// How many addresses the shape may have, if most of its pages are duplicates.
    fn limit_by_content(&self, limits: &TrapLimits) -> Option<usize> {
        let counts = self.fetched() >= limits.duplicates && self.duplicates > self.originals;
        let twice = (self.originals as usize).saturating_mul(2);
        counts.then(|| twice.saturating_add(limits.duplicates))
    }
}

fn fingerprint(url: &Url) -> u32 {
    // The lower half is as good as the upper.
    u32::try_from(xxh3_64(url.as_str().as_bytes()) & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
