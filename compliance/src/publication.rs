//! What an index may do with a page, and until when.

use crate::Timestamp;
use crate::directives::{Directives, ImagePreview, Limit};
use crate::verdict::reasons;

/// What an index may do with a page.
#[must_use]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Publication {
    /// Show it, within the terms.
    Full(Terms),
    /// Show it only as a part of a page that embeds it, within the terms (RM-025, AM-59).
    EmbeddedOnly(Terms),
    /// Show its bare URL and nothing of its content: the content was never seen, and neither
    /// were its rules (RT-049, RM-043).
    BareUrl(Withheld),
    /// Show nothing of it.
    Nothing(Withheld),
}

/// How much of a page may be shown, and until when.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Terms {
    /// Text that may be quoted, in answers of a machine as in results (RM-024, RM-026). It also
    /// caps the `description` of articles and other creative works (SN-005).
    pub snippet: SnippetBudget,
    /// Largest image preview; without a rule, the default size (RM-027).
    pub image_preview: ImagePreview,
    /// Seconds of video preview; 0 is a still at most, within `image_preview` (RM-028).
    pub video_preview: Limit,
    /// Whether a translation may be offered (RM-029).
    pub translation: Permission,
    /// Whether the page's images may be indexed as found here (RM-030).
    pub images: Permission,
    /// From this instant on nothing may be shown (RM-031).
    pub until: Option<Timestamp>,
}

/// Whether a use is left open or forbidden by a rule.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Permission {
    /// No rule forbids it.
    Allow,
    /// A rule forbids it.
    Forbid,
}

/// What the status of an answer means for what an index holds of the URL (AM-57).
#[must_use]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StatusEffect {
    /// Content came: read it and its rules, and publish by these (HT-001).
    Read,
    /// It points elsewhere, if it says where (HT-002, LK-005): withdraw what is held, judge the
    /// target for itself.
    Redirect,
    /// The content held before stands; [`Directives::after_not_modified`] tells its rules
    /// (HT-002, AM-56).
    Stand,
    /// Withdraw what is held; content and page rules of the answer do not count (HT-002, HT-003).
    Withdraw(Withheld),
    /// The site is in trouble: what was held stays for now, the answer does not count (HT-004).
    Keep,
}

impl StatusEffect {
    /// The effect of a status. A number that is no status is the site's trouble too, as is no
    /// answer at all (HT-005).
    pub const fn of(status: u16) -> Self {
        match status {
            204 | 205 => Self::Withdraw(Withheld::NotSuccessful),
            200..=299 => Self::Read,
            301 | 302 | 303 | 307 | 308 => Self::Redirect,
            304 => Self::Stand,
            300..=399 => Self::Withdraw(Withheld::Redirect),
            429 => Self::Keep,
            400..=499 => Self::Withdraw(Withheld::NotSuccessful),
            _ => Self::Keep,
        }
    }
}

reasons! {
    /// Why a page is withheld.
    Withheld {
        /// A rule of the page keeps it out.
        NoIndex = "noindex", "RM-021, RM-023",
            "The page says noindex; only the site owner can change that.";
        /// The page's own date has passed.
        Expired = "expired", "RM-031, AM-48",
            "The date in the page's unavailable_after has passed; the site owner can set a later one.";
        /// robots.txt forbids to fetch it.
        RobotsDisallow = "robots-disallow", "RT-049, RM-043",
            "The site's robots.txt forbids this URL, so neither content nor page rules were seen; a site owner who wants noindex obeyed allows the fetch.";
        /// It answered with an error of the client's or an empty answer.
        NotSuccessful = "not-successful", "HT-001, HT-003, AM-57",
            "The URL does not answer with content; the site owner can serve it with status 200.";
        /// Its content is of a kind that is not indexed.
        ContentType = "content-type", "house rule",
            "Only HTML and plain text are indexed; the site owner can serve the page as text/html.";
        /// It only points elsewhere.
        Redirect = "redirect", "HT-002, AM-54",
            "The URL redirects, so its target is shown in its place; nothing to do.";
    }
}

impl Publication {
    /// What may be done with a URL that robots.txt forbids to fetch (RT-049).
    pub const UNSEEN: Self = Self::BareUrl(Withheld::RobotsDisallow);

    /// What the rules of a page that was fetched allow at `now`.
    ///
    /// `noindex` comes first, then the date: an embedded use does not outlive it (AM-59).
    pub fn of(directives: &Directives, now: Timestamp) -> Self {
        let terms = Terms::of(directives);
        let publication = match (directives.noindex(), directives.index_if_embedded()) {
            (None, _) => Self::Full(terms),
            (Some(_), Some(_)) => Self::EmbeddedOnly(terms),
            (Some(_), None) => Self::Nothing(Withheld::NoIndex),
        };
        publication.at(now)
    }

    /// The same at a later instant: nothing once its date has passed.
    pub fn at(&self, now: Timestamp) -> Self {
        match self.until() {
            Some(until) if now >= until => Self::Nothing(Withheld::Expired),
            Some(_) | None => *self,
        }
    }

