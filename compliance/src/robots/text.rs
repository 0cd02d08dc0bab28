//! A compiled robots.txt, and what it says about a URL.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use url::Url;

use super::delay;
use super::groups::{GLOBAL, GroupReader, Groups, Naming, Span, name};
use super::lines::{self, Field, Grammar, Line, RuleKind};
use super::rules::{Question, Rule, Rules, Source, View};
use super::target;
use crate::{CrawlerClass, Preset, ProductToken};

/// Octets past which a body is not read whatever the caller's limit, so that places fit in 32 bits.
const READABLE: usize = 64 << 20;

/// A robots.txt, parsed once and matched many times.
///
/// It holds its rules, names and sitemaps and not the body: about one and a half times the body's
/// size for a usual file, three times for one that is made for it.
///
/// ```
/// use comity_compliance::robots::{Access, RobotsTxt};
/// use comity_compliance::{Preset, ProductToken};
///
/// let file = RobotsTxt::parse(b"User-agent: *\nDisallow: /private/\n");
/// let tokens = [ProductToken::new("examplebot")?];
/// let url = url::Url::parse("https://example.com/private/a")?;
/// let verdict = file.verdict(Preset::Courteous, &tokens, &url);
/// assert_eq!(verdict.access, Access::Disallow);
/// assert_eq!(verdict.rule.map(|rule| rule.line), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RobotsTxt {
    /// Patterns, names and sitemaps, which the tables point into.
    text: Vec<u8>,
    rules: Rules,
    /// Groups as Google's parser sees them: one block each.
    google: Groups,
    /// Groups as RFC 9309's grammar has them.
    rfc: Groups,
    delays: Vec<GroupDelay>,
    sitemaps: Vec<Sitemap>,
}

/// The longest crawl-delay of a group of Google's reading.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct GroupDelay {
    group: u32,
    millis: u32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Sitemap {
    line: u32,
    url: Span,
}

/// Whether a robots.txt lets a URL be accessed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Access {
    /// A rule allows it, or none forbids it.
    Allow,
    /// A rule forbids it.
    Disallow,
}

/// What a robots.txt says about a URL, with its evidence.
#[must_use]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RobotsVerdict {
    /// The answer.
    pub access: Access,
    /// The rule that decided; none if no rule with a path matched.
    pub rule: Option<MatchedRule>,
    /// Whose rules were asked.
    pub group: GroupUsed,
}

/// The rule that decided.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MatchedRule {
    /// Line number, from 1.
    pub line: u32,
    /// What the rule says.
    pub kind: RuleKind,
    /// Its path, for people: escaped UTF-8 is shown as characters.
    pub pattern: String,
}

/// Whose groups decide (UA-002).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GroupUsed {
    /// Those that name the crawler's own token.
    Own(ProductToken),
    /// Those that name this token, for none names an earlier one.
    Fallback(ProductToken),
    /// Those for everyone, for none names a token of ours.
    Star,
    /// None: there is no such group, the URL is a robots.txt, which no rule binds, or the crawler
    /// is of a class that none binds.
    None,
}

/// The answer of [`RobotsTxt::google_parser`].
#[must_use]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ParserVerdict {
    /// The answer.
    pub access: Access,
    /// The line it reports, from 1; a rule without a path may be reported too.
    pub line: Option<u32>,
}

impl RobotsTxt {
    /// Reads a body, whatever it holds: lines that are no rules are skipped (RT-041).
    ///
    /// The caller has limited its size with [`cut`](super::cut). Takes time near linear in it.
    pub fn parse(body: &[u8]) -> Self {
        let body = lines::cut(body, READABLE);
        let mut reader = Reader::default();
        reader.file.text.reserve(body.len() / 3 * 2);
        reader.file.rules = Rules::for_octets(body.len());
        for line in lines::read(body) {
            reader.line(line);
        }
        reader.finish(body.len())
    }

    /// Whether `url` may be accessed by the crawler with these tokens, own first (UA-002).
    ///
    /// A robots.txt may always be (AM-18). `google` is [`RobotsTxt::google_parser`] for the first
    /// token that is named. `rfc9309` takes the lines of the RFC's grammar and compares in its
    /// normal form (AM-28). `courteous` takes all lines that Google takes and allows only what
    /// both ways to compare allow, without Google's index pages (AM-32).
    pub fn verdict(&self, preset: Preset, tokens: &[ProductToken], url: &Url) -> RobotsVerdict {
        if target::is_robots_txt(url) {
            return RobotsVerdict { access: Access::Allow, rule: None, group: GroupUsed::None };
        }
        let groups = self.groups(preset);
        let (namings, group) = self.select(groups, tokens);
        let as_google = |view| {
            let path = target::as_given(url.as_str().as_bytes());
            self.best(groups, namings, view, &path)
        };
        let as_rfc = |view| self.best(groups, namings, view, &target::normalised(url));
        let rule = match preset {
            Preset::Google => as_google(View::Google),
            Preset::Rfc9309 => as_rfc(View::RfcGrammar),
            Preset::Courteous => {
                let rule = as_google(View::GoogleWithoutIndex);
                if access(rule) == Access::Disallow || self.same_in_both_forms(url) {
                    rule
                } else {
                    let stricter = as_rfc(View::Rfc);
                    match access(stricter) {
                        Access::Disallow => stricter,
                        Access::Allow => rule.or(stricter),
                    }
                }
            }
        };
        RobotsVerdict {
            access: access(rule),
            rule: rule.and_then(|rule| self.matched(rule)),
            group,
        }
    }

