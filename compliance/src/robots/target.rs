//! From a URL to the text that rules are matched against.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use memchr::{memchr, memchr3};
use url::{Position, Url};

use super::pattern;

/// Path, parameters and query as Google's parser finds them in any text: nothing is validated,
/// nothing is escaped.
pub(super) fn as_given(url: &[u8]) -> Cow<'_, [u8]> {
    let url = url.strip_prefix(b"//").unwrap_or(url);
    let early = memchr3(b'/', b'?', b';', url).unwrap_or(url.len());
    let search = match pattern::find(url, b"://") {
        Some(at) if at <= early => at + 3,
        _ => 0,
    };
    let rest = url.get(search..).unwrap_or_default();
    let Some(start) = memchr3(b'/', b'?', b';', rest).map(|at| search + at) else {
        return Cow::Borrowed(b"/");
    };
    let end = memchr(b'#', url).unwrap_or(url.len());
    let Some(path) = url.get(start..end) else {
        return Cow::Borrowed(b"/");
    };
    let path = path.get(..memchr(0, path).unwrap_or(path.len())).unwrap_or_default();
    if path.starts_with(b"/") {
        return Cow::Borrowed(path);
    }
    let mut rooted = Vec::with_capacity(path.len() + 1);
    rooted.push(b'/');
    rooted.extend_from_slice(path);
    Cow::Owned(rooted)
}

/// Path and query in RFC 9309's normal form (AM-28, AM-29).
pub(super) fn normalised(url: &Url) -> Cow<'_, [u8]> {
    let text = url[Position::BeforePath..Position::AfterQuery].as_bytes();
    if pattern::is_normal(text) {
        return Cow::Borrowed(text);
    }
    let mut normal = Vec::with_capacity(text.len() + 16);
    pattern::normalise_url(text, &mut normal);
    Cow::Owned(normal)
}

/// Whether it is a robots.txt, which no rule forbids (RT-016, AM-18).
pub(crate) fn is_robots_txt(url: &Url) -> bool {
    url.path() == "/robots.txt" && url.query().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_any_text() {
        let cases = [
            ("", "/"),
            ("a", "/"),
            ("http://h", "/"),
            ("mailto:x", "/"),
            ("a/b", "/b"),
            ("//h/a", "/a"),
            ("///a", "/a"),
            ("////a", "//a"),
            ("http:/a", "/a"),
            ("http:a/b", "/b"),
            ("/x?u=http://y/z", "/x?u=http://y/z"),
            ("http://u;p@h/x", "/;p@h/x"),
            ("//a://b/c", "/c"),
            ("\\a", "/"),
            ("?a", "/?a"),
            ("http://h?a", "/?a"),
            ("http://h#/a", "/"),
            ("http://u#p@h/x", "/"),
            ("http://h/a#b", "/a"),
            ("http://h/a\0b", "/a"),
            ("http://h/a;b?c", "/a;b?c"),
        ];
        for (url, expect) in cases {
            assert_eq!(*as_given(url.as_bytes()), *expect.as_bytes(), "{url:?}");
        }
    }

    /// RT-084, AM-28, AM-29.
    #[test]
    fn normal_forms() {
        let cases = [
            ("https://h", "/"),
            ("https://h/?", "/?"),
            ("https://h/a#b", "/a"),
            ("https://h/%62%61%7A", "/baz"),
            ("https://h/%7etom", "/~tom"),
            ("https://h/a%2fb", "/a%2Fb"),
            ("https://h/\u{30c4}", "/%E3%83%84"),
            ("https://h/a*b$", "/a%2Ab%24"),
            ("https://h/a b?c|d{e}", "/a%20b?c%7Cd%7Be%7D"),
            ("https://h/it's?it's", "/it's?it%27s"),
            ("https://h/%zz%4", "/%zz%4"),
            ("https://h/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ];
        for (url, expect) in cases {
            let url = Url::parse(url).unwrap();
            assert_eq!(*normalised(&url), *expect.as_bytes(), "{url}");
        }
    }
}
