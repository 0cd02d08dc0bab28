//! Proxies: which requests go through one, and how one is named.

mod dial;

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use ipnet::IpNet;
use thiserror::Error;
use url::{Host, Url};

pub(super) use self::dial::Dialer;
pub use self::dial::ProxyFault;
use crate::urls::is_localhost;

/// Which requests go through which proxy. By default none does.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    direct: Vec<Direct>,
}

/// One proxy.
#[derive(Clone, Eq, PartialEq)]
pub struct Proxy {
    kind: ProxyKind,
    host: String,
    port: u16,
    /// User name and password, decoded.
    login: Option<(String, String)>,
}

/// How a proxy is spoken to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ProxyKind {
    /// In HTTP: http URLs in absolute form, https URLs by CONNECT (RFC 9110 section 9.3.6).
    Http,
    /// In SOCKS 5 (RFC 1928), which is told host names.
    Socks5,
}

/// Whom to ask without a proxy.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Direct {
    Everybody,
    /// A domain and all below it.
    Domain(String),
    Network(IpNet),
}

/// A proxy that cannot be used.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum ProxyError {
    /// Not a URL.
    #[error("{0:?} is not the URL of a proxy, such as http://proxy.example:3128")]
    Malformed(String),
    /// A kind of proxy that is not spoken to.
    #[error("proxies of the kind {0}:// are not spoken to; name one as http:// or socks5://")]
    Kind(String),
    /// SOCKS has one byte for the length of each.
    #[error("the proxy's user name and password may have 255 bytes each")]
    LongLogin,
}

impl Proxy {
    /// Reads `http://user:password@host:port`, `socks5://…` or `host:port`.
    ///
    /// # Errors
    /// [`ProxyError`] if it is none of these. The message never has the password.
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let malformed = || {
            let shown = text.rsplit_once('@').map_or(text, |(_, shown)| shown);
            ProxyError::Malformed(shown.chars().take(100).collect())
        };
        let text_with_scheme =
            if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&text_with_scheme).map_err(|_| malformed())?;
        let (kind, usual_port) = match url.scheme() {
            "http" => (ProxyKind::Http, 80),
            // Names are never looked up before they are told to it, which `socks5h` asks for.
            "socks5" | "socks5h" => (ProxyKind::Socks5, 1080),
            other => return Err(ProxyError::Kind(other.to_owned())),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(malformed)?.to_owned();
        let login = (!url.username().is_empty())
            .then(|| (decoded(url.username()), decoded(url.password().unwrap_or_default())));
        if login.as_ref().is_some_and(|(user, password)| user.len() > 255 || password.len() > 255) {
            return Err(ProxyError::LongLogin);
        }
        Ok(Self { kind, host, port: url.port().unwrap_or(usual_port), login })
    }

    /// The Proxy-Authorization header (RFC 7617).
    fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.login.as_ref()?;
        let value = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl std::fmt::Debug for Proxy {
    /// Without the login: settings end up in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}:{}", self.kind, self.host, self.port)
    }
}

