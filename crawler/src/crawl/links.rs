//! The links of a page: which lead on, in what order, and why the others do not.

use std::collections::{HashMap, HashSet};

use comity_compliance::{Directives, Follow, LeftOut, Publication, Site, Timestamp, judge_link};
use comity_storage::{Fate, Found, PageRecord, Plan, Role, Store, StoreError, Via};
use url::Url;

use super::Context;
use super::publish::{self, Linked};
use super::reply::header_text;
use super::scorer::{self, FoundLink, OnPage};
use crate::net::Reply;
use crate::page::{Dropped, HeaderLinks, Link, LinkKind, Page, header_links};
use crate::reasons::{CutReason, HookReason};
use crate::urls;

/// Links that are written together with the visit that found them.
pub(super) const LINKS_AT_ONCE: usize = 500;

/// Waiting URLs of a site that the store counts; a limit beyond it is not asked.
const COUNTED: usize = 10_000;

/// A page with all that its links are judged by.
pub(super) struct Source<'a> {
    pub(super) page: &'a PageRecord,
    pub(super) scanned: &'a Page,
    pub(super) header: &'a HeaderLinks,
    pub(super) directives: &'a Directives,
    /// Links that extractors yielded.
    pub(super) extracted: &'a [Link],
    /// Why the page's own site gets no more URLs, if it gets none.
    pub(super) is_full: Option<LeftOut>,
}

/// How a link is taken: how it counts as found, whether it may be followed, how deep it leads.
fn taken(link: &Link, page: &PageRecord, directives: &Directives) -> Option<(Via, Follow, u16)> {
    let next = page.depth.saturating_add(1);
    match link.kind {
        LinkKind::Hyperlink | LinkKind::Frame => {
            Some((Via::Link, judge_link(directives, &link.rel), next))
        }
        // None of these is a hyperlink: nofollow does not stop it (AM-62).
        LinkKind::Refresh => Some((Via::Refresh, Follow::Yes, next)),
        // The same page under its own name.
        LinkKind::Canonical => Some((Via::Canonical, Follow::Yes, page.depth)),
        // Another language's page; a feed or another form of this one says no language (LK-006).
        LinkKind::Alternate if !link.hreflang.is_empty() => Some((Via::Link, Follow::Yes, next)),
        LinkKind::Alternate
        | LinkKind::Sequence
        | LinkKind::Image
        | LinkKind::Media
        | LinkKind::Embed
        | LinkKind::Form => None,
    }
}

/// The links of a page as the index counts them.
pub(super) fn linked(
    page: &PageRecord,
    (scanned, header): (&Page, &HeaderLinks),
    directives: &Directives,
    dedupe: &urls::DedupeRules,
) -> Linked {
    let mut linked = Linked::default();
    for link in scanned.links.iter().chain(&of_header(header)) {
        let Some((_, follow, _)) = taken(link, page, directives) else { continue };
        let url = urls::dedupe_form(&link.url, dedupe);
        if url != page.url {
            linked.note(link, follow, &url);
        }
    }
    linked.finish();
    linked
}

impl<S: Store, T> Context<S, T> {
    /// What a reply's header lines say of its page.
    pub(super) fn header_links(&self, page: &PageRecord, reply: &Reply) -> HeaderLinks {
        let lines = reply.headers.get_all("link").iter().filter_map(|line| line.to_str().ok());
        let refresh = header_text(&reply.headers, "refresh");
        header_links(lines, refresh.as_deref(), &page.url, &self.scan_limits)
    }

    /// Why the page's site gets no more URLs. Asked once for all links of a page, which may
    /// therefore go beyond the limit together; and not at all where the store does not count so far.
    pub(super) async fn is_full(&self, page: &PageRecord) -> Result<Option<LeftOut>, StoreError> {
        let limits = &self.settings.urls.traps;
        let Ok(site) = Site::of(&page.url) else { return Ok(None) };
        if limits.site_queue > COUNTED {
            return Ok(None);
        }
        let queued = self.store.site(&site).await?.map_or(0, |site| site.at_once);
        // The page itself is one of them as long as its visit is not committed.
        Ok(limits.judge_queue(queued.saturating_sub(1)).err())
    }

