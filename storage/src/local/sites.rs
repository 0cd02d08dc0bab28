//! Which site is due when, and which is on loan. In memory only: made from the
//! queue at opening, and from what every batch did.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use comity_compliance::Timestamp;

/// Fences of one opening; their upper bits are its time, so that they rise over restarts.
const FENCE_BITS: u32 = 20;

/// Memory of one site in the tables, roughly.
const BYTES_PER_SITE: u64 = 160;

/// Sites with something queued or on loan.
#[derive(Debug)]
pub(super) struct Sites {
    entries: HashMap<u64, Entry>,
    /// Sites that are not on loan: when each may be lent.
    ready: BTreeSet<(i64, u64)>,
    /// Sites on loan: when each loan runs out.
    loans: BTreeSet<(i64, u64)>,
    next_fence: u64,
}

#[derive(Debug)]
struct Entry {
    /// The site is not lent before.
    next_at: i64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Its earliest queue row is due at this second.
    Waiting {
        due: u32,
    },
    Lent(Loan),
}

#[derive(Debug)]
struct Loan {
    fence: u64,
    deadline: i64,
    /// Reports that are being written: until they are, the loan does not run out.
    reports: u32,
}

impl Sites {
    pub(super) fn new(opened: Timestamp) -> Self {
        let opened = u64::try_from(opened.as_millis()).unwrap_or(0);
        Self {
            entries: HashMap::new(),
            ready: BTreeSet::new(),
            loans: BTreeSet::new(),
            next_fence: (opened << FENCE_BITS) + 1,
        }
    }

    /// Whether the site is in the tables, and so has a row in the store.
    pub(super) fn knows(&self, site: u64) -> bool {
        self.entries.contains_key(&site)
    }

    /// When something can be lent next: a site is due or a loan runs out.
    pub(super) fn next_ready(&self) -> Option<i64> {
        let ready = self.ready.first().map(|(at, _)| *at);
        // A loan holds through its last moment.
        let over = self.loans.first().map(|(deadline, _)| deadline.saturating_add(1));
        match (ready, over) {
            (Some(ready), Some(over)) => Some(ready.min(over)),
            (one, other) => one.or(other),
        }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.entries.len() as u64 * BYTES_PER_SITE
    }

    /// A row due at `due` was queued. `next_at` counts if the site was not in the tables.
    pub(super) fn wake(&mut self, site: u64, due: u32, next_at: i64) {
        match self.entries.get(&site) {
            None => self.put(site, next_at, Some(due)),
            Some(entry) => match entry.state {
                // What is due is looked up when the loan ends.
                State::Lent(_) => {}
                State::Waiting { due: earlier } if earlier <= due => {}
                State::Waiting { .. } => {
                    let next_at = entry.next_at;
                    self.put(site, next_at, Some(due));
                }
            },
        }
    }

    /// Sets a site that is not on loan; without a due second it leaves the tables.
    pub(super) fn put(&mut self, site: u64, next_at: i64, due: Option<u32>) {
        self.take(site);
        if let Some(due) = due {
            self.ready.insert((self.ready_at(next_at, due), site));
            self.entries.insert(site, Entry { next_at, state: State::Waiting { due } });
        }
    }

    fn ready_at(&self, next_at: i64, due: u32) -> i64 {
        next_at.max(i64::from(due) * 1000)
    }

    fn take(&mut self, site: u64) -> Option<Entry> {
        let entry = self.entries.remove(&site)?;
        match &entry.state {
            State::Waiting { due } => {
                self.ready.remove(&(self.ready_at(entry.next_at, *due), site));
            }
            State::Lent(loan) => {
                self.loans.remove(&(loan.deadline, site));
            }
        }
        Some(entry)
    }

    /// A number that changes with every loan.
    pub(super) fn turn(&self) -> u64 {
        self.next_fence
    }

    /// Sites that may be lent now, the longest waiting first.
    pub(super) fn ready(&self, now: Timestamp) -> impl Iterator<Item = u64> {
        let now = now.as_millis();
        self.ready.iter().take_while(move |(at, _)| *at <= now).map(|(_, site)| *site)
    }

    /// When the site may next be asked.
    pub(super) fn next_at(&self, site: u64) -> Option<i64> {
        self.entries.get(&site).map(|entry| entry.next_at)
    }

