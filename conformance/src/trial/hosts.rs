//! Where the sites of scenarios are: names that the lab's proxy knows, or addresses of loopback.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;

use tokio::net::TcpListener;

use super::scenario::{Mode, Scenario};

/// Sites that share a last octet but one.
const ROW: usize = 200;

/// Where the sites are.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// Host name or address, in some cases with port, to scenario and site.
    sites: HashMap<String, (usize, String)>,
    /// Scenario and site to base URL.
    pub(super) bases: HashMap<(usize, String), String>,
}

/// A port for sites at the host of another, where the proxy gives names.
const OTHER_PORT: u16 = 8080;

impl Hosts {
    /// Names for all sites, as only a proxy knows them.
    pub(super) fn named(scenarios: &[Scenario], mode: Mode) -> Self {
        let mut hosts = Self::default();
        for (index, scenario) in scenarios.iter().enumerate() {
            let name = |site: &String| {
                let usual = || format!("{site}.{}.test", scenario.name);
                scenario.hosts.get(site).cloned().unwrap_or_else(usual)
            };
            for site in scenario.site.keys() {
                let (scheme, key, authority) = match (scenario.same_host.get(site), mode.is_tls()) {
                    (Some(host), true) => ("http", format!("{}:80", name(host)), name(host)),
                    (Some(host), false) => {
                        let authority = format!("{}:{OTHER_PORT}", name(host));
                        ("http", authority.clone(), authority)
                    }
                    (None, true) => ("https", name(site), name(site)),
                    (None, false) => ("http", name(site), name(site)),
                };
                hosts.add(index, site, key, format!("{scheme}://{authority}"));
            }
        }
        hosts
    }

    fn add(&mut self, index: usize, site: &str, key: String, base: String) {
        self.bases.insert((index, site.to_owned()), base);
        self.sites.insert(key, (index, site.to_owned()));
    }

    /// The site at a host and port.
    pub(super) fn site(&self, host: &str, port: u16) -> Option<(usize, &str)> {
        let host = host.to_ascii_lowercase();
        let exact = self.sites.get(&format!("{host}:{port}"));
        exact.or_else(|| self.sites.get(&host)).map(|(index, site)| (*index, site.as_str()))
    }
}

/// A listener of a site, and whether TLS is spoken there.
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) tls: bool,
}

/// Addresses of loopback for all sites, each with a port of its own.
pub(super) async fn doors(scenarios: &[Scenario], tls: bool) -> io::Result<(Hosts, Vec<Door>)> {
    let (mut hosts, mut doors) = (Hosts::default(), Vec::new());
    let mut count = 0;
    for (index, scenario) in scenarios.iter().enumerate() {
        let mut addresses = HashMap::new();
        // Those at a host of their own first.
        let (others, own): (Vec<_>, Vec<_>) =
            scenario.site.keys().partition(|site| scenario.same_host.contains_key(*site));
        for site in own.into_iter().chain(others) {
            let other = scenario.same_host.get(site);
            let address = match other.and_then(|host| addresses.get(host)) {
                Some(address) => *address,
                None => {
                    let octet = |number: usize| u8::try_from(number).map_err(io::Error::other);
                    count += 1;
                    let last = octet(1 + (count - 1) % ROW)?;
                    Ipv4Addr::new(127, 0, octet(1 + (count - 1) / ROW)?, last)
                }
            };
            addresses.insert(site.clone(), address);
            let listener = TcpListener::bind((address, 0)).await?;
            let tls = tls && other.is_none();
            let (scheme, at) = (if tls { "https" } else { "http" }, listener.local_addr()?);
            hosts.add(index, site, at.to_string(), format!("{scheme}://{at}"));
            doors.push(Door { listener, tls });
        }
    }
    Ok((hosts, doors))
}

/// Host and port, or else the usual port.
pub(super) fn split(authority: &str, usual: u16) -> (&str, u16) {
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    (host, port.parse().unwrap_or(usual))
}
