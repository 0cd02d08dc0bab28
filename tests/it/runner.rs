//! The runner of the vectors as a person uses it: engines that are wrong, broken or hostile, arguments
//! that cannot be meant, and what is left after a run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use comity_conformance::grade::faults;
use serde_json::Value;

use crate::command::{program, runner_program};

/// What a person sees of engines that are wrong, silent or broken; one line, one case: the engine,
/// more arguments, exit code, what is printed.
#[test]
fn the_runner_grades_any_engine() {
    let dir = tempfile::tempdir().unwrap();
    let yes = "while read -r line; do echo '{\"allowed\":true}'; done";
    let skip = "while read -r line; do echo '{\"skip\":\"not mine\"}'; done";
    let some = "robots-precedence/RT-092/sample-situations/3@google\nrobots-precedence/RT-092/sample-situations/6@google # both\n";
    for (name, text) in [
        ("some", some),
        ("more", &format!("{some}robots-precedence/RT-092/sample-situations/1@google")),
        ("star", "robots-precedence/RT-092/*"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let only = ["--clause", "RT-092", "--policy", "google"];
    let cases: [(&str, &[&str], i32, &[&str]); 9] = [
        (
            yes,
            &[],
            1,
            &["4 kept", "2 broken", "sample-situations/3@google", "right   {\"allowed\":false}"],
        ),
        (skip, &[], 3, &["6 skipped", "Nothing was graded: the engine skipped all of the 6"]),
        (yes, &["--expect-failures", "some"], 0, &["0 broken", "2 expected"]),
        (
            yes,
            &["--expect-failures", "more"],
            1,
            &["sample-situations/1@google is expected to fail, and is kept"],
        ),
        (yes, &["--expect-failures", "star"], 1, &["is expected to fail, and is kept"]),
        (
            "read -r line; echo hello",
            &[],
            3,
            &["no JSON object: \"hello\"", "5 broken", "1 of 6 vectors were not asked"],
        ),
        ("exit 3", &[], 3, &["the engine ended instead of answering (exit status: 3)"]),
        ("exec sleep 9", &["--seconds", "1", "--level", "HOUSE"], 2, &["together"]),
        ("comity-no-such-engine", &[], 2, &["could not be run", "comity-no-such-engine"]),
    ];
    for (engine, more, code, parts) in cases {
        let mut command = Command::new(runner_program());
        command.current_dir(dir.path()).args(["run", "--engine", engine]).args(only).args(more);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(code), "{engine} {more:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{engine} {more:?}: no {part} in {said}");
        }
    }
}

/// Nothing is graded by the answer to another question.
#[test]
fn a_line_too_many_is_told_and_shifts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    // A second line for one question, after a pause.
    let engine = "while read -r line; do case $line in *sample-situations/3@*) echo '{NAMED}'; \
                  sleep 0.02; echo '{\"allowed\":true}';; *) echo '{NAMED}';; esac; done";
    for named in ["\"allowed\":true", "\"id\":\"robots-precedence/RT-092/other\",\"allowed\":true"]
    {
        let engine = engine.replace("NAMED", named);
        let run = Run::of(dir.path(), &engine, &["--clause", "RT-092", "--policy", "google"]);
        let of = |name: &str| {
            let id = format!("robots-precedence/RT-092/sample-situations/{name}@google");
            let results = run.json["results"].as_array().unwrap();
            results.iter().find(|result| result["id"] == id.as_str()).unwrap().clone()
        };
        if named.contains("id") {
            assert_eq!(run.code, 3, "{}", run.said);
            assert!(of("1")["error"].to_string().contains("the id of another question"));
            continue;
        }
        assert_eq!(run.code, 1, "{}", run.said);
        assert!(of("3")["error"].to_string().contains("more than one line"), "{}", of("3"));
        // What is right is taken from the vectors, not from this run.
        for (name, outcome) in
            [("1", "kept"), ("2", "kept"), ("4", "kept"), ("5", "kept"), ("6", "broken")]
        {
            assert_eq!(of(name)["outcome"], outcome, "{}", of(name));
        }
    }
}

/// A run of the runner, with its reports.
struct Run {
    code: i32,
    said: String,
    json: Value,
    junit: String,
    html: String,
}

impl Run {
    fn of(dir: &Path, engine: &str, more: &[&str]) -> Self {
        let mut command = runner(dir, engine);
        Self::from(command.args(more).output().unwrap(), dir)
    }

