//! One page under several addresses: which of them stands for it, and which of them the index has
//! (LK-004, LK-005).
//!
//! All signals are hints. A page stands back for another one only if the index has that one by its
//! last visit. Once that ends, be it gone, forbidden, noindex or of another text, whoever stood
//! back for it is fetched again and takes its place.
//!
//! Copies are looked for within a site; an address that a page names may be on another one. What a
//! sitemap lists is known of pages that were found in one, or of which one gave a date.

use comity_compliance::{
    Canonical, CanonicalReason, Hop, HttpsTwin, Move, Publication, Signals, Site, Timestamp,
    canonical,
};
use comity_storage::{
    Alike, Fetched, Found, Likeness, Outcome, PageRecord, Plan, Role, Store, StoreError, Via, Visit,
};
use url::Url;

use super::{Context, publish};
use crate::duplicates::{SimHash, Words, content_hash};
use crate::net::Transport;
use crate::page::{HeaderLinks, Page, PageKind};
use crate::urls;

/// Pages that are looked at of those that have something in common.
const LOOKED_AT: usize = 16;

/// What a page's words are known by: nothing, if it has none, for an empty page says nothing.
///
/// The title counts as a part of the text, for whoever reads the page reads it too. Links do not:
/// a new one brings its own words as a rule, and addresses differ from answer to answer where a
/// site writes sessions or advertisements into them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextMarks {
    /// The same for the same words.
    pub(super) hash: Option<u64>,
    /// Alike for texts that are alike.
    pub(super) print: Option<u64>,
}

impl TextMarks {
    pub(super) fn of(page: &Page) -> Self {
        let has_text = match page.kind {
            PageKind::Html | PageKind::PlainText => page.text.chars().any(char::is_alphanumeric),
            PageKind::Other => false,
        };
        if !has_text {
            return Self::default();
        }
        let title = Words::of(page.title.as_deref().unwrap_or_default());
        let text = Words::of(&page.text);
        Self {
            hash: Some(content_hash(&[&title, &text])),
            print: SimHash::of(&text).map(|print| print.0),
        }
    }
}

/// What a page says of its own address: in its head, and in its `Link` header.
pub(super) struct Named<'a> {
    pub(super) element: Option<&'a Url>,
    pub(super) header: Option<&'a Url>,
}

impl<'a> Named<'a> {
    pub(super) fn of(page: &'a Page, header: &'a HeaderLinks) -> Self {
        Self { element: page.canonical.as_ref(), header: header.canonical.as_ref() }
    }
}

impl<S: Store, T: Transport> Context<S, T> {
    /// Whether the index has a page by itself, or would have if there were one.
    fn stands(&self, page: &PageRecord, fetched: &Fetched, at: Timestamp) -> bool {
        let is_full = |one| matches!(one, Publication::Full(_));
        page.role == Role::Page
            && fetched.status == 200
            && fetched.stand_in.is_none()
            && is_full(publish::publication_of(fetched, self.clock.now()))
            && self.index_has_all_of(fetched, at)
    }

