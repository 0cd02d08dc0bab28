//! Archives of crawls: what is in them after kills, after a second look, and on a full disk.
//! `tests/warc` has them read by readers that others wrote.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use comity_storage::EngineKind;
use flate2::bufread::GzDecoder;
use serde_json::Value;

use crate::command::{end, program, run, start, wait_until};
use crate::kills::known::copied;
use crate::sites::Site;

const PAGES: usize = 60;

fn crawl<'a>(seed: &'a str, store: &'a str) -> Vec<&'a str> {
    vec![
        "crawl",
        seed,
        "--allow-network",
        "127.0.0.0/8",
        "--interval",
        "40ms",
        "--address-per-second",
        "10000",
        "--store",
        store,
        "--data",
        "data",
        "--warc",
        "warc",
        "--json",
    ]
}

/// A record: its header and its block.
struct Record {
    header: String,
    block: String,
}

impl Record {
    fn field(&self, name: &str) -> &str {
        let prefix = format!("{name}: ");
        self.header.lines().find_map(|line| line.strip_prefix(prefix.as_str())).unwrap_or_default()
    }

    fn is_capture(&self) -> bool {
        matches!(self.field("WARC-Type"), "response" | "revisit")
    }
}

/// The whole records of a file, and whether something that is none follows.
fn records(path: &Path) -> (Vec<Record>, bool) {
    let mut file = BufReader::new(std::fs::File::open(path).unwrap());
    let mut records = Vec::new();
    while !file.fill_buf().unwrap().is_empty() {
        let mut bytes = Vec::new();
        if GzDecoder::new(&mut file).read_to_end(&mut bytes).is_err() {
            return (records, true);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (header, rest) = text.split_once("\r\n\r\n").unwrap();
        let block = rest.strip_suffix("\r\n\r\n").unwrap().to_owned();
        let record = Record { header: header.to_owned(), block };
        assert_eq!(record.field("Content-Length"), record.block.len().to_string(), "{header}");
        records.push(record);
    }
    (records, false)
}

fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir.join("warc")) else { return vec![] };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.to_str().unwrap().ends_with(ending)).collect()
}

/// How often each URL is captured in the archive, complete files and others.
fn captured(dir: &Path) -> BTreeMap<String, usize> {
    let mut captured = BTreeMap::new();
    for path in files(dir, ".warc.gz").into_iter().chain(files(dir, ".open")) {
        for record in records(&path).0.iter().filter(|record| record.is_capture()) {
            *captured.entry(record.field("WARC-Target-URI").to_owned()).or_default() += 1;
        }
    }
    captured
}

