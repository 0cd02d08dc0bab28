//! The reference client: a small polite crawler of its own kind, with faults to switch on. It shows
//! that the scenarios can be kept, and that they can be broken.

mod faults;
mod http;
mod life;
mod memory;
mod page;
mod robots;

#[cfg(test)]
mod lazy_tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

pub use self::faults::FAULTS;
use self::http::{Fetch, Reply};
use self::memory::Memory;
use self::robots::Rules;
use super::clock::{http_date, read_http_date, rfc_3339, wall_s};
use crate::vectors::Policy;

/// Requests of a crawl, after which it ends.
const MOST: usize = 150;
/// Hops of a page's redirect.
const HOPS: usize = 10;
/// Hops of a redirect of robots.txt.
const ROBOTS_HOPS: usize = 5;
/// The longest wait for anything. What takes longer is for the next crawl.
const PATIENCE: Duration = Duration::from_secs(8);
/// For so long a page is left alone that is gone or past its day.
const MONTH_S: u64 = 30 * 86_400;

/// What a client is told.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Its product token.
    pub agent: String,
    /// The least time between two requests of a site.
    pub interval: Duration,
    /// Whose reading of the rules it keeps.
    pub policy: Policy,
    /// A proxy for all requests.
    pub proxy: Option<String>,
    /// Certificates to trust, in PEM.
    pub ca: Option<String>,
    /// A fault that it has.
    pub fault: Option<String>,
}

/// A crawler with its memory.
pub struct Client {
    config: ClientConfig,
    tls: Option<TlsConnector>,
    time: Time,
    memory: Memory,
    crawl: Crawl,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The client's own clock: the real one, unless it was told another time.
#[derive(Debug)]
struct Time {
    start_s: u64,
    since: Instant,
    scale: u32,
}

impl Time {
    fn starting_at(start_s: u64, scale: u32) -> Self {
        Self { start_s, since: Instant::now(), scale: scale.max(1) }
    }

    /// Seconds since 1970.
    fn now_s(&self) -> u64 {
        let passed = self.since.elapsed() * self.scale;
        self.start_s + passed.as_secs()
    }
}

/// What one crawl knows.
#[derive(Debug, Default)]
struct Crawl {
    rules: BTreeMap<String, Rules>,
    /// By host: when it may be asked.
    ready: BTreeMap<String, Instant>,
    queue: VecDeque<Todo>,
    seen: BTreeSet<String>,
    requests: usize,
}

#[derive(Clone, Debug)]
struct Todo {
    url: Url,
    kind: Kind,
    hops: usize,
    /// Requests of it so far.
    tries: usize,
    from_sitemap: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Page,
    Sitemap,
}

impl Client {
    /// A client that knows nothing yet.
    ///
    /// # Errors
    ///
    /// Certificates that cannot be read.
    pub fn new(config: ClientConfig) -> io::Result<Self> {
        let tls = config.ca.as_deref().map(http::connector).transpose()?;
        let time = Time::starting_at(wall_s(), 1);
        let (memory, crawl) = (Memory::default(), Crawl::default());
        Ok(Self { config, tls, time, memory, crawl })
    }

    /// Sets its clock: to seconds since 1970, and how many of its seconds pass in a real one.
    pub fn set_clock(&mut self, start_s: u64, scale: u32) {
        self.time = Time::starting_at(start_s, scale);
    }

    /// Remembers what another client has left in a file; nothing, if there is none yet.
    ///
    /// # Errors
    ///
    /// A file that no client has written.
    pub fn recall(&mut self, file: &Path) -> io::Result<()> {
        self.memory = Memory::read(file)?;
        Ok(())
    }

    /// Leaves what it knows in a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn keep(&self, file: &Path) -> io::Result<()> {
        self.memory.write(file)
    }

    fn has(&self, fault: &str) -> bool {
        debug_assert!(FAULTS.iter().any(|(name, _)| *name == fault), "{fault}");
        self.config.fault.as_deref() == Some(fault)
    }

    /// Crawls from a URL until nothing is left. What it remembers stays for the next time.
    pub async fn crawl(&mut self, seed: &str) {
        self.crawl = Crawl::default();
        self.add(seed, None, Kind::Page);
        while let Some(todo) = self.crawl.queue.pop_front() {
            if self.crawl.requests >= MOST {
                return;
            }
            if self.visit(todo).await.is_none() && self.has("gives-up") {
                return;
            }
        }
    }

    fn add(&mut self, target: &str, base: Option<&Url>, kind: Kind) {
        let url = match base {
            Some(base) => base.join(target),
            None => Url::parse(target),
        };
        let Ok(mut url) = url else { return };
        if !self.has("fragments") {
            url.set_fragment(None);
        }
        let web = matches!(url.scheme(), "http" | "https");
        // Sitemaps, and what they list: neither has a page as its base.
        let from_sitemap = kind == Kind::Sitemap || base.is_none() && !self.crawl.seen.is_empty();
        if web && self.is_public(&url) && self.crawl.seen.insert(url.to_string()) {
            self.crawl.queue.push_back(Todo { url, kind, hops: 0, tries: 0, from_sitemap });
        }
    }

