//! Why a found URL is not queued.

use crate::verdict::reasons;

reasons! {
    /// Why a found URL is left out of the queue: what the operator's settings say of its address
    /// alone. The first reason that holds is told; none of them says anything about the page.
    LeftOut {
        /// Outside the crawl's scope.
        OutOfScope = "out-of-scope", "operator's scope",
            "The operator can widen the scope (--scope domain, --scope any) or add a seed.";
        /// A pattern of the operator's excludes it.
        Excluded = "excluded", "operator's patterns",
            "The operator can take the pattern out of urls.exclude.";
        /// The operator has patterns of what to include, and none matches it.
        NotIncluded = "not-included", "operator's patterns",
            "The operator can add a pattern to urls.include.";
        /// It lies more links away from the seeds than the operator permits.
        TooDeep = "too-deep", "operator's depth",
            "The operator can permit more links from a seed (crawl.depth).";
        /// The address is longer than any that people make.
        LongUrl = "long-url", "Google, URL structure: overly complex URLs",
            "The site owner can shorten the address; nothing that is linked properly grows so long.";
        /// The path has too many segments.
        DeepPath = "deep-path", "Google, URL structure: broken relative links",
            "The site owner can look for relative links that lack a leading slash; they make the path grow with each page.";
        /// One segment comes too often in the path.
        RepeatedSegment = "repeated-segment", "Google, URL structure: broken relative links",
            "The site owner can look for relative links that lack a leading slash or a scheme; they repeat a part of the path with each page.";
        /// The query is too long.
        LongQuery = "long-query", "Google, URL structure: overly complex URLs",
            "The site owner can link to the page without needless parameters.";
        /// The query has too many parameters.
        ManyParameters = "many-parameters", "Google, URL structure: additive filtering",
            "The site owner can keep filters upon filters out of links.";
        /// The query repeats itself, or holds addresses in addresses: it grows with each page.
        GrowingQuery = "growing-query", "Google, URL structure: overly complex URLs",
            "The site owner can look for links that append to the query instead of setting it.";
        /// It is about a day too far from today.
        FarDate = "far-date", "Google, URL structure: calendar issues",
            "The site owner can end the calendar's links; the operator can widen urls.past_years and urls.future_years for an archive.";
        /// The site has given enough addresses of this shape that differ by a date.
        DatedUrls = "dated-urls", "Google, URL structure: calendar issues",
            "The site owner can end the calendar's links; the operator can raise urls.dated_urls for an archive.";
        /// The site has given enough addresses of this shape with a session's number in them.
        SessionIds = "session-ids", "Google, URL structure: session IDs",
            "The site owner can keep sessions in cookies; the operator can name the parameter in urls.strip.";
        /// The path comes with too many combinations of parameters.
        Facets = "facets", "Google, URL structure: additive filtering",
            "The site owner can keep combinations of filters out of links, or forbid them in robots.txt.";
        /// Many addresses of this shape gave what others had given before.
        SameContent = "same-content", "Google, URL structure: irrelevant parameters",
            "The site owner can link to each page by one address; the operator can name the needless parameter in urls.strip.";
        /// The site has given as many addresses of this shape as the operator permits.
        ShapeUrls = "shape-urls", "Google, URL structure: infinite spaces",
            "The operator can raise urls.shape_urls, if these are pages and no trap.";
        /// The site has given as many addresses made of ever new words as the operator permits.
        WordyUrls = "wordy-urls", "Google, URL structure: infinite spaces",
            "The operator can raise urls.wordy_urls, if these are pages and no trap.";
        /// As many addresses of the site are known as the operator permits.
        SiteUrls = "site-urls", "operator's budget",
            "The operator can raise urls.site_urls.";
        /// As many addresses of the site are waiting as the operator permits.
        SiteQueue = "site-queue", "operator's budget",
            "The operator can raise urls.site_queue; what was left out is found again when its page is.";
    }
}

impl LeftOut {
    /// Whether it depends on what the site gave before. Of such addresses there may be no end, so
    /// a crawl does not even note them.
    pub const fn is_budget(self) -> bool {
        match self {
            Self::DatedUrls
            | Self::SessionIds
            | Self::Facets
            | Self::SameContent
            | Self::ShapeUrls
            | Self::WordyUrls
            | Self::SiteUrls
            | Self::SiteQueue => true,
            Self::OutOfScope
            | Self::Excluded
            | Self::NotIncluded
            | Self::TooDeep
            | Self::LongUrl
            | Self::DeepPath
            | Self::RepeatedSegment
            | Self::LongQuery
            | Self::ManyParameters
            | Self::GrowingQuery
            | Self::FarDate => false,
        }
    }
}
