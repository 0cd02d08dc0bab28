//! Runs the `comity` program as a person does.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The program.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("comity", "--bin", "comity"))
}

/// The lab that any crawler can be graded by, as a program.
pub(crate) fn lab_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("comity-conformance", "--bin", "comity-lab"))
}

/// Runs one of the examples to its end.
pub(crate) fn run_example(name: &str, args: &[&str]) -> Ended {
    let mut command = Command::new(built("comity-examples", "--example", name));
    command.args(args).stdin(Stdio::null());
    Ended::of(command.output().expect("the example starts"))
}

/// Starts one of the examples, with its input open and its output kept.
pub(crate) fn start_example(name: &str, args: &[&str]) -> Child {
    let mut command = Command::new(built("comity-examples", "--example", name));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the example starts")
}

/// The runner of the vectors, as a program.
pub(crate) fn runner_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("comity-conformance", "--bin", "comity-conformance"))
}

/// A program, built now: cargo builds binaries of other packages only on request.
fn built(package: &str, kind: &str, name: &str) -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", package, kind, name]);
    build.args(["--message-format", "json-render-diagnostics"]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    let built = build.stderr(Stdio::inherit()).output().expect("cargo runs");
    assert!(built.status.success(), "the program does not build");
    let executable = String::from_utf8_lossy(&built.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.expect("cargo names the program")
}

/// A command with no settings file, no environment of the tester's, and `args`.
pub(crate) fn comity(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.current_dir(dir).args(args).stdin(Stdio::null());
    command.env_remove("COMITY_LOG").env("NO_COLOR", "1");
    command
}

/// Runs it to its end.
pub(crate) fn run(dir: &Path, args: &[&str]) -> Ended {
    Ended::of(comity(dir, args).output().expect("the program starts"))
}

/// Starts it, with its output kept for [`end`].
pub(crate) fn start(dir: &Path, args: &[&str]) -> Child {
    let mut command = comity(dir, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Waits for its end.
pub(crate) fn end(child: Child) -> Ended {
    Ended::of(child.wait_with_output().expect("the program ends"))
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// It ended well.
    #[track_caller]
    pub(crate) fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// It failed with this code and a sentence that contains each of `parts`, and without a panic.
    #[track_caller]
    pub(crate) fn badly(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        let all = format!("{}\n{}", self.out, self.err);
        assert!(!all.contains("panicked"), "{self:#?}");
        for part in parts {
            assert!(all.contains(part), "\"{part}\" is not in {self:#?}");
        }
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }
}

/// Polls until `done`, for at most half a minute.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "real processes are waited for in real time")]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(30), "{what} did not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}
