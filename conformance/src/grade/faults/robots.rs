use super::Fault;
pub(super) const FAULTS: &[Fault] = &[];
