//! The life of a robots.txt: how long a copy is used, and what holds while none can be had
//! (RT-024 to RT-030).

use url::Url;

use super::http::Reply;
use super::memory::{Copy, File};
use super::robots::Rules;
use super::{Client, ROBOTS_HOPS};
use crate::vectors::Policy;

const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 86_400;
/// After a failure it is asked for again (AM-11).
const AGAIN_S: u64 = 300;

/// What a request for robots.txt brought.
enum Brought {
    /// The file, and how long it may be kept by its max-age.
    File { bytes: Vec<u8>, max_age_s: Option<u64> },
    /// That there is none.
    NoFile,
    /// Nothing, and how long to wait.
    Failure { retry_after_s: Option<u64> },
}

impl Client {
    /// The rules of an origin that hold now; asks for its robots.txt where that is due.
    pub(super) async fn robots(&mut self, url: &Url, origin: &str) -> Rules {
        let now_s = self.time.now_s();
        let mut file = self.memory.files.get(origin).cloned().unwrap_or_default();
        let stubborn = self.has("outage-stubborn")
            && file.failing_since_s.is_some_and(|since_s| now_s < since_s + 12 * HOUR_S);
        if now_s >= file.ask_at_s && !stubborn {
            match self.ask_for_robots(url).await {
                Brought::File { bytes, max_age_s } => {
                    let kept_s = self.kept_s(max_age_s);
                    let copy = Some(Copy { bytes: Some(bytes) });
                    file = File {
                        copy,
                        failing_since_s: None,
                        ask_at_s: now_s.saturating_add(kept_s),
                    };
                }
                Brought::NoFile => {
                    let for_ever = self.has("no-file-for-ever") || self.has("robots-for-ever");
                    let ask_at_s = if for_ever { u64::MAX } else { now_s + DAY_S };
                    let copy = Some(Copy { bytes: None });
                    file = File { copy, failing_since_s: None, ask_at_s };
                }
                Brought::Failure { retry_after_s } => {
                    let since_s = file.failing_since_s.filter(|_| !self.has("outage-forgets"));
                    file.failing_since_s = since_s.or(Some(now_s));
                    let wait_s = retry_after_s.filter(|_| !self.has("robots-no-retry-after"));
                    file.ask_at_s = now_s.saturating_add(wait_s.unwrap_or(0).max(AGAIN_S));
                    let months = now_s > file.failing_since_s.unwrap_or(now_s) + 29 * DAY_S;
                    if self.has("outage-silent") && months {
                        file.ask_at_s = u64::MAX;
                    }
                }
            }
        }
        self.memory.files.insert(origin.to_owned(), file.clone());
        self.in_force(url, &file).await
    }

    /// How long a file is used, in seconds (AM-12).
    fn kept_s(&self, max_age_s: Option<u64>) -> u64 {
        match (self.config.fault.as_deref(), max_age_s) {
            (Some("robots-for-ever"), _) => u64::MAX,
            (Some("robots-week"), Some(age_s)) => age_s,
            (Some("robots-max-age"), _) | (_, None) => DAY_S,
            (_, Some(age_s)) => age_s.clamp(300, DAY_S),
        }
    }

    /// What a file and its failures say now.
    async fn in_force(&mut self, url: &Url, file: &File) -> Rules {
        let copy = |client: &Self| match &file.copy {
            Some(Copy { bytes: Some(bytes) }) => {
                Rules::parse(bytes, &client.config.agent, &|fault| client.has(fault))
            }
            Some(Copy { bytes: None }) => Rules::allow(),
            None if client.config.policy == Policy::Google || client.has("outage-unknown") => {
                Rules::allow()
            }
            None => Rules::deny(),
        };
        let Some(since_s) = file.failing_since_s else { return copy(self) };
        if self.has("outage-copy") && file.copy.is_some() {
            return copy(self);
        }
        let stopped_s = if self.has("outage-hour") { HOUR_S } else { 12 * HOUR_S };
        let failing_s = self.time.now_s().saturating_sub(since_s);
        // The standard alone knows no last copy before a long time has passed (§2.3.1.4).
        let by_the_standard = self.config.policy == Policy::Rfc9309 && !self.has("outage-unknown");
        match failing_s / DAY_S {
            _ if failing_s < stopped_s || self.has("outage-stops") => Rules::deny(),
            0..30 if by_the_standard => Rules::deny(),
            0..30 if self.has("outage-no-copy") => Rules::allow(),
            0..30 => copy(self),
            _ if self.config.policy != Policy::Google || self.has("outage-for-ever") => copy(self),
            _ if self.has("outage-blind") || self.is_well(url).await => Rules::allow(),
            _ => Rules::deny(),
        }
    }

