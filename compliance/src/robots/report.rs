//! A robots.txt line by line, for people and tools: what each line is, whether or not it has an
//! effect. It reads lines by the same functions as [`RobotsTxt`](super::RobotsTxt).

use super::lines::{self, LINE_OCTETS, Name, RuleKind, Separator};

/// Fields that are well known and that Google does not use, by their whole names (RT-044).
const UNUSED: &[&str] = &[
    "clean-param",
    "content-signal",
    "content-usage",
    "crawl-delay",
    "domain",
    "host",
    "noarchive",
    "nofollow",
    "noindex",
    "request-rate",
    "revisit-after",
    "visit-time",
];

/// One line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReportLine<'a> {
    /// From 1.
    pub number: u32,
    /// All of it, without its line end.
    pub raw: &'a [u8],
    /// What was understood.
    pub content: Content<'a>,
    /// Where the text that counts ends.
    pub end: TextEnd,
    /// Octets past the 16,663 that are kept of a line (RT-052).
    pub dropped: usize,
}

/// What a line holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Content<'a> {
    /// Nothing.
    Blank,
    /// A comment alone.
    Comment,
    /// Text that is no field: it has neither a colon nor exactly two words.
    NoField(&'a [u8]),
    /// A field, known or not.
    Field(ReportedField<'a>),
}

/// A field with its value, outer blanks removed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReportedField<'a> {
    /// Which one.
    pub kind: FieldKind,
    /// The name as it is written.
    pub key: &'a [u8],
    /// The value as it is written (UA-006).
    pub value: &'a [u8],
    /// The accepted spelling that the name begins with; none for a field without effect.
    pub spelling: Option<&'static str>,
    separator: Separator,
}

/// Which field a line sets.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FieldKind {
    /// `user-agent`
    UserAgent,
    /// `allow`
    Allow,
    /// `disallow`
    Disallow,
    /// `sitemap`
    Sitemap,
    /// A well-known field that Google does not use, such as `crawl-delay`.
    Unused,
    /// Any other.
    Unknown,
}

/// Where the text that counts ends.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TextEnd {
    /// With the line, or where the kept part of it ends.
    Line,
    /// Before a comment.
    Comment,
    /// Before a NUL octet; what follows it is not seen (RT-052).
    Nul,
}

/// The lines of a body, in order, the empty one after a final line end included.
///
/// ```
/// use comity_compliance::robots::{FieldKind, report};
///
/// let fields = report(b"user-agent: *\ncontent-signal: ai-train=no\n");
/// let unused: Vec<_> = fields.filter_map(|line| line.field().copied())
///     .filter(|field| field.kind == FieldKind::Unused)
///     .collect();
/// assert_eq!(unused[0].value, b"ai-train=no");
/// ```
pub fn report(body: &[u8]) -> impl Iterator<Item = ReportLine<'_>> {
    lines::numbered(body).map(|(number, raw)| {
        let (text, ended_by) = lines::text_and_end(raw);
        let end = match ended_by {
            None => TextEnd::Line,
            Some(0) => TextEnd::Nul,
            Some(_) => TextEnd::Comment,
        };
        let content = content(text, end);
        ReportLine { number, raw, content, end, dropped: raw.len().saturating_sub(LINE_OCTETS) }
    })
}

fn content(text: &[u8], end: TextEnd) -> Content<'_> {
    match (text, end) {
        ([], TextEnd::Comment) => return Content::Comment,
        ([], TextEnd::Line | TextEnd::Nul) => return Content::Blank,
        _ => {}
    }
    let Some((key, value, separator)) = lines::key_and_value(text) else {
        return Content::NoField(text);
    };
    let (kind, spelling) = kind_of(key);
    Content::Field(ReportedField { kind, key, value, spelling, separator })
}

fn kind_of(key: &[u8]) -> (FieldKind, Option<&'static str>) {
    let is_unused = UNUSED.iter().any(|name| key.eq_ignore_ascii_case(name.as_bytes()));
    let unused = if is_unused { FieldKind::Unused } else { FieldKind::Unknown };
    let Some((name, spelling)) = lines::known_name(key) else { return (unused, None) };
    let kind = match name {
        Name::UserAgent => FieldKind::UserAgent,
        Name::Rule(RuleKind::Allow) => FieldKind::Allow,
        Name::Rule(RuleKind::Disallow) => FieldKind::Disallow,
        Name::Sitemap => FieldKind::Sitemap,
        Name::CrawlDelay => return (unused, None),
    };
    (kind, Some(spelling))
}

impl<'a> ReportLine<'a> {
    /// The field that it sets, if it sets one.
    pub fn field(&self) -> Option<&ReportedField<'a>> {
        match &self.content {
            Content::Field(field) => Some(field),
            Content::Blank | Content::Comment | Content::NoField(_) => None,
        }
    }

    /// What it is, as a word: `blank`, `comment`, `no-field`, or the kind of its field.
    pub fn word(&self) -> &'static str {
        match &self.content {
            Content::Blank => "blank",
            Content::Comment => "comment",
            Content::NoField(_) => "no-field",
            Content::Field(field) => field.kind.name(),
        }
    }
}

impl ReportedField<'_> {
    /// Whether the name is a misspelling that Google's parser takes, such as `useragent` (RT-051).
    pub fn is_typo(&self) -> bool {
        self.spelling.is_some_and(|spelling| spelling != self.kind.name())
    }

    /// Whether the name only begins with that of the field, such as `Allowance` (AM-25).
    pub fn is_prolonged(&self) -> bool {
        self.spelling.is_some_and(|spelling| self.key.len() > spelling.len())
    }

    /// Whether blanks stand in the colon's place (AM-24).
    pub fn lacks_colon(&self) -> bool {
        self.separator == Separator::Blank
    }
}

