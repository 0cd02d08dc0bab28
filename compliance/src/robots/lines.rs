//! From bytes to lines, and from a line to the field that it sets.

use memchr::{memchr, memchr2, memchr3, memrchr2};

/// Octets of a line that are kept; the rest up to the line end is dropped (RT-052).
pub(super) const LINE_OCTETS: usize = 16_663;

pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Spellings that Google's parser takes for each field, as prefixes of the key, the right one
/// first (RT-051, AM-23, AM-25).
const USER_AGENT: &[&str] = &["user-agent", "useragent", "user agent"];
const ALLOW: &[&str] = &["allow"];
const DISALLOW: &[&str] = &["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"];
const SITEMAP: &[&str] = &["sitemap", "site-map"];
const CRAWL_DELAY: &str = "crawl-delay";

/// What a rule says about the URLs it matches.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RuleKind {
    /// They may be accessed.
    Allow,
    /// They must not be accessed.
    Disallow,
}

/// A line that sets a field; comments, empty lines and unknown fields are none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Line<'a> {
    /// From 1.
    pub(super) number: u32,
    pub(super) field: Field<'a>,
    pub(super) grammar: Grammar,
}

/// A field with its value, comment and outer blanks removed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Field<'a> {
    UserAgent(&'a [u8]),
    Rule(RuleKind, &'a [u8]),
    Sitemap(&'a [u8]),
    CrawlDelay(&'a [u8]),
}

/// Who takes the line for what it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Grammar {
    /// RFC 9309 too: exact field name and colon.
    Rfc,
    /// Google's parser only: misspelt, prolonged or without colon.
    GoogleOnly,
}

/// The first `max` octets of a body without its unfinished last line (RT-031, AM-17).
///
/// Give at least one octet more than `max` where there is more: a body that ends at `max` is whole.
pub fn cut(body: &[u8], max: usize) -> &[u8] {
    let Some((kept, rest)) = body.split_at_checked(max) else {
        return body;
    };
    if matches!(rest.first(), None | Some(b'\n' | b'\r')) {
        return kept;
    }
    let end = memrchr2(b'\n', b'\r', kept).map_or(0, |at| at + 1);
    kept.get(..end).unwrap_or_default()
}

/// The lines of a file that set a field, in order.
pub(super) fn read(body: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let body = without_bom(body);
    let has_nul = memchr(0, body).is_some();
    (1u32..).zip(split(body)).filter_map(move |(number, line)| {
        let (field, grammar) = field(significant(line.text, has_nul))?;
        Some(Line { number, field, grammar })
    })
}

/// Every line with its number, from 1, without its end.
pub(super) fn numbered(body: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    (1u32..).zip(split(without_bom(body)).map(|line| line.whole))
}

/// Any part of a byte order mark is skipped, at the start only (RT-041).
pub(super) fn without_bom(body: &[u8]) -> &[u8] {
    let marked = body.iter().zip(BOM).take_while(|(a, b)| a == b).count();
    body.get(marked..).unwrap_or_default()
}

/// A line without its end.
struct RawLine<'a> {
    whole: &'a [u8],
    /// What stands before the comment.
    text: &'a [u8],
}

/// LF, CR and CRLF end a line (RT-040); what follows the last end is a line too.
fn split(body: &[u8]) -> impl Iterator<Item = RawLine<'_>> {
    let mut rest = Some(body);
    let mut after_cr = false;
    core::iter::from_fn(move || {
        loop {
            let lines = rest?;
            let stop = memchr3(b'\n', b'\r', b'#', lines).unwrap_or(lines.len());
            let (text, tail) = lines.split_at_checked(stop)?;
            let end = match tail.first() {
                Some(b'#') => memchr2(b'\n', b'\r', tail),
                Some(_) => Some(0),
                None => None,
            };
            let Some((at, [end, after @ ..])) = end.and_then(|at| Some((at, tail.get(at..)?)))
            else {
                rest = None;
                return Some(RawLine { whole: lines, text });
            };
            let second_half = after_cr && text.is_empty() && tail.first() == Some(&b'\n');
            after_cr = *end == b'\r';
            rest = Some(after);
            if !second_half {
                return Some(RawLine { whole: lines.get(..stop + at)?, text });
            }
        }
    })
}

/// The kept octets up to the first NUL, without outer blanks.
fn significant(line: &[u8], has_nul: bool) -> &[u8] {
    let kept = line.get(..LINE_OCTETS).unwrap_or(line);
    let end = if has_nul { memchr(0, kept) } else { None };
    strip(end.and_then(|end| kept.get(..end)).unwrap_or(kept))
}

