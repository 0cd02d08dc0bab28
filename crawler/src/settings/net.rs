//! Connections: what may be reached, by which way, and for how long.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use comity_compliance::Identity;
use ipnet::IpNet;

use super::{SettingsError, wrong};
use crate::config::{Config, NetworkConfig};
use crate::net::{HttpConfig, Limits, Proxies, Proxy};

/// Connections and their limits.
#[derive(Clone, Debug)]
pub struct NetSettings {
    /// Ranges that are not public and may be asked all the same.
    pub allow: Vec<IpNet>,
    /// A PEM file with certificate authorities that are trusted beside the public ones.
    pub extra_ca: Option<PathBuf>,
    /// Which requests go through a proxy.
    pub proxies: Proxies,
    /// How long an idle connection is kept.
    pub idle_for: Duration,
    /// What bounds the fetch of a page.
    pub limits: Limits,
}

/// An idle connection is kept this much longer than the interval after which its site may be
/// asked again.
const IDLE_BEYOND_INTERVAL: Duration = Duration::from_secs(10);
/// And never longer than this: few servers wait so long themselves.
const LONGEST_IDLE: Duration = Duration::from_secs(30);

impl NetSettings {
    /// How requests are made for `identity`.
    pub fn http_config(&self, identity: &Identity) -> HttpConfig {
        HttpConfig {
            allowed_networks: self.allow.clone(),
            extra_ca: self.extra_ca.clone(),
            proxies: self.proxies.clone(),
            idle_for: self.idle_for,
            ..HttpConfig::new(&identity.user_agent())
        }
    }
}

pub(super) fn net(config: &Config) -> Result<NetSettings, SettingsError> {
    let network = &config.network;
    let allow = network.allow.iter().map(|range| parse_network(range));
    let allow = allow.collect::<Result<Vec<_>, _>>().map_err(wrong("network.allow"))?;
    let page_bytes = usize::try_from(network.page_bytes.0).map_err(wrong("network.page_bytes"))?;
    Ok(NetSettings {
        allow,
        extra_ca: network.ca_file.clone(),
        proxies: proxies(network)?,
        idle_for: config
            .politeness
            .interval
            .0
            .saturating_add(IDLE_BEYOND_INTERVAL)
            .min(LONGEST_IDLE),
        limits: Limits {
            connect: network.connect_timeout.0,
            first_byte: network.first_byte_timeout.0,
            whole: network.request_timeout.0,
            body_bytes: page_bytes,
            ..Limits::default()
        },
    })
}

/// The settings' proxy, or else the environment's.
fn proxies(network: &NetworkConfig) -> Result<Proxies, SettingsError> {
    match network.proxy.as_deref() {
        Some("direct") => Ok(Proxies::none()),
        Some(proxy) => {
            let proxy = Proxy::parse(proxy).map_err(wrong("network.proxy"))?;
            Ok(Proxies::all(proxy, &network.no_proxy.join(",")))
        }
        None => Proxies::from_variables(|name| std::env::var(name).ok())
            .map_err(wrong("the environment's http_proxy, https_proxy or all_proxy")),
    }
}

/// A network such as `10.0.0.0/8`, or one address.
fn parse_network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse::<IpNet>().or_else(|_| address()).map_err(|_| {
        format!("\"{text}\" is neither an address nor a range such as 10.0.0.0/8 or ::1/128")
    })
}
