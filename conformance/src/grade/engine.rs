//! An engine under test: a process that reads a question a line and answers by a line.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// Bytes of an answer; a longer line is none.
const ANSWER_BYTES: u64 = 16 << 20;

/// How often an engine is started anew after it died or lost its place.
const MOST_DEATHS: u32 = 20;

/// How long a process that ended its output may take to end itself.
const LAST_BREATH: Duration = Duration::from_millis(500);

/// How often it is looked at meanwhile.
const MOMENTS: u32 = 10;

/// Lines that are taken from an engine before somebody wants them.
const LINES_AHEAD: usize = 4;

/// A run that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The command cannot be started.
    #[error("could not start the engine `{command}`")]
    Start {
        /// The command.
        command: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It died over and over.
    #[error("the engine `{command}` failed {MOST_DEATHS} times, at last at {case}: {last}")]
    Dead {
        /// The command.
        command: String,
        /// The question.
        case: String,
        /// What happened then.
        last: String,
    },
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
    /// Something came that nobody had asked for.
    #[error("the engine had said something before it was asked: {0}")]
    Unasked(String),
}

/// An engine. It is started with the first question, and anew after each failure.
#[derive(Debug)]
pub struct Engine {
    command: String,
    limit: Duration,
    process: Option<Process>,
    deaths: u32,
}

/// The process with its two helpers: neither a question that it does not read nor an answer that
/// does not come holds the run up.
#[derive(Debug)]
struct Process {
    child: Child,
    questions: Sender<Vec<u8>>,
    answers: Receiver<io::Result<Vec<u8>>>,
}

impl Engine {
    /// An engine by its command line, as a shell reads it, and how long it may take to answer.
    pub fn new(command: &str, limit: Duration) -> Self {
        Self { command: command.into(), limit, process: None, deaths: 0 }
    }

    /// The command.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Asks a question.
    ///
    /// # Errors
    /// The outer one ends the run, the inner one is about this question.
    pub fn ask(&mut self, question: &Value) -> Result<Result<Value, AskError>, EngineError> {
        let process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.command)
                .map_err(|source| EngineError::Start { command: self.command.clone(), source })?,
        };
        let (process, answer) = process.ask(question, self.limit);
        self.process = process;
        let Err(error) = &answer else { return Ok(answer) };
        self.deaths += 1;
        if self.deaths < MOST_DEATHS {
            return Ok(answer);
        }
        let case = question.get("id").map_or_else(String::new, Value::to_string);
        Err(EngineError::Dead { command: self.command.clone(), case, last: error.to_string() })
    }
}

impl Process {
    fn start(command: &str) -> io::Result<Self> {
        let mut child = shell(command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let no_pipe = || io::Error::other("the process has no standard input and output");
        let input = child.stdin.take().ok_or_else(no_pipe)?;
        let output = child.stdout.take().ok_or_else(no_pipe)?;
        Ok(Self { child, questions: writer(input), answers: reader(output) })
    }

    /// Asks, and hands itself back if it may be asked again.
    fn ask(mut self, question: &Value, limit: Duration) -> (Option<Self>, Result<Value, AskError>) {
        match self.answer(question, limit) {
            Ok(answer) => (Some(self), Ok(answer)),
            Err(error) => (None, Err(error)),
        }
    }

    fn answer(&mut self, question: &Value, limit: Duration) -> Result<Value, AskError> {
        match self.answers.try_recv() {
            Ok(Ok(line)) if !line.is_empty() => return Err(AskError::Unasked(shown(&line))),
            Ok(_) | Err(TryRecvError::Disconnected) => return Err(self.died()),
            Err(TryRecvError::Empty) => {}
        }
        let mut line = question.to_string().into_bytes();
        line.push(b'\n');
        // If it is not heard, the answer that does not come tells.
        let _ = self.questions.send(line);
        match self.answers.recv_timeout(limit) {
            Ok(Ok(line)) if !line.is_empty() => {
                let answer = serde_json::from_slice(&line).ok().filter(Value::is_object);
                answer.ok_or_else(|| AskError::Babble(shown(&line)))
            }
            Ok(_) | Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Err(RecvTimeoutError::Timeout) => Err(AskError::Late(limit)),
        }
    }

    fn died(&mut self) -> AskError {
        AskError::Died(self.ended().unwrap_or_else(|| "its output ended".into()))
    }

    /// How it ended; it may need a moment for that after its output did, or its input.
    fn ended(&mut self) -> Option<String> {
        (0..MOMENTS).find_map(|_| match self.child.try_wait() {
            Ok(Some(status)) => Some(status.to_string()),
            Ok(None) | Err(_) => {
                thread::sleep(LAST_BREATH / MOMENTS);
                None
            }
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // With its input closed, an engine ends by itself; one that hangs is ended.
        let (closed, _) = channel();
        self.questions = closed;
        if self.ended().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

fn writer(mut input: ChildStdin) -> Sender<Vec<u8>> {
    let (send, lines) = channel::<Vec<u8>>();
    thread::spawn(move || {
        for line in lines {
            if input.write_all(&line).and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    });
    send
}

/// Each line; an empty one is the end.
fn reader(output: ChildStdout) -> Receiver<io::Result<Vec<u8>>> {
    let (send, lines) = sync_channel(LINES_AHEAD);
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            let read = output.by_ref().take(ANSWER_BYTES).read_until(b'\n', &mut line);
            let ended = !matches!(read, Ok(bytes) if bytes > 0);
            if send.send(read.map(|_| line)).is_err() || ended {
                return;
            }
        }
    });
    lines
}

/// The beginning of what was said.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    let short: String = text.chars().take(120).collect();
    if short.len() < text.len() { format!("{short:?}…") } else { format!("{short:?}") }
}

#[cfg(all(test, unix))]
mod tests {
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
            ("read -r line; echo hello; sleep 9", "no JSON object: \"hello\"", "no JSON object"),
            ("read -r line; echo '[1]'; sleep 9", "no JSON object: \"[1]\"", "no JSON object"),
            ("exec sleep 9", "no answer within 300ms", "no answer"),
            (
                "read -r a; echo '{}'; echo more; exec sleep 9",
                "{}",
                "said something before it was asked: \"more\"",
            ),
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
    fn an_engine_that_always_fails_ends_the_run() {
        let mut engine = Engine::new("exit 3", LIMIT);
        let question = serde_json::json!({ "id": "a/b/c" });
        let end = (0..MOST_DEATHS).find_map(|_| engine.ask(&question).err()).unwrap();
        assert!(end.to_string().contains("failed 20 times, at last at \"a/b/c\""), "{end}");
    }
}
