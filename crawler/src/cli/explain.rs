//! `comity explain`: what is known of a URL, the verdict now, and what it rests on.

mod again;
mod copies;
mod pace;

use std::path::Path;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{
    Facts, Grounds, Limit, Origin, Policy, Publication, RefusalReason, Site, SitePace, Timestamp,
    Verdict, decide,
};
use comity_storage::{Fetched, Outcome, PageRecord, Role, SiteState, Store as _, Via};
use serde_json::{Value, json};
use url::Url;

pub(super) use self::pace::Pace;
use super::args::ExplainArgs;
use super::robots::stage;
use super::terminal::{Terminal, Tone, duration};
use super::words::record_json;
use super::{Exit, data_dir, open};
use crate::clock::Clock;
use crate::crawl::publication_of;
use crate::reasons;
use crate::settings::Settings;
use crate::urls::{self, DedupeRules};

pub(super) async fn run(args: ExplainArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let data = data_dir(args.data.data, config)?;
    let clock = Clock::real();
    let url = urls::parse_seed(&args.url).map_err(|e| super::Usage(e.to_string()))?;
    open::not_in_use(&data, "explain")?;
    let (store, settings) = open::earlier(&data, clock).await?;
    let known = Known::look_up(&store, &url, &settings.urls.dedupe).await;
    store.close().await?;
    let known = known?;
    let now = clock.now();
    let terminal = Terminal::new();
    if args.json {
        terminal.json(&known.as_json(&settings, now));
    } else {
        Page { terminal, known: &known, now }.print(&settings);
    }
    Ok(Exit::Done)
}

/// All that the store knows of a URL.
struct Known {
    /// The URL that was asked about, if a crawl knows it by another spelling.
    asked: Option<Url>,
    /// The URL as a crawl knows it.
    url: Url,
    page: Option<PageRecord>,
    site: Option<SiteState>,
    robots: RobotsRecord,
}

impl Known {
    /// Looks a URL up by its own spelling, and if that is unknown, by the form that a crawl asks for
    /// all spellings of one page by.
    async fn look_up(
        store: &open::AnyStore,
        asked: &Url,
        rules: &DedupeRules,
    ) -> anyhow::Result<Self> {
        let (mut page, mut url) = (store.page(asked).await?, asked);
        let form = urls::dedupe_form(asked, rules);
        if page.is_none() && form != *asked {
            page = store.page(&form).await?;
            url = if page.is_some() { &form } else { asked };
        }
        let site = match Site::of(url) {
            Ok(site) => store.site(&site).await?,
            Err(_) => None,
        };
        let robots = match Origin::of(url) {
            Ok(origin) => store.robots(&origin).await?.unwrap_or_default(),
            Err(_) => RobotsRecord::default(),
        };
        let asked = (url != asked).then(|| asked.clone());
        Ok(Self { asked, url: url.clone(), page, site, robots })
    }

    /// The verdict at `now`, by the last run's settings.
    fn verdict(&self, settings: &Settings, now: Timestamp) -> Verdict {
        let scope = settings.scope();
        let fresh = SitePace::default();
        let facts = Facts {
            policy: &settings.policy,
            identity: &settings.identity,
            scope: &scope,
            robots: &self.robots,
            pace: self.site.as_ref().map_or(&fresh, |site| &site.pace),
        };
        decide(&self.url, facts, now)
    }

    /// What the record of the robots.txt comes to now.
    fn stage(&self, policy: &Policy, now: Timestamp) -> &'static str {
        let fresh = SitePace::default();
        let pace = self.site.as_ref().map_or(&fresh, |site| &site.pace);
        stage(self.robots.standing(policy, pace.availability(policy, now), now))
    }

    fn as_json(&self, settings: &Settings, now: Timestamp) -> Value {
        let Words { decision, word: _, code, clause, advice, evidence, until } =
            Words::of(&self.verdict(settings, now), self.page.as_ref());
        let (copy, failing) = record_json(&self.robots);
        json!({
            "url": self.url.as_str(),
            "asked": self.asked.as_ref().map(Url::as_str),
            "verdict": {
                "decision": decision, "reason": code, "clause": clause, "advice": advice,
                "evidence": evidence, "until": until.map(|at| at.to_string()),
            },
            "robots": { "copy": copy, "failing": failing },
            "robots_stage": self.stage(&settings.policy, now),
            "known": self.page.as_ref().map(page_json),
            "site": self.site.as_ref().map(|site| json!({
                "last_request": site.pace.last_request.map(|at| at.to_string()),
                "failures_in_a_row": site.pace.failures,
                "not_before": (site.next_at > Timestamp::EPOCH).then(|| site.next_at.to_string()),
                "queued": site.queued,
                "lastmod": again::trust_json(&site.trust),
                "pace": Pace { pace: &site.pace, policy: &settings.policy, now }.as_json(),
            })),
        })
    }
}

