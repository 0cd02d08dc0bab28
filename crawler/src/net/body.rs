//! Bodies: received, decoded and counted as they come, and no further than the limits.

use std::error::Error as StdError;
use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
use std::io::{self, Cursor};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use hyper::HeaderMap;
use hyper::body::Body;
use hyper::header::CONTENT_ENCODING;
use thiserror::Error;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout_at};

use super::error::chain;
use super::{Completeness, FetchErrorKind, PartialCause};

/// Codings that may be stacked on one body; no honest server needs more.
const MOST_CODINGS: usize = 2;
/// Decoded bytes before the expansion ratio is asked for: small pages compress well.
const EXPANSION_FLOOR: u64 = 1024 * 1024;
/// Bytes that are asked of a decoder at once.
const STEP: usize = 16 * 1024;
/// 8 MiB: the window that RFC 9659 lets a zstd body need.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A body that cannot be decoded.
#[derive(Debug, Error)]
pub enum CodingFault {
    /// Not a coding that was offered in Accept-Encoding.
    #[error("content coding \"{0}\" is not one of gzip, deflate, br, zstd")]
    Unknown(String),
    /// Too many codings, one on another.
    #[error("{0} content codings on one body; at most {MOST_CODINGS} are decoded")]
    TooMany(usize),
    /// The data is not in the coding that the header names.
    #[error("the data is not valid in the content coding that its header names")]
    Corrupt(#[source] io::Error),
}

/// A content coding (RFC 9110 section 8.4.1; RFC 7932, RFC 8878).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// The codings of a response, in the order in which they were applied.
    pub(super) fn of(headers: &HeaderMap) -> Result<Vec<Self>, CodingFault> {
        let mut codings = Vec::new();
        for line in headers.get_all(CONTENT_ENCODING) {
            let line = String::from_utf8_lossy(line.as_bytes());
            for name in line
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
            {
                codings.extend(Self::named(name)?);
            }
        }
        if codings.len() > MOST_CODINGS {
            return Err(CodingFault::TooMany(codings.len()));
        }
        Ok(codings)
    }

    /// The coding of that name; none for `identity`.
    fn named(name: &str) -> Result<Option<Self>, CodingFault> {
        match name.to_ascii_lowercase().as_str() {
            "identity" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "deflate" => Ok(Some(Self::Deflate)),
            "br" => Ok(Some(Self::Brotli)),
            "zstd" => Ok(Some(Self::Zstd)),
            _ => Err(CodingFault::Unknown(name.chars().take(64).collect())),
        }
    }

    /// Takes this coding off what `reader` gives.
    async fn decoder(self, reader: Source) -> io::Result<Source> {
        Ok(match self {
            // One member, as browsers read it: what follows the first is not content.
            Self::Gzip => buffered(GzipDecoder::new(reader)),
            Self::Deflate => inflater(reader).await?,
            Self::Brotli => buffered(BrotliDecoder::new(reader)),
            Self::Zstd => {
                let window = DParameter::window_log_max(ZSTD_WINDOW_LOG);
                let mut decoder = ZstdDecoder::with_params(reader, &[window]);
                decoder.multiple_members(true);
                buffered(decoder)
            }
        })
    }
}

type Source = Box<dyn AsyncBufRead + Send + Unpin>;

fn buffered(decoder: impl AsyncRead + Send + Unpin + 'static) -> Source {
    Box::new(BufReader::with_capacity(STEP, decoder))
}

/// `deflate` is zlib by the book (RFC 9110 section 8.4.1.2) and raw deflate by many a server; the
/// zlib header, CMF and FLG of RFC 1950, tells which.
async fn inflater(mut reader: Source) -> io::Result<Source> {
    let mut start = Vec::with_capacity(2);
    let mut head = reader.take(2);
    head.read_to_end(&mut start).await?;
    reader = head.into_inner();
    let zlib = match start[..] {
        [cmf, flg] => {
            cmf & 0x0f == 8 && cmf >> 4 <= 7 && (u16::from(cmf) << 8 | u16::from(flg)) % 31 == 0
        }
        _ => false,
    };
    let whole = AsyncReadExt::chain(Cursor::new(start), reader);
    Ok(if zlib {
        buffered(ZlibDecoder::new(whole))
    } else {
        buffered(DeflateDecoder::new(whole))
    })
}