    /// Whether `url` may be accessed by a crawler of a class: a special-case crawler obeys only
    /// groups that name it, and robots.txt is not for those that act for a user or for users'
    /// safety (RT-002, UA-003, UA-004).
    pub fn verdict_as(
        &self,
        class: CrawlerClass,
        preset: Preset,
        tokens: &[ProductToken],
        url: &Url,
    ) -> RobotsVerdict {
        let is_bound = match class {
            CrawlerClass::Search => true,
            CrawlerClass::SpecialCase => {
                let groups = self.groups(preset);
                tokens.iter().any(|token| !groups.named(token.as_str(), &self.text).is_empty())
            }
            CrawlerClass::UserTriggered | CrawlerClass::Safety => false,
        };
        if is_bound {
            self.verdict(preset, tokens, url)
        } else {
            RobotsVerdict { access: Access::Allow, rule: None, group: GroupUsed::None }
        }
    }

    fn groups(&self, preset: Preset) -> &Groups {
        match preset {
            Preset::Courteous | Preset::Google => &self.google,
            Preset::Rfc9309 => &self.rfc,
        }
    }

    /// Google's open-source parser to the octet: the groups of all agents merged, the URL as it is
    /// given, no exception for a robots.txt.
    pub fn google_parser(&self, agents: &[&str], url: &[u8]) -> ParserVerdict {
        let path = target::as_given(url);
        let ours = agents.iter().filter(|agent| **agent != GLOBAL);
        let named = || ours.clone().map(|agent| self.google.named(agent, &self.text));
        let best = |namings| self.best(&self.google, namings, View::Google, &path);
        let rule = if named().all(<[Naming]>::is_empty) {
            best(self.google.named(GLOBAL, &self.text))
        } else {
            named()
                .filter_map(best)
                .fold(None, |best, rule| if rule.outranks(best) { Some(rule) } else { best })
        };
        ParserVerdict { access: access(rule), line: rule.map(|rule| rule.line) }
    }

    /// The rule that stands in a line, for people; one without a path too.
    pub fn rule_in_line(&self, line: u32) -> Option<MatchedRule> {
        let rule = self.rules.of_line(line)?;
        let pattern = self.rules.pattern_as_written(rule, &self.text);
        Some(MatchedRule { line, kind: rule.kind(), pattern })
    }

    /// Those of `agents` that a user-agent line names, as [`RobotsTxt::google_parser`] takes them:
    /// none of them is reduced to a product token. `*` is named by a group for everyone.
    pub fn named<'n>(&self, agents: &[&'n str]) -> Vec<&'n str> {
        let is_named = |agent: &&&str| !self.google.named(agent, &self.text).is_empty();
        agents.iter().filter(is_named).copied().collect()
    }

    /// The crawl-delay of the groups that apply to these tokens, if one is readable; the longest
    /// if there are several (AM-36). The policy's cap is not applied.
    pub fn crawl_delay(&self, tokens: &[ProductToken]) -> Option<Duration> {
        let (namings, _) = self.select(&self.google, tokens);
        let delay = |naming: &Naming| {
            let at = self.delays.binary_search_by_key(&naming.group, |delay| delay.group);
            self.delays.get(at.ok()?).map(|delay| delay.millis)
        };
        let longest = namings.iter().filter_map(delay).max()?;
        Some(Duration::from_millis(longest.into()))
    }

    /// The absolute http(s) URLs of the sitemap lines, with their line numbers (RT-050, AM-38).
    pub fn sitemaps(&self) -> impl Iterator<Item = (u32, &str)> {
        self.sitemaps.iter().filter_map(|sitemap| {
            let url = core::str::from_utf8(sitemap.url.of(&self.text)).ok()?;
            Some((sitemap.line, url))
        })
    }

    /// Whether the file says nothing: no group, no sitemap.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Octets on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.text.capacity()
            + self.rules.heap_bytes()
            + self.google.heap_bytes()
            + self.rfc.heap_bytes()
            + self.delays.capacity() * size_of::<GroupDelay>()
            + self.sitemaps.capacity() * size_of::<Sitemap>()
    }

    /// Gives back what was reserved for text and rules and not filled, but for the little that a
    /// usual file leaves: cutting off that makes an allocator map fresh pages for the next file.
    fn give_back_room(&mut self, octets: usize) {
        let spare = self.text.capacity() - self.text.len() + self.rules.spare_bytes();
        if spare > octets / 4 || self.heap_bytes() > octets * 2 {
            self.text.shrink_to_fit();
            self.rules.shrink_to_fit();
        }
    }

    /// Whether comparing in Google's form and in RFC 9309's comes to the same.
    fn same_in_both_forms(&self, url: &Url) -> bool {
        self.rules.have_one_form()
            && *target::normalised(url) == *target::as_given(url.as_str().as_bytes())
    }

    /// The groups of the first token that any names, or else those for everyone.
    fn select<'a>(
        &'a self,
        groups: &'a Groups,
        tokens: &[ProductToken],
    ) -> (&'a [Naming], GroupUsed) {
        for (rank, token) in tokens.iter().enumerate() {
            let namings = groups.named(token.as_str(), &self.text);
            if !namings.is_empty() {
                let used = match rank {
                    0 => GroupUsed::Own(token.clone()),
                    _ => GroupUsed::Fallback(token.clone()),
                };
                return (namings, used);
            }
        }
        let everyone = groups.named(GLOBAL, &self.text);
        let used = match everyone {
            [] => GroupUsed::None,
            _ => GroupUsed::Star,
        };
        (everyone, used)
    }

    fn best(&self, groups: &Groups, namings: &[Naming], view: View, path: &[u8]) -> Option<&Rule> {
        let question = Question::new(view, path, &self.text);
        namings.iter().fold(None, |best, naming| {
            self.rules.best(groups.blocks(naming.group), &question, best)
        })
    }

    fn matched(&self, rule: &Rule) -> Option<MatchedRule> {
        (!rule.is_empty()).then(|| MatchedRule {
            line: rule.line,
            kind: rule.kind(),
            pattern: self.rules.pattern_as_written(rule, &self.text),
        })
    }
}

