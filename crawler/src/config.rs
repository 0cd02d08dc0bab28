//! `comity.toml`: every setting of a crawl, with its default.
//!
//! A key that does not exist is an error that names the nearest one that does: a misspelt
//! politeness setting must not pass for the default.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use comity_compliance::Policy;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::extract::rules::{self, ExtractSections};
use crate::urls::UrlsConfig;

/// The text that `comity init` writes: every key with its default, and what it does.
pub const TEMPLATE: &str = include_str!("comity.toml");

/// The largest file that is read: a device or a pipe may have no end.
const MOST_BYTES: u64 = 16 << 20;

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What to crawl.
    pub crawl: CrawlConfig,
    /// Who crawls.
    pub identity: IdentityConfig,
    /// How gently.
    pub politeness: PolitenessConfig,
    /// How page rules are read where there is a choice.
    pub rules: RulesConfig,
    /// Connections and limits.
    pub network: NetworkConfig,
    /// State on disk.
    pub storage: StorageConfig,
    /// The search index.
    pub index: IndexConfig,
    /// Looking at pages again.
    pub recrawl: RecrawlConfig,
    /// Which addresses.
    pub urls: UrlsConfig,
    /// What is taken out of pages, by extractor.
    pub extract: ExtractSections,
    /// What is handed on to others.
    pub output: OutputConfig,
}

/// `[crawl]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlConfig {
    /// Where to begin.
    pub seeds: Vec<String>,
    /// Sitemaps to read.
    pub sitemaps: Vec<String>,
    /// Whether sitemaps that robots.txt files name are read.
    pub follow_sitemaps: bool,
    /// `host`, `domain`, `prefix` or `any`.
    pub scope: String,
    /// Pages to fetch in all, over all runs on one data directory; there the crawl ends, whatever else
    /// is due. 0 for no limit.
    pub max_pages: u64,
    /// Words that links should speak of: those that do are followed first.
    pub focus: Vec<String>,
    /// Links to follow from a seed; 0 fetches the seeds alone. Absent: no limit.
    pub depth: Option<u16>,
    /// The crawl ends when nothing is due within this time.
    pub patience: Span,
    /// Sites that are asked at the same time.
    pub sites_at_once: usize,
}

/// `[identity]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdentityConfig {
    /// The product token.
    pub agent: String,
    /// Tokens whose groups are obeyed where no group names the agent.
    pub fallbacks: Vec<String>,
    /// A page or a mail address that reaches the operator.
    pub contact: Option<String>,
    /// The whole User-Agent header, where the usual one will not do.
    pub user_agent: Option<String>,
}

/// `[politeness]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolitenessConfig {
    /// `courteous`, `google` or `rfc9309`.
    pub policy: String,
    /// Least time between two requests to one site.
    pub interval: Span,
    /// Requests a second to one IP address, all its sites together.
    pub address_per_second: u32,
    /// Requests a second of the whole crawl.
    pub whole_per_second: u32,
    /// Whether the pace follows a site's answers.
    pub adaptive: bool,
    /// The rate that a new site is asked at, per cent of the usual rate.
    pub start_percent: u16,
    /// Longest interval that bad answers, or a slow start, alone lead to.
    pub slowest: Span,
    /// The interval is at least so many times as long as the site takes to answer.
    pub latency_factor: u32,
}

/// `[rules]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RulesConfig {
    /// Whether `Robots-Tag` headers count, which no more than a draft knows yet.
    pub robots_tag: bool,
    /// `start-of-day` or `end-of-day`.
    pub dates_without_time: String,
}

/// `[network]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// Ranges that are not public and may be asked all the same.
    pub allow: Vec<String>,
    /// A file with further certificate authorities, PEM.
    pub ca_file: Option<PathBuf>,
    /// A proxy for all requests, or `direct`; absent: what the environment says.
    pub proxy: Option<String>,
    /// Hosts that are asked without that proxy.
    pub no_proxy: Vec<String>,
    /// Time to connect.
    pub connect_timeout: Span,
    /// Time to the first byte of an answer.
    pub first_byte_timeout: Span,
    /// Time for a whole request.
    pub request_timeout: Span,
    /// Decoded bytes of a page that are read; the rest is cut off and the page marked truncated.
    pub page_bytes: Bytes,
}

