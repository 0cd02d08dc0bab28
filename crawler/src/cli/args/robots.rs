//! The arguments of `comity robots`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::DataArgs;

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "`comity robots SUBJECT URL...` is short for `comity robots check SUBJECT URL...`.\n\n\
        Examples:\n  \
        comity robots https://example.org/ /private/page\n  \
        comity robots check robots.txt --agent Googlebot --agent otherbot /a /b\n  \
        comity robots lint https://example.org/\n  \
        comity robots when https://example.org/page --at +13h"
)]
pub(crate) struct RobotsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RobotsCommand>,

    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RobotsCommand {
    /// Judge URLs by a robots.txt
    Check(CheckArgs),
    /// Tell what of a robots.txt has no effect or another one than it says, and what to do
    Lint(LintArgs),
    /// Tell how long what is known of a robots.txt lasts, and what happens if it fails
    When(WhenArgs),
}

/// How a site is asked for its robots.txt.
#[derive(Args, Debug, Default)]
pub(crate) struct AskArgs {
    /// A page or a mail address that reaches you, for the User-Agent header
    #[arg(long, value_name = "URL")]
    pub(crate) contact: Option<String>,

    /// A range that is not public and may be asked all the same; may be repeated
    #[arg(long, value_name = "CIDR")]
    pub(crate) allow_network: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity robots check https://example.org/ /private/page\n  \
    comity robots check robots.txt --agent Googlebot --agent otherbot /a /b\n  \
    curl -s https://example.org/robots.txt | comity robots check - /a\n\n\
    Thousands of questions in one process, one a line, answers in the same order:\n  \
    comity robots check --json-lines < questions.jsonl\n\
    A question, and its answer:\n  \
    {\"robots\":\"user-agent: *\\ndisallow: /a\",\"agents\":[\"me\"],\"url\":\"/a\",\"policy\":\"google\"}\n  \
    {\"allowed\":false,\"group\":\"*\",\"line\":2,\"rule\":\"disallow: /a\"}\n\
    agents must be there, and no other field may; agents are taken as they are, without the fall-backs \
    of --agent. robots_b64 takes the file in Base64 instead of robots; policy may be left out. Under google it is \
    Google's own parser: the URL is taken as it is given, and several agents count as one. Under the \
    others the first agent is the crawler's own token, and the next ones are what it falls back to. A \
    line that is no question is answered by {\"error\":\"...\"}.")]
pub(crate) struct CheckArgs {
    /// A URL of the site, a file, or - for standard input
    #[arg(value_name = "URL-OR-FILE", required_unless_present = "json_lines")]
    pub(crate) subject: Option<String>,

    /// What to judge: URLs, or paths such as /private
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// The product token to judge for; may be repeated; crawlers that Google documents fall back as they do there [default: as comity.toml says, else comitybot]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) agent: Vec<String>,

    /// Whose reading of the rules decides: courteous, google, rfc9309 [default: as comity.toml says, else courteous]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,

    #[command(flatten)]
    pub(crate) ask: AskArgs,

    /// Print the answers as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Answer questions from standard input, one JSON value a line
    #[arg(long, conflicts_with_all = ["subject", "urls", "agent", "policy", "json"])]
    pub(crate) json_lines: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity robots lint https://example.org/\n  \
    comity robots lint robots.txt --json | jq '.findings[] | select(.severity == \"error\")'\n  \
    comity robots lint robots.txt --lines\n\n\
    An error is what has no effect, or another than it says; a warning is what works by leniency \
    only, or may be meant so.\n\n\
    Exit codes: 0 no errors (warnings or none), 1 errors, 2 wrong arguments, 3 the file cannot be reached.")]
pub(crate) struct LintArgs {
    /// A URL of the site, a file, or - for standard input
    #[arg(value_name = "URL-OR-FILE")]
    pub(crate) subject: String,

    #[command(flatten)]
    pub(crate) ask: AskArgs,

    /// Print each line too, with what it is
    #[arg(long)]
    pub(crate) lines: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    comity robots when https://example.org/page\n  \
    comity robots when https://example.org/page --at +13h\n  \
    comity robots when https://example.org/page --at 2027-01-01T00:00:00Z --json\n\n\
    It reads the data directory of a crawl, and makes no request.\n\n\
    --events tells a life that no crawl had, and prints it as a timeline:\n  \
    comity robots when --events life.json --at +31d\n\
    with, for example, this in life.json; t_s are seconds, times such as \"+13h\", or dates:\n  \
    {\"policy\":\"google\",\"agents\":[\"me\"],\n   \
    \"events\":[{\"t_s\":0,\"status\":200,\"body\":\"user-agent: *\\ndisallow: /a\"},\n             \
    {\"t_s\":\"+1d\",\"status\":503}],\n   \
    \"ask\":[{\"t_s\":\"+25h\",\"url\":\"/b\"},{\"t_s\":\"+37h\",\"url\":\"/b\"}]}\n\n\
    With --json-lines, each line of standard input is such a file (in one line), and is answered by a \
    line. A question, and its answer:\n  \
    {\"policy\":\"google\",\"agents\":[\"me\"],\n   \
    \"events\":[{\"t_s\":0,\"status\":200,\"headers\":[[\"Cache-Control\",\"max-age=3600\"]],\n              \
    \"body\":\"user-agent: *\\ndisallow: /a\"},\n             \
    {\"t_s\":3600,\"error\":\"timeout\"}],\n   \
    \"ask\":[{\"t_s\":3700,\"url\":\"https://h/b\"}]}\n  \
    {\"answers\":[{\"allowed\":false,\"reason\":\"robots-unreachable\",\"until_s\":4500}],\n   \
    \"refresh_at_s\":[3600,4500]}\n\
    An event is what a request for robots.txt brought: a status, or an error, or both where the body \
    broke off (body_b64 takes Base64). A redirect's next event is the answer of its target. An event \
    with a url that is no robots.txt is a page of the site. refresh_at_s has the next refresh after each \
    event. A refresh that is due at a question is taken to bring what the last one brought; where there \
    was none, the reason is robots-not-fetched.")]
pub(crate) struct WhenArgs {
    /// A URL of the site
    #[arg(required_unless_present_any = ["json_lines", "events"])]
    pub(crate) url: Option<String>,

    /// A JSON file with a record's life, or - for standard input, instead of a crawl's data
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub(crate) events: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// The time to judge for: a date, seconds since 1970, or +13h from now (with --events: from its zero, and without a URL about that of the first question, or the front page) [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Answer questions from standard input, one JSON value a line
    #[arg(long, conflicts_with_all = ["url", "events", "data", "at", "json"])]
    pub(crate) json_lines: bool,
}
