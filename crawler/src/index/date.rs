//! When a page changed last, as far as it can be believed.

use comity_compliance::{Timestamp, parse_date, parse_http_date};
use serde_json::Value;

use crate::page::Page;

/// What is dated further ahead than clocks go wrong is not believed.
const AHEAD_MS: i64 = 86_400_000;

/// JSON inside JSON that is looked at for dates.
const DEPTH_MAX: usize = 4;

/// When a page that was fetched at `now` changed last: by its own markup, by its JSON-LD, by its
/// `Last-Modified` header. Of what each says, the last change comes before publication.
pub fn dated(page: &Page, last_modified: Option<&str>, now: Timestamp) -> Option<Timestamp> {
    let is_past = |at: &Timestamp| at.as_millis() <= now.as_millis().saturating_add(AHEAD_MS);
    let read = |text: &str| parse_date(text, now).filter(is_past);
    let mut written = [&page.dates.modified, &page.dates.published].into_iter().flatten();
    written
        .find_map(|text| read(text))
        .or_else(|| in_json(page).find_map(|text| read(&text)))
        .or_else(|| last_modified.and_then(|text| parse_http_date(text, now)).filter(is_past))
}

/// The dates of a page's JSON-LD, those of changes first.
fn in_json(page: &Page) -> impl Iterator<Item = String> {
    let (mut modified, mut published) = (Vec::new(), Vec::new());
    // Most of it says nothing of dates, and need not be read.
    let texts = page.structured_data.iter().filter(|json| json.contains("\"date"));
    for value in texts.filter_map(|json| serde_json::from_str::<Value>(json).ok()) {
        collect(&value, "dateModified", DEPTH_MAX, &mut modified);
        collect(&value, "datePublished", DEPTH_MAX, &mut published);
    }
    modified.into_iter().chain(published)
}

fn collect(value: &Value, name: &str, depth: usize, dates: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, depth, dates)),
        Value::Object(object) => {
            dates.extend(object.get(name).and_then(Value::as_str).map(str::to_owned));
            if let Some(graph) = object.get("@graph") {
                collect(graph, name, depth, dates);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::scan;

    /// One line, one case: what stands on the page, its header, and its date.
    #[test]
    fn dates_of_pages() {
        let now = parse_date("2026-12-01", Timestamp::EPOCH).unwrap();
        let header = Some("Tue, 03 Nov 2020 10:00:00 GMT");
        for (html, header, expect) in [
            (
                r#"<meta property="article:published_time" content="2024-03-01T10:00:00Z">"#,
                None,
                Some("2024-03-01T10:00:00Z"),
            ),
            (
                r#"<meta property="article:published_time" content="2024-03-01"><meta property="article:modified_time" content="2025-04-02">"#,
                header,
                Some("2025-04-02"),
            ),
            (r#"<meta name="dcterms.modified" content="2023-01-02">"#, None, Some("2023-01-02")),
            (r#"<META NAME="Date" CONTENT="5 Jan 2022">"#, None, Some("2022-01-05")),
            (
                r#"<time itemprop="datePublished" datetime="2021-05-06">6 May</time>"#,
                None,
                Some("2021-05-06"),
            ),
            (r#"<time pubdate datetime="2021-05-06">6 May</time>"#, None, Some("2021-05-06")),
            (
                r#"<time datetime="2021-05-06">an event</time>"#,
                header,
                Some("2020-11-03T10:00:00Z"),
            ),
            (
                r#"<script type="application/ld+json">{"@type":"Article","datePublished":"2019-01-01","dateModified":"2019-02-02"}</script>"#,
                header,
                Some("2019-02-02"),
            ),
            (
                r#"<script type="application/ld+json">{"@graph":[{"datePublished":"2018-01-01"}]}</script>"#,
                None,
                Some("2018-01-01"),
            ),
            (
                r#"<script type="application/ld+json">{"event":{"datePublished":"2018-01-01"}}</script>"#,
                None,
                None,
            ),
            (r#"<meta property="article:published_time" content="2099-01-01">"#, None, None),
            (
                r#"<meta property="article:published_time" content="yesterday">"#,
                header,
                Some("2020-11-03T10:00:00Z"),
            ),
            ("", header, Some("2020-11-03T10:00:00Z")),
            ("", Some("tomorrow"), None),
        ] {
            let url = url::Url::parse("https://example.org/").unwrap();
            let page = scan(html.as_bytes(), Some("text/html"), &url, &Default::default());
            let expect = expect.map(|text| parse_date(text, now).unwrap());
            assert_eq!(dated(&page, header, now), expect, "{html} {header:?}");
        }
    }
}
