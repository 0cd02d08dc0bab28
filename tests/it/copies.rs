//! One page under several addresses, a login and too many links, as `explain` and `status` tell.

use serde_json::json;

use crate::command::run;
use crate::sites::Site;

const TEXT: &str = "<title>Plums</title>plums and pears";

fn site() -> Site {
    Site::start(|path| {
        let html = "content-type: text/html\r\ncache-control: max-age=172800\r\n".to_owned();
        match path {
            "/" => {
                let many: String = (0..10_050).map(|_| "<a href=/b>b</a>".to_owned()).collect();
                let links = "<a href=/a-long-name>a</a><a href=/c>c</a><a href=/mine>x</a>\
                    <a href=/old>y</a><a rel=nofollow href=/no>z</a>";
                (200, html, format!("home {links}{many}"))
            }
            "/a-long-name" | "/b" => (200, html, TEXT.into()),
            "/c" => (200, html, "<link rel=canonical href=/d>apples".into()),
            "/d" => (200, html, "apples of the one address".into()),
            "/mine" => (401, "www-authenticate: Basic\r\n".into(), String::new()),
            "/old" => (302, "location: /login\r\n".into(), String::new()),
            "/login" => (200, html, "who are you".into()),
            "/sitemap.xml" => {
                let host = "http://127.0.0.1";
                (
                    200,
                    "content-type: text/xml\r\n".into(),
                    format!("<urlset><url><loc>{host}/x</loc></url></urlset>"),
                )
            }
            _ => (404, html, String::new()),
        }
    })
}

#[test]
fn what_is_told_of_a_page() {
    let (site, dir) = (site(), tempfile::tempdir().unwrap());
    let (seed, sitemap) = (site.url("/"), site.url("/sitemap.xml"));
    let arguments = [
        "crawl",
        &seed,
        "--sitemap",
        &sitemap,
        "--focus",
        "plums",
        "--allow-network",
        "127.0.0.0/8",
        "--interval",
        "0s",
        "--address-per-second",
        "10000",
        "--data",
        "data",
        "--json",
    ];
    let crawled = run(dir.path(), &arguments).well().json();
    let run_counts = &crawled["run"];
    assert_eq!(run_counts["same_text"], 1);
    assert_eq!(run_counts["walls"], json!({ "wall-login": 1, "wall-redirect": 1 }));
    assert_eq!(run_counts["dropped_links"]["many-links"], 55);
    assert_eq!(run_counts["dropped_links"]["rel-nofollow"], 1);

    let explain = |path: &str| {
        run(dir.path(), &["explain", &site.url(path), "--data", "data", "--json"]).well().json()
    };
    let cases = [
        ("/a-long-name", "/known/last/copies/stand_in", json!(site.url("/b"))),
        ("/a-long-name", "/known/last/copies/canonical", json!(site.url("/b"))),
        ("/b", "/known/last/copies/stand_in", json!(null)),
        ("/c", "/known/last/copies/canonical_reason", json!("canonical-element")),
        ("/c", "/known/last/copies/stand_in", json!(site.url("/d"))),
        ("/d", "/known/via", json!("canonical")),
        ("/mine", "/known/login", json!("wall-login")),
        ("/mine", "/known/revisit/every_s", json!(30 * 86_400)),
        ("/old", "/known/login", json!("wall-redirect")),
        ("/b", "/known/revisit/every_s", json!(86_400)),
        ("/b", "/site/lastmod/changed/believed", json!(false)),
        ("/b", "/robots_stage", json!("there is no file: nothing is forbidden")),
    ];
    for (path, place, expect) in cases {
        let explained = explain(path);
        assert_eq!(explained.pointer(place), Some(&expect), "{path} {place}: {explained:#}");
    }
    let words =
        run(dir.path(), &["explain", &site.url("/a-long-name"), "--data", "data"]).well().out;
    for part in ["stands in for it", "canonical", "looked at", "stage", "to see whether"] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    let status = run(dir.path(), &["status", "--data", "data", "--json"]).well().json();
    assert_eq!(status["last_run"]["counts"]["dropped_links"], run_counts["dropped_links"]);
    assert_eq!(status["run"], json!(null));
    let words = run(dir.path(), &["status", "--data", "data"]).well().out;
    assert!(words.contains("many-links"), "{words}");
    let found = run(dir.path(), &["search", "plums", "--data", "data", "--json"]).well().out;
    assert!(found.contains(&site.url("/b")) && !found.contains("/a-long-name"), "{found}");
}
