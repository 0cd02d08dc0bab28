//! The settings of a crawl, kept in its store: running it again needs no arguments, and
//! `comity explain` judges by them.

use comity_compliance::{LeftOut, RefusalReason, Timestamp};
use comity_storage::{MAX_META_BYTES, Store, StoreError};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::config::Config;

const NAME: &str = "config";
const INDEX: &str = "index";
const MISSED: &str = "index-missed";
const BULK: &str = "bulk";
const CUT_OFF: &str = "cut-off";
/// Room for the value's name in the store.
const PIECE_BYTES: usize = MAX_META_BYTES - 1024;

/// Stands in the place of settings that are too long for one value, as those with thousands of
/// seeds: they are cut into `config.0`, `config.1` and so on.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pieces {
    pieces: usize,
    /// Of the whole: a crash while pieces are written must not join old ones to new ones.
    hash: u64,
}

/// The settings that the last run had; `None` in a new store.
///
/// # Errors
/// [`StoreError`] if the store cannot be read.
pub async fn load_config<S: Store>(store: &S) -> Result<Option<Config>, StoreError> {
    let Some(saved) = store.meta(NAME).await? else { return Ok(None) };
    let saved = match serde_json::from_slice::<Pieces>(&saved) {
        Ok(pieces) => joined(store, &pieces).await?,
        Err(_) => Some(saved),
    };
    let read = |text: Vec<u8>| {
        serde_json::from_slice(&text).map_err(|e| StoreError::Damaged {
            what: format!("the settings of the last run cannot be read ({e})"),
        })
    };
    saved.map(read).transpose()
}

/// Keeps the settings of this run. Pages that the last run's settings held back, and these may
/// not, are queued again; says how many.
///
/// # Errors
/// [`StoreError`] if the store cannot be written.
pub async fn save_config<S: Store>(store: &S, config: &Config) -> Result<u64, StoreError> {
    let before = load_config(store).await?;
    let reasons = before.map_or(vec![], |before| may_fall(&before, config));
    write(store, config).await?;
    if reasons.is_empty() { Ok(0) } else { store.requeue(reasons).await }
}

/// Reasons that held pages back under the settings `before`, and may not under `after`.
fn may_fall(before: &Config, after: &Config) -> Vec<String> {
    let (old, new) = (&before.identity, &after.identity);
    let same_agent = old.agent == new.agent && old.fallbacks == new.fallbacks;
    let same_rules = same_agent && before.politeness.policy == after.politeness.policy;
    let same_scope =
        before.crawl.scope == after.crawl.scope && before.crawl.seeds == after.crawl.seeds;
    let same_scope = same_scope && before.urls == after.urls;
    let rows = [
        (before.network.allow == after.network.allow, RefusalReason::BlockedAddress.code()),
        (same_rules, RefusalReason::RobotsDisallow.code()),
        (before.crawl.depth == after.crawl.depth, LeftOut::TooDeep.code()),
    ];
    let by_address = LeftOut::ALL.iter().filter(|reason| **reason != LeftOut::TooDeep);
    let rows = rows.into_iter().chain(by_address.map(|reason| (same_scope, reason.code())));
    rows.filter(|(same, _)| !same).map(|(_, code)| code.to_owned()).collect()
}

/// When the index was begun, or else the earliest instant. `new` says that it was begun by this
/// run, at `now`; none says that this run has no index and feeds another: what is fetched meanwhile
/// the index does not get.
///
/// # Errors
/// [`StoreError`] if the store cannot be read or written.
pub(super) async fn index_since<S: Store>(
    store: &S,
    new: Option<bool>,
    now: Timestamp,
) -> Result<Timestamp, StoreError> {
    let Some(new) = new else {
        if has_index(store).await? {
            store.put_meta(MISSED, b"missed".to_vec()).await?;
        }
        return Ok(Timestamp::EPOCH);
    };
    let missed = store.meta(MISSED).await?.is_some_and(|said| !said.is_empty());
    if missed {
        store.put_meta(MISSED, vec![]).await?;
    }
    if new || missed {
        store.put_meta(INDEX, now.as_millis().to_string().into()).await?;
        return Ok(now);
    }
    Ok(instant(store, INDEX).await?.unwrap_or(Timestamp::EPOCH))
}

