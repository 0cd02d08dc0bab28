//! Reads a scenario's part of the ledger, and says what was kept and what was not.

use std::time::Duration;

use serde::Serialize;

use super::ledger::Arrival;
use super::scenario::{Count, Expect, Fewer, Header, Wait};

/// What the lab's own scheduling may take off a gap: a twentieth, but no less than this.
const ALLOWANCE_S: f64 = 0.03;

/// What came of a scenario.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All that is expected.
    Kept,
    /// Something is not.
    Broken,
    /// The crawler did not come to where it would show.
    NotExercised,
}

impl Verdict {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::NotExercised => "not exercised",
        }
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, Serialize)]
pub struct Grade {
    /// What came of it.
    pub verdict: Verdict,
    /// What was not kept, each with the requests that prove it.
    pub findings: Vec<String>,
}

impl Grade {
    /// Judges what arrived, in order of arrival. `interval_s` is the least time between two requests
    /// of a site that the crawler was told.
    pub fn new(expect: &Expect, arrivals: &[Arrival], interval_s: f64) -> Self {
        let any = |patterns: &[String]| {
            let mut late = arrivals.iter().filter(|a| a.at_s >= expect.exercised_from_s);
            late.any(|a| patterns.is_empty() || patterns.iter().any(|p| fits(p, a)))
        };
        // A header that later requests must have is not seen where there is but the first.
        let seen = |h: &Header| arrivals.iter().filter(|a| fits(&h.what, a)).count() > h.skip;
        let not_exercised = Self { verdict: Verdict::NotExercised, findings: Vec::new() };
        if !any(&expect.exercised) || !expect.header.iter().all(seen) {
            return not_exercised;
        }
        let mut wrong = Vec::new();
        requests(expect, arrivals, &mut wrong);
        times(expect, arrivals, interval_s, &mut wrong);
        expect.header.iter().for_each(|header| headers(header, arrivals, &mut wrong));
        if wrong.is_empty() && !came_there(expect, arrivals) {
            return not_exercised;
        }
        let mut findings = left_undone(expect, arrivals);
        findings.append(&mut wrong);
        let verdict = if findings.is_empty() { Verdict::Kept } else { Verdict::Broken };
        Self { verdict, findings }
    }
}

/// Whether the crawler came to where it shows what it does: all that is needed for that arrived, and
/// what has to wait came at last. Who never asks again has not waited.
fn came_there(expect: &Expect, arrivals: &[Arrival]) -> bool {
    let arrived =
        |need: &Count| arrivals.iter().filter(|a| is_counted(need, a)).count() >= need.times;
    let came = |wait: &Wait| match answered_s(&wait.after, arrivals) {
        Some(done_s) => arrivals.iter().any(|a| fits(&wait.what, a) && a.at_s >= done_s),
        None => false,
    };
    expect.needs.iter().all(arrived) && expect.wait.iter().all(came)
}

/// When the first of these requests was answered.
fn answered_s(pattern: &str, arrivals: &[Arrival]) -> Option<f64> {
    arrivals.iter().filter(|a| fits(pattern, a)).find_map(|a| a.done_s)
}

/// What had to arrive, and did not.
fn left_undone(expect: &Expect, arrivals: &[Arrival]) -> Vec<String> {
    let never = expect.must.iter().filter(|p| !arrivals.iter().any(|a| fits(p, a)));
    let mut findings: Vec<_> = never.map(|p| format!("{p} was never requested")).collect();
    let short = expect.at_least.iter().filter_map(|limit| {
        let count = arrivals.iter().filter(|a| is_counted(limit, a)).count();
        (count < limit.times).then(|| amount(limit, "at least", arrivals))
    });
    findings.extend(short);
    findings
}

/// How often something arrived, and how often is right.
fn amount(limit: &Count, bound: &str, arrivals: &[Arrival]) -> String {
    let counted: Vec<_> = arrivals.iter().filter(|a| is_counted(limit, a)).collect();
    let (count, when, Count { what, times, .. }) = (counted.len(), span(limit), limit);
    let first = counted.first().map(|a| format!(": {}", shown(a))).unwrap_or_default();
    format!("{what} was requested {count} times{when}, {bound} {times} are right{first}")
}

/// Whether a request is one of `site /path`, or `site /path*`.
fn fits(pattern: &str, arrival: &Arrival) -> bool {
    let (site, path) = pattern.split_once(' ').unwrap_or((pattern, "/*"));
    site == arrival.site
        && match path.strip_suffix('*') {
            Some(start) => arrival.path.starts_with(start),
            None => arrival.path == path,
        }
}

/// A request, as a report shows it.
fn shown(arrival: &Arrival) -> String {
    let Arrival { site, at_s, method, path, answer, .. } = arrival;
    format!("{}  {method} {site} {path}  {answer}", moment(*at_s))
}

/// A moment or a span of a scenario's clock, for people.
pub(super) fn moment(seconds: f64) -> String {
    if seconds < 600.0 {
        return format!("{seconds:.2} s");
    }
    let minutes = Duration::from_secs_f64(seconds).as_secs() / 60;
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    match days {
        0 => format!("{hours} h {minutes:02} min"),
        _ => format!("{days} d {hours:02} h {minutes:02} min"),
    }
}

