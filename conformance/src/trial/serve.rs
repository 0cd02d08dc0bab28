//! The sites of all scenarios, each a host of its own, and the proxy that knows them by name.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::authority::Authority;
use super::judge::Grade;
use super::ledger::{Arrival, Ledger};
use super::scenario::{Mode, Scenario};
use super::wire::{Filled, Head, Wire, read_head, send};

/// Sites that share a last octet but one.
const ROW: usize = 200;

/// How long a client may take to send its head.
const HEAD_TIME: Duration = Duration::from_secs(60);

/// What a web is started for.
#[derive(Clone, Debug)]
pub struct WebConfig {
    /// How it is reached.
    pub mode: Mode,
    /// The product token of the crawler: `{agent}` in scenarios.
    pub agent: String,
}

/// A running web. Dropping it stops it.
#[derive(Debug)]
pub struct Web {
    shared: Arc<Shared>,
    proxy: Option<String>,
    index: String,
    /// Dropped with the web, and the servers with it.
    _servers: JoinSet<()>,
}

#[derive(Debug)]
struct Shared {
    mode: Mode,
    agent: String,
    scenarios: Vec<Scenario>,
    /// Host name or address to scenario and site.
    hosts: HashMap<String, (usize, String)>,
    /// Scenario and site to base URL.
    bases: HashMap<(usize, String), String>,
    ledger: Ledger,
    authority: Authority,
}

impl Web {
    /// Starts the sites of these scenarios.
    ///
    /// # Errors
    ///
    /// When an address of loopback cannot be bound. Of 127.0.0.0/8, some systems give only 127.0.0.1
    /// without being asked for the others; the proxy needs no more than that one.
    pub async fn start(scenarios: Vec<Scenario>, config: WebConfig) -> io::Result<Self> {
        let WebConfig { mode, agent } = config;
        let (mut hosts, mut bases) = (HashMap::new(), HashMap::new());
        let mut listeners = Vec::new();
        let scheme = if mode.is_tls() { "https" } else { "http" };
        for (index, scenario) in scenarios.iter().enumerate() {
            for site in scenario.site.keys() {
                let count = hosts.len();
                let mut at = String::new();
                let host = if mode.is_proxy() {
                    let usual = format!("{site}.{}.test", scenario.name);
                    scenario.hosts.get(site).cloned().unwrap_or(usual)
                } else {
                    let octet = |number: usize| u8::try_from(number).map_err(io::Error::other);
                    let address =
                        Ipv4Addr::new(127, 0, octet(1 + count / ROW)?, octet(1 + count % ROW)?);
                    let listener = TcpListener::bind((address, 0)).await?;
                    at = format!(":{}", listener.local_addr()?.port());
                    listeners.push(listener);
                    address.to_string()
                };
                bases.insert((index, site.clone()), format!("{scheme}://{host}{at}"));
                hosts.insert(host, (index, site.clone()));
            }
        }
        let front = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let index = format!("http://{}", front.local_addr()?);
        let authority = Authority::new()?;
        let ledger = Ledger::new();
        let shared = Arc::new(Shared { mode, agent, scenarios, hosts, bases, ledger, authority });
        let mut servers = JoinSet::new();
        for listener in listeners {
            servers.spawn(listen(Arc::clone(&shared), listener, false));
        }
        servers.spawn(listen(Arc::clone(&shared), front, true));
        Ok(Self { shared, proxy: mode.is_proxy().then(|| index.clone()), index, _servers: servers })
    }

    /// The proxy's URL, where the sites are reached by one.
    pub fn proxy(&self) -> Option<&str> {
        self.proxy.as_deref()
    }

    /// The URL of a page that explains each site.
    pub fn index(&self) -> &str {
        &self.index
    }

    /// The certificate of the lab's authority, in PEM.
    pub fn authority(&self) -> &str {
        self.shared.authority.pem()
    }

    /// The scenarios that are served.
    pub fn scenarios(&self) -> &[Scenario] {
        &self.shared.scenarios
    }

