//! A crawl's settings, checked: what [`Config`] says, as the types that the crawl works with.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use comity_compliance::{Contact, Identity, Policy, Preset, ProductToken, ScopeKind};
use comity_storage::{Durability, EngineKind, MAX_URL_BYTES};
use governor::Quota;
use ipnet::IpNet;
use url::{Host, Url};

use crate::config::{Config, NetworkConfig};
use crate::net::{CeilingNumbers, HttpConfig, Limits, Proxies, Proxy};
use crate::urls;

/// Everything that a crawl is told before it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to begin, normalised.
    pub seeds: Vec<Url>,
    /// How far to go from there.
    pub scope: ScopeKind,
    /// Pages to fetch in all, over all runs; `None` is no limit.
    pub max_pages: Option<u64>,
    /// Links to follow from a seed; `None` is no limit.
    pub depth: Option<u16>,
    /// The crawl ends when nothing is due within this time.
    pub patience: Duration,
    /// Sites that are asked at the same time.
    pub sites_at_once: usize,
    /// Who crawls.
    pub identity: Identity,
    /// By which rules, and how gently.
    pub policy: Policy,
    /// Connections.
    pub net: NetSettings,
    /// Ceilings at the wire.
    pub ceilings: CeilingNumbers,
    /// Where the crawl keeps what it knows.
    pub store: StoreSettings,
    /// Whether fetched pages are put into the search index: never beside a store in memory.
    pub index: bool,
}

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

/// Where and how the crawl keeps what it knows.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    /// The data directory.
    pub data: PathBuf,
    /// The engine.
    pub engine: EngineKind,
    /// What a crash may cost.
    pub durability: Durability,
    /// Memory for the engine's cache.
    pub cache_bytes: u64,
}

/// A setting that cannot be.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct SettingsError {
    /// The setting, as `comity.toml` names it.
    pub setting: &'static str,
    /// What is wrong, for people.
    pub problem: String,
}

fn wrong<E: ToString>(setting: &'static str) -> impl Fn(E) -> SettingsError {
    move |problem| SettingsError { setting, problem: problem.to_string() }
}

impl Settings {
    /// Checks a configuration.
    ///
    /// # Errors
    /// [`SettingsError`] names the first setting that cannot be.
    pub fn new(config: &Config) -> Result<Self, SettingsError> {
        let seeds = seeds(config)?;
        let (store, policy) = (store(config)?, policy(config)?);
        let scope = named(&config.crawl.scope, ScopeKind::ALL, ScopeKind::name, "crawl.scope")?;
        Ok(Self {
            seeds,
            scope,
            max_pages: (config.crawl.max_pages > 0).then_some(config.crawl.max_pages),
            depth: config.crawl.depth,
            patience: config.crawl.patience.0,
            sites_at_once: config.crawl.sites_at_once.clamp(1, 100_000),
            identity: identity(config)?,
            net: net(config)?,
            ceilings: ceilings(&policy),
            policy,
            index: config.index.enabled && store.engine != EngineKind::Memory,
            store,
        })
    }

    /// Whether a site owner would have no way to reach whoever runs this crawl.
    ///
    /// A crawl of nothing but this machine's own loopback disturbs nobody else.
    pub fn lacks_contact(&self) -> bool {
        let stays_home = self.scope != ScopeKind::Any && self.seeds.iter().all(is_loopback);
        self.identity.contact().is_none() && !stays_home
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Domain(name)) => urls::is_localhost(name),
        None => false,
    }
}

/// The store passes over what it cannot keep: a seed that is too long would be no seed at all.
fn seeds(config: &Config) -> Result<Vec<Url>, SettingsError> {
    let wrong_seed = wrong("crawl.seeds");
    let seeds = config.crawl.seeds.iter().map(|seed| urls::parse_seed(seed));
    let seeds = seeds.collect::<Result<Vec<_>, _>>().map_err(wrong("crawl.seeds"))?;
    let lengths = seeds.iter().map(|seed| seed.as_str().len());
    match lengths.max().filter(|longest| *longest > MAX_URL_BYTES) {
        Some(bytes) => Err(wrong_seed(format!(
            "an address of {bytes} bytes; those longer than {MAX_URL_BYTES} are not kept"
        ))),
        None => Ok(seeds),
    }
}

fn identity(config: &Config) -> Result<Identity, SettingsError> {
    let own = ProductToken::new(&config.identity.agent).map_err(wrong("identity.agent"))?;
    let mut identity = Identity::new(own).with_version(env!("CARGO_PKG_VERSION"));
    for token in &config.identity.fallbacks {
        let token = ProductToken::new(token).map_err(wrong("identity.fallbacks"))?;
        identity = identity.with_fallback(token);
    }
    if let Some(contact) = &config.identity.contact {
        let contact = Contact::parse(contact).map_err(wrong("identity.contact"))?;
        identity = identity.with_contact(contact);
    }
    match &config.identity.user_agent {
        Some(header) => identity.with_user_agent(header).map_err(wrong("identity.user_agent")),
        None => Ok(identity),
    }
}

fn policy(config: &Config) -> Result<Policy, SettingsError> {
    let politeness = &config.politeness;
    let preset = named(&politeness.policy, Preset::ALL, Preset::name, "politeness.policy")?;
    let positive = |number, setting| {
        NonZeroU32::new(number).ok_or_else(|| wrong(setting)("must be 1 or more"))
    };
    let mut policy = Policy::new(preset).with_interval(politeness.interval.0);
    policy.address_per_second =
        positive(politeness.address_per_second, "politeness.address_per_second")?;
    policy.whole_per_second = positive(politeness.whole_per_second, "politeness.whole_per_second")?;
    Ok(policy)
}

fn net(config: &Config) -> Result<NetSettings, SettingsError> {
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

/// The second lock: the policy's numbers, held at the wire.
fn ceilings(policy: &Policy) -> CeilingNumbers {
    let per_second = |number| Some(Quota::per_second(number).allow_burst(NonZeroU32::MIN));
    CeilingNumbers {
        per_site: CeilingNumbers::one_in(policy.interval, NonZeroU32::MIN),
        per_address: per_second(policy.address_per_second),
        whole: per_second(policy.whole_per_second),
    }
}

fn store(config: &Config) -> Result<StoreSettings, SettingsError> {
    let storage = &config.storage;
    if storage.data.to_str().is_none() {
        let problem = format!("{} is not UTF-8, and settings are", storage.data.display());
        return Err(wrong("storage.data")(problem));
    }
    Ok(StoreSettings {
        data: storage.data.clone(),
        engine: named(&storage.store, EngineKind::ALL, EngineKind::name, "storage.store")?,
        durability: named(
            &storage.durability,
            Durability::ALL,
            Durability::name,
            "storage.durability",
        )?,
        cache_bytes: storage.cache.0,
    })
}

/// The one of `all` that has this name.
fn named<T: Copy>(
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
    setting: &'static str,
) -> Result<T, SettingsError> {
    all.iter().copied().find(|one| name(*one).eq_ignore_ascii_case(text)).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|one| name(*one)).collect();
        wrong(setting)(format!("\"{text}\" is none of {}", names.join(", ")))
    })
}
