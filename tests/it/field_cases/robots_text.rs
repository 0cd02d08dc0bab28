//! Area robots-parse: texts of robots.txt.

use comity_compliance::robots::{Access, RobotsTxt, cut};
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, bytes, strings, text};

pub(super) fn judge(case: &Case) -> Answers {
    let body = body(&case.input);
    let file = RobotsTxt::parse(cut(&body, case.policy.robots.max_bytes));
    let tokens = [case.token()];
    let mut answers = Answers::new();
    let (mut allowed, mut by_parser, mut rejected) = (Answers::new(), Answers::new(), Vec::new());
    // The parser itself has no limit: what is cut is cut before it.
    let whole = RobotsTxt::parse(&body);
    for given in strings(&case.input["urls"]) {
        let Ok(url) = Url::parse(given) else {
            rejected.push(given);
            continue;
        };
        let verdict = file.verdict(case.policy.preset, &tokens, &url);
        allowed.insert(given.into(), (verdict.access == Access::Allow).into());
        let verdict = whole.google_parser(&[&case.agent], given.as_bytes());
        by_parser.insert(given.into(), (verdict.access == Access::Allow).into());
    }
    let delay = file.crawl_delay(&tokens).map(|delay| delay.as_secs_f64());
    answers.insert("allowed".into(), allowed.into());
    answers.insert("google_parser".into(), by_parser.into());
    answers.insert("reject_url".into(), json!(rejected));
    answers.insert("crawl_delay_s".into(), json!(delay));
    answers.insert("sitemaps".into(), file.sitemaps().map(|(_, url)| url).collect::<Value>());
    answers
}

fn body(input: &Value) -> Vec<u8> {
    if input["robots_b64"].is_string() {
        return bytes(&input["robots_b64"]);
    }
    if input["robots_gen"].is_null() {
        return text(input, "robots").into();
    }
    let parts = &input["robots_gen"];
    let size = usize::try_from(parts["pad_to"].as_u64().unwrap()).unwrap();
    let mut body = text(parts, "head").to_owned();
    let filler = text(parts, "filler");
    body.push_str(&filler.repeat((size - body.len()) / filler.len()));
    let rest = size - body.len();
    if rest > 0 {
        body.push_str(&"#".repeat(rest - 1));
        body.push('\n');
    }
    body.push_str(text(parts, "tail"));
    body.into_bytes()
}