    /// The terms, where something may be shown.
    pub fn terms(&self) -> Option<&Terms> {
        match self {
            Self::Full(terms) | Self::EmbeddedOnly(terms) => Some(terms),
            Self::BareUrl(_) | Self::Nothing(_) => None,
        }
    }

    /// Why content is withheld, where it is.
    pub fn withheld(&self) -> Option<Withheld> {
        match self {
            Self::Full(_) | Self::EmbeddedOnly(_) => None,
            Self::BareUrl(why) | Self::Nothing(why) => Some(*why),
        }
    }

    /// From when on nothing may be shown, where that is still ahead.
    pub fn until(&self) -> Option<Timestamp> {
        self.terms().and_then(|terms| terms.until)
    }

    /// The name used in logs and vectors; never changed.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Full(_) => "full",
            Self::EmbeddedOnly(_) => "embedded-only",
            Self::BareUrl(_) => "bare-url",
            Self::Nothing(_) => "nothing",
        }
    }
}

impl Terms {
    /// The limits that the rules set, `noindex` left aside.
    pub fn of(directives: &Directives) -> Self {
        let nothing = directives.nosnippet().map(|_| Limit::AtMost(0));
        let snippet = directives.max_snippet().map(|(limit, _)| limit);
        let video = directives.max_video_preview().map(|(limit, _)| limit);
        let image = directives.max_image_preview().map(|(size, _)| size);
        Self {
            snippet: SnippetBudget(nothing.or(snippet).unwrap_or(Limit::Unlimited)),
            image_preview: image.unwrap_or(ImagePreview::Standard),
            video_preview: nothing.or(video).unwrap_or(Limit::Unlimited),
            translation: Permission::unless(directives.no_translate().is_some()),
            images: Permission::unless(directives.no_image_index().is_some()),
            until: directives.unavailable_after().map(|(instant, _)| instant),
        }
    }
}

/// No limit but the default size of images: the terms of a page without rules.
impl Default for Terms {
    fn default() -> Self {
        Self::of(&Directives::default())
    }
}

impl Permission {
    fn unless(forbidden: bool) -> Self {
        if forbidden { Self::Forbid } else { Self::Allow }
    }
}

/// How many characters of a page's text may be shown at once.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SnippetBudget(Limit);

impl SnippetBudget {
    /// The budget of a limit, such as one read back from a store.
    pub const fn new(limit: Limit) -> Self {
        Self(limit)
    }

    /// The limit in characters.
    pub const fn limit(self) -> Limit {
        self.0
    }

    /// The longest start of `text` that may be shown. A character is a Unicode code point, and
    /// none is cut.
    pub fn cut(self, text: &str) -> &str {
        let Limit::AtMost(characters) = self.0 else {
            return text;
        };
        let characters = usize::try_from(characters).unwrap_or(usize::MAX);
        let end = text.char_indices().nth(characters).map(|(end, _)| end);
        end.and_then(|end| text.get(..end)).unwrap_or(text)
    }
}

