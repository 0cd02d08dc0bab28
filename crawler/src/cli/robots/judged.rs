//! For which crawlers `comity robots check` judges: tokens, class, and what a crawl-delay is to them.

use std::path::Path;

use comity_compliance::robots::RobotsTxt;
use comity_compliance::{CrawlerClass, KnownCrawler, Policy, Preset, ProductToken};
use serde_json::{Value, json};

use super::super::args::CheckArgs;
use super::super::words::{preset, tokens};
use super::super::{read_config, terminal::duration};

/// What is judged: by whose reading, and for whom.
pub(super) struct Judged {
    pub(super) policy: Preset,
    pub(super) crawlers: Vec<Crawler>,
}

impl Judged {
    /// As the arguments say, and where they say nothing, as the settings do.
    pub(super) fn of(args: &CheckArgs, config: Option<&Path>) -> anyhow::Result<Self> {
        let settings = read_config(config)?;
        let policy = args.policy.as_deref().unwrap_or(&settings.politeness.policy);
        let policy = preset(Some(policy))?;
        let crawlers = if args.agent.is_empty() {
            let own = std::iter::once(&settings.identity.agent);
            let names: Vec<String> = own.chain(&settings.identity.fallbacks).cloned().collect();
            vec![Crawler { tokens: tokens(&names)?, class: CrawlerClass::Search }]
        } else {
            tokens(&args.agent)?.into_iter().map(Crawler::named).collect()
        };
        Ok(Self { policy, crawlers })
    }

    /// `judged for me, else fallback; policy courteous`
    pub(super) fn in_words(&self) -> String {
        let names: Vec<String> = self.crawlers.iter().map(Crawler::in_words).collect();
        format!("judged for {}; policy {}", names.join(", and for "), self.policy)
    }
}

/// A crawler that is judged for.
pub(super) struct Crawler {
    /// Own token first, then those that it falls back to.
    pub(super) tokens: Vec<ProductToken>,
    pub(super) class: CrawlerClass,
}

impl Crawler {
    /// One of those that Google documents falls back to other tokens, and may be bound by less.
    fn named(token: ProductToken) -> Self {
        match KnownCrawler::named(token.as_str()) {
            Some(known) => Self { tokens: known.tokens(), class: known.class },
            None => Self { tokens: vec![token], class: CrawlerClass::Search },
        }
    }

    /// Its own token.
    pub(super) fn name(&self) -> &str {
        self.tokens.first().map_or("", ProductToken::as_str)
    }

    fn in_words(&self) -> String {
        let names: Vec<&str> = self.tokens.iter().map(ProductToken::as_str).collect();
        let bound = match self.class {
            CrawlerClass::Search => "",
            CrawlerClass::SpecialCase => " (which only groups that name it bind, UA-003)",
            CrawlerClass::UserTriggered => " (which acts for a user: no group binds it, UA-004)",
            CrawlerClass::Safety => " (which looks for malware: no group binds it, UA-003)",
        };
        names.join(", else ") + bound
    }

    /// The crawl-delay that it is asked for, and what the policy makes of it.
    pub(super) fn crawl_delay(&self, rules: &RobotsTxt, policy: Preset) -> Option<Delay> {
        let names: Vec<&str> = self.tokens.iter().map(ProductToken::as_str).collect();
        let is_bound = match self.class {
            CrawlerClass::Search => true,
            CrawlerClass::SpecialCase => !rules.named(&names).is_empty(),
            CrawlerClass::UserTriggered | CrawlerClass::Safety => false,
        };
        let asked = rules.crawl_delay(&self.tokens).filter(|_| is_bound)?;
        Some(Delay { asked, effective: Policy::new(policy).crawl_delay(Some(asked)) })
    }
}

/// A crawl-delay.
pub(super) struct Delay {
    asked: std::time::Duration,
    effective: Option<std::time::Duration>,
}

impl Delay {
    pub(super) fn in_words(&self, policy: Preset) -> String {
        let asked = format!("{} s", self.asked.as_secs_f64());
        match self.effective {
            None => format!("{asked}, which policy {policy} ignores"),
            Some(kept) if kept < self.asked => {
                format!("{asked}, of which {} are kept: no longer one is (AM-36)", duration(kept))
            }
            Some(_) => asked,
        }
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "asked_s": self.asked.as_secs_f64(),
            "effective_s": self.effective.map(|delay| delay.as_secs_f64()),
        })
    }
}
