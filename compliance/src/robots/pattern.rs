//! Rule paths: the two ways to write one down, and whether it matches a path.
//!
//! A pattern is kept without its final `$`, which becomes an [`Ending`]; in what is left, `*` is
//! any run of octets.

use alloc::string::String;
use alloc::vec::Vec;

use memchr::{memchr, memmem, memrchr};

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// What must follow where a pattern has matched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// Anything.
    Open,
    /// Nothing: the pattern ends in `$` (RT-082).
    Anchored,
}

/// Parts a rule's value into its text and its ending.
pub(super) fn ending(value: &[u8]) -> (&[u8], Ending) {
    match value {
        [text @ .., b'$'] => (text, Ending::Anchored),
        _ => (value, Ending::Open),
    }
}

/// Appends a pattern as Google's parser keeps it: hex digits upper case, octets past ASCII
/// escaped, nothing decoded, all else as written (AM-30).
pub(super) fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((unit, after)) = next_unit(rest) {
        match unit {
            Unit::Escape(octet) => push_escape(octet, out),
            Unit::Raw(octet) if octet >= 0x80 => push_escape(octet, out),
            Unit::Raw(octet) => out.push(octet),
        }
        rest = after;
    }
}

/// Appends a pattern in RFC 9309's normal form (RT-084, AM-28, AM-29): `*` stays a wildcard,
/// `$` before the end is the octet itself.
pub(super) fn normalise(text: &[u8], out: &mut Vec<u8>) {
    normalise_units(text, Star::Wildcard, out);
}

/// Appends a URL's path and query in the same form: `*` and `$` are the octets themselves.
pub(super) fn normalise_url(text: &[u8], out: &mut Vec<u8>) {
    normalise_units(text, Star::Octet, out);
}

/// Whether [`normalise_url`] would change nothing, judged by octets that never change.
pub(super) fn is_normal(text: &[u8]) -> bool {
    text.iter().copied().all(never_changes)
}

/// Whether `pattern`, whose first `head` octets are known to begin `path` and have no star,
/// matches it.
///
/// Each piece between two stars is sought once, from where the last one ended: the leftmost place
/// leaves the most room for the rest, so nothing is tried twice (RT-094).
pub(super) fn matches(pattern: &[u8], head: usize, ending: Ending, path: &[u8]) -> bool {
    let (Some(rest), Some(pieces)) = (path.get(head..), pattern.get(head..)) else {
        return false;
    };
    let Some(star) = memchr(b'*', pieces) else {
        return match ending {
            Ending::Open => rest.starts_with(pieces),
            Ending::Anchored => rest == pieces,
        };
    };
    let (start, after) = pieces.split_at(star);
    let Some(mut rest) = rest.strip_prefix(start) else {
        return false;
    };
    let mut pieces = after.get(1..).unwrap_or_default();
    while let Some(star) = memchr(b'*', pieces) {
        let (piece, after) = pieces.split_at(star);
        let Some(found) = find(rest, piece) else {
            return false;
        };
        rest = rest.get(found + piece.len()..).unwrap_or_default();
        pieces = after.get(1..).unwrap_or_default();
    }
    match ending {
        Ending::Open => find(rest, pieces).is_some(),
        Ending::Anchored => rest.ends_with(pieces),
    }
}

/// What one look at a text tells.
pub(super) struct Look {
    /// Which kinds of octets it has, a bit of [`KINDS`] for each: a pattern cannot match a path
    /// that lacks one of its kinds. This spares most patterns with stars, whose heads tell little,
    /// the comparison.
    pub(super) kinds: u32,
    /// Whether, as a pattern, it is in both forms already, judged by octets that never change.
    pub(super) has_one_form: bool,
    pub(super) has_star: bool,
}

/// Looks at each octet once.
pub(super) fn look(text: &[u8]) -> Look {
    let of = |octet: &u8| OCTETS.get(usize::from(*octet)).copied();
    let seen = text.iter().filter_map(of).fold(0, |seen, octet| seen | octet);
    Look { kinds: seen & KINDS, has_one_form: seen & MAY_CHANGE == 0, has_star: seen & STAR != 0 }
}

/// The bits that stand for kinds of octets; those below are free for other marks.
pub(super) const KINDS: u32 = !0 << 5;

