//! What a fetch is, whoever carries it out: the terms, the reply, the trait.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use comity_compliance::{Grounds, Timestamp};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{StatusCode, Version};
use url::Url;

use super::FetchError;
use crate::reasons::FailureReason;

/// Carries out requests that compliance has decided.
pub trait Transport: Send + Sync + 'static {
    /// Makes the one request that `grounds` permits: GET, no redirect followed, no cookie sent.
    ///
    /// A reply of any status is `Ok`. What the limits of `terms` cut is
    /// [`Completeness::Truncated`]; what the peer cut is [`Completeness::Partial`].
    ///
    /// # Errors
    /// [`FetchError`] if no response head came, or if a 2xx body cannot be decoded.
    fn fetch(
        &self,
        grounds: Grounds,
        terms: Terms,
    ) -> impl Future<Output = Result<Reply, FetchError>> + Send;

    /// The address that a URL's host has, as ceilings count it. No request is made.
    ///
    /// # Errors
    /// [`FetchError`] if the host has no address, or none that may be connected to.
    fn address_of(&self, url: &Url) -> impl Future<Output = Result<IpAddr, FetchError>> + Send;
}

/// How a URL is asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Terms {
    /// What bounds the fetch.
    pub limits: Limits,
    /// What kind of document is wanted.
    pub accept: Accept,
    /// What is known of an earlier copy.
    pub validators: Validators,
}

/// The numbers that guard one fetch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// From the start to an open connection: name, TCP and TLS together.
    pub connect: Duration,
    /// From an open connection to the end of the response head.
    pub first_byte: Duration,
    /// From the start to the end of the body.
    pub whole: Duration,
    /// Decoded bytes of the body that are kept; the rest is not read (HT-007).
    pub body_bytes: usize,
    /// Decoded bytes for each byte received, once more than 1 MiB is decoded.
    pub expansion_ratio: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            whole: Duration::from_secs(60),
            body_bytes: 2 * 1024 * 1024,
            expansion_ratio: 200,
        }
    }
}

impl Limits {
    /// The same with another number of body bytes.
    #[must_use]
    pub const fn with_body_bytes(mut self, bytes: usize) -> Self {
        self.body_bytes = bytes;
        self
    }
}

/// The kind of document that is wanted, for the Accept header.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Accept {
    /// A page.
    #[default]
    Page,
    /// A robots.txt.
    Robots,
    /// A sitemap or a feed.
    Sitemap,
}

impl Accept {
    /// The header's value. Every kind ends in `*/*`: what comes is judged, not negotiated.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Page => "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            Self::Robots => "text/plain,*/*;q=0.8",
            Self::Sitemap => "application/xml,text/xml,text/plain;q=0.9,*/*;q=0.8",
        }
    }
}

/// What makes a request conditional (HT-008). Both are sent: a server goes by the first that it
/// knows, and the entity tag wins (RFC 9110 section 13.2.2).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Validators {
    /// The ETag of the copy at hand, for If-None-Match.
    pub etag: Option<HeaderValue>,
    /// The Last-Modified of the copy at hand, for If-Modified-Since.
    pub last_modified: Option<HeaderValue>,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The URL that was requested.
    pub url: Url,
    /// The status.
    pub status: StatusCode,
    /// The headers that were sent, but for those that the connection adds and those that speak to a
    /// proxy.
    pub request: HeaderMap,
    /// The headers as they came. Content-Encoding and Content-Length still tell of the wire.
    pub headers: HeaderMap,
    /// The decoded body, at most [`Limits::body_bytes`].
    pub body: Bytes,
    /// Whether `body` is all that there is.
    pub completeness: Completeness,
    /// The protocol's version. What came by FTP has HTTP/0.9: a body without a head.
    pub version: Version,
    /// Who answered; `None` where that is not known: behind a proxy, in a simulated web.
    pub address: Option<SocketAddr>,
    /// From the open connection to the response head.
    pub first_byte: Duration,
    /// From the start of the fetch to the end of the body.
    pub total: Duration,
    /// Bytes of the body as they were received, before decoding.
    pub wire_bytes: u64,
    /// When the response head came.
    pub head_at: Timestamp,
}

/// How much of a body is at hand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Completeness {
    /// All of it.
    Whole,
    /// Our own limit cut it.
    Truncated,
    /// It ended before its end.
    Partial(PartialCause),
}

/// Why a body ended before its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PartialCause {
    /// The connection was closed or reset before all announced bytes had come.
    Cut,
    /// The framing of the body is broken, such as a bad chunk.
    Framing,
    /// The time of the whole fetch ran out.
    Timeout,
    /// The content coding ends in the middle, or (outside 2xx) cannot be decoded.
    Coding,
}

impl PartialCause {
    /// Every cause.
    pub const ALL: &[Self] = &[Self::Cut, Self::Framing, Self::Timeout, Self::Coding];

    /// Why a visit fails whose page ended so.
    pub const fn reason(self) -> FailureReason {
        match self {
            Self::Cut => FailureReason::BodyCut,
            Self::Framing => FailureReason::BodyFraming,
            Self::Timeout => FailureReason::BodyTimeout,
            Self::Coding => FailureReason::BodyCoding,
        }
    }
}
