//! `comity robots when`: how long what a crawl knows of a robots.txt lasts, what it says at a
//! time, and what will happen if the file cannot be read from then on.

use std::path::Path;

use comity_compliance::robots::{Basis, RobotsOutcome, RobotsRecord, Standing, Trouble};
use comity_compliance::{Origin, Policy, Site, SitePace, Timestamp};
use comity_storage::Store as _;
use serde_json::{Value, json};
use url::Url;

use super::super::args::WhenArgs;
use super::super::terminal::{Terminal, Tone, duration};
use super::super::words::{moment, record_json};
use super::super::{Exit, Usage, data_dir, json_lines, open};
use super::life::{self, judge, verdict_json, without_politeness};
use super::timeline;
use crate::clock::Clock;
use crate::settings::Settings;
use crate::urls;

pub(super) async fn run(args: WhenArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let clock = Clock::real();
    let now = clock.now();
    if let Some(path) = args.events.clone() {
        return timeline::run(args, &path, now);
    }
    let Some(url) = args.url.filter(|_| !args.json_lines) else {
        return json_lines::serve(life::answer);
    };
    let url = urls::parse_seed(&url).map_err(|e| Usage(e.to_string()))?;
    let origin = Origin::of(&url).map_err(|e| Usage(e.to_string()))?;
    let at = args.at.as_deref().map_or(Ok(now), |text| moment(text, now))?;
    let data = data_dir(args.data.data, config)?;
    open::not_in_use(&data, "robots when")?;
    let (store, settings) = open::earlier(&data, clock).await?;
    let known = store.robots(&origin).await;
    let site = store.site(&Site::of(&url).map_err(|e| Usage(e.to_string()))?).await;
    store.close().await?;
    let pace = site?.map_or_else(SitePace::default, |site| without_politeness(&site.pace));
    let record = known?.unwrap_or_default();
    let when = When { url, origin, record, pace, settings, at };
    let terminal = Terminal::new();
    if args.json {
        terminal.json(&when.as_json());
    } else {
        when.print(terminal, now);
    }
    Ok(Exit::Done)
}

struct When {
    url: Url,
    origin: Origin,
    record: RobotsRecord,
    /// Only the site's health: this is about robots.txt, not about politeness.
    pace: SitePace,
    settings: Settings,
    at: Timestamp,
}

impl When {
    fn stage(&self) -> &'static str {
        let policy = &self.settings.policy;
        stage(self.record.standing(policy, self.pace.availability(policy, self.at), self.at))
    }

    fn verdict(&self) -> Value {
        let (policy, identity) = (&self.settings.policy, &self.settings.identity);
        verdict_json(&judge(&self.url, &self.record, policy, identity, &self.pace, self.at))
    }

    fn ladder(&self) -> Vec<(Timestamp, &'static str)> {
        ladder(&self.record, &self.settings.policy, &self.pace, self.at)
    }

    fn as_json(&self) -> Value {
        let (copy, failing) = record_json(&self.record);
        let stages = self.ladder().into_iter();
        json!({
            "robots": self.origin.robots_url().as_str(),
            "url": self.url.as_str(),
            "policy": self.settings.policy.preset.name(),
            "at": self.at.to_string(),
            "stage": self.stage(),
            "verdict": self.verdict(),
            "next_refresh": self.record.next_refresh().map(|at| at.to_string()),
            "copy": copy,
            "failing": failing,
            "if_it_fails": stages.map(|(at, stage)| json!({ "at": at.to_string(), "stage": stage }))
                .collect::<Vec<_>>(),
        })
    }

    fn print(&self, terminal: Terminal, now: Timestamp) {
        let row = |name: &str, text: &str| terminal.line(format_args!("  {name:<12} {text}"));
        let from_now = |at: Timestamp| match (at.since(now), now.since(at)) {
            (ahead, _) if !ahead.is_zero() => format!("{at}, in {}", duration(ahead)),
            (_, ago) => format!("{at}, {} ago", duration(ago)),
        };
        terminal.line(terminal.paint(Tone::Title, self.origin.robots_url()));
        let parts = self.record.to_parts();
        match parts.copy {
            None => row("copy", "none: it was never answered"),
            Some(copy) => {
                let what = if copy.body.is_some() { "a file" } else { "no file" };
                let (cause, at) = (copy.cause, from_now(copy.fetched_at));
                row("copy", &format!("{what} ({cause}), fetched {at}"));
                row("fresh until", &from_now(copy.fresh_until));
            }
        }
        if let Some(run) = parts.failing {
            let (cause, attempts) = (run.cause, run.attempts);
            row("failing", &format!("{cause}, {attempts} in a row, since {}", from_now(run.since)));
        }
        let next = self.record.next_refresh();
        row("next refresh", &next.map_or("at once".into(), from_now));
        row("at the time", &from_now(self.at));
        row("stage", self.stage());
        let verdict = self.verdict();
        let word = if verdict["allowed"] == true {
            terminal.paint(Tone::Good, "may be fetched")
        } else {
            terminal.paint(Tone::Bad, "may not be fetched")
        };
        let rule = verdict["rule"].as_str().map_or(String::new(), |rule| format!(", {rule}"));
        let reason = verdict["reason"].as_str().unwrap_or_default();
        row("verdict", &format!("{} {word} ({reason}{rule})", self.url));
        terminal.line("  if it cannot be read from then on:");
        for (at, stage) in self.ladder() {
            row("", &format!("{}: {stage}", from_now(at)));
        }
    }
}

/// What a record says, in words.
pub(in crate::cli) fn stage(standing: Standing<'_>) -> &'static str {
    match standing {
        Standing::Fetch => "robots.txt is fetched first",
        Standing::Rules(_, Basis::Fresh) => "a fresh copy decides",
        Standing::NoRules(Basis::Fresh) => "there is no file: nothing is forbidden",
        Standing::Rules(_, Basis::LastGood | Basis::LongGone) => "the last good copy decides",
        Standing::NoRules(Basis::LastGood) => "the last good answer decides: nothing is forbidden",
        Standing::NoRules(Basis::LongGone) => "gone for so long that nothing is forbidden",
        Standing::Probe => {
            "a probe tells: site up, as if there were no robots.txt; site down, full stop (AM-10)"
        }
        Standing::Stop { .. } => "full stop: nothing of the site is fetched",
    }
}

/// The stages that a record goes through if every refresh from `at` on fails.
fn ladder(
    record: &RobotsRecord,
    policy: &Policy,
    pace: &SitePace,
    at: Timestamp,
) -> Vec<(Timestamp, &'static str)> {
    let first_try = record.next_refresh().map_or(at, |next| next.max(at));
    let since = record.failing().map_or(first_try, |run| run.since);
    let numbers = &policy.robots;
    let ends = [since.after(numbers.stop_for), since.after(numbers.last_good_for)];
    let mut record = record.clone();
    let mut stages: Vec<(Timestamp, &'static str)> = Vec::new();
    for time in std::iter::once(first_try).chain(ends.into_iter().filter(|end| *end > first_try)) {
        let failed = RobotsOutcome::Unreachable {
            cause: String::new(),
            trouble: Trouble::Other,
            retry_after: None,
        };
        record = record.after(failed, policy, time);
        let stage = stage(record.standing(policy, pace.availability(policy, time), time));
        if stages.last().is_none_or(|(_, last)| *last != stage) {
            stages.push((time, stage));
        }
    }
    stages
}
