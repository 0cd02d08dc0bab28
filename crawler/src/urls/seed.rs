//! Seeds as people type them.

use thiserror::Error;
use url::{Host, Url};

use super::normalise;

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
    /// FTP, which this build does not speak.
    #[error(
        "`{text}` is an FTP address, and this comity was built without FTP: build it with \
         `cargo build --release --features ftp`, or give an http or https address"
    )]
    NoFtp {
        /// The seed as it was given.
        text: String,
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
        Some(scheme) if scheme == "ftp" && cfg!(feature = "ftp") => Url::parse(text),
        Some(scheme) if scheme == "ftp" => {
            return Err(SeedError::NoFtp { text: text.to_owned() });
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            ("gopher://example.org/", "only http and https addresses can be crawled"),
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

    /// RT-004: FTP is spoken by a build that was asked to.
    #[test]
    fn ftp_is_a_matter_of_the_build() {
        let seed = parse_seed("ftp://Example.org/pub/index.html");
        if cfg!(feature = "ftp") {
            assert_eq!(seed.unwrap().as_str(), "ftp://example.org/pub/index.html");
        } else {
            assert!(seed.unwrap_err().to_string().contains("--features ftp"));
        }
    }

    proptest! {
        #[test]
        fn no_seed_panics(text in "\\PC{0,40}") {
            let _ = parse_seed(&text);
        }
    }
}
