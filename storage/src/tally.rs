//! Counters of the crawl, kept with every batch and never counted by a scan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::{OutcomeRow, PageRow};

/// Pages by what is known of them now, and what else is counted.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Tally {
    pub(crate) known: u64,
    /// Waiting for a visit that could bring something not known yet.
    pub(crate) queued: u64,
    /// Waiting for a visit that only keeps them fresh.
    pub(crate) revisits: u64,
    pub(crate) fetched: u64,
    pub(crate) sitemaps: u64,
    pub(crate) redirected: u64,
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) failed: BTreeMap<String, u64>,
    pub(crate) noted: BTreeMap<String, u64>,
    pub(crate) sites: u64,
    pub(crate) outbox_pending: u64,
}

/// Codes that are counted apart, in each map; more are counted together under [`OTHER`].
const MAX_CODES: usize = 256;
const OTHER: &str = "other";

impl Tally {
    /// Counts a page as it is now.
    pub(crate) fn add(&mut self, page: &PageRow) {
        self.known += 1;
        self.queued += u64::from(page.place.is_some() && !page.revisit);
        self.revisits += u64::from(page.place.is_some() && page.revisit);
        if let Some(reason) = &page.noted {
            count(&mut self.noted, reason);
        }
        match &page.last {
            Some((_, OutcomeRow::Fetched(_))) if page.is_sitemap() => self.sitemaps += 1,
            Some((_, OutcomeRow::Fetched(_))) => self.fetched += 1,
            Some((_, OutcomeRow::Redirected { .. })) => self.redirected += 1,
            Some((_, OutcomeRow::Refused { code, .. })) => count(&mut self.refused, code),
            Some((_, OutcomeRow::Failed { code, .. })) => count(&mut self.failed, code),
            None => {}
        }
    }

    /// No longer counts a page as it was.
    pub(crate) fn remove(&mut self, page: &PageRow) {
        self.known = self.known.saturating_sub(1);
        self.queued = self.queued.saturating_sub((page.place.is_some() && !page.revisit).into());
        self.revisits = self.revisits.saturating_sub((page.place.is_some() && page.revisit).into());
        if let Some(reason) = &page.noted {
            discount(&mut self.noted, reason);
        }
        match &page.last {
            Some((_, OutcomeRow::Fetched(_))) if page.is_sitemap() => {
                self.sitemaps = self.sitemaps.saturating_sub(1);
            }
            Some((_, OutcomeRow::Fetched(_))) => self.fetched = self.fetched.saturating_sub(1),
            Some((_, OutcomeRow::Redirected { .. })) => {
                self.redirected = self.redirected.saturating_sub(1);
            }
            Some((_, OutcomeRow::Refused { code, .. })) => discount(&mut self.refused, code),
            Some((_, OutcomeRow::Failed { code, .. })) => discount(&mut self.failed, code),
            None => {}
        }
    }
}

fn count(counts: &mut BTreeMap<String, u64>, code: &str) {
    if let Some(count) = counts.get_mut(code) {
        *count += 1;
        return;
    }
    let code = if counts.len() < MAX_CODES { code } else { OTHER };
    *counts.entry(code.to_owned()).or_default() += 1;
}

fn discount(counts: &mut BTreeMap<String, u64>, code: &str) {
    let code = if counts.contains_key(code) { code } else { OTHER };
    if let Some(count) = counts.get_mut(code) {
        *count -= 1;
        if *count == 0 {
            counts.remove(code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_bounded() {
        let mut counts = BTreeMap::new();
        for number in 0..MAX_CODES + 50 {
            count(&mut counts, &number.to_string());
        }
        assert_eq!(counts.len(), MAX_CODES + 1);
        assert_eq!(counts[OTHER], 50);
        discount(&mut counts, "3");
        discount(&mut counts, "299");
        assert_eq!((counts.get("3"), counts[OTHER]), (None, 49));
    }
}
