//! The order in which an engine is asked, so that no answer is taken for that of another question.
//!
//! An answer need not say what it answers, so a line too many would shift all that follow. The engine
//! is therefore asked in blocks, each with a moment of silence at its end. Whatever goes wrong in a
//! block puts all of it in doubt: it is asked again, each question with a silence of its own, and the
//! question that fails then is the one that is at fault. Answers that name their question need no
//! silence, and are in doubt only if a line came that does not belong.

use std::time::Duration;

use serde_json::Value;

use super::engine::{AskError, Engine, EngineError};
use super::{Outcome, outcome};
use crate::vectors::Case;

/// Questions between two silences.
const BLOCK: usize = 32;

/// The least silence at the end of a block.
const SILENCE: Duration = Duration::from_millis(10);

/// The same after a question that is asked again.
const LONG_SILENCE: Duration = Duration::from_millis(50);

/// Failures after which an engine is asked no more.
const MOST_FAILURES: usize = 20;

/// The same for an engine that never answered.
const MOST_AT_FIRST: usize = 5;

/// Why a run ended before all was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ended {
    /// The engine cannot be asked.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It failed over and over.
    #[error("the engine failed {times} times, at last at {case}: {last}")]
    Failures {
        times: usize,
        /// The last question.
        case: String,
        /// What happened then.
        last: String,
    },
}

/// A run under way.
pub(super) struct Asking<'a> {
    engine: &'a mut Engine,
    cases: &'a [Case],
    /// Of the cases from the first on.
    pub(super) outcomes: Vec<Outcome>,
    /// How many of these are beyond doubt.
    settled: usize,
    /// Whether each answer since then has its question's id.
    are_named: bool,
    failures: usize,
}

impl<'a> Asking<'a> {
    pub(super) fn new(engine: &'a mut Engine, cases: &'a [Case]) -> Self {
        Self { engine, cases, outcomes: Vec::new(), settled: 0, are_named: true, failures: 0 }
    }

    /// Asks every question.
    pub(super) fn all(&mut self) -> Result<(), Ended> {
        for case in self.cases {
            let asked = match self.engine.ask(&case.question())? {
                Ok(answer) => {
                    self.are_named &= answer.get("id").is_some();
                    self.outcomes.push(outcome(case, answer));
                    self.settle_block()?
                }
                Err(error) if self.is_own_fault(&error) => {
                    self.fail(case, &error)?;
                    self.settle(self.outcomes.len());
                    Ok(())
                }
                Err(error) => {
                    self.outcomes.push(failed(&error));
                    Err(error)
                }
            };
            if let Err(error) = asked {
                self.ask_block_again(&error)?;
            }
        }
        Ok(())
    }

    /// Whether no question before can be to blame: none is in doubt, or all have their own answers
    /// and no line came that may be theirs too.
    fn is_own_fault(&self, error: &AskError) -> bool {
        let came_no_line = matches!(error, AskError::Died(_) | AskError::Late(_));
        self.outcomes.len() == self.settled || (self.are_named && came_no_line)
    }

    /// At the end of a block, listens whether the engine has more to say.
    fn settle_block(&mut self) -> Result<Result<(), AskError>, EngineError> {
        let count = self.outcomes.len();
        let is_last = count == self.cases.len();
        if count - self.settled < BLOCK && !is_last {
            return Ok(Ok(()));
        }
        if self.are_named && !is_last {
            // A line too many after an earlier answer would have come before this one.
            self.settle(count - 1);
            return Ok(Ok(()));
        }
        let silent = self.engine.settle(SILENCE)?;
        if silent.is_ok() {
            self.settle(count);
        }
        Ok(silent)
    }

    fn settle(&mut self, count: usize) {
        self.settled = count;
        self.are_named = true;
    }

    /// Asks what is in doubt again. If it all goes well now, what went wrong is the last question's.
    fn ask_block_again(&mut self, error: &AskError) -> Result<(), Ended> {
        let until = self.outcomes.len();
        self.outcomes.truncate(self.settled);
        let failures_before = self.failures;
        let cases = self.cases;
        for case in cases.iter().take(until).skip(self.settled) {
            match self.ask_alone(&case.question())? {
                Ok(answer) => self.outcomes.push(outcome(case, answer)),
                Err(error) => self.fail(case, &error)?,
            }
        }
        if self.failures == failures_before
            && let Some(case) = cases.get(until - 1)
        {
            self.outcomes.pop();
            self.fail(case, error)?;
        }
        self.settle(self.outcomes.len());
        Ok(())
    }

    fn ask_alone(&mut self, question: &Value) -> Result<Result<Value, AskError>, EngineError> {
        Ok(match self.engine.ask(question)? {
            Ok(answer) => self.engine.settle(LONG_SILENCE)?.map(|()| answer),
            Err(error) => Err(error),
        })
    }

    fn fail(&mut self, case: &Case, error: &AskError) -> Result<(), Ended> {
        self.outcomes.push(failed(error));
        self.failures += 1;
        let most = if self.engine.has_answered() { MOST_FAILURES } else { MOST_AT_FIRST };
        if self.failures < most {
            return Ok(());
        }
        let (times, case) = (self.failures, case.id.clone());
        Err(Ended::Failures { times, case, last: error.to_string() })
    }
}

fn failed(error: &AskError) -> Outcome {
    Outcome::Failed { error: error.to_string() }
}
