//! Serves one site over HTTP/1.1 and notes each request in the ledger.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_compression::tokio::bufread::GzipEncoder;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    LOCATION, RETRY_AFTER, USER_AGENT, VARY,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::content::layout;
use super::ledger::{Arrival, Ledger, Underway};
use super::site::{Addresses, Charset, Coding, Content, Mood, Page, Site, Trap};

/// How long a site takes to answer. Requests that overlap by less than this
/// would go unseen.
const THINKING: Duration = Duration::from_millis(15);

/// How long a client may take to send a request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that one site holds open; further ones are closed at once.
const MAX_CONNECTIONS: usize = 128;

/// A pause after a failed accept, so that a lack of file descriptors does not
/// become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A site made ready to answer.
#[derive(Debug)]
pub(crate) struct ServedSite {
    name: &'static str,
    /// The only Host header that is answered.
    authority: String,
    home: String,
    hub: String,
    routes: HashMap<&'static str, Route>,
    traps: &'static [Trap],
}

#[derive(Debug)]
struct Route {
    answer: Answer,
    mood: Mood,
    asked_before: AtomicBool,
}

#[derive(Clone, Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    /// The body again, compressed, if the page is served so.
    gzip: Option<Bytes>,
}

/// A body that stays under way in the ledger until it has been taken.
pub(crate) struct NotedBody {
    body: Full<Bytes>,
    _underway: Option<Underway>,
}

impl ServedSite {
    pub(crate) async fn new(site: &Site, addresses: &Addresses) -> io::Result<Self> {
        let home = addresses.fill(&format!("{{{}}}", site.name));
        let hub = addresses.fill(super::content::SEED);
        let mut routes = HashMap::with_capacity(site.pages.len());
        for page in &site.pages {
            let answer = render(page, &home, &hub, addresses).await?;
            let asked_before = AtomicBool::new(false);
            routes.insert(
                page.path,
                Route {
                    answer,
                    mood: page.mood,
                    asked_before,
                },
            );
        }
        let authority = home.trim_start_matches("http://").to_owned();
        Ok(Self {
            name: site.name,
            authority,
            home,
            hub,
            routes,
            traps: site.traps,
        })
    }

    fn answer(&self, request: &hyper::Request<Incoming>, host: &str, path: &str) -> Answer {
        if !host.eq_ignore_ascii_case(&self.authority) {
            return Answer::plain(
                StatusCode::MISDIRECTED_REQUEST,
                "this site has another name\n",
            );
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return Answer::plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        }
        match self.routes.get(path) {
            Some(route) => route.answer(request.headers()),
            None => self.trap(path).unwrap_or_else(|| self.missing()),
        }
    }

    fn trap(&self, path: &str) -> Option<Answer> {
        let trap = self
            .traps
            .iter()
            .find(|trap| path.starts_with(trap.prefix))?;
        let (title, body) = (trap.page)(path)?;
        Some(Answer::html(
            StatusCode::OK,
            layout(&title, "", &body, &self.home, &self.hub),
        ))
    }

    fn missing(&self) -> Answer {
        let body = "<p>There is nothing at this address.</p>";
        let page = layout("Not found", "", body, &self.home, &self.hub);
        Answer::html(StatusCode::NOT_FOUND, page)
    }
}

impl Route {
    fn answer(&self, headers: &HeaderMap) -> Answer {
        let busy = match self.mood {
            Mood::Steady => false,
            Mood::BusyAtFirst => !self.asked_before.swap(true, Ordering::Relaxed),
        };
        if busy {
            let mut answer = Answer::plain(
                StatusCode::TOO_MANY_REQUESTS,
                "please ask again in a second\n",
            );
            answer
                .headers
                .insert(RETRY_AFTER, HeaderValue::from_static("1"));
            return answer;
        }
        let mut answer = self.answer.clone();
        if let Some(gzip) = answer.gzip.take() {
            answer
                .headers
                .insert(VARY, HeaderValue::from_static("accept-encoding"));
            if accepts_gzip(headers) {
                answer
                    .headers
                    .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                answer.body = gzip;
            }
        }
        answer
    }
}

