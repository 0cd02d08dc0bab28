//! Which of several addresses of one page stands for it. All signals are hints (LK-004).

use alloc::vec::Vec;

use url::{Position, Url};

use crate::verdict::reasons;

/// For how long a page says that it has moved (LK-005).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Move {
    /// For good: 301, 308, a refresh after 0 seconds.
    Permanent,
    /// For now: 302, 303, 307, a refresh after more.
    Temporary,
}

impl Move {
    /// What a status says; none if it is no redirect (LK-005).
    pub const fn of_status(status: u16) -> Option<Self> {
        match status {
            301 | 308 => Some(Self::Permanent),
            302 | 303 | 307 => Some(Self::Temporary),
            _ => None,
        }
    }

    /// What a `Refresh` header or a meta refresh says by its delay (LK-005).
    pub const fn of_refresh(delay_s: u32) -> Self {
        if delay_s == 0 { Self::Permanent } else { Self::Temporary }
    }
}

/// One step of the way to a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hop<'a> {
    /// The address that led on.
    pub from: &'a Url,
    /// For how long.
    pub how: Move,
}

/// What is known of the same page under `https:`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum HttpsTwin {
    /// Nothing speaks against it.
    #[default]
    Sound,
    /// It has a bad certificate or insecure dependencies, so it is not preferred (LK-004).
    Doubtful,
}

/// What is known of a page's addresses. Addresses come without fragment: none takes part (LK-004).
#[derive(Clone, Copy, Debug)]
pub struct Signals<'a> {
    /// Where the page was read.
    pub url: &'a Url,
    /// The redirects that led there, in order; empty if it was asked for directly.
    pub hops: &'a [Hop<'a>],
    /// What its head names. None if it names several that differ, or outside the head, or with
    /// hreflang, lang, media or type (LK-004, LK-007): the page's reader sees to that.
    pub link_element: Option<&'a Url>,
    /// What its `Link` header names.
    pub link_header: Option<&'a Url>,
    /// Other addresses of the site with the same content.
    pub same_content: &'a [Url],
    /// Which of all these addresses a sitemap lists.
    pub in_sitemap: &'a [Url],
    /// Whether the `https:` address may be preferred.
    pub https: HttpsTwin,
}

/// How much a canonical address is worth (LK-004).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Strength {
    /// Sitemap, protocol, likeness, a temporary redirect.
    Weak,
    /// A permanent redirect, or `rel=canonical`.
    Strong,
}

/// The address that stands for a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Canonical {
    /// The address.
    pub url: Url,
    /// How much that is worth.
    pub strength: Strength,
    /// What it rests on.
    pub because: CanonicalReason,
}

reasons! {
    /// Why an address stands for a page, strongest first.
    CanonicalReason {
        /// Signals of equal strength name different addresses, so none of them counts.
        Conflict = "canonical-conflict", "LK-004",
            "The site owner can let redirects, link elements and headers name one address.";
        /// The page's head names it.
        LinkElement = "canonical-element", "LK-004, LK-007",
            "The site owner names this address by rel=canonical; nothing to do.";
        /// The page's `Link` header names it.
        LinkHeader = "canonical-header", "LK-004",
            "The site owner names this address in the Link header; nothing to do.";
        /// Permanent redirects lead to it.
        PermanentRedirect = "permanent-redirect", "LK-004, LK-005",
            "The site owner moved the page for good; nothing to do.";
        /// It redirects for the time being, so it stays the page's address.
        TemporaryRedirect = "temporary-redirect", "LK-005",
            "The site owner can redirect by 301 or 308 if the page has moved for good.";
        /// A sitemap lists it, and not the address where the page was read.
        Sitemap = "canonical-sitemap", "LK-004",
            "The site owner can name the address by rel=canonical, which is stronger.";
        /// The same page is there under https.
        Https = "canonical-https", "LK-004",
            "The site owner can redirect http to https.";
        /// Another address with the same content is shorter.
        SameContent = "canonical-same-content", "LK-004, house rule: the shortest, then the first in order",
            "The site owner can name one address by rel=canonical.";
        /// Nothing names another.
        Own = "canonical-own", "LK-004",
            "The page stands for itself; nothing to do.";
    }
}

