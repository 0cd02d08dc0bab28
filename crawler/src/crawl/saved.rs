//! The settings of a crawl, kept in its store: running it again needs no arguments, and
//! `comity explain` judges by them.

use comity_storage::{Store, StoreError};

use crate::config::Config;

const NAME: &str = "config";

/// The settings that the last run had; `None` in a new store.
///
/// # Errors
/// [`StoreError`] if the store cannot be read.
pub async fn load_config<S: Store>(store: &S) -> Result<Option<Config>, StoreError> {
    let saved = store.meta(NAME).await?;
    Ok(saved.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// Keeps the settings of this run.
///
/// # Errors
/// [`StoreError`] if the store cannot be written.
pub async fn save_config<S: Store>(store: &S, config: &Config) -> Result<(), StoreError> {
    let text = serde_json::to_vec(config).map_err(|e| StoreError::Request(e.to_string()))?;
    store.put_meta(NAME, text).await
}
