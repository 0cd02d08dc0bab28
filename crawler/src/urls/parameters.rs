//! Names of parameters that say who comes or from where, and nothing about the page.

/// Names that begin so come from advertising and analytics.
const TRACKING_PREFIXES: &[&str] = &["utm_", "mtm_", "pk_", "piwik_", "matomo_", "hsa_"];

/// Names that advertising and analytics put into links. None is a word that a site would use for
/// its own pages.
const TRACKING: &[&str] = &[
    "__hsfp",
    "__hssc",
    "__hstc",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "dclid",
    "epik",
    "fbclid",
    "gad_campaignid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsctatracking",
    "igsh",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "rb_clickid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_conv",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
];

/// Names that hold a session's number, whatever it looks like.
const SESSIONS: &[&str] = &[
    "asp.net_sessionid",
    "cfid",
    "cftoken",
    "jsessionid",
    "oscsid",
    "phpsessid",
    "phpsessionid",
    "sessid",
    "session_id",
    "sessionid",
    "zenid",
];

/// Names that begin so hold a session's number: the server makes up the rest.
const SESSION_PREFIXES: &[&str] = &["aspsessionid"];

/// Names that hold a session's number only if it looks like one: they have other meanings too,
/// such as a story's number in `sid`.
const PERHAPS_SESSIONS: &[&str] = &["sess", "session", "sid"];

/// The least characters of a value that looks like a session's number.
const TOKEN_CHARS: usize = 16;

/// Whether a parameter comes from advertising or analytics.
pub(super) fn is_tracking(name: &str) -> bool {
    is_one_of(name, TRACKING) || begins_with_one_of(name, TRACKING_PREFIXES)
}

/// Whether a parameter holds a session's number.
pub(super) fn is_session(name: &str, value: &str) -> bool {
    is_one_of(name, SESSIONS)
        || begins_with_one_of(name, SESSION_PREFIXES)
        || (is_one_of(name, PERHAPS_SESSIONS) && is_token(value))
}

/// Whether a text looks drawn by lot: long, letters and digits mixed, no word marks.
pub(super) fn is_token(text: &str) -> bool {
    text.len() >= TOKEN_CHARS
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// A parameter's name and value; either can be empty.
pub(super) fn name_and_value(parameter: &str) -> (&str, &str) {
    parameter.split_once('=').unwrap_or((parameter, ""))
}

/// The pieces of a query; none if it is empty.
pub(super) fn pieces(query: Option<&str>) -> impl Iterator<Item = &str> {
    query.unwrap_or_default().split('&').filter(|piece| !piece.is_empty())
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

fn begins_with_one_of(name: &str, prefixes: &[&str]) -> bool {
    let begins = |prefix: &&str| {
        let start = name.get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    prefixes.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: a parameter, whether it is for tracking, whether a session's.
    #[test]
    fn parameters_are_told_apart() {
        let cases = [
            ("utm_source=x", true, false),
            ("UTM_Campaign=x", true, false),
            ("fbclid=x", true, false),
            ("pk_kwd=x", true, false),
            ("utm=x", false, false),
            ("gclid", true, false),
            ("ref=x", false, false),
            ("source=x", false, false),
            ("PHPSESSID=1", false, true),
            ("ASPSESSIONIDCQRS=ABC", false, true),
            ("jsessionid=E46A.node_2", false, true),
            ("sid=123", false, false),
            ("sid=0a1b2c", false, false),
            ("sid=0a1b2c3d4e5f60718", false, true),
            ("session=2026-autumn-session", false, false),
            ("id=0a1b2c3d4e5f60718", false, false),
            ("ü=x", false, false),
        ];
        for (parameter, tracking, session) in cases {
            let (name, value) = name_and_value(parameter);
            assert_eq!(is_tracking(name), tracking, "{parameter}");
            assert_eq!(is_session(name, value), session, "{parameter}");
        }
    }
}
