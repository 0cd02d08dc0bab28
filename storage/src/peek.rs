//! What can be told of a data directory without opening its store.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use crate::marker::{Marker, MarkerFile, Reading};
use crate::open::{Durability, EngineKind, LOCK, OpenError};

/// The engine of the store in `dir`; `None` if there is none.
///
/// # Errors
/// [`OpenError`] if there is one that this build cannot read.
pub fn engine_in(dir: &Path) -> Result<Option<EngineKind>, OpenError> {
    Ok(marker_in(dir)?.map(|marker| marker.engine))
}

/// What the last process that had the store in `dir` open promised of its writes; `None` if there
/// is no store. Whoever only looks opens it so, and leaves it as it is.
///
/// # Errors
/// As [`engine_in`].
pub fn durability_in(dir: &Path) -> Result<Option<Durability>, OpenError> {
    Ok(marker_in(dir)?.map(|marker| marker.durability))
}

fn marker_in(dir: &Path) -> Result<Option<Marker>, OpenError> {
    let name = || dir.display().to_string();
    match MarkerFile::read(dir) {
        Ok(Reading::None) => Ok(None),
        Ok(Reading::Some(marker)) => Ok(Some(marker)),
        Ok(Reading::Newer(found)) => Err(OpenError::NewerFormat { dir: name(), found }),
        Err(error) => {
            let what = format!("its marker file comity.json cannot be read ({error})");
            Err(OpenError::Damaged { dir: name(), what })
        }
    }
}

/// Whether some process has the store in `dir` open now.
///
/// # Errors
/// [`OpenError::Unwritable`] if that cannot be found out.
pub fn is_in_use(dir: &Path) -> Result<bool, OpenError> {
    let unwritable =
        |cause: String| OpenError::Unwritable { dir: dir.display().to_string(), cause };
    let lock = match File::open(dir.join(LOCK)) {
        Ok(lock) => lock,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(unwritable(error.to_string())),
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(unwritable(error.to_string())),
    }
}
