//! Where an export goes: to standard output, or to a file that has it as a whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// A file that gets its name when the export is complete; what had the name stays until then.
pub(super) struct Target(Option<Pending>);

struct Pending {
    file: File,
    path: PathBuf,
    named: PathBuf,
}

impl Target {
    /// What to write to, and what to complete afterwards. What is no file, such as a pipe or a
    /// device, is written as it is.
    pub(super) fn open(
        path: Option<&Path>,
    ) -> anyhow::Result<(BufWriter<Box<dyn Write + Send>>, Self)> {
        let Some(path) = path else {
            return Ok((BufWriter::new(Box::new(io::stdout())), Self(None)));
        };
        let failed = || format!("could not write {}", path.display());
        let earlier = std::fs::metadata(path);
        // Standard output by its name is what the shell has opened, be it a file.
        let is_direct =
            path.starts_with("/dev") || earlier.as_ref().is_ok_and(|earlier| !earlier.is_file());
        if is_direct {
            let file = File::create(path).with_context(failed)?;
            return Ok((BufWriter::new(Box::new(file)), Self(None)));
        }
        // A link stays one.
        let named = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (file, new) = begun_beside(&named).with_context(failed)?;
        let pending = Pending { file, path: new, named };
        if let Ok(earlier) = earlier {
            pending.file.set_permissions(earlier.permissions()).with_context(failed)?;
        }
        let out = pending.file.try_clone().with_context(failed)?;
        Ok((BufWriter::new(Box::new(out)), Self(Some(pending))))
    }

    /// Gives the file its name. All must be written.
    pub(super) fn complete(mut self) -> io::Result<()> {
        let Some(pending) = &self.0 else { return Ok(()) };
        pending.file.sync_all()?;
        std::fs::rename(&pending.path, &pending.named)?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(pending) = &self.0 {
            let _ = std::fs::remove_file(&pending.path);
        }
    }
}

/// A new file in the same directory.
fn begun_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let mut number = 0_u64;
    loop {
        let new = path.with_file_name(format!(".{name}.{}-{number}.new", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&new) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            done => return done.map(|file| (file, new)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// One line, one case: whether all was written, and what is read through a link to an older file.
    #[test]
    fn as_a_whole_or_not_at_all() {
        for (is_whole, expect) in [(true, "new"), (false, "older")] {
            let dir = tempfile::tempdir().unwrap();
            let (older, link) = (dir.path().join("older"), dir.path().join("link"));
            std::fs::write(&older, "older").unwrap();
            std::fs::set_permissions(&older, std::fs::Permissions::from_mode(0o600)).unwrap();
            symlink("older", &link).unwrap();
            let (mut out, target) = Target::open(Some(&link)).unwrap();
            out.write_all(b"new").unwrap();
            out.flush().unwrap();
            assert_eq!(std::fs::read_to_string(&link).unwrap(), "older", "until it is complete");
            if is_whole {
                target.complete().unwrap();
            } else {
                drop(target);
            }
            assert_eq!(std::fs::read_to_string(&older).unwrap(), expect);
            assert!(link.is_symlink());
            let mode = older.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
        }
    }

    #[test]
    fn a_device_is_written_as_it_is() {
        let (mut out, target) = Target::open(Some(Path::new("/dev/null"))).unwrap();
        out.write_all(b"new").unwrap();
        target.complete().unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
