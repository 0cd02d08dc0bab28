//! A robots.txt record's life as a list of events tells it: what the answers bring, and what a
//! URL may do between them. The state machine is compliance's; nothing of it is repeated here.

use std::time::Duration;

use comity_compliance::robots::{
    Body, RobotsErrand, RobotsOutcome, RobotsRecord, RobotsReply, RobotsResponse, Standing, Step,
};
use comity_compliance::{
    Answer, Facts, Identity, Origin, Policy, Scope, ScopeKind, Site, SitePace, Timestamp, Verdict,
    decide, parse_retry_after,
};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::super::json_lines;
use super::super::words::{preset, tokens};
use super::subject::SOME_ORIGIN;

/// A question of `--json-lines`.
#[derive(Deserialize)]
pub(super) struct Question {
    policy: Option<String>,
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    events: Vec<Event>,
    #[serde(default)]
    ask: Vec<Ask>,
}

/// What a request brought.
#[derive(Deserialize)]
struct Event {
    t_s: f64,
    status: Option<u16>,
    error: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    body: Option<String>,
    body_b64: Option<String>,
    url: Option<String>,
    location: Option<String>,
}

#[derive(Deserialize)]
struct Ask {
    t_s: f64,
    url: String,
}

/// Plays the events in the order of their times and answers each question at its time.
pub(super) fn answer(question: Question) -> anyhow::Result<Value> {
    let Question { policy, agents, mut events, ask } = question;
    let first = ask.first().map_or(SOME_ORIGIN, |ask| ask.url.as_str());
    let base = Url::parse(SOME_ORIGIN)?.join(first)?;
    let mut tokens = tokens(&agents)?.into_iter();
    let own = tokens.next().ok_or_else(|| anyhow::anyhow!("no agent"))?;
    let identity = tokens.fold(Identity::new(own), Identity::with_fallback);
    let policy = Policy::new(preset(policy.as_deref())?);
    let mut life = Life::new(Origin::of(&base)?, policy, identity);
    events.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
    let mut asked: Vec<usize> = (0..ask.len()).collect();
    asked.sort_by(|a, b| ask[*a].t_s.total_cmp(&ask[*b].t_s));
    let mut answers = vec![Value::Null; ask.len()];
    let mut refreshes = Vec::new();
    let mut events = events.into_iter().peekable();
    for place in asked {
        let Ask { t_s, url } = &ask[place];
        while let Some(event) = events.next_if(|event| event.t_s <= *t_s) {
            refreshes.push(life.hear(event)?);
        }
        answers[place] = life.ask(&base.join(url)?, instant(*t_s));
    }
    for event in events {
        refreshes.push(life.hear(event)?);
    }
    let refreshes: Vec<_> = refreshes.into_iter().map(|at| at.map(seconds)).collect();
    Ok(json!({ "answers": answers, "refresh_at_s": refreshes }))
}

/// One origin's record while it is told what happened.
struct Life {
    origin: Origin,
    policy: Policy,
    identity: Identity,
    record: RobotsRecord,
    /// A request of it is to be answered by the next event.
    errand: Option<RobotsErrand>,
    last_outcome: Option<RobotsOutcome>,
    pace: SitePace,
}

impl Life {
    fn new(origin: Origin, policy: Policy, identity: Identity) -> Self {
        Self {
            origin,
            policy,
            identity,
            record: RobotsRecord::default(),
            errand: None,
            last_outcome: None,
            pace: SitePace::default(),
        }
    }

