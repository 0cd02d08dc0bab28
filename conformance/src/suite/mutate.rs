//! `--mutate`: which vectors catch a fault that is put into a copy of the engine's answers.

use std::fmt::Write as _;

use comity_conformance::grade::{Fault, Graded, caught_by, did_you_mean, faults, reaches};

/// What `--mutate` may name.
#[derive(Clone, Debug)]
pub(crate) enum Mutate {
    /// Print the faults.
    List,
    /// Put these in, one at a time.
    These(Vec<&'static Fault>),
}

/// A fault's number from 1, its name, all or list.
pub(crate) fn mutate(name: &str) -> Result<Mutate, String> {
    let all = faults();
    let found = match name {
        "list" => return Ok(Mutate::List),
        "all" => return Ok(Mutate::These(all)),
        name => match name.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|at| all.get(at).copied()),
            Err(_) => all.iter().copied().find(|fault| fault.name == name),
        },
    };
    found.map(|fault| Mutate::These(vec![fault])).ok_or_else(|| {
        let near = did_you_mean(name, all.iter().map(|fault| fault.name));
        format!("there is no such fault{near}; --mutate list prints all {}", all.len())
    })
}

/// A line a fault.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for (at, fault) in faults().iter().enumerate() {
        let (number, Fault { subject, name, what, .. }) = (at + 1, fault);
        let _ = writeln!(text, "{number:>3}  {subject:<18} {name:<34} {what}");
    }
    text
}

/// How many faults came out how.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tried {
    pub(crate) caught: usize,
    /// No vector of the run shows them, though all were asked.
    pub(crate) missed: usize,
    /// The vectors that show them are not among those that were chosen.
    beyond: usize,
    /// The engine keeps none of the vectors that show them.
    not_kept: usize,
}

/// Tries each fault. `is_part` says that the run asked a part of the vectors.
pub(crate) fn try_faults(
    graded: &Graded,
    wanted: &[&'static Fault],
    is_part: bool,
) -> (Tried, String) {
    let mut tried = Tried::default();
    let mut text = String::from("\n");
    for fault in wanted {
        let by = caught_by(fault, graded);
        let is_reached = || reaches(fault, graded.results.iter().map(|result| &result.case));
        let told = match by.as_slice() {
            [] if is_reached() => {
                tried.not_kept += 1;
                continue;
            }
            [] if is_part => {
                tried.beyond += 1;
                continue;
            }
            [] => {
                tried.missed += 1;
                "NOT CAUGHT".to_owned()
            }
            [one] => format!("caught by {one}"),
            [first, rest @ ..] => format!("caught by {first} and {} more", rest.len()),
        };
        tried.caught += usize::from(!by.is_empty());
        let _ = writeln!(text, "{:<34} {told}", fault.name);
    }
    let Tried { caught, missed, beyond, not_kept } = tried;
    if beyond > 0 {
        let _ = writeln!(text, "left out: {beyond} that no vector of this choice shows");
    }
    if not_kept > 0 {
        let _ = writeln!(
            text,
            "left out: {not_kept} that only vectors show which this engine does not keep"
        );
    }
    let _ = writeln!(text, "{caught} of {} faults caught", caught + missed);
    (tried, text)
}
