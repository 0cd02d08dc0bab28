//! How far a crawl goes from its seeds.

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::Bound;
use core::str::FromStr;

use url::{Host, Url};

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
        Self { kind, bounds }
    }

    /// The kind.
    pub fn kind(&self) -> ScopeKind {
        self.kind
    }

    /// Whether a URL belongs to the crawl.
    pub fn contains(&self, url: &Url) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// One line, one case: kind | seeds | URL | whether it belongs.
    const CASES: &str = "
host | https://example.com/a | https://example.com/b?c | in
host | https://example.com/a | http://example.com:8080/ | in
host | https://example.com/a | https://EXAMPLE.com./ | in
host | https://example.com/a | https://www.example.com/ | out
host | https://example.com/a | https://example.org/ | out
host | https://example.com/ https://b.example/ | https://b.example/x | in
host | https://192.0.2.1/ | http://192.0.2.1:81/ | in
host | https://example.com/ | ftp://example.com/ | in
host | mailto:me@example.com | https://example.com/ | out
host |  | https://example.com/ | out
domain | https://www.example.com/ | https://example.com/ | in
domain | https://www.example.com/ | http://a.b.example.com:81/ | in
domain | https://www.example.com/ | https://badexample.com/ | out
domain | https://www.example.co.uk/ | https://shop.example.co.uk/ | in
domain | https://www.example.co.uk/ | https://other.co.uk/ | out
domain | https://co.uk/ | https://other.co.uk/ | out
domain | https://me.github.io/ | https://you.github.io/ | out
domain | https://www.foo.\u{516c}\u{53f8}.cn/ | https://foo.\u{516c}\u{53f8}.cn/ | in
domain | https://www.foo.\u{516c}\u{53f8}.cn/ | https://bar.\u{516c}\u{53f8}.cn/ | out
domain | https://localhost/ | http://localhost:8080/ | in
domain | https://a.site.test/ | http://b.site.test/ | in
domain | https://192.0.2.1/ | https://192.0.2.1/x | in
domain | https://192.0.2.1/ | https://198.51.2.1/ | out
domain | https://[2001:db8::1]/ | https://[2001:db8::1]:8443/ | in
domain | https://[2001:db8::1]/ | https://[2001:db8::2]/ | out
prefix | https://example.com/docs/start.html | https://example.com/docs/ | in
prefix | https://example.com/docs/start.html | https://example.com/docs/v2/a?b | in
prefix | https://example.com/docs/start.html | https://example.com/docs | out
prefix | https://example.com/docs/start.html | https://example.com/docs2/ | out
prefix | https://example.com/docs/start.html | http://example.com/docs/ | out
prefix | https://example.com/docs/start.html | https://example.com:81/docs/ | out
prefix | https://example.com/docs/start.html | https://example.com:443/docs/ | in
prefix | https://example.com/docs | https://example.com/other | in
prefix | https://example.com | https://example.com/a/b | in
prefix | https://example.com/a/?x=/b/ | https://example.com/a/c | in
prefix | https://example.com/a/ https://example.com/a/b/ | https://example.com/a/c | in
prefix | https://example.com/a/b/ https://example.com/a/ | https://example.com/a/d/e | in
prefix | https://example.com/a/ https://example.com/a-b/ | https://example.com/a/c/ | in
prefix | https://example.com/a/ https://example.com/c/ | https://example.com/b/ | out
any | https://example.com/ | https://elsewhere.example/ | in
any |  | https://elsewhere.example/ | in
";

    #[test]
    fn scopes() {
        for case in CASES.lines().filter(|line| !line.is_empty()) {
            let columns: Vec<_> = case.split('|').map(str::trim).collect();
            let [kind, seeds, url, expect] = columns.try_into().unwrap();
            let seeds: Vec<Url> = seeds.split_whitespace().map(url_of).collect();
            let scope = Scope::new(kind.parse().unwrap(), &seeds);
            assert_eq!(scope.contains(&url_of(url)), expect == "in", "{case}");
            assert!(seeds.iter().all(|seed| scope.contains(seed)) || case.contains("mailto"));
        }
    }

    fn url_of(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn kinds_have_names() {
        for kind in ScopeKind::ALL {
            assert_eq!(kind.name().parse(), Ok(*kind));
        }
        assert!("site".parse::<ScopeKind>().is_err());
    }
}
