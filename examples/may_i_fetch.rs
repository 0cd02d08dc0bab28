//! The compliance engine alone: judges the URLs on the command line by a robots.txt on standard
//! input, and says which line decided.
//!
//! ```console
//! $ printf 'user-agent: *\ndisallow: /private\n' |
//!     cargo run -p comity-examples --example may_i_fetch -- https://example.com/private https://example.com/
//! ```

use std::io::Read as _;

use comity_compliance::robots::{Access, RobotsTxt};
use comity_compliance::{Preset, ProductToken};
use url::Url;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    // Parsed once, asked many times.
    let rules = RobotsTxt::parse(&text);
    let me = [ProductToken::new("examplebot")?];
    for argument in std::env::args().skip(1) {
        let url = Url::parse(&argument)?;
        let verdict = rules.verdict(Preset::Courteous, &me, &url);
        let word = match verdict.access {
            Access::Allow => "may fetch    ",
            Access::Disallow => "may not fetch",
        };
        #[expect(clippy::print_stdout, reason = "the example's output")]
        match verdict.rule {
            Some(rule) => println!("{word} {url}: line {}, {}", rule.line, rule.pattern),
            None => println!("{word} {url}: no rule matches"),
        }
    }
    Ok(())
}
