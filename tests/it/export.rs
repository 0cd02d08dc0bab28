//! Page records of a crawl, exported.

use serde_json::Value;

use crate::command::run;
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
