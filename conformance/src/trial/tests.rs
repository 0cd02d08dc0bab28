//! The scenarios can be kept, and each can be broken: by every fault that it names.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::client::{Client, FAULTS};
use super::judge::Verdict;
use super::scenario::{Mode, Scenario, scenarios};
use super::serve::{Web, WebConfig};

const INTERVAL: Duration = Duration::from_millis(200);
/// Crawls at the same time.
const AT_ONCE: usize = 24;

/// Has the reference client crawl a scenario, and judges it.
async fn crawl(scenario: Scenario, fault: Option<String>) -> Result<(), String> {
    let mode = if scenario.needs_proxy { Mode::Proxy } else { Mode::Direct };
    let limit = Duration::from_secs(scenario.seconds);
    let (name, runs) = (scenario.name.clone(), scenario.runs);
    let config = WebConfig { mode, agent: "labbot".into() };
    let web = Web::start(vec![scenario], config).await.map_err(|error| error.to_string())?;
    let mut client = Client::new("labbot", INTERVAL, web.proxy(), fault.as_deref());
    for _ in 0..runs {
        let _ = tokio::time::timeout(limit, client.crawl(&web.seed(0))).await;
    }
    let grade = web.judge(0, INTERVAL).ok_or("no scenario")?;
    match (&fault, grade.verdict) {
        (None, Verdict::Kept) | (Some(_), Verdict::Broken) => Ok(()),
        (None, verdict) => {
            Err(format!("{name} without a fault: {verdict:?} {:#?}", grade.findings))
        }
        (Some(fault), verdict) => Err(format!("{name} with {fault}: {verdict:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_scenario_can_be_kept_and_broken() {
    let seats = Arc::new(Semaphore::new(AT_ONCE));
    let mut crawls = JoinSet::new();
    for scenario in scenarios().unwrap() {
        let faults = scenario.broken_by.iter().cloned().map(Some);
        for fault in std::iter::once(None).chain(faults) {
            let (scenario, seats) = (scenario.clone(), Arc::clone(&seats));
            crawls.spawn(async move {
                let _seat = seats.acquire_owned().await;
                crawl(scenario, fault).await
            });
        }
    }
    let mut wrong: Vec<_> = crawls.join_all().await.into_iter().filter_map(Result::err).collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_fault_breaks_a_scenario_and_each_scenario_has_one() {
    let all = scenarios().unwrap();
    let known: BTreeSet<&str> = FAULTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known.len(), FAULTS.len(), "a fault is there twice");
    let used: BTreeSet<&str> =
        all.iter().flat_map(|s| s.broken_by.iter().map(String::as_str)).collect();
    assert_eq!(used, known, "faults that scenarios name, and those that there are");
    for scenario in &all {
        assert!(!scenario.broken_by.is_empty(), "{} cannot be broken", scenario.name);
    }
}

/// A scenario without a clause is refused, and so is one whose clause nobody knows.
#[test]
fn each_scenario_has_its_clauses() {
    let requirements =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/requirements.md"));
    let requirements = requirements.unwrap();
    for scenario in scenarios().unwrap() {
        for clause in &scenario.clauses {
            let stands = [format!("- {clause} "), format!("| {clause} |")];
            let known = stands.iter().any(|text| requirements.contains(text));
            assert!(known, "{}: there is no {clause}", scenario.name);
        }
    }
}
