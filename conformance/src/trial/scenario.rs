//! A scenario as it is written: sites, what they answer, and what a crawler owes to them.
//! `scenarios/README.md` documents the format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::vectors::{Level, Policy};

/// The files: name and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// How a crawler reaches the sites.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By addresses of loopback, over HTTP.
    Direct,
    /// The same over TLS.
    Tls,
    /// By host names, through a proxy, over HTTP.
    Proxy,
    /// The same over TLS, by CONNECT.
    ProxyTls,
}

impl Mode {
    /// Whether hosts have names, which only the lab's proxy knows.
    pub const fn is_proxy(self) -> bool {
        matches!(self, Self::Proxy | Self::ProxyTls)
    }

    /// Whether URLs are https.
    pub const fn is_tls(self) -> bool {
        matches!(self, Self::Tls | Self::ProxyTls)
    }
}

/// One scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of its file.
    #[serde(skip_deserializing)]
    pub name: String,
    /// What happens, in a few words.
    pub title: String,
    /// Why a crawler owes that.
    pub why: String,
    /// Numbers of requirements.
    pub clauses: Vec<String>,
    /// Document and section.
    pub source: String,
    /// How binding it is.
    pub level: Level,
    /// Under whose reading; empty is any.
    #[serde(default)]
    pub policy: Vec<Policy>,
    /// Whether it needs host names, as only a proxy can give.
    #[serde(default)]
    pub needs_proxy: bool,
    /// Whether it needs https.
    #[serde(default)]
    pub needs_tls: bool,
    /// A time of its own; without it the crawler is run once, in real time.
    pub clock: Option<ScenarioClock>,
    /// The time limit of a run, in (real) seconds.
    #[serde(default = "twelve")]
    pub seconds: u64,
    /// Where the crawl begins.
    #[serde(default = "home")]
    pub seed: String,
    /// Host names of sites that are not to have the usual ones (with a proxy only).
    #[serde(default)]
    pub hosts: BTreeMap<String, String>,
    /// Sites at the host of another one, on another port, always over http: `other = "main"`.
    #[serde(default)]
    pub same_host: BTreeMap<String, String>,
    /// Site to path to answer. A path may end in `*`.
    pub site: BTreeMap<String, BTreeMap<String, Answers>>,
    /// What the ledger must and must not show.
    pub expect: Expect,
    /// Faults of the reference client that break it.
    pub broken_by: Vec<String>,
}

const fn one() -> u32 {
    1
}

/// What takes hours or days: the crawler is run at several moments of a clock that jumps from one to
/// the next, and may go faster than the real one while it runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioClock {
    /// When each run begins, in seconds since the scenario's beginning; the first is 0.
    pub runs_at_s: Vec<u64>,
    /// How many seconds of the clock pass in a real one.
    #[serde(default = "one")]
    pub scale: u32,
}

const fn twelve() -> u64 {
    12
}

fn home() -> String {
    "{main}/".into()
}

/// One answer for all requests, or one a request, of which the last stays.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Answers {
    /// Always the same.
    Same(Box<Answer>),
    /// One after the other.
    Sequence(Vec<Answer>),
}

impl Answers {
    /// What the request with this number (from 0) brings, `at_s` after the scenario's first one.
    pub fn of(&self, number: usize, at_s: f64) -> Option<&Answer> {
        match self {
            Self::Same(answer) => Some(answer),
            Self::Sequence(answers) => {
                let timed = answers.iter().find(|a| a.until_s.is_some_and(|until| at_s < until));
                let counted = || {
                    let counted: Vec<_> = answers.iter().filter(|a| a.until_s.is_none()).collect();
                    counted.get(number).or(counted.last()).copied()
                };
                timed.or_else(counted)
            }
        }
    }
}

/// What a site answers.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// 200 if it is not said, 302 with a `redirect`.
    pub status: Option<u16>,
    /// Further header lines.
    pub headers: BTreeMap<String, String>,
    /// Content-Type, where the path does not say enough.
    pub media_type: Option<String>,
    /// The body as it is.
    pub text: Option<String>,
    /// What stands in the head of a page.
    pub head: String,
    /// What stands in the body of a page.
    pub html: String,
    /// Plain links at the end of the page.
    pub links: Vec<String>,
    /// A long body.
    pub repeat: Option<Repeat>,
    /// Whether the body is sent with gzip, whoever asks.
    pub gzip: bool,
    /// Location.
    pub redirect: Option<String>,
    /// A validator; who sends it in If-None-Match is answered 304.
    pub etag: Option<String>,
    /// Seconds before the first octet.
    pub delay_s: f64,
    /// Only so long after the scenario's first request.
    pub until_s: Option<f64>,
    /// How the answer ends badly.
    pub then: Option<Break>,
}

/// A body of many like parts.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Repeat {
    /// Before them.
    pub head: String,
    /// The part.
    pub item: String,
    /// How often.
    pub times: usize,
    /// Behind them.
    pub tail: String,
}

/// How an answer goes wrong.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Break {
    /// The connection is reset before any octet of the answer.
    Reset,
    /// It is closed in good order without one.
    Silence,
    /// No answer comes, and the connection stays.
    Hang,
    /// The head promises more than comes before the connection is closed.
    Truncate,
    /// The body breaks the chunked coding.
    BadChunk,
    /// What comes is not HTTP.
    Garbage,
    /// The body goes on for ever, slowly.
    Drip,
    /// The body goes on for ever, as fast as it is read.
    Flood,
}

