//! Page records of a crawl, exported.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::{comity, end, program, run};
use crate::sites::Site;

#[test]
fn page_records_as_json_lines_and_csv() {
    let site = Site::start(|path| {
        let html = || "content-type: text/html\r\n".to_owned();
        match path {
            "/robots.txt" => (200, String::new(), "user-agent: *\ndisallow: /no\n".into()),
            "/" => (
                200,
                html(),
                "<title>A, \"b\"</title><a href=/hidden>x</a><a href=/no>y</a>".into(),
            ),
            "/hidden" => (200, html(), "<meta name=robots content=noindex>".into()),
            _ => (404, html(), String::new()),
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let seed = site.url("/");
    let crawl =
        ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "10ms", "--data", "data"];
    run(dir.path(), &crawl).well();
    let lines = run(dir.path(), &["export", "--data", "data"]).well().out;
    let pages: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let page = |path: &str| pages.iter().find(|page| page["url"] == site.url(path)).unwrap();
    assert_eq!(pages.len(), 3);
    // One line, one case: path, field, value.
    for (path, field, expect) in [
        ("/", "title", "A, \"b\""),
        ("/", "publication", "full"),
        ("/hidden", "publication", "noindex"),
        ("/hidden", "found_on", &seed),
        ("/no", "outcome", "refused"),
        ("/no", "reason", "robots-disallow"),
    ] {
        assert_eq!(page(path)[field], expect, "{path} {field}");
    }
    assert_eq!(page("/")["status"], 200);
    let csv = run(dir.path(), &["export", "--data", "data", "--format", "csv"]).well().out;
    assert!(csv.starts_with("url,found_at,found_on,depth,"), "{csv}");
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.contains(",\"A, \"\"b\"\"\","), "{csv}");
}

/// Both kinds of export leave alone what a crawl keeps, wherever; an older export is replaced as a
/// whole or stays.
#[test]
fn an_export_is_written_over_nothing_of_a_crawl() {
    let (site, dir) = (Site::of_pages(5), tempfile::tempdir().unwrap());
    let (seed, at) = (site.url("/"), dir.path());
    for data in ["data", "other"] {
        let crawl = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "10ms"];
        run(at, &[&crawl[..], &["--data", data, "--warc", "warc"]].concat()).well();
    }
    std::fs::create_dir(at.join("copied")).unwrap();
    let names = |dir: &str| {
        let entries = std::fs::read_dir(at.join(dir)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let warc = names("warc").into_iter().find(|name| name.ends_with(".warc.gz")).unwrap();
    std::fs::copy(at.join("warc").join(&warc), at.join("copied").join(&warc)).unwrap();
    std::fs::write(at.join("kept.jsonl"), "kept").unwrap();
    std::fs::write(at.join("with.toml"), "[output.items]\npath = \"kept.jsonl\"\n").unwrap();
    let (pages, cdxj) = (["export", "--data", "data"], ["export", "cdxj", "--warc", "warc"]);
    let copied = format!("copied/{warc}");
    let index = copied.replace(".warc.gz", ".cdxj");
    for output in ["other/status.json", "data/audit.jsonl", "kept.jsonl", &copied, &index] {
        let before = std::fs::read(at.join(output)).ok();
        for kind in [&pages[..], &cdxj[..]] {
            let args = [&["--config", "with.toml"], kind, &["--output", output]].concat();
            run(at, &args).badly(2, &[output, "name another"]);
            assert!(std::fs::read(at.join(output)).ok() == before, "{output}");
        }
    }
    for kind in [&pages[..], &cdxj[..]] {
        std::fs::write(at.join("older"), "older").unwrap();
        run(at, &[kind, &["--output", "older"]].concat()).well();
        let written = run(at, kind).well().out;
        assert_eq!(std::fs::read_to_string(at.join("older")).unwrap(), written);
    }
    // The limit on the size of a file stands for a full disk.
    std::fs::write(at.join("older"), "older").unwrap();
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited]).arg(program()).args(cdxj).args(["--output", "older"]);
    command.current_dir(at).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    end(command.spawn().unwrap()).badly(1, &["could not write"]);
    assert_eq!(std::fs::read_to_string(at.join("older")).unwrap(), "older");
    assert!(!names(".").iter().any(|name| name.ends_with(".new")), "{:?}", names("."));
}

/// A reader that has had enough, such as `head`, is no fault of the disk.
#[test]
fn a_closed_pipe_ends_an_index_quietly() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let crawl = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "10ms"];
    run(dir.path(), &[&crawl[..], &["--warc", "warc", "--data", "data"]].concat()).well();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut export = comity(dir.path(), &["export", "cdxj", "--warc", "warc"]);
    let ended = end(export.stdout(writer).stderr(Stdio::piped()).spawn().unwrap()).well();
    assert_eq!(ended.err, "");
}