    /// The links of a page that may lead on, each queued or noted with its reason, and all of them
    /// as the index counts them.
    pub(super) fn found_links(&self, source: &Source<'_>, now: Timestamp) -> (Vec<Found>, Linked) {
        let page = source.page;
        self.tell_dropped(&page.url, &source.scanned.dropped);
        let mut found: Vec<Found> = Vec::new();
        let mut linked = Linked::default();
        let mut places: HashMap<Url, usize> = HashMap::new();
        let of_header = of_header(source.header);
        let extracted = self.unspoken(source, &of_header);
        for link in source.scanned.links.iter().chain(&of_header).chain(extracted) {
            let url = urls::dedupe_form(&link.url, &self.settings.urls.dedupe);
            let Some((via, follow, depth)) = taken(link, page, source.directives) else { continue };
            if self.settings.index && url != page.url {
                linked.note(link, follow, &url);
            }
            let place = places.get(&url).copied();
            // One link that may be followed is enough, whatever the others say.
            let settled = |place: usize| matches!(found[place].plan, Plan::Queue { .. });
            if url == page.url || place.is_some_and(settled) {
                continue;
            }
            // Most links lead to what is known.
            if follow == Follow::Yes && self.store.is_settled(&url) {
                continue;
            }
            let plan = match follow {
                Follow::No(reason) => Err(reason.code()),
                Follow::Yes => self.plan_link(source, &url, depth, &link.anchor),
            };
            if let Err(reason) = plan
                && place.is_none()
            {
                self.drop_link(&page.url, &url, reason);
            }
            let plan = match plan {
                Ok(plan) => plan,
                Err(reason) if !self.is_noted(&url, reason) => continue,
                Err(reason) => Plan::Note { reason: reason.into() },
            };
            match place {
                Some(place) => found[place].plan = plan,
                None => {
                    places.insert(url.clone(), found.len());
                    let from = Some(page.url.clone());
                    let (role, hops, at) = (Role::Page, 0, now);
                    let anchor = self.kept_anchor(link, source.directives, now);
                    found.push(Found { url, depth, hops, role, via, from, anchor, at, plan });
                }
            }
        }
        linked.finish();
        (found, linked)
    }

    /// Makes the links of a page with very many of them known beforehand, as a batch is held in
    /// memory as a whole; those that are left go along with the visit. A crash in between loses
    /// nothing: the page is fetched again, and its links are known by then.
    pub(super) async fn push_most(&self, mut found: Vec<Found>) -> Result<Vec<Found>, StoreError> {
        if found.len() <= LINKS_AT_ONCE {
            return Ok(found);
        }
        let left = found.split_off(found.len() - LINKS_AT_ONCE);
        let fates = self.store.push(found).await?;
        let new = fates.iter().filter(|fate| **fate == Fate::New).count();
        self.reporter.count(|counts| counts.found += new as u64);
        Ok(left)
    }

