//! What an answer's header lines say of its page: `Link` (RFC 8288) and `Refresh`.

use encoding_rs::UTF_8;
use url::Url;

use super::links::kind_of_link_element;
use super::resolve::{Resolver, only};
use super::{Link, LinkKind, Refresh, ScanLimits, parse_refresh};

/// What the header lines say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HeaderLinks {
    /// The address that they name as canonical (LK-004); none if they name several that differ.
    pub canonical: Option<Url>,
    /// Alternates and neighbours, in order (LK-006).
    pub links: Vec<Link>,
    /// Where the page says it has moved (LK-005).
    pub refresh: Option<Refresh>,
}

/// Reads the `Link` lines and the `Refresh` line of an answer to a request for `url`.
///
/// Of a link that names another page as its context (`anchor`) nothing is taken, and of a
/// canonical one with hreflang, lang, media or type neither (LK-004). What cannot be read ends
/// its line. No more than [`ScanLimits::links`] are kept.
pub fn header_links<'l>(
    lines: impl IntoIterator<Item = &'l str>,
    refresh: Option<&str>,
    url: &Url,
    limits: &ScanLimits,
) -> HeaderLinks {
    let resolver = Resolver::new(None, UTF_8, url);
    let resolve = |address: &str| {
        let resolved = resolver.resolve(address).filter(|_| address.len() <= limits.url_bytes)?;
        (resolved.as_str().len() <= limits.url_bytes).then_some(resolved)
    };
    let values = lines.into_iter().flat_map(Values).take(limits.links);
    let own = values.filter(|value| {
        value.parameter("anchor").is_none_or(|anchor| resolve(anchor).as_ref() == Some(url))
    });
    let mut found = HeaderLinks::default();
    let mut canonicals = Vec::new();
    for value in own {
        let rel = value.parameter("rel").unwrap_or_default();
        let (Some(kind), Some(target)) = (kind_of_link_element(rel), resolve(value.address)) else {
            continue;
        };
        let hreflang = value.parameter("hreflang").unwrap_or_default().to_owned();
        if kind != LinkKind::Canonical {
            let (rel, anchor) = (rel.to_owned(), String::new());
            found.links.push(Link { url: target, rel, hreflang, kind, anchor, is_hidden: false });
        } else if !["hreflang", "lang", "media", "type"].iter().any(|key| value.has(key)) {
            canonicals.push(target);
        }
    }
    found.canonical = only(canonicals.into_iter());
    found.refresh = refresh.and_then(parse_refresh).and_then(|(delay_s, address)| {
        let url = resolve(address)?;
        Some(Refresh { delay_s, url })
    });
    found
}

/// One link of a line: `<address>; name=value; name="value"`.
struct Value<'l> {
    address: &'l str,
    parameters: Vec<(&'l str, &'l str)>,
}

impl<'l> Value<'l> {
    /// The first parameter of this name: of several, the others are ignored (RFC 8288 3.3).
    fn parameter(&self, name: &str) -> Option<&'l str> {
        let named = |(other, _): &&(&str, &str)| other.eq_ignore_ascii_case(name);
        self.parameters.iter().find(named).map(|(_, value)| *value)
    }

    fn has(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }
}

/// The links of what is left of a line.
struct Values<'l>(&'l str);

impl<'l> Iterator for Values<'l> {
    type Item = Value<'l>;

    fn next(&mut self) -> Option<Value<'l>> {
        let text = self.0.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let (address, mut rest) = text.strip_prefix('<')?.split_once('>')?;
        let mut parameters = Vec::new();
        loop {
            rest = rest.trim_ascii_start();
            let Some(after) = rest.strip_prefix(';') else { break };
            let (parameter, after) = parameter(after.trim_ascii_start());
            parameters.extend(parameter);
            rest = after;
        }
        self.0 = rest;
        Some(Value { address: address.trim_ascii(), parameters })
    }
}

