//! Host names to addresses: the operator's own, the hosts file, then DNS with its own cache.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError as Answer, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;
use hickory_resolver::{TokioResolver, system_conf};
use hyper_util::client::legacy::connect::dns as wire;
use thiserror::Error;

use super::{Blocked, Guard};
use crate::reasons::FailureReason;
use crate::urls::is_localhost;

/// One question to one set of servers.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(3);
/// All questions about one name.
const NAME_TIMEOUT: Duration = Duration::from_secs(10);
/// Answers that are remembered, for as long as their time to live says.
const CACHED_ANSWERS: u64 = 16_384;
/// An answer is asked for again after so long, whatever its time to live.
const LONGEST_TTL: Duration = Duration::from_secs(86_400);
/// That a name has no address is believed for so long at most.
const LONGEST_NEGATIVE_TTL: Duration = Duration::from_secs(15 * 60);

/// A name that did not become an address.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{host}: {kind}")]
pub struct DnsError {
    /// The name.
    pub host: String,
    /// What went wrong.
    pub kind: DnsErrorKind,
}

/// What can go wrong with a name.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum DnsErrorKind {
    /// It does not exist, or has no address.
    #[error("no such host, or it has no address")]
    NotFound,
    /// The name servers failed.
    #[error("the name servers failed: {0}")]
    ServerFailure(String),
    /// The name servers did not answer.
    #[error("the name servers did not answer in time")]
    Timeout,
    /// This machine names no name server.
    #[error("this machine has no usable DNS configuration ({0}); check /etc/resolv.conf")]
    Unconfigured(String),
    /// It cannot be a host name.
    #[error("not a host name: {0}")]
    Malformed(String),
}

impl DnsErrorKind {
    /// Why a visit fails that needs the name.
    pub const fn reason(&self) -> FailureReason {
        match self {
            Self::NotFound => FailureReason::DnsNotFound,
            Self::ServerFailure(_) => FailureReason::DnsServerFailure,
            Self::Timeout => FailureReason::DnsTimeout,
            Self::Unconfigured(_) => FailureReason::DnsUnconfigured,
            Self::Malformed(_) => FailureReason::DnsMalformed,
        }
    }
}

/// The book of host names. Cheap to clone; clones share one cache.
#[derive(Clone)]
pub struct Names {
    fixed: HashMap<String, Vec<IpAddr>>,
    source: Source,
}

/// Where names come from that the operator did not fix.
#[derive(Clone)]
enum Source {
    /// The hosts file, then the system's name servers or those that were named.
    System(TokioResolver),
    /// The hosts file only, because the system names no server: the reason.
    HostsFile(TokioResolver, String),
    /// Nowhere.
    Offline,
    /// Nothing could be set up: the reason.
    Broken(String),
}

impl Names {
    /// As the system is configured. A machine without name servers still knows its hosts file,
    /// and says what is wrong when it is asked for more.
    pub fn system() -> Self {
        let source = match system_conf::read_system_conf() {
            Ok((config, options)) => match resolver(config, options) {
                Ok(resolver) => Source::System(resolver),
                Err(error) => Source::Broken(error.to_string()),
            },
            Err(error) => Source::without_servers(error.to_string()),
        };
        Self { fixed: HashMap::new(), source }
    }

    /// The hosts file, then these name servers instead of the system's, over UDP and TCP.
    pub fn of_servers(servers: &[SocketAddr]) -> Self {
        let server = |at: &SocketAddr| {
            let (mut udp, mut tcp) = (ConnectionConfig::udp(), ConnectionConfig::tcp());
            (udp.port, tcp.port) = (at.port(), at.port());
            NameServerConfig::new(at.ip(), true, vec![udp, tcp])
        };
        let servers = servers.iter().map(server).collect();
        let config = ResolverConfig::from_parts(None, Vec::new(), servers);
        let source = match resolver(config, ResolverOpts::default()) {
            Ok(resolver) => Source::System(resolver),
            Err(error) => Source::Broken(error.to_string()),
        };
        Self { fixed: HashMap::new(), source }
    }

    /// Only names that are fixed with [`Names::with_static`], and `localhost`.
    pub fn offline() -> Self {
        Self { fixed: HashMap::new(), source: Source::Offline }
    }

    /// Fixes the addresses of a name, before anything else is asked.
    #[must_use]
    pub fn with_static(mut self, host: &str, addresses: Vec<IpAddr>) -> Self {
        self.fixed.insert(normal(host), addresses);
        self
    }

