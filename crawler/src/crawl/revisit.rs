//! Keeping pages fresh: when a URL is visited again, what makes that visit cheap, and what an
//! unchanged page means.

use comity_compliance::{
    Answer, Directives, Publication, RevisitNumbers, Sighting, Timestamp, revisit_after, rhythm,
};
use comity_storage::{Fetched, Next, Outcome, PageRecord, Review, Store, StoreError, Visit};
use hyper::header::HeaderValue;

use super::reply::header_text;
use super::report::Event;
use super::visit::{note, plain, withheld};
use super::{Context, publish};
use crate::net::{FetchError, Reply, Transport, Validators, Wall, fresh_until};
use crate::reasons::FailureReason;

/// The note that some text of a page is hidden from snippets.
pub(super) const HIDES_TEXT: &str = "data-nosnippet";

/// What a reply says of later visits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Later {
    /// Until when a copy of it is as good as the page (HT-009).
    fresh_until: Option<Timestamp>,
    /// Whether it asks for a login: nothing that time mends.
    wall: Option<Wall>,
}

impl Later {
    pub(super) fn of(fetched: &Result<Reply, FetchError>) -> Self {
        let Ok(reply) = fetched else { return Self::default() };
        let took = i64::try_from(reply.first_byte.as_millis()).unwrap_or(0);
        let asked_at = Timestamp::from_millis(reply.head_at.as_millis().saturating_sub(took));
        Self {
            fresh_until: fresh_until(&reply.headers, asked_at),
            wall: Wall::of(reply.status, &reply.headers),
        }
    }
}

impl<S: Store, T: Transport> Context<S, T> {
    /// Sets when a URL is looked at again, unless it is tried again sooner: by the rhythm of its
    /// changes, but not before its copy is stale, and seldom if it lies behind a login.
    pub(super) fn keep_fresh(&self, page: &PageRecord, later: Later, visit: &mut Visit) {
        if let Some(wall) = later.wall {
            self.note_wall(page, wall, visit);
        }
        let retried = matches!(visit.next, Next::Retry(_));
        let Some(sighting) = sighting(page, &visit.outcome).filter(|_| !retried) else { return };
        let policy = &self.settings.policy;
        let every = match later.wall {
            Some(_) => policy.revisit.most,
            None => rhythm(policy, page.every, sighting),
        };
        let pause = revisit_after(policy, every, expires(&visit.outcome), visit.at);
        let longest = visit.at.after(policy.revisit.most);
        let stale = later.fresh_until.map_or(visit.at, |until| until.min(longest));
        visit.next = Next::Revisit { at: visit.at.after(pause).max(stale), every };
    }

    /// When a page that was refused is judged again, by the robots.txt or the address of that day:
    /// after a day, and ever more seldom while it stays refused. Without it, nothing would ask for
    /// the robots.txt of a site that forbids all (RT-030). The rhythm of its visits stays as it is.
    pub(super) fn judged_again(&self, page: &PageRecord, now: Timestamp) -> Next {
        let RevisitNumbers { first, most, .. } = self.settings.policy.revisit;
        let pause = match &page.last {
            Some((at, Outcome::Refused { .. })) => now.since(*at).saturating_mul(3) / 2,
            Some(_) | None => first,
        };
        let every = page.every.unwrap_or(first);
        Next::Revisit { at: now.after(pause.clamp(first.min(most), most)), every }
    }

    fn note_wall(&self, page: &PageRecord, wall: Wall, visit: &mut Visit) {
        let code = wall.code();
        self.reporter.count(|counts| *counts.walls.entry(code.into()).or_default() += 1);
        self.log(&page.url, "wall", code, None, None);
        if let Outcome::Fetched(fetched) = &mut visit.outcome {
            fetched.wall = Some(code.into());
        }
    }

    /// What makes the request for a page conditional (HT-008): nothing if a 304 would leave the
    /// index or the archive without the page. Nor if a header of the copy had rules: they may be lifted while the
    /// page stays the same, and a 304 need not say so (RFC 9110 section 15.4.5).
    pub(super) fn validators(&self, page: &PageRecord) -> Validators {
        let of = |text: &Option<String>| HeaderValue::from_str(text.as_ref()?).ok();
        match copy(page) {
            Some((at, copy))
                if copy.status == 200
                    && self.index_has_all_of(copy, at)
                    && (self.archive.is_none() || copy.archived.is_some())
                    && !publish::directives_of(copy).iter().any(|rule| rule.source.is_header()) =>
            {
                Validators { etag: of(&copy.etag), last_modified: of(&copy.last_modified) }
            }
            Some(_) | None => Validators::default(),
        }
    }

    /// Whether the index holds what it may hold of this copy.
    pub(super) fn index_has_all_of(&self, copy: &Fetched, at: Timestamp) -> bool {
        let shown = publish::publication_of(copy, at).terms().is_some();
        let is_there = copy.sent && at >= self.index_since();
        !self.settings.index || !shown || copy.stand_in.is_some() || is_there
    }

