//! robots.txt: its text, read once and matched many times; its fetch; and the life of one
//! origin's copy.
//!
//! [`RobotsTxt`] is the compiled file. It reads lines as Google's open-source parser does, notes
//! which of them RFC 9309's grammar also takes, and answers under each [`Preset`](crate::Preset).
//! For people there is [`report()`], line by line, and [`lint()`], with advice.
//! A [`RobotsErrand`] says which requests to make for one, redirects included, and what the
//! answers mean. A [`RobotsRecord`] is what is known of it, and what that says at one moment.

mod delay;
mod errand;
mod groups;
mod lines;
mod lint;
mod path_pattern;
mod pattern;
mod record;
mod report;
mod rules;
mod target;
#[cfg(test)]
mod tests;
mod text;

pub use errand::{Body, FtpReply, RobotsErrand, RobotsReply, RobotsResponse, Step};
pub use lines::{RuleKind, cut};
pub use lint::{Finding, Findings, Lint, Severity, lint};
pub use path_pattern::{PathPattern, PathPatternError};
pub use record::{
    Basis, CopyParts, FailingParts, RobotsOutcome, RobotsParts, RobotsRecord, Standing, Trouble,
};
pub use report::{Content, FieldKind, ReportLine, ReportedField, TextEnd, report};
pub(crate) use target::is_robots_txt;
pub use text::{Access, GroupUsed, MatchedRule, ParserVerdict, RobotsTxt, RobotsVerdict};
