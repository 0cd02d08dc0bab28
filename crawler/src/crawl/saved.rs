//! The settings of a crawl, kept in its store: running it again needs no arguments, and
//! `comity explain` judges by them.

use comity_storage::{MAX_META_BYTES, Store, StoreError};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::config::Config;

const NAME: &str = "config";
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
    Ok(saved.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// Keeps the settings of this run.
///
/// # Errors
/// [`StoreError`] if the store cannot be written.
pub async fn save_config<S: Store>(store: &S, config: &Config) -> Result<(), StoreError> {
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
