//! Wrong arguments, dead servers, damaged stores: each a sentence that says what to do.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use crate::command::{Ended, comity, end, run, start, wait_until};
use crate::sites::Site;

const HOME: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

fn crawl(dir: &Path, seed: &str, more: &[&str]) -> Ended {
    let mut arguments =
        vec!["crawl", seed, "--data", "data", "--interval", "0s", "--patience", "1s"];
    arguments.extend(HOME);
    arguments.extend(more);
    run(dir, &arguments)
}

/// Arguments that cannot be: exit code 2. One line, one case.
#[test]
fn wrong_arguments() {
    let dir = tempfile::tempdir().unwrap();
    let long = format!("http://localhost/{}", "x".repeat(9_000));
    let cases: &[(&[&str], &[&str])] = &[
        (&["crawl"], &["Name a seed"]),
        (&["crawl", &long], &["crawl.seeds", "9017 bytes", "8192"]),
        (&["crawl", "ftp://example.org/"], &["ftp", "http"]),
        (&["crawl", "mailto:me@example.org"], &["mailto", "http"]),
        (&["crawl", "http://"], &["crawl.seeds"]),
        (&["crawl", "https://example.org/"], &["--contact", "identity.contact"]),
        (&["crawl", "http://localhost/", "--scope", "any"], &["--contact", "scope is any"]),
        (&["crawl", "https://example.org/", "--contact", "nobody"], &["neither", "mail address"]),
        (&["crawl", "http://localhost/", "--agent", "bot/1.0"], &["product token", "RFC 9309"]),
        (
            &["crawl", "http://localhost/", "--scope", "planet"],
            &["host", "domain", "prefix", "any"],
        ),
        (&["crawl", "http://localhost/", "--policy", "rude"], &["courteous", "google", "rfc9309"]),
        (&["crawl", "http://localhost/", "--allow-network", "home"], &["10.0.0.0/8"]),
        (&["crawl", "http://localhost/", "--interval", "soon"], &["such as 2s"]),
        (&["crawl", "http://localhost/", "--store", "floppy"], &["sled", "redb", "memory"]),
        (&["crawl", "http://localhost/", "--max-pages", "lots"], &["--max-pages"]),
        (&["crawl", "/index.html"], &["is a path", "whole address"]),
        (&["search", ""], &["search for what"]),
        (&["robots", "http://localhost/", "--agent", "a b"], &["product token"]),
        (&["frobnicate"], &["unrecognized subcommand"]),
    ];
    for (arguments, parts) in cases {
        run(dir.path(), arguments).badly(2, parts);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{arguments:?} left files behind");
    }
}

/// A directory that the settings cannot name, since they are text.
#[cfg(unix)]
#[test]
fn a_data_directory_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tempfile::tempdir().unwrap();
    let mut command = comity(dir.path(), &["crawl", "http://localhost/", "--data"]);
    command.arg(std::ffi::OsStr::from_bytes(b"d\xff"));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    end(command.spawn().unwrap()).badly(2, &["storage.data", "UTF-8"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_settings_file_with_a_mistake() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("comity.toml"), "[politeness]\nintervall = \"2s\"\n").unwrap();
    run(dir.path(), &["crawl", "http://localhost/"])
        .badly(2, &["comity.toml", "did you mean \"politeness.interval\"?"]);
    let named = ["crawl", "http://localhost/", "--config", "other.toml"];
    run(dir.path(), &named).badly(2, &["could not read other.toml"]);
}

#[test]
fn init_writes_a_file_that_works_and_overwrites_none() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["init"]).well();
    run(dir.path(), &["init"]).badly(1, &["is there already", "--force"]);
    run(dir.path(), &["init", "--force"]).well();
    run(dir.path(), &["crawl"]).badly(2, &["Name a seed"]);
}

#[test]
fn searching_and_explaining_without_a_crawl() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["search", "x"]).badly(1, &["comity crawl"]);
    run(dir.path(), &["explain", "https://example.org/"])
        .badly(1, &["there is no crawl", "comity crawl"]);
    run(dir.path(), &["status"]).badly(1, &["there is no crawl", "comity crawl"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Settings at the ends of their ranges: a crawl all the same. One line, one case.
#[test]
fn extreme_settings() {
    let cases = [
        "[politeness]\ninterval = \"0s\"\nwhole_per_second = 4294967295",
        "[storage]\ncache = \"0B\"",
        "[storage]\ncache = \"99999999GiB\"\nstore = \"redb\"",
        "[crawl]\nsites_at_once = 0",
        "[network]\nrequest_timeout = \"20m\"",
        "[network]\nrequest_timeout = \"999999999h\"\nfirst_byte_timeout = \"999999999h\"",
    ];
    let site = Site::of_pages(3);
    for settings in cases {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("comity.toml"), settings).unwrap();
        let ended = crawl(dir.path(), &site.url("/"), &["--json"]).well();
        assert_eq!(ended.json()["run"]["fetched"], 3, "{settings}");
    }
    // Longer than any crawl: one request, and no second.
    let dir = tempfile::tempdir().unwrap();
    let seed = site.url("/");
    let mut arguments = vec!["crawl", &seed, "--interval", "999999999h", "--patience", "0s"];
    arguments.extend(HOME);
    run(dir.path(), &arguments).badly(3, &["due later"]);
}

/// Thousands of seeds, or long ones: they are kept for the next run, which needs none.
#[test]
fn more_seeds_than_one_value_of_the_store_holds() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let seeds: Vec<_> = (0..1_500).map(|n| site.url(&format!("/page{n}?{n:020}"))).collect();
    let mut arguments = vec!["crawl", "--data", "data", "--interval", "0s"];
    arguments.extend(HOME);
    let first = [&arguments[..], &["--max-pages", "1"]].concat();
    let seeded = first.into_iter().chain(seeds.iter().map(String::as_str)).collect::<Vec<_>>();
    run(dir.path(), &seeded).well();
    let again = [&arguments[..], &["--max-pages", "2", "--json"]].concat();
    let ended = run(dir.path(), &again).well();
    assert_eq!(ended.json()["store"]["fetched"], 2);
    assert!(ended.json()["store"]["known"].as_u64() >= Some(1_500));
}

