//! `comity export`: what was crawled, in formats that others read.

mod pages;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use comity_storage::Store as _;

use super::args::{CdxjArgs, ExportArgs, ExportCommand};
use super::terminal::plural;
use super::{Exit, Usage, data_dir, open, progress, read_config};
use crate::clock::Clock;
use crate::output::warc::export_cdxj;

pub(super) async fn run(args: ExportArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    match &args.command {
        Some(ExportCommand::Cdxj(args)) => cdxj(args, config),
        None => page_records(args, config).await,
    }
}

/// Page records, read in portions: a crawl may know more pages than there is memory for.
async fn page_records(args: ExportArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    const PORTION: usize = 1_000;
    let data = data_dir(args.data.data, config)?;
    open::not_in_use(&data, "export")?;
    let (store, _) = open::earlier(&data, Clock::real()).await?;
    let mut out = opened(args.output.as_deref())?;
    let mut written = pages::head(args.format, &mut out).map(|()| 0_u64);
    let mut from = None;
    while let Ok(count) = &mut written {
        let (records, next) = store.all_pages(from, PORTION).await?;
        let records: Vec<_> =
            records.into_iter().filter(|page| args.all || page.last.is_some()).collect();
        *count += records.len() as u64;
        if let Err(error) = pages::write(args.format, &records, &mut out) {
            written = Err(error);
        }
        match next {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    store.close().await?;
    let ended = written.and_then(|count| out.flush().map(|()| count));
    match ended {
        Ok(count) => progress::say(&plural(count, "page", "pages")),
        // Whoever reads has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return Err(error).context("could not write the export"),
    }
    Ok(Exit::Done)
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
    let exported = export_cdxj(&dir, &mut opened(args.output.as_deref())?)?;
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
    progress::say(&said);
    Ok(Exit::Done)
}

/// The file, or standard output.
fn opened(path: Option<&Path>) -> anyhow::Result<BufWriter<Box<dyn Write>>> {
    let out: Box<dyn Write> = match path {
        Some(path) => {
            let file = File::create(path);
            Box::new(file.with_context(|| format!("could not write {}", path.display()))?)
        }
        None => Box::new(io::stdout()),
    };
    Ok(BufWriter::new(out))
}