    /// Loopback is the lab's own; what else is not public is not asked.
    fn is_public(&self, url: &Url) -> bool {
        self.has("private")
            || match url.host() {
                Some(Host::Ipv4(ip)) => {
                    !ip.is_private() && !ip.is_link_local() && !ip.is_unspecified()
                }
                Some(Host::Ipv6(_)) => false,
                Some(Host::Domain(name)) => !name.ends_with("localhost"),
                None => false,
            }
    }

    /// Fetches what is to do; none if the answer was broken.
    async fn visit(&mut self, todo: Todo) -> Option<()> {
        if self.has("robots-late") && self.crawl.rules.is_empty() {
            self.request(&todo.url).await;
        }
        let (now_s, host) = (self.time.now_s(), host_of(&todo.url));
        let remembers = !self.has("retry-after-forgets");
        if remembers && self.memory.waits.get(&host).is_some_and(|until_s| now_s < *until_s)
            || self.memory.rests.get(todo.url.as_str()).is_some_and(|until_s| now_s < *until_s)
        {
            return Some(());
        }
        // A client of this fault knows rules for links only, and all here comes from the sitemap.
        let unchecked = todo.from_sitemap && self.has("sitemap-unchecked");
        let blind = self.has("blind-redirects") && todo.hops > 0;
        if !blind && !unchecked && !self.may_fetch(&todo.url).await {
            return Some(());
        }
        let reply = self.request(&todo.url).await?;
        match reply.status {
            300..=399 if reply.status != 304 => self.redirected(&todo, &reply),
            429 | 500..=599 => self.again(todo, &reply).await,
            200..=299 => {
                if let Some(etag) = reply.header("etag") {
                    self.memory.validators.insert(todo.url.to_string(), etag.to_owned());
                }
                self.rest(&todo.url, &reply);
                self.read(&todo, &reply).await;
            }
            304 => {}
            _ if self.has("error-bodies") => self.read(&todo, &reply).await,
            _ if self.has("gone-as-any") => {}
            _ => {
                let until_s = self.time.now_s() + MONTH_S;
                self.memory.rests.insert(todo.url.to_string(), until_s);
            }
        }
        Some(())
    }

    fn redirected(&mut self, todo: &Todo, reply: &Reply) {
        if self.has("redirect-bodies") {
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            for link in page::links(&text, &reply.headers, &self.config.agent, &|f| self.has(f)).1 {
                self.add(&link, Some(&todo.url), Kind::Page);
            }
        }
        let Some(location) = reply.header("location") else { return };
        let target =
            if self.has("location-as-is") { Url::parse(location) } else { todo.url.join(location) };
        let Ok(url) = target else { return };
        let endless = self.has("endless-redirects");
        if self.has("no-redirects") || (todo.hops >= HOPS && !endless) || !self.is_public(&url) {
            return;
        }
        if self.crawl.seen.insert(url.to_string()) || endless {
            self.crawl.queue.push_front(Todo {
                url,
                hops: todo.hops + 1,
                from_sitemap: false,
                tries: 0,
                kind: todo.kind,
            });
        }
    }

    /// When a page that was read is looked at again, if not at every crawl.
    fn rest(&mut self, url: &Url, reply: &Reply) {
        let now_s = self.time.now_s();
        let text = String::from_utf8_lossy(&reply.body);
        // Both are RFC 3339 in UTC, and so in the order of time.
        let expired = page::unavailable_after(&text)
            .is_some_and(|day| day.as_str() <= rfc_3339(now_s).as_str());
        if self.has("once") {
            self.memory.rests.insert(url.to_string(), u64::MAX);
        } else if expired && !self.has("expired-as-any") {
            self.memory.rests.insert(url.to_string(), now_s + MONTH_S);
        }
    }

    /// How long an answer asks to wait.
    fn retry_after_s(&self, reply: &Reply) -> Option<u64> {
        let text = reply.header("retry-after").filter(|_| !self.has("no-retry-after"))?;
        let at_s = read_http_date(text).filter(|_| !self.has("retry-after-date"));
        let date = at_s.map(|at_s| at_s.saturating_sub(self.time.now_s()));
        let most_s = if self.has("retry-after-minute") { 60 } else { u64::MAX };
        text.parse().ok().or(date).map(|wait_s: u64| wait_s.min(most_s))
    }

    /// After an error: once more, when the site has had its time.
    async fn again(&mut self, mut todo: Todo, reply: &Reply) {
        let real = |seconds| Duration::from_secs(seconds) / self.time.scale;
        let asked_s = self.retry_after_s(reply);
        let wait = match asked_s {
            Some(seconds) => real(seconds),
            None if self.has("hammers") => Duration::ZERO,
            None => Duration::from_secs(1),
        };
        todo.tries += 1;
        let tries = if self.has("hammers") { 30 } else { 1 };
        if wait > PATIENCE {
            let until_s = self.time.now_s().saturating_add(asked_s.unwrap_or_default());
            self.memory.waits.insert(host_of(&todo.url), until_s);
            return;
        }
        if todo.tries > tries {
            return;
        }
        let host = host_of(&todo.url);
        self.crawl.ready.insert(host, Instant::now() + wait.max(self.config.interval));
        self.crawl.queue.push_back(todo);
    }