    /// The page is as it was: what is held of it stands, but for the header's rules if it names
    /// some (HT-002, AM-56).
    pub(super) async fn not_modified(
        &self,
        page: &PageRecord,
        reply: &Reply,
        answer: Answer,
        now: Timestamp,
    ) -> Result<Visit, StoreError> {
        let status = reply.status.as_u16();
        let failed = || {
            let reason = FailureReason::of_status(status);
            self.failed(page, reason, format!("status {status}"), answer, now)
        };
        let Some((_, copy)) = copy(page) else { return Ok(failed()) };
        let is_released = self.is_released(page).await?;
        let before = publish::directives_of(copy);
        let rules = self.header_directives(reply, now).finish();
        let says_some = reply.headers.contains_key("x-robots-tag") || rules.iter().next().is_some();
        let named = says_some.then_some(rules);
        let directives = before.after_not_modified(named);
        let was = publish::publication_of(copy, now);
        let publication = match was {
            Publication::Nothing(_) if publish::is_no_page(copy) => was,
            Publication::Full(_)
            | Publication::EmbeddedOnly(_)
            | Publication::BareUrl(_)
            | Publication::Nothing(_) => Publication::of(&directives, now),
        };
        // Only new rules of the header make a difference, and they allow less than there was.
        let withdrawn = (publication != was).then(|| self.withdraw_if_indexed(page)).flatten();
        if self.validators(page) == Validators::default() {
            // Nobody asked for it: whether the page is as it was is not known, and asking at once
            // again might have no end.
            return Ok(Visit { sink: withdrawn, ..failed() });
        }
        let why = withheld(&publication);
        self.tell(&Event::Fetched { url: &page.url, status, withheld: why });
        let mut fetched = freshened(copy, reply);
        fetched.directives = notes(copy, &directives);
        fetched.publication = why.unwrap_or(publication.code()).into();
        let mut next = Next::Never;
        fetched.sent &= publication == was;
        if publication.terms().is_some() && (is_released || publication != was) {
            // The index needs the page's text, for its new rules or because the page that stood in
            // for it is gone: it is asked for wholly.
            (fetched.etag, fetched.last_modified) = (None, None);
            next = Next::Retry(now);
        }
        let index_review = publication.until().map_or(Review::Never, Review::At);
        Ok(Visit {
            sink: withdrawn,
            next,
            index_review,
            ..plain(page, now, Outcome::Fetched(fetched))
        })
    }
}

/// Whether two responses are the same page to whoever reads it: the same words, title included. Of
/// what has no words, the same bytes.
pub(super) fn is_same(one: &Fetched, other: &Fetched) -> bool {
    match (one.text_hash, other.text_hash) {
        (Some(text), Some(other)) => text == other,
        (Some(_), None) | (None, Some(_)) | (None, None) => one.content_hash == other.content_hash,
    }
}

/// The copy that a server may say is still good, and when it came: the one that the index was
/// given last.
fn copy(page: &PageRecord) -> Option<(Timestamp, &Fetched)> {
    match &page.last {
        Some((at, Outcome::Fetched(fetched))) => Some((*at, fetched)),
        Some((_, Outcome::Failed { .. })) => {
            page.earlier.as_ref().map(|(at, fetched)| (*at, fetched))
        }
        Some((_, Outcome::Redirected { .. } | Outcome::Refused { .. } | Outcome::Noted { .. }))
        | None => None,
    }
}

/// A 304 freshens the stored headers (RFC 9111 section 4.3.4).
fn freshened(copy: &Fetched, reply: &Reply) -> Fetched {
    let header = |name, old: &Option<String>| header_text(&reply.headers, name).or(old.clone());
    Fetched {
        etag: header("etag", &copy.etag),
        last_modified: header("last-modified", &copy.last_modified),
        ..copy.clone()
    }
}

fn notes(copy: &Fetched, directives: &Directives) -> Vec<comity_storage::DirectiveNote> {
    let hides_text = copy.directives.iter().filter(|note| note.rule == HIDES_TEXT).cloned();
    directives.iter().map(note).chain(hides_text).collect()
}

/// What a visit saw, if it saw anything.
fn sighting(page: &PageRecord, outcome: &Outcome) -> Option<Sighting> {
    let seen = |same: bool| if same { Sighting::Unchanged } else { Sighting::Changed };
    Some(match (outcome, &page.last) {
        (Outcome::Refused { .. } | Outcome::Noted { .. }, _) => return None,
        (Outcome::Failed { .. }, _) => Sighting::Gone,
        (Outcome::Fetched(now), _) if now.status >= 400 => Sighting::Gone,
        (Outcome::Fetched(now), _) => match page.last_fetch() {
            Some((_, before)) => seen(is_same(before, now)),
            None => Sighting::First,
        },
        (Outcome::Redirected { to, .. }, Some((_, Outcome::Redirected { to: before, .. }))) => {
            seen(to == before)
        }
        (Outcome::Redirected { .. }, Some(_)) => Sighting::Changed,
        (Outcome::Redirected { .. }, None) => Sighting::First,
    })
}

/// The day that the page's rules name.
fn expires(outcome: &Outcome) -> Option<Timestamp> {
    match outcome {
        Outcome::Fetched(fetched) => {
            publish::directives_of(fetched).unavailable_after().map(|(instant, _)| instant)
        }
        Outcome::Redirected { .. }
        | Outcome::Refused { .. }
        | Outcome::Failed { .. }
        | Outcome::Noted { .. } => None,
    }
}
