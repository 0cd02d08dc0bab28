//! Which findings a file has: one line, one case.

use super::*;
use proptest::prelude::*;

fn told(body: &[u8]) -> String {
    let found = lint(body, 512_000).shown;
    let told = found.iter().map(|finding| format!("{} {}", finding.line, finding.lint.code()));
    told.collect::<Vec<_>>().join(", ")
}

/// One line, one case; `|` is a line end: file => line and code of each finding.
const CASES: &str = "
 =>
user-agent: *|disallow: => ok
user-agent: *|disallow: /a|allow: /a/b # why|sitemap: https://example.com/s.xml => ok
user-agent: a|user-agent: b||disallow: /a|user-agent: *|disallow: /*.gif$ => ok
user-agent: *|disallow /a => 2 missing-colon
useragent: *|disalow: /a => 1 typo, 2 typo
user-agents: *|disallowed: /a => 1 key-prefix, 2 key-prefix
user-agent: *|disallow /a:b => 2 key-prefix, 2 path-start
user-agent: *|disallow: a|allow: http://example.com/|disallow: *a => 2 path-start, 3 path-start
user-agent: *|disallow: /a|disallow:|allow: => 3 pathless-rule, 4 pathless-rule
user-agent: *|disallow:|disallow: /a => 2 pathless-rule
user-agent: *|allow: => 2 pathless-rule
disallow: /a|user-agent: *|disallow: /a => 1 rule-before-group
user-agent: *|disallow: /a|user-agent: a => 3 group-without-rules
user-agent: a|crawl-delay: 5 => 1 group-without-rules, 2 unused-field
user-agent: *|disallow: /a|allow: /b|disallow: /a => 4 duplicate-rule
user-agent: *|disallow: /a|allow: /a => 3 contradictory-rules
user-agent: a|disallow: /a|user-agent: b|disallow: /a => ok
user-agent: *|disallow: /a$b|allow: /$ => 2 inner-dollar
user-agent: MJ12bot|disallow: / => 1 agent-cut
user-agent: googlebot/2.1|disallow: / => 1 agent-cut
user-agent: * foo|disallow: / => 1 agent-cut
user-agent: 360bot|user-agent:|user-agent: *a|disallow: / => 1 agent-unreadable, 1 group-for-nobody, 2 agent-unreadable, 3 agent-unreadable
user-agent: 360bot|disallow: /a|disallow: /b => 1 agent-unreadable, 1 group-for-nobody
user-agent: a|user-agent: 1|disallow: /a => 2 agent-unreadable
user-agent: a|disallow: /a|user-agent: 1 => 3 agent-unreadable, 3 group-for-nobody
user-agent: a|disallow: /a|user-agent: *|disallow: /b|user-agent: A|disallow: /c => 5 split-group
user-agent: *|disallow: /a|user-agent: *|allow: /b => 3 split-group
user-agent: a|disallow: /a|user-agent: a|user-agent: a|allow: /b => 3 split-group, 4 duplicate-agent
user-agent: a|user-agent: a/2|disallow: /a => 2 agent-cut, 2 duplicate-agent
user-agent: a|disallow: /a|user-agent: a => 3 split-group
user-agent: a|disallow: /a|user-agent: a|user-agent: b => 3 split-group, 3 group-without-rules
user-agent: *|disallow: /a|allow: /a* => 2 shadowed-rule
user-agent: *|disallow: /a*|allow: /a => 3 shadowed-rule
user-agent: *|disallow: /|allow: /*$ => 2 shadowed-rule
user-agent: *|allow: /|disallow: * => 3 contradictory-rules
user-agent: *|disallow: /a**b|allow: /a*b => 3 shadowed-rule
user-agent: *|disallow: /a|disallow: /a* => 3 duplicate-rule
user-agent: *|disallow: /a|disallow: /a**|allow: /a* => 3 duplicate-rule, 4 shadowed-rule
user-agent: *|disallow: /a|allow: /a$|allow: /a/ => ok
user-agent: *|disallow: /a*b|allow: /ab|allow: /a*b$ => ok
user-agent: a|disallow: /a|user-agent: a|allow: /a => 3 split-group
sitemap: /sitemap.xml|sitemap: example.com/s => 1 relative-sitemap, 2 relative-sitemap
noindex: /a|nofollow: /|NoArchive: / => 1 page-rule, 2 page-rule, 3 page-rule
content-signal: ai-train=no|host: example.com => 1 unused-field, 2 unused-field
alow: /a => 1 unknown-field
Please go away now => 1 no-field
<!doctype html>|<p>disallow: / => 1 html
 |<html> => 1 html
";

/// RT-044, RM-044, RT-045, RT-051, RT-060, RT-064, RT-067, RT-083, RT-087, AM-24 to AM-26, AM-38.
#[test]
fn findings() {
    for case in CASES.lines().filter(|line| !line.is_empty()) {
        let (body, expect) = case.split_once("=>").unwrap();
        let body = body.strip_suffix(' ').unwrap().replace('|', "\n");
        assert_eq!(told(body.as_bytes()), expect.trim().replace("ok", ""), "{case}");
    }
}

/// RT-040 to RT-042, RT-052.
#[test]
fn octets() {
    let long = [b"sitemap: https://example.com/".as_slice(), &[b'a'; 20_000]].concat();
    let zipped = [b"\x1F\x8B\x08\0\0\0\0\0".as_slice(), &[b'z'; 100]].concat();
    let cases: [(&[u8], &str); 9] = [
        (b"\xEF\xBB\xBFuser-agent: *\ndisallow: /", "1 byte-order-mark"),
        (b"\xEF\xBBuser-agent: *\ndisallow: /", "1 byte-order-mark"),
        (b"user-agent: *\ndisallow: /\xE9", "2 not-utf-8"),
        (b"# \xE9", ""),
        (b"user-agent: *\ndisallow: /a\0b", "2 nul"),
        (b"\xFF\xFEu\0s\0e\0r\0", "1 utf-16"),
        (&long, "1 long-line"),
        (&zipped, "1 binary"),
        (b"# \x1b[1m\nuser-agent: *\ndisallow: /\n", ""),
    ];
    for (body, expect) in cases {
        assert_eq!(told(body), expect, "{}", body.escape_ascii());
    }
}

/// RT-031: the first line that is not read.
#[test]
fn oversize() {
    let body = b"user-agent: *\ndisallow: /a\ndisallow: /b\n";
    let cases = [
        (40, None),
        (39, None),
        (38, Some(3)),
        (27, Some(3)),
        (26, Some(3)),
        (25, Some(2)),
        (5, Some(1)),
    ];
    for (max, line) in cases {
        let found = lint(body, max).shown;
        let oversize = found.iter().find(|finding| finding.lint == Lint::Oversize);
        assert_eq!(oversize.map(|finding| finding.line), line, "{max}");
    }
}

#[test]
fn what_is_kept_has_a_bound_and_all_is_counted() {
    let found = lint(&b"nonsense\n".repeat(5000), 512_000);
    assert_eq!((found.shown.len(), found.errors, found.warnings), (SHOWN, 5000, 0));
    let found = lint(
        &[b"sitemap: ".as_slice(), &b"\x1b[1m/a/b/c/d/e/f/g/h/i/j/k/l/m/".repeat(300)].concat(),
        512_000,
    );
    assert!(found.shown[0].detail.len() < 1000 && !found.shown[0].detail.contains('\x1b'));
}

/// The lines that clash are both named.
#[test]
fn details() {
    let cases = [
        ("user-agent: a|disallow: /x|user-agent: A|allow: /y", "A, in line 1 too"),
        ("user-agent: *|disallow: /x|allow: /x*", "/x, beside /x* in line 3"),
        ("user-agent: *|disallow: /x|disallow: /x", "/x, in line 2 too"),
    ];
    for (body, detail) in cases {
        let found = lint(body.replace('|', "\n").as_bytes(), 512_000).shown;
        assert_eq!((found.len(), found[0].detail.as_str()), (1, detail), "{body}");
    }
}

/// RT-083, AM-27: a rule that is said to decide nothing decides nothing.
#[test]
fn a_shadowed_rule_decides_nothing() {
    use crate::robots::RobotsTxt;
    use crate::{Preset, ProductToken};
    let rules = ["/a", "/a*", "/a**", "/a*$", "/a$", "/", "*", "/*b", "/**b", "/a*b*"];
    let me = [ProductToken::new("me").unwrap()];
    for (one, two) in rules.iter().flat_map(|one| rules.iter().map(move |two| (one, two))) {
        let body = format!("user-agent: *\ndisallow: {one}\nallow: {two}\n");
        let shadowed = lint(body.as_bytes(), 512_000)
            .shown
            .into_iter()
            .find(|finding| finding.lint == Lint::ShadowedRule);
        let Some(shadowed) = shadowed else { continue };
        let file = RobotsTxt::parse(body.as_bytes());
        for path in ["/", "/a", "/ab", "/b", "/aXb", "/a/b/c", "/c?a"] {
            let url = url::Url::parse("https://example.com").unwrap().join(path).unwrap();
            for preset in Preset::ALL {
                let line = file.verdict(*preset, &me, &url).rule.map(|rule| rule.line);
                assert_ne!(line, Some(shadowed.line), "{body} {path}");
            }
        }
    }
}

#[test]
fn every_lint_teaches() {
    for lint in Lint::ALL {
        assert!(lint.advice().ends_with('.') && !lint.clause().is_empty(), "{lint}");
        assert_eq!(Lint::from_code(lint.code()), Some(*lint));
    }
}

proptest! {
    #[test]
    fn any_body(body in prop::collection::vec(any::<u8>(), 0..400), max in 0usize..500) {
        let _ = lint(&body, max);
    }
}