/// Whenever a crawl is killed, what the store has as visited is in the archive, in whole records;
/// what is missing is fetched and written by the next run.
#[track_caller]
fn killed_while_writing(store: EngineKind) {
    const KILLS: usize = 4;
    let (site, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let arguments = crawl(&seed, store.name());
    for kill in 1..=KILLS {
        let mut crawl = start(dir.path(), &arguments);
        wait_until("some more pages", || site.paths().len() > kill * 9);
        crawl.kill().unwrap();
        crawl.wait().unwrap();
        let archived = captured(dir.path());
        let visited = copied(&dir.path().join("data"), store, &["127.0.0.1"]);
        for (url, _) in visited.iter().filter(|(_, visits)| **visits > 0) {
            assert!(archived.contains_key(url), "{url} is visited and not archived");
        }
    }
    run(dir.path(), &arguments).well();
    assert!(files(dir.path(), ".open").is_empty(), "every file is complete");
    assert!(files(dir.path(), ".warc.gz").iter().all(|path| !records(path).1));
    let archived = captured(dir.path());
    for page in 1..PAGES {
        let times = archived.get(&site.url(&format!("/page{page}")));
        assert!(times.is_some_and(|times| *times <= 1 + KILLS), "page {page}: {times:?}");
    }
    let total: usize = archived.values().sum();
    assert!(total <= site.paths().len(), "nothing is archived that was not asked for");
    indexed(dir.path(), total);
}

/// The index has a line for each capture, and each line leads to its record.
fn indexed(dir: &Path, captures: usize) {
    let export = run(dir, &["export", "cdxj", "--warc", "warc"]).well();
    let lines: Vec<_> = export.out.lines().collect();
    assert_eq!(lines.len(), captures);
    assert!(lines.is_sorted());
    for line in lines {
        let fields: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let file = dir.join("warc").join(fields["filename"].as_str().unwrap());
        let number = |name: &str| fields[name].as_str().unwrap().parse::<usize>().unwrap();
        let bytes = std::fs::read(file).unwrap();
        let mut text = String::new();
        let member = &bytes[number("offset")..][..number("length")];
        GzDecoder::new(member).read_to_string(&mut text).unwrap();
        let url = fields["url"].as_str().unwrap();
        assert!(text.contains(&format!("WARC-Target-URI: {url}\r\n")), "{line}");
    }
}

#[test]
fn sled_killed_while_writing() {
    killed_while_writing(EngineKind::Sled);
}

#[test]
fn redb_killed_while_writing() {
    killed_while_writing(EngineKind::Redb);
}

/// A page that is as it was is not kept twice, and refers to where it is kept; the metadata says
/// why it was asked for.
#[test]
fn a_second_look_refers_to_the_first() {
    let (site, dir) = (Site::of_pages(2), tempfile::tempdir().unwrap());
    std::fs::write(
        dir.path().join("comity.toml"),
        "[politeness]\nadaptive = false\n[recrawl]\nfirst = \"1s\"\nleast = \"1s\"\n",
    )
    .unwrap();
    let seed = site.url("/");
    let mut arguments = crawl(&seed, "sled");
    arguments.extend(["--patience", "300ms"]);
    run(dir.path(), &arguments).well();
    // Whole seconds are kept, so a second may last nearly two.
    std::thread::sleep(Duration::from_millis(2100));
    run(dir.path(), &arguments).well();
    let mut all: Vec<_> =
        files(dir.path(), ".warc.gz").iter().flat_map(|path| records(path).0).collect();
    all.retain(|record| record.field("WARC-Target-URI") == site.url("/page1"));
    let of_kind =
        |kind: &str| all.iter().filter(|r| r.field("WARC-Type") == kind).collect::<Vec<_>>();
    let (responses, revisits) = (of_kind("response"), of_kind("revisit"));
    assert_eq!(responses.len(), 1);
    assert!(responses[0].block.contains("This is page number1."));
    assert!(!revisits.is_empty());
    for revisit in revisits {
        assert_eq!(revisit.field("WARC-Refers-To-Date"), responses[0].field("WARC-Date"));
        for field in ["WARC-Payload-Digest", "WARC-Target-URI"] {
            assert_eq!(revisit.field(field), responses[0].field(field));
        }
        assert!(!revisit.block.contains("This is page"), "{}", revisit.block);
    }
    let decided = of_kind("metadata")[0].block.strip_prefix("comity-decision: ").unwrap();
    let decided: Value = serde_json::from_str(decided).unwrap();
    assert_eq!(decided["verdict"]["reason"], "robots-no-file");
    assert_eq!(decided["outcome"]["publication"], "full");
}

/// A full disk stops the crawl with a sentence that says so; nothing is acknowledged that is not in
/// the archive. The limit on the size of a file stands for the disk.
#[test]
fn a_full_disk_stops_the_crawl() {
    let site = Site::start(|path| {
        let number = path.strip_prefix("/page").and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        let mut text = format!("<a href=/page{}>next</a> ", number + 1);
        let mut state = number + 1;
        while text.len() < 60_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(&format!("{state:x} "));
        }
        (200, "content-type: text/html\r\n".into(), text)
    });
    let dir = tempfile::tempdir().unwrap();
    let seed = site.url("/");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 400; exec \"$0\" \"$@\""]).arg(program());
    command.args(crawl(&seed, "memory")).current_dir(dir.path()).stdin(Stdio::null());
    let crawl = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let parts = ["could not write warc/comity-", "same command goes on", "too large"];
    let ended = end(crawl).badly(1, &parts);
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    let open = files(dir.path(), ".open");
    let (records, torn) = records(&open[0]);
    assert!(!torn && records.len() > 3, "what was written is whole");
}
