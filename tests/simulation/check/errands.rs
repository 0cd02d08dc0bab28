//! What each fetch of a robots.txt taught, and what therefore holds at a moment (R2, AM-1 to AM-12).

use std::collections::HashMap;

use super::{is_bad, retry_after};
use crate::ledger::{Entry, Record};
use crate::world::{DAY, Fault, File, HOUR, MINUTE, Ms, Served, World, host_of, path_of};

/// A robots.txt fetched, redirects included.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) began: Ms,
    pub(super) ended: Ms,
    pub(super) taught: Taught,
    /// Nobody saw it fail: a hop was not made to a host that fails.
    pub(super) is_inferred: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Taught {
    /// A file, by site and version, or that there is none.
    Good {
        file: Option<(usize, usize)>,
        fresh_for: Ms,
    },
    Failed {
        is_503: bool,
        retry_after: Ms,
    },
}

/// What holds from the end of an errand on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Standing {
    Unknown,
    Good {
        file: Option<(usize, usize)>,
        fresh_until: Ms,
    },
    /// `since` is the end of the first errand that failed.
    Failing {
        since: Ms,
        retry_at: Ms,
        copy: Option<Option<(usize, usize)>>,
    },
}

/// All errands, by the host whose robots.txt was wanted.
pub(super) struct Book {
    pub(super) errands: HashMap<String, Vec<Errand>>,
    standings: HashMap<String, Vec<(Ms, Standing)>>,
    /// Requests for a sixth redirect's target.
    pub(super) sixth_hops: Vec<(Ms, String)>,
}

/// The host whose robots.txt a request is part of the way to.
pub(super) fn errand_of(url: &str) -> Option<&str> {
    match path_of(url) {
        "/robots.txt" => Some(host_of(url)),
        path => path.strip_prefix("/r/")?.split('/').next(),
    }
}

pub(super) const STOP: Ms = 12 * HOUR;
pub(super) const REIGN: Ms = 30 * DAY;
const HOPS: usize = 5;

impl Book {
    pub(super) fn new(world: &World, record: &Record) -> Self {
        let mut steps: HashMap<String, Vec<&Entry>> = HashMap::new();
        for entry in &record.entries {
            if let Some(host) = errand_of(&entry.url) {
                steps.entry(host.to_owned()).or_default().push(entry);
            }
        }
        let mut book =
            Self { errands: HashMap::new(), standings: HashMap::new(), sixth_hops: vec![] };
        let mut by_host: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in record.entries.iter().filter(|entry| entry.until.is_some()) {
            by_host.entry(host_of(&entry.url)).or_default().push(entry);
        }
        let seen = Seen { world, record, by_host };
        for (host, steps) in steps {
            let errands = book.errands_of(&steps, &seen);
            book.standings.insert(host.clone(), standings(&errands));
            book.errands.insert(host, errands);
        }
        book
    }

    fn errands_of(&mut self, steps: &[&Entry], seen: &Seen<'_>) -> Vec<Errand> {
        let mut errands = Vec::new();
        let (mut began, mut hops) = (0, 0);
        for (number, step) in steps.iter().enumerate() {
            if path_of(&step.url) == "/robots.txt" {
                (began, hops) = (step.from, 0);
            } else {
                hops += 1;
            }
            if hops > HOPS {
                self.sixth_hops.push((step.from, step.url.clone()));
            }
            let Some(ended) = step.until else { continue };
            let goes_on =
                steps.get(number + 1).is_some_and(|one| path_of(&one.url) != "/robots.txt");
            let (taught, is_inferred) = match &step.served {
                Served::Redirect { .. } if hops < HOPS && goes_on => (None, false),
                Served::Redirect { to, .. } if hops < HOPS => {
                    let next = steps.get(number + 1).map(|next| next.from);
                    (seen.failing_hop(to, ended, next), true)
                }
                Served::File { .. }
                | Served::Page { .. }
                | Served::NotModified { .. }
                | Served::Sitemap { .. }
                | Served::Redirect { .. }
                | Served::Status { .. }
                | Served::Failed(_) => (taught(seen.world, &step.served), false),
            };
            if let Some(taught) = taught {
                errands.push(Errand { began, ended, taught, is_inferred });
            }
        }
        errands
    }

    /// What holds for a host's pages at a moment.
    pub(super) fn standing(&self, host: &str, at: Ms) -> Standing {
        let known = self.standings.get(host).map_or(&[][..], Vec::as_slice);
        let last = known.partition_point(|(from, _)| *from <= at);
        if last == 0 { Standing::Unknown } else { known[last - 1].1 }
    }

    /// Whether a file in force in a span forbade a URL.
    pub(super) fn forbade(&self, world: &World, url: &str, from: Ms, until: Ms) -> bool {
        let pieces = self.after(host_of(url), from, until);
        pieces.into_iter().any(|(_, _, standing)| match standing {
            Standing::Good { file, .. } | Standing::Failing { copy: Some(file), .. } => {
                !allows(world, file, path_of(url))
            }
            Standing::Unknown | Standing::Failing { copy: None, .. } => false,
        })
    }