const MAY_CHANGE: u32 = 1;
const STAR: u32 = 1 << 1;

/// For each octet the bit of its kind, and whether a form may change it.
const OCTETS: [u32; 256] = {
    let mut octets = [0; 256];
    let mut octet = 0u8;
    loop {
        let kind = match octet.to_ascii_lowercase() {
            // Every path has a slash, and a star needs nothing.
            b'/' | b'*' => 0,
            // Four letters are too rare for a bit each, and lend theirs.
            b'j' | b'q' | b'x' | b'z' => letter(b'j'),
            b'.' => letter(b'q'),
            b'0'..=b'9' => letter(b'x'),
            b'?' | b'=' => letter(b'z'),
            other @ b'a'..=b'z' => letter(other),
            _ => 1 << 31,
        };
        let other = match octet {
            b'*' => STAR,
            _ if never_changes(octet) => 0,
            _ => MAY_CHANGE,
        };
        octets[octet as usize] = kind | other;
        if octet == u8::MAX {
            break octets;
        }
        octet += 1;
    }
};

const fn letter(letter: u8) -> u32 {
    1 << (5 + letter - b'a')
}

/// Octets that are the same in every form of a pattern or URL, wherever they stand.
const fn never_changes(octet: u8) -> bool {
    is_unreserved(octet) || matches!(octet, b'/' | b'?' | b'=' | b'&' | b':' | b'+' | b',')
}

/// Places that are tried before a search is prepared, which takes longer than most paths do.
const TRIES: usize = 8;

/// Where `needle` first stands in `text`, in time linear in both.
pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let Some((first, others)) = needle.split_first() else {
        return Some(0);
    };
    let mut from = 0;
    for _ in 0..TRIES {
        let rest = text.get(from..)?;
        let at = memchr(*first, rest)?;
        if rest.get(at + 1..)?.starts_with(others) {
            return Some(from + at);
        }
        from += at + 1;
    }
    memmem::find(text.get(from..)?, needle).map(|at| from + at)
}

/// The length of the text through its last slash, where `index.htm` follows (AM-32).
pub(super) fn directory_of_index(text: &[u8]) -> Option<u16> {
    let directory = memrchr(b'/', text)? + 1;
    let segment = text.get(directory..)?;
    segment.starts_with(b"index.htm").then(|| u16::try_from(directory).unwrap_or(u16::MAX))
}

/// A pattern for people: escapes that spell UTF-8 past ASCII are shown as characters.
pub(super) fn readable(text: &[u8], ending: Ending) -> String {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((unit, after)) = next_unit(rest) {
        match unit {
            Unit::Escape(octet) if octet >= 0x80 => octets.push(octet),
            Unit::Escape(octet) => push_escape(octet, &mut octets),
            Unit::Raw(octet) => octets.push(octet),
        }
        rest = after;
    }
    let mut shown = String::new();
    for chunk in octets.utf8_chunks() {
        shown.push_str(chunk.valid());
        for octet in chunk.invalid() {
            push_hex(*octet, |digit| shown.push(char::from(digit)));
        }
    }
    if ending == Ending::Anchored {
        shown.push('$');
    }
    shown
}

#[derive(Clone, Copy)]
enum Star {
    Wildcard,
    Octet,
}

fn normalise_units(text: &[u8], star: Star, out: &mut Vec<u8>) {
    let mut in_query = false;
    let mut rest = text;
    while let Some((unit, after)) = next_unit(rest) {
        match unit {
            Unit::Escape(octet) if is_unreserved(octet) => out.push(octet),
            Unit::Escape(octet) => push_escape(octet, out),
            Unit::Raw(b'*') => match star {
                Star::Wildcard => out.push(b'*'),
                Star::Octet => push_escape(b'*', out),
            },
            Unit::Raw(octet) if is_escaped_in_urls(octet, in_query) => push_escape(octet, out),
            Unit::Raw(octet) => out.push(octet),
        }
        in_query |= matches!(unit, Unit::Raw(b'?'));
        rest = after;
    }
}

enum Unit {
    /// `%` with two hex digits.
    Escape(u8),
    /// Any other octet, a stray `%` included.
    Raw(u8),
}

