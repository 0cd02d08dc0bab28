//! A body as text in UTF-8, piece by piece: unpacked, counted, decoded, with its lines counted.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};

use comity_compliance::SitemapFault;
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use flate2::bufread::MultiGzDecoder;

use super::report::Sink;
use super::{Position, SitemapLimits};

/// Bytes that are read and decoded at once.
const STEP: usize = 16 << 10;
/// How far a declaration of the encoding is looked for.
const HEAD_BYTES: usize = 1_024;
/// A file that was compressed by its maker and again by its server.
const MOST_LAYERS: u8 = 2;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The text, as a reader. It never fails but for [`Source::start_token`]'s limit: what cannot be
/// read further is its end, with the cause kept for the report.
pub(super) struct Source<'r> {
    raw: Box<dyn BufRead + 'r>,
    layers: u8,
    bytes_left: u64,
    bytes_read: u64,
    chunk: Vec<u8>,
    decoder: Decoder,
    charset: &'static Encoding,
    is_malformed: bool,
    text: String,
    /// How much of `text` was consumed.
    used: usize,
    is_at_end: bool,
    position: Position,
    token_left: usize,
    token_bytes: usize,
    ended_by: Option<SitemapFault>,
}

impl<'r> Source<'r> {
    pub(super) fn open(
        body: impl BufRead + 'r,
        limits: &SitemapLimits,
        charset: Option<&'static Encoding>,
    ) -> Self {
        let mut raw: Box<dyn BufRead + 'r> = Box::new(body);
        let mut layers = 0;
        let mut head;
        loop {
            (head, raw) = with_head(raw);
            if !head.starts_with(&GZIP_MAGIC) || layers == MOST_LAYERS {
                break;
            }
            raw = Box::new(BufReader::with_capacity(STEP, MultiGzDecoder::new(raw)));
            layers += 1;
        }
        let charset = match Encoding::for_bom(&head) {
            Some((encoding, _)) => encoding,
            None => charset.or_else(|| declared(&head)).unwrap_or(UTF_8),
        };
        Self {
            raw,
            layers,
            bytes_left: limits.bytes,
            bytes_read: 0,
            chunk: vec![0; STEP],
            decoder: charset.new_decoder_with_bom_removal(),
            charset,
            is_malformed: false,
            text: String::new(),
            used: 0,
            is_at_end: false,
            position: Position { line: 1, byte: 0 },
            token_left: usize::MAX,
            token_bytes: limits.token_bytes,
            ended_by: None,
        }
    }

    /// Where the next byte stands.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Renews what may be consumed before the next call; more is an error.
    pub(super) fn start_token(&mut self) {
        self.token_left = self.token_bytes;
    }

    /// The first byte that is neither blank nor a byte order mark; those in front are consumed.
    pub(super) fn first_visible(&mut self) -> Option<u8> {
        loop {
            self.fill();
            let rest = self.text.get(self.used..).filter(|rest| !rest.is_empty())?;
            let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
            let blank = rest.find(|c| !is_blank(c));
            let first = blank.and_then(|at| rest.as_bytes().get(at).copied());
            let blank = blank.unwrap_or(rest.len());
            self.consume(blank);
            if first.is_some() {
                return first;
            }
        }
    }

    /// Tells the report how it came.
    pub(super) fn finish(self, sink: &mut Sink<'_>) {
        sink.report.bytes = self.bytes_read;
        sink.report.gzip_layers = self.layers;
        sink.report.charset = self.charset.name();
        if let Some(fault) = self.ended_by.filter(|_| self.is_cut()) {
            // What the parser misses at such an end is the consequence, not the cause.
            sink.report.ended_by = None;
            let _ = sink.end(self.position, fault, "");
        }
        if self.is_malformed || self.charset != UTF_8 {
            sink.fault(Position { line: 1, byte: 0 }, SitemapFault::NotUtf8, self.charset.name());
        }
    }

    /// Whether the text is read to an end that is not the file's.
    pub(super) fn is_cut(&self) -> bool {
        let is_used_up = self.is_at_end && self.used >= self.text.len();
        match self.ended_by {
            Some(SitemapFault::TokenTooLong) => true,
            cause => cause.is_some() && is_used_up,
        }
    }

