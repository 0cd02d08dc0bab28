//! Replies that ask for a login. No login is ever made, so what lies behind is not for us.

use hyper::StatusCode;
use hyper::header::{HeaderMap, LOCATION, WWW_AUTHENTICATE};

/// Who asks for a login.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wall {
    /// The site, by status 401, or another 4xx with a challenge (RFC 9110 section 11.6.1).
    Login,
    /// Something between us and the site, such as a hotel's network: status 407 or 511
    /// (RFC 9110 section 15.5.8, RFC 6585 section 6). It says nothing about the site.
    Network,
    /// Perhaps the site: it redirects to what looks like a page to log in. Only a hint, which no
    /// rule may be built on.
    Redirect,
}

impl Wall {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Login, Self::Network, Self::Redirect];

    /// The name used in logs and metrics; never changed.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Login => "wall-login",
            Self::Network => "wall-network",
            Self::Redirect => "wall-redirect",
        }
    }

    /// Judges a reply by its status and headers; `None` if it asks for no login.
    pub fn of(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        match status.as_u16() {
            401 => Some(Self::Login),
            407 | 511 => Some(Self::Network),
            400..=499 if headers.contains_key(WWW_AUTHENTICATE) => Some(Self::Login),
            300..=399 => {
                let location = headers.get(LOCATION)?;
                leads_to_login(&String::from_utf8_lossy(location.as_bytes()))
                    .then_some(Self::Redirect)
            }
            _ => None,
        }
    }
}

/// Path segments, without extension and signs, that pages to log in have.
const LOGIN_SEGMENTS: &[&str] = &["login", "signin", "logon", "wplogin", "sso", "authenticate"];

fn leads_to_login(location: &str) -> bool {
    let path = location.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').any(|segment| {
        let name = segment.split(['.', ';']).next().unwrap_or_default();
        let letters = name.bytes().filter(u8::is_ascii_alphabetic).map(|b| b.to_ascii_lowercase());
        let letters: Vec<_> = letters.take(16).collect();
        LOGIN_SEGMENTS.iter().any(|login| login.as_bytes() == letters)
    })
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn walls() {
        for (status, header, expect) in [
            (200, ("WWW-Authenticate", "Basic"), None),
            (401, ("X", "y"), Some("wall-login")),
            (401, ("WWW-Authenticate", "Basic realm=\"a\""), Some("wall-login")),
            (403, ("X", "y"), None),
            (403, ("WWW-Authenticate", "Negotiate"), Some("wall-login")),
            (404, ("X", "y"), None),
            (407, ("Proxy-Authenticate", "Basic"), Some("wall-network")),
            (511, ("X", "y"), Some("wall-network")),
            (503, ("WWW-Authenticate", "Basic"), None),
            (302, ("Location", "/login"), Some("wall-redirect")),
            (302, ("Location", "/wp-login.php?redirect_to=%2Fx"), Some("wall-redirect")),
            (303, ("Location", "https://a.example/Sign-In/?next=/"), Some("wall-redirect")),
            (302, ("Location", "/accounts/login;jsessionid=1"), Some("wall-redirect")),
            (302, ("Location", "/catalogue/"), None),
            (302, ("Location", "/a?to=/login"), None),
            (302, ("Location", "/blogin"), None),
            (302, ("Location", "\u{ff}/login"), Some("wall-redirect")),
            (302, ("X", "y"), None),
        ] {
            let mut headers = HeaderMap::new();
            let value = HeaderValue::from_bytes(header.1.as_bytes()).unwrap();
            headers.insert(header.0.parse::<HeaderName>().unwrap(), value);
            let found = Wall::of(StatusCode::from_u16(status).unwrap(), &headers);
            assert_eq!(found.map(Wall::code), expect, "{status} {header:?}");
        }
    }
}
