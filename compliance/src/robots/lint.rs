//! What is wrong or of no use in a robots.txt, with line numbers and advice.

mod agents;
mod paths;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use agents::{Agents, Naming};
use paths::{Clash, Paths};

use super::groups::name;
use super::lines::{self, BOM, Grammar, RuleKind};
use super::report::{Content, FieldKind, ReportLine, ReportedField, TextEnd, report};
use crate::verdict::reasons;

/// Findings that are kept; the others are only counted.
const SHOWN: usize = 1000;
/// Characters of a file that a finding quotes.
const QUOTED: usize = 100;

reasons! {
    /// What a line, or the file, suffers from.
    Lint {
        /// A page in the place of a robots.txt.
        Html = "html", "RT-041",
            "This is an HTML page, which forbids nothing; serve the rules as plain text, or answer 404 if there are none.";
        /// Not UTF-8 but UTF-16.
        Utf16 = "utf-16", "RT-040, RT-052",
            "The file is in UTF-16, so no line of it is understood; save it as UTF-8.";
        /// No text at all.
        Binary = "binary", "RT-040, RT-052",
            "This is no text but something compressed, or an image, and crawlers find no rule in it; serve the rules as plain text, and name a compression in Content-Encoding.";
        /// More than crawlers read.
        Oversize = "oversize", "RT-031, AM-17",
            "From this line on the file is not read; shorten it, for example by moving what is excluded into one directory.";
        /// A byte order mark, or a part of one.
        ByteOrderMark = "byte-order-mark", "RT-041",
            "The file begins with a byte order mark, which strict parsers take for a part of the first line; save it without.";
        /// Octets that are no UTF-8.
        NotUtf8 = "not-utf-8", "RT-042, AM-30",
            "The line is not UTF-8, so crawlers may ignore it or read it differently; save the file as UTF-8 or percent-encode the path.";
        /// A NUL octet.
        Nul = "nul", "RT-052",
            "What follows the NUL octet in this line is not read; remove it.";
        /// More octets than a line may have.
        LongLine = "long-line", "RT-052",
            "Only the first 16,663 octets of a line are read; shorten it.";
        /// Neither field nor comment.
        NoField = "no-field", "RT-043",
            "The line is no `field: value` and is ignored; mend it, or begin it with # to make it a comment.";
        /// Blanks for a colon.
        MissingColon = "missing-colon", "AM-24",
            "Google takes this line without a colon, others ignore it; put a colon after the field's name.";
        /// A misspelt field that is taken all the same.
        Typo = "typo", "RT-051, AM-23",
            "Google takes this misspelt field, others ignore it; correct the spelling.";
        /// A field whose name goes on.
        KeyPrefix = "key-prefix", "RT-051, AM-25",
            "Google takes this line because its name begins with a field's, others ignore it; write the field's name and nothing else before the colon.";
        /// A page rule that robots.txt does not know.
        PageRule = "page-rule", "RM-044",
            "A robots.txt cannot say this; use a robots meta tag or an X-Robots-Tag header, and let the page be fetched so that it is seen.";
        /// A well-known field that Google does not use.
        UnusedField = "unused-field", "RT-044",
            "Google does not use this field, some others do; nothing to do if it is meant for them.";
        /// A field that nobody knows.
        UnknownField = "unknown-field", "RT-044",
            "No such field is known and the line is ignored; check the spelling.";
        /// A user-agent line that names nobody.
        AgentUnreadable = "agent-unreadable", "RT-063, RT-067, RT-069",
            "The line names no crawler: a name begins with a letter, - or _, and * stands alone; correct it.";
        /// A user-agent value that is longer than the name that it gives.
        AgentCut = "agent-cut", "RT-063",
            "Only letters, - and _ belong to a crawler's name and the rest of the line is ignored, digits too; write the crawler's product token alone.";
        /// A rule outside of any group.
        RuleBeforeGroup = "rule-before-group", "RT-067",
            "The rule stands before any user-agent line and binds nobody; put a user-agent line before it.";
        /// A group that says nothing.
        GroupWithoutRules = "group-without-rules", "RT-068",
            "The group has no rule, so the crawlers that it names may fetch everything, whatever the group for * says; say so with an empty disallow, or give it rules.";
        /// A group that no crawler can choose.
        GroupForNobody = "group-for-nobody", "RT-067, RT-069",
            "No user-agent line of this group names a crawler, so its rules bind nobody; correct the names.";
        /// A crawler that several groups name.
        SplitGroup = "split-group", "RT-064",
            "An earlier group names this crawler too, and it obeys both as if they were one; write them as one, so that nobody overlooks a rule.";
        /// A crawler that one group names twice.
        DuplicateAgent = "duplicate-agent", "RT-060",
            "The group names this crawler already; remove one of the lines.";
        /// A rule without a path beside others.
        PathlessRule = "pathless-rule", "RT-045",
            "A rule without a path has no effect; give it one (/ for everything), or remove it.";
        /// A path that can match nothing.
        PathStart = "path-start", "RT-046, AM-26",
            "Paths begin with / so this rule matches nothing; begin it with / or *, without scheme and host.";
        /// A dollar sign that is no anchor.
        InnerDollar = "inner-dollar", "RT-082",
            "$ means the end of a URL only as the last character, here it is an ordinary one; move it to the end, or write %24 if it is meant.";
        /// The same rule again.
        DuplicateRule = "duplicate-rule", "RT-083",
            "The group has this rule already, or one that matches the same; remove one of them.";
        /// Allowed and disallowed alike.
        ContradictoryRules = "contradictory-rules", "RT-083",
            "The group both allows and disallows this path, and then allow wins; remove one of them.";
        /// A rule that a longer one for the same URLs overrules.
        ShadowedRule = "shadowed-rule", "RT-083, AM-27",
            "The group has the opposite rule for the same URLs with a longer path, and the longest path wins, so this rule decides nothing; remove one of them.";
        /// A sitemap line that is no full URL.
        RelativeSitemap = "relative-sitemap", "RT-050, AM-38",
            "A sitemap is given by its whole URL with https:// and host; this line is ignored.";
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Something works by leniency only, or does nothing and may be meant so.
    Warning,
    /// Something that was written has no effect, or another one than it says.
    Error,
}

impl Severity {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Lint {
    /// How bad it is.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Html
            | Self::Utf16
            | Self::Binary
            | Self::Oversize
            | Self::Nul
            | Self::LongLine
            | Self::NoField
            | Self::PageRule
            | Self::AgentUnreadable
            | Self::RuleBeforeGroup
            | Self::GroupForNobody
            | Self::PathStart
            | Self::RelativeSitemap => Severity::Error,
            Self::ByteOrderMark
            | Self::NotUtf8
            | Self::MissingColon
            | Self::Typo
            | Self::KeyPrefix
            | Self::UnusedField
            | Self::UnknownField
            | Self::AgentCut
            | Self::GroupWithoutRules
            | Self::SplitGroup
            | Self::DuplicateAgent
            | Self::PathlessRule
            | Self::InnerDollar
            | Self::DuplicateRule
            | Self::ContradictoryRules
            | Self::ShadowedRule => Severity::Warning,
        }
    }
}

