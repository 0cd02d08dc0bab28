//! Items written, broken off, parted and gone on with.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use comity_compliance::Timestamp;
use comity_storage::Durability;
use serde_json::{Value, json};
use url::Url;

use super::{ItemFiles, ItemFormat, ItemSettings};
use crate::extract::{Item, Sink as _, SinkError};

fn item(value: Value) -> Item {
    let url = Url::parse("https://example.org/a").unwrap();
    Item { extractor: "x".into(), url, at: Timestamp::from_secs(1_796_050_253), value }
}

/// Settings for a file, by its ending.
fn at(path: &Path) -> ItemSettings {
    let ending = path.extension().unwrap().to_str();
    let format = ItemFormat::ALL.iter().find(|format| ending == Some(format.name())).unwrap();
    ItemSettings { durability: Durability::Power, ..ItemSettings::new(path, *format) }
}

/// One page for each value.
async fn write(settings: ItemSettings, values: &[Value]) -> Result<(), SinkError> {
    let sink = ItemFiles::open(settings).map_err(SinkError::new)?;
    for value in values {
        assert_eq!(sink.put(&[item(value.clone())]).await?.kept, 1);
        sink.sync().await?;
    }
    sink.finish().await
}

fn problem(ended: Result<(), SinkError>) -> String {
    let error = ended.unwrap_err();
    std::error::Error::source(&error).unwrap().to_string()
}

/// One line, one case: the file's name, values, and what stands in the file.
#[tokio::test]
async fn as_files() {
    let start = "x,https://example.org/a,2026-11-30T14:50:53Z";
    let cases: [(&str, &[Value], String); 8] = [
        (
            "a.jsonl",
            &[json!({"b": 1})],
            "{\"extractor\":\"x\",\"url\":\"https://example.org/a\",\"at\":\"2026-11-30T14:50:53Z\",\"value\":{\"b\":1}}\n".into(),
        ),
        ("a.csv", &[json!({"b": 1, "c": "d"})], format!("extractor,url,at,b,c\r\n{start},1,d\r\n")),
        (
            "a.csv",
            &[json!({"b": null, "c": true}), json!({"c": ["d", 1]})],
            format!("extractor,url,at,b,c\r\n{start},,true\r\n{start},,\"[\"\"d\"\",1]\"\r\n"),
        ),
        // Names that the item's own columns have.
        (
            "a.csv",
            &[json!({"b": 1, "url": "u"})],
            format!("extractor,url,at,b,item.url\r\n{start},1,u\r\n"),
        ),
        ("a.csv", &[json!("e\nf")], format!("extractor,url,at,value\r\n{start},\"e\nf\"\r\n")),
        ("a.csv", &[json!("e\r\r\nf\r")], format!("extractor,url,at,value\r\n{start},\"e\nf\r\"\r\n")),
        ("a.csv", &[json!({"b\r\n": 1})], format!("extractor,url,at,\"b\n\"\r\n{start},1\r\n")),
        ("a.csv", &[], String::new()),
    ];
    for (name, values, expect) in cases {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        write(at(&path), values).await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), expect, "{values:?}");
    }
}

/// Wherever a crash cuts a file, whole records stay and it is gone on with.
#[tokio::test]
async fn a_torn_end_is_cut_off() {
    for name in ["a.jsonl", "a.csv"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        write(at(&path), &[json!({"b": "one\r\ntwo"}), json!({"b": "three"})]).await.unwrap();
        let bytes = fs::read(&path).unwrap();
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            write(at(&path), &[json!({"b": "later"})]).await.unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let records = text.matches("https://example.org/a").count();
            let is_head_whole =
                !name.ends_with("csv") || text.starts_with("extractor,url,at,b\r\n");
            assert!(is_head_whole && (1..=3).contains(&records), "{cut}: {text}");
            assert!(text.contains("later") && text.ends_with('\n'), "{cut}: {text}");
            // A line of JSON is whole without its line feed.
            let is_whole = cut == bytes.len() || name.ends_with("jsonl") && cut + 1 == bytes.len();
            let is_whole = usize::from(is_whole);
            assert_eq!(text.matches("three").count(), is_whole, "{cut}: {text}");
        }
    }
}

