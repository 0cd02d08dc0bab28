//! What the addresses of one template have in common.

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::parameters::{is_session, is_token, name_and_value, pieces};

/// What is left of an address without what varies: a hash of [`shape_of`]'s text.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Shape(pub u64);

impl Shape {
    pub(super) fn of(url: &Url) -> Self {
        Self(xxh3_64(shape_of(url).as_bytes()))
    }

    /// The shape of all addresses with as many segments and parameters, whatever their words.
    pub(super) fn coarse(url: &Url) -> Self {
        let (segments, parameters) = (url.path().split('/').count(), pieces(url.query()).count());
        Self(xxh3_64(format!("{segments} segments, {parameters} parameters").as_bytes()))
    }
}

/// The address's shape: the path with `N` for digits and `H` for numbers that look drawn by lot
/// (eight hex digits, eight of capitals, small letters and digits, sixteen letters and digits), `;` parameters without their
/// values, and the names of the query's parameters. Host, scheme and values take no part, for
/// shapes are counted by site.
///
/// ```
/// # use comity::urls::shape_of;
/// # use url::Url;
/// let url = Url::parse("https://example.org/cal/2026/11?day=30&view=week")?;
/// assert_eq!(shape_of(&url), "/cal/N/N?day&view");
/// # Ok::<(), url::ParseError>(())
/// ```
pub fn shape_of(url: &Url) -> String {
    let mut shape = path_shape(url.path());
    let mut sign = '?';
    for name in names(url.query()) {
        shape.push(sign);
        push_generalised(name, &mut shape);
        sign = '&';
    }
    shape
}

/// Whether the address holds a session's number.
pub(super) fn has_session(url: &Url) -> bool {
    let in_path = url.path().split(['/', ';']).any(|part| {
        let (name, value) = name_and_value(part);
        // ASP.NET without cookies writes a segment `(S(number))`.
        let cookieless = part.strip_prefix("(S(").and_then(|part| part.strip_suffix("))"));
        (!value.is_empty() && is_session(name, value)) || cookieless.is_some_and(is_token)
    });
    in_path
        || pieces(url.query()).any(|piece| {
            let (name, value) = name_and_value(piece);
            is_session(name, value)
        })
}

/// The hashes of an address's path shape and of its parameter names in their order; none without
/// a parameter that has a name.
pub(super) fn facet(url: &Url) -> Option<(u64, u32)> {
    let mut all = String::new();
    for name in names(url.query()).filter(|name| !name.is_empty()) {
        push_generalised(name, &mut all);
        all.push('&');
    }
    let names = u32::try_from(xxh3_64(all.as_bytes()) & u64::from(u32::MAX)).ok()?;
    (!all.is_empty()).then(|| (xxh3_64(path_shape(url.path()).as_bytes()), names))
}

/// The names of a query's parameters; a piece without `=` is a value without a name.
fn names(query: Option<&str>) -> impl Iterator<Item = &str> {
    pieces(query).map(|piece| piece.split_once('=').map_or("", |(name, _)| name))
}

fn path_shape(path: &str) -> String {
    let mut shape = String::with_capacity(path.len());
    for (at, segment) in path.split('/').enumerate() {
        if at > 0 {
            shape.push('/');
        }
        let mut parts = segment.split(';');
        push_generalised(parts.next().unwrap_or_default(), &mut shape);
        for parameter in parts {
            shape.push(';');
            push_generalised(name_and_value(parameter).0, &mut shape);
        }
    }
    shape
}

/// The least digits of a hexadecimal number that is one.
const HEX_DIGITS: usize = 8;
/// The same if hyphens may stand in it, as in a UUID.
const HYPHENATED_DIGITS: usize = 24;
/// The least characters of a word in which capitals, small letters and digits mix.
const MIXED_CHARS: usize = 8;

