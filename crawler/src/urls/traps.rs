//! Addresses that look like one of endlessly many, judged by themselves.

use std::collections::HashMap;

use comity_compliance::{LeftOut, Timestamp};
use jiff::tz::TimeZone;
use url::Url;

use super::dates::years_of;
use super::parameters::pieces;

/// From where on a site's addresses look like a trap, and how many of them a crawl wants to know.
/// Every field is a limit that is still allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrapLimits {
    /// Longest address, in bytes.
    pub url_bytes: usize,
    /// Deepest path, in segments.
    pub depth: usize,
    /// How often one segment may stand in a path.
    pub repeats: usize,
    /// Longest query, in bytes.
    pub query_bytes: usize,
    /// Parameters of a query.
    pub parameters: usize,
    /// How often one parameter with one value may stand in a query, and how often one text may be
    /// escaped over and over (`%25252F` is escaped three times).
    pub query_repeats: usize,
    /// Years before that of the crawl that a day in an address may lie.
    pub past_years: u16,
    /// Years after that of the crawl that a day in an address may lie.
    pub future_years: u16,
    /// Addresses of one site that share a shape, see [`super::shape_of`].
    pub shape_urls: usize,
    /// The same for a shape with days in it.
    pub dated_urls: usize,
    /// The same for a shape with the number of a session in it.
    pub session_urls: usize,
    /// The same for addresses made of words that no shape has been kept for, by depth.
    pub wordy_urls: usize,
    /// Shapes of one site that are counted one by one; later ones are taken together by depth.
    pub shapes: usize,
    /// Combinations of parameter names, order included, with which one path may come.
    pub facets: usize,
    /// Pages of one shape that are fetched before it counts that most of them are duplicates.
    pub duplicates: usize,
    /// Addresses of one site.
    pub site_urls: usize,
    /// Addresses of one site that wait at the same time.
    pub site_queue: usize,
}

impl Default for TrapLimits {
    fn default() -> Self {
        Self {
            url_bytes: 4_096,
            depth: 32,
            repeats: 3,
            query_bytes: 2_048,
            parameters: 32,
            query_repeats: 2,
            past_years: 100,
            future_years: 2,
            shape_urls: 10_000,
            dated_urls: 5_000,
            session_urls: 100,
            wordy_urls: 200_000,
            shapes: 4_096,
            facets: 64,
            duplicates: 20,
            site_urls: 1_000_000,
            site_queue: 1_000_000,
        }
    }
}

impl TrapLimits {
    /// Whether one more address may wait where `waiting` do already.
    ///
    /// # Errors
    /// [`LeftOut::SiteQueue`].
    pub fn judge_queue(&self, waiting: usize) -> Result<(), LeftOut> {
        if waiting < self.site_queue { Ok(()) } else { Err(LeftOut::SiteQueue) }
    }
}

/// Whether an address by itself looks like one of endlessly many: relative links that grow with
/// each page, calendars, filters upon filters. `now` is the time of the crawl. Takes time linear
/// in the address.
pub fn looks_like_trap(url: &Url, limits: &TrapLimits, now: Timestamp) -> Option<LeftOut> {
    if url.as_str().len() > limits.url_bytes {
        return Some(LeftOut::LongUrl);
    }
    path_trap(url.path(), limits)
        .or_else(|| query_trap(url.query(), limits))
        .or_else(|| is_far(url, limits, now).then_some(LeftOut::FarDate))
}

fn path_trap(path: &str, limits: &TrapLimits) -> Option<LeftOut> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut seen = HashMap::new();
    let mut is_repeated = false;
    for (depth, segment) in path.split('/').enumerate() {
        if depth >= limits.depth {
            return Some(LeftOut::DeepPath);
        }
        let count = seen.entry(segment).or_insert(0_usize);
        *count += 1;
        is_repeated |= *count > limits.repeats;
    }
    is_repeated.then_some(LeftOut::RepeatedSegment)
}

