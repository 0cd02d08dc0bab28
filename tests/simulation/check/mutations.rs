//! The checks can fail: each change of a clean run's ledger is found, under its rule.

use std::sync::Arc;

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

/// Of a run of twelve days with an index.
const WITH_INDEX: &[Mutation] = &[
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
    ("a robots.txt's sixth redirect", sixth_hop, Rule::SixthHop),
    ("a page never fetched", |c, r| missing(c, r), Rule::NotFetched),
    ("a page that only a sitemap lists never fetched", unlisted, Rule::NotFetched),
    ("a page never visited again", not_again, Rule::NotFetched),
    ("robots.txt no longer retried", no_retries, Rule::RobotsLate),
    ("two sites of an address at once", address, Rule::Ceiling),
    ("the first gaps ten times as long", slower, Rule::Idle),
    ("a page visited again after an hour", early, Rule::Early),
    ("an expired page visited again after two days", expired_early, Rule::Early),
    ("a request right after a failure", slowdown, Rule::SlowDown),
    (
        "a page gone from the index",
        |_, r| each_look(r, |look| drop(look.shown.pop())),
        Rule::Missing,
    ),
    ("a page gone from the index by a 304", lost_by_304, Rule::Missing),
    ("a page in the index that was never fetched", strange, Rule::Shown),
    ("a page kept in the index after its day", kept, Rule::Shown),
    ("a page kept in the index that is disallowed since", disallowed_since, Rule::Shown),
    ("a page kept in the index that nobody visits any more", outdated, Rule::Shown),
];

/// Of a run of forty days.
const LONG: &[Mutation] = &[
    ("a page without a probe", not_probed, Rule::NotProbed),
    ("a request within Retry-After", within_retry_after, Rule::RetryAfter),
    ("a page given up for good", given_up, Rule::NotFetched),
    ("a page that is not fetched though it is allowed again", not_lifted, Rule::NotFetched),
    ("pages visited by a sitemap that lies", distrusted, Rule::Distrusted),
];

#[test]
fn every_mutation_is_found() {
    let short = Scenario { sites: 30, days: 12, index: true, ..Scenario::small(3) };
    let long = Scenario { sites: 60, days: 40, ..Scenario::small(3) };
    std::thread::scope(|scope| {
        scope.spawn(|| all_found(short, WITH_INDEX));
        scope.spawn(|| all_found(long, LONG));
    });
}

