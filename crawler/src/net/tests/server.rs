//! Servers that say exactly what a test tells them to.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// No server outlives its test by more than this.
const LONGEST: Duration = Duration::from_secs(5);

/// What a server does once it has read a request's head.
#[derive(Clone)]
pub(super) enum Manner {
    /// Sends these bytes and closes.
    Say(Vec<u8>),
    /// Sends the first bytes, then the second again and again, with that pause between.
    Repeat(Vec<u8>, Vec<u8>, Duration),
    /// Sends these bytes and is silent.
    Stall(Vec<u8>),
    /// Sends these bytes and waits for the next request.
    Keep(Vec<u8>),
    /// Sends these bytes, reads the next request, and closes without an answer to it.
    Once(Vec<u8>),
}

/// A running server: where it is and what it was sent.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    /// Heads of requests, one string each.
    pub(super) requests: Arc<Mutex<Vec<String>>>,
    /// Connections that were accepted.
    pub(super) connections: Arc<Mutex<usize>>,
    /// Those of them that are open now.
    pub(super) open: Arc<AtomicUsize>,
}

impl Server {
    pub(super) async fn start(manner: Manner) -> Self {
        Self::start_as(manner, Opening::Request).await
    }

    /// A server that does not wait for a request's head.
    pub(super) async fn start_blind(manner: Manner) -> Self {
        Self::start_as(manner, Opening::AnyByte).await
    }

    async fn start_as(manner: Manner, opening: Opening) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            connections: Arc::default(),
            open: Arc::default(),
        };
        let (requests, connections) = (server.requests.clone(), server.connections.clone());
        let open = server.open.clone();
        tokio::spawn(async move {
            while let Ok(Ok((socket, _))) = timeout(LONGEST, listener.accept()).await {
                *connections.lock().unwrap() += 1;
                let (open, manner, requests) = (open.clone(), manner.clone(), requests.clone());
                tokio::spawn(async move {
                    open.fetch_add(1, Ordering::Relaxed);
                    let _ = timeout(LONGEST, serve(socket, manner, opening, requests)).await;
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        server
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// What a server waits for before it speaks.
#[derive(Clone, Copy)]
enum Opening {
    Request,
    AnyByte,
}

async fn serve(
    mut socket: TcpStream,
    manner: Manner,
    opening: Opening,
    requests: Arc<Mutex<Vec<String>>>,
) {
    while let Some(head) = request(&mut socket, opening).await {
        requests.lock().unwrap().push(head);
        match &manner {
            Manner::Say(bytes) => {
                let _ = socket.write_all(bytes).await;
                let _ = socket.shutdown().await;
                return;
            }
            Manner::Repeat(first, again, pause) => {
                let mut sent = socket.write_all(first).await;
                while sent.is_ok() {
                    tokio::time::sleep(*pause).await;
                    sent = socket.write_all(again).await;
                }
                return;
            }
            Manner::Stall(bytes) => {
                let _ = socket.write_all(bytes).await;
                tokio::time::sleep(LONGEST).await;
                return;
            }
            Manner::Keep(bytes) => {
                let _ = socket.write_all(bytes).await;
            }
            Manner::Once(bytes) => {
                let _ = socket.write_all(bytes).await;
                let _ = request(&mut socket, opening).await;
                return;
            }
        }
    }
}

/// The head of the next request; nothing at the connection's end.
async fn request(socket: &mut TcpStream, opening: Opening) -> Option<String> {
    let mut head = vec![socket.read_u8().await.ok()?];
    while matches!(opening, Opening::Request) && !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}
