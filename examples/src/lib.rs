//! The examples are the files beside this package's manifest.
