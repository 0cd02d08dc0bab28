//! `comity export`: what was crawled, in formats that others read.

mod pages;
mod target;

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use comity_storage::Store as _;

use self::pages::Pages;
use self::target::Target;
use super::args::{CdxjArgs, ExportArgs, ExportCommand, ExportFormat};
use super::terminal::plural;
use super::{Exit, Usage, data_dir, open, progress, read_config};
use crate::clock::Clock;
use crate::config::{Config, clash};
use crate::output::OutputError;
use crate::output::warc::export_cdxj;

pub(super) async fn run(args: ExportArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    match &args.command {
        Some(ExportCommand::Cdxj(args)) => cdxj(args, config),
        None => page_records(args, config).await,
    }
}

/// Pages that are read at once: a crawl may know more than there is memory for.
const PORTION: usize = 1_000;

async fn page_records(args: ExportArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let data = data_dir(args.data.data.clone(), config)?;
    if args.format == ExportFormat::Parquet && !cfg!(feature = "parquet") {
        let problem = "this build writes no Parquet: build it with `cargo build --release -p comity \
                       --features parquet`, or take --format jsonl or csv";
        return Err(Usage(problem.into()).into());
    }
    if let Some(path) = &args.output {
        let mut config = read_config(config)?;
        config.storage.data.clone_from(&data);
        may_be_written(path, &config)?;
    }
    open::not_in_use(&data, "export")?;
    let (store, _) = open::earlier(&data, Clock::real()).await?;
    let (out, target) = Target::open(args.output.as_deref())?;
    let written = write_pages(&store, &args, out).await;
    store.close().await?;
    let ended = match written {
        Ok(count) => Ok(count),
        Err(error) => Err(error.downcast::<io::Error>()?),
    };
    match ended.and_then(|count| target.complete().map(|()| count)) {
        Ok(count) => progress::say(&plural(count, "page", "pages")),
        // Whoever reads has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return Err(error).context("could not write the export"),
    }
    Ok(Exit::Done)
}

/// Says how many were written.
async fn write_pages(
    store: &open::AnyStore,
    args: &ExportArgs,
    out: BufWriter<Box<dyn Write + Send>>,
) -> anyhow::Result<u64> {
    let mut pages = Pages::begin(args.format, out)?;
    let (mut count, mut from) = (0, None);
    loop {
        let (mut records, next) = store.all_pages(from, PORTION).await?;
        records.retain(|page| args.all || page.last.is_some());
        count += records.len() as u64;
        pages.write(&records)?;
        if next.is_none() {
            pages.end()?;
            return Ok(count);
        }
        from = next;
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
    if !dir.is_dir() {
        anyhow::bail!("there is no archive in {}: --warc names its directory", dir.display());
    }
    if let Some(path) = &args.output {
        let mut config = read_config(config)?;
        config.output.warc.dir = Some(dir.clone());
        may_be_written(path, &config)?;
    }
    let (mut out, target) = Target::open(args.output.as_deref())?;
    let exported = match export_cdxj(&dir, &mut out) {
        // Whoever reads has had enough.
        Err(OutputError::File { cause, .. }) if cause.kind() == io::ErrorKind::BrokenPipe => {
            return Ok(Exit::Done);
        }
        exported => exported?,
    };
    target.complete().context("could not write the export")?;
    let mut said = format!(
        "{} of {}",
        plural(exported.captures, "capture", "captures"),
        plural(exported.files as u64, "file", "files")
    );
    if exported.torn_bytes > 0 {
        said.push_str(&format!(
            "; {} bytes at the end of a file are no whole record: it is being written, or a crash \
             cut it",
            exported.torn_bytes
        ));
    }
    if exported.unreadable > 0 {
        let files = plural(exported.unreadable as u64, "file", "files");
        said.push_str(&format!("; {files} could not be read, which the log names"));
    }
    progress::say(&said);
    Ok(if exported.unreadable == 0 { Exit::Done } else { Exit::FoundErrors })
}

/// An export is not written over what a crawl keeps.
fn may_be_written(path: &Path, config: &Config) -> Result<(), Usage> {
    match clash::export_fault(config, path) {
        Some(why) => Err(Usage(format!("--output {} {why}; name another", path.display()))),
        None => Ok(()),
    }
}
