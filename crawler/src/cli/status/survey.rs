//! How the sites of a crawl stand: at what pace they are asked, which are left alone, and what is
//! known of their robots.txt files.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Origin, Policy, Site, SitePace, Timestamp};
use serde::{Deserialize, Serialize};

use crate::cli::explain::Pace;
use crate::cli::open::AnyStore;
use crate::cli::robots::stage;
use crate::cli::terminal::{by_reason, grouped};
use crate::crawl::Watch;
use crate::settings::Settings;

/// More sites than this are not looked at.
const SITES: usize = 100_000;
/// More robots.txt files than this are not read.
const FILES: usize = 10_000;

/// The same of a running crawl, which has other work to do.
const AT_ONCE: usize = 5_000;

/// How many sites there are of each kind.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(in crate::cli) struct Survey {
    /// By the law that decides the interval.
    pace: BTreeMap<String, u64>,
    /// By the reason for which they wait longer than that.
    left_alone: BTreeMap<String, u64>,
    /// robots.txt files by what their record comes to.
    robots_stages: BTreeMap<String, u64>,
}

impl Survey {
    /// Of all that a crawl knows.
    pub(super) async fn of(
        store: &AnyStore,
        settings: &Settings,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let (paces, records) = (store.paces(SITES).await?, store.robots_records(FILES).await?);
        Ok(Self::count(paces, &records, &settings.policy, now))
    }

    /// Of the sites that a running crawl asked lately.
    pub(in crate::cli) fn of_running<T>(
        watch: &Watch<AnyStore, T>,
        settings: &Settings,
        now: Timestamp,
    ) -> Self {
        let (paces, records) = (watch.paces(AT_ONCE), watch.robots_records(AT_ONCE));
        Self::count(paces, &records, &settings.policy, now)
    }

    fn count(
        paces: Vec<(Site, SitePace)>,
        records: &[(Origin, impl Borrow<RobotsRecord>)],
        policy: &Policy,
        now: Timestamp,
    ) -> Self {
        let mut survey = Self::default();
        let paces: HashMap<Site, SitePace> = paces.into_iter().collect();
        // A site of which only links are known has no pace.
        for pace in paces.values().filter(|pace| pace.last_request.is_some()) {
            let pace = Pace { pace, policy, now };
            *survey.pace.entry(pace.cause().code().into()).or_default() += 1;
            if let Some(cause) = pace.left_alone_for() {
                *survey.left_alone.entry(cause.code().into()).or_default() += 1;
            }
        }
        let fresh = SitePace::default();
        for (origin, record) in records {
            let pace = paces.get(&origin.site()).unwrap_or(&fresh);
            let availability = pace.availability(policy, now);
            let standing = record.borrow().standing(policy, availability, now);
            *survey.robots_stages.entry(stage(standing).into()).or_default() += 1;
        }
        survey
    }

    /// Each line, with the name that stands before it.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let kinds = [("pace", &self.pace), ("left alone", &self.left_alone)];
        let told = kinds.into_iter().filter(|(_, kinds)| !kinds.is_empty());
        let mut rows: Vec<_> = told.map(|(name, kinds)| (name, by_reason(kinds))).collect();
        // A stage is a sentence, so each has a line.
        for (n, (stage, count)) in self.robots_stages.iter().enumerate() {
            let name = if n == 0 { "robots.txt" } else { "" };
            rows.push((name, format!("{}: {stage}", grouped(*count))));
        }
        rows
    }
}
