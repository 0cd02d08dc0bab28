//! The real transport: hyper over rustls, names from hickory, addresses through the guard.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use comity_compliance::Grounds;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    PROXY_AUTHORIZATION, USER_AGENT,
};
use hyper::http::Extensions;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::client::legacy::Error as ClientError;
use hyper_util::client::legacy::connect::{CaptureConnection, HttpInfo, capture_connection};
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};
use xxhash_rust::xxh3::xxh3_64;

use super::body::{BodyLimits, Coding, Collected, collect};
use super::dns::{GuardedNames, NoAddress};
use super::error::chain;
use super::kept::{Held, OpenConnections};
use super::setup::Clients;
use super::{
    Completeness, FetchError, FetchErrorKind, HttpConfig, PartialCause, Proxies, ProxyFault, Reply,
    SetupError, Terms, TlsFault, TlsProblem, Transport,
};
use crate::clock::Clock;

/// Bytes of a body that is not a 2xx: enough to tell a person what the server said.
const OTHER_BODY_BYTES: usize = 64 * 1024;
/// Hosts that are remembered to have left HTTP/2.
const HTTP1_HOSTS: usize = 10_000;
/// Connections that are remembered to have brought an answer.
const ANSWERED: usize = 10_000;
/// A deadline for limits that are too long to have one.
const FAR: Duration = Duration::from_secs(365 * 86_400);

/// Requests over real sockets. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct HttpTransport(Arc<Inner>);

struct Inner {
    clients: Clients,
    open: OpenConnections,
    names: GuardedNames,
    proxies: Proxies,
    user_agent: HeaderValue,
    header_bytes: usize,
    header_lines: usize,
    /// Hosts that have answered 421 on HTTP/2: how a server leaves it (HT-006).
    http1_hosts: Mutex<HashSet<String>>,
    /// Both ends of connections that have brought an answer: when one of them is found closed, the
    /// server has given it up, not refused the request.
    answered: Mutex<HashSet<Ends>>,
    clock: Clock,
}

/// A connection: our end and theirs.
type Ends = (SocketAddr, SocketAddr);

/// Which versions may be spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Versions {
    Any,
    Http1,
}

impl Transport for HttpTransport {
    async fn fetch(&self, grounds: Grounds, terms: Terms) -> Result<Reply, FetchError> {
        self.get(grounds.url(), &terms).await
    }

    /// The first address that may be connected to, which is also the first that a connection is
    /// tried to. Answers come from the cache where it has them.
    async fn address_of(&self, url: &Url) -> Result<IpAddr, FetchError> {
        self.find_address(url).await.map_err(|kind| failed(url, kind))
    }
}

impl HttpTransport {
    /// Sets up a transport. Nothing is connected yet.
    ///
    /// # Errors
    /// [`SetupError`] if the User-Agent or the extra CA cannot be used.
    pub fn new(config: HttpConfig, clock: Clock) -> Result<Self, SetupError> {
        let user_agent = config.user_agent_header()?;
        let names = config.guarded_names();
        let open = OpenConnections::keeping(config.idle_in_all);
        let clients = config.clients(&names, &open)?;
        Ok(Self(Arc::new(Inner {
            clients,
            open,
            names,
            proxies: config.proxies.clone(),
            user_agent,
            header_bytes: config.head_bytes(),
            header_lines: config.header_lines,
            http1_hosts: Mutex::default(),
            answered: Mutex::default(),
            clock,
        })))
    }

    async fn find_address(&self, url: &Url) -> Result<IpAddr, FetchErrorKind> {
        if let Some(Host::Domain(host)) = url.host()
            && self.0.proxies.for_url(url).is_some()
        {
            return Ok(stand_in(host));
        }
        self.find_addresses(url).await?.first().copied().ok_or_else(|| unsupported(url))
    }

    /// Those that may be connected to.
    async fn find_addresses(&self, url: &Url) -> Result<Vec<IpAddr>, FetchErrorKind> {
        self.admit_literal(url)?;
        match url.host() {
            Some(Host::Ipv4(ip)) => Ok(vec![ip.into()]),
            Some(Host::Ipv6(ip)) => Ok(vec![ip.into()]),
            Some(Host::Domain(host)) => self.0.names.resolve(host).await.map_err(no_address),
            None => Err(unsupported(url)),
        }
    }

