//! Archives written, broken off, opened again and read.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use comity_compliance::Timestamp;
use comity_storage::{Archived, Durability};
use flate2::read::MultiGzDecoder;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{StatusCode, Version};
use url::Url;

use super::{Archive, Exchange, WarcSettings, export_cdxj};
use crate::net::{Completeness, PartialCause, Reply};
use crate::output::OutputError;

/// A reply as the tests of this folder want it.
pub(super) fn reply(status: u16, lines: &[(&'static str, &str)], body: &str) -> Reply {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_str(value).unwrap());
    }
    Reply {
        url: Url::parse("https://example.org/a?b").unwrap(),
        status: StatusCode::from_u16(status).unwrap(),
        headers,
        request: HeaderMap::new(),
        body: Bytes::from(body.to_owned()),
        completeness: Completeness::Whole,
        version: Version::HTTP_11,
        address: Some("192.0.2.1:443".parse().unwrap()),
        first_byte: Duration::from_millis(5),
        total: Duration::from_millis(9),
        wire_bytes: body.len() as u64,
        head_at: Timestamp::from_millis(1_796_050_253_007),
    }
}

fn exchange(reply: Reply, known: Option<Archived>) -> Exchange {
    Exchange { reply, metadata: serde_json::json!({"verdict": "fetch"}), known }
}

fn settings(dir: &Path, file_bytes: u64) -> WarcSettings {
    WarcSettings {
        dir: dir.to_owned(),
        prefix: "test".into(),
        file_bytes,
        durability: Durability::Power,
        user_agent: "testbot/1".into(),
        operator: Some("me@example.org".into()),
    }
}

/// All files of one ending.
fn with_ending(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().unwrap().ends_with(ending));
    paths.sort();
    paths
}

