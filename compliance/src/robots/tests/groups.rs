//! Which group applies (R4).

use super::*;

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
        ("user-agent: *\ndisallow: /\nuser-agent: bot\ndisallow: /a", "/x", "yyy"),
        ("user-agent: bot\ndisallow:\nuser-agent: a\ndisallow: /", "/x", "yyy"),
        ("user-agent: bot\nallow:\nuser-agent: a\ndisallow: /", "/x", "yyy"),
        ("user-agent: bot\nallow: /a\nuser-agent:\ndisallow: /", "/x", "yyy"),
        ("user-agent: bot\nuser-agent:\ndisallow: /", "/x", "nnn"),
    ];
    for (robots, path, expect) in cases {
        check(robots, "bot", &[(path, expect)]);
    }
}
