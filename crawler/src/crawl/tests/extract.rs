//! Extractors in whole crawls.
