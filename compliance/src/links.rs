//! Which links of a page may be followed, and why the others may not.

use url::Url;

use crate::directives::Directives;
use crate::verdict::reasons;

/// Whether a link may be followed.
#[must_use]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Follow {
    /// Follow it.
    Yes,
    /// Do not follow it from here. The target may still be found elsewhere (LK-002).
    No(NoFollow),
}

reasons! {
    /// Why a link is not followed, in the order in which the reasons are asked.
    NoFollow {
        /// A rule of the page covers all of its links.
        Page = "page-nofollow", "RM-022, RM-023, AM-62",
            "The page says nofollow, so none of its links is followed; only the site owner can change that.";
        /// The link says `rel=nofollow`.
        RelNoFollow = "rel-nofollow", "LK-002",
            "The link says rel=nofollow; the site owner can remove it.";
        /// The link says `rel=sponsored`.
        RelSponsored = "rel-sponsored", "LK-002",
            "The link is marked as paid for (rel=sponsored), and such links are not followed.";
        /// The link says `rel=ugc`.
        RelUgc = "rel-ugc", "LK-002",
            "The link is marked as written by a user (rel=ugc), and such links are not followed.";
        /// It leads to no http(s) URL.
        NotALink = "not-a-link", "LK-001, RT-004",
            "The link leads to no http or https URL; the site owner can use a plain href.";
    }
}

/// Judges a hyperlink by its page's rules and its own `rel`, empty where it has none.
///
/// The page's nofollow covers hyperlinks only: neither redirects, canonical, hreflang nor
/// sitemaps (AM-62).
pub fn judge_link(page: &Directives, rel: &str) -> Follow {
    if page.nofollow().is_some() {
        return Follow::No(NoFollow::Page);
    }
    // Blanks or commas stand between tokens (LK-002).
    let tokens = rel.split(|c: char| c.is_ascii_whitespace() || c == ',');
    let first_asked = tokens.filter_map(qualifier).min();
    first_asked.map_or(Follow::Yes, Follow::No)
}

/// Judges what a link leads to: only http and https URLs can be followed (LK-001).
pub fn judge_target(target: &Url) -> Follow {
    match target.scheme() {
        "http" | "https" => Follow::Yes,
        _ => Follow::No(NoFollow::NotALink),
    }
}

fn qualifier(token: &str) -> Option<NoFollow> {
    let qualifiers = [
        ("nofollow", NoFollow::RelNoFollow),
        ("sponsored", NoFollow::RelSponsored),
        ("ugc", NoFollow::RelUgc),
    ];
    let named = |(name, _): &(&str, NoFollow)| name.eq_ignore_ascii_case(token);
    qualifiers.into_iter().find(named).map(|(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, ProductToken, Timestamp};
    use alloc::string::String;
    use proptest::prelude::*;

    fn page(line: &str) -> Directives {
        let identity = Identity::new(ProductToken::new("examplebot").unwrap());
        let mut collector = Directives::for_identity(&identity, Timestamp::EPOCH);
        collector.header_line(line.as_bytes());
        collector.finish()
    }

    /// One line, one case: X-Robots-Tag of the page, rel, code of the refusal.
    #[test]
    fn links() {
        let cases = [
            ("", "", None),
            ("", "noopener noreferrer", None),
            ("", "nofollow", Some("rel-nofollow")),
            ("", "NoFollow", Some("rel-nofollow")),
            ("", "noopener nofollow", Some("rel-nofollow")),
            ("", "ugc,nofollow", Some("rel-nofollow")),
            ("", "sponsored\tugc", Some("rel-sponsored")),
            ("", " ,ugc, ", Some("rel-ugc")),
            ("", "ugcs nofollowed", None),
            ("noindex", "", None),
            ("follow", "nofollow", Some("rel-nofollow")),
            ("nofollow", "", Some("page-nofollow")),
            ("nofollow", "ugc", Some("page-nofollow")),
            ("none", "", Some("page-nofollow")),
            ("otherbot: nofollow", "", None),
            ("examplebot: nofollow", "", Some("page-nofollow")),
        ];
        for (line, rel, expect) in cases {
            let code = match judge_link(&page(line), rel) {
                Follow::Yes => None,
                Follow::No(reason) => Some(reason.code()),
            };
            assert_eq!(code, expect, "page {line:?}, rel {rel:?}");
        }
    }

    #[test]
    fn reasons() {
        for reason in NoFollow::ALL {
            assert_eq!(NoFollow::from_code(reason.code()), Some(*reason));
            assert!(reason.advice().ends_with('.') && !reason.clause().is_empty());
        }
    }

    #[test]
    fn targets() {
        for target in ["http://example.com/", "https://example.com/a"] {
            assert_eq!(judge_target(&Url::parse(target).unwrap()), Follow::Yes);
        }
        for target in
            ["javascript:void(0)", "mailto:me@example.org", "ftp://example.com/", "data:,x"]
        {
            let judged = judge_target(&Url::parse(target).unwrap());
            assert_eq!(judged, Follow::No(NoFollow::NotALink), "{target}");
        }
    }

    proptest! {
        #[test]
        fn any_rel_is_judged(rel in any::<String>()) {
            let _ = judge_link(&Directives::default(), &rel);
        }
    }
}
