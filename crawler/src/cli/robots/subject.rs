//! A robots.txt and where it is from: a site, a file or standard input.

use std::path::Path;

use comity_compliance::robots::{Lint, RobotsOutcome, RobotsTxt, cut, lint};
use comity_compliance::{Origin, Policy, RobotsNumbers};
use serde_json::{Value, json};
use url::Url;

use super::super::args::AskArgs;
use super::super::reading::{self, Beginning, Size};
use super::super::terminal::{Terminal, Tone, grouped, plural};
use super::super::{Exit, Usage, crawl, read_config};
use super::judged::Judged;
use crate::clock::Clock;
use crate::crawl::fetch_once;
use crate::net::{Accept, Terms};
use crate::settings::Settings;
use crate::urls;

/// Paths given with a file are judged on this origin; a file says nothing about its own.
pub(super) const SOME_ORIGIN: &str = "https://example.com/";

/// How much of a file is looked at, so that an oversize one can be told from one that was cut.
pub(super) const LOOKED_AT: usize = 8 << 20;

/// A robots.txt and where it is from.
pub(super) struct Subject {
    pub(super) name: String,
    base: Url,
    pub(super) outcome: RobotsOutcome,
    /// How large it is, more than what is kept of it included.
    size: Size,
}

impl Subject {
    /// Reads `name`: a file, `-`, or a site, which is asked as the crawler `agent`. At most
    /// `max_bytes` of it are kept.
    pub(super) async fn read(
        name: &str,
        ask: &AskArgs,
        agent: Option<&str>,
        max_bytes: usize,
        config: Option<&Path>,
    ) -> anyhow::Result<Self> {
        if name == "-" || Path::new(name).exists() {
            return Self::of_file(name, max_bytes);
        }
        // A host name has a dot, or is this machine's own; what else has no scheme is a file.
        let (host, rest) = name.split_once(['/', ':']).unwrap_or((name, ""));
        let is_host = (host.contains('.') && !host.ends_with(".txt")) || urls::is_localhost(host);
        let looks_like_path = !rest.starts_with("//") && !is_host;
        if looks_like_path {
            anyhow::bail!(
                "there is no file {name}; give a site such as https://example.org/, a file, or - for \
                 standard input"
            );
        }
        Self::of_site(name, ask, agent, max_bytes, config).await
    }

    fn of_file(name: &str, max_bytes: usize) -> anyhow::Result<Self> {
        let Beginning { bytes, size } = reading::beginning(Path::new(name), LOOKED_AT as u64)?;
        let body = cut(&bytes, max_bytes).to_vec();
        let fresh_for = RobotsNumbers::DOCUMENTED.fresh;
        let outcome = RobotsOutcome::File { body, cause: "a file".into(), fresh_for };
        Ok(Self { name: name.into(), base: Url::parse(SOME_ORIGIN)?, outcome, size })
    }

    async fn of_site(
        name: &str,
        ask: &AskArgs,
        agent: Option<&str>,
        max_bytes: usize,
        config: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let base = urls::parse_seed(name).map_err(|e| Usage(e.to_string()))?;
        let origin = Origin::of(&base).map_err(|e| Usage(e.to_string()))?;
        let mut config = read_config(config)?;
        if let Some(agent) = agent {
            agent.clone_into(&mut config.identity.agent);
        }
        config.identity.contact = ask.contact.clone().or(config.identity.contact);
        config.network.allow.extend(ask.allow_network.iter().cloned());
        let settings = Settings::new(&config)?;
        let clock = Clock::real();
        let transport = crawl::transport(&settings, clock)?;
        let mut policy = Policy::default();
        // One octet more tells a file that is cut from one that ends there.
        policy.robots.max_bytes = max_bytes + 1;
        let limits = settings.net.limits.with_body_bytes(max_bytes + 1);
        let terms = Terms { limits, accept: Accept::Robots, ..Terms::default() };
        let mut outcome = fetch_once(&transport, clock, &policy, &terms, &origin).await;
        let mut size = Size::Exactly(0);
        if let RobotsOutcome::File { body, .. } = &mut outcome {
            size = Size::Exactly(body.len() as u64);
            if body.len() > max_bytes {
                size = Size::MoreThan(max_bytes as u64);
                *body = cut(body, max_bytes).to_vec();
            }
        }
        Ok(Self { name: origin.robots_url().into(), base, outcome, size })
    }

    /// `26 bytes`, `more than 8,388,608 bytes`
    fn size_in_words(&self) -> String {
        match self.size {
            Size::Exactly(bytes) => plural(bytes, "byte", "bytes"),
            Size::MoreThan(bytes) => format!("more than {} bytes", grouped(bytes)),
        }
    }

