//! What arrived.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// One request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Arrival {
    /// The scenario's name.
    pub scenario: String,
    /// The site's name in it.
    pub site: String,
    /// Seconds since the scenario's first request, by the scenario's clock.
    pub at_s: f64,
    /// When the answer was sent (its first octet), or had broken off; same clock.
    pub done_s: Option<f64>,
    /// Request method.
    pub method: String,
    /// Path and query as sent.
    pub path: String,
    /// Header lines, names in small letters.
    pub headers: Vec<(String, String)>,
    /// What was answered: a status, or in words how it went wrong.
    pub answer: String,
}

impl Arrival {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// All of them, of every scenario.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    arrivals: Mutex<Vec<Arrival>>,
}

/// Arrivals that are remembered.
const MOST: usize = 1_000_000;

impl Ledger {
    /// Notes an arrival; returns its place, how many of the same site and path were before it, and
    /// how long the scenario is under way.
    pub(super) fn enter(&self, arrival: Arrival) -> Option<(usize, usize, f64)> {
        let mut arrivals = self.lock();
        if arrivals.len() >= MOST {
            return None;
        }
        let of_scenario = || arrivals.iter().filter(|a| a.scenario == arrival.scenario);
        let since = of_scenario().next().map_or(0.0, |first| arrival.at_s - first.at_s);
        let same = |a: &&Arrival| a.site == arrival.site && a.path == arrival.path;
        let number = of_scenario().filter(same).count();
        arrivals.push(arrival);
        Some((arrivals.len() - 1, number, since))
    }

    pub(super) fn answered(&self, place: usize, answer: String) {
        if let Some(arrival) = self.lock().get_mut(place) {
            arrival.answer = answer;
        }
    }

    pub(super) fn done(&self, place: usize, now_s: f64) {
        if let Some(arrival) = self.lock().get_mut(place) {
            arrival.done_s = Some(now_s);
        }
    }

    /// Those of a scenario, with times since the first of them.
    pub(super) fn of(&self, scenario: &str) -> Vec<Arrival> {
        let of_scenario = |a: &&Arrival| a.scenario == scenario;
        let mut arrivals: Vec<Arrival> = self.lock().iter().filter(of_scenario).cloned().collect();
        let start_s = arrivals.first().map_or(0.0, |first| first.at_s);
        for arrival in &mut arrivals {
            arrival.at_s -= start_s;
            arrival.done_s = arrival.done_s.map(|done_s| done_s - start_s);
        }
        arrivals
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arrival>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
