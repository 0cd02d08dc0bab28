//! Small readings of markup, apart from the pass that asks for them.

use std::borrow::Cow;

use lol_html::html_content::Element;

use super::names::MASKED_NOSCRIPT;

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

/// `lol_html` takes `noscript` for raw text, as a browser with scripts does. Nothing here runs
/// scripts, so its content is markup (HTML standard 13.2.6.4.7): under another name of the same
/// length it is read as such.
pub(super) fn mask_noscript(html: &str) -> Cow<'_, str> {
    const NOSCRIPT: &str = "noscript";
    let mut masked = String::new();
    let mut copied = 0;
    for (at, _) in html.match_indices('<') {
        let behind = html.get(at + 1..).unwrap_or_default();
        let slash = usize::from(behind.starts_with('/'));
        let name = at + 1 + slash..at + 1 + slash + NOSCRIPT.len();
        let is_noscript = html
            .get(name.clone())
            .is_some_and(|name| name.eq_ignore_ascii_case(NOSCRIPT));
        if is_noscript {
            masked.push_str(html.get(copied..name.start).unwrap_or_default());
            masked.push_str(MASKED_NOSCRIPT);
            copied = name.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    masked.push_str(html.get(copied..).unwrap_or_default());
    Cow::Owned(masked)
}

/// An attribute's value with its character references resolved.
pub(super) fn attribute(tag: &Element<'_, '_>, name: &str) -> Option<String> {
    let value = tag.get_attribute(name)?;
    Some(match htmlize::unescape_attribute(value.as_str()) {
        Cow::Borrowed(_) => value,
        Cow::Owned(unescaped) => unescaped,
    })
}

/// What follows the attributes of an end tag, quoted values minded.
pub(super) fn skip_attributes(tag: &str) -> &str {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'>' => return tag.get(at + 1..).unwrap_or_default(),
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None => {}
        }
    }
    ""
}

/// Whether a meta tag's name could be `robots` or a product token (RM-005, RFC 9309 2.2.1).
pub(super) fn may_be_for_robots(name: &str) -> bool {
    let is_token = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'));
    is_token
        && !NOT_FOR_ROBOTS
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other))
}