/// Since when an index elsewhere gets all documents: since `now`, unless the run before fed the same.
///
/// # Errors
/// [`StoreError`] if the store cannot be read or written.
pub(super) async fn bulk_since<S: Store>(
    store: &S,
    target: Option<String>,
    now: Timestamp,
) -> Result<Timestamp, StoreError> {
    let before = store.meta(BULK).await?.and_then(|text| String::from_utf8(text).ok());
    let before = before.unwrap_or_default();
    let Some(target) = target else {
        if !before.is_empty() {
            store.put_meta(BULK, vec![]).await?;
        }
        return Ok(Timestamp::EPOCH);
    };
    let since = before.rsplit_once(' ').filter(|(known, _)| *known == target);
    if let Some(since) = since.and_then(|(_, since)| since.parse().ok()) {
        return Ok(Timestamp::from_millis(since));
    }
    store.put_meta(BULK, format!("{target} {}", now.as_millis()).into()).await?;
    Ok(now)
}

/// Notes that requests were cut off at `at`: when their servers felt them is not known.
///
/// # Errors
/// [`StoreError`] if the store cannot be written.
pub async fn note_cut_off<S: Store>(store: &S, at: Timestamp) -> Result<(), StoreError> {
    store.put_meta(CUT_OFF, at.as_millis().to_string().into()).await
}

/// When requests were cut off last, if that ever happened.
///
/// # Errors
/// [`StoreError`] if the store cannot be read.
pub(super) async fn cut_off_at<S: Store>(store: &S) -> Result<Option<Timestamp>, StoreError> {
    instant(store, CUT_OFF).await
}

async fn instant<S: Store>(store: &S, name: &str) -> Result<Option<Timestamp>, StoreError> {
    let text = store.meta(name).await?.and_then(|text| String::from_utf8(text).ok());
    Ok(text.and_then(|text| text.parse().ok()).map(Timestamp::from_millis))
}

/// Whether the crawl has an index: then it must be there.
///
/// # Errors
/// [`StoreError`] if the store cannot be read.
pub async fn has_index<S: Store>(store: &S) -> Result<bool, StoreError> {
    Ok(store.meta(INDEX).await?.is_some())
}

/// Notes that the crawl has an index, once it is there: a crash before that leaves an index that
/// is not expected, and none that is missed.
///
/// # Errors
/// [`StoreError`] if the store cannot be written.
pub async fn note_index<S: Store>(store: &S) -> Result<(), StoreError> {
    store.put_meta(INDEX, b"begun".to_vec()).await
}

async fn write<S: Store>(store: &S, config: &Config) -> Result<(), StoreError> {
    let request = |error: serde_json::Error| StoreError::Request(error.to_string());
    let text = serde_json::to_vec(config).map_err(request)?;
    if text.len() <= PIECE_BYTES {
        return store.put_meta(NAME, text).await;
    }
    for (n, piece) in text.chunks(PIECE_BYTES).enumerate() {
        store.put_meta(&name_of(n), piece.to_vec()).await?;
    }
    let pieces = Pieces { pieces: text.len().div_ceil(PIECE_BYTES), hash: xxh3_64(&text) };
    store.put_meta(NAME, serde_json::to_vec(&pieces).map_err(request)?).await
}

async fn joined<S: Store>(store: &S, pieces: &Pieces) -> Result<Option<Vec<u8>>, StoreError> {
    let mut text = Vec::new();
    for n in 0..pieces.pieces {
        let Some(piece) = store.meta(&name_of(n)).await? else { return Ok(None) };
        text.extend(piece);
    }
    Ok((xxh3_64(&text) == pieces.hash).then_some(text))
}

fn name_of(piece: usize) -> String {
    format!("{NAME}.{piece}")
}
