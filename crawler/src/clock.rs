//! The one place that reads the time.

use std::time::{Duration, SystemTime};

use comity_compliance::Timestamp;
use tokio::time::Instant;

/// Wall time that moves with tokio's clock, so that a paused runtime holds it.
///
/// It reads the wall once, at its start; from then on it counts elapsed time. It therefore never
/// jumps when the system's time is set.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Timestamp,
    since: Instant,
}

impl Clock {
    /// A clock that starts at the system's time.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where time enters; all else asks a Clock"
    )]
    pub fn real() -> Self {
        let now = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Timestamp::EPOCH.after(after),
            Err(before) => {
                let millis = i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX);
                Timestamp::from_millis(-millis)
            }
        };
        Self::starting_at(now)
    }

    /// A clock that shows `start` now.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start,
            since: Instant::now(),
        }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.start.after(self.since.elapsed())
    }

    /// Waits until [`Clock::now`] shows `until` or later; not at all if it does already.
    pub async fn sleep_until(&self, until: Timestamp) {
        let wait = until.since(self.now());
        if wait > Duration::ZERO {
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn follows_the_paused_clock() {
        let clock = Clock::starting_at(Timestamp::from_secs(1000));
        assert_eq!(clock.now(), Timestamp::from_secs(1000));
        let until = Timestamp::from_secs(1000 + 60 * 86_400);
        clock.clone().sleep_until(until).await;
        assert!(clock.now() >= until);
        assert!(clock.now() < until.after(Duration::from_millis(5)));
        clock.sleep_until(Timestamp::EPOCH).await;
        assert!(clock.now() < until.after(Duration::from_millis(5)));
    }

    /// Every moment of this project is after its first commit.
    #[tokio::test]
    async fn reads_the_wall() {
        assert!(Clock::real().now() > Timestamp::from_secs(1_700_000_000));
    }
}
