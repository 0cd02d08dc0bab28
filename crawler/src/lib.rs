//! Crawler.
