//! What the documents say, case by case.
//!
//! Each path is followed by what it may do under courteous, google and rfc9309, in this order:
//! `y` may be accessed, `n` must not.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;

use url::Url;

use super::*;
use crate::{Preset, ProductToken};

fn tokens(names: &str) -> Vec<ProductToken> {
    let token = |name| ProductToken::new(name).unwrap();
    names.split(' ').map(token).collect()
}

#[track_caller]
fn check(robots: &str, agents: &str, cases: &[(&str, &str)]) {
    check_bytes(robots.as_bytes(), agents, cases);
}

#[track_caller]
fn check_bytes(robots: &[u8], agents: &str, cases: &[(&str, &str)]) {
    let file = RobotsTxt::parse(robots);
    for (path, expect) in cases {
        let url = Url::parse(&format!("https://example.com{path}")).unwrap();
        let answer = |preset: &Preset| match file.verdict(*preset, &tokens(agents), &url).access {
            Access::Allow => 'y',
            Access::Disallow => 'n',
        };
        let found: String = Preset::ALL.iter().map(answer).collect();
        assert_eq!(&found, expect, "{path} of {}", robots.escape_ascii());
    }
}

/// The line, group and pattern that a person is told.
fn told(robots: &str, preset: Preset, agents: &str, path: &str) -> Option<(u32, String, String)> {
    let url = Url::parse(&format!("https://example.com{path}")).unwrap();
    let verdict = RobotsTxt::parse(robots.as_bytes()).verdict(preset, &tokens(agents), &url);
    let group = match verdict.group {
        GroupUsed::Own(token) => format!("own {token}"),
        GroupUsed::Fallback(token) => format!("fallback {token}"),
        GroupUsed::Star => "*".to_string(),
        GroupUsed::None => "none".to_string(),
    };
    verdict.rule.map(|rule| (rule.line, group, rule.pattern))
}

/// RT-060 to RT-065.
#[test]
fn groups() {
    let rt_061 = "user-agent: a\ndisallow: /c\n\nuser-agent: b\ndisallow: /d\n\n\
        user-agent: e\nuser-agent: f\ndisallow: /g\n\nuser-agent: h\n";
    check(rt_061, "a", &[("/c", "nnn"), ("/d", "yyy"), ("/g", "yyy")]);
    check(rt_061, "b", &[("/c", "yyy"), ("/d", "nnn"), ("/g", "yyy")]);
    check(rt_061, "e", &[("/c", "yyy"), ("/d", "yyy"), ("/g", "nnn")]);
    check(rt_061, "f", &[("/c", "yyy"), ("/d", "yyy"), ("/g", "nnn")]);
    check(rt_061, "h", &[("/c", "yyy"), ("/d", "yyy"), ("/g", "yyy")]);

    let rt_063 = "User-agent: Foo/1.2\nDisallow: /a\nUser-agent: *\nDisallow: /b\n";
    check(rt_063, "foo", &[("/a", "nnn"), ("/b", "yyy")]);
    check(rt_063, "foobot", &[("/a", "yyy"), ("/b", "nnn")]);
    check(rt_063, "fo", &[("/a", "yyy"), ("/b", "nnn")]);

    let rt_064 = "user-agent: googlebot-news\ndisallow: /fish\nuser-agent: *\ndisallow: /carrots\n\
        user-agent: googlebot-news\ndisallow: /shrimp\n";
    let news = [("/fish", "nnn"), ("/shrimp", "nnn"), ("/carrots", "yyy")];
    check(rt_064, "Googlebot-News", &news);
    let other = [("/fish", "yyy"), ("/shrimp", "yyy"), ("/carrots", "nnn")];
    check(rt_064, "otherbot", &other);

    let rt_065 = "user-agent: a\nsitemap: https://example.com/sitemap.xml\n\n# x\nhost: y\n\
        user-agent: b\ndisallow: /\n";
    check(rt_065, "a", &[("/", "nnn")]);
    check(rt_065, "b", &[("/", "nnn")]);

    let rt_006 = "user-agent: *\ndisallow: /includes/\nuser-agent: Googlebot\nallow: /includes/\n";
    check(rt_006, "Googlebot", &[("/includes/a", "yyy")]);
    check(rt_006, "otherbot", &[("/includes/a", "nnn")]);
}

