//! `comity rules`: what the headers and meta tags of a page say, what may be shown of it, and
//! which of its links may be followed.

use anyhow::Context as _;
use comity_compliance::{
    CrawlerClass, Directive, Directives, Follow, Form, Identity, Limit, NoFollow, Permission,
    ProductToken, Publication, Remark, Rule, Terms, Timestamp, UntimedDate, VOCABULARY, Withheld,
    judge_link,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::args::RulesArgs;
use super::terminal::{Terminal, Tone};
use super::words::{instant, moment, preset, tokens};
use super::{Exit, Usage, json_lines, reading};
use crate::clock::Clock;
use crate::page::{Link, LinkKind, Page, PageKind, ScanLimits, scan};
use crate::settings::{PageRules, RobotsTag, untimed_date};

/// Where a page is from if nothing is said.
const SOME_PAGE: &str = "https://example.com/";

pub(super) fn run(args: &RulesArgs) -> anyhow::Result<Exit> {
    let terminal = Terminal::new();
    let clock_now = Clock::real().now();
    if args.json_lines {
        return json_lines::serve(|question: Question| Ok(question.judge(clock_now)?.as_json()));
    }
    if args.list {
        list(terminal, args.json);
        return Ok(Exit::Done);
    }
    let judged = Question::of(args)?.judge(clock_now)?;
    if args.json {
        terminal.json(&judged.as_json());
    } else {
        judged.print(terminal);
    }
    Ok(Exit::Done)
}

/// The vocabulary.
fn list(terminal: Terminal, as_json: bool) {
    if as_json {
        let words = VOCABULARY.iter().map(|word| {
            json!({
                "name": word.name, "form": word.form.name(),
                "effect": word.effect, "clause": word.clause,
            })
        });
        return terminal.json(&words.collect());
    }
    for word in VOCABULARY {
        let (name, form) = (word.name, word.form.name());
        terminal.line(format_args!("  {name:<22} {form:<8} {} ({})", word.effect, word.clause));
    }
}

/// A page, as `--json-lines` and the arguments give it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    #[serde(default)]
    headers: Vec<(String, String)>,
    html: Option<Body>,
    url: Option<String>,
    agent: Option<Agents>,
    policy: Option<String>,
    #[serde(default)]
    robots_tag: bool,
    dates_without_time: Option<String>,
    now: Option<Moment>,
}

/// The page's octets; JSON has text.
#[derive(Deserialize)]
#[serde(from = "String")]
struct Body(Vec<u8>);

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

/// A crawler's own token, and those that it falls back to (AM-42).
#[derive(Deserialize)]
#[serde(untagged, expecting = "agent is a product token, or a list of them")]
enum Agents {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Moment {
    Seconds(f64),
    Text(String),
}

impl Question {
    fn of(args: &RulesArgs) -> anyhow::Result<Self> {
        let header = |line: &String| {
            let parts = line.split_once(':').ok_or_else(|| {
                Usage(format!("--header \"{line}\" has no colon; try 'X-Robots-Tag: noindex'"))
            })?;
            Ok((parts.0.trim().to_owned(), parts.1.trim().to_owned()))
        };
        let mut html = None;
        if let Some(path) = &args.file {
            let name = path.to_string_lossy();
            if name.contains("://") && !path.exists() {
                let how = format!("curl -s {name} | comity rules - --url {name}");
                return Err(
                    Usage(format!("a file is judged, and nothing fetched; try {how}")).into()
                );
            }
            html = Some(Body(reading::whole(path, reading::PAGE)?));
        } else if args.headers.is_empty() {
            let example = "comity rules page.html --header 'X-Robots-Tag: noindex'";
            return Err(Usage(format!("nothing to judge; try {example}")).into());
        }
        Ok(Self {
            headers: args.headers.iter().map(header).collect::<Result<_, Usage>>()?,
            html,
            url: args.url.clone(),
            agent: Some(Agents::Several(args.agent.clone())),
            policy: None,
            robots_tag: args.robots_tag,
            dates_without_time: args.dates_without_time.clone(),
            now: args.now.clone().map(Moment::Text),
        })
    }

