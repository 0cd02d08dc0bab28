//! Addresses: one form for each, seeds as people type them, and addresses of which a site has
//! endlessly many.
//!
//! A link meets these in order: [`dedupe_form`] makes one of the spellings of one page;
//! [`looks_like_trap`] judges the address alone; a [`ShapeBudget`] judges it by what its site has
//! given so far. All reasons are those of [`comity_compliance::LeftOut`].

mod budget;
mod dates;
mod dedupe;
mod normal;
mod parameters;
mod seed;
mod settings;
mod shape;
mod sites;
mod traps;

pub use budget::{Saw, ShapeBudget};
pub use dedupe::{DedupeRules, Needless, dedupe_form};
pub use normal::normalise;
pub use seed::{SeedError, is_localhost, parse_seed};
pub use settings::{UrlSettings, UrlsConfig};
pub use shape::{Shape, shape_of};
pub use sites::SiteBudgets;
pub use traps::{TrapLimits, looks_like_trap};
