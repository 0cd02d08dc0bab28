//! Addresses: one form for each, seeds as people type them, and addresses that look like a trap.

use std::collections::HashMap;

use thiserror::Error;
use url::{Host, Url};

use crate::reasons::DropReason;

/// The form under which an address is known: without fragment, user name, password and trailing
/// dots of the host; percent escapes in capitals, and resolved where the character needs none
/// (RFC 3986 6.2.2.2). `url` itself already has lower-cased the host, dropped the scheme's own
/// port and written an empty path as `/`.
///
/// Queries keep their order and all their parameters: no authority says which could go.
/// Addresses that are not http or https lose their fragment only. Doing it twice changes nothing.
pub fn normalise(url: &Url) -> Url {
    let mut normal = url.clone();
    normal.set_fragment(None);
    if !matches!(url.scheme(), "http" | "https") {
        return normal;
    }
    // These fail only for addresses without a host, which http always has.
    let _ = normal.set_username("");
    let _ = normal.set_password(None);
    if let Some(host) = url.host_str().filter(|host| host.ends_with('.')) {
        // A host of dots alone is left as it is.
        let _ = normal.set_host(Some(host.trim_end_matches('.')));
    }
    if let Some(path) = normal_escapes(normal.path()) {
        normal.set_path(&path);
    }
    if let Some(query) = normal.query().and_then(normal_escapes) {
        normal.set_query(Some(&query));
    }
    normal
}

/// The text with its percent escapes in their normal form; none if that changes nothing.
fn normal_escapes(text: &str) -> Option<String> {
    let (start, rest) = text.split_once('%')?;
    let mut out = String::with_capacity(text.len());
    out.push_str(start);
    for part in rest.split('%') {
        let hex = part.get(..2).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (hex, value) {
            (Some(_), Some(byte)) if is_unreserved(byte) => out.push(char::from(byte)),
            (Some(hex), Some(_)) => {
                out.push('%');
                out.push_str(&hex.to_ascii_uppercase());
            }
            _ => {
                out.push('%');
                out.push_str(part);
                continue;
            }
        }
        out.push_str(part.get(2..).unwrap_or_default());
    }
    (out != text).then_some(out)
}

/// Characters that mean the same whether escaped or not (RFC 3986 2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// A seed that is no address to crawl.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum SeedError {
    /// Nothing but blanks.
    #[error("the address is empty; give one such as https://example.org/")]
    Empty,
    /// Another scheme.
    #[error("`{text}` begins with `{scheme}:`; only http and https addresses can be crawled")]
    Scheme {
        /// The seed as it was given.
        text: String,
        /// Its scheme, in small letters.
        scheme: String,
    },
    /// A path without a site.
    #[error("`{text}` is a path; give the whole address, such as https://example.org{text}")]
    Path {
        /// The seed as it was given.
        text: String,
    },
    /// Not an address at all.
    #[error("`{text}` is no web address ({reason}); give one such as https://example.org/")]
    Invalid {
        /// The seed as it was given.
        text: String,
        /// What is wrong with it.
        reason: url::ParseError,
    },
}

/// Whether a host name means this machine, whatever a resolver says (RFC 6761 section 6.3).
pub fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or_default();
    last.eq_ignore_ascii_case("localhost")
}

/// Reads a seed as a person types it, and normalises it.
///
/// Without a scheme it means https; `localhost` and addresses of machines, which hardly ever have
/// a certificate, mean http.
///
/// # Errors
/// [`SeedError`], with a sentence for whoever typed it.
pub fn parse_seed(text: &str) -> Result<Url, SeedError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(SeedError::Empty);
    }
    let invalid = |reason| SeedError::Invalid { text: text.to_owned(), reason };
    let url = match scheme(text) {
        Some(scheme) if matches!(scheme.as_str(), "http" | "https") => Url::parse(text),
        Some(scheme) => {
            let text = text.to_owned();
            return Err(SeedError::Scheme { text, scheme });
        }
        None if text.starts_with('/') && !text.starts_with("//") => {
            return Err(SeedError::Path { text: text.to_owned() });
        }
        None => parse_without_scheme(text.trim_start_matches('/')),
    };
    let url = url.map_err(invalid)?;
    Ok(normalise(&url))
}

fn parse_without_scheme(text: &str) -> Result<Url, url::ParseError> {
    let url = Url::parse(&format!("https://{text}"))?;
    let is_plain = match url.host() {
        Some(Host::Domain(name)) => is_localhost(name),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    };
    if is_plain {
        return Url::parse(&format!("http://{text}"));
    }
    Ok(url)
}

/// The scheme in small letters, if there is one. In `example.org:8080` the colon begins a port.
fn scheme(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    (is_scheme && !is_port).then(|| scheme.to_ascii_lowercase())
}

/// From where on an address looks like one of endlessly many.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrapLimits {
    /// Longest address, in bytes.
    pub url_bytes: usize,
    /// Deepest path, in segments.
    pub depth: usize,
    /// How often one segment may stand in a path.
    pub repeats: usize,
}

impl Default for TrapLimits {
    fn default() -> Self {
        Self { url_bytes: 4_096, depth: 32, repeats: 3 }
    }
}

