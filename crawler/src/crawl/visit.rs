//! What one request taught, as one [`Visit`]: outcome, found links, what the index may have, and
//! when the URL is due again.

use comity_compliance::directives::Directives;
use comity_compliance::links::{Follow, judge_link};
use comity_compliance::publication::Publication;
use comity_compliance::{Answer, Timestamp, retry_at};
use comity_storage::{Fetched, Found, Outcome, PageRecord, Plan, Review, Store, DirectiveNote, Via, Visit};
use url::Url;

use super::Context;
use super::report::Event;
use crate::index::{Document, IndexChange, document_key};
use super::reply::{header_text, retry_after};
use crate::net::{Completeness, FetchError, FetchErrorKind, Reply, Transport};
use crate::page::{LinkKind, Page, PageKind, scan};
use crate::urls;

/// A visit that made no request.
pub(super) fn without_request(page: &PageRecord, at: Timestamp, outcome: Outcome) -> Visit {
    Visit {
        url: page.url.clone(),
        at,
        outcome,
        next: None,
        priority: 0,
        found: vec![],
        sink: None,
        index_review: Review::Unchanged,
    }
}

/// The visit that a request made.
pub(super) async fn of<S: Store, T: Transport>(
    context: &Context<S, T>,
    page: PageRecord,
    fetched: Result<Reply, FetchError>,
) -> Visit {
    let now = context.clock.now();
    let reply = match fetched {
        Ok(reply) => reply,
        Err(error) => return failed(context, &page, &error, now),
    };
    context.reporter.count(|counts| counts.wire_bytes += reply.wire_bytes);
    match (reply.status.as_u16(), header_text(&reply.headers, "location")) {
        (301 | 302 | 303 | 307 | 308, Some(location)) => {
            redirected(context, &page, &reply, &location, now)
        }
        (200..=299, _) => received(context, page, reply, now).await,
        (429 | 500..=599, _) => overloaded(context, &page, &reply, now),
        (status, _) => {
            let outcome = fetched_outcome(&reply, None, "nothing:http-status");
            context.tell(&Event::Fetched { url: &page.url, status, withheld: Some("http-status") });
            Visit { sink: withdraw(&page), ..without_request(&page, now, outcome) }
        }
    }
}

fn failed<S: Store, T: Transport>(
    context: &Context<S, T>,
    page: &PageRecord,
    error: &FetchError,
    now: Timestamp,
) -> Visit {
    let detail = error.in_words();
    if matches!(error.kind, FetchErrorKind::BlockedAddress { .. }) {
        let reason = error.kind.code();
        context.tell(&Event::Refused { url: &page.url, reason, evidence: Some(&detail) });
        let outcome = Outcome::Refused { code: reason.into(), evidence: Some(detail) };
        return without_request(page, now, outcome);
    }
    failure(context, page, error.kind.code(), detail, Answer::Unanswered, now)
}

fn overloaded<S: Store, T: Transport>(
    context: &Context<S, T>,
    page: &PageRecord,
    reply: &Reply,
    now: Timestamp,
) -> Visit {
    let answer = Answer::of(reply.status.as_u16(), retry_after(&reply.headers, now));
    let code = if reply.status.as_u16() == 429 { "too-many-requests" } else { "server-error" };
    failure(context, page, code, format!("status {}", reply.status.as_u16()), answer, now)
}

fn failure<S: Store, T: Transport>(
    context: &Context<S, T>,
    page: &PageRecord,
    code: &str,
    detail: String,
    answer: Answer,
    now: Timestamp,
) -> Visit {
    let next = retry_at(&context.settings.policy, page.attempts.saturating_add(1), answer, now);
    context.tell(&Event::Failed { url: &page.url, reason: code, detail: &detail, retry_at: next });
    let outcome = Outcome::Failed { code: code.into(), detail };
    Visit { next, ..without_request(page, now, outcome) }
}

