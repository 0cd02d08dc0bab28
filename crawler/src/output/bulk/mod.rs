//! Documents for an index elsewhere, by the bulk API of OpenSearch and its kin.
//!
//! Fed from the store's outbox as the own index is: what is not acknowledged comes again, under the
//! same id, so each document is there exactly once in the end.

mod answer;
mod request;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use self::answer::{Fate, fates};
use self::request::{Action, actions, body};
use super::OutputError;
use crate::index::IndexChange;
use crate::net::client_config;

/// Where documents are sent.
#[derive(Clone, Debug)]
pub struct BulkSettings {
    /// The service, such as `https://search.example:9200/`.
    pub url: url::Url,
    /// The index in it.
    pub index: String,
    /// Bytes of one request; one document may be larger.
    pub request_bytes: usize,
    /// How long failures are borne with before the crawl stops.
    pub patience: Duration,
    /// The Authorization header.
    pub authorization: Option<HeaderValue>,
    /// A PEM file with certificate authorities that are trusted beside the public ones.
    pub extra_ca: Option<PathBuf>,
    /// Who sends.
    pub user_agent: String,
}

/// The one who sends.
#[derive(Clone, Debug)]
pub struct Bulk {
    settings: BulkSettings,
    endpoint: Uri,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

/// What became of changes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Delivered {
    /// Documents that are there, or out, now.
    pub done: u64,
    /// Documents that the service does not take as they are; the log names each.
    pub rejected: u64,
}

/// The first pause after a failure; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A Retry-After is heeded up to this.
const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(300);
/// Time for one request.
const REQUEST: Duration = Duration::from_secs(60);
/// Bytes of an answer.
const ANSWER_BYTES: usize = 64 << 20;
/// Failures are borne with no longer than this once the crawl is to end.
const WHILE_ENDING: Duration = Duration::from_secs(10);

/// How one request went.
enum Sent {
    /// It was carried out; the fate of each action, in order.
    Done(Vec<Fate>),
    /// It is to be sent again, after this pause if the service names one.
    Again { why: String, pause: Option<Duration> },
    /// It is more than the service takes at once.
    TooLarge,
}

