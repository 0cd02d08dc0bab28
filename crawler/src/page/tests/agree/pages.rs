//! Where pages to compare come from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use comity_conformance::Lab;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use crate::page::{ScanLimits, scan};

/// A page.
pub(super) struct Given {
    /// What people know it by.
    pub(super) name: String,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
}

impl Given {
    pub(super) fn html(name: String, body: Vec<u8>) -> Self {
        Self { name, content_type: String::from("text/html"), body }
    }
}

/// Pages of the lab are many where a trap makes them.
const LAB_PAGES: usize = 150;

/// The lab's pages, found by their links, whatever a robots.txt says: the lab is ours.
pub(super) async fn of_the_lab() -> Vec<Given> {
    let lab = Lab::start().await.unwrap();
    let homes = lab.sites().into_iter().map(|site| format!("{}/", site.base_url));
    let mut left: BTreeSet<String> = homes.collect();
    let ports: BTreeSet<u16> = left.iter().filter_map(|url| Url::parse(url).ok()?.port()).collect();
    let (mut seen, mut found) = (left.clone(), Vec::new());
    while let Some(url) = left.pop_first().filter(|_| found.len() < LAB_PAGES) {
        let url = Url::parse(&url).unwrap();
        let (content_type, body) = get(&url).await;
        if !content_type.starts_with("text/html") {
            continue;
        }
        let links = scan(&body, Some(&content_type), &url, &ScanLimits::default()).links;
        for link in links.into_iter().map(|link| link.url) {
            let is_new = link.port().is_some_and(|port| ports.contains(&port))
                && seen.insert(link.to_string());
            if is_new {
                left.insert(link.into());
            }
        }
        found.push(Given { name: url.into(), content_type, body });
    }
    lab.stop().await;
    found
}

/// Asks for a URL of the lab: the media type, and the body.
async fn get(url: &Url) -> (String, Vec<u8>) {
    let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
    let mut peer = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let path = &url[url::Position::BeforePath..];
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n");
    peer.write_all(head.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    peer.read_to_end(&mut reply).await.unwrap();
    let end = memchr::memmem::find(&reply, b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&reply[..end]).to_lowercase();
    let line = head.lines().find_map(|line| line.strip_prefix("content-type:"));
    (line.unwrap_or_default().trim().to_owned(), reply[end + 4..].to_vec())
}

/// All texts with markup in the conformance suite's scenarios and vectors.
pub(super) fn of_the_suite() -> Vec<Given> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let mut found = Vec::new();
    for file in files(&root, "toml") {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let Ok(value) = text.parse::<toml::Table>() else { continue };
        markup(&toml::Value::Table(value), &mut |html| {
            found.push(Given::html(name.clone(), html.as_bytes().to_vec()))
        });
    }
    found
}

fn markup(value: &toml::Value, take: &mut impl FnMut(&str)) {
    match value {
        toml::Value::String(text) if text.contains('<') => take(text),
        toml::Value::Array(all) => all.iter().for_each(|value| markup(value, take)),
        toml::Value::Table(all) => all.values().for_each(|value| markup(value, take)),
        toml::Value::String(_)
        | toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_) => {}
    }
}

/// Files below a directory with this extension, in order.
fn files(below: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![below.to_owned()]);
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let (kind, path) = (entry.file_type().unwrap(), entry.path());
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Pages of a directory with one directory a package: so many of each, spread evenly.
pub(super) fn real_pages() -> impl Iterator<Item = Given> {
    let below = PathBuf::from(std::env::var_os("COMITY_REAL_PAGES").expect("a directory"));
    let most = std::env::var("COMITY_REAL_PAGES_MOST").map_or(usize::MAX, |n| n.parse().unwrap());
    let mut packages: Vec<_> =
        std::fs::read_dir(&below).unwrap().map(|e| e.unwrap().path()).collect();
    packages.sort();
    let pages = packages.into_iter().flat_map(move |package| {
        let pages = files(&package, "html");
        let step = pages.len().div_ceil(most).max(1);
        pages.into_iter().step_by(step)
    });
    pages.map(move |page| {
        let name = page.strip_prefix(&below).unwrap().display().to_string();
        Given::html(name, std::fs::read(page).unwrap())
    })
}