    /// A page with its header lines.
    pub(super) fn of_page(headers: Vec<(String, String)>, html: Option<String>, url: &Url) -> Self {
        let (html, url) = (html.map(Body::from), Some(url.to_string()));
        Self { headers, html, url, ..Self::default() }
    }

    fn judge(self, clock_now: Timestamp) -> anyhow::Result<Judged> {
        // Policies differ in robots.txt only; questions may name one, as those about robots.txt do.
        preset(self.policy.as_deref())?;
        let agents = match &self.agent {
            None => vec![],
            Some(Agents::One(name)) => vec![name.clone()],
            Some(Agents::Several(names)) => names.clone(),
        };
        let now = match &self.now {
            None => clock_now,
            Some(Moment::Seconds(seconds)) => instant(*seconds),
            Some(Moment::Text(text)) => moment(text, clock_now)?,
        };
        self.judge_for(tokens(&agents)?, CrawlerClass::Search, now)
    }

    /// The same for a crawler with these tokens, own first, of this class.
    pub(super) fn judge_for(
        self,
        tokens: Vec<ProductToken>,
        class: CrawlerClass,
        now: Timestamp,
    ) -> anyhow::Result<Judged> {
        let mut tokens = tokens.into_iter();
        let own = tokens.next().context("no agent")?;
        let identity = tokens.fold(Identity::new(own), Identity::with_fallback).with_class(class);
        let url = self.url.as_deref().unwrap_or(SOME_PAGE);
        let url = Url::parse(url).map_err(|e| Usage(format!("url \"{url}\": {e}")))?;
        let header = |name: &'static str| {
            let lines =
                self.headers.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name));
            lines.map(|(_, value)| value.as_str())
        };
        let content_type = header("content-type").next().unwrap_or("text/html; charset=utf-8");
        let limits = ScanLimits::default();
        let page = self.html.map(|body| scan(&body.0, Some(content_type), &url, &limits));
        let untimed =
            self.dates_without_time.as_deref().map_or(Ok(UntimedDate::default()), |name| {
                untimed_date(name).map_err(|e| Usage(format!("dates without time: {e}")))
            })?;
        let robots_tag = RobotsTag::heeded_if(self.robots_tag);
        let mut collector =
            PageRules { robots_tag, untimed }.collector(&identity, now).with_remarks();
        header("x-robots-tag").for_each(|line| collector.header_line(line.as_bytes()));
        header("robots-tag").for_each(|line| collector.robots_tag_line(line.as_bytes()));
        for tag in page.iter().flat_map(|page| &page.robots_meta) {
            collector.meta(&tag.name, &tag.content);
        }
        let remarks = collector.remarks().to_vec();
        let directives = collector.finish();
        let publication = match page.as_ref().map(|page| page.kind) {
            Some(PageKind::Other) => Publication::Nothing(Withheld::ContentType),
            Some(PageKind::Html | PageKind::PlainText) | None => Publication::of(&directives, now),
        };
        Ok(Judged { directives, remarks, publication, page })
    }
}

/// What a page's rules come to.
pub(super) struct Judged {
    directives: Directives,
    /// What of the rules was not understood.
    remarks: Vec<Remark>,
    pub(super) publication: Publication,
    pub(super) page: Option<Page>,
}

impl Judged {
    /// The same page after another look at it: its rendered form, whose rules come on top (AM-58),
    /// or a 304 without a page, whose header lines replace those before if it has some (AM-56).
    pub(super) fn seen_again(self, again: Self, has_header: bool, now: Timestamp) -> Self {
        let mut directives = self.directives;
        match again.page {
            Some(_) => directives.merge(again.directives),
            None => {
                directives = directives.after_not_modified(has_header.then_some(again.directives));
            }
        }
        let publication = Publication::of(&directives, now);
        let remarks = [self.remarks, again.remarks].concat();
        Self { directives, remarks, publication, page: self.page }
    }

    /// The text that a snippet may show.
    pub(super) fn snippet_text(&self) -> &str {
        let text = self.page.as_ref().map_or("", |page| &page.snippet_text);
        self.publication.terms().map_or("", |terms| terms.snippet.cut(text))
    }

