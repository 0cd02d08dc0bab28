//! A web that is known for all its time: who serves what, from when to when.
//!
//! Times are milliseconds since the simulation's start. The web answers by it, and the checks know
//! by it what was right; neither asks the crawler.

mod generate;
mod plan;

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

pub(crate) type Ms = i64;

pub(crate) const SECOND: Ms = 1000;
pub(crate) const MINUTE: Ms = 60 * SECOND;
pub(crate) const HOUR: Ms = 60 * MINUTE;
pub(crate) const DAY: Ms = 24 * HOUR;
pub(crate) const NEVER: Ms = Ms::MAX;

/// The moment that every simulation begins at, in seconds since 1970.
pub(crate) const START_SECS: i64 = 1_796_000_000;

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) length: Ms,
    pub(crate) sites: Vec<Site>,
    /// The front pages that the operator names.
    pub(crate) seeds: Vec<String>,
    /// When the operator restarts the crawl.
    pub(crate) rounds: Vec<Round>,
    hosts: HashMap<String, usize>,
}

/// A restart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) at: Ms,
    /// How the process before it ends.
    pub(crate) before: Ending,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    /// It is told to stop, and closes its store.
    Stopped,
    /// It dies in the middle.
    Killed,
}

#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) host: String,
    pub(crate) address: IpAddr,
    pub(crate) latency: Ms,
    pub(crate) manner: Manner,
    /// What /robots.txt is from a moment on, the first from 0 on.
    pub(crate) robots: Vec<(Ms, Robots)>,
    pub(crate) troubles: Vec<Trouble>,
    /// By path.
    pub(crate) pages: BTreeMap<String, Page>,
    /// What the robots.txt names, if it is a file.
    pub(crate) sitemap: Option<Sitemap>,
}

/// A sitemap.
#[derive(Clone, Debug)]
pub(crate) struct Sitemap {
    /// From then on it dates all pages today.
    pub(crate) lies_from: Ms,
    pub(crate) paths: Vec<String>,
}

pub(crate) const SITEMAP: &str = "/sitemap.xml";

/// What kind of site it is, for reports.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Manner {
    Steady,
    ChangingRules,
    Delayed,
    Slow,
    RobotsRedirected,
    NoFile,
    Busy,
    ShortOutage,
    LongOutage,
    EndlessOutage,
    NeverHadCopy,
    RobotsOutage,
    NameLost,
}

#[derive(Clone, Debug)]
pub(crate) enum Robots {
    File(File),
    /// No such file: the status.
    None(u16),
    /// Behind so many redirects, on the site with this number.
    Behind {
        hops: usize,
        on: usize,
        file: File,
    },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) rules: Vec<Rule>,
    pub(crate) delay_secs: Option<i64>,
    pub(crate) max_age_secs: Option<i64>,
    /// Whether the rules stand in our own group, beside a stricter one for everyone.
    pub(crate) own_group: bool,
}

/// A rule without wildcards.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) allow: bool,
    pub(crate) path: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    pub(crate) from: Ms,
    pub(crate) until: Ms,
    pub(crate) reach: Reach,
    pub(crate) fault: Fault,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    Everything,
    RobotsTxt,
    Pages,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// The name does not resolve.
    NoAddress,
    Refused,
    /// Connects, and says nothing.
    Silent,
    Closed,
    Status(u16, Option<i64>),
}

/// What a page answers from a moment on, the first from 0 on.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) answers: Vec<(Ms, Answer)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Content(Content),
    Redirect(u16, String),
    Status(u16),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) links: Vec<Link>,
    pub(crate) noindex: bool,
    pub(crate) nofollow: bool,
    /// unavailable_after.
    pub(crate) expires: Option<Ms>,
    /// Whether the rules come as headers.
    pub(crate) in_header: bool,
    pub(crate) validator: Validator,
    /// The body is another one after each such time.
    pub(crate) changes_every: Option<Ms>,
    /// The body is that of the version before: only a header tells them apart.
    pub(crate) quiet: bool,
}

/// By what a server knows that a copy is still good.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Validator {
    #[default]
    None,
    Etag,
    Date,
}

/// A body: two are the same if and only if these are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Body {
    pub(crate) version: usize,
    pub(crate) edition: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) to: String,
    pub(crate) nofollow: bool,
}

/// What a server did with one request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Served {
    /// The robots.txt of a site, in the version with this number.
    File {
        site: usize,
        version: usize,
    },
    /// A page with content, in the version with this number.
    Page {
        version: usize,
        body: Body,
    },
    /// The copy of a page is still good; its rules are those of this version.
    NotModified {
        version: usize,
        body: Body,
    },
    /// A sitemap; the number is another one if and only if its text is.
    Sitemap {
        edition: i64,
    },
    Redirect {
        status: u16,
        to: String,
    },
    Status {
        status: u16,
        retry_after_secs: Option<i64>,
    },
    /// No answer.
    Failed(Fault),
}

impl World {
    pub(crate) fn site(&self, host: &str) -> Option<&Site> {
        self.hosts.get(host).map(|at| &self.sites[*at])
    }

    pub(crate) fn site_of(&self, url: &str) -> Option<&Site> {
        self.site(host_of(url))
    }

    pub(crate) fn page(&self, url: &str) -> Option<&Page> {
        self.site_of(url)?.pages.get(path_of(url))
    }

    /// The content that a version of a page has.
    pub(crate) fn content(&self, url: &str, version: usize) -> Option<&Content> {
        match &self.page(url)?.answers.get(version)?.1 {
            Answer::Content(content) => Some(content),
            Answer::Redirect(..) | Answer::Status(_) => None,
        }
    }

