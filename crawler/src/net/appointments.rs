//! When sites come back that would have to stand in line for long at a crowded address.
//!
//! Whoever stands in line keeps a worker. So only a short line is let in at each address; the others
//! get a time, in the order of their coming, and are looked for elsewhere until then.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use comity_compliance::Site;
use tokio::time::Instant;

/// Nobody need stand in line for longer; so nobody is late where others come later than they may.
const LONGEST_IN_LINE: Duration = Duration::from_secs(2);
/// Who has not come by then has nothing to ask for any more.
const GRACE: Duration = Duration::from_secs(60);
/// Appointments that were missed are looked for once in so many questions.
const QUESTIONS_BETWEEN_SWEEPS: u32 = 1024;

/// The appointments at each address.
#[derive(Debug, Default)]
pub(super) struct Appointments {
    at: HashMap<IpAddr, HashMap<Site, Instant>>,
    questions: u32,
}

/// The line at an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// When whoever comes now would be let through, were there no appointments.
    pub(super) ends: Instant,
    /// From one to the next.
    pub(super) period: Duration,
}

impl Appointments {
    /// When a site should come back; none if it may stand in line now.
    pub(super) fn make(
        &mut self,
        site: &Site,
        address: IpAddr,
        line: Line,
        now: Instant,
    ) -> Option<Instant> {
        self.questions += 1;
        if self.questions == QUESTIONS_BETWEEN_SWEEPS {
            self.questions = 0;
            self.sweep(now);
        }
        let booked = self.at.entry(address).or_default();
        match booked.get(site) {
            Some(at) if *at > now => return Some(*at),
            Some(_) => {
                booked.remove(site);
                return None;
            }
            None => {}
        }
        let before = u32::try_from(booked.len()).unwrap_or(u32::MAX);
        let turn = line.ends + line.period.saturating_mul(before);
        let at = turn.checked_sub(LONGEST_IN_LINE).filter(|at| *at > now)?;
        booked.insert(site.clone(), at);
        Some(at)
    }

    fn sweep(&mut self, now: Instant) {
        self.at.retain(|_, booked| {
            booked.retain(|_, at| *at + GRACE > now);
            !booked.is_empty()
        });
        self.at.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At one a second: who would wait longer than two comes back later, each at a time of its own,
    /// and is let in then.
    #[tokio::test(start_paused = true)]
    async fn each_has_its_time() {
        let (now, address) = (Instant::now(), [192, 0, 2, 1].into());
        let second = Duration::from_secs(1);
        let mut book = Appointments::default();
        let mut come = |site: &str, line: u32, after: Duration| {
            let line = Line { ends: now + after + second * line, period: second };
            let at = book.make(&Site::from_host(site), address, line, now + after);
            at.map(|at| at.duration_since(now).as_secs())
        };
        for (site, line, expect) in
            [("a", 0, None), ("b", 2, None), ("c", 3, Some(1)), ("d", 3, Some(2))]
        {
            assert_eq!(come(site, line, Duration::ZERO), expect, "{site}");
        }
        assert_eq!(come("d", 0, second), Some(2), "too early");
        assert_eq!(come("c", 9, second), None, "in time, whoever else has come");
        assert_eq!(come("d", 2, second * 30), None, "late");
        assert_eq!(come("a", 3, second * 30), Some(31), "again, behind all others");
    }

    #[tokio::test(start_paused = true)]
    async fn who_never_comes_is_forgotten() {
        let now = Instant::now();
        let mut book = Appointments::default();
        for n in 0..QUESTIONS_BETWEEN_SWEEPS {
            let line = Line { ends: now + GRACE, period: Duration::ZERO };
            let site = Site::from_host(&n.to_string());
            book.make(&site, [192, 0, 2, 1].into(), line, now + GRACE * (n / 100) * 3);
        }
        assert!(book.at.values().map(HashMap::len).sum::<usize>() < 200);
    }
}
