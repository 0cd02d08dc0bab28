//! How far a crawl goes from its seeds, and why it goes no further.

mod filter;
mod left_out;
#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::Bound;
use core::str::FromStr;

use url::{Host, Url};

pub use filter::PathFilter;
pub use left_out::LeftOut;

use crate::{Origin, Site};

/// What of a seed's surroundings belongs to the crawl.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ScopeKind {
    /// The seed's host name, on every port and over every protocol.
    #[default]
    Host,
    /// The seed's registrable domain by the public suffix list, with every host below it. An
    /// address, or a name without such a domain, stands for itself.
    Domain,
    /// What lies in the seed's directory: same origin, and a path that starts with the seed's up
    /// to its last `/`.
    Prefix,
    /// Everything.
    Any,
}

impl ScopeKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Host, Self::Domain, Self::Prefix, Self::Any];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Domain => "domain",
            Self::Prefix => "prefix",
            Self::Any => "any",
        }
    }
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ScopeKind {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let named = |kind: &&Self| kind.name().eq_ignore_ascii_case(name);
        let found = Self::ALL.iter().find(named).copied();
        found.ok_or("the scope is one of: host, domain, prefix, any")
    }
}

/// How far a crawl goes from its seeds. To ask costs the logarithm of their number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    kind: ScopeKind,
    /// Host names, domains, or directories none of which lies in another.
    bounds: BTreeSet<String>,
    filter: PathFilter,
    /// Seeds, which no filter leaves out; known only where there is one.
    seeds: BTreeSet<String>,
}

impl Scope {
    /// The scope around seeds. One without an origin widens nothing.
    pub fn new(kind: ScopeKind, seeds: &[Url]) -> Self {
        let mut bounds = BTreeSet::new();
        for bound in seeds.iter().filter_map(|seed| bound_of(kind, seed)) {
            bounds.insert(bound);
        }
        if kind == ScopeKind::Prefix {
            bounds = outermost(bounds);
        }
        Self { kind, bounds, filter: PathFilter::default(), seeds: BTreeSet::new() }
    }

    /// The same scope, narrowed to the paths that a filter lets through. A seed is never left out
    /// by it: the operator asked for it by name.
    #[must_use]
    pub fn with_filter(mut self, filter: PathFilter, seeds: &[Url]) -> Self {
        if !filter.is_empty() {
            self.seeds = seeds.iter().map(|seed| seed.as_str().to_owned()).collect();
        }
        self.filter = filter;
        self
    }

    /// The kind.
    pub fn kind(&self) -> ScopeKind {
        self.kind
    }

    /// Whether a URL belongs to the crawl.
    pub fn contains(&self, url: &Url) -> bool {
        self.judge(url).is_ok()
    }

    /// Whether a URL belongs to the crawl, or why not.
    ///
    /// # Errors
    /// [`LeftOut::OutOfScope`], [`LeftOut::NotIncluded`] or [`LeftOut::Excluded`].
    pub fn judge(&self, url: &Url) -> Result<(), LeftOut> {
        if !self.is_near(url) {
            return Err(LeftOut::OutOfScope);
        }
        match self.filter.judge(url) {
            Err(_) if self.seeds.contains(url.as_str()) => Ok(()),
            judged => judged,
        }
    }

    /// Whether a URL lies around the seeds, whatever its path is.
    fn is_near(&self, url: &Url) -> bool {
        match self.kind {
            ScopeKind::Any => true,
            ScopeKind::Host | ScopeKind::Domain => {
                bound_of(self.kind, url).is_some_and(|bound| self.bounds.contains(&bound))
            }
            ScopeKind::Prefix => {
                bound_of(self.kind, url).is_some_and(|at| nearest(&self.bounds, &at).is_some())
            }
        }
    }
}

/// What a URL adds to the bounds as a seed, and is looked up by as a question.
fn bound_of(kind: ScopeKind, url: &Url) -> Option<String> {
    match kind {
        ScopeKind::Host => Some(Site::of(url).ok()?.as_str().to_owned()),
        ScopeKind::Domain => domain_of(url),
        ScopeKind::Prefix => {
            let (directory, _) = url.path().rsplit_once('/')?;
            Some(format!("{}{directory}/", Origin::of(url).ok()?))
        }
        ScopeKind::Any => None,
    }
}

fn domain_of(url: &Url) -> Option<String> {
    let site = Site::of(url).ok()?;
    let host = site.as_str();
    let domain = match url.host()? {
        Host::Domain(_) => psl::domain_str(host).unwrap_or(host),
        Host::Ipv4(_) | Host::Ipv6(_) => host,
    };
    Some(domain.to_owned())
}

/// The directories that lie in no other of them.
fn outermost(directories: BTreeSet<String>) -> BTreeSet<String> {
    let mut outer = BTreeSet::new();
    // In order, a directory comes before all that lies in it.
    for directory in directories {
        if nearest(&outer, &directory).is_none() {
            outer.insert(directory);
        }
    }
    outer
}

/// The directory that `at` lies in. As none lies in another, only the last one at or before it
/// in order can be that.
fn nearest<'d>(directories: &'d BTreeSet<String>, at: &str) -> Option<&'d String> {
    let before = (Bound::Unbounded, Bound::Included(at));
    let last = directories.range::<str, _>(before).next_back()?;
    at.starts_with(last.as_str()).then_some(last)
}