fn next_unit(text: &[u8]) -> Option<(Unit, &[u8])> {
    if let [b'%', high, low, rest @ ..] = text
        && let (Some(high), Some(low)) = (hex_value(*high), hex_value(*low))
    {
        return Some((Unit::Escape(high << 4 | low), rest));
    }
    let (first, rest) = text.split_first()?;
    Some((Unit::Raw(*first), rest))
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn push_escape(octet: u8, out: &mut Vec<u8>) {
    push_hex(octet, |digit| out.push(digit));
}

fn push_hex(octet: u8, mut push: impl FnMut(u8)) {
    push(b'%');
    push(HEX[usize::from(octet >> 4)]);
    push(HEX[usize::from(octet & 15)]);
}

/// RFC 3986 section 2.3.
const fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// What the URL standard escapes in a path or query and RFC 3986 permits in neither; a single
/// quote in a query only; and `$`, because a rule writes it `%24` (RFC 9309 section 2.2.3).
fn is_escaped_in_urls(octet: u8, in_query: bool) -> bool {
    match octet {
        b'\'' => in_query,
        b'$' => true,
        b'%'
        | b'!'
        | b'&'
        | b'('..=b'/'
        | b':'
        | b';'
        | b'='
        | b'?'
        | b'#'
        | b'@'
        | b'['
        | b']' => false,
        _ => !is_unreserved(octet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn is_match(value: &str, path: &str) -> bool {
        let (text, end) = ending(value.as_bytes());
        let head = memchr(b'*', text).unwrap_or(text.len());
        path.as_bytes().starts_with(&text[..head]) && matches(text, head, end, path.as_bytes())
    }

    #[test]
    fn stars_and_anchors() {
        let cases = [
            ("", "/", true),
            ("$", "/", false),
            ("*$", "/a", true),
            ("/a$b", "/a$b/c", true),
            ("/a$*", "/ab", false),
            ("/a$$", "/a$", true),
            ("/a$$", "/a", false),
            ("/*a*a$", "/aXa", true),
            ("/*a*a$", "/a", false),
            ("/**b", "/ab", true),
            ("/a*bc*cd", "/abcd", false),
            ("/a*bc*cd", "/abccd", true),
            ("foo", "/foo", false),
            ("*foo", "/x/foo", true),
            ("/a*", "/a", true),
            ("/a*$", "/a", true),
            ("/*ab", "/aaaaaaaaaaaaaaaaaaaaaaab", true),
            ("/*ab", "/aaaaaaaaaaaaaaaaaaaaaaac", false),
            ("/*ab*c$", "/aaaaaaaaaaaaaaaaaaaaaaabc", true),
        ];
        for (value, path, expect) in cases {
            assert_eq!(is_match(value, path), expect, "{value} {path}");
        }
    }

    #[test]
    fn forms() {
        let cases: [(&[u8], &str, &str); 9] = [
            (b"/a b", "/a b", "/a%20b"),
            (b"/%aa%zz%4", "/%AA%zz%4", "/%AA%zz%4"),
            (b"/%%41", "/%%41", "/%A"),
            (b"/\xE9", "/%E9", "/%E9"),
            (b"/%61%2f%2a%24", "/%61%2F%2A%24", "/a%2F%2A%24"),
            (b"/a$b*", "/a$b*", "/a%24b*"),
            (b"/{x}\"", "/{x}\"", "/%7Bx%7D%22"),
            (b"/it's?it's", "/it's?it's", "/it's?it%27s"),
            (b"/(a)!&,;=@:[]+", "/(a)!&,;=@:[]+", "/(a)!&,;=@:[]+"),
        ];
        for (text, google, rfc) in cases {
            let (mut escaped, mut normal) = (vec![], vec![]);
            escape(text, &mut escaped);
            normalise(text, &mut normal);
            assert_eq!(escaped, google.as_bytes(), "{google}");
            assert_eq!(normal, rfc.as_bytes(), "{rfc}");
        }
    }

    #[test]
    fn shown_to_people() {
        let cases =
            [("/%D0%BA%2Fx", Ending::Open, "/\u{43a}%2Fx"), ("/%E9", Ending::Anchored, "/%E9$")];
        for (text, end, expect) in cases {
            assert_eq!(readable(text.as_bytes(), end), expect);
        }
    }
}
