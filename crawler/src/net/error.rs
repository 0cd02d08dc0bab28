//! Why a fetch brought no response.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use comity_compliance::RefusalReason;
use thiserror::Error;
use url::Url;

use super::{Blocked, CodingFault, DnsError, ProxyFault, TlsFault};
use crate::reasons::FailureReason;

/// A fetch that brought no usable response.
#[derive(Debug, Error)]
#[error("could not fetch {url}")]
pub struct FetchError {
    /// The URL that was asked for.
    pub url: Box<Url>,
    /// What went wrong.
    #[source]
    pub kind: FetchErrorKind,
}

/// What can go wrong before a usable response is there.
#[derive(Debug, Error)]
pub enum FetchErrorKind {
    /// Not a URL that HTTP can ask for.
    #[error("{0} cannot be requested over HTTP")]
    UnsupportedUrl(String),
    /// The name has no address.
    #[error("the host name could not be resolved")]
    Dns(#[source] DnsError),
    /// The address is not on the public internet.
    #[error("the address may not be connected to")]
    BlockedAddress(#[source] Blocked),
    /// No connection within the limit.
    #[error("no connection within {} s; the host may be down or filter packets", .0.as_secs_f32())]
    ConnectTimeout(Duration),
    /// The proxy brought no connection: nothing is known of the site.
    #[error("no way through the proxy")]
    Proxy(#[source] ProxyFault),
    /// The proxy works, and could not reach the host.
    #[error("the host was not reached")]
    BeyondProxy(#[source] ProxyFault),
    /// The connection was refused or failed.
    #[error("the connection failed")]
    Connect(#[source] io::Error),
    /// The TLS handshake failed.
    #[error("no secure connection could be made")]
    Tls(#[source] TlsFault),
    /// No response head within the limit.
    #[error("connected, but no response head within {} s", .0.as_secs_f32())]
    FirstByteTimeout(Duration),
    /// The time of the whole fetch ran out before the response head came.
    #[error("no response within {} s, the limit of a whole fetch", .0.as_secs_f32())]
    Timeout(Duration),
    /// The server closed the connection instead of answering.
    #[error("the server closed the connection before it had answered")]
    Closed,
    /// The server had closed a connection on which it had answered before: it gave it up between
    /// two requests, and most likely never read this one.
    #[error("the server had closed the connection since its last answer")]
    Stale,
    /// The server answered 421 on HTTP/2: the connection was wrong, whatever the URL. From now on
    /// the host is asked over HTTP/1.1 (HT-006, RFC 9110 section 15.5.20).
    #[error("the server does not serve this host over HTTP/2")]
    Misdirected,
    /// The connection broke instead of bringing an answer.
    #[error("the connection broke before the server had answered")]
    Interrupted(#[source] io::Error),
    /// The response head is larger than permitted.
    #[error("the response head is longer than {bytes} bytes or {lines} lines")]
    HeadTooLarge {
        /// Permitted bytes.
        bytes: usize,
        /// Permitted header lines.
        lines: usize,
    },
    /// What came is not HTTP.
    #[error("the answer is not valid HTTP")]
    Protocol(#[source] Box<dyn StdError + Send + Sync>),
    /// An FTP server refused, other than by 550, which is as a 404 (AM-20).
    #[error("the FTP server refused with code {code}: {words}")]
    Ftp {
        /// The reply's code (RFC 959 section 4.2).
        code: u32,
        /// What it said.
        words: String,
    },
    /// The body's content coding is unknown or its data is corrupt.
    #[error("the body could not be decoded")]
    Coding(#[source] CodingFault),
    /// The body decodes to far more than was sent.
    #[error(
        "the body expands {received} bytes to more than {decoded}: it looks like a decompression bomb"
    )]
    Expansion {
        /// Bytes received.
        received: u64,
        /// Bytes decoded until it was stopped.
        decoded: u64,
    },
}

impl FetchError {
    /// The whole story on one line: what went wrong and what that came from. What a server sent
    /// may be in it, so nothing in it can steer a terminal.
    pub fn in_words(&self) -> String {
        let mut words = self.kind.to_string();
        let mut below = self.kind.source();
        while let Some(cause) = below {
            let text = cause.to_string();
            if !words.ends_with(&text) {
                words = format!("{words}: {text}");
            }
            below = cause.source();
        }
        words.replace(char::is_control, "\u{fffd}")
    }
}

impl FetchErrorKind {
    /// Why the visit failed; `None` if the address may not be connected to: that is a refusal,
    /// and no failure of the site's.
    pub const fn reason(&self) -> Option<FailureReason> {
        Some(match self {
            Self::BlockedAddress(_) => return None,
            Self::UnsupportedUrl(_) => FailureReason::UnsupportedUrl,
            Self::Dns(error) => error.kind.reason(),
            Self::ConnectTimeout(_) => FailureReason::ConnectTimeout,
            Self::Proxy(_) => FailureReason::Proxy,
            Self::BeyondProxy(_) => FailureReason::BeyondProxy,
            Self::Connect(_) => FailureReason::Connect,
            Self::Tls(fault) => fault.problem.reason(),
            Self::FirstByteTimeout(_) => FailureReason::FirstByteTimeout,
            Self::Timeout(_) => FailureReason::Timeout,
            Self::Closed => FailureReason::Closed,
            Self::Stale => FailureReason::StaleConnection,
            Self::Misdirected => FailureReason::Misdirected,
            Self::Interrupted(_) => FailureReason::Interrupted,
            Self::HeadTooLarge { .. } => FailureReason::HeadTooLarge,
            Self::Protocol(_) => FailureReason::Protocol,
            Self::Ftp { .. } => FailureReason::FtpRefused,
            Self::Coding(_) => FailureReason::Coding,
            Self::Expansion { .. } => FailureReason::Expansion,
        })
    }

    /// The name used in logs and metrics; never changed.
    pub const fn code(&self) -> &'static str {
        match self.reason() {
            Some(reason) => reason.code(),
            None => RefusalReason::BlockedAddress.code(),
        }
    }
}

/// An error and all below it.
pub(super) fn chain<'a>(
    top: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(top), |error| below(*error)).take(CHAIN_LENGTH)
}

/// Longer chains of causes are not followed.
const CHAIN_LENGTH: usize = 32;

/// What caused an error, also where an [`io::Error`] wraps it: its own `source` skips that one.
fn below<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
