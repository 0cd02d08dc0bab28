//! End-to-end tests of Comity: one binary, one module a subject.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod bombs;
mod bulk;
mod command;
mod conformance;
mod copies;
mod coverage;
mod demo;
mod examples;
mod export;
mod extract;
mod field_cases;
mod floor_plan;
mod generated;
mod hostile;
mod index;
mod items;
mod kills;
mod name_server;
mod peer;
mod proxy;
mod reasons;
mod resume;
mod robots;
mod runner;
mod sitemap;
mod sites;
mod tools;
mod visible;
mod warc;
