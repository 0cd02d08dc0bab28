//! Who may import whom: read from the manifests, so that a wrong arrow fails here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crate, and the workspace crates that it may depend on. Arrows point down only.
const FLOORS: &[(&str, &[&str])] = &[
    ("comity-compliance", &[]),
    ("comity-conformance", &[]),
    ("comity-storage", &["comity-compliance"]),
    ("comity", &["comity-compliance", "comity-storage", "comity-conformance"]),
    ("comity-examples", &["comity", "comity-compliance", "comity-storage", "comity-conformance"]),
    ("comity-tests", &["comity", "comity-compliance", "comity-storage", "comity-conformance"]),
];

/// Crates that nothing below the roof may pull in, by the floor that must stay free of them.
const NEVER: &[(&str, &[&str])] = &[
    (
        "comity-compliance",
        &["tokio", "hyper", "tracing", "rand", "fastrand", "sled", "redb", "libc"],
    ),
    ("comity-storage", &["hyper", "hyper-util", "hickory-resolver", "rustls", "tantivy"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(path: &Path) -> toml::Table {
    let text = std::fs::read_to_string(path).unwrap();
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The manifests of all members, by package name.
fn members() -> Vec<(String, toml::Table)> {
    let workspace = manifest(&root().join("Cargo.toml"));
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let read = |member: &toml::Value| {
        let table = manifest(&root().join(member.as_str().unwrap()).join("Cargo.toml"));
        (table["package"]["name"].as_str().unwrap().to_owned(), table)
    };
    members.iter().map(read).collect()
}

/// Every dependency of a manifest, of whatever kind and target.
fn dependencies(manifest: &toml::Table) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else { continue };
        if key.ends_with("dependencies") {
            found.extend(table.keys().cloned());
        } else if key == "target" {
            found.extend(table.values().filter_map(|t| t.as_table()).flat_map(dependencies));
        }
    }
    found
}

/// The wrong arrows of a set of manifests.
fn wrong_arrows(members: &[(String, toml::Table)]) -> Vec<String> {
    let names: BTreeSet<_> = members.iter().map(|(name, _)| name.as_str()).collect();
    let mut wrong = Vec::new();
    for (name, manifest) in members {
        let Some((_, allowed)) = FLOORS.iter().find(|(floor, _)| floor == name) else {
            wrong.push(format!("{name} has no floor"));
            continue;
        };
        let never = NEVER.iter().find(|(floor, _)| floor == name).map_or(&[][..], |(_, n)| n);
        for dependency in dependencies(manifest) {
            let outside = names.contains(dependency.as_str()) && !allowed.contains(&&*dependency);
            if outside || never.contains(&&*dependency) {
                wrong.push(format!("{name} -> {dependency}"));
            }
        }
    }
    wrong
}

#[test]
fn arrows_point_down() {
    assert_eq!(wrong_arrows(&members()), Vec::<String>::new());
    assert_eq!(members().len(), FLOORS.len());
}

/// The test can fail: each of these arrows is found.
#[test]
fn wrong_arrows_are_found() {
    let cases = [
        ("comity-compliance", "comity-storage"),
        ("comity-compliance", "tokio"),
        ("comity-conformance", "comity-compliance"),
        ("comity-storage", "comity"),
        ("comity-storage", "hyper"),
    ];
    for (from, to) in cases {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let mut members = members();
            let (_, manifest) = members.iter_mut().find(|(name, _)| name == from).unwrap();
            let table = manifest.entry(kind).or_insert(toml::Value::Table(toml::Table::new()));
            table.as_table_mut().unwrap().insert(to.into(), "1".into());
            assert_eq!(wrong_arrows(&members), [format!("{from} -> {to}")], "{kind}");
        }
    }
}

/// The demo alone may know the lab: nothing else in the crawler speaks of conformance, but for tests
/// that read its pages.
#[test]
fn only_the_demo_imports_conformance() {
    let mut folders = vec![root().join("crawler/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.ends_with("tests")));
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("cli/demo.rs")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains("comity_conformance"), "{}", path.display());
            }
        }
    }
}
