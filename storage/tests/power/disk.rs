//! A disk that can lose its power: an ext4 file system on an image of its own.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::chance::Chance;

const IMAGE_BYTES: u64 = 512 << 20;

/// `EXT4_IOC_SHUTDOWN`: from now on nothing reaches the disk.
const SHUTDOWN: libc::c_ulong = 0x8004_587d;

/// What becomes of the file system's own journal at the cut.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Journal {
    /// Names, lengths and places of files are as they are now; their content may be older.
    Written = 1,
    /// What was not synced is lost.
    Lost = 2,
}

/// A mounted image.
pub(crate) struct Disk {
    dir: TempDir,
    mounted: bool,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        File::create(&image).and_then(|file| file.set_len(IMAGE_BYTES)).unwrap();
        std::fs::create_dir(dir.path().join("mount")).unwrap();
        shell("mkfs.ext4", &[Path::new("-qF"), &image]);
        let mut disk = Self { dir, mounted: false };
        disk.mount();
        disk
    }

    fn mount_point(&self) -> PathBuf {
        self.dir.path().join("mount")
    }

    /// Where a store may be.
    pub(crate) fn data(&self) -> PathBuf {
        self.mount_point().join("data")
    }

    fn mount(&mut self) {
        let image = self.dir.path().join("image");
        shell("mount", &[Path::new("-o"), Path::new("loop"), &image, &self.mount_point()]);
        self.mounted = true;
    }

    /// Lets some parts of some files reach the disk, in no order, as a system does that runs out
    /// of memory, or a disk with a cache.
    pub(crate) fn write_some(&self, chance: &mut Chance) {
        for file in files(&self.data()) {
            let Ok(file) = File::open(file) else { continue };
            let length = file.metadata().map_or(0, |meta| meta.len());
            for _ in 0..chance.below(6) {
                let (from, bytes) = (chance.below(length.max(1)), 1 + chance.below(256 << 10));
                let (from, bytes) = (i64::try_from(from).unwrap(), i64::try_from(bytes).unwrap());
                #[expect(unsafe_code, reason = "std has no such call")]
                // SAFETY: the call takes numbers only. It goes around the symbol of that name
                // in comity-storage, which would sync the whole file.
                unsafe {
                    let call = libc::SYS_sync_file_range;
                    libc::syscall(call, file.as_raw_fd(), from, bytes, 7);
                }
            }
        }
    }

    /// Cuts the power.
    pub(crate) fn cut(&self, chance: &mut Chance) -> Journal {
        let journal = if chance.below(3) == 0 { Journal::Written } else { Journal::Lost };
        let root = File::open(self.mount_point()).unwrap();
        let flags = journal as u32;
        #[expect(unsafe_code, reason = "std has no such call")]
        // SAFETY: the call reads one number, which lives until it returns.
        let done = unsafe { libc::ioctl(root.as_raw_fd(), SHUTDOWN as _, &raw const flags) };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
        journal
    }

    /// Starts the machine again: what is on the disk is all there is.
    pub(crate) fn restart(&mut self) {
        shell("umount", &[&self.mount_point()]);
        self.mounted = false;
        self.mount();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            // Lazily, for a child may still be at work after a failure.
            let _ = Command::new("umount").arg("-l").arg(self.mount_point()).status();
        }
    }
}

fn shell(program: &str, arguments: &[&Path]) {
    let ended = Command::new(program).args(arguments).output();
    let ended = ended.unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(ended.status.success(), "{program}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// All files below a directory.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}