/// What bounds one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyLimits {
    /// Decoded bytes that are kept.
    pub(super) bytes: usize,
    /// Decoded bytes for each byte received.
    pub(super) expansion_ratio: u32,
    /// When it must have come.
    pub(super) deadline: Instant,
}

impl BodyLimits {
    /// Received bytes after which no more are read: an incompressible body grows by less than an
    /// eighth, and data that decodes to nothing must end too.
    fn wire_bytes(&self) -> u64 {
        let bytes = u64::try_from(self.bytes).unwrap_or(u64::MAX);
        bytes.saturating_add(bytes / 8).saturating_add(64 * 1024)
    }
}

/// A body, and how it came.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) bytes: Bytes,
    pub(super) completeness: Completeness,
    pub(super) wire_bytes: u64,
}

/// Receives and decodes a body.
pub(super) async fn collect<B>(
    body: B,
    codings: &[Coding],
    limits: BodyLimits,
) -> Result<Collected, FetchErrorKind>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let ledger = Ledger::default();
    let wire = Wire {
        body,
        current: Bytes::new(),
        left: limits.wire_bytes(),
        ledger: ledger.clone(),
    };
    let mut bytes = BytesMut::new();
    let reading = read(Box::new(wire), codings, limits, &ledger, &mut bytes);
    let completeness = match timeout_at(limits.deadline, reading).await {
        Ok(completeness) => completeness?,
        Err(_) => Completeness::Partial(PartialCause::Timeout),
    };
    Ok(Collected {
        bytes: bytes.freeze(),
        completeness,
        wire_bytes: ledger.entry().received,
    })
}

async fn read(
    mut wire: Source,
    codings: &[Coding],
    limits: BodyLimits,
    ledger: &Ledger,
    bytes: &mut BytesMut,
) -> Result<Completeness, FetchErrorKind> {
    // An empty body is in no coding, whatever the header says.
    let empty = wire.fill_buf().await.is_ok_and(<[u8]>::is_empty);
    if empty {
        return Ok(ledger.entry().end.unwrap_or(Completeness::Whole));
    }
    match decode(wire, codings, limits, ledger, bytes).await {
        Ok(Stop::Limit) => Ok(Completeness::Truncated),
        Ok(Stop::End) => Ok(ledger.entry().end.unwrap_or(Completeness::Whole)),
        Ok(Stop::Expansion) => Err(FetchErrorKind::Expansion {
            received: ledger.entry().received,
            decoded: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        }),
        // The decoder misses what the wire did not bring: the wire is the cause.
        Err(error) => {
            let entry = ledger.entry();
            match entry.end {
                Some(end) => Ok(end),
                None if entry.asked_past_end || error.kind() == UnexpectedEof => {
                    Ok(Completeness::Partial(PartialCause::Coding))
                }
                None => Err(FetchErrorKind::Coding(CodingFault::Corrupt(error))),
            }
        }
    }
}

/// Why decoding stopped.
enum Stop {
    End,
    Limit,
    Expansion,
}

async fn decode(
    mut source: Source,
    codings: &[Coding],
    limits: BodyLimits,
    ledger: &Ledger,
    bytes: &mut BytesMut,
) -> io::Result<Stop> {
    for coding in codings.iter().rev() {
        source = coding.decoder(source).await?;
    }
    loop {
        let room = limits.bytes.saturating_sub(bytes.len());
        if room == 0 {
            // Only one byte more tells a body that is just as long from one that is longer.
            let more = source.fill_buf().await?;
            return Ok(if more.is_empty() {
                Stop::End
            } else {
                Stop::Limit
            });
        }
        bytes.reserve(room.min(STEP));
        // A source that always has more must let the deadline and the other tasks in.
        consume_budget().await;
        let read = source.read_buf(&mut (&mut *bytes).limit(room)).await?;
        if read == 0 {
            return Ok(Stop::End);
        }
        let decoded = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let permitted = ledger
            .entry()
            .received
            .saturating_mul(limits.expansion_ratio.into());
        if decoded > EXPANSION_FLOOR && decoded > permitted {
            return Ok(Stop::Expansion);
        }
    }
}

