//! Puts the vectors and the scenarios into the programs, so that they need no files beside them.

#![expect(clippy::unwrap_used, reason = "a build that cannot go on fails")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let crate_root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let vectors = crate_root.join("vectors");
    let folders = entries(&vectors).into_iter().filter(|path| path.is_dir());
    write_list("vectors.rs", &vectors, folders.flat_map(|folder| entries(&folder)));
    let scenarios = crate_root.join("scenarios");
    write_list("scenarios.rs", &scenarios, entries(&scenarios).into_iter());
}

/// Writes name and text of each TOML file among `paths`.
fn write_list(list_name: &str, root: &Path, paths: impl Iterator<Item = PathBuf>) {
    println!("cargo::rerun-if-changed={}", root.display());
    let mut list = String::from("&[\n");
    for file in paths.filter(|path| has_extension(path)) {
        let name = file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        writeln!(list, "({name:?}, include_str!({:?})),", file.to_str().unwrap()).unwrap();
    }
    list.push(']');
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap()).join(list_name), list).unwrap();
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}
