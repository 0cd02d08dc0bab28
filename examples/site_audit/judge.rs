//! What Googlebot would make of what came: robots.txt, page rules, statuses, sitemaps.

use std::collections::BTreeMap;

use comity_compliance::robots::{
    Body, RobotsErrand, RobotsRecord, RobotsReply, RobotsResponse, Step,
};
use comity_compliance::{
    Directives, Facts, Identity, Limit, Origin, Policy, Preset, ProductToken, Publication, Scope,
    ScopeKind, SitePace, StatusEffect, Timestamp, Verdict, decide,
};
use url::Url;

use crate::watch::{PageAnswer, RobotsAnswer, Seen};

/// Whose eyes the site is seen by.
pub(crate) const AUDITED_AS: &str = "Googlebot";

/// Something that a site owner may want to know.
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) url: Url,
    pub(crate) what: String,
    /// A page that links to it.
    pub(crate) found_on: Option<Url>,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    Refused,
    NotIndexed,
    Limited,
    Elsewhere,
    Broken,
    Redirected,
    Sitemap,
}

impl Kind {
    pub(crate) const ALL: &[Self] = &[
        Self::Refused,
        Self::NotIndexed,
        Self::Limited,
        Self::Elsewhere,
        Self::Broken,
        Self::Redirected,
        Self::Sitemap,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::NotIndexed => "not-indexed",
            Self::Limited => "limited",
            Self::Elsewhere => "canonical-elsewhere",
            Self::Broken => "broken",
            Self::Redirected => "redirected",
            Self::Sitemap => "sitemap",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Refused => "Must not be fetched",
            Self::NotIndexed => "Not shown in results",
            Self::Limited => "Shown within limits",
            Self::Elsewhere => "Another address stands for it",
            Self::Broken => "Broken",
            Self::Redirected => "Redirects",
            Self::Sitemap => "Listed in a sitemap, though",
        }
    }
}

/// Googlebot as this engine knows it, with the robots.txt files that were seen.
struct Googlebot<'a> {
    policy: Policy,
    identity: Identity,
    scope: Scope,
    records: BTreeMap<Origin, RobotsRecord>,
    seen: &'a Seen,
    now: Timestamp,
}

/// All findings about the seed's host, by kind and address.
pub(crate) fn findings(seen: &Seen, seed: &Url) -> Vec<Finding> {
    let Ok(token) = ProductToken::new(AUDITED_AS) else { return vec![] };
    let mut googlebot = Googlebot {
        policy: Policy::new(Preset::Google),
        identity: Identity::new(token),
        scope: Scope::new(ScopeKind::Any, &[]),
        records: BTreeMap::new(),
        seen,
        now: seen.pages.values().flatten().map(|page| page.at).max().unwrap_or_default(),
    };
    // Each address with a page that links to it.
    let mut known: BTreeMap<&Url, Option<&Url>> = [(seed, None)].into();
    known.extend(seen.pages.keys().chain(seen.listed.keys()).map(|url| (url, None)));
    for (on, page) in &seen.pages {
        for link in page.iter().flat_map(|page| &page.links) {
            known.entry(&link.url).or_default().get_or_insert(on);
        }
    }
    known.retain(|url, _| url.host() == seed.host());
    let mut findings: Vec<_> =
        known.into_iter().flat_map(|(url, on)| googlebot.judge(url, on)).collect();
    findings.sort_by(|a, b| (a.kind, &a.url).cmp(&(b.kind, &b.url)));
    findings
}

