//! Small readings of markup, apart from the pass that asks for them.

use super::tokens::{Tag, starts_with};

/// Names of meta tags that look like product tokens and are none; leaving them out keeps room.
const NOT_FOR_ROBOTS: [&str; 12] = [
    "application-name",
    "author",
    "color-scheme",
    "copyright",
    "description",
    "format-detection",
    "generator",
    "keywords",
    "referrer",
    "theme-color",
    "title",
    "viewport",
];

/// Whether a doctype means the standard's own rules. Of the old ones that have a public
/// identifier, those without a system identifier mean quirks (HTML standard 13.2.6.4.1).
pub(super) fn has_standards_mode(doctype: &str) -> bool {
    let mut words = doctype.trim_ascii_start().splitn(2, |c: char| c.is_ascii_whitespace());
    let is_html = words.next().is_some_and(|name| name.eq_ignore_ascii_case("html"));
    let rest = words.next().unwrap_or_default().trim_ascii_start();
    let is_old = starts_with(rest, "public") && !has_two_literals(rest);
    is_html && !is_old
}

fn has_two_literals(identifiers: &str) -> bool {
    let after_literal = |text: &'_ str| -> Option<usize> {
        let open = text.find(['"', '\''])?;
        let quote = text.as_bytes().get(open).map(|byte| char::from(*byte))?;
        let inside = text.get(open + 1..)?;
        Some(open + 1 + inside.find(quote)? + 1)
    };
    let second = after_literal(identifiers).and_then(|end| identifiers.get(end..));
    second.is_some_and(|rest| rest.contains(['"', '\'']))
}

/// Whether an `annotation-xml` says that it holds HTML (HTML standard 13.2.6).
pub(super) fn holds_html(tag: &Tag<'_>) -> bool {
    tag.attribute("encoding").is_some_and(|encoding| {
        encoding.eq_ignore_ascii_case("text/html")
            || encoding.eq_ignore_ascii_case("application/xhtml+xml")
    })
}

/// Whether a meta tag's name could be `robots` or a product token (RM-005, RFC 9309 2.2.1).
pub(super) fn may_be_for_robots(name: &str) -> bool {
    let is_token = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'));
    is_token && !NOT_FOR_ROBOTS.iter().any(|other| name.eq_ignore_ascii_case(other))
}
