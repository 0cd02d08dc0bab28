//! Files and standard input, read up to a limit: a device or a pipe may have no end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context as _;

/// The largest page that `rules` reads.
pub(super) const PAGE: Limit = Limit { bytes: 64 << 20, what: "page to judge" };
/// The largest life of a robots.txt.
pub(super) const LIFE: Limit = Limit { bytes: 64 << 20, what: "life of a robots.txt" };
/// The largest file in which a crawl tells what it does.
pub(super) const STATUS: Limit = Limit { bytes: 16 << 20, what: "state of a crawl" };

/// How much is read of something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    bytes: u64,
    what: &'static str,
}

/// The beginning of a file.
pub(super) struct Beginning {
    pub(super) bytes: Vec<u8>,
    pub(super) size: Size,
}

/// How large a file is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Size {
    Exactly(u64),
    /// It was not read to its end.
    MoreThan(u64),
}

/// All of a file, or of standard input for `-`.
pub(super) fn whole(path: &Path, limit: Limit) -> anyhow::Result<Vec<u8>> {
    let read = beginning(path, limit.bytes)?;
    let is_whole = match read.size {
        Size::Exactly(bytes) => bytes <= limit.bytes,
        Size::MoreThan(_) => false,
    };
    if !is_whole {
        anyhow::bail!(
            "{} is larger than {} MiB; that is no {}",
            name(path),
            limit.bytes >> 20,
            limit.what
        );
    }
    Ok(read.bytes)
}

/// The first `max` bytes of a file, or of standard input for `-`.
pub(super) fn beginning(path: &Path, max: u64) -> anyhow::Result<Beginning> {
    let failed = || format!("could not read {}", name(path));
    if path.as_os_str() == "-" {
        return take(io::stdin().lock(), None, max).with_context(failed);
    }
    let file = File::open(path).with_context(failed)?;
    let known = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|of| of.len());
    take(file, known, max).with_context(failed)
}

fn take(from: impl Read, known: Option<u64>, max: u64) -> io::Result<Beginning> {
    let mut bytes = Vec::new();
    let read = from.take(max.saturating_add(1)).read_to_end(&mut bytes)? as u64;
    bytes.truncate(usize::try_from(max).unwrap_or(usize::MAX));
    let size = match known.filter(|known| *known >= read) {
        _ if read <= max => Size::Exactly(read),
        Some(known) => Size::Exactly(known),
        None => Size::MoreThan(max),
    };
    Ok(Beginning { bytes, size })
}

fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: what is there, what is known of its size, the limit; the size.
    #[test]
    fn sizes() {
        for (there, known, max, size) in [
            (5, Some(5), 5, Size::Exactly(5)),
            (5, None, 5, Size::Exactly(5)),
            (6, None, 5, Size::MoreThan(5)),
            (600, Some(600), 5, Size::Exactly(600)),
            (6, Some(6), 5, Size::Exactly(6)),
            (3, Some(0), 5, Size::Exactly(3)),
        ] {
            let read = take(io::repeat(b'a').take(there), known, max).unwrap();
            assert_eq!((read.size, read.bytes.len() as u64), (size, there.min(max)));
        }
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let limit = Limit { bytes: 1 << 20, what: "page" };
        let error = whole(Path::new("/dev/zero"), limit).unwrap_err();
        assert_eq!(error.to_string(), "/dev/zero is larger than 1 MiB; that is no page");
    }
}
