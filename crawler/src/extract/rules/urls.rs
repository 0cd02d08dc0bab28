//! Which pages an extractor reads, by address.

use std::fmt;

use comity_compliance::Origin;
use comity_compliance::robots::PathPattern;
use url::Url;

/// A path pattern as in robots.txt, of any site or of one.
#[derive(Debug)]
pub(super) struct UrlPattern {
    origin: Option<Origin>,
    path: PathPattern,
    written: String,
}

impl UrlPattern {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some(after) = text.find("://").map(|at| at + 3) else {
            let path = PathPattern::parse(text).map_err(|e| e.to_string())?;
            return Ok(Self { origin: None, path, written: text.into() });
        };
        let slash = text[after..].find('/').map(|at| at + after);
        let (host, path) = text.split_at(slash.unwrap_or(text.len()));
        let origin = Url::parse(host).map_err(|e| format!("\"{host}\": {e}"))?;
        let origin = Origin::of(&origin).map_err(|e| format!("\"{host}\": {e}"))?;
        let path = if path.is_empty() { "/" } else { path };
        let path = PathPattern::parse(path).map_err(|e| e.to_string())?;
        Ok(Self { origin: Some(origin), path, written: text.into() })
    }

    pub(super) fn matches(&self, url: &Url) -> bool {
        let same = |origin: &Origin| Origin::of(url).is_ok_and(|of_url| of_url == *origin);
        self.origin.as_ref().is_none_or(same) && self.path.matches(url)
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: pattern, address, whether it matches.
    #[test]
    fn patterns() {
        for (pattern, url, expect) in [
            ("/p/*", "https://a.example/p/1", true),
            ("/p/*", "https://a.example/q/1", false),
            ("*.html$", "https://a.example/x.html", true),
            ("https://a.example/p/", "https://a.example/p/1", true),
            ("https://a.example/p/", "http://a.example/p/1", false),
            ("https://a.example", "https://a.example/", true),
            ("https://A.example:443/*x", "https://a.example/yx", true),
            ("https://b.example/", "https://a.example/", false),
        ] {
            let matches = UrlPattern::parse(pattern).unwrap().matches(&Url::parse(url).unwrap());
            assert_eq!(matches, expect, "{pattern} on {url}");
        }
        for pattern in ["p/*", "", "https:///x", "mailto://", "https://a b/"] {
            assert!(UrlPattern::parse(pattern).is_err(), "{pattern}");
        }
    }
}
