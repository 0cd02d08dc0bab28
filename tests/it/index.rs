//! The search index looked after: verified, made anew from an archive, and searched as a person does.

use std::path::Path;

use serde_json::Value;

use crate::command::{Ended, run, start, wait_until};
use crate::sites::Site;

fn html(body: &str) -> (u16, String, String) {
    (200, "content-type: text/html\r\n".into(), body.to_owned())
}

/// A small site of many kinds of pages.
fn site(changed: &'static std::sync::atomic::AtomicBool) -> Site {
    use std::sync::atomic::Ordering;
    Site::start(move |path| match path {
        "/robots.txt" => (200, String::new(), "user-agent: *\ndisallow: /private/\n".into()),
        "/" => html(
            "<html lang=en><title>Orchard</title><h1>Fruit of every kind</h1>\
             <a href=/plums>Plums</a> <a href=/pears>Pears</a> <a href=/secret>Secret</a> \
             <a href=/offer>Offer</a> <a href=/private/ledger>The ledger of harvests</a> \
             <a href=/shop>Shop</a> <a href=/birnen>Birnen</a>",
        ),
        "/plums" if changed.load(Ordering::Relaxed) => {
            html("<meta name=robots content=noindex><title>Plums</title>Plums are purple fruit.")
        }
        "/plums" => html(
            "<html lang=en><meta name=robots content='max-snippet:20'><title>Plums</title>\
             Plums are purple fruit of the orchard, and ripen in August.\
             <script type='application/ld+json'>{\"@type\":\"Article\",\"dateModified\":\"2025-03-04\",\
             \"description\":\"All about plums and their many uses\"}</script>",
        ),
        "/pears" => html(
            "<title>Pears</title><p>Pears are green fruit.<div data-nosnippet>Pears cost 3.</div>\
             <a href=/plums>plums</a>",
        ),
        "/secret" => html("<meta name=robots content=noindex><title>Secret</title>secret fruit"),
        "/offer" => html(
            "<meta name=robots content='unavailable_after: 2020-01-01'><title>Offer</title>fruit",
        ),
        "/shop" => html("<title>Shop</title>Our prices: <iframe src=/prices></iframe>"),
        "/prices" => html(
            "<meta name=googlebot content='noindex, indexifembedded'>\
             <meta name=robots content='noindex, indexifembedded'><title>Prices</title>\
             quinces by the dozen",
        ),
        "/birnen" => html("<html lang=de><title>Birnen</title>Die Häuser der Birnen"),
        _ => (404, String::new(), "no such page".into()),
    })
}

fn crawl(dir: &Path, seed: &str, more: &[&str]) -> Ended {
    let fixed = ["--allow-network", "127.0.0.0/8", "--interval", "5ms", "--data", "data"];
    let wire = ["--address-per-second", "10000", "--json"];
    let args: Vec<&str> = ["crawl", seed].into_iter().chain(fixed).chain(wire).collect();
    run(dir, &[&args[..], more].concat()).well()
}

fn search(dir: &Path, words: &str) -> Vec<Value> {
    let found = run(dir, &["search", "--data", "data", "--json", "--", words]).well().json();
    found["hits"].as_array().unwrap().clone()
}

/// What all searches of these tests find: everything but when it was fetched and how it is weighed.
fn results(dir: &Path) -> Vec<Value> {
    let all = ["fruit", "plums", "pears", "ledger", "quinces", "haus", "site:127.0.0.1 orchard"];
    let mut found: Vec<Value> = all.iter().flat_map(|words| search(dir, words)).collect();
    for hit in &mut found {
        let hit = hit.as_object_mut().unwrap();
        hit.remove("score");
        hit.remove("fetched_at");
    }
    found
}

fn verify(dir: &Path, more: &[&str]) -> Ended {
    run(dir, &[&["index", "verify", "--data", "data", "--json"], more].concat())
}

fn paths(hits: &[Value]) -> Vec<&str> {
    hits.iter().map(path).collect()
}

