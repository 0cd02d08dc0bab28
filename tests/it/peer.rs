//! A server on loopback that says byte for byte what a test tells it to, over TCP or TLS.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// What is said to each request, and what comes then.
#[derive(Clone)]
pub(crate) enum Saying {
    /// These bytes, and the connection is closed.
    Then(Vec<u8>),
    /// These bytes, and nothing more on an open connection.
    Silence(Vec<u8>),
    /// These bytes one by one with this pause between, again and again.
    Drip(Vec<u8>, Duration),
}

/// A running server.
pub(crate) struct Peer {
    pub(crate) port: u16,
    /// Which of this machine's addresses each connection came to.
    pub(crate) reached: Arc<Mutex<Vec<IpAddr>>>,
}

impl Peer {
    /// Listens on this address, until the runtime ends.
    pub(crate) async fn start(at: &str, saying: Saying) -> Self {
        Self::run(at, saying, None).await
    }

    /// The same over TLS, with a certificate for `host` that vouches for itself.
    pub(crate) async fn start_tls(at: &str, host: &str, saying: Saying) -> Self {
        let own = rcgen::generate_simple_self_signed(vec![host.to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
        Self::run(at, saying, Some(acceptor(own.cert.der().clone(), key))).await
    }

    pub(crate) async fn run(at: &str, saying: Saying, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind((at, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let reached = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&reached);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                log.lock().unwrap().push(socket.local_addr().unwrap().ip());
                let (saying, tls) = (saying.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(socket, saying).await,
                        Some(tls) => {
                            if let Ok(socket) = tls.accept(socket).await {
                                serve(socket, saying).await;
                            }
                        }
                    }
                });
            }
        });
        Self { port, reached }
    }

    pub(crate) fn connections(&self) -> usize {
        self.reached.lock().unwrap().len()
    }

    /// This server as an address of its host.
    pub(crate) fn at(&self, ip: &str) -> SocketAddr {
        SocketAddr::new(ip.parse().unwrap(), self.port)
    }
}

/// Presents this certificate.
pub(crate) fn acceptor(
    certificate: tokio_rustls::rustls::pki_types::CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> TlsAcceptor {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Whether the request's head came to its end.
async fn read_head(socket: &mut (impl AsyncRead + Unpin)) -> bool {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = socket.read_u8().await else { return false };
        head.push(byte);
    }
    true
}

async fn serve(mut socket: impl AsyncRead + AsyncWrite + Unpin, saying: Saying) {
    if !read_head(&mut socket).await {
        return;
    }
    match saying {
        Saying::Then(bytes) => {
            let _ = socket.write_all(&bytes).await;
            let _ = socket.shutdown().await;
            // Closed at once, what was sent could be lost to a reset.
            let _ = tokio::time::timeout(Duration::from_secs(1), socket.read_u8()).await;
        }
        Saying::Silence(bytes) => {
            let _ = socket.write_all(&bytes).await;
            let _ = socket.read_u8().await;
        }
        Saying::Drip(bytes, pause) => {
            for byte in bytes.iter().cycle() {
                tokio::time::sleep(pause).await;
                if socket.write_u8(*byte).await.is_err() {
                    return;
                }
                let _ = socket.flush().await;
            }
        }
    }
}