/// RT-066, UA-002: the crawler's tokens, and which of three groups applies.
#[test]
fn most_specific_group() {
    let robots = "user-agent: googlebot-news\ndisallow: /1\nuser-agent: *\ndisallow: /2\n\
        user-agent: googlebot\ndisallow: /3\n";
    let cases = [
        ("Googlebot-News Googlebot", "/1", "own Googlebot-News"),
        ("Googlebot", "/3", "own Googlebot"),
        ("Storebot-Google", "/2", "*"),
        ("otherbot", "/2", "*"),
        ("otherbot-news", "/2", "*"),
        ("Googlebot-Image Googlebot", "/3", "fallback Googlebot"),
    ];
    for (agents, forbidden, group) in cases {
        for path in ["/1", "/2", "/3"] {
            let expect = if path == forbidden { "nnn" } else { "yyy" };
            check(robots, agents, &[(path, expect)]);
        }
        let told = told(robots, Preset::Courteous, agents, forbidden).unwrap();
        assert_eq!(told.1, group, "{agents}");
    }
    let merged_by_google_parser = "user-agent: a\ndisallow: /\nuser-agent: b\ndisallow:\n";
    check(merged_by_google_parser, "b a", &[("/", "yyy")]);
}

/// RT-067, RT-068, AM-31, AM-37.
#[test]
fn star_and_nameless_groups() {
    let cases: [(&str, &str, &str); 14] = [
        ("user-agent: *\ndisallow: /", "/x", "nnn"),
        ("user-agent: * # all\ndisallow: /", "/x", "nnn"),
        ("user-agent: * foo\ndisallow: /", "/x", "nny"),
        ("user-agent: *foo\ndisallow: /", "/x", "yyy"),
        ("user-agent: other\ndisallow: /", "/x", "yyy"),
        ("disallow: /", "/x", "yyy"),
        ("disallow: /\nuser-agent: *\nallow: /y", "/x", "yyy"),
        ("user-agent: bot\nuser-agent: *\ndisallow: /", "/x", "nnn"),
        ("user-agent: *\ndisallow: /\nuser-agent: bot", "/x", "yyy"),
        (
            "user-agent: *\ndisallow: /\nuser-agent: bot\ndisallow: /a",
            "/x",
            "yyy",
        ),
        (
            "user-agent: bot\ndisallow:\nuser-agent: a\ndisallow: /",
            "/x",
            "yyy",
        ),
        (
            "user-agent: bot\nallow:\nuser-agent: a\ndisallow: /",
            "/x",
            "yyy",
        ),
        (
            "user-agent: bot\nallow: /a\nuser-agent:\ndisallow: /",
            "/x",
            "yyy",
        ),
        ("user-agent: bot\nuser-agent:\ndisallow: /", "/x", "nnn"),
    ];
    for (robots, path, expect) in cases {
        check(robots, "bot", &[(path, expect)]);
    }
}

