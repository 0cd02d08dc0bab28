//! Makes a world of a number: sites with their manners, pages with their links and their lives.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::plan::{manner, rounds, troubles};
use super::{
    Answer, Content, DAY, File, HOUR, Link, MINUTE, Manner, Ms, NEVER, Page, Robots, Round, Rule,
    SECOND, Site, Sitemap, Validator, World,
};
use crate::chance::Chance;

const PRIVATE: Rule = Rule { allow: false, path: "/private/" };
const PRESS: Rule = Rule { allow: true, path: "/private/press/" };
const BACK: Rule = Rule { allow: false, path: "/b/" };
const ALL: Rule = Rule { allow: false, path: "/" };
const PUBLIC: Rule = Rule { allow: true, path: "/pub/" };
const VALIDATORS: [Validator; 3] = [Validator::None, Validator::Etag, Validator::Date];

impl World {
    pub(crate) fn new(seed: u64, sites: usize, days: i64) -> Self {
        let chance = Chance::new(seed);
        let length = days * DAY;
        let rounds = rounds(&mut chance.fork(1), length);
        let of_site = |number: usize| chance.fork(1000 + u64::try_from(number).unwrap());
        let mut all: Vec<Site> = (0..sites)
            .map(|number| site(number, sites, &mut of_site(number), &rounds, length))
            .collect();
        share_addresses(&mut all, &mut chance.fork(2));
        let listing = chance.fork(3);
        for (tag, site) in (0..).zip(&mut all) {
            list(site, &mut listing.fork(tag));
        }
        move_pages(&mut all, &mut chance.fork(4), length);
        // Every second site and every one with troubles; links lead to the others.
        let named = all
            .iter()
            .enumerate()
            .filter(|(number, site)| number.is_multiple_of(2) || site.manner != Manner::Steady);
        let seeds = named.map(|(_, site)| site.url("/")).collect();
        let hosts = (0..).zip(&all).map(|(at, site)| (site.host.clone(), at)).collect();
        Self { length, sites: all, seeds, rounds, hosts }
    }
}

/// Gives some sites a sitemap: of pages that only it names, and of some others.
fn list(site: &mut Site, chance: &mut Chance) {
    let files = site.robots.iter().any(|(_, robots)| matches!(robots, Robots::File(_)));
    if !files || !chance.percent(25) {
        return;
    }
    for page in 0..chance.between(3, 9) {
        let changes_every = chance.pick(&[None, Some(30 * HOUR), Some(100 * HOUR)]);
        let validator = chance.pick(&VALIDATORS);
        let content = Content { changes_every, validator, ..Content::default() };
        let path = format!("/listed/{page}");
        site.pages.insert(path, Page { answers: vec![(0, Answer::Content(content))] });
    }
    let public = site.pages.keys().filter(|path| !path.starts_with("/hidden"));
    let paths = public.filter(|path| path.starts_with("/listed") || chance.percent(30));
    let paths = paths.cloned().collect();
    // Some lie from the start, some once they are trusted.
    let lies_from = chance.pick(&[NEVER, NEVER, 0, 20 * DAY]);
    site.sitemap = Some(Sitemap { lies_from, paths });
}

/// Lets some leaves move to other hosts, where nothing else leads to them.
fn move_pages(sites: &mut [Site], chance: &mut Chance, length: Ms) {
    for number in 0..sites.len() {
        if !chance.percent(20) {
            continue;
        }
        let (to, at) = (chance.index(sites.len()), chance.between(HOUR, length));
        let leaf = sites[number]
            .pages
            .iter_mut()
            .find(|(path, page)| path.starts_with("/leaf") && page.answers.len() == 1);
        let Some((path, page)) = leaf else { continue };
        let arrived = format!("/arrived/{number}{path}");
        let target = format!("https://{}{arrived}", host(to));
        page.answers.push((at, Answer::Redirect(301, target)));
        sites[to].pages.insert(arrived, plain(vec![]));
    }
}

