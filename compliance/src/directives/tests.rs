use super::*;
use crate::ProductToken;
use alloc::string::ToString as _;
use proptest::prelude::*;

/// 2026-11-30T12:00:00Z.
const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

/// An identity from its tokens, own first.
fn identity(tokens: &str) -> Identity {
    let mut tokens = tokens.split(' ').map(|name| ProductToken::new(name).unwrap());
    let own = Identity::new(tokens.next().unwrap());
    tokens.fold(own, Identity::with_fallback)
}

/// Reads items such as `H noindex` (a header line) and `M robots noindex` (a meta tag), with
/// ` & ` between them.
fn read(tokens: &str, items: &str) -> Directives {
    let identity = identity(tokens);
    let mut collector = Directives::for_identity(&identity, NOW);
    for item in items.split(" & ") {
        let (kind, text) = item.split_once(' ').unwrap_or((item, ""));
        match (kind, text.split_once(' ').unwrap_or((text, ""))) {
            ("H", _) => collector.header_line(text.as_bytes()),
            ("M", (name, content)) => collector.meta(name, content),
            _ => panic!("{item}"),
        }
    }
    collector.finish()
}

fn rules(directives: &Directives) -> String {
    let rules: Vec<_> = directives.iter().map(|kept| kept.rule.to_string()).collect();
    rules.join("; ")
}

