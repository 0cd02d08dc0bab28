//! The files that a run writes: tried before it begins, so that no run is lost at its end.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use comity_conformance::grade::{Graded, html, junit};

#[derive(Args, Debug)]
pub(crate) struct Reports {
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the results as one HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Reports {
    /// Whether all can be written. What a file holds stays there until there are results.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let paths: Vec<&PathBuf> =
            [&self.json, &self.junit, &self.html].into_iter().flatten().collect();
        for (at, path) in paths.iter().enumerate() {
            if paths.iter().take(at).any(|other| other == path) {
                anyhow::bail!("two reports cannot both be written to {}", path.display());
            }
            try_to_write(path)
                .with_context(|| format!("{} cannot be written as a report", path.display()))?;
        }
        Ok(())
    }

    /// Writes all of them; one that fails keeps no other from being written.
    pub(crate) fn write(&self, graded: &Graded) -> anyhow::Result<()> {
        let write = |path: &Option<PathBuf>, text: &dyn Fn() -> serde_json::Result<String>| {
            let Some(path) = path else { return Ok(()) };
            fs::write(path, text()?).with_context(|| format!("could not write {}", path.display()))
        };
        let written = [
            write(&self.json, &|| serde_json::to_string_pretty(graded)),
            write(&self.junit, &|| Ok(junit(graded))),
            write(&self.html, &|| Ok(html(graded))),
        ];
        written.into_iter().collect()
    }

    /// Where all failures stand, in words.
    pub(crate) fn rest(&self) -> String {
        let given: Vec<_> = [&self.html, &self.json, &self.junit].into_iter().flatten().collect();
        match given.first() {
            Some(path) => format!("see {}", path.display()),
            None => "give --html FILE, --json FILE or --junit FILE to see all".into(),
        }
    }
}

fn try_to_write(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(found) if found.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        // A pipe or a device: opened once, by the report.
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}
