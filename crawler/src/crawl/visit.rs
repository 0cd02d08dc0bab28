//! What one request taught, as one [`Visit`]: outcome, found links, what the index may have, and
//! when the URL is due again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use comity_compliance::{
    Answer, Collector, Directive, Directives, LastmodTrust, Publication, RefusalReason,
    StatusEffect, Timestamp, Withheld, retry_at,
};
use comity_storage::{
    DirectiveNote, Fetched, Found, Next, Outcome, PageRecord, Plan, Review, Role, Store, Via, Visit,
};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::copies::{Named, TextMarks};
use super::links::Source;
use super::reply::header_text;
use super::report::Event;
use super::revisit::{HIDES_TEXT, Later};
use super::scorer::FoundLink;
use super::{Context, CrawlError, reply};
use crate::extract::ReadPage;
use crate::net::{Completeness, FetchError, FetchErrorKind, Reply, Transport};
use crate::page::{Page, PageKind, scan};
use crate::reasons::FailureReason;
use crate::urls;

/// Bytes of a page that is read on the runtime's own threads: well under a millisecond, for which
/// another thread is not worth its waking.
const READ_AT_ONCE: usize = 64 << 10;

/// A visit that taught nothing but its outcome.
pub(super) fn plain(page: &PageRecord, at: Timestamp, outcome: Outcome) -> Visit {
    Visit {
        url: page.url.clone(),
        at,
        outcome,
        next: Next::Never,
        priority: page.priority,
        found: vec![],
        sink: None,
        stood_back: vec![],
        index_review: Review::Unchanged,
    }
}

impl<S: Store, T: Transport> Context<S, T> {
    /// The visit that a request made, with the time of the next one.
    pub(super) async fn visit(
        &self,
        page: &PageRecord,
        fetched: &Result<Reply, FetchError>,
        trust: &LastmodTrust,
    ) -> Result<Visit, CrawlError> {
        let later = Later::of(fetched);
        let mut visit = self.judge(page, fetched, trust).await?;
        self.keep_fresh(page, later, &mut visit);
        Ok(visit)
    }

    async fn judge(
        &self,
        page: &PageRecord,
        fetched: &Result<Reply, FetchError>,
        trust: &LastmodTrust,
    ) -> Result<Visit, CrawlError> {
        let now = self.clock.now();
        let answer = reply::answer(fetched, now);
        let reply = match fetched {
            Ok(reply) => reply,
            Err(error) => return Ok(self.unanswered(page, error, answer, now)),
        };
        self.reporter.count(|counts| counts.wire_bytes += reply.wire_bytes);
        let status = reply.status.as_u16();
        Ok(match (StatusEffect::of(status), reply.completeness) {
            (StatusEffect::Redirect, _) => self.redirected(page, reply, now),
            // What the peer broke off may lack a rule: it is no page, and is asked for again.
            (StatusEffect::Read, Completeness::Partial(cause)) => {
                let detail =
                    format!("status {status}, broken off after {} bytes", reply.body.len());
                self.failed(page, cause.reason(), detail, answer, now)
            }
            (StatusEffect::Read, _) if page.role == Role::Sitemap => {
                self.read_sitemap(page, reply, trust, now).await?
            }
            (StatusEffect::Read, Completeness::Whole | Completeness::Truncated) => {
                self.read(page, reply, now).await?
            }
            (StatusEffect::Withdraw(why), _) => self.without_content(page, reply, why, now),
            (StatusEffect::Stand, _) => self.not_modified(page, reply, answer, now).await?,
            (StatusEffect::Keep, _) => {
                let reason = FailureReason::of_status(status);
                self.failed(page, reason, format!("status {status}"), answer, now)
            }
        })
    }

