//! One request, one answer, over HTTP/1.1 without any library that would hide what is sent.

use std::time::Duration;

use async_compression::tokio::bufread::GzipDecoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Octets of an answer that are read, and of what it unpacks to.
pub(super) const MOST: usize = 4 * 1024 * 1024;

/// What is asked.
#[derive(Debug)]
pub(super) struct Fetch {
    pub(super) url: Url,
    pub(super) method: &'static str,
    pub(super) agent: String,
    pub(super) condition: Option<String>,
    pub(super) proxy: Option<String>,
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
        let path = &self.url[url::Position::BeforePath..url::Position::AfterQuery];
        let (address, target) = match &self.proxy {
            Some(proxy) => {
                let proxy = Url::parse(proxy).ok()?;
                let address = format!("{}:{}", proxy.host_str()?, proxy.port()?);
                (address, self.url[..url::Position::AfterQuery].to_owned())
            }
            None => (format!("{host}:{port}"), path.to_owned()),
        };
        let mut stream = TcpStream::connect(address).await.ok()?;
        let authority = &self.url[url::Position::BeforeHost..url::Position::AfterPort];
        let condition = match &self.condition {
            Some(etag) => format!("If-None-Match: {etag}\r\n"),
            None => String::new(),
        };
        let head = format!(
            "{} {target} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {}\r\n{condition}\
             Accept-Encoding: gzip\r\nConnection: close\r\n\r\n",
            self.method, self.agent
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
