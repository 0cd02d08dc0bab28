//! Which vectors an engine is expected not to keep.

use super::{GradedCase, Outcome, did_you_mean};
use crate::vectors::Case;

/// A list of expected failures: an id a line, or the beginning of several and `*`; what follows
/// `#` is a comment.
#[derive(Clone, Debug, Default)]
pub struct ExpectedFailures {
    lines: Vec<String>,
}

impl ExpectedFailures {
    /// Reads such a list.
    pub fn read(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        Self { lines: lines.filter(|line| !line.is_empty()).map(str::to_owned).collect() }
    }

    /// Whether a vector is expected to fail.
    pub fn has(&self, id: &str) -> bool {
        self.lines.iter().any(|line| covers(line, id))
    }

    /// The first line that no vector of the suite answers to, as a sentence.
    pub fn unknown(&self, suite: &[Case]) -> Option<String> {
        let ids = || suite.iter().map(|case| case.id.as_str());
        let line = self.lines.iter().find(|line| !ids().any(|id| covers(line, id)))?;
        Some(format!("no vector has the id {line}{}", did_you_mean(line, ids())))
    }

    /// The lines that speak of one of these vectors: for a run that asks a part of them.
    #[must_use]
    pub fn of(mut self, cases: &[Case]) -> Self {
        self.lines.retain(|line| cases.iter().any(|case| covers(line, &case.id)));
        self
    }

    /// What went otherwise than the list says: a vector of it that was kept, and a line that no
    /// vector answers to.
    pub(super) fn unexpected(&self, results: &[GradedCase]) -> Vec<String> {
        let kept = results
            .iter()
            .filter(|result| result.expected_failure && result.outcome == Outcome::Kept)
            .map(|result| format!("{} is expected to fail, and is kept", result.case.id));
        let idle = self
            .lines
            .iter()
            .filter(|line| !results.iter().any(|result| covers(line, &result.case.id)))
            .map(|line| format!("{line} is expected to fail, and was not asked"));
        kept.chain(idle).collect()
    }
}

fn covers(line: &str, id: &str) -> bool {
    line.strip_suffix('*').map_or(line == id, |start| id.starts_with(start))
}
