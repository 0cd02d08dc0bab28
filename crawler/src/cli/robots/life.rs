//! A robots.txt record's life as a list of events tells it: what the answers bring, and what a
//! URL may do between them. The state machine is compliance's; nothing of it is repeated here.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use anyhow::Context as _;
use comity_compliance::robots::{
    Body, RobotsErrand, RobotsOutcome, RobotsRecord, RobotsReply, RobotsResponse, Standing, Step,
};
use comity_compliance::{
    Answer, Ended, Facts, GroundsReason, Identity, Origin, Policy, Scope, ScopeKind, Site,
    SitePace, Timestamp, Verdict, WaitCause, decide, parse_retry_after,
};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};
use url::Url;

use super::super::json_lines;
use super::super::words::{instant, moment, preset, tokens};
use super::subject::SOME_ORIGIN;
use super::when::stage;
use crate::reasons::UndecidedReason;

/// A record's life and what is asked of it: a question of `--json-lines`, or an events file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    pub(super) policy: Option<String>,
    #[serde(default)]
    pub(super) agents: Vec<String>,
    #[serde(default)]
    events: Vec<Event>,
    #[serde(default)]
    ask: Vec<Ask>,
}

/// What a request brought.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    #[serde(deserialize_with = "seconds_or_text")]
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
#[serde(deny_unknown_fields)]
struct Ask {
    #[serde(deserialize_with = "seconds_or_text")]
    t_s: f64,
    url: String,
}

/// Seconds since 1970, or a date, or `+13h` after 1970.
fn seconds_or_text<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "t_s is seconds, a date or a time such as \"+13h\"")]
    enum Time {
        Seconds(f64),
        Text(String),
    }
    match Time::deserialize(from)? {
        Time::Seconds(seconds) => Ok(seconds),
        Time::Text(text) => {
            let at = moment(&text, Timestamp::EPOCH).map_err(|e| de::Error::custom(e.0))?;
            Ok(at.as_millis() as f64 / 1000.0)
        }
    }
}

/// One moment of a life.
pub(super) struct Moment {
    pub(super) at: Timestamp,
    /// What was asked for, or is asked about.
    pub(super) url: Url,
    /// What robots.txt is worth then, in words.
    pub(super) stage: &'static str,
    /// When robots.txt is fetched next.
    pub(super) next_refresh: Option<Timestamp>,
    pub(super) told: Told,
}

/// What a moment tells.
pub(super) enum Told {
    /// A request brought this.
    Event { brought: String, has_status: bool },
    /// The question of this place is answered so.
    Answer { place: usize, verdict: Value },
}

impl Question {
    /// Asks about one more URL.
    pub(super) fn ask_too(&mut self, url: Option<String>, at: Timestamp) {
        let first = || self.ask.first().map(|ask| ask.url.clone());
        let url = url.or_else(first).unwrap_or_else(|| SOME_ORIGIN.into());
        self.ask.push(Ask { t_s: at.as_millis() as f64 / 1000.0, url });
    }

    /// Plays the events in the order of their times and answers each question at its time.
    pub(super) fn play(self) -> anyhow::Result<Vec<Moment>> {
        let Question { policy, agents, mut events, ask } = self;
        let first = ask.first().map_or(SOME_ORIGIN, |ask| ask.url.as_str());
        let base = Url::parse(SOME_ORIGIN)?.join(first)?;
        let mut tokens = tokens(&agents)?.into_iter();
        let own = tokens.next().context("no agent")?;
        let identity = tokens.fold(Identity::new(own), Identity::with_fallback);
        let mut lives = Lives {
            policy: Policy::new(preset(policy.as_deref())?),
            identity,
            first: Origin::of(&base)?,
            lives: HashMap::new(),
            under_way: None,
            sites: HashMap::new(),
        };
        events.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
        let mut asked: Vec<(usize, &Ask)> = ask.iter().enumerate().collect();
        asked.sort_by(|(_, a), (_, b)| a.t_s.total_cmp(&b.t_s));
        let mut moments = Vec::new();
        let mut events = events.into_iter().peekable();
        for (place, Ask { t_s, url }) in asked {
            while let Some(event) = events.next_if(|event| event.t_s <= *t_s) {
                moments.push(lives.hear(event)?);
            }
            moments.push(lives.ask(place, base.join(url)?, instant(*t_s)));
        }
        for event in events {
            moments.push(lives.hear(event)?);
        }
        Ok(moments)
    }
}