impl Bulk {
    /// Sets the client up. Nothing is sent yet.
    ///
    /// # Errors
    /// [`OutputError::Service`] if the URL or the certificates cannot be used.
    pub fn new(settings: BulkSettings) -> Result<Self, OutputError> {
        let broken =
            |problem: String| OutputError::Service { url: settings.url.to_string(), problem };
        let base = settings.url.as_str().trim_end_matches('/');
        let endpoint = format!("{base}/_bulk")
            .parse()
            .map_err(|e: hyper::http::uri::InvalidUri| broken(e.to_string()))?;
        let tls = client_config(settings.extra_ca.as_deref()).map_err(|e| broken(e.to_string()))?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { settings, endpoint, client })
    }

    /// The service and index, for who remembers what was sent where.
    pub(crate) fn target(&self) -> String {
        format!("{} {}", self.settings.url, self.settings.index)
    }

    /// Sends changes until each is done or rejected. Only what failed is sent again.
    ///
    /// # Errors
    /// [`OutputError::Service`] if the service refuses the sender, or nothing succeeds for as long
    /// as the settings say; shorter once `ending` is set.
    pub async fn deliver(
        &self,
        changes: &[IndexChange],
        ending: &CancellationToken,
    ) -> Result<Delivered, OutputError> {
        let mut delivered = Delivered::default();
        let mut waiting = actions(changes, &self.settings.index);
        let mut trouble = Trouble::default();
        let mut most = self.settings.request_bytes;
        while !waiting.is_empty() {
            let count = request::fitting(&waiting, most);
            let rest = waiting.split_off(count.min(waiting.len()));
            match self.send(&waiting).await? {
                Sent::Done(fates) => {
                    let before = waiting.len();
                    waiting = settle(waiting, &fates, &mut delivered);
                    if waiting.len() < before {
                        trouble = Trouble::default();
                    }
                    if let Some(why) = fates.iter().find_map(Fate::retried) {
                        self.pause(&mut trouble, why, None, ending).await?;
                    }
                }
                Sent::TooLarge if waiting.len() > 1 => {
                    most = request::bytes_of(&waiting) / 2;
                }
                Sent::TooLarge => {
                    let refused = Fate::Rejected("it is larger than the service takes".into());
                    waiting = settle(waiting, &[refused], &mut delivered);
                    most = self.settings.request_bytes;
                }
                Sent::Again { why, pause } => self.pause(&mut trouble, &why, pause, ending).await?,
            }
            waiting.extend(rest);
        }
        Ok(delivered)
    }

    async fn send(&self, actions: &[Action]) -> Result<Sent, OutputError> {
        let mut request = Request::new(Full::new(Bytes::from(body(actions))));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.endpoint.clone();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
        if let Ok(who) = HeaderValue::from_str(&self.settings.user_agent) {
            headers.insert(USER_AGENT, who);
        }
        if let Some(authorization) = &self.settings.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let again = |why: String| Ok(Sent::Again { why, pause: None });
        let exchange = async {
            let response = self.client.request(request).await.map_err(|e| with_causes(&e))?;
            let (head, body) = response.into_parts();
            let body =
                Limited::new(body, ANSWER_BYTES).collect().await.map_err(|e| e.to_string())?;
            Ok::<_, String>((head, body.to_bytes()))
        };
        let (head, body) = match timeout(REQUEST, exchange).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => return again(why),
            Err(_) => return again(format!("no answer within {} s", REQUEST.as_secs())),
        };
        let status = head.status;
        if status.is_success() {
            let fates = fates(&body, actions).map_err(|problem| self.broken(problem))?;
            return Ok(Sent::Done(fates));
        }
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            return Ok(Sent::TooLarge);
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            let asked = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let pause = asked.and_then(|secs| secs.trim().parse().ok()).map(Duration::from_secs);
            return Ok(Sent::Again { why: format!("status {status}"), pause });
        }
        let said: String = String::from_utf8_lossy(&body).chars().take(300).collect();
        Err(self.broken(format!("it answers {status}: {said}")))
    }

    /// Waits before the next attempt, unless there have been failures for too long.
    async fn pause(
        &self,
        trouble: &mut Trouble,
        why: &str,
        asked: Option<Duration>,
        ending: &CancellationToken,
    ) -> Result<(), OutputError> {
        let since = *trouble.since.get_or_insert_with(Instant::now);
        let patience = match ending.is_cancelled() {
            true => self.settings.patience.min(WHILE_ENDING),
            false => self.settings.patience,
        };
        if since.elapsed() >= patience {
            return Err(self.broken(format!(
                "nothing succeeded for {} s, last: {why}; what was not sent is kept, and the same \
                 command sends it",
                since.elapsed().as_secs()
            )));
        }
        let usual = FIRST_PAUSE.saturating_mul(1 << trouble.failures.min(16)).min(LONGEST_PAUSE);
        let pause = usual.max(asked.unwrap_or_default().min(LONGEST_ASKED_PAUSE));
        trouble.failures = trouble.failures.saturating_add(1);
        tracing::warn!(url = %self.settings.url, why, "documents could not be sent; they are sent again");
        let patience_ends = since + patience;
        tokio::select! {
            () = tokio::time::sleep_until(patience_ends.min(Instant::now() + pause)) => {}
            () = ending.cancelled(), if !ending.is_cancelled() => {}
        }
        Ok(())
    }

    fn broken(&self, problem: String) -> OutputError {
        OutputError::Service { url: self.settings.url.to_string(), problem }
    }
}

/// Failures without a success between.
#[derive(Debug, Default)]
struct Trouble {
    since: Option<Instant>,
    failures: u32,
}

/// Counts what is settled; what is to be sent again is left.
fn settle(actions: Vec<Action>, fates: &[Fate], delivered: &mut Delivered) -> Vec<Action> {
    let mut left = Vec::new();
    for (action, fate) in actions.into_iter().zip(fates) {
        match fate {
            Fate::Done => delivered.done += 1,
            Fate::Again(_) => left.push(action),
            Fate::Rejected(why) => {
                delivered.rejected += 1;
                let (url, id) = (action.url(), action.id());
                tracing::error!(
                    url,
                    id,
                    why,
                    "the service does not take this document; it is left out"
                );
            }
        }
    }
    left
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(&format!(": {error}"));
        cause = error.source();
    }
    words
}