/// The end of a record is found across the border of what is read at once.
#[tokio::test]
async fn a_torn_end_of_any_length() {
    for name in ["a.jsonl", "a.csv"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        write(at(&path), &[json!({"b": "one"})]).await.unwrap();
        let whole = fs::read(&path).unwrap();
        for torn in [1, 65_534, 65_535, 65_536, 65_537, 131_072, 200_000] {
            let begun = if name.ends_with("csv") { "" } else { "{\"extractor\":\"" };
            let torn = [begun.as_bytes(), &vec![b'x'; torn]].concat();
            fs::write(&path, [whole.clone(), torn].concat()).unwrap();
            write(at(&path), &[]).await.unwrap();
            assert!(fs::read(&path).unwrap() == whole, "{name}");
        }
    }
}

/// Only its ends are read: this file is larger than any memory.
#[tokio::test]
async fn a_very_large_file() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.jsonl", "a.csv"] {
        let path = dir.path().join(name);
        write(at(&path), &[json!({"b": "one"})]).await.unwrap();
        let record = fs::read_to_string(&path).unwrap();
        let mut file = fs::File::options().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(1 << 36)).unwrap();
        let torn = if name.ends_with("csv") { "x,https:" } else { "{\"extractor\":\"x" };
        file.write_all(format!("{record}{torn}").as_bytes()).unwrap();
        let whole = (1 << 36) + record.len() as u64;
        let settings = ItemSettings { durability: Durability::Process, ..at(&path) };
        let sink = ItemFiles::open(settings).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), whole);
        drop(sink);
        fs::remove_file(&path).unwrap();
    }
}