impl Answer {
    fn new(status: StatusCode, media_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type)]);
        Self {
            status,
            headers,
            body: body.into(),
            gzip: None,
        }
    }

    fn plain(status: StatusCode, body: &'static str) -> Self {
        Self::new(
            status,
            HeaderValue::from_static("text/plain; charset=utf-8"),
            body,
        )
    }

    fn html(status: StatusCode, body: String) -> Self {
        Self::new(
            status,
            HeaderValue::from_static("text/html; charset=utf-8"),
            body,
        )
    }
}

/// Accepts connections until the task is aborted, and with it all of them.
pub(crate) async fn run(site: Arc<ServedSite>, ledger: Arc<Ledger>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                while connections.try_join_next().is_some() {}
                if connections.len() < MAX_CONNECTIONS {
                    connections.spawn(converse(Arc::clone(&site), Arc::clone(&ledger), stream));
                }
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Answers one connection's requests. A client that breaks off is no fault of
/// the lab's, so the result says nothing.
async fn converse(site: Arc<ServedSite>, ledger: Arc<Ledger>, stream: TcpStream) {
    let service = service_fn(|request| {
        let (site, ledger) = (Arc::clone(&site), Arc::clone(&ledger));
        async move { Ok::<_, Infallible>(respond(&site, &ledger, &request).await) }
    });
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn respond(
    site: &ServedSite,
    ledger: &Arc<Ledger>,
    request: &hyper::Request<Incoming>,
) -> Response<NotedBody> {
    let host = text(request.headers(), &HOST);
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let mut answer = site.answer(request, &host, path);
    let underway = ledger.enter(Arrival {
        site: site.name,
        method: request.method().to_string(),
        path_and_query: path.to_owned(),
        user_agent: text(request.headers(), &USER_AGENT),
        host,
        status: answer.status.as_u16(),
    });
    if underway.is_none() {
        answer = Answer::plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "the lab's ledger is full\n",
        );
    }
    sleep(THINKING).await;
    let mut response = Response::new(NotedBody {
        body: Full::new(answer.body),
        _underway: underway,
    });
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
}

fn text(headers: &HeaderMap, name: &HeaderName) -> String {
    let value = headers
        .get(name)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    String::from_utf8_lossy(value).into_owned()
}

/// Whether a client takes gzip (RFC 9110 §12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    text(headers, &ACCEPT_ENCODING).split(',').any(|element| {
        let mut parts = element.split(';').map(str::trim);
        let coding = parts.next().unwrap_or_default();
        let refused = parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        !refused && (coding.eq_ignore_ascii_case("gzip") || coding == "*")
    })
}

async fn render(page: &Page, home: &str, hub: &str, addresses: &Addresses) -> io::Result<Answer> {
    let (media_type, body) = match &page.content {
        Content::Html { title, head, body } => (
            "text/html",
            layout(
                title,
                &addresses.fill(head),
                &addresses.fill(body),
                home,
                hub,
            ),
        ),
        Content::Text { media_type, body } => (*media_type, addresses.fill(body)),
        Content::Redirect { to } => {
            let to = addresses.fill(to);
            (
                "text/html",
                format!("<p>Moved to <a href=\"{to}\">{to}</a></p>\n"),
            )
        }
    };
    let (charset, body) = match page.charset {
        Charset::Utf8 => ("utf-8", body.into_bytes()),
        Charset::Latin1 => ("iso-8859-1", latin1(&body)),
    };
    let media_type = header_value(&format!("{media_type}; charset={charset}"))?;
    let status = StatusCode::from_u16(page.status).map_err(io::Error::other)?;
    let mut answer = Answer::new(status, media_type, body);
    for (name, value) in &page.headers {
        answer
            .headers
            .append(HeaderName::from_static(name), header_value(value)?);
    }
    if let Content::Redirect { to } = &page.content {
        answer
            .headers
            .insert(LOCATION, header_value(&addresses.fill(to))?);
    }
    if page.coding == Coding::Gzip {
        let mut packed = Vec::new();
        GzipEncoder::new(&answer.body[..])
            .read_to_end(&mut packed)
            .await?;
        answer.gzip = Some(packed.into());
    }
    Ok(answer)
}

fn header_value(value: &str) -> io::Result<HeaderValue> {
    HeaderValue::from_str(value).map_err(io::Error::other)
}

/// ISO 8859-1 holds the first 256 characters; others become a question mark.
fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|character| u8::try_from(character).unwrap_or(b'?'))
        .collect()
}

impl Body for NotedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
