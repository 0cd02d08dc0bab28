//! Crawlers that do next to nothing keep only what asks for no more.

use std::time::Duration;

use url::Url;

use super::page;
use super::robots::Rules;
use crate::trial::{Play, Said, Scenario, Verdict, scenarios};

/// What a crawler does before it ends. Each keeps robots.txt where it can read it, and follows no
/// redirect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Lazy {
    /// Nothing at all.
    Nothing,
    /// robots.txt, at each run.
    Robots,
    /// The same, and the seed at the first.
    Seed,
    /// The same, and what the seed leads to, once each.
    FirstPage,
    /// All of that at each run.
    FirstPageAgain,
}

/// Rules and limits that also bind whoever asks for nothing but robots.txt.
const NO_MORE_IS_ALLOWED: &[&str] = &[
    "disallow-all",
    "outage-no-copy-disallows",
    "robots-429",
    "robots-429-retry-after",
    "robots-500",
    "robots-503",
    "robots-bad-chunk",
    "robots-garbage",
    "robots-hang",
    "robots-reset",
    "robots-silence",
    "robots-truncate",
];

/// What is asked of requests of robots.txt alone.
const ABOUT_ROBOTS: &[&str] = &["robots-unconditional"];

/// What the request of one page shows: who asks, and that robots.txt came first; and that it is not
/// repeated where the site fails as a whole, which is all that is demanded there.
const ONE_PAGE: &[&str] = &["identity", "outage-30-days-ill", "robots-first"];

/// What the first page and its links show: which of them robots.txt lets through, how they are read, at
/// which pace they are asked for, and that none that breaks off ends the crawl.
const FIRST_PAGE: &[&str] = &[
    "disallow",
    "group-merged",
    "group-others",
    "group-own-case",
    "group-own-empty",
    "group-own",
    "group-part-of-name",
    "group-several-names",
    "hostile-bad-chunk",
    "hostile-bomb",
    "hostile-drip",
    "hostile-flood",
    "hostile-garbage",
    "hostile-hang",
    "hostile-reset",
    "hostile-truncate",
    "links-base",
    "links-comments",
    "links-entities",
    "links-forms",
    "links-fragments",
    "links-scripts",
    "nofollow-rel",
    "outage-12-hours",
    "pace-crawl-delay",
    "pace-errors",
    "pace-one-at-a-time-delay",
    "pace-one-at-a-time",
    "pace-retry-after-429",
    "pace",
    "path-case",
    "path-end",
    "path-escapes",
    "path-longest",
    "path-query",
    "path-star",
    "path-tie",
    "robots-400",
    "robots-401",
    "robots-403",
    "robots-404",
    "robots-410",
    "robots-418",
    "robots-451",
    "robots-life-max-age",
    "robots-missing",
    "robots-redirect-loop",
    "scope-folder",
    "syntax-500-kib",
    "syntax-bom",
    "syntax-comments",
    "syntax-cr",
    "syntax-gzip",
    "syntax-html",
];

/// What coming again shows, with robots.txt first, even if nothing else is remembered.
const COMING_AGAIN: &[&str] =
    &["outage-ends", "revisit-month", "robots-life-day", "robots-life-no-file", "robots-life-week"];

const SPACE_S: f64 = 3.0;

struct Crawl {
    play: Play,
    now_s: f64,
}

impl Crawl {
    fn ask(&mut self, url: &Url) -> Option<Said> {
        self.now_s += SPACE_S;
        let headers = vec![("user-agent".to_owned(), "labbot/1.0".to_owned())];
        let said = self.play.ask(url, headers, self.now_s)?;
        self.play.done(said.place, self.now_s + 0.1);
        Some(said)
    }

    /// The rules; none if they cannot be known.
    fn robots(&mut self, seed: &Url) -> Option<Rules> {
        let said = self.ask(&seed.join("/robots.txt").unwrap())?;
        match said.status {
            _ if said.then.is_some() => None,
            200..=299 => Some(Rules::parse(&said.body, "labbot", &|_| false)),
            429 | 500.. => None,
            _ => Some(Rules::allow()),
        }
    }

    fn run(&mut self, lazy: Lazy, is_first: bool) {
        let seed = Url::parse(&self.play.seed()).unwrap();
        if lazy == Lazy::Nothing {
            return;
        }
        let Some(rules) = self.robots(&seed) else { return };
        let more = is_first || lazy == Lazy::FirstPageAgain;
        let allows = |url: &Url| rules.allows(&url[url::Position::BeforePath..], &|_| false);
        if lazy == Lazy::Robots || !more || !allows(&seed) {
            return;
        }
        let Some(page) = self.ask(&seed).filter(|page| page.then.is_none()) else { return };
        if lazy == Lazy::Seed || page.status != 200 {
            return;
        }
        let html = String::from_utf8_lossy(&page.body).into_owned();
        let (base, links) = page::links(&html, &page.headers, "labbot", &|_| false);
        let base = base.and_then(|base| seed.join(&base).ok()).unwrap_or_else(|| seed.clone());
        let mut seen = vec![seed.clone()];
        for link in links {
            let Ok(mut url) = base.join(&link) else { continue };
            url.set_fragment(None);
            if url.origin() == seed.origin() && allows(&url) && !seen.contains(&url) {
                self.ask(&url);
                seen.push(url);
            }
        }
    }
}

fn grade(scenario: &Scenario, lazy: Lazy) -> Verdict {
    let mut crawl =
        Crawl { play: Play::new(scenario.clone(), "labbot", 1_796_126_400), now_s: 0.0 };
    let runs = scenario.clock.as_ref().map_or(vec![0], |clock| clock.runs_at_s.clone());
    for (number, at_s) in runs.into_iter().enumerate() {
        crawl.now_s = at_s as f64;
        crawl.run(lazy, number == 0);
    }
    crawl.play.grade(Duration::from_millis(500)).unwrap().verdict
}

#[test]
fn who_does_next_to_nothing_keeps_only_what_asks_for_no_more() {
    let robots: Vec<_> = [NO_MORE_IS_ALLOWED, ABOUT_ROBOTS].concat();
    let seed = [robots.as_slice(), ONE_PAGE].concat();
    let page = [seed.as_slice(), FIRST_PAGE].concat();
    let again = [page.as_slice(), COMING_AGAIN].concat();
    for (lazy, may_keep) in [
        (Lazy::Nothing, &[][..]),
        (Lazy::Robots, &robots),
        (Lazy::Seed, &seed),
        (Lazy::FirstPage, &page),
        (Lazy::FirstPageAgain, &again),
    ] {
        let all = scenarios().unwrap();
        let kept = all.iter().filter(|scenario| grade(scenario, lazy) == Verdict::Kept);
        let kept: Vec<_> = kept.map(|scenario| scenario.name.as_str()).collect();
        let wrong: Vec<_> = kept.iter().filter(|name| !may_keep.contains(name)).collect();
        let idle: Vec<_> = may_keep.iter().filter(|name| !kept.contains(name)).collect();
        assert!(wrong.is_empty() && idle.is_empty(), "{lazy:?}: kept {wrong:#?}, not {idle:#?}");
    }
}