fn path(hit: &Value) -> &str {
    hit["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap()
}

/// The index is verified, made anew, and answers as before; what the archive lacks is fetched.
#[test]
fn made_anew_from_the_archive() {
    static CHANGED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    let (site, dir) = (site(&CHANGED), tempfile::tempdir().unwrap());
    let (seed, dir) = (site.url("/"), dir.path());
    crawl(dir, &seed, &["--warc", "warc", "--bare-urls"]);
    let before = results(dir);
    let verified = verify(dir, &[]).well().json();
    assert_eq!(verified["documents"], 7, "{verified}");
    for kind in ["expired", "missing", "waiting"] {
        assert_eq!(verified[kind], 0, "{verified}");
    }
    assert_eq!(verified["forbidden"], serde_json::json!([]));

    // What a person finds, and what is shown of it.
    assert_eq!(paths(&search(dir, "private ledger")), ["private/ledger"], "RT-049");
    let ledger = &search(dir, "private ledger")[0];
    assert_eq!((&ledger["form"], &ledger["snippet"]), (&"bare".into(), &Value::Null));
    assert_eq!(ledger["title"], "The ledger of harvests");
    let quinces = &search(dir, "quinces")[0];
    assert!(quinces["url"].as_str().unwrap().ends_with("/shop"), "RM-025");
    assert!(quinces["embedded"].as_str().unwrap().ends_with("/prices"));
    let plums = &search(dir, "plums purple")[0];
    assert!(plums["snippet"].as_str().unwrap().chars().count() <= 20, "RM-026");
    assert_eq!(plums["structured_data"][0]["description"], "All about plums and ", "SN-005");
    assert_eq!(plums["dated"], "2025-03-04T00:00:00Z");
    assert_eq!(paths(&search(dir, "lang:de haus")), ["birnen"]);
    assert_eq!(paths(&search(dir, "secret")), [""], "only the page that names it");

    let rebuilt = run(dir, &["index", "rebuild", "--data", "data", "--json"]).well().json();
    for (what, expect) in [("pages", 6), ("bare", 1), ("to_fetch", 0), ("torn_files", 0)] {
        assert_eq!(rebuilt[what], expect, "{rebuilt}");
    }
    assert_eq!(results(dir), before);
    verify(dir, &[]).well();

    std::fs::remove_dir_all(dir.join("warc")).unwrap();
    std::fs::create_dir(dir.join("warc")).unwrap();
    // A good index is not given up for nothing.
    let refused = run(dir, &["index", "rebuild", "--data", "data"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("no WARC files") && refused.err.contains("--partial"));
    assert_eq!(results(dir), before);
    let partial = ["index", "rebuild", "--data", "data", "--json", "--partial"];
    let rebuilt = run(dir, &partial).well().json();
    for (what, expect) in [("pages", 0), ("bare", 1), ("to_fetch", 6), ("files", 0)] {
        assert_eq!(rebuilt[what], expect, "{rebuilt}");
    }
    assert_eq!(paths(&search(dir, "fruit")), [""; 0]);
    crawl(dir, &seed, &["--bare-urls"]);
    assert_eq!(results(dir), before, "fetched again");
    verify(dir, &[]).well();
    // Whoever no more wants addresses that are forbidden has them taken out.
    crawl(dir, &seed, &[]);
    let left = verify(dir, &[]).well().json();
    assert_eq!((&left["unwanted_bare"], &left["forbidden"]), (&1.into(), &serde_json::json!([])));
    verify(dir, &["--withdraw"]).well();
    assert_eq!(verify(dir, &[]).well().json()["unwanted_bare"], 0);
    assert_eq!(paths(&search(dir, "private ledger")), [""], "one of the two words");
}

/// A rebuild removes only what it made, keeps a link, and passes over what is no archive; killed
/// whenever, it leaves an index that answers.
#[test]
fn nobodys_directories_are_removed() {
    let (site, dir) = (Site::of_pages(6), tempfile::tempdir().unwrap());
    let (seed, dir) = (site.url("/"), dir.path());
    crawl(dir, &seed, &["--warc", "warc"]);
    let (index, data) = (dir.join("data/index"), dir.join("data"));
    for mine in ["index.old", "index.new"] {
        std::fs::create_dir(data.join(mine)).unwrap();
        std::fs::write(data.join(mine).join("letter"), "dear").unwrap();
    }
    std::fs::rename(&index, dir.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(dir.join("elsewhere"), &index).unwrap();
    let rebuild = ["index", "rebuild", "--data", "data"];
    run(dir, &rebuild).well();
    assert!(index.is_symlink() && search(dir, "page").len() == 6);
    for mine in ["index.old", "index.new"] {
        assert_eq!(std::fs::read_to_string(data.join(mine).join("letter")).unwrap(), "dear");
    }
    // Killed between the two renamings: whoever comes next ends it.
    for next in [
        &["search", "page", "--data", "data"][..],
        &["index", "verify", "--data", "data"],
        &["crawl", "--data", "data"],
    ] {
        let away = dir.join(".elsewhere-comity-old");
        std::fs::rename(dir.join("elsewhere"), &away).unwrap();
        std::fs::write(away.join(".comity-rebuild"), "replaced\n").unwrap();
        run(dir, next).well();
        assert_eq!(search(dir, "page").len(), 6, "{next:?}");
        assert!(!away.exists());
    }
    for after in [5, 20, 60, 150, 300] {
        let mut rebuild = start(dir, &rebuild);
        std::thread::sleep(std::time::Duration::from_millis(after));
        rebuild.kill().unwrap();
        rebuild.wait().unwrap();
        assert_eq!(search(dir, "page").len(), 6, "killed after {after} ms");
    }
    // What is no file, and what cannot be read.
    let warc = dir.join("warc");
    std::fs::create_dir(warc.join("a.warc.gz")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(warc.join("b.warc.gz")).status();
    assert!(pipe.unwrap().success());
    let done = run(dir, &rebuild).well();
    assert!(done.err.matches("is no file").count() == 2, "{}", done.err);
    std::os::unix::fs::symlink("nowhere", warc.join("c.warc.gz")).unwrap();
    let parts =
        ["6 pages in the index again", "1 file of the archive could not be read", "c.warc.gz"];
    run(dir, &rebuild).badly(1, &parts);
    run(dir, &["export", "cdxj", "--warc", "warc"]).badly(1, &["1 file could not be read"]);
    verify(dir, &[]).well();
    let own = dir.join(".elsewhere-comity-new");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("notes.md"), "mine").unwrap();
    run(dir, &rebuild).badly(1, &[".elsewhere-comity-new was not made by comity", "move it away"]);
    assert!(own.exists());
}

/// An index that is behind what the crawl knows, as an old copy put back, is found out and mended.
#[test]
fn what_is_forbidden_is_found_and_taken_out() {
    static CHANGED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    let (site, dir) = (site(&CHANGED), tempfile::tempdir().unwrap());
    let (seed, dir) = (site.url("/"), dir.path());
    crawl(dir, &seed, &[]);
    assert_eq!(paths(&search(dir, "purple")), ["plums"]);
    let (index, copy) = (dir.join("data/index"), dir.join("copy"));
    copied(&index, &copy);
    CHANGED.store(true, std::sync::atomic::Ordering::Relaxed);
    crawl(dir, &seed, &["--look-now"]);
    assert_eq!(paths(&search(dir, "purple")), [""; 0]);
    verify(dir, &[]).well();

    std::fs::remove_dir_all(&index).unwrap();
    copied(&copy, &index);
    let found = verify(dir, &[]);
    assert_eq!(found.code, Some(1));
    let forbidden = found.json()["forbidden"].clone();
    assert_eq!(forbidden[0]["reason"], "noindex", "{forbidden}");
    assert!(forbidden[0]["url"].as_str().unwrap().ends_with("/plums") && forbidden[1].is_null());
    verify(dir, &["--withdraw"]).well();
    assert_eq!(paths(&search(dir, "purple")), [""; 0]);
    verify(dir, &[]).well();
}

/// What the store decided reaches the index whenever the crawl is killed between the two.
#[track_caller]
fn killed(store: &str) {
    const PAGES: usize = 60;
    let (site, dir) = (Site::of_pages(PAGES), tempfile::tempdir().unwrap());
    let (seed, dir) = (site.url("/"), dir.path());
    let args = ["crawl", &seed, "--allow-network", "127.0.0.0/8", "--interval", "40ms"];
    let args = [&args[..], &["--address-per-second", "10000", "--data", "data", "--store", store]];
    let args = args.concat();
    for kill in 1..=5 {
        let mut crawl = start(dir, &args);
        wait_until("some more pages", || site.paths().len() > kill * 9);
        crawl.kill().unwrap();
        crawl.wait().unwrap();
        if dir.join("data/index/meta.json").exists() {
            assert_eq!(verify(dir, &[]).well().json()["missing"], 0, "those that wait apart");
        }
    }
    run(dir, &args).well();
    let verified = verify(dir, &[]).well().json();
    for (what, expect) in [("documents", PAGES), ("missing", 0), ("waiting", 0), ("expired", 0)] {
        assert_eq!(verified[what], expect, "{what}: {verified}");
    }
}

#[test]
fn killed_on_sled() {
    killed("sled");
}

#[test]
fn killed_on_redb() {
    killed("redb");
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Wrong wishes are answered in words.
#[test]
fn what_cannot_be_done_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let site = Site::of_pages(3);
    for (args, code, words) in [
        (&["index", "verify", "--data", "nowhere"][..], 1, "no search index"),
        (&["index", "rebuild", "--data", "nowhere"], 1, "there is no crawl"),
        (&["index"], 2, "Usage"),
    ] {
        let ended = run(dir.path(), args);
        assert_eq!(ended.code, Some(code), "{args:?} {ended:?}");
        assert!(ended.err.contains(words), "{args:?} {}", ended.err);
    }
    crawl(dir.path(), &site.url("/"), &[]);
    for (args, code, words) in [
        (&["index", "rebuild", "--data", "data"][..], 2, "--warc"),
        (&["index", "rebuild", "--data", "data", "--warc", "none"], 1, "no archive in none"),
    ] {
        let ended = run(dir.path(), args);
        assert_eq!(ended.code, Some(code), "{args:?} {ended:?}");
        assert!(ended.err.contains(words), "{args:?} {}", ended.err);
    }
    assert_eq!(search(dir.path(), "page").len(), 3, "the index stands");
}
