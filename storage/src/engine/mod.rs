//! What a store stands on: an ordered key-value map with prefix scans, one
//! atomic batch over all kinds of row, and a barrier that makes it durable.

mod memory;
mod redb;
mod sled;
mod sled_fsync;

use std::ops::ControlFlow;

pub use memory::MemoryEngine;
pub use redb::RedbEngine;
pub use sled::SledEngine;

/// Takes a row, its key and its value, and says whether to go on.
pub type EachRow<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// An ordered key-value map. Keys and values are short (values below 64 KiB).
///
/// Reads see every batch that was applied before they began.
pub trait Engine: Send + Sync + 'static {
    /// The engine's name, as the marker file and messages write it.
    fn name(&self) -> &'static str;

    /// The value of a key.
    ///
    /// # Errors
    /// [`EngineError`] if the engine cannot read.
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError>;

    /// Shows `each` row whose key starts with `prefix` and is not below `from`, in ascending
    /// order, at most `limit` of them, until it breaks.
    ///
    /// # Errors
    /// [`EngineError`] if the engine cannot read.
    fn scan(
        &self,
        from: &[u8],
        prefix: &[u8],
        limit: usize,
        each: &mut EachRow<'_>,
    ) -> Result<(), EngineError>;

    /// Makes all changes of a batch, or none, also over a crash.
    ///
    /// # Errors
    /// [`EngineError`] if the engine cannot write, such as on a full disk.
    fn apply(&self, batch: Batch) -> Result<(), EngineError>;

    /// When it returns, every applied batch holds under the durability that the engine was
    /// opened with.
    ///
    /// # Errors
    /// [`EngineError`] if the engine cannot write.
    fn barrier(&self) -> Result<(), EngineError>;

    /// Bytes that the engine takes on disk.
    fn bytes_on_disk(&self) -> u64;

    /// An upper estimate of the memory that the engine takes with this many pages known.
    fn memory_estimate(&self, known: u64) -> u64;
}

impl Engine for Box<dyn Engine> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        (**self).read(key)
    }

    fn scan(
        &self,
        from: &[u8],
        prefix: &[u8],
        limit: usize,
        each: &mut EachRow<'_>,
    ) -> Result<(), EngineError> {
        (**self).scan(from, prefix, limit, each)
    }

    fn apply(&self, batch: Batch) -> Result<(), EngineError> {
        (**self).apply(batch)
    }

    fn barrier(&self) -> Result<(), EngineError> {
        (**self).barrier()
    }

    fn bytes_on_disk(&self) -> u64 {
        (**self).bytes_on_disk()
    }

    fn memory_estimate(&self, known: u64) -> u64 {
        (**self).memory_estimate(known)
    }
}

/// Changes that are made together.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Batch {
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Batch {
    /// Sets a key.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        self.changes.push((key.into(), Some(value)));
    }

    /// Removes a key.
    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        self.changes.push((key.into(), None));
    }

    /// How many changes it holds.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes in the order in which they were asked for; none as a value removes the key.
    pub fn into_changes(self) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        self.changes
    }
}

/// Rows of a batch while copying.
const COPY_ROWS: usize = 2_000;

/// Copies every row from one engine to another, and makes the copy durable.
///
/// Returns the number of rows. Keys are the same on every engine, so nothing is translated.
///
/// # Errors
/// [`EngineError`] of either; the target is then incomplete.
pub fn copy(from: &dyn Engine, to: &dyn Engine) -> Result<u64, EngineError> {
    let mut rows = 0;
    let mut start = Vec::new();
    loop {
        let mut batch = Batch::default();
        let mut last = None;
        from.scan(&start, &[], COPY_ROWS, &mut |key, value| {
            batch.put(key, value.to_vec());
            last = Some(key.to_vec());
            ControlFlow::Continue(())
        })?;
        let Some(mut next) = last else { break };
        rows += batch.len() as u64;
        to.apply(batch)?;
        next.push(0);
        start = next;
    }
    to.barrier()?;
    Ok(rows)
}

/// An engine that could not do what it was asked for.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{engine} could not {action}: {cause}")]
pub struct EngineError {
    /// The engine's name.
    pub engine: &'static str,
    /// What it was to do, such as `write`.
    pub action: &'static str,
    /// What it said.
    pub cause: String,
    /// The kind of the system's error, if it was one.
    pub io: Option<std::io::ErrorKind>,
}

impl EngineError {
    pub(crate) fn new(engine: &'static str, action: &'static str, cause: impl ToString) -> Self {
        Self { engine, action, cause: cause.to_string(), io: None }
    }

    pub(crate) fn io(engine: &'static str, action: &'static str, error: &std::io::Error) -> Self {
        Self { io: Some(error.kind()), ..Self::new(engine, action, error) }
    }

    /// Whether the data may be sound, but the disk takes no more.
    pub(crate) fn is_no_room(&self) -> bool {
        use std::io::ErrorKind::{
            PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        matches!(self.io, Some(StorageFull | QuotaExceeded | ReadOnlyFilesystem | PermissionDenied))
    }
}

/// Runs a library's code that may panic on damaged files, and makes an error of the panic.
fn guarded<T>(
    engine: &'static str,
    action: &'static str,
    run: impl FnOnce() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    // Nothing of ours is left half-done by a panic inside: the engine is given up after any error.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        let cause = format!("it panicked: {}", said.unwrap_or("without a message"));
        Err(EngineError::new(engine, action, cause))
    })
}

/// The smallest key above every key that starts with `prefix`; none if there is no such key.
fn end_of(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests;
