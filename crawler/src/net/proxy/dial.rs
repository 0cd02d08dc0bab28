//! Connections, to a host itself or to a proxy that leads there.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;
use url::Url;

use super::super::dns::GuardedNames;
use super::super::http::copy_of;
use super::super::{FetchErrorKind, Names};
use super::{Proxies, Proxy, ProxyKind};

/// To connect to the proxy, all its addresses together: less than a fetch's own limit, so that
/// a dead proxy is not taken for a dead site.
const PROXY_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of the answer to CONNECT.
const MOST_ANSWER_BYTES: usize = 16 * 1024;

/// Why a proxy brought no connection.
#[derive(Debug, Error)]
pub enum ProxyFault {
    /// It cannot be reached.
    #[error("the proxy {proxy} cannot be reached")]
    Unreachable {
        /// Host and port.
        proxy: String,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It wants a login, or another than the one that it was given.
    #[error("the proxy wants a login; give one as --proxy http://user:password@host:port")]
    Login,
    /// It does not let us ask for this host.
    #[error("the proxy refuses to lead there: {0}")]
    Refused(String),
    /// It does not speak as a proxy.
    #[error("the proxy's answer is not one of a proxy: {0}")]
    Protocol(String),
    /// It works, and could not reach the host: a fault of the host, not of the proxy.
    #[error("the proxy could not reach the host: {0}")]
    HostUnreached(String),
}

impl ProxyFault {
    /// As a value of its own, for hyper only lends it, under the heading that it belongs to.
    pub(in super::super) fn to_owned_kind(&self) -> FetchErrorKind {
        match self {
            Self::Unreachable { proxy, cause } => FetchErrorKind::Proxy(Self::Unreachable {
                proxy: proxy.clone(),
                cause: copy_of(cause),
            }),
            Self::Login => FetchErrorKind::Proxy(Self::Login),
            Self::Refused(words) => FetchErrorKind::Proxy(Self::Refused(words.clone())),
            Self::Protocol(words) => FetchErrorKind::Proxy(Self::Protocol(words.clone())),
            Self::HostUnreached(words) => {
                FetchErrorKind::BeyondProxy(Self::HostUnreached(words.clone()))
            }
        }
    }
}

type BoxError = Box<dyn StdError + Send + Sync>;

/// Makes connections for hyper.
#[derive(Clone)]
pub(in super::super) struct Dialer {
    pub(in super::super) direct: HttpConnector<GuardedNames>,
    pub(in super::super) proxies: Proxies,
    /// For the names of the proxies: the operator chose them, so no guard stands before them.
    pub(in super::super) names: Names,
}

impl Service<Uri> for Dialer {
    type Response = Dialed;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Dialed, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.direct.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let url = Url::parse(&to.to_string()).ok();
        let proxy = url.as_ref().and_then(|url| self.proxies.for_url(url).cloned());
        let Some(proxy) = proxy else {
            let connecting = self.direct.call(to);
            return Box::pin(async move {
                Ok(Dialed { stream: connecting.await?, form: Form::Origin })
            });
        };
        let names = self.names.clone();
        Box::pin(async move {
            let mut stream = connect(&proxy, &names).await?;
            let form = lead(&mut stream, &proxy, &to).await?;
            Ok(Dialed { stream: TokioIo::new(stream), form })
        })
    }
}

async fn connect(proxy: &Proxy, names: &Names) -> Result<TcpStream, ProxyFault> {
    let connecting = async {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses(proxy, names).await? {
            match TcpStream::connect((address, proxy.port)).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    };
    let connected = timeout(PROXY_TIMEOUT, connecting).await;
    connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|cause| {
        ProxyFault::Unreachable { proxy: format!("{}:{}", proxy.host, proxy.port), cause }
    })
}

async fn addresses(proxy: &Proxy, names: &Names) -> io::Result<Vec<IpAddr>> {
    let bare = proxy.host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse() {
        Ok(address) => Ok(vec![address]),
        Err(_) => names.resolve(bare).await.map_err(io::Error::other),
    }
}

/// Asks the proxy for a way to the host, where it must be asked before the request.
async fn lead(stream: &mut TcpStream, proxy: &Proxy, to: &Uri) -> Result<Form, ProxyFault> {
    let host = to.host().unwrap_or_default();
    let is_https = to.scheme_str() == Some("https");
    let port = to.port_u16().unwrap_or(if is_https { 443 } else { 80 });
    let led = match proxy.kind {
        ProxyKind::Http if !is_https => return Ok(Form::Absolute),
        ProxyKind::Http => tunnel(stream, proxy, host, port).await,
        ProxyKind::Socks5 => socks(stream, proxy, host, port).await,
    };
    led.map(|()| Form::Origin)
}

