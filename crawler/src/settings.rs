//! A crawl's settings, checked: what [`Config`] says, as the types that the crawl works with.

mod net;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use comity_compliance::{
    AdaptiveNumbers, Collector, Contact, Directives, Identity, Policy, Preset, ProductToken,
    Protocols, Scope, ScopeKind, Timestamp, UntimedDate,
};
use comity_storage::{Durability, EngineKind, MAX_URL_BYTES};
use governor::Quota;
use url::{Host, Url};

pub use self::net::NetSettings;

use crate::config::{Config, ItemsConfig, PolitenessConfig, WarcConfig, clash};
use crate::index::INDEX_MEMORY_BYTES;
use crate::net::CeilingNumbers;
use crate::output::bulk::BulkSettings;
use crate::output::items::ItemSettings;
use crate::output::warc::WarcSettings;
use crate::urls::{self, UrlSettings};

/// Everything that a crawl is told before it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to begin, normalised.
    pub seeds: Vec<Url>,
    /// How far to go from there.
    pub scope: ScopeKind,
    /// Pages to fetch in all, over all runs; `None` is no limit.
    pub max_pages: Option<u64>,
    /// Sitemaps to read beside those that robots.txt files name.
    pub sitemaps: Vec<Url>,
    /// Whether the sitemaps that robots.txt files name are read.
    pub follow_sitemaps: bool,
    /// Words that links should speak of: those that do are followed first.
    pub focus: Vec<String>,
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
    /// How page rules are read.
    pub page_rules: PageRules,
    /// Connections.
    pub net: NetSettings,
    /// Ceilings at the wire.
    pub ceilings: CeilingNumbers,
    /// Where the crawl keeps what it knows.
    pub store: StoreSettings,
    /// Whether fetched pages are put into the search index: never beside a store in memory.
    pub index: bool,
    /// Memory that the index may collect documents in.
    pub index_memory: usize,
    /// Whether addresses that robots.txt forbids are put there too, without content (RT-049).
    pub bare_urls: bool,
    /// Which addresses it wants.
    pub urls: UrlSettings,
    /// Where every exchange is kept, if it is to be.
    pub warc: Option<WarcSettings>,
    /// The index elsewhere that gets the same documents, if there is one.
    pub bulk: Option<BulkSettings>,
    /// Where items are kept; none if that would be the data directory and the store is in memory.
    pub items: Option<ItemSettings>,
}

/// How the rules of a page are read where there is a choice; the default is the stricter reading
/// of what is documented.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PageRules {
    /// What becomes of `Robots-Tag` headers.
    pub robots_tag: RobotsTag,
    /// Which instant a date without a time means (AM-51).
    pub untimed: UntimedDate,
}

/// What becomes of `Robots-Tag` headers, which no more than a draft knows yet (XR-007).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RobotsTag {
    /// They count for nothing.
    #[default]
    PassOver,
    /// They count as `X-Robots-Tag` does.
    Heed,
}

impl RobotsTag {
    /// Heeded if the operator says so.
    pub const fn heeded_if(asked_for: bool) -> Self {
        if asked_for { Self::Heed } else { Self::PassOver }
    }
}

impl PageRules {
    /// Starts to collect the rules of a page that bind `identity`.
    pub fn collector<'i>(&self, identity: &'i Identity, now: Timestamp) -> Collector<'i> {
        let collector = Directives::for_identity(identity, now).with_untimed_dates(self.untimed);
        match self.robots_tag {
            RobotsTag::PassOver => collector,
            RobotsTag::Heed => collector.with_robots_tag(),
        }
    }
}