/// One line, one case: clause | tokens | header lines and meta tags | rules kept.
const CASES: &str = "
# R6: meta tags
RM-004 | examplebot | M ROBOTS NoIndex | noindex
RM-004 | examplebot | M ExampleBot NOFOLLOW | nofollow
RM-005 | examplebot | M otherbot noindex & M robots nosnippet | nosnippet
RM-005 | examplebot | M robot noindex & M googlebot noindex & M  noindex & M * noindex | 
RM-006 | googlebot | M googlebot nosnippet | nosnippet
RM-006 | googlebot | M googlebot-news nosnippet | 
RM-006 | googlebot-news googlebot | M googlebot-news nosnippet | nosnippet
RM-006 | googlebot | M googlebot notranslate & M googlebot-news nosnippet | notranslate
RM-006 | googlebot-news googlebot | M googlebot notranslate & M googlebot-news nosnippet | notranslate; nosnippet
RM-006 | googlebot | M googlebot noindex | noindex
RM-008 | examplebot | M robots INDEX,FOLLOW | 
RM-008 | examplebot | M robots NOINDEX,FOLLOW | noindex
RM-008 | examplebot | M robots INDEX,NOFOLLOW | nofollow
RM-008 | examplebot | M robots NOINDEX,NOFOLLOW | noindex; nofollow
RM-008 | examplebot | M robots ALL | all
RM-008 | examplebot | M robots NONE | noindex; nofollow
RM-008 | examplebot | M robots INDEX,NOINDEX,NOFOLLOW,FOLLOW,FOLLOW | noindex; nofollow
# R7: X-Robots-Tag
XR-002 | examplebot | H noindex | noindex
XR-002 | examplebot | H noimageindex & H unavailable_after: 25 Jun 2010 15:00:00 PST | noimageindex; unavailable_after: 2010-06-25T23:00:00Z
XR-002 | examplebot | H noarchive & H unavailable_after: 25 Jun 2010 15:00:00 PST | noarchive; unavailable_after: 2010-06-25T23:00:00Z
XR-002 | examplebot | H noimageindex, unavailable_after: 25 Jun 2010 15:00:00 PST | noimageindex; unavailable_after: 2010-06-25T23:00:00Z
XR-003 | googlebot | H googlebot: nofollow & H otherbot: noindex, nofollow | nofollow
XR-003 | otherbot | H googlebot: nofollow & H otherbot: noindex, nofollow | noindex; nofollow
XR-003 | examplebot | H googlebot: nofollow & H otherbot: noindex, nofollow | 
XR-003 | examplebot | H nofollow & H examplebot: noindex | nofollow; noindex
XR-004 | examplebot | H EXAMPLEBOT: NoIndex | noindex
XR-005 | googlebot | H BadBot: noindex, nofollow, googlebot: nofollow | nofollow
XR-005 | badbot | H BadBot: noindex, nofollow, googlebot: nofollow | noindex; nofollow
XR-005 | examplebot | H otherbot: noindex, nofollow, examplebot: nosnippet | nosnippet
XR-006 | examplebot | H noindex, nofollow | noindex; nofollow
# R8: the vocabulary
RM-020 | examplebot | M robots all | all
RM-021 | examplebot | M robots noindex | noindex
RM-022 | examplebot | M robots nofollow | nofollow
RM-023 | examplebot | H none | noindex; nofollow
RM-024 | examplebot | M robots nosnippet | nosnippet
RM-025 | googlebot | H googlebot:noindex,indexifembedded | noindex; indexifembedded
RM-026 | examplebot | M robots max-snippet:0 | max-snippet:0
RM-026 | examplebot | M robots max-snippet:20 | max-snippet:20
RM-026 | examplebot | M robots max-snippet:-1 | max-snippet:-1
RM-026 | examplebot | M robots max-snippet:lots, max-video-preview:, max-image-preview:huge | 
RM-027 | examplebot | M robots max-image-preview:standard | max-image-preview:standard
RM-027 | examplebot | M robots max-image-preview: LARGE | max-image-preview:large
RM-028 | examplebot | M robots max-video-preview:-1 | max-video-preview:-1
RM-029 | examplebot | M robots notranslate | notranslate
RM-030 | examplebot | M robots noimageindex | noimageindex
RM-031 | examplebot | M robots unavailable_after: 2020-09-21 | unavailable_after: 2020-09-21T00:00:00Z
RM-031 | examplebot | M robots unavailable_after: 25-Aug-2007 15:00:00 EST | unavailable_after: 2007-08-25T20:00:00Z
RM-031 | examplebot | M robots noindex, unavailable_after: XXXX | noindex
RM-031 | examplebot | M robots unavailable_after: XXXX, noindex | noindex
RM-031 | examplebot | H otherbot: unavailable_after: 3 Mar 2012 08:00:00 EST | 
RM-032 | examplebot | M robots noarchive, nocache, nositelinkssearchbox | noarchive; nocache; nositelinkssearchbox
# R9: combining
RM-040 | examplebot | M robots noindex, nofollow | noindex; nofollow
RM-040 | examplebot | M robots noindex & M robots nofollow | noindex; nofollow
RM-040 | examplebot | M robots max-snippet:20, max-image-preview:large | max-snippet:20; max-image-preview:large
RM-041 | googlebot | M robots nofollow & M googlebot noindex | nofollow; noindex
RM-042 | examplebot | M robots max-snippet:50, nosnippet | max-snippet:50; nosnippet
RM-042 | examplebot | M robots noindex & M examplebot index | noindex
RM-042 | examplebot | M robots max-snippet:5 & M examplebot max-snippet:50 | max-snippet:5
# R16
AM-42 | examplebot googlebot | M robots noindex & M examplebot nofollow & M googlebot nosnippet | noindex; nofollow; nosnippet
AM-43 | examplebot | H examplebot: max-snippet: 0 | max-snippet:0
AM-43 | examplebot | H otherbot: max-snippet: 0, noindex | 
AM-43 | googlebot | H googlebot: unavailable_after: 1 Mar 2027 12:00:00 EST | unavailable_after: 2027-03-01T17:00:00Z
AM-43 | examplebot | H otherbot: noml, noindex | noindex
AM-43 | examplebot | H googlebot: noml, noindex | 
AM-43 | examplebot | H examplebot: noml, noindex | noindex
AM-43 | examplebot | H other bot: noindex, nofollow | nofollow
AM-43 | examplebot | H otherbot: noindex, *: nofollow | nofollow
AM-43 | examplebot | H otherbot: noindex, robots: nofollow | nofollow
AM-43 | examplebot | H noindex: nofollow, nosnippet | nosnippet
AM-43 | examplebot | H otherbot : noindex nofollow, nosnippet | 
AM-43 | examplebot | H otherbot: noindex, max-snippet: x, nofollow | 
AM-44 | examplebot | H otherbot: noindex & H nofollow | nofollow
AM-44 | examplebot | H examplebot: noindex, otherbot: nosnippet & H nofollow | noindex; nofollow
AM-45 | examplebot | M robots all & M robots index, follow & M robots noindex | all; noindex
AM-45 | examplebot | M robots none, index | noindex; nofollow
AM-46 | examplebot | M robots max-snippet : +020  | max-snippet:20
AM-46 | examplebot | M robots max-snippet:99999999999 | max-snippet:4294967295
AM-46 | examplebot | M robots max-snippet:-0 | max-snippet:0
AM-46 | examplebot | M robots max-snippet:-2 | 
AM-46 | examplebot | M robots max-snippet:-99999999999 | 
AM-46 | examplebot | M robots max-snippet:2.5 | 
AM-46 | examplebot | M robots max-snippet:20px | 
AM-46 | examplebot | M robots max-snippet: | 
AM-46 | examplebot | M robots max-snippet | 
AM-46 | examplebot | M robots max-snippet:+-1 | 
AM-47 | examplebot | M robots max-snippet:-1, max-snippet:9, max-snippet:10 | max-snippet:9
AM-47 | examplebot | M robots max-image-preview:standard, max-image-preview:none, max-image-preview:large | max-image-preview:none
AM-47 | examplebot | M robots max-image-preview:huge, max-image-preview:large | max-image-preview:large
AM-48 | examplebot | M robots unavailable_after: 2028-01-01, unavailable_after: 2027-06-01, unavailable_after: x | unavailable_after: 2027-06-01T00:00:00Z
AM-49 | examplebot | H unavailable_after: 2027-09-10 06:15:00 +9 | unavailable_after: 2027-09-09T21:15:00Z
AM-49 | examplebot | M robots unavailable_after: 1 Jan 2026 10:00:00 Pacific, noindex | unavailable_after: 2026-01-01T10:00:00Z; noindex
AM-48 | examplebot | M robots unavailable_after: 2027-012, unavailable_after: 2027-06-01 | unavailable_after: 2027-06-01T00:00:00Z
AM-50 | examplebot | H unavailable_after: Monday, 01-Mar-27 00:00:00 GMT | unavailable_after: 2027-03-01T00:00:00Z
AM-51 | examplebot | M robots unavailable_after: 17 Feb 2026 | unavailable_after: 2026-02-17T00:00:00Z
AM-52 | examplebot | H unavailable_after: Thu, 01 Jan 1970 00:00:00 GMT, noindex | unavailable_after: 1970-01-01T00:00:00Z; noindex
AM-52 | examplebot | H noindex, unavailable_after: Tue, Jan 5, 2027, nofollow | noindex; unavailable_after: 2027-01-05T00:00:00Z; nofollow
AM-53 | examplebot | H noarchive, noindex | noarchive; noindex
AM-61 | examplebot | M robots noindex nofollow | noindex; nofollow
AM-61 | examplebot | M robots noindex;nofollow ; nosnippet | noindex; nofollow; nosnippet
AM-61 | examplebot | M robots noindex nonsense, nofollow | nofollow
AM-61 | examplebot | M robots noml, noai, noindex, noodp | noindex
AM-61 | examplebot | M robots ,, ,noindex, | noindex
";