/// `[storage]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageConfig {
    /// The data directory.
    pub data: PathBuf,
    /// `sled`, `redb` or `memory`.
    pub store: String,
    /// `process`: nothing acknowledged is lost when the process dies; `power`: nor when the power does.
    pub durability: String,
    /// Memory for the store's cache.
    pub cache: Bytes,
}

/// `[index]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexConfig {
    /// Whether pages are indexed.
    pub enabled: bool,
    /// Whether addresses that robots.txt forbids are found by what a link says.
    pub bare_urls: bool,
}

/// `[recrawl]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecrawlConfig {
    /// Whether the crawl stays, and looks at pages again when they are due.
    pub stay: bool,
    /// When a page is looked at again after the first visit.
    pub first: Span,
    /// The shortest time between two visits of a page.
    pub least: Span,
    /// The longest.
    pub most: Span,
}

/// `[output]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// The archive of all exchanges.
    pub warc: WarcConfig,
    /// The index elsewhere.
    pub bulk: BulkConfig,
}

/// `[output.warc]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WarcConfig {
    /// Where its files are; absent: there is none.
    pub dir: Option<PathBuf>,
    /// What the names of its files begin with.
    pub prefix: String,
    /// Bytes after which another file is begun.
    pub file_bytes: Bytes,
}

/// `[output.bulk]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BulkConfig {
    /// The service; absent: there is none.
    pub url: Option<String>,
    /// The index in it.
    pub index: String,
    /// Bytes of one request.
    pub request_bytes: Bytes,
    /// How long failures are borne with.
    pub patience: Span,
}

impl Default for CrawlConfig {
    fn default() -> Self {
        Self {
            seeds: vec![],
            sitemaps: vec![],
            follow_sitemaps: true,
            scope: "host".into(),
            max_pages: 0,
            focus: vec![],
            depth: None,
            patience: Span::secs(120),
            sites_at_once: 256,
        }
    }
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self { agent: "comitybot".into(), fallbacks: vec![], contact: None, user_agent: None }
    }
}

impl Default for PolitenessConfig {
    fn default() -> Self {
        let policy = Policy::default();
        Self {
            policy: policy.preset.name().into(),
            interval: Span(policy.interval),
            address_per_second: policy.address_per_second.get(),
            whole_per_second: policy.whole_per_second.get(),
            adaptive: true,
            start_percent: policy.adaptive.start_permille / 10,
            slowest: Span(policy.adaptive.slowest),
            latency_factor: policy.adaptive.latency_factor,
        }
    }
}

impl Default for RulesConfig {
    fn default() -> Self {
        Self { robots_tag: false, dates_without_time: "start-of-day".into() }
    }
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            allow: vec![],
            ca_file: None,
            proxy: None,
            no_proxy: vec![],
            connect_timeout: Span::secs(10),
            first_byte_timeout: Span::secs(30),
            request_timeout: Span::secs(60),
            page_bytes: Bytes(2 << 20),
        }
    }
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            data: "comity-data".into(),
            store: "sled".into(),
            durability: "process".into(),
            cache: Bytes(64 << 20),
        }
    }
}

impl Default for RecrawlConfig {
    fn default() -> Self {
        let numbers = Policy::default().revisit;
        let (first, least, most) = (Span(numbers.first), Span(numbers.least), Span(numbers.most));
        Self { stay: false, first, least, most }
    }
}

impl Default for WarcConfig {
    fn default() -> Self {
        Self { dir: None, prefix: "comity".into(), file_bytes: Bytes(1 << 30) }
    }
}

