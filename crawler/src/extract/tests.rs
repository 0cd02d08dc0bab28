//! Extractors on pages at hand.
