//! Responses of an archive read back, so that what was made of them can be made again.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use comity_storage::Archived;
use flate2::bufread::GzDecoder;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::reading::{field, is_torn, split_head};
use super::{file, record};
use crate::output::OutputError;

/// Bytes of one record that are read; a larger one is passed over.
const RECORD_BYTES: u64 = 256 << 20;

/// A response with its body, as it was archived.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    /// The URL as it was asked for.
    pub(crate) url: String,
    /// When it was captured, as the archive writes it.
    date: String,
    /// Its headers, those of the wire apart.
    pub(crate) headers: HeaderMap,
    /// Its decoded body.
    pub(crate) body: Bytes,
}

impl Response {
    /// Whether it is this capture, to the byte.
    pub(crate) fn is(&self, archived: &Archived) -> bool {
        self.date == record::date(archived.at) && record::sha1(&[&self.body]) == archived.payload
    }
}

/// The responses of all files of an archive, file by file. What cannot be read ends a file.
pub(crate) struct Responses {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<(PathBuf, BufReader<File>)>,
    taken: u64,
    bytes: u64,
    read: u64,
    torn: u64,
    unreadable: u64,
}

impl Responses {
    /// # Errors
    /// [`OutputError`] if the directory cannot be read.
    pub(crate) fn of(dir: &Path) -> Result<Self, OutputError> {
        let mut files = file::complete_files(dir)?;
        files.extend(file::open_files(dir)?);
        let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |about| about.len());
        let bytes = files.iter().map(length).sum();
        Ok(Self {
            files: files.into_iter(),
            open: None,
            taken: 0,
            bytes,
            read: 0,
            torn: 0,
            unreadable: 0,
        })
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of files that were read to their end.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Files that were read, those of them that end before their last record does, and files that
    /// could not be read.
    pub(crate) fn files(&self) -> (u64, u64, u64) {
        (self.read, self.torn, self.unreadable)
    }

    /// The next of them. A file that cannot be read is passed over, logged and counted.
    pub(crate) fn next(&mut self) -> Option<Response> {
        loop {
            let Some((path, reader)) = &mut self.open else {
                let path = self.files.next()?;
                match File::open(&path) {
                    Ok(opened) => {
                        self.open = Some((path, BufReader::with_capacity(1 << 16, opened)));
                    }
                    Err(error) => self.pass_over(&path, &error),
                }
                continue;
            };
            match next_record(reader) {
                Ok(Some(bytes)) => {
                    if let Some(response) = response(&bytes) {
                        return Some(response);
                    }
                }
                Ok(None) => self.close(),
                Err(error) if is_torn(&error) => {
                    self.torn += 1;
                    self.close();
                }
                Err(error) => {
                    let path = path.clone();
                    self.open = None;
                    self.pass_over(&path, &error);
                }
            }
        }
    }

    fn pass_over(&mut self, path: &Path, error: &io::Error) {
        tracing::warn!(file = %path.display(), %error, "it cannot be read, and is passed over");
        self.unreadable += 1;
        self.taken += std::fs::metadata(path).map_or(0, |about| about.len());
    }

    fn close(&mut self) {
        if let Some((path, _)) = self.open.take() {
            self.read += 1;
            self.taken += std::fs::metadata(path).map_or(0, |about| about.len());
        }
    }
}

/// The bytes of the next record, none of them if it is too large; none at the end.
fn next_record(file: &mut BufReader<File>) -> io::Result<Option<Vec<u8>>> {
    if file.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut member = GzDecoder::new(file);
    let mut bytes = Vec::new();
    member.by_ref().take(RECORD_BYTES).read_to_end(&mut bytes)?;
    if io::copy(&mut member, &mut io::sink())? > 0 {
        bytes.clear();
    }
    Ok(Some(bytes))
}

fn response(bytes: &[u8]) -> Option<Response> {
    let (header, block) = split_head(bytes);
    if field(header, "WARC-Type")? != "response" {
        return None;
    }
    let length: usize = field(header, "Content-Length")?.parse().ok()?;
    let (head, body) = split_head(block.get(..length)?);
    Some(Response {
        url: field(header, "WARC-Target-URI")?,
        date: field(header, "WARC-Date")?,
        headers: headers(head),
        body: Bytes::copy_from_slice(body),
    })
}

/// The header lines after the status line.
fn headers(head: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at_checked(colon).unwrap_or_default();
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        let name = HeaderName::from_bytes(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
    headers
}
