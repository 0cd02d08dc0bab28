//! What stands at the end of a file of items: whole records, or what a crash left of one. Nothing is
//! taken for that which is more than one record that was cut short.
//!
//! The end of the last record is looked for from the file's end, so that opening costs the same
//! whatever its size. Only a CSV file whose lines end as an editor ends them is read from its
//! beginning: which line feeds stand in a cell is not seen otherwise.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::csv::HEAD_BYTES;

/// How records of a kind are told from others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Records {
    /// Items as JSON, one a line.
    Lines,
    /// Rows of CSV.
    Rows,
}

impl Records {
    /// What a file of them begins with.
    pub(super) const fn start(self) -> &'static [u8] {
        match self {
            Self::Lines => b"{\"extractor\":",
            Self::Rows => b"extractor,url,at",
        }
    }

    /// What ends each of ours, and stands nowhere within one.
    const fn end(self) -> &'static [u8] {
        match self {
            Self::Lines => b"\n",
            Self::Rows => b"\r\n",
        }
    }
}

/// How a file ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// With a whole record, or it is empty.
    Whole,
    /// With a record that lacks the end of its line and nothing else.
    Unended,
    /// With a record that was cut short, after so many bytes of whole ones.
    Torn(u64),
    /// With something else, after so many bytes of whole records.
    Other(u64),
}

/// No record is longer.
const MOST_TORN: u64 = 64 << 20;
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// How a file of so many bytes ends, which begins as files of such records do.
pub(super) fn of(file: &mut File, bytes: u64, records: Records) -> io::Result<Ending> {
    match records {
        Records::Lines => lines(file, bytes),
        Records::Rows => rows(file, bytes),
    }
}

fn lines(file: &mut File, bytes: u64) -> io::Result<Ending> {
    let Tail::Short { from, text } = Tail::of(file, bytes, Records::Lines)? else {
        return Ok(Ending::Other(0));
    };
    let line = without_zeros(&text);
    if line.is_empty() {
        return Ok(if text.is_empty() { Ending::Whole } else { Ending::Torn(from) });
    }
    Ok(match serde_json::from_slice::<Line>(line) {
        Ok(_) if line.len() == text.len() => Ending::Unended,
        Err(_) if is_cut_short(line) => Ending::Torn(from),
        Ok(_) | Err(_) => Ending::Other(from),
    })
}

/// Whether a line begins as ours and only ends too early.
fn is_cut_short(line: &[u8]) -> bool {
    let start = Records::Lines.start();
    let lacks_more =
        |line: &[u8]| serde_json::from_slice::<Line>(line).is_err_and(|error| error.is_eof());
    let is_ours = start.starts_with(line) || line.starts_with(start);
    // In the middle of a number: behind its minus, its point or its exponent.
    is_ours && (lacks_more(line) || lacks_more(&[line, b"0"].concat()))
}

/// An item as its line has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether a line is one is asked")]
struct Line {
    extractor: String,
    url: String,
    at: String,
    value: IgnoredAny,
}

fn rows(file: &mut File, bytes: u64) -> io::Result<Ending> {
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    let mut first = Rows::default();
    first.read_record(&head);
    match first.ends {
        0 if bytes > HEAD_BYTES as u64 => Ok(Ending::Other(0)),
        0 if bytes == 0 => Ok(Ending::Whole),
        0 => {
            let mut first = Rows::default();
            first.read(without_zeros(&head));
            Ok(if first.is_odd { Ending::Other(0) } else { Ending::Torn(0) })
        }
        _ if first.ended_by == LineEnd::Both => ours(file, bytes),
        _ => editors(file, bytes),
    }
}

/// The end of a file whose lines end as we end them.
fn ours(file: &mut File, bytes: u64) -> io::Result<Ending> {
    let Tail::Short { from, text } = Tail::of(file, bytes, Records::Rows)? else {
        return Ok(Ending::Other(0));
    };
    let mut rows = Rows::default();
    rows.read(without_zeros(&text));
    let whole = from + rows.ends;
    Ok(match () {
        () if whole == bytes => Ending::Whole,
        () if !rows.is_odd && (rows.ends == 0 || !rows.has_lines) => Ending::Torn(whole),
        () => Ending::Other(whole),
    })
}

