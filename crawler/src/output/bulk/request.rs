//! Changes as lines of a bulk request.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::index::{Document, DocumentKey, Form, ImagePreview, IndexChange, Permission};

/// Actions of one request.
const MOST_ACTIONS: usize = 1_000;

/// One action: its lines, each with its end.
#[derive(Clone, Debug)]
pub(super) struct Action {
    kind: Kind,
    id: String,
    url: Option<String>,
    lines: String,
}

/// What an action does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Puts a document in, in the place of one with its id.
    Index,
    /// Takes it out.
    Delete,
}

impl Action {
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The page's address; empty where it is taken out.
    pub(super) fn url(&self) -> &str {
        self.url.as_deref().unwrap_or_default()
    }

    fn of(change: &IndexChange, index: &str) -> Self {
        match change {
            IndexChange::Put(document) => {
                let id = id(&document.key);
                let action = json!({ "index": { "_index": index, "_id": id } });
                let lines = format!("{action}\n{}\n", as_json(document));
                Self { kind: Kind::Index, id, url: Some(document.url.clone()), lines }
            }
            IndexChange::Withdraw { key } => {
                let id = id(key);
                let action = json!({ "delete": { "_index": index, "_id": id } });
                Self { kind: Kind::Delete, id, url: None, lines: format!("{action}\n") }
            }
        }
    }
}

/// What a document is known by there: the hash of its URL.
fn id(key: &DocumentKey) -> String {
    format!("{:032x}", u128::from_be_bytes(*key))
}

/// The actions for changes. Of several for one document only the last counts: were an earlier one
/// sent again, it would undo the later.
pub(super) fn actions(changes: &[IndexChange], index: &str) -> Vec<Action> {
    let key = |change: &IndexChange| match change {
        IndexChange::Put(document) => document.key,
        IndexChange::Withdraw { key } => *key,
    };
    let last: HashMap<_, _> = changes.iter().enumerate().map(|(at, c)| (key(c), at)).collect();
    let counts = |(at, change): &(usize, &IndexChange)| last.get(&key(change)) == Some(at);
    let counting = changes.iter().enumerate().filter(counts);
    counting.map(|(_, change)| Action::of(change, index)).collect()
}

/// The same content as the own index has.
fn as_json(document: &Document) -> Value {
    let limits = &document.limits;
    json!({
        "url": document.url,
        "site": document.site,
        "title": document.title,
        "headings": document.headings,
        "text": document.text,
        "snippet_text": document.snippet_text.as_ref().unwrap_or(&document.text),
        "language": document.language,
        "canonical": document.canonical,
        "fetched_at_ms": document.fetched_at_ms,
        "dated_ms": document.dated_ms,
        "structured_data": document.structured,
        "expires_at_ms": document.expires_at_ms,
        "form": match document.form {
            Form::Full => "full",
            Form::Embedded => "embedded",
            Form::Bare => "bare",
        },
        "snippet_chars": limits.snippet_chars,
        "image_preview": match limits.image_preview {
            ImagePreview::None => "none",
            ImagePreview::Standard => "standard",
            ImagePreview::Large => "large",
        },
        "video_preview_s": limits.video_preview_s,
        "no_translate": limits.translation == Permission::Withheld,
        "no_image_index": limits.image_indexing == Permission::Withheld,
    })
}

/// How many of the actions, from the first on, one request takes; one at least.
pub(super) fn fitting(actions: &[Action], most_bytes: usize) -> usize {
    let mut bytes = 0_usize;
    let fits = actions.iter().take(MOST_ACTIONS).take_while(|action| {
        bytes = bytes.saturating_add(action.lines.len());
        bytes <= most_bytes
    });
    fits.count().max(1)
}

pub(super) fn bytes_of(actions: &[Action]) -> usize {
    actions.iter().map(|action| action.lines.len()).sum()
}

pub(super) fn body(actions: &[Action]) -> String {
    actions.iter().map(|action| action.lines.as_str()).collect()
}
