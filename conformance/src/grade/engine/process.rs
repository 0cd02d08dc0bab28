//! The process of an engine, with helpers for its three streams: neither a question that it does not
//! read nor an answer that does not come holds the run up, and nothing of it is left at the end.

use std::convert::Infallible;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::super::plain::plain;
use super::{AskError, EngineError, Stop};

/// Bytes of an answer; a longer line is none.
const ANSWER_BYTES: u64 = 16 << 20;

/// Bytes of what an engine complains of that are shown as one line.
const COMPLAINT_BYTES: u64 = 8 << 10;

/// How long a process that ended its output, or is no longer wanted, may take to end itself.
const LAST_BREATH: Duration = Duration::from_millis(500);

/// How often is looked whether something happened that nobody tells.
const MOMENT: Duration = Duration::from_millis(20);

/// Lines that are taken from an engine before somebody wants them.
const LINES_AHEAD: usize = 4;

/// What a shell ends with if it finds a command not executable, or does not find it.
const SHELL_FAILURES: [i32; 2] = [126, 127];

/// A running engine.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stop: Stop,
    questions: Sender<Vec<u8>>,
    answers: Receiver<io::Result<Vec<u8>>>,
    complaints: Complaints,
    slowest: Duration,
    is_over: bool,
}

/// What it writes to standard error.
#[derive(Debug)]
struct Complaints {
    /// The last line that is not blank.
    last: Arc<Mutex<String>>,
    /// Closed when there are no more.
    all: Receiver<Infallible>,
}

/// What came of listening.
enum Heard {
    Line(Vec<u8>),
    End,
    Nothing,
}

impl Process {
    pub(super) fn start(command: &str, stop: Stop) -> io::Result<Self> {
        let mut shell = shell(command);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn()?;
        let no_pipe = || io::Error::other("the process has no standard streams");
        let input = child.stdin.take().ok_or_else(no_pipe)?;
        let output = child.stdout.take().ok_or_else(no_pipe)?;
        let errors = child.stderr.take().ok_or_else(no_pipe)?;
        Ok(Self {
            child,
            stop,
            questions: writer(input),
            answers: reader(output),
            complaints: relay(errors),
            slowest: Duration::ZERO,
            is_over: false,
        })
    }

    /// The longest that an answer took since [`Process::more`] was asked for.
    pub(super) const fn slowest(&self) -> Duration {
        self.slowest
    }

    /// Asks. After an error it must not be asked again.
    pub(super) fn answer(
        &mut self,
        question: &Value,
        limit: Duration,
    ) -> Result<Result<Value, AskError>, EngineError> {
        match self.answers.try_recv() {
            Ok(Ok(line)) if !line.is_empty() => return Ok(Err(AskError::Unasked(shown(&line)))),
            Ok(_) | Err(TryRecvError::Disconnected) => return Ok(Err(self.died())),
            Err(TryRecvError::Empty) => {}
        }
        let mut line = question.to_string().into_bytes();
        line.push(b'\n');
        // If it is not heard, the answer that does not come tells.
        let _ = self.questions.send(line);
        let asked = Instant::now();
        let line = match self.listen(limit)? {
            Heard::Line(line) => line,
            Heard::End => return Ok(Err(self.died())),
            Heard::Nothing => return Ok(Err(AskError::Late(limit))),
        };
        self.slowest = self.slowest.max(asked.elapsed());
        let answer = serde_json::from_slice(&line).ok().filter(Value::is_object);
        Ok(match answer {
            None => Err(AskError::Babble(shown(&line))),
            Some(answer) => match answer.get("id") {
                Some(id) if question.get("id") != Some(id) => {
                    Err(AskError::OtherId(plain(&id.to_string())))
                }
                Some(_) | None => Ok(answer),
            },
        })
    }

    /// A line that nobody asked for, if one comes within this time.
    pub(super) fn more(&mut self, silence: Duration) -> Result<Option<String>, EngineError> {
        self.slowest = Duration::ZERO;
        Ok(match self.listen(silence)? {
            Heard::Line(line) => Some(shown(&line)),
            // The next question tells that it ended.
            Heard::End | Heard::Nothing => None,
        })
    }