impl Default for BulkConfig {
    fn default() -> Self {
        let (request_bytes, patience) = (Bytes(5 << 20), Span::secs(600));
        Self { url: None, index: "pages".into(), request_bytes, patience }
    }
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self { enabled: true, bare_urls: false }
    }
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It could not be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// It is larger than any configuration is.
    #[error("{} is larger than {} MiB; that is no configuration", path.display(), MOST_BYTES >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is not TOML, or a value is of the wrong kind.
    #[error("{}: {message}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Line, column and what is wrong, for people.
        message: String,
    },
    /// A key that does not exist.
    #[error("{}: there is no setting \"{key}\"{}", path.display(), nearest_words(nearest.as_deref()))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key with its section.
        key: String,
        /// The nearest that exists.
        nearest: Option<String>,
    },
}

fn nearest_words(nearest: Option<&str>) -> String {
    match nearest {
        Some(key) => format!("; did you mean \"{key}\"?"),
        None => "; `comity init` writes a file with all that there are".into(),
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`], which names the file and the place.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let failed = |cause| ConfigError::Read { path: path.into(), cause };
        let mut text = Vec::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(ConfigError::TooLarge { path: path.into() });
        }
        let no_text = |e| failed(std::io::Error::new(std::io::ErrorKind::InvalidData, e));
        let text = String::from_utf8(text).map_err(no_text)?;
        Self::parse(&text, path)
    }

    /// Reads the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let value = |message: String| ConfigError::Value { path: path.into(), message };
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| value(e.to_string()))?;
        if let Some(key) = unknown_key(&table) {
            let nearest = nearest_key(&key);
            return Err(ConfigError::UnknownKey { path: path.into(), key, nearest });
        }
        let config: Self = toml::from_str(text).map_err(|e| value(e.to_string()))?;
        rules::check(&config.extract).map_err(|fault| value(placed(&fault, text)))?;
        Ok(config)
    }
}

/// A fault in `[extract]` with its place in the file.
fn placed(fault: &rules::RuleFault, text: &str) -> String {
    match rules::place_of(text, &fault.path) {
        Some(place) => format!("line {}, column {}: {fault}", place.line, place.column),
        None => fault.to_string(),
    }
}

/// Every key that exists, as `section.key`.
fn known_keys() -> Vec<String> {
    let template: toml::Table = uncommented(TEMPLATE).parse().unwrap_or_default();
    let mut keys = Vec::new();
    for (section, settings) in &template {
        for key in settings.as_table().into_iter().flat_map(toml::Table::keys) {
            keys.push(format!("{section}.{key}"));
        }
    }
    keys
}

/// The template with its optional settings, written as `#key = value`, put to work.
fn uncommented(template: &str) -> String {
    let lines = template.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest,
        Some(_) | None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The section whose keys are names.
const EXTRACT: &str = "extract";

fn unknown_key(table: &toml::Table) -> Option<String> {
    let known = known_keys();
    let is_section = |name: &str| known.iter().any(|key| key.split('.').next() == Some(name));
    for (section, settings) in table {
        // Its names are the operator's; what stands below them is checked where it is read.
        if section == EXTRACT {
            continue;
        }
        if !is_section(section) {
            return Some(section.clone());
        }
        for key in settings.as_table().into_iter().flat_map(toml::Table::keys) {
            let key = format!("{section}.{key}");
            if !known.contains(&key) {
                return Some(key);
            }
        }
    }
    None
}

/// The known key, or section, that is most like `key`.
fn nearest_key(key: &str) -> Option<String> {
    let mut known = known_keys();
    if !key.contains('.') {
        let sections = known.iter().filter_map(|key| key.split('.').next()).map(String::from);
        let sections: Vec<_> = sections.chain([EXTRACT.to_owned()]).collect();
        known.extend(sections);
    }
    // The name decides; of two names alike, the one in the section that was meant.
    let split = |key: &str| match key.split_once('.') {
        Some((section, name)) => (section.to_owned(), name.to_owned()),
        None => (String::new(), key.to_owned()),
    };
    let (section, name) = split(key);
    let likeness = |other: &str| {
        let (other_section, other_name) = split(other);
        let bonus = if section == other_section { 0.05 } else { 0.0 };
        strsim::jaro_winkler(&name, &other_name) + bonus
    };
    let best = known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.8).then_some(best)
}

/// A length of time, written as `2s`, `500ms`, `1m 30s`, `30d`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Span(pub Duration);

impl Span {
    /// So many seconds.
    pub const fn secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a length of time such as 2s, 500ms, 5m or 30d");
        let text = text.trim();
        // A span knows days, a duration more hours than there are days of.
        let with_days = || {
            let days = jiff::SpanRelativeTo::days_are_24_hours();
            text.parse::<jiff::Span>().ok()?.to_duration(days).ok()
        };
        let length = text.parse::<jiff::SignedDuration>().ok().or_else(with_days);
        length.and_then(|length| Duration::try_from(length).ok()).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::SignedDuration::try_from(self.0) {
            Ok(span) => write!(f, "{span:#}"),
            Err(_) => write!(f, "{:?}", self.0),
        }
    }
}

/// A number of bytes, written as `2MiB`, `64KiB`, `512000`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a number of bytes such as 2MiB, 64KiB or 512000");
        let text = text.trim();
        let unit = UNITS.iter().find_map(|(name, size)| Some((text.strip_suffix(name)?, *size)));
        let (number, size) = unit.unwrap_or((text, 1));
        let number: u64 = number.trim().parse().map_err(|_| wrong())?;
        number.checked_mul(size).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, size)| self.0 > 0 && self.0.is_multiple_of(*size));
        let (name, size) = whole.unwrap_or(&("B", 1));
        write!(f, "{}{name}", self.0 / size)
    }
}