    /// Where the crawl of a scenario begins.
    pub fn seed(&self, index: usize) -> String {
        let seed = self.shared.scenarios.get(index).map_or("", |s| s.seed.as_str());
        self.shared.fill(index, "", "", seed)
    }

    /// Judges what arrived of a scenario.
    pub fn judge(&self, index: usize, interval: Duration) -> Option<Grade> {
        let scenario = self.shared.scenarios.get(index)?;
        let mut expect = scenario.expect.clone();
        for header in &mut expect.header {
            header.has = header.has.replace("{agent}", &self.shared.agent);
        }
        Some(Grade::new(&expect, &self.ledger(&scenario.name), interval.as_secs_f64()))
    }

    /// What arrived of a scenario.
    pub fn ledger(&self, scenario: &str) -> Vec<Arrival> {
        self.shared.ledger.of(scenario)
    }
}

/// Takes connections. `front` is the proxy, and the page that explains.
async fn listen(shared: Arc<Shared>, listener: TcpListener, front: bool) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        while connections.try_join_next().is_some() {}
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // A client that breaks off is no fault of the lab's.
            let _ = if front {
                shared.front(stream).await
            } else {
                shared.site_of_address(stream).await
            };
        });
    }
}

impl Shared {
    async fn site_of_address(&self, mut stream: TcpStream) -> io::Result<()> {
        let host = stream.local_addr()?.ip().to_string();
        if self.mode.is_tls() {
            let mut stream = self.authority.acceptor(&host)?.accept(stream).await?;
            self.converse(&mut stream, &host).await
        } else {
            self.converse(&mut stream, &host).await
        }
    }