/// Whether an address looks like one of endlessly many: relative links that grow with each page,
/// calendars, filters upon filters.
pub fn looks_like_trap(url: &Url, limits: &TrapLimits) -> Option<DropReason> {
    if url.as_str().len() > limits.url_bytes {
        return Some(DropReason::LongUrl);
    }
    let path = url.path();
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut seen = HashMap::new();
    let mut is_repeated = false;
    for (depth, segment) in path.split('/').enumerate() {
        if depth >= limits.depth {
            return Some(DropReason::DeepPath);
        }
        let count = seen.entry(segment).or_insert(0_usize);
        *count += 1;
        is_repeated |= *count > limits.repeats;
    }
    is_repeated.then_some(DropReason::RepeatedSegment)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn normal(text: &str) -> String {
        normalise(&Url::parse(text).unwrap()).into()
    }

    #[test]
    fn normal_forms() {
        let cases = [
            ("https://example.com./a", "https://example.com/a"),
            ("https://example.com../a", "https://example.com/a"),
            ("https://example.com/a/./b/../c", "https://example.com/a/c"),
            ("https://example.com/..", "https://example.com/"),
            ("https://example.com/a/%2e%2E/b", "https://example.com/b"),
            ("https://user:pw@example.com/a", "https://example.com/a"),
            ("https://www.EXÄMPLE.com/", "https://www.xn--exmple-cua.com/"),
            ("https://example.com/ä?ö", "https://example.com/%C3%A4?%C3%B6"),
            ("https://example.com:0443/x", "https://example.com/x"),
            ("http://example.com:443/x", "http://example.com:443/x"),
            ("https://example.com/%7etom/x%2fy", "https://example.com/~tom/x%2Fy"),
            ("https://example.com/%42cd", "https://example.com/Bcd"),
            ("https://example.com/100%/%zz?%c3%a9&%", "https://example.com/100%/%zz?%C3%A9&%"),
            ("https://example.com/%é", "https://example.com/%%C3%A9"),
            ("https://example.com/?b=2&a=1&b=1", "https://example.com/?b=2&a=1&b=1"),
            ("https://example.com/#reply?x=1", "https://example.com/"),
            ("https://example.com/#!/item/2", "https://example.com/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
            (
                "https://example.com/app;jsessionid=E4.n?p=v",
                "https://example.com/app;jsessionid=E4.n?p=v",
            ),
            ("https://example.com?", "https://example.com/?"),
            ("mailto:someone@example.com#x", "mailto:someone@example.com"),
        ];
        for (text, expect) in cases {
            assert_eq!(normal(text), expect, "{text}");
        }
    }

    #[test]
    fn seeds() {
        let cases = [
            ("example.org", "https://example.org/"),
            ("  example.org/docs?x=1#y ", "https://example.org/docs?x=1"),
            ("http://example.org", "http://example.org/"),
            ("HTTPS://Example.ORG", "https://example.org/"),
            ("//example.org/a", "https://example.org/a"),
            ("example.org:8080/x", "https://example.org:8080/x"),
            ("localhost:3000", "http://localhost:3000/"),
            ("127.0.0.1:8080/a", "http://127.0.0.1:8080/a"),
            ("[::1]:8080", "http://[::1]:8080/"),
            ("bücher.example", "https://xn--bcher-kva.example/"),
        ];
        for (text, expect) in cases {
            assert_eq!(parse_seed(text).map(String::from), Ok(expect.into()), "{text}");
        }
    }

    #[test]
    fn seed_errors_say_what_to_do() {
        let cases = [
            ("", "the address is empty"),
            (" \n", "the address is empty"),
            ("ftp://example.org/", "only http and https addresses can be crawled"),
            ("mailto:someone@example.org", "begins with `mailto:`"),
            ("file:///etc/passwd", "only http and https"),
            ("javascript:void(0)", "only http and https"),
            ("https://", "empty host"),
            ("http://[::1", "invalid IPv6 address"),
            ("http://exa<mple.com/", "is no web address"),
            ("http://xn--.example.com/", "is no web address"),
        ];
        for (text, expect) in cases {
            let message = parse_seed(text).unwrap_err().to_string();
            assert!(message.contains(expect), "{text}: {message}");
        }
    }

    #[test]
    fn traps() {
        let deep = "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/1/2/3/4/5/6";
        let cases = [
            ("/".to_owned(), None),
            ("/a/a/a/b".to_owned(), None),
            ("/a/b/a/b/a/b/a/".to_owned(), Some(DropReason::RepeatedSegment)),
            ("/a//////b".to_owned(), Some(DropReason::RepeatedSegment)),
            (deep.to_owned(), None),
            (format!("{deep}/7"), Some(DropReason::DeepPath)),
            (format!("/{}", "x".repeat(4_096)), Some(DropReason::LongUrl)),
        ];
        for (path, expect) in cases {
            let url = Url::parse("https://example.org").unwrap().join(&path).unwrap();
            assert_eq!(looks_like_trap(&url, &TrapLimits::default()), expect, "{path}");
        }
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own(rest in "[ -~é%./;?&#@:]{0,40}") {
            if let Ok(url) = Url::parse(&format!("http://example.org/{rest}")) {
                let once = normalise(&url);
                prop_assert_eq!(normalise(&once), once);
            }
        }

        #[test]
        fn no_seed_panics(text in "\\PC{0,40}") {
            let _ = parse_seed(&text);
        }
    }
}
