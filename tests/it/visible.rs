//! What a person can find out about a crawl: pace, stage of robots.txt, next due, priority, and what
//! was left out for which reason.

use serde_json::{Value, json};

use crate::command::{run, start, wait_until};
use crate::sites::Site;

/// A small site: a home page with three links, one of them forbidden, one nofollow.
fn site() -> Site {
    Site::start(|path| {
        let html = "Content-Type: text/html\r\n".to_owned();
        let links = "<a href=/boats>boats</a> <a href=/no>x</a> <a rel=nofollow href=/z>z</a>";
        match path {
            "/robots.txt" => {
                (200, String::new(), "user-agent: *\ncrawl-delay: 1\ndisallow: /no".into())
            }
            "/" => (200, html, format!("home {links}")),
            "/boats" => (200, html, "about boats".into()),
            _ => (404, html, "nothing".into()),
        }
    })
}

#[test]
fn explain_status_and_the_log_tell_all_of_it() {
    let (site, dir) = (site(), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let settings = "[politeness]\ninterval = \"100ms\"\nadaptive = false\n";
    std::fs::write(dir.path().join("comity.toml"), settings).unwrap();
    let arguments = ["crawl", &seed, "--allow-network", "127.0.0.1", "--focus", "boats"];
    run(dir.path(), &arguments).well();

    let status = run(dir.path(), &["status", "--json"]).well().json();
    assert_eq!(status["sites"]["pace"], json!({ "crawl-delay": 1 }), "{status:#}");
    assert_eq!(status["sites"]["left_alone"], json!({}));
    assert_eq!(status["sites"]["robots_stages"], json!({ "a fresh copy decides": 1 }));
    assert_eq!(status["store"]["noted"], json!({ "rel-nofollow": 1 }));
    assert_eq!(status["store"]["refused"], json!({ "robots-disallow": 1 }));
    assert_eq!(
        status["last_run"]["counts"]["dropped_links"],
        json!({ "rel-nofollow": 1 }),
        "{status:#}"
    );
    assert!(status["next_due"].is_string(), "the first page is looked at again");

    let explain =
        |path: &str| run(dir.path(), &["explain", &site.url(path), "--json"]).well().json();
    let page = explain("/boats");
    assert_eq!(page["site"]["pace"]["cause"], "crawl-delay");
    assert_eq!(page["site"]["pace"]["interval_ms"], 1000);
    assert_eq!(page["robots_stage"], "a fresh copy decides");
    assert!(page["known"]["due"].is_string());
    let why = "\"boats\" in the text, \"boats\" in the address";
    assert_eq!(page["known"]["priority_why"], why);
    assert_eq!(explain("/z")["known"]["not_queued"], "rel-nofollow");
    assert_eq!(explain("/no")["verdict"]["reason"], "robots-disallow");

    let log = std::fs::read_to_string(dir.path().join("comity-data/audit.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (path, what, reason) in [
        ("/robots.txt", "robots", "status 200"),
        ("/boats", "taken", "priority"),
        ("/boats", "fetched", "200"),
        ("/no", "refused", "robots-disallow"),
        ("/z", "link-dropped", "rel-nofollow"),
    ] {
        let url = site.url(path);
        let line = lines.iter().find(|line| line["url"] == *url && line["what"] == what);
        assert_eq!(line.map(|line| &line["why"]), Some(&json!(reason)), "{path} {what}: {log}");
    }

    // What was had is looked at now, and not tomorrow, at the site's pace.
    let before = site.requests().len();
    run(dir.path(), &["crawl", "--look-now"]).well();
    let requests = site.requests();
    let again: Vec<_> = requests[before..].iter().map(|(_, path)| path.as_str()).collect();
    assert_eq!(again, ["/", "/boats"], "robots.txt is fresh, and what it forbids stays so");
    let gap = requests[before + 1].0.duration_since(requests[before].0);
    assert!(gap.as_secs() >= 1, "{gap:?}");

    // While it runs, of the sites that it asked.
    let before = site.requests().len();
    let mut crawl = start(dir.path(), &["crawl", "--look-now", "--stay"]);
    // By then the store is its own: a look would keep it out.
    wait_until("its first request", || site.requests().len() > before);
    wait_until("the running crawl's sites", || {
        let status = run(dir.path(), &["status", "--json"]);
        status.code == Some(0) && {
            let status = status.json();
            status["running"] == true
                && status["sites"]["pace"] == json!({ "crawl-delay": 1 })
                && status["sites"]["robots_stages"] == json!({ "a fresh copy decides": 1 })
        }
    });
    crawl.kill().unwrap();
    crawl.wait().unwrap();
}