/// Whether an element with a `data-nosnippet` attribute, whatever its value, hides its text from
/// snippets: `span`, `div` and `section` do, in any case (SN-001, SN-003).
///
/// Its links and its structured data count as before (SN-005, SN-006).
pub fn hides_from_snippets(element: &str) -> bool {
    ["span", "div", "section"].iter().any(|hiding| hiding.eq_ignore_ascii_case(element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, ProductToken};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn directives(content: &str) -> Directives {
        let identity = Identity::new(ProductToken::new("examplebot").unwrap());
        let mut collector = Directives::for_identity(&identity, Timestamp::EPOCH);
        collector.meta("robots", content);
        collector.finish()
    }

    /// 2027-01-01T00:00:00Z, by `date -u -d 2027-01-01 +%s`.
    const NEW_YEAR: i64 = 1_798_761_600;

    /// One line, one case: content | seconds from the new year 2027 | code, reason.
    const SHOWN: &str = "
 | 0 | full
all | 0 | full
index, follow | 0 | full
nofollow, nosnippet | 0 | full
noarchive | 0 | full
noindex | 0 | nothing noindex
none | 0 | nothing noindex
index, noindex | 0 | nothing noindex
noindex, indexifembedded | 0 | embedded-only
none, indexifembedded | 0 | embedded-only
indexifembedded | 0 | full
unavailable_after: 2027-01-01 | -1 | full
unavailable_after: 2027-01-01 | 0 | nothing expired
unavailable_after: 2027-01-01 | 1 | nothing expired
unavailable_after: soon | 1 | full
unavailable_after: 2027-01-01, indexifembedded | 1 | nothing expired
noindex, indexifembedded, unavailable_after: 2027-01-01 | -1 | embedded-only
noindex, indexifembedded, unavailable_after: 2027-01-01 | 0 | nothing expired
noindex, unavailable_after: 2027-01-01 | 0 | nothing noindex
";

    #[test]
    fn what_may_be_shown() {
        for case in SHOWN.lines().filter(|line| !line.is_empty()) {
            let [content, after, expect] = columns(case);
            let now = Timestamp::from_secs(NEW_YEAR + after.parse::<i64>().unwrap());
            let publication = Publication::of(&directives(content), now);
            let withheld = publication.withheld().map_or("", Withheld::code);
            let shown = format!("{} {withheld}", publication.code());
            assert_eq!(shown.trim(), expect, "{case}");
            let early = Publication::of(&directives(content), Timestamp::EPOCH).at(now);
            assert_eq!(early, publication, "asked early: {case}");
        }
    }

    /// One line, one case: content | snippet, image, video, translation, images.
    const TERMS: &str = "
 | -1 standard -1 Allow Allow
nosnippet | 0 standard 0 Allow Allow
max-snippet:0 | 0 standard 0 Allow Allow
max-snippet:20 | 20 standard -1 Allow Allow
max-snippet:-1 | -1 standard -1 Allow Allow
max-snippet:50, nosnippet | 0 standard 0 Allow Allow
max-snippet:20, max-image-preview:large | 20 large -1 Allow Allow
max-image-preview:standard | -1 standard -1 Allow Allow
max-image-preview:none, max-video-preview:0 | -1 none 0 Allow Allow
max-video-preview:-1 | -1 standard -1 Allow Allow
max-video-preview:7, nosnippet | 0 standard 0 Allow Allow
notranslate | -1 standard -1 Forbid Allow
noimageindex | -1 standard -1 Allow Forbid
";

    #[test]
    fn terms() {
        for case in TERMS.lines().filter(|line| !line.is_empty()) {
            let [content, expect] = columns(case);
            let terms = Terms::of(&directives(content));
            let shown = format!(
                "{} {} {} {:?} {:?}",
                terms.snippet.limit(),
                terms.image_preview,
                terms.video_preview,
                terms.translation,
                terms.images
            );
            assert_eq!(shown, expect, "{case}");
            assert_eq!(terms.until, None, "{case}");
        }
    }

    fn columns<const N: usize>(case: &str) -> [&str; N] {
        let columns: Vec<_> = case.split('|').map(str::trim).collect();
        columns.try_into().unwrap()
    }

    #[test]
    fn withheld_pages_stay_withheld() {
        for why in Withheld::ALL {
            for publication in [Publication::BareUrl(*why), Publication::Nothing(*why)] {
                assert_eq!(publication.at(Timestamp::from_millis(i64::MAX)), publication);
            }
            assert_eq!(Withheld::from_code(why.code()), Some(*why));
            assert!(why.advice().ends_with('.') && !why.clause().is_empty());
        }
    }

    #[test]
    fn statuses() {
        use StatusEffect::{Keep, Read, Redirect, Stand, Withdraw};
        let cases = [
            (200, Read),
            (201, Read),
            (202, Read),
            (204, Withdraw(Withheld::NotSuccessful)),
            (300, Withdraw(Withheld::Redirect)),
            (301, Redirect),
            (302, Redirect),
            (303, Redirect),
            (304, Stand),
            (305, Withdraw(Withheld::Redirect)),
            (307, Redirect),
            (308, Redirect),
            (401, Withdraw(Withheld::NotSuccessful)),
            (404, Withdraw(Withheld::NotSuccessful)),
            (410, Withdraw(Withheld::NotSuccessful)),
            (429, Keep),
            (500, Keep),
            (503, Keep),
            (0, Keep),
            (100, Keep),
            (600, Keep),
        ];
        for (status, expect) in cases {
            assert_eq!(StatusEffect::of(status), expect, "{status}");
        }
    }

    #[test]
    fn snippets_are_cut_between_code_points() {
        let cases = [
            (
                Limit::AtMost(5),
                "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
                "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
            ),
            (Limit::AtMost(0), "text", ""),
            (Limit::AtMost(4), "text", "text"),
            (Limit::AtMost(5), "text", "text"),
            (Limit::AtMost(1), "\u{1f600}!", "\u{1f600}"),
            (Limit::AtMost(u32::MAX), "text", "text"),
            (Limit::Unlimited, "text", "text"),
        ];
        for (limit, text, expect) in cases {
            assert_eq!(SnippetBudget(limit).cut(text), expect, "{limit} of {text}");
        }
    }

    #[test]
    fn elements_that_hide() {
        for hiding in ["span", "div", "section", "DIV", "Span"] {
            assert!(hides_from_snippets(hiding), "{hiding}");
        }
        for showing in ["mytag", "my-box", "p", "ul", "li", "article", "", "divs"] {
            assert!(!hides_from_snippets(showing), "{showing}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_is_a_start_within_the_limit(text in any::<String>(), characters in 0u32..40) {
            let cut = SnippetBudget(Limit::AtMost(characters)).cut(&text);
            prop_assert!(text.starts_with(cut));
            let expect = text.chars().count().min(characters as usize);
            prop_assert_eq!(cut.chars().count(), expect);
        }
    }
}
