//! The scenarios can be kept, and each can be broken: by every fault that it names.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::client::{Client, ClientConfig, FAULTS};
use super::judge::Verdict;
use super::report::table;
use super::run::{Trial, grade};
use super::scenario::{Mode, Scenario, read, scenarios};
use super::serve::{Web, WebConfig};
use crate::vectors::Policy;

const INTERVAL: Duration = Duration::from_millis(200);
/// Crawls at the same time.
const AT_ONCE: usize = 24;

/// Has the reference client crawl a scenario, and judges it.
async fn crawl(scenario: Scenario, fault: Option<String>) -> Result<(), String> {
    let mode = match (scenario.needs_proxy, scenario.needs_tls) {
        (true, true) => Mode::ProxyTls,
        (true, false) => Mode::Proxy,
        (false, true) => Mode::Tls,
        (false, false) => Mode::Direct,
    };
    let limit = Duration::from_secs(scenario.seconds);
    let (name, runs, scale) = (scenario.name.clone(), scenario.run_count(), scenario.scale());
    let has_clock = scenario.clock.is_some();
    let policy = scenario.policy.first().copied().unwrap_or(Policy::Google);
    let config = WebConfig { mode, agent: "labbot".into() };
    let web = Web::start(vec![scenario], config).await.map_err(|error| error.to_string())?;
    let mut client = Client::new(ClientConfig {
        agent: "labbot".into(),
        interval: INTERVAL,
        policy,
        proxy: web.proxy().map(str::to_owned),
        ca: mode.is_tls().then(|| web.authority().to_owned()),
        fault: fault.clone(),
    })
    .map_err(|error| error.to_string())?;
    for run in 0..runs {
        let start_s = web.begin(0, run);
        if has_clock {
            client.set_clock(start_s, scale);
        }
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
    assert!(known.len() >= 20, "{}", known.len());
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

/// What the vectors leave to the lab, scenarios show.
#[test]
fn what_shows_in_requests_only_has_scenarios() {
    let without = include_str!("../../vectors/without.toml");
    let all = scenarios().unwrap();
    let left: Vec<&str> = without.lines().filter(|line| line.ends_with("the lab's\"")).collect();
    assert!(!left.is_empty());
    for line in left {
        let number = line.split(' ').next().unwrap();
        let shown = all.iter().any(|scenario| scenario.clauses.iter().any(|c| c == number));
        assert!(shown, "no scenario shows {number}");
    }
}

/// A scenario that its fault does not break is found: the suite can only name what it can show.
#[tokio::test]
async fn a_scenario_that_cannot_be_broken_is_found() {
    let all = scenarios().unwrap();
    let mut blunt = all.into_iter().find(|scenario| scenario.name == "disallow").unwrap();
    let fault = blunt.broken_by.first().cloned();
    blunt.expect.must_not.clear();
    let found = crawl(blunt, fault.clone()).await.unwrap_err();
    assert_eq!(found, format!("disallow with {}: Kept", fault.unwrap()));
}

/// What the build refuses to read: one line, one case; what is taken out, and what is said of it.
#[test]
fn a_scenario_says_by_which_authority() {
    let whole = "title = \"t\"\nwhy = \"w\"\nclauses = [\"RT-001\"]\nsource = \"s\"\nlevel = \"MUST\"\n\
                 broken_by = [\"no-robots\"]\n[site.main.\"/\"]\n[expect]\nmust = [\"main /\"]\n\
                 [clock]\nruns_at_s = [0, 5]\n";
    assert_eq!(read("a.toml", whole).unwrap().run_count(), 2);
    for (from, to, said) in [
        ("clauses = [\"RT-001\"]\n", "", "missing field `clauses`"),
        ("clauses = [\"RT-001\"]", "clauses = []", "must say something"),
        ("source = \"s\"\n", "", "missing field `source`"),
        ("source = \"s\"", "source = \"\"", "must say something"),
        ("why = \"w\"", "why = \"\"", "must say something"),
        ("level = \"MUST\"", "level = \"MAYBE\"", "unknown variant `MAYBE`"),
        ("main /\"]", "other /\"]", "no site is called other"),
        ("[0, 5]", "[5, 9]", "in order from 0"),
        ("[0, 5]", "[0, 5]\nscale = 0", "a scale of 1 at least"),
        ("broken_by = [\"no-robots\"]\n", "", "missing field `broken_by`"),
    ] {
        let error = read("a.toml", &whole.replace(from, to)).unwrap_err();
        assert!(error.contains(said), "{to}: {error}");
    }
}

/// A crawler that fails, or does not end, is no obstacle: what it has started ends with it.
#[tokio::test]
async fn any_command_is_graded() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let left_behind =
        format!(": {{seed}}; sleep 300 & echo $! > '{}'; sleep 300", pid_file.display());
    for (command, said) in [
        ("echo no {seed} >/dev/null; echo no; exit 3", "exit status: 3\nno"),
        (&left_behind, "ended by the lab"),
    ] {
        let all = scenarios().unwrap();
        let one: Vec<_> = all
            .into_iter()
            .filter(|s| ["disallow", "outage-ends"].contains(&s.name.as_str()))
            .collect();
        let trial = Trial {
            command: command.into(),
            mode: Mode::Tls,
            agent: "labbot".into(),
            interval: INTERVAL,
            policy: Policy::Google,
            seconds: Some(1),
            jobs: 1,
            faketime: false,
        };
        let report = grade(one, trial, std::future::pending()).await.unwrap();
        assert!(!report.is_good());
        assert_eq!(report.count(Verdict::NotExercised, None), 1);
        assert_eq!(report.without_time, ["outage-ends"]);
        assert!(table(&report).contains("hours or days: 1."), "{}", table(&report));
        assert!(report.results[0].said.contains(said), "{}", report.results[0].said);
        assert!(table(&report).contains(said), "{}", table(&report));
    }
    let pid = std::fs::read_to_string(pid_file).unwrap();
    // A zombie waits for its parent; it runs no more.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}