/// What the wire has brought, seen from outside the decoders that own it.
#[derive(Clone, Debug, Default)]
struct Ledger(Arc<Mutex<Entry>>);

#[derive(Debug, Default)]
struct Entry {
    received: u64,
    /// How the wire ended, if not at the body's end.
    end: Option<Completeness>,
    /// The decoder wanted more after the end: it misses data, whatever error it gives then.
    asked_past_end: bool,
}

impl Ledger {
    fn entry(&self) -> MutexGuard<'_, Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The received body as a reader. A broken body ends, with the cause in the ledger: a decoder
/// would lose what it has decoded if it met an error.
struct Wire<B> {
    body: B,
    current: Bytes,
    /// Bytes that may still be received; zero is the end.
    left: u64,
    ledger: Ledger,
}

impl<B> Wire<B> {
    fn end(&mut self, end: Option<Completeness>) {
        self.left = 0;
        self.ledger.entry().end = end;
    }

    fn take(&mut self, mut data: Bytes) {
        let length = u64::try_from(data.len()).unwrap_or(u64::MAX);
        self.ledger.entry().received += length;
        if length >= self.left {
            data.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.end(Some(Completeness::Truncated));
        } else {
            self.left -= length;
        }
        self.current = data;
    }
}

impl<B> AsyncBufRead for Wire<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let wire = self.get_mut();
        if wire.current.is_empty() && wire.left > 0 {
            match ready!(Pin::new(&mut wire.body).poll_frame(cx)) {
                None => wire.end(None),
                Some(Err(error)) => {
                    let cause = cause_of(&*error.into());
                    wire.end(Some(Completeness::Partial(cause)));
                }
                Some(Ok(frame)) => {
                    wire.take(frame.into_data().unwrap_or_default());
                    if wire.current.is_empty() && wire.left > 0 {
                        // Trailers, or an empty frame: a flood of them must not starve the timer.
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
            }
        }
        if wire.current.is_empty() {
            wire.ledger.entry().asked_past_end = true;
        }
        Poll::Ready(Ok(&wire.current))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let current = &mut self.get_mut().current;
        current.advance(amount.min(current.len()));
    }
}

impl<B> AsyncRead for Wire<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let available = ready!(self.as_mut().poll_fill_buf(cx))?;
        let step = available.len().min(out.remaining());
        out.put_slice(available.get(..step).unwrap_or_default());
        self.consume(step);
        Poll::Ready(Ok(()))
    }
}

/// hyper reports broken chunks as invalid input or data, and all else as what it is.
fn cause_of(error: &(dyn StdError + 'static)) -> PartialCause {
    let broken = chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| matches!(error.kind(), InvalidData | InvalidInput));
    if broken {
        PartialCause::Framing
    } else {
        PartialCause::Cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_of_headers() {
        for (lines, expect) in [
            (&[][..], Ok(vec![])),
            (&["identity"], Ok(vec![])),
            (&["GZIP"], Ok(vec![Coding::Gzip])),
            (&["x-gzip, "], Ok(vec![Coding::Gzip])),
            (
                &["deflate", "br"],
                Ok(vec![Coding::Deflate, Coding::Brotli]),
            ),
            (
                &["gzip, identity, zstd"],
                Ok(vec![Coding::Gzip, Coding::Zstd]),
            ),
            (
                &["gzip,gzip", "gzip"],
                Err("3 content codings on one body; at most 2 are decoded"),
            ),
            (
                &["compress"],
                Err("content coding \"compress\" is not one of gzip, deflate, br, zstd"),
            ),
            (
                &["gz\u{e9}p"],
                Err("content coding \"gz\u{e9}p\" is not one of gzip, deflate, br, zstd"),
            ),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                let value = hyper::header::HeaderValue::from_bytes(line.as_bytes()).unwrap();
                headers.append(CONTENT_ENCODING, value);
            }
            let found = Coding::of(&headers).map_err(|fault| fault.to_string());
            assert_eq!(found, expect.map_err(str::to_owned), "{lines:?}");
        }
    }
}