/// One thing that a site owner may want to change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The line, from 1; the first one for what concerns the whole file.
    pub line: u32,
    /// What it is, with its code, clause and advice.
    pub lint: Lint,
    /// The text in question, or how it was understood; short.
    pub detail: String,
}

/// All that was found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Findings {
    /// The first thousand, by line.
    pub shown: Vec<Finding>,
    /// How many errors there are in all.
    pub errors: u32,
    /// How many warnings there are in all.
    pub warnings: u32,
}

/// Looks a body over, as Google's parser reads it. Of a page, of UTF-16 or of what is no text
/// nothing else is told.
///
/// `max_bytes` is how much of it crawlers read, see
/// [`RobotsNumbers::max_bytes`](crate::RobotsNumbers::max_bytes); give the whole body.
///
/// ```
/// use comity_compliance::robots::{Lint, lint};
///
/// let found = lint(b"user-agent: *\ndisallow: private\n", 512_000);
/// assert_eq!(found.shown[0].line, 2);
/// assert_eq!(found.shown[0].lint, Lint::PathStart);
/// assert_eq!(found.errors, 1);
/// ```
pub fn lint(body: &[u8], max_bytes: usize) -> Findings {
    let mut linter = Linter::default();
    let text = lines::without_bom(body);
    let starts_with = |start: &[u8]| body.starts_with(start);
    if starts_with(b"\xFF\xFE") || starts_with(b"\xFE\xFF") {
        linter.found(1, Lint::Utf16, String::new());
        return linter.findings;
    }
    if text.iter().find(|octet| !lines::is_blank(**octet)) == Some(&b'<') {
        linter.found(1, Lint::Html, quoted(text.trim_ascii_start()));
        return linter.findings;
    }
    if is_binary(text) {
        linter.found(1, Lint::Binary, String::new());
        return linter.findings;
    }
    if text.len() < body.len() {
        let whole = if starts_with(BOM) { "" } else { "a part of one" };
        linter.found(1, Lint::ByteOrderMark, whole.into());
    }
    let kept = lines::cut(body, max_bytes);
    let mut last = 1;
    for line in report(kept) {
        last = line.number;
        linter.line(&line);
    }
    linter.end_last_group();
    let unread = body.get(kept.len()..).unwrap_or_default();
    if unread.iter().any(|octet| !matches!(octet, b'\n' | b'\r')) {
        let ended = matches!(kept.last(), None | Some(b'\n' | b'\r'));
        let first_unread = if ended { last } else { last.saturating_add(1) };
        linter.found(first_unread, Lint::Oversize, format!("{} bytes", body.len()));
    }
    linter.findings.shown.sort_by_key(|finding| finding.line);
    linter.findings
}