    async fn converse(&self, wire: &mut impl Wire, host: &str) -> io::Result<()> {
        match timeout(HEAD_TIME, read_head(wire)).await {
            Ok(Some(head)) => self.respond(wire, host, &head).await,
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// A request to the proxy in absolute form, a CONNECT, or one for the page that explains.
    async fn front(&self, mut stream: TcpStream) -> io::Result<()> {
        let Ok(Some(mut head)) = timeout(HEAD_TIME, read_head(&mut stream)).await else {
            return Ok(());
        };
        if head.method == "CONNECT" {
            let host = host_of(&head.target).to_owned();
            if !self.hosts.contains_key(&host) {
                return send(&mut stream, plain(502, "no such host in this lab")).await;
            }
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 connected\r\n\r\n")
                .await?;
            if !head.target.ends_with(":443") {
                return self.converse(&mut stream, &host).await;
            }
            let mut stream = self.authority.acceptor(&host)?.accept(stream).await?;
            return self.converse(&mut stream, &host).await;
        }
        let Some(rest) = head.target.strip_prefix("http://").map(str::to_owned) else {
            return send(&mut stream, self.explain()).await;
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        head.target = if path.starts_with('/') { path.into() } else { format!("/{path}") };
        self.respond(&mut stream, host_of(authority), &head).await
    }

    async fn respond(&self, wire: &mut impl Wire, host: &str, head: &Head) -> io::Result<()> {
        let Some((index, site)) = self.hosts.get(&host.to_ascii_lowercase()) else {
            return send(wire, plain(502, "no such host in this lab")).await;
        };
        let Some(scenario) = self.scenarios.get(*index) else { return Ok(()) };
        let entered = self.ledger.enter(Arrival {
            scenario: scenario.name.clone(),
            site: site.clone(),
            at_s: 0.0,
            done_s: None,
            method: head.method.clone(),
            path: head.target.clone(),
            headers: head.headers.clone(),
            answer: String::new(),
        });
        let Some((place, number, since_s)) = entered else {
            return send(wire, plain(503, "the lab's ledger is full")).await;
        };
        let known = scenario.answers(site, &head.target);
        let reads = matches!(head.method.as_str(), "GET" | "HEAD");
        let mut filled = match known.and_then(|(_, answers)| answers.of(number, since_s)) {
            Some(_) if !reads => plain(405, "GET, if you please"),
            Some(answer) => {
                let fill = |text: &str| self.fill(*index, site, &head.target, text);
                let mut filled = Filled::new(answer, &head.target, fill);
                let has = |(name, value): &(String, String)| {
                    name == "if-none-match"
                        && answer.etag.as_ref().is_some_and(|e| value.contains(e))
                };
                if head.headers.iter().any(has) {
                    (filled.status, filled.body) = (304, Vec::new());
                }
                filled
            }
            None => plain(404, "not found"),
        };
        filled.without_body = head.method == "HEAD";
        filled.accepts_gzip = accepts_gzip(head);
        self.ledger.answered(place, filled.in_words());
        let sent = send(wire, filled).await;
        self.ledger.done(place);
        sent
    }

    /// Puts base URLs, the agent and numbers into a text.
    fn fill(&self, index: usize, site: &str, path: &str, text: &str) -> String {
        if !text.contains('{') {
            return text.to_owned();
        }
        let number = path.rsplit(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
        let number: u64 = number.and_then(|n| n.parse().ok()).unwrap_or(0);
        let half = self.agent.get(..self.agent.len().div_ceil(2)).unwrap_or_default();
        let mut text = text
            .replace("{agent}", &self.agent)
            .replace("{AGENT}", &self.agent.to_ascii_uppercase())
            .replace("{agent.start}", half)
            .replace("{site}", site)
            .replace("{scenario}", self.scenarios.get(index).map_or("", |s| s.name.as_str()))
            .replace("{next}", &number.saturating_add(1).to_string());
        for ((of, name), base) in &self.bases {
            if *of == index {
                text = text.replace(&format!("{{{name}}}"), base);
                let host = host_of(base.split("://").nth(1).unwrap_or_default());
                text = text.replace(&format!("{{{name}.host}}"), host);
            }
        }
        text
    }

    /// The page that explains each scenario.
    fn explain(&self) -> Filled {
        let mut page = String::from(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>comity-lab</title>\
             <style>body{font:16px/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
             code{background:#eee;padding:0 .2em}dt{margin-top:1.2rem;font-weight:bold}</style></head>\n\
             <body><h1>The lab's scenarios</h1>\n<p>Each is a small web of its own, to be crawled from \
             its seed. Every request is noted.</p>\n<dl>\n",
        );
        for (index, scenario) in self.scenarios.iter().enumerate() {
            let seed = self.fill(index, "", "", &scenario.seed);
            let escape = crate::grade::escape;
            let _ = writeln!(
                page,
                "<dt id=\"{name}\">{name}: {title}</dt><dd>{why} <small>{level} {clauses}, {source}\
                 </small><br><a rel=\"nofollow\" href=\"{seed}\"><code>{seed}</code></a></dd>",
                name = escape(&scenario.name),
                title = escape(&scenario.title),
                why = escape(&scenario.why),
                level = scenario.level.name(),
                clauses = scenario.clauses.join(", "),
                source = escape(&scenario.source),
            );
        }
        page.push_str("</dl></body></html>\n");
        let mut filled = plain(200, &page);
        filled.headers = vec![("content-type".into(), "text/html; charset=utf-8".into())];
        filled
    }
}

fn plain(status: u16, text: &str) -> Filled {
    Filled {
        status,
        headers: vec![("content-type".into(), "text/plain".into())],
        body: format!("{text}\n").into_bytes(),
        gzip: false,
        without_body: false,
        accepts_gzip: true,
        delay: Duration::ZERO,
        then: None,
    }
}

/// Whether a client takes gzip (RFC 9110 §12.5.3): it says so, or nothing at all.
fn accepts_gzip(head: &Head) -> bool {
    let mut named = head.headers.iter().filter(|(name, _)| name == "accept-encoding").peekable();
    let is_gzip = |coding: &str| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        matches!(name.trim(), "gzip" | "x-gzip" | "*") && weight.trim() != "q=0"
    };
    named.peek().is_none() || named.any(|(_, value)| value.split(',').any(is_gzip))
}

/// Without the port.
fn host_of(authority: &str) -> &str {
    authority.split(':').next().unwrap_or_default()
}
