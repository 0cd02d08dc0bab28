//! Area redirect: where chains of redirects end.

use serde_json::{Value, json};

use super::super::{Answers, Case, strings, text};
use super::{Bench, Said, Web, held, in_words, told};

pub(super) fn ask(case: &Case) -> Answers {
    held(crawled(case))
}

async fn crawled(case: &Case) -> Answers {
    let start = text(&case.input, "start");
    let web = match case.id.as_str() {
        "RD-006" => Web::new(|asked| match asked.url.path()[1..].parse::<u32>() {
            Ok(number) => Said::status(301).with("location", format!("/{}", number + 1)),
            Err(_) => Said::status(404),
        }),
        _ => Web::of_exchanges(&case.input["exchanges"]),
    };
    let seeds: Vec<&str> = match case.id.as_str() {
        "RD-008" => strings(&case.input["seeds"]).collect(),
        "RD-009" => vec![start, "https://example.com/b"],
        _ => vec![start],
    };
    let bench = Bench::new(seeds);
    bench.crawl(&web).await;
    let asked: Vec<String> = web.pages().into_iter().map(|seen| seen.url).collect();
    let chain = chain(&bench, &web, start).await;
    let follow: Vec<_> = asked.iter().filter(|url| !chain.contains(url)).collect();
    let requests = match case.id.as_str() {
        "RD-008" => web.counts(),
        _ => json!(asked.len()),
    };
    told([
        ("final", json!(chain.last())),
        ("follow", json!(follow)),
        ("requests", requests),
        ("requests_max", json!(web.ledger().len())),
        ("must_not_request", json!(web.ledger().iter().map(|seen| &seen.url).collect::<Vec<_>>())),
        ("next", json!(asked.get(1))),
        ("result", result(case, &bench, &web, chain.last()).await),
        ("panic", json!(false)),
    ])
}

/// The URLs of a chain of redirects.
async fn chain(bench: &Bench, web: &Web, start: &str) -> Vec<String> {
    let mut chain = Vec::new();
    let mut next = Some(start.to_owned()).filter(|start| !start.is_empty());
    while let Some(url) = next {
        next = bench.outcome(web, &url).await.strip_prefix("to ").map(String::from);
        chain.push(url);
    }
    chain
}

/// How the chain ended.
async fn result(case: &Case, bench: &Bench, web: &Web, last: Option<&String>) -> Value {
    let Some(last) = last else { return Value::Null };
    let outcome = bench.outcome(web, last).await;
    let told = |words, meant: &str| in_words(words, &[meant], &outcome);
    match case.id.as_str() {
        "RD-006" => in_words(
            "too many redirects",
            &["too-many-redirects"],
            outcome.split(':').next().unwrap(),
        ),
        "RD-009" => {
            let other = bench.outcome(web, "https://example.com/b").await;
            json!({
                "https://example.com/a": told("final answer 302, no target", "bad-redirect: to \"\""),
                "https://example.com/b":
                    in_words("not modified", &["odd-status: status 304"], &other),
            })
        }
        "RD-010" => {
            let hops = bench.page(web, last).await.map_or(0, |page| page.hops);
            match outcome.as_str() {
                "robots-disallow" => json!(format!("blocked by robots at hop {}", hops + 1)),
                other => json!(other),
            }
        }
        "RD-012" => {
            told("redirect to unsupported scheme", "bad-redirect: to \"file:///etc/passwd\"")
        }
        "RD-013" => told("200 with cookies, otherwise redirect loop", "redirect-loop: to itself"),
        _ => json!(outcome),
    }
}
