//! What a file may hold (R3), and how much it takes.

use core::time::Duration;

use super::*;

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
        ("user-agent: bot\nallow: /y\nuseragent: a\ndisallow: /", "yyn"),
        ("user-agent: bot\ndisalow: /\nuser-agent: a\ndisallow: /", "nnn"),
        ("user-agent: bot\ndisalow: /z\nuser-agent: a\ndisallow: /", "yyn"),
        ("user-agent: a\ndisalow: /z\nuser-agent: bot\ndisallow: /", "nnn"),
    ];
    for (robots, expect) in cases {
        check(robots, "bot", &[("/x", expect)]);
    }
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
    check_bytes(b"\xEF\xBB\xBFuser-agent: *\ndisallow: /", "bot", &[("/", "nnn")]);
    check_bytes(b"user-agent: *\r\ndisallow: /a\0b\r/c", "bot", &[("/a", "nnn")]);
    let long = format!("user-agent: *\ndisallow: /{}\ndisallow: /z\n", "a".repeat(40_000));
    check(&long, "bot", &[("/aaa", "yyy"), ("/z", "nnn")]);
    let utf_16: Vec<u8> =
        "user-agent: *\ndisallow: /\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
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
        ("user-agent: bot\ncrawl-delay: 5\nuser-agent: a\ndisallow: /", Some(5.0)),
        ("user-agent: a\ncrawl-delay: 5\nuser-agent: bot\ndisallow: /", Some(5.0)),
        ("user-agent: a\ncrawl-delay: 5\ndisallow:\nuser-agent: bot", None),
        ("user-agent: *\ncrawl-delay: 5\ndisallow:\nuser-agent: bot", None),
        ("user-agent: bot\ncrawl-delay: 1\ncrawl-delay: 3\ncrawl-delay: 2", Some(3.0)),
        ("user-agent: bot\nallow:/\ncrawl-delay: 1\nuser-agent: bot\ncrawl-delay: .5", Some(1.0)),
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

/// A usual file takes less than twice its size; one made to grow, three times at most.
#[test]
fn sizes() {
    let letters = |at: usize| -> String {
        at.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    };
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
    let cases: [(&str, usize, String); 12] = [
        ("usual", 20, fill(&|at| format!("Disallow: /section/{at}/page\n"))),
        ("short", 30, fill(&|_| "allow:\n".into())),
        ("stars", 30, fill(&|at| format!("Disallow: /*{at}*\n"))),
        ("agents", 30, fill(&|_| "user-agent:a\n".into())),
        ("agents that differ", 30, fill(&|at| format!("user-agent:{}\n", letters(at)))),
        ("groups", 30, fill(&|_| "user-agent:a\nallow:\n".into())),
        ("groups of nobody", 30, fill(&|_| "user-agent:\nallow:\n".into())),
        ("delays", 30, fill(&|_| "user-agent:\ncrawl-delay:1\nallow:\n".into())),
        ("two forms", 30, fill(&|_| "allow:\"\n".into())),
        ("long", 30, fill(&|_| format!("allow:{}\n", "\u{e9}\"".repeat(5000)))),
        ("longer", 30, fill(&|_| format!("allow:{}\n", "\u{e9}".repeat(8000)))),
        ("index pages", 30, fill(&|_| "allow:/index.htm\n".into())),
    ];
    for (what, tenths, robots) in cases {
        let bytes = RobotsTxt::parse(robots.as_bytes()).heap_bytes();
        assert!(bytes * 10 <= robots.len() * tenths, "{what}: {bytes} of {}", robots.len());
    }
}