#[test]
fn rules_that_bind() {
    let lines = CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let [clause, tokens, items, expect] =
            line.splitn(4, '|').collect::<Vec<_>>().try_into().unwrap();
        let kept = rules(&read(tokens.trim(), items.trim()));
        assert_eq!(kept, expect.trim(), "{clause}: {items}");
    }
}

/// One line, one case: what is kept, as a person reads it.
#[test]
fn provenance() {
    let cases = [
        ("H noindex", "X-Robots-Tag line 1: noindex"),
        ("H all & H ExampleBot: noindex", "X-Robots-Tag line 2, examplebot: noindex"),
        ("M other noindex & M robots noindex", "meta robots 1: noindex"),
        ("M robots all & M EXAMPLEBOT noindex", "meta examplebot 2: noindex"),
        ("M robots noindex & H noindex", "meta robots 1: noindex"),
    ];
    for (items, expect) in cases {
        let directives = read("examplebot", items);
        let noindex = directives.noindex().unwrap();
        assert_eq!(noindex.to_string(), expect, "{items}");
        assert_eq!(noindex.source.to_string().parse(), Ok(noindex.source.clone()));
    }
    for bad in ["", "meta", "meta robots", "meta robots x", "X-Robots-Tag line -1"] {
        assert!(bad.parse::<Source>().is_err(), "{bad}");
    }
}

