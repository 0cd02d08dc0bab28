//! Requirements by number, through the public API only: what the tests beside the code do not
//! name. docs/coverage.md has the whole list.

use std::time::Duration;

use comity_compliance::robots::{
    Access, Body, RobotsErrand, RobotsOutcome, RobotsRecord, RobotsReply, RobotsResponse,
    RobotsTxt, Step,
};
use comity_compliance::{
    Directives, Facts, Form, Hold, Identity, Origin, Policy, Preset, ProductToken, Publication,
    RefusalReason, Scope, ScopeKind, Site, SitePace, StatusEffect, Timestamp, VOCABULARY, Verdict,
    WaitCause, Withheld, decide,
};
use proptest::prelude::*;
use url::Url;

const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);
const HOUR: u64 = 3600;

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn token(name: &str) -> ProductToken {
    ProductToken::new(name).expect("a token")
}

fn identity() -> Identity {
    Identity::new(token("examplebot"))
}

fn later(secs: u64) -> Timestamp {
    NOW.after(Duration::from_secs(secs))
}

/// One line, one case: clause | tokens, own first | robots.txt with `\n` between lines | path |
/// courteous, google and rfc9309: `y` may be accessed, `n` must not.
const TEXTS: &str = r"
# R1, R3: lines
RT-040 | bot | user-agent: *\rdisallow: /a\r\ndisallow: /b\n\rdisallow: /c | /a | nnn
RT-040 | bot | user-agent: *\rdisallow: /a\r\ndisallow: /b\n\rdisallow: /c | /b | nnn
RT-040 | bot | user-agent: *\rdisallow: /a\r\ndisallow: /b\n\rdisallow: /c | /c | nnn
RT-040 | bot | user-agent: *\rdisallow: /a\r\ndisallow: /b\n\rdisallow: /c | /d | yyy
RT-043 | bot | user-agent:*\ndisallow:/a#/b | /a | nnn
RT-043 | bot | \t user-agent : * \t\n\t disallow \t : \t /a \t # x | /a | nnn
RT-043 | bot | user-agent: *\ndisallow: /a # disallow: /b | /b | yyy
RT-043 | bot | user-agent: *\n#disallow: /a | /a | yyy
RT-043 | bot | UsEr-AgEnT: *\nDiSaLlOw: /\naLlOw: /a | /a | yyy
RT-044 | bot | user-agent: *\nnoindex: /a\nclean-param: x /a\nhost: example.com\nrequest-rate: 1/5 | /a | yyy
RT-044 | bot | user-agent: *\nvisit-time: 0600-0845\ncontent-signal: search=no\ncontent-usage: bots=n | /a | yyy
RT-045 | bot | user-agent: *\ndisallow: | /a | yyy
RT-045 | bot | user-agent: *\ndisallow:\ndisallow: /a\nallow: | /a | nnn
RT-046 | bot | user-agent: *\ndisallow: a\ndisallow: https://example.com/a | /a | yyy
RT-046 | bot | user-agent: *\ndisallow: /A | /a | yyy
RT-046 | bot | user-agent: *\ndisallow: /A | /A | nnn
RT-047 | Bot | USER-AGENT: BOT\ndisallow: /a | /a | nnn
RT-048 | bot | user-agent: *\nDISALLOW: /a\nALLOW: /a/b | /a/c | nnn
RT-048 | bot | user-agent: *\nDISALLOW: /a\nALLOW: /a/b | /a/b | yyy
RT-048 | bot | user-agent: *\nDISALLOW: /a\nALLOW: /a/b | /A | yyy
RT-053 | foo_bot-x | user-agent: foo_bot-x\ndisallow: /a | /a | nnn
RT-053 | bot | what is this\n:\nuser-agent: *\n= /b\ndisallow: /a\n\n | /a | nnn
RT-053 | bot | user-agent: *\ndisallow: /a\u{1}b | /a | yyy
RM-044 | bot | user-agent: *\nnoindex: /a\ndisallow: /b | /a | yyy
# R4, R15: who is meant
RT-005 | bot | user-agent: *\ndisallow: https://other.example/a | /a | yyy
AM-33 | bot | user-agent: botnet\ndisallow: /a | /a | yyy
AM-33 | botnet | user-agent: bot\ndisallow: /a | /a | yyy
AM-33 | own fall | user-agent: own\ndisallow: /a\nuser-agent: fall\ndisallow: /b\nuser-agent: *\ndisallow: /c | /a | nnn
AM-33 | own fall | user-agent: own\ndisallow: /a\nuser-agent: fall\ndisallow: /b\nuser-agent: *\ndisallow: /c | /b | yyy
AM-33 | own fall | user-agent: fall\ndisallow: /b\nuser-agent: *\ndisallow: /c | /b | nnn
AM-33 | own fall | user-agent: fall\ndisallow: /b\nuser-agent: *\ndisallow: /c | /c | yyy
AM-33 | own fall | user-agent: *\ndisallow: /c | /c | nnn
AM-34 | googlebot-news googlebot | user-agent: googlebot\ndisallow: /a\nuser-agent: *\ndisallow: /b | /a | nnn
AM-34 | googlebot-news googlebot | user-agent: googlebot\ndisallow: /a\nuser-agent: *\ndisallow: /b | /b | yyy
AM-34 | googlebot-news googlebot | user-agent: *\ndisallow: /b | /b | nnn
AM-35 | bot | user-agent: *\ndisallow: / | /a | nnn
";