    /// The addresses of a name, IPv4 first; never empty.
    ///
    /// `localhost` and what ends in `.localhost` is loopback, `.invalid` and `.onion` do not exist
    /// (RFC 6761, RFC 7686); none of these reaches a server.
    ///
    /// # Errors
    /// [`DnsError`] if it has none, or if that cannot be found out.
    pub async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, DnsError> {
        let name = normal(host);
        let found = match self.fixed.get(&name) {
            Some(addresses) => Ok(addresses.clone()),
            None => match special(&name) {
                Some(answer) => answer,
                None => self.source.ask(&name).await,
            },
        };
        match found {
            Ok(addresses) if addresses.is_empty() => Err(DnsErrorKind::NotFound),
            Ok(addresses) => Ok(addresses),
            Err(kind) => Err(kind),
        }
        .map_err(|kind| DnsError { host: name, kind })
    }
}

/// Lower case, without the dot of the root.
fn normal(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Names that DNS has no say in.
fn special(name: &str) -> Option<Result<Vec<IpAddr>, DnsErrorKind>> {
    if is_localhost(name) {
        return Some(Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]));
    }
    match name.rsplit('.').next() {
        Some("invalid" | "onion") => Some(Err(DnsErrorKind::NotFound)),
        Some(_) | None => None,
    }
}

fn resolver(config: ResolverConfig, mut options: ResolverOpts) -> Result<TokioResolver, NetError> {
    options.timeout = QUESTION_TIMEOUT;
    options.attempts = 2;
    options.cache_size = CACHED_ANSWERS;
    options.positive_max_ttl = Some(LONGEST_TTL);
    options.negative_max_ttl = Some(LONGEST_NEGATIVE_TTL);
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        .with_options(options)
        .build()
}

impl Source {
    fn without_servers(reason: String) -> Self {
        let nobody = ResolverConfig::from_parts(None, Vec::new(), Vec::new());
        match resolver(nobody, ResolverOpts::default()) {
            Ok(resolver) => Self::HostsFile(resolver, reason),
            Err(error) => Self::Broken(error.to_string()),
        }
    }

    async fn ask(&self, name: &str) -> Result<Vec<IpAddr>, DnsErrorKind> {
        match self {
            Self::System(resolver) => look_up(resolver, name).await,
            Self::HostsFile(resolver, reason) => look_up(resolver, name)
                .await
                .map_err(|_| DnsErrorKind::Unconfigured(reason.clone())),
            Self::Offline => Err(DnsErrorKind::NotFound),
            Self::Broken(reason) => Err(DnsErrorKind::Unconfigured(reason.clone())),
        }
    }
}

async fn look_up(resolver: &TokioResolver, name: &str) -> Result<Vec<IpAddr>, DnsErrorKind> {
    let mut absolute =
        Name::from_ascii(name).map_err(|error| DnsErrorKind::Malformed(error.to_string()))?;
    // A host of a URL is a whole name: no search domain may be put behind it.
    absolute.set_fqdn(true);
    match tokio::time::timeout(NAME_TIMEOUT, resolver.lookup_ip(absolute)).await {
        Ok(Ok(found)) => Ok(found.iter().collect()),
        Ok(Err(error)) => Err(kind_of(&error)),
        Err(_) => Err(DnsErrorKind::Timeout),
    }
}

fn kind_of(error: &NetError) -> DnsErrorKind {
    if let NetError::Dns(Answer::NoRecordsFound(none)) = error
        && matches!(none.response_code, ResponseCode::NXDomain | ResponseCode::NoError)
    {
        return DnsErrorKind::NotFound;
    }
    if matches!(error, NetError::Timeout) {
        return DnsErrorKind::Timeout;
    }
    DnsErrorKind::ServerFailure(error.to_string())
}

/// Names that have passed the guard: what the connector is given.
#[derive(Clone)]
pub(super) struct GuardedNames(pub(super) Arc<(Names, Guard)>);

