//! What an archive of the crawl gets of each request: what came, and why it was asked for and what
//! was made of it, in words that need no other file.

use comity_compliance::{Grounds, GroundsReason, Timestamp};
use comity_storage::{Fetched, Outcome, PageRecord, Role, Store, Visit};
use serde_json::{Value, json};

use super::{Context, CrawlError};
use crate::net::{FetchError, Reply, Transport};
use crate::output::warc::Exchange;

/// Why a request was permitted, kept beyond the grounds that the request used up.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    reason: GroundsReason,
    evidence: Option<Value>,
    at: Timestamp,
}

impl Decided {
    pub(super) fn of(grounds: &Grounds) -> Self {
        let evidence = grounds
            .evidence()
            .map(|line| json!({ "line": line.line, "group": line.group, "rule": line.rule }));
        Self { reason: grounds.reason(), evidence, at: grounds.decided_at() }
    }

    fn as_json(&self) -> Value {
        json!({
            "decision": "fetch",
            "reason": self.reason.code(),
            "clause": self.reason.clause(),
            "evidence": self.evidence,
            "decided_at": self.at.to_string(),
        })
    }
}

impl<S: Store, T: Transport> Context<S, T> {
    /// Archives what a visit brought. The visit then knows where, so that later ones refer to it.
    pub(super) async fn archive_page(
        &self,
        page: &PageRecord,
        decided: &Decided,
        fetched: &Result<Reply, FetchError>,
        visit: &mut Visit,
    ) -> Result<(), CrawlError> {
        let (Some(archive), Ok(reply)) = (&self.archive, fetched) else { return Ok(()) };
        let purpose = match page.role {
            Role::Page => "page",
            Role::Sitemap => "sitemap",
        };
        let metadata = json!({
            "purpose": purpose,
            "verdict": decided.as_json(),
            "outcome": outcome_as_json(&visit.outcome),
            "transfer": transfer_as_json(reply),
        });
        let known = page.last_fetch().and_then(|(_, fetched)| fetched.archived);
        let exchange = Exchange { reply: reply.clone(), metadata, known };
        let archived = archive.write(exchange).await?;
        if let Outcome::Fetched(fetched) = &mut visit.outcome {
            fetched.archived = Some(archived);
        }
        Ok(())
    }

    /// Archives a request that was made for the site's rules or health, not for a page.
    pub(super) async fn archive_errand(
        &self,
        purpose: &str,
        decided: &Decided,
        fetched: &Result<Reply, FetchError>,
    ) -> Result<(), CrawlError> {
        let (Some(archive), Ok(reply)) = (&self.archive, fetched) else { return Ok(()) };
        let metadata = json!({
            "purpose": purpose,
            "verdict": decided.as_json(),
            "transfer": transfer_as_json(reply),
        });
        archive.write(Exchange { reply: reply.clone(), metadata, known: None }).await?;
        Ok(())
    }

    /// Makes what was archived durable, before the store is told of it.
    pub(super) async fn archive_is_durable(&self) -> Result<(), CrawlError> {
        match &self.archive {
            Some(archive) => Ok(archive.sync().await?),
            None => Ok(()),
        }
    }
}

fn transfer_as_json(reply: &Reply) -> Value {
    json!({
        "wire_bytes": reply.wire_bytes,
        "first_byte_ms": u64::try_from(reply.first_byte.as_millis()).unwrap_or(u64::MAX),
        "total_ms": u64::try_from(reply.total.as_millis()).unwrap_or(u64::MAX),
    })
}

fn outcome_as_json(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Fetched(fetched) => fetched_as_json(fetched),
        Outcome::Redirected { status, to } => {
            json!({ "kind": "redirected", "status": status, "to": to.as_str() })
        }
        Outcome::Failed { code, detail } => {
            json!({ "kind": "failed", "reason": code, "detail": detail })
        }
        Outcome::Refused { code, evidence } => {
            json!({ "kind": "refused", "reason": code, "evidence": evidence })
        }
        Outcome::Noted { reason } => json!({ "kind": "noted", "reason": reason }),
    }
}

fn fetched_as_json(fetched: &Fetched) -> Value {
    let directives: Vec<_> = fetched
        .directives
        .iter()
        .map(|note| json!({ "rule": note.rule, "source": note.source, "agent": note.agent }))
        .collect();
    json!({
        "kind": "fetched",
        "status": fetched.status,
        "publication": fetched.publication,
        "directives": directives,
        "title": fetched.title,
        "canonical": fetched.canonical.as_ref().map(url::Url::as_str),
        "canonical_reason": fetched.canonical_reason,
        "stand_in": fetched.stand_in.as_ref().map(url::Url::as_str),
    })
}