#[test]
fn texts() {
    for case in TEXTS.lines().filter(|line| line.contains('|')) {
        let [_, tokens, robots, path, expect] = columns(case);
        let control = robots.replace("\\u{1}", "\u{1}").replace("\\t", "\t");
        let text = control.replace("\\r", "\r").replace("\\n", "\n");
        let file = RobotsTxt::parse(text.as_bytes());
        let tokens: Vec<_> = tokens.split(' ').map(token).collect();
        let target = url(&format!("https://example.com{path}"));
        let answer = |preset: &Preset| match file.verdict(*preset, &tokens, &target).access {
            Access::Allow => 'y',
            Access::Disallow => 'n',
        };
        let found: String = Preset::ALL.iter().map(answer).collect();
        assert_eq!(found, expect, "{case}");
    }
}

fn columns<const N: usize>(case: &str) -> [&str; N] {
    let columns: Vec<_> = case.split(" | ").map(str::trim).collect();
    columns.try_into().expect("as many columns")
}

/// RT-042: bytes outside UTF-8 void at most their own rule.
#[test]
fn bytes_outside_utf_8() {
    let file = RobotsTxt::parse(b"user-agent: *\ndisallow: /\xff\xfe\ndisallow: /a\n");
    for (path, expect) in [("/a", Access::Disallow), ("/b", Access::Allow)] {
        let verdict =
            file.verdict(Preset::Courteous, &[token("bot")], &url(&format!("https://x{path}")));
        assert_eq!(verdict.access, expect, "{path}");
    }
}

proptest! {
    /// RT-017: the file is no trusted input: whatever it holds, it is read and answers.
    #[test]
    fn any_bytes_are_a_file(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let file = RobotsTxt::parse(&body);
        for preset in Preset::ALL {
            let verdict = file.verdict(*preset, &[token("bot")], &url("https://example.com/a?b"));
            prop_assert!(verdict.rule.is_none_or(|rule| rule.line >= 1));
        }
    }
}

/// RT-003, RT-004, RT-005: one place for each host, protocol and port, and http(s) only.
#[test]
fn where_rules_are_and_what_they_bind() {
    let origin = |text: &str| Origin::of(&url(text));
    let page = origin("https://example.com/a/b").expect("an origin");
    assert_eq!(page.robots_url().as_str(), "https://example.com/robots.txt");
    for same in ["https://example.com/", "https://EXAMPLE.com:443/c?d#e"] {
        assert_eq!(origin(same).as_ref(), Ok(&page), "{same}");
    }
    for other in ["http://example.com/", "https://example.com:8181/", "https://a.example.com/"] {
        assert_ne!(origin(other).as_ref(), Ok(&page), "{other}");
    }
    let record = RobotsRecord::default();
    for refused in ["ftp://example.com/a", "file:///a", "gopher://example.com/"] {
        let verdict = ask(refused, &record, &SitePace::default(), NOW);
        let Verdict::Refuse(refusal) = verdict else { panic!("{refused}: {verdict:?}") };
        assert_eq!(refusal.reason, RefusalReason::UnsupportedScheme, "{refused}");
    }
}

/// What a crawler that goes anywhere may do with a URL.
fn ask(target: &str, robots: &RobotsRecord, pace: &SitePace, now: Timestamp) -> Verdict {
    let facts = Facts {
        policy: &Policy::default(),
        identity: &identity(),
        scope: &Scope::new(ScopeKind::Any, &[]),
        robots,
        pace,
    };
    decide(&url(target), facts, now)
}

