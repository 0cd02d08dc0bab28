//! Keys: the kind in the first byte, then big-endian fields, so that their
//! order as bytes is the order in which rows are wanted.
//!
//! Sites, origins and URLs stand as stable 64-bit hashes: the same key is valid
//! on every engine and in every process.

use comity_compliance::{Origin, OriginError, Site, Timestamp};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The kinds of row.
pub(crate) const PAGE: u8 = b'p';
pub(crate) const QUEUE: u8 = b'q';
pub(crate) const SITE: u8 = b'h';
pub(crate) const ROBOTS: u8 = b'r';
pub(crate) const REVIEW: u8 = b'i';
pub(crate) const OUTBOX: u8 = b'o';
/// Pages by the hash of their text.
pub(crate) const TEXT: u8 = b't';
/// Pages by the hash of the address that stands for them.
pub(crate) const CANONICAL: u8 = b'c';

/// The store's identity.
pub(crate) const META_ID: &[u8] = b"m|id";
/// Counters and next numbers.
pub(crate) const META_STATE: &[u8] = b"m|state";
/// A changing value, for the check that flushes reach the disk.
#[cfg(target_os = "linux")]
pub(crate) const META_PROBE: &[u8] = b"m|probe";

/// A small named value of the crawler; apart from the store's own names.
pub(crate) fn meta(name: &str) -> Vec<u8> {
    [b"m=", name.as_bytes()].concat()
}

/// The stable hash of a site.
///
/// Two host names with one hash share a row, and so a pace: slower than they need be, never faster.
pub(crate) fn site_hash(site: &Site) -> u64 {
    xxh3_64(site.as_str().as_bytes())
}

/// `h|site8`
pub(crate) fn site(site: u64) -> [u8; 9] {
    with_number(SITE, site)
}

/// `r|origin8`, the start of all parts of an origin's record.
pub(crate) fn robots(origin: &Origin) -> [u8; 9] {
    with_number(ROBOTS, xxh3_64(origin.to_string().as_bytes()))
}

/// `r|origin8|part2`
pub(crate) fn robots_part(origin: &Origin, part: u16) -> [u8; 11] {
    let mut key = [0; 11];
    key[..9].copy_from_slice(&robots(origin));
    key[9..].copy_from_slice(&part.to_be_bytes());
    key
}

/// `o|seq8`
pub(crate) fn outbox(seq: u64) -> [u8; 9] {
    with_number(OUTBOX, seq)
}

/// The number of an `o|seq8` key.
pub(crate) fn outbox_seq(key: &[u8]) -> Option<u64> {
    match key {
        [OUTBOX, seq @ ..] => Some(u64::from_be_bytes(seq.try_into().ok()?)),
        _ => None,
    }
}

fn with_number(kind: u8, number: u64) -> [u8; 9] {
    let mut key = [kind; 9];
    key[1..].copy_from_slice(&number.to_be_bytes());
    key
}

/// How many URLs with one hash are told apart; more can only be made on purpose.
pub(crate) const MAX_PROBES: usize = 64;

/// Where a page's record stands: `p|site8|url8`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct PageKey {
    pub(crate) site: u64,
    /// The URL's hash, or the next free number after it if another URL has the same.
    pub(crate) slot: u64,
}

impl PageKey {
    /// Where the search for a URL's record starts.
    pub(crate) fn of(url: &Url) -> Result<Self, OriginError> {
        Ok(Self { site: site_hash(&Site::of(url)?), slot: xxh3_64(url.as_str().as_bytes()) })
    }

    /// Where it goes on if another URL stands here.
    pub(crate) fn next(self) -> Self {
        Self { site: self.site, slot: self.slot.wrapping_add(1) }
    }

    pub(crate) fn bytes(self) -> [u8; 17] {
        let mut key = [PAGE; 17];
        key[1..9].copy_from_slice(&self.site.to_be_bytes());
        key[9..].copy_from_slice(&self.slot.to_be_bytes());
        key
    }
}

/// `p|site8|`, the start of all of a site's page records.
pub(crate) fn pages_of(site: u64) -> [u8; 9] {
    with_number(PAGE, site)
}

/// The hash by which a URL stands in keys.
pub(crate) fn url_hash(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

/// `t|site8|hash8|` or `c|site8|hash8|`, the start of all pages that have this in common.
pub(crate) fn likeness_of(kind: u8, site: u64, hash: u64) -> [u8; 17] {
    let mut key = [kind; 17];
    key[1..9].copy_from_slice(&site.to_be_bytes());
    key[9..].copy_from_slice(&hash.to_be_bytes());
    key
}

/// `t|site8|hash8|url8` or `c|site8|hash8|url8`
pub(crate) fn likeness(kind: u8, page: PageKey, hash: u64) -> [u8; 25] {
    let mut key = [0; 25];
    key[..17].copy_from_slice(&likeness_of(kind, page.site, hash));
    key[17..].copy_from_slice(&page.slot.to_be_bytes());
    key
}

/// The page of such a key.
pub(crate) fn likeness_page(key: &[u8]) -> Option<PageKey> {
    let site = key.get(1..9)?.try_into().ok()?;
    let slot = key.get(17..25)?.try_into().ok()?;
    Some(PageKey { site: u64::from_be_bytes(site), slot: u64::from_be_bytes(slot) })
}

/// A place in a site's queue: `due4|prio1|seq5`.
#[derive(
    Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize,
)]
pub(crate) struct Place {
    /// Seconds since the epoch; 0 means at once.
    pub(crate) due: u32,
    pub(crate) priority: u8,
    /// In the order of arrival; 40 bits.
    pub(crate) seq: u64,
}