    /// An address in a URL does not pass the connector's names: it is judged here.
    fn admit_literal(&self, url: &Url) -> Result<(), FetchErrorKind> {
        let literal = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::from(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::from(ip)),
            Some(Host::Domain(_)) | None => None,
        };
        literal.map_or(Ok(()), |ip| self.0.names.admit(ip)).map_err(FetchErrorKind::BlockedAddress)
    }

    /// One URL, one request, one reply.
    ///
    /// A 421 on HTTP/2 says nothing about the URL, only that this connection is wrong. It is no
    /// reply: a robots.txt would otherwise count as absent.
    pub(super) async fn get(&self, url: &Url, terms: &Terms) -> Result<Reply, FetchError> {
        let start = Instant::now();
        #[cfg(feature = "ftp")]
        if url.scheme() == "ftp" {
            let reply = self.exchange_ftp(url, &terms.limits, start).await;
            return reply.map_err(|kind| failed(url, kind));
        }
        let host = url.host_str().unwrap_or_default();
        let versions = self.versions_for(host);
        let reply = match self.exchange(url, terms, versions, start).await {
            Ok(reply) if versions == Versions::Any && is_misdirected(&reply) => {
                self.leave_http2(host);
                Err(FetchErrorKind::Misdirected)
            }
            reply => reply,
        };
        reply.map_err(|kind| failed(url, kind))
    }

    #[cfg(feature = "ftp")]
    async fn exchange_ftp(
        &self,
        url: &Url,
        limits: &super::Limits,
        start: Instant,
    ) -> Result<Reply, FetchErrorKind> {
        // No proxy is spoken to for FTP, and what goes past it may not be meant to.
        if self.0.proxies != Proxies::none() {
            return Err(unsupported(url));
        }
        let who = self.0.user_agent.to_str().unwrap_or("anonymous");
        let asking = super::ftp::Asking { url, limits, start, who, clock: self.0.clock };
        let addresses = async { self.find_addresses(url).await };
        super::ftp::get(asking, addresses).await
    }

    fn versions_for(&self, host: &str) -> Versions {
        let hosts = self.0.http1_hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.contains(host) { Versions::Http1 } else { Versions::Any }
    }

    fn leave_http2(&self, host: &str) {
        let mut hosts = self.0.http1_hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= HTTP1_HOSTS {
            // They are learnt again, at one request each.
            hosts.clear();
        }
        hosts.insert(host.to_owned());
    }

    async fn exchange(
        &self,
        url: &Url,
        terms: &Terms,
        versions: Versions,
        start: Instant,
    ) -> Result<Reply, FetchErrorKind> {
        self.admit_literal(url)?;
        let request = self.request(url, terms)?;
        let sent = without_login(request.headers());
        let (response, first_byte, held) = self.head(request, url, terms, versions, start).await?;
        let head_at = self.0.clock.now();
        let proxied = self.0.proxies.for_url(url).is_some();
        if proxied && response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Err(FetchErrorKind::Proxy(ProxyFault::Login));
        }
        let address = response.extensions().get::<HttpInfo>().map(HttpInfo::remote_addr);
        let address = address.filter(|_| !proxied);
        let (head, body) = response.into_parts();
        let body = receive(head.status, Coding::of(&head.headers), body, terms, start).await?;
        held.answered();
        // The connection's own task puts it back, a moment later: without it the next request to
        // the site, if it came at once, would open another.
        tokio::task::yield_now().await;
        Ok(Reply {
            url: url.clone(),
            status: head.status,
            request: sent,
            headers: head.headers,
            body: body.bytes,
            completeness: body.completeness,
            version: head.version,
            address,
            first_byte,
            total: start.elapsed(),
            wire_bytes: body.wire_bytes,
            head_at,
        })
    }

    fn request(&self, url: &Url, terms: &Terms) -> Result<Request<Empty<Bytes>>, FetchErrorKind> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = target(url)?;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(terms.accept.header()));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
        if let Some(login) = self.0.proxies.authorization_for(url) {
            headers.insert(PROXY_AUTHORIZATION, login);
        }
        if let Some(etag) = &terms.validators.etag {
            headers.insert(IF_NONE_MATCH, etag.clone());
        }
        if let Some(date) = &terms.validators.last_modified {
            headers.insert(IF_MODIFIED_SINCE, date.clone());
        }
        Ok(request)
    }

    /// The response head, how long it took from the open connection on, and the connection.
    async fn head(
        &self,
        mut request: Request<Empty<Bytes>>,
        url: &Url,
        terms: &Terms,
        versions: Versions,
        start: Instant,
    ) -> Result<(Response<Incoming>, Duration, Held), FetchErrorKind> {
        let limits = &terms.limits;
        let whole = deadline_of(start, limits.whole);
        let late = |limit: FetchErrorKind, deadline| {
            if deadline < whole { limit } else { FetchErrorKind::Timeout(limits.whole) }
        };
        let mut connection = capture_connection(&mut request);
        let held = self.0.open.hold(connection.clone());
        let mut response = pin!(match versions {
            Versions::Any => self.0.clients.any_version.request(request),
            Versions::Http1 => self.0.clients.http1_only.request(request),
        });
        let deadline = whole.min(deadline_of(start, limits.connect));
        let opening = async {
            tokio::select! {
                biased;
                response = &mut response => Some(response),
                _ = connection.wait_for_connection_metadata() => None,
            }
        };
        let early = timeout_at(deadline, opening)
            .await
            .map_err(|_| late(FetchErrorKind::ConnectTimeout(limits.connect), deadline))?;
        let connected = Instant::now();
        let response = match early {
            Some(response) => response,
            None => {
                let deadline = whole.min(deadline_of(connected, limits.first_byte));
                timeout_at(deadline, response).await.map_err(|_| {
                    late(FetchErrorKind::FirstByteTimeout(limits.first_byte), deadline)
                })?
            }
        };
        let response = response.map_err(|error| {
            let kind = self.kind_of(error, url);
            self.or_stale(kind, ends_of(&connection))
        })?;
        self.note_answer(ends_of(&connection));
        self.admit_head(response.headers())?;
        Ok((response, connected.elapsed(), held))
    }

    fn note_answer(&self, ends: Option<Ends>) {
        let mut answered = self.0.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if answered.len() >= ANSWERED {
            // What is forgotten counts as a failure of the server.
            answered.clear();
        }
        answered.extend(ends);
    }

    /// A connection that has answered before, and now is closed, was given up by the server. A
    /// new one that is closed is a failure.
    fn or_stale(&self, kind: FetchErrorKind, ends: Option<Ends>) -> FetchErrorKind {
        if !matches!(kind, FetchErrorKind::Closed | FetchErrorKind::Interrupted(_)) {
            return kind;
        }
        let mut answered = self.0.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let known = ends.is_some_and(|ends| answered.remove(&ends));
        if known { FetchErrorKind::Stale } else { kind }
    }

    /// hyper asks for the size of a head only when it must read more of it.
    fn admit_head(&self, headers: &HeaderMap) -> Result<(), FetchErrorKind> {
        let line = |(name, value): (&HeaderName, &HeaderValue)| {
            name.as_str().len() + value.len() + ": \r\n".len()
        };
        let bytes: usize = headers.iter().map(line).sum();
        if bytes > self.0.header_bytes || headers.len() > self.0.header_lines {
            return Err(self.head_too_large());
        }
        Ok(())
    }

    fn head_too_large(&self) -> FetchErrorKind {
        FetchErrorKind::HeadTooLarge { bytes: self.0.header_bytes, lines: self.0.header_lines }
    }

    /// What hyper's error means.
    fn kind_of(&self, error: ClientError, url: &Url) -> FetchErrorKind {
        let connecting = error.is_connect();
        let mut broken = None;
        for cause in chain(&error) {
            if let Some(reason) = cause.downcast_ref::<NoAddress>() {
                return no_address(reason.clone());
            }
            if let Some(fault) = cause.downcast_ref::<ProxyFault>() {
                return fault.to_owned_kind();
            }
            if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
                let host = url.host_str().unwrap_or_default().to_owned();
                return FetchErrorKind::Tls(TlsFault { host, problem: TlsProblem::of(tls) });
            }
            if let Some(http) = cause.downcast_ref::<hyper::Error>() {
                if http.is_parse_too_large() {
                    return self.head_too_large();
                }
                if http.is_incomplete_message() || http.is_closed() || http.is_canceled() {
                    return FetchErrorKind::Closed;
                }
            }
            if let Some(io) = cause.downcast_ref::<io::Error>() {
                broken = Some(copy_of(io));
            }
        }
        match broken {
            Some(io) if connecting => FetchErrorKind::Connect(io),
            Some(io) => FetchErrorKind::Interrupted(io),
            None => FetchErrorKind::Protocol(Box::new(error)),
        }
    }
}

