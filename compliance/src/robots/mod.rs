//! robots.txt: its text, its fetch, and the life of one origin's copy.

mod errand;
mod record;
mod text;

pub use errand::{Body, RobotsErrand, RobotsReply, RobotsResponse, Step};
pub use record::{
    Basis, CopyParts, FailingParts, RobotsOutcome, RobotsParts, RobotsRecord, Standing,
};
pub use text::*;