fn redirected<S: Store, T: Transport>(
    context: &Context<S, T>,
    page: &PageRecord,
    reply: &Reply,
    location: &str,
    now: Timestamp,
) -> Visit {
    context.reporter.count(|counts| counts.redirected += 1);
    let hops = page.hops.saturating_add(1);
    let target = page.url.join(location).ok().map(|to| urls::normalise(&to));
    let target = target.filter(|to| matches!(to.scheme(), "http" | "https"));
    let (code, detail) = match &target {
        None => ("bad-redirect", format!("status {} to \"{location:.200}\"", reply.status.as_u16())),
        Some(to) if hops > context.settings.policy.redirect_hops => {
            ("too-many-redirects", format!("hop {hops}, to {to}"))
        }
        Some(to) if *to == page.url => ("redirect-loop", format!("status {} to itself", reply.status.as_u16())),
        Some(to) => {
            let outcome = Outcome::Redirected { status: reply.status.as_u16(), to: to.clone() };
            let plan = plan_for(context, to, page.depth);
            let found = Found {
                url: to.clone(),
                depth: page.depth,
                hops,
                via: Via::Redirect,
                from: Some(page.url.clone()),
                at: now,
                plan: plan.unwrap_or_else(|reason| Plan::Note { reason: reason.into() }),
            };
            context.tell_redirect(&page.url, to, reply.status.as_u16());
            let found = vec![found];
            let sink = withdraw(page);
            return Visit { found, sink, ..without_request(page, now, outcome) };
        }
    };
    context.tell(&Event::Failed { url: &page.url, reason: code, detail: &detail, retry_at: None });
    without_request(page, now, Outcome::Failed { code: code.into(), detail })
}

async fn received<S: Store, T: Transport>(
    context: &Context<S, T>,
    page: PageRecord,
    reply: Reply,
    now: Timestamp,
) -> Visit {
    let content_type = header_text(&reply.headers, "content-type");
    let (url, body, limits) = (page.url.clone(), reply.body.clone(), context.scan_limits.clone());
    // A page of two megabytes takes longer to read than other tasks should wait for.
    let scanned = tokio::task::spawn_blocking(move || {
        scan(&body, content_type.as_deref(), &url, &limits)
    });
    let scanned = match scanned.await {
        Ok(scanned) => scanned,
        Err(panic) => {
            tracing::error!(url = %page.url, %panic, "the page could not be read");
            Page::default()
        }
    };
    let directives = directives(context, &reply, &scanned);
    let publication = Publication::of(&directives, now);
    let (sink, shown_as, withheld) = match scanned.kind {
        PageKind::Other => (withdraw(&page), "nothing:content-type".into(), Some("content-type")),
        PageKind::Html | PageKind::Text => sink(context, &page, &scanned, &publication, now),
    };
    if matches!(reply.completeness, Completeness::Truncated) {
        context.reporter.count(|counts| counts.truncated += 1);
    }
    context.tell(&Event::Fetched { url: &page.url, status: reply.status.as_u16(), withheld });
    let found = links(context, &page, &scanned, &directives, now);
    let mut fetched = fetched_outcome(&reply, scanned.title.as_deref(), &shown_as);
    if let Outcome::Fetched(fetched) = &mut fetched {
        fetched.directives = directives.iter().map(stored).collect();
    }
    let index_review = publication.until().map_or(Review::Never, Review::At);
    Visit { found, sink, index_review, ..without_request(&page, now, fetched) }
}

/// What the page's rules say for us, headers before tags (R6 to R9).
fn directives<S, T>(context: &Context<S, T>, reply: &Reply, page: &Page) -> Directives {
    let mut collector = Directives::for_identity(&context.settings.identity);
    for line in reply.headers.get_all("x-robots-tag") {
        collector.header_line(line.as_bytes());
    }
    for tag in &page.robots_meta {
        collector.meta(&tag.name, &tag.content);
    }
    collector.finish()
}