    fn from(output: Output, dir: &Path) -> Self {
        let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
        Self {
            code: output.status.code().unwrap(),
            said: String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            json: serde_json::from_str(&read("run.json")).unwrap_or_default(),
            junit: read("run.xml"),
            html: read("run.html"),
        }
    }
}

fn runner(dir: &Path, engine: &str) -> Command {
    let mut command = Command::new(runner_program());
    command.current_dir(dir).args(["run", "--engine", engine]);
    command.args(["--json", "run.json", "--junit", "run.xml", "--html", "run.html"]);
    command
}

/// An engine that fails over and over costs nothing that was graded before.
#[test]
fn what_was_graded_is_reported_however_a_run_ends() {
    let dir = tempfile::tempdir().unwrap();
    let fails = "read -r a; echo '{\"allowed\":true}'; read -r a; exit 9";
    let run = Run::of(dir.path(), fails, &["--subject", "robots-matching"]);
    assert_eq!(run.code, 3, "{}", run.said);
    assert!(run.said.contains("the engine failed 20 times"), "{}", run.said);
    let outcomes: BTreeSet<&str> = run.json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["outcome"].as_str().unwrap())
        .collect();
    assert!(outcomes.is_superset(&BTreeSet::from(["kept", "failed", "not-asked"])), "{outcomes:?}");
    assert!(run.json["ended_early"].to_string().contains("20 times"), "{}", run.json);
    assert!(run.junit.contains("<testsuite name=\"the run itself\" tests=\"1\" failures=\"1\">"));
    assert!(run.junit.contains("<skipped message=\"not asked\"/>"));
    assert!(run.html.contains("<h1>Ended early: "));
}

/// One line, one case: the signal, and the exit status. No engine is left.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_engine_and_keeps_the_results() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let dir = tempfile::tempdir().unwrap();
        let engine = "echo $$ >id; trap '' TERM; read -r a; echo '{\"allowed\":true}'; sleep 60";
        let mut command = runner(dir.path(), engine);
        command.args(["--clause", "RT-092"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // The second question waits for its answer.
        let id = wait_for(&dir.path().join("id"));
        thread::sleep(Duration::from_millis(200));
        let whom = child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &whom]).status().unwrap();
        assert!(sent.success());
        let run = Run::from(child.wait_with_output().unwrap(), dir.path());
        assert_eq!(run.code, code, "{}", run.said);
        assert!(run.said.contains("1 kept") && run.said.contains("stopped by a signal"));
        assert_eq!(run.json["results"][0]["outcome"], "kept");
        let alive = Command::new("kill").args(["-0", &id]).stderr(Stdio::null()).status().unwrap();
        assert!(!alive.success(), "the engine is still there");
    }
}

fn wait_for(path: &Path) -> String {
    (0..500)
        .find_map(|_| {
            thread::sleep(Duration::from_millis(10));
            fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'))
        })
        .expect("the engine starts")
        .trim()
        .to_owned()
}

/// One line, one case: arguments that are refused before any question, and what is said.
#[test]
fn what_cannot_be_meant_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("typo", "robots-precedence/RT-092/sample-situation/1@google\n"),
        ("elsewhere", "meta/*\n"),
        ("report", "kept"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let cases: [(&[&str], i32, &str); 16] = [
        (&["--subject", "robot-syntax"], 2, "did you mean robots-syntax"),
        (&["--subject", ""], 2, "no subject begins with \"\"; there are caching, combination"),
        (&["--clause", "RT-83"], 2, "did you mean RT-083"),
        (&["--clause", "RT-092", "--clause", "RT-999"], 2, "no vector is of clause \"RT-999\""),
        (&["--level", "MAY"], 2, "a level is MUST, SHOULD or HOUSE"),
        (&["--policy", "bing"], 2, "a policy is google, rfc9309 or courteous"),
        (&["--clause", "RT-092", "--subject", "meta"], 2, "together"),
        (&["--seconds", "0"], 2, "0 is not in 1..=86400"),
        (&["--seconds", "-1"], 2, "-1 is not in 1..=86400"),
        (&["--mutate", "tie-disalows"], 2, "did you mean tie-disallows?"),
        (&["--mutate", "0"], 2, "no such fault"),
        (&["--json", "nowhere/a"], 2, "nowhere/a cannot be written as a report"),
        (&["--json", "."], 2, "cannot be written"),
        (&["--json", "a", "--html", "a"], 2, "two reports cannot both be written to a"),
        (
            &["--clause", "RT-092", "--expect-failures", "typo"],
            2,
            "did you mean robots-precedence/RT-092/sample-situations/1@google",
        ),
        (&["--clause", "RT-092", "--expect-failures", "elsewhere", "--list"], 0, "RT-092"),
    ];
    for (more, code, part) in cases {
        let mut command = Command::new(runner_program());
        command.current_dir(dir.path()).args(["run", "--engine", "echo asked >asked"]).args(more);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(code), "{more:?}: {said}");
        assert!(said.contains(part), "{more:?}: no {part} in {said}");
    }
    assert!(!dir.path().join("asked").exists() && !dir.path().join("a").exists());
    // A report that is there stays as it is until there is another.
    let run = Run::of(dir.path(), "comity-no-such-engine", &["--clause", "RT-092"]);
    assert_eq!((run.code, run.html.as_str()), (2, ""), "{}", run.said);
    let mut command = Command::new(runner_program());
    command.args(["run", "--engine", "comity-no-such-engine", "--json", "report"]);
    assert_eq!(command.current_dir(dir.path()).status().unwrap().code(), Some(2));
    assert_eq!(fs::read_to_string(dir.path().join("report")).unwrap(), "kept");
}

