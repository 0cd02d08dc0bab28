//! The pattern syntax of robots.txt, for whoever else picks out paths: an operator's own lists.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use url::Url;

use super::pattern::{self, Ending};
use super::target;

/// A pattern over a URL's path and query, as a rule of a robots.txt has it: it matches from the
/// first `/` on, `*` is any run of characters, and a `$` at the end means that nothing follows
/// (RT-080 to RT-084). Matching takes time linear in pattern times stars, and tries nothing twice.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathPattern {
    written: String,
    normal: Vec<u8>,
    ending: Ending,
}

/// A text that is no pattern.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathPatternError {
    written: String,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`PathPatternError`] if it begins with neither `/` nor `*`: it could match nothing.
    pub fn parse(text: &str) -> Result<Self, PathPatternError> {
        let text = text.trim();
        if !text.starts_with(['/', '*']) {
            return Err(PathPatternError { written: text.to_owned() });
        }
        let (pattern, ending) = pattern::ending(text.as_bytes());
        let mut normal = Vec::with_capacity(pattern.len());
        pattern::normalise(pattern, &mut normal);
        Ok(Self { written: text.to_owned(), normal, ending })
    }

    /// Whether it matches the URL's path and query.
    pub fn matches(&self, url: &Url) -> bool {
        pattern::matches(&self.normal, 0, self.ending, &target::normalised(url))
    }
}

/// As it was written.
impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl fmt::Display for PathPatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" matches nothing; begin it with / or *, as in robots.txt", self.written)
    }
}

impl core::error::Error for PathPatternError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    /// One line, one case: pattern, path and query, whether it matches.
    #[test]
    fn patterns() {
        let cases = [
            ("/", "/", true),
            ("/docs/", "/docs/a?b", true),
            ("/docs/", "/docs", false),
            ("/*.pdf$", "/a/b.pdf", true),
            ("/*.pdf$", "/a/b.pdf?x", false),
            ("*.pdf", "/a/b.pdf?x", true),
            ("/*?*sort=", "/list?page=1&sort=up", true),
            ("/*?*sort=", "/list/sort=", false),
            ("/%7Etom/", "/~tom/x", true),
            ("/a%2fb", "/a%2Fb", true),
            ("/a%2fb", "/a/b", false),
            ("/ä", "/%C3%A4", true),
            ("/$", "/", true),
            ("/$", "/a", false),
        ];
        for (text, path, expect) in cases {
            let pattern = PathPattern::parse(text).unwrap();
            let url = Url::parse("https://example.com").unwrap().join(path).unwrap();
            assert_eq!(pattern.matches(&url), expect, "{text} on {path}");
            assert_eq!(pattern.to_string(), text);
        }
        for text in ["", "docs/", "https://example.com/", "?x"] {
            assert!(PathPattern::parse(text).is_err(), "{text}");
        }
    }
}