fn push_generalised(text: &str, out: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = after_hyphenated(rest) {
            out.push('H');
            rest = after;
            continue;
        }
        let word_len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(word_len).unwrap_or((rest, ""));
        if is_token(word) || is_hex_number(word) || is_mixed(word) {
            out.push('H');
        } else {
            push_without_digits(word, out);
        }
        // The digits of an escape are a character's.
        let mut others = after.chars();
        let mark = others.next();
        out.extend(mark);
        if mark == Some('%') {
            out.extend(others.by_ref().take(2));
        }
        rest = others.as_str();
    }
}

/// What follows a long hexadecimal number with hyphens, if the text begins with one.
fn after_hyphenated(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let (number, after) =
        text.split_at_checked(text.find(|c| !is_part(c)).unwrap_or(text.len()))?;
    let digits = number.bytes().filter(|b| *b != b'-').count();
    let has_number = number.bytes().any(|b| b.is_ascii_digit());
    let ends_here = !after.starts_with(|c: char| c.is_ascii_alphanumeric());
    (digits >= HYPHENATED_DIGITS && has_number && ends_here).then_some(after)
}

fn is_mixed(word: &str) -> bool {
    word.len() >= MIXED_CHARS
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_uppercase())
        && word.bytes().any(|b| b.is_ascii_lowercase())
}

fn is_hex_number(word: &str) -> bool {
    word.len() >= HEX_DIGITS
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

fn push_without_digits(word: &str, out: &mut String) {
    let mut in_number = false;
    for c in word.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !in_number {
            out.push('N');
        }
        in_number = c.is_ascii_digit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> Url {
        Url::parse(&format!("https://example.org{path}")).unwrap()
    }

    #[test]
    fn shapes() {
        let cases = [
            ("/", "/"),
            ("/cal/2026/11", "/cal/N/N"),
            ("/item-123.html", "/item-N.html"),
            ("/p2p/v10", "/pNp/vN"),
            ("/f/0a1b2c3d4e", "/f/H"),
            ("/f/deadbeef", "/f/deadbeef"),
            ("/f/12345678", "/f/N"),
            ("/u/550e8400-e29b-41d4-a716-446655440000/x", "/u/H/x"),
            ("/t/Zk3Q9xB7mW2pL8vR", "/t/H"),
            ("/a;jsessionid=1;v=2", "/a;jsessionid;v"),
            ("/s?q=hello&page=2", "/s?q&page"),
            ("/s?f[0]=a&f[1]=b", "/s?f[N]&f[N]"),
            ("/s?Some_page", "/s?"),
            ("/w/%C3%A42", "/w/%C3%A4N"),
            ("/v/dQw4w9WgXcQ", "/v/H"),
            ("/v/dead-beef", "/v/dead-beef"),
        ];
        for (path, expect) in cases {
            assert_eq!(shape_of(&url(path)), expect, "{path}");
        }
    }

    #[test]
    fn sessions() {
        let cases = [
            ("/a;jsessionid=1", true),
            ("/(S(lit3py55t21z5v55vlm25s55))/a", true),
            ("/(S(x))/a", false),
            ("/a?PHPSESSID=1", true),
            ("/a?sid=12", false),
            ("/jsessionid", false),
            ("/a", false),
        ];
        for (path, expect) in cases {
            assert_eq!(has_session(&url(path)), expect, "{path}");
        }
    }

    #[test]
    fn facets() {
        let same = [("/a?x=1&y=2", "/a?x=3&y=4"), ("/a/1?x=1", "/a/2?x=1"), ("/a?f1=1", "/a?f2=1")];
        for (one, other) in same {
            assert_eq!(facet(&url(one)), facet(&url(other)), "{one} {other}");
        }
        let differ = [("/a?x=1&y=2", "/a?y=2&x=1"), ("/a?x=1", "/b?x=1"), ("/a?x=1", "/a?xx=1")];
        for (one, other) in differ {
            assert_ne!(facet(&url(one)), facet(&url(other)), "{one} {other}");
        }
        assert_eq!(facet(&url("/a?b")), None);
        assert_eq!(facet(&url("/a?")), None);
    }
}
