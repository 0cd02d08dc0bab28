//! Arguments of `comity export`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::DataArgs;

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    comity export --format csv --output pages.csv\n      \
    every visited page with its status, title, rules and dates\n  \
    comity export cdxj --warc warc --output index.cdxj\n      \
    one sorted index of an archive, made anew from its files"
)]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ExportCommand>,

    /// How page records are written
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,

    /// Also pages that were found and not visited
    #[arg(long)]
    pub(crate) all: bool,

    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) data: DataArgs,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// JSON Lines: an object a page
    Jsonl,
    /// CSV with a line of column names
    Csv,
    /// Parquet, in builds with the feature parquet
    Parquet,
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
