//! The command line, as clap reads it. The doc comments are what `--help` prints.

mod export;
mod extract;
mod index;
mod robots;
mod rules;
mod sitemap;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::{Bytes, Span};

pub(crate) use self::export::{CdxjArgs, ExportArgs, ExportCommand, ExportFormat};
pub(crate) use self::extract::ExtractArgs;
pub(crate) use self::index::{IndexArgs, IndexCommand, RebuildArgs, VerifyArgs};
pub(crate) use self::robots::{AskArgs, CheckArgs, LintArgs, RobotsArgs, RobotsCommand, WhenArgs};
pub(crate) use self::rules::RulesArgs;
pub(crate) use self::sitemap::{SitemapArgs, Submitted};

/// A polite web crawler: every fetch is decided by a compliance engine, every decision is explained.
#[derive(Debug, Parser)]
#[command(
    name = "comity",
    version,
    after_help = "See the whole of it at work on a small web of its own:\n  \
        comity demo\n\n\
        Crawl a site and search it:\n  \
        comity crawl https://example.org/ --contact https://example.org/our-crawler\n  \
        comity search some words\n\n\
        Exit codes: 0 done, or stopped cleanly (run the same command again to go on); 1 it failed, \
        or robots lint found errors, or extract no item, or index verify what is forbidden; \
        2 wrong arguments or settings; 3 nothing could be fetched; 130 stopped by a second Ctrl-C."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// The settings file; without it, comity.toml in this directory if there is one
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// What to log on standard error: error, warn, info, debug, trace, or a filter such as comity=debug
    #[arg(long, global = true, value_name = "LEVEL", env = "COMITY_LOG", default_value = "warn")]
    pub(crate) log: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl from one or more seeds; run it again to go on where it stopped
    Crawl(CrawlArgs),
    /// Search what was crawled
    Search(SearchArgs),
    /// Tell what is known of a URL, and whether it may be fetched now, and why
    Explain(ExplainArgs),
    /// Tell how a crawl stands
    Status(StatusArgs),
    /// Judge URLs by a robots.txt, find its mistakes, tell how long a copy of it lasts
    Robots(RobotsArgs),
    /// Tell what a page's rules (X-Robots-Tag, robots meta tags) say, and what may be shown of it
    Rules(RulesArgs),
    /// Check the search index, or make it anew
    Index(IndexArgs),
    /// Write page records as JSON Lines or CSV, or the index of an archive
    Export(ExportArgs),
    /// Tell what a sitemap lists, which of it counts, and what is wrong with it
    Sitemap(SitemapArgs),
    /// Try the extractors of comity.toml on one page: what each field finds, and why not
    Extract(ExtractArgs),
    /// Answer the conformance vectors' questions from standard input, one JSON value a line
    #[command(after_help = "comity-conformance run --engine 'comity engine'\n\n\
        docs/conformance.md documents the questions and the answers.")]
    Engine,
    /// Crawl a small web of misbehaving sites on this machine, and show what was done and why
    Demo(DemoArgs),
    /// Write a comity.toml with every setting and what it does
    Init(InitArgs),
}

/// Where the crawl's state is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DataArgs {
    /// The data directory [default: comity-data]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:\n  \
    comity crawl example.org --contact me@example.org\n      \
    the whole host, one request every two seconds\n  \
    comity crawl https://example.org/docs/ --scope prefix --max-pages 500 --contact me@example.org\n      \
    one directory, 500 pages at most\n  \
    comity crawl http://localhost:8000/ --allow-network 127.0.0.0/8 --interval 0s --address-per-second 100\n      \
    a site on this machine, a hundred pages a second at most\n\n\
    Ctrl-C stops cleanly, a second one at once. The same command again goes on.")]
pub(crate) struct CrawlArgs {
    /// Where to begin: a URL, or a host name for its https:// page; without any, those of the last run
    /// and its flags, over the settings file as it is now; if there is none, all its settings
    #[arg(value_name = "SEED")]
    pub(crate) seeds: Vec<String>,

    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// How far to go: host, domain (registrable domain), prefix (the seeds' directories), any [default: host]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<String>,

    /// Pages to fetch in all, over all runs on this data directory; there the crawl ends, whatever else
    /// is due; 0 is no limit [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) max_pages: Option<u64>,

    /// Links to follow from a seed; 0 fetches the seeds alone [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<u16>,

    /// A word that links should speak of: those that do are followed first; may be repeated
    #[arg(long, value_name = "WORD")]
    pub(crate) focus: Vec<String>,

    /// Whose reading of the rules decides: courteous, google, rfc9309 [default: courteous]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,