/// A verdict in words.
struct Words {
    decision: &'static str,
    word: &'static str,
    code: &'static str,
    clause: &'static str,
    advice: &'static str,
    evidence: Option<String>,
    until: Option<Timestamp>,
}

impl Words {
    fn of(verdict: &Verdict, page: Option<&PageRecord>) -> Self {
        let blocked = RefusalReason::BlockedAddress;
        if let Some((_, Outcome::Refused { code, evidence })) =
            page.and_then(|page| page.last.as_ref())
            && code == blocked.code()
        {
            // Only the network knows addresses: the last attempt tells.
            return Self::refused(blocked, evidence.clone());
        }
        let noted = page.is_some_and(|page| page.noted.is_some());
        match verdict {
            Verdict::Fetch(grounds) if noted => {
                Self::grounds("fetch", "would be allowed, but is not queued", grounds)
            }
            Verdict::Fetch(grounds) => Self::grounds("fetch", "may be fetched", grounds),
            Verdict::FetchRobots(_, grounds) => {
                Self::grounds("fetch-robots", "not known before robots.txt is fetched", grounds)
            }
            Verdict::Probe(grounds) => {
                Self::grounds("probe", "not known before the site is probed", grounds)
            }
            Verdict::Wait { until, cause } => Self {
                decision: "wait",
                word: "must wait",
                code: cause.code(),
                clause: cause.clause(),
                advice: cause.advice(),
                evidence: None,
                until: Some(*until),
            },
            Verdict::Refuse(refusal) => {
                let evidence = refusal.evidence.as_ref().map(ToString::to_string);
                Self::refused(refusal.reason, evidence)
            }
        }
    }

    fn grounds(decision: &'static str, word: &'static str, grounds: &Grounds) -> Self {
        let reason = grounds.reason();
        Self {
            decision,
            word,
            code: reason.code(),
            clause: reason.clause(),
            advice: reason.advice(),
            evidence: grounds.evidence().map(ToString::to_string),
            until: None,
        }
    }

    fn refused(reason: RefusalReason, evidence: Option<String>) -> Self {
        Self {
            decision: "refuse",
            word: "may not be fetched",
            code: reason.code(),
            clause: reason.clause(),
            advice: reason.advice(),
            evidence,
            until: None,
        }
    }
}

/// What of a page may be shown in results now, in words.
fn in_results(fetched: &Fetched, now: Timestamp) -> String {
    let terms = match publication_of(fetched, now) {
        Publication::Nothing(why) | Publication::BareUrl(why) => {
            return format!("nothing: {}. {} ({})", why.code(), why.advice(), why.clause());
        }
        Publication::EmbeddedOnly(_) => return "only as a part of a page that embeds it".into(),
        Publication::Full(terms) => terms,
    };
    if let Some(other) = &fetched.stand_in {
        return format!("nothing by itself: {other} stands in for it");
    }
    let mut words = match terms.snippet.limit() {
        Limit::AtMost(0) => "title, no snippet".into(),
        Limit::AtMost(characters) => format!("title, snippet of {characters} characters at most"),
        Limit::Unlimited => String::from("title and snippet"),
    };
    if fetched.directives.iter().any(|kept| kept.rule == "data-nosnippet") {
        words.push_str(", parts of the text never quoted");
    }
    if let Some(until) = terms.until {
        words.push_str(&format!(", until {until}"));
    }
    words
}

struct Page<'a> {
    terminal: Terminal,
    known: &'a Known,
    now: Timestamp,
}

