//! Requests and answers; `tests/it/bulk.rs` has the sink at work.

use super::answer::{Fate, fates};
use super::request::{Kind, actions, bytes_of, fitting};
use crate::index::{Document, Form, IndexChange, ShowLimits};

fn put(key: u8, title: &str) -> IndexChange {
    IndexChange::Put(Box::new(Document {
        key: [key; 16],
        url: format!("https://example.org/{key}"),
        site: "example.org".into(),
        title: title.into(),
        text: "words".into(),
        headings: String::new(),
        snippet_text: None,
        language: "en".into(),
        canonical: None,
        fetched_at_ms: 1,
        dated_ms: None,
        links: vec![],
        embeds: vec![],
        hidden_embeds: vec![],
        structured: vec![],
        expires_at_ms: None,
        form: Form::Full,
        limits: ShowLimits::default(),
    }))
}

fn withdraw(key: u8) -> IndexChange {
    IndexChange::Withdraw { key: [key; 16] }
}

/// Of several changes of a document the last counts.
#[test]
fn the_last_change_counts() {
    let changes =
        [put(1, "old"), put(2, "a"), withdraw(2), withdraw(3), put(1, "new"), put(3, "b")];
    let actions = actions(&changes, "pages");
    let kinds: Vec<_> = actions.iter().map(|a| (&a.id()[..2], a.kind())).collect();
    assert_eq!(kinds, [("02", Kind::Delete), ("01", Kind::Index), ("03", Kind::Index)]);
    let text = super::body(&actions);
    assert!(
        text.starts_with(
            "{\"delete\":{\"_id\":\"02020202020202020202020202020202\",\"_index\":\"pages\"}}\n"
        ),
        "{text}"
    );
    assert!(text.contains("\"title\":\"new\"") && !text.contains("old") && text.ends_with('\n'));
    assert_eq!(text.lines().count(), 5);
    assert_eq!(fitting(&actions, usize::MAX), 3);
    assert_eq!(fitting(&actions, 1), 1);
    assert_eq!(fitting(&actions, bytes_of(&actions) - 1), 2);
}

/// One line, one case: a status of a put and of a withdrawal, and what becomes of each.
#[test]
fn fates_by_status() {
    let actions = actions(&[put(1, "a"), withdraw(2)], "pages");
    let (done, again, rejected) = ("done", "again", "rejected");
    for (put, withdrawal, expect) in [
        (200, 200, [done, done]),
        (201, 404, [done, done]),
        (429, 503, [again, again]),
        (400, 429, [rejected, again]),
        (404, 500, [rejected, again]),
    ] {
        let answer = serde_json::json!({"errors": true, "items": [
            {"index": {"_id": actions[0].id(), "status": put, "error": {"type": "x"}}},
            {"delete": {"_id": actions[1].id(), "status": withdrawal}},
        ]});
        let fates = fates(answer.to_string().as_bytes(), &actions).unwrap();
        let found: Vec<_> = fates
            .iter()
            .map(|fate| match fate {
                Fate::Done => done,
                Fate::Again(_) => again,
                Fate::Rejected(_) => rejected,
            })
            .collect();
        assert_eq!(found, expect, "{put} {withdrawal}");
    }
    for (answer, expect) in [
        ("<html>", "none of the bulk API"),
        ("{}", "no items"),
        ("{\"items\":[]}", "0 items for 2 actions"),
        ("{\"items\":[{},{}]}", "an empty item"),
        ("{\"items\":[{\"index\":{\"_id\":\"x\"}},{}]}", "items in another order"),
    ] {
        let error = fates(answer.as_bytes(), &actions).unwrap_err();
        assert!(error.contains(expect), "{answer}: {error}");
    }
}
