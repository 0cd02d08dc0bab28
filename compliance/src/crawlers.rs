//! Classes of crawlers, and the crawlers that Google documents, for whoever asks what one of them
//! would do (UA-001 to UA-004).

use alloc::vec::Vec;

use crate::ProductToken;

/// How far robots.txt and page rules bind a crawler (RT-002, UA-001 to UA-004).
///
/// [`decide`](crate::decide) treats all classes as [`CrawlerClass::Search`]: a crawl obeys the
/// groups for everyone whatever it calls itself (AM-35).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum CrawlerClass {
    /// Obeys its own group or else the one for everyone; `robots` meta tags are for it.
    #[default]
    Search,
    /// Agreed on with site owners for another purpose: obeys only groups that name it, and page
    /// rules that name it or nobody (RM-002, UA-003).
    SpecialCase,
    /// Fetches what a user asks for just then: robots.txt is not for it (RT-002, UA-004).
    UserTriggered,
    /// Looks for abuse and malware, for the safety of users: robots.txt is not for it (RT-002,
    /// UA-003).
    Safety,
}

impl CrawlerClass {
    /// Whether a meta tag named `robots` is for crawlers of this class (RM-002, AM-42).
    pub const fn heeds_robots_meta(self) -> bool {
        match self {
            Self::Search => true,
            Self::SpecialCase | Self::UserTriggered | Self::Safety => false,
        }
    }
}

/// A crawler as its operator documents it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KnownCrawler {
    /// Its product token.
    pub token: &'static str,
    /// The tokens that it also answers to where no group names its own, in order (UA-002).
    pub fallbacks: &'static [&'static str],
    /// Its class.
    pub class: CrawlerClass,
    /// What it is for, and what is peculiar to it.
    pub note: &'static str,
}

impl KnownCrawler {
    /// The crawler of [`google_crawlers`] with this token, ASCII case ignored.
    pub fn named(token: &str) -> Option<&'static Self> {
        GOOGLE.iter().find(|crawler| crawler.token.eq_ignore_ascii_case(token))
    }

    /// Own token and fall-backs, in order.
    pub fn tokens(&self) -> Vec<ProductToken> {
        let names = core::iter::once(&self.token).chain(self.fallbacks);
        names.filter_map(|name| ProductToken::new(name).ok()).collect()
    }
}

/// The crawlers that Google documents.
///
/// ```
/// use comity_compliance::robots::{Access, RobotsTxt};
/// use comity_compliance::{KnownCrawler, Preset};
///
/// let file = RobotsTxt::parse(b"user-agent: googlebot\ndisallow: /photos/\n");
/// let url = url::Url::parse("https://example.com/photos/1.jpg")?;
/// let images = KnownCrawler::named("googlebot-image").ok_or("not documented")?;
/// let verdict = file.verdict_as(images.class, Preset::Google, &images.tokens(), &url);
/// assert_eq!(verdict.access, Access::Disallow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const fn google_crawlers() -> &'static [KnownCrawler] {
    GOOGLE
}

