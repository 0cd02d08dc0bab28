//! The reference client: a small polite crawler of its own kind, with faults to switch on. It shows
//! that the scenarios can be kept, and that they can be broken.

mod http;
mod page;
mod robots;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};
use url::{Host, Url};

use self::http::{Fetch, Reply};
use self::robots::Rules;

/// Faults as crawlers have them: name, and what goes wrong.
pub const FAULTS: &[(&str, &str)] = &[
    ("no-robots", "asks for no robots.txt"),
    ("robots-late", "asks for robots.txt after the first page"),
    ("robots-below", "believes a robots.txt below the root"),
    ("robots-by-domain", "keeps one robots.txt for all hosts and ports"),
    ("first-group", "takes the first group, whoever it is for"),
    ("no-star-group", "does not know the group of *"),
    ("adds-star-group", "takes the group of * beside its own"),
    ("no-merge", "takes only the first of its groups"),
    ("splits-groups", "gives rules to the last of several user-agent lines"),
    ("agent-by-part", "takes a group whose token is a part of its own"),
    ("agent-case", "tells capitals from small letters in tokens"),
    ("first-rule", "takes the first rule that fits"),
    ("any-disallow", "lets any disallow win"),
    ("no-wildcards", "reads * and $ in paths as they are"),
    ("path-case", "ignores case in paths"),
    ("no-query", "matches rules without the query"),
    ("no-escapes", "does not equate escaped and raw octets"),
    ("robots-no-redirects", "takes a redirect of robots.txt for its absence"),
    ("robots-one-redirect", "follows one redirect of robots.txt"),
    ("robots-hops", "follows redirects of robots.txt without end"),
    ("robots-hop-checked", "ends a robots.txt redirect where the target is disallowed"),
    ("robots-of-target", "applies a redirected robots.txt to nobody"),
    ("robots-4xx-denies", "takes a 4xx of robots.txt for a disallow"),
    ("robots-429-allows", "takes a 429 of robots.txt for its absence"),
    ("robots-5xx-allows", "takes a 5xx of robots.txt for its absence"),
    ("robots-broken-allows", "takes a broken robots.txt answer for its absence"),
    ("robots-short", "reads 8 KiB of robots.txt"),
    ("robots-long", "reads all of robots.txt"),
    ("robots-bom", "stumbles over a byte order mark"),
    ("robots-html", "takes a robots.txt that is HTML for its absence"),
    ("robots-crlf", "knows LF as the only end of a line"),
    ("robots-gzip", "does not decode a robots.txt"),
    ("robots-conditional", "asks for robots.txt with a condition"),
    ("no-crawl-delay", "does not know crawl-delay"),
    ("too-fast", "does not wait between requests"),
    ("no-retry-after", "does not know Retry-After"),
    ("hammers", "asks again at once, and again, after an error"),
    ("blind-redirects", "follows redirects without looking at robots.txt"),
    ("no-redirects", "does not follow redirects"),
    ("endless-redirects", "follows redirects without end"),
    ("location-as-is", "does not resolve a relative Location"),
    ("redirect-bodies", "follows links in the body of a redirect"),
    ("error-bodies", "follows links in the body of an error"),
    ("meta-nofollow", "follows links where a robots meta tag says nofollow"),
    ("meta-agent", "does not know meta tags with its own name"),
    ("meta-others", "obeys meta tags of other crawlers"),
    ("meta-case", "tells capitals from small letters in meta tags"),
    ("meta-none", "does not know none"),
    ("header-nofollow", "does not know X-Robots-Tag"),
    ("header-agents", "takes X-Robots-Tag rules of others for its own"),
    ("rel-nofollow", "follows rel=nofollow"),
    ("rel-exact", "knows rel=nofollow only alone"),
    ("comments", "follows links in comments"),
    ("scripts", "follows links in scripts"),
    ("no-base", "does not know base"),
    ("keeps-entities", "does not decode character references in links"),
    ("fragments", "asks for one page once a fragment"),
    ("sitemap-entities", "does not decode character references in sitemaps"),
    ("sitemap-xml-only", "reads XML sitemaps only"),
    ("sitemap-no-index", "does not know sitemap indexes"),
    ("sitemap-no-gzip", "does not decode sitemaps"),
    ("sitemap-unchecked", "asks for what a sitemap lists without looking at robots.txt"),
    ("sitemap-anyone", "believes a sitemap about other hosts"),
    ("no-conditions", "asks again without a condition"),
    ("endless-bodies", "reads a body as long as it goes on"),
    ("bombs", "chokes on what unpacks to very much"),
    ("gives-up", "ends when an answer is broken"),
    ("private", "asks addresses that are not public"),
    ("nameless", "does not say its name"),
    ("posts", "asks with POST"),
    ("forms", "follows the action of forms"),
    ("no-gzip-pages", "does not decode pages"),
];

/// Requests of a crawl, after which it ends.
const MOST: usize = 150;
/// Hops of a page's redirect.
const HOPS: usize = 10;
/// Hops of a redirect of robots.txt.
const ROBOTS_HOPS: usize = 5;
/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(5);

/// A crawler with its memory.
#[derive(Debug)]
pub struct Client {
    agent: String,
    interval: Duration,
    proxy: Option<String>,
    fault: Option<String>,
    /// By URL: the validator of the last answer.
    validators: BTreeMap<String, String>,
    crawl: Crawl,
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
    /// A client with one fault, or none.
    pub fn new(agent: &str, interval: Duration, proxy: Option<&str>, fault: Option<&str>) -> Self {
        Self {
            agent: agent.to_owned(),
            interval,
            proxy: proxy.map(str::to_owned),
            fault: fault.map(str::to_owned),
            validators: BTreeMap::new(),
            crawl: Crawl::default(),
        }
    }

