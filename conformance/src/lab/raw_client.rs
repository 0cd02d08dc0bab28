//! A tiny HTTP client for the tests, so that no library hides what is sent.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer, split at the end of its head.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Status line and headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// Splits `http://host:port/path` into authority and path.
pub(crate) fn split(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// Gets a URL of the lab as its own site, with some further header lines.
pub(crate) async fn get(url: &str, headers: &str) -> Answer {
    let (authority, path) = split(url);
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: comitydemo/1.0\r\n{headers}\r\n"
    );
    send(authority, &head).await
}

/// Sends a request head to the authority's port and reads to the end.
pub(crate) async fn send(authority: &str, head: &str) -> Answer {
    let port: u16 = authority.rsplit_once(':').unwrap().1.parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap();
    let body = bytes.split_off(end + 4);
    let head = String::from_utf8(bytes).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body }
}
