//! An engine under test: a process that reads a question a line and answers by a line.

mod process;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use self::process::Process;

/// How long an engine may take to end once its input is closed.
const FAREWELL: Duration = Duration::from_secs(3);

/// A run that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No process can be started.
    #[error("could not start the engine `{command}`")]
    Start {
        /// The command.
        command: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The shell does not know the command, or must not run it.
    #[error(
        "the engine's command could not be run, the shell says ({status}): `{command}`; is it \
         installed, its path right, and the file executable?"
    )]
    NoCommand {
        /// The command.
        command: String,
        /// How the shell ended.
        status: String,
    },
    /// Somebody asked for it by [`Stop`].
    #[error("stopped by a signal")]
    Stopped,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The process ended.
    #[error("the engine ended instead of answering ({0})")]
    Died(String),
    /// Nothing came in time.
    #[error("no answer within {0:?}")]
    Late(Duration),
    /// What came is no answer.
    #[error("what the engine said is no JSON object: {0}")]
    Babble(String),
    /// What came answers another question.
    #[error("the answer has the id of another question: {0}")]
    OtherId(String),
    /// Something came that nobody had asked for.
    #[error("the engine had said something before it was asked: {0}")]
    Unasked(String),
    /// A second line came for one question.
    #[error("the engine wrote more than one line for one question; the line too many: {0}")]
    Surplus(String),
}

/// Ends a run from outside: whoever holds a copy may stop it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the run: no further question is asked, and the engine is ended.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// An engine. It is started with the first question, and anew after each failure.
#[derive(Debug)]
pub struct Engine {
    command: String,
    limit: Duration,
    stop: Stop,
    process: Option<Process>,
    has_answered: bool,
}

impl Engine {
    /// An engine by its command line, as a shell reads it, and how long it may take to answer.
    pub fn new(command: &str, limit: Duration) -> Self {
        Self {
            command: command.into(),
            limit,
            stop: Stop::default(),
            process: None,
            has_answered: false,
        }
    }