fn decoded(part: &str) -> String {
    let bytes = part.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        let code = hex.filter(|_| byte == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Proxies {
    /// No proxy.
    pub fn none() -> Self {
        Self::default()
    }

    /// One proxy for everybody but those in `no_proxy`, a list as in the variable of that name.
    pub fn all(proxy: Proxy, no_proxy: &str) -> Self {
        Self { http: Some(proxy.clone()), https: Some(proxy), direct: direct_list(no_proxy) }
    }

    /// What the usual variables say: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in
    /// lower case or else in upper case; an empty one says nothing. As with curl, `HTTP_PROXY` in
    /// upper case is not believed where a web server may have made it of a request's `Proxy`
    /// header, which is where `REQUEST_METHOD` is set.
    ///
    /// # Errors
    /// [`ProxyError`] if one of them names no usable proxy: to ask directly instead could give
    /// away what the proxy is there to hide.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let is_cgi = variable("REQUEST_METHOD").is_some();
        let said = |name: &str| {
            let upper = name.to_ascii_uppercase();
            let lower = variable(name).filter(|text| !text.is_empty());
            let believed = !(is_cgi && upper == "HTTP_PROXY");
            lower.or_else(|| variable(&upper).filter(|text| believed && !text.is_empty()))
        };
        let proxy = |name: &str| {
            let text = said(name).or_else(|| said("all_proxy"));
            text.map(|text| Proxy::parse(&text)).transpose()
        };
        Ok(Self {
            http: proxy("http_proxy")?,
            https: proxy("https_proxy")?,
            direct: direct_list(&said("no_proxy").unwrap_or_default()),
        })
    }

    /// The proxy for a URL. This machine is asked directly: a proxy's `localhost` is another.
    pub(super) fn for_url(&self, url: &Url) -> Option<&Proxy> {
        let host = url.host()?;
        if let Host::Domain(name) = host
            && is_localhost(name.trim_end_matches('.'))
        {
            return None;
        }
        if self.direct.iter().any(|direct| direct.covers(&host)) || is_loopback(&host) {
            return None;
        }
        match url.scheme() {
            "http" => self.http.as_ref(),
            "https" => self.https.as_ref(),
            _ => None,
        }
    }

    /// The header that lets an http URL through its proxy.
    pub(super) fn authorization_for(&self, url: &Url) -> Option<HeaderValue> {
        let proxy = self.for_url(url).filter(|proxy| proxy.kind == ProxyKind::Http)?;
        if url.scheme() == "http" { proxy.authorization() } else { None }
    }
}

fn address(host: &Host<&str>) -> Option<IpAddr> {
    match host {
        Host::Ipv4(ip) => Some((*ip).into()),
        Host::Ipv6(ip) => Some((*ip).into()),
        Host::Domain(_) => None,
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    address(host).is_some_and(|ip| ip.to_canonical().is_loopback())
}

fn direct_list(no_proxy: &str) -> Vec<Direct> {
    let entries = no_proxy.split([',', ' ']).filter(|entry| !entry.is_empty());
    let direct = entries.map(|entry| {
        let network = entry.parse().or_else(|_| entry.parse::<IpAddr>().map(IpNet::from));
        match (entry, network) {
            ("*", _) => Direct::Everybody,
            (_, Ok(network)) => Direct::Network(network),
            (_, Err(_)) => {
                let name = entry.trim_start_matches("*.").trim_matches('.');
                Direct::Domain(name.to_ascii_lowercase())
            }
        }
    });
    direct.collect()
}

impl Direct {
    fn covers(&self, host: &Host<&str>) -> bool {
        match self {
            Self::Everybody => true,
            Self::Network(network) => {
                address(host).is_some_and(|ip| network.contains(&ip.to_canonical()))
            }
            Self::Domain(domain) => match host {
                Host::Domain(name) => {
                    let above = name.trim_end_matches('.').strip_suffix(domain.as_str());
                    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
                }
                Host::Ipv4(_) | Host::Ipv6(_) => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_named() {
        for (text, expect) in [
            ("http://proxy.example:3128", Ok("Http proxy.example:3128")),
            ("proxy.example:3128", Ok("Http proxy.example:3128")),
            ("http://proxy.example/", Ok("Http proxy.example:80")),
            ("http://me:se%40cret@[2001:db8::1]:8", Ok("Http [2001:db8::1]:8")),
            ("socks5://proxy.example", Ok("Socks5 proxy.example:1080")),
            ("SOCKS5H://proxy.example:9", Ok("Socks5 proxy.example:9")),
            (
                "https://proxy.example",
                Err(
                    "proxies of the kind https:// are not spoken to; name one as http:// or socks5://",
                ),
            ),
            (
                "socks4://proxy.example",
                Err(
                    "proxies of the kind socks4:// are not spoken to; name one as http:// or socks5://",
                ),
            ),
            (
                "http://me:secret@:0:0",
                Err("\":0:0\" is not the URL of a proxy, such as http://proxy.example:3128"),
            ),
        ] {
            let found = Proxy::parse(text);
            let shown = found.map(|proxy| format!("{proxy:?}")).map_err(|error| error.to_string());
            assert_eq!(shown.as_deref().map_err(String::as_str), expect, "{text}");
        }
        let header = Proxy::parse("http://Aladdin:open%20sesame@p").unwrap().authorization();
        // RFC 7617 section 2.
        assert_eq!(header.unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    fn of(variables: &[(&str, &str)], url: &str) -> String {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        match Proxies::from_variables(variable) {
            Err(error) => error.to_string(),
            Ok(proxies) => proxies
                .for_url(&Url::parse(url).unwrap())
                .map_or("direct".into(), |proxy| proxy.host.clone()),
        }
    }

    #[test]
    fn variables_say_which() {
        let all = &[("all_proxy", "a"), ("http_proxy", "h"), ("HTTPS_PROXY", "s")][..];
        for (variables, url, expect) in [
            (&[][..], "http://x.example/", "direct"),
            (all, "http://x.example/", "h"),
            (all, "https://x.example/", "s"),
            (&[("ALL_PROXY", "a")], "https://x.example/", "a"),
            (&[("HTTP_PROXY", "h")], "http://x.example/", "h"),
            (&[("HTTP_PROXY", "h")], "https://x.example/", "direct"),
            (&[("HTTP_PROXY", "up"), ("http_proxy", "low")], "http://x.example/", "low"),
            (&[("HTTP_PROXY", "up"), ("http_proxy", "")], "http://x.example/", "up"),
            (&[("HTTP_PROXY", "h"), ("REQUEST_METHOD", "GET")], "http://x.example/", "direct"),
            (&[("http_proxy", "h"), ("REQUEST_METHOD", "GET")], "http://x.example/", "h"),
            (&[("all_proxy", "a"), ("no_proxy", "*")], "http://x.example/", "direct"),
            (&[("all_proxy", "a"), ("NO_PROXY", "y, X.example")], "http://x.example/", "direct"),
            (&[("all_proxy", "a"), ("no_proxy", ".x.example")], "http://w.x.example./", "direct"),
            (&[("all_proxy", "a"), ("no_proxy", "x.example")], "http://wx.example/", "a"),
            (&[("all_proxy", "a"), ("no_proxy", "192.0.2.0/24")], "http://192.0.2.9/", "direct"),
            (&[("all_proxy", "a"), ("no_proxy", "192.0.2.1")], "http://192.0.2.9/", "a"),
            (&[("all_proxy", "a"), ("no_proxy", "2001:db8::1")], "http://[2001:db8::1]/", "direct"),
            (all, "http://localhost:8000/", "direct"),
            (all, "http://127.0.0.1/", "direct"),
            (all, "http://[::1]/", "direct"),
            (
                &[("all_proxy", "quic://a")],
                "http://x.example/",
                "proxies of the kind quic:// are not spoken to; name one as http:// or socks5://",
            ),
        ] {
            assert_eq!(of(variables, url), expect, "{variables:?} {url}");
        }
    }
}
