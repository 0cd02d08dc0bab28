//! Which rule decides about a path (R5).

use super::*;

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
    let not_php_end =
        ["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"];
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
        ("/*.php$", &["/filename.php", "/folder/filename.php"], &not_php_end),
        ("/fish*.php", &["/fish.php", "/fishheads/catfish.php?parameters"], &["/Fish.PHP"]),
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
        ("allow: /folder\ndisallow: /folder", "/folder/page", "yyy", 2),
        ("disallow: /folder\nallow: /folder", "/folder/page", "yyy", 3),
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
    check(robots, "quxbot", &[("/example/page.html", "yyy"), ("/a.gif", "yyy")]);
    check(
        "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
        "foobot",
        &[("/example/page/x", "yyy"), ("/example/page/disallowed.gif", "nnn")],
    );
}

/// RT-081, RT-084, AM-28 to AM-30: a disallowed path, the path asked, the answer.
#[test]
fn escapes() {
    let cases = [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", "nnn"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "yyy"),
        ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84", "nnn"),
        ("/foo/bar/%E3%83%84", "/foo/bar/\u{30c4}", "nnn"),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", "nnn"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", "nyn"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", "nyn"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7a", "nyn"),
        ("/%7Etom/", "/~tom/a", "nyn"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", "nyn"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-x.html", "yyy"),
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
    check_bytes(b"user-agent: *\ndisallow: /\xE9", "bot", &[("/%E9", "nnn"), ("/%C3%A9", "yyy")]);
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
        check(&format!("user-agent: *\n{rules}\n"), "bot", &[(path, expect)]);
    }
}

/// AM-32.
#[test]
fn index_pages() {
    let robots = "user-agent: *\ndisallow: /\nallow: /a/index.html\n";
    let cases =
        [("/a/index.html", "yyy"), ("/a/", "nyn"), ("/a/x", "nnn"), ("/a/?x", "nnn"), ("/", "nnn")];
    check(robots, "bot", &cases);
    let told = told(robots, Preset::Google, "bot", "/a/").unwrap();
    assert_eq!(told, (3, "*".into(), "/a/index.html".into()));
}
