//! An engine in memory, for tests and crawls that need not be kept.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock};

use super::{Batch, EachRow, Engine, EngineError};

/// Bytes that a row takes beside its key and value, roughly.
const ROW_OVERHEAD: u64 = 80;

/// Keeps everything in memory; nothing outlives the process.
#[derive(Debug, Default)]
pub struct MemoryEngine {
    rows: RwLock<BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl MemoryEngine {
    fn rows(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<Vec<u8>, Vec<u8>>> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for MemoryEngine {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        Ok(self.rows().get(key).cloned())
    }

    fn scan(
        &self,
        from: &[u8],
        prefix: &[u8],
        limit: usize,
        each: &mut EachRow<'_>,
    ) -> Result<(), EngineError> {
        let start = from.max(prefix);
        let rows = self.rows();
        let range = rows.range::<[u8], _>((Bound::Included(start), Bound::Unbounded));
        for (key, value) in range.take(limit) {
            if !key.starts_with(prefix) || each(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn apply(&self, batch: Batch) -> Result<(), EngineError> {
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in batch.into_changes() {
            match value {
                Some(value) => rows.insert(key, value),
                None => rows.remove(&key),
            };
        }
        Ok(())
    }

    fn barrier(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn bytes_on_disk(&self) -> u64 {
        0
    }

    fn memory_estimate(&self, known: u64) -> u64 {
        // A page has about three rows of a hundred bytes: its record, its queue row, its share
        // of a site's.
        known * 3 * (100 + ROW_OVERHEAD)
    }
}