/// What a whole line means, up to the first NUL or comment, and the octet that ended it before the
/// line's own end.
pub(super) fn text_and_end(line: &[u8]) -> (&[u8], Option<u8>) {
    let kept = line.get(..LINE_OCTETS).unwrap_or(line);
    let end = memchr2(0, b'#', kept).unwrap_or(kept.len());
    (strip(kept.get(..end).unwrap_or_default()), kept.get(end).copied())
}

pub(super) fn is_blank(octet: u8) -> bool {
    matches!(octet, b'\t'..=b'\r' | b' ')
}

fn strip(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

fn field(line: &[u8]) -> Option<(Field<'_>, Grammar)> {
    if let Some((kind, value)) = plain_rule(line) {
        return Some((Field::Rule(kind, strip(value)), Grammar::Rfc));
    }
    let (key, value, separator) = key_and_value(line)?;
    let (name, spelling) = known_name(key)?;
    let field = match name {
        Name::UserAgent => Field::UserAgent(value),
        Name::Rule(kind) => Field::Rule(kind, value),
        Name::Sitemap => Field::Sitemap(value),
        Name::CrawlDelay => Field::CrawlDelay(value),
    };
    let exact = spelling == name.standard() && key.len() == spelling.len();
    let grammar = match separator {
        Separator::Colon if exact => Grammar::Rfc,
        Separator::Colon | Separator::Blank => Grammar::GoogleOnly,
    };
    Some((field, grammar))
}

/// A field that has an effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Name {
    UserAgent,
    Rule(RuleKind),
    Sitemap,
    CrawlDelay,
}

impl Name {
    /// The documented spelling.
    pub(super) fn standard(self) -> &'static str {
        match self {
            Self::UserAgent => USER_AGENT[0],
            Self::Rule(RuleKind::Allow) => ALLOW[0],
            Self::Rule(RuleKind::Disallow) => DISALLOW[0],
            Self::Sitemap => SITEMAP[0],
            Self::CrawlDelay => CRAWL_DELAY,
        }
    }
}

/// The field that a key stands for, and the accepted spelling that the key begins with.
pub(super) fn known_name(key: &[u8]) -> Option<(Name, &'static str)> {
    let (name, spellings) = match key.first()?.to_ascii_lowercase() {
        b'u' => (Name::UserAgent, USER_AGENT),
        b'a' => (Name::Rule(RuleKind::Allow), ALLOW),
        b'd' => (Name::Rule(RuleKind::Disallow), DISALLOW),
        b's' => (Name::Sitemap, SITEMAP),
        _ => {
            let named = key.eq_ignore_ascii_case(CRAWL_DELAY.as_bytes());
            return named.then_some((Name::CrawlDelay, CRAWL_DELAY));
        }
    };
    let spelling = spellings.iter().find(|spelling| has_prefix(key, spelling))?;
    Some((name, spelling))
}

/// What nearly every line is, told without a search.
fn plain_rule(line: &[u8]) -> Option<(RuleKind, &[u8])> {
    if let Some(value) = after(b"disallow:", line) {
        return Some((RuleKind::Disallow, value));
    }
    after(b"allow:", line).map(|value| (RuleKind::Allow, value))
}

/// What follows a name of known length, which is compared at once.
fn after<'a, const LEN: usize>(name: &[u8; LEN], line: &'a [u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_first_chunk::<LEN>()?;
    // The octets are compared without a branch for each, for which name comes is hard to foretell.
    let differences = start.iter().zip(name).map(|(a, b)| a.to_ascii_lowercase() ^ b);
    (differences.fold(0, |any, one| any | one) == 0).then_some(rest)
}

/// The value of a sitemap line if it is an absolute http(s) URL, as it must be (AM-38).
pub(super) fn absolute_url(value: &[u8]) -> Option<&str> {
    let begins = |scheme: &[u8]| {
        value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let absolute = begins(b"http://") || begins(b"https://");
    absolute.then(|| core::str::from_utf8(value).ok()).flatten()
}

fn has_prefix(key: &[u8], name: &str) -> bool {
    key.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
}

/// What parts a key from its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Separator {
    Colon,
    Blank,
}

