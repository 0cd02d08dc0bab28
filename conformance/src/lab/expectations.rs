//! What a well-behaved crawl of the lab does, taken from the sites' duty
//! tables, which are written from the documents and from no crawler's output.

use serde::{Deserialize, Serialize};

use super::content;
use super::site::{Addresses, Duty, Fetching, Indexing, Site, Whom};

/// The product token that the bakery's robots.txt has a group for.
pub const DEMO_AGENT: &str = "comitydemo";

/// How far the lab's own scheduling may shift a measured gap, in milliseconds.
const TIMING_ALLOWANCE_MS: u64 = 10;

/// One site of the lab.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SiteInfo {
    /// The name before `.localhost`.
    pub name: String,
    /// Scheme, host and port, without a slash at the end.
    pub base_url: String,
    /// One sentence for people: what the site is and which rule it shows.
    pub about: String,
    /// The URLs that must all be answered before the site's rules are known:
    /// its robots.txt and, where that redirects, every hop
    /// (RFC 9309 §2.3.1.2).
    pub robots: Vec<String>,
    /// The pause that the site's robots.txt asks for, in milliseconds.
    pub crawl_delay_ms: Option<u64>,
}

/// A URL, what is expected of it, and why.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Expect {
    /// The whole URL.
    pub url: String,
    /// One sentence for people.
    pub why: String,
    /// The clause that says so.
    pub clause: String,
}

/// How far a ban reaches.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// This URL only.
    Exact,
    /// Every URL that begins with it, save those that are listed as to be
    /// fetched.
    Below,
}

/// A URL that must not be requested.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Forbidden {
    /// The URL or prefix, with the reason.
    #[serde(flatten)]
    pub expect: Expect,
    /// How far the ban reaches.
    pub reach: Reach,
}

/// What a search result may quote from a page.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SnippetExpect {
    /// The whole URL.
    pub url: String,
    /// The longest snippet in characters, if the page limits it.
    pub max_chars: Option<u32>,
    /// Phrases of the page that no snippet may hold.
    pub never: Vec<String>,
    /// The clause that says so.
    pub clause: String,
}

/// A search that a person would try, and what it must and must not bring.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SearchExpect {
    /// The words to search for.
    pub query: String,
    /// URLs that must be among the results.
    pub finds: Vec<String>,
    /// URLs whose text must not be among the results.
    pub never: Vec<String>,
}

/// What a well-behaved crawl of the lab does, beginning at the hub with any
/// host in scope.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Expectations {
    /// The product token of the crawler that these hold for.
    pub agent: String,
    /// How much shorter than asked a measured gap may be, in milliseconds,
    /// for the lab's own scheduling.
    pub timing_allowance_ms: u64,
    /// The sites.
    pub sites: Vec<SiteInfo>,
    /// URLs that must be requested.
    pub must_fetch: Vec<Expect>,
    /// URLs that may be requested or left.
    pub may_fetch: Vec<Expect>,
    /// URLs that must not be requested.
    pub must_not_fetch: Vec<Forbidden>,
    /// Linked addresses outside the lab that a crawler must not connect to.
    /// The ledger cannot show these; the crawler's own log can.
    pub refused_addresses: Vec<Expect>,
    /// URLs whose text an index must find.
    pub indexed: Vec<Expect>,
    /// URLs (or, where [`Expectations::must_not_fetch`] says so, prefixes)
    /// whose text an index must not show.
    pub withheld: Vec<Expect>,
    /// Limits on snippets.
    pub snippets: Vec<SnippetExpect>,
    /// Searches to try.
    pub searches: Vec<SearchExpect>,
}

impl Expectations {
    pub(crate) fn new(sites: &[Site], addresses: &Addresses, agent: &str) -> Self {
        let mut expectations = Self {
            agent: agent.to_owned(),
            timing_allowance_ms: TIMING_ALLOWANCE_MS,
            sites: sites.iter().map(|site| describe(site, addresses)).collect(),
            must_fetch: Vec::new(),
            may_fetch: Vec::new(),
            must_not_fetch: Vec::new(),
            refused_addresses: content::refused_addresses(),
            indexed: Vec::new(),
            withheld: Vec::new(),
            snippets: Vec::new(),
            searches: Vec::new(),
        };
        for site in sites {
            let base = addresses.fill(&format!("{{{}}}", site.name));
            for duty in site.duties.iter().filter(|duty| binds(duty.whom, agent)) {
                expectations.add(duty, &base);
            }
            expectations.add_results(site, &base, addresses);
        }
        expectations
    }

    /// Whether an index must not show the text of `url`: it is listed in
    /// [`Expectations::withheld`], or no crawl may fetch it.
    #[must_use]
    pub fn withholds(&self, url: &str) -> bool {
        let names = |list: &[Expect]| list.iter().any(|expect| expect.url == url);
        let banned = || self.must_not_fetch.iter().any(|ban| ban.covers(url));
        !names(&self.indexed) && (names(&self.withheld) || banned())
    }

    fn add(&mut self, duty: &Duty, base: &str) {
        let expect = Expect {
            url: format!("{base}{}", duty.path),
            why: duty.why.to_owned(),
            clause: duty.clause.to_owned(),
        };
        match duty.index {
            Indexing::Shown => self.indexed.push(expect.clone()),
            Indexing::Withheld => self.withheld.push(expect.clone()),
            Indexing::Open => {}
        }
        match duty.fetch {
            Fetching::Must => self.must_fetch.push(expect),
            Fetching::May => self.may_fetch.push(expect),
            Fetching::Never => self.must_not_fetch.push(Forbidden {
                expect,
                reach: Reach::Exact,
            }),
            Fetching::NeverBelow => {
                self.must_not_fetch.push(Forbidden {
                    expect,
                    reach: Reach::Below,
                });
            }
        }
    }

    fn add_results(&mut self, site: &Site, base: &str, addresses: &Addresses) {
        let fill = |urls: &[&str]| urls.iter().map(|url| addresses.fill(url)).collect();
        self.snippets
            .extend(site.snippets.iter().map(|snippet| SnippetExpect {
                url: format!("{base}{}", snippet.path),
                max_chars: snippet.max_chars,
                never: fill(snippet.never),
                clause: snippet.clause.to_owned(),
            }));
        self.searches
            .extend(site.searches.iter().map(|search| SearchExpect {
                query: search.query.to_owned(),
                finds: fill(search.finds),
                never: fill(search.never),
            }));
    }
}

fn describe(site: &Site, addresses: &Addresses) -> SiteInfo {
    SiteInfo {
        name: site.name.to_owned(),
        base_url: addresses.fill(&format!("{{{}}}", site.name)),
        about: site.about.to_owned(),
        robots: site.robots.iter().map(|url| addresses.fill(url)).collect(),
        crawl_delay_ms: site.crawl_delay_ms,
    }
}

/// Product tokens are compared without regard to case (RFC 9309 §2.2.1).
fn binds(whom: Whom, agent: &str) -> bool {
    match whom {
        Whom::Everyone => true,
        Whom::Named(token) => agent.eq_ignore_ascii_case(token),
        Whom::NotNamed(token) => !agent.eq_ignore_ascii_case(token),
    }
}
