//! Payloads on their way to the sinks: append-only files beside the engine,
//! because an engine's values must stay small.
//!
//! A frame is a length, a CRC-32 and the payload. It is written before the
//! batch that points at it, so a pointer without a whole frame means damage.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::marker::sync_dir;
use crate::open::Durability;
use crate::record::SpoolPlace;
use crate::store::Payload;

const HEADER_BYTES: u64 = 8;

/// A file is full at this length, and deleted when all of its payloads are done.
const FILE_BYTES: u64 = 64 << 20;

/// Where payloads stand.
pub(super) enum Spool {
    Memory(Mutex<BTreeMap<SpoolPlace, Vec<u8>>>),
    Files(Files),
}

pub(super) struct Files {
    dir: PathBuf,
    durability: Durability,
    tail: Mutex<Tail>,
}

/// The file that is written now. A file of an earlier opening is never written again: its end
/// may be a torn frame.
struct Tail {
    number: u32,
    file: Option<(File, u64)>,
}

impl Spool {
    pub(super) fn memory() -> Self {
        Self::Memory(Mutex::default())
    }

    pub(super) fn open(dir: &Path, durability: Durability) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        if let (Durability::Power, Some(parent)) = (durability, dir.parent()) {
            sync_dir(parent)?;
        }
        let last = numbers(dir)?.into_iter().max().unwrap_or(0);
        let tail = Mutex::new(Tail { number: last, file: None });
        Ok(Self::Files(Files { dir: dir.to_owned(), durability, tail }))
    }

    /// Writes a payload down; its place.
    pub(super) fn append(&self, payload: Vec<u8>) -> io::Result<SpoolPlace> {
        match self {
            Self::Memory(payloads) => {
                let mut payloads = payloads.lock().unwrap_or_else(PoisonError::into_inner);
                let offset = payloads.last_key_value().map_or(0, |(place, _)| place.offset + 1);
                let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
                let place = SpoolPlace { file: 0, offset, length };
                payloads.insert(place, payload);
                Ok(place)
            }
            Self::Files(files) => files.append(&payload),
        }
    }

    /// Makes what was appended durable, as far as the durability asks for it.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            Self::Files(files) if files.durability == Durability::Power => {
                match &files.tail().file {
                    Some((file, _)) => file.sync_data(),
                    None => Ok(()),
                }
            }
            Self::Files(_) | Self::Memory(_) => Ok(()),
        }
    }

    /// The payload at a place, or why it is not there.
    pub(super) fn read(&self, place: SpoolPlace) -> Payload {
        let read = match self {
            Self::Memory(payloads) => {
                let payloads = payloads.lock().unwrap_or_else(PoisonError::into_inner);
                payloads.get(&place).cloned().ok_or_else(|| "it is gone".to_owned())
            }
            Self::Files(files) => files.read(place),
        };
        match read {
            Ok(bytes) => Payload::Bytes(bytes),
            Err(why) => Payload::Lost { why },
        }
    }

    /// Deletes what stands before `first`, the oldest payload that is still wanted; all that is
    /// done with if none is.
    pub(super) fn trim(&self, first: Option<SpoolPlace>) -> io::Result<()> {
        match self {
            Self::Memory(payloads) => {
                let mut payloads = payloads.lock().unwrap_or_else(PoisonError::into_inner);
                *payloads = match first {
                    Some(first) => payloads.split_off(&first),
                    None => BTreeMap::new(),
                };
                Ok(())
            }
            Self::Files(files) => files.trim(first),
        }
    }
}

