//! The tools for people and machines: `comity robots check`, `lint`, `when`, and `comity rules`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command::{comity, end, run};
use crate::sites::Site;

/// Asks one process every line, and takes one answer a line.
fn ask(arguments: &[&str], lines: &str) -> Vec<Value> {
    let mut command = comity(Path::new("."), arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, lines) = (child.stdin.take().unwrap(), lines.to_owned());
    // Beside the reader: neither waits for the other when a pipe is full.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let ended = end(child).well();
    writer.join().unwrap();
    ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Issue 3: all cases of the corpus in one process, verdict and line as Google's own parser's.
#[test]
fn parity_in_one_process() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/corpus/robots-parity.jsonl");
    let corpus = fs::read_to_string(corpus).unwrap();
    let cases: Vec<Value> = corpus.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(cases.len(), 4003);
    let question = |case: &Value| {
        let (robots, agents, url) = (&case["robots_b64"], &case["agents"], &case["url"]);
        let question = json!({
            "robots_b64": robots, "agents": agents, "url": url, "policy": "google",
        });
        format!("{question}\n")
    };
    let questions: String = cases.iter().map(question).collect();
    let answers = ask(&["robots", "check", "--json-lines"], &questions);
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(answers) {
        let line = case["line"].as_u64().filter(|line| *line > 0);
        assert_eq!(answer["allowed"], case["allowed"], "{case} {answer}");
        assert_eq!(answer["line"].as_u64(), line, "{case} {answer}");
        assert_eq!(answer["rule"].is_string(), line.is_some(), "{case} {answer}");
    }
}

#[test]
fn answers_keep_their_order_and_a_bad_line_is_no_end() {
    let good = r#"{"robots":"user-agent: a\ndisallow: /x","agents":["b","a"],"url":"/x","policy":"rfc9309"}"#;
    let lines = format!("{good}\n\nnonsense\n{{\"agents\":[]}}\n{good}");
    let answers = ask(&["robots", "check", "--json-lines"], &lines);
    let expect = json!({ "allowed": false, "line": 2, "rule": "disallow: /x", "group": "a" });
    assert_eq!((&answers[0], &answers[4], answers.len()), (&expect, &expect, 5));
    assert!(answers[1..4].iter().all(|answer| answer["error"].is_string()), "{answers:?}");
    for tool in [["robots", "when", "--json-lines"].as_slice(), &["rules", "--json-lines"]] {
        let answers = ask(tool, "{}\n[\n");
        assert_eq!((answers.len(), answers[1]["error"].is_string()), (2, true), "{answers:?}");
    }
}

/// One line, one case: file, exit code, what is printed.
#[test]
fn lint() {
    let dir = tempfile::tempdir().unwrap();
    let cases: [(&str, i32, &[&str]); 7] = [
        ("user-agent: *\ndisallow: /a\n", 0, &["0 errors, 0 warnings"]),
        ("useragent: *\ndisallow: /a\n", 0, &["line 1", "warning", "typo", "RT-051", "1 warning"]),
        ("user-agent: *\ndisallow: a\n", 1, &["line 2", "error", "path-start", "AM-26"]),
        ("<!doctype html>", 1, &["line 1", "html", "plain text"]),
        ("\0\u{1}\u{2}\u{3}\u{4}\u{5}", 1, &["binary", "1 error, 0 warnings"]),
        ("", 0, &["an empty file", "0 errors"]),
        ("user-agent: a\nallow: /\nuser-agent: a\ndisallow: /b\n", 0, &["line 3", "split-group"]),
    ];
    for (robots, code, parts) in cases {
        fs::write(dir.path().join("robots.txt"), robots).unwrap();
        run(dir.path(), &["robots", "lint", "robots.txt"]).badly(code, parts);
    }
    fs::write(dir.path().join("robots.txt"), "crawl-delay: 5\nsitemap: /s\n").unwrap();
    let told = run(dir.path(), &["robots", "lint", "robots.txt", "--json", "--lines"]).json();
    assert_eq!(told["unused_fields"][0]["value"], "5");
    assert_eq!(told["findings"][1]["code"], "relative-sitemap");
    assert_eq!(told["lines"][2]["what"], "blank");
    let site = Site::start(|_| (503, String::new(), String::new()));
    let arguments = ["robots", "lint", &site.url("/"), "--allow-network", "127.0.0.0/8"];
    run(dir.path(), &arguments).badly(3, &["cannot be reached"]);
}