    /// The response by which a page stands, if it does.
    fn standing_copy<'p>(&self, page: &'p PageRecord) -> Option<&'p Fetched> {
        let (at, fetched) = match &page.last {
            Some((at, Outcome::Fetched(fetched))) => (*at, fetched),
            // What could not be had this time is shown as it was (HT-004).
            Some((_, Outcome::Failed { .. })) => page.last_fetch()?,
            Some((
                _,
                Outcome::Redirected { .. } | Outcome::Refused { .. } | Outcome::Noted { .. },
            ))
            | None => return None,
        };
        self.stands(page, fetched, at).then_some(fetched)
    }

    /// A page that stands by itself now. The newest visits may not be in the store yet.
    async fn standing_page(&self, url: &Url) -> Result<Option<PageRecord>, StoreError> {
        let newest = self.likenesses.newest(url);
        if newest == Some(None) {
            return Ok(None);
        }
        let page = self.store.page(url).await?;
        Ok(page.filter(|page| newest.is_some() || self.standing_copy(page).is_some()))
    }

    /// The page of the same site that stands for the same text.
    async fn twin(
        &self,
        page: &PageRecord,
        text: Option<u64>,
        of_text: Vec<PageRecord>,
    ) -> Result<Option<PageRecord>, StoreError> {
        let Some(text) = text else { return Ok(None) };
        if let Some(url) = self.likenesses.newest_with(text, &page.url)
            && let Some(twin) = self.store.page(&url).await?
        {
            return Ok(Some(twin));
        }
        for one in of_text {
            let stand_in = one.last_fetch().and_then(|(_, fetched)| fetched.stand_in.clone());
            // Of very many copies the one that stands may not be among those looked at.
            let url = stand_in.unwrap_or(one.url);
            if url == page.url || self.likenesses.newest(&url).is_some_and(|is| is != Some(text)) {
                continue;
            }
            let twin = self.standing_page(&url).await?;
            let same = |twin: &PageRecord| {
                twin.last_fetch().is_some_and(|(_, fetched)| fetched.text_hash == Some(text))
            };
            if let Some(twin) = twin.filter(same) {
                return Ok(Some(twin));
            }
        }
        Ok(None)
    }

    /// The redirects that led to a page, in order. How long a refresh waited is not kept, so those
    /// are none.
    async fn hops(&self, page: &PageRecord) -> Result<Vec<(Url, Move)>, StoreError> {
        let mut hops = Vec::new();
        let (mut to, mut via, mut from) = (page.url.clone(), page.via, page.from.clone());
        while via == Via::Redirect
            && hops.len() < usize::from(self.settings.policy.redirect_hops)
            && let Some(above) = from.take()
        {
            let Some(record) = self.store.page(&above).await? else { break };
            let how = match &record.last {
                Some((_, Outcome::Redirected { status, to: led })) if *led == to => {
                    Move::of_status(*status)
                }
                Some(_) | None => None,
            };
            let Some(how) = how else { break };
            hops.push((above.clone(), how));
            (to, via, from) = (above, record.via, record.from);
        }
        hops.reverse();
        Ok(hops)
    }

    /// Notes in `fetched` which page is like this one, which address stands for it, and whether
    /// another page stands in for it. Says which pages stand back for this one, and why.
    pub(super) async fn place_among_copies(
        &self,
        page: &PageRecord,
        named: Named<'_>,
        publication: &Publication,
        fetched: &mut Fetched,
    ) -> Result<Vec<(Url, String)>, StoreError> {
        let Ok(site) = Site::of(&page.url) else { return Ok(vec![]) };
        // Both are asked for at once: a question costs more than an answer that is empty.
        let text = fetched.text_hash.map(Likeness::Text);
        let alike = [Some(Likeness::Canonical(page.url.clone())), text].into_iter().flatten();
        let alike = self.store.alike(&site, alike.collect(), LOOKED_AT).await?;
        let mut alike = alike.into_iter();
        let name_this = alike.next().unwrap_or_default();
        let of_text = alike.next().unwrap_or_default();
        let twin = self.twin(page, fetched.text_hash, of_text).await?;
        fetched.alike = match &twin {
            Some(twin) => Some(Alike { url: twin.url.clone(), bits: None }),
            None => self.nearly_same(page, fetched.text_print).await?,
        };
        self.note_alike(page, fetched.alike.as_ref());
        let (chosen, stand_in) = self.choose(page, named, twin.as_ref()).await?;
        fetched.canonical_reason = chosen.because.code().into();
        fetched.canonical = Some(chosen.url).filter(|url| *url != page.url);
        match publication {
            Publication::Full(_) => {}
            Publication::EmbeddedOnly(_) | Publication::BareUrl(_) | Publication::Nothing(_) => {
                return Ok(vec![]);
            }
        }
        if let Some(other) = stand_in {
            let (why, told) = (chosen.because.code(), Some(other.as_str()));
            self.log(&page.url, "stands-back", why, told, None);
            // By this it is found once that page is gone.
            fetched.canonical = Some(other.clone());
            fetched.stand_in = Some(other);
            return Ok(vec![]);
        }
        Ok(self.those_that_stand_back(page, twin, name_this))
    }

    /// The address that stands for a page, and the page that the index has in its place.
    async fn choose(
        &self,
        page: &PageRecord,
        named: Named<'_>,
        twin: Option<&PageRecord>,
    ) -> Result<(Canonical, Option<Url>), StoreError> {
        let normal = |url: &Url| urls::dedupe_form(url, &self.settings.urls.dedupe);
        let (element, header) = (named.element.map(normal), named.header.map(normal));
        let hops = self.hops(page).await?;
        let hops: Vec<_> = hops.iter().map(|(from, how)| Hop { from, how: *how }).collect();
        let same_content: Vec<_> = twin.iter().map(|twin| twin.url.clone()).collect();
        let listed = [Some(page), twin].into_iter().flatten().filter(|page| is_listed(page));
        let in_sitemap: Vec<_> = listed.map(|page| page.url.clone()).collect();
        let signals = Signals {
            url: &page.url,
            hops: &hops,
            link_element: element.as_ref(),
            link_header: header.as_ref(),
            same_content: &same_content,
            in_sitemap: &in_sitemap,
            https: HttpsTwin::Sound,
        };
        let chosen = canonical(&signals);
        if chosen.url != page.url && self.standing_page(&chosen.url).await?.is_some() {
            let other = chosen.url.clone();
            return Ok((chosen, Some(other)));
        }
        let Some(twin) = twin else { return Ok((chosen, None)) };
        // What is named is not there, so it is one of these two; both must come to the same.
        let own = chosen.url == page.url && is_strong(chosen.because);
        let weak =
            canonical(&Signals { link_element: None, link_header: None, hops: &[], ..signals });
        let stands_back = match (own, names_itself(twin)) {
            (true, false) => false,
            (false, true) => true,
            (true, true) | (false, false) => weak.url == twin.url,
        };
        if !stands_back {
            return Ok((chosen, None));
        }
        let because =
            if weak.url == twin.url { weak.because } else { CanonicalReason::SameContent };
        let url = twin.url.clone();
        Ok((Canonical { url: url.clone(), strength: weak.strength, because }, Some(url)))
    }

    /// Pages of the site that the index has, and that stand back for this one from now on.
    fn those_that_stand_back(
        &self,
        page: &PageRecord,
        twin: Option<PageRecord>,
        name_this: Vec<PageRecord>,
    ) -> Vec<(Url, String)> {
        let mut others = Vec::new();
        if let Some(twin) = twin {
            others.push((twin.url, CanonicalReason::SameContent.code().to_owned()));
        }
        for one in name_this {
            let known = others.iter().any(|(url, _)| *url == one.url);
            let reason = self.standing_copy(&one).filter(|fetched| {
                let because = CanonicalReason::from_code(&fetched.canonical_reason);
                fetched.canonical.as_ref() == Some(&page.url) && because.is_some_and(is_strong)
            });
            let newest = self.likenesses.newest(&one.url);
            if let Some(fetched) = reason.filter(|_| !known && newest != Some(None)) {
                others.push((one.url.clone(), fetched.canonical_reason.clone()));
            }
        }
        for (other, why) in &others {
            self.likenesses.visited(other, None);
            self.log(other, "stands-back", why, Some(page.url.as_str()), None);
        }
        others
    }

    /// Counts what a page is like, and lets its site's budget know (HO-013).
    fn note_alike(&self, page: &PageRecord, alike: Option<&Alike>) {
        if let Some(alike) = alike {
            let why = if alike.bits.is_none() { "same-text" } else { "near-text" };
            self.log(&page.url, "alike", why, Some(alike.url.as_str()), None);
        }
        let is_same = alike.is_some_and(|alike| alike.bits.is_none());
        self.reporter.count(|counts| {
            counts.same_text += u64::from(is_same);
            counts.near_text += u64::from(alike.is_some() && !is_same);
        });
        // Looking again teaches nothing about the shape.
        if page.fetches > 0 {
            return;
        }
        if let Some(budget) = self.site_budgets().of(&page.url) {
            match is_same {
                true => budget.saw_duplicate(&page.url),
                false => budget.saw_original(&page.url),
            }
        }
    }

    /// Whether the page that stands in for this one no longer does.
    pub(super) async fn is_released(&self, page: &PageRecord) -> Result<bool, StoreError> {
        let stand_in = page.last_fetch().and_then(|(_, fetched)| fetched.stand_in.as_ref());
        match stand_in {
            Some(other) => Ok(self.standing_page(other).await?.is_none()),
            None => Ok(false),
        }
    }

    /// After a visit, whatever it brought: what the page stands for now, and whoever stood back for
    /// it and need not any more.
    pub(super) async fn release_copies(
        &self,
        page: &PageRecord,
        visit: &mut Visit,
    ) -> Result<(), StoreError> {
        let before = self.standing_copy(page);
        let now = match &visit.outcome {
            Outcome::Fetched(fetched) => {
                Some(fetched).filter(|fetched| self.stands(page, fetched, visit.at))
            }
            Outcome::Failed { .. } => before,
            Outcome::Redirected { .. } | Outcome::Refused { .. } | Outcome::Noted { .. } => None,
        };
        if page.role == Role::Page {
            self.likenesses.visited(&page.url, now.map(|fetched| fetched.text_hash.unwrap_or(0)));
        }
        let text = |one: Option<&Fetched>| one.and_then(|fetched| fetched.text_hash);
        let same = now.is_some() && text(before) == text(now);
        let (Some(_), false, Ok(site)) = (before, same, Site::of(&page.url)) else {
            return Ok(());
        };
        let still_named = now.is_some();
        let stood_back = vec![Likeness::Canonical(page.url.clone())];
        for one in self.store.alike(&site, stood_back, LOOKED_AT).await?.into_iter().flatten() {
            let Some((_, fetched)) = one.last_fetch() else { continue };
            let because = CanonicalReason::from_code(&fetched.canonical_reason);
            let stays = still_named && because.is_some_and(is_strong);
            if fetched.stand_in.as_ref() == Some(&page.url) && !stays {
                visit.found.push(again(one, visit.at));
            }
        }
        Ok(())
    }
}

