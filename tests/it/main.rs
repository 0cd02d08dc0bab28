//! End-to-end tests of Comity: one binary, one module a subject.