#[derive(Default)]
struct Linter<'a> {
    findings: Findings,
    agents: Agents,
    group: Option<Group<'a>>,
}

/// The group that the present line stands in.
#[derive(Default)]
struct Group<'a> {
    first_line: u32,
    has_rule: bool,
    names: Names,
    /// Disallows without a path: alone, they are a way to say that all is allowed.
    empty_disallows: Vec<u32>,
    paths: Paths<'a>,
}

/// Whom a group is for.
#[derive(Default)]
enum Names {
    /// No name that can be read yet.
    #[default]
    Nobody,
    /// Crawlers that earlier groups name too: what is missing here stands there.
    KnownOnly,
    /// At least one crawler that no earlier group names.
    SomeNew,
}

impl<'a> Linter<'a> {
    fn found(&mut self, line: u32, lint: Lint, detail: String) {
        let count = match lint.severity() {
            Severity::Error => &mut self.findings.errors,
            Severity::Warning => &mut self.findings.warnings,
        };
        *count = count.saturating_add(1);
        if self.findings.shown.len() < SHOWN {
            self.findings.shown.push(Finding { line, lint, detail });
        }
    }

    fn line(&mut self, line: &ReportLine<'a>) {
        let number = line.number;
        if line.end == TextEnd::Nul {
            self.found(number, Lint::Nul, String::new());
        }
        if line.dropped > 0 {
            self.found(number, Lint::LongLine, format!("{} octets", line.raw.len()));
        }
        match &line.content {
            Content::Blank | Content::Comment => {}
            Content::NoField(text) => self.found(number, Lint::NoField, quoted(text)),
            Content::Field(field) => {
                if core::str::from_utf8(field.value).is_err() {
                    self.found(number, Lint::NotUtf8, quoted(field.value));
                }
                self.spelling(number, field);
                self.field(number, field);
            }
        }
    }

    fn spelling(&mut self, line: u32, field: &ReportedField<'_>) {
        let read_as = || format!("{} is read as {}", quoted(field.key), field.kind.name());
        if field.spelling.is_some() && field.lacks_colon() {
            self.found(line, Lint::MissingColon, read_as());
        }
        if field.is_typo() {
            self.found(line, Lint::Typo, read_as());
        }
        if field.is_prolonged() {
            self.found(line, Lint::KeyPrefix, read_as());
        }
    }

    fn field(&mut self, line: u32, field: &ReportedField<'a>) {
        let as_written = || format!("{}: {}", quoted(field.key), quoted(field.value));
        match field.kind {
            FieldKind::UserAgent => self.user_agent(line, field.value),
            FieldKind::Allow => self.rule(line, RuleKind::Allow, field.value),
            FieldKind::Disallow => self.rule(line, RuleKind::Disallow, field.value),
            FieldKind::Sitemap => {
                if lines::absolute_url(field.value).is_none() {
                    self.found(line, Lint::RelativeSitemap, quoted(field.value));
                }
            }
            FieldKind::Unused => {
                let page_rules: [&[u8]; 3] = [b"noindex", b"nofollow", b"noarchive"];
                let is_page_rule =
                    page_rules.iter().any(|rule| rule.eq_ignore_ascii_case(field.key));
                let lint = if is_page_rule { Lint::PageRule } else { Lint::UnusedField };
                self.found(line, lint, as_written());
            }
            FieldKind::Unknown => self.found(line, Lint::UnknownField, as_written()),
        }
    }

