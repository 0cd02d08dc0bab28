//! What a site is made of: pages, traps, and what is owed to each URL.
//!
//! Texts may name other sites as `{bakery}`; [`Addresses::fill`] puts the base
//! URL in once the ports are known.

/// Where each site listens.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    bases: Vec<(String, String)>,
}

impl Addresses {
    pub(crate) fn add(&mut self, name: &str, port: u16) {
        self.bases.push((
            format!("{{{name}}}"),
            format!("http://{name}.localhost:{port}"),
        ));
    }

    /// Replaces each `{name}` of a known site by its base URL, which has no
    /// slash at its end.
    pub(crate) fn fill(&self, template: &str) -> String {
        self.bases
            .iter()
            .fold(template.to_owned(), |text, (mark, base)| {
                text.replace(mark, base)
            })
    }
}

/// One site: a table of pages and of what a crawler owes to them.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) name: &'static str,
    /// One sentence for people.
    pub(crate) about: &'static str,
    pub(crate) pages: Vec<Page>,
    pub(crate) traps: &'static [Trap],
    pub(crate) duties: &'static [Duty],
    /// URLs that must all be answered before this site's rules are known.
    pub(crate) robots: &'static [&'static str],
    /// Crawl-delay in the site's robots.txt.
    pub(crate) crawl_delay_ms: Option<u64>,
    pub(crate) snippets: &'static [Snippet],
    pub(crate) searches: &'static [Search],
}

/// Endless pages below a prefix, made when asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trap {
    pub(crate) prefix: &'static str,
    /// Title and body of the page at a path, if there is one.
    pub(crate) page: fn(&str) -> Option<(String, String)>,
}

/// What is served at one path.
#[derive(Debug)]
pub(crate) struct Page {
    /// Path and query.
    pub(crate) path: &'static str,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) content: Content,
    pub(crate) charset: Charset,
    pub(crate) coding: Coding,
    pub(crate) mood: Mood,
}

#[derive(Debug)]
pub(crate) enum Content {
    Html {
        title: &'static str,
        head: &'static str,
        body: String,
    },
    Text {
        media_type: &'static str,
        body: &'static str,
    },
    Redirect {
        to: &'static str,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Charset {
    Utf8,
    Latin1,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Coding {
    Identity,
    /// Compressed for clients that accept it.
    Gzip,
}

/// Whether a page gives the same answer each time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mood {
    Steady,
    /// The first request gets 429 with `Retry-After: 1`.
    BusyAtFirst,
}

impl Page {
    pub(crate) fn html(path: &'static str, title: &'static str, body: &str) -> Self {
        Self::new(
            path,
            200,
            Content::Html {
                title,
                head: "",
                body: body.to_owned(),
            },
        )
    }

    pub(crate) fn text(path: &'static str, media_type: &'static str, body: &'static str) -> Self {
        Self::new(path, 200, Content::Text { media_type, body })
    }

    pub(crate) fn robots(body: &'static str) -> Self {
        Self::text("/robots.txt", "text/plain", body)
    }

    pub(crate) fn redirect(path: &'static str, status: u16, to: &'static str) -> Self {
        Self::new(path, status, Content::Redirect { to })
    }

    fn new(path: &'static str, status: u16, content: Content) -> Self {
        Self {
            path,
            status,
            headers: Vec::new(),
            content,
            charset: Charset::Utf8,
            coding: Coding::Identity,
            mood: Mood::Steady,
        }
    }

    /// Puts `markup` into the head of an HTML page.
    pub(crate) fn head(mut self, markup: &'static str) -> Self {
        if let Content::Html { head, .. } = &mut self.content {
            *head = markup;
        }
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn latin1(mut self) -> Self {
        self.charset = Charset::Latin1;
        self
    }

    pub(crate) fn gzip(mut self) -> Self {
        self.coding = Coding::Gzip;
        self
    }

    pub(crate) fn busy_at_first(mut self) -> Self {
        self.mood = Mood::BusyAtFirst;
        self
    }
}

/// What a crawler owes to one URL of a site, and the rule that says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duty {
    /// Path and query.
    pub(crate) path: &'static str,
    pub(crate) fetch: Fetching,
    pub(crate) index: Indexing,
    pub(crate) whom: Whom,
    pub(crate) why: &'static str,
    pub(crate) clause: &'static str,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fetching {
    Must,
    May,
    Never,
    /// Neither the path nor anything that begins with it.
    NeverBelow,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Indexing {
    /// Its text can be found.
    Shown,
    /// Its text is never shown.
    Withheld,
    /// Nothing is said.
    Open,
}

/// The crawlers a duty binds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Whom {
    Everyone,
    /// The crawler with this product token.
    Named(&'static str),
    /// Every crawler with another product token.
    NotNamed(&'static str),
}

/// A limit on what a result may quote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snippet {
    pub(crate) path: &'static str,
    pub(crate) max_chars: Option<u32>,
    pub(crate) never: &'static [&'static str],
    pub(crate) clause: &'static str,
}

/// A search that a person would try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    pub(crate) query: &'static str,
    pub(crate) finds: &'static [&'static str],
    pub(crate) never: &'static [&'static str],
}

/// A page that is linked, allowed and indexable.
pub(crate) const fn shown(path: &'static str, why: &'static str, clause: &'static str) -> Duty {
    duty(path, Fetching::Must, Indexing::Shown, why, clause)
}

/// A page that must be fetched, for only so can its rule be seen, and that no
/// result may show.
pub(crate) const fn withheld(path: &'static str, why: &'static str, clause: &'static str) -> Duty {
    duty(path, Fetching::Must, Indexing::Withheld, why, clause)
}

/// A URL that must be asked for and has no text of its own to show.
pub(crate) const fn asked(path: &'static str, why: &'static str, clause: &'static str) -> Duty {
    duty(path, Fetching::Must, Indexing::Open, why, clause)
}

/// A URL that a crawl may ask for or leave.
pub(crate) const fn optional(path: &'static str, why: &'static str, clause: &'static str) -> Duty {
    duty(path, Fetching::May, Indexing::Open, why, clause)
}

/// A URL that must never be asked for.
pub(crate) const fn never(path: &'static str, why: &'static str, clause: &'static str) -> Duty {
    duty(path, Fetching::Never, Indexing::Withheld, why, clause)
}

/// A prefix under which nothing may be asked for.
pub(crate) const fn never_below(
    path: &'static str,
    why: &'static str,
    clause: &'static str,
) -> Duty {
    duty(path, Fetching::NeverBelow, Indexing::Withheld, why, clause)
}

/// The same duty, for some crawlers only.
pub(crate) const fn only(whom: Whom, duty: Duty) -> Duty {
    Duty { whom, ..duty }
}

const fn duty(
    path: &'static str,
    fetch: Fetching,
    index: Indexing,
    why: &'static str,
    clause: &'static str,
) -> Duty {
    Duty {
        path,
        fetch,
        index,
        whom: Whom::Everyone,
        why,
        clause,
    }
}