/// Chooses the address that stands for a page, by its strongest signal.
///
/// 1. `rel=canonical` of head and header, if they agree; if they differ, neither counts. One that
///    points back along the permanent redirects that led here contradicts a signal of its own
///    strength: the address that has the content stays.
/// 2. Redirects: through permanent ones the last address, before a temporary one the address that
///    has it.
/// 3. A sitemap that lists one of the addresses with this content.
/// 4. `https:` before `http:`, unless it is doubtful.
/// 5. The shortest address with this content.
pub fn canonical(signals: &Signals<'_>) -> Canonical {
    let (url, because) = strong(signals).unwrap_or_else(|| weak(signals));
    let strength = match because {
        CanonicalReason::LinkElement
        | CanonicalReason::LinkHeader
        | CanonicalReason::PermanentRedirect => Strength::Strong,
        CanonicalReason::Conflict
        | CanonicalReason::TemporaryRedirect
        | CanonicalReason::Sitemap
        | CanonicalReason::Https
        | CanonicalReason::SameContent
        | CanonicalReason::Own => Strength::Weak,
    };
    Canonical { url: url.clone(), strength, because }
}

fn strong<'a>(signals: &Signals<'a>) -> Option<(&'a Url, CanonicalReason)> {
    let named = match (signals.link_element, signals.link_header) {
        (Some(element), Some(header)) if element != header => {
            return Some((signals.url, CanonicalReason::Conflict));
        }
        (Some(element), _) => Some((element, CanonicalReason::LinkElement)),
        (None, Some(header)) => Some((header, CanonicalReason::LinkHeader)),
        (None, None) => None,
    };
    let temporary = signals.hops.iter().position(|hop| hop.how == Move::Temporary);
    if let Some((named, because)) = named.filter(|(named, _)| is_web(named)) {
        let permanent = signals.hops.get(temporary.map_or(0, |at| at + 1)..).unwrap_or_default();
        let permanent = permanent.iter().filter(|hop| hop.how == Move::Permanent);
        let mut left = permanent.map(|hop| hop.from);
        if left.any(|from| from == named) {
            return Some((signals.url, CanonicalReason::Conflict));
        }
        return Some((named, because));
    }
    match temporary {
        Some(at) => {
            let from = signals.hops.get(at)?.from;
            Some((from, CanonicalReason::TemporaryRedirect))
        }
        None if signals.hops.is_empty() => None,
        None => Some((signals.url, CanonicalReason::PermanentRedirect)),
    }
}

fn weak<'a>(signals: &Signals<'a>) -> (&'a Url, CanonicalReason) {
    let own = signals.url;
    let mut candidates: Vec<&Url> = signals.same_content.iter().filter(|url| is_web(url)).collect();
    candidates.push(own);
    let prefers_https = signals.https == HttpsTwin::Sound;
    let is_listed = |url: &&Url| signals.in_sitemap.contains(*url);
    let listed =
        candidates.iter().copied().filter(is_listed).min_by_key(|url| rank(url, prefers_https));
    if let Some(listed) = listed {
        let because = if listed == own { CanonicalReason::Own } else { CanonicalReason::Sitemap };
        return (listed, because);
    }
    let best = candidates.iter().copied().min_by_key(|url| rank(url, prefers_https)).unwrap_or(own);
    let is_twin = best.scheme() == "https"
        && own.scheme() == "http"
        && best[Position::BeforeHost..] == own[Position::BeforeHost..];
    let because = match best {
        best if best == own => CanonicalReason::Own,
        _ if is_twin => CanonicalReason::Https,
        _ => CanonicalReason::SameContent,
    };
    (best, because)
}