    /// What leads on from the page; a canonical or alternate address is a hint, and no link.
    pub(super) fn links(&self) -> impl Iterator<Item = (&Link, Follow)> {
        self.page.iter().flat_map(|page| &page.links).filter_map(|link| {
            let follow = match link.kind {
                LinkKind::Hyperlink | LinkKind::Frame => judge_link(&self.directives, &link.rel),
                // As a redirect: nofollow does not speak of it (AM-62).
                LinkKind::Refresh => Follow::Yes,
                LinkKind::Canonical
                | LinkKind::Alternate
                | LinkKind::Sequence
                | LinkKind::Image
                | LinkKind::Media
                | LinkKind::Embed
                | LinkKind::Form => return None,
            };
            Some((link, follow))
        })
    }

    /// Where it is said that a link is not to be followed.
    fn said(&self, link: &Link, why: NoFollow) -> String {
        match (why, self.directives.nofollow()) {
            (NoFollow::Page, Some(directive)) => directive.to_string(),
            _ => format!("rel={:?}", link.rel),
        }
    }

    fn as_json(&self) -> Value {
        let mut answer = self.values();
        let terms = self.publication.terms();
        let withheld = self.publication.withheld();
        let links = self.links().map(|(link, follow)| self.link_json(link, follow));
        let canonical = self.page.as_ref().and_then(|page| page.canonical.as_ref());
        let rest = json!({
            "from": self.sources(),
            "directives": self.directives.iter().map(directive_json).collect::<Vec<_>>(),
            "remarks": self.remarks.iter().map(remark_json).collect::<Vec<_>>(),
            "publication": self.publication.code(),
            "withheld": withheld.map(Withheld::code),
            "clause": withheld.map(Withheld::clause),
            "until": self.publication.until().map(|at| at.to_string()),
            "snippet_limit": terms.map(|terms| number(terms.snippet.limit())),
            "snippet_text": self.snippet_text(),
            "title": self.page.as_ref().and_then(|page| page.title.as_deref()),
            "canonical": canonical.map(Url::as_str),
            "structured_data": self.page.as_ref().map(|page| &page.structured_data),
            "links": links.collect::<Vec<_>>(),
        });
        if let Value::Object(rest) = rest {
            answer.extend(rest);
        }
        Value::Object(answer)
    }

    /// Each rule of the vocabulary by its own name: true or false, or its value or null.
    pub(super) fn values(&self) -> Map<String, Value> {
        let directives = &self.directives;
        let flags = VOCABULARY.iter().filter_map(|word| match word.form {
            Form::Flag([rule]) => {
                let is_set = directives.iter().any(|kept| kept.rule == *rule);
                Some((key(word.name), is_set.into()))
            }
            Form::Flag(_) | Form::Number(_) | Form::Setting(_) | Form::Date(_) => None,
        });
        let mut values: Map<_, _> = flags.collect();
        // max-snippet:0 says the same (RM-026).
        values.insert("nosnippet".into(), directives.nosnippet().is_some().into());
        let snippet = directives.max_snippet().map(|(limit, _)| number(limit));
        let video = directives.max_video_preview().map(|(limit, _)| number(limit));
        let image = directives.max_image_preview().map(|(size, _)| size.name());
        let date = directives.unavailable_after().map(|(at, _)| at.to_string());
        values.insert("max_snippet".into(), snippet.into());
        values.insert("max_video_preview".into(), video.into());
        values.insert("max_image_preview".into(), image.into());
        values.insert("unavailable_after".into(), date.into());
        values
    }

    /// Where each rule stood, in words.
    fn sources(&self) -> Map<String, Value> {
        let mut sources = Map::new();
        let named = self.directives.iter().map(|kept| (key(kept.rule.name()), kept));
        let other_name = self.directives.nosnippet().filter(|kept| kept.rule != Rule::NoSnippet);
        for (name, kept) in named.chain(other_name.map(|kept| ("nosnippet".into(), kept))) {
            let entry = sources.entry(name).or_insert_with(|| json!([]));
            if let Value::Array(places) = entry {
                places.push(kept.to_string().into());
            }
        }
        sources
    }

