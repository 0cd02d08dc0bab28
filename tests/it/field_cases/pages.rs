//! Areas meta, xrobots, snippet and dates: a response's lines and page, read and judged.

use comity::page::{LinkKind, Page, ScanLimits, scan};
use comity_compliance::robots::RobotsTxt;
use comity_compliance::{
    Directives, Follow, ImagePreview, Limit, Publication, Terms, Timestamp, judge_link, parse_date,
};
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, NOW, header_lines, strings, text};

pub(super) fn judge(case: &Case) -> Answers {
    let page = read_page(&case.input);
    let directives = read_rules(case, &case.input, &page);
    let mut answers = flags(&directives);
    let unseen = forbidden(case);
    if unseen {
        // What robots.txt forbids is not fetched, so nothing is known of its rules (RM-043).
        answers.insert("noindex".into(), "unknown".into());
    }
    answers.insert("fetched".into(), (!unseen).into());
    limits(&mut answers, &directives);
    dates(&mut answers, case, &directives);
    links(&mut answers, &page, &directives);
    others(&mut answers, case, &directives);
    snippet(&mut answers, case, &page, &directives);
    answers
}

fn read_page(response: &Value) -> Page {
    let url = Url::parse(text(response, "url")).unwrap_or_else(|_| panic!("{response}"));
    let html = text(response, "html");
    let kind = if html.is_empty() { "application/pdf" } else { "text/html; charset=utf-8" };
    scan(html.as_bytes(), Some(kind), &url, &ScanLimits::default())
}

pub(super) fn read_rules(case: &Case, response: &Value, page: &Page) -> Directives {
    let identity = case.identity();
    let mut collector = Directives::for_identity(&identity, NOW);
    for line in header_lines(&response["headers"], "x-robots-tag") {
        collector.header_line(&line);
    }
    for tag in &page.robots_meta {
        collector.meta(&tag.name, &tag.content);
    }
    collector.finish()
}

fn forbidden(case: &Case) -> bool {
    let Some(robots) = case.input["robots"].as_str() else { return false };
    let url = Url::parse(text(&case.input, "url")).unwrap();
    let verdict =
        RobotsTxt::parse(robots.as_bytes()).verdict(case.policy.preset, &[case.token()], &url);
    verdict.access == comity_compliance::robots::Access::Disallow
}

pub(super) fn flags(directives: &Directives) -> Answers {
    let flags = [
        ("noindex", directives.noindex()),
        ("prefer_noindex", directives.noindex()),
        ("nofollow", directives.nofollow()),
        ("nosnippet", directives.nosnippet()),
        ("noimageindex", directives.no_image_index()),
        ("notranslate", directives.no_translate()),
        ("indexifembedded", directives.index_if_embedded()),
    ];
    flags.map(|(name, rule)| (name.to_owned(), rule.is_some().into())).into_iter().collect()
}

fn limits(answers: &mut Answers, directives: &Directives) {
    let number = |limit| match limit {
        Limit::AtMost(number) => i64::from(number),
        Limit::Unlimited => -1,
    };
    let size = |size| match size {
        ImagePreview::None => "none",
        ImagePreview::Standard => "standard",
        ImagePreview::Large => "large",
    };
    let snippet = directives.max_snippet().map(|(limit, _)| number(limit));
    let video = directives.max_video_preview().map(|(limit, _)| number(limit));
    let image = directives.max_image_preview().map(|(limit, _)| size(limit));
    answers.insert("max_snippet".into(), json!(snippet));
    answers.insert("max_video_preview".into(), json!(video));
    answers.insert("max_image_preview".into(), json!(image));
}

fn dates(answers: &mut Answers, case: &Case, directives: &Directives) {
    let instant = directives.unavailable_after().map(|(instant, _)| instant.to_string());
    // A day without an hour leaves the instant within it open.
    let told = match (&case.expect["unavailable_after"], instant) {
        (Value::String(day), Some(instant)) if !day.contains('T') && instant.starts_with(day) => {
            json!(day)
        }
        (Value::String(word), _) if word == "ambiguous" => json!(word),
        (_, instant) => json!(instant),
    };
    answers.insert("unavailable_after".into(), told);
    let asked = case.expect["at"].as_object().into_iter().flatten();
    let shown = |at: &str| Publication::of(directives, instant_of(at)).terms().is_some();
    let at: Answers = asked.map(|(at, _)| (at.clone(), shown(at).into())).collect();
    answers.insert("at".into(), at.into());
}

fn instant_of(text: &str) -> Timestamp {
    parse_date(text, NOW).unwrap()
}

fn links(answers: &mut Answers, page: &Page, directives: &Directives) {
    let hyperlinks = || page.links.iter().filter(|link| link.kind == LinkKind::Hyperlink);
    let followed = hyperlinks().filter(|link| judge_link(directives, &link.rel) == Follow::Yes);
    answers.insert("links".into(), hyperlinks().map(|link| link.url.as_str()).collect());
    answers.insert("follow_links".into(), followed.map(|link| link.url.as_str()).collect());
    let canonical = page.canonical.as_ref().map_or("conflict", Url::as_str);
    answers.insert("canonical".into(), canonical.into());
}

/// The other responses of a case: each is judged by its own lines.
fn others(answers: &mut Answers, case: &Case, directives: &Directives) {
    let noindex = |response: &Value| {
        let mut response = response.clone();
        if response["url"].is_null() {
            response["url"] = case.input["location"].clone();
        }
        json!(read_rules(case, &response, &read_page(&response)).noindex().is_some())
    };
    let own = json!(directives.noindex().is_some());
    if !case.input["then"].is_null() {
        answers.insert("target_noindex".into(), noindex(&case.input["then"]));
        answers.insert("redirect_url_noindex".into(), own.clone());
    }
    if !case.input["page"].is_null() {
        answers.insert("page_noindex".into(), noindex(&case.input["page"]));
        answers.insert("image_noindex".into(), own);
    }
}

fn snippet(answers: &mut Answers, case: &Case, page: &Page, directives: &Directives) {
    let shown = Terms::of(directives).snippet.cut(&page.snippet_text);
    let with = |key: &str, wanted: bool| {
        strings(&case.expect[key]).filter(|piece| shown.contains(*piece) == wanted).collect()
    };
    answers.insert("snippet_may_contain".into(), with("snippet_may_contain", true));
    answers.insert("snippet_must_not_contain".into(), with("snippet_must_not_contain", false));
    let kinds = page.structured_data.iter().map(|script| {
        let data: Value = serde_json::from_str(script).unwrap();
        data["@type"].clone()
    });
    answers.insert("structured_data".into(), kinds.collect());
}
