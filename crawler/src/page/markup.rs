//! Small readings of markup, apart from the pass that asks for them.

use std::borrow::Cow;

use lol_html::html_content::{Doctype, Element};

use super::names::{MASKED_MATH, MASKED_NOSCRIPT, MASKED_SVG};

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

/// Gives two kinds of element another name of the same length, so that `lol_html` reads them as
/// what they are here.
///
/// It takes the content of `noscript` for raw text, as a browser with scripts does; nothing here
/// runs scripts, so it is markup (HTML standard 13.2.6.4.7). And it takes `<svg/>` and `<math/>`
/// for open, and then the scripts behind them for markup.
pub(super) fn mask_names(html: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut copied = 0;
    for (at, _) in html.match_indices('<') {
        let behind = html.get(at + 1..).unwrap_or_default();
        let name = behind.strip_prefix('/').unwrap_or(behind);
        let is_end_tag = name.len() < behind.len();
        let counts = |mask: &&str| !is_end_tag || *mask == MASKED_NOSCRIPT;
        if let Some(mask) = mask_of(name).filter(counts) {
            let name_at = html.len() - name.len();
            masked.push_str(html.get(copied..name_at).unwrap_or_default());
            masked.push_str(mask);
            copied = name_at + mask.len();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    masked.push_str(html.get(copied..).unwrap_or_default());
    Cow::Owned(masked)
}

/// What the tag that begins here is to be called instead.
fn mask_of(tag: &str) -> Option<&'static str> {
    let is =
        |name: &str| tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if is("noscript") {
        return Some(MASKED_NOSCRIPT);
    }
    let mask = if is("svg") {
        MASKED_SVG
    } else if is("math") {
        MASKED_MATH
    } else {
        return None;
    };
    let rest = tag.get(mask.len()..)?;
    let attributes = rest.split(['<', '>']).next()?;
    let is_closed = attributes.ends_with('/') && rest.get(attributes.len()..)?.starts_with('>');
    let is_whole_name = rest.starts_with(|c: char| c == '/' || c.is_ascii_whitespace());
    (is_closed && is_whole_name).then_some(mask)
}

/// An attribute's value with its character references resolved.
pub(super) fn attribute(tag: &Element<'_, '_>, name: &str) -> Option<String> {
    let value = tag.get_attribute(name)?;
    Some(match htmlize::unescape_attribute(value.as_str()) {
        Cow::Borrowed(_) => value,
        Cow::Owned(unescaped) => unescaped,
    })
}

/// Whether a doctype means the standard's own rules. Of the old ones that have a public
/// identifier, those without a system identifier mean quirks (HTML standard 13.2.6.4.1).
pub(super) fn has_standards_mode(doctype: &Doctype<'_>) -> bool {
    let is_html = doctype.name().is_some_and(|name| name.eq_ignore_ascii_case("html"));
    let is_old = doctype.public_id().is_some() && doctype.system_id().is_none();
    is_html && !is_old
}

/// Whether an `annotation-xml` says that it holds HTML (HTML standard 13.2.6).
pub(super) fn holds_html(tag: &Element<'_, '_>) -> bool {
    attribute(tag, "encoding").is_some_and(|encoding| {
        encoding.eq_ignore_ascii_case("text/html")
            || encoding.eq_ignore_ascii_case("application/xhtml+xml")
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
        && name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'));
    is_token && !NOT_FOR_ROBOTS.iter().any(|other| name.eq_ignore_ascii_case(other))
}