/// Settings that TOML holds as text.
macro_rules! as_text {
    ($($name:ident),+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(de::Error::custom)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    )+};
}
as_text!(Span, Bytes);

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("comity.toml")).map_err(|e| e.to_string())
    }

    /// The template says the defaults, and with its optional lines put to work it still parses.
    #[test]
    fn template_is_the_defaults() {
        assert_eq!(parse(TEMPLATE).unwrap(), Config::default());
        parse(&uncommented(TEMPLATE)).unwrap();
    }

    /// No setting is missing from the template.
    #[test]
    fn template_is_complete() {
        let full = parse(&uncommented(TEMPLATE)).unwrap();
        let table = toml::Table::try_from(full).unwrap();
        let known = known_keys();
        let mut count = 0;
        for (section, settings) in table {
            for key in settings.as_table().unwrap().keys() {
                assert!(known.contains(&format!("{section}.{key}")), "{section}.{key}");
                count += 1;
            }
        }
        assert_eq!(count, known.len());
    }

    /// One line, one case: text, and a part of the message.
    #[test]
    fn mistakes() {
        let cases = [
            ("[politeness]\nintervall = \"2s\"", "did you mean \"politeness.interval\"?"),
            ("[politness]\ninterval = \"2s\"", "did you mean \"politeness\"?"),
            ("max_pages = 3", "did you mean \"crawl.max_pages\"?"),
            ("[crawl]\nzzz = 3", "`comity init` writes"),
            ("[politeness]\ninterval = \"soon\"", "\"soon\" is not a length of time"),
            ("[network]\npage_bytes = \"2 elephants\"", "is not a number of bytes"),
            ("[crawl]\nmax_pages = \"many\"", "line 2, column 13"),
            ("[crawl\n", "line 1"),
        ];
        for (text, expect) in cases {
            let message = parse(text).unwrap_err();
            assert!(message.contains(expect), "{text}: {message}");
        }
    }

    /// One line, one case: what stands in `[extract.a]`, and a part of the message.
    #[test]
    fn mistakes_in_extractors() {
        let field = |rest: &str| format!("[extract.a.fields.x]\n{rest}");
        let cases = [
            ("[extract.a]\nurls = []".to_owned(), "line 1, column 10: extract.a: it has no fields"),
            (
                field("css = \"p[\""),
                "line 2, column 7: extract.a.fields.x.css: \"p[\" is no CSS selector",
            ),
            (
                field("css = \"p\"\nregex = \"(\""),
                "line 3, column 9: extract.a.fields.x.regex: regex parse error",
            ),
            (
                field("jsonld = \"a..b\""),
                "line 2, column 10: extract.a.fields.x.jsonld: \"a..b\" is no path",
            ),
            (
                field("css = \"p\"\njsonld = \"a\""),
                "line 3, column 10: extract.a.fields.x.jsonld: a field has css or jsonld, not both",
            ),
            (
                field("attr = \"p\""),
                "line 1, column 19: extract.a.fields.x: it says nowhere to look",
            ),
            (field("jsonld = \"a\"\nattr = \"p\""), "line 3, column 8: extract.a.fields.x.attr"),
            (field("css = \"p\"\ntype = \"numbr\""), "line 3, column 8"),
            (field("css = \"p\"\nregexp = \"x\""), "line 3, column 1"),
            (field("css = \"p\"\nregexp = \"x\""), "unknown field `regexp`"),
            (
                field("css = \"p\"\nof = \"number\""),
                "line 3, column 6: extract.a.fields.x.of: only a list",
            ),
            (field("css = \"p\"\ntype = \"list\"\nof = \"list\""), "line 4, column 6"),
            (field("css = \"p\"\nfollow = true"), "line 3, column 10"),
            (
                field("css = \"p\"\ndecimal = \",\""),
                "line 3, column 11: extract.a.fields.x.decimal: only a number",
            ),
            (field("css = \"p\"\ntype = \"number\"\ndecimal = \";\""), "is neither"),
            (field("css = \"p\"\ntype = \"date\"\nformat = \"%!\""), "line 4, column 10"),
            (
                "[extract.a]\nurls = [\"/ok\", \"p/*\"]\nfields.x.css = \"p\"".to_owned(),
                "line 2, column 16: extract.a.urls.1",
            ),
            (
                "[extract.a]\neach = \"\"\nfields.x.attr = \"p\"".to_owned(),
                "line 2, column 8: extract.a.each",
            ),
            ("[extract.a]\npages = \"some\"".to_owned(), "unknown variant `some`"),
            ("[extrakt.a]\npages = \"all\"".to_owned(), "did you mean \"extract\"?"),
            (field("css = \"p\"\nregex = \"(a{1000}){1000}\""), "exceeds size limit"),
        ];
        for (text, expect) in cases {
            let message = parse(&text).unwrap_err();
            assert!(message.contains(expect), "{text}: {message}");
        }
        parse("[extract.a]\neach = \"li\"\nfields.x = { type = \"url\", follow = true }").unwrap();
    }

    #[test]
    fn a_file_without_end() {
        let error = Config::read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(error, "/dev/zero is larger than 16 MiB; that is no configuration");
    }

    #[test]
    fn spans_and_bytes() {
        for (text, millis) in [
            ("2s", 2000),
            ("500ms", 500),
            ("1m 30s", 90_000),
            ("2d 1h", 176_400_000),
            ("999999999h", 3_599_999_996_400_000),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.0.as_millis(), millis, "{text}");
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
        for text in ["-2s", "", "2", "1y", "99999999999d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        for (text, bytes) in [("2MiB", 2 << 20), ("64 KiB", 64 << 10), ("1500", 1500), ("7B", 7)] {
            let parsed: Bytes = text.parse().unwrap();
            assert_eq!(parsed.0, bytes, "{text}");
            assert_eq!(parsed.to_string().parse::<Bytes>().unwrap(), parsed);
        }
        assert!("99999999999GiB".parse::<Bytes>().is_err());
    }
}