    /// Whether the site's front page answers, as it was within the day (AM-10).
    async fn is_well(&mut self, url: &Url) -> bool {
        let Ok(front) = url.join("/") else { return false };
        let now_s = self.time.now_s();
        if let Some((at_s, well)) = self.memory.probes.get(front.as_str())
            && now_s < at_s + DAY_S
            && !self.has("outage-probes")
        {
            return *well;
        }
        let reply = self.request(&front).await;
        let well = reply.is_some_and(|reply| reply.status < 500 && reply.status != 429);
        self.memory.probes.insert(front.to_string(), (now_s, well));
        well
    }

    /// Fetches the robots.txt of an origin, hops and all.
    async fn ask_for_robots(&mut self, url: &Url) -> Brought {
        let place = if self.has("robots-below") { "robots.txt" } else { "/robots.txt" };
        let Ok(mut at) = url.join(place) else { return Brought::NoFile };
        let most = match self.config.fault.as_deref() {
            Some("robots-no-redirects") => 0,
            Some("robots-one-redirect") => 1,
            Some("robots-hops") => 100,
            _ => ROBOTS_HOPS,
        };
        let origin = at.origin();
        for _ in 0..=most {
            let Some(reply) = self.request(&at).await else {
                return self.failure("robots-broken-allows", None);
            };
            match reply.status {
                200..=299 if at.origin() != origin && self.has("robots-of-target") => {
                    return Brought::NoFile;
                }
                200..=299 => return self.file(&reply),
                300..=399 => {
                    let location = reply.header("location").and_then(|l| at.join(l).ok());
                    let Some(target) = location else { return Brought::NoFile };
                    // AM-2: no rules are known yet, so what they say of a hop does not end the chain.
                    if self.has("robots-hop-checked")
                        && target.origin() != origin
                        && !Box::pin(self.may_fetch(&target)).await
                    {
                        return Brought::NoFile;
                    }
                    at = target;
                }
                429 => return self.failure("robots-429-allows", Some(&reply)),
                400..=499 if self.has("robots-4xx-denies") => {
                    let bytes = b"user-agent: *\ndisallow: /".to_vec();
                    return Brought::File { bytes, max_age_s: None };
                }
                400..=499 => return Brought::NoFile,
                _ => return self.failure("robots-5xx-allows", Some(&reply)),
            }
        }
        Brought::NoFile
    }

    fn failure(&self, fault: &str, reply: Option<&Reply>) -> Brought {
        match self.has(fault) {
            true => Brought::NoFile,
            false => Brought::Failure {
                retry_after_s: reply.and_then(|reply| self.retry_after_s(reply)),
            },
        }
    }

    fn file(&mut self, reply: &Reply) -> Brought {
        if let Some(etag) = reply.header("etag") {
            let origin = "robots.txt".to_owned();
            self.memory.validators.insert(origin, etag.to_owned());
        }
        let bytes = match self.config.fault.as_deref() {
            Some("robots-short") => reply.body.get(..8 * 1024).unwrap_or(&reply.body),
            Some("robots-long") => &reply.body,
            _ => reply.body.get(..500 * 1024).unwrap_or(&reply.body),
        };
        let max_age = reply.header("cache-control").and_then(|v| v.split_once("max-age="));
        let max_age_s = max_age.and_then(|(_, seconds)| seconds.parse().ok());
        Brought::File { bytes: bytes.to_vec(), max_age_s }
    }
}