/// RT-080 to RT-091: rule, paths that it matches, paths that it does not.
#[test]
fn path_vectors() {
    let everything = ["/", "/a", "/?a"];
    let fish = [
        "/fish",
        "/fish.html",
        "/fish/salmon.html",
        "/fishheads",
        "/fishheads/yummy.html",
        "/fish.php?id=anything",
    ];
    let not_fish = ["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"];
    let php = [
        "/index.php",
        "/filename.php",
        "/folder/filename.php",
        "/folder/filename.php?parameters",
        "/folder/any.php.file.html",
        "/filename.php/",
    ];
    let not_php_end = [
        "/filename.php?parameters",
        "/filename.php/",
        "/filename.php5",
        "/windows.PHP",
    ];
    let cases: [(&str, &[&str], &[&str]); 16] = [
        ("/", &everything, &[]),
        ("/*", &everything, &[]),
        ("/$", &["/", "/#x"], &["/a", "/?a"]),
        ("/fish", &fish, &not_fish),
        ("/fish*", &fish, &not_fish),
        (
            "/fish/",
            &["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
            &["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
        ),
        ("/*.php", &php, &["/", "/windows.PHP"]),
        (
            "/*.php$",
            &["/filename.php", "/folder/filename.php"],
            &not_php_end,
        ),
        (
            "/fish*.php",
            &["/fish.php", "/fishheads/catfish.php?parameters"],
            &["/Fish.PHP"],
        ),
        ("/a?b", &["/a?b", "/a?bc#d"], &["/a", "/a#?b"]),
        ("/a$b", &["/a$b", "/a$bc"], &["/a", "/ab"]),
        // AM-26
        ("*.gif$", &["/x.gif"], &["/x.gif?y"]),
        ("private", &[], &["/private", "/a/private"]),
        ("https://example.com/x", &[], &["/x", "//example.com/x"]),
        ("?q", &[], &["/?q"]),
        ("$", &[], &["/"]),
    ];
    for (rule, yes, no) in cases {
        let robots = format!("user-agent: *\ndisallow: {rule}\n");
        for (paths, expect) in [(yes, "nnn"), (no, "yyy")] {
            for path in paths {
                check(&robots, "bot", &[(path, expect)]);
            }
        }
    }
}

/// RT-092, AM-27: rules, path, answer, line that decides.
#[test]
fn precedence_vectors() {
    let cases = [
        ("allow: /p\ndisallow: /", "/page", "yyy", 2),
        (
            "allow: /folder\ndisallow: /folder",
            "/folder/page",
            "yyy",
            2,
        ),
        (
            "disallow: /folder\nallow: /folder",
            "/folder/page",
            "yyy",
            3,
        ),
        ("allow: /page\ndisallow: /*.htm", "/page.htm", "nnn", 3),
        ("allow: /page\ndisallow: /*.ph", "/page.php5", "yyy", 2),
        ("allow: /$\ndisallow: /", "/", "yyy", 2),
        ("allow: /$\ndisallow: /", "/page.htm", "nnn", 3),
        ("allow: /fish\ndisallow: /fish*", "/fish", "nnn", 3),
        ("disallow: /a\ndisallow: /a\nallow: /", "/a", "nnn", 2),
    ];
    for (rules, path, expect, line) in cases {
        let robots = format!("user-agent: *\n{rules}\n");
        check(&robots, "bot", &[(path, expect)]);
        for preset in Preset::ALL {
            let told = told(&robots, *preset, "bot", path).unwrap();
            assert_eq!(told.0, line, "{preset} {path} of {rules}");
        }
    }
}

/// RT-093: RFC 9309 section 5.
#[test]
fn rfc_vectors() {
    let robots = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
        User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
        User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
        User-Agent: quxbot\n\nEOF\n";
    let star = [
        ("/a/b.gif", "nnn"),
        ("/example/x", "nnn"),
        ("/publications/a.gif", "yyy"),
        ("/other", "yyy"),
    ];
    check(robots, "anybot", &star);
    let foobot = [
        ("/x", "nnn"),
        ("/example/page.html", "yyy"),
        ("/example/allowed.gif", "yyy"),
        ("/example/", "nnn"),
    ];
    check(robots, "foobot", &foobot);
    let bar = [("/example/page.html", "nnn"), ("/example/x", "yyy")];
    check(robots, "barbot", &bar);
    check(robots, "bazbot", &bar);
    check(
        robots,
        "quxbot",
        &[("/example/page.html", "yyy"), ("/a.gif", "yyy")],
    );
    check(
        "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
        "foobot",
        &[
            ("/example/page/x", "yyy"),
            ("/example/page/disallowed.gif", "nnn"),
        ],
    );
}

/// RT-081, RT-084, AM-28 to AM-30: a disallowed path, the path asked, the answer.
#[test]
fn escapes() {
    let cases = [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", "nnn"),
        (
            "/foo/bar?baz=https://foo.bar",
            "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
            "yyy",
        ),
        ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84", "nnn"),
        ("/foo/bar/%E3%83%84", "/foo/bar/\u{30c4}", "nnn"),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", "nnn"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", "nyn"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", "nyn"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7a", "nyn"),
        ("/%7Etom/", "/~tom/a", "nyn"),
        (
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-*.html",
            "nyn",
        ),
        (
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-x.html",
            "yyy",
        ),
        ("/path/foo-%24", "/path/foo-$", "nyn"),
        ("/path/foo-%24", "/path/foo-", "yyy"),
        ("/a%2Fb", "/a/b", "yyy"),
        ("/a b", "/a b", "nyn"),
        ("/a%20b", "/a b", "nnn"),
        ("/\"x\"", "/\"x\"", "nyn"),
        ("/{id}", "/{id}", "nyn"),
        ("/{id}", "/%7bid%7d", "nyn"),
        ("/?q={id}", "/?q={id}", "nnn"),
        ("/?q='x'", "/?q='x'", "nyn"),
        ("/it's", "/it's", "nnn"),
    ];
    for (rule, path, expect) in cases {
        let robots = format!("user-agent: *\ndisallow: {rule}\n");
        check(&robots, "bot", &[(path, expect)]);
    }
    check_bytes(
        b"user-agent: *\ndisallow: /\xE9",
        "bot",
        &[("/%E9", "nnn"), ("/%C3%A9", "yyy")],
    );
}

/// AM-28: an allow that only one reading sees does not open under courteous.
#[test]
fn courteous_allows_what_both_allow() {
    let cases = [
        ("disallow: /\nallow: /%62", "/b", "nny"),
        ("disallow: /\nallow: /b", "/%62", "nny"),
        ("disallow: /%62\nallow: /", "/b", "nyn"),
    ];
    for (rules, path, expect) in cases {
        check(
            &format!("user-agent: *\n{rules}\n"),
            "bot",
            &[(path, expect)],
        );
    }
}

/// RT-051, AM-23 to AM-25.
#[test]
fn lenient_lines() {
    let cases = [
        ("user-agent: *\ndisalow: /", "nny"),
        ("user-agent: *\ndisallowed: /", "nny"),
        ("user-agent: *\ndisallow /", "nny"),
        ("user-agent: *\ndisallow / x", "yyy"),
        ("useragent: *\ndisallow: /", "nny"),
        ("USER-AGENT: *\nDISALLOW: /", "nnn"),
        (
            "user-agent: bot\nallow: /y\nuseragent: a\ndisallow: /",
            "yyn",
        ),
        (
            "user-agent: bot\ndisalow: /\nuser-agent: a\ndisallow: /",
            "nnn",
        ),
        (
            "user-agent: bot\ndisalow: /z\nuser-agent: a\ndisallow: /",
            "yyn",
        ),
        (
            "user-agent: a\ndisalow: /z\nuser-agent: bot\ndisallow: /",
            "nnn",
        ),
    ];
    for (robots, expect) in cases {
        check(robots, "bot", &[("/x", expect)]);
    }
}

/// AM-32.
#[test]
fn index_pages() {
    let robots = "user-agent: *\ndisallow: /\nallow: /a/index.html\n";
    let cases = [
        ("/a/index.html", "yyy"),
        ("/a/", "nyn"),
        ("/a/x", "nnn"),
        ("/a/?x", "nnn"),
        ("/", "nnn"),
    ];
    check(robots, "bot", &cases);
    let told = told(robots, Preset::Google, "bot", "/a/").unwrap();
    assert_eq!(told, (3, "*".into(), "/a/index.html".into()));
}

/// RT-016, AM-18.
#[test]
fn robots_txt_itself() {
    let robots = "user-agent: *\ndisallow: /\n";
    let cases = [
        ("/robots.txt", "yyy"),
        ("/robots.txt#x", "yyy"),
        ("/robots.txt?x", "nnn"),
        ("/robots.txt?", "nnn"),
        ("/Robots.txt", "nnn"),
        ("/a/robots.txt", "nnn"),
        ("/robots.txt.bak", "nnn"),
    ];
    check(robots, "bot", &cases);
    let parser = RobotsTxt::parse(robots.as_bytes());
    let verdict = parser.google_parser(&["bot"], b"https://example.com/robots.txt");
    assert_eq!((verdict.access, verdict.line), (Access::Disallow, Some(2)));
}

/// RT-041, RT-052, AM-30.
#[test]
fn damaged_files() {
    let html = b"<html><body>\nUser-agent: *<br>\nUser-agent: *\nDisallow: /a\n</body>";
    check_bytes(html, "bot", &[("/a", "nnn"), ("/b", "yyy")]);
    check_bytes(
        b"\xEF\xBB\xBFuser-agent: *\ndisallow: /",
        "bot",
        &[("/", "nnn")],
    );
    check_bytes(
        b"user-agent: *\r\ndisallow: /a\0b\r/c",
        "bot",
        &[("/a", "nnn")],
    );
    let long = format!(
        "user-agent: *\ndisallow: /{}\ndisallow: /z\n",
        "a".repeat(40_000)
    );
    check(&long, "bot", &[("/aaa", "yyy"), ("/z", "nnn")]);
    let utf_16: Vec<u8> = "user-agent: *\ndisallow: /\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    check_bytes(&utf_16, "bot", &[("/", "yyy")]);
}

/// A pattern is told as its line has it, whatever form decided.
#[test]
fn evidence() {
    let robots = "user-agent: *\ndisallow: /%62*$\ndisallow: /\u{30c4}\ndisallow:\n";
    let cases = [
        (Preset::Courteous, "/bx", Some((2, "/%62*$"))),
        (Preset::Rfc9309, "/bx", Some((2, "/%62*$"))),
        (Preset::Google, "/bx", None),
        (Preset::Google, "/\u{30c4}", Some((3, "/\u{30c4}"))),
        (Preset::Courteous, "/x", None),
    ];
    for (preset, path, expect) in cases {
        let told = told(robots, preset, "bot", path);
        let found = told.as_ref().map(|(line, _, rule)| (*line, rule.as_str()));
        assert_eq!(found, expect, "{preset} {path}");
    }
}

/// AM-36: file, seconds.
#[test]
fn crawl_delays() {
    let cases = [
        ("user-agent: *\ncrawl-delay: 10", Some(10.0)),
        (
            "user-agent: bot\ncrawl-delay: 5\nuser-agent: a\ndisallow: /",
            Some(5.0),
        ),
        (
            "user-agent: a\ncrawl-delay: 5\nuser-agent: bot\ndisallow: /",
            Some(5.0),
        ),
        (
            "user-agent: a\ncrawl-delay: 5\ndisallow:\nuser-agent: bot",
            None,
        ),
        (
            "user-agent: *\ncrawl-delay: 5\ndisallow:\nuser-agent: bot",
            None,
        ),
        (
            "user-agent: bot\ncrawl-delay: 1\ncrawl-delay: 3\ncrawl-delay: 2",
            Some(3.0),
        ),
        (
            "user-agent: bot\nallow:/\ncrawl-delay: 1\nuser-agent: bot\ncrawl-delay: .5",
            Some(1.0),
        ),
        ("crawl-delay: 5\nuser-agent: *", None),
        ("user-agent: *\ncrawl-delay: -5", None),
        ("user-agent: *\ncrawl-delay: nan", None),
        ("user-agent: *\ncrawl-delay: 1e400", None),
        ("user-agent: *\ncrawl-delay: \u{b2}", None),
    ];
    for (robots, expect) in cases {
        let delay = RobotsTxt::parse(robots.as_bytes()).crawl_delay(&tokens("bot other"));
        assert_eq!(delay, expect.map(Duration::from_secs_f64), "{robots}");
    }
}

/// RT-050, AM-38.
#[test]
fn sitemaps() {
    let robots = "Sitemap: https://example.com/A.xml # x\nuser-agent: otherbot\ndisallow: /kale\n\
        sitemap: https://cdn.example.org/other/\u{30b5}.xml\nsitemap: /relative.xml\n\
        sitemap: ftp://example.com/x.xml\nSite-map: HTTP://example.net/b.xml\nsitemap:\n";
    let file = RobotsTxt::parse(robots.as_bytes());
    let expect = [
        (1, "https://example.com/A.xml"),
        (4, "https://cdn.example.org/other/\u{30b5}.xml"),
        (7, "HTTP://example.net/b.xml"),
    ];
    assert_eq!(file.sitemaps().collect::<Vec<_>>(), expect);
    assert!(!file.is_empty());
    assert!(RobotsTxt::parse(b"# nothing\nhost: x\n").is_empty());
}

/// A usual file takes less than three times its size; one made to grow, less than six.
#[test]
fn sizes() {
    let fill = |line: &dyn Fn(usize) -> String| {
        let mut robots = String::from("user-agent: *\n");
        for at in 0.. {
            if robots.len() >= 512_000 {
                break;
            }
            robots.push_str(&line(at));
        }
        robots
    };
    let cases: [(&str, usize, String); 7] = [
        (
            "usual",
            20,
            fill(&|at| format!("Disallow: /section/{at}/page\n")),
        ),
        ("short", 30, fill(&|_| "allow:\n".into())),
        ("stars", 30, fill(&|at| format!("Disallow: /*{at}*\n"))),
        ("agents", 30, fill(&|_| "user-agent:a\n".into())),
        ("groups", 40, fill(&|_| "user-agent:a\nallow:\n".into())),
        ("two forms", 60, fill(&|_| "allow:\"\n".into())),
        (
            "long",
            60,
            fill(&|_| format!("allow:{}\n", "\u{e9}\"".repeat(5000))),
        ),
    ];
    for (what, tenths, robots) in cases {
        let bytes = RobotsTxt::parse(robots.as_bytes()).heap_bytes();
        assert!(
            bytes * 10 <= robots.len() * tenths,
            "{what}: {bytes} of {}",
            robots.len()
        );
    }
}
