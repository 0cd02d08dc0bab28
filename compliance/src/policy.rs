//! The operator's choices: three presets, and every number that a site owner feels.

use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;
use core::time::Duration;

use crate::{RevisitNumbers, Scheme};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// Whose reading of the rules decides where they differ.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Preset {
    /// Never allows what `google` forbids, and stricter where the documents leave room.
    #[default]
    Courteous,
    /// As Google documents, and its open-source parser to the byte.
    Google,
    /// RFC 9309 and nothing else.
    Rfc9309,
}

impl Preset {
    /// Every preset.
    pub const ALL: &[Self] = &[Self::Courteous, Self::Google, Self::Rfc9309];

    /// The name on the command line and in vectors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Courteous => "courteous",
            Self::Google => "google",
            Self::Rfc9309 => "rfc9309",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|preset| preset.name().eq_ignore_ascii_case(name));
        found.copied().ok_or("a policy is one of courteous, google, rfc9309")
    }
}

/// What the caller's transport can ask (RT-004, AM-20).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Protocols {
    /// http and https.
    #[default]
    Web,
    /// ftp too.
    WebAndFtp,
}

impl Protocols {
    /// Whether URLs of this scheme can be asked for.
    pub const fn include(self, scheme: Scheme) -> bool {
        match (self, scheme) {
            (_, Scheme::Http | Scheme::Https) | (Self::WebAndFtp, Scheme::Ftp) => true,
            (Self::Web, Scheme::Ftp) => false,
        }
    }
}

/// A preset with its numbers.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// Whose reading decides.
    pub preset: Preset,
    /// What can be asked at all; URLs of other protocols are refused.
    pub protocols: Protocols,
    /// Least time from the end of one request to a site to the start of the next (RL-002).
    pub interval: Duration,
    /// Requests a second to one IP address, all the sites that live there together.
    pub address_per_second: NonZeroU32,
    /// Requests a second of the whole crawl.
    pub whole_per_second: NonZeroU32,
    /// Longest crawl-delay that is honoured; a longer one counts as this (AM-36).
    pub crawl_delay_cap: Duration,
    /// Longest Retry-After that is honoured; then the site is asked again (AM-65).
    pub retry_after_cap: Duration,
    /// Longest wait between requests to a site that keeps failing; it starts at the interval and
    /// doubles with each failure (HT-004, HT-005).
    pub backoff_cap: Duration,
    /// How the pace follows a site's answers.
    pub adaptive: AdaptiveNumbers,
    /// How often pages are visited again.
    pub revisit: RevisitNumbers,
    /// How many times as long as usual a page whose day is past waits for its next visit (AM-64).
    pub expired_revisit_factor: u32,
    /// The least that such a page waits (AM-64).
    pub expired_revisit_least: Duration,
    /// Requests for one URL that may fail in a row before it is given up.
    pub url_attempts: u32,
    /// Wait before a URL that failed once is asked for again; four times as long with each failure.
    pub url_retry_first: Duration,
    /// robots.txt numbers.
    pub robots: RobotsNumbers,
    /// Hops that one URL may redirect through before it is given up (HT-002).
    pub redirect_hops: u8,
}

/// The numbers of a pace that follows a site's answers (RL-001, HT-004, AM-66).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AdaptiveNumbers {
    /// The rate that a site is asked at first, in thousandths of the full rate, 1 to 1000 (RL-001).
    pub start_permille: u16,
    /// What a good answer adds to the rate, in thousandths of the full rate (AM-66).
    pub recovery_permille: u16,
    /// Longest interval that bad answers alone lead to (AM-66).
    pub slowest: Duration,
    /// Answers that a share of bad ones is taken of at least: of fewer it would say too much.
    pub share_of_at_least: u8,
    /// The interval is at least so many times the smoothed time to first byte (RL-001). So a site
    /// is busy with our requests for a sixth of the time at most, and one that answers within a
    /// fifth of the usual interval is not slowed down.
    pub latency_factor: u32,
    /// Longest interval that the time to first byte alone leads to, in usual intervals.
    pub latency_stretch: u32,
}

