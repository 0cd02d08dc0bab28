//! Area charset: pages in every encoding, as bytes.

use comity::page::{LinkKind, ScanLimits, scan};
use comity_compliance::{Follow, judge_link};
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, bytes, header_lines, pages, text};

pub(super) fn judge(case: &Case) -> Answers {
    let url = Url::parse(case.input["url"].as_str().unwrap_or("https://example.com/")).unwrap();
    let content_type = header_lines(&case.input["headers"], "content-type").next().unwrap();
    let content_type = String::from_utf8(content_type).unwrap();
    let page = scan(&body(&case.input), Some(&content_type), &url, &ScanLimits::default());
    let directives = pages::read_rules(case, &case.input, &page);
    let mut answers = pages::flags(&directives);
    let links = page.links.iter().filter(|link| link.kind == LinkKind::Hyperlink);
    let followed = links.filter(|link| judge_link(&directives, &link.rel) == Follow::Yes);
    answers.insert("follow".into(), followed.map(|link| link.url.as_str()).collect());
    answers.insert("encoding".into(), page.charset.to_ascii_lowercase().into());
    answers.insert("title".into(), json!(page.title));
    // The one declaration that must not count names GBK.
    let declared = (page.charset == "GBK").then_some("gbk");
    answers.insert("encoding_declared".into(), json!(declared));
    answers
}

fn body(input: &Value) -> Vec<u8> {
    let parts = &input["body_gen"];
    if parts.is_null() {
        return bytes(&input["body_b64"]);
    }
    let size = usize::try_from(parts["size"].as_u64().unwrap()).unwrap();
    let filler = text(parts, "filler").repeat(size);
    [
        text(parts, "head").as_bytes(),
        filler.as_bytes(),
        text(parts, "tail").as_bytes(),
        &bytes(&parts["tail_b64"]),
    ]
    .concat()
}
