//! The simulated web behind the crawler's transport: answers as the world is at that moment, after
//! the site's latency, and writes down who came.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use comity::clock::Clock;
use comity::net::{
    Accept, Completeness, DnsError, DnsErrorKind, FetchError, FetchErrorKind, Reply, Terms,
    Transport, Validators,
};
use comity_compliance::{Grounds, Timestamp};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{StatusCode, Version};
use url::Url;

use crate::ledger::Entry;
use crate::world::{
    Body, Content, Fault, File, MINUTE, Ms, SECOND, SITEMAP, START_SECS, Served, Site, Validator,
    World,
};

#[derive(Clone)]
pub(crate) struct Web {
    world: Arc<World>,
    clock: Clock,
    ledger: Arc<Mutex<Vec<Entry>>>,
}

/// A word that every page has.
pub(crate) const COMMON_WORD: &str = "meadow";

impl Web {
    pub(crate) fn new(world: Arc<World>, clock: Clock) -> Self {
        Self { world, clock, ledger: Arc::default() }
    }

    pub(crate) fn now(&self) -> Ms {
        self.clock.now().as_millis() - START_SECS * SECOND
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.ledger.lock().unwrap()
    }

    /// How long an answer takes: the site's own time, a little more or less.
    fn latency(&self, url: &str, at: Ms) -> Ms {
        let usual = self.world.site_of(url).map_or(50, |site| site.latency);
        let noise = (at / 7 + i64::try_from(url.len()).unwrap()) % 5;
        usual + usual * noise / 20
    }

    fn arrived(&self, url: &Url, terms: &Terms) -> usize {
        let (at, wants_text) = (self.now(), terms.accept == Accept::Robots);
        let mut served = self.world.serve(url.as_str(), at);
        if let Served::Page { version, body } = served
            && let Some(content) = self.world.content(url.as_str(), version)
            && is_known(content.validator, body, &terms.validators)
        {
            served = Served::NotModified { version, body };
        }
        let address = self.world.site_of(url.as_str()).map(|site| site.address);
        let (url, from) = (url.to_string(), at);
        let mut ledger = self.ledger();
        ledger.push(Entry { url, wants_text, address, from, until: None, served });
        ledger.len() - 1
    }
}

impl Transport for Web {
    async fn fetch(&self, grounds: Grounds, terms: Terms) -> Result<Reply, FetchError> {
        let url = grounds.url().clone();
        let number = self.arrived(&url, &terms);
        let served = self.ledger()[number].served.clone();
        let wait = match served {
            Served::Failed(Fault::Silent) => MINUTE / 2,
            Served::Failed(_) => 5,
            Served::File { .. }
            | Served::Page { .. }
            | Served::NotModified { .. }
            | Served::Sitemap { .. }
            | Served::Redirect { .. }
            | Served::Status { .. } => self.latency(url.as_str(), self.now()),
        };
        let wait = Duration::from_millis(u64::try_from(wait).unwrap());
        tokio::time::sleep(wait).await;
        self.ledger()[number].until = Some(self.now());
        self.reply(url, &served, wait)
    }

    async fn address_of(&self, url: &Url) -> Result<IpAddr, FetchError> {
        let (host, at) = (url.host_str().unwrap_or_default(), self.now());
        match self.world.site(host) {
            Some(site) if self.world.resolves(host, at) => Ok(site.address),
            Some(_) | None => {
                let served = Served::Failed(Fault::NoAddress);
                let (until, address, wants_text) = (Some(at), None, false);
                let entry =
                    Entry { url: url.to_string(), wants_text, address, from: at, until, served };
                self.ledger().push(entry);
                let kind = DnsErrorKind::ServerFailure("simulated".into());
                Err(failure(url.clone(), FetchErrorKind::Dns(DnsError { host: host.into(), kind })))
            }
        }
    }
}

fn failure(url: Url, kind: FetchErrorKind) -> FetchError {
    FetchError { url: Box::new(url), kind }
}