    fn has(&self, fault: &str) -> bool {
        debug_assert!(FAULTS.iter().any(|(name, _)| *name == fault), "{fault}");
        self.fault.as_deref() == Some(fault)
    }

    /// Crawls from a URL until nothing is left. The memory of validators stays for the next time.
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
                    self.validators.insert(todo.url.to_string(), etag.to_owned());
                }
                self.read(&todo, &reply).await;
            }
            _ if self.has("error-bodies") => self.read(&todo, &reply).await,
            _ => {}
        }
        Some(())
    }

    fn redirected(&mut self, todo: &Todo, reply: &Reply) {
        if self.has("redirect-bodies") {
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            for link in page::links(&text, &reply.headers, &self.agent, &|f| self.has(f)).1 {
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

    /// After an error: once more, when the site has had its time.
    async fn again(&mut self, mut todo: Todo, reply: &Reply) {
        let asked = reply.header("retry-after").and_then(|v| v.parse().ok());
        let wait = match asked {
            Some(seconds) if !self.has("no-retry-after") => Duration::from_secs(seconds),
            _ if self.has("hammers") => Duration::ZERO,
            _ => Duration::from_secs(1),
        };
        todo.tries += 1;
        let tries = if self.has("hammers") { 30 } else { 1 };
        if todo.tries > tries || wait > PATIENCE {
            return;
        }
        let host = host_of(&todo.url);
        self.crawl.ready.insert(host, Instant::now() + wait.max(self.interval));
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
        let (base, links) = page::links(&text, &reply.headers, &self.agent, &|f| self.has(f));
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
        let origin = match self.has("robots-by-domain") {
            true => String::new(),
            false => url.origin().ascii_serialization(),
        };
        if !self.crawl.rules.contains_key(&origin) {
            let rules = Box::pin(self.robots(url)).await;
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

    /// Fetches the robots.txt of an origin, hops and all.
    async fn robots(&mut self, url: &Url) -> Rules {
        let place = if self.has("robots-below") { "robots.txt" } else { "/robots.txt" };
        let Ok(mut at) = url.join(place) else { return Rules::allow() };
        let most = match self.fault.as_deref() {
            Some("robots-no-redirects") => 0,
            Some("robots-one-redirect") => 1,
            Some("robots-hops") => 100,
            _ => ROBOTS_HOPS,
        };
        let origin = at.origin();
        for _ in 0..=most {
            let Some(reply) = self.request(&at).await else {
                return self.broken("robots-broken-allows");
            };
            match reply.status {
                200..=299 if at.origin() != origin && self.has("robots-of-target") => {
                    return Rules::allow();
                }
                200..=299 => return self.rules(&reply),
                300..=399 => {
                    let location = reply.header("location").and_then(|l| at.join(l).ok());
                    let Some(target) = location else { return Rules::allow() };
                    // AM-2: no rules are known yet, so what they say of a hop does not end the chain.
                    if self.has("robots-hop-checked")
                        && target.origin() != origin
                        && !Box::pin(self.may_fetch(&target)).await
                    {
                        return Rules::allow();
                    }
                    at = target;
                }
                429 => return self.broken("robots-429-allows"),
                400..=499 if self.has("robots-4xx-denies") => return Rules::deny(),
                400..=499 => return Rules::allow(),
                _ => return self.broken("robots-5xx-allows"),
            }
        }
        Rules::allow()
    }

    fn broken(&self, fault: &str) -> Rules {
        if self.has(fault) { Rules::allow() } else { Rules::deny() }
    }

    fn rules(&mut self, reply: &Reply) -> Rules {
        if let Some(etag) = reply.header("etag") {
            let origin = "robots.txt".to_owned();
            self.validators.insert(origin, etag.to_owned());
        }
        let bytes = match self.fault.as_deref() {
            Some("robots-short") => reply.body.get(..8 * 1024).unwrap_or(&reply.body),
            Some("robots-long") => &reply.body,
            _ => reply.body.get(..500 * 1024).unwrap_or(&reply.body),
        };
        Rules::parse(bytes, &self.agent, &|f| self.has(f))
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
            (true, true) => self.validators.get("robots.txt"),
            (true, false) => None,
            (false, _) => self.validators.get(url.as_str()),
        };
        let decodes = match is_robots {
            true => !self.has("robots-gzip"),
            false => !self.has("no-gzip-pages"),
        };
        let fetch = Fetch {
            url: url.clone(),
            method: if self.has("posts") { "POST" } else { "GET" },
            agent: if self.has("nameless") {
                "Mozilla/5.0".into()
            } else {
                format!("{}/1.0", self.agent)
            },
            condition: known.filter(|_| !self.has("no-conditions")).cloned(),
            proxy: self.proxy.clone(),
            endless: self.has("endless-bodies"),
            decodes,
            unpacks: !self.has("sitemap-no-gzip"),
        };
        let asked = Instant::now();
        let reply = fetch.run().await;
        if self.has("bombs") && reply.as_ref().is_some_and(|reply| reply.body.len() >= http::MOST) {
            self.crawl.requests = MOST;
        }
        let mut pause = self.interval;
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