/// A list of failures speaks of the whole suite, though a part is asked.
#[test]
fn expected_failures_elsewhere_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let broken = "robots-precedence/RT-092/sample-situations/3@google\n\
                  robots-precedence/RT-092/sample-situations/6@google\nmeta/*\n";
    fs::write(dir.path().join("list"), broken).unwrap();
    let yes = "while read -r line; do echo '{\"allowed\":true}'; done";
    let choice = ["--clause", "RT-092", "--policy", "google", "--expect-failures", "list"];
    let run = Run::of(dir.path(), yes, &choice);
    assert_eq!(run.code, 0, "{}", run.said);
}

/// One line, one case: the choice, the faults, exit code, what is printed.
#[test]
fn faults_beyond_a_choice_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let ours = format!("'{}' engine", program().display());
    let tie = ["--clause", "RT-083", "--subject", "robots"];
    let cases: [(&[&str], &str, i32, &[&str]); 3] = [
        (&tie, "tie-disallows", 0, &["tie-disallows  ", "1 of 1 faults caught"]),
        (&tie, "all", 0, &["that no vector of this choice shows", " faults caught"]),
        (
            &["--subject", "sitemaps"],
            "tie-disallows",
            3,
            &["left out: 1 that no vector of this choice shows", "0 of 0 faults caught"],
        ),
    ];
    for (choice, fault, code, parts) in cases {
        let run = Run::of(dir.path(), &ours, &[choice, &["--mutate", fault]].concat());
        assert_eq!(run.code, code, "{choice:?}: {}", run.said);
        assert!(!run.said.contains("NOT CAUGHT"), "{}", run.said);
        for part in parts {
            assert!(run.said.contains(part), "{choice:?}: no {part} in {}", run.said);
        }
    }
    let list = Command::new(runner_program()).args(["run", "--mutate", "list"]).output().unwrap();
    assert!(list.status.success());
    assert_eq!(String::from_utf8_lossy(&list.stdout).lines().count(), faults().len());
}

/// What an engine says is shown, and no terminal obeys it.
#[test]
fn an_engine_cannot_speak_to_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let engine = "printf '\\033[2Jcomplaint\\n' >&2; while read -r a; do \
                  printf '{\"error\":\"\\\\u001b[1mred\"}\\n'; done";
    let run = Run::of(dir.path(), engine, &["--clause", "RT-092", "--policy", "google"]);
    assert_eq!(run.code, 1, "{}", run.said);
    assert!(run.said.contains("engine: \\u{1b}[2Jcomplaint"), "{}", run.said);
    assert!(run.said.contains("\\u{1b}[1mred") && !run.said.contains('\u{1b}'), "{}", run.said);
}

/// An error beside a skip is an error; an end of what is read is no fault of the runner's.
#[test]
fn small_things_are_right() {
    let dir = tempfile::tempdir().unwrap();
    let both = "while read -r a; do echo '{\"skip\":\"no\",\"error\":\"broken\"}'; done";
    let run = Run::of(dir.path(), both, &["--clause", "RT-092", "--policy", "google"]);
    assert_eq!(run.code, 1, "{}", run.said);
    assert!(run.said.contains("6 broken") && run.said.contains("by an error: broken"));
    let mut command = Command::new(runner_program());
    let mut child = command.args(["run", "--list"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