    /// That only the beginning counts, where there is more (RT-031).
    pub(super) fn cut_in_words(&self) -> Option<String> {
        let max_bytes = RobotsNumbers::DOCUMENTED.max_bytes as u64;
        let is_cut = match self.size {
            Size::Exactly(bytes) => bytes > max_bytes,
            Size::MoreThan(_) => true,
        };
        is_cut.then(|| {
            let (kib, size) = (max_bytes >> 10, self.size_in_words());
            format!("the first {kib} KiB of {size} count (RT-031)")
        })
    }

    /// How large the file is, and how much of it counts.
    pub(super) fn size_json(&self) -> Value {
        let (bytes, is_exact) = match self.size {
            Size::Exactly(bytes) => (bytes, true),
            Size::MoreThan(bytes) => (bytes, false),
        };
        let counted = match &self.outcome {
            RobotsOutcome::File { body, .. } => {
                cut(body, RobotsNumbers::DOCUMENTED.max_bytes).len() as u64
            }
            RobotsOutcome::NoFile { .. } | RobotsOutcome::Unreachable { .. } => 0,
        };
        json!({
            "bytes": bytes, "exact": is_exact, "counted": counted, "cut": self.cut_in_words().is_some(),
        })
    }

    /// How the program ends: what could not be read is no success.
    pub(super) fn exit(&self) -> Exit {
        match self.outcome {
            RobotsOutcome::Unreachable { .. } => Exit::NothingFetched,
            RobotsOutcome::File { .. } | RobotsOutcome::NoFile { .. } => Exit::Done,
        }
    }

    /// URLs to judge; a path is taken on the origin of the robots.txt.
    pub(super) fn resolve(&self, urls: &[String]) -> anyhow::Result<Vec<Url>> {
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

    pub(super) fn answer(&self) -> String {
        match &self.outcome {
            RobotsOutcome::File { cause, .. }
            | RobotsOutcome::NoFile { cause, .. }
            | RobotsOutcome::Unreachable { cause, .. } => cause.clone(),
        }
    }

    pub(super) fn rules(&self) -> Option<RobotsTxt> {
        match &self.outcome {
            RobotsOutcome::File { body, .. } => Some(RobotsTxt::parse(body)),
            RobotsOutcome::NoFile { .. } | RobotsOutcome::Unreachable { .. } => None,
        }
    }

    pub(super) fn sitemaps(&self) -> Vec<String> {
        let rules = self.rules();
        rules.iter().flat_map(|rules| rules.sitemaps()).map(|(_, url)| url.into()).collect()
    }

    /// Name and answer in a line.
    pub(super) fn headline(&self, terminal: Terminal) {
        let what = match &self.outcome {
            RobotsOutcome::File { body, .. } if body.is_empty() => {
                "an empty file: nothing is forbidden".into()
            }
            RobotsOutcome::File { cause, .. } => format!("{} ({cause})", self.size_in_words()),
            RobotsOutcome::NoFile { cause, .. } => {
                format!("no file ({cause}): nothing is forbidden (RT-023)")
            }
            RobotsOutcome::Unreachable { cause, .. } => {
                format!("cannot be reached ({cause}): counts as a full stop (RT-025, RT-028)")
            }
        };
        let name = if self.name == "-" { "standard input" } else { &self.name };
        terminal.line(terminal.paint(Tone::Title, format_args!("{name}: {what}")));
        if let Some(cut) = self.cut_in_words() {
            terminal.line(format_args!("  {}", terminal.paint(Tone::Note, cut)));
        }
    }

    /// That the file has errors, where it has some: the answers may be others than its owner meant.
    fn hint(&self, terminal: Terminal) {
        let RobotsOutcome::File { body, .. } = &self.outcome else { return };
        let found = lint(body, RobotsNumbers::DOCUMENTED.max_bytes);
        let no_text = [Lint::Html, Lint::Utf16, Lint::Binary];
        let of_the_whole =
            found.shown.iter().map(|finding| finding.lint).find(|lint| no_text.contains(lint));
        let hint = match (of_the_whole, found.errors) {
            (_, 0) => return,
            (Some(lint), _) => format!("{} ({})", lint.advice(), lint.clause()),
            (None, errors) => {
                let errors = plural(errors.into(), "error", "errors");
                format!("{errors} in the file; `comity robots lint` tells them")
            }
        };
        terminal.line(format_args!("  {}", terminal.paint(Tone::Note, hint)));
    }

    pub(super) fn describe(&self, terminal: Terminal, judged: &Judged) {
        self.headline(terminal);
        terminal.line(format_args!("  {}", judged.in_words()));
        let Some(rules) = self.rules() else { return };
        for crawler in &judged.crawlers {
            if let Some(delay) = crawler.crawl_delay(&rules, judged.policy) {
                let (name, delay) = (crawler.name(), delay.in_words(judged.policy));
                terminal.line(format_args!("  crawl-delay for {name}: {delay}"));
            }
        }
        for (line, url) in rules.sitemaps() {
            terminal.line(format_args!("  sitemap (line {line}): {url}"));
        }
        self.hint(terminal);
    }
}
