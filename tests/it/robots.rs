//! `comity robots`: URLs judged by a site's file, a file, or standard input.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::command::{comity, end, run};
use crate::sites::Site;

const RULES: &str = "user-agent: *\ndisallow: /private\nallow: /private/press\n\n\
    user-agent: friend\ndisallow:\n";

/// One line, one case: agent, path, whether allowed, the line that decided.
const CASES: &[(&str, &str, bool, Option<u64>)] = &[
    ("comitybot", "/", true, None),
    ("comitybot", "/private/1", false, Some(2)),
    ("comitybot", "/private/press/1", true, Some(3)),
    ("friend", "/private/1", true, None),
];

fn assert_cases(subject: &str, more: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("robots.txt"), RULES).unwrap();
    for (agent, path, allowed, line) in CASES {
        let arguments = [&["robots", subject, path, "--agent", agent, "--json"], more].concat();
        let answer = run(dir.path(), &arguments).well().json()["answers"][0].clone();
        assert_eq!(answer["allowed"], *allowed, "{agent} {path}: {answer}");
        assert_eq!(answer["line"].as_u64(), *line, "{agent} {path}: {answer}");
    }
}

#[test]
fn from_a_file() {
    assert_cases("robots.txt", &[]);
}

#[test]
fn from_a_site() {
    let site = Site::start(|path| match path {
        "/robots.txt" => (200, String::new(), RULES.into()),
        _ => (404, String::new(), String::new()),
    });
    assert_cases(&site.url("/"), &["--allow-network", "127.0.0.0/8"]);
    let page = site.url("/private/1");
    let dir = tempfile::tempdir().unwrap();
    let judged = run(dir.path(), &["robots", &page, "--allow-network", "127.0.0.0/8"]).well();
    assert!(judged.out.contains("disallowed") && judged.out.contains("line 2"), "{judged:?}");
    let only: Vec<_> = site.paths().into_iter().filter(|path| path != "/robots.txt").collect();
    assert_eq!(only, Vec::<String>::new(), "the page itself is never asked for");
}

#[test]
fn from_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = comity(dir.path(), &["robots", "-", "/private/1", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(RULES.as_bytes()).unwrap();
    assert_eq!(end(child).well().json()["answers"][0]["allowed"], false);
}

/// What cannot be read is not "allowed": exit code 3, and no verdict.
#[test]
fn unreadable() {
    let site = Site::start(|_| (503, String::new(), String::new()));
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["robots", &site.url("/a"), "--allow-network", "127.0.0.0/8"];
    run(dir.path(), &arguments).badly(3, &["cannot be reached", "status 503", "RT-025"]);
    run(dir.path(), &["robots", "missing.txt", "/a"]).badly(1, &["there is no file missing.txt"]);
    run(dir.path(), &["robots", "missing", "/a"]).badly(1, &["there is no file missing"]);
}