/// RT-001: robots.txt comes before anything else of a site.
#[test]
fn robots_txt_comes_first() {
    let verdict = ask("https://example.com/a", &RobotsRecord::default(), &SitePace::default(), NOW);
    let Verdict::FetchRobots(_, grounds) = verdict else { panic!("{verdict:?}") };
    assert_eq!(grounds.url().as_str(), "https://example.com/robots.txt");
}

fn response(status: u16, body: &[u8]) -> RobotsResponse<'_> {
    RobotsResponse {
        status,
        location: None,
        cache_control: "",
        age: None,
        retry_after: None,
        body: Body::Read(body),
    }
}

fn fetched(reply: RobotsReply<'_>) -> RobotsOutcome {
    let origin = Origin::of(&url("https://example.com/")).expect("an origin");
    match RobotsErrand::start(&origin, NOW).0.reply(reply, &Policy::default(), NOW) {
        Step::Done(outcome) => outcome,
        Step::Fetch(..) => panic!("a redirect"),
    }
}

/// RT-030: a copy counts for a day, whoever of one operator's crawlers fetched it, and stays when
/// it cannot be refreshed.
#[test]
fn a_copy_counts_for_a_day() {
    let policy = Policy::default();
    let file = fetched(RobotsReply::Response(response(200, b"user-agent: *\ndisallow: /a\n")));
    let record = RobotsRecord::default().after(file, &policy, NOW);
    assert_eq!(record.next_refresh(), Some(later(24 * HOUR)));
    let pace = SitePace::default();
    let told = |record: &RobotsRecord, at| {
        let verdict = ask("https://example.com/b", record, &pace, at);
        let Verdict::Fetch(grounds) = verdict else { panic!("{verdict:?}") };
        grounds.reason().code()
    };
    assert_eq!(told(&record, later(24 * HOUR - 1)), "robots-no-rule");
    let due = ask("https://example.com/b", &record, &pace, later(24 * HOUR));
    assert!(matches!(due, Verdict::FetchRobots(..)), "{due:?}");
    let mut record = record;
    for hours in [36, 60] {
        let failed = fetched(RobotsReply::Failed("timeout".into()));
        record = record.after(failed, &policy, later(hours * HOUR));
    }
    assert_eq!(told(&record, later(60 * HOUR + 1)), "robots-last-good");
}

/// AM-14, AM-15, AM-21: any content is read, its decoded bytes count, and no TLS is no file.
#[test]
fn what_a_robots_txt_may_be() {
    let html = b"<html><body>\nuser-agent: *\ndisallow: /a\n</body></html>\n";
    let RobotsOutcome::File { body, .. } = fetched(RobotsReply::Response(response(200, html)))
    else {
        panic!("HTML is read too");
    };
    assert_eq!(body, html);

    let long = b"user-agent: *\n".repeat(50_000);
    let RobotsOutcome::File { body, .. } = fetched(RobotsReply::Response(response(200, &long)))
    else {
        panic!("what is too long is cut");
    };
    assert!(body.len() <= 512_000 && body.len() > 511_900, "{}", body.len());

    let tls = fetched(RobotsReply::Failed("the certificate is not valid".into()));
    assert!(matches!(tls, RobotsOutcome::Unreachable { .. }));
}

/// UA-006: fields without a meaning yet are kept with the copy's text.
#[test]
fn unknown_fields_are_kept() {
    let text = b"user-agent: *\ncontent-usage: train-ai=n\n";
    let file = fetched(RobotsReply::Response(response(200, text)));
    let record = RobotsRecord::default().after(file, &Policy::default(), NOW);
    assert_eq!(record.to_parts().copy.and_then(|copy| copy.body), Some(text.to_vec()));
}

/// RT-069, UA-005: a token is letters, `-` and `_`; the User-Agent header holds it, and nobody
/// else's name.
#[test]
fn a_crawler_has_its_own_name() {
    for name in ["example/1.0", "example bot", "examplebot2", "*", ""] {
        assert!(ProductToken::new(name).is_err(), "{name}");
    }
    let header = identity().user_agent();
    assert!(header.contains("examplebot") && !header.to_ascii_lowercase().contains("google"));
    assert!(identity().with_user_agent("Googlebot/2.1 (+http://example.com/)").is_err());
}

/// Reads header lines, then meta tags.
fn rules(lines: &[&str], tags: &[(&str, &str)]) -> Directives {
    let identity = identity();
    let mut collector = Directives::for_identity(&identity, NOW);
    lines.iter().for_each(|line| collector.header_line(line.as_bytes()));
    tags.iter().for_each(|(name, content)| collector.meta(name, content));
    collector.finish()
}

fn shown(directives: &Directives) -> Vec<String> {
    directives.iter().map(|kept| kept.rule.to_string()).collect()
}