/// What the rule that decides says; an empty one says nothing (RT-045).
fn access(rule: Option<&Rule>) -> Access {
    match rule.map(|rule| (rule.kind(), rule.is_empty())) {
        Some((RuleKind::Disallow, false)) => Access::Disallow,
        Some((RuleKind::Disallow, true) | (RuleKind::Allow, _)) | None => Access::Allow,
    }
}

/// Reads lines into a [`RobotsTxt`].
#[derive(Default)]
struct Reader {
    file: RobotsTxt,
    google: GroupReader,
    rfc: GroupReader,
}

impl Reader {
    fn line(&mut self, line: Line<'_>) {
        match line.field {
            Field::UserAgent(value) => self.user_agent(value, line.grammar),
            Field::Rule(kind, value) => {
                self.rule(Source { line: line.number, kind, value, grammar: line.grammar })
            }
            Field::Sitemap(value) => self.sitemap(line.number, value),
            Field::CrawlDelay(value) => self.crawl_delay(value),
        }
    }

    fn user_agent(&mut self, value: &[u8], grammar: Grammar) {
        if self.google.opens() {
            self.file.rules.open_block();
        }
        let block = self.file.rules.last_block();
        let text = &mut self.file.text;
        let mut store = |name: &[u8]| {
            Span::append(text, |text| text.extend(name.iter().map(u8::to_ascii_lowercase)))
        };
        let as_google = name(value, Grammar::GoogleOnly);
        let stored = store(as_google);
        self.google.user_agent(stored, block);
        match grammar {
            Grammar::GoogleOnly => {}
            Grammar::Rfc => {
                let as_rfc = name(value, Grammar::Rfc);
                let stored = if as_rfc == as_google { stored } else { store(as_rfc) };
                self.rfc.user_agent(stored, block);
            }
        }
    }

    fn rule(&mut self, source: Source<'_>) {
        if self.google.group().is_none() {
            return;
        }
        self.google.rule();
        match source.grammar {
            Grammar::Rfc => self.rfc.rule(),
            Grammar::GoogleOnly => {}
        }
        self.file.rules.add(source, &mut self.file.text);
    }

    fn sitemap(&mut self, line: u32, value: &[u8]) {
        if let Some(url) = lines::absolute_url(value) {
            let url = Span::append(&mut self.file.text, |text| text.extend(url.bytes()));
            self.file.sitemaps.push(Sitemap { line, url });
        }
    }

    /// A crawl-delay belongs to the group that it stands in, whose head it does not end (RT-060).
    fn crawl_delay(&mut self, value: &[u8]) {
        let (Some(group), Some(delay)) = (self.google.group(), delay::parse(value)) else {
            return;
        };
        let millis = u32::try_from(delay.as_millis()).unwrap_or(u32::MAX);
        match self.file.delays.last_mut() {
            Some(last) if last.group == group => last.millis = last.millis.max(millis),
            _ => self.file.delays.push(GroupDelay { group, millis }),
        }
    }

    /// The file, whose body had so many octets.
    fn finish(self, octets: usize) -> RobotsTxt {
        let mut file = self.file;
        file.rules.finish(&file.text);
        file.google = self.google.finish(&file.text);
        file.rfc = self.rfc.finish(&file.text);
        file.delays.shrink_to_fit();
        file.sitemaps.shrink_to_fit();
        file.give_back_room(octets);
        file
    }
}
