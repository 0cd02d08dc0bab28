//! Keeping pages fresh: when a URL is visited again, what makes that visit cheap, and what an
//! unchanged page means.

use comity_compliance::{
    Answer, Directives, Publication, Sighting, Timestamp, revisit_after, rhythm,
};
use comity_storage::{Fetched, Next, Outcome, PageRecord, Review, Store, Visit};
use hyper::header::HeaderValue;

use super::reply::header_text;
use super::report::Event;
use super::visit::{note, plain, withheld};
use super::{Context, publish};
use crate::net::{Reply, Transport, Validators};
use crate::reasons::FailureReason;

/// The note that some text of a page is hidden from snippets.
pub(super) const HIDES_TEXT: &str = "data-nosnippet";

impl<S: Store, T: Transport> Context<S, T> {
    /// Sets when a URL is looked at again, unless it is tried again sooner.
    pub(super) fn keep_fresh(&self, page: &PageRecord, visit: &mut Visit) {
        let retried = matches!(visit.next, Next::Retry(_));
        let Some(sighting) = sighting(page, &visit.outcome).filter(|_| !retried) else { return };
        let policy = &self.settings.policy;
        let every = rhythm(policy, page.every, sighting);
        let pause = revisit_after(policy, every, expires(&visit.outcome), visit.at);
        visit.next = Next::Revisit { at: visit.at.after(pause), every };
    }

    /// What makes the request for a page conditional (HT-008): nothing if a 304 would leave the
    /// index without the page. Nor if a header of the copy had rules: they may be lifted while the
    /// page stays the same, and a 304 need not say so (RFC 9110 section 15.4.5).
    pub(super) fn validators(&self, page: &PageRecord) -> Validators {
        let of = |text: &Option<String>| HeaderValue::from_str(text.as_ref()?).ok();
        match copy(page) {
            Some((at, copy))
                if copy.status == 200
                    && self.index_has_all_of(copy, at)
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
        !self.settings.index || !shown || (copy.sent && at >= self.index_since())
    }

    /// The page is as it was: what is held of it stands, but for the header's rules if it names
    /// some (HT-002, AM-56).
    pub(super) fn not_modified(
        &self,
        page: &PageRecord,
        reply: &Reply,
        answer: Answer,
        now: Timestamp,
    ) -> Visit {
        let status = reply.status.as_u16();
        let Some((_, copy)) = copy(page) else {
            let reason = FailureReason::of_status(status);
            return self.failed(page, reason, format!("status {status}"), answer, now);
        };
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
        let why = withheld(&publication);
        self.tell(&Event::Fetched { url: &page.url, status, withheld: why });
        let mut fetched = freshened(copy, reply);
        fetched.directives = notes(copy, &directives);
        fetched.publication = why.unwrap_or(publication.code()).into();
        let (mut sink, mut next) = (None, Next::Never);
        if publication.terms().is_none() {
            sink = self.withdraw_if_indexed(page);
            fetched.sent = false;
        } else if fetched.directives != copy.directives {
            // The index needs the page's text for its new rules: it is asked for wholly.
            (fetched.etag, fetched.last_modified) = (None, None);
            next = Next::Retry(now);
        }
        let index_review = publication.until().map_or(Review::Never, Review::At);
        Visit { sink, next, index_review, ..plain(page, now, Outcome::Fetched(fetched)) }
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
            Some((_, before)) => seen(before.content_hash == now.content_hash),
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