impl FieldKind {
    /// The field's name in lower case; `unused` and `unknown` for what has no effect.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserAgent => "user-agent",
            Self::Allow => "allow",
            Self::Disallow => "disallow",
            Self::Sitemap => "sitemap",
            Self::Unused => "unused",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use crate::robots::RobotsTxt;

    /// A line in the words of Google's reporting parser: tag, then flags.
    fn told(line: &ReportLine<'_>) -> String {
        let field = line.field();
        let flags = [
            (line.end == TextEnd::Comment, "comment"),
            (line.end == TextEnd::Nul, "nul"),
            (field.is_some_and(ReportedField::is_typo), "typo"),
            (field.is_some_and(ReportedField::is_prolonged), "prolonged"),
            (field.is_some_and(ReportedField::lacks_colon), "no-colon"),
            (line.dropped > 0, "long"),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).map(|(_, name)| format!(" {name}"));
        format!("{}{}", line.word(), flags.collect::<String>())
    }

    /// One line, one case: text => what it is (RT-044, RT-051, AM-23 to AM-25).
    const CASES: &str = "
User-agent: foo => user-agent
USERAGENT: foo => user-agent typo
user agent: foo => user-agent typo
User-agents: foo => user-agent prolonged
user agent foo => no-field
user_agent: foo => unknown
Allow: /a => allow
Allowance: /a => allow prolonged
Alow: /a => unknown
Disallow: => disallow
Disallow /a => disallow no-colon
Disallow /a # b => disallow comment no-colon
Disallow /a b => no-field
Disallow /a:b => disallow prolonged
Disallow:: /a => disallow
Dissallow: /a => disallow typo
Dissalow: /a => disallow typo
Disalow: /a => disallow typo
Diasllow: /a => disallow typo
Disallaw: /a => disallow typo
Disallaws: /a => disallow typo prolonged
Desallow: /a => unknown
Sitemap: https://example.com/s => sitemap
Site-map: https://example.com/s => sitemap typo
Sitemaps: https://example.com/s => sitemap prolonged
Crawl-delay: 3 => unused
crawl-delay 3 => unused no-colon
Crawl-delays: 3 => unknown
Clean-param: s => unused
Content-Signal: ai-train=no => unused
Content-Usage: train-ai=n => unused
Domain: example.com => unused
Host: example.com => unused
NoArchive: / => unused
NoFollow: / => unused
NoIndex: / => unused
Request-rate: 1/5 => unused
Revisit-after: 1d => unused
Visit-time: 0600-0845 => unused
foo: bar => unknown
foo bar => unknown no-colon
foo => no-field
: bar => no-field
# User-agent: foo => comment comment
  \t# x => comment comment
Allow: /a # x => allow comment
";

    #[test]
    fn lines() {
        let cases = CASES.lines().filter(|line| !line.is_empty());
        for (case, expect) in cases.map(|line| line.split_once(" => ").unwrap()) {
            let case = case.replace("\\t", "\t");
            let line = report(case.as_bytes()).next().unwrap();
            assert_eq!(told(&line), expect, "{case}");
        }
    }

    /// RT-052: the flag of too long lines is set from 16,664 octets on; a NUL ends a line.
    #[test]
    fn ends_of_lines() {
        for (octets, dropped) in [(16_663, 0), (16_664, 1), (20_000, 3337)] {
            let mut body = b"Allow: /".to_vec();
            body.resize(octets, b'a');
            let line = report(&body).next().unwrap();
            assert_eq!(line.dropped, dropped);
            assert_eq!(line.field().unwrap().value.len(), octets - dropped - "Allow: ".len());
        }
        let words: Vec<_> = report(b"\0a: b\nAllow: /a\0#b").map(|line| told(&line)).collect();
        assert_eq!(words, ["blank nul", "allow nul"]);
    }

    #[test]
    fn every_line_has_its_number_and_values_are_kept() {
        let body =
            b"\xEF\xBB\xBFUser-agent: *\r\n\r\n# c\rcontent-signal: search=yes, ai-train=no\n";
        let lines: Vec<_> = report(body).collect();
        let words: Vec<_> = lines.iter().map(|line| (line.number, line.word())).collect();
        let expect =
            vec![(1, "user-agent"), (2, "blank"), (3, "comment"), (4, "unused"), (5, "blank")];
        assert_eq!(words, expect);
        assert_eq!(lines[3].field().unwrap().value, b"search=yes, ai-train=no");
    }

    proptest! {
        /// What the matcher takes for a rule is reported as one, by the same number and kind.
        #[test]
        fn agrees_with_the_matcher(
            lines in prop::collection::vec("(user-agent: ?a|(al|disal|dissal)low:? ?/?[a-z#]{0,3}|[ -~]{0,9})", 0..9),
            end in "(\n|\r|\r\n)",
        ) {
            let body = lines.join(&end);
            let file = RobotsTxt::parse(body.as_bytes());
            for line in report(body.as_bytes()) {
                let Some(rule) = file.rule_in_line(line.number) else { continue };
                let expect = match rule.kind {
                    RuleKind::Allow => FieldKind::Allow,
                    RuleKind::Disallow => FieldKind::Disallow,
                };
                prop_assert_eq!(line.field().map(|field| field.kind), Some(expect));
            }
        }
    }
}
