//! Files of an archive read back: where its whole records end, and what each is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::cdxj::{Capture, Lies};
use super::head;
use crate::output::OutputError;

/// Bytes of a record that are looked at: its header and the head of the response in it.
const LOOKED_AT: u64 = 512 * 1024;

/// What is in a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The end of the last whole record.
    pub(super) whole: u64,
    /// The file's length.
    pub(super) bytes: u64,
    /// Index lines of its captures, in the order of the file.
    pub(super) lines: Vec<String>,
}

/// Reads a file to its last whole record. What comes after that is no error: a crash leaves it.
pub(super) fn read(path: &Path, filename: &str) -> Result<Contents, OutputError> {
    let file = File::open(path).map_err(OutputError::file("read", path))?;
    let bytes = file.metadata().map_err(OutputError::file("read", path))?.len();
    contents(Counting { inner: BufReader::with_capacity(1 << 16, file), taken: 0 }, bytes, filename)
        .map_err(OutputError::file("read", path))
}

fn contents(mut file: Counting<impl BufRead>, bytes: u64, filename: &str) -> io::Result<Contents> {
    let mut contents = Contents { bytes, ..Contents::default() };
    while !file.fill_buf()?.is_empty() {
        let capture = match record(GzDecoder::new(&mut file)) {
            Ok(capture) => capture,
            Err(error) if is_torn(&error) => break,
            Err(error) => return Err(error),
        };
        let (offset, length) = (contents.whole, file.taken - contents.whole);
        contents.whole = file.taken;
        let lies = Lies { offset, length, filename };
        contents.lines.extend(capture.map(|capture| capture.line(&lies)));
    }
    Ok(contents)
}

/// Bytes after the last whole record that a crash leaves at most: of one exchange.
const MOST_TORN: u64 = 64 << 20;

/// Whether what comes after the last whole record is more than a crash leaves there: then a file is
/// damaged in its middle, and what follows is not to be given up.
pub(super) fn is_damaged(path: &Path, contents: &Contents) -> Result<bool, OutputError> {
    if contents.bytes - contents.whole > MOST_TORN {
        return Ok(true);
    }
    let mut tail = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        file.seek(io::SeekFrom::Start(contents.whole))?;
        file.read_to_end(&mut tail)
    });
    read.map_err(OutputError::file("read", path))?;
    let starts = tail.windows(3).enumerate().skip(1).filter(|(_, start)| start == b"\x1f\x8b\x08");
    let mut members = starts.filter_map(|(at, _)| tail.get(at..));
    Ok(members.any(|member| record(GzDecoder::new(member)).is_ok()))
}

/// Whether a member is not there to its end, or never was one.
pub(super) fn is_torn(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
    )
}

/// Reads one member to its end, its checksum included.
fn record(mut member: impl Read) -> io::Result<Option<Capture>> {
    let mut start = Vec::new();
    member.by_ref().take(LOOKED_AT).read_to_end(&mut start)?;
    io::copy(&mut member, &mut io::sink())?;
    if !start.starts_with(b"WARC/") {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no WARC record"));
    }
    Ok(capture(&start))
}

/// What the index says of a record, if the record is a capture.
fn capture(start: &[u8]) -> Option<Capture> {
    let (header, block) = split_head(start);
    let field = |name| field(header, name);
    let kind = field("WARC-Type")?;
    if !matches!(kind.as_str(), "response" | "revisit" | "resource") {
        return None;
    }
    let (response, _) = split_head(block);
    let in_http = kind != "resource";
    let content_type =
        if in_http { self::field(response, "content-type") } else { field("Content-Type") };
    let mime = match kind.as_str() {
        "revisit" => Some("warc/revisit".to_owned()),
        _ => content_type.as_deref().and_then(head::mime).map(String::from),
    };
    let status = response.split(|byte| *byte == b'\n').next().and_then(|line| {
        let status = line.split(|byte| *byte == b' ').nth(1)?;
        Some(String::from_utf8_lossy(status).trim().to_owned())
    });
    Some(Capture {
        url: field("WARC-Target-URI")?,
        date: field("WARC-Date")?,
        mime,
        status: status.filter(|_| in_http),
        digest: field("WARC-Payload-Digest"),
    })
}

/// What stands before the first empty line, and after it.
pub(super) fn split_head(bytes: &[u8]) -> (&[u8], &[u8]) {
    let ends = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let at = ends.map_or(bytes.len(), |at| at + 4);
    bytes.split_at_checked(at).unwrap_or((bytes, &[]))
}

/// The first field of that name.
pub(super) fn field(head: &[u8], name: &str) -> Option<String> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (found, value) = line.split_at_checked(colon)?;
        let is_it = found.eq_ignore_ascii_case(name.as_bytes());
        let value = String::from_utf8_lossy(value.get(1..)?);
        is_it.then(|| value.trim().to_owned())
    })
}

/// Counts what is taken from a reader.
struct Counting<R> {
    inner: R,
    taken: u64,
}

impl<R: BufRead> Read for Counting<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counting<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount as u64;
        self.inner.consume(amount);
    }
}
