//! One page fetched as a crawl would: robots.txt first, the engine's verdict, the site's pace.

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{
    Facts, Origin, Publication, Refusal, Scope, ScopeKind, SitePace, StatusEffect, Timestamp,
    Verdict, decide,
};
use url::Url;

use super::super::crawl;
use super::super::terminal::duration;
use super::off_thread;
use crate::clock::Clock;
use crate::crawl::fetch_once;
use crate::extract::ReadPage;
use crate::net::{Accept, Completeness, HttpTransport, Reply, Terms, Transport as _};
use crate::page::{ScanLimits, scan};
use crate::settings::Settings;
use crate::urls;

/// What came of it.
pub(super) enum Asked {
    Page(Box<ReadPage>),
    Not { url: Url, why: String },
}

/// What is asked with.
struct Asker<'s> {
    settings: &'s Settings,
    clock: Clock,
    transport: HttpTransport,
    /// The robots.txt of the origin that was asked last.
    known: Option<(Origin, RobotsRecord)>,
}

/// Fetches a page, and what it redirects to.
pub(super) async fn ask(settings: &Settings, clock: Clock, url: Url) -> anyhow::Result<Asked> {
    let transport = crawl::transport(settings, clock)?;
    let mut asker = Asker { settings, clock, transport, known: None };
    let mut url = urls::normalise(&url);
    for _ in 0..=settings.policy.redirect_hops {
        let reply = match asker.one(&url).await? {
            Ok(reply) => reply,
            Err(why) => return Ok(Asked::Not { url, why }),
        };
        let status = reply.status.as_u16();
        match (StatusEffect::of(status), reply.completeness) {
            (StatusEffect::Read, Completeness::Whole | Completeness::Truncated) => {
                let page = asker.read(reply).await?;
                return Ok(Asked::Page(Box::new(page)));
            }
            (StatusEffect::Redirect, _) => {
                let to = reply.headers.get("location").and_then(|to| to.to_str().ok());
                match to.and_then(|to| url.join(to).ok()) {
                    Some(to) => {
                        url = urls::normalise(&to);
                        // It may lead to the same site again.
                        if let Some((_, robots)) = &asker.known {
                            asker.pause(robots).await;
                        }
                    }
                    None => {
                        let why = format!("it redirects (status {status}) to no address");
                        return Ok(Asked::Not { url, why });
                    }
                }
            }
            (StatusEffect::Read, Completeness::Partial(cause)) => {
                let why = format!("the answer was broken off ({})", cause.reason().code());
                return Ok(Asked::Not { url, why });
            }
            (StatusEffect::Stand | StatusEffect::Withdraw(_) | StatusEffect::Keep, _) => {
                return Ok(Asked::Not { url, why: format!("it answers with status {status}") });
            }
        }
    }
    let why = format!("more than {} redirects", settings.policy.redirect_hops);
    Ok(Asked::Not { url, why })
}

impl Asker<'_> {
    /// One request, if the rules permit it; else why not.
    async fn one(&mut self, url: &Url) -> anyhow::Result<Result<Reply, String>> {
        let Ok(origin) = Origin::of(url) else {
            return Ok(Err("only http and https pages can be asked for".into()));
        };
        let robots = match self.known.take() {
            Some((known, robots)) if known == origin => robots,
            Some(_) | None => {
                let robots = self.robots(&origin).await;
                self.pause(&robots).await;
                robots
            }
        };
        let policy = &self.settings.policy;
        let scope = Scope::new(ScopeKind::Any, &[]);
        let (identity, pace) = (&self.settings.identity, SitePace::default());
        let facts = Facts { policy, identity, scope: &scope, robots: &robots, pace: &pace };
        let grounds = match decide(url, facts, self.clock.now()) {
            Verdict::Fetch(grounds) => grounds,
            Verdict::Refuse(Refusal { reason, evidence }) => {
                let line = evidence.map_or(String::new(), |line| format!(" ({line})"));
                let (code, advice) = (reason.code(), reason.advice());
                return Ok(Err(format!("refused, {code}{line}. {advice}")));
            }
            Verdict::Wait { until, cause } => {
                let detail = robots.failing().map_or("", |run| run.cause.as_str());
                return Ok(Err(format!("{}: {detail}; a crawl waits until {until}", cause.code())));
            }
            Verdict::FetchRobots(..) | Verdict::Probe(_) => {
                return Ok(Err("robots.txt is not known".into()));
            }
        };
        let terms = Terms { limits: self.settings.net.limits, ..Terms::default() };
        let fetched = self.transport.fetch(grounds, terms).await;
        self.known = Some((origin, robots));
        Ok(fetched.map_err(|error| error.in_words()))
    }

    async fn robots(&self, origin: &Origin) -> RobotsRecord {
        let policy = &self.settings.policy;
        let limits = self.settings.net.limits.with_body_bytes(policy.robots.max_bytes + 1);
        let terms = Terms { limits, accept: Accept::Robots, ..Terms::default() };
        let outcome = fetch_once(&self.transport, self.clock, policy, &terms, origin).await;
        RobotsRecord::default().after(outcome, policy, self.clock.now())
    }

    /// What a site is owed between two requests.
    async fn pause(&self, robots: &RobotsRecord) {
        let policy = &self.settings.policy;
        // One that fails is asked for nothing more.
        if robots.failing().is_some() {
            return;
        }
        let asked =
            robots.rules().and_then(|rules| rules.crawl_delay(self.settings.identity.tokens()));
        let pause = policy.interval.max(asked.unwrap_or_default().min(policy.crawl_delay_cap));
        tracing::info!("waiting {}", duration(pause));
        self.clock.sleep_until(self.clock.now().after(pause)).await;
    }

    async fn read(&self, reply: Reply) -> anyhow::Result<ReadPage> {
        let now = self.clock.now();
        let (body, url) = (reply.body.clone(), reply.url.clone());
        let header = |name: &str| reply.headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = header("content-type").map(str::to_owned);
        let content =
            off_thread(move || scan(&body, content_type.as_deref(), &url, &ScanLimits::default()));
        let content = content.await?;
        let directives = self.directives(&reply, &content, now);
        Ok(ReadPage {
            url: reply.url,
            at: now,
            status: reply.status.as_u16(),
            headers: reply.headers,
            body: reply.body,
            completeness: reply.completeness,
            publication: Publication::of(&directives, now),
            content,
            directives,
        })
    }

    fn directives(
        &self,
        reply: &Reply,
        content: &crate::page::Page,
        now: Timestamp,
    ) -> comity_compliance::Directives {
        let mut collector = self.settings.page_rules.collector(&self.settings.identity, now);
        for line in reply.headers.get_all("x-robots-tag") {
            collector.header_line(line.as_bytes());
        }
        for line in reply.headers.get_all("robots-tag") {
            collector.robots_tag_line(line.as_bytes());
        }
        for tag in &content.robots_meta {
            collector.meta(&tag.name, &tag.content);
        }
        collector.finish()
    }
}
