//! What a bulk answer says of each action.

use serde_json::Value;

use super::request::{Action, Kind};

/// What became of an action.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    /// It is carried out.
    Done,
    /// It failed in passing.
    Again(String),
    /// It would fail again.
    Rejected(String),
}

impl Fate {
    /// Why it is to be sent again, if it is.
    pub(super) fn retried(&self) -> Option<&str> {
        match self {
            Self::Again(why) => Some(why),
            Self::Done | Self::Rejected(_) => None,
        }
    }
}

/// The fate of each action, in order.
pub(super) fn fates(body: &[u8], actions: &[Action]) -> Result<Vec<Fate>, String> {
    let no_bulk = |what: &str| format!("its answer is none of the bulk API: {what}");
    let answer: Value = serde_json::from_slice(body).map_err(|e| no_bulk(&e.to_string()))?;
    let items = answer.get("items").and_then(Value::as_array).ok_or_else(|| no_bulk("no items"))?;
    if items.len() != actions.len() {
        let counts = format!("{} items for {} actions", items.len(), actions.len());
        return Err(no_bulk(&counts));
    }
    let fate = |(item, action): (&Value, &Action)| {
        let result = item.as_object().and_then(|item| item.values().next());
        let result = result.ok_or_else(|| no_bulk("an empty item"))?;
        if result.get("_id").and_then(Value::as_str) != Some(action.id()) {
            return Err(no_bulk("items in another order"));
        }
        let status = result.get("status").and_then(Value::as_u64);
        let status = status.ok_or_else(|| no_bulk("an item without a status"))?;
        Ok(fate_of(status, action.kind(), result.get("error")))
    };
    items.iter().zip(actions).map(fate).collect()
}

fn fate_of(status: u64, kind: Kind, error: Option<&Value>) -> Fate {
    let why = || {
        let error: String =
            error.map(Value::to_string).unwrap_or_default().chars().take(300).collect();
        format!("status {status} {error}")
    };
    match status {
        200..=299 => Fate::Done,
        // It is not there, which is all that was wanted.
        404 if kind == Kind::Delete => Fate::Done,
        429 | 500..=599 => Fate::Again(why()),
        _ => Fate::Rejected(why()),
    }
}
