//! Settings read: defaults, mistakes with their places, lengths of time and numbers of bytes.

use std::path::Path;

use super::file::{known_keys, uncommented};
use super::*;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("comity.toml")).map_err(|e| e.to_string())
}

/// The template says the defaults, and with its optional lines put to work it still parses.
#[test]
fn template_is_the_defaults() {
    assert_eq!(parse(TEMPLATE).unwrap(), Config::default());
    parse(&uncommented(TEMPLATE)).unwrap();
}

/// No setting is missing from the template.
#[test]
fn template_is_complete() {
    let full = parse(&uncommented(TEMPLATE)).unwrap();
    let table = toml::Table::try_from(full).unwrap();
    let template: toml::Table = uncommented(TEMPLATE).parse().unwrap();
    let known = known_keys();
    let mut count = 0;
    for (section, settings) in table {
        for (key, value) in settings.as_table().unwrap() {
            assert!(known.contains(&format!("{section}.{key}")), "{section}.{key}");
            count += 1;
            for below in value.as_table().into_iter().flat_map(toml::Table::keys) {
                let template = &template[&section][key];
                assert!(template.get(below).is_some(), "{section}.{key}.{below}");
            }
        }
    }
    assert_eq!(count, known.len());
}

/// One line, one case: text, and a part of the message.
#[test]
fn mistakes() {
    let cases = [
        ("[politeness]\nintervall = \"2s\"", "did you mean \"politeness.interval\"?"),
        ("[politness]\ninterval = \"2s\"", "did you mean \"politeness\"?"),
        ("max_pages = 3", "did you mean \"crawl.max_pages\"?"),
        ("[crawl]\nzzz = 3", "`comity init` writes"),
        ("[politeness]\ninterval = \"soon\"", "\"soon\" is not a length of time"),
        ("[network]\npage_bytes = \"2 elephants\"", "is not a number of bytes"),
        ("[crawl]\nmax_pages = \"many\"", "line 2, column 13"),
        ("[crawl\n", "line 1"),
    ];
    for (text, expect) in cases {
        let message = parse(text).unwrap_err();
        assert!(message.contains(expect), "{text}: {message}");
    }
}

/// One line, one case: what stands in `[output.items]`, and a part of the message.
#[test]
fn mistakes_in_items() {
    let mut cases = vec![
        ("format = \"xml\"", "line 2, column 10"),
        ("format = \"xml\"", "unknown variant `xml`, expected one of `jsonl`, `csv`, `parquet`"),
        ("colums = []", "line 2, column 1"),
        ("path = \"a.csv\"", "line 2, column 8: output.items.path: the ending says csv"),
        ("path = \"/\"", "line 2, column 8: output.items.path: / is a directory"),
        ("columns = [\"a\"]", "line 2, column 11: output.items.columns: only a csv file"),
        (
            "format = \"csv\"\ncolumns = [\"a\", \"b\", \"a\"]",
            "line 3, column 11: output.items.columns: \"a\" stands there twice",
        ),
        ("file_bytes = \"0\"", "line 2, column 14: output.items.file_bytes: must be 1 or more"),
        ("file_bytes = \"much\"", "is not a number of bytes"),
    ];
    if !cfg!(feature = "parquet") {
        let expect = "line 2, column 10: output.items.format: this build writes no parquet";
        cases.push(("format = \"parquet\"", expect));
    }
    for (text, expect) in cases {
        let message = parse(&format!("[output.items]\n{text}")).unwrap_err();
        assert!(message.contains(expect), "{text}: {message}");
    }
    parse("[output.items]\nformat = \"csv\"\npath = \"a.txt\"\ncolumns = [\"a\"]").unwrap();
}

