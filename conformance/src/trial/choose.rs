//! Which scenarios are tried, and what is said of those that cannot be.

use thiserror::Error;

use super::scenario::{Mode, Scenario};
use crate::vectors::{Level, Policy};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Beginnings of names, or clauses; empty is all.
    pub only: Vec<String>,
    /// Levels; empty is all.
    pub levels: Vec<Level>,
    /// Whose reading the crawler keeps.
    pub policy: Policy,
    /// How it reaches the sites.
    pub mode: Mode,
}

/// Why there is nothing to try.
#[derive(Debug, Error)]
pub enum ChoiceError {
    /// A name or clause that no scenario has.
    #[error(
        "no scenario's name begins with {name:?}, and none shows such a clause{}; `comity-lab grade --list` prints them",
        near.as_ref().map(|near| format!(" (perhaps {near}?)")).unwrap_or_default()
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest that there is.
        near: Option<String>,
    },
    /// It has scenarios, and none can be tried so.
    #[error("--only {name} leaves nothing: {scenario} {reason}")]
    LeftOut {
        /// What was asked for.
        name: String,
        /// The first scenario of it.
        scenario: String,
        /// Why that is left out.
        reason: String,
    },
    /// No scenario of these levels.
    #[error("no scenario that is chosen has such a --level")]
    Level,
}

/// Those that are asked for.
///
/// # Errors
///
/// When a part of what is asked for leaves nothing.
pub fn choose(all: Vec<Scenario>, choice: &Choice) -> Result<Vec<Scenario>, ChoiceError> {
    for name in &choice.only {
        let asked: Vec<_> = all.iter().filter(|scenario| is_asked(scenario, name)).collect();
        let Some(first) = asked.first() else {
            let names = all.iter().flat_map(|s| s.clauses.iter().chain([&s.name]));
            let near = nearest(name, names.map(String::as_str)).map(str::to_owned);
            return Err(ChoiceError::Unknown { name: name.clone(), near });
        };
        if let Some(reason) = left_out(first, choice)
            && asked.iter().all(|scenario| left_out(scenario, choice).is_some())
        {
            let (name, scenario) = (name.clone(), first.name.clone());
            return Err(ChoiceError::LeftOut { name, scenario, reason });
        }
    }
    let only =
        |s: &Scenario| choice.only.is_empty() || choice.only.iter().any(|name| is_asked(s, name));
    let chosen: Vec<_> = all
        .into_iter()
        .filter(|s| choice.levels.is_empty() || choice.levels.contains(&s.level))
        .filter(|s| left_out(s, choice).is_none() && only(s))
        .collect();
    if chosen.is_empty() { Err(ChoiceError::Level) } else { Ok(chosen) }
}

fn is_asked(scenario: &Scenario, name: &str) -> bool {
    scenario.name.starts_with(name)
        || scenario.clauses.iter().any(|clause| clause.eq_ignore_ascii_case(name))
}

/// Why a scenario cannot be tried so.
fn left_out(scenario: &Scenario, choice: &Choice) -> Option<String> {
    if !scenario.policy.is_empty() && !scenario.policy.contains(&choice.policy) {
        let names: Vec<_> = scenario.policy.iter().map(|policy| policy.name()).collect();
        return Some(format!("is right with --policy {} only", names.join(" or ")));
    }
    if scenario.needs_proxy && !choice.mode.is_proxy() {
        return Some("needs --proxy".into());
    }
    (scenario.needs_tls && !choice.mode.is_tls()).then(|| "needs --tls".into())
}

/// The one of these that a slip of the pen makes of a name: no more than a third of it is otherwise.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = name.chars().count().div_ceil(3);
    let name = name.to_ascii_lowercase();
    let far = |other: &str| distance(&name, &other.to_ascii_lowercase());
    let near = among.into_iter().map(|other| (far(other), other)).min_by_key(|(far, _)| *far)?;
    (near.0 <= most).then_some(near.1)
}

/// How many letters are put in, left out or changed (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut last = line;
        let mut next = vec![line + 1];
        for (at, known) in other.iter().enumerate() {
            let above = row.get(at + 1).copied().unwrap_or_default();
            let left = next.last().copied().unwrap_or_default();
            next.push((last + usize::from(letter != *known)).min(above + 1).min(left + 1));
            last = above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::scenario::scenarios;
    use super::*;

    #[test]
    fn distances_are_levenshteins() {
        for (one, other, far) in [
            ("", "", 0),
            ("a", "", 1),
            ("sed", "seed", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(one, other), far, "{one} {other}");
        }
    }

    /// What is asked for, and what is said of it; nothing where it can be tried.
    #[test]
    fn what_leaves_nothing_is_said() {
        for (only, policy, mode, said) in [
            ("outage", Policy::Google, Mode::Direct, ""),
            ("rt-048", Policy::Google, Mode::Direct, ""),
            ("disalow", Policy::Google, Mode::Direct, "perhaps disallow?"),
            ("RT-999", Policy::Google, Mode::Direct, "begins with \"RT-999\""),
            (
                "outage-30-days",
                Policy::Courteous,
                Mode::Direct,
                "is right with --policy google only",
            ),
            ("private", Policy::Google, Mode::Tls, "private-addresses needs --proxy"),
            ("scope-scheme", Policy::Google, Mode::Proxy, "needs --tls"),
        ] {
            let choice = Choice { only: vec![only.into()], levels: Vec::new(), policy, mode };
            let error = choose(scenarios().unwrap(), &choice).err().map(|e| e.to_string());
            let error = error.unwrap_or_default();
            assert!(error.contains(said) && error.is_empty() == said.is_empty(), "{only}: {error}");
        }
        let choice = Choice {
            only: vec!["disallow".into()],
            levels: vec![Level::House],
            policy: Policy::Google,
            mode: Mode::Direct,
        };
        let error = choose(scenarios().unwrap(), &choice).unwrap_err().to_string();
        assert!(error.contains("--level"), "{error}");
    }
}