impl Files {
    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, number: u32) -> PathBuf {
        self.dir.join(format!("{number:08}"))
    }

    fn append(&self, payload: &[u8]) -> io::Result<SpoolPlace> {
        let length = u32::try_from(payload.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "payload over 4 GiB"))?;
        let mut tail = self.tail();
        if tail.file.as_ref().is_none_or(|(_, end)| *end >= FILE_BYTES) {
            self.next_file(&mut tail)?;
        }
        let number = tail.number;
        let Some((file, end)) = tail.file.as_mut() else {
            return Err(io::Error::other("no spool file is open"));
        };
        let mut frame = Vec::with_capacity(payload.len() + 8);
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(&crc32fast::hash(payload).to_be_bytes());
        frame.extend_from_slice(payload);
        file.write_all(&frame)?;
        let place = SpoolPlace { file: number, offset: *end, length };
        *end += frame.len() as u64;
        Ok(place)
    }

    fn next_file(&self, tail: &mut Tail) -> io::Result<()> {
        if let (Some((file, _)), Durability::Power) = (&tail.file, self.durability) {
            file.sync_data()?;
        }
        let number = tail
            .number
            .checked_add(1)
            .ok_or_else(|| io::Error::other("the spool's file numbers are used up"))?;
        let file = File::options().append(true).create_new(true).open(self.path(number))?;
        if self.durability == Durability::Power {
            sync_dir(&self.dir)?;
        }
        *tail = Tail { number, file: Some((file, 0)) };
        Ok(())
    }

    fn read(&self, place: SpoolPlace) -> Result<Vec<u8>, String> {
        let path = self.path(place.file);
        let lost = |why: String| format!("spool file {}: {why}", path.display());
        let mut file = File::open(&path).map_err(|e| lost(e.to_string()))?;
        let end = file.metadata().map_err(|e| lost(e.to_string()))?.len();
        // Before any memory is taken for it.
        if place.offset.saturating_add(HEADER_BYTES + u64::from(place.length)) > end {
            return Err(lost("it ends before the payload does".into()));
        }
        file.seek(SeekFrom::Start(place.offset)).map_err(|e| lost(e.to_string()))?;
        let mut header = [0; 8];
        let mut payload = vec![0; place.length as usize];
        file.read_exact(&mut header)
            .and_then(|()| file.read_exact(&mut payload))
            .map_err(|e| lost(e.to_string()))?;
        let expect = [place.length.to_be_bytes(), crc32fast::hash(&payload).to_be_bytes()];
        if header != *expect.as_flattened() {
            return Err(lost(format!("damaged at byte {}", place.offset)));
        }
        Ok(payload)
    }

    fn trim(&self, first: Option<SpoolPlace>) -> io::Result<()> {
        let tail = self.tail();
        let keep_from = match (first, &tail.file) {
            (Some(first), _) => first.file,
            (None, Some(_)) => tail.number,
            (None, None) => u32::MAX,
        };
        for number in numbers(&self.dir)? {
            if number < keep_from {
                std::fs::remove_file(self.path(number))?;
            }
        }
        Ok(())
    }
}

/// The numbers of the files in a spool's directory.
fn numbers(dir: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_or_are_lost() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), Durability::Power).unwrap();
        let first = spool.append(b"first".to_vec()).unwrap();
        let second = spool.append(vec![7; 100_000]).unwrap();
        spool.sync().unwrap();
        assert_eq!(spool.read(first), Payload::Bytes(b"first".to_vec()));
        assert_eq!(spool.read(second), Payload::Bytes(vec![7; 100_000]));

        let path = dir.path().join("00000001");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[50_000] ^= 1;
        bytes.truncate(100_000);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(spool.read(first), Payload::Bytes(b"first".to_vec()));
        assert!(matches!(spool.read(second), Payload::Lost { why } if why.contains("it ends")));
        bytes.resize(200_000, 7);
        std::fs::write(&path, &bytes).unwrap();
        assert!(matches!(spool.read(second), Payload::Lost { why } if why.contains("damaged")));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(spool.read(first), Payload::Lost { .. }));
    }

    #[test]
    fn files_rotate_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let count = || std::fs::read_dir(dir.path()).unwrap().count();
        let old = Spool::open(dir.path(), Durability::Process).unwrap();
        old.append(b"old".to_vec()).unwrap();
        drop(old);
        let spool = Spool::open(dir.path(), Durability::Process).unwrap();
        let place = spool.append(vec![0; FILE_BYTES as usize]).unwrap();
        assert_eq!(place.file, 2, "a file of an earlier opening is not written again");
        let place = spool.append(b"x".to_vec()).unwrap();
        assert_eq!((place.file, count()), (3, 3));
        spool.trim(Some(place)).unwrap();
        assert_eq!(count(), 1);
        spool.trim(None).unwrap();
        assert_eq!(spool.read(place), Payload::Bytes(b"x".to_vec()), "the last file stays");
    }
}