/// XR-001, RM-001, RM-007, RM-033: each word of the table says the same in a header line, which
/// any kind of content can have, as in a meta tag.
#[test]
fn every_rule_stands_in_either_place() {
    for word in VOCABULARY {
        let content = match word.form {
            Form::Flag(_) => word.name.to_owned(),
            Form::Number(_) => format!("{}: 7", word.name),
            Form::Setting(_) => format!("{}: none", word.name),
            Form::Date(_) => format!("{}: 2027-01-01", word.name),
        };
        let header = shown(&rules(&[&content], &[]));
        assert_eq!(header, shown(&rules(&[], &[("robots", &content)])), "{content}");
        let says_nothing = matches!(word.form, Form::Flag([]));
        assert_eq!(header.is_empty(), says_nothing, "{content}");
    }
}

/// RM-009, RM-004, AM-41: the defaults need not be stated, and case says nothing.
#[test]
fn defaults_and_case() {
    for content in ["index", "follow", "index, follow", "INDEX,FOLLOW", ""] {
        assert!(rules(&[content], &[("robots", content)]).is_empty(), "{content}");
    }
    for (name, content) in [("ROBOTS", "NOINDEX"), ("Robots", "NoIndex"), ("EXAMPLEBOT", "noindex")]
    {
        assert!(rules(&[], &[(name, content)]).noindex().is_some(), "{name} {content}");
    }
}

/// RM-043, RM-001, RT-049: the rules of a page that may not be fetched are not known; its bare
/// URL may be shown.
#[test]
fn what_is_not_seen_has_no_rules() {
    let unseen = Publication::UNSEEN;
    assert_eq!(unseen, Publication::BareUrl(Withheld::RobotsDisallow));
    assert_eq!(unseen.terms(), None);
}

/// AM-54, AM-57: only an answer with content has rules that count.
#[test]
fn rules_count_only_with_content() {
    let cases = [
        (200, StatusEffect::Read),
        (301, StatusEffect::Redirect),
        (302, StatusEffect::Redirect),
        (404, StatusEffect::Withdraw(Withheld::NotSuccessful)),
        (410, StatusEffect::Withdraw(Withheld::NotSuccessful)),
        (429, StatusEffect::Keep),
        (503, StatusEffect::Keep),
    ];
    for (status, expect) in cases {
        assert_eq!(StatusEffect::of(status), expect, "{status}");
    }
}

/// AM-59, RM-025: a noindex of any scope is lifted for embedded use only, and no date ever is.
#[test]
fn embedded_use() {
    let code = |lines: &[&str]| Publication::of(&rules(lines, &[]), NOW).code();
    assert_eq!(code(&["noindex, indexifembedded"]), "embedded-only");
    assert_eq!(code(&["examplebot: none", "indexifembedded"]), "embedded-only");
    assert_eq!(code(&["noindex", "otherbot: indexifembedded"]), "nothing");
    assert_eq!(code(&["indexifembedded"]), "full");
    let expired = "noindex, indexifembedded, unavailable_after: 2026-01-01";
    assert_eq!(code(&[expired]), "nothing");
}

/// RL-001, RL-003: trouble with one URL slows the whole host, on all ports and protocols.
#[test]
fn trouble_is_felt_by_the_whole_site() {
    let site = |text: &str| Site::of(&url(text)).expect("a site");
    assert_eq!(site("https://example.com/a"), site("http://example.com:8080/b"));
    assert_ne!(site("https://example.com/"), site("https://www.example.com/"));

    let file = fetched(RobotsReply::Response(response(404, b"")));
    let record = RobotsRecord::default().after(file, &Policy::default(), NOW);
    let hold = Hold { until: later(60), cause: WaitCause::Backoff };
    let troubled = SitePace { failures: 4, hold: Some(hold), ..SitePace::default() };
    let healthy = |at| ask("https://example.com/healthy", &record, &troubled, at);
    let Verdict::Wait { until, cause } = healthy(later(59)) else { panic!("no wait") };
    assert_eq!((until, cause), (hold.until, hold.cause));
    assert!(matches!(healthy(later(60)), Verdict::Fetch(_)));
}

/// RL-006, AM-36: Google does not know crawl-delay, nor does the standard.
#[test]
fn who_knows_crawl_delay() {
    let asked = Some(Duration::from_secs(10));
    for (preset, expect) in
        [(Preset::Courteous, asked), (Preset::Google, None), (Preset::Rfc9309, None)]
    {
        assert_eq!(Policy::new(preset).crawl_delay(asked), expect, "{preset}");
    }
}
