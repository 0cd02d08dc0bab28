//! The lab: starts the sites, keeps the ledger, and says what ought to happen.

mod content;
mod expectations;
mod judge;
mod ledger;
mod report;
mod server;
mod site;

#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod raw_client;
#[cfg(test)]
mod web_tests;

use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub use expectations::{
    DEMO_AGENT, Expect, Expectations, Forbidden, Reach, SearchExpect, SiteInfo, SnippetExpect,
};
pub use judge::judge;
pub use ledger::{LedgerError, LedgerFile, Request};
pub use report::{Report, SiteTally, Violation, ViolationKind};

use ledger::Ledger;
use server::ServedSite;
use site::Addresses;

/// A running web of small sites, each on a loopback port of its own.
///
/// The sites are named `NAME.localhost` (RFC 6761 §6.3: such names mean
/// loopback) and answer only under that name and port. Dropping the lab stops
/// it.
#[derive(Debug)]
pub struct Lab {
    seed: String,
    expectations: Expectations,
    ledger: Arc<Ledger>,
    servers: JoinSet<()>,
}

impl Lab {
    /// Starts every site on a free port of 127.0.0.1, for a crawler whose
    /// product token is [`DEMO_AGENT`].
    ///
    /// # Errors
    ///
    /// When a port cannot be bound.
    pub async fn start() -> io::Result<Self> {
        Self::start_for(DEMO_AGENT).await
    }

    /// Starts the lab for the crawler with product token `agent`.
    ///
    /// The token decides which group of the bakery's robots.txt binds, and
    /// which User-Agent headers count as known. The pages are the same.
    ///
    /// # Errors
    ///
    /// When a port cannot be bound.
    pub async fn start_for(agent: &str) -> io::Result<Self> {
        let sites = content::sites();
        let mut listeners = Vec::with_capacity(sites.len());
        let mut addresses = Addresses::default();
        for site in &sites {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            addresses.add(site.name, listener.local_addr()?.port());
            listeners.push(listener);
        }
        let expectations = Expectations::new(&sites, &addresses, agent);
        let ledger = Arc::new(Ledger::new());
        let mut servers = JoinSet::new();
        for (site, listener) in sites.iter().zip(listeners) {
            let served = ServedSite::new(site, &addresses).await?;
            servers.spawn(server::run(Arc::new(served), Arc::clone(&ledger), listener));
        }
        Ok(Self {
            seed: addresses.fill(content::SEED),
            expectations,
            ledger,
            servers,
        })
    }

    /// The URL to begin at: the hub, which links to every site.
    #[must_use]
    pub fn seed(&self) -> &str {
        &self.seed
    }

    /// The sites, in the order in which the hub lists them.
    #[must_use]
    pub fn sites(&self) -> Vec<SiteInfo> {
        self.expectations.sites.clone()
    }

    /// Every request so far, in order of arrival.
    #[must_use]
    pub fn ledger(&self) -> Vec<Request> {
        self.ledger.requests()
    }

    /// What a well-behaved crawl of this web does.
    #[must_use]
    pub fn expectations(&self) -> Expectations {
        self.expectations.clone()
    }

    /// The expectations and the ledger so far, as a file holds them.
    #[must_use]
    pub fn ledger_file(&self) -> LedgerFile {
        LedgerFile {
            expectations: self.expectations(),
            requests: self.ledger(),
        }
    }

    /// Writes [`Lab::ledger_file`] to `path`, replacing what is there.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write_ledger(&self, path: &Path) -> Result<(), LedgerError> {
        self.ledger_file().write(path)
    }

    /// Closes every port and returns the whole ledger.
    pub async fn stop(mut self) -> Vec<Request> {
        self.servers.shutdown().await;
        self.ledger.requests()
    }
}
