//! A polite web crawler whose every fetch passes a compliance engine.
//!
//! What is right stands in [`comity_compliance`], what must be remembered in [`comity_storage`].
//! This crate waits, connects and spawns, and decides nothing that a site owner would care about.
//!
//! - [`crawl`]: the driver loop and its workers.
//! - [`net`]: requests over the network, behind the trait [`net::Transport`].
//! - [`page`]: one streaming pass over a page.
//! - [`sitemap`]: what sitemaps list, and which comes next.
//! - [`extract`]: typed items out of pages, by code or by settings, and where they go.
//! - [`builder`]: a crawl in five lines.
//! - [`decision`]: what the caller's own hooks answer.
//! - [`index`]: the search index.
//! - [`structured`]: JSON-LD, microdata and RDFa of pages, under their own rule.
//! - [`output`]: what a crawl hands on: an archive, items, documents for another index.
//! - [`urls`]: URLs as people and pages write them, and those without end.
//! - [`duplicates`]: pages with the same text.
//! - [`clock`]: the one place that reads the time.
//! - [`config`], [`settings`]: what the operator says, and what the crawl makes of it.
//! - [`reasons`]: the codes of what failed or was left, with what can be done.
//! - [`cli`]: the command line.

pub mod builder;
pub mod cli;
pub mod clock;
pub mod config;
pub mod crawl;
pub mod decision;
pub mod duplicates;
pub mod extract;
pub mod index;
pub mod net;
pub mod output;
pub mod page;
pub mod reasons;
pub mod settings;
pub mod sitemap;
pub mod structured;
pub mod urls;

pub use builder::Crawler;
