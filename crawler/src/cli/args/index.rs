//! Arguments of `comity index`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::DataArgs;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity index verify\n      \
    that no document shows what its page's rules or robots.txt forbid\n  \
    comity index rebuild --warc warc\n      \
    the whole index anew, from an archive and what the crawl knows of each page")]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    pub(crate) command: IndexCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Compare every document with what the crawl knows of its page; exit code 1 if any is forbidden
    Verify(VerifyArgs),
    /// Make the index anew from an archive's WARC files; what they lack is fetched by the next crawl
    Rebuild(RebuildArgs),
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// Take out what is forbidden
    #[arg(long)]
    pub(crate) withdraw: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// The directory with the WARC files [default: that of the last run]
    #[arg(long, value_name = "DIR")]
    pub(crate) warc: Option<PathBuf>,

    /// Put the new index in its place even if the archive lacks most of the pages
    #[arg(long)]
    pub(crate) partial: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
