//! "Go there, after so many seconds": meta refresh and the `Refresh` header (LK-005).

use url::Url;

/// A page's wish that its reader goes elsewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refresh {
    /// Whole seconds until then; 0 speaks of a permanent move (LK-005).
    pub delay_s: u32,
    /// Where to, without fragment; http or https.
    pub url: Url,
}

/// Reads the value of a `Refresh` header or of a meta refresh into its delay and the address as
/// written (HTML standard, shared declarative refresh steps). None if it names no other page.
pub fn parse_refresh(value: &str) -> Option<(u32, &str)> {
    let value = value.trim_ascii_start();
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (delay, rest) = value.split_at_checked(digits)?;
    if delay.is_empty() && !rest.starts_with('.') {
        return None;
    }
    // More digits than fit are a very long time.
    let delay_s = match delay {
        "" => 0,
        digits => digits.parse().unwrap_or(u32::MAX),
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let target = rest.trim_ascii_start();
    if target.len() == rest.len() && !rest.starts_with([';', ',']) {
        return None;
    }
    let target = target.strip_prefix([';', ',']).unwrap_or(target);
    let address = unquote(strip_url_key(target.trim_ascii_start()));
    (!address.is_empty()).then_some((delay_s, address))
}

/// The address behind `url=`; the whole text if it does not begin with that.
fn strip_url_key(text: &str) -> &str {
    let Some((key, rest)) = text.split_at_checked(3) else {
        return text;
    };
    if !key.eq_ignore_ascii_case("url") {
        return text;
    }
    match rest.trim_ascii_start().strip_prefix('=') {
        Some(address) => address.trim_ascii_start(),
        None => text,
    }
}

fn unquote(address: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(quoted) = address.strip_prefix(quote) {
            return quoted.split(quote).next().unwrap_or(quoted);
        }
    }
    address.trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use super::parse_refresh;

    #[test]
    fn refresh_values() {
        let cases = [
            ("0;url=next.html", Some((0, "next.html"))),
            ("5; URL='intro/start.html'", Some((5, "intro/start.html"))),
            (" 3 , url = \"/a b\" trailing", Some((3, "/a b"))),
            ("2.7; /plain", Some((2, "/plain"))),
            (".5;url=/x", Some((0, "/x"))),
            ("0 url=/x", Some((0, "/x"))),
            ("99999999999;url=/x", Some((u32::MAX, "/x"))),
            ("0;urlx", Some((0, "urlx"))),
            ("10", None),
            ("", None),
            (";url=/x", None),
            ("-1;url=/x", None),
            ("5x;url=/x", None),
            ("0;url=", None),
            ("0;url=''", None),
            ("ü;url=/x", None),
            ("0;üüü", Some((0, "üüü"))),
        ];
        for (value, expect) in cases {
            assert_eq!(parse_refresh(value), expect, "{value:?}");
        }
    }
}
