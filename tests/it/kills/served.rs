//! What is crawled: the lab in a process of its own, and larger sites beside it; and what they saw.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use comity_conformance::{DEMO_AGENT, LedgerFile, ViolationKind, judge};
use comity_storage::EngineKind;

use crate::command::lab_program;
use crate::sites::Site;

/// The least time between two requests to a site.
pub(super) const INTERVAL: Duration = Duration::from_millis(60);

/// What the machine's scheduling may take off a gap.
const ALLOWANCE: Duration = Duration::from_millis(15);

/// Sites of many pages, each with the pause that it asks for: longer than a process takes to
/// start, so that a request that is early because of a restart would be seen.
const LARGER: [(&str, Option<&str>, Duration); 4] = [
    ("mill", None, INTERVAL),
    ("harbour", None, INTERVAL),
    ("abbey", Some("User-agent: *\nCrawl-delay: 1\n"), Duration::from_secs(1)),
    ("castle", Some("User-agent: *\nCrawl-delay: 0.5\n"), Duration::from_millis(500)),
];

/// The host names of all sites.
pub(super) const HOSTS: [&str; 12] = [
    "town.localhost",
    "bakery.localhost",
    "library.localhost",
    "clinic.localhost",
    "theatre.localhost",
    "museum.localhost",
    "ferry.localhost",
    "observatory.localhost",
    "mill.localhost",
    "harbour.localhost",
    "abbey.localhost",
    "castle.localhost",
];

/// A request that a site saw.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) site: String,
    pub(super) url: String,
    pub(super) at: Instant,
    /// A robots.txt, or an answer that asks to come again.
    pub(super) may_repeat: bool,
}

/// The running sites.
pub(super) struct Served {
    lab: Lab,
    sites: Vec<(Site, usize)>,
}

impl Served {
    /// Starts them, with pages for about `kills` kills.
    pub(super) fn start(dir: &Path, kills: usize) -> Self {
        let larger = LARGER.iter().map(|(_, robots, pause)| {
            let seconds = 4.0 + 0.25 * kills as f64;
            let pages = (seconds / pause.as_secs_f64()) as usize;
            (Site::with_robots(pages, *robots), pages)
        });
        Self { sites: larger.collect(), lab: Lab::start(dir) }
    }

    /// The arguments of a crawl of all of them.
    pub(super) fn crawl(&self, engine: EngineKind) -> Vec<String> {
        let text = |text: &str| text.to_owned();
        let mut arguments = vec![text("crawl"), self.lab.seed.clone()];
        for ((name, ..), (site, _)) in LARGER.iter().zip(&self.sites) {
            arguments.push(site.url_as(&format!("{name}.localhost"), "/"));
        }
        let interval = format!("{}ms", INTERVAL.as_millis());
        let rest = [
            ["--agent", DEMO_AGENT],
            ["--contact", "https://example.org/"],
            ["--scope", "any"],
            ["--allow-network", "127.0.0.0/8"],
            ["--interval", &interval],
            ["--address-per-second", "10000"],
            ["--patience", "5s"],
            ["--store", engine.name()],
            ["--data", "data"],
        ];
        arguments.extend(rest.iter().flatten().map(|argument| text(argument)));
        arguments.push(text("--json"));
        arguments
    }

    /// Ends them: every request in order, and what was wrong but for repeated requests.
    pub(super) fn end(self) -> (Vec<Asked>, Vec<String>) {
        let (mut asked, mut wrong) = self.lab.end();
        for ((name, _, pause), (site, pages)) in LARGER.iter().zip(&self.sites) {
            let requests = site.requests();
            let paths: Vec<_> = (1..*pages).map(|n| format!("/page{n}")).collect();
            let asked_for = |path: &str| requests.iter().any(|(_, asked)| asked == path);
            wrong.extend(
                paths
                    .iter()
                    .filter(|path| !asked_for(path))
                    .map(|path| format!("{name}: {path} is missing")),
            );
            for pair in requests.windows(2) {
                let gap = pair[1].0 - pair[0].0;
                let robots = pair.iter().all(|(_, path)| path == "/robots.txt");
                // The first was not acknowledged: what pause it asks for is not known yet.
                let owed = if robots { INTERVAL } else { *pause };
                if gap + ALLOWANCE < owed {
                    wrong.push(format!("{name}: {} came after {gap:?}, not {owed:?}", pair[1].1));
                }
            }
            asked.extend(requests.into_iter().map(|(at, path)| Asked {
                site: (*name).to_owned(),
                url: format!("{name}{path}"),
                at,
                may_repeat: path == "/robots.txt",
            }));
        }
        asked.sort_by_key(|request| request.at);
        (asked, wrong)
    }
}

/// The lab's process.
struct Lab {
    process: Child,
    ledger: PathBuf,
    seed: String,
    started: Instant,
}

impl Lab {
    #[expect(clippy::disallowed_methods, reason = "the ledger's times are real ones")]
    fn start(dir: &Path) -> Self {
        let ledger = dir.join("ledger.jsonl");
        let mut command = Command::new(lab_program());
        command.args(["serve", "--agent", DEMO_AGENT, "--ledger"]).arg(&ledger);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut first).unwrap();
        let started = Instant::now();
        let seed = first.trim().strip_prefix("seed: ").unwrap().to_owned();
        // Nobody reads the rest, and the lab may not be held up by that.
        std::thread::spawn(move || output.read_to_string(&mut String::new()));
        Self { process, ledger, seed, started }
    }

    fn end(mut self) -> (Vec<Asked>, Vec<String>) {
        let pid = i32::try_from(self.process.id()).unwrap();
        #[expect(unsafe_code, reason = "std can only kill, not interrupt")]
        // SAFETY: a signal to a child of this process that has not been waited for.
        let sent = unsafe { libc::kill(pid, libc::SIGINT) };
        assert_eq!(sent, 0);
        assert!(self.process.wait().unwrap().success());
        let file = LedgerFile::read(&self.ledger).unwrap();
        let report = judge(&file.requests, &file.expectations, INTERVAL);
        let wrong = report.violations.iter().filter(|wrong| {
            let excused = wrong.kind == ViolationKind::TooSoon && second_robots(&file, wrong.seq);
            wrong.kind != ViolationKind::Repeated && !excused
        });
        let wrong = wrong.map(ToString::to_string).collect();
        let sites = &file.expectations.sites;
        let asked = file.requests.iter().filter_map(|request| {
            let site = sites.iter().find(|site| site.name == request.site)?;
            let url = format!("{}{}", site.base_url, request.path_and_query);
            let robots = sites.iter().any(|site| site.robots.contains(&url));
            let busy = request.status == 429 || request.status >= 500;
            let at = self.started + Duration::from_micros(request.at_us);
            Some(Asked { site: site.name.clone(), url, at, may_repeat: robots || busy })
        });
        (asked.collect(), wrong)
    }
}

/// Whether a request is one for the robots.txt of a site that saw nothing else yet: the first was
/// not acknowledged, so what pause it asks for is not known.
fn second_robots(file: &LedgerFile, seq: Option<u64>) -> bool {
    let Some(last) = file.requests.iter().find(|request| Some(request.seq) == seq) else {
        return false;
    };
    let mut before = file.requests.iter().filter(|request| request.site == last.site);
    before.all(|request| request.seq > last.seq || request.path_and_query == "/robots.txt")
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It has ended unless the test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
