//! Area robots-fetch: a robots.txt fetched again and again over time, from servers that the case
//! scripts. The engine decides what is requested and when; no socket is opened.

use std::collections::BTreeMap;
use std::time::Duration;

use comity_compliance::robots::{
    Body, RobotsErrand, RobotsRecord, RobotsReply, RobotsResponse, Step,
};
use comity_compliance::{
    Facts, Grounds, Identity, Origin, Policy, Scope, ScopeKind, SitePace, Timestamp, Verdict,
    decide, parse_retry_after,
};
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, NOW, header_lines, text};

pub(super) fn judge(case: &Case) -> Answers {
    let target = Url::parse(text(&case.input, "target")).unwrap();
    let mut crawl = Crawl {
        exchanges: case.input["exchanges"].as_array().unwrap(),
        policy: &case.policy,
        identity: case.identity(),
        records: BTreeMap::new(),
        states: Vec::new(),
        requests: Vec::new(),
    };
    crawl.allowed(&target, NOW);
    let retry = crawl.record(&target).next_refresh().map(|at| at.since(NOW).as_secs_f64());

    let mut answers = Answers::new();
    let asked = case.expect["allowed"].as_object().into_iter().flatten();
    let allowed: Answers =
        asked.map(|(url, _)| (url.clone(), crawl.allowed(&parsed(url), NOW).into())).collect();
    let asked = case.expect["allowed_at"].as_array().into_iter().flatten();
    let allowed_at: Value = asked.map(|question| crawl.answered(question)).collect();
    answers.insert("allowed".into(), allowed.into());
    answers.insert("allowed_at".into(), allowed_at);
    answers.insert("robots_state".into(), crawl.states.join(" then ").into());
    answers.insert("robots_requests".into(), crawl.requests.len().into());
    for key in ["must_request", "must_not_request"] {
        let urls = case.expect[key].as_array().into_iter().flatten();
        let as_wanted = |url: &&Value| {
            let requested = crawl.requests.iter().any(|requested| *url == requested.as_str());
            requested == (key == "must_request")
        };
        answers.insert(key.into(), urls.filter(as_wanted).cloned().collect());
    }
    // Userinfo is all that a request for a robots.txt could make an Authorization of.
    let bare = crawl.requests.iter().all(|url| url.username().is_empty());
    answers.insert("must_not_send_header".into(), json!(bare.then_some("Authorization")));
    let wanted = &case.expect["next_robots_fetch_not_before_s"];
    let late_enough = retry >= wanted.as_f64();
    let told = if late_enough { wanted.clone() } else { json!(retry) };
    answers.insert("next_robots_fetch_not_before_s".into(), told);
    answers
}

struct Crawl<'c> {
    exchanges: &'c [Value],
    policy: &'c Policy,
    identity: Identity,
    records: BTreeMap<String, RobotsRecord>,
    /// What the target's record came to, one after another.
    states: Vec<&'static str>,
    requests: Vec<Url>,
}