/// A parameter's name and value, and what follows it. Escapes in a quoted value stay: no value
/// that is asked for here has any.
fn parameter(text: &str) -> (Option<(&str, &str)>, &str) {
    let end = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let name = name.trim_ascii();
    let Some(value) = rest.strip_prefix('=') else {
        return ((!name.is_empty()).then_some((name, "")), rest);
    };
    let value = value.trim_ascii_start();
    if let Some(quoted) = value.strip_prefix('"') {
        let mut is_escaped = false;
        let end = quoted.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let (value, rest) =
            quoted.split_at_checked(end.unwrap_or(quoted.len())).unwrap_or_default();
        return (Some((name, value)), rest.strip_prefix('"').unwrap_or(rest));
    }
    let end = value.find([';', ',']).unwrap_or(value.len());
    let (value, rest) = value.split_at_checked(end).unwrap_or_default();
    (Some((name, value.trim_ascii())), rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(lines: &[&str]) -> HeaderLinks {
        let url = Url::parse("https://example.com/a/b").unwrap();
        header_links(lines.iter().copied(), None, &url, &ScanLimits::default())
    }

    /// LK-004: one line, one case: the lines, and what they name as canonical.
    #[test]
    fn canonical_lines() {
        let cases: [(&[&str], Option<&str>); 16] = [
            (&["<https://example.com/c>; rel=\"canonical\""], Some("https://example.com/c")),
            (&["</c>;rel=canonical"], Some("https://example.com/c")),
            (&["<c#part> ; REL = Canonical"], Some("https://example.com/a/c")),
            (&["</x>; rel=next, </c>; rel=canonical"], Some("https://example.com/c")),
            (&["</x,y>; title=\"a, <b>; rel=canonical\"; rel=next"], None),
            (&["</c>; title=\"a \\\" b\"; rel=canonical"], Some("https://example.com/c")),
            (&["</c>; rel=\"prefetch canonical\""], Some("https://example.com/c")),
            (&["</c>; rel=next; rel=canonical"], None),
            (&["</c>; rel=canonical", "</c>; rel=canonical"], Some("https://example.com/c")),
            (&["</c>; rel=canonical, </d>; rel=canonical"], None),
            (&["</c>; rel=canonical; hreflang=de"], None),
            (&["</c>; rel=canonical; media=print"], None),
            (&["</c>; rel=canonical; anchor=\"/other\""], None),
            (&["</c>; rel=canonical; anchor=\"/a/b\""], Some("https://example.com/c")),
            (&["<ftp://example.com/c>; rel=canonical"], None),
            (&["/c; rel=canonical", "<", "<c", ";;,"], None),
        ];
        for (lines, expect) in cases {
            let found = read(lines);
            assert_eq!(found.canonical.as_ref().map(Url::as_str), expect, "{lines:?}");
        }
    }

    /// LK-006: language versions by header.
    #[test]
    fn alternate_lines() {
        let found = read(&[
            "</de>; rel=alternate; hreflang=de, </>; rel=\"alternate\"; hreflang=\"x-default\"",
            "</3>; rel=next, </style>; rel=\"alternate stylesheet\"",
        ]);
        let found: Vec<_> = found
            .links
            .iter()
            .map(|link| (link.kind, link.url.path(), link.hreflang.as_str()))
            .collect();
        let expect = [
            (LinkKind::Alternate, "/de", "de"),
            (LinkKind::Alternate, "/", "x-default"),
            (LinkKind::Sequence, "/3", ""),
        ];
        assert_eq!(found, expect);
    }

    /// LK-005.
    #[test]
    fn refresh_line() {
        let url = Url::parse("https://example.com/a/b").unwrap();
        let read = |line| header_links([], Some(line), &url, &ScanLimits::default()).refresh;
        let refresh = read("0; url=c").unwrap();
        assert_eq!((refresh.delay_s, refresh.url.as_str()), (0, "https://example.com/a/c"));
        assert_eq!(read("5"), None);
        assert_eq!(read("0; url=javascript:x"), None);
    }

    proptest! {
        #[test]
        fn any_line_ends(line in "[<>;,=\"\\\\a é]{0,60}|\\PC{0,40}") {
            let _ = read(&[&line, &line]);
        }
    }
}
