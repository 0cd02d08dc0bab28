//! `comity export`: what was crawled, in formats that others read.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use anyhow::Context as _;

use super::args::{CdxjArgs, ExportArgs, ExportCommand};
use super::{Exit, Usage, progress, read_config, terminal};
use crate::output::warc::export_cdxj;

pub(super) fn run(args: &ExportArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    match &args.command {
        ExportCommand::Cdxj(args) => cdxj(args, config),
    }
}

fn cdxj(args: &CdxjArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let dir = match &args.warc {
        Some(dir) => Some(dir.clone()),
        None => read_config(config)?.output.warc.dir,
    };
    let dir = dir.ok_or_else(|| {
        Usage(
            "which archive? Name its directory by --warc, or set output.warc.dir in comity.toml"
                .into(),
        )
    })?;
    let exported = match &args.output {
        Some(path) => {
            let file = File::create(path)
                .with_context(|| format!("could not write {}", path.display()))?;
            export_cdxj(&dir, &mut BufWriter::new(file))?
        }
        None => export_cdxj(&dir, &mut BufWriter::new(io::stdout().lock()))?,
    };
    let mut said = format!(
        "{} of {}",
        terminal::plural(exported.captures, "capture", "captures"),
        terminal::plural(exported.files as u64, "file", "files")
    );
    if exported.torn_bytes > 0 {
        said.push_str(&format!(
            "; {} bytes at the end of a file are no whole record: it is being written, or a crash cut it",
            exported.torn_bytes
        ));
    }
    progress::say(&said);
    Ok(Exit::Done)
}