impl Crawl<'_> {
    fn record(&self, url: &Url) -> RobotsRecord {
        let key = Origin::of(url).unwrap().to_string();
        self.records.get(&key).cloned().unwrap_or_default()
    }

    /// Whether `url` may be fetched at `now`. It was asked for before whenever the servers changed
    /// their answer, and a robots.txt that failed was tried again whenever that was due.
    fn allowed(&mut self, url: &Url, now: Timestamp) -> bool {
        let mut at = NOW;
        // More than the refreshes of 40 days.
        for _ in 0..10_000 {
            let verdict = self.decide(url, at);
            if let Verdict::FetchRobots(errand, grounds) = verdict {
                self.run(url, errand, grounds, at);
            } else if at == now {
                return matches!(verdict, Verdict::Fetch(_));
            } else {
                at = self.next_visit(url, at).min(now);
            }
        }
        panic!("no end of refreshes");
    }

    fn next_visit(&self, url: &Url, at: Timestamp) -> Timestamp {
        let changes = self.exchanges.iter().map(|exchange| NOW.after(starts_at(exchange)));
        let retry = self.record(url).failing().map(|run| run.retry_at);
        let end = Timestamp::from_millis(i64::MAX);
        changes.chain(retry).filter(|next| *next > at).min().unwrap_or(end)
    }

    fn decide(&self, url: &Url, now: Timestamp) -> Verdict {
        let facts = Facts {
            policy: self.policy,
            identity: &self.identity,
            scope: &Scope::new(ScopeKind::Any, &[]),
            robots: &self.record(url),
            // The question is whether robots.txt permits it, not whose turn it is.
            pace: &SitePace::default(),
        };
        decide(url, facts, now)
    }

    fn run(&mut self, url: &Url, errand: RobotsErrand, grounds: Grounds, now: Timestamp) {
        let (mut errand, mut grounds) = (errand, grounds);
        let outcome = loop {
            self.requests.push(grounds.url().clone());
            let exchange = self.exchange(grounds.url(), now);
            match reply(exchange, errand, self.policy, now) {
                Step::Fetch(next, more) => (errand, grounds) = (next, more),
                Step::Done(outcome) => break outcome,
            }
        };
        let record = self.record(url).after(outcome, self.policy, now);
        let state = match (record.failing(), record.rules()) {
            (Some(_), _) => "unreachable",
            (None, Some(_)) => "parsed",
            (None, None) => "unavailable",
        };
        if self.states.last() != Some(&state) {
            self.states.push(state);
        }
        self.records.insert(Origin::of(url).unwrap().to_string(), record);
    }

    /// The latest that has begun: what the case scripts for this URL at this time.
    fn exchange(&self, url: &Url, now: Timestamp) -> &Value {
        let since = now.since(NOW);
        let ours = self.exchanges.iter().filter(|exchange| parsed(text(exchange, "url")) == *url);
        let begun = ours.filter(|exchange| starts_at(exchange) <= since);
        begun.max_by_key(|exchange| starts_at(exchange)).unwrap_or_else(|| panic!("no {url}"))
    }

    fn answered(&mut self, question: &Value) -> Value {
        let mut answer = question.clone();
        let at = NOW.after(moment(question, &["t_s", "h", "day"]));
        answer["allowed"] = self.allowed(&parsed(text(question, "url")), at).into();
        answer
    }
}

fn parsed(url: &str) -> Url {
    Url::parse(url).unwrap()
}

fn starts_at(exchange: &Value) -> Duration {
    moment(exchange, &["after_s", "at_h", "at_day", "from_day"])
}

/// A time since the first exchange, by whichever of the keys tells it.
fn moment(value: &Value, keys: &[&str]) -> Duration {
    let told = keys.iter().find_map(|key| Some((*key, value[*key].as_f64()?)));
    let Some((key, number)) = told else { return Duration::ZERO };
    let unit = match key {
        "after_s" | "t_s" => 1.0,
        "at_h" | "h" => 3600.0,
        _ => 86_400.0,
    };
    Duration::from_secs_f64(number * unit)
}

fn reply(exchange: &Value, errand: RobotsErrand, policy: &Policy, now: Timestamp) -> Step {
    let Some(status) = exchange["status"].as_u64() else {
        return errand.reply(RobotsReply::Failed(text(exchange, "error").into()), policy, now);
    };
    let header = |name| {
        let mut lines = header_lines(&exchange["headers"], name);
        lines.next().map(|line| String::from_utf8(line).unwrap())
    };
    let (location, age, content) = (header("location"), header("age"), content(exchange));
    let cache_control = header("cache-control").unwrap_or_default();
    // The one raw body of the corpus has a broken chunk, so its reader stops within it.
    let body = match exchange["raw_body"].is_string() {
        true => Body::Broken(&content),
        false => Body::Read(&content),
    };
    let response = RobotsResponse {
        status: status.try_into().unwrap(),
        location: location.as_deref(),
        cache_control: &cache_control,
        age: age.as_deref(),
        retry_after: header("retry-after").and_then(|value| parse_retry_after(&value, now)),
        body,
    };
    errand.reply(RobotsReply::Response(response), policy, now)
}

/// The decoded content.
fn content(exchange: &Value) -> Vec<u8> {
    let generated = &exchange["body_gen"];
    if generated.is_null() {
        let keys = ["body", "body_gzip", "raw_body"];
        let content = keys.iter().find_map(|key| exchange[*key].as_str());
        return content.unwrap_or_default().into();
    }
    let size = usize::try_from(generated["size"].as_u64().unwrap()).unwrap();
    let (head, filler) = (text(generated, "head"), text(generated, "filler"));
    let mut content = head.to_owned();
    content.push_str(&filler.repeat((size - head.len()) / filler.len()));
    content.into_bytes()
}
