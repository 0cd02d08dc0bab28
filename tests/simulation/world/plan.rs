//! When things happen: the operator's rounds, and the troubles of a site by its manner.

use super::{DAY, Ending, Fault, HOUR, MINUTE, Manner, Ms, NEVER, Reach, Round, SECOND, Trouble};
use crate::chance::Chance;

/// Of a hundred sites so many have this manner.
const MANNERS: [(Manner, i64); 13] = [
    (Manner::Steady, 31),
    (Manner::ChangingRules, 8),
    (Manner::Delayed, 6),
    (Manner::Slow, 5),
    (Manner::RobotsRedirected, 6),
    (Manner::NoFile, 4),
    (Manner::Busy, 7),
    (Manner::ShortOutage, 7),
    (Manner::LongOutage, 7),
    (Manner::EndlessOutage, 5),
    (Manner::NeverHadCopy, 5),
    (Manner::RobotsOutage, 6),
    (Manner::NameLost, 3),
];

/// When the operator comes back, in hours.
const ROUNDS: [Ms; 11] = [8, 29, 62, 120, 215, 340, 480, 650, 790, 960, 1200];

pub(super) fn manner(chance: &mut Chance) -> Manner {
    let mut roll = chance.between(0, 100);
    for (manner, share) in MANNERS {
        roll -= share;
        if roll < 0 {
            return manner;
        }
    }
    Manner::Steady
}

pub(super) fn rounds(chance: &mut Chance, length: Ms) -> Vec<Round> {
    let moments = ROUNDS.iter().map(|hours| hours * HOUR + chance.between(-HOUR, HOUR));
    let moments: Vec<_> = moments.filter(|at| *at < length - 6 * HOUR).collect();
    let mut round = |at| {
        let before = if chance.percent(50) { Ending::Killed } else { Ending::Stopped };
        Round { at, before }
    };
    moments.into_iter().map(&mut round).collect()
}

/// A moment at which somebody is likely to come: the start, or around a round.
fn eventful(chance: &mut Chance, rounds: &[Round]) -> Ms {
    let mut moments: Vec<Ms> = rounds.iter().take(7).map(|round| round.at).collect();
    moments.push(0);
    let shift = if chance.percent(50) {
        chance.between(-2 * HOUR, 0)
    } else {
        chance.between(0, 40 * SECOND)
    };
    (chance.pick(&moments) + shift).max(SECOND)
}

fn fault(chance: &mut Chance) -> Fault {
    chance.pick(&[
        Fault::NoAddress,
        Fault::Refused,
        Fault::Silent,
        Fault::Closed,
        Fault::Status(503, None),
        Fault::Status(503, Some(1800)),
        Fault::Status(500, None),
    ])
}

pub(super) fn troubles(manner: Manner, chance: &mut Chance, rounds: &[Round]) -> Vec<Trouble> {
    let trouble = |from: Ms, lasts: Ms, reach: Reach, fault: Fault| Trouble {
        from,
        until: from.saturating_add(lasts),
        reach,
        fault,
    };
    let from = eventful(chance, rounds);
    let everywhere = fault(chance);
    match manner {
        Manner::Busy => {
            let retry_after = chance.pick(&[None, Some(90), Some(4000), Some(40 * 3600)]);
            let (lasts, status) = (chance.between(MINUTE, 3 * HOUR), chance.pick(&[429, 503]));
            let reach = chance.pick(&[Reach::Everything, Reach::Pages]);
            let again = from + lasts + chance.between(DAY, 20 * DAY);
            let fault = Fault::Status(status, retry_after);
            vec![trouble(from, lasts, reach, fault), trouble(again, lasts, reach, fault)]
        }
        Manner::ShortOutage => {
            let lasts = chance.between(10 * MINUTE, 12 * HOUR);
            vec![trouble(from, lasts, Reach::Everything, everywhere)]
        }
        Manner::LongOutage => {
            let lasts = chance.between(12 * HOUR, 30 * DAY);
            vec![trouble(from, lasts, Reach::Everything, everywhere)]
        }
        Manner::EndlessOutage => {
            let lasts = chance.between(30 * DAY, 50 * DAY);
            vec![trouble(from, lasts, Reach::Everything, everywhere)]
        }
        Manner::NeverHadCopy => {
            let lasts = chance.pick(&[6 * HOUR, 20 * DAY, 33 * DAY, 45 * DAY, NEVER]);
            let reach = chance.pick(&[Reach::Everything, Reach::RobotsTxt]);
            vec![trouble(0, lasts, reach, everywhere)]
        }
        Manner::RobotsOutage => {
            let lasts = chance.pick(&[6 * HOUR, 3 * DAY, 25 * DAY, 40 * DAY]);
            let busy = Fault::Status(429, Some(7200));
            let fault = if chance.percent(30) { busy } else { everywhere };
            let reach = match fault {
                // Names do not resolve for robots.txt alone.
                Fault::NoAddress => Reach::Everything,
                Fault::Refused | Fault::Silent | Fault::Closed | Fault::Status(..) => {
                    Reach::RobotsTxt
                }
            };
            vec![trouble(from, lasts, reach, fault)]
        }
        Manner::NameLost => {
            let mut at = from;
            let mut lost = || {
                let lasts = chance.between(HOUR, 5 * DAY);
                let one = trouble(at, lasts, Reach::Everything, Fault::NoAddress);
                at += lasts + chance.between(DAY, 12 * DAY);
                one
            };
            (0..3).map(|_| lost()).collect()
        }
        Manner::Steady
        | Manner::ChangingRules
        | Manner::Delayed
        | Manner::Slow
        | Manner::RobotsRedirected
        | Manner::NoFile => vec![],
    }
}
