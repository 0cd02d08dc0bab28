//! The sites of all scenarios, each a host of its own, and the proxy that knows them by name.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::authority::Authority;
use super::clock::{Clock, with_dates};
use super::hosts::{Hosts, doors, split};
use super::judge::Grade;
use super::ledger::{Arrival, Ledger};
use super::scenario::{Mode, Scenario};
use super::wire::{Filled, Head, Wire, read_head, send};

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
    authority: Arc<Authority>,
    proxy: Option<String>,
    index: String,
    /// Dropped with the web, and the servers with it.
    _servers: JoinSet<()>,
}

#[derive(Debug)]
pub(super) struct Shared {
    agent: String,
    scenarios: Vec<Scenario>,
    /// The web's, and those of scenarios that have their own, by index.
    clock: Clock,
    clocks: HashMap<usize, Clock>,
    hosts: Hosts,
    ledger: Ledger,
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
        let (hosts, doors) = match mode.is_proxy() {
            true => (Hosts::named(&scenarios, mode), Vec::new()),
            false => doors(&scenarios, mode.is_tls()).await?,
        };
        let front = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let index = format!("http://{}", front.local_addr()?);
        let shared = Arc::new(Shared::new(scenarios, agent, hosts));
        let authority = Arc::new(Authority::new()?);
        let mut servers = JoinSet::new();
        let front = std::iter::once((front, Entrance::Front));
        let doors = doors.into_iter().map(|door| (door.listener, Entrance::Site { tls: door.tls }));
        for (listener, entrance) in doors.chain(front) {
            let (shared, authority) = (Arc::clone(&shared), Arc::clone(&authority));
            servers.spawn(listen(shared, authority, listener, entrance));
        }
        let proxy = mode.is_proxy().then(|| index.clone());
        Ok(Self { shared, authority, proxy, index, _servers: servers })
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
        self.authority.pem()
    }

    /// The scenarios that are served.
    pub fn scenarios(&self) -> &[Scenario] {
        &self.shared.scenarios
    }

    /// Where the crawl of a scenario begins.
    pub fn seed(&self, index: usize) -> String {
        self.shared.seed(index)
    }

    /// A scenario's clock jumps to the beginning of a run, if it has one of its own. Returns what
    /// that clock shows then, in seconds since 1970.
    pub fn begin(&self, index: usize, run: usize) -> u64 {
        self.shared.begin(index, run)
    }

    /// Judges what arrived of a scenario.
    pub fn judge(&self, index: usize, interval: Duration) -> Option<Grade> {
        self.shared.judge(index, interval)
    }

    /// What arrived of a scenario.
    pub fn ledger(&self, scenario: &str) -> Vec<Arrival> {
        self.shared.ledger.of(scenario)
    }
}

/// What is behind a listener.
#[derive(Clone, Copy)]
enum Entrance {
    /// A site.
    Site { tls: bool },
    /// The proxy, and the page that explains.
    Front,
}

/// Takes connections.
async fn listen(
    shared: Arc<Shared>,
    authority: Arc<Authority>,
    listener: TcpListener,
    entrance: Entrance,
) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        while connections.try_join_next().is_some() {}
        let (shared, authority) = (Arc::clone(&shared), Arc::clone(&authority));
        connections.spawn(async move {
            // A client that breaks off is no fault of the lab's.
            let _ = match entrance {
                Entrance::Front => shared.front(&authority, stream).await,
                Entrance::Site { tls } => shared.site_of_address(&authority, stream, tls).await,
            };
        });
    }
}

impl Shared {
    fn new(scenarios: Vec<Scenario>, agent: String, hosts: Hosts) -> Self {
        let clock = Clock::real();
        let own = scenarios.iter().enumerate().filter(|(_, scenario)| scenario.clock.is_some());
        let clocks = own.map(|(index, _)| (index, Clock::real())).collect();
        Self { agent, scenarios, clock, clocks, hosts, ledger: Ledger::default() }
    }

    /// Without sockets: all sites by name, over http.
    pub(super) fn unreachable(scenario: Scenario, agent: &str, start_s: u64) -> Self {
        let scenarios = vec![scenario];
        let hosts = Hosts::named(&scenarios, Mode::Proxy);
        let mut shared = Self::new(scenarios, agent.to_owned(), hosts);
        shared.clock = Clock::starting_at(start_s);
        shared.clocks.clear();
        shared
    }

    pub(super) fn seed(&self, index: usize) -> String {
        let seed = self.scenarios.get(index).map_or("", |scenario| scenario.seed.as_str());
        self.fill(index, "", "", seed)
    }

    fn clock(&self, index: usize) -> &Clock {
        self.clocks.get(&index).unwrap_or(&self.clock)
    }

    fn begin(&self, index: usize, run: usize) -> u64 {
        let own = self.scenarios.get(index).and_then(|scenario| scenario.clock.as_ref());
        let clock = self.clock(index);
        if let Some(own) = own {
            clock.begin(own, run);
        }
        // A part of a second does not matter here.
        clock.unix_s(Duration::from_secs_f64(clock.now_s()).as_secs())
    }

