//! Moves a whole store to another engine: rows, spool and marker.

use std::io;
use std::path::Path;

use comity_compliance::Timestamp;

use crate::engine::copy;
use crate::marker::{MarkerFile, Reading, Stop};
use crate::open::{Durability, EngineKind, OpenError, OpenOptions, Place, SPOOL};

/// Copies the store in `from` to an engine of kind `kind` in `to`, where no store may be.
///
/// Returns the number of rows. The old store stays as it is. A copy that was broken off is no
/// store: its directory can be removed.
///
/// # Errors
/// [`OpenError`] of either directory.
pub fn copy_store(
    from: &Path,
    to: &Path,
    kind: EngineKind,
    now: Timestamp,
    options: &OpenOptions,
) -> Result<u64, OpenError> {
    let no_store = || OpenError::NoStore { dir: from.display().to_string() };
    let mut source = Place { dir: from, kind: EngineKind::Memory, durability: Durability::Process };
    if !from.is_dir() {
        return Err(no_store());
    }
    let _source_lock = source.lock()?;
    let marker = match MarkerFile::read(from).map_err(|e| source.damaged(e.to_string()))? {
        Reading::None => return Err(no_store()),
        Reading::Newer(found) => return Err(OpenError::NewerFormat { dir: source.name(), found }),
        Reading::Some(marker) => marker,
    };
    (source.kind, source.durability) = (marker.engine, marker.durability);

    let target = Place { dir: to, kind, durability: marker.durability };
    let failed = |e: &dyn std::fmt::Display| target.not_created(e);
    if kind == EngineKind::Memory {
        return Err(failed(&"a store in memory cannot be kept"));
    }
    let _target_lock = target.lock()?;
    if !matches!(MarkerFile::read(to), Ok(Reading::None)) {
        return Err(failed(&"there is a store already"));
    }
    let mut new = target.found(now)?;
    // The rows bring the old store's name along.
    new.store.clone_from(&marker.store);
    new.created.clone_from(&marker.created);

    source.inspect(&marker)?;
    let (old_engine, mut old_file) = source.enter(&marker, options)?;
    let (new_engine, mut new_file) = target.enter(&new, options)?;
    // Until all is there, an opening must not take it for a store.
    new_file.update(new.promise, Stop::Creating).map_err(|e| failed(&e))?;
    let rows = copy(&old_engine, &new_engine).map_err(|e| failed(&e))?;
    copy_spool(&from.join(SPOOL), &to.join(SPOOL)).map_err(|e| failed(&e))?;
    drop(new_engine);
    new_file.update(marker.promise, Stop::Clean).map_err(|e| failed(&e))?;
    drop(old_engine);
    // The engine was opened and closed: its files may have changed, its rows have not.
    old_file.update(marker.promise, marker.stop).map_err(|e| source.damaged(e.to_string()))?;
    Ok(rows)
}

fn copy_spool(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    let files = match std::fs::read_dir(from) {
        Ok(files) => files,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    for file in files {
        let file = file?;
        let copy = to.join(file.file_name());
        std::fs::copy(file.path(), &copy)?;
        std::fs::File::open(&copy)?.sync_all()?;
    }
    crate::marker::sync_dir(to)
}