    fn unanswered(
        &self,
        page: &PageRecord,
        error: &FetchError,
        answer: Answer,
        now: Timestamp,
    ) -> Visit {
        let detail = error.in_words();
        let Some(reason) = error.kind.reason() else {
            return self.refused(page, RefusalReason::BlockedAddress, Some(detail), now);
        };
        // A site that answered is not in trouble, but what it sent may be of no use: for the URL
        // that is as no answer.
        // Nor does a proxy that is out of order mend at once.
        let of_no_use = answer == Answer::Served || matches!(error.kind, FetchErrorKind::Proxy(_));
        let for_url = if of_no_use { Answer::Unanswered } else { answer };
        self.failed(page, reason, detail, for_url, now)
    }

    /// A visit that made no request, because of a rule.
    pub(super) fn refused(
        &self,
        page: &PageRecord,
        reason: RefusalReason,
        evidence: Option<String>,
        now: Timestamp,
    ) -> Visit {
        let (code, told) = (reason.code(), evidence.as_deref());
        self.tell(&Event::Refused { url: &page.url, reason: code, evidence: told });
        let next = match reason {
            // Neither a rule nor an address holds for ever.
            RefusalReason::RobotsDisallow | RefusalReason::BlockedAddress => {
                self.judged_again(page, now)
            }
            RefusalReason::OutOfScope | RefusalReason::UnsupportedScheme => Next::Never,
        };
        let outcome = Outcome::Refused { code: code.into(), evidence };
        let visit = Visit { next, ..plain(page, now, outcome) };
        match reason {
            // What may no longer be read may no longer be shown (RT-049).
            RefusalReason::RobotsDisallow => {
                let (sink, index_review) = match self.bare(page, now) {
                    Some((bare, review)) => (Some(bare), review),
                    None => (self.withdraw_if_indexed(page), Review::Never),
                };
                Visit { sink, index_review, ..visit }
            }
            RefusalReason::OutOfScope
            | RefusalReason::UnsupportedScheme
            | RefusalReason::BlockedAddress => visit,
        }
    }

    pub(super) fn failed(
        &self,
        page: &PageRecord,
        reason: FailureReason,
        detail: String,
        answer: Answer,
        now: Timestamp,
    ) -> Visit {
        let failures = page.attempts.saturating_add(1);
        let next = retry_at(&self.settings.policy, failures, answer, now);
        let (url, code) = (&page.url, reason.code());
        self.tell(&Event::Failed { url, reason: code, detail: &detail, retry_at: next });
        let next = next.map_or(Next::Never, Next::Retry);
        Visit { next, ..plain(page, now, Outcome::Failed { code: code.into(), detail }) }
    }

    fn redirected(&self, page: &PageRecord, reply: &Reply, now: Timestamp) -> Visit {
        self.reporter.count(|counts| counts.redirected += 1);
        let status = reply.status.as_u16();
        let location = reply::location(&reply.headers).unwrap_or_default();
        let to = match self.redirect_target(page, &location) {
            Ok(to) => to,
            Err((reason, detail)) => {
                return self.failed(page, reason, detail, Answer::Served, now);
            }
        };
        self.tell_redirect(&page.url, &to, status);
        let plan = match page.role {
            Role::Page => {
                self.plan(&FoundLink { url: &to, depth: page.depth, anchor: "", on: None })
            }
            Role::Sitemap => Ok(Plan::Queue { due: None, priority: 0, why: None }),
        };
        let mut plan = plan.unwrap_or_else(|reason| {
            if page.via == Via::Seed {
                tracing::warn!(
                    "{} moved to {to}, which is not crawled: {reason}; name it as a seed, or widen --scope",
                    page.url
                );
            }
            self.drop_link(&page.url, &to, reason);
            Plan::Note { reason: reason.into() }
        });
        // With a redirect, Retry-After is about the request that follows (HT-010).
        if let Plan::Queue { due, .. } = &mut plan {
            let wait = reply::retry_after(&reply.headers, now);
            *due = wait.map(|wait| now.after(wait.min(self.settings.policy.retry_after_cap)));
        }
        let found = Found {
            url: to.clone(),
            depth: page.depth,
            hops: page.hops.saturating_add(1),
            role: page.role,
            via: Via::Redirect,
            from: Some(page.url.clone()),
            // Who follows the link comes here.
            anchor: page.anchor.clone(),
            at: now,
            plan,
        };
        let sink = self.withdraw_if_indexed(page);
        let outcome = Outcome::Redirected { status, to };
        Visit { found: vec![found], sink, index_review: Review::Never, ..plain(page, now, outcome) }
    }

