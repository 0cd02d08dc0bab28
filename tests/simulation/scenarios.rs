//! The lab's scenarios that last hours or days, played to our crawler under a held clock: the same
//! files, the same judge, once with the crawler staying all the time and once started anew at the
//! moments that the scenario names.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use comity::clock::Clock;
use comity::config::{Config, Span};
use comity::crawl::{Crawl, Extractors, Parts, Reporter};
use comity::net::{Completeness, FetchError, FetchErrorKind, Reply, Terms, Transport};
use comity::settings::Settings;
use comity_compliance::{Grounds, Timestamp};
use comity_conformance::trial::{Break, Play, Said, Scenario, ScenarioClock, Verdict, scenarios};
use comity_conformance::vectors::Policy;
use comity_storage::{Durability, EngineKind, OpenOptions, Opening, Work, open};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{StatusCode, Version};
use tokio_util::sync::CancellationToken;
use url::Url;

/// 2026-12-01, noon.
const START_S: i64 = 1_796_126_400;
const AGENT: &str = "labbot";
const INTERVAL: Duration = Duration::from_secs(2);
/// How long an answer takes.
const LATENCY: Duration = Duration::from_millis(40);
/// How long the crawler may go on after the beginning of a run.
const RUN: Duration = Duration::from_secs(600);

/// How the crawler is run.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// One process that looks at pages again by itself.
    Stays,
    /// A process at each moment that the scenario names.
    Anew,
}

#[derive(Clone)]
struct Web {
    play: Arc<Play>,
    clock: Clock,
}

impl Web {
    /// Seconds since the beginning.
    fn at_s(&self) -> f64 {
        self.clock.now().since(Timestamp::from_secs(START_S)).as_secs_f64()
    }
}

impl Transport for Web {
    async fn fetch(&self, grounds: Grounds, terms: Terms) -> Result<Reply, FetchError> {
        let url = grounds.url().clone();
        let line = |name: &str, value: &Option<HeaderValue>| {
            value.as_ref().map(|value| (name.to_owned(), value.to_str().unwrap().to_owned()))
        };
        let (etag, date) = (&terms.validators.etag, &terms.validators.last_modified);
        let lines = [line("if-none-match", etag), line("if-modified-since", date)];
        let said = self.play.ask(&url, lines.into_iter().flatten().collect(), self.at_s());
        let said = said.unwrap_or_else(|| panic!("{url} is in no scenario"));
        tokio::time::sleep(LATENCY).await;
        self.play.done(said.place, self.at_s());
        self.reply(url, said)
    }

    async fn address_of(&self, _: &Url) -> Result<IpAddr, FetchError> {
        Ok(Ipv4Addr::new(192, 0, 2, 1).into())
    }
}

