//! `comity robots`: judges URLs by a robots.txt, from a site, a file or standard input.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use comity_compliance::robots::{Access, GroupUsed, RobotsOutcome, RobotsTxt, RuleKind, cut};
use comity_compliance::{Origin, Policy, Preset, ProductToken, RobotsNumbers};
use serde_json::{Value, json};
use url::Url;

use super::args::RobotsArgs;
use super::terminal::{Terminal, Tone};
use super::{Exit, Usage, crawl, read_config};
use crate::clock::Clock;
use crate::crawl::fetch_once;
use crate::net::{Accept, Terms};
use crate::settings::Settings;
use crate::urls;

/// Paths given with a file are judged on this origin; a file says nothing about its own.
const SOME_ORIGIN: &str = "https://example.com/";

pub(super) async fn run(args: RobotsArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let policy: Preset = match &args.policy {
        Some(name) => name.parse().map_err(|e: &str| Usage(format!("--policy {name}: {e}")))?,
        None => Preset::default(),
    };
    let agents = agents(&args)?;
    let subject = Subject::read(&args, config).await?;
    let urls = subject.resolve(&args.urls)?;
    let unread = matches!(subject.outcome, RobotsOutcome::Unreachable { .. });
    let exit = if unread { Exit::NothingFetched } else { Exit::Done };
    let terminal = Terminal::new();
    let rows: Vec<Row> = urls
        .iter()
        .flat_map(|url| agents.iter().map(move |agent| (url, agent)))
        .map(|(url, agent)| Row::judge(&subject.outcome, policy, agent, url))
        .collect();
    if args.json {
        let answers: Vec<_> = rows.iter().map(Row::as_json).collect();
        terminal.json(&json!({
            "source": subject.name, "answer": subject.answer(), "policy": policy.name(),
            "sitemaps": subject.sitemaps(), "answers": answers,
        }));
        return Ok(exit);
    }
    subject.describe(terminal, &agents);
    for row in &rows {
        row.print(terminal, agents.len() > 1);
    }
    if rows.is_empty() {
        terminal.line("name URLs or paths after it to have them judged, such as /private/page");
    }
    Ok(exit)
}

fn agents(args: &RobotsArgs) -> anyhow::Result<Vec<ProductToken>> {
    let names = if args.agent.is_empty() { &["comitybot".to_owned()][..] } else { &args.agent };
    let tokens = names.iter().map(|name| ProductToken::new(name));
    Ok(tokens.collect::<Result<_, _>>().map_err(|e| Usage(e.to_string()))?)
}

/// A robots.txt and where it is from.
struct Subject {
    name: String,
    base: Url,
    outcome: RobotsOutcome,
}

impl Subject {
    async fn read(args: &RobotsArgs, config: Option<&Path>) -> anyhow::Result<Self> {
        let path = Path::new(&args.subject);
        if args.subject == "-" || path.exists() {
            return Self::of_file(&args.subject);
        }
        // A host name has a dot, or is this machine's own; what else has no scheme is a file.
        let (name, rest) = args.subject.split_once(['/', ':']).unwrap_or((&args.subject, ""));
        let is_host = (name.contains('.') && !name.ends_with(".txt")) || urls::is_localhost(name);
        let looks_like_path = !rest.starts_with("//") && !is_host;
        if looks_like_path {
            anyhow::bail!("there is no file {}", args.subject);
        }
        Self::of_site(args, config).await
    }

    fn of_file(name: &str) -> anyhow::Result<Self> {
        let mut body = Vec::new();
        if name == "-" {
            std::io::stdin()
                .lock()
                .read_to_end(&mut body)
                .context("could not read standard input")?;
        } else {
            body = std::fs::read(name).with_context(|| format!("could not read {name}"))?;
        }
        let numbers = RobotsNumbers::DOCUMENTED;
        let body = cut(&body, numbers.max_bytes).to_vec();
        let outcome =
            RobotsOutcome::File { body, cause: "a file".into(), fresh_for: numbers.fresh };
        Ok(Self { name: name.into(), base: Url::parse(SOME_ORIGIN)?, outcome })
    }

