//! Scopes, one line a case.

use alloc::vec::Vec;

use super::*;
use crate::robots::PathPattern;

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

/// One line, one case: include, exclude, path, code of the reason.
#[test]
fn filters() {
    let cases: [(&[&str], &[&str], &str, Option<&str>); 9] = [
        (&[], &[], "/x", None),
        (&["/docs/"], &[], "/docs/a", None),
        (&["/docs/"], &[], "/news/", Some("not-included")),
        (&["/docs/", "/n*s/"], &[], "/news/", None),
        (&[], &["/*.pdf$"], "/a.pdf", Some("excluded")),
        (&[], &["/*.pdf$"], "/a.pdf?v=2", None),
        (&["/docs/"], &["/docs/old/"], "/docs/old/a", Some("excluded")),
        (&["/docs/"], &["/"], "/", None),
        (&["/docs/"], &[], "/start", None),
    ];
    let seeds = [url_of("https://example.com/"), url_of("https://example.com/start")];
    let patterns = |texts: &[&str]| texts.iter().map(|t| PathPattern::parse(t).unwrap()).collect();
    for (include, exclude, path, expect) in cases {
        let filter = PathFilter { include: patterns(include), exclude: patterns(exclude) };
        let scope = Scope::new(ScopeKind::Host, &seeds).with_filter(filter, &seeds);
        let judged = scope.judge(&seeds[0].join(path).unwrap());
        assert_eq!(judged.err().map(LeftOut::code), expect, "{include:?} {exclude:?} {path}");
        let elsewhere = scope.judge(&url_of("https://example.org/docs/"));
        assert_eq!(elsewhere, Err(LeftOut::OutOfScope));
    }
}

#[test]
fn reasons_have_codes_and_advice() {
    for reason in LeftOut::ALL {
        assert_eq!(LeftOut::from_code(reason.code()), Some(*reason));
        assert!(reason.advice().ends_with('.') && !reason.clause().is_empty());
    }
}
