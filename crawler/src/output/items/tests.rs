//! Items written, broken off and gone on with.

use std::path::Path;

use comity_compliance::Timestamp;
use comity_storage::Durability;
use serde_json::{Value, json};
use url::Url;

use super::open_sink;
use crate::output::{Item, OutputError};

fn item(value: Value) -> Item {
    let url = Url::parse("https://example.org/a").unwrap();
    Item { extractor: "x".into(), url, at: Timestamp::from_secs(1_796_050_253), value }
}

async fn write(path: &Path, columns: Option<&[&str]>, values: &[Value]) -> Result<(), OutputError> {
    let columns = columns.map(|names| names.iter().map(ToString::to_string).collect());
    let mut sink = open_sink(path, columns, Durability::Power)?;
    let items: Vec<_> = values.iter().cloned().map(item).collect();
    sink.write(&items).await?;
    sink.sync().await?;
    sink.close().await
}

/// One line, one case: the file's name, values, and what stands in the file.
#[tokio::test]
async fn as_files() {
    let start = "x,https://example.org/a,2026-11-30T14:50:53Z";
    let cases: [(&str, &[Value], String); 5] = [
        (
            "a.jsonl",
            &[json!({"b": 1})],
            "{\"at\":\"2026-11-30T14:50:53Z\",\"extractor\":\"x\",\"url\":\"https://example.org/a\",\"value\":{\"b\":1}}\n".into(),
        ),
        ("a.csv", &[json!({"b": 1, "c": "d"})], format!("extractor,url,at,b,c\r\n{start},1,d\r\n")),
        (
            "a.csv",
            &[json!({"b": null}), json!({"c": ["d", 1]})],
            format!("extractor,url,at,b,c\r\n{start},,\r\n{start},,\"[\"\"d\"\",1]\"\r\n"),
        ),
        ("a.csv", &[json!("e\nf")], format!("extractor,url,at,value\r\n{start},\"e\nf\"\r\n")),
        ("a.csv", &[], String::new()),
    ];
    for (name, values, expect) in cases {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        write(&path, None, values).await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expect, "{values:?}");
    }
}

/// Wherever a crash cuts a file, whole records stay and it is gone on with.
#[tokio::test]
async fn a_torn_end_is_cut_off() {
    for name in ["a.jsonl", "a.csv"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        write(&path, None, &[json!({"b": "one\ntwo"}), json!({"b": "three"})]).await.unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for cut in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            write(&path, None, &[json!({"b": "later"})]).await.unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let records = text.matches("https://example.org/a").count();
            let is_head_whole =
                !name.ends_with("csv") || text.starts_with("extractor,url,at,b\r\n");
            assert!(is_head_whole && (1..=3).contains(&records), "{cut}: {text}");
            assert!(text.contains("later") && text.ends_with('\n'), "{cut}: {text}");
            assert_eq!(
                text.matches("three").count(),
                usize::from(cut == bytes.len()),
                "{cut}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn mistakes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv");
    write(&path, Some(&["b"]), &[json!({"b": 1, "left out": 2})]).await.unwrap();
    let error = write(&path, Some(&["c"]), &[]).await.unwrap_err().to_string();
    assert!(error.contains("it has the columns b and not c"), "{error}");
    std::fs::write(&path, "other,file\r\n").unwrap();
    let error = write(&path, None, &[]).await.unwrap_err().to_string();
    assert!(error.contains("not that of a file of items"), "{error}");
    let error = write(&dir.path().join("a.txt"), None, &[]).await.unwrap_err().to_string();
    assert!(error.contains(".jsonl, .ndjson or .csv"), "{error}");
    let path = dir.path().join("b.jsonl");
    let _held = open_sink(&path, None, Durability::Process).unwrap();
    let error = write(&path, None, &[]).await.unwrap_err();
    assert!(matches!(error, OutputError::InUse(_)), "{error}");
}
