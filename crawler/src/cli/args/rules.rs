//! The arguments of `comity rules`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity rules --header 'X-Robots-Tag: noindex'\n  \
    comity rules page.html --agent examplebot --header 'X-Robots-Tag: examplebot: max-snippet:20'\n  \
    curl -s https://example.org/ | comity rules - --url https://example.org/ --json\n  \
    comity rules --list\n\n\
    Thousands of questions in one process, one a line, answers in the same order:\n  \
    comity rules --json-lines < questions.jsonl\n\
    A question:\n  \
    {\"headers\":[[\"X-Robots-Tag\",\"noindex\"]],\"html\":\"<p>text\",\"url\":\"https://h/\",\"agent\":\"me\"}\n\
    All but agent may be left out; policy and now (a date, or seconds since 1970) may be added. The \
    answer has every directive by its own name with _ for -, such as \"noindex\":true and \
    \"max_snippet\":20 (-1 is no limit, null is no rule), \"from\" with where each stood, \
    \"publication\", \"snippet_text\", and \"links\". A line that is no question is answered by \
    {\"error\":\"...\"}.")]
pub(crate) struct RulesArgs {
    /// An HTML file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// A header of the response, such as 'X-Robots-Tag: noindex'; may be repeated
    #[arg(long = "header", short = 'H', value_name = "LINE")]
    pub(crate) headers: Vec<String>,

    /// The product token of the crawler to judge for [default: comitybot]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) agent: Option<String>,

    /// Where the page is from; its links are resolved against it [default: https://example.com/]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Whose reading of the rules decides; page rules are read alike by all: courteous, google, rfc9309
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,

    /// The time to judge for: a date, seconds since 1970, or +30d... from now [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,

    /// Print every word that page rules may hold, and what it does
    #[arg(long, conflicts_with_all = ["file", "headers", "agent", "url", "policy", "now"])]
    pub(crate) list: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Answer questions from standard input, one JSON value a line
    #[arg(long, conflicts_with_all = ["file", "headers", "agent", "url", "policy", "now", "list", "json"])]
    pub(crate) json_lines: bool,
}
