//! How the sites of a crawl stand: at what pace they are asked, which are left alone, and what is
//! known of their robots.txt files.

use std::collections::{BTreeMap, HashMap};

use comity_compliance::{Site, SitePace, Timestamp};
use serde_json::{Value, json};

use crate::cli::explain::Pace;
use crate::cli::open::AnyStore;
use crate::cli::robots::stage;
use crate::cli::terminal::{by_reason, grouped};
use crate::settings::Settings;

/// More sites than this are not looked at.
const SITES: usize = 100_000;
/// More robots.txt files than this are not read.
const FILES: usize = 10_000;

/// How many sites there are of each kind.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// By the law that decides the interval.
    paces: BTreeMap<String, u64>,
    /// By the reason for which they wait longer than that.
    left_alone: BTreeMap<String, u64>,
    /// robots.txt files by what their record comes to.
    stages: BTreeMap<String, u64>,
}

impl Survey {
    pub(super) async fn of(
        store: &AnyStore,
        settings: &Settings,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let (mut survey, policy) = (Self::default(), &settings.policy);
        let paces: HashMap<Site, SitePace> = store.paces(SITES).await?.into_iter().collect();
        // A site of which only links are known has no pace.
        for pace in paces.values().filter(|pace| pace.last_request.is_some()) {
            let pace = Pace { pace, policy, now };
            *survey.paces.entry(pace.cause().code().into()).or_default() += 1;
            if let Some(cause) = pace.left_alone_for() {
                *survey.left_alone.entry(cause.code().into()).or_default() += 1;
            }
        }
        let fresh = SitePace::default();
        for (origin, record) in store.robots_records(FILES).await? {
            let pace = paces.get(&origin.site()).unwrap_or(&fresh);
            let standing = record.standing(policy, pace.availability(policy, now), now);
            *survey.stages.entry(stage(standing).into()).or_default() += 1;
        }
        Ok(survey)
    }

    /// Each line, with the name that stands before it.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let kinds = [("pace", &self.paces), ("left alone", &self.left_alone)];
        let told = kinds.into_iter().filter(|(_, kinds)| !kinds.is_empty());
        let mut rows: Vec<_> = told.map(|(name, kinds)| (name, by_reason(kinds))).collect();
        // A stage is a sentence, so each has a line.
        for (n, (stage, count)) in self.stages.iter().enumerate() {
            let name = if n == 0 { "robots.txt" } else { "" };
            rows.push((name, format!("{}: {stage}", grouped(*count))));
        }
        rows
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "pace": self.paces, "left_alone": self.left_alone, "robots_stages": self.stages,
        })
    }
}
