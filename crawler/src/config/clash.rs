//! Whether an output would be written where another is, or over what the crawl itself keeps.

use std::path::{Component, Path, PathBuf};

use super::Config;

/// What a crawl keeps in its data directory.
const OWN: [&str; 13] = [
    "audit.jsonl",
    "audit.1.jsonl",
    "status.json",
    "status.json.new",
    "comity.json",
    "comity.json.new",
    "comity.lock",
    "index",
    ".index-comity-new",
    ".index-comity-old",
    "sled",
    "redb",
    "spool",
];

/// The first setting of an output that names such a place, and why it cannot.
pub(crate) fn fault(config: &Config) -> Option<(&'static str, String)> {
    let data = &config.storage.data;
    let (items, warc) = (&config.output.items.path, &config.output.warc.dir);
    let own = |path: &Path| {
        let what = own_name(data, path)?;
        Some(format!(
            "{} is the crawl's own ({what} in its data directory); name another",
            path.display()
        ))
    };
    if let Some(why) = warc.as_deref().and_then(own) {
        return Some(("output.warc.dir", why));
    }
    let items = items.as_deref()?;
    if let Some(why) = own(items) {
        return Some(("output.items.path", why));
    }
    let why = if real(items) == real(data) {
        format!("{} is the crawl's data directory; name one within it", items.display())
    } else if warc.as_deref().is_some_and(|warc| is_of_archive(warc, items)) {
        format!("{} is the archive's (output.warc.dir); name another", items.display())
    } else {
        return None;
    };
    Some(("output.items.path", why))
}

/// The name of what a crawl keeps in its data directory at a path, or around it.
pub(crate) fn own_name(data: &Path, path: &Path) -> Option<&'static str> {
    let path = real(path);
    OWN.into_iter().find(|name| path.starts_with(real(&data.join(name))))
}

/// Whether a path is an archive's directory, or has the name of one of its files there.
pub(crate) fn is_of_archive(archive: &Path, path: &Path) -> bool {
    let (archive, path) = (real(archive), real(path));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let endings = [".warc.gz", ".warc.gz.open", ".cdxj", ".lock"];
    path == archive
        || path.parent() == Some(&archive) && endings.iter().any(|ending| name.ends_with(ending))
}

/// A path without links and detours, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, mut real)) = found else { return path };
    for rest in path.strip_prefix(part).unwrap_or(Path::new("")).components() {
        match rest {
            Component::ParentDir => drop(real.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => real.push(rest),
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: where items go, where the archive is, and the setting that cannot be.
    #[test]
    fn places() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("data/index")).unwrap();
        std::fs::create_dir_all(at("warc")).unwrap();
        std::os::unix::fs::symlink(at("data"), at("link")).unwrap();
        std::fs::write(at("data/audit.jsonl"), "").unwrap();
        std::os::unix::fs::symlink("data/audit.jsonl", at("a.jsonl")).unwrap();
        for (items, warc, setting) in [
            ("data/items.jsonl", "warc", None),
            ("data/mine/a.jsonl", "data/warc", None),
            ("warc/items.jsonl", "warc", None),
            ("data/audit.jsonl", "warc", Some("output.items.path")),
            ("data/x/../audit.1.jsonl", "warc", Some("output.items.path")),
            ("link/audit.jsonl", "warc", Some("output.items.path")),
            ("a.jsonl", "warc", Some("output.items.path")),
            ("data/index/items.jsonl", "warc", Some("output.items.path")),
            ("data/sled/db", "warc", Some("output.items.path")),
            ("data", "warc", Some("output.items.path")),
            ("warc", "warc", Some("output.items.path")),
            ("warc/comity.lock", "warc", Some("output.items.path")),
            ("warc/a.warc.gz", "./warc", Some("output.items.path")),
            ("items.jsonl", "data/index", Some("output.warc.dir")),
            ("items.jsonl", "data/spool/warc", Some("output.warc.dir")),
        ] {
            let mut config = Config::default();
            config.storage.data = at("data");
            config.output.items.path = Some(at(items));
            config.output.warc.dir = Some(at(warc));
            let found = fault(&config);
            assert_eq!(found.as_ref().map(|(setting, _)| *setting), setting, "{items} {found:?}");
        }
    }
}