/// One line, one case: what stands in a file, and what of it stays; nothing if it is refused, and
/// then all of it stays.
#[tokio::test]
async fn what_is_no_torn_record_stays() {
    const ITEM: &str =
        "{\"extractor\":\"x\",\"url\":\"https://example.org/a\",\"at\":\"now\",\"value\":1}";
    let long = format!("extractor,url,at\n{}", "a,b,c\n".repeat(40_000));
    let huge = format!("{{\"extractor\":\"{}", "y".repeat(65 << 20));
    let zeros = format!("{ITEM}\n{{\"extractor\":\"x\"\0\0\0");
    for (name, there, stays) in [
        // An editor's line ends, quotes with line ends and all.
        ("a.csv", "extractor,url,at,b\na,b,c,d\n", Some("extractor,url,at,b\na,b,c,d\n")),
        ("a.csv", long.as_str(), Some(long.as_str())),
        (
            "a.csv",
            "extractor,url,at,b\na,b,c,\"d\ne\"\n",
            Some("extractor,url,at,b\na,b,c,\"d\ne\"\n"),
        ),
        (
            "a.csv",
            "extractor,url,at,b\na,b,c,5\" pipe\n",
            Some("extractor,url,at,b\na,b,c,5\" pipe\n"),
        ),
        ("a.csv", "extractor,url,at,b\na,b,c,d", Some("extractor,url,at,b\na,b,c,d\n")),
        ("a.csv", "extractor,url,at,b\na,b,c,d\na,b", Some("extractor,url,at,b\na,b,c,d\n")),
        ("a.csv", "extractor,url,at,b\na,b,c,d\r\na,b", Some("extractor,url,at,b\na,b,c,d\r\n")),
        ("a.csv", "extractor,url,at,b\na,b,c,\"d\na,b,c,d\n", None),
        // Rows of an editor after ours.
        (
            "a.csv",
            "extractor,url,at\r\na,b,c\nd,e,f\ng",
            Some("extractor,url,at\r\na,b,c\nd,e,f\n"),
        ),
        ("a.csv", "extractor,url,at\r\na,b,c\n\"d\ne\nf\n", None),
        ("a.csv", "extractor,url,at\ra,b,c\rd,e,f\r", None),
        ("a.csv", "extractor,url,at\r\na,b,c\rd,e,f\r", None),
        ("a.csv", "extractor,url,at\r\na,b,c\r\nd,e\0\0\0", Some("extractor,url,at\r\na,b,c\r\n")),
        ("a.csv", "extractor,ur", Some("")),
        // A line that lacks its end alone, foreign ones, zeros that a power cut left.
        ("a.jsonl", ITEM, Some(&format!("{ITEM}\n"))),
        ("a.jsonl", &ITEM[..ITEM.len() - 1], Some("")),
        ("a.jsonl", "{\"extractor\":\"mine\",\"notes\":\"dear\"}", None),
        ("a.jsonl", "{\"extractor\":\"mine\",\"notes\":\"de", None),
        ("a.jsonl", "{\"extractor\":\n  \"mine\"\n}", None),
        ("a.jsonl", huge.as_str(), None),
        ("a.jsonl", &zeros, Some(&format!("{ITEM}\n"))),
        ("a.jsonl", &format!("{ITEM}\nnotes of mine"), None),
        ("a.jsonl", &format!("{ITEM}\n\"my note"), None),
        // Cut in the middle of a number.
        ("a.jsonl", &format!("{}-", &ITEM[..ITEM.len() - 2]), Some("")),
        ("a.jsonl", &format!("{}1.", &ITEM[..ITEM.len() - 2]), Some("")),
        ("a.jsonl", &format!("{}1.5e-", &ITEM[..ITEM.len() - 2]), Some("")),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, there).unwrap();
        let shown = there.get(..100).unwrap_or(there);
        match (ItemFiles::open(at(&path)), stays) {
            (Ok(_), Some(stays)) => {
                assert_eq!(fs::read_to_string(&path).unwrap(), stays, "{shown}")
            }
            (Err(error), None) => {
                let told = error.to_string();
                assert!(told.contains(name) && told.contains("move it away"), "{told}");
                assert!(fs::read_to_string(&path).unwrap() == there, "{shown}");
            }
            (opened, _) => panic!("{shown}: {opened:?}"),
        }
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A full file gets the next number that is free; each CSV file has its first line.
#[tokio::test]
async fn parted_by_size() {
    for ending in ["jsonl", "csv"] {
        let dir = tempfile::tempdir().unwrap();
        let path: PathBuf = dir.path().join(format!("a.{ending}"));
        for run in 0..2 {
            let settings = ItemSettings { file_bytes: 150, ..at(&path) };
            let values: Vec<_> = (0..4).map(|n| json!({"b": n + run * 4})).collect();
            write(settings, &values).await.unwrap();
        }
        let names = names(dir.path());
        assert!(names.len() > 3, "{names:?}");
        assert_eq!(names[0], format!("a-00000.{ending}"));
        let texts: Vec<_> =
            names.iter().map(|name| fs::read_to_string(dir.path().join(name)).unwrap()).collect();
        assert!(texts.iter().all(|text| text.len() <= 150));
        assert_eq!(texts.concat().matches("https://example.org/a").count(), 8);
        if ending == "csv" {
            assert!(texts.iter().all(|text| text.starts_with("extractor,url,at,b\r\n")));
        }
    }
}

/// A file with other columns is put aside; without a wish, the columns that it has stand.
#[tokio::test]
async fn columns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv");
    let named = |names: &[&str]| {
        let columns = names.iter().map(ToString::to_string).collect();
        ItemSettings { columns, ..at(&path) }
    };
    write(named(&["b"]), &[json!({"b": 1, "left out": 2})]).await.unwrap();
    write(named(&[]), &[json!({"c": 3})]).await.unwrap();
    write(named(&["c", "b"]), &[json!({"b": 4})]).await.unwrap();
    assert_eq!(names(dir.path()), ["a-00000.csv", "a.csv"]);
    let text = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    let start = "x,https://example.org/a,2026-11-30T14:50:53Z";
    assert_eq!(text("a-00000.csv"), format!("extractor,url,at,b\r\n{start},1\r\n{start},\r\n"));
    assert_eq!(text("a.csv"), format!("extractor,url,at,c,b\r\n{start},,4\r\n"));
    let long = vec!["n".repeat(70_000)];
    let ended = write(ItemSettings { columns: long, ..at(&path) }, &[]).await;
    assert!(problem(ended).contains("at most 65536"));
    // Fields that come late have columns, however many items came before.
    let path = dir.path().join("late.csv");
    let sink = ItemFiles::open(at(&path)).unwrap();
    let mut items = vec![item(json!({"b": 1})); 50_000];
    items.push(item(json!({"late": 2})));
    sink.put(&items).await.unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("extractor,url,at,b,late\r\n"));
    // A page may have any number of fields.
    let path = dir.path().join("many.csv");
    let many: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("f{n}"), json!(n))).collect();
    write(at(&path), &[json!(many), json!(many)]).await.unwrap();
    write(at(&path), &[json!(many)]).await.unwrap();
    assert!(fs::read_to_string(&path).unwrap().lines().next().unwrap().len() < 65_536);
}