impl Web {
    fn reply(&self, url: Url, served: &Served, took: Duration) -> Result<Reply, FetchError> {
        let mut headers = HeaderMap::new();
        let mut header = |name: &'static str, value: String| {
            headers.append(name, HeaderValue::from_str(&value).unwrap());
        };
        let (status, body) = match served {
            Served::File { site, version } => {
                header("content-type", "text/plain".into());
                let file = self.world.file(*site, *version).unwrap();
                if let Some(secs) = file.max_age_secs {
                    header("cache-control", format!("max-age={secs}"));
                }
                (200, robots_txt(file, &self.world.sites[*site]))
            }
            Served::Page { version, body } | Served::NotModified { version, body } => {
                let content = self.world.content(url.as_str(), *version).unwrap();
                let rules = rules_of(content);
                if content.in_header && !rules.is_empty() {
                    header("x-robots-tag", rules.clone());
                }
                match content.validator {
                    Validator::None => {}
                    Validator::Etag => header("etag", etag(*body)),
                    Validator::Date => header("last-modified", date(*body)),
                }
                if matches!(served, Served::NotModified { .. }) {
                    (304, String::new())
                } else {
                    header("content-type", "text/html; charset=utf-8".into());
                    (200, html(&url, *body, content, &rules))
                }
            }
            Served::Sitemap { .. } => {
                header("content-type", "application/xml".into());
                let site = self.world.site_of(url.as_str()).unwrap();
                // As it was when the request arrived.
                let at = self.now() - i64::try_from(took.as_millis()).unwrap();
                (200, sitemap(site, at))
            }
            Served::Redirect { status, to } => {
                header("location", to.clone());
                (*status, String::new())
            }
            Served::Status { status, retry_after_secs } => {
                if let Some(secs) = retry_after_secs {
                    header("retry-after", secs.to_string());
                }
                (*status, format!("status {status}"))
            }
            Served::Failed(fault) => return Err(failure(url, kind(*fault))),
        };
        Ok(Reply {
            url,
            status: StatusCode::from_u16(status).unwrap(),
            request: HeaderMap::new(),
            headers,
            wire_bytes: body.len() as u64,
            body: Bytes::from(body),
            completeness: Completeness::Whole,
            version: Version::HTTP_11,
            address: None,
            first_byte: took,
            total: took,
            head_at: self.clock.now(),
        })
    }
}

fn kind(fault: Fault) -> FetchErrorKind {
    match fault {
        Fault::Refused => FetchErrorKind::Connect(io::ErrorKind::ConnectionRefused.into()),
        Fault::Silent => FetchErrorKind::FirstByteTimeout(Duration::from_secs(30)),
        Fault::Closed => FetchErrorKind::Closed,
        Fault::NoAddress | Fault::Status(..) => {
            FetchErrorKind::Interrupted(io::ErrorKind::ConnectionReset.into())
        }
    }
}

fn etag(Body { version, edition }: Body) -> String {
    format!("\"{version}-{edition}\"")
}

/// No two bodies of a page have the same; nobody reads it.
fn date(Body { version, edition }: Body) -> String {
    let at = i64::try_from(version).unwrap() * 100_000 + edition;
    Timestamp::from_secs(START_SECS + at).to_string()
}

/// Whether the copy at hand has this very body, by what it came with.
fn is_known(validator: Validator, body: Body, copy: &Validators) -> bool {
    let is = |header: &Option<HeaderValue>, text| header.as_ref().is_some_and(|one| *one == text);
    match validator {
        Validator::None => false,
        Validator::Etag => is(&copy.etag, etag(body)),
        Validator::Date => is(&copy.last_modified, date(body)),
    }
}

fn sitemap(site: &Site, at: Ms) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">",
    );
    for (path, lastmod) in site.listed(at) {
        let (url, day) = (site.url(path), Timestamp::from_millis(START_SECS * SECOND + lastmod));
        text += &format!("<url><loc>{url}</loc><lastmod>{day}</lastmod></url>\n");
    }
    text + "</urlset>"
}

fn robots_txt(file: &File, site: &Site) -> String {
    let mut text = String::from("# simulated\nUser-agent: otherbot\nDisallow: /\n\n");
    if file.own_group {
        text += "User-agent: *\nDisallow: /\n\nUser-agent: ComityBot\n";
    } else {
        text += "User-agent: *\n";
    }
    for rule in &file.rules {
        let word = if rule.allow { "Allow" } else { "Disallow" };
        text += &format!("{word}: {}\n", rule.path);
    }
    if let Some(secs) = file.delay_secs {
        text += &format!("Crawl-delay: {secs}\n");
    }
    if site.sitemap.is_some() {
        text += &format!("Sitemap: {}\n", site.url(SITEMAP));
    }
    text
}

fn rules_of(content: &Content) -> String {
    let noindex = content.noindex.then(|| "noindex".to_owned());
    let nofollow = content.nofollow.then(|| "nofollow".to_owned());
    let expires = content.expires.map(|at| {
        let at = Timestamp::from_millis(START_SECS * SECOND + at);
        format!("unavailable_after: {at}")
    });
    let rules: Vec<_> = [noindex, nofollow, expires].into_iter().flatten().collect();
    rules.join(", ")
}

fn html(url: &Url, body: Body, content: &Content, rules: &str) -> String {
    let Body { version, edition } = body;
    let mut text = String::from("<!doctype html><html lang=en><head>");
    if !content.in_header && !rules.is_empty() {
        text += &format!("<meta name=robots content=\"{rules}\">");
    }
    text += &format!(
        "<title>{url}</title></head><body><p>{COMMON_WORD} version {version} of {edition}</p>"
    );
    for link in &content.links {
        let rel = if link.nofollow { " rel=nofollow" } else { "" };
        text += &format!("<a href=\"{}\"{rel}>there</a>\n", link.to);
    }
    text + "</body></html>"
}