#[test]
fn the_life_of_a_record_that_a_crawl_left() {
    let (site, dir) = (Site::of_pages(1), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let crawl = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "1ms"];
    run(dir.path(), &[crawl.as_slice(), &["--data", "data"]].concat()).well();
    let when = |more: &[&str]| {
        let arguments = [&["robots", "when", &seed, "--data", "data"], more].concat();
        run(dir.path(), &arguments).well()
    };
    let now = when(&["--json"]).json();
    assert_eq!((&now["verdict"]["allowed"], &now["copy"]["file"]), (&json!(true), &json!(false)));
    assert_eq!(now["verdict"]["reason"], "robots-no-file");
    let later = when(&["--json", "--at", "+25h"]).json();
    assert_eq!(later["verdict"]["reason"], "robots-not-fetched");
    let stages = later["if_it_fails"].as_array().unwrap();
    assert!(stages[0]["stage"].as_str().unwrap().starts_with("full stop"), "{later}");
    assert!(when(&[]).out.contains("nothing is forbidden"));
    let arguments = ["robots", "when", &seed, "--data", "data", "--at", "soon"];
    run(dir.path(), &arguments).badly(2, &["\"soon\" is no date"]);
}

/// A life that a file tells, as a timeline (RT-025, RT-026).
#[test]
fn the_life_that_a_file_tells() {
    let dir = tempfile::tempdir().unwrap();
    let life = r#"{"policy":"google","agents":["me"],
        "events":[{"t_s":0,"status":200,"body":"user-agent: *\ndisallow: /a"},
                  {"t_s":"+1d","status":503}],
        "ask":[{"t_s":"+25h","url":"/b"},{"t_s":"+37h","url":"/b"}]}"#;
    fs::write(dir.path().join("life.json"), life).unwrap();
    let when = |more: &[&str]| {
        run(dir.path(), &[&["robots", "when", "--events", "life.json"], more].concat())
    };
    let told = when(&["/a", "--at", "+37h"]).well().out;
    // One line, one case: what stands in the timeline, in this order.
    let mut rest = told.as_str();
    for part in [
        "+0s ",
        "status 200, 26 bytes",
        "a fresh copy decides; next refresh +1d\n",
        "status 503",
        "full stop: nothing of the site is fetched; next refresh +1d 5m\n",
        "+1d 1h",
        "/b may not be fetched (robots-unreachable)",
        "+1d 13h",
        "/b may be fetched (robots-last-good)",
        "/a may not be fetched (robots-disallow: robots.txt line 2, group *: disallow: /a)",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("\"{part}\" does not follow: {told}"));
        rest = &rest[at + part.len()..];
    }
    let told = when(&["--json"]).well().json();
    assert_eq!(told["timeline"][1]["next_refresh_s"], 86_700);
    assert_eq!(told["timeline"][3]["verdict"]["reason"], "robots-last-good");
    when(&["/a"]).badly(2, &["needs --at"]);
    for (text, code, part) in [
        ("{}", 0, "no events and no questions"),
        ("", 2, "such a file"),
        ("\u{0}\u{1}", 2, "such a file"),
        (r#"{"events":[{"t_s":"soon"}]}"#, 2, "\"soon\" is no date"),
        (r#"{"events":[{"t_s":7}]}"#, 1, "the event at 7 s"),
        (r#"{"agents":["a b"]}"#, 2, "product token"),
    ] {
        fs::write(dir.path().join("life.json"), text).unwrap();
        when(&[]).badly(code, &[part]);
    }
    run(dir.path(), &["robots", "when", "--events", "none.json"]).badly(1, &["none.json"]);
}

/// XR-007, RL-001: what the settings file says of page rules and pace reaches the engine.
#[test]
fn settings_reach_the_engine() {
    // The settings, the page's publication, and the pace after two good answers.
    let cases = [
        ("", "full", "pace        70 % of the usual rate"),
        ("[rules]\nrobots_tag = true", "noindex", "pace        70 % of the usual rate"),
        (
            "[politeness]\nadaptive = false",
            "full",
            "pace        the usual rate, whatever it answers: one request every 1 ms (interval; RL-002)",
        ),
    ];
    for (settings, publication, words) in cases {
        let site = Site::start(|path| match path {
            "/" => {
                (200, "Content-Type: text/html\r\nRobots-Tag: *;noindex\r\n".into(), "hi".into())
            }
            _ => (404, String::new(), String::new()),
        });
        let (dir, seed) = (tempfile::tempdir().unwrap(), site.url("/"));
        fs::write(dir.path().join("comity.toml"), settings).unwrap();
        let crawl = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "1ms"];
        run(dir.path(), &crawl).well();
        let told = run(dir.path(), &["explain", &seed, "--json"]).well().json();
        assert_eq!(told["known"]["last"]["publication"], publication, "{settings}: {told}");
        let pace = &told["site"]["pace"];
        assert!(pace["first_byte_ms"].is_u64() && pace["hold"].is_null(), "{told}");
        let explained = run(dir.path(), &["explain", &seed]).well().out;
        for part in [words, "no error in the last 2 answers; first byte after"] {
            assert!(explained.contains(part), "{part}: {explained}");
        }
    }
}

/// A spelling that a crawl takes for another one's is explained by that one, as the crawl's settings
/// say: one line, one case.
#[test]
fn explain_knows_other_spellings() {
    let site = Site::of_pages(1);
    let (dir, seed) = (tempfile::tempdir().unwrap(), site.url("/"));
    let settings = "[urls]\nstrip = [\"view\"]\nstrip_sessions = false\n";
    fs::write(dir.path().join("comity.toml"), settings).unwrap();
    run(dir.path(), &["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "1ms"])
        .well();
    let cases = [
        ("", true, false),
        ("#part", true, false),
        ("?", true, true),
        ("?utm_source=a", true, true),
        ("?view=list&gclid=b", true, true),
        ("?page=2", false, false),
        ("?PHPSESSID=3", false, false),
    ];
    for (more, known, other) in cases {
        let url = format!("{seed}{more}");
        let told = run(dir.path(), &["explain", &url, "--json"]).well().json();
        let shown = (told["known"].is_object(), told["asked"].is_string());
        assert_eq!(shown, (known, other), "{url}: {told}");
        let words = run(dir.path(), &["explain", &url]).well().out;
        assert_eq!(
            words.contains("the same page by the crawl's settings"),
            other,
            "{url}: {words}"
        );
    }
}

#[test]
fn rules() {
    let dir = tempfile::tempdir().unwrap();
    let html = "<meta name=robots content='max-snippet:5'><p>hello world \
        <a href=/a rel=nofollow>a</a><a href=/b>b</a>";
    fs::write(dir.path().join("page.html"), html).unwrap();
    let header = "X-Robots-Tag: unavailable_after: 2027-01-01";
    let page = |more: &[&str]| {
        let arguments = [&["rules", "page.html", "--header", header], more].concat();
        run(dir.path(), &arguments).well()
    };
    let told = page(&["--json", "--now", "2026-12-31"]).json();
    assert_eq!((&told["max_snippet"], &told["snippet_text"]), (&json!(5), &json!("hello")));
    assert_eq!(told["unavailable_after"], "2027-01-01T00:00:00Z");
    assert_eq!(told["from"]["max_snippet"][0], "meta robots 1: max-snippet:5");
    assert_eq!(
        (&told["links"][0]["reason"], &told["links"][1]["follow"]),
        (&json!("rel-nofollow"), &json!(true))
    );
    // RM-033, AM-47: what has no effect is told.
    let misspelt = ["rules", "-H", "X-Robots-Tag: noindx, max-snippet:abc", "--now", "2026-12-31"];
    let told = run(dir.path(), &misspelt).well();
    for code in ["unknown-word: noindx", "unreadable-value: max-snippet:abc"] {
        assert!(told.out.contains(code), "{told:?}");
    }
    let told = run(dir.path(), &[misspelt.as_slice(), &["--json"]].concat()).well().json();
    assert_eq!(told["remarks"][0]["code"], "unknown-word");
    let late = page(&["--now", "2027-01-01"]);
    assert!(late.out.contains("nothing: expired"), "{late:?}");
    let list = run(dir.path(), &["rules", "--list", "--json"]).well().json();
    assert!(list.as_array().unwrap().iter().any(|word| word["name"] == "unavailable_after"));
    let question = r#"{"headers":[["X-Robots-Tag","me: noindex"]],"agent":"me","policy":"google"}"#;
    let answers = ask(&["rules", "--json-lines"], question);
    assert_eq!(
        (&answers[0]["noindex"], &answers[0]["publication"]),
        (&json!(true), &json!("nothing"))
    );
    let told = page(&["--now", "2027-01-01", "--dates-without-time", "end-of-day"]);
    assert!(told.out.contains("until 2027-01-02T00:00:00Z"), "{told:?}");
    let draft = ["rules", "--header", "Robots-Tag: *;noindex"];
    assert!(run(dir.path(), &draft).well().out.contains("none that bind"));
    let heeded = run(dir.path(), &[draft.as_slice(), &["--robots-tag"]].concat()).well();
    assert!(heeded.out.contains("nothing: noindex"), "{heeded:?}");
    let question = r#"{"headers":[["Robots-Tag","*;noindex"]],"robots_tag":true}"#;
    assert_eq!(ask(&["rules", "--json-lines"], question)[0]["noindex"], true);
    run(dir.path(), &["rules", "-H", "a: b", "--dates-without-time", "noon"])
        .badly(2, &["\"noon\" is none of"]);
    run(dir.path(), &["rules"]).badly(2, &["nothing to judge"]);
    run(dir.path(), &["rules", "--header", "noindex"]).badly(2, &["no colon"]);
}

/// What is cut, who is judged for, and what a crawl-delay comes to is said.
#[test]
fn check_says_what_it_judged() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let check =
        |more: &[&str]| run(dir.path(), &[&["robots", "check", "robots.txt"], more].concat());
    write("robots.txt", "user-agent: googlebot\ndisallow: /a\n\nuser-agent: *\ndisallow: /\n");
    // One line, one case: agent, path, whether allowed, the words for it.
    for (agent, path, allowed, words) in [
        ("Googlebot-Image", "/a", false, "judged for Googlebot-Image, else Googlebot; policy"),
        ("Googlebot-News", "/b", true, "Googlebot-News, else Googlebot"),
        ("AdsBot-Google", "/a", true, "only groups that name it bind"),
        ("Mediapartners-Google", "/b", true, "only groups that name it bind"),
        ("Googlebot", "/a", false, "judged for Googlebot; policy courteous"),
        ("other", "/b", false, "judged for other; policy courteous"),
    ] {
        let told = check(&[path, "--agent", agent, "--json"]).well().json();
        assert_eq!(told["answers"][0]["allowed"], allowed, "{agent} {path}: {told}");
        let told = check(&[path, "--agent", agent]).well().out;
        assert!(told.contains(words), "{agent} {path}: {told}");
    }
    write("robots.txt", "user-agent: me\nuser-agent: spare\ndisallow: /a\ncrawl-delay: 90\n");
    for (policy, words, effective) in [
        ("courteous", "90 s, of which 1 min 0 s are kept", json!(60.0)),
        ("google", "90 s, which policy google ignores", Value::Null),
        ("rfc9309", "90 s, which policy rfc9309 ignores", Value::Null),
    ] {
        let arguments = ["/a", "--agent", "me", "--policy", policy];
        let told = check(&arguments).well().out;
        assert!(told.contains(words), "{policy}: {told}");
        let told = check(&[arguments.as_slice(), &["--json"]].concat()).well().json();
        let delay = &told["agents"][0]["crawl_delay"];
        assert_eq!((&delay["asked_s"], &delay["effective_s"]), (&json!(90.0), &effective));
    }
    write(
        "comity.toml",
        "[identity]\nagent = \"own\"\nfallbacks = [\"spare\"]\n[politeness]\npolicy = \"google\"\n",
    );
    let told = check(&["/a"]).well().out;
    assert!(told.contains("judged for own, else spare; policy google"), "{told}");
    assert!(told.contains("disallowed"), "{told}");
    let large = format!("{}user-agent: *\ndisallow: /\n", "# comment\n".repeat(60_000));
    write("robots.txt", &large);
    let told = check(&["/a"]).well().out;
    assert!(told.contains("the first 500 KiB of 600,026 bytes count"), "{told}");
    let told = check(&["/a", "--json"]).well().json();
    assert_eq!(told["answers"][0]["allowed"], true);
    assert_eq!((&told["size"]["bytes"], &told["size"]["cut"]), (&json!(600_026), &json!(true)));
    let question = json!({ "robots": large, "agents": ["me"], "url": "/a", "policy": "google" });
    let answers = ask(&["robots", "check", "--json-lines"], &question.to_string());
    assert_eq!(answers[0]["allowed"], true, "RT-031");
}

/// One line, one case: tool, question, a part of the error.
#[test]
fn misspelt_questions() {
    let (check, when) = (["robots", "check", "--json-lines"], ["robots", "when", "--json-lines"]);
    let cases: [(&[&str], &str, &str); 6] = [
        (&check, r#"{"robots":"","agents":["a"],"url":"/","polcy":"google"}"#, "`polcy`"),
        (&check, r#"{"robots":"","url":"/"}"#, "`agents`"),
        (&check, r#"{"robots":"","agents":[],"url":"/"}"#, "agents is empty"),
        (&when, r#"{"asks":[]}"#, "`asks`"),
        (&when, r#"{"events":[{"t_s":0,"status":200,"header":[]}]}"#, "`header`"),
        (&["rules", "--json-lines"], r#"{"header":[]}"#, "`header`"),
    ];
    for (tool, question, part) in cases {
        let answer = &ask(tool, question)[0];
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(error.contains(part), "{question}: {answer}");
    }
}

/// What has no end is not read to its end, and what cannot be written is no success.
#[cfg(target_os = "linux")]
#[test]
fn devices() {
    let dir = tempfile::tempdir().unwrap();
    let zero = "/dev/zero";
    run(dir.path(), &["robots", "check", zero, "/a"])
        .well()
        .out
        .find("more than 8,388,608")
        .unwrap();
    run(dir.path(), &["rules", zero]).badly(1, &["larger than 64 MiB"]);
    run(dir.path(), &["--config", zero, "status"]).badly(2, &["that is no configuration"]);
    run(dir.path(), &["robots", "when", "--events", zero]).badly(1, &["larger than 64 MiB"]);
    for url in [["rules", "https://h.example/"], ["sitemap", "https://h.example/s"]] {
        run(dir.path(), &url).badly(2, &["curl -s https://h.example/"]);
    }
    fs::write(dir.path().join("robots.txt"), "").unwrap();
    let mut command = comity(dir.path(), &["robots", "check", "--json", "robots.txt", "/a"]);
    command.stdout(fs::File::create("/dev/full").unwrap()).stderr(Stdio::piped());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("could not write to standard output"), "{said}");
}