/// The answer of `--json-lines`.
pub(super) fn answer(question: Question) -> anyhow::Result<Value> {
    let mut answers = vec![Value::Null; question.ask.len()];
    let mut refreshes = Vec::new();
    for Moment { next_refresh, told, .. } in question.play()? {
        match told {
            Told::Event { .. } => refreshes.push(next_refresh.map(seconds)),
            Told::Answer { place, verdict } => {
                answers.get_mut(place).into_iter().for_each(|answer| answer.clone_from(&verdict));
            }
        }
    }
    Ok(json!({ "answers": answers, "refresh_at_s": refreshes }))
}

/// The records of the origins that are spoken of.
struct Lives {
    policy: Policy,
    identity: Identity,
    /// Whose robots.txt is meant where nothing is said.
    first: Origin,
    lives: HashMap<Origin, Life>,
    /// Whose errand the next event answers.
    under_way: Option<Origin>,
    /// How each site answered: whether it is generally available hangs on that.
    sites: HashMap<Site, SitePace>,
}

/// One origin's record while it is told what happened.
#[derive(Default)]
struct Life {
    record: RobotsRecord,
    /// A request of it is to be answered by the next event.
    errand: Option<RobotsErrand>,
    last: Option<Last>,
}

/// What the last errand brought.
enum Last {
    /// A file, or that there is none.
    Good {
        at: Timestamp,
    },
    Failed(RobotsOutcome),
}

impl Lives {
    /// Takes an event.
    fn hear(&mut self, event: Event) -> anyhow::Result<Moment> {
        let now = instant(event.t_s);
        let url = event.url.as_deref().map(|url| self.first.robots_url().join(url)).transpose()?;
        let url = url.unwrap_or_else(|| self.first.robots_url());
        let header = |name| joined(&event.headers, name);
        let retry_after = header("retry-after").and_then(|text| parse_retry_after(&text, now));
        let answer = match (event.status, &event.error) {
            (Some(status), None) => Answer::of(status, retry_after),
            (Some(_) | None, _) => Answer::Unanswered,
        };
        let under_way = self.under_way.take();
        let is_page = under_way.is_none() && url.path() != "/robots.txt";
        let origin = under_way.map_or_else(|| Origin::of(&url), Ok)?;
        self.note(&url, &origin, is_page, answer, now)?;
        let body = json_lines::octets(event.body, event.body_b64.as_deref())?.unwrap_or_default();
        let location = event.location.or_else(|| header("location"));
        let brought = brought(event.status, event.error.as_deref(), location.as_deref(), &body);
        let told = Told::Event { brought, has_status: event.status.is_some() };
        let (cache_control, age) = (header("cache-control").unwrap_or_default(), header("age"));
        let reply = match (event.status, event.error) {
            (None, None) => {
                anyhow::bail!("the event at {} s has neither a status nor an error", event.t_s)
            }
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
        let life = self.lives.entry(origin.clone()).or_default();
        if !is_page {
            life.hear(reply, &origin, &self.policy, now);
        }
        self.under_way = life.errand.is_some().then(|| origin.clone());
        Ok(self.moment_of(&origin, url, told, now))
    }

    /// A moment after an event.
    fn moment_of(&self, origin: &Origin, url: Url, told: Told, at: Timestamp) -> Moment {
        let fresh = Life::default();
        let life = self.lives.get(origin).unwrap_or(&fresh);
        let stage = match life.errand {
            Some(_) => "a redirect: its target is asked next",
            None => self.stage(&life.record, &self.pace(&url), at),
        };
        let next_refresh = life.record.next_refresh();
        Moment { at, url, stage, next_refresh, told }
    }

    fn stage(&self, record: &RobotsRecord, pace: &SitePace, now: Timestamp) -> &'static str {
        stage(record.standing(&self.policy, pace.availability(&self.policy, now), now))
    }

    /// What a site's answer tells of its health.
    fn note(
        &mut self,
        url: &Url,
        origin: &Origin,
        is_page: bool,
        answer: Answer,
        at: Timestamp,
    ) -> anyhow::Result<()> {
        let reason = if !is_page {
            GroundsReason::RobotsFile
        } else if self.is_probe(url, origin, at) {
            GroundsReason::AvailabilityProbe
        } else {
            GroundsReason::RobotsNoRule
        };
        let pace = self.sites.entry(Site::of(url)?).or_default();
        pace.request_ended(Ended { at, answer, reason, first_byte: None }, &self.policy);
        Ok(())
    }

    /// Whether a page is what the law asks for as the probe just then (AM-10). Any other page is
    /// one fetch among others.
    fn is_probe(&self, url: &Url, origin: &Origin, now: Timestamp) -> bool {
        let life = self.lives.get(origin);
        let Some(life) = life.filter(|life| life.record.failing().is_some()) else { return false };
        let pace = self.pace(url);
        let (record, _) = life.refreshed(&self.policy, &pace, now);
        let mut page = url.clone();
        page.set_fragment(None);
        let verdict = judge(&page, &record, &self.policy, &self.identity, &pace, now);
        matches!(verdict, Verdict::Probe(grounds) if *grounds.url() == page)
    }