/// The body of a response. Outside 2xx its status is what counts, so a body that cannot be decoded
/// is no error there.
async fn receive(
    status: StatusCode,
    codings: Result<Vec<Coding>, super::CodingFault>,
    body: Incoming,
    terms: &Terms,
    start: Instant,
) -> Result<Collected, FetchErrorKind> {
    let limits = &terms.limits;
    let most = if status.is_success() { usize::MAX } else { OTHER_BODY_BYTES };
    let bounds = BodyLimits {
        bytes: limits.body_bytes.min(most),
        expansion_ratio: limits.expansion_ratio,
        deadline: deadline_of(start, limits.whole),
    };
    let body = match codings {
        Ok(codings) => collect(body, &codings, bounds).await,
        Err(fault) => Err(FetchErrorKind::Coding(fault)),
    };
    match body {
        Err(FetchErrorKind::Coding(_) | FetchErrorKind::Expansion { .. })
            if !status.is_success() =>
        {
            Ok(Collected {
                bytes: Bytes::new(),
                completeness: Completeness::Partial(PartialCause::Coding),
                wire_bytes: 0,
            })
        }
        Ok(_) | Err(_) => body,
    }
}

/// Headers of a request as they may be kept: a proxy's login is no part of them.
fn without_login(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove(PROXY_AUTHORIZATION);
    headers
}

