//! The arguments of `comity rules`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity rules --header 'X-Robots-Tag: noindex'\n  \
    comity rules page.html --agent examplebot --header 'X-Robots-Tag: examplebot: max-snippet:20'\n  \
    curl -s https://example.org/ | comity rules - --url https://example.org/ --json\n  \
    comity rules --list\n\n\
    There is no --policy: courteous, google and rfc9309 differ in robots.txt only, and read page rules \
    alike. Where the documents leave a choice, there is an option, and a setting of [rules] in \
    comity.toml.\n\n\
    Thousands of questions in one process, one a line, answers in the same order:\n  \
    comity rules --json-lines < questions.jsonl\n\
    A question:\n  \
    {\"headers\":[[\"X-Robots-Tag\",\"noindex\"]],\"html\":\"<p>text\",\"url\":\"https://h/\",\"agent\":\"me\"}\n\
    All may be left out; now (a date, or seconds since 1970), \"robots_tag\":true, \
    \"dates_without_time\":\"end-of-day\" and policy, which changes nothing, may be added. The \
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

    /// The product token of the crawler to judge for; repeated: the tokens that it falls back to [default: comitybot]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) agent: Vec<String>,

    /// Where the page is from; its links are resolved against it [default: https://example.com/]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Also heed Robots-Tag headers, which no more than a draft knows yet
    #[arg(long)]
    pub(crate) robots_tag: bool,

    /// Which end of the day a date without a time means: start-of-day, end-of-day [default: start-of-day]
    #[arg(long, value_name = "READING")]
    pub(crate) dates_without_time: Option<String>,

    /// The time to judge for: a date, seconds since 1970, or +30d... from now [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,

    /// Print every word that page rules may hold, and what it does
    #[arg(long, conflicts_with_all = ["file", "headers", "agent", "url", "robots_tag", "dates_without_time", "now"])]
    pub(crate) list: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Answer questions from standard input, one JSON value a line
    #[arg(long, conflicts_with_all = ["file", "headers", "agent", "url", "robots_tag", "dates_without_time", "now", "list", "json"])]
    pub(crate) json_lines: bool,
}
