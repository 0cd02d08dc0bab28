//! Questions about a page: its rules, its text, its links.

use comity_compliance::robots::{Access, RobotsTxt};
use comity_compliance::{Follow, Limit, Move, Publication, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::super::rules::{Judged, Question};
use super::super::words::{moment, preset};
use super::Address;
use super::texts::Who;
use crate::page::{HeaderLinks, Link, LinkKind, Refresh, ScanLimits, header_links};

/// The header that holds a page's rules.
const XRT: &str = "X-Robots-Tag";

#[derive(Deserialize)]
pub(super) struct PageQuestion {
    robots: Option<String>,
    policy: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    html: Option<String>,
    /// The page as scripts left it.
    rendered: Option<String>,
    /// The header lines of a 304 that came later.
    not_modified: Option<Vec<(String, String)>>,
    url: Address,
    #[serde(flatten)]
    who: Who,
    now: String,
    #[serde(default)]
    phrases: Vec<String>,
}

impl PageQuestion {
    fn judge(&self) -> anyhow::Result<Judged> {
        let (tokens, class) = self.who.judged()?;
        let now = moment(&self.now, Timestamp::EPOCH)?;
        let look = |headers: &[(String, String)], html: Option<&String>| {
            let question = Question::of_page(headers.to_vec(), html.cloned(), &self.url);
            question.judge_for(tokens.clone(), class, now)
        };
        let mut judged = look(&self.headers, self.html.as_ref())?;
        if self.rendered.is_some() {
            judged = judged.seen_again(look(&[], self.rendered.as_ref())?, false, now);
        }
        if let Some(headers) = &self.not_modified {
            let has_header = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(XRT));
            judged = judged.seen_again(look(headers, None)?, has_header, now);
        }
        Ok(judged)
    }

    /// Whether robots.txt forbids to fetch the page, so that nothing of it is seen (RM-043).
    fn is_unseen(&self) -> anyhow::Result<bool> {
        let Some(robots) = &self.robots else { return Ok(false) };
        let (tokens, class) = self.who.judged()?;
        let policy = preset(self.policy.as_deref())?;
        let file = RobotsTxt::parse(robots.as_bytes());
        let verdict = file.verdict_as(class, policy, &tokens, &self.url);
        Ok(verdict.access == Access::Disallow)
    }

    fn header_links(&self) -> HeaderLinks {
        let lines = |name: &'static str| {
            let named = self.headers.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name));
            named.map(|(_, value)| value.as_str())
        };
        header_links(lines("link"), lines("refresh").next(), &self.url, &ScanLimits::default())
    }
}

/// The rules by their names, and what they come to.
pub(super) fn rules(question: PageQuestion) -> anyhow::Result<Value> {
    if question.is_unseen()? {
        return Ok(json!({ "show": Publication::UNSEEN.code() }));
    }
    let judged = question.judge()?;
    let mut answer = Value::Object(judged.values());
    answer["show"] = judged.publication.code().into();
    Ok(answer)
}

/// A page that is not shown is quoted by nobody, and found by nobody.
pub(super) fn quote(question: PageQuestion) -> anyhow::Result<Value> {
    let judged = question.judge()?;
    let is_shown = matches!(judged.publication, Publication::Full(_));
    let snippet = if is_shown { judged.snippet_text() } else { "" };
    let text = judged.page.as_ref().filter(|_| is_shown).map_or("", |page| &page.text);
    let among = |text: &str| {
        let text = one_line(text);
        question.phrases.iter().map(|phrase| text.contains(phrase)).collect::<Vec<_>>()
    };
    Ok(json!({ "quotable": among(snippet), "findable": among(text) }))
}

/// Data count whatever limits the text has, except that descriptions are cut (SN-005).
pub(super) fn structured(question: PageQuestion) -> anyhow::Result<Value> {
    let judged = question.judge()?;
    let terms = judged.publication.terms();
    let blocks = judged.page.as_ref().filter(|_| terms.is_some());
    let limit = terms.map(|terms| match terms.snippet.limit() {
        Limit::AtMost(characters) => i64::from(characters),
        Limit::Unlimited => -1,
    });
    Ok(json!({
        "blocks": blocks.map_or(0, |page| page.structured_data.len()),
        "description_limit": limit,
    }))
}

pub(super) fn links(question: PageQuestion) -> anyhow::Result<Value> {
    let judged = question.judge()?;
    let headers = question.header_links();
    let of = |wanted: fn(Follow) -> bool| {
        let links = judged.links().filter(|(_, follow)| wanted(*follow));
        links.map(|(link, _)| link.url.as_str()).collect::<Vec<_>>()
    };
    let page = judged.page.as_ref();
    let element = page.and_then(|page| page.canonical.as_ref());
    let canonical = match (element, headers.canonical.as_ref()) {
        (Some(element), Some(header)) if element != header => None,
        (element, header) => element.or(header),
    };
    let refresh = page.and_then(|page| page.meta_refresh.as_ref()).or(headers.refresh.as_ref());
    let alternates = page.into_iter().flat_map(|page| &page.links).chain(&headers.links);
    Ok(json!({
        "follow": of(|follow| follow == Follow::Yes),
        "leave": of(|follow| follow != Follow::Yes),
        "canonical": canonical.map(Url::as_str),
        "refresh": refresh.map(refresh_json),
        "alternates": alternates.filter_map(alternate).collect::<Vec<_>>(),
    }))
}

fn refresh_json(refresh: &Refresh) -> Value {
    let permanent = Move::of_refresh(refresh.delay_s) == Move::Permanent;
    json!({ "url": refresh.url.as_str(), "permanent": permanent })
}

/// The page in another language.
fn alternate(link: &Link) -> Option<Value> {
    let is_version = link.kind == LinkKind::Alternate && !link.hreflang.is_empty();
    is_version.then(|| json!([link.hreflang, link.url.as_str()]))
}

/// Blocks and lines joined by one blank.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