/// The reading of dates without a time that has this name.
///
/// # Errors
/// A sentence with the names that there are.
pub fn untimed_date(name: &str) -> Result<UntimedDate, String> {
    match name.to_ascii_lowercase().as_str() {
        "start-of-day" => Ok(UntimedDate::StartOfDay),
        "end-of-day" => Ok(UntimedDate::EndOfDay),
        _ => Err(format!("\"{name}\" is none of start-of-day, end-of-day")),
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
        if let Some((setting, problem)) = clash::fault(config) {
            return Err(SettingsError { setting, problem });
        }
        let seeds = seeds(config)?;
        let (store, mut policy) = (store(config)?, policy(config)?);
        // A build without FTP takes no such seed.
        if seeds.iter().any(|seed| seed.scheme() == "ftp") {
            policy.protocols = Protocols::WebAndFtp;
        }
        let identity = identity(config)?;
        let scope = named(&config.crawl.scope, ScopeKind::ALL, ScopeKind::name, "crawl.scope")?;
        Ok(Self {
            seeds,
            sitemaps: sitemaps(config)?,
            follow_sitemaps: config.crawl.follow_sitemaps,
            scope,
            max_pages: (config.crawl.max_pages > 0).then_some(config.crawl.max_pages),
            focus: config.crawl.focus.clone(),
            depth: config.crawl.depth,
            patience: patience(config),
            sites_at_once: config.crawl.sites_at_once.clamp(1, 100_000),
            bulk: bulk(config, &identity)?,
            warc: warc(&config.output.warc, &identity, store.durability)?,
            items: items(&config.output.items, &store)?,
            identity,
            net: net::net(config)?,
            ceilings: ceilings(&policy),
            policy,
            page_rules: PageRules {
                robots_tag: RobotsTag::heeded_if(config.rules.robots_tag),
                untimed: untimed_date(&config.rules.dates_without_time)
                    .map_err(wrong("rules.dates_without_time"))?,
            },
            index: config.index.enabled && store.engine != EngineKind::Memory,
            index_memory: index_memory(config.index.memory.0).map_err(wrong("index.memory"))?,
            bare_urls: config.index.bare_urls,
            store,
            urls: UrlSettings::new(&config.urls).map_err(wrong("urls"))?,
        })
    }

    /// What belongs to the crawl.
    pub fn scope(&self) -> Scope {
        Scope::new(self.scope, &self.seeds).with_filter(self.urls.filter.clone(), &self.seeds)
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

fn sitemaps(config: &Config) -> Result<Vec<Url>, SettingsError> {
    let sitemaps = config.crawl.sitemaps.iter().map(|sitemap| urls::parse_seed(sitemap));
    sitemaps.collect::<Result<_, _>>().map_err(wrong("crawl.sitemaps"))
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

fn bulk(config: &Config, identity: &Identity) -> Result<Option<BulkSettings>, SettingsError> {
    let told = &config.output.bulk;
    let Some(url) = &told.url else { return Ok(None) };
    let wrong_url = wrong("output.bulk.url");
    let url = Url::parse(url).map_err(wrong("output.bulk.url"))?;
    if !matches!(url.scheme(), "http" | "https") || url.query().is_some() {
        return Err(wrong_url(format!("\"{url}\" is not the address of a service")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong_url(
            "settings are kept in the store, and a password should not be; set \
             COMITY_BULK_AUTHORIZATION, such as to \"Basic …\", instead"
                .into(),
        ));
    }
    let authorization = std::env::var("COMITY_BULK_AUTHORIZATION").ok();
    let authorization = authorization.map(|value| value.parse()).transpose();
    Ok(Some(BulkSettings {
        url,
        index: told.index.clone(),
        request_bytes: usize::try_from(told.request_bytes.0).unwrap_or(usize::MAX),
        patience: told.patience.0,
        authorization: authorization
            .map_err(wrong::<hyper::header::InvalidHeaderValue>("COMITY_BULK_AUTHORIZATION"))?,
        extra_ca: config.network.ca_file.clone(),
        user_agent: identity.user_agent(),
    }))
}

fn warc(
    config: &WarcConfig,
    identity: &Identity,
    durability: Durability,
) -> Result<Option<WarcSettings>, SettingsError> {
    let Some(dir) = config.dir.clone() else { return Ok(None) };
    let prefix = config.prefix.clone();
    if prefix.is_empty() || !prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
    {
        let problem = format!("\"{prefix}\" is no name of letters, digits, \"_\" and \".\"");
        return Err(wrong("output.warc.prefix")(problem));
    }
    Ok(Some(WarcSettings {
        dir,
        prefix,
        file_bytes: config.file_bytes.0,
        durability,
        user_agent: identity.user_agent(),
        operator: identity.contact().map(ToString::to_string),
    }))
}

fn items(
    config: &ItemsConfig,
    store: &StoreSettings,
) -> Result<Option<ItemSettings>, SettingsError> {
    if let Some((setting, problem)) = config.fault() {
        return Err(SettingsError { setting, problem });
    }
    let keeps_files = store.engine != EngineKind::Memory;
    let usual = || keeps_files.then(|| store.data.join(format!("items.{}", config.format.name())));
    let path = config.path.clone().or_else(usual);
    Ok(path.map(|path| ItemSettings {
        path,
        format: config.format,
        columns: config.columns.clone(),
        file_bytes: config.file_bytes.0,
        durability: store.durability,
    }))
}

/// A crawl that stays waits for whatever is due.
fn patience(config: &Config) -> Duration {
    if config.recrawl.stay {
        Duration::from_secs(100 * 365 * 86_400)
    } else {
        config.crawl.patience.0
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
    let recrawl = &config.recrawl;
    if recrawl.least > recrawl.most {
        return Err(wrong("recrawl.least")("longer than recrawl.most"));
    }
    policy.revisit.first = recrawl.first.0;
    policy.revisit.least = recrawl.least.0;
    policy.revisit.most = recrawl.most.0;
    adapt(&mut policy.adaptive, politeness)?;
    Ok(policy)
}

/// Puts the operator's numbers in the place of the documented ones.
fn adapt(numbers: &mut AdaptiveNumbers, config: &PolitenessConfig) -> Result<(), SettingsError> {
    if !(1..=100).contains(&config.start_percent) {
        return Err(wrong("politeness.start_percent")("must be 1 to 100"));
    }
    if config.adaptive {
        numbers.start_permille = config.start_percent * 10;
        numbers.slowest = config.slowest.0;
        numbers.latency_factor = config.latency_factor;
    } else {
        // No interval is stretched beyond the usual one, whatever the rate.
        numbers.slowest = Duration::ZERO;
        numbers.latency_factor = 0;
    }
    Ok(())
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

/// What the engine can work with.
fn index_memory(bytes: u64) -> Result<usize, String> {
    let range = INDEX_MEMORY_BYTES;
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| range.contains(bytes))
        .ok_or_else(|| format!("{} to {} MiB are possible", range.start() >> 20, range.end() >> 20))
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
