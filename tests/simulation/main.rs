//! Whole crawls of simulated webs: weeks of outages, redirects, overloads and changing rules in
//! seconds, every run reproduced by its number. See docs/simulation.md.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod chance;
mod ledger;
mod run;
mod web;
mod world;

use std::sync::Arc;
use comity_storage::EngineKind;

#[test]
fn profile() {
    let n = |k: &str, d: i64| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    for engine in [EngineKind::Sled, EngineKind::Redb, EngineKind::Memory] { for index in [false, true] {
    if index && engine == EngineKind::Memory { continue; }
    let world = Arc::new(world::World::new(1, n("COMITY_SIM_SITES", 50) as usize, n("COMITY_SIM_DAYS", 60)));
    let t = tokio::time::Instant::now();
    let s = run::Scenario { seed: 1, sites: 50, days: 60, engine, index, recrawl_within: None };
    let record = run::run(&world, s);
    println!("{engine} {index} {:?} entries {} {:?} looks {}", t.elapsed(), record.entries.len(), record.processes.len(), record.looks.len());
    }}
}