/// The change for the index, what the page may be shown as, and why not in full.
fn sink<S, T>(
    context: &Context<S, T>,
    page: &PageRecord,
    scanned: &Page,
    publication: &Publication,
    now: Timestamp,
) -> (Option<Vec<u8>>, String, Option<&'static str>) {
    let terms = match publication {
        Publication::Full(terms) | Publication::EmbeddedOnly(terms) => terms,
        Publication::BareUrl(withheld) | Publication::Nothing(withheld) => {
            let reason = withheld.code();
            return (withdraw(page), format!("nothing:{reason}"), Some(reason));
        }
    };
    let (form, withheld) = match publication {
        Publication::EmbeddedOnly(_) => ("embedded", Some("embedded-only")),
        Publication::Full(_) | Publication::BareUrl(_) | Publication::Nothing(_) => ("full", None),
    };
    if !context.settings.index {
        return (None, form.into(), withheld);
    }
    let document = Document::new(&page.url, scanned, terms, form, now);
    context.reporter.count(|counts| counts.indexed += u64::from(withheld.is_none()));
    (IndexChange::Put(Box::new(document)).to_bytes(), form.into(), withheld)
}

/// A page that was fetched before may be in the index.
fn withdraw(page: &PageRecord) -> Option<Vec<u8>> {
    let change = IndexChange::Withdraw { key: document_key(&page.url) };
    (page.fetches > 0).then(|| change.to_bytes()).flatten()
}

fn fetched_outcome(reply: &Reply, title: Option<&str>, publication: &str) -> Outcome {
    Outcome::Fetched(Fetched {
        status: reply.status.as_u16(),
        bytes: reply.body.len() as u64,
        truncated: !matches!(reply.completeness, Completeness::Whole),
        content_hash: comity_storage::content_hash(&reply.body),
        directives: vec![],
        publication: publication.into(),
        title: title.map(|title| title.chars().take(200).collect()),
    })
}

fn stored(directive: &comity_compliance::directives::Directive) -> DirectiveNote {
    DirectiveNote {
        rule: directive.rule.to_string(),
        source: directive.source.to_string(),
        agent: directive.agent.clone(),
    }
}

/// The links of a page that may lead on, each queued or noted with its reason.
fn links<S: Store, T: Transport>(
    context: &Context<S, T>,
    page: &PageRecord,
    scanned: &Page,
    directives: &Directives,
    now: Timestamp,
) -> Vec<Found> {
    let mut found = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for link in &scanned.links {
        let url = urls::normalise(&link.url);
        let via = match link.kind {
            LinkKind::Hyperlink | LinkKind::Frame => Via::Link,
            LinkKind::Refresh => Via::Refresh,
            LinkKind::Canonical | LinkKind::Alternate => continue,
        };
        // A link that may be followed counts even where another to the same page may not.
        let follow = judge_link(directives, &link.rel);
        if url == page.url || !seen.insert((url.clone(), matches!(follow, Follow::Yes))) {
            continue;
        }
        let depth = page.depth.saturating_add(1);
        let plan = match follow {
            Follow::No(reason) => Err(reason.code()),
            Follow::Yes => plan_for(context, &url, depth),
        };
        let plan = match plan {
            Ok(plan) => plan,
            Err(reason) => {
                context.drop_link(&page.url, &url, reason);
                if !context.scope.contains(&url) {
                    continue;
                }
                Plan::Note { reason: reason.into() }
            }
        };
        found.push(Found { url, depth, hops: 0, via, from: Some(page.url.clone()), at: now, plan });
    }
    found
}

/// Whether a found URL goes into the queue, or the reason why not.
fn plan_for<S, T>(context: &Context<S, T>, url: &Url, depth: u16) -> Result<Plan, &'static str> {
    if !context.scope.contains(url) {
        return Err("out-of-scope");
    }
    if context.settings.depth.is_some_and(|deepest| depth > deepest) {
        return Err("too-deep");
    }
    if let Some(trap) = urls::looks_like_trap(url) {
        return Err(trap.code());
    }
    let priority = u8::try_from(depth).unwrap_or(u8::MAX);
    Ok(Plan::Queue { due: None, priority })
}
