//! A site audit: what would Googlebot be refused on a site, what would it not index or show, and what
//! is broken. The crawl makes its requests under a name of its own and obeys what the site says to
//! that name; a layer over the transport keeps what came, and Googlebot's rules are read into it
//! afterwards, without a request more.
//!
//! ```console
//! $ cargo run -p comity-examples --example site_audit -- https://example.org/ me@example.org 2000 500 --json
//! ```
//!
//! Exit code 0: nothing was found; 1: something was; 2: the audit could not be made.

mod judge;
mod watch;

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity::config::Span;
use comity::crawl::Event;
use comity_examples::crawl_of_arguments;
use serde_json::json;

use crate::judge::{AUDITED_AS, Finding, Kind, findings};
use crate::watch::{Seen, Watched};

const USAGE: &str = "say SEED [CONTACT] [INTERVAL_MS] [PAGES] [--json], such as: https://example.org/ me@example.org";

/// What the audit's own crawl was not permitted to look at, and why.
type Unseen = BTreeMap<String, String>;

async fn audit() -> Result<bool, Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let in_json = arguments.iter().any(|argument| argument == "--json");
    arguments.retain(|argument| argument != "--json");
    let mut arguments = arguments.into_iter();
    let seed = arguments.clone().next().ok_or(USAGE)?;
    let seed = url::Url::parse(&seed).map_err(|e| format!("\"{seed}\": {e}; {USAGE}"))?;
    let crawler = crawl_of_arguments(&mut arguments)?;
    let pages = arguments.next().map_or(Ok(500), |pages| pages.parse())?;

    let seen = Arc::new(Mutex::new(Seen::default()));
    let unseen = Arc::new(Mutex::new(Unseen::new()));
    let (watched, refused) = (Arc::clone(&seen), Arc::clone(&unseen));
    let crawler = crawler.max_pages(pages).listener(move |event| {
        if let Event::Refused { url, reason, evidence } = event {
            let why = evidence.unwrap_or(reason).to_owned();
            refused.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_string(), why);
        }
    });
    // A page that fails is a finding; the audit does not wait to ask again.
    let crawler = crawler.settings(|config| config.crawl.patience = Span(Duration::from_secs(20)));
    crawler.layer(|transport| Watched::over(transport, watched)).run(|_| {}).await?;

    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let unseen = unseen.lock().unwrap_or_else(PoisonError::into_inner);
    let found = findings(&seen, &seed);
    if found.is_empty() && seen.pages.values().all(Result::is_err) {
        let why = unseen.values().next().map_or("", String::as_str);
        return Err(format!("nothing of {seed} could be looked at: {why}").into());
    }
    match in_json {
        true => print_json(&seed, &seen, &unseen, &found),
        false => print_table(&seed, &seen, &unseen, &found),
    }
    Ok(!found.is_empty())
}

#[expect(clippy::print_stdout, reason = "the example's output")]
fn print_json(seed: &url::Url, seen: &Seen, unseen: &Unseen, found: &[Finding]) {
    let findings: Vec<_> = found
        .iter()
        .map(|finding| {
            json!({
                "kind": finding.kind.name(),
                "url": finding.url.as_str(),
                "what": finding.what,
                "found_on": finding.found_on.as_ref().map(url::Url::as_str),
            })
        })
        .collect();
    let report = json!({
        "site": seed.as_str(),
        "as": AUDITED_AS,
        "addresses": seen.pages.len(),
        "not_looked_at": unseen,
        "findings": findings,
    });
    println!("{report:#}");
}

#[expect(clippy::print_stdout, reason = "the example's output")]
fn print_table(seed: &url::Url, seen: &Seen, unseen: &Unseen, found: &[Finding]) {
    println!("{seed} as {AUDITED_AS} would see it: {} addresses looked at", seen.pages.len());
    for kind in Kind::ALL {
        let of_kind: Vec<_> = found.iter().filter(|finding| finding.kind == *kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        println!("\n{} ({})", kind.title(), of_kind.len());
        let paths: Vec<_> = of_kind.iter().map(|finding| short(seed, &finding.url)).collect();
        let width = paths.iter().map(|path| path.chars().count()).max().unwrap_or(0).min(60);
        for (finding, path) in of_kind.into_iter().zip(paths) {
            let on = finding.found_on.as_ref();
            let on = on.map_or(String::new(), |on| format!("  (linked on {})", short(seed, on)));
            println!("  {path:<width$}  {}{on}", finding.what);
        }
    }
    if !unseen.is_empty() {
        println!(
            "\nNot looked at, because the rules for our own name forbid it ({})",
            unseen.len()
        );
        unseen.iter().for_each(|(url, why)| println!("  {url}  {why}"));
    }
    println!("\n{} findings", found.len());
}

/// An address of the site without what all of them begin with.
fn short(seed: &url::Url, url: &url::Url) -> String {
    match url.origin() == seed.origin() {
        true => url[url::Position::BeforePath..].to_owned(),
        false => url.to_string(),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match audit().await {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(1),
        #[expect(clippy::print_stderr, reason = "the example's output")]
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
