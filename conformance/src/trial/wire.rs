//! HTTP/1.1 by hand, so that answers can be as wrong as a scenario wants them.

use std::io;
use std::time::Duration;

use async_compression::Level;
use async_compression::tokio::bufread::GzipEncoder;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::server::TlsStream;

use super::scenario::{Answer, Break};

/// Octets of a request's head that are read.
const HEAD: usize = 64 * 1024;

/// How long a site holds on that does not answer, or drips.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection, plain or not.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    /// The TCP connection below.
    fn tcp(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Wire for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// A request's head.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
}

/// Reads a head; none if the connection ends, or what comes is no HTTP.
pub(super) async fn read_head(wire: &mut impl Wire) -> Option<Head> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        if bytes.len() >= HEAD {
            return None;
        }
        // A crawler's head is short, and octets behind it are nothing that the lab reads.
        bytes.push(wire.read_u8().await.ok()?);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    Some(Head { method, target, headers: headers.collect() })
}

/// An answer with all that the scenario leaves open filled in.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) gzip: bool,
    pub(super) without_body: bool,
    pub(super) accepts_gzip: bool,
    pub(super) delay: Duration,
    pub(super) then: Option<Break>,
}

impl Filled {
    /// `fill` puts addresses into texts.
    pub(super) fn new(answer: &Answer, path: &str, fill: impl Fn(&str) -> String) -> Self {
        let status = answer.status.unwrap_or(if answer.redirect.is_some() { 302 } else { 200 });
        let mut headers: Vec<(String, String)> =
            answer.headers.iter().map(|(name, value)| (name.clone(), fill(value))).collect();
        if let Some(to) = &answer.redirect {
            headers.push(("location".into(), fill(to)));
        }
        if let Some(etag) = &answer.etag {
            headers.push(("etag".into(), etag.clone()));
        }
        let media_type = answer.media_type.clone().unwrap_or_else(|| media_type(path).into());
        headers.push(("content-type".into(), media_type));
        Self {
            status,
            headers,
            body: fill(&body(answer, path)).into_bytes(),
            gzip: answer.gzip,
            without_body: false,
            accepts_gzip: true,
            delay: Duration::from_secs_f64(answer.delay_s.clamp(0.0, 600.0)),
            then: answer.then,
        }
    }

    /// What the ledger says of it.
    pub(super) fn in_words(&self) -> String {
        match self.then {
            None => self.status.to_string(),
            Some(then) => format!("{} {then:?}", self.status).to_lowercase(),
        }
    }
}

fn media_type(path: &str) -> &'static str {
    let path = path.split('?').next().unwrap_or_default();
    if path.ends_with(".txt") {
        "text/plain; charset=utf-8"
    } else if path.ends_with(".xml") {
        "application/xml"
    } else if path.ends_with(".gz") {
        "application/gzip"
    } else {
        "text/html; charset=utf-8"
    }
}

fn body(answer: &Answer, path: &str) -> String {
    if let Some(text) = &answer.text {
        return text.clone();
    }
    if let Some(repeat) = &answer.repeat {
        let mut body = repeat.head.clone();
        for n in 0..repeat.times {
            body.push_str(&repeat.item.replace("{n}", &n.to_string()));
        }
        body.push_str(&repeat.tail);
        return body;
    }
    let links: String =
        answer.links.iter().map(|l| format!("<li><a href=\"{l}\">{l}</a></li>\n")).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><title>{{site}} {path}</title>\n{}</head>\n<body>\n\
         <h1>{{site}} {path}</h1>\n<p>A page of the scenario {{scenario}}.</p>\n{}\n<ul>\n{links}</ul>\n\
         </body></html>\n",
        answer.head, answer.html
    )
}

/// Sends an answer, as well or badly as it says.
pub(super) async fn send(wire: &mut impl Wire, mut answer: Filled) -> io::Result<()> {
    match answer.then {
        Some(Break::Reset) => {
            // Unread octets or not: no FIN, but RST.
            return wire.tcp().set_zero_linger();
        }
        Some(Break::Silence) => return Ok(()),
        Some(Break::Hang) => {
            hold(wire).await;
            return Ok(());
        }
        Some(Break::Garbage) => return wire.write_all(b"SSH-2.0-lab\r\n\r\n\r\n").await,
        Some(Break::Truncate | Break::BadChunk | Break::Drip | Break::Flood) | None => {}
    }
    // A file that is packed stays so; a coding is only for those who take it.
    let is_packed = answer.headers.iter().any(|(_, value)| value == "application/gzip");
    if answer.gzip && (is_packed || answer.accepts_gzip) {
        answer.body = packed(answer.body).await?;
        if !is_packed {
            answer.headers.push(("content-encoding".into(), "gzip".into()));
        }
    }
    let mut head = format!("HTTP/1.1 {} lab\r\nconnection: close\r\n", answer.status);
    match answer.then {
        Some(Break::BadChunk) => head.push_str("transfer-encoding: chunked\r\n"),
        Some(Break::Truncate) => {
            head.push_str(&format!("content-length: {}\r\n", answer.body.len() + 1000));
        }
        // Their bodies end when the connection does: never.
        Some(Break::Drip | Break::Flood) => {}
        _ if answer.status == 304 || answer.status == 204 => {}
        _ => head.push_str(&format!("content-length: {}\r\n", answer.body.len())),
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    wire.write_all(head.as_bytes()).await?;
    if answer.without_body {
        return wire.shutdown().await;
    }
    if answer.then == Some(Break::BadChunk) {
        wire.write_all(format!("{:x}\r\n", answer.body.len()).as_bytes()).await?;
        wire.write_all(&answer.body).await?;
        wire.write_all(b"\r\nno number\r\n").await?;
        return wire.shutdown().await;
    }
    wire.write_all(&answer.body).await?;
    match answer.then {
        Some(Break::Drip) => go_on(wire, b" ", Duration::from_millis(200)).await,
        Some(Break::Flood) => go_on(wire, &[b' '; 16 * 1024], Duration::from_millis(1)).await,
        _ => wire.shutdown().await,
    }
}

/// Long bodies take long to pack, and other sites must not wait for that.
async fn packed(body: Vec<u8>) -> io::Result<Vec<u8>> {
    let pack = move || {
        let mut packed = Vec::new();
        let mut encoder = GzipEncoder::with_quality(&body[..], Level::Fastest);
        let runtime = tokio::runtime::Handle::current();
        runtime.block_on(encoder.read_to_end(&mut packed)).map(|_| packed)
    };
    tokio::task::spawn_blocking(pack).await.map_err(io::Error::other)?
}

/// Keeps the connection until the client has left.
async fn hold(wire: &mut impl Wire) {
    let mut octet = [0];
    let _ = tokio::time::timeout(PATIENCE, wire.read(&mut octet)).await;
}

async fn go_on(wire: &mut impl Wire, part: &[u8], pause: Duration) -> io::Result<()> {
    let times = PATIENCE.as_millis() / pause.as_millis().max(1);
    for _ in 0..times {
        wire.write_all(part).await?;
        wire.flush().await?;
        sleep(pause).await;
    }
    Ok(())
}