    async fn read(&mut self, todo: &Todo, reply: &Reply) {
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        if todo.kind == Kind::Sitemap {
            let (maps, urls) = page::sitemap(&text, &|fault| self.has(fault));
            let maps = if self.has("sitemap-no-index") { Vec::new() } else { maps };
            maps.iter().for_each(|map| self.add(map, Some(&todo.url), Kind::Sitemap));
            for url in urls {
                let own = Url::parse(&url).is_ok_and(|u| u.origin() == todo.url.origin());
                if own || self.has("sitemap-anyone") {
                    self.add(&url, None, Kind::Page);
                }
            }
            return;
        }
        let (base, links) =
            page::links(&text, &reply.headers, &self.config.agent, &|f| self.has(f));
        let base = base.and_then(|base| todo.url.join(&base).ok()).unwrap_or(todo.url.clone());
        for link in links {
            self.add(&link, Some(&base), Kind::Page);
        }
    }

    /// Whether robots.txt lets a URL be asked for; asks for it if it is not known.
    async fn may_fetch(&mut self, url: &Url) -> bool {
        if self.has("no-robots") || url.path() == "/robots.txt" {
            return true;
        }
        let origin = match (self.has("robots-by-domain"), self.has("robots-by-host")) {
            (true, _) => String::new(),
            (_, true) => host_of(url),
            _ => url.origin().ascii_serialization(),
        };
        if !self.crawl.rules.contains_key(&origin) {
            let rules = Box::pin(self.robots(url, &origin)).await;
            rules.sitemaps.iter().for_each(|map| self.add(map, None, Kind::Sitemap));
            if let Some(delay) = rules.delay.filter(|_| !self.has("no-crawl-delay")) {
                self.crawl.ready.insert(host_of(url), Instant::now() + delay);
            }
            self.crawl.rules.insert(origin.clone(), rules);
        }
        let path = match url.query().filter(|_| !self.has("no-query")) {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        self.crawl.rules.get(&origin).is_some_and(|r| r.allows(&path, &|f| self.has(f)))
    }

    /// One request, when its host may be asked. None if there is no whole answer.
    async fn request(&mut self, url: &Url) -> Option<Reply> {
        let host = host_of(url);
        if let Some(ready) = self.crawl.ready.get(&host) {
            sleep_until(*ready).await;
        }
        self.crawl.requests += 1;
        let is_robots = url.path() == "/robots.txt";
        let known = match (is_robots, self.has("robots-conditional")) {
            (true, true) => self.memory.validators.get("robots.txt"),
            (true, false) => None,
            (false, _) => self.memory.validators.get(url.as_str()),
        };
        let known = known.filter(|_| !self.has("no-conditions"));
        let condition = match known {
            Some(etag) => Some(format!("If-None-Match: {etag}")),
            None if is_robots && self.has("robots-since") => Some(format!(
                "If-Modified-Since: {}",
                http_date(self.time.now_s().saturating_sub(3_600))
            )),
            None => None,
        };
        let decodes = match is_robots {
            true => !self.has("robots-gzip"),
            false => !self.has("no-gzip-pages"),
        };
        let fetch = Fetch {
            url: url.clone(),
            method: if self.has("posts") { "POST" } else { "GET" },
            agent: match self.config.fault.as_deref() {
                Some("nameless") => "Mozilla/5.0".into(),
                Some("impersonates") => {
                    format!("Mozilla/5.0 (compatible; Googlebot/2.1) {}/1.0", self.config.agent)
                }
                _ => format!("{}/1.0", self.config.agent),
            },
            condition,
            proxy: self.config.proxy.clone(),
            tls: self.tls.clone(),
            endless: self.has("endless-bodies"),
            decodes,
            unpacks: !self.has("sitemap-no-gzip"),
        };
        let asked = Instant::now();
        if let Some(next) = self.crawl.queue.front().filter(|_| self.has("at-once")) {
            let other = Fetch { url: next.url.clone(), ..fetch.clone() };
            tokio::spawn(other.run());
        }
        let reply = fetch.run().await;
        if self.has("bombs") && reply.as_ref().is_some_and(|reply| reply.body.len() >= http::MOST) {
            self.crawl.requests = MOST;
        }
        let mut pause = self.config.interval;
        let delay = self.crawl.rules.get(&url.origin().ascii_serialization()).and_then(|r| r.delay);
        if let Some(delay) = delay.filter(|_| !self.has("no-crawl-delay")) {
            pause = pause.max(delay);
        }
        if self.has("too-fast") || self.has("hammers") {
            pause = Duration::ZERO;
        }
        let next = self.crawl.ready.entry(host).or_insert(asked);
        *next = (*next).max(asked + pause + Duration::from_millis(20).min(pause));
        if reply.is_none() {
            sleep(Duration::from_millis(10)).await;
        }
        reply
    }
}

fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}