    fn user_agent(&mut self, line: u32, value: &[u8]) {
        if self.group.as_ref().is_none_or(|group| group.has_rule) {
            self.group = Some(Group { first_line: line, ..Group::default() });
        }
        let read = name(value, Grammar::GoogleOnly);
        if read.is_empty() {
            return self.found(line, Lint::AgentUnreadable, quoted(value));
        }
        if read.len() < value.len() {
            let detail = format!("{} is read as {}", quoted(value), quoted(read));
            self.found(line, Lint::AgentCut, detail);
        }
        let Some(group) = self.group.as_mut() else { return };
        let (lint, first) = match self.agents.name(read, group.first_line, line) {
            Naming::First => {
                group.names = Names::SomeNew;
                return;
            }
            Naming::InThisGroup { line } => (Lint::DuplicateAgent, line),
            Naming::InEarlierGroup { line } => (Lint::SplitGroup, line),
        };
        if let Names::Nobody = group.names {
            group.names = Names::KnownOnly;
        }
        self.found(line, lint, format!("{}, in line {first} too", quoted(read)));
    }

    fn rule(&mut self, line: u32, kind: RuleKind, path: &'a [u8]) {
        self.path(line, path);
        let Some(group) = self.group.as_mut() else {
            return self.found(line, Lint::RuleBeforeGroup, quoted(path));
        };
        let binds_nobody = !group.has_rule && matches!(group.names, Names::Nobody);
        let first_line = group.first_line;
        group.has_rule = true;
        if path.is_empty() {
            if kind == RuleKind::Disallow && group.paths.is_empty() {
                group.empty_disallows.push(line);
            } else {
                self.found(line, Lint::PathlessRule, String::new());
            }
        } else {
            let earlier = group.paths.add(kind, line, path);
            for line in core::mem::take(&mut group.empty_disallows) {
                self.found(line, Lint::PathlessRule, String::new());
            }
            if let Some(Clash { lint, line, path, other }) = earlier {
                let (path, other_path) = (quoted(path), quoted(other.path));
                let detail = if path == other_path {
                    format!("{path}, in line {} too", other.line)
                } else {
                    format!("{path}, beside {other_path} in line {}", other.line)
                };
                self.found(line, lint, detail);
            }
        }
        if binds_nobody {
            self.found(first_line, Lint::GroupForNobody, String::new());
        }
    }

    fn path(&mut self, line: u32, path: &[u8]) {
        match path {
            [] => return,
            [b'/' | b'*', ..] => {}
            _ => self.found(line, Lint::PathStart, quoted(path)),
        }
        if path.iter().position(|octet| *octet == b'$').is_some_and(|at| at + 1 < path.len()) {
            self.found(line, Lint::InnerDollar, quoted(path));
        }
    }

    /// Only the last group of a file can be without rules: others would be one with the next.
    fn end_last_group(&mut self) {
        let Some(group) = self.group.take().filter(|group| !group.has_rule) else { return };
        match group.names {
            Names::Nobody => self.found(group.first_line, Lint::GroupForNobody, String::new()),
            Names::SomeNew => self.found(group.first_line, Lint::GroupWithoutRules, String::new()),
            Names::KnownOnly => {}
        }
    }
}

/// Whether more than a twentieth of the beginning is control characters: of random octets a tenth
/// is, of text next to none. A few in a short file may be a slip.
fn is_binary(text: &[u8]) -> bool {
    let head = text.get(..1024).unwrap_or(text);
    let is_control = |octet: &&u8| octet.is_ascii_control() && !octet.is_ascii_whitespace();
    let controls = head.iter().filter(is_control).count();
    controls >= 5 && controls * 20 > head.len()
}

/// The beginning of a text, safe to print: control characters and what is no UTF-8 are escaped.
fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.get(..QUOTED * 4).unwrap_or(text));
    let shown = text.chars().take(QUOTED);
    let mut quoted = String::new();
    for character in shown {
        if character.is_control() {
            quoted.extend(character.escape_default());
        } else {
            quoted.push(character);
        }
    }
    if text.chars().nth(QUOTED).is_some() {
        quoted.push('…');
    }
    quoted
}
