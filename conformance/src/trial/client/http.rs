//! One request, one answer, over HTTP/1.1 without any library that would hide what is sent.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_compression::tokio::bufread::GzipDecoder;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Url;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Octets of an answer that are read, and of what it unpacks to.
pub(super) const MOST: usize = 4 * 1024 * 1024;

/// What is asked.
#[derive(Clone)]
pub(super) struct Fetch {
    pub(super) url: Url,
    pub(super) method: &'static str,
    pub(super) agent: String,
    /// A header line.
    pub(super) condition: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) tls: Option<TlsConnector>,
    pub(super) endless: bool,
    pub(super) decodes: bool,
    pub(super) unpacks: bool,
}

/// What came.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Fetch {
    /// None if there is no whole answer.
    pub(super) async fn run(self) -> Option<Reply> {
        let patience = if self.endless { Duration::from_secs(100) } else { PATIENCE };
        timeout(patience, self.exchange()).await.ok()?
    }

    async fn exchange(&self) -> Option<Reply> {
        let host = self.url.host_str()?;
        let port = self.url.port_or_known_default()?;
        let secure = self.url.scheme() == "https";
        let path = &self.url[url::Position::BeforePath..url::Position::AfterQuery];
        let (address, target) = match &self.proxy {
            Some(proxy) => {
                let proxy = Url::parse(proxy).ok()?;
                let absolute = &self.url[..url::Position::AfterQuery];
                let target = if secure { path } else { absolute };
                (format!("{}:{}", proxy.host_str()?, proxy.port()?), target)
            }
            None => (format!("{host}:{port}"), path),
        };
        let mut stream = TcpStream::connect(address).await.ok()?;
        if !secure {
            return self.converse(stream, target).await;
        }
        if self.proxy.is_some() {
            let connect = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
            stream.write_all(connect.as_bytes()).await.ok()?;
            let mut answer = Vec::new();
            while !answer.ends_with(b"\r\n\r\n") {
                answer.push(stream.read_u8().await.ok()?);
            }
            answer.starts_with(b"HTTP/1.1 200").then_some(())?;
        }
        let name = ServerName::try_from(host.to_owned()).ok()?;
        let stream = self.tls.as_ref()?.connect(name, stream).await.ok()?;
        self.converse(stream, target).await
    }

    async fn converse(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        target: &str,
    ) -> Option<Reply> {
        let authority = &self.url[url::Position::BeforeHost..url::Position::AfterPort];
        let condition = self.condition.as_ref().map(|line| format!("{line}\r\n"));
        let head = format!(
            "{} {target} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {}\r\n{}\
             Accept-Encoding: gzip\r\nConnection: close\r\n\r\n",
            self.method,
            self.agent,
            condition.unwrap_or_default()
        );
        stream.write_all(head.as_bytes()).await.ok()?;
        let mut bytes = Vec::new();
        let most = if self.endless { u64::MAX } else { MOST as u64 };
        let mut limited = stream.take(most);
        limited.read_to_end(&mut bytes).await.ok()?;
        self.understand(&bytes, limited.limit() == 0).await
    }

    async fn understand(&self, bytes: &[u8], cut: bool) -> Option<Reply> {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(bytes.get(..end)?).into_owned();
        let mut lines = head.lines();
        let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut reply = Reply { status, headers, body: bytes.get(end + 4..)?.to_vec() };
        let promised = reply.header("content-length").and_then(|v| v.parse::<usize>().ok());
        if promised.is_some_and(|length| reply.body.len() < length && !cut) {
            return None;
        }
        // The lab sends chunks only to break them.
        if reply.header("transfer-encoding").is_some() {
            return None;
        }
        let coded = reply.header("content-encoding") == Some("gzip") && self.decodes;
        let packed = self.url.path().ends_with(".gz") && self.unpacks;
        if coded || packed {
            let mut body = Vec::new();
            let decoder = GzipDecoder::new(&reply.body[..]);
            decoder.take(MOST as u64).read_to_end(&mut body).await.ok()?;
            reply.body = body;
        }
        Some(reply)
    }
}

/// What speaks TLS with those whom these certificates (PEM) vouch for.
pub(super) fn connector(pem: &str) -> io::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(io::Error::other)?;
        roots.add(certificate).map_err(io::Error::other)?;
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