fn share_addresses(sites: &mut [Site], chance: &mut Chance) {
    let mut last = 0_u32;
    for site in sites {
        let number = if chance.percent(15) {
            // One address that has very many.
            0
        } else if last > 0 && chance.percent(40) {
            u32::try_from(chance.between(1, i64::from(last) + 1)).unwrap()
        } else {
            last += 1;
            last
        };
        site.address = IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + number));
    }
}

fn host(number: usize) -> String {
    format!("s{number}.example")
}

fn site(number: usize, all: usize, chance: &mut Chance, rounds: &[Round], length: Ms) -> Site {
    let manner = manner(chance);
    let latency = if manner == Manner::Slow {
        chance.between(SECOND, 9 * SECOND)
    } else {
        chance.between(20, 350)
    };
    let mut site = Site {
        host: host(number),
        address: Ipv4Addr::LOCALHOST.into(),
        latency,
        manner,
        robots: robots(manner, number, all, chance, rounds),
        troubles: troubles(manner, chance, rounds),
        pages: BTreeMap::new(),
        sitemap: None,
    };
    pages(&mut site, number, all, chance, length);
    site
}

fn file(chance: &mut Chance, rules: Vec<Rule>) -> File {
    let max_age_secs = chance.percent(25).then(|| chance.pick(&[60, 1800, 7200, 400_000]));
    File { rules, delay_secs: None, max_age_secs, own_group: chance.percent(40) }
}

fn some_rules(chance: &mut Chance) -> Vec<Rule> {
    chance.pick(&[
        vec![],
        vec![PRIVATE, PRESS],
        vec![PRIVATE],
        vec![PRESS, PRIVATE, BACK],
        vec![BACK],
    ])
}

fn robots(
    manner: Manner,
    number: usize,
    all: usize,
    chance: &mut Chance,
    rounds: &[Round],
) -> Vec<(Ms, Robots)> {
    let rules = some_rules(chance);
    let first = file(chance, rules);
    match manner {
        Manner::NoFile => vec![(0, Robots::None(chance.pick(&[404, 403, 401, 410])))],
        Manner::Delayed => {
            let delay_secs = Some(chance.pick(&[1, 3, 10, 45, 400]));
            vec![(0, Robots::File(File { delay_secs, ..first }))]
        }
        Manner::RobotsRedirected => {
            let on = if chance.percent(50) { number } else { chance.index(all) };
            let hops = chance.pick(&[1, 2, 5, 6]);
            vec![(0, Robots::Behind { hops, on, file: first })]
        }
        Manner::ChangingRules => changes(first, chance, rounds),
        Manner::Steady
        | Manner::Slow
        | Manner::Busy
        | Manner::ShortOutage
        | Manner::LongOutage
        | Manner::EndlessOutage
        | Manner::NeverHadCopy
        | Manner::RobotsOutage
        | Manner::NameLost => vec![(0, Robots::File(first))],
    }
}

/// Versions that come shortly before a round, so that somebody sees them.
fn changes(first: File, chance: &mut Chance, rounds: &[Round]) -> Vec<(Ms, Robots)> {
    let mut versions = vec![(0, Robots::File(first))];
    for round in rounds {
        if chance.percent(50) {
            let at = round.at - chance.between(MINUTE, 5 * HOUR);
            let next = match chance.between(0, 6) {
                0 => Robots::None(404),
                1 => Robots::File(file(chance, vec![ALL])),
                2 => Robots::File(file(chance, vec![ALL, PUBLIC])),
                3 => Robots::File(File { delay_secs: Some(6), ..file(chance, vec![BACK]) }),
                _ => {
                    let rules = some_rules(chance);
                    Robots::File(file(chance, rules))
                }
            };
            versions.push((at, next));
        }
    }
    versions
}