fn ends_of(connection: &CaptureConnection) -> Option<Ends> {
    let mut extras = Extensions::new();
    connection.connection_metadata().as_ref()?.get_extras(&mut extras);
    let info = extras.get::<HttpInfo>()?;
    Some((info.local_addr(), info.remote_addr()))
}

pub(super) fn deadline_of(start: Instant, limit: Duration) -> Instant {
    start + limit.min(FAR)
}

/// The URL as a request names it: no fragment, no user name, no password.
fn target(url: &Url) -> Result<Uri, FetchErrorKind> {
    let authority = match (url.scheme(), url.host_str(), url.port()) {
        ("http" | "https", Some(host), Some(port)) => format!("{host}:{port}"),
        ("http" | "https", Some(host), None) => host.to_owned(),
        _ => return Err(unsupported(url)),
    };
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    Uri::builder()
        .scheme(url.scheme())
        .authority(authority)
        .path_and_query(path)
        .build()
        .map_err(|_| unsupported(url))
}

/// What counts as a host's address where only a proxy knows it: each host has one of its own.
fn stand_in(host: &str) -> IpAddr {
    // A unique local address (RFC 4193), which is never connected to.
    let hash = u128::from(xxh3_64(host.as_bytes()));
    IpAddr::from((0xfd00_u128 << 112 | hash).to_be_bytes())
}

fn is_misdirected(reply: &Reply) -> bool {
    reply.status == StatusCode::MISDIRECTED_REQUEST && reply.version == Version::HTTP_2
}

pub(super) fn unsupported(url: &Url) -> FetchErrorKind {
    FetchErrorKind::UnsupportedUrl(url.as_str().chars().take(200).collect())
}

fn failed(url: &Url, kind: FetchErrorKind) -> FetchError {
    FetchError { url: Box::new(url.clone()), kind }
}

fn no_address(reason: NoAddress) -> FetchErrorKind {
    match reason {
        NoAddress::Dns(error) => FetchErrorKind::Dns(error),
        NoAddress::Blocked(blocked) => FetchErrorKind::BlockedAddress(blocked),
    }
}

/// The error as a value of its own: hyper only lends it.
pub(super) fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
