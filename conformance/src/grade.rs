//! Grades an engine by the vectors: asks it, compares its answers, and tells what came of it.

mod engine;
mod expected;
mod faults;
mod html;
mod junit;
mod peers;
mod table;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::vectors::{Case, Level, Policy};

pub use self::engine::{AskError, Engine, EngineError};
pub use self::expected::ExpectedFailures;
pub use self::faults::{Fault, caught_by, faults};
pub use self::html::html;
#[cfg(feature = "trial")]
pub(crate) use self::junit::escape;
pub use self::junit::junit;
pub use self::peers::peers;
pub use self::table::table;

/// Which vectors are asked: empty lists mean all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Subjects, by name or the beginning of one.
    pub subjects: Vec<String>,
    /// Levels.
    pub levels: Vec<Level>,
    /// Requirement numbers, those in [`Case::also`] too.
    pub clauses: Vec<String>,
    /// Policies; vectors that are right whoever reads are asked all the same.
    pub policies: Vec<Policy>,
}

impl Selection {
    /// Whether a vector is asked.
    pub fn has(&self, case: &Case) -> bool {
        let clauses = || std::iter::once(&case.clause).chain(&case.also);
        let named = |wanted: &String| clauses().any(|clause| clause.eq_ignore_ascii_case(wanted));
        let subject = |wanted: &String| case.subject.starts_with(wanted.as_str());
        let of_policy = |policy| self.policies.contains(&policy);
        (self.subjects.is_empty() || self.subjects.iter().any(subject))
            && (self.levels.is_empty() || self.levels.contains(&case.level))
            && (self.clauses.is_empty() || self.clauses.iter().any(named))
            && (self.policies.is_empty() || case.policy.is_none_or(of_policy))
    }
}

/// What came of one question.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// The answer is right.
    Kept,
    /// It is not.
    Broken {
        /// What was answered.
        answer: Value,
    },
    /// The engine did not answer: it died, ran out of time, or said what is no answer.
    Failed {
        /// Which of these, in words.
        error: String,
    },
    /// The engine does not do such things.
    Skipped {
        /// What it says of that.
        reason: String,
    },
}

impl Outcome {
    /// The name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken { .. } => "broken",
            Self::Failed { .. } => "failed",
            Self::Skipped { .. } => "skipped",
        }
    }

    /// Whether a vector was asked and not kept.
    pub const fn is_bad(&self) -> bool {
        matches!(self, Self::Broken { .. } | Self::Failed { .. })
    }
}

/// All questions that were asked, and what came of each.
#[derive(Debug, Serialize)]
pub struct Graded {
    /// The command of the engine.
    pub engine: String,
    /// One result a question.
    pub results: Vec<GradedCase>,
    /// Vectors that were expected to fail, and did not, or were not asked.
    pub unexpected: Vec<String>,
}

/// One result.
#[derive(Debug, Serialize)]
pub struct GradedCase {
    /// The vector.
    #[serde(flatten)]
    pub case: Case,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Whether it stands in the list of expected failures.
    pub expected_failure: bool,
}

impl Graded {
    /// Whether every vector was kept or skipped, those apart that are expected to fail, and all of
    /// these failed.
    pub fn is_good(&self) -> bool {
        self.unexpected.is_empty() && self.bad().next().is_none()
    }

    /// The results that speak against the engine.
    pub fn bad(&self) -> impl Iterator<Item = &GradedCase> {
        self.results.iter().filter(|result| result.outcome.is_bad() && !result.expected_failure)
    }

    /// How many results there are of each outcome.
    pub fn tally(&self) -> Tally {
        Tally::of(&self.results)
    }

    /// The results by subject.
    pub fn by_subject(&self) -> BTreeMap<&str, Vec<&GradedCase>> {
        self.by(|result| result.case.subject.as_str())
    }

    /// The results by the requirement that they show.
    pub fn by_clause(&self) -> BTreeMap<&str, Vec<&GradedCase>> {
        self.by(|result| result.case.clause.as_str())
    }

    fn by<'a>(
        &'a self,
        key: impl Fn(&'a GradedCase) -> &'a str,
    ) -> BTreeMap<&'a str, Vec<&'a GradedCase>> {
        let mut groups: BTreeMap<&str, Vec<&GradedCase>> = BTreeMap::new();
        for result in &self.results {
            groups.entry(key(result)).or_default().push(result);
        }
        groups
    }
}

/// How many results there are of each outcome.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Right answers.
    pub kept: usize,
    /// Wrong ones, and none at all.
    pub bad: usize,
    /// Wrong ones that were expected.
    pub expected: usize,
    /// What the engine does not do.
    pub skipped: usize,
}

impl Tally {
    /// Counts results.
    pub fn of<'a>(results: impl IntoIterator<Item = &'a GradedCase>) -> Self {
        let mut tally = Self::default();
        for result in results {
            let count = match (&result.outcome, result.expected_failure) {
                (Outcome::Kept, _) => &mut tally.kept,
                (Outcome::Skipped { .. }, _) => &mut tally.skipped,
                (Outcome::Broken { .. } | Outcome::Failed { .. }, false) => &mut tally.bad,
                (Outcome::Broken { .. } | Outcome::Failed { .. }, true) => &mut tally.expected,
            };
            *count += 1;
        }
        tally
    }

    /// All of them.
    pub const fn all(&self) -> usize {
        self.kept + self.bad + self.expected + self.skipped
    }
}

/// Asks the engine every question.
///
/// # Errors
/// [`EngineError`] if it cannot be started, or died too often.
pub fn grade(
    cases: Vec<Case>,
    engine: &mut Engine,
    expected: &ExpectedFailures,
) -> Result<Graded, EngineError> {
    let mut results = Vec::with_capacity(cases.len());
    for case in cases {
        let outcome = outcome(&case, engine.ask(&case.question())?);
        let expected_failure = expected.has(&case.id);
        results.push(GradedCase { case, outcome, expected_failure });
    }
    let unexpected = expected.unexpected(&results);
    Ok(Graded { engine: engine.command().into(), results, unexpected })
}

/// What an answer is worth.
fn outcome(case: &Case, answer: Result<Value, AskError>) -> Outcome {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return Outcome::Failed { error: error.to_string() },
    };
    if let Some(reason) = answer.get("skip") {
        let reason = reason.as_str().map_or_else(|| reason.to_string(), str::to_owned);
        return Outcome::Skipped { reason };
    }
    if let Some(error) = answer.get("error") {
        let error = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Outcome::Failed { error: format!("the engine answers by an error: {error}") };
    }
    if case.accepts(&answer) { Outcome::Kept } else { Outcome::Broken { answer } }
}
