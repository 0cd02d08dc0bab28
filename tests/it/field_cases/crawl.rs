//! Areas redirect, rate-limit and frontier/resume, and the traps of hostile: whole crawls of a small
//! simulated web under a held clock, or of real sites by real processes.

mod bench;
mod frontier;
mod killed;
mod rate_limit;
mod redirect;
mod store;
mod traps;

use std::time::Duration;

use serde_json::{Value, json};

use super::{Answers, Case, in_words, once, told};
use bench::{Bench, Said, Web};

pub(super) fn judge(case: &Case) -> Answers {
    let answers = once(case, ask);
    let expected = |key: &str| &case.expect[key];
    answers
        .into_iter()
        .map(|(key, raw)| (key.clone(), bounded(&key, expected(&key), raw)))
        .collect()
}

fn ask(case: &Case) -> Answers {
    match case.area.as_str() {
        "redirect" => redirect::ask(case),
        "rate-limit" => rate_limit::ask(case),
        "frontier/resume" => frontier::ask(case),
        _ => traps::ask(case),
    }
}

/// The expected bound, if the number keeps to it. Of requests that must not be made, those that
/// were not.
fn bounded(key: &str, expect: &Value, raw: Value) -> Value {
    let least = key.ends_with("_min") || key.starts_with("min_");
    let most = key.ends_with("_max") || key == "small_done_within_requests";
    match (expect, &raw) {
        (Value::Number(bound), Value::Number(number)) if least || most => {
            let (bound, number) = (bound.as_f64().unwrap(), number.as_f64().unwrap());
            let kept = if most { number <= bound } else { number >= bound };
            if kept { expect.clone() } else { raw }
        }
        (Value::Array(unwanted), Value::Array(made)) if key == "must_not_request" => {
            unwanted.iter().filter(|url| !made.contains(url)).cloned().collect()
        }
        (Value::Object(expect), Value::Object(numbers)) => {
            let numbers = numbers.iter().map(|(name, number)| {
                let range = expect.get(name).unwrap_or(&Value::Null);
                (name.clone(), in_range(range, number))
            });
            Value::Object(numbers.collect())
        }
        _ => raw,
    }
}

/// The expected range, least and most, if the number is in it.
fn in_range(range: &Value, number: &Value) -> Value {
    match range.as_array().map(Vec::as_slice) {
        Some([least, most])
            if number.as_u64() >= least.as_u64() && number.as_u64() <= most.as_u64() =>
        {
            range.clone()
        }
        _ => number.clone(),
    }
}

/// Runs under a held clock, which goes on by itself when nobody has anything to do.
fn held<R>(crawling: impl Future<Output = R>) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(crawling)
}

fn seconds(time: Duration) -> Value {
    match time.subsec_millis() {
        0 => json!(time.as_secs()),
        _ => json!(time.as_secs_f64()),
    }
}
