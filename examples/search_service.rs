//! A search service in one process: a crawl that stays and keeps its index fresh, and a small web
//! server that answers from it. `/search?q=` answers in JSON, `/?q=` with a page for people.
//!
//! ```console
//! $ cargo run -p comity-examples --example search_service -- https://example.org/ me@example.org 2000 search-data 8080
//! ```

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use comity::clock::Clock;
use comity::index::{Hit, Hits, IndexError, Searcher};
use comity_examples::crawl_of_arguments;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Results of one answer.
const RESULTS: usize = 10;

struct Service {
    searcher: Searcher,
    clock: Clock,
}

impl Service {
    /// The best results now: what the crawl has taken out, or what expires by now, is not among them.
    fn search(&self, words: &str) -> Result<Hits, IndexError> {
        self.searcher.refresh()?;
        self.searcher.search(words, self.clock.now(), RESULTS, 0)
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let words = words_of(request.uri().query().unwrap_or_default());
        let path = request.uri().path().to_owned();
        if !matches!(path.as_str(), "/" | "/search") {
            return response(
                StatusCode::NOT_FOUND,
                "text/plain",
                "try / or /search?q=WORDS".into(),
            );
        }
        // Reading an index may wait for the disk.
        let asked = words.clone();
        let found = tokio::task::spawn_blocking(move || self.search(&asked)).await;
        let found = match found
            .map_err(|e| e.to_string())
            .and_then(|f| f.map_err(|e| e.to_string()))
        {
            Ok(found) => found,
            Err(error) => return response(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", error),
        };
        if path == "/search" {
            let hits: Vec<_> = found.hits.iter().map(as_json).collect();
            let answer = json!({ "words": words, "total": found.total, "hits": hits });
            return response(StatusCode::OK, "application/json", answer.to_string());
        }
        response(StatusCode::OK, "text/html; charset=utf-8", page(&words, &found))
    }
}

fn words_of(query: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find(|(name, _)| name == "q").map_or(String::new(), |(_, words)| words.into_owned())
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static(kind));
    response
}

/// The snippet keeps to the publisher's limits already; whoever shows more looks at `hit.limits`.
fn as_json(hit: &Hit) -> Value {
    let snippet = hit.snippet.as_ref().map(|snippet| snippet.text.as_str());
    json!({ "url": hit.url, "title": hit.title, "snippet": snippet, "fetched_at": hit.fetched_at.to_string() })
}

fn page(words: &str, found: &Hits) -> String {
    let words = escaped(words);
    let mut html = format!(
        "<!doctype html><title>Search: {words}</title>\
         <form><input name=q value=\"{words}\" autofocus> <button>Search</button></form>"
    );
    if !words.is_empty() {
        html.push_str(&format!("<p>{} results</p>", found.total));
    }
    for hit in &found.hits {
        let (url, title) = (escaped(&hit.url), escaped(&hit.title));
        let title = if title.is_empty() { &url } else { &title };
        let snippet = hit.snippet.as_ref().map_or(String::new(), |s| escaped(&s.text));
        html.push_str(&format!("<p><a href=\"{url}\">{title}</a><br>{snippet}</p>"));
    }
    html
}

/// Text of other people's pages as text of ours.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

async fn serve(listener: TcpListener, service: Arc<Service>) -> std::io::Error {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => return error,
        };
        let service = Arc::clone(&service);
        let answer = service_fn(move |request| {
            let service = Arc::clone(&service);
            async move { Ok::<_, Infallible>(service.answer(request).await) }
        });
        // Whoever hangs up early is no error of ours.
        let connection = hyper::server::conn::http1::Builder::new();
        tokio::spawn(connection.serve_connection(TokioIo::new(stream), answer));
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let crawler = crawl_of_arguments(&mut arguments)?;
    let data = arguments.next().unwrap_or("search-data".into());
    let port = arguments.next().map_or(Ok(8080), |port| port.parse())?;
    let crawler = crawler.data(data).index().settings(|config| config.recrawl.stay = true);
    let mut running = crawler.start().await?;
    let searcher = running.searcher()?.ok_or("the crawl has no index")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    #[expect(clippy::print_stdout, reason = "the example's output")]
    {
        println!("http://{}/", listener.local_addr()?);
    }
    let service = Arc::new(Service { searcher, clock: Clock::real() });
    tokio::select! {
        error = serve(listener, service) => return Err(error.into()),
        // There are no items: this is the end of the crawl, which stays unless something fails.
        _ = running.next() => {}
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    running.stop();
    let report = running.finish().await?;
    #[expect(clippy::print_stderr, reason = "the example's output")]
    {
        eprintln!("{} pages fetched, {} indexed", report.counts.fetched, report.counts.indexed);
    }
    Ok(())
}