impl Googlebot<'_> {
    fn judge(&mut self, url: &Url, on: Option<&Url>) -> Vec<Finding> {
        let mut found: Vec<(Kind, String)> = Vec::new();
        // What must not be fetched has no page rules that anybody could see.
        match (self.refusal(url), self.seen.pages.get(url)) {
            (Some(why), _) => found.push((Kind::Refused, why)),
            (None, Some(Ok(page))) => found = self.judge_page(url, page),
            (None, Some(Err(error))) => found.push((Kind::Broken, error.clone())),
            (None, None) => {}
        }
        if let Some(sitemap) = self.seen.listed.get(url)
            && let Some((kind, what)) = found.iter().find(|(kind, _)| *kind != Kind::Limited)
        {
            found.push((Kind::Sitemap, format!("{}: {what} (in {sitemap})", kind.name())));
        }
        let finding =
            |(kind, what)| Finding { kind, url: url.clone(), what, found_on: on.cloned() };
        found.into_iter().map(finding).collect()
    }

    /// Why it must not be fetched, if it must not.
    fn refusal(&mut self, url: &Url) -> Option<String> {
        let origin = Origin::of(url).ok()?;
        if !self.records.contains_key(&origin) {
            let record = self.robots_of(&origin)?;
            self.records.insert(origin.clone(), record);
        }
        let facts = Facts {
            policy: &self.policy,
            identity: &self.identity,
            scope: &self.scope,
            robots: self.records.get(&origin)?,
            pace: &SitePace::default(),
        };
        match decide(url, facts, self.now) {
            Verdict::Refuse(refusal) => {
                let line = refusal.evidence.map(|line| line.to_string());
                Some(line.unwrap_or_else(|| refusal.reason.to_string()))
            }
            Verdict::Wait { cause, .. } => Some(format!("{cause}: {}", cause.advice())),
            Verdict::Fetch(_) | Verdict::FetchRobots(..) | Verdict::Probe(_) => None,
        }
    }

    /// An origin's robots.txt: an errand whose requests are answered with what was seen.
    fn robots_of(&self, origin: &Origin) -> Option<RobotsRecord> {
        let (mut errand, mut grounds) = RobotsErrand::start(origin, self.now);
        let outcome = loop {
            let reply = match self.seen.robots.get(grounds.url())? {
                RobotsAnswer::Failed(why) => RobotsReply::Failed(why.clone()),
                RobotsAnswer::Response { status, location, body, is_whole } => {
                    RobotsReply::Response(RobotsResponse {
                        status: *status,
                        location: location.as_deref(),
                        cache_control: "",
                        age: None,
                        retry_after: None,
                        body: if *is_whole { Body::Read(body) } else { Body::Broken(body) },
                    })
                }
            };
            match errand.reply(reply, &self.policy, self.now) {
                Step::Fetch(next, next_grounds) => (errand, grounds) = (next, next_grounds),
                Step::Done(outcome) => break outcome,
            }
        };
        Some(RobotsRecord::default().after(outcome, &self.policy, self.now))
    }

    fn judge_page(&mut self, url: &Url, page: &PageAnswer) -> Vec<(Kind, String)> {
        match StatusEffect::of(page.status) {
            StatusEffect::Redirect => {
                let Some(to) = &page.location else {
                    return vec![(Kind::Broken, format!("status {} to nowhere", page.status))];
                };
                let beyond = self.refusal(to).map_or(String::new(), |why| format!(", where {why}"));
                vec![(Kind::Redirected, format!("status {} to {to}{beyond}", page.status))]
            }
            StatusEffect::Read => self.judge_content(url, page),
            StatusEffect::Stand | StatusEffect::Withdraw(_) | StatusEffect::Keep => {
                vec![(Kind::Broken, format!("status {}", page.status))]
            }
        }
    }

    fn judge_content(&self, url: &Url, page: &PageAnswer) -> Vec<(Kind, String)> {
        let mut rules = Directives::for_identity(&self.identity, page.at);
        page.robots_tags.iter().for_each(|line| rules.header_line(line));
        page.robots_meta.iter().for_each(|tag| rules.meta(&tag.name, &tag.content));
        let rules = rules.finish();
        let mut found = Vec::new();
        match Publication::of(&rules, page.at) {
            Publication::Nothing(why) | Publication::BareUrl(why) => {
                let rule = rules.noindex().or(rules.unavailable_after().map(|(_, rule)| rule));
                let rule = rule.map_or(why.to_string(), ToString::to_string);
                found.push((Kind::NotIndexed, rule));
            }
            Publication::EmbeddedOnly(_) => {
                found.push((Kind::NotIndexed, "only in pages that embed it".into()));
            }
            Publication::Full(terms) => {
                match terms.snippet.limit() {
                    Limit::Unlimited => {}
                    Limit::AtMost(0) => found.push((Kind::Limited, "no snippet".into())),
                    Limit::AtMost(most) => {
                        found.push((
                            Kind::Limited,
                            format!("a snippet of at most {most} characters"),
                        ));
                    }
                }
                if let Some(until) = terms.until {
                    found.push((Kind::Limited, format!("until {until}")));
                }
            }
        }
        if let Some(canonical) = page.canonical.as_ref().filter(|canonical| *canonical != url) {
            found.push((Kind::Elsewhere, canonical.to_string()));
        }
        found
    }
}
