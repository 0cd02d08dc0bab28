//! One `Robots-Tag` field line, the draft successor of `X-Robots-Tag`: a structured list of
//! crawlers, each with its rules as parameters, `*;nosnippet, examplebot;noindex` (XR-007).

use super::header::text_of;
use super::remarks::{Found, RemarkKind};
use super::vocabulary::{Form, Word};
use crate::quoted::split;
use crate::{DateReader, Identity, ProductToken, Timestamp, ZoneSource};

/// Gives `keep` every rule and remark of the line that binds `identity`, with the token that it is for.
///
/// Members that cannot be read are passed over, as are parameters: the others still bind. The
/// whole line is read; the draft asks for 8 KiB at least.
pub(super) fn read_line<'i>(
    value: &[u8],
    identity: &'i Identity,
    dates: DateReader,
    mut keep: impl FnMut(Found<'_>, Option<&'i ProductToken>),
) {
    let line = text_of(value);
    for member in split(&line, ',') {
        let mut parts = split(member, ';');
        let name = unquoted(parts.next().unwrap_or_default().trim());
        let own = identity.tokens().iter().find(|token| token.is(name));
        if name != "*" && own.is_none() {
            continue;
        }
        parts.for_each(|parameter| read_parameter(parameter, dates, |found| keep(found, own)));
    }
}

/// Gives `keep` the rules of one parameter: `noindex`, `noindex=?1`, `max-snippet=20`,
/// `unavailable_after="2027-01-01"` or `unavailable_after=@1798761600`.
fn read_parameter<'t>(parameter: &'t str, dates: DateReader, mut keep: impl FnMut(Found<'t>)) {
    let (name, value) = match parameter.split_once('=') {
        Some((name, value)) => (name, Some(value.trim())),
        None => (parameter, None),
    };
    let rule = match (Word::named(name).map(|word| word.form), value) {
        (Some(Form::Flag(_)), Some("?0")) => return,
        (Some(Form::Flag(rules)), _) => {
            return rules.iter().copied().map(Found::Rule).for_each(keep);
        }
        (Some(Form::Date(make)), Some(value)) if value.starts_with('@') => {
            instant(value).map(|instant| (make(instant), None))
        }
        (Some(form), Some(value)) => form.read(unquoted(value), dates),
        (Some(_), None) => None,
        (None, _) if parameter.trim().is_empty() => return,
        (None, _) => return keep(Found::Remark(RemarkKind::UnknownWord, parameter)),
    };
    let Some((rule, zone)) = rule else {
        return keep(Found::Remark(RemarkKind::UnreadableValue, parameter));
    };
    keep(Found::Rule(rule));
    if zone == Some(ZoneSource::Unknown) {
        keep(Found::Remark(RemarkKind::UnknownZone, parameter));
    }
}

/// A date of a structured field: seconds since 1970 (RFC 9651 section 3.3.7).
fn instant(value: &str) -> Option<Timestamp> {
    let seconds = value.strip_prefix('@')?.parse().ok()?;
    jiff::Timestamp::from_second(seconds).ok().map(|_| Timestamp::from_secs(seconds))
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Directives, Source};
    use alloc::string::{String, ToString as _};
    use alloc::vec::Vec;

    fn read(lines: &[&str]) -> String {
        let identity = Identity::new(ProductToken::new("examplebot").unwrap());
        let collector = Directives::for_identity(&identity, Timestamp::EPOCH);
        let mut collector = collector.with_robots_tag();
        lines.iter().for_each(|line| collector.robots_tag_line(line.as_bytes()));
        let kept: Vec<_> =
            collector.finish().iter().map(|directive| directive.to_string()).collect();
        kept.join(" | ")
    }

    /// XR-007: one line, one case.
    #[test]
    fn lines() {
        let cases: &[(&[&str], &str)] = &[
            (
                &["*;nosnippet, ExampleBot;noindex"],
                "Robots-Tag line 1: nosnippet | Robots-Tag line 1, examplebot: noindex",
            ),
            (
                &["*;noindex;nosnippet, ExampleBot;"],
                "Robots-Tag line 1: noindex | Robots-Tag line 1: nosnippet",
            ),
            (&["\"examplebot\";noindex"], "Robots-Tag line 1, examplebot: noindex"),
            (&["otherbot;noindex, *"], ""),
            (&["examplebot"], ""),
            (&["noindex"], ""),
            (&["*;NOINDEX ; nofollow"], "Robots-Tag line 1: noindex | Robots-Tag line 1: nofollow"),
            (&["*;noindex=?1"], "Robots-Tag line 1: noindex"),
            (&["*;noindex=?0"], ""),
            (&["*;none"], "Robots-Tag line 1: noindex | Robots-Tag line 1: nofollow"),
            (&["*;max-snippet=20", "*;max-snippet=5"], "Robots-Tag line 2: max-snippet:5"),
            (&["*;max-snippet"], ""),
            (&["*;max-snippet=many;noindex"], "Robots-Tag line 1: noindex"),
            (&["*;max-image-preview=large"], "Robots-Tag line 1: max-image-preview:large"),
            (
                &["*;unavailable_after=\"Fri, 01 Jan 2027; noindex\";nofollow"],
                "Robots-Tag line 1: nofollow",
            ),
            (
                &["*;unavailable_after=\"Fri, 01 Jan 2027 00:00:00 GMT\";nofollow"],
                "Robots-Tag line 1: unavailable_after: 2027-01-01T00:00:00Z \
                 | Robots-Tag line 1: nofollow",
            ),
            (
                &["*;unavailable_after=@1798761600"],
                "Robots-Tag line 1: unavailable_after: 2027-01-01T00:00:00Z",
            ),
            (&["*;unavailable_after=@99999999999999999999", "*;unavailable_after=@x"], ""),
            (
                &["*;unknown=\"a\\\"b, *;noindex\", examplebot;nofollow"],
                "Robots-Tag line 1, examplebot: nofollow",
            ),
            (&["*;noindex=\"", "", ",;=\"\\"], "Robots-Tag line 1: noindex"),
        ];
        for (lines, expect) in cases {
            assert_eq!(read(lines), *expect, "{lines:?}");
        }
        let long = ", otherbot;noindex".repeat(600) + ", *;noindex";
        assert!(long.len() > 8 * 1024);
        assert_eq!(read(&[&long]), "Robots-Tag line 1: noindex");
    }

    #[test]
    fn is_off_unless_asked_for() {
        let identity = Identity::new(ProductToken::new("examplebot").unwrap());
        let mut collector = Directives::for_identity(&identity, Timestamp::EPOCH);
        collector.robots_tag_line(b"*;noindex");
        assert!(collector.finish().is_empty());
    }

    #[test]
    fn sources_are_read_back() {
        for source in [Source::RobotsTag { line: 7 }, Source::Header { line: 7 }] {
            assert_eq!(source.to_string().parse(), Ok(source));
        }
    }

    proptest::proptest! {
        /// Whatever a line holds, reading it ends.
        #[test]
        fn any_line(line: Vec<u8>, marks in "[*;,=\"\\\\ @?a-z]{0,60}") {
            let identity = Identity::new(ProductToken::new("a").unwrap());
            for text in [&line[..], marks.as_bytes()] {
                read_line(text, &identity, DateReader::new(Timestamp::EPOCH), |_, _| {});
            }
        }
    }
}
