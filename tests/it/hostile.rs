//! Hostile servers against real `comity` processes, all at the same time: each crawl ends, in
//! little memory, and the friendly site beside the hostile one is crawled to its end.

use std::io::{BufRead as _, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::bombs;
use crate::command::{end, start};
use crate::sites::Site;

/// Pages of the friendly site.
const PAGES: usize = 20;
/// Real pages beside the endless calendar.
const REAL_PAGES: usize = 50;
/// Memory that a crawl may use at its peak, in a debug build with store and index.
const MOST_MIB: u64 = 200;
/// A crawl that has not ended by then never does.
const LONGEST: Duration = Duration::from_secs(35);

/// Short enough to be waited for.
const SETTINGS: &str = "[network]\nconnect_timeout = \"1s\"\nfirst_byte_timeout = \"1s\"\n\
    request_timeout = \"3s\"\n[storage]\ncache = \"8MiB\"\n";

/// What a hostile server does with a connection once it has read a request for a page.
type Deed = dyn Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// A server that has no robots.txt and else does its deed; each has an address, and so a site, of
/// its own.
struct Hostile {
    name: &'static str,
    url: String,
    /// Paths of pages, in the order of their requests.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Hostile {
    fn start(
        name: &'static str,
        deed: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let last = NEXT.fetch_add(1, Ordering::Relaxed);
        let listener = TcpListener::bind(format!("127.0.3.{last}:0")).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (deed, requests): (Arc<Deed>, _) = (Arc::new(deed), Arc::default());
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (deed, log) = (Arc::clone(&deed), Arc::clone(&log));
                std::thread::spawn(move || serve(stream, &*deed, &log));
            }
        });
        Self { name, url, requests }
    }
}