/// Pages that are always there link to all others; the others are leaves.
fn pages(site: &mut Site, number: usize, all: usize, chance: &mut Chance, length: Ms) {
    let mut trunk = vec!["/".to_owned()];
    let mut links: BTreeMap<String, Vec<Link>> = BTreeMap::new();
    let link = |to: String| Link { to, nofollow: false };
    for child in [number * 2 + 1, number * 2 + 2] {
        if child < all {
            links.entry("/".into()).or_default().push(link(format!("https://{}/", host(child))));
        }
    }
    for page in 1..chance.between(6, 15) {
        let (path, is_trunk) = match chance.between(0, 100) {
            0..8 => (format!("/private/{page}"), false),
            8..13 => (format!("/private/press/{page}"), false),
            13..20 => (format!("/b/{page}"), false),
            20..60 => (format!("/pub/{page}"), true),
            _ => (format!("/leaf/{page}"), false),
        };
        let parent = chance.pick(&trunk);
        links.entry(parent).or_default().push(link(site.url(&path)));
        if is_trunk {
            trunk.push(path);
        } else {
            let answers = life(site, page, all, chance, length, path.starts_with("/leaf/"));
            site.pages.insert(path, Page { answers });
        }
    }
    let shun = format!("/hidden/of-link-{number}");
    let hidden = Link { to: site.url(&shun), nofollow: true };
    links.entry("/".into()).or_default().push(hidden);
    site.pages.insert(shun, plain(vec![]));
    for path in trunk {
        let links = links.remove(&path).unwrap_or_default();
        site.pages.insert(path, plain(links));
    }
}

fn plain(links: Vec<Link>) -> Page {
    let validator = VALIDATORS[links.len() % 3];
    Page { answers: vec![(0, Answer::Content(Content { links, validator, ..Content::default() }))] }
}

/// What becomes of a leaf.
fn life(
    site: &mut Site,
    page: i64,
    all: usize,
    chance: &mut Chance,
    length: Ms,
    is_free: bool,
) -> Vec<(Ms, Answer)> {
    let validator = VALIDATORS[usize::try_from(page / 2).unwrap() % 3];
    let content = || Content { in_header: page % 2 == 0, validator, ..Content::default() };
    let healthy = |content| Answer::Content(content);
    let later = chance.between(HOUR, length);
    match if is_free { chance.between(0, 100) } else { 99 } {
        0..12 => vec![(0, healthy(Content { noindex: true, ..content() }))],
        12..22 => {
            // Some servers do not notice that a header makes another answer of the same body.
            let quiet = page % 2 == 0;
            let then = healthy(Content { noindex: true, quiet, ..content() });
            vec![(0, healthy(content())), (later, then)]
        }
        22..36 => {
            // The date is written to the second.
            let expires = Some(later / SECOND * SECOND);
            vec![(0, healthy(Content { expires, ..content() }))]
        }
        36..46 => {
            let to = if chance.percent(50) { host(chance.index(all)) } else { site.host.clone() };
            let status = chance.pick(&[301, 302, 303, 307, 308]);
            vec![(0, Answer::Redirect(status, format!("https://{to}/")))]
        }
        46..54 => {
            let gone = Answer::Status(chance.pick(&[404, 410, 403]));
            vec![(0, healthy(content())), (later, gone)]
        }
        54..60 => vec![(0, Answer::Status(404)), (later, healthy(content()))],
        60..68 => {
            let lasts = chance.between(MINUTE, 2 * DAY);
            let ill = Answer::Status(chance.pick(&[500, 502]));
            vec![(0, ill), (lasts, healthy(content()))]
        }
        68..80 => {
            let shun = format!("/hidden/of-page-{page}");
            let to = site.url(&shun);
            site.pages.insert(shun, plain(vec![]));
            let links = vec![Link { to, nofollow: false }];
            vec![(0, healthy(Content { nofollow: true, links, ..content() }))]
        }
        80..86 => {
            let hours =
                if chance.percent(3) { 1 } else { chance.pick(&[9, 30, 30, 30, 100, 100, 300]) };
            let changes_every = Some(hours * HOUR);
            vec![(0, healthy(Content { changes_every, ..content() }))]
        }
        _ => vec![(0, healthy(content()))],
    }
}
