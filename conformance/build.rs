//! Puts the vectors into the program, so that it needs no files beside it.

#![expect(clippy::unwrap_used, reason = "a build that cannot go on fails")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("vectors");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for subject in entries(&root).into_iter().filter(|path| path.is_dir()) {
        files.extend(entries(&subject).into_iter().filter(|path| has_extension(path)));
    }
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        writeln!(list, "({name:?}, include_str!({:?})),", file.to_str().unwrap()).unwrap();
    }
    list.push(']');
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("vectors.rs"), list).unwrap();
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