/// Each answer names the rule that decided it, be it from header or page.
#[test]
fn the_strictest_decides() {
    let directives = read(
        "examplebot",
        "H max-snippet:9, max-image-preview:large, max-video-preview:-1 \
         & M robots max-snippet:20, max-image-preview:none, max-video-preview:3, indexifembedded \
         & M examplebot unavailable_after: 2027-01-02, notranslate & H unavailable_after: 2027-01-01, noimageindex",
    );
    let (limit, from) = directives.max_snippet().unwrap();
    assert_eq!((limit, &*from.source.to_string()), (Limit::AtMost(9), "X-Robots-Tag line 1"));
    let (size, from) = directives.max_image_preview().unwrap();
    assert_eq!((size, &*from.source.to_string()), (ImagePreview::None, "meta robots 1"));
    let (limit, from) = directives.max_video_preview().unwrap();
    assert_eq!((limit, &*from.source.to_string()), (Limit::AtMost(3), "meta robots 1"));
    let (instant, from) = directives.unavailable_after().unwrap();
    assert_eq!(
        (&*instant.to_string(), &*from.source.to_string()),
        ("2027-01-01T00:00:00Z", "X-Robots-Tag line 2")
    );
    assert!(directives.no_translate().is_some() && directives.no_image_index().is_some());
    assert!(directives.index_if_embedded().is_some() && directives.nosnippet().is_none());
    assert!(directives.noindex().is_none() && directives.nofollow().is_none());
    let zero = read("examplebot", "M robots max-snippet:0");
    assert_eq!(zero.nosnippet().unwrap().rule, Rule::MaxSnippet(Limit::AtMost(0)));
}

/// AM-56, AM-58.
#[test]
fn a_304_replaces_header_rules_only() {
    let stored = || read("examplebot", "H noindex, nofollow & M robots noindex, nosnippet");
    assert_eq!(stored().after_not_modified(None), stored());
    let lifted = stored().after_not_modified(Some(read("examplebot", "H all")));
    assert_eq!(rules(&lifted), "noindex; nosnippet; all");
    let others = stored().after_not_modified(Some(read("examplebot", "H otherbot: none")));
    assert_eq!(rules(&others), "noindex; nosnippet");
    let mut rendered = stored();
    rendered.merge(read("examplebot", "M robots noimageindex, index"));
    assert_eq!(rules(&rendered), "noindex; nofollow; noindex; nosnippet; noimageindex");
}

/// A line is bytes: one line, one case.
#[test]
fn lines_that_are_not_utf8() {
    let cases: &[(&[u8], &str)] = &[
        (b"noindex, caf\xe9", "noindex"),
        (b"caf\xe9, noindex", "noindex"),
        (b"\xff\xfe, nofollow\xa0", "nofollow"),
        (b"examplebot\xe9: noindex", ""),
        (b"", ""),
        (b"no\0index", ""),
    ];
    for (line, expect) in cases {
        let identity = identity("examplebot");
        let mut collector = Directives::for_identity(&identity, NOW);
        collector.header_line(line);
        assert_eq!(rules(&collector.finish()), *expect, "{line:?}");
    }
}

