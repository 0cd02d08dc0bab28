//! The pass against the requirement list's vectors and the cases of other crawlers' reports.

mod agree;
mod charset;
mod dom;
mod headings;
mod limits;
mod links;
mod meta;
mod text;
mod tokens;

use url::Url;

use super::*;

fn page_url() -> Url {
    Url::parse("https://example.com/a/b/page.html").unwrap()
}

#[track_caller]
fn scan_html(html: &str) -> Page {
    let limits = ScanLimits::default();
    scan(html.as_bytes(), Some("text/html; charset=utf-8"), &page_url(), &limits)
}

fn head(inside: &str) -> String {
    format!(
        "<!doctype html><html><head><title>t</title>{inside}</head><body><p>x</p></body></html>"
    )
}
