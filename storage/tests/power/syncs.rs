//! Takes the place of the C library's syncs, so that they can be left out: a test that cannot
//! see that shows nothing.

use std::collections::BTreeSet;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

/// What a sync does in this process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Syncs {
    /// What it promises.
    Real = 0,
    /// Nothing.
    None = 1,
    /// `fdatasync`, which only sled's flush calls under [`Process`](comity_storage::Durability),
    /// does what sled 0.34.7 does by itself: in a program where comity-storage's symbol is not
    /// linked in place of `sync_file_range`.
    SledAsPublished = 2,
}

impl Syncs {
    pub(crate) const ALL: [Self; 3] = [Self::Real, Self::None, Self::SledAsPublished];
}

static SYNCS: AtomicU8 = AtomicU8::new(Syncs::Real as u8);

pub(crate) fn set(syncs: Syncs) {
    SYNCS.store(syncs as u8, Ordering::SeqCst);
}

fn current() -> Syncs {
    let current = SYNCS.load(Ordering::SeqCst);
    Syncs::ALL.into_iter().find(|syncs| *syncs as u8 == current).unwrap_or(Syncs::Real)
}

/// The files and directories that were synced, by their numbers.
static SYNCED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Whether a file or directory was ever synced in this process.
pub(crate) fn was_synced(path: &Path) -> bool {
    SYNCED.lock().unwrap().contains(&std::fs::metadata(path).unwrap().ino())
}

fn note(file: libc::c_int) {
    let mut about = MaybeUninit::<libc::stat>::uninit();
    #[expect(unsafe_code, reason = "the number is no file of this library's to own")]
    // SAFETY: the call writes to `about`, which is read only if it says that it did.
    let number = unsafe {
        if libc::fstat(file, about.as_mut_ptr()) != 0 {
            return;
        }
        about.assume_init().st_ino
    };
    SYNCED.lock().unwrap().insert(number);
}

fn call(outcome: libc::c_long) -> libc::c_int {
    libc::c_int::try_from(outcome).unwrap_or(-1)
}

#[expect(unsafe_code, reason = "a symbol must be exported to take the C library's place")]
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: libc::c_int) -> libc::c_int {
    note(file);
    // SAFETY: these calls take numbers only; one that is no open file gives EBADF.
    call(match current() {
        Syncs::None => 0,
        Syncs::Real => unsafe { libc::syscall(libc::SYS_fdatasync, file) },
        Syncs::SledAsPublished => unsafe {
            libc::syscall(libc::SYS_sync_file_range, file, 0_i64, 0_i64, 7)
        },
    })
}

#[expect(unsafe_code, reason = "a symbol must be exported to take the C library's place")]
#[unsafe(no_mangle)]
extern "C" fn fsync(file: libc::c_int) -> libc::c_int {
    note(file);
    // SAFETY: the call takes a number only; one that is no open file gives EBADF.
    call(match current() {
        Syncs::None => 0,
        Syncs::Real | Syncs::SledAsPublished => unsafe { libc::syscall(libc::SYS_fsync, file) },
    })
}

/// Whether this process's syncs come through here: one that cannot be done is not noticed.
pub(crate) fn are_ours() -> bool {
    let pipe = io::pipe().unwrap().1;
    let file = std::fs::File::from(std::os::fd::OwnedFd::from(pipe));
    set(Syncs::Real);
    let noticed = file.sync_all().is_err() && file.sync_data().is_err();
    set(Syncs::None);
    let unnoticed = file.sync_all().is_ok() && file.sync_data().is_ok();
    set(Syncs::Real);
    noticed && unnoticed
}
