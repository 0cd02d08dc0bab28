//! `comity-lab` as a program: signals, files, and commands that cannot be run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn lab(arguments: &[&str]) -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_comity-lab"));
    lab.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    lab
}

fn grade(command: &str, more: &[&str]) -> Output {
    lab(&["grade", "--exec", command]).args(more).output().unwrap()
}

fn told(output: &Output) -> String {
    let part = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    part(&output.stdout) + &part(&output.stderr)
}

fn send(signal: &str, child: &Child) {
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").arg("-c").arg(kill).status().unwrap().success());
}

/// Waits until something is there, ten seconds at most.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..500 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not come within ten seconds");
}

/// A zombie waits for its parent; it runs no more.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// What was graded by then is reported, and no crawler is left behind, nor what it has started.
#[test]
fn a_signal_ends_the_crawlers_and_leaves_the_reports() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let (pids, html) = (at("pids"), at("r.html"));
        // The first scenario is over at once, each other lasts.
        let command = format!(
            "case {{dir}} in *disallow-all) exit 0;; esac
             sleep 300 & echo $! >>'{0}'; echo $$ >>'{0}'; : {{seed}}; wait",
            pids.display()
        );
        let child = lab(&["grade", "--only", "disallow", "--jobs", "1", "--exec", &command])
            .arg("--html")
            .arg(&html)
            .arg("--junit")
            .arg(at("r.xml"))
            .arg("--json")
            .arg(at("r.json"))
            .spawn()
            .unwrap();
        let started = until(|| {
            let pids = fs::read_to_string(&pids).unwrap_or_default();
            (pids.lines().count() == 2).then_some(pids)
        });
        assert!(started.lines().all(runs), "{started}");
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        let said = told(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        until(|| (!started.lines().any(runs)).then_some(()));
        assert!(said.contains("interrupted: 1 (disallow)."), "{said}");
        assert!(said.contains("disallow-all  not exercised"), "{said}");
        assert!(read(&html).contains("interrupted: disallow."));
        assert!(read(&at("r.xml")).contains("<skipped message=\"not run: interrupted\"/>"));
        let json: serde_json::Value = serde_json::from_str(&read(&at("r.json"))).unwrap();
        assert_eq!(json["interrupted"], serde_json::json!(["disallow"]));
        assert_eq!(json["results"][0]["scenario"]["title"], "Everything is disallowed");
    }
}

/// Said at once, and not as a grade.
#[test]
fn a_command_that_cannot_be_run_is_no_grade() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    fs::write(&plain, "no program").unwrap();
    let plain = format!("{} {{seed}}", plain.display());
    let html = dir.path().join("r.html");
    for (command, said) in [
        ("no-such-crawler {seed}", "exit status: 127"),
        (plain.as_str(), "exit status: 126"),
        ("crawl {sed}", "perhaps {seed}"),
        ("crawl {seed} {proxy}", "only with --proxy"),
        ("crawl", "does not take {seed}"),
    ] {
        let output = grade(command, &["--html", html.to_str().unwrap()]);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(said), "{told}");
        assert!(output.stdout.is_empty(), "{told}");
        assert!(!html.exists(), "{command} left a report");
    }
}

/// A report that cannot be written is known before the crawler is run, and one that is there stays
/// until there is another.
#[test]
fn report_files_are_tried_first() {
    let dir = tempfile::tempdir().unwrap();
    let (old, ran) = (dir.path().join("old.xml"), dir.path().join("ran"));
    fs::write(&old, "the last one").unwrap();
    let command = format!("touch '{}'; : {{seed}}", ran.display());
    let nowhere = dir.path().join("no/such/folder.html");
    let (old, nowhere) = (old.to_str().unwrap(), nowhere.to_str().unwrap());
    let output = grade(&command, &["--junit", old, "--html", nowhere, "--only", "disallow-all"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("folder.html"), "{}", told(&output));
    assert!(!ran.exists(), "the crawler was run");
    assert_eq!(read(Path::new(old)), "the last one");
    let output = grade(&command, &["--junit", old, "--only", "disallow-all"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(read(Path::new(old)).starts_with("<?xml"));
}

/// What a crawler prints is shown without what moves a terminal, and how it ended is said.
#[test]
fn the_terminal_gets_no_control_characters() {
    let command = "printf '\\033[2J\\007\\302\\233 \\377'; : {seed}; kill -SEGV $$";
    let output = grade(command, &["--only", "disallow-all"]);
    let told = told(&output);
    assert!(told.contains("the crawler: ended by signal 11"), "{told}");
    assert!(told.contains("\\u{1b}[2J\\u{7}\\u{9b} \u{fffd}"), "{told}");
    assert!(!told.chars().any(|c| c.is_control() && c != '\n'), "{told:?}");
    let output = grade("sleep 9; : {seed}", &["--only", "disallow-all", "--seconds", "1"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("the crawler: ended by the lab after 1 s"), "{said}");
}

/// As with `| head`: the reports are there, and nothing is said of the pipe.
#[test]
fn a_reader_that_leaves_is_no_fault() {
    let dir = tempfile::tempdir().unwrap();
    let html = dir.path().join("r.html");
    let mut child = lab(&["grade", "--only", "disallow-all", "--exec", "sleep 1; : {seed}"])
        .arg("--html")
        .arg(&html)
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141), "{said}");
    assert_eq!(said, "");
    assert!(read(&html).contains("Everything is disallowed"));
}

/// The ledger of served scenarios can be judged: here of the reference client, under another name than
/// the lab expects.
#[test]
fn what_was_served_is_judged() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = dir.path().join("ledger.jsonl");
    let mut serve = lab(&["serve", "--scenarios", "--proxy", "--agent", "mybot", "--ledger"])
        .arg(&ledger)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(serve.stdout.take().unwrap()).lines().map(Result::unwrap);
    let proxy = lines.find_map(|line| line.strip_prefix("proxy: ").map(str::to_owned)).unwrap();
    let seed = lines
        .find_map(|line| {
            line.strip_prefix("disallow ")
                .and_then(|l| l.split_whitespace().next().map(str::to_owned))
        })
        .unwrap();
    assert!(lines.by_ref().any(|line| line.starts_with("Press Ctrl-C")));
    let client = lab(&["client", &seed, "--proxy", &proxy, "--interval", "0"]).output().unwrap();
    assert!(client.status.success(), "{}", told(&client));
    send("TERM", &serve);
    let rest: Vec<_> = lines.collect();
    assert!(serve.wait().unwrap().success());
    assert!(rest.iter().any(|line| line.contains("check --ledger")), "{rest:?}");
    let check = lab(&["check", "--ledger", ledger.to_str().unwrap()]).output().unwrap();
    let said = told(&check);
    assert_eq!(check.status.code(), Some(0), "{said}");
    assert!(said.starts_with("disallow  kept           MUST"), "{said}");
    assert!(said.contains("No request had \"mybot\" in its User-Agent"), "{said}");
    assert!(said.contains("\"labbot/1.0\""), "{said}");
}
