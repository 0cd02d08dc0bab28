//! A layer over the transport that keeps what the audit needs of each reply.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use comity::net::{Accept, Completeness, FetchError, Reply, Terms, Transport};
use comity::page::{HeaderLinks, Link, MetaTag, ScanLimits, header_links, scan};
use comity::sitemap::{Listed, SitemapLimits, SitemapReader};
use comity_compliance::{Grounds, Timestamp};
use url::Url;

/// What came, by address.
#[derive(Default)]
pub(crate) struct Seen {
    /// Answers to requests for a robots.txt, redirects of one included.
    pub(crate) robots: BTreeMap<Url, RobotsAnswer>,
    /// Pages, or why there is none.
    pub(crate) pages: BTreeMap<Url, Result<PageAnswer, String>>,
    /// Addresses that a sitemap lists, with the sitemap.
    pub(crate) listed: BTreeMap<Url, Url>,
}

/// What a robots.txt is judged by.
pub(crate) enum RobotsAnswer {
    Response { status: u16, location: Option<String>, body: Vec<u8>, is_whole: bool },
    Failed(String),
}

/// What a page is judged by.
pub(crate) struct PageAnswer {
    pub(crate) status: u16,
    pub(crate) at: Timestamp,
    pub(crate) location: Option<Url>,
    pub(crate) robots_tags: Vec<Vec<u8>>,
    pub(crate) robots_meta: Vec<MetaTag>,
    pub(crate) canonical: Option<Url>,
    pub(crate) links: Vec<Link>,
}

/// The layer.
pub(crate) struct Watched<T> {
    transport: T,
    seen: Arc<Mutex<Seen>>,
}

impl<T> Watched<T> {
    pub(crate) fn over(transport: T, seen: Arc<Mutex<Seen>>) -> Self {
        Self { transport, seen }
    }
}

impl<T: Transport> Transport for Watched<T> {
    async fn fetch(&self, grounds: Grounds, terms: Terms) -> Result<Reply, FetchError> {
        let (url, accept) = (grounds.url().clone(), terms.accept);
        let fetched = self.transport.fetch(grounds, terms).await;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match accept {
            Accept::Robots => drop(seen.robots.insert(url, robots_answer(&fetched))),
            Accept::Page => {
                let answer = fetched.as_ref().map(page_answer).map_err(FetchError::in_words);
                seen.pages.insert(url, answer);
            }
            Accept::Sitemap => {
                if let Ok(reply) = fetched.as_ref() {
                    read_sitemap(&url, reply, &mut seen.listed);
                }
            }
        }
        fetched
    }

    async fn address_of(&self, url: &Url) -> Result<IpAddr, FetchError> {
        self.transport.address_of(url).await
    }
}

fn header(reply: &Reply, name: &str) -> Option<String> {
    Some(reply.headers.get(name)?.to_str().ok()?.to_owned())
}

fn robots_answer(fetched: &Result<Reply, FetchError>) -> RobotsAnswer {
    match fetched {
        Ok(reply) => RobotsAnswer::Response {
            status: reply.status.as_u16(),
            location: header(reply, "location"),
            body: reply.body.to_vec(),
            is_whole: !matches!(reply.completeness, Completeness::Partial(_)),
        },
        Err(error) => RobotsAnswer::Failed(error.in_words()),
    }
}

fn page_answer(reply: &Reply) -> PageAnswer {
    let limits = ScanLimits::default();
    let kind = header(reply, "content-type");
    let page = scan(&reply.body, kind.as_deref(), &reply.url, &limits);
    let lines = reply.headers.get_all("link").iter().filter_map(|line| line.to_str().ok());
    let HeaderLinks { canonical, .. } = header_links(lines, None, &reply.url, &limits);
    let tags = reply.headers.get_all("x-robots-tag").iter();
    PageAnswer {
        status: reply.status.as_u16(),
        at: reply.head_at,
        location: header(reply, "location").and_then(|to| reply.url.join(&to).ok()),
        robots_tags: tags.map(|line| line.as_bytes().to_vec()).collect(),
        robots_meta: page.robots_meta,
        canonical: page.canonical.or(canonical),
        links: page.links,
    }
}

fn read_sitemap(url: &Url, reply: &Reply, listed: &mut BTreeMap<Url, Url>) {
    let reader = SitemapReader::new(SitemapLimits::default(), reply.head_at);
    reader.read(&reply.body[..], |entry| {
        if let Listed::Page(page) = entry {
            listed.entry(page.url).or_insert_with(|| url.clone());
        }
        ControlFlow::Continue(())
    });
}
