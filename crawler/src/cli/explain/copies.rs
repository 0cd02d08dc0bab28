//! Other addresses of a page, in words and as JSON: which stands for it, which have its text, and
//! which the index has in its place.

use comity_compliance::CanonicalReason;
use comity_storage::{Fetched, Outcome};
use hyper::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use url::Url;

use crate::net::Wall;

/// Each line, with the name that stands before it.
pub(super) fn rows(url: &Url, fetched: &Fetched) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(because) = CanonicalReason::from_code(&fetched.canonical_reason) {
        let address = fetched.canonical.as_ref().map_or("its own", Url::as_str);
        let (code, clause) = (because.code(), because.clause());
        rows.push(("canonical", format!("{address}: {code} ({clause})")));
        if fetched.canonical.as_ref().is_some_and(|other| other != url) {
            rows.push(("", because.advice().to_owned()));
        }
    }
    if let Some(alike) = &fetched.alike {
        let other = &alike.url;
        rows.push(match alike.bits {
            None => ("same text", format!("as {other}")),
            Some(bits) => ("near text", format!("nearly as {other}, {bits} of 64 bits differ")),
        });
    }
    rows
}

/// The same as JSON.
pub(super) fn as_json(fetched: &Fetched) -> Value {
    json!({
        "canonical": fetched.canonical.as_ref().map(Url::as_str),
        "canonical_reason": CanonicalReason::from_code(&fetched.canonical_reason)
            .map(CanonicalReason::code),
        "alike": fetched.alike.as_ref().map(|alike| json!({
            "url": alike.url.as_str(),
            "what": if alike.bits.is_none() { "same-text" } else { "near-text" },
            "bits": alike.bits,
        })),
        "stand_in": fetched.stand_in.as_ref().map(Url::as_str),
    })
}

/// Who asked for a login, by the last visit.
pub(super) fn wall(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Fetched(fetched) => fetched.wall.clone(),
        Outcome::Redirected { status, to } => {
            let mut headers = HeaderMap::new();
            headers.insert("location", to.as_str().parse().ok()?);
            let wall = Wall::of(StatusCode::from_u16(*status).ok()?, &headers);
            wall.map(|wall| wall.code().to_owned())
        }
        Outcome::Refused { .. } | Outcome::Failed { .. } | Outcome::Noted { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use comity_storage::Alike;

    use super::*;

    #[test]
    fn lines() {
        let url = |path: &str| Url::parse("https://a.example").unwrap().join(path).unwrap();
        let fetched = Fetched {
            canonical: Some(url("/c")),
            canonical_reason: "canonical-element".into(),
            alike: Some(Alike { url: url("/b"), bits: Some(2) }),
            ..Fetched::default()
        };
        let rows = rows(&url("/x"), &fetched);
        let lines: Vec<_> = rows.iter().map(|(name, text)| format!("{name}|{text}")).collect();
        assert_eq!(lines[0], "canonical|https://a.example/c: canonical-element (LK-004, LK-007)");
        assert_eq!(lines[2], "near text|nearly as https://a.example/b, 2 of 64 bits differ");
        assert_eq!(as_json(&fetched)["alike"]["what"], "near-text");
        let to_login = Outcome::Redirected { status: 302, to: url("/login") };
        assert_eq!(wall(&to_login).as_deref(), Some("wall-redirect"));
        assert_eq!(wall(&Outcome::Redirected { status: 302, to: url("/c") }), None);
    }
}
