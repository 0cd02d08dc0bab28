//! Arguments of `comity export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    pub(crate) command: ExportCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// Read an archive's WARC files and write one sorted CDXJ index of them all
    Cdxj(CdxjArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CdxjArgs {
    /// The directory with the WARC files [default: output.warc.dir of comity.toml]
    #[arg(long, value_name = "DIR")]
    pub(crate) warc: Option<PathBuf>,

    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