    /// Where a redirect leads, or why it leads nowhere (HT-002, HT-012).
    fn redirect_target(
        &self,
        page: &PageRecord,
        location: &str,
    ) -> Result<Url, (FailureReason, String)> {
        let shown: String = location.chars().take(200).collect();
        let to = (!location.is_empty()).then(|| page.url.join(location).ok()).flatten();
        let to = to.map(|to| urls::normalise(&to));
        let to = to.filter(|to| matches!(to.scheme(), "http" | "https"));
        let Some(to) = to else {
            return Err((FailureReason::BadRedirect, format!("to \"{shown}\"")));
        };
        if to == page.url {
            return Err((FailureReason::RedirectLoop, "to itself".into()));
        }
        if page.hops >= self.settings.policy.redirect_hops {
            let detail = format!("{} so far, now to {shown}", page.hops);
            return Err((FailureReason::TooManyRedirects, detail));
        }
        Ok(to)
    }

    fn without_content(
        &self,
        page: &PageRecord,
        reply: &Reply,
        why: Withheld,
        now: Timestamp,
    ) -> Visit {
        let status = reply.status.as_u16();
        self.tell(&Event::Fetched { url: &page.url, status, withheld: Some(why.code()) });
        let outcome = Outcome::Fetched(fetched(reply, &Publication::Nothing(why)));
        let sink = self.withdraw_if_indexed(page);
        Visit { sink, index_review: Review::Never, ..plain(page, now, outcome) }
    }

    async fn read(
        &self,
        page: &PageRecord,
        reply: &Reply,
        now: Timestamp,
    ) -> Result<Visit, CrawlError> {
        let (content, marks) = self.scan(page, reply).await;
        let header = self.header_links(page, reply);
        let directives = self.directives(reply, &content, now);
        let publication = match content.kind {
            PageKind::Html | PageKind::PlainText => Publication::of(&directives, now),
            PageKind::Other => Publication::Nothing(Withheld::ContentType),
        };
        if matches!(reply.completeness, Completeness::Truncated) {
            self.reporter.count(|counts| counts.truncated += 1);
        }
        let (status, withheld) = (reply.status.as_u16(), withheld(&publication));
        self.tell(&Event::Fetched { url: &page.url, status, withheld });
        let read = Arc::new(ReadPage {
            url: page.url.clone(),
            at: now,
            status,
            headers: reply.headers.clone(),
            body: reply.body.clone(),
            completeness: reply.completeness,
            content,
            directives,
            publication,
        });
        let extracted = self.extract(&read).await?;
        let ReadPage { content: scanned, directives, .. } = &*read;
        let mut fetched = Fetched {
            directives: self.directive_notes(directives, scanned),
            title: scanned.title.as_ref().map(|title| title.chars().take(200).collect()),
            text_hash: marks.hash,
            text_print: marks.print,
            ..fetched(reply, &publication)
        };
        let named = Named::of(scanned, &header);
        let stood_back = self.place_among_copies(page, named, &publication, &mut fetched).await?;
        let is_shown = publication.terms().is_some() && fetched.stand_in.is_none();
        fetched.sent = self.settings.index && is_shown;
        let (is_full, extracted) = (self.is_full(page).await?, &*extracted);
        let source = Source { page, scanned, header: &header, directives, extracted, is_full };
        let (found, links) = self.found_links(&source, now);
        let found = self.push_most(found).await?;
        Ok(Visit {
            found,
            sink: self.sink(page, &read, (&fetched, &stood_back), links).await,
            stood_back,
            index_review: publication.until().map_or(Review::Never, Review::At),
            ..plain(page, now, Outcome::Fetched(fetched))
        })
    }

