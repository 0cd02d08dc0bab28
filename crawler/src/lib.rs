//! Crawler.

pub mod clock;
pub mod net;
