//! End-to-end tests of Comity: one binary, one module a subject.

mod bad_input;
mod command;
mod demo;
mod floor_plan;
mod resume;
mod sites;