    /// Reads a page, and what its text is known by. A large one is read off the runtime's threads:
    /// two megabytes take longer than others should wait.
    async fn scan(&self, page: &PageRecord, reply: &Reply) -> (Page, TextMarks) {
        let content_type = header_text(&reply.headers, "content-type");
        let (url, body) = (page.url.clone(), reply.body.clone());
        let limits = self.scan_limits.clone();
        let is_large = body.len() > READ_AT_ONCE;
        let read = move || {
            let page = scan(&body, content_type.as_deref(), &url, &limits);
            let marks = TextMarks::of(&page);
            (page, marks)
        };
        let scanned = if is_large {
            tokio::task::spawn_blocking(read).await.ok()
        } else {
            catch_unwind(AssertUnwindSafe(read)).ok()
        };
        scanned.unwrap_or_else(|| {
            tracing::error!(url = %page.url, "the page could not be read: its reader panicked");
            // Nothing of it is shown, and none of its links is followed.
            let nothing = scan(b"", Some("application/octet-stream"), &page.url, &self.scan_limits);
            (nothing, TextMarks::default())
        })
    }

    /// What the page's rules say for us, headers before tags (R6 to R9).
    fn directives(&self, reply: &Reply, page: &Page, now: Timestamp) -> Directives {
        let mut collector = self.header_directives(reply, now);
        for tag in &page.robots_meta {
            collector.meta(&tag.name, &tag.content);
        }
        collector.finish()
    }

    /// What the header's rules say.
    pub(super) fn header_directives(&self, reply: &Reply, now: Timestamp) -> Collector<'_> {
        let mut collector = self.settings.page_rules.collector(&self.settings.identity, now);
        for line in reply.headers.get_all("x-robots-tag") {
            collector.header_line(line.as_bytes());
        }
        for line in reply.headers.get_all("robots-tag") {
            collector.robots_tag_line(line.as_bytes());
        }
        collector
    }

    /// What the page record keeps of the page's rules. That some of its text is hidden from
    /// snippets is no directive; it is noted for whoever asks.
    fn directive_notes(&self, directives: &Directives, page: &Page) -> Vec<DirectiveNote> {
        let mut notes: Vec<_> = directives.iter().map(note).collect();
        let both_whole = page.text.len() <= self.scan_limits.snippet_bytes;
        if both_whole && page.snippet_text != page.text {
            let (rule, source) = (HIDES_TEXT.into(), "elements of the page".into());
            notes.push(DirectiveNote { rule, source, agent: None });
        }
        notes
    }
}

/// Why a page is no result of its own, if it is none.
pub(super) fn withheld(publication: &Publication) -> Option<&'static str> {
    match publication {
        Publication::Full(_) => None,
        Publication::EmbeddedOnly(_) => Some(publication.code()),
        Publication::BareUrl(why) | Publication::Nothing(why) => Some(why.code()),
    }
}

pub(super) fn fetched(reply: &Reply, publication: &Publication) -> Fetched {
    let header = |name| header_text(&reply.headers, name);
    Fetched {
        status: reply.status.as_u16(),
        bytes: reply.body.len() as u64,
        truncated: matches!(reply.completeness, Completeness::Truncated),
        content_hash: xxh3_64(&reply.body),
        etag: header("etag"),
        last_modified: header("last-modified"),
        publication: withheld(publication).unwrap_or(publication.code()).into(),
        ..Fetched::default()
    }
}

pub(super) fn note(directive: &Directive) -> DirectiveNote {
    DirectiveNote {
        rule: directive.rule.to_string(),
        source: directive.source.to_string(),
        agent: directive.agent.clone(),
    }
}