impl Page<'_> {
    fn print(&self, settings: &Settings) {
        let terminal = self.terminal;
        terminal.line(terminal.paint(Tone::Title, &self.known.url));
        if let Some(asked) = &self.known.asked {
            self.row("asked for", asked);
            self.row(
                "",
                "the same page by the crawl's settings ([urls]), known by the address above",
            );
        }
        self.verdict(settings);
        self.robots();
        self.row("stage", self.known.stage(&settings.policy, self.now));
        match &self.known.page {
            None => self.row(
                "known",
                "no: nothing that may be followed has led there (a link out of scope is not kept)",
            ),
            Some(page) => self.page(page),
        }
        if let Some(site) = &self.known.site {
            self.site(site, &settings.policy);
        }
    }

    fn row(&self, name: &str, value: impl std::fmt::Display) {
        self.terminal.line(format_args!("  {name:<11} {value}"));
    }

    fn verdict(&self, settings: &Settings) {
        let verdict = self.known.verdict(settings, self.now);
        let words = Words::of(&verdict, self.known.page.as_ref());
        let tone = match words.decision {
            "fetch" => Tone::Good,
            "refuse" => Tone::Bad,
            _ => Tone::Note,
        };
        let until = words.until.map_or(String::new(), |until| {
            format!(" until {until}, {} from now", duration(until.since(self.now)))
        });
        self.row("verdict", format_args!("{}{until}", self.terminal.paint(tone, words.word)));
        self.row("reason", format_args!("{} ({})", words.code, words.clause));
        if let Some(evidence) = words.evidence {
            self.row("decided by", evidence);
        }
        self.row("advice", words.advice);
        self.row(
            "judged for",
            format_args!("{}, policy {}", settings.identity.token(), settings.policy.preset),
        );
    }

    fn robots(&self) {
        let parts = self.known.robots.to_parts();
        match &parts.copy {
            None => self.row("robots.txt", "no good answer yet"),
            Some(copy) => {
                let what = copy
                    .body
                    .as_ref()
                    .map_or("no file".into(), |body| format!("a file of {} bytes", body.len()));
                let (answer, at, fresh) = (&copy.cause, copy.fetched_at, copy.fresh_until);
                self.row(
                    "robots.txt",
                    format_args!("{what} ({answer}) of {at}, fresh until {fresh}"),
                );
            }
        }
        if let Some(run) = &parts.failing {
            let (cause, since, attempts, retry) =
                (&run.cause, run.since, run.attempts, run.retry_at);
            self.row(
                "",
                format_args!(
                    "fails since {since}, {attempts} in a row: {cause}; tried again at {retry}"
                ),
            );
        }
    }

    fn page(&self, page: &PageRecord) {
        let (how, at) = (found(page), page.found_at);
        self.row("found", format_args!("{how}, {at}, {} from a seed", links(page.depth)));
        if let Some(reason) = &page.noted {
            self.row("not queued", format_args!("{reason}; another link may still lead there"));
            self.advice(reason);
        }
        match &page.last {
            None => self.row("last visit", "none yet"),
            Some((at, outcome)) => self.last_visit(*at, outcome),
        }
        again::rows(page, self.now).iter().for_each(|(name, text)| self.row(name, text));
    }

    fn last_visit(&self, at: Timestamp, outcome: &Outcome) {
        if let Some(wall) = copies::wall(outcome) {
            self.row("login", format_args!("{wall}: asked for, and none is ever made"));
        }
        match outcome {
            Outcome::Fetched(fetched) => self.fetched(at, fetched),
            Outcome::Redirected { status, to } => {
                self.row("last visit", format_args!("{at}: redirected ({status}) to {to}"));
            }
            Outcome::Refused { code, evidence } => {
                let evidence = evidence.as_ref().map_or(String::new(), |text| format!(": {text}"));
                self.row("last visit", format_args!("{at}: not requested, {code}{evidence}"));
                self.advice(code);
            }
            Outcome::Failed { code, detail } => {
                self.row("last visit", format_args!("{at}: failed, {code}: {detail}"));
                self.advice(code);
            }
            Outcome::Noted { reason } => {
                self.row("last visit", format_args!("{at}: put aside, {reason}"));
                self.advice(reason);
            }
        }
    }

    /// What can be done about a reason.
    fn advice(&self, code: &str) {
        if let Some((advice, clause)) = reasons::advice(code) {
            self.row("", format_args!("{advice} ({clause})"));
        }
    }

    fn fetched(&self, at: Timestamp, fetched: &Fetched) {
        let cut = if fetched.truncated { ", cut at the size limit" } else { "" };
        self.row(
            "last visit",
            format_args!("{at}: status {}, {} bytes{cut}", fetched.status, fetched.bytes),
        );
        if let Some(title) = &fetched.title {
            self.row("title", title);
        }
        if self.known.page.as_ref().is_some_and(|page| page.role == Role::Sitemap) {
            return self.row("in results", "no: a sitemap is read for what it lists");
        }
        self.row("in results", in_results(fetched, self.now));
        copies::rows(&self.known.url, fetched).iter().for_each(|(name, text)| self.row(name, text));
        if fetched.directives.is_empty() {
            self.row("directives", "none");
        }
        for (i, directive) in fetched.directives.iter().enumerate() {
            let agent =
                directive.agent.as_deref().map_or(String::new(), |name| format!(", for {name}"));
            let name = if i == 0 { "directives" } else { "" };
            self.row(name, format_args!("{} (from {}{agent})", directive.rule, directive.source));
        }
    }

    fn site(&self, site: &SiteState, policy: &Policy) {
        let last = site.pace.last_request.map_or("never".into(), |at| at.to_string());
        self.row("site", format_args!("last asked {last}, {} queued", site.queued));
        let pace = Pace { pace: &site.pace, policy, now: self.now };
        pace.rows().iter().for_each(|(name, text)| self.row(name, text));
        again::trust_row(&site.trust).iter().for_each(|(name, text)| self.row(name, text));
    }
}

