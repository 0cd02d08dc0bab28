//! What can be asked, and what is answered: the words of the protocol.

/// A kind of question.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it asks, as a sentence.
    pub asks: &'static str,
    /// What a question may tell.
    pub input: &'static [&'static str],
    /// What an answer may hold.
    pub answers: &'static [&'static str],
}

impl Kind {
    /// The kind of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }
}

/// Every kind; docs/conformance.md says what each field means.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "robots",
        asks: "What does this robots.txt say of that URL, and to whom?",
        input: &["robots", "robots_b64", "agents", "crawler", "url"],
        answers: &["allowed", "sitemaps", "crawl_delay_s"],
    },
    Kind {
        name: "parser",
        asks: "What does Google's own parser say, the URL as it is given and all agents as one?",
        input: &["robots", "robots_b64", "agents", "url"],
        answers: &["allowed"],
    },
    Kind {
        name: "scope",
        asks: "Does the robots.txt that was fetched from there speak for this URL?",
        input: &["robots_url", "url"],
        answers: &["applies"],
    },
    Kind {
        name: "robots-url",
        asks: "Where is the robots.txt that speaks for this URL?",
        input: &["url"],
        answers: &["robots_url"],
    },
    Kind {
        name: "life",
        asks: "What may be fetched at those times, if requests for robots.txt brought these answers?",
        input: &["agents", "events", "ask"],
        answers: &["allowed", "refresh_at_s"],
    },
    Kind {
        name: "rules",
        asks: "Which rules bind the crawler on this page, and what may be shown of it?",
        input: &[
            "robots",
            "headers",
            "html",
            "rendered",
            "not_modified",
            "url",
            "agents",
            "crawler",
            "now",
        ],
        answers: &[
            "noindex",
            "nofollow",
            "nosnippet",
            "indexifembedded",
            "notranslate",
            "noimageindex",
            "max_snippet",
            "max_image_preview",
            "max_video_preview",
            "unavailable_after",
            "show",
        ],
    },
    Kind {
        name: "quote",
        asks: "Which of these phrases may a snippet of the page hold, and which may a search find?",
        input: &["headers", "html", "url", "agents", "crawler", "now", "phrases"],
        answers: &["quotable", "findable"],
    },
    Kind {
        name: "structured",
        asks: "How many blocks of structured data may be used, and how long a description of theirs?",
        input: &["headers", "html", "url", "agents", "crawler", "now"],
        answers: &["blocks", "description_limit"],
    },
    Kind {
        name: "links",
        asks: "Which links of the page may be followed, and what does it say of its own address?",
        input: &["headers", "html", "url", "agents", "crawler", "now"],
        answers: &["follow", "leave", "canonical", "refresh", "alternates"],
    },
    Kind {
        name: "canonical",
        asks: "Which address stands for a page of which these signals are known?",
        input: &[
            "url",
            "hops",
            "link_element",
            "link_header",
            "same_content",
            "in_sitemap",
            "https_doubtful",
        ],
        answers: &["canonical", "strong"],
    },
    Kind {
        name: "alternates",
        asks: "Which language versions that pages name count?",
        input: &["pages"],
        answers: &["confirmed"],
    },
    Kind {
        name: "sitemap",
        asks: "What does this sitemap list that counts?",
        input: &["url", "submitted", "named_by", "body", "body_b64", "content_type", "now"],
        answers: &["urls", "sitemaps", "lastmod", "count", "images", "alternates", "news"],
    },
    Kind {
        name: "http-date",
        asks: "Which instant does this header value name?",
        input: &["text", "now"],
        answers: &["instant"],
    },
    Kind {
        name: "retry-after",
        asks: "How many seconds does this Retry-After ask to wait?",
        input: &["text", "now"],
        answers: &["wait_s"],
    },
    Kind {
        name: "status",
        asks: "What does the status of a page's answer mean for what an index holds of it?",
        input: &["status"],
        answers: &["index", "move"],
    },
    Kind {
        name: "freshness",
        asks: "For how many seconds after the request is this answer fresh?",
        input: &["headers", "now"],
        answers: &["fresh_s"],
    },
    Kind {
        name: "redirect",
        asks: "Where does this Location lead from there?",
        input: &["url", "location"],
        answers: &["target"],
    },
    Kind {
        name: "pace",
        asks: "May the site be asked again at these times, and is it less often than after good answers?",
        input: &["events", "crawl_delay_s", "ask"],
        answers: &["ready", "slower"],
    },
    Kind {
        name: "revisit",
        asks: "Is the page looked at again later than one that was seen once?",
        input: &["seen", "expired"],
        answers: &["later"],
    },
    Kind {
        name: "token",
        asks: "May a crawler be named so in robots.txt, and send such a header?",
        input: &["token", "user_agent"],
        answers: &["valid"],
    },
];
