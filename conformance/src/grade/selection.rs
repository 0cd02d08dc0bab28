//! Which vectors a run asks.

use std::collections::BTreeSet;

use super::did_you_mean;
use crate::vectors::{Case, Level, Policy};

/// Which vectors are asked: empty lists mean all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Subjects, by name or the beginning of one.
    pub subjects: Vec<String>,
    /// Levels.
    pub levels: Vec<Level>,
    /// Requirement numbers, those in [`Case::also`] too.
    pub clauses: Vec<String>,
    /// Policies; vectors that are right whoever reads are asked all the same.
    pub policies: Vec<Policy>,
}

impl Selection {
    /// Whether a vector is asked.
    pub fn has(&self, case: &Case) -> bool {
        let clauses = || std::iter::once(&case.clause).chain(&case.also);
        let named = |wanted: &String| clauses().any(|clause| clause.eq_ignore_ascii_case(wanted));
        let subject = |wanted: &String| case.subject.starts_with(wanted.as_str());
        let of_policy = |policy| self.policies.contains(&policy);
        (self.subjects.is_empty() || self.subjects.iter().any(subject))
            && (self.levels.is_empty() || self.levels.contains(&case.level))
            && (self.clauses.is_empty() || self.clauses.iter().any(named))
            && (self.policies.is_empty() || case.policy.is_none_or(of_policy))
    }

    /// What of the selection no vector has at all, as a sentence that names what there is.
    pub fn unknown(&self, suite: &[Case]) -> Option<String> {
        let subjects: BTreeSet<&str> = suite.iter().map(|case| case.subject.as_str()).collect();
        let is_subject = |wanted: &str| {
            !wanted.is_empty() && subjects.iter().any(|subject| subject.starts_with(wanted))
        };
        if let Some(wanted) = self.subjects.iter().find(|wanted| !is_subject(wanted)) {
            let all: Vec<_> = subjects.iter().copied().collect();
            let near = did_you_mean(wanted, subjects.iter().copied());
            return Some(format!(
                "no subject begins with {wanted:?}{near}; there are {}",
                all.join(", ")
            ));
        }
        let clauses: BTreeSet<&str> = suite
            .iter()
            .flat_map(|case| std::iter::once(&case.clause).chain(&case.also))
            .map(String::as_str)
            .collect();
        let is_clause = |wanted: &str| clauses.iter().any(|name| name.eq_ignore_ascii_case(wanted));
        let wanted = self.clauses.iter().find(|wanted| !is_clause(wanted))?;
        let near = did_you_mean(wanted, clauses.iter().copied());
        Some(format!(
            "no vector is of clause {wanted:?}{near}; a clause is a number of the requirements such \
             as RT-083, and --list names that of each vector"
        ))
    }
}