/// The same, decompressed.
fn texts(dir: &Path, ending: &str) -> Vec<String> {
    let text = |path| {
        let mut text = Vec::new();
        MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    with_ending(dir, ending).into_iter().map(text).collect()
}

fn index(dir: &Path) -> Vec<String> {
    let mut out = Vec::new();
    export_cdxj(dir, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(String::from).collect()
}

/// One line, one case: what came, what was known, and what the main record must say.
#[tokio::test]
async fn records_by_what_came() {
    let body_sum = super::record::sha1(&[b"<p>hi"]);
    let known = Some(Archived { at: Timestamp::from_secs(1_700_000_000), payload: body_sum });
    let other = Some(Archived { at: Timestamp::EPOCH, payload: [0; 20] });
    let html = &[("content-type", "text/html; charset=utf-8")];
    let cut = |completeness| Reply { completeness, ..reply(200, html, "<p>hi") };
    let ftp = Reply {
        url: Url::parse("ftp://example.org/file").unwrap(),
        version: Version::HTTP_09,
        ..reply(200, &[], "x")
    };
    let h2 = Reply { version: Version::HTTP_2, ..reply(404, html, "no") };
    let same = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    let stands = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified";
    let cases: [(Reply, _, &[&str]); 9] = [
        (reply(200, html, "<p>hi"), None, &["WARC-Type: response", "WARC-IP-Address: 192.0.2.1"]),
        (reply(200, html, "<p>hi"), other, &["WARC-Type: response"]),
        (
            reply(200, html, "<p>hi"),
            known,
            &[same, "WARC-Refers-To-Date: 2023-11-14T22:13:20.000Z"],
        ),
        (
            reply(304, &[], ""),
            known,
            &[stands, "WARC-Refers-To-Target-URI: https://example.org/a?b"],
        ),
        (reply(304, &[], ""), None, &["WARC-Type: response"]),
        (cut(Completeness::Truncated), known, &["WARC-Type: response", "WARC-Truncated: length"]),
        (cut(Completeness::Partial(PartialCause::Cut)), None, &["WARC-Truncated: disconnect"]),
        (ftp, None, &["WARC-Type: resource", "WARC-Target-URI: ftp://example.org/file"]),
        (h2, None, &["WARC-Protocol: h2", "HTTP/1.1 404 Not Found"]),
    ];
    for (reply, known, expect) in cases {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(settings(dir.path(), 1 << 30)).unwrap();
        let archived = archive.write(exchange(reply.clone(), known)).await.unwrap();
        archive.sync().await.unwrap();
        archive.close().await.unwrap();
        let text = texts(dir.path(), ".warc.gz").concat();
        for line in expect {
            assert!(text.contains(&format!("{line}\r\n")), "{line} is not in {text}");
        }
        let is_revisit = text.contains("WARC-Type: revisit");
        assert_eq!(archived.at, if is_revisit { known.unwrap().at } else { reply.head_at });
        assert!(text.contains("comity-decision: {\"verdict\":\"fetch\"}\r\n"), "{text}");
        assert!(text.starts_with("WARC/1.1\r\nWARC-Type: warcinfo\r\n"), "{text}");
        assert!(text.contains("operator: me@example.org\r\n"), "{text}");
        assert_eq!(index(dir.path()).len(), 1);
    }
}

/// Files end at their size, and what the index says is what is there.
#[tokio::test]
async fn files_end_at_their_size() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(settings(dir.path(), 2000)).unwrap();
    for number in [3, 1, 2] {
        let mut reply = reply(200, &[("content-type", "text/plain")], "body");
        reply.url = Url::parse(&format!("https://www.example.org/{number}")).unwrap();
        archive.write(exchange(reply, None)).await.unwrap();
    }
    archive.close().await.unwrap();
    assert!(texts(dir.path(), ".warc.gz").len() > 1);
    let beside: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let beside =
        beside.iter().filter(|path| path.extension().is_some_and(|ending| ending == "cdxj"));
    let mut beside: Vec<_> = beside
        .flat_map(|path| {
            std::fs::read_to_string(path).unwrap().lines().map(String::from).collect::<Vec<_>>()
        })
        .collect();
    beside.sort();
    let lines = index(dir.path());
    assert_eq!(lines, beside, "made anew it is the same");
    assert_eq!(lines.len(), 3);
    for (line, number) in lines.iter().zip(1..) {
        assert!(line.starts_with(&format!("org,example)/{number} 20261130145053 {{")), "{line}");
        let fields: serde_json::Value =
            serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let number_of = |name: &str| fields[name].as_str().unwrap().parse::<usize>().unwrap();
        let file = std::fs::read(dir.path().join(fields["filename"].as_str().unwrap())).unwrap();
        let member = &file[number_of("offset")..][..number_of("length")];
        let mut text = String::new();
        flate2::read::GzDecoder::new(member).read_to_string(&mut text).unwrap();
        assert!(
            text.contains("WARC-Type: response\r\n") && text.ends_with("body\r\n\r\n"),
            "{text}"
        );
    }
}

/// Wherever a crash cuts a file, what was whole before stays and what comes later is found.
#[tokio::test]
async fn a_torn_tail_is_cut_off() {
    let whole = tempfile::tempdir().unwrap();
    let archive = Archive::open(settings(whole.path(), 1 << 30)).unwrap();
    for _ in 0..2 {
        archive.write(exchange(reply(200, &[], "some text"), None)).await.unwrap();
    }
    let files: Vec<_> =
        std::fs::read_dir(whole.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let open = files.iter().find(|path| path.to_str().unwrap().ends_with(".open")).unwrap();
    let bytes = std::fs::read(open).unwrap();
    for cut in (0..bytes.len()).step_by(151).chain([bytes.len() - 1]) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(open.file_name().unwrap()), &bytes[..cut]).unwrap();
        let archive = Archive::open(settings(dir.path(), 1 << 30)).unwrap();
        archive.write(exchange(reply(200, &[], "later"), None)).await.unwrap();
        archive.close().await.unwrap();
        let text = texts(dir.path(), ".warc.gz").concat();
        let responses = text.matches("WARC-Type: response").count();
        assert_eq!(index(dir.path()).len(), responses, "cut at {cut}");
        assert!((1..=3).contains(&responses) && text.contains("later"), "cut at {cut}");
    }
}