/// How a URL was found, and by what.
fn found(page: &PageRecord) -> String {
    let how = match (page.via, page.role) {
        (Via::Seed, _) => "as a seed",
        (Via::Link, _) => "by a link",
        (Via::Redirect, _) => "by a redirect",
        (Via::Refresh, _) => "by a refresh",
        (Via::Canonical, _) => "as a canonical URL",
        (Via::Sitemap, Role::Page) => "in a sitemap",
        (Via::Sitemap, Role::Sitemap) => "as a sitemap",
    };
    match (&page.from, page.via, page.role) {
        (None, ..) => how.into(),
        (Some(from), Via::Sitemap, Role::Page) => format!("in the sitemap {from}"),
        (Some(from), Via::Sitemap, Role::Sitemap) => format!("{how} named by {from}"),
        (Some(from), Via::Seed | Via::Link | Via::Redirect | Via::Refresh | Via::Canonical, _) => {
            format!("{how} on {from}")
        }
    }
}

fn links(depth: u16) -> String {
    if depth == 1 { "1 link".into() } else { format!("{depth} links") }
}

fn page_json(page: &PageRecord) -> Value {
    let last = page.last.as_ref().map(|(at, outcome)| {
        let mut value = outcome_json(outcome);
        if let Some(object) = value.as_object_mut() {
            object.insert("at".into(), at.to_string().into());
        }
        value
    });
    json!({
        "via": format!("{:?}", page.via).to_lowercase(),
        "from": page.from.as_ref().map(Url::as_str),
        "found_at": page.found_at.to_string(),
        "depth": page.depth,
        "not_queued": page.noted,
        "fetches": page.fetches,
        "failures_in_a_row": page.attempts,
        "due": page.due.map(|at| at.to_string()),
        "priority": page.due.map(|_| page.priority),
        "priority_why": page.why,
        "revisit": again::as_json(page),
        "login": page.last.as_ref().and_then(|(_, outcome)| copies::wall(outcome)),
        "last": last,
    })
}

fn outcome_json(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Fetched(fetched) => json!({
            "what": "fetched",
            "status": fetched.status,
            "bytes": fetched.bytes,
            "truncated": fetched.truncated,
            "title": fetched.title,
            "publication": fetched.publication,
            "copies": copies::as_json(fetched),
            "directives": fetched.directives.iter().map(|kept| json!({
                "rule": kept.rule, "source": kept.source, "agent": kept.agent,
            })).collect::<Vec<_>>(),
        }),
        Outcome::Redirected { status, to } => {
            json!({ "what": "redirected", "status": status, "to": to.as_str() })
        }
        Outcome::Refused { code, evidence } => {
            json!({ "what": "refused", "reason": code, "evidence": evidence })
        }
        Outcome::Failed { code, detail } => {
            json!({ "what": "failed", "reason": code, "detail": detail })
        }
        Outcome::Noted { reason } => json!({ "what": "noted", "reason": reason }),
    }
}