/// The numbers of a robots.txt's life.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RobotsNumbers {
    /// Redirects that are followed; one more is as a 404 (RT-021, AM-1).
    pub redirect_hops: u8,
    /// A redirect's next host that wants to be left alone for longer than the usual interval and
    /// this is not waited for: the fetch begins anew when it may be asked.
    pub hop_patience: Duration,
    /// Decoded bytes that are processed; the rest is ignored (RT-031).
    pub max_bytes: usize,
    /// Freshness of a copy whose response names none (RT-030).
    pub fresh: Duration,
    /// Shortest freshness that a max-age can ask for (AM-12).
    pub fresh_min: Duration,
    /// Longest freshness that a max-age can ask for (AM-12).
    pub fresh_max: Duration,
    /// From the first failed refresh to the end of the full stop (RT-025).
    pub stop_for: Duration,
    /// From the first failed refresh to the end of the last good copy's reign (RT-026).
    pub last_good_for: Duration,
    /// First retry after a 503 (AM-11).
    pub retry_503: Duration,
    /// Longest pause between retries after 503s (AM-11).
    pub retry_503_cap: Duration,
    /// First retry after any other failure (AM-11).
    pub retry_other: Duration,
    /// Longest pause between retries after other failures (AM-11).
    pub retry_other_cap: Duration,
    /// Pause between retries once the last good copy's reign is over (AM-11).
    pub retry_late: Duration,
    /// How long a probe of a site's availability counts (AM-10).
    pub probe_every: Duration,
    /// Other fetches of a day from which on their share counts beside the probe (AM-10).
    pub available_fetches: u32,
    /// Per cent of them that must have brought a good answer (AM-10).
    pub available_percent: u32,
}

impl Policy {
    /// A preset with its documented numbers.
    pub const fn new(preset: Preset) -> Self {
        Self {
            preset,
            protocols: Protocols::Web,
            interval: Duration::from_secs(2),
            address_per_second: NonZeroU32::new(5).expect("not zero"),
            whole_per_second: NonZeroU32::new(200).expect("not zero"),
            crawl_delay_cap: MINUTE,
            retry_after_cap: DAY,
            backoff_cap: HOUR,
            adaptive: AdaptiveNumbers::DOCUMENTED,
            revisit: RevisitNumbers::DOCUMENTED,
            expired_revisit_factor: 10,
            expired_revisit_least: Duration::from_secs(30 * 86_400),
            url_attempts: 3,
            url_retry_first: Duration::from_secs(5 * 60),
            robots: RobotsNumbers::DOCUMENTED,
            redirect_hops: 10,
        }
    }

    /// What a crawl-delay in robots.txt means: nothing under `google` and `rfc9309`, which do not
    /// know it; under `courteous` a least interval, up to the cap (RL-006, AM-36).
    pub fn crawl_delay(&self, asked: Option<Duration>) -> Option<Duration> {
        match self.preset {
            Preset::Courteous => asked.map(|delay| delay.min(self.crawl_delay_cap)),
            Preset::Google | Preset::Rfc9309 => None,
        }
    }

    /// The same with another interval between requests to one site.
    #[must_use]
    pub const fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }
}

impl RobotsNumbers {
    /// The numbers of RT-021 to RT-031, AM-1 and AM-10 to AM-12.
    pub const DOCUMENTED: Self = Self {
        redirect_hops: 5,
        hop_patience: Duration::from_secs(90),
        max_bytes: 500 * 1024,
        fresh: DAY,
        fresh_min: Duration::from_secs(5 * 60),
        fresh_max: DAY,
        stop_for: Duration::from_secs(12 * 3600),
        last_good_for: Duration::from_secs(30 * 86_400),
        retry_503: Duration::from_secs(5 * 60),
        retry_503_cap: HOUR,
        retry_other: Duration::from_secs(15 * 60),
        retry_other_cap: Duration::from_secs(6 * 3600),
        retry_late: DAY,
        probe_every: DAY,
        available_fetches: 10,
        available_percent: 50,
    };
}

impl AdaptiveNumbers {
    /// The numbers of AM-66; where no document names one, gentle ones.
    pub const DOCUMENTED: Self = Self {
        start_permille: 500,
        recovery_permille: 100,
        slowest: Duration::from_secs(10 * 60),
        share_of_at_least: 10,
        latency_factor: 5,
        latency_stretch: 30,
    };
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(Preset::Courteous)
    }
}