    /// A site's health without its politeness: these answers are about robots.txt.
    fn pace(&self, url: &Url) -> SitePace {
        let known = Site::of(url).ok().and_then(|site| self.sites.get(&site));
        known.map_or_else(SitePace::default, without_politeness)
    }

    /// The verdict on a URL. A refresh that is due is taken to bring what the last one brought.
    fn ask(&self, place: usize, url: Url, now: Timestamp) -> Moment {
        let pace = self.pace(&url);
        let fresh = Life::default();
        let life = Origin::of(&url).ok().and_then(|origin| self.lives.get(&origin));
        let (record, seen_at) = life.unwrap_or(&fresh).refreshed(&self.policy, &pace, now);
        let verdict = judge(&url, &record, &self.policy, &self.identity, &pace, seen_at);
        Moment {
            at: now,
            stage: self.stage(&record, &pace, seen_at),
            url,
            next_refresh: record.next_refresh().map(|next| next.after(now.since(seen_at))),
            told: Told::Answer { place, verdict: verdict_json(&verdict) },
        }
    }
}

/// An event in words: `status 200, 31 bytes`, `status 301 to /r`, `timeout`.
fn brought(status: Option<u16>, error: Option<&str>, to: Option<&str>, body: &[u8]) -> String {
    let words = match (status, to) {
        (None, _) => error.unwrap_or_default().into(),
        (Some(status @ 300..=399), Some(to)) => format!("status {status} to {to}"),
        (Some(status), _) if body.is_empty() => format!("status {status}"),
        (Some(status), _) => format!("status {status}, {} bytes", body.len()),
    };
    match (status, error) {
        (Some(_), Some(error)) => format!("{words}, broken off: {error}"),
        (Some(_), None) | (None, _) => words,
    }
}

impl Life {
    /// The record, after a refresh if one is due at `now`, and the time to look at it. A good
    /// answer that comes again leaves at `now` what it left when it came: no file is parsed twice.
    fn refreshed(
        &self,
        policy: &Policy,
        pace: &SitePace,
        now: Timestamp,
    ) -> (Cow<'_, RobotsRecord>, Timestamp) {
        let availability = pace.availability(policy, now);
        let due = matches!(self.record.standing(policy, availability, now), Standing::Fetch);
        match &self.last {
            Some(Last::Good { at }) if due => (Cow::Borrowed(&self.record), *at),
            Some(Last::Failed(failure)) if due => {
                let record = self.record.clone().after(failure.clone(), policy, now);
                (Cow::Owned(record), now)
            }
            Some(_) | None => (Cow::Borrowed(&self.record), now),
        }
    }

    fn hear(&mut self, reply: RobotsReply<'_>, origin: &Origin, policy: &Policy, now: Timestamp) {
        let errand = self.errand.take().unwrap_or_else(|| RobotsErrand::start(origin, now).0);
        match errand.reply(reply, policy, now) {
            Step::Fetch(errand, _) => self.errand = Some(errand),
            Step::Done(outcome) => {
                let record = std::mem::take(&mut self.record);
                self.last = Some(match &outcome {
                    RobotsOutcome::Unreachable { .. } => Last::Failed(outcome.clone()),
                    RobotsOutcome::File { .. } | RobotsOutcome::NoFile { .. } => {
                        Last::Good { at: now }
                    }
                });
                self.record = record.after(outcome, policy, now);
            }
        }
    }
}

/// What is known of a site's health, and nothing that it must be waited for.
pub(super) fn without_politeness(pace: &SitePace) -> SitePace {
    SitePace { last_served: pace.last_served, health: pace.health, ..SitePace::default() }
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
        Verdict::FetchRobots(..) => {
            json!({ "allowed": false, "reason": UndecidedReason::RobotsNotFetched.code() })
        }
        // Nobody makes the probe here, so nothing speaks for the site.
        Verdict::Probe(_) => {
            json!({ "allowed": false, "reason": WaitCause::RobotsUnreachable.code() })
        }
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

/// Seconds since 1970: a whole number where it is one.
pub(super) fn seconds(at: Timestamp) -> Value {
    let rest = at.since(Timestamp::from_secs(at.as_secs()));
    if rest == Duration::ZERO {
        return at.as_secs().into();
    }
    let seconds = at.as_millis() as f64 / 1000.0;
    seconds.into()
}

#[cfg(test)]
mod tests;
