//! Questions about several addresses, sitemaps, and how often a site may be asked.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Context as _;
use comity_compliance::{
    Alternate, Answer, CrossSubmission, Ended, GroundsReason, Hop, HttpsTwin, Move, Origin, Policy,
    Sighting, Signals, SitePace, Strength, Submission, Timestamp, confirmed_alternates, may_list,
    revisit_after, rhythm,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::super::json_lines;
use super::super::words::{instant, moment, preset};
use super::Address;
use crate::sitemap::{Listed, SitemapLimits, SitemapReader};
use crate::urls::normalise;

#[derive(Deserialize)]
pub(super) struct CanonicalQuestion {
    url: Address,
    #[serde(default)]
    hops: Vec<HopTold>,
    link_element: Option<Address>,
    link_header: Option<Address>,
    #[serde(default)]
    same_content: Vec<Address>,
    #[serde(default)]
    in_sitemap: Vec<Address>,
    #[serde(default)]
    https_doubtful: bool,
}

#[derive(Deserialize)]
struct HopTold {
    from: Address,
    status: u16,
}

pub(super) fn canonical(question: &CanonicalQuestion) -> Value {
    let hop = |hop: &HopTold| -> Option<Move> { Move::of_status(hop.status) };
    let hops: Vec<Hop<'_>> = question
        .hops
        .iter()
        .filter_map(|told| Some(Hop { from: &told.from, how: hop(told)? }))
        .collect();
    let plain = |urls: &[Address]| urls.iter().map(|url| url.0.clone()).collect::<Vec<_>>();
    let (same_content, in_sitemap) = (plain(&question.same_content), plain(&question.in_sitemap));
    let signals = Signals {
        url: &question.url,
        hops: &hops,
        link_element: question.link_element.as_deref(),
        link_header: question.link_header.as_deref(),
        same_content: &same_content,
        in_sitemap: &in_sitemap,
        https: if question.https_doubtful { HttpsTwin::Doubtful } else { HttpsTwin::Sound },
    };
    let found = comity_compliance::canonical(&signals);
    json!({ "canonical": found.url.as_str(), "strong": found.strength == Strength::Strong })
}

#[derive(Deserialize)]
pub(super) struct AlternatesQuestion {
    pages: BTreeMap<Address, Vec<(String, Address)>>,
}

pub(super) fn alternates(question: &AlternatesQuestion) -> Value {
    let named = question.pages.iter().map(|(page, versions)| {
        let version = |(language, url): &(String, Address)| Alternate {
            language: language.clone(),
            url: url.0.clone(),
        };
        (page.0.clone(), versions.iter().map(version).collect())
    });
    let confirmed: Map<_, _> = confirmed_alternates(&named.collect())
        .into_iter()
        .map(|(page, versions)| {
            let versions = versions.iter().map(|version| Value::from(version.language.as_str()));
            (page.into(), versions.collect())
        })
        .collect();
    json!({ "confirmed": confirmed })
}

#[derive(Deserialize)]
pub(super) struct SitemapQuestion {
    url: Address,
    #[serde(default)]
    submitted: Option<String>,
    #[serde(default)]
    named_by: Vec<Address>,
    body: Option<String>,
    body_b64: Option<String>,
    content_type: Option<String>,
    now: String,
}

impl SitemapQuestion {
    fn submission(&self) -> anyhow::Result<Submission> {
        Ok(match self.submitted.as_deref() {
            None | Some("nobody") => Submission::Unsubmitted,
            Some("operator") => Submission::Operator,
            Some(origin) => Submission::RobotsTxt(Origin::of(&Url::parse(origin)?)?),
        })
    }

    /// Whether the robots.txt of an entry's own origin names the sitemap.
    fn cross(&self, entry: &Url) -> CrossSubmission {
        let same = |by: &Address| Origin::of(by).ok() == Origin::of(entry).ok();
        if self.named_by.iter().any(same) {
            CrossSubmission::Named
        } else {
            CrossSubmission::NotNamed
        }
    }
}

pub(super) fn sitemap(mut question: SitemapQuestion) -> anyhow::Result<Value> {
    let body = json_lines::octets(question.body.take(), question.body_b64.as_deref())?;
    let body = body.context("a question has body or body_b64")?;
    let (submission, place) = (question.submission()?, normalise(&question.url));
    let now = moment(&question.now, Timestamp::EPOCH)?;
    let mut reader = SitemapReader::new(SitemapLimits::default(), now);
    if let Some(content_type) = &question.content_type {
        reader = reader.with_content_type(content_type);
    }
    let mut told = Entries::default();
    reader.read(Cursor::new(body), |listed| {
        let cross = question.cross(listed.url());
        if may_list(&place, &submission, listed.url(), cross).is_ok() {
            told.take(&listed);
        }
        ControlFlow::Continue(())
    });
    Ok(told.as_json())
}

/// The entries that count.
#[derive(Default)]
struct Entries {
    urls: Vec<String>,
    sitemaps: Vec<String>,
    lastmod: Map<String, Value>,
    images: Map<String, Value>,
    alternates: Map<String, Value>,
    news: Vec<String>,
}

impl Entries {
    fn take(&mut self, listed: &Listed) {
        let url = listed.url().to_string();
        if let Some(date) = listed.lastmod() {
            self.lastmod.insert(url.clone(), date.to_string().into());
        }
        let Listed::Page(page) = listed else { return self.sitemaps.push(url) };
        if !page.images.is_empty() {
            let images = page.images.iter().map(|image| Value::from(image.as_str()));
            self.images.insert(url.clone(), images.collect());
        }
        if !page.alternates.is_empty() {
            let versions = page.alternates.iter().map(|v| json!([v.language, v.url.as_str()]));
            self.alternates.insert(url.clone(), versions.collect());
        }
        if page.news.is_some() {
            self.news.push(url.clone());
        }
        self.urls.push(url);
    }

    fn as_json(&self) -> Value {
        json!({
            "urls": self.urls, "sitemaps": self.sitemaps, "lastmod": self.lastmod,
            "count": self.urls.len() + self.sitemaps.len(), "images": self.images,
            "alternates": self.alternates, "news": self.news,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct PaceQuestion {
    policy: Option<String>,
    #[serde(default)]
    events: Vec<PaceEvent>,
    crawl_delay_s: Option<u64>,
    #[serde(default)]
    ask: Vec<PaceAsk>,
}

#[derive(Deserialize)]
struct PaceAsk {
    t_s: f64,
}

#[derive(Deserialize)]
struct PaceEvent {
    t_s: f64,
    status: Option<u16>,
    retry_after_s: Option<u64>,
}

/// Whether the site may be asked again then, and later than if all answers had been good.
pub(super) fn pace(question: &PaceQuestion) -> anyhow::Result<Value> {
    let policy = Policy::new(preset(question.policy.as_deref())?);
    let after = |answer: &dyn Fn(&PaceEvent) -> Answer| {
        let mut pace = SitePace::default();
        pace.heard_crawl_delay(question.crawl_delay_s.map(Duration::from_secs), None);
        for event in &question.events {
            let (at, reason) = (instant(event.t_s), GroundsReason::RobotsNoRule);
            let ended = Ended { at, answer: answer(event), reason, first_byte: None };
            pace.request_ended(ended, &policy);
        }
        pace.ready_at(&policy).map(|hold| hold.until)
    };
    let told = |event: &PaceEvent| match event.status {
        Some(status) => Answer::of(status, event.retry_after_s.map(Duration::from_secs)),
        None => Answer::Unanswered,
    };
    let (ready, if_good) = (after(&told), after(&|_| Answer::Served));
    let is_ready = |ask: &PaceAsk| ready.is_none_or(|ready| ready <= instant(ask.t_s));
    let times: Vec<bool> = question.ask.iter().map(is_ready).collect();
    Ok(json!({ "ready": times, "slower": ready > if_good }))
}

#[derive(Deserialize)]
pub(super) struct RevisitQuestion {
    seen: Seen,
    #[serde(default)]
    expired: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Seen {
    First,
    Changed,
    Unchanged,
    Gone,
}

/// Whether a page is looked at again later than one that was seen once.
pub(super) fn revisit(question: &RevisitQuestion) -> Value {
    let policy = Policy::default();
    let usual = policy.revisit.first;
    let sighting = match question.seen {
        Seen::First => Sighting::First,
        Seen::Changed => Sighting::Changed,
        Seen::Unchanged => Sighting::Unchanged,
        Seen::Gone => Sighting::Gone,
    };
    let now = Timestamp::EPOCH;
    let expires = question.expired.then_some(now);
    let next = revisit_after(&policy, rhythm(&policy, Some(usual), sighting), expires, now);
    json!({ "later": next > usual })
}
