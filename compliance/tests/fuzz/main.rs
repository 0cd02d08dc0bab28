//! Fuzzing on any toolchain: a short run of each target with the other tests, a long one when the
//! environment asks for it (docs/fuzzing.md).

mod dates;
mod driver;
mod life;
mod pages;
mod robots;