    /// Lends a site; the loan's fence.
    pub(super) fn lend(&mut self, site: u64, deadline: Timestamp) -> u64 {
        let next_at = self.take(site).map_or(0, |entry| entry.next_at);
        let fence = self.next_fence;
        self.next_fence += 1;
        let deadline = deadline.as_millis();
        self.loans.insert((deadline, site));
        let state = State::Lent(Loan { fence, deadline, reports: 0 });
        self.entries.insert(site, Entry { next_at, state });
        fence
    }

    fn loan(&mut self, site: u64, fence: u64) -> Option<&mut Loan> {
        match &mut self.entries.get_mut(&site)?.state {
            State::Lent(loan) if loan.fence == fence => Some(loan),
            State::Lent(_) | State::Waiting { .. } => None,
        }
    }

    /// Sites whose loan has run out.
    pub(super) fn run_out(&self, now: Timestamp) -> Vec<u64> {
        let now = now.as_millis();
        let over: Vec<u64> = self
            .loans
            .iter()
            .take_while(|(deadline, _)| *deadline < now)
            .map(|(_, site)| *site)
            .collect();
        let idle = |site: &u64| match self.entries.get(site).map(|entry| &entry.state) {
            Some(State::Lent(loan)) => loan.reports == 0,
            Some(State::Waiting { .. }) | None => false,
        };
        over.into_iter().filter(idle).collect()
    }

    /// Holds a loan for a report that is being written; false if it is over.
    pub(super) fn begin_report(&mut self, site: u64, fence: u64, now: Timestamp) -> bool {
        match self.loan(site, fence) {
            Some(loan) if loan.reports > 0 || now.as_millis() <= loan.deadline => {
                loan.reports += 1;
                true
            }
            Some(_) | None => false,
        }
    }

    /// The report is written.
    pub(super) fn end_report(&mut self, site: u64, fence: u64, next_at: i64) {
        if let Some(loan) = self.loan(site, fence) {
            loan.reports = loan.reports.saturating_sub(1);
        }
        let Some(entry) = self.entries.get_mut(&site) else { return };
        match entry.state {
            State::Lent(_) => entry.next_at = next_at,
            // Released while the report was being written.
            State::Waiting { due } => self.put(site, next_at, Some(due)),
        }
    }

    /// Whether the loan still stands.
    pub(super) fn holds(&self, site: u64, fence: u64) -> bool {
        match self.entries.get(&site).map(|entry| &entry.state) {
            Some(State::Lent(loan)) => loan.fence == fence,
            Some(State::Waiting { .. }) | None => false,
        }
    }

    /// Prolongs a loan; none if it is over.
    pub(super) fn renew(
        &mut self,
        site: u64,
        fence: u64,
        now: Timestamp,
        ttl: Duration,
    ) -> Option<Timestamp> {
        let until = now.after(ttl);
        let loan = self.loan(site, fence)?;
        if loan.deadline < now.as_millis() {
            return None;
        }
        let old = std::mem::replace(&mut loan.deadline, until.as_millis());
        self.loans.remove(&(old, site));
        self.loans.insert((until.as_millis(), site));
        Some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_000);

    #[test]
    fn ready_is_the_later_of_pace_and_due() {
        let mut sites = Sites::new(NOW);
        for (next_at, due, ready) in [(5, 0, 5), (0, 7, 7_000), (9_000, 7, 9_000)] {
            sites.put(1, next_at, Some(due));
            assert_eq!(sites.next_ready(), Some(ready));
        }
        sites.wake(1, 3, 0);
        assert_eq!(sites.next_ready(), Some(9_000), "the pace still counts");
        sites.put(1, 0, None);
        assert_eq!(sites.next_ready(), None);
    }

    #[test]
    fn fences_rise_and_fence() {
        let mut sites = Sites::new(NOW);
        sites.put(1, 0, Some(0));
        let first = sites.lend(1, NOW.after(Duration::from_secs(1)));
        assert_eq!(first >> FENCE_BITS, 1_000_000);
        assert!(sites.begin_report(1, first, NOW));
        let late = NOW.after(Duration::from_secs(5));
        assert!(sites.run_out(late).is_empty(), "a report is being written");
        sites.end_report(1, first, 0);
        assert_eq!(sites.run_out(late), [1]);
        assert!(!sites.begin_report(1, first, late));
        let second = sites.lend(1, late);
        assert!(second > first);
        assert_eq!(sites.renew(1, first, late, Duration::ZERO), None);
        assert!(sites.renew(1, second, late, Duration::from_secs(9)).is_some());
        assert!(sites.run_out(late.after(Duration::from_secs(8))).is_empty());
    }
}