fn again(page: PageRecord, at: Timestamp) -> Found {
    let priority = u8::try_from(page.depth).unwrap_or(u8::MAX);
    let PageRecord { url, depth, hops, role, via, from, anchor, .. } = page;
    Found { url, depth, hops, role, via, from, anchor, at, plan: Plan::Again { priority } }
}

/// Whether a sitemap lists a page, as far as is kept.
fn is_listed(page: &PageRecord) -> bool {
    page.via == Via::Sitemap || page.claimed.is_some()
}

fn is_strong(because: CanonicalReason) -> bool {
    match because {
        CanonicalReason::LinkElement
        | CanonicalReason::LinkHeader
        | CanonicalReason::PermanentRedirect => true,
        CanonicalReason::Conflict
        | CanonicalReason::TemporaryRedirect
        | CanonicalReason::Sitemap
        | CanonicalReason::Https
        | CanonicalReason::SameContent
        | CanonicalReason::Own => false,
    }
}

/// Whether a page that was had names its own address, or was moved there for good.
fn names_itself(page: &PageRecord) -> bool {
    page.last_fetch().is_some_and(|(_, fetched)| {
        let because = CanonicalReason::from_code(&fetched.canonical_reason);
        fetched.canonical.is_none() && because.is_some_and(is_strong)
    })
}