    /// What holds after a moment, piece by piece: from when, until when.
    pub(super) fn after(&self, host: &str, at: Ms, end: Ms) -> Vec<(Ms, Ms, Standing)> {
        let known = self.standings.get(host).map_or(&[][..], Vec::as_slice);
        let first = known.partition_point(|(from, _)| *from <= at);
        let mut pieces = vec![(at, self.standing(host, at))];
        pieces.extend(known[first..].iter().take_while(|(from, _)| *from < end).copied());
        let ends = pieces.iter().skip(1).map(|(from, _)| *from).chain([end]);
        let ends: Vec<Ms> = ends.collect();
        pieces.into_iter().zip(ends).map(|((from, now), until)| (from, until, now)).collect()
    }
}

/// What all servers saw.
struct Seen<'a> {
    world: &'a World,
    record: &'a Record,
    by_host: HashMap<&'a str, Vec<&'a Entry>>,
}

impl Seen<'_> {
    /// A redirect that was not followed, because the host that it leads to fails and is left alone
    /// for longer than an errand waits: then the robots.txt cannot be reached (RT-028). Unless the
    /// process was gone before it could be followed.
    fn failing_hop(&self, to: &str, at: Ms, next: Option<Ms>) -> Option<Taught> {
        // Somebody else may have the turn, and find out first.
        let heard = |entry: &&&Entry| entry.from <= at + HOP_PATIENCE;
        let last = self.by_host.get(host_of(to))?.iter().rfind(heard)?;
        let gone = self.record.processes.iter().map(|(_, gone)| *gone).find(|gone| *gone >= at)?;
        let wait = retry_after(&last.served).unwrap_or(0);
        let retry_after = (last.over() + wait - at).max(0);
        let failed = Taught::Failed { is_503: false, retry_after };
        // A process that went away meanwhile has noted it or not: the next attempt tells.
        let was_noted = gone > at + HOP_PATIENCE || next.is_none_or(|next| next > gone + NOTED_BY);
        (is_bad(&last.served) && was_noted).then_some(failed)
    }
}

/// What nobody noted is asked for again within so long after a new start.
const NOTED_BY: Ms = 80 * MINUTE;

/// The longest that an errand waits for its next hop's turn, about.
const HOP_PATIENCE: Ms = 3 * MINUTE;

fn taught(world: &World, served: &Served) -> Option<Taught> {
    let no_file = Taught::Good { file: None, fresh_for: DAY };
    Some(match served {
        Served::File { site, version } => {
            let file = world.file(*site, *version)?;
            let fresh_for =
                file.max_age_secs.map_or(DAY, |secs| (secs * 1000).clamp(5 * MINUTE, DAY));
            Taught::Good { file: Some((*site, *version)), fresh_for }
        }
        Served::Redirect { .. } => no_file,
        served if is_bad(served) => Taught::Failed {
            is_503: matches!(served, Served::Status { status: 503, .. }),
            retry_after: retry_after(served).unwrap_or(0),
        },
        Served::Status { .. }
        | Served::Page { .. }
        | Served::NotModified { .. }
        | Served::Sitemap { .. }
        | Served::Failed(_) => no_file,
    })
}

fn standings(errands: &[Errand]) -> Vec<(Ms, Standing)> {
    let mut known = Vec::new();
    let (mut copy, mut failing) = (None, None);
    for errand in errands {
        let standing = match errand.taught {
            Taught::Good { file, fresh_for } => {
                (copy, failing) = (Some(file), None);
                Standing::Good { file, fresh_until: errand.ended + fresh_for }
            }
            Taught::Failed { is_503, retry_after } => {
                let (since, attempts) = failing.unwrap_or((errand.ended, 0));
                failing = Some((since, attempts + 1));
                let own = pause(is_503, attempts, errand.ended - since);
                let retry_at = errand.ended + own.max(retry_after);
                Standing::Failing { since, retry_at, copy }
            }
        };
        known.push((errand.ended, standing));
    }
    known
}

/// AM-11: 5 minutes doubling to 1 hour after a 503, else 15 minutes doubling to 6 hours; daily
/// after 30 days.
fn pause(is_503: bool, before: u32, failing_for: Ms) -> Ms {
    if failing_for >= REIGN {
        return DAY;
    }
    let (first, most) = if is_503 { (5 * MINUTE, HOUR) } else { (15 * MINUTE, 6 * HOUR) };
    (first << before.min(10)).min(most)
}

/// Whether a path may be fetched by a file, or by its absence.
pub(super) fn allows(world: &World, file: Option<(usize, usize)>, path: &str) -> bool {
    let file: Option<&File> = file.and_then(|(site, version)| world.file(site, version));
    file.is_none_or(|file| file.allows(path))
}

/// The crawl-delay that is known of a site, capped at a minute (AM-36).
pub(super) fn delay(world: &World, standing: Standing) -> Ms {
    let file = match standing {
        Standing::Good { file, .. } => file,
        Standing::Failing { copy, .. } => copy.flatten(),
        Standing::Unknown => None,
    };
    let file = file.and_then(|(site, version)| world.file(site, version));
    file.and_then(|file| file.delay_secs).map_or(0, |secs| (secs * 1000).min(MINUTE))
}

/// Whether a site's name ever fails to resolve: then servers do not see all that the crawler does.
pub(super) fn hides(world: &World, host: &str) -> bool {
    let faults = world.site(host).map_or(&[][..], |site| site.troubles.as_slice());
    faults.iter().any(|one| one.fault == Fault::NoAddress)
}
