//! When a page is looked at again, and what sitemaps have to say in it: in words and as JSON.

use comity_compliance::{ClaimTally, LastmodTrust, PageChange, Timestamp};
use comity_storage::PageRecord;
use serde_json::{Value, json};

use crate::cli::terminal::duration;

/// Each line on a page, with the name that stands before it.
pub(super) fn rows(page: &PageRecord, now: Timestamp) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let why = if page.revisit { ", to see whether it has changed" } else { "" };
    rows.push(match page.due {
        Some(due) if due > now => {
            ("next due", format!("{due}, in {}{why}", duration(due.since(now))))
        }
        Some(_) => ("next due", format!("now{why}")),
        None => ("next due", "not by itself".into()),
    });
    match (page.due.filter(|_| !page.revisit), &page.why) {
        (Some(_), why) => {
            let why = why.as_deref().unwrap_or("links from a seed");
            rows.push(("priority", format!("{}, of 0 to 255, 0 first: {why}", page.priority)));
        }
        (None, Some(why)) => rows.push(("priority", format!("was queued for: {why}"))),
        (None, None) => {}
    }
    if let Some(every) = page.every {
        let every = duration(every);
        rows.push(("looked at", format!("every {every} as of its last visit; changes shorten it")));
    }
    if let Some(claimed) = page.claimed {
        rows.push(("sitemap", format!("says that it changed last at {claimed}")));
    }
    rows
}

/// How far the dates of a site's sitemaps are believed.
pub(super) fn trust_row(trust: &LastmodTrust) -> Option<(&'static str, String)> {
    let checks = [(trust.changed, PageChange::Changed), (trust.unchanged, PageChange::Unchanged)];
    if checks.iter().all(|(tally, _)| tally.right == 0 && tally.wrong == 0) {
        return None;
    }
    let words = checks.map(|(ClaimTally { right, wrong }, claim)| {
        let believed = if trust.believes(claim) { "believed" } else { "not believed" };
        let what = match claim {
            PageChange::Changed => "of changes",
            PageChange::Unchanged => "of none",
        };
        format!("{what} {believed}, {right} right and {wrong} wrong")
    });
    Some(("lastmod", words.join("; ")))
}

/// The same as JSON.
pub(super) fn as_json(page: &PageRecord) -> Value {
    json!({
        "only_to_see_a_change": page.revisit,
        "every_s": page.every.map(|every| every.as_secs()),
        "sitemap_claims_change_at": page.claimed.map(|at| at.to_string()),
    })
}

/// The trust as JSON.
pub(super) fn trust_json(trust: &LastmodTrust) -> Value {
    let one = |tally: ClaimTally, claim| {
        let (right, wrong) = (tally.right, tally.wrong);
        json!({ "believed": trust.believes(claim), "right": right, "wrong": wrong })
    };
    json!({
        "changed": one(trust.changed, PageChange::Changed),
        "unchanged": one(trust.unchanged, PageChange::Unchanged),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust() {
        assert_eq!(trust_row(&LastmodTrust::default()), None);
        let changed = ClaimTally { right: 5, wrong: 1 };
        let unchanged = ClaimTally { right: 1, wrong: 0 };
        let trust = LastmodTrust { changed, unchanged };
        let (_, words) = trust_row(&trust).unwrap();
        assert_eq!(
            words,
            "of changes believed, 5 right and 1 wrong; of none not believed, 1 right and 0 wrong"
        );
        assert_eq!(trust_json(&trust)["changed"]["believed"], true);
    }
}