    /// The file that a version of a site's robots.txt is.
    pub(crate) fn file(&self, site: usize, version: usize) -> Option<&File> {
        match &self.sites[site].robots[version].1 {
            Robots::File(file) | Robots::Behind { file, .. } => Some(file),
            Robots::None(_) => None,
        }
    }

    /// Whether the name resolves.
    pub(crate) fn resolves(&self, host: &str, at: Ms) -> bool {
        let Some(site) = self.site(host) else { return false };
        let fault = |one: &Trouble| one.fault == Fault::NoAddress && one.covers(at);
        !site.troubles.iter().any(fault)
    }

    /// What is served at a moment.
    pub(crate) fn serve(&self, url: &str, at: Ms) -> Served {
        let missing = Served::Status { status: 404, retry_after_secs: None };
        let Some(number) = self.hosts.get(host_of(url)) else { return missing };
        let (site, path) = (&self.sites[*number], path_of(url));
        if let Some(fault) = site.fault(path, at) {
            return match fault {
                Fault::Status(status, retry_after_secs) => {
                    Served::Status { status, retry_after_secs }
                }
                Fault::NoAddress | Fault::Refused | Fault::Silent | Fault::Closed => {
                    Served::Failed(fault)
                }
            };
        }
        if path == "/robots.txt" {
            return self.serve_robots(*number, 0, at);
        }
        if let Some((site, hop)) = self.hop(path) {
            return self.serve_robots(site, hop, at);
        }
        if path == SITEMAP
            && let Some(edition) = site.listed(at).map(|(_, lastmod)| lastmod).max()
        {
            return Served::Sitemap { edition };
        }
        let Some(page) = site.pages.get(path) else { return missing };
        let version = in_force(&page.answers, at);
        match &page.answers[version].1 {
            Answer::Content(content) => {
                Served::Page { version, body: page.body(content, version, at) }
            }
            Answer::Redirect(status, to) => Served::Redirect { status: *status, to: to.clone() },
            Answer::Status(status) => Served::Status { status: *status, retry_after_secs: None },
        }
    }

    /// The site and the number of a hop such as `/r/s7.example/2`.
    fn hop(&self, path: &str) -> Option<(usize, usize)> {
        let (host, hop) = path.strip_prefix("/r/")?.split_once('/')?;
        Some((*self.hosts.get(host)?, hop.parse().ok()?))
    }

    fn serve_robots(&self, number: usize, hop: usize, at: Ms) -> Served {
        let site = &self.sites[number];
        let version = in_force(&site.robots, at);
        match &site.robots[version].1 {
            Robots::File(_) => Served::File { site: number, version },
            Robots::None(status) => Served::Status { status: *status, retry_after_secs: None },
            Robots::Behind { hops, .. } if hop >= *hops => Served::File { site: number, version },
            Robots::Behind { on, .. } => {
                let (on, host) = (&self.sites[*on].host, &site.host);
                Served::Redirect { status: 302, to: format!("https://{on}/r/{host}/{}", hop + 1) }
            }
        }
    }
}

impl Site {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.host)
    }

    /// What is wrong with a request for a path at a moment.
    fn fault(&self, path: &str, at: Ms) -> Option<Fault> {
        let robots = path == "/robots.txt";
        let meets = |reach| match reach {
            Reach::Everything => true,
            Reach::RobotsTxt => robots,
            Reach::Pages => !robots,
        };
        let trouble = self.troubles.iter().find(|one| one.covers(at) && meets(one.reach))?;
        Some(trouble.fault)
    }
}

impl Site {
    /// What the sitemap lists at a moment, and the dates that it gives.
    pub(crate) fn listed(&self, at: Ms) -> impl Iterator<Item = (&str, Ms)> {
        self.sitemap.iter().flat_map(move |sitemap| {
            let lies = at >= sitemap.lies_from;
            sitemap.paths.iter().map(move |path| {
                let changed = self.pages.get(path).map_or(0, |page| page.changed(at));
                (path.as_str(), if lies { at / DAY * DAY } else { changed })
            })
        })
    }
}

impl Page {
    fn body(&self, content: &Content, version: usize, at: Ms) -> Body {
        if content.quiet && version > 0 {
            return Body { version: version - 1, edition: 0 };
        }
        Body { version, edition: content.changes_every.map_or(0, |every| at / every) }
    }

    /// When it became what it is at a moment.
    fn changed(&self, at: Ms) -> Ms {
        let (since, answer) = &self.answers[in_force(&self.answers, at)];
        match answer {
            Answer::Content(Content { changes_every: Some(every), .. }) => {
                (at / every * every).max(*since)
            }
            Answer::Content(_) | Answer::Redirect(..) | Answer::Status(_) => *since,
        }
    }
}

impl Trouble {
    pub(crate) fn covers(&self, at: Ms) -> bool {
        (self.from..self.until).contains(&at)
    }
}

impl File {
    /// Whether a path may be fetched: the longest rule decides, and of two as long, the allowance.
    pub(crate) fn allows(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|rule| path.starts_with(rule.path));
        matching.max_by_key(|rule| (rule.path.len(), rule.allow)).is_none_or(|rule| rule.allow)
    }
}

/// The number of the version that holds at a moment.
pub(crate) fn in_force<T>(versions: &[(Ms, T)], at: Ms) -> usize {
    versions.iter().rposition(|(from, _)| *from <= at).unwrap_or(0)
}

pub(crate) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

pub(crate) fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}
