//! robots.txt: its text, read once and matched many times.
//!
//! [`RobotsTxt`] is the compiled file. It reads lines as Google's open-source parser does, notes
//! which of them RFC 9309's grammar also takes, and answers under each [`Preset`](crate::Preset).

mod delay;
mod groups;
mod lines;
mod pattern;
mod rules;
mod target;
#[cfg(test)]
mod tests;
mod text;

pub use lines::{RuleKind, cut};
pub use text::{Access, GroupUsed, MatchedRule, ParserVerdict, RobotsTxt, RobotsVerdict};