impl Web {
    fn reply(&self, url: Url, said: Said) -> Result<Reply, FetchError> {
        let failure = |kind| Err(FetchError { url: Box::new(url.clone()), kind });
        match said.then {
            None => {}
            Some(Break::Reset) => {
                let error = io::ErrorKind::ConnectionReset.into();
                return failure(FetchErrorKind::Interrupted(error));
            }
            Some(Break::Silence) => return failure(FetchErrorKind::Closed),
            Some(other) => panic!("{other:?} takes a wire"),
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &said.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        Ok(Reply {
            url,
            status: StatusCode::from_u16(said.status).unwrap(),
            request: HeaderMap::new(),
            headers,
            wire_bytes: said.body.len() as u64,
            body: Bytes::from(said.body),
            completeness: Completeness::Whole,
            version: Version::HTTP_11,
            address: None,
            first_byte: LATENCY,
            total: LATENCY,
            head_at: self.clock.now(),
        })
    }
}

fn config(
    scenario: &Scenario,
    seed: &str,
    policy: Policy,
    manner: Manner,
    data: &std::path::Path,
) -> Config {
    let mut config = Config::default();
    config.crawl.seeds = vec![seed.to_owned()];
    config.crawl.scope = "any".into();
    config.crawl.patience = Span(Duration::from_secs(30));
    config.identity.agent = AGENT.into();
    config.identity.contact = Some("me@example.org".into());
    config.politeness.policy = policy.name().into();
    config.politeness.interval = Span(INTERVAL);
    config.storage.data = data.to_owned();
    // How often pages are looked at again is what some are about; in the others, often enough that
    // what must not be asked for is due all the time.
    if !scenario.name.starts_with("revisit") {
        let hour = Span(Duration::from_secs(3_600));
        (config.recrawl.first, config.recrawl.least, config.recrawl.most) = (hour, hour, hour);
    }
    config.recrawl.stay = matches!(manner, Manner::Stays);
    config
}

/// One process, until it ends or `until` is reached.
async fn process(config: &Config, web: &Web, until: Timestamp) {
    let settings = Settings::new(config).unwrap();
    let options = OpenOptions { work: Work::Caller, ..OpenOptions::default() };
    let (data, now) = (settings.store.data.clone(), web.clock.now());
    let store = open(&data, EngineKind::Sled, Durability::Process, now, options).unwrap();
    let stop = CancellationToken::new();
    let crawl = Crawl::new(Parts {
        settings,
        recovered: store.opening() == Opening::Recovered,
        store,
        transport: web.clone(),
        clock: web.clock,
        reporter: Reporter::default(),
        index: None,
        archive: None,
        bulk: None,
        scorer: None,
        filter: None,
        extractors: Extractors::default(),
        stop: stop.clone(),
    });
    let mut running = Box::pin(crawl.unwrap().run());
    tokio::select! {
        biased;
        end = &mut running => {
            end.unwrap();
        }
        () = web.clock.sleep_until(until) => {
            stop.cancel();
            running.await.unwrap();
        }
    }
}

/// Plays a scenario; what was not kept.
fn play(scenario: &Scenario, clock: &ScenarioClock, policy: Policy, manner: Manner) -> Vec<String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(async {
        let start_s = START_S.unsigned_abs();
        let play = Arc::new(Play::new(scenario.clone(), AGENT, start_s));
        let web = Web { play, clock: Clock::starting_at(Timestamp::from_secs(START_S)) };
        let dir = tempfile::tempdir().unwrap();
        let config = config(scenario, &web.play.seed(), policy, manner, dir.path());
        let moment = |at_s: u64| Timestamp::from_secs(START_S).after(Duration::from_secs(at_s));
        let last = *clock.runs_at_s.last().unwrap();
        let length = RUN.max(Duration::from_secs(scenario.seconds) * clock.scale);
        match manner {
            Manner::Stays => process(&config, &web, moment(last).after(length)).await,
            Manner::Anew => {
                for (run, at_s) in clock.runs_at_s.iter().enumerate() {
                    web.clock.sleep_until(moment(*at_s)).await;
                    let next = clock.runs_at_s.get(run + 1);
                    let until = web.clock.now().after(length);
                    process(&config, &web, next.map_or(until, |at_s| until.min(moment(*at_s))))
                        .await;
                }
            }
        }
        let grade = web.play.grade(INTERVAL).unwrap();
        if grade.verdict == Verdict::Kept {
            return Vec::new();
        }
        let head = format!("{} {policy:?} {manner:?}: {:?}", scenario.name, grade.verdict);
        let ledger = web.play.ledger();
        let lines = ledger.iter().map(|a| format!("    {:.1} {} {}", a.at_s, a.path, a.answer));
        std::iter::once(head)
            .chain(grade.findings.iter().map(|finding| format!("  {finding}")))
            .chain(lines.take(400))
            .collect()
    })
}

#[test]
fn scenarios_that_last_days() {
    let mut wrong = Vec::new();
    let mut played = 0;
    for scenario in scenarios().unwrap() {
        let Some(clock) = &scenario.clock else { continue };
        for policy in [Policy::Google, Policy::Rfc9309, Policy::Courteous] {
            if !scenario.policy.is_empty() && !scenario.policy.contains(&policy) {
                continue;
            }
            for manner in [Manner::Stays, Manner::Anew] {
                wrong.extend(play(&scenario, clock, policy, manner));
                played += 1;
            }
        }
    }
    println!("{played} plays of scenarios with a clock of their own");
    assert!(played >= 60, "{played}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