const GOOGLE: &[KnownCrawler] = {
    use CrawlerClass::{Safety, Search, SpecialCase, UserTriggered};
    const GOOGLEBOT: &[&str] = &["Googlebot"];
    &[
        known("Googlebot", &[], Search, "Google Search on phones and desktops."),
        known("Googlebot-Image", GOOGLEBOT, Search, "Google Images, and images in results."),
        known("Googlebot-Video", GOOGLEBOT, Search, "Videos in results."),
        known(
            "Googlebot-News",
            GOOGLEBOT,
            Search,
            "Google News, not the News tab of Search; requests carry Googlebot's User-Agent (AM-34).",
        ),
        known("Storebot-Google", &[], Search, "Google Shopping."),
        known(
            "Google-InspectionTool",
            GOOGLEBOT,
            Search,
            "Tests in Search Console and of rich results; follows no redirect (HT-002).",
        ),
        known("GoogleOther", &[], Search, "Fetches for products other than Search."),
        known("GoogleOther-Image", &[], Search, "GoogleOther, for images."),
        known("GoogleOther-Video", &[], Search, "GoogleOther, for videos."),
        known(
            "Google-CloudVertexBot",
            GOOGLEBOT,
            Search,
            "Crawls that site owners ask Vertex for.",
        ),
        known(
            "Google-Extended",
            &[],
            Search,
            "A control token without requests of its own: use for Gemini; no effect on Search.",
        ),
        known("APIs-Google", &[], SpecialCase, "Push notifications of Google's interfaces."),
        known("AdsBot-Google", &[], SpecialCase, "Quality of pages that ads lead to."),
        known("AdsBot-Google-Mobile", &[], SpecialCase, "The same for pages on phones."),
        known("Mediapartners-Google", &[], SpecialCase, "AdSense: ads that suit a page."),
        known("Google-Safety", &[], Safety, "Looks for malware behind public links."),
        known("Feedfetcher", &[], UserTriggered, "Feeds that users subscribe to."),
        known("Google-Agent", &[], UserTriggered, "Agents that act for a user."),
        known(
            "Google-GeminiNotebook",
            &[],
            UserTriggered,
            "Sources that a user adds to a notebook; formerly Google-NotebookLM.",
        ),
        known("Google-CWS", &[], UserTriggered, "Links in the Chrome Web Store."),
        known("GoogleMessages", &[], UserTriggered, "Previews of links in messages."),
        known("Google-Pinpoint", &[], UserTriggered, "Sources that a user collects."),
        known("GoogleProducer", &[], UserTriggered, "Feeds that publishers name."),
        known("Google-Read-Aloud", &[], UserTriggered, "Pages read aloud on request."),
        known("Google-Site-Verification", &[], UserTriggered, "Tokens of Search Console."),
    ]
};

