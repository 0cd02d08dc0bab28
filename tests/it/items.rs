//! `[output.items]` as a person meets it: formats, places, kills, a full disk, mistakes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use comity_storage::EngineKind;
use serde_json::Value;

use crate::command::{end, program, run, start, wait_until};
use crate::kills::known::copied;
use crate::sites::Site;

const PAGES: usize = 60;

const SETTINGS: &str = "[politeness]\nadaptive = false\naddress_per_second = 10000\n\
    [extract.pages.fields.title]\ncss = \"title\"\n";

fn dir(settings: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("comity.toml"), format!("{SETTINGS}{settings}")).unwrap();
    dir
}

fn crawl<'a>(seed: &'a str, store: &'a str) -> [&'a str; 10] {
    let local = ["crawl", seed, "--allow-network", "127.0.0.0/8"];
    let rest = ["--interval", "40ms", "--store", store, "--data", "data"];
    let mut all = [""; 10];
    all[..4].copy_from_slice(&local);
    all[4..].copy_from_slice(&rest);
    all
}

/// Files of items in a directory, in the order of their names, the one that is appended to last.
fn files(dir: &Path, ending: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return vec![] };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> =
        names.filter(|name| name.starts_with("items") && name.ends_with(ending)).collect();
    names.sort();
    names
}

/// How often each URL has an item, in whole records.
fn kept(dir: &Path, ending: &str) -> BTreeMap<String, usize> {
    let mut kept = BTreeMap::new();
    for name in files(dir, ending) {
        let text = fs::read_to_string(dir.join(name)).unwrap();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in whole.filter(|line| !line.starts_with("extractor,")) {
            let url = match ending {
                ".csv" => line.split(',').nth(1).unwrap().to_owned(),
                _ => serde_json::from_str::<Value>(line).unwrap()["url"].as_str().unwrap().into(),
            };
            *kept.entry(url).or_default() += 1;
        }
    }
    kept
}

/// Whenever a crawl is killed, what the store has as visited has its items in the files, in whole
/// records; what is missing is fetched and written by the next run.
#[track_caller]
fn killed_while_writing(store: EngineKind, format: &str, file_bytes: usize) {
    const KILLS: usize = 4;
    let site = Site::of_pages(PAGES);
    let output = format!("[output.items]\nformat = \"{format}\"\nfile_bytes = \"{file_bytes}\"\n");
    let (dir, ending) = (dir(&output), format!(".{format}"));
    let (seed, data) = (site.url("/"), dir.path().join("data"));
    let arguments = crawl(&seed, store.name());
    for kill in 1..=KILLS {
        let mut crawl = start(dir.path(), &arguments);
        wait_until("some more pages", || site.paths().len() > kill * 9);
        crawl.kill().unwrap();
        crawl.wait().unwrap();
        let kept = kept(&data, &ending);
        for (url, _) in
            copied(&data, store, &["127.0.0.1"]).iter().filter(|(_, visits)| **visits > 0)
        {
            assert!(kept.contains_key(url), "{url} is visited and has no item");
        }
    }
    run(dir.path(), &arguments).well();
    let kept = kept(&data, &ending);
    assert_eq!(kept.len(), PAGES);
    // A report gathers a few visits; a kill repeats no more than one report's.
    assert!(kept.values().all(|times| *times <= 1 + KILLS), "{kept:?}");
    assert!(kept.values().sum::<usize>() <= site.paths().len());
    assert!(files(&data, &ending).len() > 2, "parted by size");
}

#[test]
fn lines_killed_while_writing() {
    killed_while_writing(EngineKind::Sled, "jsonl", 2_000);
}

#[test]
fn csv_killed_while_writing() {
    killed_while_writing(EngineKind::Redb, "csv", 1_500);
}

/// The columns are those of the settings; when they change, another file is begun. A place of one's
/// own needs no data directory.
#[test]
fn columns_of_the_settings() {
    let site = Site::of_pages(3);
    let output = "lang = { css = \"html\", attr = \"lang\" }\n\
        [output.items]\nformat = \"csv\"\npath = \"out/pages.csv\"\n";
    let settings = SETTINGS.replace("[extract.pages.fields.title]", "[extract.pages.fields]");
    let settings = settings.replace("css = \"title\"", "title = { css = \"title\" }");
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("comity.toml"), format!("{settings}{output}")).unwrap();
    let seed = site.url("/");
    let ended = run(dir.path(), &crawl(&seed, "memory")).well();
    assert!(ended.out.contains("Items:     out/pages.csv"), "{}", ended.out);
    let text = |name: &str| fs::read_to_string(dir.path().join("out").join(name)).unwrap();
    let first = text("pages.csv");
    assert!(first.starts_with("extractor,url,at,lang,title\r\npages,"), "{first}");
    assert_eq!(first.lines().count(), 4);
    let fewer = settings + output.split_once('\n').unwrap().1;
    fs::write(dir.path().join("comity.toml"), fewer).unwrap();
    run(dir.path(), &crawl(&seed, "memory")).well();
    assert_eq!(text("pages-00000.csv"), first);
    assert!(text("pages.csv").starts_with("extractor,url,at,title\r\npages,"));
}

/// A full disk stops the crawl with a sentence that says so and a code; whole records stay. The
/// limit on the size of a file stands for the disk.
#[test]
fn a_full_disk_stops_the_crawl() {
    let site = Site::start(|path| {
        let number = path.strip_prefix("/page").and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        let title = "word ".repeat(5_000);
        let text = format!("<title>{title}</title><a href=/page{}>next</a>", number + 1);
        (200, "content-type: text/html\r\n".into(), text)
    });
    let dir = dir("[output.items]\npath = \"items.jsonl\"\n");
    let seed = site.url("/");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""]).arg(program());
    command.args(crawl(&seed, "memory")).current_dir(dir.path()).stdin(Stdio::null());
    let crawl = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let parts = ["items could not be kept: could not write items.jsonl", "same command goes on"];
    let ended = end(crawl).badly(1, &parts);
    assert_eq!(ended.err.matches("could not be kept").count(), 1, "{}", ended.err);
    let text = fs::read_to_string(dir.path().join("items.jsonl")).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() > 1);
}

/// One line, one case: settings, and what is said at the start.
#[test]
fn mistakes() {
    let foreign = "[output.items]\npath = \"comity.toml\"\n";
    for (settings, code, parts) in [
        ("[output.items]\nformat = \"xml\"\n", 2, &["line 7, column 10", "`jsonl`, `csv`"][..]),
        ("[output.items]\npath = \"a.csv\"\n", 2, &["line 7, column 8: output.items.path"]),
        (foreign, 1, &["comity.toml: it is no file of items"]),
        (
            "[output.items]\npath = \"data/audit.jsonl\"\n",
            2,
            &["output.items.path", "the crawl's own"],
        ),
        (
            "[output.items]\npath = \"w\"\n[output.warc]\ndir = \"./w\"\n",
            2,
            &["output.items.path", "the archive's"],
        ),
        (
            "[output.items]\nformat = \"csv\"\ncolumns = [\"titel\"]\n",
            2,
            &["output.items.columns", "\"titel\"; did you mean \"title\"?"],
        ),
    ] {
        let dir = dir(settings);
        let before = fs::read(dir.path().join("comity.toml")).unwrap();
        run(dir.path(), &crawl("http://127.0.0.1:9/", "sled")).badly(code, parts);
        assert_eq!(fs::read(dir.path().join("comity.toml")).unwrap(), before);
    }
}