/// One line, one case: what stands in `[extract.a]`, and a part of the message.
#[test]
fn mistakes_in_extractors() {
    let field = |rest: &str| format!("[extract.a.fields.x]\n{rest}");
    let cases = [
        ("[extract.a]\nurls = []".to_owned(), "line 1, column 10: extract.a: it has no fields"),
        (
            field("css = \"p[\""),
            "line 2, column 7: extract.a.fields.x.css: \"p[\" is no CSS selector",
        ),
        (
            field("css = \"p\"\nregex = \"(\""),
            "line 3, column 9: extract.a.fields.x.regex: regex parse error",
        ),
        (
            field("jsonld = \"a..b\""),
            "line 2, column 10: extract.a.fields.x.jsonld: \"a..b\" is no path",
        ),
        (
            field("css = \"p\"\njsonld = \"a\""),
            "line 3, column 10: extract.a.fields.x.jsonld: a field has css or jsonld, not both",
        ),
        (field("attr = \"p\""), "line 1, column 19: extract.a.fields.x: it says nowhere to look"),
        (field("jsonld = \"a\"\nattr = \"p\""), "line 3, column 8: extract.a.fields.x.attr"),
        (field("css = \"p\"\ntype = \"numbr\""), "line 3, column 8"),
        (field("css = \"p\"\nregexp = \"x\""), "line 3, column 1"),
        (field("css = \"p\"\nregexp = \"x\""), "unknown field `regexp`"),
        (
            field("css = \"p\"\nof = \"number\""),
            "line 3, column 6: extract.a.fields.x.of: only a list",
        ),
        (field("css = \"p\"\ntype = \"list\"\nof = \"list\""), "line 4, column 6"),
        (field("css = \"p\"\nfollow = true"), "line 3, column 10"),
        (
            field("css = \"p\"\ndecimal = \",\""),
            "line 3, column 11: extract.a.fields.x.decimal: only a number",
        ),
        (field("css = \"p\"\ntype = \"number\"\ndecimal = \";\""), "is neither"),
        (field("css = \"p\"\ntype = \"date\"\nformat = \"%!\""), "line 4, column 10"),
        (
            "[extract.a]\nurls = [\"/ok\", \"p/*\"]\nfields.x.css = \"p\"".to_owned(),
            "line 2, column 16: extract.a.urls.1",
        ),
        (
            "[extract.a]\neach = \"\"\nfields.x.attr = \"p\"".to_owned(),
            "line 2, column 8: extract.a.each",
        ),
        ("[extract.a]\npages = \"some\"".to_owned(), "unknown variant `some`"),
        ("[extrakt.a]\npages = \"all\"".to_owned(), "did you mean \"extract\"?"),
        (field("css = \"p\"\nregex = \"(a{1000}){1000}\""), "exceeds size limit"),
    ];
    for (text, expect) in cases {
        let message = parse(&text).unwrap_err();
        assert!(message.contains(expect), "{text}: {message}");
    }
    parse("[extract.a]\neach = \"li\"\nfields.x = { type = \"url\", follow = true }").unwrap();
}

#[test]
fn a_file_without_end() {
    let error = Config::read(Path::new("/dev/zero")).unwrap_err().to_string();
    assert_eq!(error, "/dev/zero is larger than 16 MiB; that is no configuration");
}

#[test]
fn spans_and_bytes() {
    for (text, millis) in [
        ("2s", 2000),
        ("500ms", 500),
        ("1m 30s", 90_000),
        ("2d 1h", 176_400_000),
        ("999999999h", 3_599_999_996_400_000),
    ] {
        let span: Span = text.parse().unwrap();
        assert_eq!(span.0.as_millis(), millis, "{text}");
        assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
    }
    for text in ["-2s", "", "2", "1y", "99999999999d"] {
        assert!(text.parse::<Span>().is_err(), "{text}");
    }
    for (text, bytes) in [("2MiB", 2 << 20), ("64 KiB", 64 << 10), ("1500", 1500), ("7B", 7)] {
        let parsed: Bytes = text.parse().unwrap();
        assert_eq!(parsed.0, bytes, "{text}");
        assert_eq!(parsed.to_string().parse::<Bytes>().unwrap(), parsed);
    }
    assert!("99999999999GiB".parse::<Bytes>().is_err());
}
