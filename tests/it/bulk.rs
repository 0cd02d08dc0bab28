//! Documents sent to a service that follows the bulk API's contract: it fails in parts, asks for
//! patience, takes only so much at once; and the crawler is killed meanwhile.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::command::{run, start, wait_until};
use crate::sites::Site;

const PAGES: usize = 60;

/// What the service holds and saw.
#[derive(Default)]
struct Held {
    documents: BTreeMap<String, Value>,
    /// How often each document was taken.
    taken: BTreeMap<String, usize>,
    requests: usize,
    refused: usize,
    items_failed: usize,
}

/// The service.
struct Service {
    port: u16,
    held: Arc<Mutex<Held>>,
}

/// Bytes that it takes at once.
const MOST_BYTES: usize = 12_000;

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let held = Arc::new(Mutex::new(Held::default()));
        let service = Self { port, held: Arc::clone(&held) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let held = Arc::clone(&held);
                std::thread::spawn(move || serve(stream, &held));
            }
        });
        service
    }

    fn urls(&self) -> Vec<String> {
        let held = self.held.lock().unwrap();
        let url = |document: &Value| document["url"].as_str().unwrap().to_owned();
        let mut urls: Vec<_> = held.documents.values().map(url).collect();
        urls.sort();
        urls
    }
}

fn serve(stream: TcpStream, held: &Mutex<Held>) {
    let (mut reader, mut stream) = (BufReader::new(stream.try_clone().unwrap()), stream);
    loop {
        let (mut line, mut length, mut head) = (String::new(), 0, String::new());
        while reader.read_line(&mut line).unwrap_or(0) > 2 {
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&lower);
            line.clear();
        }
        if head.is_empty() {
            return;
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let (status, headers, answer) = answer(&head, &body, &mut held.lock().unwrap());
        let length = answer.len();
        let text =
            format!("HTTP/1.1 {status} x\r\n{headers}content-length: {length}\r\n\r\n{answer}");
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// Every third request is refused, and of each other every third item fails in passing.
fn answer(head: &str, body: &[u8], held: &mut Held) -> (u16, &'static str, String) {
    held.requests += 1;
    if head.starts_with("post /closed/") {
        return (401, "", "who are you?".into());
    }
    assert!(head.starts_with("post /_bulk ") && head.contains("application/x-ndjson"), "{head}");
    if body.len() > MOST_BYTES {
        return (413, "", String::new());
    }
    if held.requests.is_multiple_of(3) {
        held.refused += 1;
        return (429, "retry-after: 0\r\n", String::new());
    }
    assert!(body.ends_with(b"\n"));
    let text = std::str::from_utf8(body).unwrap();
    let (mut lines, mut items, mut number) = (text.lines(), Vec::new(), held.requests);
    while let Some(line) = lines.next() {
        let action: Value = serde_json::from_str(line).unwrap();
        let (kind, told) = action.as_object().unwrap().iter().next().unwrap();
        let id = told["_id"].as_str().unwrap().to_owned();
        assert_eq!(told["_index"], "pages");
        let document = (kind == "index").then(|| lines.next().unwrap());
        number += 1;
        let status = if number.is_multiple_of(3) {
            held.items_failed += 1;
            [429, 503][number % 2]
        } else if let Some(document) = document {
            *held.taken.entry(id.clone()).or_default() += 1;
            held.documents.insert(id.clone(), serde_json::from_str(document).unwrap());
            201
        } else {
            if held.documents.remove(&id).is_some() { 200 } else { 404 }
        };
        items.push(json!({ kind: { "_index": "pages", "_id": id, "status": status } }));
    }
    (200, "", json!({ "took": 1, "errors": true, "items": items }).to_string())
}

fn configure(dir: &Path, url: &str) {
    let text = format!(
        "[politeness]\nadaptive = false\n[recrawl]\nfirst = \"8s\"\nleast = \"1s\"\n[output.bulk]\nurl = \"{url}\"\npatience = \"20s\"\n"
    );
    std::fs::write(dir.join("comity.toml"), text).unwrap();
}

fn crawl(seed: &str) -> Vec<&str> {
    vec![
        "crawl",
        seed,
        "--allow-network",
        "127.0.0.0/8",
        "--interval",
        "20ms",
        "--address-per-second",
        "10000",
        "--patience",
        "1s",
        "--data",
        "data",
        "--no-index",
        "--json",
    ]
}

#[test]
fn every_document_is_there_once_in_the_end() {
    const KILLS: usize = 3;
    let turned = Arc::new(AtomicBool::new(false));
    let has_turned = Arc::clone(&turned);
    let site = Site::start(move |path| {
        let number = path.strip_prefix("/page").and_then(|n| n.parse::<usize>().ok());
        let rule = if number == Some(5) && has_turned.load(Ordering::Relaxed) {
            "<meta name=robots content=noindex>"
        } else {
            ""
        };
        match number.or((path == "/").then_some(0)).filter(|n| *n < PAGES) {
            Some(number) => {
                let next = number + 1;
                let text = format!(
                    "{rule}<title>Page {number}</title>page number{number} <a href=/page{next}>on</a>"
                );
                (200, "content-type: text/html\r\n".into(), text)
            }
            None => (404, String::new(), String::new()),
        }
    });
    let (service, dir) = (Service::start(), tempfile::tempdir().unwrap());
    configure(dir.path(), &format!("http://127.0.0.1:{}/", service.port));
    let seed = site.url("/");
    let arguments = crawl(&seed);
    for kill in 1..=KILLS {
        let mut crawl = start(dir.path(), &arguments);
        wait_until("some more pages", || {
            site.paths().len() > kill * 12 || crawl.try_wait().unwrap().is_some()
        });
        crawl.kill().unwrap();
        crawl.wait().unwrap();
    }
    let ended = run(dir.path(), &arguments).well();
    assert!(ended.json()["run"]["delivered"].as_u64() > Some(0), "{}", ended.out);
    let mut expect: Vec<_> = (1..PAGES).map(|n| site.url(&format!("/page{n}"))).collect();
    expect.push(site.url("/"));
    expect.sort();
    assert_eq!(service.urls(), expect);
    {
        let held = service.held.lock().unwrap();
        assert!(held.refused > 0 && held.items_failed > 0, "the service did fail");
        let most = held.taken.values().max();
        assert!(most <= Some(&(1 + KILLS)), "what was taken is not sent again: {most:?}");
        let of_page7 = held.documents.values().find(|d| d["url"] == site.url("/page7")).unwrap();
        assert_eq!(of_page7["title"], "Page 7");
        assert!(of_page7["text"].as_str().unwrap().contains("number7"), "{of_page7}");
    }
    turned.store(true, Ordering::Relaxed);
    std::thread::sleep(Duration::from_secs(8));
    run(dir.path(), &arguments).well();
    expect.retain(|url| *url != site.url("/page5"));
    assert_eq!(service.urls(), expect, "what turned noindex is taken out");
}

/// A service that refuses the sender stops the crawl with a sentence; what was not sent is kept.
#[test]
fn a_service_that_refuses_stops_the_crawl() {
    let (site, service, dir) = (Site::of_pages(5), Service::start(), tempfile::tempdir().unwrap());
    configure(dir.path(), &format!("http://127.0.0.1:{}/closed", service.port));
    let seed = site.url("/");
    run(dir.path(), &crawl(&seed)).badly(1, &["it answers 401 Unauthorized: who are you?"]);
    configure(dir.path(), &format!("http://127.0.0.1:{}/", service.port));
    run(dir.path(), &crawl(&seed)).well();
    assert_eq!(service.urls().len(), 5);
}
