//! Questions about HTTP: dates, statuses, freshness, redirects.

use anyhow::Context as _;
use comity_compliance::{
    Follow, Move, StatusEffect, Timestamp, judge_target, parse_http_date, parse_retry_after,
};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::words::moment;
use super::Address;
use crate::net::fresh_until;
use crate::urls::normalise;

#[derive(Deserialize)]
pub(super) struct TextQuestion {
    text: String,
    now: String,
}

pub(super) fn date(question: &TextQuestion) -> anyhow::Result<Value> {
    let now = moment(&question.now, Timestamp::EPOCH)?;
    let instant = parse_http_date(&question.text, now);
    Ok(json!({ "instant": instant.map(|instant| instant.to_string()) }))
}

pub(super) fn retry_after(question: &TextQuestion) -> anyhow::Result<Value> {
    let now = moment(&question.now, Timestamp::EPOCH)?;
    let wait = parse_retry_after(&question.text, now);
    Ok(json!({ "wait_s": wait.map(|wait| wait.as_secs()) }))
}

#[derive(Deserialize)]
pub(super) struct StatusQuestion {
    status: u16,
}

pub(super) fn status(question: &StatusQuestion) -> Value {
    let index = match StatusEffect::of(question.status) {
        StatusEffect::Read => "read",
        StatusEffect::Redirect => "follow",
        StatusEffect::Stand => "stand",
        StatusEffect::Withdraw(_) => "withdraw",
        StatusEffect::Keep => "keep",
    };
    let moved = Move::of_status(question.status).map(|how| match how {
        Move::Permanent => "permanent",
        Move::Temporary => "temporary",
    });
    json!({ "index": index, "move": moved })
}

#[derive(Deserialize)]
pub(super) struct FreshnessQuestion {
    headers: Vec<(String, String)>,
    now: String,
}

pub(super) fn freshness(question: &FreshnessQuestion) -> anyhow::Result<Value> {
    let now = moment(&question.now, Timestamp::EPOCH)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &question.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).context("no header name")?;
        headers.append(name, HeaderValue::from_str(value).context("no header value")?);
    }
    let fresh = fresh_until(&headers, now).map(|until| until.since(now).as_secs());
    Ok(json!({ "fresh_s": fresh }))
}

#[derive(Deserialize)]
pub(super) struct RedirectQuestion {
    url: Address,
    location: String,
}

/// The URL that is asked next: no fragment goes into a request.
pub(super) fn redirect(question: &RedirectQuestion) -> Value {
    let location = (!question.location.is_empty()).then_some(&question.location);
    let target = location.and_then(|location| question.url.join(location).ok());
    let target = target.filter(|target| judge_target(target) == Follow::Yes);
    json!({ "target": target.map(|target| normalise(&target).to_string()) })
}