    /// Takes an event; when robots.txt is to be fetched next.
    fn hear(&mut self, event: Event) -> anyhow::Result<Option<Timestamp>> {
        let now = instant(event.t_s);
        let url = event.url.as_deref().map(|url| self.origin.robots_url().join(url)).transpose()?;
        let header = |name| joined(&event.headers, name);
        let retry_after = header("retry-after").and_then(|text| parse_retry_after(&text, now));
        let of_the_site = url
            .as_ref()
            .is_none_or(|url| Site::of(url).is_ok_and(|site| site == self.origin.site()));
        let served = event.error.is_none()
            && event.status.is_some_and(|status| Answer::of(status, retry_after) == Answer::Served);
        if served && of_the_site && self.errand.is_none() {
            self.pace.last_served = self.pace.last_served.max(Some(now));
        }
        let of_a_page = url.as_ref().is_some_and(|url| url.path() != "/robots.txt");
        if of_a_page && self.errand.is_none() {
            return Ok(self.record.next_refresh());
        }
        let body = json_lines::octets(event.body, event.body_b64.as_deref())?.unwrap_or_default();
        let location = event.location.or_else(|| header("location"));
        let (cache_control, age) = (header("cache-control").unwrap_or_default(), header("age"));
        let reply = match (event.status, event.error) {
            (None, None) => anyhow::bail!("an event has a status, an error, or both"),
            (None, Some(error)) => RobotsReply::Failed(error),
            (Some(status), error) => RobotsReply::Response(RobotsResponse {
                status,
                location: location.as_deref(),
                cache_control: &cache_control,
                age: age.as_deref(),
                retry_after,
                body: if error.is_some() { Body::Broken(&body) } else { Body::Read(&body) },
            }),
        };
        self.errand_goes_on(reply, now);
        Ok(self.record.next_refresh())
    }

    fn errand_goes_on(&mut self, reply: RobotsReply<'_>, now: Timestamp) {
        let errand = self.errand.take();
        let errand = errand.unwrap_or_else(|| RobotsErrand::start(&self.origin, now).0);
        match errand.reply(reply, &self.policy, now) {
            Step::Fetch(errand, _) => self.errand = Some(errand),
            Step::Done(outcome) => {
                let record = std::mem::take(&mut self.record);
                self.record = record.after(outcome.clone(), &self.policy, now);
                self.last_outcome = Some(outcome);
            }
        }
    }

    /// The verdict on a URL. A refresh that is due is taken to bring what the last one brought.
    fn ask(&self, url: &Url, now: Timestamp) -> Value {
        let same_origin = Origin::of(url).is_ok_and(|origin| origin == self.origin);
        let record = if same_origin { self.record.clone() } else { RobotsRecord::default() };
        let standing = record.standing(&self.policy, self.pace.last_served, now);
        let record = match (standing, &self.last_outcome) {
            (Standing::Fetch, Some(outcome)) if same_origin => {
                record.after(outcome.clone(), &self.policy, now)
            }
            _ => record,
        };
        verdict_json(&judge(url, &record, &self.policy, &self.identity, &self.pace, now))
    }
}

/// What the rules alone say: any URL is in scope.
pub(super) fn judge(
    url: &Url,
    robots: &RobotsRecord,
    policy: &Policy,
    identity: &Identity,
    pace: &SitePace,
    now: Timestamp,
) -> Verdict {
    let scope = Scope::new(ScopeKind::Any, &[]);
    decide(url, Facts { policy, identity, scope: &scope, robots, pace }, now)
}

/// `allowed`, `reason`, and what is known beside: `until_s`, `rule`.
pub(super) fn verdict_json(verdict: &Verdict) -> Value {
    match verdict {
        Verdict::Fetch(grounds) => json!({
            "allowed": true,
            "reason": grounds.reason().code(),
            "rule": grounds.evidence().map(ToString::to_string),
        }),
        Verdict::FetchRobots(..) => json!({ "allowed": false, "reason": "robots-not-fetched" }),
        Verdict::Wait { until, cause } => {
            json!({ "allowed": false, "reason": cause.code(), "until_s": seconds(*until) })
        }
        Verdict::Refuse(refusal) => json!({
            "allowed": false,
            "reason": refusal.reason.code(),
            "rule": refusal.evidence.as_ref().map(ToString::to_string),
        }),
    }
}

/// All lines of a header joined by commas.
fn joined(headers: &[(String, String)], name: &str) -> Option<String> {
    let lines = headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
    let values: Vec<_> = lines.map(|(_, value)| value.as_str()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// An instant from seconds since 1970; too large ones saturate.
fn instant(seconds: f64) -> Timestamp {
    let millis = (seconds * 1000.0).round() as i64;
    Timestamp::from_millis(millis)
}

/// Seconds since 1970: a whole number where it is one.
fn seconds(at: Timestamp) -> Value {
    let rest = at.since(Timestamp::from_secs(at.as_secs()));
    if rest == Duration::ZERO {
        return at.as_secs().into();
    }
    let seconds = at.as_millis() as f64 / 1000.0;
    seconds.into()
}

#[cfg(test)]
mod tests;
