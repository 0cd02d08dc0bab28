//! One form for all spellings of one page.

use url::Url;

use super::normalise;
use super::parameters::{is_session, is_tracking, name_and_value};

/// What becomes of parameters that say nothing about the page.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Needless {
    /// They are taken out.
    #[default]
    Strip,
    /// They stay.
    Keep,
}

/// Which parameters take no part in telling pages apart.
///
/// No authority says which could go, so this is the operator's choice. By default the names that
/// advertising and analytics use go, for they say where a reader came from; and so do session
/// numbers, for they say who he is. Names with other meanings, such as `sid`, go only with a value
/// that looks drawn by lot. All other parameters stay, in their order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DedupeRules {
    /// Parameters of advertising and analytics.
    pub tracking: Needless,
    /// Numbers of sessions, in the query or behind a `;` of the path.
    pub sessions: Needless,
    /// Names of further parameters to take out, ASCII case ignored.
    pub strip: Vec<String>,
}

impl DedupeRules {
    /// Takes nothing out.
    pub fn keep_all() -> Self {
        Self { tracking: Needless::Keep, sessions: Needless::Keep, strip: Vec::new() }
    }

    fn strips(&self, parameter: &str) -> bool {
        let (name, value) = name_and_value(parameter);
        self.strip.iter().any(|other| other.eq_ignore_ascii_case(name))
            || (self.tracking == Needless::Strip && is_tracking(name))
            || (self.sessions == Needless::Strip && is_session(name, value))
    }
}

/// The form that all spellings of one page share: the normal form without an empty query and
/// without needless parameters. A crawl asks for a page by this form, so it asks once.
///
/// What only a server can know stays apart: `/` and `/index.html`, `http` and `https`, the order
/// of parameters. Doing it twice changes nothing.
pub fn dedupe_form(url: &Url, rules: &DedupeRules) -> Url {
    let mut form = normalise(url);
    if !matches!(form.scheme(), "http" | "https") {
        return form;
    }
    if let Some(path) = without_needless(form.path(), rules) {
        form.set_path(&path);
    }
    let kept = form.query().map(|query| {
        let kept = query.split('&').filter(|piece| !rules.strips(piece));
        kept.collect::<Vec<_>>().join("&")
    });
    if form.query() != kept.as_deref() || kept.as_deref() == Some("") {
        form.set_query(kept.as_deref().filter(|query| !query.is_empty()));
    }
    form
}

/// The path without needless parameters of its segments, each of which ends at the next `;` or
/// `/` (RFC 3986 3.3); none if that changes nothing.
fn without_needless(path: &str, rules: &DedupeRules) -> Option<String> {
    if !path.contains(';') {
        return None;
    }
    let segments = path.split('/').map(|segment| {
        let mut parts = segment.split(';');
        let name = parts.next().unwrap_or_default();
        let kept = parts.filter(|parameter| !rules.strips(parameter));
        std::iter::once(name).chain(kept).collect::<Vec<_>>().join(";")
    });
    let kept = segments.collect::<Vec<_>>().join("/");
    (kept != path).then_some(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn form(path: &str, rules: &DedupeRules) -> String {
        let url = Url::parse("https://example.com").unwrap().join(path).unwrap();
        dedupe_form(&url, rules).as_str().strip_prefix("https://example.com").unwrap().to_owned()
    }

    /// One line, one case: a path, and its form by default.
    #[test]
    fn forms() {
        let cases = [
            ("/?", "/"),
            ("/a?#b", "/a"),
            ("/a?utm_source=x&utm_medium=y", "/a"),
            ("/a?id=1&utm_source=x", "/a?id=1"),
            ("/a?gclid=x&id=1&fbclid=y&b", "/a?id=1&b"),
            ("/a?utm%5Fsource=x&b=1", "/a?b=1"),
            ("/a?&pg=2", "/a?&pg=2"),
            ("/a?b=1&a=2", "/a?b=1&a=2"),
            ("/a?q=utm_source=x", "/a?q=utm_source=x"),
            ("/p?sid=0a1b2c3d4e5f60718&x=1", "/p?x=1"),
            ("/news?sid=123", "/news?sid=123"),
            ("/app;jsessionid=E46A.node_2?p=v", "/app?p=v"),
            ("/app;v=1;JSESSIONID=E46A/b;c", "/app;v=1/b;c"),
            ("/a/..;jsessionid=1/b", "/b"),
            ("/index.html", "/index.html"),
            ("//a", "//a"),
            ("/%7ea%2fb?x=%c3%a9", "/~a%2Fb?x=%C3%A9"),
        ];
        for (path, expect) in cases {
            let base = Url::parse(&format!("https://example.com{path}")).unwrap();
            let shown = dedupe_form(&base, &DedupeRules::default());
            assert_eq!(shown.as_str().strip_prefix("https://example.com"), Some(expect), "{path}");
        }
    }

    #[test]
    fn the_operator_decides() {
        let path = "/a;jsessionid=1?utm_source=x&ref=y&PHPSESSID=2&View=grid";
        let cases = [
            (DedupeRules::keep_all(), path),
            (DedupeRules::default(), "/a?ref=y&View=grid"),
            (
                DedupeRules { strip: vec!["ref".into(), "view".into()], ..DedupeRules::keep_all() },
                "/a;jsessionid=1?utm_source=x&PHPSESSID=2",
            ),
            (
                DedupeRules { tracking: Needless::Keep, ..DedupeRules::default() },
                "/a?utm_source=x&ref=y&View=grid",
            ),
        ];
        for (rules, expect) in cases {
            assert_eq!(form(path, &rules), expect, "{rules:?}");
        }
    }

    proptest! {
        #[test]
        fn a_form_is_its_own(
            parts in proptest::collection::vec(
                prop_oneof![
                    "[ -~é]{0,6}",
                    "/|;|&|=|\\?|%2[eEfF]|\\.\\.?|utm_a=|jsessionid=|sid=0a1b2c3d4e5f60718|gclid",
                ],
                0..12,
            ),
        ) {
            if let Ok(url) = Url::parse(&format!("http://example.org/{}", parts.concat())) {
                let once = dedupe_form(&url, &DedupeRules::default());
                prop_assert_eq!(dedupe_form(&once, &DedupeRules::default()), once);
            }
        }
    }
}