/// What a page can make us keep has a bound: one rule of a kind from the header and one from the
/// page.
#[test]
fn storage_is_bounded() {
    let identity = identity("examplebot googlebot");
    let mut collector = Directives::for_identity(&identity, NOW);
    for number in (0..70_000u32).rev() {
        let line = alloc::format!("examplebot: max-snippet:{number}, none, unknown-{number}");
        collector.header_line(line.as_bytes());
        collector.meta("googlebot", &line.replace("examplebot: ", ""));
    }
    let directives = collector.finish();
    assert_eq!(directives.iter().count(), 6);
    let sources: Vec<_> = directives.iter().map(|kept| kept.source.to_string()).collect();
    assert!(sources.contains(&"X-Robots-Tag line 65535".into()), "{sources:?}");
}

/// RM-033: the table is whole, and each of its rules goes through the store unchanged.
#[test]
fn vocabulary() {
    let mut live = 0;
    for word in VOCABULARY {
        assert_eq!(word.name, word.name.to_ascii_lowercase());
        assert!(word.effect.ends_with('.') && !word.clause.is_empty());
        let written = match word.form {
            Form::Flag(_) => word.name.into(),
            Form::Number(_) => alloc::format!("{}:7", word.name),
            Form::Setting(_) => alloc::format!("{}:large", word.name),
            Form::Date(_) => alloc::format!("{}: 9999-12-31", word.name),
        };
        let directives = read("examplebot", &alloc::format!("M robots {written}"));
        for kept in directives.iter() {
            assert_eq!(Rule::from_stored(&kept.rule.to_string()), Some(kept.rule));
            assert!(!kept.rule.name().is_empty());
        }
        let is_live = |kept: &Directive| !matches!(kept.rule, Rule::Historic(_));
        live += u32::from(directives.iter().any(is_live));
        assert_eq!(Directives::from_parts(directives.iter().cloned()), directives);
    }
    assert_eq!(live, 12, "the 12 values of Google's own list");
    for text in ["", "none", "index", "max-snippet", "max-snippet:x", "noindex:1", "nonsense"] {
        assert_eq!(Rule::from_stored(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_line_is_read(line in any::<Vec<u8>>(), name in any::<String>(), content in any::<String>()) {
        let identity = identity("examplebot");
        let mut collector = Directives::for_identity(&identity, NOW);
        collector.header_line(&line);
        collector.meta(&name, &content);
        let _ = collector.finish();
    }

    /// Lines that are nearly rules reach further in, and what they leave can be stored.
    #[test]
    fn any_near_line_is_read(
        line in "([,:; ]|examplebot|otherbot|none|noindex|max-snippet|unavailable_after|Thu|[0-9]{1,4}|-|Jan){0,20}",
    ) {
        let directives = read("examplebot", &alloc::format!("H {line}"));
        for kept in directives.iter() {
            prop_assert_eq!(Rule::from_stored(&kept.rule.to_string()), Some(kept.rule));
        }
    }

    /// RM-042: more lines never lift a rule.
    #[test]
    fn rules_only_add_up(
        lines in proptest::collection::vec("(noindex|index|all|none|max-snippet:[0-9]{1,2}|examplebot: index)(, (follow|nosnippet))?", 1..6),
    ) {
        let mut before = Directives::default();
        for count in 1..=lines.len() {
            let items: Vec<_> = lines.iter().take(count).map(|line| alloc::format!("H {line}")).collect();
            let after = read("examplebot", &items.join(" & "));
            prop_assert!(after.noindex().is_some() >= before.noindex().is_some());
            let limit = |of: &Directives| of.max_snippet().map_or(Limit::Unlimited, |(limit, _)| limit);
            prop_assert!(limit(&after) <= limit(&before));
            before = after;
        }
    }
}

/// RM-033, AM-46, AM-47, AM-49: one line, one case: what is not understood, or by an assumption.
const REMARKS: &str = "
M robots noindx, nofollow | meta robots 1: unknown-word: noindx
M robots noindex nonsense | meta robots 1: unknown-word: noindex nonsense
M robots noindx: 1 | meta robots 1: unknown-word: noindx: 1
M robots max-snippet:abc | meta robots 1: unreadable-value: max-snippet:abc
M robots max-snippet | meta robots 1: unreadable-value: max-snippet
M robots noindex: nofollow | meta robots 1: unreadable-value: noindex: nofollow
M examplebot max-image-preview:huge | meta examplebot 1: unreadable-value: max-image-preview:huge
M robots noindex, unavailable_after: tomorrow, x | meta robots 1: unreadable-value: unavailable_after: tomorrow; meta robots 1: unknown-word: x
H unavailable_after: 1 Jan 2026 10:00:00 Pacific | X-Robots-Tag line 1: unknown-zone: unavailable_after: 1 Jan 2026 10:00:00 Pacific
H unavailable_after: Thu, 1 Jan 2026 10:00:00 CET, noindex | X-Robots-Tag line 1: unknown-zone: unavailable_after: Thu, 1 Jan 2026 10:00:00 CET
H noindex & H examplebot: noml | X-Robots-Tag line 2: unknown-word: noml
H otherbot: noindex, noindx | 
M otherbot noindx | 
M robots unavailable_after: 1 Jan 2026 10:00:00 EST, noindex, , index | 
M robots noarchive, max-snippet:-1 | 
R *;noindx;noindex=?0;nofollow | Robots-Tag line 1: unknown-word: noindx
R *;max-snippet=x;unavailable_after=\"1 Jan 2026 10:00 CET\" | Robots-Tag line 1: unreadable-value: max-snippet=x; Robots-Tag line 1: unknown-zone: unavailable_after=\"1 Jan 2026 10:00 CET\"
R otherbot;noindx | 
";

#[test]
fn remarks() {
    let identity = identity("examplebot");
    for case in REMARKS.lines().filter(|line| !line.is_empty()) {
        let (items, expect) = case.split_once(" |").unwrap();
        let mut asked = Directives::for_identity(&identity, NOW).with_robots_tag().with_remarks();
        let mut plain = Directives::for_identity(&identity, NOW).with_robots_tag();
        for collector in [&mut asked, &mut plain] {
            for item in items.split(" & ") {
                let (kind, text) = item.split_once(' ').unwrap();
                match (kind, text.split_once(' ').unwrap_or((text, ""))) {
                    ("H", _) => collector.header_line(text.as_bytes()),
                    ("R", _) => collector.robots_tag_line(text.as_bytes()),
                    (_, (name, content)) => collector.meta(name, content),
                }
            }
        }
        let shown: Vec<String> = asked.remarks().iter().map(|one| one.to_string()).collect();
        assert_eq!(shown.join("; "), expect.trim(), "{items}");
        assert!(plain.remarks().is_empty(), "nobody asked");
        assert_eq!(asked.finish(), plain.finish(), "{items}");
    }
}

/// Whatever a page sends, the remarks have a bound.
#[test]
fn remarks_are_bounded() {
    let identity = identity("examplebot");
    let mut collector = Directives::for_identity(&identity, NOW).with_remarks();
    collector.meta("robots", &"\u{e9}".repeat(100_000));
    collector.meta("robots", &"x,".repeat(100_000));
    let remarks = collector.remarks();
    assert_eq!(remarks.len(), MOST_REMARKS);
    assert!(remarks.iter().all(|remark| remark.text.chars().count() <= 100));
}

/// Each shape is read at a size that a quadratic reader would need minutes for.
#[test]
fn long_lines_are_read_in_linear_time() {
    const BYTES: usize = 1 << 18;
    for shape in [
        ",",
        "a",
        " ",
        ":",
        "noindex,",
        "a:",
        "otherbot: noindex, ",
        "unavailable_after: x, ",
        "unavailable_after:",
        "noindex ",
        "Thu, ",
    ] {
        let line = shape.repeat(BYTES / shape.len());
        let identity = identity("examplebot");
        let mut collector = Directives::for_identity(&identity, NOW);
        collector.header_line(line.as_bytes());
        collector.meta("robots", &line);
        assert!(collector.finish().iter().count() <= 2, "{shape}");
    }
}
