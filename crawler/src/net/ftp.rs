//! FTP: one file by anonymous login (RT-004, AM-20), over a connection of its own.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};

use bytes::{BufMut as _, BytesMut};
use hyper::{HeaderMap, StatusCode, Version};
use suppaftp::tokio::AsyncFtpStream;
use suppaftp::types::FileType;
use suppaftp::{FtpError, Mode, Status};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::http::{copy_of, deadline_of, unsupported};
use super::{Completeness, FetchErrorKind, Limits, PartialCause, Reply};
use crate::clock::Clock;

/// FTP's own port.
const PORT: u16 = 21;
/// Bytes that are asked for at once.
const STEP: usize = 16 * 1024;
/// Characters of a server's refusal that are kept.
const REFUSAL_CHARS: usize = 200;

/// One file that is asked for.
pub(super) struct Asking<'a> {
    pub(super) url: &'a Url,
    pub(super) limits: &'a Limits,
    pub(super) start: Instant,
    /// The password of an anonymous login is by custom who asks (RFC 1635).
    pub(super) who: &'a str,
    pub(super) clock: Clock,
}

/// Fetches a file. What the server says of it stands in the words of HTTP: 200, or 404 for 550.
pub(super) async fn get(
    asking: Asking<'_>,
    addresses: impl Future<Output = Result<Vec<IpAddr>, FetchErrorKind>>,
) -> Result<Reply, FetchErrorKind> {
    let Asking { url, limits, start, who, clock } = asking;
    let path = path_of(url)?;
    let whole = deadline_of(start, limits.whole);
    let connecting = async {
        let port = url.port().unwrap_or(PORT);
        connect(addresses.await?, port).await.map_err(FetchErrorKind::Connect)
    };
    let stream = timeout_at(whole.min(deadline_of(start, limits.connect)), connecting)
        .await
        .map_err(|_| FetchErrorKind::ConnectTimeout(limits.connect))??;
    let address = stream.peer_addr().ok();
    let connected = Instant::now();
    let first_byte_by = whole.min(deadline_of(connected, limits.first_byte));
    let late = |_| FetchErrorKind::FirstByteTimeout(limits.first_byte);
    let opening = async {
        let mut ftp = log_in(stream, who).await?;
        match ftp.retr_as_stream(&path).await {
            // RFC 2428 section 5: older servers know no EPSV.
            Err(FtpError::UnexpectedResponse(said)) if is_unknown_command(said.status) => {
                ftp.set_mode(Mode::Passive);
                ftp.retr_as_stream(&path).await
            }
            opened => opened,
        }
    };
    let opened = timeout_at(first_byte_by, opening).await.map_err(late)?;
    let (first_byte, head_at) = (connected.elapsed(), clock.now());
    let (status, body, completeness) = match opened {
        Ok(mut file) => {
            let (body, read) = receive(&mut file, limits.body_bytes, whole).await;
            let whole_by_server = async { file.finish().await.is_ok() };
            let completeness = match read {
                // That nothing is missing is for the server to say, after the end.
                Completeness::Whole => ended(timeout_at(whole, whole_by_server).await.ok()),
                Completeness::Truncated | Completeness::Partial(_) => read,
            };
            (StatusCode::OK, body, completeness)
        }
        Err(FtpError::UnexpectedResponse(said)) if said.status == Status::FileUnavailable => {
            (StatusCode::NOT_FOUND, BytesMut::new(), Completeness::Whole)
        }
        Err(error) => return Err(kind_of(error)),
    };
    Ok(Reply {
        url: url.clone(),
        status,
        request: HeaderMap::new(),
        headers: HeaderMap::new(),
        wire_bytes: u64::try_from(body.len()).unwrap_or(u64::MAX),
        body: body.freeze(),
        completeness,
        version: Version::HTTP_09,
        address,
        first_byte,
        total: start.elapsed(),
        head_at,
    })
}

/// The path that RETR is given: decoded, relative to where the login leads (RFC 1738 section
/// 3.2.2). What has a line's end in it could be a command of its own.
fn path_of(url: &Url) -> Result<String, FetchErrorKind> {
    let path = url.path().strip_prefix('/').unwrap_or_default();
    let path = path.rsplit_once(";type=").map_or(path, |(path, _)| path);
    let decoded = decode(path).filter(|path| !path.contains(char::is_control));
    decoded.filter(|path| !path.is_empty()).ok_or_else(|| unsupported(url))
}

fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (char::from(rest.next()?), char::from(rest.next()?));
        bytes.push(u8::try_from(high.to_digit(16)? << 4 | low.to_digit(16)?).ok()?);
    }
    String::from_utf8(bytes).ok()
}

async fn connect(addresses: Vec<IpAddr>, port: u16) -> io::Result<TcpStream> {
    let sockets: Vec<_> = addresses.into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
    TcpStream::connect(&*sockets).await
}

/// Logs in. The data will come from the address that the control connection leads to, whatever
/// the server says: it cannot send us to another host.
async fn log_in(stream: TcpStream, who: &str) -> Result<AsyncFtpStream, FtpError> {
    let mut ftp = AsyncFtpStream::connect_with_stream(stream).await?;
    ftp.set_passive_nat_workaround(true);
    ftp.set_mode(Mode::ExtendedPassive);
    ftp.login("anonymous", who).await?;
    ftp.transfer_type(FileType::Binary).await?;
    Ok(ftp)
}

/// 522, that the server does not speak this address's family, is none that the crate knows.
fn is_unknown_command(status: Status) -> bool {
    status == Status::Unknown || matches!(status.code(), 500..=502 | 504)
}

/// As much as the limits let in.
async fn receive(
    file: &mut (impl AsyncRead + Unpin),
    most: usize,
    deadline: Instant,
) -> (BytesMut, Completeness) {
    let mut body = BytesMut::new();
    let reading = async {
        while body.len() < most {
            let room = most - body.len();
            body.reserve(room.min(STEP));
            if file.read_buf(&mut (&mut body).limit(room)).await? == 0 {
                return Ok(Completeness::Whole);
            }
        }
        let more = file.read(&mut [0]).await?;
        Ok::<_, io::Error>(if more == 0 { Completeness::Whole } else { Completeness::Truncated })
    };
    let read = match timeout_at(deadline, reading).await {
        Err(_) => Completeness::Partial(PartialCause::Timeout),
        Ok(Err(_)) => Completeness::Partial(PartialCause::Cut),
        Ok(Ok(read)) => read,
    };
    (body, read)
}

/// A transfer after its end, by whether the server called it whole; `None` if it said nothing.
fn ended(whole: Option<bool>) -> Completeness {
    match whole {
        Some(true) => Completeness::Whole,
        Some(false) => Completeness::Partial(PartialCause::Cut),
        None => Completeness::Partial(PartialCause::Timeout),
    }
}

/// AM-20: what is no 550 may be passing.
fn kind_of(error: FtpError) -> FetchErrorKind {
    match error {
        FtpError::UnexpectedResponse(said) => FetchErrorKind::Ftp {
            code: said.status.code(),
            words: String::from_utf8_lossy(&said.body).trim().chars().take(REFUSAL_CHARS).collect(),
        },
        FtpError::ConnectionError(io) if io.kind() == io::ErrorKind::UnexpectedEof => {
            FetchErrorKind::Closed
        }
        FtpError::ConnectionError(io) => FetchErrorKind::Interrupted(copy_of(&io)),
        FtpError::BadResponse
        | FtpError::InvalidAddress(_)
        | FtpError::DataConnectionAlreadyOpen => FetchErrorKind::Protocol(Box::new(error)),
    }
}

#[cfg(test)]
mod tests;
