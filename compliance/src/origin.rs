//! What one robots.txt speaks for, and what politeness is counted on.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use core::fmt;
use core::net::Ipv6Addr;

use url::Url;

/// A protocol that a robots.txt can be served by (RT-004).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Scheme {
    /// `http`, port 80 unless another is named.
    Http,
    /// `https`, port 443 unless another is named.
    Https,
    /// `ftp`, port 21 unless another is named.
    Ftp,
}

impl Scheme {
    /// The scheme as a URL writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Ftp => "ftp",
        }
    }

    const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
            Self::Ftp => 21,
        }
    }
}

/// Scheme, ASCII host and effective port: exactly what one robots.txt speaks for
/// (RT-005, RT-007 to RT-015).
///
/// User names and passwords do not count, one trailing dot is dropped, international names are
/// in their ASCII form (AM-19).
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Origin {
    scheme: Scheme,
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of a URL.
    ///
    /// # Errors
    /// [`OriginError`] if the URL is not `http`, `https` or `ftp`, or names no host.
    pub fn of(url: &Url) -> Result<Self, OriginError> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "ftp" => Scheme::Ftp,
            other => return Err(OriginError::Scheme(other.to_owned())),
        };
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_end_matches('.');
        if host.is_empty() {
            return Err(OriginError::Host);
        }
        let port = url.port().unwrap_or_else(|| scheme.default_port());
        Ok(Self { scheme, host: host.to_owned(), port })
    }

    /// The protocol.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host name or address in ASCII; an IPv6 address stands in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The effective port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The site that politeness counts this origin to. An IPv4 address in IPv6 notation is the
    /// machine that it is in its own.
    pub fn site(&self) -> Site {
        let literal = self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let address = literal.and_then(|literal| literal.parse::<Ipv6Addr>().ok());
        match address.and_then(|address| address.to_ipv4_mapped()) {
            Some(mapped) => Site(mapped.to_string()),
            None => Site(self.host.clone()),
        }
    }

    /// The one place where this origin's robots.txt can be (RT-003).
    ///
    /// # Panics
    /// Never: the parts came out of a valid URL.
    pub fn robots_url(&self) -> Url {
        Url::parse(&format!("{self}/robots.txt")).expect("parts of a valid URL")
    }

    /// The origin's front page, `/`.
    ///
    /// # Panics
    /// Never: the parts came out of a valid URL.
    pub fn front_page(&self) -> Url {
        Url::parse(&format!("{self}/")).expect("parts of a valid URL")
    }
}

/// As a URL writes it, the port only where it is not the scheme's own: `https://example.com`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.host)?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

/// A host name: what politeness and budgets are counted on, all ports and protocols together (RL-001).
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Site(String);

impl Site {
    /// The site of a URL.
    ///
    /// # Errors
    /// As [`Origin::of`].
    pub fn of(url: &Url) -> Result<Self, OriginError> {
        Origin::of(url).map(|origin| origin.site())
    }

    /// A site from a host name that [`Site::as_str`] gave, such as one read back from a store.
    pub fn from_host(host: &str) -> Self {
        Self(host.to_owned())
    }

    /// The host name in ASCII, without a trailing dot.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A URL that has no origin a crawler can ask.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OriginError {
    /// A scheme other than `http`, `https` and `ftp`.
    Scheme(String),
    /// No host.
    Host,
}

impl fmt::Display for OriginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => write!(f, "scheme \"{scheme}\" is not http, https or ftp"),
            Self::Host => f.write_str("the URL names no host"),
        }
    }
}

impl core::error::Error for OriginError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// RT-007 to RT-015, AM-19: one line, one case.
    #[test]
    fn origins() {
        let cases = [
            ("https://example.com/folder/file", "https://example.com"),
            ("https://www.example.com/", "https://www.example.com"),
            ("https://www.ex\u{e4}mple.com/", "https://www.xn--exmple-cua.com"),
            ("https://212.96.82.21/", "https://212.96.82.21"),
            ("https://example.com:443/", "https://example.com"),
            ("http://example.com:80/", "http://example.com"),
            ("https://example.com:8181/", "https://example.com:8181"),
            ("http://user:secret@EXAMPLE.com./x", "http://example.com"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
            ("ftp://example.com/folder/", "ftp://example.com"),
            ("ftp://example.com:21/", "ftp://example.com"),
            ("ftp://anonymous@example.com:2121/", "ftp://example.com:2121"),
        ];
        for (url, expect) in cases {
            let origin = Origin::of(&Url::parse(url).unwrap()).unwrap();
            assert_eq!(origin.to_string(), expect, "{url}");
            assert_eq!(origin.robots_url().as_str(), format!("{expect}/robots.txt"));
        }
    }

    /// However a machine's name is written, it is one site: one line, one case.
    #[test]
    fn sites() {
        let cases = [
            ("https://EXAMPLE.com.:8443/x", "example.com"),
            ("http://example.com../", "example.com"),
            ("ftp://example.com/x", "example.com"),
            ("http://127.1/", "127.0.0.1"),
            ("http://[::ffff:127.0.0.1]:8080/", "127.0.0.1"),
            ("http://[0:0:0:0:0:0:0:1]/", "[::1]"),
            ("http://[2001:db8::ffff:7f00:1]/", "[2001:db8::ffff:7f00:1]"),
        ];
        for (url, expect) in cases {
            let site = Site::of(&Url::parse(url).unwrap()).unwrap();
            assert_eq!(site.as_str(), expect, "{url}");
        }
    }

    #[test]
    fn no_origin() {
        for url in ["mailto:me@example.org", "data:,x", "javascript:1", "file:///etc/passwd"] {
            assert!(Origin::of(&Url::parse(url).unwrap()).is_err(), "{url}");
        }
    }

    /// RT-007 to RT-014: one line, one case: where a robots.txt is, a URL, and whether it speaks
    /// for that.
    #[test]
    fn what_a_robots_txt_speaks_for() {
        let cases = [
            ("https://example.com/", "https://example.com/folder/file", true),
            ("https://example.com/", "https://other.example.com/", false),
            ("https://example.com/", "http://example.com/", false),
            ("https://example.com/", "https://example.com:8181/", false),
            ("https://www.example.com/", "https://example.com/", false),
            ("https://www.ex\u{e4}mple.com/", "https://www.xn--exmple-cua.com/", true),
            ("ftp://example.com/", "ftp://example.com/file", true),
            ("ftp://example.com/", "https://example.com/", false),
            ("https://212.96.82.21/", "https://example.com/", false),
            ("https://example.com:443/", "https://example.com/", true),
            ("https://example.com:443/", "https://example.com:444/", false),
            ("https://example.com:8181/", "https://example.com/", false),
        ];
        for (robots, url, expect) in cases {
            let origin = |url| Origin::of(&Url::parse(url).unwrap()).unwrap();
            assert_eq!(origin(robots) == origin(url), expect, "{robots} {url}");
        }
    }
}