/// What a crash left has the name of a file that is complete, as when a backup is put back: both stay,
/// each with its own index.
#[tokio::test]
async fn a_complete_file_is_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(settings(dir.path(), 1 << 30)).unwrap();
    archive.write(exchange(reply(200, &[], "some text"), None)).await.unwrap();
    let open = with_ending(dir.path(), ".open").remove(0);
    let older = std::fs::read(&open).unwrap();
    archive.write(exchange(reply(200, &[], "some text"), None)).await.unwrap();
    archive.close().await.unwrap();
    drop(archive);
    let (complete, listed) = (open.with_extension(""), with_ending(dir.path(), ".cdxj").remove(0));
    let before = [&complete, &listed].map(|path| std::fs::read(path).unwrap());
    // The next name has an index that somebody kept.
    let kept = dir.path().join("test-20261130145053-00001.cdxj");
    std::fs::write(&kept, "kept").unwrap();
    std::fs::write(&open, &older[..older.len() - 7]).unwrap();
    Archive::open(settings(dir.path(), 1 << 30)).unwrap();
    let after = [&complete, &listed].map(|path| std::fs::read(path).unwrap());
    assert!(after == before, "they are as they were");
    assert_eq!(std::fs::read(&kept).unwrap(), b"kept");
    assert!(!open.exists());
    let aside = dir.path().join("test-20261130145053-00002.warc.gz");
    assert!(older.starts_with(&std::fs::read(&aside).unwrap()), "cut to what is whole");
    std::fs::read(aside.with_extension("").with_extension("cdxj")).unwrap();
    let archive = Archive::open(settings(dir.path(), 1 << 30)).unwrap();
    archive.write(exchange(reply(200, &[], "later"), None)).await.unwrap();
    archive.close().await.unwrap();
    assert_eq!(std::fs::read(&kept).unwrap(), b"kept", "a new file passes over it too");
    let named = std::fs::read_to_string(dir.path().join("test-20261130145053-00003.cdxj")).unwrap();
    assert!(named.contains("test-20261130145053-00003.warc.gz"), "{named}");
}

/// A file of the same name that comes while one is written is not written over at its end.
#[tokio::test]
async fn a_name_taken_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(settings(dir.path(), 1 << 30)).unwrap();
    archive.write(exchange(reply(200, &[], "some text"), None)).await.unwrap();
    let name = with_ending(dir.path(), ".open").remove(0).with_extension("");
    std::fs::write(&name, "another's").unwrap();
    archive.close().await.unwrap();
    assert_eq!(std::fs::read(&name).unwrap(), b"another's");
    let own = "test-20261130145053-00001";
    assert!(dir.path().join(format!("{own}.warc.gz")).exists());
    let index = std::fs::read_to_string(dir.path().join(format!("{own}.cdxj"))).unwrap();
    assert!(index.contains(&format!("\"filename\":\"{own}.warc.gz\"")), "{index}");
}

/// What lies where an export has its scratch files is passed over and stays.
#[test]
fn scratch_of_others_stays() {
    let dir = tempfile::tempdir().unwrap();
    let theirs = dir.path().join(format!(".cdxj-{}-0", std::process::id()));
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("open-0"), "theirs").unwrap();
    index(dir.path());
    assert_eq!(std::fs::read(theirs.join("open-0")).unwrap(), b"theirs");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// What a crash does not leave is not cut: records after a damaged one stay in the file.
#[tokio::test]
async fn a_damaged_file_keeps_all() {
    let whole = tempfile::tempdir().unwrap();
    let archive = Archive::open(settings(whole.path(), 1 << 30)).unwrap();
    for _ in 0..2 {
        archive.write(exchange(reply(200, &[], "some text"), None)).await.unwrap();
    }
    let mut files = std::fs::read_dir(whole.path()).unwrap().map(|entry| entry.unwrap().path());
    let open = files.find(|path| path.to_str().unwrap().ends_with(".open")).unwrap();
    let bytes = std::fs::read(&open).unwrap();
    for at in [0, 30, bytes.len() / 2] {
        let dir = tempfile::tempdir().unwrap();
        let mut damaged = bytes.clone();
        damaged[at..at + 20].fill(0);
        let name = open.file_name().unwrap();
        std::fs::write(dir.path().join(name), &damaged).unwrap();
        Archive::open(settings(dir.path(), 1 << 30)).unwrap();
        let kept = dir.path().join(name).with_extension("");
        assert_eq!(std::fs::read(kept).unwrap(), damaged, "{at}");
    }
}

#[tokio::test]
async fn only_one_writes_and_an_error_is_the_last_word() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(settings(dir.path(), 1 << 30)).unwrap();
    let second = Archive::open(settings(dir.path(), 1 << 30));
    assert!(matches!(second, Err(OutputError::InUse(_))), "{second:?}");
    std::fs::remove_dir_all(dir.path()).unwrap();
    let mut said = Vec::new();
    for _ in 0..2 {
        let error = archive.write(exchange(reply(200, &[], "x"), None)).await.unwrap_err();
        said.push(error.to_string());
    }
    assert!(said[0].starts_with("could not create"), "{said:?}");
    assert!(said[1].starts_with("nothing more is written, because: could not create"), "{said:?}");
}