/// Parts a line at its first colon, or, where it has none, between exactly two words (AM-24).
pub(super) fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8], Separator)> {
    let (at, separator) = match memchr(b':', line) {
        Some(at) => (at, Separator::Colon),
        None => (memchr2(b' ', b'\t', line)?, Separator::Blank),
    };
    let (key, rest) = line.split_at_checked(at)?;
    let (key, value) = (strip(key), strip(rest.get(1..)?));
    let words = match separator {
        Separator::Colon => true,
        Separator::Blank => memchr2(b' ', b'\t', value).is_none(),
    };
    (words && !key.is_empty()).then_some((key, value, separator))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn line_ends() {
        let cases: [(&[u8], &[&[u8]]); 12] = [
            (b"a#b\nc # d # e\r\n#\n", &[b"a", b"c ", b"", b""]),
            (b"#\r\n\n", &[b"", b"", b""]),
            (b"\r#\n", &[b"", b"", b""]),
            (b"a#", &[b"a"]),
            (b"", &[b""]),
            (b"a\n", &[b"a", b""]),
            (b"a\rb\r\nc\nd", &[b"a", b"b", b"c", b"d"]),
            (b"a\n\rb", &[b"a", b"", b"b"]),
            (b"\r\r\n", &[b"", b"", b""]),
            (b"\n\r\n\n", &[b"", b"", b"", b""]),
            (b"a\r\0\nb", &[b"a", b"\0", b"b"]),
            (b"a\x0Bb\x0C", &[b"a\x0Bb\x0C"]),
        ];
        for (body, expect) in cases {
            assert_eq!(split(body).map(|line| line.text).collect::<Vec<_>>(), expect, "{body:?}");
        }
    }

    /// AM-17, RT-031.
    #[test]
    fn cuts_drop_the_unfinished_line() {
        let cases: [(&[u8], usize, &[u8]); 8] = [
            (b"ab\ncd", 5, b"ab\ncd"),
            (b"ab\ncd", 9, b"ab\ncd"),
            (b"ab\ncd", 4, b"ab\n"),
            (b"ab\ncd", 3, b"ab\n"),
            (b"ab\ncd", 2, b"ab"),
            (b"ab\ncd", 1, b""),
            (b"ab\r\ncd", 3, b"ab\r"),
            (b"ab\ncd", 0, b""),
        ];
        for (body, max, expect) in cases {
            assert_eq!(cut(body, max), expect, "{body:?} {max}");
        }
    }

    #[test]
    fn byte_order_marks() {
        let cases: [(&[u8], &[u8]); 6] = [
            (b"\xEF\xBB\xBFa", b"a"),
            (b"\xEF\xBBa", b"a"),
            (b"\xEFa", b"a"),
            (b"\xBB\xBFa", b"\xBB\xBFa"),
            (b"\xEF\xEF\xBB\xBFa", b"\xEF\xBB\xBFa"),
            (b"\xEF\xBB\xBF\xEF\xBB\xBFa", b"\xEF\xBB\xBFa"),
        ];
        for (body, expect) in cases {
            assert_eq!(without_bom(body), expect, "{body:?}");
        }
    }

    #[test]
    fn fields() {
        use Grammar::{GoogleOnly, Rfc};
        use RuleKind::{Allow, Disallow};
        let cases: [(&str, Option<(Field<'_>, Grammar)>); 16] = [
            ("Allow: /a", Some((Field::Rule(Allow, b"/a"), Rfc))),
            ("DISALLOW:", Some((Field::Rule(Disallow, b""), Rfc))),
            (" user-agent : x # y", Some((Field::UserAgent(b"x"), Rfc))),
            ("Disallow:: /a", Some((Field::Rule(Disallow, b": /a"), Rfc))),
            ("Disalow: /a", Some((Field::Rule(Disallow, b"/a"), GoogleOnly))),
            ("Allowance:/a", Some((Field::Rule(Allow, b"/a"), GoogleOnly))),
            ("Disallow /a", Some((Field::Rule(Disallow, b"/a"), GoogleOnly))),
            ("Disallow \t /a # b", Some((Field::Rule(Disallow, b"/a"), GoogleOnly))),
            ("Disallow /a:b", Some((Field::Rule(Disallow, b"b"), GoogleOnly))),
            ("User agent foo: x", Some((Field::UserAgent(b"x"), GoogleOnly))),
            ("Site-map: x", Some((Field::Sitemap(b"x"), GoogleOnly))),
            ("Crawl-Delay: 3", Some((Field::CrawlDelay(b"3"), Rfc))),
            ("Disallow /a b", None),
            ("user_agent: x", None),
            (": /a", None),
            ("Alow: /a", None),
        ];
        for (line, expect) in cases {
            assert_eq!(field(text_and_end(line.as_bytes()).0), expect, "{line}");
        }
    }
}
