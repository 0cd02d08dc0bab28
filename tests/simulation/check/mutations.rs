//! The checks can fail: each change of a clean run's ledger is found, under its rule.

use std::sync::Arc;

use comity_storage::EngineKind;

use super::errands::{Errand, Standing, Taught, allows, errand_of};
use super::{Book, Rule, judge};
use crate::ledger::{Entry, Look, Record};
use crate::run::{Scenario, run};
use crate::world::{DAY, HOUR, MINUTE, Manner, Ms, SECOND, Served, Site, World, host_of, path_of};

/// What a mutation may use: the world, and what its rules were in the clean run.
struct Clean<'a> {
    world: &'a World,
    book: Book,
    record: &'a Record,
}

/// One line, one mutation: what it is, what it does to the run, under which rule it is found.
type Mutation = (&'static str, fn(&Clean<'_>, &mut Record), Rule);

const MUTATIONS: &[Mutation] = &[
    ("a page moved before its robots.txt", before_robots, Rule::BeforeRobots),
    ("a disallowed page", disallowed, Rule::Disallowed),
    ("a page by rules of the day before yesterday", stale, Rule::StaleRules),
    ("a page an hour after robots.txt failed", |c, r| failing(c, r, HOUR), Rule::FullStop),
    ("a page after a day without any copy", |c, r| failing(c, r, DAY), Rule::NoCopy),
    ("a page that only a link with nofollow leads to", unlinked, Rule::Unlinked),
    ("a request a second after another", |c, r| repeated(c, r, SECOND), Rule::Interval),
    ("a request while another is under way", |c, r| repeated(c, r, -5), Rule::Interval),
    ("a robots.txt asked for twice a minute", robots_twice, Rule::RobotsEarly),
    ("a retry after half the pause", |c, r| retried(c, r), Rule::RobotsEarly),
    ("a page never fetched", |c, r| missing(c, r), Rule::NotFetched),
    ("robots.txt no longer retried", no_retries, Rule::RobotsLate),
    ("two sites of an address at once", address, Rule::Ceiling),
    ("every gap twice as long", slower, Rule::Idle),
    (
        "a page gone from the index",
        |_, r| each_look(r, |look| drop(look.shown.pop())),
        Rule::Missing,
    ),
    ("a page in the index that was never fetched", strange, Rule::Shown),
    ("a page kept in the index after its day", kept, Rule::Shown),
];

#[test]
fn every_mutation_is_found() {
    let scenario = Scenario { sites: 30, days: 12, index: true, ..Scenario::small(3) };
    let scenario = Scenario { engine: EngineKind::Sled, ..scenario };
    let world = Arc::new(World::new(scenario.seed, scenario.sites, scenario.days));
    let record = run(&world, scenario);
    let clean = judge(&world, scenario, &record);
    assert!(clean.violations.is_empty(), "{}", clean.violations[0]);
    let clean = Clean { world: &world, book: Book::new(&world, &record), record: &record };
    for (name, mutate, rule) in MUTATIONS {
        let mut mutated = record.clone();
        mutate(&clean, &mut mutated);
        mutated.entries.sort_by_key(|entry| entry.from);
        let found = judge(&world, scenario, &mutated).violations;
        assert!(found.iter().any(|one| one.rule == *rule), "{name}: {:?}", found.first());
    }
}

impl Clean<'_> {
    fn site(&self, manner: Manner) -> &Site {
        self.world.sites.iter().find(|site| site.manner == manner).unwrap()
    }

    /// The first page request that has this property.
    fn page(&self, fits: impl Fn(&Entry) -> bool) -> &Entry {
        let pages = self.record.entries.iter().filter(|e| errand_of(&e.url).is_none());
        pages.into_iter().find(|entry| entry.is_request() && fits(entry)).unwrap()
    }
}

/// A request for a URL at a moment, answered as the world then does.
fn asked(clean: &Clean<'_>, record: &mut Record, url: String, from: Ms) {
    let site = clean.world.site_of(&url).unwrap();
    let (address, served) = (Some(site.address), clean.world.serve(&url, from));
    let until = Some(from + 50);
    record.entries.push(Entry { url, wants_text: false, address, from, until, served });
}

fn before_robots(clean: &Clean<'_>, record: &mut Record) {
    let page = clean.page(|entry| path_of(&entry.url) == "/").url.clone();
    asked(clean, record, page, 1);
}

fn disallowed(clean: &Clean<'_>, record: &mut Record) {
    for site in &clean.world.sites {
        let at = 6 * HOUR;
        let Standing::Good { file, .. } = clean.book.standing(&site.host, at) else { continue };
        if let Some(path) = site.pages.keys().find(|path| !allows(clean.world, file, path)) {
            return asked(clean, record, site.url(path), at);
        }
    }
    panic!("no page is disallowed");
}