/// What must not, or not so often arrive, and in which order.
fn requests(expect: &Expect, arrivals: &[Arrival], findings: &mut Vec<String>) {
    for pattern in &expect.must_not {
        let wrong: Vec<_> = arrivals.iter().filter(|a| fits(pattern, a)).collect();
        if let Some(first) = wrong.first() {
            let more = match wrong.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            findings.push(format!("{pattern} must not be requested: {}{more}", shown(first)));
        }
    }
    for limit in &expect.at_most {
        if arrivals.iter().filter(|a| is_counted(limit, a)).count() > limit.times {
            findings.push(amount(limit, "at most", arrivals));
        }
    }
    for Fewer { what, than, from_s } in &expect.fewer {
        let late = || arrivals.iter().filter(|a| a.at_s >= *from_s);
        let others = late().filter(|a| fits(than, a)).count();
        let of_what = || late().filter(|a| fits(what, a));
        let count = of_what().count();
        if count >= others {
            let (from, last) = (moment(*from_s), of_what().next_back());
            let last = last.map(|a| format!(": {}", shown(a))).unwrap_or_default();
            findings.push(format!(
                "{what} was requested {count} times from {from}, and {than} {others} times; fewer are right{last}"
            ));
        }
    }
    for site in &expect.one_at_a_time {
        let of_site: Vec<_> = arrivals.iter().filter(|a| a.site == *site).collect();
        let over = |pair: &&[&Arrival]| matches!(pair, [first, second] if first.done_s.is_none_or(|done_s| second.at_s < done_s));
        let overlapping: Vec<_> = of_site.windows(2).filter(over).collect();
        if let Some([first, second]) = overlapping.first() {
            let count = overlapping.len();
            let (first, second) = (shown(first), shown(second));
            findings.push(format!(
                "{count} requests of {site} came before the last one was answered: {first}, then {second}"
            ));
        }
    }
    for [before, after] in &expect.order {
        let known = answered_s(before, arrivals);
        if let Some(early) = arrivals
            .iter()
            .find(|a| fits(after, a) && !fits(before, a) && known.is_none_or(|s| a.at_s < s))
        {
            findings.push(format!("{before} must be answered first: {}", shown(early)));
        }
    }
}

fn is_counted(count: &Count, arrival: &Arrival) -> bool {
    fits(&count.what, arrival)
        && arrival.at_s >= count.from_s
        && count.until_s.is_none_or(|until_s| arrival.at_s < until_s)
}

/// When requests are counted, in words.
fn span(count: &Count) -> String {
    let from = (count.from_s > 0.0).then(|| format!(" from {}", moment(count.from_s)));
    let until = count.until_s.map(|until_s| format!(" until {}", moment(until_s)));
    from.unwrap_or_default() + &until.unwrap_or_default()
}

/// What must wait.
fn times(expect: &Expect, arrivals: &[Arrival], interval_s: f64, findings: &mut Vec<String>) {
    let gaps = expect.gap.iter().map(|gap| (&gap.site, gap.seconds));
    for (site, least_s) in expect.pace.iter().map(|site| (site, interval_s)).chain(gaps) {
        let of_site: Vec<_> = arrivals.iter().filter(|a| a.site == *site).collect();
        let least_s = least_s - ALLOWANCE_S.max(least_s / 20.0);
        let close =
            |pair: &&[&Arrival]| pair.iter().map(|a| a.at_s).fold(0.0, |a, b| b - a) < least_s;
        let close: Vec<_> = of_site.windows(2).filter(close).collect();
        if let Some([first, second]) = close.first() {
            let (count, gap) = (close.len(), second.at_s - first.at_s);
            findings.push(format!(
                "{count} requests of {site} came too soon, the first after {gap:.2} s: {}, then {}",
                shown(first),
                shown(second)
            ));
        }
    }
    for Wait { after, what, seconds } in &expect.wait {
        let Some(done_s) = answered_s(after, arrivals) else { continue };
        let until_s = done_s + seconds - ALLOWANCE_S.max(seconds / 20.0);
        let early = |a: &&Arrival| fits(what, a) && a.at_s >= done_s && a.at_s < until_s;
        if let Some(early) = arrivals.iter().find(early) {
            let waited = early.at_s - done_s;
            findings.push(format!(
                "{what} has to wait {seconds} s after {after}, and came after {}: {}",
                moment(waited),
                shown(early)
            ));
        }
    }
}

fn headers(header: &Header, arrivals: &[Arrival], findings: &mut Vec<String>) {
    let Header { what, name, has, lacks, skip } = header;
    for arrival in arrivals.iter().filter(|a| fits(what, a)).skip(*skip) {
        let value = arrival.header(name);
        let right = match has.as_str() {
            "" => value.is_none(),
            part => value.is_some_and(|value| {
                let value = value.to_ascii_lowercase();
                let holds = |part: &str| value.contains(&part.to_ascii_lowercase());
                holds(part) && !lacks.iter().any(|other| holds(other))
            }),
        };
        if !right {
            let value = value.unwrap_or("not there");
            findings.push(format!("{name} is {value:?}: {}", shown(arrival)));
            return;
        }
    }
}
