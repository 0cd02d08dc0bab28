//! Which crawlers the groups of a file name, and where.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The crawlers that were named so far, in lower case.
#[derive(Default)]
pub(super) struct Agents {
    named: BTreeMap<Vec<u8>, Named>,
}

struct Named {
    first_line: u32,
    /// The last group that names it, by its first line.
    group: u32,
}

/// Whether a crawler was named before.
pub(super) enum Naming {
    First,
    InThisGroup {
        /// Where it was named first of all.
        line: u32,
    },
    /// Both groups bind it as one (RT-064).
    InEarlierGroup {
        /// Where it was named first of all.
        line: u32,
    },
}

impl Agents {
    /// Notes that the group which begins at line `group` names `agent`.
    pub(super) fn name(&mut self, agent: &[u8], group: u32, line: u32) -> Naming {
        let Some(named) = self.named.get_mut(&agent.to_ascii_lowercase()) else {
            self.named.insert(agent.to_ascii_lowercase(), Named { first_line: line, group });
            return Naming::First;
        };
        let line = named.first_line;
        if named.group == group {
            return Naming::InThisGroup { line };
        }
        named.group = group;
        Naming::InEarlierGroup { line }
    }
}
