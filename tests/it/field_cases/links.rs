//! Area links: a page's links, read and judged.

use std::collections::BTreeSet;

use comity::page::{Link, LinkKind, ScanLimits, scan};
use comity_compliance::{Directives, Follow, NoFollow, judge_link};
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, NOW, text};

pub(super) fn judge(case: &Case) -> Answers {
    let url = Url::parse(text(&case.input, "url")).unwrap();
    let html = text(&case.input, "html").as_bytes();
    let page = scan(html, Some("text/html; charset=utf-8"), &url, &ScanLimits::default());
    let identity = case.identity();
    let mut collector = Directives::for_identity(&identity, NOW);
    for tag in &page.robots_meta {
        collector.meta(&tag.name, &tag.content);
    }
    let directives = collector.finish();

    let of_kind = |kind| page.links.iter().filter(move |link| link.kind == kind);
    let judged: Vec<_> = of_kind(LinkKind::Hyperlink)
        .map(|link| (&link.url, judge_link(&directives, &link.rel)))
        .collect();
    let with = |follow: Follow| judged.iter().filter(move |(_, judged)| *judged == follow);
    // One link that may be followed is enough for its target.
    let followed: BTreeSet<_> = with(Follow::Yes).map(|(url, _)| *url).collect();
    let left = |reason| {
        let urls = with(Follow::No(reason)).map(|(url, _)| *url);
        urls.filter(|url| !followed.contains(url)).map(Url::as_str)
    };
    let qualified = [
        (NoFollow::RelNoFollow, "nofollow"),
        (NoFollow::RelSponsored, "sponsored"),
        (NoFollow::RelUgc, "ugc"),
    ];
    let qualified = qualified.into_iter().flat_map(|(reason, word)| {
        left(reason).map(move |url| (url.to_owned(), Value::from(word))).collect::<Vec<_>>()
    });
    let refresh = page.meta_refresh.as_ref();
    let refresh = refresh.map(|to| json!({ "url": to.url.as_str(), "delay_s": to.delay_s }));
    let addresses = |links: &mut dyn Iterator<Item = &Link>| -> Value {
        links.map(|link| link.url.as_str()).collect()
    };
    let answers = [
        ("follow", with(Follow::Yes).map(|(url, _)| url.as_str()).collect()),
        ("nofollow", left(NoFollow::RelNoFollow).collect()),
        ("qualified", Value::Object(qualified.collect())),
        ("images", addresses(&mut of_kind(LinkKind::Image))),
        ("refresh", json!(refresh)),
        ("noindex", directives.noindex().is_some().into()),
    ];
    answers.map(|(key, answer)| (key.to_owned(), answer)).into_iter().collect()
}