    fn listen(&self, limit: Duration) -> Result<Heard, EngineError> {
        let until = Instant::now() + limit;
        loop {
            if self.stop.is_stopped() {
                return Err(EngineError::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left.min(MOMENT)) {
                Ok(Ok(line)) if !line.is_empty() => return Ok(Heard::Line(line)),
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(Heard::End),
                Err(RecvTimeoutError::Timeout) if left <= MOMENT => return Ok(Heard::Nothing),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn died(&mut self) -> AskError {
        let how = self.ended(LAST_BREATH).map_or("its output ended".into(), |s| s.to_string());
        let _ = self.complaints.all.recv_timeout(LAST_BREATH);
        let last = self.complaints.last.lock().unwrap_or_else(PoisonError::into_inner);
        AskError::Died(match last.as_str() {
            "" => how,
            last => format!("{how}, after it said: {last}"),
        })
    }

    /// How it ended, if that is how a shell says that there is no such command.
    pub(super) fn shell_failure(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        let code = status.code()?;
        SHELL_FAILURES.contains(&code).then(|| status.to_string())
    }

    /// How it ended; it may need a moment for that after its output did, or its input.
    fn ended(&mut self, limit: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + limit;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if self.stop.is_stopped() || Instant::now() >= until {
                return None;
            }
            thread::sleep(MOMENT / 4);
        }
    }

    /// Closes its input, gives it this long to end, and ends what is left of it then. Says what was
    /// not as it should be.
    pub(super) fn end(&mut self, limit: Duration) -> Vec<String> {
        self.is_over = true;
        let mut warnings = Vec::new();
        (self.questions, _) = channel();
        let until = Instant::now() + limit;
        // Whoever still writes is heard out, as it could not end otherwise.
        while let Ok(heard) = self.listen(until.saturating_duration_since(Instant::now())) {
            match heard {
                Heard::Line(line) if warnings.is_empty() => warnings
                    .push(format!("the engine wrote more after its last answer: {}", shown(&line))),
                Heard::Line(_) if Instant::now() < until => {}
                Heard::Line(_) | Heard::End | Heard::Nothing => break,
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        let group = self.child.id();
        if self.ended(left).is_none() {
            if !self.stop.is_stopped() {
                warnings.push(format!(
                    "the engine did not end within {} s after its standard input was closed, and \
                     was ended",
                    limit.as_secs_f64()
                ));
            }
            kill(&mut self.child, group);
        } else if outlives(group) {
            kill(&mut self.child, group);
            warnings.push("the engine left processes running, and they were ended".into());
        }
        let _ = self.complaints.all.recv_timeout(LAST_BREATH);
        warnings
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over {
            self.end(LAST_BREATH);
        }
    }
}

/// A process group of its own, so that what the shell starts can be ended with it, and Ctrl-C is
/// the runner's alone.
#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

/// Whether something of a group is there although its leader ended; it has a moment for its end.
#[cfg(unix)]
fn outlives(group: u32) -> bool {
    let is_there = || signal("-0", &format!("-{group}"));
    (0..5).all(|_| {
        let found = is_there();
        if found {
            thread::sleep(MOMENT);
        }
        found
    })
}

#[cfg(not(unix))]
const fn outlives(_: u32) -> bool {
    false
}

/// Ends a group at once.
fn kill(child: &mut Child, group: u32) {
    #[cfg(unix)]
    signal("-KILL", &format!("-{group}"));
    #[cfg(not(unix))]
    let _ = group;
    let _ = child.kill();
    let _ = child.wait();
}

/// Whether there was somebody to send it to. The shell has the system call that needs unsafe code.
#[cfg(unix)]
fn signal(signal: &str, whom: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("kill {signal} {whom}"));
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}

/// Whether a process is there that is no mere entry of one that ended.
#[cfg(all(test, unix))]
pub(super) fn is_running(id: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
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

/// Shows each line on our own standard error, as text that no terminal obeys.
fn relay(errors: ChildStderr) -> Complaints {
    let last = Arc::new(Mutex::new(String::new()));
    let (open, all) = channel::<Infallible>();
    let keep = Arc::clone(&last);
    thread::spawn(move || {
        let _open = open;
        let mut errors = BufReader::new(errors);
        let mut line = Vec::new();
        loop {
            line.clear();
            match errors.by_ref().take(COMPLAINT_BYTES).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = plain(String::from_utf8_lossy(&line).trim_end());
            let _ = writeln!(io::stderr().lock(), "engine: {text}");
            if !text.trim().is_empty() {
                *keep.lock().unwrap_or_else(PoisonError::into_inner) = beginning(&text);
            }
        }
    });
    Complaints { last, all }
}

/// The beginning of what was said.
fn shown(line: &[u8]) -> String {
    format!("{:?}", beginning(String::from_utf8_lossy(line).trim_end()))
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
