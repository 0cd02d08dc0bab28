//! Proxies: what is said to them, and whose fault a failure is.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::secure::{Authority, OnHttp2, params, serve};
use super::server::{Manner, Server};
use super::*;
use crate::net::{Proxies, Proxy, Transport as _};

/// A name that only the proxy knows.
const SITE: &str = "http://site.example/a?b";

fn through(proxy: &str) -> HttpConfig {
    HttpConfig { proxies: Proxies::all(Proxy::parse(proxy).unwrap(), ""), ..config() }
}

async fn ask(config: HttpConfig, url: &str) -> Result<Reply, FetchError> {
    transport(config).get(&Url::parse(url).unwrap(), &short()).await
}

#[tokio::test]
async fn http_is_asked_for_in_absolute_form() {
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let server = Server::start(Manner::Keep(ok)).await;
    let transport = transport(through(&format!("http://me:secret@{}", server.address)));
    let url = Url::parse(SITE).unwrap();
    for _ in 0..2 {
        let reply = transport.get(&url, &short()).await.unwrap();
        assert_eq!((&reply.body[..], reply.address), (&b"ok"[..], None));
    }
    assert_eq!(*server.connections.lock().unwrap(), 1);
    let request = server.requests.lock().unwrap().first().unwrap().clone();
    assert!(request.starts_with("GET http://site.example/a?b HTTP/1.1\r\n"), "{request}");
    // RFC 7617: base64 of me:secret.
    assert!(request.contains("proxy-authorization: Basic bWU6c2VjcmV0\r\n"), "{request}");
    assert!(request.contains("host: site.example\r\n"), "{request}");
    // Ceilings count each host by itself.
    let of = async |url: &str| transport.address_of(&Url::parse(url).unwrap()).await.unwrap();
    assert_eq!(of(SITE).await, of("http://site.example/other").await);
    assert_ne!(of(SITE).await, of("http://other.example/").await);
}

/// Reads a head and gives its first line.
async fn first_line(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap().lines().next().unwrap().to_owned()
}

async fn join(mut socket: TcpStream, target: std::net::SocketAddr) {
    let mut onward = TcpStream::connect(target).await.unwrap();
    let _ = copy_bidirectional(&mut socket, &mut onward).await;
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let authority = Authority::new("trusted");
    let identity = authority.issue(&params("good.example"));
    let (target, _) = serve(identity, &["h2", "http/1.1"], OnHttp2::Answer).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://me:secret@{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let line = first_line(&mut socket).await;
        socket.write_all(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n").await.unwrap();
        tokio::spawn(join(socket, target));
        line
    });
    let extra_ca = Some(authority.file.path().to_owned());
    let reply =
        ask(HttpConfig { extra_ca, ..through(&proxy) }, "https://good.example/x").await.unwrap();
    assert_eq!((&reply.body[..], reply.version), (&b"ok"[..], hyper::Version::HTTP_2));
    assert_eq!(serving.await.unwrap(), "CONNECT good.example:443 HTTP/1.1");
}

/// A SOCKS 5 proxy that leads to `target`, or answers with a code.
async fn socks(login: bool, code: u8, target: std::net::SocketAddr) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut greeting = [0; 2];
        socket.read_exact(&mut greeting).await.unwrap();
        let mut methods = vec![0; greeting[1].into()];
        socket.read_exact(&mut methods).await.unwrap();
        let method = if login { 2 } else { 0 };
        assert!(methods.contains(&method) || login);
        socket.write_all(&[5, method]).await.unwrap();
        if login && methods.contains(&2) {
            let mut said = [0; 11];
            socket.read_exact(&mut said).await.unwrap();
            assert_eq!(&said, b"\x01\x02me\x06secret");
            socket.write_all(&[1, 0]).await.unwrap();
        }
        let mut request = [0; 5];
        socket.read_exact(&mut request).await.unwrap();
        assert_eq!(request, [5, 1, 0, 3, 12]);
        let mut rest = [0; 14];
        socket.read_exact(&mut rest).await.unwrap();
        assert_eq!(&rest, b"site.example\x00\x50");
        socket.write_all(&[5, code, 0, 1, 127, 0, 0, 1, 0, 80]).await.unwrap();
        if code == 0 {
            join(socket, target).await;
        }
    });
    address.to_string()
}

#[tokio::test]
async fn socks_is_told_names() {
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let server = Server::start(Manner::Say(ok)).await;
    for (login, answer, scheme, expect) in [
        (false, 0, "socks5://", "ok"),
        (true, 0, "socks5h://me:secret@", "ok"),
        (true, 0, "socks5://", "proxy"),
        (false, 2, "socks5://", "proxy"),
        (false, 4, "socks5://", "beyond-proxy"),
        (false, 5, "socks5://", "beyond-proxy"),
    ] {
        let proxy = socks(login, answer, server.address).await;
        let result = ask(through(&format!("{scheme}{proxy}")), SITE).await;
        assert_eq!(code(&result), expect, "{login} {answer}: {result:?}");
    }
    let requests = server.requests.lock().unwrap();
    assert!(requests.iter().all(|request| request.starts_with("GET /a?b HTTP/1.1\r\n")));
}

#[tokio::test]
async fn whose_fault_it_is() {
    let status = |line: &str| {
        Manner::Say(format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n").into_bytes())
    };
    for (manner, url, expect) in [
        (status("407 Login"), SITE, "proxy"),
        (status("407 Login"), "https://site.example/", "proxy"),
        (status("403 Forbidden"), "https://site.example/", "proxy"),
        (status("502 Bad Gateway"), "https://site.example/", "beyond-proxy"),
        (status("504 Timeout"), "https://site.example/", "beyond-proxy"),
        (Manner::Say(b"SSH-2.0-x\r\n\r\n".to_vec()), "https://site.example/", "proxy"),
        (Manner::Say(vec![]), "https://site.example/", "proxy"),
        // In absolute form the proxy's own answer cannot be told from the site's.
        (status("502 Bad Gateway"), SITE, "ok"),
        (status("403 Forbidden"), SITE, "ok"),
    ] {
        let server = Server::start(manner).await;
        let result = ask(through(&server.address.to_string()), url).await;
        assert_eq!(code(&result), expect, "{url}: {result:?}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dead = listener.local_addr().unwrap().to_string();
    drop(listener);
    for url in [SITE, "https://site.example/"] {
        let result = ask(through(&dead), url).await;
        assert_eq!(code(&result), "proxy", "{result:?}");
        let told = result.unwrap_err().in_words();
        assert!(told.contains(&dead) && told.contains("cannot be reached"), "{told}");
    }
    let told = ask(through("nobody.invalid:1"), SITE).await.unwrap_err().in_words();
    assert!(told.contains("nobody.invalid:1 cannot be reached"), "{told}");
}

/// A name is the proxy's to look up, but an address in a URL is judged as ever.
#[tokio::test]
async fn addresses_inside_are_refused_still() {
    let server = Server::start(Manner::Say(vec![])).await;
    for url in ["http://10.0.0.1/", "https://169.254.169.254/", "http://[fe80::1]/"] {
        let result = ask(through(&server.address.to_string()), url).await;
        assert_eq!(code(&result), "blocked-address", "{url}");
    }
    assert_eq!(*server.connections.lock().unwrap(), 0);
}