fn stale(clean: &Clean<'_>, record: &mut Record) {
    let site = clean.site(Manner::Steady);
    let errands = &clean.book.errands[&site.host];
    let gap = errands.windows(2).find(|pair| pair[1].began > pair[0].ended + DAY + 2 * HOUR);
    let at = gap.map(|pair| pair[1].began).unwrap() - HOUR;
    asked(clean, record, site.url("/"), at);
}

/// A page of a site that never had a robots.txt, so long after the first failure.
fn failing(clean: &Clean<'_>, record: &mut Record, after: Ms) {
    for site in &clean.world.sites {
        let standing = clean.book.standing(&site.host, 2 * DAY);
        if let Standing::Failing { since, copy: None, .. } = standing {
            return asked(clean, record, site.url("/"), since + after);
        }
    }
    panic!("no site fails for days");
}

fn unlinked(clean: &Clean<'_>, record: &mut Record) {
    let site = clean.site(Manner::Steady);
    let hidden = site.pages.keys().find(|path| path.starts_with("/hidden")).unwrap();
    asked(clean, record, site.url(hidden), 6 * HOUR);
}

fn repeated(clean: &Clean<'_>, record: &mut Record, after: Ms) {
    let page = clean.page(|entry| entry.until.is_some());
    asked(clean, record, page.url.clone(), page.over() + after);
}

fn robots_twice(clean: &Clean<'_>, record: &mut Record) {
    let site = clean.site(Manner::Steady);
    let first = clean.book.errands[&site.host][0].ended;
    asked(clean, record, site.url("/robots.txt"), first + MINUTE / 2);
}

fn retried(clean: &Clean<'_>, record: &mut Record) {
    for (host, errands) in &clean.book.errands {
        let last = errands.iter().rfind(|one| matches!(one.taught, Taught::Failed { .. }));
        if let Some(last) = last
            && let Standing::Failing { retry_at, .. } = clean.book.standing(host, last.ended)
        {
            let at = i64::midpoint(last.ended, retry_at);
            return asked(clean, record, format!("https://{host}/robots.txt"), at);
        }
    }
    panic!("no robots.txt failed");
}

fn missing(clean: &Clean<'_>, record: &mut Record) {
    let leaf = clean.page(|entry| path_of(&entry.url).starts_with("/leaf")).url.clone();
    record.entries.retain(|entry| entry.url != leaf);
}

/// Of the site whose robots.txt fails the most, nothing after the first failure.
fn no_retries(clean: &Clean<'_>, record: &mut Record) {
    let failed = |errand: &&Errand| matches!(errand.taught, Taught::Failed { .. });
    let failures = |errands: &[Errand]| errands.iter().filter(failed).count();
    let most = clean.book.errands.iter().max_by_key(|(_, errands)| failures(errands)).unwrap();
    let first = most.1.iter().find(failed).unwrap().ended;
    record.entries.retain(|entry| host_of(&entry.url) != most.0 || entry.from <= first);
}

fn address(clean: &Clean<'_>, record: &mut Record) {
    let page = clean.page(|entry| entry.from > HOUR);
    let mut other = page.clone();
    other.from += 20;
    record.entries.push(other);
}

fn slower(_: &Clean<'_>, record: &mut Record) {
    for entry in record.entries.iter_mut().filter(|entry| entry.from < HOUR) {
        entry.from *= 2;
        entry.until = entry.until.map(|until| until * 2);
    }
}

fn each_look(record: &mut Record, change: fn(&mut Look)) {
    record.looks.iter_mut().for_each(change);
}

fn strange(clean: &Clean<'_>, record: &mut Record) {
    let url = clean.site(Manner::Steady).url("/never-fetched");
    record.looks.last_mut().unwrap().shown.push(url);
}

fn kept(clean: &Clean<'_>, record: &mut Record) {
    let expired = |entry: &Entry, at: Ms| match entry.served {
        Served::Page { version, .. } => {
            let content = clean.world.content(&entry.url, version);
            content.and_then(|one| one.expires).is_some_and(|day| day + HOUR < at)
        }
        Served::File { .. }
        | Served::NotModified { .. }
        | Served::Sitemap { .. }
        | Served::Redirect { .. }
        | Served::Status { .. }
        | Served::Failed(_) => false,
    };
    let at = record.looks.last().unwrap().at;
    let page = clean.page(|entry| expired(entry, at)).url.clone();
    record.looks.last_mut().unwrap().kept.push(page);
}