    /// The product token that robots.txt knows the crawler by [default: comitybot]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) agent: Option<String>,

    /// A sitemap to read beside those that robots.txt names; may be repeated
    #[arg(long = "sitemap", value_name = "URL")]
    pub(crate) sitemaps: Vec<String>,

    /// Read no sitemaps that robots.txt files name
    #[arg(long)]
    pub(crate) no_sitemaps: bool,

    /// A page or a mail address that reaches you; stands in the User-Agent header
    #[arg(long, value_name = "URL")]
    pub(crate) contact: Option<String>,

    /// A range that is not public and may be asked all the same, such as 127.0.0.0/8; may be repeated
    #[arg(long, value_name = "CIDR")]
    pub(crate) allow_network: Vec<String>,

    /// Least time between two requests to one site [default: 2s]
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<Span>,

    /// Requests a second to one IP address, all its sites together [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) address_per_second: Option<u32>,

    /// Requests a second of the whole crawl [default: 200]
    #[arg(long, value_name = "N")]
    pub(crate) whole_per_second: Option<u32>,

    /// End when nothing is due within this time [default: 2m]
    #[arg(long, value_name = "TIME")]
    pub(crate) patience: Option<Span>,

    /// Stay, and look at pages again when they are due, until Ctrl-C ([recrawl] settings apply from a page's next visit on)
    #[arg(long)]
    pub(crate) stay: bool,

    /// Look again now at all that was fetched, whenever it would be due; at the usual pace, and by the
    /// robots.txt that is held as long as it is fresh (a day at most)
    #[arg(long)]
    pub(crate) look_now: bool,

    /// Where state is kept: sled, redb, memory [default: sled]
    #[arg(long, value_name = "ENGINE")]
    pub(crate) store: Option<String>,

    /// What is safe: process (kill -9), power (also a power cut) [default: process]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) durability: Option<String>,

    /// Bytes of a page that are read; a longer one is cut [default: 2MiB]
    #[arg(long, value_name = "BYTES")]
    pub(crate) page_bytes: Option<Bytes>,

    /// A PEM file with certificate authorities that are trusted beside the public ones
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,

    /// A proxy for all requests: http:// or socks5://, or "direct" for none [default: what http_proxy, https_proxy and all_proxy say]
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,

    /// Keep every exchange in this directory, in the WARC format, with an index (docs/outputs.md)
    #[arg(long, value_name = "DIR")]
    pub(crate) warc: Option<PathBuf>,

    /// Do not index pages
    #[arg(long)]
    pub(crate) no_index: bool,

    /// Let searches find addresses that robots.txt forbids, as addresses alone, by what a link says
    #[arg(long)]
    pub(crate) bare_urls: bool,

    /// Print each fetch, refusal and failure as it happens
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Among the words:\n  \
    \"two words\"         side by side\n  \
    -word               not with this word; in quotes with another, or behind --:\n                      \
    comity search 'csv -file', comity search -- csv -file\n  \
    site:example.org    of this host and those below it; site:example.org/docs with \"docs\" in the address\n  \
    lang:de             in this language\n  \
    after:2024-05 before:2025\n                      \
    that changed in this time, as they say themselves\n\n\
    docs/search.md says how results are ranked and what is shown of each.")]
pub(crate) struct SearchArgs {
    /// What to look for: pages with all of these words
    #[arg(required = true, value_name = "WORDS")]
    pub(crate) words: Vec<String>,

    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// How many results, 1,000 at most
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N", value_parser = results)]
    pub(crate) limit: usize,

    /// How many of the best to leave out
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = left_out)]
    pub(crate) skip: usize,

    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn results(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "give a number of results, 1 to 1000".into())
}

fn left_out(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give a number of results to leave out, such as 10".into())
}

#[derive(Args, Debug)]
#[command(
    after_help = "The verdict is judged now, by the settings of the last run. Codes such as RT-083 are\n\
    the numbered rules of docs/requirements.md, each with its source document."
)]
pub(crate) struct ExplainArgs {
    /// The URL
    pub(crate) url: String,

    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Where to keep the demo's crawl: an empty or new directory [default: one in the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Write what the sites saw, one JSON line a request, for `comity-lab check`
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,

    /// Least time between two requests to one site
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) interval: Span,

    /// Where state is kept: sled, redb, memory
    #[arg(long, value_name = "ENGINE", default_value = "sled")]
    pub(crate) store: String,
}

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// Where to write it
    #[arg(default_value = "comity.toml")]
    pub(crate) path: PathBuf,

    /// Overwrite a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}
