//! Trials of whole crawlers: scenarios, each a few misbehaving sites and what may and must arrive
//! there, and the ledger that tells.

mod authority;
mod child;
mod choose;
mod client;
mod clock;
mod command;
mod hosts;
mod judge;
mod ledger;
mod play;
mod record;
mod report;
mod run;
mod scenario;
mod serve;
mod wire;

#[cfg(test)]
mod tests;

pub use self::child::End;
pub use self::choose::{Choice, ChoiceError, choose, nearest};
pub use self::client::{Client, ClientConfig, FAULTS};
pub use self::command::CommandFault;
pub use self::judge::{Grade, Verdict};
pub use self::ledger::Arrival;
pub use self::play::{Play, Said};
pub use self::record::{Record, RecordError};
pub use self::report::{Graded, TrialReport, html, json, junit, table, visible};
pub use self::run::{RunError, Trial, grade};
pub use self::scenario::{Answer, Break, Expect, Mode, Scenario, ScenarioClock, scenarios};
pub use self::serve::{Web, WebConfig};
