//! `comity robots check`: judges URLs by a robots.txt, from a site, a file or standard input.

use std::path::Path;

use comity_compliance::robots::{
    Access, GroupUsed, MatchedRule, RobotsOutcome, RobotsTxt, RuleKind, cut,
};
use comity_compliance::{Preset, ProductToken, RobotsNumbers};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::super::args::CheckArgs;
use super::super::terminal::{Terminal, Tone};
use super::super::words::{preset, tokens};
use super::super::{Exit, json_lines};
use super::judged::{Crawler, Judged};
use super::subject::{SOME_ORIGIN, Subject};

pub(super) async fn run(args: CheckArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let Some(subject) = args.subject.as_deref().filter(|_| !args.json_lines) else {
        return json_lines::serve(answer);
    };
    let judged = Judged::of(&args, config)?;
    let own = args.agent.first().map(String::as_str);
    let max_bytes = RobotsNumbers::DOCUMENTED.max_bytes;
    let subject = Subject::read(subject, &args.ask, own, max_bytes, config).await?;
    let urls = subject.resolve(&args.urls)?;
    let terminal = Terminal::new();
    let rules = subject.rules();
    let rows: Vec<Row> = urls
        .iter()
        .flat_map(|url| judged.crawlers.iter().map(move |crawler| (url, crawler)))
        .map(|(url, crawler)| {
            Row::judge(&subject.outcome, rules.as_ref(), judged.policy, crawler, url)
        })
        .collect();
    if args.json {
        terminal.json(&as_json(&subject, rules.as_ref(), &judged, &rows));
        return Ok(subject.exit());
    }
    subject.describe(terminal, &judged);
    for row in &rows {
        row.print(terminal, judged.crawlers.len() > 1);
    }
    if rows.is_empty() {
        terminal.line("name URLs or paths after it to have them judged, such as /private/page");
    }
    Ok(subject.exit())
}

fn as_json(
    subject: &Subject,
    rules: Option<&RobotsTxt>,
    judged: &Judged,
    rows: &[Row<'_>],
) -> Value {
    let agents = judged.crawlers.iter().map(|crawler| {
        let delay = rules.and_then(|rules| crawler.crawl_delay(rules, judged.policy));
        json!({
            "agent": crawler.name(),
            "tokens": crawler.tokens.iter().map(ProductToken::as_str).collect::<Vec<_>>(),
            "crawl_delay": delay.map(|delay| delay.as_json()),
        })
    });
    json!({
        "source": subject.name, "answer": subject.answer(), "size": subject.size_json(),
        "policy": judged.policy.name(), "agents": agents.collect::<Vec<_>>(),
        "sitemaps": subject.sitemaps(), "answers": rows.iter().map(Row::as_json).collect::<Vec<_>>(),
    })
}

/// A question of `--json-lines`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    robots: Option<String>,
    robots_b64: Option<String>,
    agents: Vec<String>,
    url: String,
    policy: Option<String>,
}

fn answer(question: Question) -> anyhow::Result<Value> {
    let policy = preset(question.policy.as_deref())?;
    let body = json_lines::octets(question.robots, question.robots_b64.as_deref())?;
    let Some(body) = body else { anyhow::bail!("a question has robots or robots_b64") };
    let body = cut(&body, RobotsNumbers::DOCUMENTED.max_bytes);
    match policy {
        // As its parser has it, no agent at all is one that no group names.
        Preset::Google => Ok(as_google_parser(body, &question.agents, &question.url)),
        Preset::Courteous | Preset::Rfc9309 => {
            if question.agents.is_empty() {
                anyhow::bail!("agents is empty; name the crawler, such as \"agents\":[\"me\"]");
            }
            let agents = tokens(&question.agents)?;
            let url = Url::parse(SOME_ORIGIN)?.join(&question.url)?;
            let verdict = RobotsTxt::parse(body).verdict(policy, &agents, &url);
            Ok(json!({
                "allowed": verdict.access == Access::Allow,
                "line": verdict.rule.as_ref().map(|rule| rule.line),
                "rule": verdict.rule.as_ref().map(in_words),
                "group": group_name(&verdict.group),
            }))
        }
    }
}

