//! Records on disk: a version byte, then the fields as postcard writes them.
//!
//! These types are the store's own, apart from those that the crawler sees, so
//! that either may change without the other.

mod page;
mod site;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::store::StoreError;
use crate::tally::Tally;

pub(crate) use page::{FromRow, Origins, OutcomeRow, PageRow};
pub(crate) use site::{RobotsRow, SiteRow};

/// The version of every record that this build writes; it reads no other yet.
const VERSION: u8 = 5;

const MAX_CODE_BYTES: usize = 64;
const MAX_TEXT_BYTES: usize = 512;

/// A record as bytes.
pub(crate) fn encode<T: Serialize>(row: &T) -> Result<Vec<u8>, StoreError> {
    postcard::to_extend(row, vec![VERSION])
        .map_err(|e| StoreError::Damaged { what: format!("a record cannot be written ({e})") })
}

/// A record from bytes; `what` names it in the error.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, StoreError> {
    let damaged = |why: &str| StoreError::Damaged { what: format!("{what} {why}") };
    match bytes.split_first() {
        Some((&VERSION, fields)) => {
            postcard::from_bytes(fields).map_err(|_| damaged("cannot be read"))
        }
        Some((version, _)) => {
            Err(damaged(&format!("has version {version}, and this build reads {VERSION}")))
        }
        None => Err(damaged("is empty")),
    }
}

/// `m|state`: what is counted and numbered over the whole store.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct StateRow {
    pub(crate) next_seq: u64,
    pub(crate) next_outbox: u64,
    pub(crate) tally: Tally,
}

/// Where in the spool a payload stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct SpoolPlace {
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

/// `o|seq8`: a payload and the page that it is about.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct OutboxRow {
    pub(crate) place: SpoolPlace,
    pub(crate) url: String,
}

/// A code or reason within its bound.
pub(crate) fn cut_code(text: String) -> String {
    cut(text, MAX_CODE_BYTES)
}

fn cut_text(text: String) -> String {
    cut(text, MAX_TEXT_BYTES)
}

fn cut(mut text: String, max: usize) -> String {
    let end = (0..=max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    text
}

#[cfg(test)]
mod tests {
    use comity_compliance::{
        DayTally, Health, Hold, LastAnswers, Probe, Sign, SitePace, Tally, Timestamp, WaitCause,
    };
    use url::Url;

    use std::time::Duration;

    use super::*;
    use crate::page::{Fetched, Outcome, Role, Via};

    fn page() -> PageRow {
        let origins = Origins {
            depth: 2,
            hops: 1,
            role: Role::Sitemap,
            via: Via::Canonical,
            from: FromRow::Url("https://example.com/from".into()),
            anchor: Some("to a".into()),
            at: Timestamp::from_millis(5),
        };
        PageRow::new(&Url::parse("https://example.com/a?b").unwrap(), origins)
    }

    #[test]
    fn page_there_and_back() {
        let mut row = page();
        let fetched = Fetched { status: 200, title: Some("é".repeat(600)), ..Fetched::default() };
        let outcome = OutcomeRow::of(Outcome::Fetched(fetched)).unwrap();
        row.visited(Timestamp::from_millis(7), outcome);
        let bytes = encode(&row).unwrap();
        assert_eq!(PageRow::url_of(&bytes), Some("https://example.com/a?b"));
        assert_eq!(decode::<PageRow>(&bytes, "page").unwrap(), row);
        let record = row.into_record(None).unwrap();
        assert_eq!((record.via, record.role), (Via::Canonical, Role::Sitemap));
        assert_eq!(record.fetches, 1);
        let title = record.last_fetch().unwrap().1.title.clone().unwrap();
        assert_eq!(title.len(), MAX_TEXT_BYTES);
    }

    #[test]
    fn a_failure_keeps_the_earlier_response() {
        let mut row = page();
        let fetched = Fetched { content_hash: 9, ..Fetched::default() };
        row.visited(Timestamp::EPOCH, OutcomeRow::Fetched(fetched.into()));
        for attempts in 1..3 {
            let failed = OutcomeRow::Failed { code: "timeout".into(), detail: String::new() };
            row.visited(Timestamp::from_secs(1), failed);
            assert_eq!(row.attempts, attempts);
        }
        let record = row.into_record(None).unwrap();
        assert_eq!(record.last_fetch().unwrap().1.content_hash, 9);
        assert!(matches!(record.last, Some((_, Outcome::Failed { .. }))));
    }

    fn health() -> Health {
        Health {
            answers: LastAnswers { bad: u128::MAX, count: 100 },
            rate_permille: Some(999),
            first_byte: Some(Duration::from_millis(250)),
            day: DayTally { seventh: 145_000, counts: [Tally { good: 7, bad: u16::MAX }; 8] },
            probe: Some(Probe { at: Timestamp::from_millis(9), sign: Sign::Bad }),
        }
    }

    #[test]
    fn site_there_and_back() {
        for cause in WaitCause::ALL {
            let pace = SitePace {
                last_request: Some(Timestamp::from_millis(3)),
                hold: Some(Hold { until: Timestamp::from_millis(4), cause: *cause }),
                failures: 5,
                last_served: None,
                crawl_delay: Some(Duration::from_millis(1500)),
                health: health(),
            };
            let mut row = SiteRow::new("example.com");
            row.keep_pace(&pace);
            let back: SiteRow = decode(&encode(&row).unwrap(), "site").unwrap();
            assert_eq!(back.pace(), pace);
        }
    }

    proptest::proptest! {
        /// Whatever stands on the disk gives a record or an error.
        #[test]
        fn damaged_records_never_panic(mut bytes: Vec<u8>) {
            bytes.insert(0, VERSION);
            let _ = decode::<PageRow>(&bytes, "page").map(|row| row.into_record(None));
            let _ = decode::<SiteRow>(&bytes, "site").map(|row| row.pace());
            let _ = decode::<RobotsRow>(&bytes, "robots");
            let _ = decode::<StateRow>(&bytes, "state");
            let _ = PageRow::url_of(&bytes);
        }
    }
}
