//! TLS: who is trusted, what is said of those who are not, and HTTP/2 by ALPN.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{HandshakeKind, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::server::{Manner, Server};
use super::*;

/// A CA of our own, and the file that names it.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(super) file: tempfile::NamedTempFile,
}

pub(super) type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

impl Authority {
    pub(super) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    pub(super) fn issue(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.der().clone(), PrivateKeyDer::Pkcs8(key.serialize_der().into()))
    }

    fn transport(&self) -> HttpTransport {
        let loopback = vec!["127.0.0.1".parse().unwrap()];
        transport(HttpConfig {
            extra_ca: Some(self.file.path().to_owned()),
            names: Names::offline()
                .with_static("good.example", loopback.clone())
                .with_static("other.example", loopback),
            ..config()
        })
    }
}

pub(super) fn params(host: &str) -> CertificateParams {
    CertificateParams::new(vec![host.to_owned()]).unwrap()
}

/// What a server answers to a request over HTTP/2; over HTTP/1.1 it is always "ok".
#[derive(Clone, Copy)]
pub(super) enum OnHttp2 {
    Answer,
    Misdirected,
    LongHead,
}

fn answer(version: Version, manner: OnHttp2) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from("ok")));
    match (version, manner) {
        (Version::HTTP_2, OnHttp2::Misdirected) => {
            *response.status_mut() = hyper::StatusCode::MISDIRECTED_REQUEST;
        }
        (Version::HTTP_2, OnHttp2::LongHead) => {
            let long = hyper::header::HeaderValue::from_str(&"a".repeat(80_000)).unwrap();
            response.headers_mut().insert("x-long", long);
        }
        (_, OnHttp2::Answer | OnHttp2::Misdirected | OnHttp2::LongHead) => {}
    }
    response
}

/// What a server has seen.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) requests: AtomicUsize,
    /// Connections that are open now.
    pub(super) open: AtomicUsize,
    /// Handshakes in full, and those that took up an earlier session.
    pub(super) full: AtomicUsize,
    pub(super) resumed: AtomicUsize,
}

pub(super) async fn serve(
    identity: Identity,
    alpn: &[&str],
    manner: OnHttp2,
) -> (SocketAddr, Arc<Seen>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.0], identity.1)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Seen::default());
    let counters = seen.clone();
    let longest = Duration::from_secs(5);
    tokio::spawn(async move {
        while let Ok(Ok((socket, _))) = timeout(longest, listener.accept()).await {
            let _ = socket.set_nodelay(true);
            tokio::spawn(timeout(
                longest,
                serve_one(socket, acceptor.clone(), manner, counters.clone()),
            ));
        }
    });
    (address, seen)
}

async fn serve_one(socket: TcpStream, acceptor: TlsAcceptor, manner: OnHttp2, seen: Arc<Seen>) {
    let Ok(stream) = acceptor.accept(socket).await else { return };
    let handshakes = match stream.get_ref().1.handshake_kind() {
        Some(HandshakeKind::Resumed) => &seen.resumed,
        Some(HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest) | None => &seen.full,
    };
    handshakes.fetch_add(1, Ordering::Relaxed);
    seen.open.fetch_add(1, Ordering::Relaxed);
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        seen.requests.fetch_add(1, Ordering::Relaxed);
        let response = answer(request.version(), manner);
        async move { Ok::<_, Infallible>(response) }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
    seen.open.fetch_sub(1, Ordering::Relaxed);
}

async fn ask(transport: &HttpTransport, host: &str, at: SocketAddr) -> Result<Reply, FetchError> {
    let url = Url::parse(&format!("https://{host}:{}/", at.port())).unwrap();
    transport.get(&url, &patient()).await
}

