//! Whole crawls of simulated webs: weeks of outages, redirects, overloads and changing rules in
//! seconds, every run reproduced by its number. See docs/simulation.md.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "whoever runs it by hand reads the figures")]

mod chance;
mod check;
mod ledger;
mod run;
mod scenarios;
mod web;
mod world;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use check::{Judgement, judge};
use comity_storage::EngineKind;
use run::{Scenario, run};
use world::World;

/// Violations that are told of one rule in one run.
const TOLD: usize = 5;

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// The run of a number, as the environment has it.
fn scenario(seed: u64) -> Scenario {
    let small = Scenario::small(seed);
    let engine = std::env::var("COMITY_SIM_ENGINE").unwrap_or("sled".into());
    Scenario {
        sites: usize::try_from(setting("COMITY_SIM_SITES", 20)).unwrap(),
        days: i64::try_from(setting("COMITY_SIM_DAYS", 45)).unwrap(),
        engine: *EngineKind::ALL.iter().find(|kind| kind.name() == engine).unwrap(),
        index: setting("COMITY_SIM_INDEX", 0) > 0,
        at_once: usize::try_from(setting("COMITY_SIM_AT_ONCE", 1000)).unwrap(),
        ..small
    }
}

/// Runs and judges; what is to be told of it.
fn report(scenario: Scenario) -> (Judgement, String) {
    let seed = scenario.seed;
    let world = Arc::new(World::new(seed, scenario.sites, scenario.days));
    let began = tokio::time::Instant::now();
    let record = run(&world, scenario);
    let ran = began.elapsed();
    let judgement = judge(&world, scenario, &record);
    let mut told = format!(
        "seed {seed}: {} requests, {} looks at the index, {} % of the permitted rate used, \
         {} pages given up; ran {:.1} s, judged {:.1} s",
        record.entries.len(),
        record.looks.len(),
        judgement.used_percent(),
        judgement.given_up,
        ran.as_secs_f32(),
        (began.elapsed() - ran).as_secs_f32(),
    );
    let mut by_rule: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for violation in &judgement.violations {
        by_rule.entry(violation.rule).or_default().push(violation);
    }
    for (rule, violations) in by_rule {
        write!(told, "\n  {rule:?}: {}", violations.len()).unwrap();
        for violation in violations.iter().take(TOLD) {
            let manner = world.site_of(&violation.url).map(|site| site.manner);
            write!(told, "\n    {violation} ({manner:?})").unwrap();
        }
    }
    if let Ok(host) = std::env::var("COMITY_SIM_SHOW") {
        told += &shown(&world, &record, &host);
    }
    (judgement, told)
}

/// All that happened to one site.
fn shown(world: &World, record: &ledger::Record, host: &str) -> String {
    let mut told = format!("\n{:#?}", world.site(host).map(|site| (&site.troubles, &site.robots)));
    for (began, gone) in &record.processes {
        write!(told, "\nprocess {} to {}", check::clock(*began), check::clock(*gone)).unwrap();
    }
    for entry in record.entries.iter().filter(|entry| world::host_of(&entry.url) == host) {
        let took = entry.until.map(|until| until - entry.from);
        let (at, url, text) = (check::clock(entry.from), &entry.url, entry.wants_text);
        write!(told, "\n{at} {url} {took:?} {:?} text: {text}", entry.served).unwrap();
    }
    told
}

/// Runs all scenarios, two side by side, and tells of those that were judged to be wrong.
fn all_well(scenarios: &[Scenario]) {
    let (next, wrong) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some(scenario) =
            scenarios.get(usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap())
        {
            let (judgement, told) = report(*scenario);
            println!("{told}");
            if !judgement.violations.is_empty() {
                wrong.lock().unwrap().push(scenario.seed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..setting("COMITY_SIM_THREADS", 2) {
            scope.spawn(worker);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "run again with COMITY_SIM_SEEDS=1 COMITY_SIM_SEED= one of {wrong:?}"
    );
}

#[test]
fn crawls_of_a_small_web() {
    let first = setting("COMITY_SIM_SEED", 1);
    let scenarios: Vec<_> =
        (first..first + setting("COMITY_SIM_SEEDS", 10)).map(scenario).collect();
    all_well(&scenarios);
}

/// The engines differ in nothing that a site could see, and the same number gives the same run.
#[test]
fn engines_crawl_alike() {
    let requests = |engine| {
        let scenario = Scenario { sites: 12, days: 10, engine, ..Scenario::small(7) };
        let world = Arc::new(World::new(scenario.seed, scenario.sites, scenario.days));
        let record = run(&world, scenario);
        let judgement = judge(&world, scenario, &record);
        assert!(judgement.violations.is_empty(), "{}", judgement.violations[0]);
        let seen = record.entries.into_iter().map(|entry| (entry.from, entry.url));
        seen.collect::<Vec<_>>()
    };
    let sled = requests(EngineKind::Sled);
    assert_eq!(sled.len(), requests(EngineKind::Redb).len());
    assert_eq!(sled, requests(EngineKind::Sled));
    // One process, for a store in memory does not outlive it.
    assert!(!requests(EngineKind::Memory).is_empty());
}
