//! The arguments of `comity sitemap`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity sitemap sitemap.xml.gz\n      \
    what kind it is, what it lists, and what is wrong with it, with line and advice\n  \
    curl -s https://example.org/news/sitemap.xml | comity sitemap - --url https://example.org/news/sitemap.xml\n      \
    also which entries do not count: a sitemap that nobody submitted speaks for its directory alone\n  \
    comity sitemap sitemap.xml --json | jq -r 'select(.url).url'\n      \
    one JSON value a line: every entry, every fault, and last the report\n\n\
    Formats: XML (urlset, sitemapindex), RSS 2.0 with Media RSS, Atom 1.0, text with one URL a line; \
    each also compressed with gzip. The bytes decide, not the name.\n\
    Exit codes: 0 no fault; 1 faults, or it is no sitemap. Codes such as SM-004 are the numbered rules \
    of docs/requirements.md; docs/reasons.md has every fault.")]
pub(crate) struct SitemapArgs {
    /// A file with a sitemap, or - for standard input; nothing is fetched
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Where it is from; with it, entries that do not count are told
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// How it became known: by the robots.txt of its own site, by the operator, or not submitted at all
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Submitted::No, requires = "url")]
    pub(crate) submitted: Submitted,

    /// How many entries to print; 0 is all
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    pub(crate) limit: u64,

    /// Print entries, faults and the report as JSON, one value a line
    #[arg(long, conflicts_with = "limit")]
    pub(crate) json: bool,
}

/// How a sitemap became known.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Submitted {
    Robots,
    Operator,
    No,
}
