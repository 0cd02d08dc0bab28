//! Grades an engine by the vectors: asks it, compares its answers, and tells what came of it.

mod asking;
mod engine;
mod expected;
mod faults;
mod html;
mod junit;
mod names;
mod peers;
mod plain;
mod selection;
mod table;

use std::collections::BTreeMap;
use std::error::Error;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::asking::{Asking, Ended};
use crate::vectors::Case;

pub use self::engine::{AskError, Engine, EngineError, Stop};
pub use self::expected::ExpectedFailures;
pub use self::faults::{Fault, caught_by, faults, reaches};
pub use self::html::html;
#[cfg(feature = "trial")]
pub(crate) use self::junit::escape;
pub use self::junit::junit;
pub use self::names::did_you_mean;
pub use self::peers::peers;
pub use self::plain::plain;
pub use self::selection::Selection;
pub use self::table::table;

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
    /// The run ended before.
    #[serde(rename = "not-asked")]
    NotAsked,
}

impl Outcome {
    /// The name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken { .. } => "broken",
            Self::Failed { .. } => "failed",
            Self::Skipped { .. } => "skipped",
            Self::NotAsked => "not-asked",
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
    /// Why the run ended before all was asked, if it did.
    pub ended_early: Option<String>,
    /// What the engine did at the end that it should not have done, and that costs it nothing.
    pub warnings: Vec<String>,
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Some vectors were kept, and none is bad.
    Good,
    /// A vector was not kept, or one was that is expected to fail.
    Bad,
    /// Nothing was answered: every vector was skipped.
    Empty,
    /// The run ended before all was asked.
    Unfinished,
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
    /// these failed; and whether any was kept or failed so.
    pub fn is_good(&self) -> bool {
        self.verdict() == Verdict::Good
    }

    /// What the run comes to.
    pub fn verdict(&self) -> Verdict {
        let tally = self.tally();
        if self.ended_early.is_some() {
            Verdict::Unfinished
        } else if tally.bad > 0 || !self.unexpected.is_empty() {
            Verdict::Bad
        } else if tally.kept + tally.expected == 0 {
            Verdict::Empty
        } else {
            Verdict::Good
        }
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
    /// What was not asked, as the run ended before.
    pub not_asked: usize,
}

impl Tally {
    /// Counts results.
    pub fn of<'a>(results: impl IntoIterator<Item = &'a GradedCase>) -> Self {
        let mut tally = Self::default();
        for result in results {
            let count = match (&result.outcome, result.expected_failure) {
                (Outcome::Kept, _) => &mut tally.kept,
                (Outcome::Skipped { .. }, _) => &mut tally.skipped,
                (Outcome::NotAsked, _) => &mut tally.not_asked,
                (Outcome::Broken { .. } | Outcome::Failed { .. }, false) => &mut tally.bad,
                (Outcome::Broken { .. } | Outcome::Failed { .. }, true) => &mut tally.expected,
            };
            *count += 1;
        }
        tally
    }

    /// All of them.
    pub const fn all(&self) -> usize {
        self.kept + self.bad + self.expected + self.skipped + self.not_asked
    }

    /// Those that the engine was asked and did not skip.
    pub const fn answered(&self) -> usize {
        self.kept + self.bad + self.expected
    }
}

/// Asks the engine every question, and closes it. A run that ends early keeps what came of it: the
/// rest is [`Outcome::NotAsked`].
///
/// # Errors
/// [`EngineError`] if not one question could be asked.
pub fn grade(
    cases: Vec<Case>,
    engine: &mut Engine,
    expected: &ExpectedFailures,
) -> Result<Graded, EngineError> {
    let mut asking = Asking::new(engine, &cases);
    let ended = asking.all().err();
    let mut outcomes = asking.outcomes;
    let ended_early = match ended {
        Some(Ended::Engine(
            error @ (EngineError::Start { .. } | EngineError::NoCommand { .. }),
        )) if outcomes.is_empty() => {
            return Err(error);
        }
        Some(Ended::Engine(error)) => Some(with_sources(&error)),
        Some(error @ Ended::Failures { .. }) => Some(error.to_string()),
        None => None,
    };
    let warnings = engine.close();
    outcomes.resize(cases.len(), Outcome::NotAsked);
    let result = |(case, outcome): (Case, Outcome)| {
        let expected_failure = expected.has(&case.id);
        GradedCase { case, outcome, expected_failure }
    };
    let results: Vec<_> = cases.into_iter().zip(outcomes).map(result).collect();
    let unexpected = expected.unexpected(&results);
    Ok(Graded { engine: engine.command().into(), results, unexpected, ended_early, warnings })
}

fn with_sources(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", with_sources(source)),
        None => error.to_string(),
    }
}

/// What an answer is worth.
fn outcome(case: &Case, answer: Value) -> Outcome {
    let told = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(error) = answer.get("error") {
        return Outcome::Failed {
            error: format!("the engine answers by an error: {}", told(error)),
        };
    }
    if let Some(reason) = answer.get("skip") {
        return Outcome::Skipped { reason: told(reason) };
    }
    if case.accepts(&answer) { Outcome::Kept } else { Outcome::Broken { answer } }
}
