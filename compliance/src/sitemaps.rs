//! Sitemaps: which entries of one count, what is wrong with its text, and how far its dates are
//! trusted (SM-001 to SM-005).

use url::Url;

use crate::Origin;
use crate::verdict::reasons;

/// How a sitemap became known. What an index lists became known as the index did.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Submission {
    /// The operator named it: it speaks for the whole of its own origin.
    Operator,
    /// The robots.txt of this origin names it: it speaks for the whole of that origin, wherever it
    /// lies itself.
    RobotsTxt(Origin),
    /// Nobody named it, such as one found by its usual name: it speaks for its directory.
    Unsubmitted,
}

/// What the robots.txt of an entry's own origin says of the sitemap, or of an index above it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CrossSubmission {
    /// It names it.
    Named,
    /// It does not, or there is no such file.
    NotNamed,
    /// It has not been read.
    Unknown,
}

reasons! {
    /// Why an entry of a sitemap does not count, in the order in which the reasons are asked.
    NotListed {
        /// Its URL is neither http nor https.
        NotHttp = "not-http", "SM-001, AM-38",
            "Only http and https URLs are crawled; list those.";
        /// It lies outside the sitemap's directory, and nobody submitted the sitemap.
        OutsideDirectory = "outside-directory", "SM-004",
            "Without a robots.txt that names it, a sitemap speaks for its own directory and what lies below; name it in robots.txt, or move it to the root.";
        /// It is on another origin, whose robots.txt has not been read.
        OriginNotAsked = "origin-not-asked", "SM-004",
            "A sitemap speaks for another site only if that site's robots.txt names it, and it has not been read yet.";
        /// It is on the same host under another protocol or port.
        OtherProtocol = "other-protocol", "SM-004",
            "A sitemap speaks for its own protocol, host and port; list the URLs as they are served, or name the sitemap in the robots.txt there.";
        /// It is on another host, whose robots.txt does not name the sitemap.
        OtherHost = "other-host", "SM-004",
            "Anyone could list a stranger's pages; the listed site's owner can name this sitemap in that site's robots.txt.";
    }
}

