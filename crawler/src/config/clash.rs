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

/// Why an export cannot be written at a path, if a crawl keeps something there: in a data directory,
/// these settings' or any other, in an archive, or as items.
pub(crate) fn export_fault(config: &Config, path: &Path) -> Option<String> {
    let path = real(path);
    let data = path.ancestors().skip(1).filter(|dir| dir.join("comity.json").exists());
    let data: Vec<_> = data.chain([config.storage.data.as_path()]).collect();
    if let Some(what) = data.iter().find_map(|data| own_name(data, &path)) {
        return Some(format!("is the crawl's own ({what} in its data directory)"));
    }
    let is_items =
        config.output.items.path.as_deref().is_some_and(|items| is_of_items(items, &path))
            || data.iter().any(|data| is_of_items(&data.join("items.any"), &path));
    if is_items {
        return Some("is where a crawl's items are".into());
    }
    let dir = path.parent()?;
    if dir.join("comity.json").exists() && path.exists() {
        return Some("is a file in a crawl's data directory".into());
    }
    let archive = config.output.warc.dir.as_deref().filter(|archive| is_of_archive(archive, &path));
    if archive.is_some() || is_of_archive(dir, &path) && has_archive(dir) {
        return Some("is the archive's own".into());
    }
    None
}

/// Whether a path is that of items, of a full file of them (`items-00000.jsonl`), or in a directory
/// of them. In a data directory they have their format's ending, whichever it is.
fn is_of_items(items: &Path, path: &Path) -> bool {
    let items = real(items);
    let (Some(dir), Some(stem)) = (items.parent(), items.file_stem()) else { return false };
    let Ok(rest) = path.strip_prefix(dir) else { return false };
    let Some(Component::Normal(first)) = rest.components().next() else { return false };
    let (first, stem) = (Path::new(first), stem.to_string_lossy());
    let any = items.extension().is_some_and(|ending| ending == "any");
    let name = first.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix(stem.as_ref());
    let is_numbered = |name: &str| {
        let number = name.strip_prefix('-').unwrap_or_default();
        number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_same = any || first.extension() == items.extension();
    path.starts_with(&items)
        || is_same && name.is_some_and(|name| name.is_empty() || is_numbered(name))
}

/// Whether there are WARC files in a directory.
fn has_archive(dir: &Path) -> bool {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| name.ends_with(".warc.gz") || name.ends_with(".warc.gz.open"))
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

    /// One line, one case: where an export is to be written, and what it is not to be written over.
    #[test]
    fn exports() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for made in ["data", "other/index", "copied", "mine", "warc"] {
            std::fs::create_dir_all(at(made)).unwrap();
        }
        for file in ["other/comity.json", "other/theirs.csv", "copied/a-1-0.warc.gz", "mine/a.csv"]
        {
            std::fs::write(at(file), "").unwrap();
        }
        std::os::unix::fs::symlink(at("copied/a-1-0.warc.gz"), at("link")).unwrap();
        let mut config = Config::default();
        config.storage.data = at("data");
        config.output.items.path = Some(at("mine/items.jsonl"));
        config.output.warc.dir = Some(at("warc"));
        for (path, is_free) in [
            ("pages.csv", true),
            ("mine/a.csv", true),
            ("mine/items.csv", true),
            ("mine/items-list.jsonl", true),
            ("other/pages.csv", true),
            ("data/pages.csv", true),
            ("copied/pages.csv", true),
            ("all.cdxj", true),
            ("mine/items.jsonl", false),
            ("mine/items-00000.jsonl", false),
            ("mine/items.jsonl/part-00000.parquet", false),
            ("data/items.csv", false),
            ("data/audit.jsonl", false),
            ("other/status.json", false),
            ("other/theirs.csv", false),
            ("other/index/new", false),
            ("other/items.parquet/part-00000.parquet", false),
            ("copied/a-1-0.warc.gz", false),
            ("copied/a-1-0.cdxj", false),
            ("copied/a-1-1.warc.gz.open", false),
            ("copied/x/../a-1-0.warc.gz", false),
            ("warc/a-1-0.cdxj", false),
            ("link", false),
        ] {
            let found = export_fault(&config, &at(path));
            assert_eq!(found.is_none(), is_free, "{path} {found:?}");
        }
    }
}
