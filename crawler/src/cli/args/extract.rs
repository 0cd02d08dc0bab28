//! The arguments of `comity extract`.

use clap::Args;

use super::AskArgs;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity extract page.html --url https://example.org/p/1\n  \
    comity extract https://example.org/p/1 --config comity.toml --json\n  \
    curl -s https://example.org/p/1 | comity extract - --url https://example.org/p/1\n\n\
    An extractor in comity.toml:\n  \
    [extract.books]\n  \
    urls = [\"/catalogue/*\"]\n  \
    [extract.books.fields.title]\n  \
    css = \"h1\"\n  \
    required = true\n  \
    [extract.books.fields.price]\n  \
    css = \".price\"\n  \
    type = \"number\"\n\n\
    A URL is fetched as a crawl would: robots.txt first, which decides, then the page after the \
    interval; a redirect is followed by the same way. Exit codes: 0 there is an item; 1 there is none; \
    2 the settings are wrong; 3 the page may not be fetched, or could not be. docs/extractors.md tells \
    all settings.")]
pub(crate) struct ExtractArgs {
    /// A URL, an HTML file, or - for standard input
    #[arg(value_name = "URL|FILE")]
    pub(crate) page: String,

    /// Where a file is from: its links are resolved against it, and `urls` patterns judged by it [default: https://example.com/]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// The extractors to try, by name; may be repeated [default: all, whatever their `urls` say with a file that has no --url]
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) ask: AskArgs,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
