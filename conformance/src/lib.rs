//! Says what a well-behaved crawler does, whoever crawls.
//!
//! The crate imports nothing else of the workspace, so that no crawler's
//! behaviour can slip in as the rule. It holds the [`vectors`], questions with
//! one right answer each, and what [`grade`]s an engine by them; the [`Lab`], a
//! small web of eight sites on loopback that keeps a ledger of every request;
//! [`judge`], which reads such a ledger and names each broken rule; and `trial`, which runs any
//! crawler through scenarios and grades it.

pub mod grade;
mod lab;
#[cfg(feature = "trial")]
pub mod trial;
pub mod vectors;

pub use lab::{
    DEMO_AGENT, Expect, Expectations, Forbidden, Lab, LedgerError, LedgerFile, Reach, Report,
    Request, SearchExpect, SiteInfo, SiteTally, SnippetExpect, Violation, ViolationKind, judge,
};