    /// The same, ended by `stop`.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The command.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Whether it ever answered.
    pub(super) const fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Asks a question.
    ///
    /// # Errors
    /// The outer one ends the run, the inner one is about this question; the process is ended then.
    pub fn ask(&mut self, question: &Value) -> Result<Result<Value, AskError>, EngineError> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.command, self.stop.clone())
                .map_err(|source| EngineError::Start { command: self.command.clone(), source })?,
        };
        match process.answer(question, self.limit)? {
            Ok(answer) => {
                self.has_answered = true;
                self.process = Some(process);
                Ok(Ok(answer))
            }
            Err(error) => match process.shell_failure() {
                // A shell says so; an engine that had answered means something else by it.
                Some(status) if !self.has_answered => {
                    Err(EngineError::NoCommand { command: self.command.clone(), status })
                }
                Some(_) | None => Ok(Err(error)),
            },
        }
    }

    /// Listens for a moment, `least` or twice as long as the slowest answer since it did so before:
    /// an engine that says more than its answers is found out, though it may be slow to say it.
    ///
    /// # Errors
    /// The outer one ends the run, the inner one is the line too many; the process is ended then.
    pub fn settle(&mut self, least: Duration) -> Result<Result<(), AskError>, EngineError> {
        let Some(process) = &mut self.process else { return Ok(Ok(())) };
        let silence = (process.slowest() * 2).max(least).min(self.limit);
        let heard = process.more(silence)?;
        Ok(heard.map_or(Ok(()), |line| {
            self.process = None;
            Err(AskError::Surplus(line))
        }))
    }

    /// Closes its input, waits until it ends, and ends it if it does not, with all that it started.
    /// Says what was not as it should be.
    pub fn close(&mut self) -> Vec<String> {
        self.process.take().map(|mut process| process.end(FAREWELL)).unwrap_or_default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::thread;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(300);

    /// One line, one case: what the engine is, and what comes of two questions.
    #[test]
    fn engines_that_fail_are_told_apart() {
        let question = serde_json::json!({ "id": "a/b/c" });
        for (command, first, second) in [
            (
                "while read -r line; do echo '{\"allowed\":true}'; done",
                "{\"allowed\":true}",
                "{\"allowed\":true}",
            ),
            (
                "read -r line; echo '{}'",
                "{}",
                "the engine ended instead of answering (exit status: 0)",
            ),
            (
                "read -r line; exit 7",
                "the engine ended instead of answering (exit status: 7)",
                "the engine ended",
            ),
            (
                "echo 'no\u{1b}[2Jnews' >&2; exit 7",
                "(exit status: 7, after it said: no\\u{1b}[2Jnews)",
                "the engine ended",
            ),
            ("read -r line; echo hello; sleep 9", "no JSON object: \"hello\"", "no JSON object"),
            ("read -r line; echo '[1]'; sleep 9", "no JSON object: \"[1]\"", "no JSON object"),
            ("exec sleep 9", "no answer within 300ms", "no answer"),
            (
                "read -r a; echo '{}'; echo more; exec sleep 9",
                "{}",
                "said something before it was asked: \"more\"",
            ),
            (
                "while read -r a; do echo '{\"id\":\"a/b/c\"}'; done",
                "{\"id\":\"a/b/c\"}",
                "{\"id\":\"a/b/c\"}",
            ),
            ("read -r a; echo '{\"id\":\"a\"}'; exec sleep 9", "of another question: \"a\"", "id"),
        ] {
            let mut engine = Engine::new(command, LIMIT);
            for (at, expect) in [first, second].into_iter().enumerate() {
                let said = match engine.ask(&question).unwrap() {
                    Ok(answer) => answer.to_string(),
                    Err(error) => error.to_string(),
                };
                assert!(said.contains(expect), "{command}, question {at}: {said}");
                thread::sleep(Duration::from_millis(50));
            }
        }
    }

    #[test]
    fn a_second_line_is_heard_though_it_comes_late() {
        let question = serde_json::json!({});
        let twice = "while read -r a; do sleep 0.05; echo '{}'; sleep 0.05; echo '{}'; done";
        let mut engine = Engine::new(twice, LIMIT);
        engine.ask(&question).unwrap().unwrap();
        let told = engine.settle(Duration::from_millis(10)).unwrap().unwrap_err().to_string();
        assert!(told.contains("more than one line") && told.contains("\"{}\""), "{told}");
        let mut engine = Engine::new("while read -r a; do echo '{}'; done", LIMIT);
        engine.ask(&question).unwrap().unwrap();
        engine.settle(Duration::from_millis(10)).unwrap().unwrap();
        assert_eq!(engine.close(), Vec::<String>::new());
    }

    #[test]
    fn a_command_that_is_not_there_is_told_at_once() {
        for command in ["comity-no-such-engine", "exit 126"] {
            let error = Engine::new(command, LIMIT).ask(&serde_json::json!({})).unwrap_err();
            let told = error.to_string();
            assert!(told.contains("could not be run") && told.contains(command), "{told}");
        }
        let mut engine = Engine::new("read -r a; echo '{}'; read -r a; exit 127", LIMIT);
        engine.ask(&serde_json::json!({})).unwrap().unwrap();
        let told = engine.ask(&serde_json::json!({})).unwrap().unwrap_err().to_string();
        assert!(told.contains("exit status: 127"), "{told}");
    }

    /// One line, one case: an engine that goes on though its input is closed, and what is told.
    #[test]
    fn nothing_of_an_engine_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let id = dir.path().join("id");
        for (command, told) in [
            ("echo $$ >ID; read -r a; echo '{}'; exec sleep 60", "did not end"),
            ("trap '' TERM; read -r a; sleep 60 & echo $! >ID; echo '{}'; wait", "did not end"),
            (
                "read -r a; sleep 60 </dev/null >/dev/null 2>&1 & echo $! >ID; echo '{}'; read -r a",
                "left processes",
            ),
            ("echo $$ >ID; read -r a; echo '{}'; read -r a; echo bye", "after its last answer"),
        ] {
            let command = command.replace("ID", &id.to_string_lossy());
            let mut engine = Engine::new(&command, Duration::from_secs(5));
            engine.ask(&serde_json::json!({})).unwrap().unwrap();
            let warnings = engine.close().join("; ");
            assert!(warnings.contains(told), "{command}: {warnings}");
            let id = std::fs::read_to_string(&id).unwrap();
            let gone = (0..100).any(|_| {
                thread::sleep(Duration::from_millis(5));
                !process::is_running(id.trim())
            });
            assert!(gone, "{command}: {id} is still there");
        }
    }

    #[test]
    fn a_run_is_stopped_from_outside() {
        let stop = Stop::default();
        let mut engine = Engine::new("exec sleep 60", Duration::from_secs(60));
        engine = engine.stopped_by(stop.clone());
        let stopper = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            stop.stop();
        });
        let error = engine.ask(&serde_json::json!({})).unwrap_err();
        assert!(matches!(error, EngineError::Stopped), "{error}");
        stopper.join().unwrap();
    }
}