/// What is there and is none of items is left alone.
#[tokio::test]
async fn mistakes() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.csv", "other,file\r\n"),
        ("b.csv", "extractor,url,attic\r\n"),
        ("a.jsonl", "no line at all"),
        ("b.jsonl", "{\"page\":1}\n"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let told = problem(write(at(&path), &[]).await);
        assert!(told.contains("of items; name another"), "{name}: {told}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let pipe = ItemSettings::new("/dev/null", ItemFormat::Jsonl);
    assert!(problem(write(pipe, &[]).await).contains("of items; name another"));
    let path = dir.path().join("c.jsonl");
    let _held = ItemFiles::open(at(&path)).unwrap();
    assert!(problem(write(at(&path), &[]).await).contains("written by another process"));
    let told = problem(write(at(Path::new("/proc/nothing/c.jsonl")), &[]).await);
    assert!(told.starts_with("could not create /proc/nothing;"), "{told}");
}

#[cfg(feature = "parquet")]
mod parquet {
    use ::parquet::file::reader::SerializedFileReader;
    use ::parquet::record::RowAccessor as _;

    use super::*;

    /// The values in a part.
    fn values(path: &Path) -> Vec<String> {
        let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
        let rows = reader.into_iter().map(Result::unwrap);
        rows.map(|row| {
            assert_eq!(row.get_string(1).unwrap(), "https://example.org/a");
            row.get_string(3).unwrap().clone()
        })
        .collect()
    }

    fn parts(dir: &Path) -> Vec<String> {
        let names = names(dir).into_iter();
        let parts = names.filter(|name| name.starts_with("part-"));
        parts.flat_map(|name| values(&dir.join(name))).collect()
    }

    /// A part for each run, and each full journal; nothing waits after the end.
    #[tokio::test]
    async fn parts_of_a_table() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("a.parquet");
        write(at(&dir), &[json!({"b": 1}), json!("c")]).await.unwrap();
        write(ItemSettings { file_bytes: 1, ..at(&dir) }, &[json!(2), json!(3)]).await.unwrap();
        write(at(&dir), &[]).await.unwrap();
        let part = |n| format!("part-{n:05}.parquet");
        let expect = ["_lock".into(), "_part-00003.jsonl".into(), part(0), part(1), part(2)];
        assert_eq!(names(&dir), expect);
        assert_eq!(parts(&dir), ["{\"b\":1}", "\"c\"", "2", "3"]);
        let _held = ItemFiles::open(at(&dir)).unwrap();
        assert!(problem(write(at(&dir), &[]).await).contains("another process"));
    }

    /// A crash leaves a journal, torn or not, or one beside its part: each item comes once.
    #[tokio::test]
    async fn after_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("a.parquet");
        let sink = ItemFiles::open(at(&dir)).unwrap();
        sink.put(&[item(json!(1)), item(json!(2))]).await.unwrap();
        sink.sync().await.unwrap();
        drop(sink);
        let journal = fs::read(dir.join("_part-00000.jsonl")).unwrap();
        fs::write(dir.join("_part-00000.jsonl"), [&journal[..], b"{\"extr"].concat()).unwrap();
        fs::write(dir.join("_part-00000.new"), "half of a part").unwrap();
        write(at(&dir), &[json!(3)]).await.unwrap();
        assert_eq!(parts(&dir), ["1", "2", "3"]);
        fs::write(dir.join("_part-00000.jsonl"), journal).unwrap();
        write(at(&dir), &[json!(4)]).await.unwrap();
        assert_eq!(parts(&dir), ["1", "2", "3", "4"]);
        assert!(!dir.join("_part-00000.jsonl").exists());
    }
}
