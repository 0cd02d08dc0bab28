//! Questions about the text of a robots.txt, what it speaks for, and who is meant.

use anyhow::Context as _;
use comity_compliance::robots::{Access, RobotsTxt, cut};
use comity_compliance::{
    CrawlerClass, Identity, KnownCrawler, Origin, Policy, ProductToken, RobotsNumbers,
};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::super::json_lines;
use super::super::words::{preset, tokens};
use super::Address;

/// Who is judged for: tokens, own first, or a crawler that Google documents.
#[derive(Deserialize)]
pub(super) struct Who {
    #[serde(default)]
    agents: Vec<String>,
    crawler: Option<String>,
}

impl Who {
    /// Its tokens, own first, and its class.
    pub(super) fn judged(&self) -> anyhow::Result<(Vec<ProductToken>, CrawlerClass)> {
        let Some(name) = &self.crawler else {
            return Ok((tokens(&self.agents)?, CrawlerClass::Search));
        };
        let known = KnownCrawler::named(name).with_context(|| format!("nobody knows {name}"))?;
        Ok((known.tokens(), known.class))
    }
}

#[derive(Deserialize)]
pub(super) struct RobotsQuestion {
    robots: Option<String>,
    robots_b64: Option<String>,
    #[serde(flatten)]
    who: Who,
    url: String,
    policy: Option<String>,
}

impl RobotsQuestion {
    fn file(&mut self) -> anyhow::Result<RobotsTxt> {
        let body = json_lines::octets(self.robots.take(), self.robots_b64.as_deref())?;
        let body = body.context("a question has robots or robots_b64")?;
        Ok(RobotsTxt::parse(cut(&body, RobotsNumbers::DOCUMENTED.max_bytes)))
    }
}

pub(super) fn robots(mut question: RobotsQuestion) -> anyhow::Result<Value> {
    let file = question.file()?;
    let policy = preset(question.policy.as_deref())?;
    let (tokens, class) = question.who.judged()?;
    let url = Url::parse(&question.url)?;
    let verdict = file.verdict_as(class, policy, &tokens, &url);
    let delay = Policy::new(policy).crawl_delay(file.crawl_delay(&tokens));
    let sitemaps: Vec<_> = file.sitemaps().map(|(_, url)| url).collect();
    Ok(json!({
        "allowed": verdict.access == Access::Allow,
        "sitemaps": sitemaps,
        "crawl_delay_s": delay.map(|delay| delay.as_secs()),
    }))
}

/// As Google's own parser has it.
pub(super) fn parser(mut question: RobotsQuestion) -> anyhow::Result<Value> {
    let file = question.file()?;
    let agents: Vec<&str> = question.who.agents.iter().map(String::as_str).collect();
    let verdict = file.google_parser(&agents, question.url.as_bytes());
    Ok(json!({ "allowed": verdict.access == Access::Allow }))
}

#[derive(Deserialize)]
pub(super) struct ScopeQuestion {
    robots_url: Address,
    url: Address,
}

/// A file elsewhere than at the root is never looked up, so it speaks for nothing (RT-009).
pub(super) fn scope(question: ScopeQuestion) -> anyhow::Result<Value> {
    let of_file = Origin::of(&question.robots_url)?;
    let of_page = Origin::of(&question.url).ok();
    let place = of_file.robots_url();
    let is_there =
        place.path() == question.robots_url.path() && question.robots_url.query().is_none();
    Ok(json!({ "applies": is_there && of_page == Some(of_file) }))
}

#[derive(Deserialize)]
pub(super) struct PlaceQuestion {
    url: String,
}

pub(super) fn robots_url(question: PlaceQuestion) -> anyhow::Result<Value> {
    let origin = Origin::of(&Url::parse(&question.url)?).ok();
    Ok(json!({ "robots_url": origin.map(|origin| origin.robots_url().to_string()) }))
}

#[derive(Deserialize)]
pub(super) struct TokenQuestion {
    token: String,
    user_agent: Option<String>,
}

pub(super) fn token(question: &TokenQuestion) -> Value {
    let identity = ProductToken::new(&question.token).map(Identity::new);
    let valid = match &question.user_agent {
        None => identity.is_ok(),
        Some(header) => identity.is_ok_and(|identity| identity.with_user_agent(header).is_ok()),
    };
    json!({ "valid": valid })
}