    async fn of_site(args: &RobotsArgs, config: Option<&Path>) -> anyhow::Result<Self> {
        let base = urls::parse_seed(&args.subject).map_err(|e| Usage(e.to_string()))?;
        let origin = Origin::of(&base).map_err(|e| Usage(e.to_string()))?;
        let mut config = read_config(config)?;
        if let Some(agent) = args.agent.first() {
            config.identity.agent.clone_from(agent);
        }
        config.identity.contact = args.contact.clone().or(config.identity.contact);
        config.network.allow.extend(args.allow_network.iter().cloned());
        let settings = Settings::new(&config)?;
        let clock = Clock::real();
        let transport = crawl::transport(&settings, clock)?;
        let policy = Policy::default();
        let limits = settings.net.limits.with_body_bytes(policy.robots.max_bytes + 1);
        let terms = Terms { limits, accept: Accept::Robots, ..Terms::default() };
        let outcome = fetch_once(&transport, clock, &policy, &terms, &origin).await;
        Ok(Self { name: origin.robots_url().into(), base, outcome })
    }

    /// URLs to judge; a path is taken on the origin of the robots.txt.
    fn resolve(&self, urls: &[String]) -> anyhow::Result<Vec<Url>> {
        let resolve = |text: &String| {
            let url = self.base.join(text).map_err(|e| Usage(format!("\"{text}\": {e}")))?;
            Origin::of(&url).map_err(|e| Usage(format!("\"{text}\": {e}")))?;
            Ok(url)
        };
        let page = self.base.path() != "/" && self.base.path() != "/robots.txt";
        // An address of a page asks about that page.
        let first = page.then(|| self.base.to_string());
        first.iter().chain(urls).map(resolve).collect()
    }

    fn answer(&self) -> String {
        match &self.outcome {
            RobotsOutcome::File { cause, .. }
            | RobotsOutcome::NoFile { cause, .. }
            | RobotsOutcome::Unreachable { cause, .. } => cause.clone(),
        }
    }

    fn rules(&self) -> Option<RobotsTxt> {
        match &self.outcome {
            RobotsOutcome::File { body, .. } => Some(RobotsTxt::parse(body)),
            RobotsOutcome::NoFile { .. } | RobotsOutcome::Unreachable { .. } => None,
        }
    }

    fn sitemaps(&self) -> Vec<String> {
        let rules = self.rules();
        rules.iter().flat_map(|rules| rules.sitemaps()).map(|(_, url)| url.into()).collect()
    }

    fn describe(&self, terminal: Terminal, agents: &[ProductToken]) {
        let what = match &self.outcome {
            RobotsOutcome::File { body, cause, .. } => format!("{} bytes ({cause})", body.len()),
            RobotsOutcome::NoFile { cause, .. } => {
                format!("no file ({cause}): nothing is forbidden (RT-023)")
            }
            RobotsOutcome::Unreachable { cause, .. } => {
                format!("cannot be reached ({cause}): counts as a full stop (RT-025, RT-028)")
            }
        };
        terminal.line(terminal.paint(Tone::Title, format_args!("{}: {what}", self.name)));
        let Some(rules) = self.rules() else { return };
        for agent in agents {
            if let Some(delay) = rules.crawl_delay(std::slice::from_ref(agent)) {
                terminal.line(format_args!("  crawl-delay for {agent}: {} s", delay.as_secs_f64()));
            }
        }
        for (line, url) in rules.sitemaps() {
            terminal.line(format_args!("  sitemap (line {line}): {url}"));
        }
    }
}

/// One answer.
struct Row {
    url: Url,
    agent: ProductToken,
    access: Option<Access>,
    line: Option<u32>,
    rule: Option<String>,
    group: Option<String>,
}

impl Row {
    fn judge(outcome: &RobotsOutcome, policy: Preset, agent: &ProductToken, url: &Url) -> Self {
        let (url, agent) = (url.clone(), agent.clone());
        let plain = |access| Row {
            url: url.clone(),
            agent: agent.clone(),
            access,
            line: None,
            rule: None,
            group: None,
        };
        let body = match outcome {
            RobotsOutcome::File { body, .. } => body,
            RobotsOutcome::NoFile { .. } => return plain(Some(Access::Allow)),
            RobotsOutcome::Unreachable { .. } => return plain(None),
        };
        let verdict = RobotsTxt::parse(body).verdict(policy, std::slice::from_ref(&agent), &url);
        let group = match verdict.group {
            GroupUsed::Own(token) | GroupUsed::Fallback(token) => Some(token.to_string()),
            GroupUsed::Star => Some("*".into()),
            GroupUsed::None => None,
        };
        let rule = verdict.rule.as_ref().map(|rule| match rule.kind {
            RuleKind::Allow => format!("allow: {}", rule.pattern),
            RuleKind::Disallow => format!("disallow: {}", rule.pattern),
        });
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
            "agent": self.agent.as_str(),
            "allowed": self.access.map(|access| access == Access::Allow),
            "line": self.line,
            "rule": self.rule,
            "group": self.group,
        })
    }
}