reasons! {
    /// What is wrong with the text of a sitemap, or which limit ended the reading of it.
    SitemapFault {
        /// It is none of the formats.
        NotASitemap = "not-a-sitemap", "SM-002",
            "A sitemap is XML with urlset or sitemapindex, RSS 2.0, Atom 1.0, or text with one URL a line; this file lists nothing.";
        /// There is nothing in it.
        Empty = "empty", "SM-002",
            "The file is empty; list URLs in it, or remove it.";
        /// The XML cannot be read further.
        BrokenXml = "broken-xml", "SM-001",
            "What stands behind this place is not read; make the file well-formed XML.";
        /// Tags do not close as they were opened.
        Misnested = "misnested", "SM-001",
            "A tag is closed that is not the last one opened; close tags in the order of their opening.";
        /// An ampersand stands alone.
        BareAmpersand = "bare-ampersand", "SM-001",
            "The ampersand was taken as it stands, and strict readers stop there; write &amp;.";
        /// An entity that XML does not know.
        UnknownEntity = "unknown-entity", "SM-001",
            "Only amp, lt, gt, quot, apos and numbers are resolved, never a DTD's entities; write the character itself.";
        /// It is not in UTF-8.
        NotUtf8 = "not-utf8", "SM-001",
            "Some octets are no valid text, or another encoding is declared; save the file as UTF-8.";
        /// The compressed data end early or are damaged.
        GzipDamaged = "gzip-damaged", "SM-001",
            "What could be unpacked was read; compress the file anew.";
        /// The body broke off.
        BrokenOff = "broken-off", "SM-005",
            "The rest did not arrive; what came was read.";
        /// An entry without an address.
        NoLoc = "no-loc", "SM-001",
            "The entry is left out; give each one its address (loc, or link in a feed).";
        /// An entry with several addresses.
        SecondLoc = "second-loc", "SM-001",
            "The first address counts; give each URL an entry of its own.";
        /// An address without scheme and host.
        RelativeUrl = "relative-url", "SM-001, AM-38",
            "Relative addresses are left out; write the whole URL with https:// and host.";
        /// An address that is none.
        NotAUrl = "not-a-url", "SM-001",
            "The address cannot be read and is left out; write one whole URL, escaped as URLs are.";
        /// An address that is neither http nor https.
        NotHttp = "not-http-url", "SM-001, AM-38",
            "Only http and https addresses count; leave out the others.";
        /// An address that is too long.
        UrlTooLong = "url-too-long", "SM-001",
            "Addresses of 2,048 characters and more are left out; shorten it.";
        /// A date that is none.
        BadDate = "bad-date", "SM-003",
            "The date is ignored and the entry counts; write a W3C date such as 2027-01-31 or 2027-01-31T10:00:00Z.";
        /// More octets than a sitemap may have.
        TooManyBytes = "too-many-bytes", "SM-001",
            "What stands behind 50 MB of unpacked text is not read; split the file and list the parts in an index.";
        /// More entries than a sitemap may have.
        TooManyEntries = "too-many-entries", "SM-001",
            "What stands behind 50,000 entries is not read; split the file and list the parts in an index.";
        /// Elements within elements without end.
        NestedTooDeep = "nested-too-deep", "SM-005",
            "No sitemap nests like this; what stands behind this place is not read.";
        /// A tag, comment or text without end.
        TokenTooLong = "token-too-long", "SM-005",
            "A single tag, comment or text is too large; what stands behind it is not read.";
        /// More images on a page than count.
        TooManyImages = "too-many-images", "SM-005",
            "The first 1,000 images of a URL count; leave out the others.";
        /// More videos or language versions on a page than count.
        TooManyParts = "too-many-parts", "SM-005",
            "Videos and language versions count up to a limit; leave out what is beyond it.";
        /// More news than a sitemap may have.
        TooMuchNews = "too-much-news", "SM-005",
            "The first 1,000 news of a sitemap count as news, the others as pages; split the file.";
        /// News that is no longer new.
        StaleNews = "stale-news", "SM-005",
            "News counts as such for two days; remove the news tags of older articles.";
    }
}

/// Whether an entry of a sitemap counts, be it a page, or a sitemap that an index lists (SM-004).
///
/// `submission` is how the sitemap, or the index at the top, became known; `entrys_robots` is what
/// the robots.txt of the entry's own origin says of it. URLs are taken in their normal form.
///
/// The sitemaps of an index are entries of it and judged as such. One that robots.txt or the
/// operator submitted may so list any of that origin, in a higher directory too: SM-004 binds an
/// index to its directory "unless cross-submitted", and this is the origin's own word for all of it.
///
/// # Errors
/// Why it does not count.
pub fn may_list(
    sitemap: &Url,
    submission: &Submission,
    entry: &Url,
    entrys_robots: CrossSubmission,
) -> Result<(), NotListed> {
    let listed = Origin::of(entry).ok().filter(|_| matches!(entry.scheme(), "http" | "https"));
    let Some(listed) = listed else { return Err(NotListed::NotHttp) };
    let own = Origin::of(sitemap).ok();
    let is_submitted = match submission {
        Submission::RobotsTxt(origin) => *origin == listed,
        Submission::Operator => own.as_ref() == Some(&listed),
        Submission::Unsubmitted => false,
    };
    if is_submitted || entrys_robots == CrossSubmission::Named {
        return Ok(());
    }
    match own {
        Some(own) if own == listed => match entry.path().starts_with(directory(sitemap)) {
            true => Ok(()),
            false => Err(NotListed::OutsideDirectory),
        },
        Some(_) | None if entrys_robots == CrossSubmission::Unknown => {
            Err(NotListed::OriginNotAsked)
        }
        Some(own) if own.host() == listed.host() => Err(NotListed::OtherProtocol),
        Some(_) | None => Err(NotListed::OtherHost),
    }
}