#[tokio::test]
async fn the_version_is_agreed_by_alpn() {
    let authority = Authority::new("trusted");
    for (alpn, expect) in [
        (&["h2", "http/1.1"][..], Version::HTTP_2),
        (&["http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ] {
        let (at, _) = serve(authority.issue(&params("good.example")), alpn, OnHttp2::Answer).await;
        let reply = ask(&authority.transport(), "good.example", at).await.unwrap();
        assert_eq!((reply.version, &reply.body[..]), (expect, &b"ok"[..]), "{alpn:?}");
        assert_eq!(reply.address, Some(at));
        let rooted = ask(&authority.transport(), "good.example.", at).await;
        assert_eq!(code(&rooted), "ok", "{alpn:?}");
    }
}

/// HT-006: 421 leaves HTTP/2, once for the host.
#[tokio::test]
async fn a_server_can_leave_http2() {
    let authority = Authority::new("trusted");
    let identity = authority.issue(&params("good.example"));
    let (at, seen) = serve(identity, &["h2", "http/1.1"], OnHttp2::Misdirected).await;
    let transport = authority.transport();
    let first = ask(&transport, "good.example", at).await;
    assert_eq!((code(&first), seen.requests.load(Ordering::Relaxed)), ("misdirected", 1));
    for expect in [2, 3] {
        let reply = ask(&transport, "good.example", at).await.unwrap();
        assert_eq!((reply.version, reply.status.as_u16()), (Version::HTTP_11, 200));
        assert_eq!(seen.requests.load(Ordering::Relaxed), expect);
    }
}

#[tokio::test]
async fn a_long_head_over_http2_is_refused() {
    let authority = Authority::new("trusted");
    let identity = authority.issue(&params("good.example"));
    let (at, _) = serve(identity, &["h2"], OnHttp2::LongHead).await;
    let result = ask(&authority.transport(), "good.example", at).await;
    assert_eq!(code(&result), "protocol", "{:?}", result.map(|reply| reply.status));
}

#[tokio::test]
async fn bad_certificates_are_refused_in_words() {
    let authority = Authority::new("trusted");
    let mut expired = params("good.example");
    expired.not_before = date_time_ymd(2020, 1, 1);
    expired.not_after = date_time_ymd(2021, 1, 1);
    let mut early = params("good.example");
    early.not_before = date_time_ymd(2090, 1, 1);
    early.not_after = date_time_ymd(2091, 1, 1);
    let own_key = KeyPair::generate().unwrap();
    let own = |params: CertificateParams| {
        let certificate = params.self_signed(&own_key).unwrap();
        (certificate.der().clone(), PrivateKeyDer::Pkcs8(own_key.serialize_der().into()))
    };
    let mut own_ca = params("good.example");
    own_ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    for (host, identity, expect, words) in [
        ("good.example", authority.issue(&expired), "tls-expired", "has expired"),
        ("good.example", authority.issue(&early), "tls-not-yet-valid", "not valid yet"),
        (
            "other.example",
            authority.issue(&params("good.example")),
            "tls-wrong-name",
            "another name",
        ),
        ("good.example", own(params("good.example")), "tls-unknown-issuer", "self-signed"),
        ("good.example", own(own_ca), "tls-unknown-issuer", "self-signed"),
        (
            "good.example",
            Authority::new("stranger").issue(&params("good.example")),
            "tls-unknown-issuer",
            "unknown issuer",
        ),
    ] {
        let (at, seen) = serve(identity, &["h2", "http/1.1"], OnHttp2::Answer).await;
        let result = ask(&authority.transport(), host, at).await;
        assert_eq!(code(&result), expect, "{result:?}");
        let told = std::error::Error::source(&result.unwrap_err().kind).unwrap().to_string();
        assert!(told.starts_with(host) && told.contains(words), "{told}");
        assert_eq!(seen.requests.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn what_is_not_tls_is_told() {
    for (manner, expect) in [
        (Manner::Say(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), "tls-incompatible"),
        (Manner::Stall(vec![]), "connect-timeout"),
    ] {
        let server = Server::start_blind(manner).await;
        let limits = if expect.contains("timeout") { short() } else { patient() };
        let url = Url::parse(&format!("https://127.0.0.1:{}/", server.address.port())).unwrap();
        let result = transport(config()).get(&url, &limits).await;
        assert_eq!(code(&result), expect, "{result:?}");
    }
}
