//! A site of linked pages on loopback, on threads of its own, that writes down who came when.

use std::io::{BufRead as _, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Answers a path with a status line's rest, headers and a body.
pub(crate) type Answer = dyn Fn(&str) -> (u16, String, String) + Send + Sync;

/// A running site.
pub(crate) struct Site {
    port: u16,
    log: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Site {
    /// Serves `pages` pages, each linking to the next four and to the first, and no robots.txt.
    pub(crate) fn of_pages(pages: usize) -> Self {
        Self::with_robots(pages, None)
    }

    /// The same with a robots.txt.
    pub(crate) fn with_robots(pages: usize, robots: Option<&'static str>) -> Self {
        Self::start(move |path| {
            let number = path.strip_prefix("/page").and_then(|n| n.parse::<usize>().ok());
            match (path, number) {
                ("/robots.txt", _) if let Some(text) = robots => (200, String::new(), text.into()),
                ("/", _) => (200, html(), page(0, pages)),
                (_, Some(number)) if number < pages => (200, html(), page(number, pages)),
                _ => (404, html(), "no such page".into()),
            }
        })
    }

    /// Serves what `answer` says.
    #[expect(clippy::disallowed_methods, reason = "the log's times are real ones")]
    pub(crate) fn start(
        answer: impl Fn(&str) -> (u16, String, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(Mutex::new(Vec::new()));
        let site = Self { port, log: Arc::clone(&log) };
        let answer: Arc<Answer> = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || {
                    serve(stream, &*answer, |path| {
                        log.lock().unwrap().push((Instant::now(), path));
                    })
                });
            }
        });
        site
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The URL of a path by a name of this machine; each name is a site of its own to a crawler.
    pub(crate) fn url_as(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// When each path was asked for, in the order of the requests.
    pub(crate) fn requests(&self) -> Vec<(Instant, String)> {
        self.log.lock().unwrap().clone()
    }

    /// Paths in the order of their requests.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.log.lock().unwrap().iter().map(|(_, path)| path.clone()).collect()
    }

    /// The shortest time between two requests.
    pub(crate) fn shortest_gap(&self) -> Duration {
        let log = self.log.lock().unwrap();
        let gaps = log.windows(2).map(|pair| pair[1].0 - pair[0].0);
        gaps.min().unwrap_or(Duration::MAX)
    }
}

fn html() -> String {
    "content-type: text/html\r\n".into()
}

fn page(number: usize, pages: usize) -> String {
    let links = (1..=4).map(|step| number + step).filter(|next| *next < pages);
    let links: String = links.map(|next| format!("<a href=/page{next}>{next}</a> ")).collect();
    format!("<title>Page {number}</title><p>This is page number{number}. {links}<a href=/>home</a>")
}

fn serve(stream: TcpStream, answer: &Answer, note: impl Fn(String)) {
    let Ok(reading) = stream.try_clone() else { return };
    let (mut reader, mut stream) = (BufReader::new(reading), stream);
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request).unwrap_or(0) == 0 {
            return;
        }
        let mut header = String::new();
        while reader.read_line(&mut header).unwrap_or(0) > 2 {
            header.clear();
        }
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        note(path.clone());
        let (status, headers, body) = answer(&path);
        let length = body.len();
        let head = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {length}\r\n\r\n");
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}