const fn known(
    token: &'static str,
    fallbacks: &'static [&'static str],
    class: CrawlerClass,
    note: &'static str,
) -> KnownCrawler {
    KnownCrawler { token, fallbacks, class, note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::{Access, GroupUsed, RobotsTxt};
    use crate::{Directives, Identity, Preset, Timestamp};
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::string::String;
    use url::Url;

    /// UA-001, UA-003, UA-004: every name of the lists, as it is listed.
    #[test]
    fn the_table_is_complete() {
        let classes = [
            (
                CrawlerClass::Search,
                "Googlebot Googlebot-Image Googlebot-Video Googlebot-News Storebot-Google \
                 Google-InspectionTool GoogleOther GoogleOther-Image GoogleOther-Video \
                 Google-CloudVertexBot Google-Extended",
            ),
            (
                CrawlerClass::SpecialCase,
                "APIs-Google AdsBot-Google AdsBot-Google-Mobile Mediapartners-Google",
            ),
            (CrawlerClass::Safety, "Google-Safety"),
            (
                CrawlerClass::UserTriggered,
                "Feedfetcher Google-Agent Google-GeminiNotebook Google-CWS GoogleMessages \
                 Google-Pinpoint GoogleProducer Google-Read-Aloud Google-Site-Verification",
            ),
        ];
        let mut listed = 0;
        for (class, names) in classes {
            for name in names.split_whitespace() {
                let found = KnownCrawler::named(&name.to_ascii_lowercase()).unwrap();
                assert_eq!((found.token, found.class), (name, class));
                assert_eq!(found.tokens().len(), 1 + found.fallbacks.len(), "{name}");
                listed += 1;
            }
        }
        assert_eq!(google_crawlers().len(), listed);
        let distinct: BTreeSet<_> = google_crawlers().iter().map(|one| one.token).collect();
        assert_eq!(distinct.len(), listed);
    }

    /// The group that a crawler uses, as the file's one rule of it says.
    fn group_of(robots: &str, name: &str) -> String {
        let file = RobotsTxt::parse(robots.as_bytes());
        let url = Url::parse("https://example.com/1").unwrap();
        let (class, tokens) = match KnownCrawler::named(name) {
            Some(known) => (known.class, known.tokens()),
            None => (CrawlerClass::Search, [ProductToken::new(name).unwrap()].into()),
        };
        let verdict = file.verdict_as(class, Preset::Google, &tokens, &url);
        if class == CrawlerClass::Search {
            assert_eq!(verdict, file.verdict(Preset::Google, &tokens, &url), "{name}");
        }
        let line = verdict.rule.as_ref().map_or(0, |rule| rule.line);
        match &verdict.group {
            GroupUsed::Own(token) | GroupUsed::Fallback(token) => {
                format!("{} {line}", token.as_str().to_ascii_lowercase())
            }
            GroupUsed::Star => format!("* {line}"),
            GroupUsed::None => {
                assert_eq!(verdict.access, Access::Allow);
                "none".into()
            }
        }
    }

    /// RT-002, RT-066, UA-001 to UA-004, AM-33, AM-34: one line, one case: crawler, group and line.
    #[test]
    fn whose_group_a_crawler_uses() {
        let all = "user-agent: googlebot-news\ndisallow: /\n\
                   user-agent: *\ndisallow: /\n\
                   user-agent: googlebot\ndisallow: /\n";
        let no_news = "user-agent: *\ndisallow: /\nuser-agent: googlebot\ndisallow: /\n";
        let star = "user-agent: *\ndisallow: /\n";
        let ads = "user-agent: adsbot-google\nuser-agent: feedfetcher\ndisallow: /\n";
        let cases = [
            (all, "Googlebot-News", "googlebot-news 2"),
            (all, "Googlebot", "googlebot 6"),
            (all, "Googlebot-Image", "googlebot 6"),
            (all, "Googlebot-Video", "googlebot 6"),
            (all, "Google-InspectionTool", "googlebot 6"),
            (all, "Google-CloudVertexBot", "googlebot 6"),
            (all, "Storebot-Google", "* 4"),
            (all, "GoogleOther", "* 4"),
            (all, "Google-Extended", "* 4"),
            (all, "otherbot", "* 4"),
            (all, "otherbot-news", "* 4"),
            (no_news, "Googlebot-News", "googlebot 4"),
            (star, "Googlebot-News", "* 2"),
            (star, "Googlebot-Image", "* 2"),
            (star, "AdsBot-Google", "none"),
            (star, "Mediapartners-Google", "none"),
            (star, "Google-Safety", "none"),
            (star, "Feedfetcher", "none"),
            (ads, "AdsBot-Google", "adsbot-google 3"),
            (ads, "AdsBot-Google-Mobile", "none"),
            (ads, "Feedfetcher", "none"),
        ];
        for (robots, name, expect) in cases {
            assert_eq!(group_of(robots, name), expect, "{name} of {robots}");
        }
    }

    /// RM-002, RM-005, RM-006, AM-42: one line, one case: the crawler, two tags' names, and
    /// whether noindex of the first and nofollow of the second bind it.
    #[test]
    fn whom_a_meta_tag_binds() {
        let cases = [
            ("Googlebot", "robots", "googlebot", (true, true)),
            ("Googlebot", "googlebot-news", "otherbot", (false, false)),
            ("Googlebot-News", "robots", "googlebot", (true, true)),
            ("Googlebot-News", "googlebot-news", "googlebot", (true, true)),
            ("AdsBot-Google", "robots", "adsbot-google", (false, true)),
            ("Mediapartners-Google", "robots", "googlebot", (false, false)),
            ("Google-Safety", "robots", "google-safety", (false, true)),
            ("Google-Agent", "ROBOTS", "google-agent", (false, true)),
        ];
        for (name, first, second, expect) in cases {
            let known = KnownCrawler::named(name).unwrap();
            let mut tokens = known.tokens().into_iter();
            let identity = Identity::new(tokens.next().unwrap()).with_class(known.class);
            let identity = tokens.fold(identity, Identity::with_fallback);
            let mut collector = Directives::for_identity(&identity, Timestamp::EPOCH);
            collector.meta(first, "noindex");
            collector.meta(second, "nofollow");
            let rules = collector.finish();
            let got = (rules.noindex().is_some(), rules.nofollow().is_some());
            assert_eq!(got, expect, "{name} {first} {second}");
        }
    }
}