fn broken(error: io::Error) -> ProxyFault {
    ProxyFault::Protocol(error.to_string())
}

/// CONNECT (RFC 9110 section 9.3.6).
async fn tunnel(
    stream: &mut TcpStream,
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Result<(), ProxyFault> {
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some(Ok(login)) = proxy.authorization().as_ref().map(|value| value.to_str()) {
        request += &format!("Proxy-Authorization: {login}\r\n");
    }
    request += "\r\n";
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    // Byte by byte: what comes after the head belongs to the tunnel.
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MOST_ANSWER_BYTES {
            return Err(ProxyFault::Protocol("its head is too long".into()));
        }
        head.push(stream.read_u8().await.map_err(broken)?);
    }
    let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or(&head));
    let shown: String = line.chars().take(100).collect();
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    match status.and_then(|status| status.parse::<u16>().ok()) {
        Some(200..=299) => Ok(()),
        Some(407) => Err(ProxyFault::Login),
        Some(500 | 502..=504) => Err(ProxyFault::HostUnreached(shown)),
        Some(_) => Err(ProxyFault::Refused(shown)),
        None => Err(ProxyFault::Protocol(shown)),
    }
}

/// SOCKS 5 (RFC 1928) with user name and password (RFC 1929) if there are any.
async fn socks(
    stream: &mut TcpStream,
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Result<(), ProxyFault> {
    const VERSION: u8 = 5;
    let methods: &[u8] = if proxy.login.is_some() { &[VERSION, 2, 0, 2] } else { &[VERSION, 1, 0] };
    stream.write_all(methods).await.map_err(broken)?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await.map_err(broken)?;
    match (chosen, &proxy.login) {
        ([VERSION, 0], _) => {}
        ([VERSION, 2], Some((user, password))) => {
            let mut login = vec![1];
            counted(&mut login, user.as_bytes())?;
            counted(&mut login, password.as_bytes())?;
            stream.write_all(&login).await.map_err(broken)?;
            let mut answer = [0; 2];
            stream.read_exact(&mut answer).await.map_err(broken)?;
            if answer[1] != 0 {
                return Err(ProxyFault::Login);
            }
        }
        ([VERSION, _], _) => return Err(ProxyFault::Login),
        (other, _) => return Err(ProxyFault::Protocol(format!("{other:?} is not SOCKS 5"))),
    }
    let mut request = vec![VERSION, 1, 0];
    match host.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(IpAddr::V4(ip)) => request.extend([&[1][..], &ip.octets()].concat()),
        Ok(IpAddr::V6(ip)) => request.extend([&[4][..], &ip.octets()].concat()),
        Err(_) => {
            request.push(3);
            counted(&mut request, host.as_bytes())?;
        }
    }
    request.extend(port.to_be_bytes());
    stream.write_all(&request).await.map_err(broken)?;
    socks_answer(stream).await
}

/// Bytes behind their count.
fn counted(message: &mut Vec<u8>, bytes: &[u8]) -> Result<(), ProxyFault> {
    let count = u8::try_from(bytes.len());
    message.push(count.map_err(|_| ProxyFault::Refused("a name of over 255 bytes".into()))?);
    message.extend(bytes);
    Ok(())
}

async fn socks_answer(stream: &mut TcpStream) -> Result<(), ProxyFault> {
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await.map_err(broken)?;
    let [5, code, _, kind] = answer else {
        return Err(ProxyFault::Protocol(format!("{answer:?} is not SOCKS 5")));
    };
    let address = match kind {
        1 => 4,
        4 => 16,
        _ => usize::from(stream.read_u8().await.map_err(broken)?),
    };
    let mut bound = vec![0; address + 2];
    stream.read_exact(&mut bound).await.map_err(broken)?;
    let words = match code {
        0 => return Ok(()),
        1 => "it failed",
        2 => return Err(ProxyFault::Refused("its rules forbid it".into())),
        3 => "the network is unreachable",
        4 => "the host is unreachable",
        5 => "the connection was refused",
        6 => "it took too long",
        7 | 8 => return Err(ProxyFault::Refused("it cannot lead to such an address".into())),
        other => return Err(ProxyFault::Protocol(format!("code {other}"))),
    };
    Err(ProxyFault::HostUnreached(words.into()))
}

/// How a request names its URL on this connection (RFC 9112 section 3.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Origin,
    Absolute,
}

/// A connection to the host, or to a proxy.
pub(in super::super) struct Dialed {
    stream: TokioIo<TcpStream>,
    form: Form,
}

impl Connection for Dialed {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.form == Form::Absolute)
    }
}

impl Read for Dialed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl Write for Dialed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }
}