/// Google's parser to the octet: the URL as it is given, all agents as one.
fn as_google_parser(body: &[u8], agents: &[String], url: &str) -> Value {
    let file = RobotsTxt::parse(body);
    let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
    let verdict = file.google_parser(&agents, url.as_bytes());
    let own: Vec<&str> = agents.iter().copied().filter(|agent| *agent != "*").collect();
    let mut named = file.named(&own);
    if named.is_empty() {
        named = file.named(&["*"]);
    }
    let rule = verdict.line.and_then(|line| file.rule_in_line(line));
    json!({
        "allowed": verdict.access == Access::Allow,
        "line": verdict.line,
        "rule": rule.as_ref().map(in_words),
        "group": (!named.is_empty()).then(|| named.join(", ")),
    })
}

fn in_words(rule: &MatchedRule) -> String {
    match rule.kind {
        RuleKind::Allow => format!("allow: {}", rule.pattern),
        RuleKind::Disallow => format!("disallow: {}", rule.pattern),
    }
}

fn group_name(group: &GroupUsed) -> Option<&str> {
    match group {
        GroupUsed::Own(token) | GroupUsed::Fallback(token) => Some(token.as_str()),
        GroupUsed::Star => Some("*"),
        GroupUsed::None => None,
    }
}

/// One answer.
struct Row<'a> {
    url: &'a Url,
    agent: &'a str,
    access: Option<Access>,
    line: Option<u32>,
    rule: Option<String>,
    group: Option<String>,
}

impl<'a> Row<'a> {
    fn judge(
        outcome: &RobotsOutcome,
        rules: Option<&RobotsTxt>,
        policy: Preset,
        crawler: &'a Crawler,
        url: &'a Url,
    ) -> Self {
        let agent = crawler.name();
        let plain = |access| Row { url, agent, access, line: None, rule: None, group: None };
        let rules = match (outcome, rules) {
            (RobotsOutcome::File { .. }, Some(rules)) => rules,
            (RobotsOutcome::File { .. } | RobotsOutcome::NoFile { .. }, _) => {
                return plain(Some(Access::Allow));
            }
            (RobotsOutcome::Unreachable { .. }, _) => return plain(None),
        };
        let verdict = rules.verdict_as(crawler.class, policy, &crawler.tokens, url);
        let group = group_name(&verdict.group).map(Into::into);
        let rule = verdict.rule.as_ref().map(in_words);
        let line = verdict.rule.as_ref().map(|rule| rule.line);
        Row { access: Some(verdict.access), line, rule, group, ..plain(None) }
    }

    fn print(&self, terminal: Terminal, name_agent: bool) {
        let word = match self.access {
            Some(Access::Allow) => terminal.paint(Tone::Good, "allowed   "),
            Some(Access::Disallow) => terminal.paint(Tone::Bad, "disallowed"),
            None => terminal.paint(Tone::Note, "not known "),
        };
        let agent = if name_agent { format!(" for {}", self.agent) } else { String::new() };
        let why = match (&self.rule, self.line, &self.group) {
            (Some(rule), Some(line), Some(group)) => format!("line {line}, group {group}: {rule}"),
            (_, _, Some(group)) => format!("no rule of group {group} matches"),
            (_, _, None) => match self.access {
                Some(_) => "no rules apply".into(),
                None => "robots.txt cannot be reached".into(),
            },
        };
        terminal.line(format_args!(
            "  {word} {}{agent}  {}",
            self.url,
            terminal.paint(Tone::Faint, why)
        ));
    }

    fn as_json(&self) -> Value {
        json!({
            "url": self.url.as_str(),
            "agent": self.agent,
            "allowed": self.access.map(|access| access == Access::Allow),
            "line": self.line,
            "rule": self.rule,
            "group": self.group,
        })
    }
}