/// `q|site8|`, the start of all of a site's queue rows.
pub(crate) fn queue_of(site: u64) -> [u8; 9] {
    with_number(QUEUE, site)
}

/// `q|site8|due4`, where a site's rows of one second begin.
pub(crate) fn queue_from(site: u64, due: u32) -> [u8; 13] {
    let mut key = [0; 13];
    key[..9].copy_from_slice(&queue_of(site));
    key[9..].copy_from_slice(&due.to_be_bytes());
    key
}

/// `q|site8|due4|prio1|seq5`
pub(crate) fn queue(site: u64, place: Place) -> [u8; 19] {
    let mut key = [0; 19];
    key[..13].copy_from_slice(&queue_from(site, place.due));
    key[13] = place.priority;
    key[14..].copy_from_slice(&place.seq.to_be_bytes()[3..]);
    key
}

/// The site and due second of a `q|` key.
pub(crate) fn queue_parts(key: &[u8]) -> Option<(u64, u32)> {
    let site = key.get(1..9)?.try_into().ok()?;
    let due = key.get(9..13)?.try_into().ok()?;
    (key.len() == 19 && key[0] == QUEUE)
        .then(|| (u64::from_be_bytes(site), u32::from_be_bytes(due)))
}

/// `i|due4|site8|url8`
pub(crate) fn review(due: u32, page: PageKey) -> [u8; 21] {
    let mut key = [REVIEW; 21];
    key[1..5].copy_from_slice(&due.to_be_bytes());
    key[5..13].copy_from_slice(&page.site.to_be_bytes());
    key[13..].copy_from_slice(&page.slot.to_be_bytes());
    key
}

/// The due second and the page of an `i|` key.
pub(crate) fn review_parts(key: &[u8]) -> Option<(u32, PageKey)> {
    let due = key.get(1..5)?.try_into().ok()?;
    let site = key.get(5..13)?.try_into().ok()?;
    let slot = key.get(13..21)?.try_into().ok()?;
    let page = PageKey { site: u64::from_be_bytes(site), slot: u64::from_be_bytes(slot) };
    Some((u32::from_be_bytes(due), page))
}

/// A moment as the second of a key, rounded up: nothing is due early.
pub(crate) fn due_second(at: Timestamp) -> u32 {
    let seconds = at.as_millis().div_euclid(1000) + i64::from(at.as_millis().rem_euclid(1000) > 0);
    u32::try_from(seconds.clamp(1, u32::MAX.into())).unwrap_or(u32::MAX)
}

/// The moment of a key's second; 0 gives the epoch.
pub(crate) fn due_moment(second: u32) -> Timestamp {
    Timestamp::from_secs(second.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let place = Place { due: 0x0102_0304, priority: 5, seq: 0x06_0708_090a };
        let key = queue(0x1112_1314_1516_1718, place);
        assert_eq!(
            key,
            [b'q', 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        );
        assert_eq!(queue_parts(&key), Some((0x1112_1314_1516_1718, 0x0102_0304)));
        assert_eq!(queue_parts(b"q"), None);
        let page = PageKey { site: 7, slot: 9 };
        assert_eq!(review_parts(&review(3, page)), Some((3, page)));
        assert_eq!(outbox_seq(&outbox(77)), Some(77));
        let alike = likeness(TEXT, page, 0x0102);
        assert_eq!(alike[..17], likeness_of(TEXT, 7, 0x0102));
        assert_eq!((likeness_page(&alike), likeness_page(b"t")), (Some(page), None));
    }

    /// The hashes are on disk: they may never change.
    #[test]
    fn hashes_are_stable() {
        let url = Url::parse("https://example.com/").unwrap();
        assert_eq!(
            PageKey::of(&url).unwrap().site,
            xxh3_64(b"example.com"),
            "the site is the host alone"
        );
        assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
    }

    #[test]
    fn due_is_never_early() {
        for (millis, second) in
            [(-5, 1), (0, 1), (1, 1), (1000, 1), (1001, 2), (i64::MAX, u32::MAX)]
        {
            assert_eq!(due_second(Timestamp::from_millis(millis)), second, "{millis}");
        }
    }
}