    /// Decodes more, if all was consumed.
    fn fill(&mut self) {
        while self.used >= self.text.len() && !self.is_at_end {
            let read = self.read_chunk();
            self.is_at_end = read == 0;
            self.text.clear();
            self.used = 0;
            self.text.reserve(self.decoder.max_utf8_buffer_length(read).unwrap_or(STEP * 3));
            let chunk = self.chunk.get(..read).unwrap_or_default();
            let (_, _, malformed) =
                self.decoder.decode_to_string(chunk, &mut self.text, self.is_at_end);
            self.is_malformed |= malformed;
        }
    }

    /// Reads a step, or up to the end; 0 there, whatever made it. A step is always filled, so that
    /// the pieces in which a body comes change nothing.
    fn read_chunk(&mut self) -> usize {
        let room = usize::try_from(self.bytes_left).unwrap_or(usize::MAX).min(STEP);
        if self.ended_by.is_some() {
            return 0;
        }
        // Only one byte more tells a file that is just as long from one that is longer.
        let into = self.chunk.get_mut(..room.max(1)).unwrap_or_default();
        let (read, failed) = read_full(&mut self.raw, into);
        if let Some(error) = failed {
            let is_packing = matches!(
                error.kind(),
                ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData
            );
            self.ended_by = Some(match is_packing && self.layers > 0 {
                true => SitemapFault::GzipDamaged,
                false => SitemapFault::BrokenOff,
            });
        }
        if room == 0 {
            if read > 0 {
                self.ended_by = Some(SitemapFault::TooManyBytes);
            }
            return 0;
        }
        let counted = u64::try_from(read).unwrap_or(u64::MAX);
        self.bytes_left = self.bytes_left.saturating_sub(counted);
        self.bytes_read = self.bytes_read.saturating_add(counted);
        read
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.fill();
        let rest = self.text.as_bytes().get(self.used..).unwrap_or_default();
        if self.token_left == 0 && !rest.is_empty() {
            self.ended_by = Some(SitemapFault::TokenTooLong);
            return Err(io::Error::other("one token is too long"));
        }
        Ok(rest.get(..self.token_left).unwrap_or(rest))
    }

    fn consume(&mut self, amount: usize) {
        let rest = self.text.as_bytes().get(self.used..).unwrap_or_default();
        let consumed = rest.get(..amount).unwrap_or(rest);
        let lines = consumed.iter().filter(|byte| **byte == b'\n').count();
        let bytes = consumed.len();
        self.position.line =
            self.position.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.position.byte =
            self.position.byte.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        self.used += bytes;
        self.token_left = self.token_left.saturating_sub(bytes);
    }
}

/// The first bytes, and a reader that still has them, and the error behind them if there was one:
/// an unpacker tells it once only.
fn with_head<'r>(mut raw: Box<dyn BufRead + 'r>) -> (Vec<u8>, Box<dyn BufRead + 'r>) {
    let mut head = vec![0; HEAD_BYTES];
    let (filled, failed) = read_full(&mut raw, &mut head);
    head.truncate(filled);
    let start = Cursor::new(head.clone());
    match failed {
        Some(error) => (head, Box::new(start.chain(BufReader::new(Failed(Some(error)))))),
        None => (head, Box::new(start.chain(raw))),
    }
}

/// A reader that has nothing but an error.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Fills a buffer as far as there is something; how far, and the error that ended it.
fn read_full(raw: &mut impl Read, into: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut filled = 0;
    while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match raw.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (filled, Some(error)),
        }
    }
    (filled, None)
}

/// The encoding by the file's own first bytes: UTF-16 shows in the first sign, anything else in the
/// XML declaration (XML 1.0 appendix F).
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [b'<', 0, ..] => return Some(UTF_16LE),
        [0, b'<', ..] => return Some(UTF_16BE),
        _ => {}
    }
    let start = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = start.iter().position(|byte| *byte == b'>')?;
    let declaration = std::str::from_utf8(start.get(..end)?).ok()?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = value.get(1..)?.split(quote).next()?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // What could be read as ASCII so far is not in UTF-16, whatever it says.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}
