//! What a crawl says of what it does: to the listener, to the counts and to the audit log.

use comity_compliance::Timestamp;
use comity_storage::PageRecord;
use url::Url;

use super::Context;
use super::audit::{Line, instant};
use super::report::Event;

impl<S, T> Context<S, T> {
    pub(super) fn flush_audit(&self) {
        if let Some(audit) = &self.audit {
            audit.flush();
        }
    }

    /// Tells the listener, the counts and the audit log of an event.
    pub(super) fn tell(&self, event: &Event<'_>) {
        self.reporter.tell(event);
        match event {
            Event::Fetched { url, status, withheld } => {
                self.log(url, "fetched", &status.to_string(), *withheld, None);
            }
            Event::Refused { url, reason, evidence } => {
                self.log(url, "refused", reason, *evidence, None);
            }
            Event::Failed { url, reason, detail, retry_at } => {
                self.log(url, "failed", reason, Some(detail), *retry_at);
            }
            Event::Extracted { url, items } => {
                self.log(url, "extracted", &items.to_string(), None, None);
            }
            Event::ExtractFailed { url, extractor, detail } => {
                self.log(url, "extract-failed", extractor, Some(detail), None);
            }
            Event::Waits { url, cause, detail, until } => {
                self.log(url, "waits", cause.code(), Some(detail), Some(*until));
            }
        }
    }

    pub(super) fn tell_redirect(&self, from: &Url, to: &Url, status: u16) {
        self.log(from, "redirected", &status.to_string(), Some(to.as_str()), None);
    }

    /// Tells the audit log why a page was asked for before others of its site, unless it is depth.
    pub(super) fn tell_order(&self, page: &PageRecord) {
        if let (Some(why), None) = (&page.why, &page.last) {
            let evidence = format!("priority {}: {why}", page.priority);
            self.log(&page.url, "taken", "priority", Some(&evidence), None);
        }
    }

    pub(super) fn drop_link(&self, from: &Url, to: &Url, reason: &str) {
        self.reporter.count(|counts| {
            *counts.dropped_links.entry(reason.into()).or_default() += 1;
        });
        self.log(to, "link-dropped", reason, Some(from.as_str()), None);
    }

    pub(super) fn log(
        &self,
        url: &Url,
        what: &'static str,
        why: &str,
        evidence: Option<&str>,
        until: Option<Timestamp>,
    ) {
        let Some(audit) = &self.audit else { return };
        let at = instant(self.clock.now());
        audit.write(&Line {
            at,
            url: url.as_str(),
            what,
            why,
            evidence,
            until: until.map(instant),
        });
    }
}