/// The least comes first.
fn rank(url: &Url, prefers_https: bool) -> (bool, usize, &str) {
    (prefers_https && url.scheme() != "https", url.as_str().len(), url.as_str())
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case. Words before `=>`: `p:` and `t:` hops, permanent and temporary; `e:` and
    /// `h:` the link element and header; `s:` in a sitemap; `d:` same content; `doubtful` https.
    /// The page is read at the first word. After `=>`: address, strength, code.
    const CASES: &str = "
https://e.x/a => https://e.x/a Weak canonical-own
https://e.x/a e:https://e.x/b => https://e.x/b Strong canonical-element
https://e.x/a e:https://e.x/a => https://e.x/a Strong canonical-element
https://e.x/a h:https://e.x/b => https://e.x/b Strong canonical-header
https://e.x/a e:https://e.x/b h:https://e.x/b => https://e.x/b Strong canonical-element
https://e.x/a e:https://e.x/b h:https://e.x/c => https://e.x/a Weak canonical-conflict
https://e.x/a e:ftp://e.x/b => https://e.x/a Weak canonical-own
https://e.x/a p:https://e.x/0 => https://e.x/a Strong permanent-redirect
https://e.x/a p:https://e.x/0 p:https://e.x/1 => https://e.x/a Strong permanent-redirect
https://e.x/a t:https://e.x/0 => https://e.x/0 Weak temporary-redirect
https://e.x/a p:https://e.x/0 t:https://e.x/1 => https://e.x/1 Weak temporary-redirect
https://e.x/a t:https://e.x/0 p:https://e.x/1 => https://e.x/0 Weak temporary-redirect
https://e.x/a p:https://e.x/0 e:https://e.x/b => https://e.x/b Strong canonical-element
https://e.x/a p:https://e.x/0 e:https://e.x/0 => https://e.x/a Weak canonical-conflict
https://e.x/a t:https://e.x/0 e:https://e.x/0 => https://e.x/0 Strong canonical-element
https://e.x/a d:https://e.x/b s:https://e.x/b => https://e.x/b Weak canonical-sitemap
https://e.x/a d:https://e.x/ s:https://e.x/a => https://e.x/a Weak canonical-own
https://e.x/a s:https://e.x/other => https://e.x/a Weak canonical-own
https://e.x/a e:https://e.x/b s:https://e.x/a => https://e.x/b Strong canonical-element
https://e.x/a p:https://e.x/0 s:https://e.x/0 => https://e.x/a Strong permanent-redirect
http://e.x/a d:https://e.x/a => https://e.x/a Weak canonical-https
http://e.x/a d:https://e.x/a doubtful => http://e.x/a Weak canonical-own
http://e.x/a d:https://e.x/a e:http://e.x/a => http://e.x/a Strong canonical-element
http://e.x/a d:http://e.x/b d:https://e.x/a s:http://e.x/b s:https://e.x/a => https://e.x/a Weak canonical-sitemap
https://e.x/a?sid=1 d:https://e.x/a => https://e.x/a Weak canonical-same-content
https://e.x/b d:https://e.x/a => https://e.x/a Weak canonical-same-content
https://e.x/a d:https://e.x/b => https://e.x/a Weak canonical-own
";

    /// LK-004, LK-005: the strongest signal decides, and all are hints.
    #[test]
    fn the_strongest_signal_decides() {
        for case in CASES.lines().filter(|line| !line.is_empty()) {
            let (given, expect) = case.split_once(" => ").unwrap();
            let all = |key: &str| -> Vec<Url> {
                let words = given.split(' ').filter_map(|word| word.strip_prefix(key));
                words.map(|word| Url::parse(word).unwrap()).collect()
            };
            let hops = given.split(' ').filter_map(|word| match word.split_at(2) {
                ("p:", from) => Some((Url::parse(from).unwrap(), Move::Permanent)),
                ("t:", from) => Some((Url::parse(from).unwrap(), Move::Temporary)),
                _ => None,
            });
            let hops: Vec<_> = hops.collect();
            let hops: Vec<_> = hops.iter().map(|(from, how)| Hop { from, how: *how }).collect();
            let (element, header) = (all("e:"), all("h:"));
            let url = Url::parse(given.split(' ').next().unwrap()).unwrap();
            let doubtful = given.ends_with("doubtful");
            let found = canonical(&Signals {
                url: &url,
                hops: &hops,
                link_element: element.first(),
                link_header: header.first(),
                same_content: &all("d:"),
                in_sitemap: &all("s:"),
                https: if doubtful { HttpsTwin::Doubtful } else { HttpsTwin::Sound },
            });
            let shown = alloc::format!("{} {:?} {}", found.url, found.strength, found.because);
            assert_eq!(shown, expect, "{case}");
        }
    }

    /// LK-005.
    #[test]
    fn moves() {
        let cases = [
            (301, Some(Move::Permanent)),
            (308, Some(Move::Permanent)),
            (302, Some(Move::Temporary)),
            (303, Some(Move::Temporary)),
            (307, Some(Move::Temporary)),
            (300, None),
            (304, None),
            (200, None),
        ];
        for (status, expect) in cases {
            assert_eq!(Move::of_status(status), expect, "{status}");
        }
        assert_eq!(Move::of_refresh(0), Move::Permanent);
        assert_eq!(Move::of_refresh(1), Move::Temporary);
    }

    #[test]
    fn reasons() {
        for reason in CanonicalReason::ALL {
            assert_eq!(CanonicalReason::from_code(reason.code()), Some(*reason));
            assert!(reason.advice().ends_with('.') && !reason.clause().is_empty());
        }
    }
}
