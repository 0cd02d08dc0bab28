//! Addresses as indexes of archives sort them: the host turned round, and what seldom tells two
//! pages apart left out, so that readers who form the key of an address find its captures.

use url::{Host, Url};

/// The sort-friendly key of an address.
pub(super) fn surt(url: &str) -> String {
    let Ok(parsed) = Url::parse(url) else { return url.to_owned() };
    let Some(host) = parsed.host() else { return url.to_owned() };
    let mut key = turned(&host);
    if let Some(port) = parsed.port() {
        key.push_str(&format!(":{port}"));
    }
    key.push(')');
    key.push_str(&path(parsed.path()));
    if let Some(query) = parsed.query().map(query).filter(|query| !query.is_empty()) {
        key.push('?');
        key.push_str(&query);
    }
    key
}

fn turned(host: &Host<&str>) -> String {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            reversed(without_www(&name))
        }
        Host::Ipv4(address) => reversed(&address.to_string()),
        Host::Ipv6(address) => address.to_string(),
    }
}

fn reversed(name: &str) -> String {
    name.rsplit('.').collect::<Vec<_>>().join(",")
}

/// The name without a leading `www.`, `www2.` and so on.
fn without_www(name: &str) -> &str {
    let rest =
        name.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

fn path(path: &str) -> String {
    let decoded = decoded(path);
    let decoded = without_double_slashes(&decoded);
    let path = escaped(&decoded).to_ascii_lowercase();
    let path = without_session(&path);
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter.to_owned(),
        Some(_) | None => path,
    }
}

fn without_double_slashes(path: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(path.len());
    for byte in path {
        if !(*byte == b'/' && out.last() == Some(&b'/')) {
            out.push(*byte);
        }
    }
    out
}

/// ASP.NET puts the number of a session into the path: `/(S(24 letters))/page.aspx`.
fn without_session(path: &str) -> String {
    if !path.contains(".aspx") {
        return path.to_owned();
    }
    let is_number =
        |text: &str| text.len() == 24 && text.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_session = |part: &str| {
        let Some(inner) = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')) else {
            return false;
        };
        let lettered = inner.get(1..).and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        is_number(inner) || lettered.is_some_and(is_number)
    };
    let mut parts = path.split('/').peekable();
    let mut kept = Vec::new();
    while let Some(part) = parts.next() {
        if !(is_session(part) && parts.peek().is_some()) {
            kept.push(part);
        }
    }
    kept.join("/")
}

fn query(query: &str) -> String {
    let query = escaped(&decoded(&without_sessions(query))).to_ascii_lowercase();
    let mut parts: Vec<_> = query.split('&').collect();
    // By name, then value; a name alone goes before one with an empty value.
    parts.sort_by_key(|part| match part.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (*part, None),
    });
    parts.join("&")
}

fn without_sessions(query: &str) -> String {
    let all_in = |text: &str, len: usize| {
        text.len() == len && text.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let is_session = |part: &&str| {
        let Some((name, value)) = part.split_once('=') else { return false };
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "jsessionid" | "phpsessid" | "sid" => all_in(value, 32),
            "cfid" | "cftoken" => query.to_ascii_lowercase().contains("cftoken="),
            _ => {
                name.strip_prefix("aspsessionid").is_some_and(|id| id.len() == 8)
                    && all_in(value, 24)
            }
        }
    };
    if !query.split('&').any(|part| is_session(&part)) {
        return query.to_owned();
    }
    query.split('&').filter(|part| !is_session(part)).collect::<Vec<_>>().join("&")
}

/// Takes escapes off until none is left, which each round makes shorter; so deep as honest
/// addresses go.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..8 {
        let once = decoded_once(&bytes);
        if once.len() == bytes.len() {
            break;
        }
        bytes = once;
    }
    bytes
}

fn decoded_once(bytes: &[u8]) -> Vec<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high << 4 | low).unwrap_or_default());
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}

/// Escapes what is no printable ASCII, and `#` and `%`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the `surt` package for Python, which most readers use, says. One line, one case.
    #[test]
    fn keys_as_readers_form_them() {
        for (url, key) in [
            ("http://www.example.com/", "com,example)/"),
            ("https://example.com/A/B?z=1&a=2", "com,example)/a/b?a=2&z=1"),
            ("http://example.com/a/?", "com,example)/a"),
            ("http://example.com/a/", "com,example)/a"),
            ("http://WWW2.example.com:8080/x", "com,example:8080)/x"),
            ("https://example.com:443/x", "com,example)/x"),
            ("http://127.0.0.1:8123/page1", "1,0,0,127:8123)/page1"),
            ("http://localhost:8123/page1", "localhost:8123)/page1"),
            ("http://example.com/%7Euser/%41%20b", "com,example)/~user/a%20b"),
            (
                "http://example.com/x?PHPSESSID=0123456789abcdef0123456789abcdef&b=1",
                "com,example)/x?b=1",
            ),
            ("http://example.com/x?sid=9682993c8daa2c5497996114facdc805", "com,example)/x"),
            ("http://example.com/x?b&a=&a=1", "com,example)/x?a=&a=1&b"),
            ("http://example.com//a//b", "com,example)/a/b"),
            ("http://example.com/a%2Fb?Q=%C3%9C", "com,example)/a/b?q=%c3%9c"),
            ("http://example.com/?a=b", "com,example)/?a=b"),
            ("http://example.com/x?utm_source=a", "com,example)/x?utm_source=a"),
            (
                "http://example.com/x.aspx?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX",
                "com,example)/x.aspx",
            ),
            ("http://example.com/(S(abcdefghijklmnopqrstuvwx))/x.aspx", "com,example)/x.aspx"),
            ("http://example.com/x?cfid=1234&cftoken=5678", "com,example)/x"),
            ("http://www.com/", "com)/"),
            ("http://a.b.www.example.com/", "com,example,www,b,a)/"),
            ("http://xn--mnchen-3ya.example/%C3%BC", "example,xn--mnchen-3ya)/%c3%bc"),
            ("http://example.com/x?a=%26&b=c+d", "com,example)/x?&a=&b=c+d"),
            ("http://example.com/x?&&a=1&", "com,example)/x?&&&a=1"),
            ("http://example.com/%E0%A4%A", "com,example)/%e0%a4%25a"),
            ("http://example.com/'(x)!*", "com,example)/'(x)!*"),
            ("http://example.com/a%7Cb%23c%3Fd", "com,example)/a|b%23c?d"),
        ] {
            assert_eq!(surt(url), key, "{url}");
        }
    }
}
