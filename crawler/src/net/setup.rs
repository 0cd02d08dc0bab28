//! How requests are made: the operator's settings, and the clients made of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::HeaderValue;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ipnet::IpNet;
use rustls::ClientConfig;
use thiserror::Error;

use super::dns::GuardedNames;
use super::kept::{Counting, OpenConnections};
use super::proxy::Dialer;
use super::tls::client_config;
use super::{CaError, Guard, Names, Proxies};

/// Unread bytes that an HTTP/2 server may send ahead for one response.
const STREAM_WINDOW: u32 = 256 * 1024;
/// The same for all responses of one connection.
const CONNECTION_WINDOW: u32 = 512 * 1024;
/// hyper takes no smaller buffer.
const LEAST_HEADER_BYTES: usize = 8192;
/// For all addresses of a name together, each an equal part; a fetch's own limit comes on top.
const TCP_TIMEOUT: Duration = Duration::from_secs(10);

/// How requests are made.
#[derive(Clone)]
pub struct HttpConfig {
    /// The User-Agent header.
    pub user_agent: String,
    /// Networks that may be crawled although they are not public.
    pub allowed_networks: Vec<IpNet>,
    /// A PEM file with CAs that are trusted beside the web's.
    pub extra_ca: Option<PathBuf>,
    /// Host names to addresses.
    pub names: Names,
    /// Which requests go through a proxy.
    pub proxies: Proxies,
    /// Bytes of a response head; at least 8192.
    pub header_bytes: usize,
    /// Lines of a response head.
    pub header_lines: usize,
    /// Idle connections that are kept for one origin.
    pub idle_per_origin: usize,
    /// Idle connections that are kept for all origins together; each takes 23 to 95 KiB.
    pub idle_in_all: usize,
    /// How long an idle connection is kept.
    pub idle_for: Duration,
}

impl HttpConfig {
    /// The defaults under that User-Agent: public addresses, the web's CAs, the system's names.
    pub fn new(user_agent: &str) -> Self {
        Self {
            user_agent: user_agent.to_owned(),
            allowed_networks: Vec::new(),
            extra_ca: None,
            names: Names::system(),
            proxies: Proxies::none(),
            header_bytes: 64 * 1024,
            header_lines: 256,
            idle_per_origin: 1,
            idle_in_all: 512,
            idle_for: Duration::from_secs(15),
        }
    }

    pub(super) fn user_agent_header(&self) -> Result<HeaderValue, SetupError> {
        HeaderValue::from_str(&self.user_agent)
            .map_err(|_| SetupError::UserAgent(self.user_agent.clone()))
    }

    pub(super) fn guarded_names(&self) -> GuardedNames {
        let guard = Guard::allowing(self.allowed_networks.clone());
        GuardedNames(Arc::new((self.names.clone(), guard)))
    }

    pub(super) fn head_bytes(&self) -> usize {
        self.header_bytes.max(LEAST_HEADER_BYTES)
    }

    pub(super) fn clients(
        &self,
        names: &GuardedNames,
        open: &OpenConnections,
    ) -> Result<Clients, SetupError> {
        let tls = self.tls()?;
        let mut tcp = HttpConnector::new_with_resolver(names.clone());
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(TCP_TIMEOUT));
        let (proxies, names) = (self.proxies.clone(), self.names.clone());
        let dialer = Dialer { direct: tcp, proxies, names };
        let tcp = Counting { connector: dialer, open: open.clone() };
        let secured = || {
            let builder = HttpsConnectorBuilder::new().with_tls_config(tls.clone());
            builder.https_or_http().enable_http1()
        };
        Ok(Clients {
            any_version: self.client(secured().enable_http2().wrap_connector(tcp.clone())),
            http1_only: self.client(secured().wrap_connector(tcp)),
        })
    }

    fn tls(&self) -> Result<ClientConfig, SetupError> {
        client_config(self.extra_ca.as_deref()).map_err(|cause| match self.extra_ca.clone() {
            Some(path) => SetupError::ExtraCa { path, cause },
            None => SetupError::Tls(cause),
        })
    }

    fn client(&self, connector: Connector) -> HttpClient {
        let head_bytes = self.head_bytes();
        Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(self.idle_for)
            .pool_max_idle_per_host(self.idle_per_origin)
            .http1_max_buf_size(head_bytes)
            .http1_max_headers(self.header_lines)
            .http2_max_header_list_size(u32::try_from(head_bytes).unwrap_or(u32::MAX))
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .build(connector)
    }
}

/// hyper's pooled clients, one for each choice of versions.
pub(super) struct Clients {
    pub(super) any_version: HttpClient,
    pub(super) http1_only: HttpClient,
}

pub(super) type HttpClient = Client<Connector, Empty<Bytes>>;

type Connector = HttpsConnector<Counting<Dialer>>;

/// A transport that cannot be set up.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The User-Agent cannot stand in a header.
    #[error("User-Agent {0:?} cannot be sent; use printable ASCII")]
    UserAgent(String),
    /// The extra CA cannot be used.
    #[error("the extra CA {} cannot be used", path.display())]
    ExtraCa {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: CaError,
    },
    /// TLS cannot be set up.
    #[error("TLS could not be set up")]
    Tls(#[source] CaError),
}
