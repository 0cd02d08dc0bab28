//! Area url: addresses and their forms.

use std::collections::BTreeSet;

use comity::urls::{DedupeRules, dedupe_form, normalise};
use comity_compliance::Site;
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, strings};

/// The one parameter that a case has the operator strip.
const STRIPPED: &str = "jsessionid";

pub(super) fn judge(case: &Case) -> Answers {
    let parsed =
        || strings(&case.input["urls"]).map(|text| (text.to_owned(), Url::parse(text).ok()));
    let each = |answer: &dyn Fn(&Url) -> String| -> Value {
        let answers = parsed().map(|(text, url)| (text, json!(url.as_ref().map(answer))));
        Value::Object(answers.collect())
    };
    let rules = DedupeRules { strip: vec![STRIPPED.into()], ..DedupeRules::keep_all() };
    let first = parsed().next().and_then(|(_, url)| url);
    let stripped = first.map(|url| dedupe_form(&url, &rules).to_string());
    let forms = parsed().map(|(_, url)| url.map(|url| dedupe_form(&url, &DedupeRules::default())));
    let answers = [
        ("normal", each(&|url| normalise(url).into())),
        ("host_key", each(&|url| Site::of(url).unwrap().to_string())),
        ("with_rule", json!({ "strip": STRIPPED, "normal": stripped })),
        ("fetch_once", (forms.collect::<BTreeSet<_>>().len() == 1).into()),
    ];
    answers.map(|(key, answer)| (key.to_owned(), answer)).into_iter().collect()
}
