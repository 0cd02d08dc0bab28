//! redb: a copy-on-write B-tree in one file. Its memory is its cache, whatever
//! the number of URLs, and every commit is synced.

use std::ops::Bound;
use std::path::{Path, PathBuf};

use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use super::{Batch, EachRow, Engine, EngineError, end_of, guarded};

const NAME: &str = "redb";
const ROWS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("comity");

/// Memory beyond the cache, measured: 1.35 times the cache and a little.
const BASE_MEMORY: u64 = 64 << 20;

/// A store in one redb file.
pub struct RedbEngine {
    db: Database,
    file: PathBuf,
    cache_bytes: u64,
}

impl RedbEngine {
    /// The file in the engine's directory.
    pub(crate) const FILE: &str = "store.redb";

    /// Opens the file in `dir`, or makes it.
    ///
    /// Every commit is synced, for both durabilities: without a sync redb keeps a commit in
    /// memory only, so that not even `kill -9` would be survived.
    ///
    /// # Errors
    /// [`EngineError`] if it cannot be opened or is damaged.
    pub fn open(dir: &Path, cache_bytes: u64) -> Result<Self, EngineError> {
        let action = "open the store";
        std::fs::create_dir_all(dir).map_err(|e| EngineError::io(NAME, action, &e))?;
        let file = dir.join(Self::FILE);
        let cache = usize::try_from(cache_bytes).unwrap_or(usize::MAX);
        let open = || -> Result<Database, redb::Error> {
            let db = Database::builder().set_cache_size(cache).create(&file)?;
            // So that readers find the table from the start.
            let write = db.begin_write()?;
            write.open_table(ROWS)?;
            write.commit()?;
            Ok(db)
        };
        let db = guarded(NAME, action, || open().map_err(|e| failed(action, &e)))?;
        Ok(Self { db, file, cache_bytes })
    }

    fn reading<T>(
        &self,
        run: impl FnOnce(redb::ReadOnlyTable<&'static [u8], &'static [u8]>) -> Result<T, redb::Error>,
    ) -> Result<T, EngineError> {
        let open = || -> Result<_, redb::Error> { Ok(self.db.begin_read()?.open_table(ROWS)?) };
        guarded(NAME, "read", || open().and_then(run).map_err(|e| failed("read", &e)))
    }

    fn write(&self, batch: Batch) -> Result<(), redb::Error> {
        let mut write = self.db.begin_write()?;
        write.set_durability(Durability::Immediate)?;
        {
            let mut table = write.open_table(ROWS)?;
            for (key, value) in batch.into_changes() {
                match value {
                    Some(value) => table.insert(&*key, &*value)?,
                    None => table.remove(&*key)?,
                };
            }
        }
        Ok(write.commit()?)
    }
}

fn failed(action: &'static str, error: &redb::Error) -> EngineError {
    if let redb::Error::Io(io) = error {
        return EngineError::io(NAME, action, io);
    }
    EngineError::new(NAME, action, error)
}

impl Engine for RedbEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        self.reading(|table| Ok(table.get(key)?.map(|value| value.value().to_vec())))
    }

    fn scan(
        &self,
        from: &[u8],
        prefix: &[u8],
        limit: usize,
        each: &mut EachRow<'_>,
    ) -> Result<(), EngineError> {
        let start = from.max(prefix);
        let end = end_of(prefix);
        let upper = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        if matches!(upper, Bound::Excluded(end) if start >= end) {
            return Ok(());
        }
        self.reading(|table| {
            let range = table.range::<&[u8]>((Bound::Included(start), upper))?;
            for row in range.take(limit) {
                let (key, value) = row?;
                if each(key.value(), value.value()).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn apply(&self, batch: Batch) -> Result<(), EngineError> {
        guarded(NAME, "write", || self.write(batch).map_err(|e| failed("write", &e)))
    }

    /// Nothing to do: a commit is durable when it returns.
    fn barrier(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn bytes_on_disk(&self) -> u64 {
        std::fs::metadata(&self.file).map_or(0, |meta| meta.len())
    }

    fn memory_estimate(&self, _known: u64) -> u64 {
        self.cache_bytes * 27 / 20 + BASE_MEMORY
    }
}