    fn link_json(&self, link: &Link, follow: Follow) -> Value {
        let mut told = json!({
            "url": link.url.as_str(),
            "kind": link.kind.name(),
            "rel": link.rel,
            "anchor": link.anchor,
            "follow": follow == Follow::Yes,
        });
        if let (Follow::No(why), Value::Object(told)) = (follow, &mut told) {
            told.insert("reason".into(), why.code().into());
            told.insert("clause".into(), why.clause().into());
            told.insert("from".into(), self.said(link, why).into());
        }
        told
    }

    fn print(&self, terminal: Terminal) {
        let title = |text: &str| terminal.line(terminal.paint(Tone::Title, text));
        title("Directives");
        if self.directives.is_empty() {
            terminal.line("  none that bind this crawler");
        }
        self.directives.iter().for_each(|kept| terminal.line(format_args!("  {kept}")));
        if !self.remarks.is_empty() {
            title("Not understood");
        }
        for remark in &self.remarks {
            let text = remark.to_string().replace(char::is_control, " ");
            let meaning = remark.kind.meaning();
            terminal.line(format_args!("  {}  {meaning}", terminal.paint(Tone::Bad, text)));
        }
        title("Publication");
        let code = self.publication.code();
        match self.publication.withheld() {
            Some(why) => terminal.line(format_args!(
                "  {}: {}. {} ({})",
                terminal.paint(Tone::Bad, code),
                why.code(),
                why.advice(),
                why.clause()
            )),
            None => terminal.line(format_args!("  {}", terminal.paint(Tone::Good, code))),
        }
        if let Some(terms) = self.publication.terms() {
            print_terms(terminal, terms);
        }
        if let Some(until) = self.publication.until() {
            terminal.line(format_args!("  until {until}"));
        }
        if self.page.is_none() {
            return;
        }
        if let Some(canonical) = self.page.as_ref().and_then(|page| page.canonical.as_ref()) {
            title("Canonical");
            terminal.line(format_args!("  {canonical}"));
        }
        title("Text that a snippet may show");
        if self.snippet_text().is_empty() {
            terminal.line("  none");
        }
        for line in self.snippet_text().lines() {
            // What a page says must not move the cursor.
            let line = line.replace(char::is_control, " ");
            terminal.line(format_args!("  {line}"));
        }
        title("Links");
        if self.links().next().is_none() {
            terminal.line("  none that leads on");
        }
        for (link, follow) in self.links() {
            let (url, kind) = (&link.url, link.kind.name());
            match follow {
                Follow::Yes => terminal.line(format_args!("  follow  {url}  {kind}")),
                Follow::No(why) => {
                    let said = self.said(link, why);
                    terminal.line(format_args!(
                        "  leave   {url}  {kind}, {why}: {said} ({})",
                        why.clause()
                    ));
                }
            }
        }
    }
}

fn directive_json(kept: &Directive) -> Value {
    json!({ "rule": kept.rule.to_string(), "source": kept.source.to_string(), "agent": kept.agent })
}

fn remark_json(remark: &Remark) -> Value {
    json!({
        "code": remark.kind.code(),
        "source": remark.source.to_string(),
        "agent": remark.agent,
        "text": remark.text,
    })
}

/// A word as a name in JSON.
fn key(word: &str) -> String {
    word.replace('-', "_")
}

fn number(limit: Limit) -> i64 {
    match limit {
        Limit::AtMost(number) => number.into(),
        Limit::Unlimited => -1,
    }
}

fn print_terms(terminal: Terminal, terms: &Terms) {
    let length = |limit: Limit, unit: &str| match limit {
        Limit::AtMost(0) => "none".into(),
        Limit::AtMost(number) => format!("of {number} {unit} at most"),
        Limit::Unlimited => "of any length".into(),
    };
    let may = |permission: Permission| match permission {
        Permission::Allow => "may",
        Permission::Forbid => "must not",
    };
    let snippet = length(terms.snippet.limit(), "characters");
    let video = length(terms.video_preview, "seconds");
    terminal.line(format_args!("  snippet {snippet}"));
    terminal.line(format_args!("  image preview {}, video preview {video}", terms.image_preview));
    terminal.line(format_args!("  its images {} be indexed", may(terms.images)));
    terminal.line(format_args!("  a translation {} be offered", may(terms.translation)));
}
