//! FTP servers that say what a test tells them to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use super::*;
use crate::net::{HttpConfig, HttpTransport, Names, Terms};

/// What a server does other than the usual.
#[derive(Clone, Copy, Default)]
struct Manner {
    /// Replies in place of the usual ones, by the command's first word; `` is the welcome.
    said: &'static [(&'static str, &'static str)],
    /// What the data connection brings.
    data: &'static [u8],
    /// How often.
    times: usize,
}

/// A server for one session, and the commands that it was given.
async fn serve(manner: Manner) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let commands = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&commands);
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut control = BufReader::new(socket);
        let data = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = data.local_addr().unwrap().port();
        let mut line = String::new();
        loop {
            let word = line.split_whitespace().next().unwrap_or_default().to_owned();
            let own = manner.said.iter().find(|(said, _)| *said == word).map(|(_, reply)| *reply);
            let usual = match word.as_str() {
                "" => "220 welcome".to_owned(),
                "USER" => "331 password".into(),
                "PASS" => "230 in".into(),
                "TYPE" => "200 binary".into(),
                "EPSV" => format!("229 passive (|||{port}|)"),
                // Another host's address, which must not be gone to.
                "PASV" => format!("227 passive (192,0,2,1,{},{})", port >> 8, port & 255),
                "RETR" => "150 here".into(),
                _ => "502 what".into(),
            };
            let reply = own.map_or(usual, str::to_owned);
            let _ = control.write_all(format!("{reply}\r\n").as_bytes()).await;
            if reply.starts_with("150") {
                let (mut socket, _) = data.accept().await.unwrap();
                for _ in 0..manner.times {
                    if socket.write_all(manner.data).await.is_err() {
                        break;
                    }
                }
                drop(socket);
                let end = manner.said.iter().find(|(said, _)| *said == "end");
                let end = end.map_or("226 done", |(_, reply)| reply);
                let _ = control.write_all(format!("{end}\r\n").as_bytes()).await;
            }
            line.clear();
            if control.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            log.lock().unwrap().push(line.trim_end().to_owned());
        }
    });
    (address, commands)
}

fn transport() -> HttpTransport {
    let config = HttpConfig {
        allowed_networks: vec!["127.0.0.0/8".parse().unwrap()],
        names: Names::offline(),
        ..HttpConfig::new("comitybot/0.1")
    };
    HttpTransport::new(config, Clock::real()).unwrap()
}

async fn get(url: &str) -> Result<Reply, FetchErrorKind> {
    let limits = Limits {
        connect: Duration::from_millis(500),
        first_byte: Duration::from_millis(500),
        whole: Duration::from_millis(800),
        body_bytes: 100_000,
        ..Limits::default()
    };
    let terms = Terms { limits, ..Terms::default() };
    transport().get(&Url::parse(url).unwrap(), &terms).await.map_err(|error| error.kind)
}

/// RT-004, AM-20.
#[tokio::test]
async fn replies() {
    const DATA: &[u8] = b"hello";
    const HELLO: Manner = Manner { said: &[], data: DATA, times: 1 };
    let said = |said| Manner { said, ..HELLO };
    for (manner, expect) in [
        (HELLO, "200 hello Whole"),
        (Manner { times: 0, ..HELLO }, "200  Whole"),
        (said(&[("EPSV", "500 what")]), "200 hello Whole"),
        (said(&[("EPSV", "522 no")]), "200 hello Whole"),
        (said(&[("", "220-a\r\n220-b\r\n220 c")]), "200 hello Whole"),
        (said(&[("RETR", "550 no such file")]), "404  Whole"),
        (said(&[("RETR", "450 busy")]), "ftp-refused"),
        (said(&[("RETR", "553 no")]), "ftp-refused"),
        (said(&[("PASS", "530 no anonymous login")]), "ftp-refused"),
        (said(&[("USER", "230 in at once")]), "200 hello Whole"),
        (said(&[("", "421 too many")]), "ftp-refused"),
        (said(&[("", "SSH-2.0-x")]), "protocol"),
        (said(&[("EPSV", "229 passive (|||99999|)")]), "protocol"),
        (said(&[("end", "426 broken off")]), "200 hello Partial(Cut)"),
        (said(&[("end", "")]), "200 hello Partial(Cut)"),
        (said(&[("PASS", "")]), "protocol"),
    ] {
        let (address, _) = serve(manner).await;
        let told = match get(&format!("ftp://{address}/a")).await {
            Err(error) => error.code().to_owned(),
            Ok(reply) => {
                let body = String::from_utf8_lossy(&reply.body);
                format!("{} {body} {:?}", reply.status.as_u16(), reply.completeness)
            }
        };
        assert_eq!(told, expect, "{:?}", manner.said);
    }
}

#[tokio::test]
async fn a_long_file_is_cut() {
    let (address, _) = serve(Manner { said: &[], data: &[b'x'; 4096], times: 100_000 }).await;
    let reply = get(&format!("ftp://{address}/a")).await.unwrap();
    assert_eq!((reply.completeness, reply.body.len()), (Completeness::Truncated, 100_000));
}

/// An endless reply is no way to fill our memory.
#[tokio::test]
async fn an_endless_reply_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        while socket.write_all(&[b'2'; 64 * 1024]).await.is_ok() {}
    });
    let error = get(&format!("ftp://{address}/a")).await.unwrap_err();
    assert!(matches!(error.code(), "interrupted" | "protocol"), "{error:?}");
}

#[tokio::test]
async fn who_asks_for_what() {
    let (address, commands) = serve(Manner { said: &[], data: b"", times: 0 }).await;
    get(&format!("ftp://me:secret@{address}/a/b%20c;type=a")).await.unwrap();
    let commands = commands.lock().unwrap();
    assert_eq!(
        commands[..5],
        ["USER anonymous", "PASS comitybot/0.1", "TYPE I", "EPSV", "RETR a/b c"]
    );
}

#[tokio::test]
async fn what_is_not_asked_for() {
    for (url, expect) in [
        ("ftp://127.0.0.1/", "unsupported-url"),
        ("ftp://127.0.0.1/a%0d%0aDELE%20b", "unsupported-url"),
        ("ftp://127.0.0.1/a%00", "unsupported-url"),
        ("ftp://127.0.0.1/%ff", "unsupported-url"),
        ("ftp://127.0.0.1/%zz", "unsupported-url"),
        ("ftp://10.0.0.1/a", "blocked-address"),
        ("ftp://nobody.invalid/a", "dns-not-found"),
        ("ftp://127.0.0.1:1/a", "connect"),
    ] {
        let code = get(url).await.map(|reply| reply.status).map_err(|error| error.code());
        assert_eq!(code.unwrap_err(), expect, "{url}");
    }
}