/// Servers that cannot be reached. Nothing fetched is exit code 3, and the reason is told.
#[test]
fn dead_servers() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cases: &[(&str, &[&str])] = &[
        ("http://nobody.invalid/", &["nobody.invalid", "resolve"]),
        (&format!("http://{free}/"), &["refused"]),
        ("http://10.0.0.1/", &["blocked-address", "--allow-network"]),
    ];
    for (seed, parts) in cases {
        let dir = tempfile::tempdir().unwrap();
        crawl(dir.path(), seed, &["--contact", "me@example.org"]).badly(3, parts);
    }
}

#[test]
fn loopback_needs_leave() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let arguments = ["crawl", &site.url("/"), "--data", "data", "--patience", "1s"];
    let parts = ["nothing could be fetched", "blocked-address", "loopback", "--allow-network"];
    run(dir.path(), &arguments).badly(3, &parts);
    assert_eq!(site.paths(), Vec::<String>::new());
    // Whoever follows the advice, in the same data directory, gets what it promises.
    let mut advised = arguments.to_vec();
    advised.extend(["--allow-network", "127.0.0.1/32", "--json"]);
    advised.extend(["--interval", "0s", "--address-per-second", "100"]);
    assert_eq!(run(dir.path(), &advised).well().json()["store"]["fetched"], 3);
}

/// A setting that held pages back is changed: they are judged anew. One line, one case: settings
/// of the first run, of the second, and the pages then fetched in all.
#[test]
fn changed_settings_take_effect() {
    let robots = "user-agent: strangers\ndisallow: /\n";
    let site = Site::start(move |path| match path {
        "/robots.txt" => (200, String::new(), robots.into()),
        "/" => {
            (200, "content-type: text/html\r\n".into(), "<a href=/1>1</a> <a href=/2>2</a>".into())
        }
        _ => (200, "content-type: text/html\r\n".into(), "leaf".into()),
    });
    let cases: &[(&[&str], &[&str], u64)] = &[
        (&["--depth", "0"], &["--depth", "1"], 3),
        (&["--agent", "strangers"], &["--agent", "friends"], 3),
        (&["--agent", "friends"], &["--agent", "strangers"], 3),
    ];
    for (first, second, expect) in cases {
        let dir = tempfile::tempdir().unwrap();
        let run_with = |more: &[&str]| {
            let more = [more, &["--address-per-second", "1000", "--json"]].concat();
            crawl(dir.path(), &site.url("/"), &more)
        };
        run_with(first);
        let second = run_with(second).well();
        assert_eq!(second.json()["store"]["fetched"], *expect, "{first:?}");
    }
}

/// A server whose certificate no known authority has signed.
#[test]
fn a_wrong_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let port = tls_server();
    let seed = format!("https://localhost:{port}/");
    crawl(dir.path(), &seed, &[]).badly(3, &["certificate", "localhost"]);
}

/// Accepts TLS connections with a certificate of its own making.
fn tls_server() -> u16 {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = made.signing_key.serialize_der().try_into().unwrap();
    let config = tokio_rustls::rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                drop(acceptor.accept(stream).await);
            }
        });
    });
    port
}