fn query_trap(query: Option<&str>, limits: &TrapLimits) -> Option<LeftOut> {
    let query = query?;
    if query.len() > limits.query_bytes {
        return Some(LeftOut::LongQuery);
    }
    let mut seen = HashMap::new();
    let (mut count, mut is_repeated) = (0, false);
    for piece in pieces(Some(query)) {
        count += 1;
        let times = seen.entry(piece).or_insert(0_usize);
        *times += 1;
        is_repeated |= *times > limits.query_repeats;
    }
    if count > limits.parameters {
        return Some(LeftOut::ManyParameters);
    }
    let is_growing = is_repeated || escaped_times(query) > limits.query_repeats;
    is_growing.then_some(LeftOut::GrowingQuery)
}

/// How many times over the most escaped part of a text is escaped: an escaped `%` is `%25`, that
/// escaped again `%2525`.
fn escaped_times(text: &str) -> usize {
    let after_percent = text.split('%').skip(1);
    let depth = after_percent.map(|rest| {
        let mut depth = 1;
        let mut rest = rest;
        while let Some(deeper) = rest.strip_prefix("25") {
            depth += 1;
            rest = deeper;
        }
        let is_escape = rest.get(..2).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        // Without hex digits behind it, the last `25` is an escaped percent sign and no more.
        if is_escape { depth } else { depth - 1 }
    });
    depth.max().unwrap_or(0)
}

fn is_far(url: &Url, limits: &TrapLimits, now: Timestamp) -> bool {
    let Some(years) = years_of(url) else { return false };
    let Ok(now) = jiff::Timestamp::from_millisecond(now.as_millis()) else { return false };
    let this_year = i32::from(TimeZone::UTC.to_datetime(now).year());
    let first = this_year - i32::from(limits.past_years);
    let last = this_year + i32::from(limits.future_years);
    i32::from(*years.start()) < first || i32::from(*years.end()) > last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30.
    const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

    /// One line, one case: path and query, code of the reason.
    #[test]
    fn traps() {
        let deep = "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/1/2/3/4/5/6";
        let many = |count: usize| (0..count).map(|n| format!("p{n}=1&")).collect::<String>();
        let cases = [
            ("/".to_owned(), None),
            ("/a/a/a/b".to_owned(), None),
            ("/a/b/a/b/a/b/a/".to_owned(), Some("repeated-segment")),
            ("/a//////b".to_owned(), Some("repeated-segment")),
            (deep.to_owned(), None),
            (format!("{deep}/7"), Some("deep-path")),
            (format!("/{}", "x".repeat(4_096)), Some("long-url")),
            (format!("/?q={}", "x".repeat(2_046)), None),
            (format!("/?q={}", "x".repeat(2_047)), Some("long-query")),
            (format!("/?{}", many(32)), None),
            (format!("/?{}", many(33)), Some("many-parameters")),
            ("/?a[]=1&a[]=2&a[]=3&a[]=4".to_owned(), None),
            ("/?a=1&a=1".to_owned(), None),
            ("/?&pg=2&&pg=2&pg=2".to_owned(), Some("growing-query")),
            ("/login?to=%2Fa%3Fb%3D1".to_owned(), None),
            ("/login?to=%252Flogin%253Fto%253D%25252Fa".to_owned(), Some("growing-query")),
            ("/login?to=%252Fa".to_owned(), None),
            ("/?q=100%25".to_owned(), None),
            ("/?q=%25%25%25%25".to_owned(), None),
            ("/2026/11/30/news".to_owned(), None),
            ("/2028/12/31/next".to_owned(), None),
            ("/2029/01/01/next".to_owned(), Some("far-date")),
            ("/1926/01/archive".to_owned(), None),
            ("/1925/12/archive".to_owned(), Some("far-date")),
            ("/cal?y=7749".to_owned(), Some("far-date")),
            ("/item/7749".to_owned(), None),
        ];
        for (path, expect) in cases {
            let url = Url::parse(&format!("https://example.org{path}")).unwrap();
            let found = looks_like_trap(&url, &TrapLimits::default(), NOW).map(LeftOut::code);
            assert_eq!(found, expect, "{path}");
        }
    }

    #[test]
    fn queues_have_an_end() {
        let limits = TrapLimits { site_queue: 2, ..TrapLimits::default() };
        assert_eq!(limits.judge_queue(1), Ok(()));
        assert_eq!(limits.judge_queue(2), Err(LeftOut::SiteQueue));
    }
}
