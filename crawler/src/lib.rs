//! Crawler.

pub mod index;
pub mod page;
pub mod urls;