    /// Links of extractors, less those of which the page itself speaks: what it says of them counts.
    fn unspoken<'a>(
        &self,
        source: &Source<'a>,
        of_header: &[Link],
    ) -> impl Iterator<Item = &'a Link> + use<'a, S, T> {
        let form = |url: &Url| urls::dedupe_form(url, &self.settings.urls.dedupe);
        let is_rule = |kind| matches!(kind, LinkKind::Hyperlink | LinkKind::Frame);
        let mut left = source.extracted.iter().collect::<Vec<_>>();
        if !left.is_empty() {
            let own = source.scanned.links.iter().chain(of_header);
            let spoken: HashSet<Url> =
                own.filter(|link| is_rule(link.kind)).map(|link| form(&link.url)).collect();
            left.retain(|link| !spoken.contains(&form(&link.url)));
        }
        left.into_iter()
    }

    fn plan_link(
        &self,
        source: &Source<'_>,
        url: &Url,
        depth: u16,
        anchor: &str,
    ) -> Result<Plan, &'static str> {
        let Page { title, text, .. } = source.scanned;
        let on = OnPage {
            url: &source.page.url,
            title: title.as_deref().unwrap_or_default(),
            text,
            depth: source.page.depth,
        };
        let plan = self.plan(&FoundLink { url, depth, anchor, on: Some(on) })?;
        match source.is_full {
            Some(full) if Site::of(url) == Site::of(on.url) => Err(full.code()),
            Some(_) | None => Ok(plan),
        }
    }

    /// What a link says, if the index may show where it leads by that alone (RT-049). What a page
    /// says that may not be quoted is not shown in the name of another either.
    fn kept_anchor(&self, link: &Link, directives: &Directives, now: Timestamp) -> Option<String> {
        if !self.settings.bare_urls || link.is_hidden || link.anchor.is_empty() {
            return None;
        }
        let shown = match Publication::of(directives, now) {
            Publication::Full(terms) => terms.snippet.cut(&link.anchor),
            Publication::EmbeddedOnly(_) | Publication::BareUrl(_) | Publication::Nothing(_) => "",
        };
        (!shown.is_empty()).then(|| shown.to_owned())
    }

    /// Whether a URL that is not queued is remembered all the same.
    fn is_noted(&self, url: &Url, reason: &str) -> bool {
        let is_budget = LeftOut::from_code(reason).is_some_and(LeftOut::is_budget);
        let is_hook = HookReason::from_code(reason).is_some();
        !is_budget && !is_hook && self.scope.contains(url)
    }

    /// Whether a found URL goes into the queue, and how far ahead, or the reason why not.
    pub(super) fn plan(&self, link: &FoundLink<'_>) -> Result<Plan, &'static str> {
        self.scope.judge(link.url).map_err(LeftOut::code)?;
        if self.settings.depth.is_some_and(|deepest| link.depth > deepest) {
            return Err(LeftOut::TooDeep.code());
        }
        let limits = &self.settings.urls.traps;
        if let Some(trap) = urls::looks_like_trap(link.url, limits, self.clock.now()) {
            return Err(trap.code());
        }
        self.site_budgets().admit(link.url).map_err(LeftOut::code)?;
        if let Some(filter) = &self.filter
            && let Some(why) = filter.judge(link).left()
        {
            self.log(link.url, "link-left", HookReason::UrlFilter.code(), Some(why), None);
            return Err(HookReason::UrlFilter.code());
        }
        let score = self.scorer.score(link);
        // Depth stands in the record.
        let why = (score.reason != scorer::DEPTH).then(|| score.reason.into_owned());
        Ok(Plan::Queue { due: None, priority: score.priority, why })
    }

    /// Links that the reading of the page left out for its limits are counted, though nobody knows
    /// where they lead; and rules that were not seen are told.
    fn tell_dropped(&self, page: &Url, dropped: &Dropped) {
        let rows =
            [(dropped.links, CutReason::ManyLinks), (dropped.long_links, CutReason::LongLink)];
        for (count, reason) in rows.into_iter().filter(|(count, _)| *count > 0) {
            self.reporter.count(|counts| {
                *counts.dropped_links.entry(reason.code().into()).or_default() += u64::from(count);
            });
            self.log(page, "links-dropped", reason.code(), Some(&count.to_string()), None);
        }
        if dropped.meta_tags > 0 {
            let (why, count) = (CutReason::ManyRules.code(), dropped.meta_tags.to_string());
            self.log(page, "rules-dropped", why, Some(&count), None);
        }
    }
}

impl Linked {
    /// Only what may be followed speaks for where it leads; what is embedded is part of the page.
    fn note(&mut self, link: &Link, follow: Follow, url: &Url) {
        match link.kind {
            LinkKind::Hyperlink if follow == Follow::Yes => {
                self.links.push(publish::address_of(url));
            }
            LinkKind::Frame if link.is_hidden => {
                self.hidden_embeds.push(publish::address_of(url));
            }
            LinkKind::Frame => self.embeds.push(publish::address_of(url)),
            LinkKind::Hyperlink
            | LinkKind::Refresh
            | LinkKind::Canonical
            | LinkKind::Alternate
            | LinkKind::Sequence
            | LinkKind::Image
            | LinkKind::Media
            | LinkKind::Embed
            | LinkKind::Form => {}
        }
    }

    /// A page has one voice, however often it links.
    fn finish(&mut self) {
        for addresses in [&mut self.links, &mut self.embeds, &mut self.hidden_embeds] {
            addresses.sort_unstable();
            addresses.dedup();
        }
    }
}

/// What the header lines name, as links of the page.
fn of_header(header: &HeaderLinks) -> Vec<Link> {
    let link = |url: &Url, kind: LinkKind| Link {
        url: url.clone(),
        rel: kind.name().into(),
        hreflang: String::new(),
        kind,
        anchor: String::new(),
        is_hidden: false,
    };
    let canonical = header.canonical.iter().map(|url| link(url, LinkKind::Canonical));
    let refresh = header.refresh.iter().map(|refresh| link(&refresh.url, LinkKind::Refresh));
    canonical.chain(refresh).chain(header.links.iter().cloned()).collect()
}