/// The path up to its last slash.
fn directory(url: &Url) -> &str {
    let path = url.path();
    path.rfind('/').map_or("", |slash| path.get(..=slash).unwrap_or_default())
}

/// Whether the `lastmod` of a sitemap is believed: only while it proves true (SM-003).
///
/// Each fetch of a listed page shows whether what `lastmod` claimed was right. The two claims are
/// counted apart, because sites fail in one only: a generator that dates every page today claims
/// changes that are none, one that never updates its dates misses them. A claim is believed after
/// five checks of its kind, while at most one in five was wrong. Beyond 32 checks both counts are
/// halved, so that the last few dozen decide, and a site that mends its dates is believed again.
///
/// Four small numbers, for a store.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct LastmodTrust {
    /// Of the claims that a page has changed.
    pub changed: ClaimTally,
    /// Of the claims that a page is as it was.
    pub unchanged: ClaimTally,
}

/// How often one kind of claim was right.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ClaimTally {
    /// Checks that found it right.
    pub right: u8,
    /// Checks that found it wrong.
    pub wrong: u8,
}

/// Whether a page is another than when it was last fetched: as `lastmod` claims, or as it is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PageChange {
    /// It is.
    Changed,
    /// It is not.
    Unchanged,
}

impl LastmodTrust {
    /// Checks of one kind before it is believed.
    const LEAST_CHECKS: u8 = 5;
    /// One wrong claim in so many is forgiven.
    const WRONG_IN: u16 = 5;
    /// Checks of one kind before the old ones fade.
    const MOST_CHECKS: u8 = 32;

    /// Takes account of a fetch: what `lastmod` claimed since the one before, and what was found.
    pub fn told(&mut self, claim: PageChange, found: PageChange) {
        let tally = match claim {
            PageChange::Changed => &mut self.changed,
            PageChange::Unchanged => &mut self.unchanged,
        };
        let count = if claim == found { &mut tally.right } else { &mut tally.wrong };
        *count = count.saturating_add(1);
        if tally.right.saturating_add(tally.wrong) > Self::MOST_CHECKS {
            tally.right /= 2;
            tally.wrong = tally.wrong.div_ceil(2);
        }
    }