/// The end of one whose lines end in a line feed alone.
fn editors(file: &mut File, bytes: u64) -> io::Result<Ending> {
    let (mut rows, mut piece) = (Rows::default(), Vec::with_capacity(PIECE));
    file.seek(SeekFrom::Start(0))?;
    loop {
        piece.clear();
        if (&mut *file).take(PIECE as u64).read_to_end(&mut piece)? == 0 {
            break;
        }
        rows.read(&piece);
    }
    let whole = rows.ends;
    Ok(match () {
        () if whole == bytes => Ending::Whole,
        // Editors leave the last line feed out.
        () if rows.state != State::Quoted && rows.cells == rows.columns => Ending::Unended,
        // A quotation mark too many or too few makes one record of all that follows.
        () if !rows.is_odd && !rows.has_lines && bytes - whole <= MOST_TORN => Ending::Torn(whole),
        () => Ending::Other(whole),
    })
}

/// A power cut may leave zeros.
fn without_zeros(text: &[u8]) -> &[u8] {
    let last = text.iter().rposition(|byte| *byte != 0);
    text.get(..last.map_or(0, |at| at + 1)).unwrap_or_default()
}

/// What comes after the last record's end.
enum Tail {
    Short {
        from: u64,
        text: Vec<u8>,
    },
    /// More than a record has.
    Long,
}

impl Tail {
    fn of(file: &mut File, bytes: u64, records: Records) -> io::Result<Self> {
        let end = records.end();
        let (mut upto, mut piece) = (bytes, Vec::with_capacity(PIECE));
        let from = loop {
            let start = upto.saturating_sub(PIECE as u64);
            piece.clear();
            file.seek(SeekFrom::Start(start))?;
            (&mut *file).take(upto - start).read_to_end(&mut piece)?;
            let found = piece.windows(end.len()).rposition(|window| window == end);
            if let Some(at) = found {
                break start + (at + end.len()) as u64;
            }
            if start == 0 {
                break 0;
            }
            if bytes - start > MOST_TORN {
                return Ok(Self::Long);
            }
            // An end may lie across the border.
            upto = start + end.len() as u64 - 1;
        };
        let mut text = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.take(bytes - from).read_to_end(&mut text)?;
        Ok(Self::Short { from, text })
    }
}

/// Rows of CSV, read as a stream.
#[derive(Debug, Default)]
struct Rows {
    state: State,
    bytes: u64,
    /// Bytes of whole rows.
    ends: u64,
    ended_by: LineEnd,
    /// Cells of the row that is being read, those that have ended.
    cells: usize,
    /// The same of the first row, at its end.
    columns: usize,
    /// Whether a line ended within the row that is being read.
    has_lines: bool,
    /// Whether a carriage return stands outside quotes and ends no row: no row of ours has one.
    is_odd: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum State {
    #[default]
    CellStart,
    Plain,
    Quoted,
    /// After a quotation mark in quotes: it ends them, or the next one says that it is one.
    Closing,
    Return,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum LineEnd {
    #[default]
    Feed,
    Both,
}

impl Rows {
    fn read(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.next(*byte));
    }

    /// Reads to the end of the first row.
    fn read_record(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.next(*byte);
            if self.ends > 0 {
                break;
            }
        }
    }

    fn next(&mut self, byte: u8) {
        use State::{CellStart, Closing, Plain, Quoted, Return};
        self.bytes += 1;
        if self.state == Return && byte != b'\n' {
            self.is_odd = true;
        }
        self.state = match (self.state, byte) {
            (Quoted, b'"') => Closing,
            (Quoted, _) => {
                self.has_lines |= byte == b'\n';
                Quoted
            }
            (CellStart, b'"') | (Closing, b'"') => Quoted,
            (_, b',') => {
                self.cells += 1;
                CellStart
            }
            (_, b'\r') => Return,
            (before, b'\n') => {
                self.end_row(if before == Return { LineEnd::Both } else { LineEnd::Feed });
                CellStart
            }
            (CellStart | Plain | Closing | Return, _) => Plain,
        };
    }

    fn end_row(&mut self, by: LineEnd) {
        if self.ends == 0 {
            self.columns = self.cells;
        }
        (self.ends, self.ended_by) = (self.bytes, by);
        (self.cells, self.has_lines, self.is_odd) = (0, false, false);
    }
}