/// One request a connection. An error is a client that has had enough.
fn serve(mut stream: TcpStream, deed: &Deed, requests: &Mutex<Vec<String>>) {
    let Ok(reading) = stream.try_clone() else { return };
    let mut lines = BufReader::new(reading).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    let _ = lines.find(String::is_empty);
    let path = request.split(' ').nth(1).unwrap_or_default();
    if path == "/robots.txt" {
        let _ = stream
            .write_all(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    requests.lock().unwrap().push(path.to_owned());
    let _ = deed(path, &mut stream);
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";

fn whole(stream: &mut TcpStream, headers: &str, body: &[u8]) -> std::io::Result<()> {
    stream.write_all(format!("{HEAD}{headers}\r\n").as_bytes())?;
    stream.write_all(body)
}

/// Writes `again` for ever, until the client has had enough.
fn without_end(stream: &mut TcpStream, again: &[u8], pause: Duration) -> std::io::Result<()> {
    loop {
        stream.write_all(again)?;
        std::thread::sleep(pause);
    }
}

fn hostile_servers() -> Vec<Hostile> {
    let links: String = (0..1_000_000).map(|n| format!("<a href=/{n}>{n}</a>\n")).collect();
    let inside = Hostile::start("never to be reached", |_, stream| whole(stream, "", b"secret"));
    let nested = bombs::gzip_stored(&bombs::gzip_of_zeros(1 << 28));
    let run = bombs::zstd_of_runs(8 * 1024);
    let moved = format!("Location: {}\r\nContent-Length: 0\r\n", inside.url);
    let pause = Duration::from_secs(1);
    vec![
        inside,
        Hostile::start("endless body", |_, stream| {
            stream.write_all(format!("{HEAD}\r\n").as_bytes())?;
            without_end(stream, &[b'x'; 64 * 1024], Duration::ZERO)
        }),
        Hostile::start("a byte a second", move |_, stream| {
            stream.write_all(format!("{HEAD}\r\n").as_bytes())?;
            without_end(stream, b"x", pause)
        }),
        Hostile::start("endless head", |_, stream| {
            stream.write_all(HEAD.as_bytes())?;
            without_end(stream, &b"X-A: b\r\n".repeat(1000), Duration::ZERO)
        }),
        Hostile::start("32,768 to 1", move |_, stream| {
            whole(stream, "Content-Encoding: zstd\r\n", &run)
        }),
        Hostile::start("coding in coding", move |_, stream| {
            whole(stream, "Content-Encoding: gzip, gzip\r\n", &nested)
        }),
        Hostile::start("codings in codings", |_, stream| {
            whole(stream, &format!("Content-Encoding: {}gzip\r\n", "gzip, ".repeat(500)), b"x")
        }),
        Hostile::start("a million links", move |path, stream| match path {
            "/" => whole(stream, "", links.as_bytes()),
            _ => whole(stream, "", format!("page {path} of no links").as_bytes()),
        }),
        Hostile::start("a way inside", move |_, stream| {
            stream.write_all(format!("HTTP/1.1 302 Found\r\n{moved}\r\n").as_bytes())
        }),
        Hostile::start("a calendar", calendar),
    ]
}

/// Real pages, and a calendar without an end.
fn calendar(path: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    let link = |to: String| format!("<a href=\"{to}\">x</a>");
    let pages = || (0..REAL_PAGES).map(|n| link(format!("/page{n}"))).collect::<String>();
    let body = match path.strip_prefix("/cal?y=").and_then(|year| year.parse::<i64>().ok()) {
        Some(year) => link(format!("/cal?y={}", year - 1)) + &link(format!("/cal?y={}", year + 1)),
        // Real pages say something of their own.
        None => format!("{path} ") + &link("/cal?y=2026".into()) + &pages(),
    };
    whole(stream, "", body.as_bytes())
}

/// A crawl of a hostile site and a friendly one.
struct Crawl {
    hostile: Hostile,
    friendly: Site,
    _dir: tempfile::TempDir,
    child: Child,
    peak_kib: u64,
}

impl Crawl {
    fn start(hostile: Hostile) -> Self {
        let (friendly, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
        std::fs::write(dir.path().join("comity.toml"), SETTINGS).unwrap();
        let seed = friendly.url("/");
        // Of the addresses that hostile servers have, only its own may be asked.
        let own = hostile.url.trim_start_matches("http://").split(':').next().unwrap();
        let child = start(
            dir.path(),
            &[
                "crawl",
                &hostile.url,
                &seed,
                "--allow-network",
                "127.0.0.1",
                "--allow-network",
                own,
                "--interval",
                "0s",
                "--address-per-second",
                "1000",
                "--patience",
                "2s",
                "--max-pages",
                "200",
                "--scope",
                "any",
                "--contact",
                "me@example.org",
                "--json",
            ],
        );
        Self { hostile, friendly, _dir: dir, child, peak_kib: 0 }
    }

    /// Whether it has ended; until then, looks at its memory.
    fn has_ended(&mut self) -> bool {
        let status = format!("/proc/{}/status", self.child.id());
        let peak = std::fs::read_to_string(status).ok().and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        });
        self.peak_kib = peak.unwrap_or(0).max(self.peak_kib);
        self.child.try_wait().unwrap().is_some()
    }

    fn judge(self, seconds: f64, wrong: &mut Vec<String>) {
        let name = self.hostile.name;
        let friendly =
            self.friendly.paths().iter().filter(|path| path.starts_with("/page")).count();
        let paths = self.hostile.requests.lock().unwrap().clone();
        let asked = paths.len();
        #[expect(clippy::print_stdout, reason = "figures for whoever asks with --nocapture")]
        {
            println!("{name}: {seconds:.1} s, {} MiB, {asked} requests", self.peak_kib / 1024);
        }
        if friendly < PAGES - 1 {
            wrong.push(format!("{name}: {friendly} pages of the friendly site"));
        }
        if self.peak_kib == 0 || self.peak_kib > MOST_MIB * 1024 {
            wrong.push(format!("{name}: {} KiB", self.peak_kib));
        }
        let ended = end(self.child);
        if ended.code != Some(0) || ended.err.contains("panicked") {
            wrong.push(format!("{name}: {ended:#?}"));
        }
        // HO-022 of the corpus: the calendar is bounded, and the real pages are not lost in it.
        let real = paths.iter().filter(|path| path.starts_with("/page")).count();
        if name == "a calendar" && (real != REAL_PAGES || asked > 200) {
            wrong.push(format!("{name}: {real} real pages, {asked} requests"));
        }
        if asked == 0 {
            wrong.push(format!("{name}: was never asked"));
        }
    }
}

/// HT-005, HT-007: what a server does to its own crawl costs time and memory within the limits.
#[test]
#[expect(clippy::disallowed_methods, reason = "real processes are waited for in real time")]
fn hostile_servers_are_survived() {
    let mut hostile = hostile_servers();
    let inside = hostile.remove(0);
    let mut crawls: Vec<_> = hostile.into_iter().map(Crawl::start).collect();
    let (started, mut wrong) = (std::time::Instant::now(), Vec::new());
    while !crawls.is_empty() {
        let ended = crawls.iter_mut().position(Crawl::has_ended);
        match ended {
            Some(ended) => {
                crawls.swap_remove(ended).judge(started.elapsed().as_secs_f64(), &mut wrong)
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
        if started.elapsed() > LONGEST {
            for mut crawl in crawls.drain(..) {
                crawl.child.kill().unwrap();
                crawl.child.wait().unwrap();
                wrong.push(format!("{}: did not end", crawl.hostile.name));
            }
        }
    }
    assert_eq!(*inside.requests.lock().unwrap(), Vec::<String>::new(), "{}", inside.name);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