/// Why a name gave the connector no address.
#[derive(Clone, Debug, Error)]
pub(super) enum NoAddress {
    /// It has none.
    #[error(transparent)]
    Dns(#[from] DnsError),
    /// It has none that may be connected to.
    #[error(transparent)]
    Blocked(#[from] Blocked),
}

impl GuardedNames {
    /// The addresses of a name that may be connected to.
    pub(super) async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, NoAddress> {
        let (names, guard) = &*self.0;
        Ok(guard.sift(names.resolve(host).await?)?)
    }

    /// Judges an address that stands in a URL.
    pub(super) fn admit(&self, address: IpAddr) -> Result<(), Blocked> {
        self.0.1.admit(address)
    }
}

impl tower_service::Service<wire::Name> for GuardedNames {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = NoAddress;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NoAddress>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoAddress>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: wire::Name) -> Self::Future {
        let names = self.clone();
        Box::pin(async move {
            let addresses = names.resolve(name.as_str()).await?;
            // The connector puts the URL's port in place of 0.
            let sockets: Vec<_> = addresses.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
            Ok(sockets.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::net::UdpSocket;

    use super::*;

    fn ips(list: &[&str]) -> Vec<IpAddr> {
        list.iter().map(|ip| ip.parse().unwrap()).collect()
    }

    #[tokio::test]
    async fn names_that_need_no_server() {
        let names = Names::system().with_static("Fixed.Example.", ips(&["192.0.2.7"]));
        let loopback = ips(&["127.0.0.1", "::1"]);
        for (host, expect) in [
            ("localhost", Ok(&loopback)),
            ("a.b.LOCALHOST.", Ok(&loopback)),
            ("fixed.example", Ok(&ips(&["192.0.2.7"]))),
            ("FIXED.example.", Ok(&ips(&["192.0.2.7"]))),
            ("nobody.invalid", Err(DnsErrorKind::NotFound)),
            ("x.onion", Err(DnsErrorKind::NotFound)),
        ] {
            let found = names.resolve(host).await.map_err(|error| error.kind);
            assert_eq!(found.as_ref(), expect.as_ref().map(|ips| *ips), "{host}");
        }
        let error = Names::offline().resolve("example.org").await.unwrap_err();
        assert_eq!(error.to_string(), "example.org: no such host, or it has no address");
    }

    #[tokio::test]
    async fn without_servers_the_reason_is_given() {
        let names =
            Names { fixed: HashMap::new(), source: Source::without_servers("no such file".into()) };
        let error = names.resolve("example.org").await.unwrap_err();
        assert_eq!(error.kind, DnsErrorKind::Unconfigured("no such file".into()));
        let long = format!("{}.example", "a".repeat(64));
        assert!(names.resolve(&long).await.is_err());
    }

    /// A name server that knows three names, and counts what it is asked.
    async fn server(asked: Arc<AtomicUsize>) -> u16 {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = socket.local_addr().unwrap().port();
        tokio::spawn(async move {
            let mut query = [0; 512];
            while let Ok((_, client)) = socket.recv_from(&mut query).await {
                asked.fetch_add(1, Ordering::Relaxed);
                let _ = socket.send_to(&answer(&query), client).await;
            }
        });
        port
    }

    /// RFC 1035 section 4.1, by hand.
    fn answer(query: &[u8]) -> Vec<u8> {
        let name_length = query[12..].iter().position(|&byte| byte == 0).unwrap() + 1;
        let question = &query[12..12 + name_length + 4];
        let first_label = &question[1..=usize::from(question[0])].to_ascii_lowercase();
        let is_v4 = question[name_length..][..2] == [0, 1];
        let data: &[u8] = match (first_label.as_slice(), is_v4) {
            (b"both" | b"four", true) => &[192, 0, 2, 7],
            (b"both", false) => &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7],
            _ => &[],
        };
        let code = match first_label.as_slice() {
            b"both" | b"four" | b"empty" => 0,
            b"broken" => 2,
            _ => 3,
        };
        let answers = u8::from(!data.is_empty());
        let mut reply =
            [query[0], query[1], 0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0].to_vec();
        reply.extend(question);
        if answers == 1 {
            reply.extend([0xc0, 12, 0, if is_v4 { 1 } else { 28 }, 0, 1, 0, 0, 0, 60, 0]);
            reply.push(u8::try_from(data.len()).unwrap());
            reply.extend(data);
        }
        reply
    }

    #[tokio::test]
    async fn servers_are_asked_once_for_what_they_know() {
        let asked = Arc::new(AtomicUsize::new(0));
        let mut udp = ConnectionConfig::udp();
        udp.port = server(asked.clone()).await;
        let loopback = Ipv4Addr::LOCALHOST.into();
        let server = NameServerConfig::new(loopback, true, vec![udp]);
        let search = Name::from_ascii("four.example.").unwrap();
        let config = ResolverConfig::from_parts(None, vec![search], vec![server]);
        let names = Names {
            fixed: HashMap::new(),
            source: Source::System(resolver(config, ResolverOpts::default()).unwrap()),
        };
        for (host, expect) in [
            ("both.example", Ok(ips(&["192.0.2.7", "2001:db8::7"]))),
            ("four.example.", Ok(ips(&["192.0.2.7"]))),
            ("empty.example", Err("dns-not-found")),
            ("unknown.example", Err("dns-not-found")),
            ("unknown", Err("dns-not-found")),
            ("broken.example", Err("dns-server-failure")),
        ] {
            let found = names.resolve(host).await.map_err(|error| error.kind.reason().code());
            assert_eq!(found, expect, "{host}");
        }
        let before = asked.load(Ordering::Relaxed);
        assert!(names.resolve("BOTH.example").await.is_ok());
        assert_eq!(asked.load(Ordering::Relaxed), before, "asked again before its time to live");
    }
}