/// What the ledger must and must not show. Requests are written `site /path`; a `*` at the end
/// stands for anything.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// Without one of these the scenario was not exercised; if empty, without any request.
    pub exercised: Vec<String>,
    /// Without so many of each it was not exercised either, unless something was done that is wrong
    /// all the same.
    pub needs: Vec<Count>,
    /// Each must arrive.
    pub must: Vec<String>,
    /// None may arrive.
    pub must_not: Vec<String>,
    /// Only requests from this time on count for `exercised`.
    pub exercised_from_s: f64,
    /// No more than so many.
    pub at_most: Vec<Count>,
    /// No fewer than so many.
    pub at_least: Vec<Count>,
    /// What is asked for less often than something else.
    pub fewer: Vec<Fewer>,
    /// Sites that are never sent a request while another is under way.
    pub one_at_a_time: Vec<String>,
    /// The first is answered before the second is asked.
    pub order: Vec<[String; 2]>,
    /// Sites that are asked no faster than the run's interval.
    pub pace: Vec<String>,
    /// Sites that are asked no faster than this.
    pub gap: Vec<Gap>,
    /// After an answer to the one, the other has to wait.
    pub wait: Vec<Wait>,
    /// Header lines that requests must or must not have.
    pub header: Vec<Header>,
}

/// `times` requests of `what`, between two moments if it says so.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Which.
    pub what: String,
    /// How many.
    pub times: usize,
    /// Those before are not counted, in seconds since the scenario's first request.
    #[serde(default)]
    pub from_s: f64,
    /// Nor those from this moment on.
    pub until_s: Option<f64>,
}

/// Fewer requests of `what` than of `than`, from a moment on.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fewer {
    /// Which.
    pub what: String,
    /// Which others.
    pub than: String,
    /// Those before are not counted, in seconds since the scenario's first request.
    #[serde(default)]
    pub from_s: f64,
}

/// At least `seconds` from request to request.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The site.
    pub site: String,
    /// How long.
    pub seconds: f64,
}

/// After the first answer to `after`, no `what` for `seconds`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// What was answered.
    pub after: String,
    /// What waits.
    pub what: String,
    /// How long.
    pub seconds: f64,
}

/// A header of requests, each but the first so many.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Which requests.
    pub what: String,
    /// The header, in small letters.
    pub name: String,
    /// Its value must hold this; empty text means that the header must not be there.
    pub has: String,
    /// And none of these.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// How many requests before that are not looked at.
    #[serde(default)]
    pub skip: usize,
}

/// Every scenario, in the order of their names.
///
/// # Errors
///
/// When a file does not keep to the format; the text names it.
pub fn scenarios() -> Result<Vec<Scenario>, String> {
    FILES.iter().map(|(file, text)| read(file, text)).collect()
}

pub(super) fn read(file: &str, text: &str) -> Result<Scenario, String> {
    let mut scenario: Scenario =
        toml::from_str(text).map_err(|error| format!("scenarios/{file}: {error}"))?;
    scenario.name = file.trim_end_matches(".toml").into();
    scenario.check().map_err(|fault| format!("scenarios/{file}: {fault}"))?;
    Ok(scenario)
}

impl Scenario {
    fn check(&self) -> Result<(), String> {
        if self.clauses.is_empty() || self.source.is_empty() || self.why.is_empty() {
            return Err("clauses, source and why must say something".into());
        }
        let expect = &self.expect;
        let counts = expect.at_most.iter().chain(&expect.at_least).chain(&expect.needs);
        let patterns = expect
            .exercised
            .iter()
            .chain(&expect.must)
            .chain(&expect.must_not)
            .chain(expect.order.iter().flatten())
            .chain(counts.map(|count| &count.what))
            .chain(expect.fewer.iter().flat_map(|f| [&f.what, &f.than]))
            .chain(expect.wait.iter().flat_map(|w| [&w.after, &w.what]))
            .chain(expect.header.iter().map(|h| &h.what));
        let sites = patterns.map(|p| p.split(' ').next().unwrap_or_default());
        let sites =
            sites.chain(expect.pace.iter().chain(&expect.one_at_a_time).map(String::as_str));
        let sites = sites.chain(self.same_host.iter().flat_map(|(a, b)| [a.as_str(), b.as_str()]));
        let sites = sites.chain(expect.gap.iter().map(|g| g.site.as_str()));
        for site in sites {
            if !self.site.contains_key(site) {
                return Err(format!("no site is called {site}"));
            }
        }
        if self.hosts.keys().any(|site| !self.site.contains_key(site) || !self.needs_proxy) {
            return Err("hosts names a site that is not there, or needs_proxy is missing".into());
        }
        if let Some(ScenarioClock { runs_at_s, scale }) = &self.clock {
            let in_order = runs_at_s.is_sorted_by(|a, b| a < b) && runs_at_s.first() == Some(&0);
            if !in_order || *scale == 0 {
                return Err(
                    "a clock has runs_at_s, in order from 0, and a scale of 1 at least".into()
                );
            }
        }
        Ok(())
    }

    /// How often the crawler is run.
    pub fn run_count(&self) -> usize {
        self.clock.as_ref().map_or(1, |clock| clock.runs_at_s.len())
    }

    /// How many seconds of its clock pass in a real one.
    pub fn scale(&self) -> u32 {
        self.clock.as_ref().map_or(1, |clock| clock.scale)
    }

    /// The answers of a path: those of the path itself, or of the longest pattern that fits.
    pub fn answers(&self, site: &str, path: &str) -> Option<(&str, &Answers)> {
        let paths = self.site.get(site)?;
        let fits = |key: &&String| match key.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => *key == path,
        };
        let key = paths.keys().filter(fits).max_by_key(|key| (!key.ends_with('*'), key.len()))?;
        paths.get_key_value(key).map(|(key, answers)| (key.as_str(), answers))
    }
}
