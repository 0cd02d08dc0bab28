//! Makes sled's flush reach the disk.
//!
//! On Linux sled 0.34 flushes with `sync_file_range`, which does not write a
//! file's metadata: after a power cut an appended log loses its tail, and with
//! it segments that were reused meanwhile; the database is then silently empty.
//! Our own symbol of that name is linked in place of the C library's and calls
//! `fdatasync`. A check at the start proves that it is ours that sled calls.

use super::EngineError;

/// Proves that a flush of `db` syncs: writes a value, flushes, and wants our symbol called.
#[cfg(target_os = "linux")]
pub(super) fn check(db: &sled::Db) -> Result<(), EngineError> {
    use std::sync::atomic::Ordering::SeqCst;

    let fail = |cause: String| EngineError::new("sled", "be made safe against power cuts", cause);
    let before = linux::SYNCS.load(SeqCst);
    let old = db.get(crate::key::META_PROBE).map_err(|e| fail(e.to_string()))?;
    let number = old
        .and_then(|bytes| Some(u64::from_be_bytes(bytes.as_ref().try_into().ok()?)))
        .unwrap_or(0);
    // The value must change, or sled may find nothing to flush.
    db.insert(crate::key::META_PROBE, &number.wrapping_add(1).to_be_bytes())
        .and_then(|_| db.flush())
        .map_err(|e| fail(e.to_string()))?;
    if linux::SYNCS.load(SeqCst) == before {
        return Err(fail(
            "its flush does not sync in this build; use the redb engine, or durability \"process\""
                .into(),
        ));
    }
    Ok(())
}

/// Elsewhere sled's flush syncs by itself.
#[cfg(not(target_os = "linux"))]
pub(super) fn check(_db: &sled::Db) -> Result<(), EngineError> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// How often a flush came through here.
    pub(super) static SYNCS: AtomicU64 = AtomicU64::new(0);

    #[expect(
        unsafe_code,
        reason = "a symbol must be exported and a C function called to take sync_file_range's place"
    )]
    /// Takes the place of the C library's function; syncs the whole file with what is needed to read it.
    #[unsafe(no_mangle)]
    extern "C" fn sync_file_range(
        file: libc::c_int,
        _offset: libc::off64_t,
        _bytes: libc::off64_t,
        _flags: libc::c_uint,
    ) -> libc::c_int {
        SYNCS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: fdatasync takes any number; one that is no open file gives EBADF.
        unsafe { libc::fdatasync(file) }
    }
}