fn all_found(scenario: Scenario, mutations: &[Mutation]) {
    let world = Arc::new(World::new(scenario.seed, scenario.sites, scenario.days));
    let record = run(&world, scenario);
    let clean = judge(&world, scenario, &record);
    assert!(clean.violations.is_empty(), "{}", clean.violations[0]);
    let clean = Clean { world: &world, book: Book::new(&world, &record), record: &record };
    for (name, mutate, rule) in mutations {
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
    for entry in record.entries.iter_mut().filter(|entry| entry.from < 10 * MINUTE) {
        entry.from *= 10;
        entry.until = entry.until.map(|until| until * 10);
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
    let at = record.looks.last().unwrap().at;
    let page = clean.page(|entry| expires(clean, entry).is_some_and(|day| day + HOUR < at));
    let page = page.url.clone();
    record.looks.last_mut().unwrap().kept.push(page);
}

/// The day that a page's rules name, by an answer.
fn expires(clean: &Clean<'_>, entry: &Entry) -> Option<Ms> {
    match entry.served {
        Served::Page { version, .. } | Served::NotModified { version, .. } => {
            clean.world.content(&entry.url, version)?.expires
        }
        Served::File { .. }
        | Served::Sitemap { .. }
        | Served::Redirect { .. }
        | Served::Status { .. }
        | Served::Failed(_) => None,
    }
}

fn sixth_hop(clean: &Clean<'_>, record: &mut Record) {
    let mut hops =
        clean.record.entries.iter().filter(|entry| path_of(&entry.url).starts_with("/r/"));
    let fifth = hops.find(|entry| entry.url.ends_with("/5")).unwrap();
    let Served::Redirect { to, .. } = &fifth.served else { panic!("{fifth:?}") };
    asked(clean, record, to.clone(), fifth.over() + 3 * SECOND);
}

fn unlisted(_: &Clean<'_>, record: &mut Record) {
    record.entries.retain(|entry| !path_of(&entry.url).starts_with("/listed/"));
}

fn not_again(clean: &Clean<'_>, record: &mut Record) {
    let page = clean.site(Manner::Steady).url("/");
    record.entries.retain(|entry| entry.url != page || entry.from < HOUR);
}

fn early(clean: &Clean<'_>, record: &mut Record) {
    let steady = clean.site(Manner::Steady).url("/");
    let page = clean.page(|entry| entry.url == steady);
    asked(clean, record, page.url.clone(), page.over() + HOUR);
}

fn expired_early(clean: &Clean<'_>, record: &mut Record) {
    let has_expired = |entry: &Entry| {
        expires(clean, entry).is_some_and(|day| day < entry.from && entry.until.is_some())
    };
    let page = clean.page(has_expired);
    asked(clean, record, page.url.clone(), page.over() + 2 * DAY);
}

fn slowdown(clean: &Clean<'_>, record: &mut Record) {
    let entry = clean.page(|entry| {
        let resolves = !super::errands::hides(clean.world, host_of(&entry.url));
        entry.until.is_some() && super::is_bad(&entry.served) && resolves
    });
    asked(clean, record, entry.url.clone(), entry.over() + 2 * SECOND + SECOND / 10);
}

fn lost_by_304(clean: &Clean<'_>, record: &mut Record) {
    let last = record.looks.last_mut().unwrap();
    let shown = |entry: &Entry| {
        let freshened = matches!(entry.served, Served::NotModified { .. });
        freshened && entry.over() + HOUR < last.at && last.shown.contains(&entry.url)
    };
    let page = clean.page(shown).url.clone();
    last.shown.retain(|url| *url != page);
}

/// A page that a file forbids since, put back into the index.
fn disallowed_since(clean: &Clean<'_>, record: &mut Record) {
    let last = record.looks.last_mut().unwrap();
    let fetched = |entry: &Entry| {
        let host = host_of(&entry.url);
        let forbids = |at| match clean.book.standing(host, at) {
            Standing::Good { file, .. } => !allows(clean.world, file, path_of(&entry.url)),
            Standing::Unknown | Standing::Failing { .. } => false,
        };
        let has_troubles = !clean.world.site(host).unwrap().troubles.is_empty();
        forbids(last.at) && forbids(last.at - 2 * HOUR) && !has_troubles
    };
    let page = clean.page(fetched).url.clone();
    last.shown.push(page);
}

/// A page that was turned while nobody looked.
fn outdated(clean: &Clean<'_>, record: &mut Record) {
    let last = record.looks.last().unwrap().at;
    let turned = |entry: &Entry| {
        let healthy = clean.world.site_of(&entry.url).unwrap().troubles.is_empty();
        let noindex = |at| match clean.world.serve(&entry.url, at) {
            Served::Page { version, .. } => {
                clean.world.content(&entry.url, version).unwrap().noindex
            }
            Served::Redirect { .. } | Served::Status { .. } => true,
            Served::File { .. }
            | Served::NotModified { .. }
            | Served::Sitemap { .. }
            | Served::Failed(_) => false,
        };
        healthy
            && !noindex(entry.from)
            && noindex(entry.from + DAY)
            && entry.over() + 3 * DAY < last
    };
    let page = clean.page(turned);
    let (url, at) = (page.url.clone(), page.over());
    record.entries.retain(|entry| entry.url != url || entry.from <= at);
    record
        .looks
        .iter_mut()
        .filter(|look| look.at > at)
        .for_each(|look| look.shown.push(url.clone()));
}

fn not_probed(clean: &Clean<'_>, record: &mut Record) {
    let at = 35 * DAY + HOUR;
    let site = clean.world.sites.iter().find(|site| {
        matches!(
            clean.book.standing(&site.host, at),
            Standing::Failing { copy: None, since, retry_at } if since + 31 * DAY < at && retry_at > at
        )
    });
    let site = site.expect("a site that fails for a month");
    record
        .entries
        .retain(|entry| host_of(&entry.url) != site.host || errand_of(&entry.url).is_some());
    asked(clean, record, site.url("/pub/1"), at);
}

fn within_retry_after(clean: &Clean<'_>, record: &mut Record) {
    let entry = clean.page(|entry| {
        entry.until.is_some() && super::retry_after(&entry.served).is_some_and(|wait| wait > MINUTE)
    });
    asked(clean, record, entry.url.clone(), entry.over() + MINUTE);
}

/// A page that failed three times, and then nothing.
fn given_up(clean: &Clean<'_>, record: &mut Record) {
    let mut failures: std::collections::BTreeMap<&str, (usize, Ms)> =
        std::collections::BTreeMap::new();
    let pages =
        clean.record.entries.iter().filter(|e| errand_of(&e.url).is_none() && e.is_request());
    for entry in pages {
        let (run, _) = failures.get(entry.url.as_str()).copied().unwrap_or((0, 0));
        if run >= 3 && !super::is_bad(&entry.served) && entry.from < 20 * DAY {
            record.entries.retain(|one| one.url != entry.url || one.from < entry.from);
            return;
        }
        let run = if super::is_bad(&entry.served) { run + 1 } else { 0 };
        failures.insert(&entry.url, (run, entry.from));
    }
    panic!("no page was given up and came back");
}

/// A page that was refused, and then allowed again.
fn not_lifted(clean: &Clean<'_>, record: &mut Record) {
    for entry in clean.record.entries.iter().filter(|e| errand_of(&e.url).is_none()) {
        let host = host_of(&entry.url);
        let allows_at = |at: Ms| match clean.book.standing(host, at) {
            Standing::Good { file, .. } => allows(clean.world, file, path_of(&entry.url)),
            Standing::Unknown | Standing::Failing { .. } => true,
        };
        let errands = clean.book.errands.get(host).map_or(&[][..], Vec::as_slice);
        let lifted = errands.windows(2).find(|pair| {
            pair[0].ended > entry.over() + HOUR
                && !allows_at(pair[0].ended + 1)
                && allows_at(pair[1].ended + 1)
                && pair[1].ended + 2 * DAY < clean.world.length
        });
        if let Some(pair) = lifted {
            let at = pair[1].ended;
            record.entries.retain(|one| one.url != entry.url || one.from < at);
            return;
        }
    }
    panic!("nothing was lifted");
}

/// For its dates, pages of a site that lies are visited each time that its sitemap was read.
fn distrusted(clean: &Clean<'_>, record: &mut Record) {
    let lies =
        |site: &&Site| site.sitemap.as_ref().is_some_and(|sitemap| sitemap.lies_from < 30 * DAY);
    let site = clean.world.sites.iter().find(lies).expect("a site whose sitemap lies");
    let sitemap = site.url(crate::world::SITEMAP);
    let read: Vec<_> = clean.record.entries.iter().filter(|one| one.url == sitemap).collect();
    let from = site.sitemap.as_ref().unwrap().lies_from;
    for entry in read.into_iter().filter(|entry| entry.from >= from) {
        let at = entry.over();
        for (number, (path, _)) in (0..).zip(site.listed(at)) {
            asked(clean, record, site.url(path), at + 3 * SECOND * (number + 1));
        }
    }
}
