//! One form for each address.

use url::Url;

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
    // Whether a bare `%`, or one and a digit, stands at the end: with what comes it must not become
    // an escape that the address does not have.
    let mut open = false;
    for part in rest.split('%') {
        let hex = part.get(..2).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (hex, value) {
            (Some(_), Some(byte)) if is_unreserved(byte) && !(open && byte.is_ascii_hexdigit()) => {
                out.push(char::from(byte));
            }
            (Some(hex), Some(_)) => {
                out.push('%');
                out.push_str(&hex.to_ascii_uppercase());
            }
            _ => {
                out.push('%');
                out.push_str(part);
                open = part.len() < 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
                continue;
            }
        }
        open = false;
        out.push_str(part.get(2..).unwrap_or_default());
    }
    (out != text).then_some(out)
}

/// Characters that mean the same whether escaped or not (RFC 3986 2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
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
            ("https://example.com/%%34%31", "https://example.com/%%341"),
            ("https://example.com/%4%31?%%34%7e", "https://example.com/%4%31?%%34~"),
            ("https://example.com/%%7e%4%2d", "https://example.com/%~%4-"),
            ("https://example.com/a/%%32e%%32e/b", "https://example.com/a/%%32e%%32e/b"),
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

    proptest! {
        /// What decoding leaves could be read as another escape.
        #[test]
        fn decoding_makes_no_escape(rest in "[%0-9a-fA-Fgz~.]{0,12}", query in "(%|[0-9a-f]){0,8}") {
            let url = Url::parse(&format!("http://example.org/{rest}?{query}")).unwrap();
            let once = normalise(&url);
            prop_assert_eq!(normalise(&once), once);
        }

        #[test]
        fn a_normal_form_is_its_own(rest in "[ -~é%./;?&#@:]{0,40}") {
            if let Ok(url) = Url::parse(&format!("http://example.org/{rest}")) {
                let once = normalise(&url);
                prop_assert_eq!(normalise(&once), once);
            }
        }
    }
}