    pub(super) fn judge(&self, index: usize, interval: Duration) -> Option<Grade> {
        let scenario = self.scenarios.get(index)?;
        Some(judge(scenario, &self.ledger.of(&scenario.name), &self.agent, interval))
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What arrived, of all scenarios.
    pub(super) fn everything(&self) -> Vec<Arrival> {
        self.scenarios.iter().flat_map(|scenario| self.ledger.of(&scenario.name)).collect()
    }

    async fn site_of_address(
        &self,
        authority: &Authority,
        mut stream: TcpStream,
        tls: bool,
    ) -> io::Result<()> {
        let at = stream.local_addr()?;
        let host = at.ip().to_string();
        if tls {
            let mut stream = authority.acceptor(&host)?.accept(stream).await?;
            self.converse(&mut stream, &host, at.port()).await
        } else {
            self.converse(&mut stream, &host, at.port()).await
        }
    }

    async fn converse(&self, wire: &mut impl Wire, host: &str, port: u16) -> io::Result<()> {
        match timeout(HEAD_TIME, read_head(wire)).await {
            Ok(Some(head)) => self.respond(wire, host, port, &head).await,
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// A request to the proxy in absolute form, a CONNECT, or one for the page that explains.
    async fn front(&self, authority: &Authority, mut stream: TcpStream) -> io::Result<()> {
        let Ok(Some(mut head)) = timeout(HEAD_TIME, read_head(&mut stream)).await else {
            return Ok(());
        };
        if head.method == "CONNECT" {
            let (host, port) = split(&head.target, 443);
            if self.hosts.site(host, port).is_none() {
                return send(&mut stream, plain(502, "no such host in this lab")).await;
            }
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 connected\r\n\r\n")
                .await?;
            if port != 443 {
                return self.converse(&mut stream, host, port).await;
            }
            let mut stream = authority.acceptor(host)?.accept(stream).await?;
            return self.converse(&mut stream, host, port).await;
        }
        let Some(rest) = head.target.strip_prefix("http://").map(str::to_owned) else {
            return send(&mut stream, self.explain()).await;
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        head.target = if path.starts_with('/') { path.into() } else { format!("/{path}") };
        let (host, port) = split(authority, 80);
        self.respond(&mut stream, host, port, &head).await
    }

    async fn respond(
        &self,
        wire: &mut impl Wire,
        host: &str,
        port: u16,
        head: &Head,
    ) -> io::Result<()> {
        let Some((index, site)) = self.hosts.site(host, port) else {
            return send(wire, plain(502, "no such host in this lab")).await;
        };
        // The next run, and another time, may begin while this answer is being sent.
        let time = self.clock(index).beat();
        let Some((place, filled)) = self.answer(index, site, head, time.now_s()) else {
            return send(wire, plain(503, "the lab's ledger is full")).await;
        };
        sleep(filled.delay).await;
        // A client that has a whole answer may ask again before its end is noted here.
        let (whole, begun_s) = (filled.then.is_none(), time.now_s());
        let sent = send(wire, filled).await;
        self.ledger.done(place, if whole { begun_s } else { time.now_s() });
        sent
    }

    /// The site at a host and port.
    pub(super) fn site(&self, host: &str, port: u16) -> Option<(usize, &str)> {
        self.hosts.site(host, port)
    }

    /// What a request is answered, and its place in the ledger; none if that is full.
    pub(super) fn answer(
        &self,
        index: usize,
        site: &str,
        head: &Head,
        at_s: f64,
    ) -> Option<(usize, Filled)> {
        let scenario = self.scenarios.get(index)?;
        let (place, number, since_s) = self.ledger.enter(Arrival {
            scenario: scenario.name.clone(),
            site: site.to_owned(),
            at_s,
            done_s: None,
            method: head.method.clone(),
            path: head.target.clone(),
            headers: head.headers.clone(),
            answer: String::new(),
        })?;
        let known = scenario.answers(site, &head.target);
        let reads = matches!(head.method.as_str(), "GET" | "HEAD");
        let mut filled = match known.and_then(|(_, answers)| answers.of(number, since_s)) {
            Some(_) if !reads => plain(405, "GET, if you please"),
            Some(answer) => {
                let fill = |text: &str| self.fill(index, site, &head.target, text);
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
        Some((place, filled))
    }

    /// Puts base URLs, the agent and numbers into a text.
    pub(super) fn fill(&self, index: usize, site: &str, path: &str, text: &str) -> String {
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
        for ((of, name), base) in &self.hosts.bases {
            if *of == index {
                text = text.replace(&format!("{{{name}}}"), base);
                let (host, _) = split(base.split("://").nth(1).unwrap_or_default(), 0);
                text = text.replace(&format!("{{{name}.host}}"), host);
            }
        }
        with_dates(&text, self.clock(index))
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
            let seed = self.seed(index);
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

/// Judges what arrived of a scenario from the crawler with this product token.
pub(super) fn judge(
    scenario: &Scenario,
    arrivals: &[Arrival],
    agent: &str,
    interval: Duration,
) -> Grade {
    let mut expect = scenario.expect.clone();
    for header in &mut expect.header {
        header.has = header.has.replace("{agent}", agent);
        // Who has such a name may say it.
        let own = agent.to_ascii_lowercase();
        header.lacks.retain(|other| !own.contains(&other.to_ascii_lowercase()));
    }
    Grade::new(&expect, arrivals, interval.as_secs_f64())
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