#[test]
fn a_data_directory_in_use() {
    let (site, dir) = (Site::of_pages(500), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let mut arguments = vec!["crawl", &seed, "--data", "data", "--interval", "200ms"];
    arguments.extend(HOME);
    let mut first = start(dir.path(), &arguments);
    wait_until("the first page", || site.paths().len() > 2);
    let pid = first.id().to_string();
    run(dir.path(), &arguments).badly(1, &["in use", &pid]);
    run(dir.path(), &["explain", &seed, "--data", "data"]).badly(1, &["is running", "status"]);
    let status = run(dir.path(), &["status", "--data", "data", "--json"]).well().json();
    assert_eq!(status["running"], true);
    assert_eq!(status["pid"], first.id());
    assert!(status["store"]["known"].as_u64() >= Some(1), "{status}");
    first.kill().unwrap();
    drop(end(first));
}

/// While a site is being asked, no time is told for the next request: its lease's end is none.
#[test]
fn the_status_of_a_crawl_that_waits_for_a_server() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let seed = format!("http://{}/", silent.local_addr().unwrap());
    let mut arguments = vec!["crawl", &seed, "--data", "data"];
    arguments.extend(HOME);
    let mut crawl = start(dir.path(), &arguments);
    let mut progress = serde_json::Value::Null;
    wait_until("a request under way", || {
        let status = run(dir.path(), &["status", "--data", "data", "--json"]);
        progress =
            serde_json::from_str::<serde_json::Value>(&status.out).unwrap_or_default()["run"]
                .take();
        progress["sites_active"] == 1
    });
    assert_eq!(progress["next_due_ms"], serde_json::Value::Null);
    crawl.kill().unwrap();
    drop(end(crawl));
}

#[test]
fn a_data_directory_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    // A file where the directory should be: also root cannot write into that.
    fs::write(dir.path().join("data"), "a file").unwrap();
    crawl(dir.path(), "http://localhost:1/", &[]).badly(1, &["data"]);
    assert_eq!(fs::read_to_string(dir.path().join("data")).unwrap(), "a file");
}

/// What to do to a store's files behind its back.
type Damage = fn(&Path);

#[track_caller]
fn damaged(store: &str, damage: Damage) {
    let (site, dir) = (Site::of_pages(30), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    crawl(dir.path(), &seed, &["--store", store]).well();
    let before = site.paths().len();
    damage(&dir.path().join("data"));
    crawl(dir.path(), &seed, &["--store", store]).badly(1, &["data", "backup"]);
    assert_eq!(site.paths().len(), before, "a damaged store was taken for an empty crawl");
}

/// The files of the engine: all but the marker, the lock, the index and the logs.
fn engine_files(data: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![data.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let beside = name.contains("comity") || name.contains("lock");
            let other = ["index", "spool", "audit.jsonl", "status.json"].contains(&&*name);
            if path.is_dir() && !other {
                folders.push(path);
            } else if path.is_file() && !beside && !other {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn delete(data: &Path) {
    for file in engine_files(data) {
        fs::remove_file(file).unwrap();
    }
}

fn empty(data: &Path) {
    for file in engine_files(data) {
        fs::write(file, "").unwrap();
    }
}

fn cut(data: &Path) {
    for file in engine_files(data) {
        let half = fs::metadata(&file).unwrap().len() / 2;
        fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(half).unwrap();
    }
}

fn overwrite(data: &Path) {
    for file in engine_files(data) {
        let length = fs::metadata(&file).unwrap().len();
        fs::write(file, vec![0xa5; usize::try_from(length).unwrap()]).unwrap();
    }
}

#[test]
fn a_store_that_was_damaged() {
    for store in ["sled", "redb"] {
        for damage in [delete as Damage, empty, cut, overwrite] {
            damaged(store, damage);
        }
    }
}

/// The store is whole but the index gone: a new, empty one must not take its place unnoticed.
#[test]
fn an_index_that_was_deleted() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    crawl(dir.path(), &seed, &[]).well();
    fs::remove_dir_all(dir.path().join("data/index")).unwrap();
    run(dir.path(), &["search", "page", "--data", "data"]).badly(1, &["no search index"]);
    crawl(dir.path(), &seed, &[]).badly(1, &["is gone", "backup", "--no-index"]);
    crawl(dir.path(), &seed, &["--no-index"]).well();
}

/// What stopped the beginning of an index, a crash or a disk, does not count as its loss.
#[test]
fn an_index_that_could_not_be_begun() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let (seed, index) = (site.url("/"), dir.path().join("data/index"));
    fs::create_dir(dir.path().join("data")).unwrap();
    fs::write(&index, "a file").unwrap();
    crawl(dir.path(), &seed, &[]).badly(1, &["index"]);
    fs::remove_file(&index).unwrap();
    crawl(dir.path(), &seed, &[]).well();
}

/// An index that is begun when pages have been fetched without one lacks them, which is told.
#[test]
fn an_index_that_was_begun_late() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    let first = crawl(dir.path(), &seed, &["--no-index"]).well();
    assert!(!first.err.contains("index"), "{first:?}");
    let again = crawl(dir.path(), &seed, &[]).well();
    assert!(again.err.contains("3 pages") && again.err.contains("another --data"), "{again:?}");
}

#[test]
fn a_store_of_another_engine() {
    let (site, dir) = (Site::of_pages(3), tempfile::tempdir().unwrap());
    let seed = site.url("/");
    crawl(dir.path(), &seed, &["--store", "redb"]).well();
    crawl(dir.path(), &seed, &["--store", "sled"]).badly(1, &["redb"]);
}

/// A reader that goes away, as `head` does, ends the program quietly.
#[test]
fn a_closed_pipe_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = comity(dir.path(), &["--help"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let ended = end(child);
    assert!(!ended.err.contains("panicked"), "{ended:?}");
}