    /// Whether such a claim is believed now. One that is not is no claim at all.
    #[must_use]
    pub fn believes(&self, claim: PageChange) -> bool {
        let tally = match claim {
            PageChange::Changed => self.changed,
            PageChange::Unchanged => self.unchanged,
        };
        let checks = u16::from(tally.right) + u16::from(tally.wrong);
        checks >= u16::from(Self::LEAST_CHECKS) && u16::from(tally.wrong) * Self::WRONG_IN <= checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::{RobotsOutcome, RobotsRecord};
    use crate::{
        Facts, Identity, Policy, ProductToken, Scope, ScopeKind, SitePace, Timestamp, Verdict,
        decide,
    };
    use alloc::string::String;
    use core::time::Duration;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// `operator`, nothing, or the origin whose robots.txt names the sitemap.
    fn submission(text: &str) -> Submission {
        match text {
            "" => Submission::Unsubmitted,
            "operator" => Submission::Operator,
            origin => Submission::RobotsTxt(Origin::of(&url(origin)).unwrap()),
        }
    }

    /// SM-004, one line, one case: sitemap, how submitted, entry, what the entry's robots.txt says
    /// (`named`, `silent` or `unread`), why it does not count.
    const LISTED: &[(&str, &str, &str, &str, &str)] = &[
        ("https://a.example/s.xml", "", "https://a.example/x/y", "unread", ""),
        ("https://a.example/maps/s.xml", "", "https://a.example/maps/", "unread", ""),
        ("https://a.example/maps/s.xml", "", "https://a.example/maps/x/y?q=/", "unread", ""),
        ("https://a.example/maps/s.xml?d=/", "", "https://a.example/maps/x", "unread", ""),
        ("https://a.example/maps/s.xml", "", "https://a.example/x", "silent", "outside-directory"),
        (
            "https://a.example/maps/s.xml",
            "",
            "https://a.example/maps",
            "unread",
            "outside-directory",
        ),
        (
            "https://a.example/maps/s.xml",
            "",
            "https://a.example/maps-2/x",
            "unread",
            "outside-directory",
        ),
        ("https://a.example/maps/s.xml", "operator", "https://a.example/x", "unread", ""),
        ("https://a.example/maps/s.xml", "https://a.example/", "https://a.example/x", "unread", ""),
        ("https://a.example/maps/s.xml", "", "https://a.example/x", "named", ""),
        // Another host: its own robots.txt has the word.
        ("https://a.example/s.xml", "", "https://b.example/x", "unread", "origin-not-asked"),
        ("https://a.example/s.xml", "", "https://b.example/x", "silent", "other-host"),
        ("https://a.example/s.xml", "operator", "https://b.example/x", "silent", "other-host"),
        (
            "https://a.example/s.xml",
            "https://a.example/",
            "https://b.example/x",
            "silent",
            "other-host",
        ),
        ("https://a.example/s.xml", "https://a.example/", "https://b.example/x", "named", ""),
        ("https://a.example/s.xml", "", "https://www.a.example/x", "silent", "other-host"),
        ("https://a.example/s.xml", "", "http://169.254.169.254/latest", "silent", "other-host"),
        // Cross-submitted: b's robots.txt names a sitemap that lies on a.
        ("https://a.example/b/s.xml", "https://b.example/", "https://b.example/x", "unread", ""),
        ("https://a.example/b/s.xml", "https://b.example/", "https://a.example/b/x", "unread", ""),
        (
            "https://a.example/b/s.xml",
            "https://b.example/",
            "https://a.example/x",
            "silent",
            "outside-directory",
        ),
        // Protocol and port are a part of where it lies.
        ("https://a.example/s.xml", "operator", "http://a.example/x", "silent", "other-protocol"),
        ("http://a.example:100/s.xml", "", "http://a.example/x", "silent", "other-protocol"),
        ("http://a.example:100/s.xml", "", "http://a.example:100/x", "silent", ""),
        ("https://a.example/s.xml", "", "https://a.example:443/x", "silent", ""),
        ("https://a.example/s.xml", "operator", "ftp://a.example/x", "named", "not-http"),
        ("https://a.example/s.xml", "operator", "mailto:me@a.example", "named", "not-http"),
        // Sitemaps of an index: same site, same or lower directory, unless cross-submitted.
        ("https://a.example/m/index.xml", "", "https://a.example/m/1.xml", "unread", ""),
        ("https://a.example/m/index.xml", "", "https://a.example/m/n/1.xml", "unread", ""),
        (
            "https://a.example/m/index.xml",
            "",
            "https://a.example/1.xml",
            "unread",
            "outside-directory",
        ),
        ("https://a.example/m/index.xml", "", "https://cdn.example/1.xml", "silent", "other-host"),
        ("https://a.example/m/index.xml", "", "https://cdn.example/1.xml", "named", ""),
    ];

    #[test]
    fn entries_count_where_the_sitemap_speaks() {
        for (sitemap, how, entry, robots, expect) in LISTED {
            let robots = match *robots {
                "named" => CrossSubmission::Named,
                "silent" => CrossSubmission::NotNamed,
                _ => CrossSubmission::Unknown,
            };
            let judged = may_list(&url(sitemap), &submission(how), &url(entry), robots);
            let code = judged.map_or_else(NotListed::code, |()| "");
            assert_eq!(code, *expect, "{sitemap} {how} {entry} {robots:?}");
        }
    }

    /// SM-006, AM-39: a sitemap is fetched by our own agent's rules at the sitemap's own host.
    #[test]
    fn a_sitemap_is_fetched_by_the_rules_of_its_own_host() {
        let cases = [
            ("user-agent: *\ndisallow: /maps/\n", "robots-disallow"),
            ("user-agent: otherbot\ndisallow: /maps/\n", "robots-no-rule"),
            ("user-agent: *\ndisallow: /\nuser-agent: comitybot\nallow: /maps/\n", "robots-allow"),
            ("user-agent: comitybot\ndisallow: /maps/\nuser-agent: *\n", "robots-disallow"),
        ];
        for (robots, expect) in cases {
            let policy = Policy::default();
            let fresh_for = Duration::from_secs(60);
            let file = RobotsOutcome::File { body: robots.into(), cause: String::new(), fresh_for };
            let now = Timestamp::from_secs(1_796_040_000);
            let facts = Facts {
                policy: &policy,
                identity: &Identity::new(ProductToken::new("comitybot").unwrap()),
                scope: &Scope::new(ScopeKind::Any, &[]),
                robots: &RobotsRecord::default().after(file, &policy, now),
                pace: &SitePace::default(),
            };
            let code = match decide(&url("https://a.example/maps/s.xml"), facts, now) {
                Verdict::Fetch(grounds) => grounds.reason().code(),
                Verdict::Refuse(refusal) => refusal.reason.code(),
                other @ (Verdict::FetchRobots(..) | Verdict::Probe(_) | Verdict::Wait { .. }) => {
                    panic!("{other:?}")
                }
            };
            assert_eq!(code, expect, "{robots}");
        }
    }

    /// SM-003: `c` a claimed change, `s` a claimed stand-still, a capital where it was right.
    #[test]
    fn lastmod_is_believed_while_it_proves_true() {
        let cases = [
            ("", false, false),
            ("CCCC", false, false),
            ("CCCCC", true, false),
            ("SSSSS", false, true),
            ("CCCCc", true, false),
            ("CCCcc", false, false),
            ("CCCCCSSSSS", true, true),
            // Every page dated today: most claimed changes are none.
            ("cCcccCcccc", false, false),
            // Dates that never move: stand-stills that are none.
            ("SsSsSs", false, false),
            // The proof fades, and comes back.
            ("CCCCCCCCcccc", false, false),
            ("ccccccccCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC", true, false),
        ];
        for (checks, changed, unchanged) in cases {
            let mut trust = LastmodTrust::default();
            for check in checks.chars() {
                let (claim, other) = match check.to_ascii_uppercase() {
                    'C' => (PageChange::Changed, PageChange::Unchanged),
                    _ => (PageChange::Unchanged, PageChange::Changed),
                };
                trust.told(claim, if check.is_uppercase() { claim } else { other });
            }
            let believes = [PageChange::Changed, PageChange::Unchanged].map(|c| trust.believes(c));
            assert_eq!(believes, [changed, unchanged], "{checks}: {trust:?}");
        }
    }

    #[test]
    fn any_number_of_checks_can_be_stored() {
        let mut trust = LastmodTrust::default();
        for _ in 0..10_000 {
            trust.told(PageChange::Changed, PageChange::Unchanged);
            trust.told(PageChange::Unchanged, PageChange::Unchanged);
            let tallies = [trust.changed, trust.unchanged];
            assert!(tallies.iter().all(|tally| tally.right + tally.wrong <= 32), "{trust:?}");
        }
        assert!(!trust.believes(PageChange::Changed) && trust.believes(PageChange::Unchanged));
    }

    #[test]
    fn reasons_are_complete() {
        let not_listed = NotListed::ALL.iter().map(|r| (r.code(), r.meaning(), r.advice()));
        let faults = SitemapFault::ALL.iter().map(|r| (r.code(), r.meaning(), r.advice()));
        let mut seen = alloc::collections::BTreeSet::new();
        for (code, meaning, advice) in not_listed.chain(faults) {
            assert!(seen.insert(code), "{code} twice");
            assert!(meaning.ends_with('.') && advice.ends_with('.'), "{code}");
        }
        assert_eq!(SitemapFault::from_code("empty"), Some(SitemapFault::Empty));
        assert_eq!(NotListed::from_code("other-host"), Some(NotListed::OtherHost));
    }
}
